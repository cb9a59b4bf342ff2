"""Calibrate covers, so that easy and hard leave the same visible ink in every font and size.

The same rows, or the same shares of a line, hide much more of one font than of another. So rows are chosen for each
chain of fonts: those that leave as much ink as VCR-WIKI's covers leave of its own fonts, as evenly above and below.
Other covers have one number, the share of ink that they are expected to hide. It is chosen by the sample's pixels.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from vcrgen.core.errors import FontError
from vcrgen.core.records import NAMED_MODES, Mode
from vcrgen.core.resources import load_object
from vcrgen.text.languages import CoverTarget, LanguageRow
from vcrgen.typeset.cover import CoverRule, WhiteRows
from vcrgen.typeset.cover_kinds import COVER_KINDS, ROWS
from vcrgen.typeset.ink_sample import Floats, InkSample, measure_sample
from vcrgen.typeset.patterns import STEPS, PatternCover, draw_pattern, last_steps, pattern_box, rows_with_ink
from vcrgen.typeset.records import Box, Layout, Line, PlacedGlyph
from vcrgen.typeset.render import draw_ink
from vcrgen.typeset.shaping import Shaper, line_length

# Maximal distance of the median from the target; whole rows allow no better in small type.
SMALL_LINE = 30  # px
TOLERANCE_SMALL, TOLERANCE = 0.05, 0.03
# Range of the share of ink above an even cover.
EVEN = (0.25, 0.8)
# Rows whose mean is further from the target are skipped: the median is near the mean.
MAX_MEAN_DISTANCE = 0.2
# Of a pattern: windows of the sample that it is drawn over, and its sizes.
DRAWN_WINDOWS = 128
SIZES = np.arange(1, 250) / 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The cover of one mode in one chain of fonts, and the visible ink of the sample under it."""

    rule: CoverRule
    target: float  # of the visible ink
    visible: float  # median share of visible ink over the windows of the sample
    low: float  # its 5th percentile
    high: float  # its 95th percentile
    above: float | None  # median share of the visible ink that stands above the cover; None if it is not rows

    @property
    def is_even(self) -> bool:
        """True if ink is left on both sides; a few sizes of a few fonts have no whole rows that do so."""
        return self.above is None or EVEN[0] <= self.above <= EVEN[1]


class Calibrator(Protocol):
    """Finds covers of one kind in one chain of fonts."""

    def nearest(self, target: CoverTarget) -> Calibration:
        """Find the cover nearest to a target.

        Raises:
            FontError: No cover of this kind is near it in this size.
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
        language: The language, with its targets.

    Raises:
        FontError: The first font lacks letters of the language; or covers of this kind cannot leave the ink of a level,
            or two levels have the same cover.
    """
    calibrator = make_calibrator(shaper, language, sample, cover)
    covers = {mode: calibrator.nearest(language.cover_target(mode)) for mode in modes}
    _check_levels(covers, shaper)
    return covers


def _check_levels(covers: Mapping[Mode, Calibration], shaper: Shaper) -> None:
    """Check that levels reach their targets: unlike easy and hard, a level names its visible ink."""
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
    """Make the calibrator of a kind of `vcrgen.typeset.cover_kinds.COVER_KINDS` for the ink of a sample.

    Raises:
        FontError: The first font lacks letters of the language, or draws none of them.
    """
    ink = measure_sample(shaper, language, sample)
    calibrator: Calibrator = load_object(COVER_KINDS[cover].calibrator)(cover, shaper, ink)
    return calibrator


