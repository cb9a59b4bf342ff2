"""Checks of a generated item that need no model."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from vcrgen.bloom.checks import find_text_problems, in_script, mixes_scripts
from vcrgen.bloom.generation.prompts import template
from vcrgen.bloom.generation.stages import PROMPTS
from vcrgen.bloom.numbers import folded_words
from vcrgen.bloom.rejects import ItemRejected, ItemRejectReason
from vcrgen.data.tasks.bloom import ChoiceQuestion

QUOTED_WORDS = 6  # consecutive words of a prompt
_PART = 3  # of them, which are searched first
# The longest option may be so much longer than the shortest: three times, and twelve characters.
_TIMES, _EXTRA = 3, 12
_PLAIN_WORD = re.compile(r"\b[a-z]{3,}\b")  # in small letters, and no unit
_SENTENCE_ENDS = tuple(".!?\u061f\u06d4\u3002\uff01\uff1f\u0964")
_DIGITS_ONLY = re.compile(r"[\d\s.,:%/+\u066a-\u066c\u2212-]+")  # with Arabic signs and the minus sign, too


def check_item(questions: Mapping[str, ChoiceQuestion], stage: str) -> None:
    """Check the texts of an item.

    Raises:
        ItemRejected: With the first problem.
    """
    for reason, detail in find_text_problems(questions):
        raise ItemRejected(ItemRejectReason.FAULTY_TEXT, f"{reason.value}: {detail}", stage)
    for lang, (stem, options) in questions.items():
        whole = " ".join((stem, *options))
        if may_quote(whole) and any(map(quotes_prompt, (stem, *options))):
            raise ItemRejected(ItemRejectReason.QUOTED_PROMPT, f"in {lang}", stage)
        if mixes_scripts(lang, whole) and any(has_foreign_words(lang, option) for option in options):
            detail = f"{ItemRejectReason.WRONG_SCRIPT.value}: an option in {lang}"
            raise ItemRejected(ItemRejectReason.FAULTY_TEXT, detail, stage)
        if is_uneven(options):
            raise ItemRejected(ItemRejectReason.UNEVEN_OPTIONS, f"in {lang}", stage)


def has_foreign_words(lang: str, option: str) -> bool:
    """Return True for words of another script: "a red boat" in Arabic. Names and signs, as "STOP", pass."""
    return _PLAIN_WORD.search(option) is not None and not in_script(lang, option)


def may_quote(text: str) -> bool:
    """Return False for an item in which `quotes_prompt` is false of every part: a quick first check.

    Wherever six consecutive words begin, three of them are words 0 to 2, 4 to 6, 8 to 10, ... of the text.
    """
    if not _latin().search(text):  # six consecutive words of a prompt have such a letter
        return False
    return not _prompt_runs(_PART).isdisjoint(_runs(folded_words(text), _PART, QUOTED_WORDS - _PART + 1))


def quotes_prompt(text: str) -> bool:
    """Return True for a text with six consecutive words of a prompt."""
    return not _prompt_runs(QUOTED_WORDS).isdisjoint(_runs(folded_words(text), QUOTED_WORDS))


def is_uneven(options: Sequence[str]) -> bool:
    """Return True for options that differ in kind (numbers and words, sentences and phrases) or much in length."""
    words = list(map(_DIGITS_ONLY.fullmatch, options)).count(None)
    sentences = [option.endswith(_SENTENCE_ENDS) for option in options].count(True)
    if 0 < words < len(options) or 0 < sentences < len(options):
        return True
    return max(map(len, options)) > _TIMES * min(map(len, options)) + _EXTRA


def _runs(words: Sequence[str], length: int, step: int = 1) -> Iterator[tuple[str, ...]]:
    """Yield consecutive words, from every ``step``-th word on."""
    return zip(*(words[at::step] for at in range(length)), strict=False)


@cache
def _latin() -> re.Pattern[str]:
    """Match characters whose case-folded form has a letter from a to z; none is above U+FFFF."""
    return re.compile(f"[{''.join(char for char in map(chr, range(0x10000)) if re.search('[a-z]', char.casefold()))}]")


@cache
def _prompt_runs(length: int) -> set[tuple[str, ...]]:
    """Return all runs of consecutive words in the prompts."""
    return set(_runs(folded_words("\n".join(map(template, PROMPTS))), length))
