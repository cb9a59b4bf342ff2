"""Break a caption into lines by greedy filling, as in VCR-WIKI."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, pairwise

from vcrgen.text.graphemes import clusters
from vcrgen.text.normalise import NO_BREAK_SPACES, WORD_JOINER
from vcrgen.typeset.line_breaks import line_breaks
from vcrgen.typeset.records import Layout, Line
from vcrgen.typeset.shaping import Shaper, ink_reach

WORD = re.compile(r"\S+")
# Words that no line break may part (LB11, LB12). A word joiner behind a plain space keeps the line together there.
_UNBROKEN_WORDS = re.compile(rf"(?:[\S{NO_BREAK_SPACES}]| (?={WORD_JOINER}))+")
_NO_BREAK = {*NO_BREAK_SPACES, WORD_JOINER}


def layout_caption(text: str, shaper: Shaper, *, width: int, max_lines: int, break_unit: str) -> Layout:
    """Fill lines greedily while their ink fits, at most ``max_lines``.

    Args:
        text: A caption of `normalise_drawn`. A character without a glyph counts no width.
        width: Width of the strip in pixels.
        max_lines: Maximal number of lines; the rest of the caption is cut off.
        break_unit: ``"word"`` (break at spaces, which are then not drawn), ``"character"`` (break between grapheme
            clusters) or ``"uax14"`` (break where UAX #14 allows it; a space there is not drawn).

    Returns:
        The lines, and the text they show, without word joiners. A unit wider than a line is broken at its no-break
        spaces, a word wider than a line between clusters; a cluster wider than a line has a line of its own.
    """
    at = list(accumulate((character != WORD_JOINER for character in text), initial=0))  # without word joiners
    units_in_text = [(at[start], at[end]) for start, end in line_units(text, break_unit)]
    text = text.replace(WORD_JOINER, "")
    units = _fitting(units_in_text, text, shaper, width)
    lines: list[Line] = []
    unit: tuple[int, int] | None = next(units, (0, 0))
    while unit and len(lines) < max_lines:
        start, end = unit
        fits = _fits(text, start, shaper, width)
        fits(end)
        while (unit := next(units, None)) and fits(unit[1]):
            end = unit[1]
        lines.append(set_line(text, start, end, shaper, width))
    return Layout(
        text=text[: lines[-1].end],
        lines=tuple(lines),
        width=width,
        line_height=shaper.line_height,
        baseline=shaper.baseline,
    ).with_whole_letters()


def _fits(text: str, start: int, shaper: Shaper, width: int) -> Callable[[int], bool]:
    """Make a function from a line's end, to be called with rising ends; where the quick sum says no, it measures."""
    width_to = shaper.growing_width(text, start)
    return lambda end: width_to(end) <= width or shaper.width(text, start, end) <= width


def set_line(text: str, start: int, end: int, shaper: Shaper, width: int) -> Line:
    """Set characters of a text as a line of a strip of that width, with whole letters at the end where it begins."""
    glyphs = shaper.shape(text, start, end)
    reach = ink_reach(glyphs)
    return Line(
        start=start, end=end, x=width - reach.right if shaper.direction == "rtl" else -reach.left, glyphs=glyphs
    )


def line_units(text: str, break_unit: str) -> list[tuple[int, int]]:
    """Start and end of units without line breaks, as `LanguageRow` names them."""
    if break_unit == "character":
        at = [end for start, end in clusters(text) if _NO_BREAK.isdisjoint(text[end - 1 : end + 1])]
        return list(pairwise(sorted({0, *at, len(text)})))
    if break_unit == "word":
        return [match.span() for match in _UNBROKEN_WORDS.finditer(text)]
    at = [0, *line_breaks(text), len(text)]
    return [(start, start + len(text[start:end].rstrip(" "))) for start, end in pairwise(at) if start < end]


def _fitting(units: Iterable[tuple[int, int]], text: str, shaper: Shaper, width: int) -> Iterator[tuple[int, int]]:
    """Yield the units; those wider than a line are broken into words, and words that are into clusters."""
    for start, end in units:
        if end - start == 1 or _fits(text, start, shaper, width)(end):
            yield start, end
            continue
        for word in WORD.finditer(text, start, end):
            if _fits(text, word.start(), shaper, width)(word.end()):
                yield word.span()
            else:
                yield from ((word.start() + first, word.start() + last) for first, last in clusters(word[0]))
