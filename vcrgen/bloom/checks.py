"""What may be wrong with an item, told without a model: each kind has a name and a count.

Most of it sets an item aside. What a maintainer may want to keep all the same, since a whole published set is to be
scored, is in :data:`MAY_BE_KEPT`.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from vcrgen.tasks.bloom import LETTERS
from vcrgen.text.languages import LANGUAGES

MAX_STEM, MAX_OPTION = 4_000, 2_000  # characters


class Fault(StrEnum):
    """Why an item is set aside. The value is what ``rejects.jsonl`` and the summary show."""

    NOT_AN_ITEM = "not_an_item"
    DUPLICATE_ID = "duplicate_id"
    NO_PICTURE = "no_picture"
    BAD_PICTURE = "bad_picture"
    UNKNOWN_LEAF = "unknown_leaf"
    INCOMPLETE = "incomplete"
    NOT_FOUR_OPTIONS = "not_four_options"
    TOO_LONG = "too_long"
    BAD_KEY = "bad_key"
    BAD_TRAP = "bad_trap"
    EQUAL_OPTIONS = "equal_options"
    CONTROL_CHARACTER = "control_character"
    MARKUP = "markup"
    WRONG_SCRIPT = "wrong_script"
    NUMBERS_DIFFER = "numbers_differ"
    POINTS_AT_OPTIONS = "points_at_options"


MAY_BE_KEPT = frozenset({Fault.WRONG_SCRIPT, Fault.NUMBERS_DIFFER, Fault.POINTS_AT_OPTIONS})

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
_MARKUP = re.compile(r"<[A-Za-z/!?][^<>]*>|&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z]{2,31});")
_NUMBER = re.compile(r"\d+(?:[.,\u066b\u066c]\d+)*")
_POINTING = re.compile(
    r"\b(?:the following|of these|(?:options?|choices?|answers?|statements?|ones?) (?:below|above|listed|given)"
    r"|(?:listed|given|shown) (?:below|above)|(?:all|none) of the above)\b"
    "|مما يلي|فيما يلي|ما يلي|مما يأتي|التالية|التالي|الآتية|الآتي|الخيارات|الاختيارات",
    re.IGNORECASE,
)
# Where the table of languages has no row for them: the first word of the Unicode names of their letters.
_SCRIPTS = dict.fromkeys(("fa", "ur", "ps", "ckb", "sd", "ug"), "ARABIC") | {"he": "HEBREW"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RawItem:
    """An item as a file gives it: nothing of it has been looked at."""

    question_id: str
    path: str | None  # of the taxonomy, or None where the names in the file are none of its leaves
    questions: Mapping[str, tuple[str, Sequence[str]]]  # by language: stem and options; empty texts where one lacks
    answer: str
    trap: str = ""


def complete(raw: RawItem) -> dict[str, tuple[str, Sequence[str]]]:
    """The questions of an item in the languages in which none of its texts is empty."""
    return {lang: (stem, options) for lang, (stem, options) in raw.questions.items() if stem and all(options)}


def faults(raw: RawItem) -> Iterator[tuple[Fault, str]]:
    """What is wrong with the texts of an item, and in which language; the worst first. Nothing shows its answer."""
    questions = complete(raw)
    if raw.path is None:
        yield Fault.UNKNOWN_LEAF, "its category is no leaf of the taxonomy"
    if any(len(options) != len(LETTERS) for _, options in raw.questions.values()):
        yield Fault.NOT_FOUR_OPTIONS, f"{len(LETTERS)} are needed"
        return
    if not questions:
        yield Fault.INCOMPLETE, "a text is empty in every language"
        return
    if len(raw.answer) != 1 or raw.answer not in LETTERS:
        yield Fault.BAD_KEY, f"the key is none of {', '.join(LETTERS)}"
    if raw.trap and (len(raw.trap) != 1 or raw.trap not in LETTERS or raw.trap == raw.answer):
        yield Fault.BAD_TRAP, "the trap is no wrong option"
    for lang, (stem, options) in questions.items():
        yield from ((fault, f"in {lang}") for fault in _faults_of_texts(lang, stem, options))
    for fields in zip(*([stem, *options] for stem, options in questions.values()), strict=True):
        if _numbers_differ(fields):
            yield Fault.NUMBERS_DIFFER, f"in {' and '.join(questions)}"
            break


def _faults_of_texts(lang: str, stem: str, options: Sequence[str]) -> Iterator[Fault]:
    texts = stem, *options
    if len(stem) > MAX_STEM or max(map(len, options)) > MAX_OPTION:
        yield Fault.TOO_LONG
        return
    if any(map(_CONTROL.search, texts)):
        yield Fault.CONTROL_CHARACTER
    if any(map(_MARKUP.search, texts)):
        yield Fault.MARKUP
    if len({_folded(option) for option in options}) < len(options):
        yield Fault.EQUAL_OPTIONS
    if not (_in_script(lang, [stem]) and _in_script(lang, texts)):
        yield Fault.WRONG_SCRIPT
    if _POINTING.search(stem):
        yield Fault.POINTS_AT_OPTIONS


def _folded(text: str) -> str:
    """What options are compared by: in Unicode's compatibility form, without case and white space around."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _in_script(lang: str, texts: Sequence[str]) -> bool:
    """Whether at least half of the letters are of the language's script; True where nobody knows the script."""
    script = LANGUAGES[lang].script if lang in LANGUAGES else _SCRIPTS.get(lang)
    letters = [char for text in texts for char in text if char.isalpha()]
    if script is None or not letters:
        return True
    return 2 * sum(unicodedata.name(char, "").startswith(script) for char in letters) >= len(letters)


def _numbers_differ(texts: Sequence[str]) -> bool:
    """Whether two languages each have a number that the other lacks: a number in words is no difference."""
    found = [Counter(map(_value, _NUMBER.findall(text))) for text in texts]
    return any(a - b and b - a for at, a in enumerate(found) for b in found[at + 1 :])


def _value(number: str) -> str:
    """A number in plain digits without separators, whatever digits it is written in."""
    return "".join(str(unicodedata.digit(char)) for char in number if char.isdigit())
