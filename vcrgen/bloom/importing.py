"""Question sets of other makers: the published JSON of BloomBench, tables of VLMEvalKit and lmms-eval, plain tables.

Four options a question, of which one is right. A row is a record of either form:

- *published*: ``hierarchy`` with ``lvl1`` ("Level -> Subcategory") and ``leaf``, and ``multiple_choice_qa`` with
  ``question_en``, ``choice_A_en`` to ``choice_D_en`` and so on for each language, and ``answer``;
- *table*: ``question``, ``A`` to ``D`` (or ``options``, a list) and ``answer``, with a language's code behind a name
  where there are several (``question_ar``, ``A_ar``); ``category`` ("level/subcategory/leaf", or a leaf whose name
  stands for one path only), or the columns ``level``, ``subcategory`` and ``leaf``.
"""

import ast
import hashlib
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from vcrgen.bloom.checks import MAY_BE_KEPT, Fault, RawItem, complete, faults
from vcrgen.bloom.fetch import Fetched
from vcrgen.bloom.taxonomy import Taxonomy, load_taxonomy
from vcrgen.bloom.write import LICENCE_OF_SOURCE, Aside, write_set
from vcrgen.builder.images import FORMATS, load_image
from vcrgen.builder.sources import open_source
from vcrgen.builder.sources.base import PROBLEM, paths_of
from vcrgen.builder.sources.images import image_bytes
from vcrgen.config import BloomImportOptions, load_build_config
from vcrgen.dataset.manifest import Manifest
from vcrgen.errors import ConfigError, ImageProblem, SourceError
from vcrgen.media import media_type
from vcrgen.reading import as_id, describe, parse_json, read_json
from vcrgen.records import Reason
from vcrgen.tasks.bloom import LETTERS
from vcrgen.work.watcher import Watcher

MAX_JSON_BYTES = 128 << 20
MAX_PIXELS = 64_000_000
MAX_LANGUAGES = 20
MIN_SIDE = 8
PICTURE_LIMITS = {"max_pixels": MAX_PIXELS, "min_side": MIN_SIDE, "max_height": 1 << 20}
MAX_ID = 256  # characters
ID_COLUMNS = ("question_id", "index", "id")
PICTURE_COLUMNS = ("image", "image_url", "image_path", "source_image_file", "source_image_url")
_QUESTION = re.compile(r"question_([a-z]{2,3})")
_SUFFIXES = (".json", ".jsonl", ".ndjson", ".tsv", ".csv", ".parquet")
_EMPTY = ("", "nan")  # of a table's cell that holds nothing
_LONGEST_INDEX = 64  # characters of a cell `image` that is the index of another row, as VLMEvalKit has it
_LONGEST_LIST = 20_000  # characters
_MOST_FIELDS = 200  # of a row; a table of thousands is none of questions

Row = Mapping[str, Any]


def import_questions(file: Path, options: BloomImportOptions, out: Path, *, watcher: Watcher | None = None) -> Manifest:
    """Make a question set of a file; what cannot be used is set aside with a reason.

    Args:
        file: JSON, JSON Lines, TSV, CSV or Parquet.
        options: Where pictures are, and what is kept.
        out: A new or empty folder.
        watcher: Told of the progress.

    Raises:
        ConfigError: An option or the taxonomy is wrong.
        SourceError: The file cannot be read, or holds no item that can be used.
        OutputError: The folder holds something, or cannot be written.
    """
    if odd := sorted(set(options.keep) - MAY_BE_KEPT):
        raise ConfigError(f"--keep {odd[0][:40]!r} is none of {', '.join(sorted(MAY_BE_KEPT))}.")
    taxonomy = load_taxonomy(options.taxonomy)
    names, count, rows = open_rows(file)
    languages = languages_in(file, names, options)
    aside = Aside()
    shown = watcher or Watcher()
    shown.begin(count, 0)
    with TemporaryDirectory() as folder:
        reader = RowReader(options, file.parent, taxonomy, languages, aside, Path(folder))
        return write_set(
            out, reader.usable(rows, shown), languages=languages, taxonomy=taxonomy, source=file.name,
            config=options.model_dump(mode="json", exclude={"images", "taxonomy"}), aside=aside,
            licence=LICENCE_OF_SOURCE,
        )  # fmt: skip


