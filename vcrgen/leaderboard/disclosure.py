"""The part of a score that may be seen: everything for a public set, rounded aggregates for a hidden one.

A team that learns the exact score of many files, each a little different, learns the key. So scores of a hidden set
are rounded to a step that is worth at least two of its spans, and counts and breakdowns are not shown at all. That
alone does not keep a key: while a set is open, a ladder discloses only what beats the team's best, on a split of the
key that does not count in the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from vcrgen.leaderboard.records import Estimate, Estimates, PixelScore, TestSet
from vcrgen.report.published.human_baseline import HumanScore

INSTANT_SENTENCE = (
    "Its scores are shown at once and for all of its key, so a team that has a few guesses for each text can read the "
    "key out of them."
)
STEPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
SPANS_A_STEP = 2


def rounding_step(*, hidden: bool, spans: int) -> float:
    """Return the rounding step of a set's scores, as a share; 0 for a public set, which is not rounded."""
    if not hidden:
        return 0.0
    return next((step for step in STEPS if step * spans >= SPANS_A_STEP), STEPS[-1])


def set_rounding_step(one: TestSet) -> float:
    """Return the rounding step of the scores of a set that are shown now: of the whole set, or of a split."""
    return rounding_step(hidden=one.hidden, spans=one.shown.spans)


def to_minute(at: datetime) -> datetime:
    """Return a moment as it is shown: how long scoring took tells in which split a long output is."""
    return at.replace(second=0, microsecond=0)


def in_points(step: float) -> str:
    """A step in percentage points, in words: ``1 point``, ``0.5 points``."""
    points = f"{100 * step:.6f}".rstrip("0").rstrip(".")
    return f"{points} {'point' if points == '1' else 'points'}"


def disclose(estimate: Estimate, step: float) -> Estimate:
    """The figure as it is shown: the mean to the nearest step, the interval widened to whole steps."""
    if not step:
        return estimate
    each = round(1 / step)
    value, low, high = estimate.value * each, estimate.low * each, estimate.high * each
    # Bounds that are whole steps but for the error of floating point stay where they are.
    return Estimate(round(value) / each, math.floor(low + 1e-9) / each, math.ceil(high - 1e-9) / each)


def disclose_all(values: Mapping[str, Sequence[float]], step: float) -> Estimates:
    """Return stored figures as they are shown, by metric."""
    return {metric: disclose(Estimate(*triple), step) for metric, triple in values.items()}


def disclose_human(score: HumanScore, *, hidden: bool) -> HumanScore:
    """A score of people as it is shown: of a hidden set rounded by the texts that they saw, and nothing else of it."""
    step = rounding_step(hidden=hidden, spans=score.spans)
    if not step:
        return score
    shown = disclose(Estimate(score.exact, score.low, score.high), step)
    return replace(score, exact=shown.value, low=shown.low, high=shown.high, sd=None)


def disclose_pixels(score: PixelScore, step: float) -> PixelScore:
    """The template baseline's score as it is shown; anybody can compute the bits from the public images."""
    shown = disclose(Estimate(score.exact, score.low, score.high), step)
    return replace(score, exact=shown.value, low=shown.low, high=shown.high)


def ladder_step(score: float, best: float | None, step: float) -> float | None:
    """Return the score of a file that a ladder discloses to its team (Blum and Hardt 2015, section 3).

    Example: with steps of 5 points and a best of 40 %, a file with 46 % shows 45 %, and one with 44 % shows nothing.

    Args:
        score: Exact match on the feedback split, as a share, not rounded.
        best: The highest step that the team was shown before; None if it was shown none.
        step: That of :func:`step_of`.

    Returns:
        The score to the nearest step if it is the team's first one, or better than its best by a step or more; or None.
    """
    if best is not None and score < best + step - 1e-9:
        return None
    return disclose(Estimate(score, score, score), step).value


def disclose_difference(a: Estimate, b: Estimate, paired: Estimate, step: float) -> Estimate:
    """The difference of two disclosed figures; for a hidden set it tells nothing that they do not tell.

    ``paired`` is their difference with its paired interval, not rounded; ``step`` is that of :func:`disclose`.
    """
    if not step:
        return paired
    each = round(1 / step)
    value = round((a.value - b.value) * each) / each
    rounded = disclose(paired, step)
    return Estimate(value, min(rounded.low, value), max(rounded.high, value))


def disclose_differences(a: Estimates, b: Estimates, paired: Estimates, step: float) -> Estimates:
    """Return the differences of disclosed figures, by metric; see :func:`disclose_difference`."""
    return {metric: disclose_difference(a[metric], b[metric], estimate, step) for metric, estimate in paired.items()}
