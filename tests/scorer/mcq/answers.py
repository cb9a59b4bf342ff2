"""The labelled corpus of outputs: the templates of ``answers.txt``, expanded for every key letter.

Half of the templates, chosen by a hash, are held back: the grammar was written without a look at how it reads them.
Those that are called seen were mended after a look, and are never held back.
"""

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

FILLS = 2  # times that a template is filled for each key letter, with other options and in another order
CONTENT = {
    "en": (
        ("a cat", "a dog", "a horse", "a cow"),
        ("red", "blue", "green", "yellow"),
        ("to the left of the boat", "under the bridge", "behind the house", "near the tree"),
        ("a man with an umbrella", "two children", "a woman on a bicycle", "an empty bench"),
    ),
    "ar": (
        ("قطة", "كلب", "حصان كبير", "بقرة"),
        ("أحمر", "أزرق", "أخضر", "أصفر"),
        ("على يسار القارب", "تحت الجسر", "خلف المنزل", "قرب الشجرة"),
        ("رجل يحمل مظلة", "طفلان", "امرأة على دراجة", "مقعد فارغ"),
    ),
}
TEN = {
    "en": (
        ("a cat", "a dog", "a horse", "a cow", "a sheep", "a goat", "a duck", "a goose", "a donkey", "a camel"),
        ("red", "blue", "green", "yellow", "white", "black", "pink", "orange", "purple", "brown"),
    ),
    "ar": (
        ("قطة", "كلب", "حصان كبير", "بقرة", "خروف", "ماعز", "بطة", "إوزة", "حمار", "جمل"),
        ("أحمر", "أزرق", "أخضر", "أصفر", "أبيض", "أسود", "وردي", "برتقالي", "بنفسجي", "بني"),
    ),
}
# Options that are words of running text, too.
SHORT = {
    "en": (("Yes", "No", "Not visible", "Both"), ("none", "one", "two", "not sure")),
    "ar": (("نعم", "لا", "غير واضح", "كلاهما"), ("ليس الآن", "نعم", "لا", "بل")),
}
ORDINALS = {
    "en": ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    "ar": (
        "الأول",
        "الثاني",
        "الثالث",
        "الرابع",
        "الخامس",
        "السادس",
        "السابع",
        "الثامن",
        "التاسع",
        "العاشر",
    ),
}
LETTERS, ARABIC_LETTERS = "ABCDEFGHIJ", ("أ", "ب", "ج", "د", "هـ", "و", "ز", "ح", "ط", "ي")
ARABIC_DIGITS = ("١", "٢", "٣", "٤", "٥", "٦", "٧", "٨", "٩", "١٠")
CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_OF_FOUR = re.compile(r"@t[ABCD]|@W|\b[DE5]\b|\bد\b|هـ|٥|four|أربع")  # speaks of four options
_SLOT = re.compile(r"@(?:([tTlnwoad]?)([XYZW])|t([ABCD]))")


class Answer(NamedTuple):
    """An output whose reading is known."""

    kind: str
    lang: str
    template: str
    output: str
    options: tuple[str, ...]
    key: int  # the option that X stands for
    choice: int | None  # the option that may be read; None where none may
    held_back: bool  # not looked at while the rules were written


@cache
def answers(options: int = 4) -> tuple[Answer, ...]:
    """The whole corpus for items of four or ten options, no output of a template and key letter twice."""
    found: dict[tuple[str, int, str], Answer] = {}
    for lang, kind, readable, template in _templates():
        if options != 4 and (kind == "short" or _OF_FOUR.search(template)):
            continue
        for key in range(options):
            for fill in range(FILLS):
                answer = _filled(lang, kind, readable, template, key, fill, options)
                found.setdefault((template, key, answer.output), answer)
    return tuple(found.values())


def _templates() -> Iterator[tuple[str, str, bool, str]]:
    lang, kind, readable = "", "", True
    for line in Path(__file__).with_name("answers.txt").read_text("utf-8").splitlines():
        if re.fullmatch(r"\[(en|ar)( \w+)+\]", line):
            lang, *kinds = line[1:-1].split()
            kind, readable = " ".join(kinds), kinds[0] != "none"
        elif line and lang:
            yield lang, kind, readable, line.replace("\\n", "\n")


def _draw(count: int, *parts: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:4]) % count


def _filled(lang: str, kind: str, readable: bool, template: str, key: int, fill: int, count: int) -> Answer:
    content = kind != "short" and re.search(r"@[tT]", template)
    sets = SHORT[lang] if kind == "short" else CONTENT[lang] if content else CONTENT[lang] + SHORT[lang]
    sets = TEN[lang] if count == 10 else sets
    texts = sets[_draw(len(sets), "set", template, key, fill)]
    turn = _draw(count, "turn", template, key, fill)
    options = texts[turn:] + texts[:turn]
    others = [place for place in range(count) if place != key]
    turn = _draw(count - 1, "others", template, key, fill)
    places = dict(zip("XYZW", (key, *others[turn:], *others[:turn]), strict=False))

    def slot(found: re.Match[str]) -> str:
        place = LETTERS.index(found[3]) if found[3] else places[found[2]]
        forms = {
            "": LETTERS,
            "l": LETTERS.lower(),
            "n": [str(each) for each in range(1, 11)],
            "d": ARABIC_DIGITS,
            "a": ARABIC_LETTERS,
            "w": CARDINALS,
            "o": ORDINALS[lang],
            "t": options,
            "T": [text[0].upper() + text[1:] for text in options],
        }
        return forms["t" if found[3] else found[1]][place]

    return Answer(
        kind,
        lang,
        template,
        _SLOT.sub(slot, template),
        options,
        key,
        key if readable else None,
        held_back="seen" not in kind and _draw(2, "held back", template) == 1,
    )