def open_rows(file: Path) -> tuple[list[str], int, Iterable[Row]]:
    """The names of columns and fields, how many rows there are, and the rows."""
    if file.suffix.lower() not in _SUFFIXES:
        raise SourceError(f"{file} has no form that question sets have; known: {', '.join(_SUFFIXES)}.")
    try:
        with file.open("rb") as handle:
            is_array = file.suffix.lower() == ".json" and handle.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}.") from None
    if not is_array:
        source = open_source(load_build_config(None, {"source": str(file)}))
        names = [path[-1] for path in source.names()]
        needed = frozenset(path[0] for path in source.names())
        parts = list(enumerate(source.partitions()))
        rows = (row for at, part in parts for row in source.rows(at, 0, part.rows, needed))
        return names, sum(part.rows for _, part in parts), rows
    if file.stat().st_size > MAX_JSON_BYTES:
        raise SourceError(
            f"{file} is one JSON value of more than {MAX_JSON_BYTES >> 20} MiB; give pictures as files beside it, or "
            "write one item a line (JSON Lines)."
        )
    values = read_json(file, SourceError)
    found = [row if isinstance(row, dict) else {PROBLEM: f"not an object but {describe(row)}"} for row in values]
    return list(dict.fromkeys(path[-1] for row in found for path in paths_of(row))), len(found), found


def languages_in(file: Path, names: Iterable[str], options: BloomImportOptions) -> tuple[str, ...]:
    """The languages that the columns name; the one of ``--lang`` where a column is called ``question`` only."""
    known = set(names)
    found = {
        match[1]: None
        for name in names
        if (match := _QUESTION.fullmatch(name))  # `question_id` is no Indonesian question unless it has options
        and known & {form.format(match[1]) for form in ("options_{}", "A_{}", "choice_A_{}")}
    }
    if "question" in known and options.lang not in found:
        found = {options.lang: None} | found
    if not 0 < len(found) <= MAX_LANGUAGES:
        raise SourceError(
            f"{file} has no column or field `question` or `question_XX` (XX a language's code), or more than "
            f"{MAX_LANGUAGES} of them; docs/bloom.md shows the forms that are read."
        )
    return tuple(found)


class UnusableItem(Exception):
    """An item is set aside, with what is wrong with it."""

    def __init__(self, fault: Fault, detail: str) -> None:
        super().__init__(detail)
        self.fault, self.detail = fault, detail


