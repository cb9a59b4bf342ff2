"""Excel tables (.xlsx), read row by row as a stream. Nothing is unpacked before its size is known to be bearable.

A workbook is a zip archive of XML files. A small one can be made to unpack to gigabytes, or to hold a row of millions
of cells, so everything that a file can make large has a limit: what is unpacked, rows, cells, text, nesting, names.
The XML is read by expat as it is unpacked; a document type, without which no entity can be declared, is refused.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from array import array
from collections import deque
from collections.abc import Iterator
from functools import lru_cache, reduce
from pathlib import Path
from string import ascii_uppercase
from typing import IO, Any
from xml.parsers import expat

from vcrgen.core.errors import PredictionError
from vcrgen.core.reading import MAX_LINE_BYTES, SURROGATE
from vcrgen.scorer.predictions.tables import MISSING_VALUES, read_rows
from vcrgen.scorer.records import Prediction

# Excel's own limit, and what no table of outputs comes near.
MAX_ROWS = 1 << 20
MAX_COLUMNS = 1000
MAX_CELLS = 8 * MAX_ROWS
MAX_ELEMENTS = 4 * MAX_CELLS
# Bytes of the parts, unpacked. Texts that cells share are held in memory as a whole.
MAX_SHEET = 1 << 30
MAX_SHARED_TEXTS = 256 << 20
MAX_METADATA = 1 << 20
MAX_DIRECTORY = 1 << 20
# A sheet that is larger than the first may not have been packed to less than its 200th part.
FREE_BYTES = 64 << 20
MAX_RATIO = 200
# What expat keeps in memory: tags that are open, names, and a tag that has no end.
MAX_DEPTH = 64
MAX_NAMES = 10_000
MAX_TAG = 1 << 20
_CHUNK = 1 << 16
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_END_OF_DIRECTORY = b"PK\x05\x06"


def read_xlsx(file: Path) -> Iterator[Prediction]:
    """The first sheet of a workbook; refuses what is damaged or larger inside than any such table."""
    return read_rows(file, _rows(file), missing=MISSING_VALUES)


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows below the first with their numbers from 1, each as column to value; rows without a value are left out."""
    rows = sheet_rows(file, formula_texts=True)
    names = {column: str(cell) for column, cell in next(rows, {}).items() if cell is not None}
    for number, cells in enumerate(rows, start=1):
        if any(cell is not None for cell in cells.values()):
            yield number, {name: cells.get(column) for column, name in names.items()}


def sheet_rows(file: Path, *, formula_texts: bool = False) -> Iterator[dict[int, Any]]:
    """All rows of the first sheet: number of the column, from 0, to value.

    pandas writes a text that begins with ``=`` as a formula. Nothing computes it: openpyxl stores no value, XlsxWriter
    a 0 and a mark that all is to be computed, and whoever saves the file again stores an error.

    Args:
        formula_texts: Give ``=`` and the text of a formula that was not computed; else it is an error.
    """
    try:
        with file.open("rb") as raw:
            _check_directory(file, raw)
            with zipfile.ZipFile(raw) as archive:
                book = _Workbook(file, archive)
                yield from book.sheet(book.shared_texts(), formula_texts=formula_texts)
    except PredictionError:
        raise
    except Exception as problem:  # zlib.error, BadZipFile, ExpatError, KeyError, ValueError, EOFError, …
        reason = (str(problem).strip("'\" ") or type(problem).__name__).splitlines()[0]
        raise PredictionError(f"{file} cannot be read as an Excel table, it is damaged: {reason[:200]}.") from None


def _check_directory(file: Path, raw: IO[bytes]) -> None:
    """Refuse an archive of very many files, whose directory Python would read as a whole."""
    size = raw.seek(0, 2)
    raw.seek(max(0, size - (1 << 16) - 22))
    end = raw.read()
    at = end.rfind(_END_OF_DIRECTORY)
    if at >= 0 and int.from_bytes(end[at + 12 : at + 16], "little") > MAX_DIRECTORY:
        raise PredictionError(f"{file} is an archive of too many files to be an Excel table.")
    raw.seek(0)


