"""Checks of an item's texts and keys that need no model.

A problem rejects the item. A maintainer who scores a published set as a whole may keep those of `MAY_BE_KEPT`.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations

from vcrgen.bloom.numbers import may_differ, numbers_differ
from vcrgen.bloom.rejects import ItemRejectReason
from vcrgen.data.tasks.bloom import LETTERS, MAX_OPTIONS, MIN_OPTIONS
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.lexicons import read_lexicon

MAX_STEM, MAX_OPTION = 4_000, 2_000  # characters
Questions = Mapping[str, tuple[str, Sequence[str]]]  # stem and options by language
MAY_BE_KEPT = frozenset(
    {
        ItemRejectReason.WRONG_SCRIPT,
        ItemRejectReason.UNTRANSLATED,
        ItemRejectReason.NUMBERS_DIFFER,
        ItemRejectReason.POINTS_AT_OPTIONS,
    }
)

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
_WORDS = re.compile(r"[^\W\d_]+")
_COPIED = 0.8  # of the words of a text that was not translated, in languages of one script
_MARKUP = re.compile(r"<[A-Za-z/!?][^<>]*>|&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z]{2,31});")
# Where the table of languages has no row for them: the first word of the Unicode names of their letters.
_SCRIPTS = dict.fromkeys(("fa", "ur", "ps", "ckb", "sd", "ug"), "ARABIC") | {"he": "HEBREW"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RawItem:
    """An item as a file has it, before any check."""

    question_id: str
    path: str | None  # of the taxonomy, or None if the taxonomy has no such category
    questions: Questions  # stem and options; empty texts for missing ones
    answer: str
    trap: str = ""


def complete_questions(raw: RawItem) -> Questions:
    """The questions in the languages in which no text is empty."""
    return {lang: (stem, options) for lang, (stem, options) in raw.questions.items() if stem and all(options)}


def find_problems(raw: RawItem) -> Iterator[tuple[ItemRejectReason, str]]:
    """Yield the problems of an item, the worst first, each with a detail that does not show the answer."""
    questions = complete_questions(raw)
    if raw.path is None:
        yield ItemRejectReason.UNKNOWN_CATEGORY, "the taxonomy has no such category"
    if any(not MIN_OPTIONS <= len(options) <= MAX_OPTIONS for _, options in raw.questions.values()):
        yield ItemRejectReason.NUMBER_OF_OPTIONS, f"an item has {MIN_OPTIONS} to {MAX_OPTIONS}"
        return
    if len({len(options) for _, options in raw.questions.values()}) > 1:
        yield ItemRejectReason.NUMBER_OF_OPTIONS, "not the same in all languages"
        return
    if not questions:
        yield ItemRejectReason.INCOMPLETE, "a text is empty in every language"
        return
    letters = LETTERS[: len(next(iter(questions.values()))[1])]
    if len(raw.answer) != 1 or raw.answer not in letters:
        yield ItemRejectReason.BAD_KEY, f"the key is none of {', '.join(letters)}"
    if raw.trap and (len(raw.trap) != 1 or raw.trap not in letters or raw.trap == raw.answer):
        yield ItemRejectReason.BAD_TRAP, "the trap is no wrong option"
    yield from find_text_problems(questions)


def find_text_problems(questions: Questions) -> Iterator[tuple[ItemRejectReason, str]]:
    """Yield the problems of texts that are complete in each language."""
    wholes = {lang: " ".join((stem, *options)) for lang, (stem, options) in questions.items()}
    for lang, (stem, options) in questions.items():
        for reason in _problems_in(lang, stem, options, wholes[lang]):
            yield reason, f"in {lang}"
    for first, second in combinations(questions, 2):
        if _scripts(first) == _scripts(second) and (
            _is_copied(questions[first][0], questions[second][0], 3)
            or _is_copied(" ".join(questions[first][1]), " ".join(questions[second][1]), 6)
        ):
            yield ItemRejectReason.UNTRANSLATED, f"in {first} and {second}"
    if not may_differ(wholes):
        return
    for fields in zip(*([stem, *options] for stem, options in questions.values()), strict=True):
        if numbers_differ(dict(zip(questions, fields, strict=True))):
            yield ItemRejectReason.NUMBERS_DIFFER, f"in {' and '.join(questions)}"
            break


def _is_copied(text: str, other: str, least: int) -> bool:
    """True for two texts that share most of their words, of which each has ``least`` or more."""
    words, others = (set(_WORDS.findall(whole.casefold())) for whole in (text, other))
    return min(len(words), len(others)) >= least and len(words & others) >= _COPIED * max(len(words), len(others))


def _problems_in(lang: str, stem: str, options: Sequence[str], whole: str) -> Iterator[ItemRejectReason]:
    if len(whole) > MAX_OPTION and (len(stem) > MAX_STEM or max(map(len, options)) > MAX_OPTION):
        yield ItemRejectReason.TOO_LONG
        return
    if not whole.isprintable() and _CONTROL.search(whole):
        yield ItemRejectReason.CONTROL_CHARACTER
    if "\ufffd" in whole:
        yield ItemRejectReason.REPLACEMENT_CHARACTER
    if ("<" in whole or "&" in whole) and any(map(_MARKUP.search, (stem, *options))):
        yield ItemRejectReason.MARKUP
    if len({_folded(option) for option in options}) < len(options):
        yield ItemRejectReason.EQUAL_OPTIONS
    mixed = mixes_scripts(lang, whole) and not (in_script(lang, stem) and in_script(lang, whole))
    if mixed or is_untranslated(lang, whole):
        yield ItemRejectReason.WRONG_SCRIPT
    if _pointing(lang if lang in LANGUAGES else "en").search(stem):
        yield ItemRejectReason.POINTS_AT_OPTIONS


@cache
def _pointing(lang: str) -> re.Pattern[str]:
    """Match phrases by which a question points at its options; whole words in space-delimited languages."""
    phrases, row = "|".join(read_lexicon(lang, "pointing")) or r"(?!)", LANGUAGES[lang]
    whole = row.word_boundaries and not row.particles
    return re.compile(rf"(?<!\w)(?:{phrases})(?!\w)" if whole else phrases, re.IGNORECASE)


def _folded(text: str) -> str:
    """Return an option in compatibility form, without case and surrounding white space, for comparison."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def mixes_scripts(lang: str, text: str) -> bool:
    """Return False if no letter of a whole item is of a script other than the language's: a quick first check."""
    scripts = _scripts(lang)
    return bool(scripts) and _other_letters(scripts).search(text) is not None


