"""Open answers: a question was asked without its options, and the output is matched to them by normalised words.

    read_open("It's a red boat.", ("a red boat", "a boat", "a car", "two men"))      # 0, since the longest match counts

The right option is the right answer; the others only tell near answers apart. An option matches if its words stand in
the output one after another. Words are in Unicode's form NFKC, without case, punctuation, vowel signs and articles;
numbers up to twelve are digits.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+")
_UNSEEN = re.compile("[\u0640\u064b-\u0652\u0670\u200b-\u200f\u2066-\u2069]")
_ALEFS = str.maketrans("أإآٱىة", "اااايه")
_ARTICLES = frozenset(("a", "an", "the"))
_NUMBERS = {
    word: str(number)
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve",
        "صفر واحد اثنان ثلاثه اربعه خمسه سته سبعه ثمانيه تسعه عشره",
    )
    for number, word in enumerate(words.split())
} | {"اثنين": "2"}


def match_open(output: str, options: Sequence[str]) -> list[int]:
    """Return the options whose words an output holds, from 0; of matches inside of one another the longest only."""
    words = normalised_words(output)
    places_of: dict[int, set[tuple[int, int]]] = {}
    for number, option in enumerate(options):
        asked = _option_words(option)
        size = len(asked)
        places = {(at, at + size) for at in range(len(words) - size + 1) if size and words[at : at + size] == asked}
        if places:
            places_of[number] = places
    return [
        number
        for number, places in places_of.items()
        if any(
            not any(_inside(place, longer) for others in places_of.values() for longer in others) for place in places
        )
    ]


def _inside(place: tuple[int, int], other: tuple[int, int]) -> bool:
    return place != other and other[0] <= place[0] and place[1] <= other[1]


@lru_cache(maxsize=1 << 12)
def _option_words(option: str) -> tuple[str, ...]:
    return normalised_words(option)


def normalised_words(text: str) -> tuple[str, ...]:
    """Return the words of a text as they are compared."""
    plain = _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).casefold().translate(_ALEFS)
    return tuple(map(_normalised, (word for word in _WORD.findall(plain) if word not in _ARTICLES)))


def _normalised(word: str) -> str:
    """Return a word without an Arabic article, and a number in digits of ASCII."""
    if word.isdecimal():
        return str(int(word)) if len(word) < 19 else word
    bare = word[2:] if word.startswith("ال") and len(word) > 4 else word
    return _NUMBERS.get(bare, bare)
