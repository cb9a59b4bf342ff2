"""How much of a line a cover hides in a font, so that easy and hard mean the same in every font and size.

The same rows, or the same shares of the line, hide much more of one font than of another. So the rows are chosen for
each chain of fonts: those that leave as much ink as VCR-WIKI's covers leave of its own fonts, and with as much of it
above as below. Covers that are not rows have one number, the share of ink that they are expected to hide; the one is
chosen that leaves that ink in the pixels of the sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vcrgen.errors import FontError
from vcrgen.records import NAMED_MODES, Mode
from vcrgen.text.languages import CoverTarget, LanguageRow
from vcrgen.typeset.cover import ROWS, CoverRule, WhiteRows
from vcrgen.typeset.layout import line_units
from vcrgen.typeset.occlusions import STEPS, Occlusion, last_step, occlusion_at
from vcrgen.typeset.records import WHITE, Box, Glyph, Layout, Line, PlacedGlyph
from vcrgen.typeset.render import render_strip
from vcrgen.typeset.shaping import Shaper, line_length

# Units of a line that are about as long as a span of five tokens: the sample is cut into such windows.
WINDOW = {"word": 5, "character": 8, "uax14": 8}
MAX_WINDOWS = 512
# How far the median may be from the target: whole rows allow no better in small type.
SMALL_LINE = 30  # px
TOLERANCE_SMALL, TOLERANCE = 0.05, 0.03
# A cover is even if the ink it leaves is neither nearly all above nor nearly all below it.
EVEN = (0.25, 0.8)
# A font may lack this share of the sample's letters: rare ones.
MOST_LACKING = 0.05
# Rows that leave a mean this far from the target are not looked at: the median is near the mean.
FAR = 0.2
# Of an occlusion: windows of the sample that it is drawn over, and the sizes that are tried.
DRAWN_WINDOWS = 128
SIZES = np.arange(1, 250) / 250

Floats = npt.NDArray[np.float64]
Glyphs = tuple[PlacedGlyph, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The cover of one mode in one chain of fonts, and what it leaves of the sample."""

    rule: CoverRule  # what is hidden of a line
    target: float  # the visible ink aimed at
    visible: float  # median share of ink that stays visible, over the windows of the sample
    low: float  # its 5th percentile
    high: float  # its 95th percentile
    above: float | None  # median share of the visible ink that stands above the cover; None if it is not rows

    @property
    def even(self) -> bool:
        """Whether ink is left on both sides; in a few sizes of a few fonts no whole rows leave the right ink evenly."""
        return self.above is None or EVEN[0] <= self.above <= EVEN[1]


class Calibrator(Protocol):
    """Finds covers of one kind in one chain of fonts."""

    def nearest(self, target: CoverTarget) -> Calibration:
        """The cover that comes nearest to a target.

        Raises:
            FontError: Covers of this kind cannot come near it in this size.
        """


def calibrate(
    shaper: Shaper,
    language: LanguageRow,
    sample: Iterable[str],
    cover: str = ROWS,
    modes: Iterable[Mode] = NAMED_MODES,
) -> Mapping[Mode, Calibration]:
    """Choose the cover of each mode.

    Args:
        shaper: Sets text in the fonts, at their size.
        language: Says what to aim at.
        sample: Texts of the language.
        cover: The kind of cover.
        modes: The modes.

    Raises:
        FontError: The first font lacks letters of the language; or covers of this kind cannot leave the ink of a level,
            or those of two levels are the same.
    """
    calibrator = make_calibrator(shaper, language, sample, cover)
    covers = {mode: calibrator.nearest(language.cover(mode)) for mode in modes}
    _check_levels(covers, shaper)
    return covers


def _check_levels(covers: Mapping[Mode, Calibration], shaper: Shaper) -> None:
    """A level says what it leaves, so unlike easy and hard it is not taken for the nearest that can be had."""
    levels, of_rule = [mode for mode in covers if mode.ink is not None], dict[str, Mode]()
    where = f"In {shaper.chain.faces[0].family} at {shaper.chain.size} px"
    for mode in levels:
        cover = covers[mode]
        if abs(cover.visible - cover.target) > _tolerance(shaper.line_height):
            raise FontError(
                f"{where} no whole rows leave about {cover.target:g} of the ink ({cover.visible:.2f} comes nearest); "
                "leave that level out, or take another --font-size."
            )
        same = of_rule.setdefault(cover.rule.name, mode)
        if same != mode:
            raise FontError(
                f"{where} the levels {same.ink:g} and {mode.ink:g} hide the same rows ({cover.rule.name}); leave one "
                "of them out, or take a larger --font-size."
            )


