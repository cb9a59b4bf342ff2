"""What can be told of an item without a model."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from vcrgen.bloom.checks import Fault, Texts, faults_of_texts, in_script, mixes_scripts
from vcrgen.bloom.making.prompts import words_of_prompts
from vcrgen.bloom.making.records import Drop, ItemDropped
from vcrgen.bloom.numbers import folded_words
from vcrgen.tasks.bloom import ChoiceQuestion

QUOTED_WORDS = 6  # in a row, of a prompt
_PART = 3  # of them, which are looked for first
# An option may be so much longer than another one: three times, and twelve characters.
_TIMES, _MORE = 3, 12
_PLAIN_WORD = re.compile(r"\b[a-z]{3,}\b")  # in small letters, and no unit
_SENTENCE_ENDS = tuple(".!?\u061f\u06d4\u3002\uff01\uff1f\u0964")
_DIGITS_ONLY = re.compile(r"[\d\s.,:%/+\u066a-\u066c\u2212-]+")  # with Arabic signs and the minus sign, too


def check_item(questions: Mapping[str, ChoiceQuestion], stage: str) -> None:
    """See that an item may go on.

    Args:
        questions: By language, as far as they are written; the stages see to it that no text is empty.
        stage: The stage that wrote last.

    Raises:
        ItemDropped: It may not.
    """
    items = {lang: Texts(lang, one.text, one.options) for lang, one in questions.items()}
    for fault, detail in faults_of_texts(items):
        raise ItemDropped(stage, Drop.FAULTY_TEXT, f"{fault.value}: {detail}")
    for lang, texts in items.items():
        if may_quote(texts.whole) and any(map(quotes_prompt, (texts.stem, *texts.options))):
            raise ItemDropped(stage, Drop.QUOTED_PROMPT, f"in {lang}")
        mixed = not texts.plain and mixes_scripts(lang, texts.whole)
        if mixed and any(untranslated(lang, option) for option in texts.options):
            raise ItemDropped(stage, Drop.FAULTY_TEXT, f"{Fault.WRONG_SCRIPT.value}: an option in {lang}")
        if uneven(texts.options):
            raise ItemDropped(stage, Drop.UNEVEN_OPTIONS, f"in {lang}")


def untranslated(lang: str, option: str) -> bool:
    """Whether an option is in words of another script: "a red boat" in Arabic. Names and signs, as "STOP", may be."""
    return _PLAIN_WORD.search(option) is not None and not in_script(lang, option)


def may_quote(text: str) -> bool:
    """A quick look at a whole item: False only where :func:`quotes_prompt` is false of each of its parts.

    Wherever six words in a row begin, three of them are words 0 to 2, 4 to 6, 8 to 10, ... of the text.
    """
    if not _latin().search(text):  # six words in a row of a prompt have such a letter
        return False
    return not _prompts(_PART).isdisjoint(_runs(folded_words(text), _PART, QUOTED_WORDS - _PART + 1))


def quotes_prompt(text: str) -> bool:
    """Whether a text has six words in a row that stand so in a prompt."""
    return not _prompts(QUOTED_WORDS).isdisjoint(_runs(folded_words(text), QUOTED_WORDS))


def uneven(options: Sequence[str]) -> bool:
    """Whether options differ in kind (numbers and words, sentences and parts of such) or much in length."""
    words = list(map(_DIGITS_ONLY.fullmatch, options)).count(None)
    sentences = [option.endswith(_SENTENCE_ENDS) for option in options].count(True)
    if 0 < words < len(options) or 0 < sentences < len(options):
        return True
    return max(map(len, options)) > _TIMES * min(map(len, options)) + _MORE


def _runs(words: Sequence[str], length: int, step: int = 1) -> Iterator[tuple[str, ...]]:
    """So many words in a row, from every ``step``-th word on."""
    return zip(*(words[at::step] for at in range(length)), strict=False)


@cache
def _latin() -> re.Pattern[str]:
    """What is, or has in it, one of the letters from a to z when it is written without case; none is above U+FFFF."""
    return re.compile(f"[{''.join(char for char in map(chr, range(0x10000)) if re.search('[a-z]', char.casefold()))}]")


@cache
def _prompts(length: int) -> set[tuple[str, ...]]:
    """Whatever stands in the prompts of so many words in a row."""
    return set(_runs(folded_words(words_of_prompts()), length))
