"""VLMEvalKit's Excel tables, read row by row with openpyxl; a workbook that would fill the memory is refused."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vcrgen.errors import PredictionError
from vcrgen.scorer.predictions.tables import NO_VALUE, read_rows
from vcrgen.scorer.records import Prediction

# Unpacked sizes, as the zip directory says them. Shared texts are held in memory as a whole.
MAX_UNPACKED = 1 << 30
MAX_SHARED_TEXTS = 256 << 20
SHARED_TEXTS = "xl/sharedStrings.xml"


def read_xlsx(file: Path) -> Iterator[Prediction]:
    """The first sheet of a workbook.

    Raises:
        PredictionError: openpyxl is not installed, or the file is no workbook, or one made to do harm.
    """
    return read_rows(file, _sheet(file), missing=NO_VALUE)


def _sheet(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        import openpyxl  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise PredictionError(
            f"{file} is an Excel table; reading it needs `pip install 'vcrgen[xlsx]'` (or save it as CSV)."
        ) from None
    _check_archive(file)
    try:
        with file.open("rb") as handle:  # by content: openpyxl would judge a path by its suffix
            book = openpyxl.load_workbook(handle, read_only=True, data_only=True)
            rows = book.worksheets[0].iter_rows(values_only=True)
            header = [str(cell) if cell is not None else "" for cell in next(rows, ())]
            for number, cells in enumerate(rows, start=1):
                if any(cell is not None for cell in cells):
                    padded = (*cells, *[None] * (len(header) - len(cells)))
                    yield number, {name: _plain(cell) for name, cell in zip(header, padded, strict=False) if name}
            book.close()
    except PredictionError:
        raise
    except Exception as problem:  # openpyxl raises whatever its parsers do: KeyError, ValueError, ParseError, …
        reason = (str(problem).strip() or type(problem).__name__).splitlines()[0]
        raise PredictionError(f"{file} cannot be read as an Excel table: {reason[:200]}") from None


def _plain(cell: Any) -> Any:
    """Dates and the like, which Excel makes of some texts, become text again."""
    return cell if cell is None or isinstance(cell, str | int | float) else str(cell)


def _check_archive(file: Path) -> None:
    """Refuse zip bombs by their directory, and XML that declares entities: no table needs any."""
    try:
        with zipfile.ZipFile(file) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            if sum(sizes.values()) > MAX_UNPACKED or sizes.get(SHARED_TEXTS, 0) > MAX_SHARED_TEXTS:
                raise PredictionError(f"{file} unpacks to more than {MAX_UNPACKED >> 20} MiB; save it as CSV.")
            for name in sizes:
                if name.endswith((".xml", ".rels")):
                    with archive.open(name) as part:
                        # A document type can only stand before the first element.
                        if b"<!DOCTYPE" in part.read(4096).upper().replace(b"\0", b""):
                            raise PredictionError(f"{file} declares XML entities, which no table needs.")
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, EOFError, ValueError) as problem:
        raise PredictionError(f"{file} cannot be read as an Excel table: {problem}.") from None
