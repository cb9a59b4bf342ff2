"""An output as tokens for the grammar of answers: words of known kinds, labels, texts of options, marks, line ends."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from vcrgen.data.tasks.bloom import LETTERS, MAX_OPTIONS, shown_option

# Letters and digits by the place of the label. Arabic letters are in the order of lists, not of the alphabet.
ARABIC_LETTERS = "أبجدهوزحطي"
LABEL_LETTERS = {
    letter: number for row in (LETTERS, LETTERS.lower(), ARABIC_LETTERS) for number, letter in enumerate(row)
} | {"ا": 0}
_DIGITS = {
    "".join(digits[int(digit)] for digit in str(number)): number - 1
    for digits in ("0123456789", "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹")
    for number in range(1, MAX_OPTIONS + 1)
}
_WITH_WORDS = "هوي"  # Arabic letters that are words with a particle before them: "له", "لو", "في"
_ARTICLES = frozenset(("a", "an", "the"))
END = "\n"
MARK = "mark"
OPENING, CLOSING = frozenset("([\"'“‘«{"), frozenset(")]\"'”’»}")

_FIRST_TEXT = 0xE000  # the private character that stands for the text of option 0; the next one for option 1, ...
_BOXED = re.compile(r"\\boxed\b|<answer>", re.IGNORECASE)
_TAG = re.compile(r"\\[a-z]+\b|</?[a-z]+>", re.IGNORECASE)
_STRUCK = re.compile(r"~~[^~\n]+~~")
_EMPHASIS = re.compile(r"[*`$~_#]+")
# Marks of direction, joiners, stretching and vowel signs change nothing of what a text says.
_UNSEEN = re.compile(
    "[\u00ad\u061c\u0640\u064b-\u0652\u0670\u200b-\u200f\u202a-\u202e\u2060-\u2069\ue000-\uf8ff\ufe0f\ufeff]+"
)
_FOLDED = str.maketrans("أإآٱىة’", "ااااىه'".replace("ى", "ي"))
_HAN, _ARABIC = "\u3400-\u9fff", "\u0621-\u064a\u066e-\u06d3\u06fa-\u06ff"


class Token(NamedTuple):
    """One token of an output."""

    word: str  # as it stands there; a single mark; or a line end
    kind: str = ""  # the heading of its words in ``words.txt``; "mark"; END; or "" where none is known
    label: int | None = None  # the option whose label it is or may be
    text: int | None = None  # the option whose text it stands for
    common: bool = False  # that text is a word of running text, too, such as "no"

    @property
    def option(self) -> int | None:
        """The option that it names, as label or by its text."""
        return self.label if self.text is None else self.text


def _read_words() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """The phrases of ``words.txt`` by their first word, the longest first, each with its heading."""
    headings: dict[tuple[str, ...], str] = {}
    text = (files("vcrgen.scorer.mcq") / "words.txt").read_text(encoding="utf-8")
    for part in text.split("\n[")[1:]:
        head, _, lines = part.partition("\n")
        for phrase in re.split(r",\s|\n", lines):
            if words := tuple(re.findall(r"\w+(?:['’&+-]\w+)*|[^\w\s]", _folded(phrase))):
                headings.setdefault(words, head.partition("]")[0])
    by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for words, kind in sorted(headings.items(), key=lambda phrase: -len(phrase[0])):
        by_first.setdefault(words[0], []).append((words, kind))
    return by_first


def _folded(word: str) -> str:
    return word.casefold().translate(_FOLDED)


_PHRASES = _read_words()
_HAN_WORDS = "|".join(
    sorted((word for word in _PHRASES if re.match(f"[{_HAN}]{{2}}", word)), key=lambda word: -len(word))
)
_TOKEN = re.compile(
    rf"[\ue000-\ue009]|\n|{_HAN_WORDS}|[{_HAN}]|[{_ARABIC}]+"
    rf"|[^\W{_HAN}{_ARABIC}]+(?:['’&+-][^\W{_HAN}{_ARABIC}]+)*|[^\w\s\ue000-\ue009]"
)


def tokens_of(output: str, options: Sequence[str], rotation: int) -> list[Token]:
    """Split an output; the texts of options are single tokens, and so are the phrases of ``words.txt``."""
    option_words = _option_words(tuple(options))
    text = _with_texts(_plain(output), option_words.texts)
    words = _TOKEN.findall(text)
    folded = [_folded(option_words.shown(word)) for word in words]
    tokens: list[Token] = []
    place = 0
    while place < len(words):
        length, token = _token(words, folded, place, option_words, rotation)
        if token.text is not None and tokens and tokens[-1].word.lower() in _ARTICLES and tokens[-1].kind != END:
            tokens.pop()
        if token.word:
            tokens.append(token)
        place += length
    return tokens


class _OptionWords(NamedTuple):
    """The labels and texts of the options of an item."""

    options: int  # their number
    labels: Mapping[str, int]
    texts: Mapping[int, str]  # by option, as they are looked for
    common: frozenset[int]  # options whose text is a word of running text

    def shown(self, word: str) -> str:
        """A word, or the text that it stands for, if that is a common word."""
        number = ord(word[0]) - _FIRST_TEXT
        return self.texts[number] if number in self.common else word


def _token(
    words: Sequence[str], folded: Sequence[str], place: int, option_words: _OptionWords, rotation: int
) -> tuple[int, Token]:
    """The token at a place, and how many words it takes."""
    word = words[place]
    number = ord(word[0]) - _FIRST_TEXT
    if 0 <= number < option_words.options:
        if number not in option_words.common:
            return 1, Token(word, text=number)
        length, kind = _phrase(folded, place)
        if length == 1:
            kind = kind or _phrase([_folded(token) for token in _TOKEN.findall(option_words.texts[number])], 0)[1]
            return 1, Token(option_words.texts[number], kind, text=number, common=True)
        return length, Token(" ".join(folded[place : place + length]), kind)
    length, kind = _phrase(folded, place)
    if word in option_words.labels and (word not in "Ii" or length == 1):  # "I think" names no option
        label = shown_option(option_words.labels[word], rotation, option_words.options)
        return 1, Token(word, "or" if word == "و" else "", label=label)
    if not kind and word[0] in "وفبل" and len(word) > 1:  # particles that are written with their word
        if (rest := word[1:]) in option_words.labels and rest not in _WITH_WORDS:
            label = shown_option(option_words.labels[rest], rotation, option_words.options)
            return 1, Token(rest, "joined" if word[0] == "و" else "", label=label)
        length, kind = _phrase([_folded(rest), *folded[place + 1 : place + 4]], 0)
    if place_of(kind, option_words.options) is None:  # "fifth" of four options
        kind = ""
    if not kind:
        kind = "not" if folded[place].endswith("n't") else END if word == END else "mark" if _is_mark(word) else ""
        kind = "or" if word == "و" else kind
    return length, Token(word if length == 1 else " ".join(folded[place : place + length]), kind)


def place_of(kind: str, count: int) -> int | None:
    """Return the place of the label that the heading of an ordinal or a number word names, or -1 where it names none.

    None where there are not so many options.
    """
    head, _, number = kind.partition("-")
    if head not in ("ordinal", "number"):
        return -1
    place = count if number == "last" else int(number)
    return place - 1 if place <= count else None


def _is_mark(word: str) -> bool:
    return len(word) == 1 and not word.isalnum()


def _phrase(folded: Sequence[str], place: int) -> tuple[int, str]:
    """The longest phrase at a place: its number of words and its heading."""
    for words, kind in _PHRASES.get(folded[place], ()):
        if len(words) == 1 or tuple(folded[place : place + len(words)]) == words:
            return len(words), kind
    return 1, ""


@lru_cache(maxsize=256)  # an item is asked in several orders and views
def _option_words(options: tuple[str, ...]) -> _OptionWords:
    """The labels of options, and the texts by which each is known."""
    plain_texts = [_plain(option).strip(" .") for option in options]
    letters, digits = (
        {label: number for label, number in every.items() if number < len(options)}
        for every in (LABEL_LETTERS, _DIGITS)
    )
    counted = any(word in digits for option in plain_texts for word in _TOKEN.findall(option))
    labels = letters if counted else letters | digits
    texts = {
        number: _without_article(_small(text)) for number, text in enumerate(plain_texts) if text and text not in labels
    }
    common = frozenset(number for number, text in texts.items() if _is_common(text))
    return _OptionWords(len(options), labels, texts, common)


def _is_common(text: str) -> bool:
    words = [_folded(word) for word in _TOKEN.findall(text)]
    return bool(words) and _phrase(words, 0)[1] != "" and _phrase(words, 0)[0] == len(words)


def _plain(text: str) -> str:
    """A text without markup and what is not seen, in one form of each character."""
    if not text.isascii():
        text = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    if "\\" in text or "<" in text:
        text = _TAG.sub(" ", _BOXED.sub(" answer: ", text))
    return _EMPHASIS.sub("", _STRUCK.sub(" ", text) if "~~" in text else text)


def _without_article(text: str) -> str:
    """A text but for an article at its start, which an output may leave out or change."""
    article, _, rest = text.partition(" ")
    return rest if article in _ARTICLES and rest else text


def _with_texts(output: str, texts: Mapping[int, str]) -> str:
    """An output in which each text of an option is one private character, the longest ones first."""
    small = _small(output)
    for number, text in sorted(texts.items(), key=lambda numbered: -len(numbered[1])):
        parts, start = [], 0
        while (at := small.find(text, start)) >= 0:
            end = at + len(text)
            if _joined(small[at - 1 : at + 1]) or _joined(small[end - 1 : end + 1]):
                end = at + 1
                parts.append((start, end, ""))
            else:
                parts.append((start, at, chr(_FIRST_TEXT + number)))
            start = end
        if parts:
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
