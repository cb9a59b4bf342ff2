"""Accuracy against visible ink: the curve of a run over the levels of its dataset, and thresholds of two runs.

Example: a dataset whose spans stand under covers that leave 5, 10, 20, 30, 50 and 70 % of their ink. The threshold of a
model is the share of ink at which it recovers half of the spans (:mod:`vcrgen.stats.psychometric`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from vcrgen.dataset.views import View
from vcrgen.errors import ScoreError
from vcrgen.records import Mode, is_mode
from vcrgen.scorer.comparison import ALPHA, format_gap
from vcrgen.scorer.results import RunCurve, RunResult
from vcrgen.stats.arrays import Floats
from vcrgen.stats.paired import holm
from vcrgen.stats.psychometric import LEAST_IMAGES, ThresholdDifference, count_answers, fit_curve, threshold_difference

LEAST_LEVELS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdComparison:
    """Threshold of run A minus that of run B in one view; a model with a lower threshold needs less ink."""

    a: str
    b: str
    view: View
    difference: ThresholdDifference | None  # None where a threshold is outside of what was measured
    p_holm: float | None  # the p-value, corrected by Holm for the number of comparisons
    conclusion: str  # a plain sentence

    def as_json(self) -> dict[str, Any]:
        """The comparison as JSON values."""
        apart = self.difference._asdict() if self.difference else None
        names = {name: getattr(self, name) for name in ("a", "b", "p_holm", "conclusion")}
        return {**names, "view": self.view.value, "difference": apart}


def fit_curves(result: RunResult, ink: Mapping[str, Floats], *, seed: int) -> tuple[RunCurve, ...]:
    """The curve of every view in which a run has outputs at three levels or more.

    Args:
        result: The run, with its resamples.
        ink: For each level the measured visible ink of every span, NaN where it is not known: the level itself counts.
        seed: Of the resamples of images.

    Raises:
        ScoreError: There is no such view.
    """
    curves = []
    for view in dict.fromkeys(cell.view for cell in result.cells):
        cells = sorted((c for c in result.cells if c.view is view and _level(c.variant)), key=lambda c: c.variant)
        if len(cells) < LEAST_LEVELS:
            continue
        of_levels = [_ink_or_level(ink.get(cell.variant), _level(cell.variant) or 0.0, cell.units) for cell in cells]
        resamples = [result.resamples[cell.variant, view] for cell in cells]
        starts = resamples[0].starts
        image = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        right = np.concatenate([each.scores["exact"] == 1 for each in resamples])
        answers = count_answers(np.concatenate(of_levels), right, np.tile(image, len(cells)), len(starts) - 1)
        means = tuple(float(each.mean()) for each in of_levels)
        curves.append(
            RunCurve(
                view=view,
                cells=tuple(cells),
                ink=means,
                curve=fit_curve(answers, seed=seed, measured=(min(means), max(means))),
                ink_of_spans={cell.variant: each for cell, each in zip(cells, of_levels, strict=True)},
            )
        )
    if not curves:
        have = ", ".join(dict.fromkeys(cell.variant for cell in result.cells))
        raise ScoreError(
            f"{result.name}: --curve needs outputs at {LEAST_LEVELS} levels of ink or more in one view, as of a "
            f"dataset of vcrgen build --mode ink=0.1,0.3,0.5; these are of {have}."
        )
    return tuple(curves)


def has_curve(result: RunResult) -> bool:
    """Tell whether a run has outputs at enough levels in some view."""
    views = [cell.view for cell in result.cells if _level(cell.variant)]
    return any(views.count(view) >= LEAST_LEVELS for view in views)


def _level(mode: str) -> float | None:
    return Mode(mode).ink if is_mode(mode) else None


def _ink_or_level(ink: Floats | None, level: float, spans: int) -> Floats:
    """Visible ink of the spans of a level, with the level itself where none was measured."""
    if ink is None or not len(ink):
        return np.full(spans, level)
    return np.where(np.isnan(ink), level, ink)


def compare_thresholds(results: Sequence[RunResult]) -> list[ThresholdComparison]:
    """Compare every pair of runs in every view in which both have a curve; images are resampled, the same for both."""
    found = []
    for a, b in combinations(results, 2):
        theirs = {each.view: each.curve for each in b.curves}
        for ours in a.curves:
            if ours.view in theirs:
                apart = threshold_difference(ours.curve, theirs[ours.view])
                found.append(
                    ThresholdComparison(
                        a=a.title,
                        b=b.title,
                        view=ours.view,
                        difference=apart,
                        p_holm=None,
                        conclusion=_conclude(a.title, b.title, ours.view, apart),
                    )
                )
    inside = [each for each in found if each.difference]
    corrected = iter(holm([each.difference.p for each in inside if each.difference]))
    return [replace(each, p_holm=next(corrected)) if each.difference else each for each in found]


def _conclude(a: str, b: str, view: View, apart: ThresholdDifference | None) -> str:
    head = f"Threshold, {view.label}"
    if apart is None:
        return (
            f"{head}: {a} and {b} cannot be compared, as a threshold is outside of the measured levels, or of fewer "
            f"than {LEAST_IMAGES} images."
        )
    turned = apart.p < ALPHA and apart.value > 0  # the sentence begins with the one that needs less ink
    gap = format_gap(*apart[:3], "points of visible ink", ", images resampled", turned=turned)
    if apart.p >= ALPHA:
        return f"{head}: no difference between {a} and {b} is shown: {gap} includes 0. More images could show one."
    less, more = (a, b) if apart.value < 0 else (b, a)
    return f"{head}: {less} recovers half of the spans with less ink than {more}: {gap}."
