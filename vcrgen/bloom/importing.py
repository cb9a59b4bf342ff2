"""Import of MCQ benchmarks: the published JSON of BloomBench, tables of VLMEvalKit and lmms-eval, plain tables.

Two to ten options a question, of which one is right. A row is a record of either form:

- *published*: ``hierarchy`` with ``lvl1`` ("Level -> Subcategory") and ``leaf``, and ``multiple_choice_qa`` with
  ``question_en``, ``choice_A_en``, ``choice_B_en`` and so on for each language, and ``answer``;
- *table*: ``question``, ``A``, ``B`` and so on to ``J`` (or ``options``, a list) and ``answer``, with a language's code
  behind a name where there are several (``question_ar``, ``A_ar``); ``category`` ("level/subcategory/leaf", or a
  category whose name stands for one path only), or the columns ``level``, ``subcategory`` and ``leaf``.
"""

import ast
import hashlib
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from vcrgen.bloom.checks import MAY_BE_KEPT, RawItem, complete_questions, find_problems
from vcrgen.bloom.fetch import PictureCache
from vcrgen.bloom.options import BloomImportOptions
from vcrgen.bloom.rejects import ItemRejected, ItemRejectReason, RejectLog
from vcrgen.bloom.taxonomy import Taxonomy, load_taxonomy
from vcrgen.bloom.write import LICENSE_OF_SOURCE, write_set
from vcrgen.builder.images import FORMATS, load_image
from vcrgen.builder.options import load_build_config
from vcrgen.builder.sources import open_source
from vcrgen.builder.sources.base import PROBLEM, paths_of
from vcrgen.builder.sources.images import ImageFolders, image_bytes
from vcrgen.core.errors import ConfigError, ImageProblem, SourceError
from vcrgen.core.media import media_type
from vcrgen.core.progress import ProgressListener
from vcrgen.core.reading import as_id, describe, parse_json, read_json
from vcrgen.core.records import RejectReason
from vcrgen.data.manifest import Manifest
from vcrgen.data.tasks.bloom import DIALECT, LETTERS
from vcrgen.report.escape import one_line

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
_COLUMNS = f"{LETTERS}KLMN"  # of options in tables: an item with too many is rejected, not shortened
_EMPTY = ("", "nan")  # of a table's cell that holds nothing
_LONGEST_INDEX = 64  # characters of a cell `image` that is the index of another row, as VLMEvalKit has it
_CIRCLE = 1_000_000  # between the indices of an item and of its circular copies
_LONGEST_LIST = 20_000  # characters
_MOST_FIELDS = 200  # of a row; a table of thousands is none of questions

Row = Mapping[str, Any]
ROW_ERRORS = (ItemRejected, ImageProblem, TypeError, ValueError, AttributeError, SourceError)


def import_questions(
    file: Path, options: BloomImportOptions, out: Path, *, listener: ProgressListener | None = None
) -> Manifest:
    """Convert a file to an MCQ benchmark; unusable items are rejected with a reason.

    Raises:
        ConfigError: An option or the taxonomy is wrong.
        SourceError: The file cannot be read, or has no usable item.
        OutputError: The folder holds something, or cannot be written.
    """
    if odd := sorted(set(options.keep) - MAY_BE_KEPT):
        raise ConfigError(f"--keep {odd[0][:40]!r} is none of {', '.join(sorted(MAY_BE_KEPT))}.")
    taxonomy = load_taxonomy(options.taxonomy)
    names, count, rows = open_rows(file)
    languages = languages_in(file, names, options)
    rejects = RejectLog()
    listener = listener or ProgressListener()
    listener.begin(count, 0)
    with TemporaryDirectory() as folder:
        columns = (DIALECT,) if DIALECT in names else ()
        reader = RowReader(options, file.parent, taxonomy, languages, rejects, Path(folder), columns)
        return write_set(
            out,
            reader.usable(rows, listener),
            languages=languages,
            taxonomy=taxonomy,
            source=file.name,
            config=options.model_dump(mode="json", exclude={"images", "taxonomy"}),
            rejects=rejects,
            license_note=LICENSE_OF_SOURCE,
            columns=columns,
        )


