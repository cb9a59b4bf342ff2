"""Regex-based answer extraction (RAE): the grammar of answers, and the published rule.

    options = ("a cat", "a dog", "a horse", "a cow")
    read_choice("The answer is (b).", options)      # chooses option 1, the dog
    read_choice("A or B", options)                  # ambiguous
    read_choice("Answer", options)                  # invalid: its first letter is no label

The grammar looks for three things, one after the other, and the first that is there decides.

1. A declared answer: a word such as "answer", and then a label or the text of an option; or an option of which it is
   said that it is correct. The last one wins.
2. A line that is nothing but a label, the text of an option, or both.
3. Any label, and any text of an option. What follows a "not" does not count, and digits only if there is nothing else.

Where a declared answer names two options, or 2 or 3 find two, the output is ambiguous; no lot is drawn. Letters are
labels before they are texts. Digits are labels only where no option has one of them as a word of its text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from vcrgen.errors import ScoreError
from vcrgen.scorer.clean import LONGEST_OUTPUT, REFUSALS, clean, is_refusal
from vcrgen.tasks.bloom import LETTERS, shown_option

GRAMMAR, PUBLISHED = "bloom-v1", "bloom-code"  # the protocols


class ReadingKind(StrEnum):
    """The kind of an output, whichever option is right. All but the first score 0."""

    CHOSEN = "chosen"
    AMBIGUOUS = "ambiguous"  # it names two options or more
    INVALID = "invalid"  # it names none
    REFUSED = "refused"  # it names none, and holds a word of refusal
    EMPTY = "empty"


class Reading(NamedTuple):
    """The option that was read in an output."""

    choice: int | None  # the option, from 0, in the dataset's order; None where none was chosen
    kind: ReadingKind


def read_choice(output: str, options: Sequence[str], *, rotation: int = 0, protocol: str = GRAMMAR) -> Reading:
    """Read which option an output chooses.

    Args:
        output: What the model wrote.
        options: The texts of the four options in the dataset's order.
        rotation: The order in which it saw them, as of :func:`vcrgen.tasks.bloom.shown_option`.
        protocol: ``bloom-v1`` for the grammar above, or ``bloom-code`` for the rule of the published code: a single
            one of the digits 1 to 4 in the whole output is the label; with none or several, nothing is chosen.

    Raises:
        ScoreError: There is no such protocol.
    """
    if protocol == PUBLISHED:
        return _published(output, rotation)
    if protocol != GRAMMAR:
        raise ScoreError(f"Unknown protocol {protocol!r} of MCQ benchmarks; known: {GRAMMAR}, {PUBLISHED}.")
    if (label := _LETTERS.get(output.strip())) is not None:  # most outputs are one letter
        return Reading(shown_option(label, rotation), ReadingKind.CHOSEN)
    text = clean(output, strip_thinking=True, cut_prefix=False).text[:LONGEST_OUTPUT]
    if not text.strip():
        return Reading(None, ReadingKind.EMPTY)
    found = _found(_tokens(text, options, rotation))
    if len(found) == 1:
        return Reading(found.pop(), ReadingKind.CHOSEN)
    if found:
        return Reading(None, ReadingKind.AMBIGUOUS)
    return Reading(None, ReadingKind.REFUSED if is_refusal(text, _REFUSALS) else ReadingKind.INVALID)


def _published(output: str, rotation: int) -> Reading:
    digits = re.findall("[1-4]", output)
    if len(digits) == 1:
        return Reading(shown_option(int(digits[0]) - 1, rotation), ReadingKind.CHOSEN)
    kind = ReadingKind.AMBIGUOUS if digits else ReadingKind.INVALID if output.strip() else ReadingKind.EMPTY
    return Reading(None, kind)


# Letters and digits by the place of the label. Arabic letters are in the order of lists, not of the alphabet.
_LETTERS = {letter: number for row in ("ABCD", "abcd", "أبجد") for number, letter in enumerate(row)} | {"ا": 0}
_DIGITS = {digit: number for row in ("1234", "١٢٣٤", "۱۲۳۴") for number, digit in enumerate(row)}
_LABELS = _LETTERS | _DIGITS


def _read_words() -> dict[str, frozenset[str]]:
    """The words of ``words.txt`` by the heading that they stand under."""
    found: dict[str, frozenset[str]] = {}
    text = (files("vcrgen.scorer.mcq") / "words.txt").read_text(encoding="utf-8")
    for part in text.split("\n[")[1:]:
        head, _, words = part.partition("\n")
        found[head.partition("]")[0]] = frozenset(words.split())
    return found


_WORDS = _read_words()
_ANSWER, _BEST, _NAMED, _FILLER = (_WORDS[name] for name in ("answer", "best", "named", "filler"))
_IS, _RIGHT, _NOT, _OR = (_WORDS[name] for name in ("is", "right", "not", "or"))
_ARTICLES, _BEHIND_A = (_WORDS[name] for name in ("article", "behind-a"))
_OPENING, _CLOSING, _BETWEEN = frozenset("([\"'“‘«"), frozenset(")]\"'”’»"), frozenset(",،/&;")
_FAR = 24  # so many fillers and marks may stand between the word that declares an answer and the answer

_FIRST_TEXT = 0xE000  # the private character that stands for the text of option 0; the next one for option 1, ...
_BOXED = re.compile(r"\\boxed\b|<answer>", re.IGNORECASE)
_TAG = re.compile(r"\\[a-z]+\b|</?[a-z]+>", re.IGNORECASE)
_EMPHASIS = re.compile(r"[*`$~_]+")
# Marks of direction, joiners, stretching and vowel signs change nothing of what a text says.
_UNSEEN = re.compile(
    "[\u00ad\u061c\u0640\u064b-\u0652\u0670\u200b-\u200f\u202a-\u202e\u2060-\u2069\ue000-\uf8ff\ufeff]+"
)
_HAN = "\u3400-\u9fff"  # written without spaces: only the words above are separate tokens
_TOKEN = re.compile(
    rf"[\ue000-\ue003]|\n|答案|选项|正确|不是|[{_HAN}]|[^\W{_HAN}]+(?:['’&+-][^\W{_HAN}]+)*|[^\w\s\ue000-\ue003]"
)
_REFUSALS = (*REFUSALS, "can't", "cannot", "unable to", "لا أستطيع", "لا يمكنني", "عذر", "آسف")


class _Token(NamedTuple):
    word: str  # in small letters; a single mark; or a line end
    label: int | None = None  # the option whose label it is or may be
    text: int | None = None  # the option whose text it stands for
    sure: bool = False  # a label even in running text and without a mark: B, C or D

    @property
    def option(self) -> int | None:
        """The option that it names, as label or by its text."""
        return self.label if self.text is None else self.text

    @property
    def is_mark(self) -> bool:
        """True for punctuation and the end of a line."""
        return self.text is None and not self.word.isalnum() and len(self.word) == 1


_END = _Token("\n")


def _tokens(output: str, options: Sequence[str], rotation: int) -> list[_Token]:
    """Words, marks and line ends, with the texts of options as single tokens."""
    labels, texts = _known(tuple(options))
    tokens = []
    for found in _TOKEN.finditer(_with_texts(_plain(output), texts)):
        word = found[0]
        if 0 <= (number := ord(word[0]) - _FIRST_TEXT) < len(LETTERS):
            tokens.append(_Token(word, text=number))
        elif word in labels:
            tokens.append(_Token(word.lower(), label=shown_option(labels[word], rotation), sure=word in "BCD"))
        else:
            tokens.append(_Token(word.lower()))
    before_texts = {place for place, after in enumerate(tokens[1:]) if after.text is not None}
    return [token for place, token in enumerate(tokens) if place not in before_texts or token.word not in _ARTICLES]


@lru_cache(maxsize=256)  # an item is asked in several orders and views
def _known(options: tuple[str, ...]) -> tuple[Mapping[str, int], Mapping[int, str]]:
    """The labels of four options, and the texts by which each is known."""
    shown = [_plain(option).strip(" .") for option in options]
    counted = any(word in _DIGITS for option in shown for word in _TOKEN.findall(option))
    labels = _LETTERS if counted else _LABELS
    texts = {number: _without_article(_small(text)) for number, text in enumerate(shown) if text and text not in labels}
    return labels, texts


def _plain(text: str) -> str:
    """A text without markup and what is not seen, in one form of each character."""
    if not text.isascii():
        text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    if "\\" in text or "<" in text:
        text = _TAG.sub(" ", _BOXED.sub(" answer: ", text))
    return _EMPHASIS.sub("", text)


def _without_article(text: str) -> str:
    """A text but for an article at its start, which an output may leave out or change."""
    article, _, rest = text.partition(" ")
    return rest if article in _ARTICLES and rest else text


def _with_texts(output: str, texts: Mapping[int, str]) -> str:
    """An output in which each text of an option is one private character, the longest ones first."""
    small = _small(output)
    for number, text in sorted(texts.items(), key=lambda known: -len(known[1])):
        parts, start = [], 0
        while (at := small.find(text, start)) >= 0:
            end = at + len(text)
            if _joined(small[at - 1 : at + 1]) or _joined(small[end - 1 : end + 1]):
                end = at + 1
                parts.append((start, end, ""))
            else:
                parts.append((start, at, chr(_FIRST_TEXT + number)))
            start = end
        output = "".join(output[begin:end] + mark for begin, end, mark in parts) + output[start:]
        small = "".join(small[begin:end] + mark for begin, end, mark in parts) + small[start:]
    return output


def _small(text: str) -> str:
    """A text in small letters, each of which stands where the large one stood."""
    if len(small := text.casefold()) == len(text):
        return small
    return "".join(folded if len(folded := char.casefold()) == 1 else char for char in text)


def _joined(pair: str) -> bool:
    """Tell whether two neighbours belong to one word."""
    return len(pair) == 2 and all(char.isalnum() and not "\u3400" <= char <= "\u9fff" for char in pair)


def _found(tokens: Sequence[_Token]) -> set[int]:
    """The options that an output names, by the first of the three rules that finds any."""
    declared: set[int] = set()
    for place in range(len(tokens)):
        declared = _declared(tokens, place) or declared
    return declared or _on_lines(tokens) or _mentioned(tokens)


def _at(tokens: Sequence[_Token], place: int) -> _Token:
    return tokens[place] if 0 <= place < len(tokens) else _END


def _is_label(tokens: Sequence[_Token], place: int) -> bool:
    """Tell whether a token can be a label in its context: A may be an article instead."""
    token, after = tokens[place], _at(tokens, place + 1)
    return token.label is not None and (token.word != "a" or after.is_mark or after.word in _BEHIND_A)


def _declared(tokens: Sequence[_Token], place: int) -> set[int]:
    """The options that an answer names which is declared at a place; none where nothing is."""
    option = tokens[place].option
    if option is not None:
        return {option} if _is_right(tokens, place) and not _denied(tokens, place) else set()
    if not _declares(tokens, place):
        return set()
    for here in range(place + 1, min(place + _FAR, len(tokens))):
        token = tokens[here]
        if token.text is not None or _is_label(tokens, here):
            return set(_listed(tokens, here))
        if not (token.is_mark or token.word in _FILLER or token.word in _NAMED):
            break
    return set()


def _is_right(tokens: Sequence[_Token], place: int) -> bool:
    """Tell whether an option is called correct, or the answer."""
    if _at(tokens, place + 1).word not in _IS:
        return False
    for here in range(place + 2, min(place + _FAR, len(tokens))):
        if tokens[here].word in _RIGHT | _ANSWER:
            return True
        if tokens[here].word not in _FILLER:
            break
    return False


def _declares(tokens: Sequence[_Token], place: int) -> bool:
    word, after = tokens[place].word, _at(tokens, place + 1).word
    if (word in _BEST and after in _NAMED | _IS) or (word in _NAMED and after in _RIGHT):
        return True
    return word in _ANSWER or (word[:1] in ("و", "ف") and word[1:] in _ANSWER)


def _listed(tokens: Sequence[_Token], place: int) -> Iterator[int]:
    """The options from a place on: a label with its text behind it, and others after a comma, a slash or an "or"."""
    while (option := tokens[place].option) is not None:
        yield option
        begin = place = place + 1
        while _at(tokens, place).is_mark and place < len(tokens):
            place += 1
        marks = {token.word for token in tokens[begin:place]}
        if "\n" in marks:
            return
        after = _at(tokens, place)
        if after.word in _OR:
            place += 1
            while _at(tokens, place).word in _NAMED | _OPENING:
                place += 1
        elif not (marks & _BETWEEN or (after.text is not None and _at(tokens, place + 1).is_mark)):
            return
        if place >= len(tokens) or (tokens[place].text is None and not _is_label(tokens, place)):
            return


def _on_lines(tokens: Sequence[_Token]) -> set[int]:
    """The options of lines that say nothing else."""
    found: set[int] = set()
    line: list[_Token] = []
    for token in (*tokens, _END):
        if token.word != "\n":
            line.append(token)
            continue
        said = [each for each in line if not each.is_mark and each.word not in _NAMED]
        names = [each.option for each in said]
        if len(said) == 1 or (len(said) == 2 and said[0].label is not None and said[1].text is not None):
            found.update(name for name in names if name is not None)
        line = []
    return found


def _mentioned(tokens: Sequence[_Token]) -> set[int]:
    """The options that are named anywhere, but for those that are denied."""
    found: tuple[set[int], set[int]] = set(), set()  # by letters and texts, and by digits
    for place, token in enumerate(tokens):
        option = token.option
        if option is None or _denied(tokens, place):
            continue
        if token.text is not None or _is_marked(tokens, place) or (token.sure and _at(tokens, place + 1).word != "+"):
            found[token.word in _DIGITS].add(option)
    return found[0] or found[1]


def _is_marked(tokens: Sequence[_Token], place: int) -> bool:
    """Tell whether the marks or words around a letter or digit make it a label."""
    token, before, after = tokens[place], _at(tokens, place - 1).word, _at(tokens, place + 1).word
    if before in _NAMED or after == ")" or (before in _OPENING and after in _CLOSING):
        return True
    if before == "\n" and after in ".:-–،":
        return True
    return token.word == "a" and _is_label(tokens, place) and (before == "\n" or after in _BEHIND_A)


def _denied(tokens: Sequence[_Token], place: int) -> bool:
    for here in range(place - 1, place - 4, -1):
        word = _at(tokens, here).word
        if word in _NOT or word.endswith(("n't", "n’t")):
            return True
        if not (word in _NAMED or word in _ARTICLES or word in _OPENING):
            return False
    return False
