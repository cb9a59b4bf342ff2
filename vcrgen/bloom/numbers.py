"""Comparison of the numbers in texts of several languages.

"1,000 boats" and "١٬٠٠٠ قارب" do, and so do "3 boats" and "ثلاثة قوارب". "3 boats" and "٤ قوارب" do not.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations, pairwise, repeat
from typing import NamedTuple

_NUMBER = re.compile(r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)|\d+(?:[.,\u066b\u066c'\u2019]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")
_RUN = re.compile(r"\w+")
# What bytes.translate puts for a character of ASCII, so that str.split finds such runs; it takes half the time.
_RUNS_OF_ASCII = "".join(char.lower() if _RUN.match(char) else " " for char in map(chr, range(128))).encode().ljust(256)
_DIGIT = re.compile(r"\d")
_DECIMAL, _THOUSANDS = "\u066b", "\u066c '\u2019\u00a0\u202f"  # separators of one meaning; those of . and , differ
# By language: words of a value, from 0 on; the first line has those that count things, the second one what may stand
# for a number besides (an order, a part, a pair) and often means something else.
_WORDS = {
    "en": (
        "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen"
        "|seventeen|eighteen|nineteen|twenty",
        "no none nothing|a an single once first|both pair couple twice double second half|third triple thrice"
        "|fourth quarter|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth dozen|||||||||twentieth",
    ),
    "ar": (
        "صفر|واحد واحدة أحد إحدى|اثنان اثنين اثنتان اثنتين اثنا اثني اثنتا اثنتي|ثلاثة ثلاث|أربعة أربع|خمسة خمس|ستة ست"
        "|سبعة سبع|ثمانية ثماني ثمان|تسعة تسع|عشرة عشر||||||||||عشرون عشرين",
        "لا بدون دون|أول أولى وحيد مفرد|ثان ثاني ثانية ثنائي زوج كلا كلتا كلي نصف|ثالث ثالثة ثلاثي ثلث|رابع رابعة رباعي"
        " ربع|خامس خامسة خماسي|سادس سادسة سداسي سدس|سابع سابعة|ثامن ثامنة ثمن|تاسع تاسعة تسع|عاشر عاشرة|||||||||||",
    ),
}
_TENS = {
    "en": "thirty|forty|fifty|sixty|seventy|eighty|ninety",
    "ar": "ثلاثون ثلاثين|أربعون أربعين|خمسون خمسين|ستون ستين|سبعون سبعين|ثمانون ثمانين|تسعون تسعين",
}
# Words from a hundred on, folded: a number with one of them is not worked out.
_LARGE = {
    "en": re.compile("(?:hundred|thousand|(?:m|b|tr)illion)s?"),
    "ar": re.compile(r"\w*(?:ميه|مايه|ميت[اي]ن|مايت[اي]ن|ميات)|(?:ال)?(?:الف|الاف|الف[اي]ن|ملي(?:ون|ار)\w*|ملايين)"),
}
_DUAL = re.compile(r"\w{3,}[اي]ن")  # Arabic says "two boats" by an ending
_BEFORE = re.compile("[وف]?(?:[بلك]?ال|لل|[بلك])?")  # and, with, the ...: written to an Arabic word


class _Meaning(NamedTuple):
    counts: int | None  # what it counts
    may: frozenset[int]  # what it may stand for
    large: bool  # whether it names a hundred or more


def may_differ(texts: Mapping[str, str]) -> bool:
    """Return False for items in which `numbers_differ` is false of every part: a quick first check.

    Without a digit, at least two languages need words that count.
    """
    if any(map(_DIGIT.search, texts.values())):
        return True
    may_lack = len(texts.keys() & _WORDS.keys()) - 2  # so many of these languages, and two are left
    for lang, text in texts.items():
        if may_lack < 0:
            return False
        may_lack -= lang in _WORDS and not _has_counts(lang, text)
    return may_lack >= 0


@lru_cache(maxsize=64)
def folded_words(text: str) -> tuple[str, ...]:
    """The case-folded words of a text: runs of letters, digits and underscores.

    Cached, since several checks of an item use them.
    """
    if text.isascii():
        return tuple(text.encode("ascii").translate(_RUNS_OF_ASCII).decode("ascii").split())
    return tuple(_RUN.findall(text.casefold()))


def numbers_differ(texts: Mapping[str, str]) -> bool:
    """True if a text has a number that another one lacks.

    A number in digits may stand there in digits of any script, with any separators, or as a word. Words are known in
    English and Arabic up to 99. In other languages, where a number may stand as an unknown word, texts differ if each
    of two has a number that the other one lacks. Words are no more than a hint ("one", "second"): if each of two texts
    has a word for a number above one that the other has in no form, they differ.
    """
    return any(_differ((a, texts[a]), (b, texts[b])) for a, b in combinations(texts, 2))


def _differ(a: tuple[str, str], b: tuple[str, str]) -> bool:
    numbers = _numbers(a[1]), _numbers(b[1])
    lacking = _lacking(*numbers), _lacking(*reversed(numbers))
    if a[0] not in _WORDS or b[0] not in _WORDS:
        return all(lacking)
    if not any(lacking) and not all(_has_counts(*text) for text in (a, b)):
        return False
    words = _words_of(*a), _words_of(*b)
    for missing, (_, may, large) in zip(lacking, reversed(words), strict=True):
        if not all(_may_spell(number, may, large) for number in missing):
            return True
    (counts_a, may_a, large_a), (counts_b, may_b, large_b) = words
    only_a, only_b = counts_a - may_b, counts_b - may_a
    if not (only_a and only_b) or large_a or large_b:
        return False
    in_digits = {reading for number in (*numbers[0], *numbers[1]) for reading in number}
    return all({str(value) for value in only} - in_digits for only in (only_a, only_b))


def _lacking(numbers: list[frozenset[str]], others: list[frozenset[str]]) -> list[frozenset[str]]:
    """The numbers in digits of a text that another one does not have in digits."""
    left, lacking = list(others), []
    for number in numbers:
        same = next((readings for readings in left if readings & number), None)
        if same is None:
            lacking.append(number)
        else:
            left.remove(same)
    return lacking


def _numbers(text: str) -> list[frozenset[str]]:
    """The possible readings of every number in digits: 1,500 may be 1500 or 1.5."""
    return [_readings(number) for number in _NUMBER.findall(text)]


@lru_cache(maxsize=1 << 12)
def _readings(number: str) -> frozenset[str]:
    plain = "".join(str(unicodedata.digit(char)) if char.isdigit() else char for char in number)
    first, *groups = re.split(r"\D", plain)
    marks = [char for char in plain if not char.isdigit()]
    if not marks:
        return frozenset([first.lstrip("0") or "0"])
    readings = set()
    in_threes = len(first) <= 3 and first != "0" and all(len(group) == 3 for group in groups)
    if in_threes and _DECIMAL not in marks:
        readings.add(first + "".join(groups))
    if marks[-1] not in _THOUSANDS and marks[-1] not in marks[:-1]:
        readings.add(f"{(first + ''.join(groups[:-1])).lstrip('0') or '0'}.{groups[-1].rstrip('0')}".rstrip("."))
    return frozenset(readings or {plain})


def _may_spell(number: Iterable[str], words: set[int], large: bool) -> bool:
    """True if words may stand for a number in one of its readings: 3.000 may be "three"."""
    wholes = [int(reading) for reading in number if reading.isdigit() and len(reading) < 16]
    return any(_is_spelled(whole, words, large) for whole in wholes) if wholes else large


def _is_spelled(whole: int, words: set[int], large: bool) -> bool:
    """True if words may stand for a whole number: 25 may be "twenty five"; one is seldom written."""
    if whole >= 100:
        return large
    unit, tens = whole % 10, whole - whole % 10
    return whole == 1 or whole in words or bool(unit and tens and {unit, tens} <= words)


def _words_of(lang: str, text: str) -> tuple[set[int], set[int], bool]:
    """The numbers that words count, those that they may stand for, and True if one is a hundred or more."""
    meanings = [_meaning(lang, word) for word in _WORD.findall(text)]
    if not any(meanings):
        return set(), set(), False
    values = [None if word is None else word.counts for word in meanings]
    counts: set[int] = set()
    joined: set[int] = set()
    for at, (value, next_value) in enumerate(pairwise(values)):
        units, tens = (value, next_value) if lang == "ar" else (next_value, value)  # Arabic names the units first
        if units and tens and 0 < units < 10 <= tens and tens % 10 == 0 and (lang == "ar" or tens > 10):
            counts.add(units + tens)
            joined |= {at, at + 1}
    counts |= {value for at, value in enumerate(values) if value is not None and value > 1 and at not in joined}
    words = [word for word in meanings if word is not None]
    return counts, counts.union(*(word.may for word in words)), any(word.large for word in words)


def _has_counts(lang: str, text: str) -> bool:
    """Return True if a word of a text counts more than one."""
    return any(map(_counts, repeat(lang), _WORD.findall(text)))


@lru_cache(maxsize=1 << 16)
def _counts(lang: str, word: str) -> bool:
    meaning = _meaning(lang, word)
    return meaning is not None and (meaning.counts or 0) > 1


@lru_cache(maxsize=1 << 16)
def _meaning(lang: str, written: str) -> _Meaning | None:
    """The numbers that a word may mean; None for other words."""
    word = _folded(written)
    counts, other = (_value(word, table) for table in _table(lang))
    may = {value for value in (counts, other) if value is not None}
    if lang == "ar" and _DUAL.fullmatch(word):
        may.add(2)
    large = bool(_LARGE[lang].fullmatch(word))
    return _Meaning(counts, frozenset(may), large) if may or large else None


@cache
def _table(lang: str) -> tuple[dict[str, int], dict[str, int]]:
    """The values of words that count things, and of those that may stand for a number."""
    counting, others = (
        {_folded(word): value for value, words in enumerate(row.split("|")) for word in words.split()}
        for row in _WORDS[lang]
    )
    for number, words in enumerate(_TENS[lang].split("|"), 3):
        counting |= {_folded(word): 10 * number for word in words.split()}
    return counting, others


def _value(word: str, table: Mapping[str, int]) -> int | None:
    """The value of a word, with or without an Arabic prefix."""
    if word in table or not "\u0600" <= word[:1] <= "\u06ff":
        return table.get(word)
    return next((table[rest] for rest in _shorter(word) if rest in table), None)


def _shorter(word: str) -> Sequence[str]:
    return [word[length:] for length in range(1, 5) if _BEFORE.fullmatch(word[:length])]


def _folded(word: str) -> str:
    """Remove case and vowel signs, and unify variants of Arabic letters."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(char))
    return plain.replace("\u0640", "").replace("ة", "ه").replace("ى", "ي")