class RowReader:
    """Makes rows of a question set of the rows of a file; a ConfigError if the folder of pictures is none."""

    def __init__(
        self, options: BloomImportOptions, beside: Path, taxonomy: Taxonomy, languages: Sequence[str], aside: Aside,
        folder: Path,
    ) -> None:  # fmt: skip
        if options.images is not None and not options.images.is_dir():
            raise ConfigError(f"--images {options.images} is no folder.")
        self._options, self._root = options, options.images or beside
        self._taxonomy, self._languages, self._aside = taxonomy, languages, aside
        self._folder, self._fetched = folder, Fetched(folder)
        self._ids: set[str] = set()
        # The items about one picture mostly stand together.
        self._checked = lru_cache(maxsize=8)(usable_picture)

    def usable(self, rows: Iterable[Row], watcher: Watcher) -> Iterator[dict[str, Any]]:
        """The rows that can be used; the others are counted."""
        for number, row in enumerate(rows, start=1):
            made = self._make(row, number)
            watcher.advance(1, made is not None, Counter() if made else Counter({"set aside": 1}))
            if made:
                yield made

    def _make(self, row: Row, number: int) -> dict[str, Any] | None:
        name = name_of(row, number)
        shown = name if name.isprintable() and len(name) <= MAX_ID else f"row {number}"
        try:
            return self._item(row, name, number)
        except UnusableItem as problem:
            self._aside.add(shown, problem.fault, problem.detail)
        except ImageProblem as problem:
            fault = Fault.NO_PICTURE if problem.reason is Reason.NO_IMAGE else Fault.BAD_PICTURE
            self._aside.add(shown, fault, problem.detail)
        except (TypeError, ValueError, AttributeError, SourceError) as problem:
            self._aside.add(shown, Fault.NOT_AN_ITEM, str(problem)[:200])
        return None

    def _item(self, row: Row, name: str, number: int) -> dict[str, Any]:
        """A row of a question set."""
        if PROBLEM in row or len(row) > _MOST_FIELDS:
            raise UnusableItem(Fault.NOT_AN_ITEM, str(row.get(PROBLEM, "too many fields"))[:200])
        self.keep_picture(row)
        if not name.isprintable() or len(name) > MAX_ID:
            raise UnusableItem(Fault.NOT_AN_ITEM, f"its id is no text of {MAX_ID} printable characters")
        if name in self._ids:
            raise UnusableItem(Fault.DUPLICATE_ID, "an earlier item has this id")
        raw = self._raw(row, name)
        for fault, detail in faults(raw):
            if fault not in self._options.keep:
                raise UnusableItem(fault, detail)
        data = self.picture(row)
        if data is None:
            raise UnusableItem(Fault.NO_PICTURE, "no column holds a picture")
        self._ids.add(name)
        questions = complete(raw)
        made: dict[str, Any] = {
            "question_id": name, "image": {"bytes": data, "path": None}, "path": raw.path,
            "source": f"item {number}", "answer": raw.answer, "trap": raw.trap,
        }  # fmt: skip
        for lang in self._languages:
            stem, options = questions.get(lang, ("", [""] * len(LETTERS)))
            made[f"question_{lang}"], made[f"options_{lang}"] = stem, list(options)
        return made

    def _raw(self, row: Row, name: str) -> RawItem:
        texts = texts_of(row)
        return RawItem(
            question_id=name,
            path=self.path(row),
            questions={lang: question_in(texts, lang, plain=lang == self._options.lang) for lang in self._languages},
            answer=_text(texts.get("answer")).upper(),
            trap=_text(texts.get("trap", row.get("trap"))).upper(),
        )

    def path(self, row: Row) -> str | None:
        """The leaf that a row is filed under."""
        hierarchy, category = row.get("hierarchy"), _text(row.get("path")) or _text(row.get("category"))
        if isinstance(hierarchy, Mapping):
            names = [*_text(hierarchy.get("lvl1")).split("->"), _text(hierarchy.get("leaf"))]
        elif _text(row.get("leaf")):
            names = [_text(row.get(column)) for column in ("level", "subcategory", "leaf")]
        else:
            names = re.split(r"->|>|/", category)
        names = [name for name in names if name.strip()]
        # Some trees have further steps, of which the last or the first ones are those of the taxonomy.
        choices = [names, names[-3:], names[:2] + names[-1:], names[:1] + names[-1:]]
        if len(names) == 1:
            choices.insert(0, [_text(row.get("l2-category")), *names])
        return next((path for some in choices if some and (path := self._taxonomy.find(*some))), None)

    def keep_picture(self, row: Row) -> None:
        """Keep the picture of a row of VLMEvalKit, for later rows that hold this row's ``index`` instead of it."""
        index, value = as_id(row.get("index")), row.get("image")
        if index is not None and isinstance(value, str) and len(value) > _LONGEST_INDEX:
            self._kept(index).write_text(value, "utf-8", "replace")

    def _kept(self, index: str) -> Path:
        return self._folder / f"row-{hashlib.sha256(index.encode('utf-8', 'surrogatepass')).hexdigest()}"

    def picture(self, row: Row, columns: Sequence[str] = ()) -> bytes | None:
        """The encoded picture of a row, PNG, JPEG or WebP: the first in these columns, or those that options name."""
        column = self._options.image_column
        for name in columns or ((column,) if column else PICTURE_COLUMNS):
            value = row.get(name)
            if "index" in row and (index := as_id(value)) and len(index) <= _LONGEST_INDEX:
                value = kept.read_text("utf-8") if (kept := self._kept(index)).exists() else value
            if isinstance(value, str) and re.match(r"(?i)https?://", value.strip()):
                if not self._options.fetch:
                    raise UnusableItem(
                        Fault.NO_PICTURE, "the picture is an address, which is fetched only with --fetch"
                    )
                return self._checked(self._fetched.get(value.strip()))
            if data := image_bytes(value, root=self._root):
                return self._checked(data)
        return None