def _tolerance(line_height: int) -> float:
    return TOLERANCE_SMALL if line_height < SMALL_LINE else TOLERANCE


def make_calibrator(shaper: Shaper, language: LanguageRow, sample: Iterable[str], cover: str = ROWS) -> Calibrator:
    """What finds covers of a kind, ``"rows"`` or one of :data:`vcrgen.typeset.occlusions.OCCLUSIONS`.

    Raises:
        FontError: The first font lacks letters of the language, or draws none of them.
    """
    rows = RowCalibrator(shaper, language, sample)
    return rows if cover == ROWS else OcclusionCalibrator(cover, shaper, rows)


class RowCalibrator:
    """Finds white rows.

    Args:
        shaper: Sets text in the fonts, at their size.
        language: The language of the sample.
        sample: Texts of the language.

    Raises:
        FontError: The first font lacks letters of the language, or draws none of them.
    """

    def __init__(self, shaper: Shaper, language: LanguageRow, sample: Iterable[str]) -> None:
        chain = shaper.chain
        same = (shaper.engine, chain.digest, chain.size, language.code, language.break_unit)
        self.windows, self._above = _measured(_Setting(shaper, language, tuple(sample), same))

    @property
    def rows(self) -> tuple[float, ...]:
        """The share of the sample's ink in each row of a line."""
        return tuple(np.diff(self._above.mean(axis=0)).tolist())

    def nearest(self, target: CoverTarget) -> Calibration:
        """The rows that come nearest to a target."""
        return _nearest_rows(self._above, target)


@dataclass(frozen=True, slots=True)
class _Setting:
    """A language's sample in some fonts; equal to another one where all that is measured is the same."""

    shaper: Shaper = field(compare=False)
    language: LanguageRow = field(compare=False)
    sample: tuple[str, ...]
    same: tuple[object, ...]  # what of shaper and language counts


@lru_cache(maxsize=16)  # a build makes its pipeline twice, to plan and to work
def _measured(setting: _Setting) -> tuple[list[Glyphs], Floats]:
    """The sample's windows, set, and the share of the ink of each that stands above each row."""
    shaper = setting.shaper
    windows = [(window, shaper.shape(window, 0, len(window))) for window in _windows(setting.sample, setting.language)]
    _check_letters(shaper, setting.language, windows)
    placed = [glyphs for _, glyphs in windows]
    above = _ink_above_each_row(shaper, placed)
    if not len(above):
        raise FontError(
            f"The font {shaper.chain.faces[0].path} draws nothing: its letters have no ink; choose another font."
        )
    return placed, above


