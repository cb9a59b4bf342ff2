"""Visual order of text with two directions (UAX #9), by the library ``python-bidi``.

``"قط ABC 12"`` is typed from the first letter to the last. A line of Arabic shows the Arabic letters from right to
left, and the Latin word and the number from left to right. Every character has a level: an even one is read from left
to right, an odd one from right to left.

The library returns levels in its debug print only. Its older algorithm in Python, ``bidi.algorithm``, lacks the rule of
brackets (N0), so it gives other levels. Of bindings of ICU, one has no levels, and the wheels of the other have 18 MB.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import regex
from bidi import get_display

# A text from left to right without any of these has one direction only.
_OTHER_WAY = regex.compile(r"[\p{Bidi_Class=R}\p{Bidi_Class=AL}\p{Bidi_Class=AN}\p{Bidi_Control}]")
_LEVEL = re.compile(r"Level\(\s*(\d+)")
_LEVELS = "\n    levels: ["  # the text before it has its line breaks escaped
_SURROGATE = re.compile("[\ud800-\udfff]")


@lru_cache(maxsize=8)  # layout measures many stretches of one caption
def levels(text: str, direction: str) -> tuple[int, ...]:
    """Return the level of every character of a text.

    Args:
        text: Any text.
        direction: Direction of the paragraph: ``"ltr"`` or ``"rtl"``.
    """
    if direction == "ltr" and not _OTHER_WAY.search(text):
        return (0,) * len(text)
    # A lone surrogate has no bytes; it stands where one character stands, and no font draws either.
    whole = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)
    printed = str(get_display(whole, base_dir="R" if direction == "rtl" else "L", debug=True))
    by_byte = [int(level) for level in _LEVEL.findall(printed, printed.rindex(_LEVELS))]
    starts = [0]
    for character in whole:
        starts.append(starts[-1] + len(character.encode()))
    return tuple(by_byte[start] for start in starts[:-1])


def visual_order(levels: Sequence[int]) -> list[int]:
    """Return the positions of a line's parts from left to right, given their levels in reading order."""
    order = list(range(len(levels)))
    for level in range(max(levels, default=0), 0, -1):
        start = 0
        while start < len(order):
            end = start
            while end < len(order) and levels[order[end]] >= level:
                end += 1
            order[start:end] = reversed(order[start:end])
            start = end + 1
    return order
