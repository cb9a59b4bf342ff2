"""The calibration sample of a language in a font chain: its windows, and the ink of each above each row of a line."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vcrgen.core.errors import FontError
from vcrgen.core.products import product
from vcrgen.text.languages import LanguageRow
from vcrgen.typeset.layout import line_units
from vcrgen.typeset.records import Glyph, Layout, Line, Margins
from vcrgen.typeset.shaping import GlyphCounts, Shaper, line_length

# Units of a window of the sample, about as long as a span of five tokens.
WINDOW = {"word": 5, "character": 8}
MAX_WINDOWS = 512
# Maximal share of the sample's letters that a font may lack: rare ones.
MAX_MISSING = 0.05
# Minimal share of the glyphs that have the same width, in type of one pitch.
SAME_WIDTH = 0.6

Floats = npt.NDArray[np.float64]


class InkSample(NamedTuple):
    """A measured sample."""

    windows: tuple[str, ...]  # texts
    above: Floats  # share of each window's ink above each row of a line: windows x (line height + 1), 0 to 1
    rows: tuple[float, ...]  # share of the sample's ink in each row, from the highest row with ink in ``margins`` on
    margins: Margins  # how far the sample's words reach beyond their pen positions and the line
    pitch: int  # width in pixels of most characters, as in Chinese or a monospaced face; 0 if there is none


def measure_sample(shaper: Shaper, language: LanguageRow, texts: Iterable[str]) -> InkSample:
    """Measure the ink of texts of a language in the fonts of a shaper.

    Raises:
        FontError: The first font lacks letters of the language, or draws none of them.
    """
    chain = shaper.chain
    key = (shaper.engine, chain.digest, chain.size, language.code, language.wiki_break_unit)
    return _measure(_Setting(shaper, language, tuple(texts), key))


@dataclass(frozen=True, slots=True)
class _Setting:
    """A language's sample in a font chain; equal settings have equal measurements."""

    shaper: Shaper = field(compare=False)
    language: LanguageRow = field(compare=False)
    sample: tuple[str, ...]
    key: tuple[object, ...]  # the parts of shaper and language that matter


@lru_cache(maxsize=16)  # a build makes its pipeline twice, to plan and to run
def _measure(setting: _Setting) -> InkSample:
    shaper = setting.shaper
    windows = _windows(setting.sample, setting.language.wiki_break_unit)
    glyph_counts = shaper.count_glyphs(windows)
    _check_letters(shaper, setting.language, windows, glyph_counts.drawn)
    margins = _margins(shaper, windows)
    ink = _ink_of_rows(shaper, glyph_counts, margins)
    line = ink[:, margins.above : margins.above + shaper.line_height]
    if not line.any():
        raise FontError(
            f"The font {shaper.chain.faces[0].path} draws nothing: its letters have no ink; choose another font."
        )
    rows = _shares(ink).mean(axis=0)
    return InkSample(windows, _above_each_row(line), tuple(rows.tolist()), margins, _pitch(glyph_counts))


def _check_letters(shaper: Shaper, language: LanguageRow, windows: Iterable[str], drawn: frozenset[str]) -> None:
    letters = set(filter(str.isalpha, set().union(*windows)))
    missing = sorted(letters - drawn)
    if len(missing) > MAX_MISSING * len(letters):
        raise FontError(
            f"The font {shaper.chain.faces[0].path} lacks {len(missing)} of {len(letters)} letters of a sample of "
            f"{language.name} (such as {''.join(missing[:5])}); choose a font of that language."
        )


def _pitch(glyph_counts: GlyphCounts) -> int:
    """Width in pixels that most characters have; 0 if there is none."""
    widths: Counter[int] = Counter()
    for glyph, count in zip(glyph_counts.glyphs, glyph_counts.counts.sum(axis=0).tolist(), strict=True):
        widths[glyph.advance] += int(count)
    width, count = widths.most_common(1)[0]
    return width if count >= SAME_WIDTH * widths.total() else 0


@lru_cache(maxsize=16)  # of all fonts
def _windows(sample: tuple[str, ...], break_unit: str) -> tuple[str, ...]:
    windows = []
    for text in sample:
        units = [unit for unit in line_units(text, break_unit) if not text[slice(*unit)].isspace()]
        last_units = units[WINDOW[break_unit] - 1 :]
        windows += [text[start:end] for (start, _), (_, end) in zip(units, last_units, strict=False)]
    return tuple(windows[:: max(1, len(windows) // MAX_WINDOWS)])


def _margins(shaper: Shaper, windows: Iterable[str]) -> Margins:
    """How far the words of texts reach beyond their pen positions and the line."""
    words = sorted({word for window in windows for word in window.split()})
    most: list[int] = [0, 0, 0, 0]
    for word in words:
        glyphs = shaper.shape(word, 0, len(word))
        line = Line(start=0, end=len(word), x=0, glyphs=glyphs)
        length, height = line_length(glyphs), shaper.line_height
        layout = Layout(text=word, lines=(line,), width=length, line_height=height, baseline=shaper.baseline)
        boxes = [(-box.x0, -box.y0, box.x1 - length, box.y1 - height) for _, box in layout.ink_boxes(0)]
        most = [max(sides) for sides in zip(most, *boxes, strict=True)]
    return Margins(*most)


def _ink_of_rows(shaper: Shaper, glyph_counts: GlyphCounts, margins: Margins) -> Floats:
    """Summed darkness of each window in each row that letters reach: windows x rows."""
    profiles = np.array([_row_ink(shaper, glyph, margins) for glyph in glyph_counts.glyphs])
    rows = margins.above + shaper.line_height + margins.below
    return product(glyph_counts.counts, profiles.reshape(-1, rows))  # exact, as these are whole numbers


def _row_ink(shaper: Shaper, glyph: Glyph, margins: Margins) -> Floats:
    """Summed darkness of a glyph in each row of a line and its margins."""
    rows = np.zeros(margins.above + shaper.line_height + margins.below)
    if glyph.ink.size:
        top = margins.above + shaper.baseline + glyph.y
        first, stop = max(0, -top), min(len(glyph.ink), len(rows) - top)
        rows[top + first : top + stop] = glyph.ink[first:stop].sum(axis=1, dtype=np.int64)
    return rows


def _above_each_row(line: Floats) -> Floats:
    """Share of each window's ink above each row of a line: windows with ink x (line height + 1), 0 to 1."""
    line = line[line.sum(axis=1) > 0]
    above = np.pad(np.cumsum(line, axis=1), ((0, 0), (1, 0)))
    shares: Floats = above / above[:, -1:]
    return shares


def _shares(ink: Floats) -> Floats:
    """Share of each window's ink in each row: windows with ink x rows."""
    ink = ink[ink.sum(axis=1) > 0]
    shares: Floats = ink / ink.sum(axis=1, keepdims=True)
    return shares