class RowCalibrator:
    """Finds white rows.

    Args:
        kind: The kind of cover; of white rows there is one.
    """

    def __init__(self, kind: str, shaper: Shaper, sample: InkSample) -> None:
        self._above = sample.above

    def nearest(self, target: CoverTarget) -> Calibration:
        """Find the rows with the best balance among those within the tolerance; if there are none, the nearest."""
        height = self._above.shape[1] - 1
        tolerance = _tolerance(height)
        mean = self._above.mean(axis=0)
        likely = [
            range(first, stop)
            for first in range(1, height)
            for stop in range(first + 1, height)
            if abs(mean[first] + 1 - mean[stop] - target.visible) < MAX_MEAN_DISTANCE
        ] or [range(1, height)]
        over, under = _shares(self._above, likely)
        visible = np.median(over + under, axis=1)
        ink = np.abs(visible - target.visible)
        excess = np.maximum(0.0, ink - tolerance)
        nearest = np.flatnonzero(excess == excess.min())
        over, under = over[nearest], under[nearest]
        balance = np.median(over / np.maximum(over + under, 1e-9), axis=1)
        number = int((ink[nearest] + np.abs(balance - target.above)).argmin())
        best = likely[nearest[number]]
        low, median, high = _spread(self._above[:, best.start] + 1 - self._above[:, best.stop])
        above = float(balance[number])
        return Calibration(rule=WhiteRows(best), target=target.visible, visible=median, low=low, high=high, above=above)


class PatternCalibrator:
    """Finds the size of a pattern.

    Args:
        kind: A key of `vcrgen.typeset.cover_kinds.PATTERN_KINDS`.
    """

    def __init__(self, kind: str, shaper: Shaper, sample: InkSample) -> None:
        self._kind, self._sample = kind, sample
        self._type = f"{shaper.chain.faces[0].family} at {shaper.chain.size} px"
        windows = sample.windows[:: max(1, len(sample.windows) // DRAWN_WINDOWS)]
        lines = (shaper.shape(window, 0, len(window)) for window in windows)
        drawn = (_visible_by_size(kind, seed, line, shaper, sample) for seed, line in enumerate(lines))
        self._visible = np.array([shares for shares in drawn if shares is not None])  # windows x SIZES

    def nearest(self, target: CoverTarget) -> Calibration:
        """Find the size nearest to a target.

        Raises:
            FontError: No size is within 0.03 of it.
        """
        medians = np.median(self._visible, axis=0)
        best = int(np.abs(medians - target.visible).argmin())
        if abs(medians[best] - target.visible) > TOLERANCE:
            raise FontError(
                f"No {self._kind} cover leaves {target.visible:g} of the ink of {self._type}: the nearest leaves "
                f"{medians[best]:.2f}; choose a larger --font-size, or another --cover."
            )
        low, median, high = _spread(self._visible[:, best])
        sample = self._sample
        rule = PatternCover(
            kind=self._kind, hidden=float(SIZES[best]), rows=sample.rows, pitch=sample.pitch, margins=sample.margins
        )
        return Calibration(rule=rule, target=target.visible, visible=median, low=low, high=high, above=None)


def _visible_by_size(
    kind: str, seed: int, window: tuple[PlacedGlyph, ...], shaper: Shaper, sample: InkSample
) -> Floats | None:
    """Share of a window's ink that a pattern of each of `SIZES` leaves; None if there is no ink."""
    line = Line(start=0, end=1, x=0, glyphs=window)
    layout = Layout(
        text=" ", lines=(line,), width=line_length(window), line_height=shaper.line_height, baseline=shaper.baseline
    )
    cell = Box(0, 0, layout.width, shaper.line_height)
    box = pattern_box(kind, cell, sample.margins)
    ink = draw_ink(layout.ink_boxes(0), box)
    if not ink.any():
        return None
    orders, _ = draw_pattern(kind, seed, cell, box, sample.pitch)
    last = last_steps(rows_with_ink(orders, cell, box, sample.margins), sample.rows, SIZES)
    hidden = np.bincount(orders.ravel(), ink.ravel(), minlength=STEPS).cumsum()
    shares: Floats = 1 - hidden[last] / hidden[-1]
    return shares


def _spread(shares: Floats) -> tuple[float, float, float]:
    """5th percentile, median and 95th percentile of shares."""
    low, median, high = np.percentile(shares, [5, 50, 95]).tolist()
    return low, median, high


def _shares(above: Floats, covers: Sequence[range]) -> tuple[Floats, Floats]:
    """Shares of ink above and under each range of rows: ranges x windows."""
    shares = np.ascontiguousarray(above.T)
    return shares[[rows.start for rows in covers]], 1 - shares[[rows.stop for rows in covers]]