def name_of(row: Row, number: int) -> str:
    """The id of a row, or its number from 1 where it has none."""
    return next((text for key in ID_COLUMNS if (text := as_id(row.get(key)))), f"row-{number}")


def texts_of(row: Row) -> Row:
    """What holds the question and the options of a row: the record in it, or the row itself."""
    inner = row.get("multiple_choice_qa")
    return inner if isinstance(inner, Mapping) else row


def question_in(texts: Row, lang: str, *, plain: bool) -> tuple[str, list[str]]:
    """Stem and options in a language; empty texts where there are none.

    Args:
        texts: The record that holds them.
        lang: A language's code.
        plain: Whether columns without a language's code are in this language.
    """
    stem = _text(texts.get(f"question_{lang}")) or (_text(texts.get("question")) if plain else "")
    if plain and (hint := _text(texts.get("hint"))):
        stem = f"{hint}\n{stem}"
    names = [f"options_{lang}", *(("options", "choices") if plain else ())]
    if (listed := next((texts[name] for name in names if texts.get(name) not in (None, "")), None)) is not None:
        values = _listed(listed) if isinstance(listed, str) else listed
        if not isinstance(values, list):
            raise ValueError(f"its options are {describe(values)}")
        return stem, [_text(value) for value in values]

    def option(letter: str) -> str:
        names = f"choice_{letter}_{lang}", f"{letter}_{lang}", *((letter,) if plain else ())
        return next(filter(None, (_text(texts.get(name)) for name in names)), "")

    more = [text for letter in "EFGH" if (text := option(letter))]
    return stem, [*map(option, LETTERS), *more]


def _listed(text: str) -> Any:
    """The list that a cell holds as a text: in JSON or, as MMMU has it, in Python's way of writing lists."""
    try:
        return parse_json(text, "the options", SourceError)
    except SourceError:
        if len(text) > _LONGEST_LIST:
            raise
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python knows no \p, which formulas have
                return ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise SourceError("the options are no list") from None


def _text(value: Any) -> str:
    """A text without white space around it; a number as its digits, and nothing for an empty cell of a table.

    Raises:
        ValueError: It is neither.
    """
    if isinstance(value, str):
        text = value.strip()
        return "" if text.lower() in _EMPTY else text
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"one of its texts is {describe(value)}")
    return as_id(value) or str(value)


def usable_picture(data: bytes) -> bytes:
    """A picture that can be decoded, as it is if it is PNG, JPEG or WebP, and otherwise as PNG.

    Raises:
        ImageProblem: It cannot be decoded, or is too large or too small.
    """
    load_image(data, width=64, **PICTURE_LIMITS)
    if media_type(data):
        return data
    with Image.open(io.BytesIO(data), formats=FORMATS) as image:
        width = image.width
    buffer = io.BytesIO()
    load_image(data, width=width, **PICTURE_LIMITS).save(buffer, "PNG")
    return buffer.getvalue()