def in_script(lang: str, text: str) -> bool:
    """Return True if at least half of the letters are of the language's scripts, or these are not known."""
    scripts = _scripts(lang)
    if not scripts:
        return True
    own = others = 0
    for word in text.split():
        of_scripts, of_others = _letters(scripts, word)
        own += of_scripts
        others += of_others
    return own >= others


def is_untranslated(lang: str, text: str) -> bool:
    """Return True for a text all in a script shared with another language, as Chinese in place of Japanese."""
    if lang not in LANGUAGES or not LANGUAGES[lang].other_scripts:
        return False
    own = tuple(LANGUAGES[lang].own_scripts)
    letters = [char for char in text if char.isalpha()]
    return any(_is_of(_scripts(lang), char) for char in letters) and not any(_is_of(own, char) for char in letters)


@lru_cache(maxsize=1 << 8)  # codes of languages come from files
def _scripts(lang: str) -> tuple[str, ...]:
    """The scripts of a language; none if they are not known."""
    if lang in LANGUAGES:
        return LANGUAGES[lang].script, *LANGUAGES[lang].other_scripts
    return (_SCRIPTS[lang],) if lang in _SCRIPTS else ()


@cache
def _other_letters(scripts: tuple[str, ...]) -> re.Pattern[str]:
    """Match letters of other scripts, and all characters above U+FFFF: so few are used that none is looked up."""
    plain = (char for char in map(chr, range(0x10000)) if not char.isalpha() or _is_of(scripts, char))
    return re.compile(f"[^{re.escape(''.join(plain))}]")


def _is_of(scripts: tuple[str, ...], letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(scripts)


@lru_cache(maxsize=1 << 16)
def _letters(scripts: tuple[str, ...], word: str) -> tuple[int, int]:
    """Count the letters of a word that are of these scripts, and those that are not."""
    counts = Counter(_is_of(scripts, char) for char in word if char.isalpha())
    return counts[True], counts[False]