class _Workbook:
    """The parts of a workbook that a table needs."""

    def __init__(self, file: Path, archive: zipfile.ZipFile) -> None:
        self._file = file
        self._archive = archive

    def shared_texts(self) -> _Texts:
        """The texts that cells name by number."""
        texts = _Texts()
        name = "xl/sharedStrings.xml"
        if name in self._archive.NameToInfo:
            deque(self._parse(name, _SharedTexts(texts), MAX_SHARED_TEXTS), maxlen=0)
        return texts

    def sheet(self, texts: _Texts, *, formula_texts: bool) -> Iterator[dict[int, Any]]:
        """The rows of the first sheet: number of the column, from 0, to value."""
        book, targets = _Attributes("sheet", "calcPr"), _Attributes("Relationship")
        for part, reader in (("xl/workbook.xml", book), ("xl/_rels/workbook.xml.rels", targets)):
            deque(self._parse(part, reader, MAX_METADATA), maxlen=0)
        sheets = [attributes for name, attributes in book.found if name == "sheet"]
        if not sheets:
            raise ValueError("it has no sheet")
        (sheet_id,) = [value for name, value in sheets[0].items() if name.endswith(":id")]
        target = next(row["Target"] for _, row in targets.found if row.get("Id") == sheet_id)
        is_computed = all(attributes.get("fullCalcOnLoad") != "1" for _, attributes in book.found)
        rows = _SheetRows(self._file, texts, formula_texts=formula_texts, zero_is_computed=is_computed)
        for _ in self._parse(posixpath.normpath(posixpath.join("/xl", target)).lstrip("/"), rows, MAX_SHEET):
            yield from rows.done
            rows.done.clear()

    def _parse(self, name: str, reader: _TextReader, most: int) -> Iterator[None]:
        """Feed a part to a reader; yields after each piece, so that what was read can be taken."""
        info = self._archive.getinfo(name)
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # LZMA asks for memory as it likes
            raise ValueError("it is packed in a way that Excel does not know")
        unpacked = info.file_size  # zipfile stops there, whatever else the archive holds
        ratio = unpacked / max(info.compress_size, 1) if most == MAX_SHEET and unpacked > FREE_BYTES else 0
        if unpacked > most or ratio > MAX_RATIO:
            raise PredictionError(
                f"{self._file} unpacks to {unpacked >> 20} MiB ({name}), more than a table of outputs would; "
                "save it as CSV."
            )
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._refuse_entities
        parser.CharacterDataHandler = reader.text
        depth = elements = fed = 0

        def start(element: str, attributes: dict[str, str]) -> None:
            nonlocal depth, elements
            depth += 1
            elements += 1
            if depth > MAX_DEPTH or elements > MAX_ELEMENTS:
                raise self._unlikely(name)
            reader.start(element.rpartition(":")[2], attributes)

        def end(element: str) -> None:
            nonlocal depth
            depth -= 1
            reader.end(element.rpartition(":")[2])

        parser.StartElementHandler, parser.EndElementHandler = start, end
        with self._archive.open(info) as part:
            while piece := part.read(_CHUNK):
                parser.Parse(piece)
                fed += len(piece)
                if fed - parser.CurrentByteIndex > MAX_TAG or len(parser.intern or ()) > MAX_NAMES:
                    raise self._unlikely(name)
                yield
            parser.Parse(b"", True)
        yield

    def _refuse_entities(self, *_: object) -> None:
        raise PredictionError(f"{self._file} declares XML entities, which no table needs.")

    def _unlikely(self, name: str) -> PredictionError:
        return PredictionError(f"{self._file} holds XML that no program writes ({name}); save it as CSV.")


class _Texts:
    """Texts by number, held as one array of bytes: a list of strings would take several times their size."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends = array("Q", [0])

    def append(self, text: str) -> None:
        """Add the next text; there cannot be more than cells."""
        if len(self._ends) > MAX_CELLS:
            raise ValueError(f"more than {MAX_CELLS:,} texts")
        self._bytes += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._bytes))

    def __getitem__(self, number: int) -> str:
        if not 0 <= number < len(self._ends) - 1:
            raise IndexError("a cell names a text that is not there")
        return self._bytes[self._ends[number] : self._ends[number + 1]].decode("utf-8", "surrogatepass")


class _TextReader:
    """Collects the text of some elements of a part, by their names without prefix.

    What tells how Chinese or Japanese is read aloud (``rPh``) is left out.
    """

    elements: frozenset[str] = frozenset({"t"})

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._inside = False
        self._aloud = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._aloud = self._aloud or name == "rPh"
        self._inside = name in self.elements and not self._aloud

    def end(self, name: str) -> None:
        self._inside = False
        self._aloud = self._aloud and name != "rPh"

    def text(self, text: str) -> None:
        if self._inside:
            self._parts.append(text)

    def take(self) -> str:
        """Return the text since the last call."""
        text = "".join(self._parts)
        self._parts.clear()
        return text


class _Attributes(_TextReader):
    """The attributes of all elements of some names, with the name of each."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self._names = names
        self.found: list[tuple[str, dict[str, str]]] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name in self._names:
            self.found.append((name, attributes))


