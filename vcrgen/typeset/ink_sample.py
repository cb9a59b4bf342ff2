"""The calibration sample of a language in a font chain: its windows, and the ink of each above each row of a line."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vcrgen.core.errors import FontError
from vcrgen.text.languages import LanguageRow
from vcrgen.typeset.layout import line_units
from vcrgen.typeset.records import Glyph
from vcrgen.typeset.shaping import GlyphCounts, Shaper

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
    above: Floats  # share of each window's ink above each row: windows x (line height + 1), 0 to 1
    pitch: int  # width in pixels of most characters, as in Chinese or a monospaced face; 0 if there is none

    @property
    def rows(self) -> tuple[float, ...]:
        """The share of the sample's ink in each row of a line."""
        return tuple(np.diff(self.above.mean(axis=0)).tolist())


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
    found = shaper.count_glyphs(windows)
    _check_letters(shaper, setting.language, windows, found.drawn)
    above = _ink_above_each_row(shaper, found)
    if not len(above):
        raise FontError(
            f"The font {shaper.chain.faces[0].path} draws nothing: its letters have no ink; choose another font."
        )
    return InkSample(windows, above, _pitch(found))


def _check_letters(shaper: Shaper, language: LanguageRow, windows: Iterable[str], drawn: frozenset[str]) -> None:
    letters = set(filter(str.isalpha, set().union(*windows)))
    missing = sorted(letters - drawn)
    if len(missing) > MAX_MISSING * len(letters):
        raise FontError(
            f"The font {shaper.chain.faces[0].path} lacks {len(missing)} of {len(letters)} letters of a sample of "
            f"{language.name} (such as {''.join(missing[:5])}); choose a font of that language."
        )


def _pitch(found: GlyphCounts) -> int:
    """Return the width that most characters have; 0 if there is none."""
    widths: Counter[int] = Counter()
    for glyph, count in zip(found.glyphs, found.counts.sum(axis=0).tolist(), strict=True):
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


def _ink_above_each_row(shaper: Shaper, found: GlyphCounts) -> Floats:
    """Return the share of each window's ink above each row: windows x (line height + 1), 0 to 1."""
    profiles = np.array([_row_ink(shaper, glyph) for glyph in found.glyphs]).reshape(-1, shaper.line_height)
    ink = found.counts @ profiles  # exact, as these are whole numbers
    ink = ink[ink.sum(axis=1) > 0]
    above = np.pad(np.cumsum(ink, axis=1), ((0, 0), (1, 0)))
    shares: Floats = above / above[:, -1:]
    return shares


def _row_ink(shaper: Shaper, glyph: Glyph) -> Floats:
    """Return a glyph's ink in each row of a line; ink outside of the line is not hidden by its cover."""
    rows = np.zeros(shaper.line_height)
    if glyph.ink.size:
        top = shaper.baseline + glyph.y
        first, stop = max(0, -top), min(len(glyph.ink), shaper.line_height - top)
        rows[top + first : top + stop] = glyph.ink[first:stop].sum(axis=1, dtype=np.int64)
    return rows