def open_rows(file: Path) -> tuple[list[str], int, Iterable[Row]]:
    """The names of columns and fields, the number of rows, and the rows."""
    if file.suffix.lower() not in _SUFFIXES:
        raise SourceError(f"{file} has no form that MCQ benchmarks have; known: {', '.join(_SUFFIXES)}.")
    try:
        with file.open("rb") as handle:
            first = handle.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] if file.suffix.lower() == ".json" else b""
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror}.") from None
    if first == b"{" and file.stat().st_size <= MAX_JSON_BYTES:
        with suppress(SourceError):  # lines of JSON have this name, too
            return _named_rows(_items_in(read_json(file, SourceError), file))
    if first != b"[":
        source = open_source(load_build_config(None, {"source": str(file)}))
        names = [path[-1] for path in source.names()]
        needed = frozenset(path[0] for path in source.names())
        parts = list(enumerate(source.partitions()))
        rows = (row for at, part in parts for row in source.rows(at, range(part.rows), needed))
        return names, sum(part.rows for _, part in parts), rows
    if file.stat().st_size > MAX_JSON_BYTES:
        raise SourceError(
            f"{file} is one JSON value of more than {MAX_JSON_BYTES >> 20} MiB; give pictures as files beside it, or "
            "write one item a line (JSON Lines)."
        )
    return _named_rows(read_json(file, SourceError))


def _named_rows(values: Sequence[Any]) -> tuple[list[str], int, list[Row]]:
    """Return rows with the names of their fields, as `open_rows`."""
    rows: list[Row] = [
        row if isinstance(row, dict) else {PROBLEM: f"not an object but {describe(row)}"} for row in values
    ]
    return list(dict.fromkeys(path[-1] for row in rows for path in paths_of(row))), len(rows), rows


def _items_in(value: Mapping[str, Any], file: Path) -> list[Any]:
    """The items in a JSON object: one item, a list of them under any name, or items by their ids.

    Raises:
        SourceError: It holds none, or several lists of which none is called ``data``.
    """
    if "multiple_choice_qa" in value or any(name == "question" or _QUESTION.fullmatch(name) for name in value):
        return [value]
    lists = {
        name: rows
        for name, rows in value.items()
        if isinstance(rows, list) and any(isinstance(row, dict) for row in rows)
    }
    if listed := lists.get("data") or (next(iter(lists.values())) if len(lists) == 1 else None):
        return list(listed)
    if not lists and value and all(isinstance(row, dict) for row in value.values()):
        return [{"question_id": name, **row} for name, row in value.items()]
    raise SourceError(f"{file} is a JSON object without a list of items; name the list `data`.")


def languages_in(file: Path, names: Iterable[str], options: BloomImportOptions) -> tuple[str, ...]:
    """The languages that columns name; that of ``--lang`` for a column ``question``."""
    columns = set(names)
    languages = {
        match[1]: None
        for name in names
        if (match := _QUESTION.fullmatch(name))  # `question_id` is no Indonesian question unless it has options
        and columns & {form.format(match[1]) for form in ("options_{}", "A_{}", "choice_A_{}")}
    }
    if "question" in columns and options.lang not in languages:
        languages = {options.lang: None} | languages
    if not 0 < len(languages) <= MAX_LANGUAGES:
        raise SourceError(
            f"{file} has no column or field `question` or `question_XX` (XX a language's code), or more than "
            f"{MAX_LANGUAGES} of them; docs/bloom.md shows the forms that are read."
        )
    return tuple(languages)