class _SharedTexts(_TextReader):
    def __init__(self, texts: _Texts) -> None:
        super().__init__()
        self._texts = texts

    def end(self, name: str) -> None:
        super().end(name)
        if name == "si":
            self._texts.append(_unescaped(self.take()))


class _SheetRows(_TextReader):
    """The rows of a sheet; ``done`` holds those that are complete until they are taken.

    Args:
        file: The workbook, for errors.
        texts: The texts that cells share.
        formula_texts: As for `sheet_rows`.
        zero_is_computed: Whether a 0 is the value of a formula rather than a mark that there is none.
    """

    elements = frozenset({"t", "v", "f"})

    def __init__(self, file: Path, texts: _Texts, *, formula_texts: bool, zero_is_computed: bool) -> None:
        super().__init__()
        self._file = file
        self._texts = texts
        self._formula_texts = formula_texts
        self._zero_is_computed = zero_is_computed
        self.done: list[dict[int, Any]] = []
        self._cells: dict[int, Any] = {}
        self._kind = self._reference = ""
        self._formula: str | None = None
        self._column = -1
        self._rows = self._counted = self._counted_in_row = self._characters = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        super().start(name, attributes)
        if name == "c":
            self._counted += 1
            self._counted_in_row += 1
            self._kind = attributes.get("t", "n")
            self._formula, self._reference = None, attributes.get("r", "")[:20]
            self._column = _column(attributes["r"]) if "r" in attributes else self._column + 1
            if self._counted > MAX_CELLS or max(self._counted_in_row, self._column + 1) > MAX_COLUMNS:
                raise self._too_large(f"more than {MAX_COLUMNS:,} columns or {MAX_CELLS:,} cells")
        elif name == "row":
            self._rows += 1
            if self._rows > MAX_ROWS:
                raise self._too_large(f"more than {MAX_ROWS:,} rows")
            self._cells, self._column, self._counted_in_row, self._characters = {}, -1, 0, 0

    def end(self, name: str) -> None:
        super().end(name)
        if name == "f":
            self._formula = self.take()
        elif name == "c":
            self._cells[self._column] = self._value(self.take())
        elif name == "row":
            self.done.append(self._cells)

    def text(self, text: str) -> None:
        super().text(text)
        self._characters += len(text)
        if self._characters > MAX_LINE_BYTES:
            raise self._too_large(f"a row of more than {MAX_LINE_BYTES >> 20} MiB")

    def _value(self, text: str) -> Any:
        if self._formula is not None and not self._is_computed(text):
            if self._formula_texts and self._formula:
                return f"={_unescaped(self._formula)}"
            raise PredictionError(
                f"{self._file}, cell {self._reference or f'of row {self._rows}'}: the formula has no stored value; "
                "open the file in Excel or LibreOffice and save it, or write the value in its place."
            )
        match self._kind:
            case "s":
                return self._texts[int(text)]
            case "str" | "inlineStr":
                return _unescaped(text)
            case "b" if text:
                return text == "1"
            case "n" if text:
                return int(text) if text.lstrip("-").isdigit() else float(text)
        return text or None

    def _is_computed(self, value: str) -> bool:
        """Tell whether the stored value of a formula is one; the empty text may be."""
        if not value:
            return self._kind == "str"
        if self._kind == "e":  # in a table of numbers it stands for one that is missing
            return not self._formula_texts
        return self._zero_is_computed or value != "0"

    def _too_large(self, what: str) -> PredictionError:
        row = f", row {self._rows - 1}" if self._rows else ""
        return PredictionError(f"{self._file}{row}: the sheet has {what}, so it is no table of outputs.")


def _column(reference: str) -> int:
    """The column, from 0, of a cell such as ``AB12``."""
    letters = reference.rstrip("0123456789")
    if not 0 < len(letters) <= 3:
        raise ValueError(f"a cell in column {letters[:10]!r}")
    return _number_of(letters)


@lru_cache(maxsize=MAX_COLUMNS)
def _number_of(letters: str) -> int:
    return reduce(lambda number, letter: 26 * number + ascii_uppercase.index(letter) + 1, letters, 0) - 1


def _unescaped(text: str) -> str:
    """A text with the characters that Excel writes as ``_x000D_``: those that XML cannot hold, and ``_`` itself."""
    if "_x" not in text:
        return text
    text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)
    if SURROGATE.search(text):  # two escapes of one character
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text
