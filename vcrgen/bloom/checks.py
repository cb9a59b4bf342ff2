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
from functools import cache, lru_cache

from vcrgen.bloom.numbers import may_differ, numbers_differ
from vcrgen.tasks.bloom import LETTERS
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.lexicons import read_lexicon

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
_SIGNS = " .,:;!?'\"()-\u060c\u061b\u061f"  # the last three are the Arabic comma, semicolon and question mark
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
    yield from faults_of_texts({lang: Texts(lang, stem, options) for lang, (stem, options) in questions.items()})


class Texts:
    """The texts of an item in a language, and what a quick look at all of them at once tells.

    Attributes:
        stem: The question.
        options: Its options.
        whole: All of them in one.
        plain: True only where ``whole`` is letters of the language's scripts, with single spaces and a few signs
            between them. Such texts have no digit, no markup, no control character and no other script, and two of
            them are alike only if they are equal but for case.
    """

    __slots__ = ("options", "plain", "stem", "whole")

    def __init__(self, lang: str, stem: str, options: Sequence[str]) -> None:
        self.stem, self.options = stem, options
        self.whole = whole = " ".join((stem, *options))
        self.plain = is_plain(lang, whole)


def faults_of_texts(items: Mapping[str, Texts]) -> Iterator[tuple[Fault, str]]:
    """What is wrong with the texts of an item, which has them whole in each of some languages."""
    for lang, texts in items.items():
        for fault in _faults_in(lang, texts):
            yield fault, f"in {lang}"
    wholes = {lang: texts.whole for lang, texts in items.items()}
    if not may_differ(wholes, plain=all(texts.plain for texts in items.values())):
        return
    for fields in zip(*([texts.stem, *texts.options] for texts in items.values()), strict=True):
        if numbers_differ(dict(zip(items, fields, strict=True))):
            yield Fault.NUMBERS_DIFFER, f"in {' and '.join(items)}"
            break


def _faults_in(lang: str, texts: Texts) -> Iterator[Fault]:
    stem, options, whole = texts.stem, texts.options, texts.whole
    if len(whole) > MAX_OPTION and (len(stem) > MAX_STEM or max(map(len, options)) > MAX_OPTION):
        yield Fault.TOO_LONG
        return
    if texts.plain:
        if len({*map(str.casefold, options)}) < len(options):
            yield Fault.EQUAL_OPTIONS
        mixed = False
    else:
        if not whole.isprintable() and _CONTROL.search(whole):
            yield Fault.CONTROL_CHARACTER
        if ("<" in whole or "&" in whole) and any(map(_MARKUP.search, (stem, *options))):
            yield Fault.MARKUP
        if len({_folded(option) for option in options}) < len(options):
            yield Fault.EQUAL_OPTIONS
        mixed = mixes_scripts(lang, whole) and not (in_script(lang, stem) and in_script(lang, whole))
    if mixed or borrowed(lang, whole):
        yield Fault.WRONG_SCRIPT
    if _pointing(lang if lang in LANGUAGES else "en").search(stem):
        yield Fault.POINTS_AT_OPTIONS


@cache
def _pointing(lang: str) -> re.Pattern[str]:
    """Words by which a question in a language points at its options; whole words, where it writes them apart."""
    either, row = "|".join(read_lexicon(lang, "pointing")), LANGUAGES[lang]
    whole = row.word_boundaries and not row.particles
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)" if whole else either, re.IGNORECASE)


def _folded(text: str) -> str:
    """What options are compared by: in Unicode's compatibility form, without case and white space around."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def is_plain(lang: str, text: str) -> bool:
    """A quick look at a whole item: whether it is as :class:`Texts` says of ``plain``."""
    scripts = _scripts(lang)
    return (
        bool(scripts)
        and not _not_plain(scripts).search(text)
        and "  " not in text
        and text[-1:] != " "
        and unicodedata.is_normalized("NFKC", text)
    )


def mixes_scripts(lang: str, text: str) -> bool:
    """A quick look at a whole item: False only where none of its letters is of another script than the language's."""
    scripts = _scripts(lang)
    return bool(scripts) and _other_letters(scripts).search(text) is not None


def in_script(lang: str, text: str) -> bool:
    """Whether at least half of the letters are of the language's scripts; True where nobody knows them."""
    scripts = _scripts(lang)
    if not scripts:
        return True
    own = others = 0
    for word in text.split():
        of_scripts, of_others = _letters(scripts, word)
        own += of_scripts
        others += of_others
    return own >= others


def borrowed(lang: str, text: str) -> bool:
    """Whether all is in a script that the language shares with another: a text in Chinese where Japanese is meant."""
    if lang not in LANGUAGES or not LANGUAGES[lang].other_scripts:
        return False
    own = tuple(LANGUAGES[lang].own_scripts)
    letters = [char for char in text if char.isalpha()]
    return any(_is_of(_scripts(lang), char) for char in letters) and not any(_is_of(own, char) for char in letters)


@lru_cache(maxsize=1 << 8)  # codes of languages come from files
def _scripts(lang: str) -> tuple[str, ...]:
    """The scripts of a language; none where nobody knows them."""
    if lang in LANGUAGES:
        return LANGUAGES[lang].script, *LANGUAGES[lang].other_scripts
    return (_SCRIPTS[lang],) if lang in _SCRIPTS else ()


@cache
def _other_letters(scripts: tuple[str, ...]) -> re.Pattern[str]:
    """Letters of other scripts, and all characters above U+FFFF, of which so few are used that none is looked up."""
    plain = (char for char in map(chr, range(0x10000)) if not char.isalpha() or _is_of(scripts, char))
    return re.compile(f"[^{re.escape(''.join(plain))}]")


@cache
def _not_plain(scripts: tuple[str, ...]) -> re.Pattern[str]:
    """What is neither a letter of some scripts nor one of a few signs; nor are letters above U+FFFF among these."""
    letters = (char for char in map(chr, range(0x10000)) if char.isalpha() and _is_of(scripts, char))
    return re.compile(f"[^{re.escape(''.join(letters) + _SIGNS)}]")


def _is_of(scripts: tuple[str, ...], letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(scripts)


@lru_cache(maxsize=1 << 16)
def _letters(scripts: tuple[str, ...], word: str) -> tuple[int, int]:
    """How many letters of a word are of these scripts, and how many are not."""
    found = Counter(_is_of(scripts, char) for char in word if char.isalpha())
    return found[True], found[False]