class RowReader:
    """Converts rows of a file to rows of a dataset; a ConfigError if the folder of pictures is none."""

    def __init__(
        self,
        options: BloomImportOptions,
        beside: Path,
        taxonomy: Taxonomy,
        languages: Sequence[str],
        rejects: RejectLog,
        folder: Path,
        columns: Sequence[str] = (),
    ) -> None:
        if options.images is not None and not options.images.is_dir():
            raise ConfigError(f"--images {options.images} is no folder.")
        self._options, self._folders = options, ImageFolders.of(options.images or beside, option="--images")
        self._taxonomy, self._languages, self._rejects = taxonomy, languages, rejects
        self._folder, self._fetched, self._columns = folder, PictureCache(folder), columns
        self._ids: set[str] = set()
        # By index, question and options: the id, the options and the right one of the first row with these.
        self._circles: dict[tuple[int, str, tuple[str, ...]], tuple[str, Sequence[str], str]] = {}
        # The items about one picture mostly stand together.
        self._checked = lru_cache(maxsize=8)(usable_picture)

    def usable(self, rows: Iterable[Row], listener: ProgressListener) -> Iterator[dict[str, Any]]:
        """The rows that can be used; the others are pluralize."""
        for number, row in enumerate(rows, start=1):
            converted = self._convert(row, number)
            listener.advance(1, converted is not None, Counter() if converted else Counter({"rejected": 1}))
            if converted:
                yield converted

    def _convert(self, row: Row, number: int) -> dict[str, Any] | None:
        name = name_of(row, number)
        printed_name = name if name.isprintable() and len(name) <= MAX_ID else f"row {number}"
        try:
            return self._item(row, name, number)
        except ROW_ERRORS as problem:
            self._rejects.add(printed_name, *reject_of(problem))
        return None

    def _item(self, row: Row, name: str, number: int) -> dict[str, Any]:
        """Convert a row, or raise the reason for which it is rejected."""
        if PROBLEM in row or len(row) > _MOST_FIELDS:
            raise ItemRejected(ItemRejectReason.NOT_AN_ITEM, str(row.get(PROBLEM, "too many fields"))[:200])
        self.keep_picture(row)
        if not name.isprintable() or len(name) > MAX_ID:
            raise ItemRejected(ItemRejectReason.NOT_AN_ITEM, f"its id is no text of {MAX_ID} printable characters")
        if name in self._ids:
            raise ItemRejected(ItemRejectReason.DUPLICATE_ID, "an earlier item has this id")
        raw = self._raw(row, name)
        self._refuse_copy(row, raw)
        for reason, detail in find_problems(raw):
            if reason not in self._options.keep:
                raise ItemRejected(reason, detail)
        data = self.picture(row)
        if data is None:
            raise ItemRejected(ItemRejectReason.NO_PICTURE, "no column holds a picture")
        self._ids.add(name)
        questions = complete_questions(raw)
        converted: dict[str, Any] = {
            "question_id": name,
            "image": {"bytes": data, "path": None},
            "path": raw.path,
            "source": f"item {number}",
            "answer": raw.answer,
            "trap": raw.trap,
        }
        if DIALECT in self._columns:
            converted[DIALECT] = one_line(_text(texts_of(row).get(DIALECT, row.get(DIALECT))))[:MAX_ID]
        for lang in self._languages:
            stem, options = questions.get(lang, ("", [""] * len(raw.questions[lang][1])))
            converted[f"question_{lang}"], converted[f"options_{lang}"] = stem, list(options)
        return converted

    def _refuse_copy(self, row: Row, raw: RawItem) -> None:
        """Reject a circular copy of VLMEvalKit: an earlier item with its options turned, a million further in `index`.

        All orders of an item are asked for by ``vcrgen predict --rotations``, so the copies say nothing more.
        """
        index = as_id(row.get("index")) or ""
        if not index.isdecimal() or len(index) > _LONGEST_INDEX or len(raw.answer) != 1 or raw.answer not in LETTERS:
            return
        stem, texts = next(iter(raw.questions.values()))
        options = [text for text in texts if text]
        right = dict(zip(LETTERS, texts, strict=False)).get(raw.answer, "")
        key = int(index) % _CIRCLE, stem, tuple(sorted(options))
        first, order, keyed = self._circles.setdefault(key, (raw.question_id, options, right))
        if first == raw.question_id or options not in [[*order[at:], *order[:at]] for at in range(len(order))]:
            return
        if right != keyed:
            raise ItemRejected(ItemRejectReason.BAD_KEY, f"a copy of {first} whose key is another option")
        raise ItemRejected(ItemRejectReason.CIRCULAR_COPY, f"{first} with its options in another order")

    def _raw(self, row: Row, name: str) -> RawItem:
        texts = texts_of(row)
        questions = {lang: question_in(texts, lang, plain=lang == self._options.lang) for lang in self._languages}
        most = max(len(options) for _, options in questions.values())
        return RawItem(
            question_id=name,
            path=self.path(row),
            questions={
                lang: (stem, [*options, *[""] * (most - len(options))]) for lang, (stem, options) in questions.items()
            },
            answer=_text(texts.get("answer")).upper(),
            trap=_text(texts.get("trap", row.get("trap"))).upper(),
        )

    def path(self, row: Row) -> str | None:
        """The category of a row, or None if the taxonomy has none that fits its names."""
        hierarchy, category = row.get("hierarchy"), _text(row.get("path")) or _text(row.get("category"))
        if isinstance(hierarchy, Mapping):
            names = [*_text(hierarchy.get("lvl1")).split("->"), _text(hierarchy.get("leaf"))]
        elif _text(row.get("leaf")):
            names = [_text(row.get(column)) for column in ("level", "subcategory", "leaf")]
        else:
            names = re.split(r"->|>|/", category)
        if len([name for name in names if name.strip()]) == 1:
            behind = self._taxonomy.resolve([_text(row.get("l2-category")), *names])
            return behind or self._taxonomy.resolve(names)
        return self._taxonomy.resolve(names)

    def keep_picture(self, row: Row) -> None:
        """Store the picture of a row of VLMEvalKit, for later rows that have this row's ``index`` in its place."""
        index, value = as_id(row.get("index")), row.get("image")
        if index is not None and isinstance(value, str) and len(value) > _LONGEST_INDEX:
            self._stored_file(index).write_text(value, "utf-8", "replace")

    def _stored_file(self, index: str) -> Path:
        return self._folder / f"row-{hashlib.sha256(index.encode('utf-8', 'surrogatepass')).hexdigest()}"

    def picture(self, row: Row, columns: Sequence[str] = ()) -> bytes | None:
        """The encoded picture of a row: the first in these columns, or in those of the options."""
        column = self._options.image_column
        for name in columns or ((column,) if column else PICTURE_COLUMNS):
            value = row.get(name)
            if "index" in row and (index := as_id(value)) and len(index) <= _LONGEST_INDEX:
                value = stored.read_text("utf-8") if (stored := self._stored_file(index)).exists() else value
            if isinstance(value, str) and re.match(r"(?i)https?://", value.strip()):
                if not self._options.fetch:
                    raise ItemRejected(
                        ItemRejectReason.NO_PICTURE, "the picture is an address, which is fetched only with --fetch"
                    )
                return self._checked(self._fetched.get(value.strip()))
            if data := image_bytes(value, folders=self._folders):
                return self._checked(data)
        return None