class OcclusionCalibrator:
    """Finds the size of an occlusion.

    Args:
        kind: A key of :data:`vcrgen.typeset.occlusions.OCCLUSIONS`.
        shaper: Sets text in the fonts, at their size.
        rows: What is known of the sample in these fonts.
    """

    def __init__(self, kind: str, shaper: Shaper, rows: RowCalibrator) -> None:
        self._kind, self._rows = kind, rows.rows
        self._type = f"{shaper.chain.faces[0].family} at {shaper.chain.size} px"
        windows = rows.windows[:: max(1, len(rows.windows) // DRAWN_WINDOWS)]
        drawn = (_visible_by_size(kind, seed, window, shaper, self._rows) for seed, window in enumerate(windows))
        self._visible = np.array([shares for shares in drawn if shares is not None])  # windows x SIZES

    def nearest(self, target: CoverTarget) -> Calibration:
        """The size that comes nearest to a target.

        Raises:
            FontError: None leaves so much ink, to within 0.03.
        """
        medians = np.median(self._visible, axis=0)
        best = int(np.abs(medians - target.visible).argmin())
        if abs(medians[best] - target.visible) > TOLERANCE:
            raise FontError(
                f"No {self._kind} cover leaves {target.visible:g} of the ink of {self._type}: the nearest leaves "
                f"{medians[best]:.2f}; choose a larger --font-size, or another --cover."
            )
        low, median, high = _spread(self._visible[:, best])
        rule = Occlusion(kind=self._kind, hidden=float(SIZES[best]), rows=self._rows)
        return Calibration(rule=rule, target=target.visible, visible=median, low=low, high=high, above=None)


def _visible_by_size(kind: str, seed: int, window: Glyphs, shaper: Shaper, rows: tuple[float, ...]) -> Floats | None:
    """The share of a window's ink that an occlusion of each of :data:`SIZES` leaves; None where there is no ink."""
    line = Line(start=0, end=1, x=0, glyphs=window)
    layout = Layout(
        text=" ", lines=(line,), width=line_length(window), line_height=shaper.line_height, baseline=shaper.baseline
    )
    ink = WHITE - render_strip(layout)[: shaper.line_height]
    if not ink.any():
        return None
    cell = Box(0, 0, layout.width, shaper.line_height)
    box, orders, _ = occlusion_at(kind, seed, cell)
    last = last_step(box, orders, cell, rows, SIZES)
    inside = orders[-box.y0 : cell.y1 - box.y0, -box.x0 : cell.x1 - box.x0]
    hidden = np.bincount(inside.ravel(), ink.ravel(), minlength=STEPS).cumsum()
    shares: Floats = 1 - hidden[last] / hidden[-1]
    return shares


def _check_letters(shaper: Shaper, language: LanguageRow, windows: Iterable[tuple[str, Glyphs]]) -> None:
    letters, drawn = set[str](), set[str]()
    for window, glyphs in windows:
        letters.update(filter(str.isalpha, window))
        for placed in glyphs:
            if placed.glyph.face == 0:
                drawn.update(window[placed.start : placed.end])
    lacking = sorted(letters - drawn)
    if len(lacking) > MOST_LACKING * len(letters):
        raise FontError(
            f"The font {shaper.chain.faces[0].path} lacks {len(lacking)} of {len(letters)} letters of a sample of "
            f"{language.name} (such as {''.join(lacking[:5])}); choose a font of that language."
        )


def _windows(sample: Iterable[str], language: LanguageRow) -> list[str]:
    windows = []
    for text in sample:
        units = [unit for unit in line_units(text, language.break_unit) if not text[slice(*unit)].isspace()]
        last_units = units[WINDOW[language.break_unit] - 1 :]
        windows += [text[start:end] for (start, _), (_, end) in zip(units, last_units, strict=False)]
    return windows[:: max(1, len(windows) // MAX_WINDOWS)]


def _ink_above_each_row(shaper: Shaper, windows: Iterable[Glyphs]) -> Floats:
    """For every window the share of its ink that stands above each row: windows x (line height + 1), 0 to 1."""
    profiles: dict[Glyph, Floats] = {}

    def profile(glyph: Glyph) -> Floats:
        if glyph not in profiles:
            profiles[glyph] = _row_ink(shaper, glyph)
        return profiles[glyph]

    nothing = np.zeros(shaper.line_height)
    ink = np.array([np.sum([nothing, *(profile(placed.glyph) for placed in window)], axis=0) for window in windows])
    ink = ink[ink.sum(axis=1) > 0]
    above = np.pad(np.cumsum(ink, axis=1), ((0, 0), (1, 0)))
    shares: Floats = above / above[:, -1:]
    return shares


def _row_ink(shaper: Shaper, glyph: Glyph) -> Floats:
    """A glyph's ink in each row of a line; what stands outside of the line is not hidden by its cover."""
    rows = np.zeros(shaper.line_height)
    if glyph.ink.size:
        top = shaper.baseline + glyph.y
        first, stop = max(0, -top), min(len(glyph.ink), shaper.line_height - top)
        rows[top + first : top + stop] = glyph.ink[first:stop].sum(axis=1, dtype=np.int64)
    return rows


def _nearest_rows(above: Floats, target: CoverTarget) -> Calibration:
    """The rows with the best balance among those that leave the right ink; where there are none, the nearest ones."""
    height = above.shape[1] - 1
    tolerance = _tolerance(height)
    mean = above.mean(axis=0)
    best, least = range(1, height), (float("inf"), float("inf"))
    for first in range(1, height):
        for stop in range(first + 1, height):
            if abs(mean[first] + 1 - mean[stop] - target.visible) < FAR:
                visible, balance = _medians(above, range(first, stop))
                ink = abs(visible - target.visible)
                error = max(0.0, ink - tolerance), ink + abs(balance - target.above)
                if error < least:
                    best, least = range(first, stop), error
    low, median, high = _spread(above[:, best.start] + 1 - above[:, best.stop])
    return Calibration(
        rule=WhiteRows(best), target=target.visible, visible=median, low=low, high=high, above=_medians(above, best)[1]
    )


def _spread(shares: Floats) -> tuple[float, float, float]:
    """The 5th percentile of some shares, their median, and the 95th percentile."""
    low, median, high = np.percentile(shares, [5, 50, 95]).tolist()
    return low, median, high


def _medians(above: Floats, rows: range) -> tuple[float, float]:
    """Median visible ink, and median share of it that stands above the rows."""
    over, under = above[:, rows.start], 1 - above[:, rows.stop]
    visible = over + under
    return float(np.median(visible)), float(np.median(over / np.maximum(visible, 1e-9)))
