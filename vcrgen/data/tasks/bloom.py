"""Multiple-choice (MCQ) benchmarks by Bloom's levels: the columns of their datasets, and an item.

An item is a picture, a question about it in one or more languages, and two to ten options of which one is right. It has
a category of a taxonomy, such as ``apply/basic logic operation/negation understanding``.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from vcrgen.core.errors import DatasetError
from vcrgen.data.reader import Dataset
from vcrgen.data.schema import IMAGE, STRING, DatasetKind
from vcrgen.data.tables import image_bytes
from vcrgen.text.languages import LANGUAGES

T = TypeVar("T")
TASK = "bloom"  # in manifests
LETTERS = "ABCDEFGHIJ"  # the labels of options; an item has the first ones
MIN_OPTIONS, MAX_OPTIONS = 2, len(LETTERS)
SCENE_MAKER = "scenes-"  # begins the maker of a set of built-in scenes, in signatures
FORM_NOTE = (
    "Questions about built-in scenes: from apply on, the form of an item is that of its level, not the skill. A model "
    "that reads the attributes of a drawn scene needs one more step; nothing is created. So a level here is no measure "
    "of the skill."
)
DIALECT = "dialect"  # a column that some published files have
TAXONOMY_FILE = "taxonomy.csv"  # beside the data
# Languages without a row in the table of languages that are written from right to left.
_RIGHT_TO_LEFT = frozenset({"arc", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"})


class ChoiceQuestion(NamedTuple):
    """A question in one language."""

    text: str  # the stem
    options: tuple[str, ...]  # their texts, in the dataset's order, which is the same in all languages


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceItem:
    """One item, without its picture."""

    question_id: str  # its name in the set
    path: str  # ``level/subcategory/category`` in small letters; "" in the public part of a hidden set
    picture: str  # SHA-256 of the picture's bytes, in hex: equal for the items that share one; "" where none was read
    questions: Mapping[str, ChoiceQuestion]  # by language code; only languages in which the item is complete
    answer: int | None  # number of the right option, from 0; None in the public part of a hidden set
    trap: int | None  # number of the wrong option that a shallow reader takes; None where no option is marked so

    @property
    def options(self) -> int:
        """The number of options."""
        return count_options(self.questions)

    @property
    def level(self) -> str:
        """The first part of the path, such as ``apply``."""
        return self.path.partition("/")[0]


def count_options(questions: Mapping[str, ChoiceQuestion]) -> int:
    """The number of options, which is that of every language; 0 without a question."""
    return len(next(iter(questions.values())).options) if questions else 0


def shown_option(label: int, rotation: int, options: int) -> int:
    """Number of the option beside a label, of so many: in rotation 1, option 1 stands beside label 0."""
    return (label + rotation) % options


def in_dataset_order(values: Sequence[T], rotation: int) -> list[T]:
    """Reorder values of the labels, first to last, to the order of the options beside them."""
    return [values[(option - rotation) % len(values)] for option in range(len(values))]


def level_note(signature: Mapping[str, str]) -> str:
    """Return what the levels of a set do not measure, from the facts of its signature; "" for most sets."""
    return FORM_NOTE if signature.get("maker", "").startswith(SCENE_MAKER) else ""


def direction(lang: str) -> str:
    """Writing direction of a language, as in HTML: ``"rtl"`` or ``"ltr"``."""
    return LANGUAGES[lang].direction if lang in LANGUAGES else "rtl" if lang in _RIGHT_TO_LEFT else "ltr"


def question_kind(languages: Sequence[str]) -> DatasetKind:
    """Features of an MCQ benchmark by column, with a question and options for each language."""
    columns: dict[str, tuple[Any, str]] = {
        "question_id": (STRING, "name of the item; the same in every language"),
        "image": (IMAGE, "the picture that is asked about; several items may share one"),
        "path": (STRING, "level/subcategory/leaf of the taxonomy, in small letters"),
        "source": (STRING, "where the item is from"),
    }
    for lang in languages:
        columns[f"question_{lang}"] = (STRING, f"the question in `{lang}`; empty where the item is not complete in it")
        columns[f"options_{lang}"] = ([STRING], f"its options in `{lang}`, in the same order in all languages")
    columns["answer"] = (STRING, "the letter of the right option: `A` for the first one")
    columns["trap"] = (STRING, "the wrong option that a shallow reader takes, or empty where none is marked")
    return DatasetKind(
        features={name: feature for name, (feature, _) in columns.items()},
        descriptions={name: note for name, (_, note) in columns.items()},
        identifier="question_id",
        answers="answer",
        task=TASK,
        dictionary_columns=("path", "source", "answer", "trap"),
        indexed_columns=("question_id",),
        optional_features={DIALECT: (STRING, "the dialect of the item, as its source says")},
    )


def languages_of(dataset: Dataset) -> tuple[str, ...]:
    """Languages of a benchmark, in the order of its columns."""
    codes = (name.removeprefix("options_") for name in dataset.kind.features if name.startswith("options_"))
    return tuple(codes)


def read_items(dataset: Dataset, *, pictures: bool = True) -> Iterator[ChoiceItem]:
    """Yield the items of a benchmark in the order of its rows, one in memory at a time.

    Args:
        dataset: An MCQ benchmark, or some splits of it.
        pictures: Read the pictures, to know which items share one.

    Raises:
        DatasetError: A file is damaged, or a row has values that vcrgen does not write.
    """
    return (item for _, item in read_item_rows(dataset, pictures=pictures))


def read_item_rows(dataset: Dataset, *, pictures: bool = True) -> Iterator[tuple[dict[str, Any], ChoiceItem]]:
    """Yield the items as `read_items`, each with its row."""
    languages = languages_of(dataset)
    columns = ["question_id", *(f"{name}_{lang}" for lang in languages for name in ("question", "options"))]
    if pictures:
        columns.append("image")
    if not dataset.is_hidden:
        columns += ["path", "answer", "trap"]
    for place, row in dataset.rows(columns):
        try:
            item = item_of(row, languages)
        except (TypeError, ValueError) as problem:
            raise DatasetError(f"{place}: {problem}; build or import the set again.") from None
        yield row, item


def item_of(row: Mapping[str, Any], languages: Sequence[str]) -> ChoiceItem:
    """Read an item from a row of a benchmark.

    Raises:
        ValueError: A value has not its form; the text says which, and shows no answer.
    """
    questions = {}
    for lang in languages:
        text, options = row.get(f"question_{lang}"), row.get(f"options_{lang}")
        if not text and not options:
            continue
        if not isinstance(text, str) or not isinstance(options, list) or not MIN_OPTIONS <= len(options) <= MAX_OPTIONS:
            raise ValueError(f"no question with {MIN_OPTIONS} to {MAX_OPTIONS} options in {lang!r}")
        if text and all(isinstance(option, str) and option for option in options):
            questions[lang] = ChoiceQuestion(text, tuple(options))
    counts = {len(question.options) for question in questions.values()}
    if len(counts) > 1:
        raise ValueError("its languages have other numbers of options")
    letters = LETTERS[: next(iter(counts), MAX_OPTIONS)]
    data = image_bytes(row.get("image"))
    return ChoiceItem(
        question_id=_text(row, "question_id"),
        path=_text(row, "path") if "path" in row else "",
        questions=questions,
        picture=hashlib.sha256(data).hexdigest() if data else "",
        answer=_letter(row, "answer", letters),
        trap=_letter(row, "trap", letters),
    )


def _text(row: Mapping[str, Any], column: str) -> str:
    value = row.get(column)
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= 256:
        raise ValueError(f"its `{column}` is no text of 1 to 256 printable characters")
    return value


def _letter(row: Mapping[str, Any], column: str, letters: str) -> int | None:
    """Number of the option that a column names by its letter, from 0; None without a letter."""
    value = row.get(column)
    if value in (None, ""):
        return None
    if not isinstance(value, str) or len(value) != 1 or value not in letters:
        raise ValueError(f"its `{column}` is none of {', '.join(letters)}")
    return letters.index(value)