def reject_of(problem: Exception) -> tuple[ItemRejectReason, str]:
    """The reason and the detail by which one of `ROW_ERRORS` rejects an item."""
    if isinstance(problem, ItemRejected):
        return problem.reason, problem.detail
    if isinstance(problem, ImageProblem):
        missing = problem.reason is RejectReason.NO_IMAGE
        return ItemRejectReason.NO_PICTURE if missing else ItemRejectReason.BAD_PICTURE, problem.detail
    return ItemRejectReason.NOT_AN_ITEM, str(problem)[:200]


def name_of(row: Row, number: int) -> str:
    """The id of a row, or its number from 1 if it has none."""
    return next((text for key in ID_COLUMNS if (text := as_id(row.get(key)))), f"row-{number}")


def texts_of(row: Row) -> Row:
    """The record with question and options: one inside of the row, or the row."""
    inner = row.get("multiple_choice_qa")
    return inner if isinstance(inner, Mapping) else row


def question_in(texts: Row, lang: str, *, plain: bool) -> tuple[str, list[str]]:
    """Return stem and options in a language; empty texts for missing ones."""
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

    options = [option(letter) for letter in _COLUMNS]
    # A table has columns for the options of its longest item; a field of the published form stands for an option.
    fields = sum(f"choice_{letter}_{lang}" in texts for letter in _COLUMNS)
    count = max((number for number, text in enumerate(options, start=1) if text), default=0)
    return stem, options[: max(count, fields)]


def _listed(text: str) -> Any:
    """Parse a list in a cell: JSON or, as in MMMU, a Python literal."""
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
    """Return a text without surrounding white space; a number as its digits, "" for an empty cell of a table.

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
    """Check that a picture can be decoded; return it as it is (PNG, JPEG, WebP) or as PNG.

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
