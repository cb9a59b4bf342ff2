"""The part of a score that may be seen: everything for a public set, rounded aggregates for a hidden one.

A team that learns the exact score of many files, each a little different, learns the key. So scores of a hidden set
are rounded to a step that is worth at least two of its spans, and counts and breakdowns are not shown at all. That
alone does not keep a key: while a set is open, a ladder discloses only what beats the team's best, on a split of the
key that does not count in the end.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from vcrgen.leaderboard.page_records import Estimate, Estimates, PixelScore
from vcrgen.leaderboard.records import TestSet
from vcrgen.report.published.human_baseline import HumanScore

INSTANT_SENTENCE = (
    "Its scores are shown at once and for all of its key, so a team that has a few guesses for each text can read the "
    "key out of them."
)
STEPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
SPANS_A_STEP = 2


def rounding_step(*, hidden: bool, spans: int) -> float:
    """The smallest step, as a share, that is worth two spans; 0 for a public set, whose scores are not rounded."""
    if not hidden:
        return 0.0
    return next((step for step in STEPS if step * spans >= SPANS_A_STEP), STEPS[-1])


def set_rounding_step(test_set: TestSet) -> float:
    """The rounding step of the scores that a set discloses now: by the spans of the whole set, or of a split."""
    return rounding_step(hidden=test_set.hidden, spans=test_set.shown.spans)


def in_points(step: float) -> str:
    """A step in percentage points, in words: ``1 point``, ``0.5 points``."""
    points = f"{100 * step:.6f}".rstrip("0").rstrip(".")
    return f"{points} {'point' if points == '1' else 'points'}"


def disclose(estimate: Estimate, step: float) -> Estimate:
    """The figure as it is shown: the mean to the nearest step, the interval widened to whole steps."""
    if not step:
        return estimate
    steps = round(1 / step)  # from 0 to 100 %
    value, low, high = estimate.value * steps, estimate.low * steps, estimate.high * steps
    # Bounds that are whole steps but for the error of floating point stay where they are.
    return Estimate(round(value) / steps, math.floor(low + 1e-9) / steps, math.ceil(high - 1e-9) / steps)


def disclose_all(values: Mapping[str, Sequence[float]], step: float) -> Estimates:
    """Disclose stored estimates (value, low, high), by metric."""
    return {metric: disclose(Estimate(*triple), step) for metric, triple in values.items()}


def disclose_human(score: HumanScore, *, hidden: bool) -> HumanScore:
    """Disclose a human baseline: of a hidden set without its SD, rounded by the spans that the raters saw."""
    step = rounding_step(hidden=hidden, spans=score.spans)
    if not step:
        return score
    rounded = disclose(Estimate(score.exact, score.low, score.high), step)
    return replace(score, exact=rounded.value, low=rounded.low, high=rounded.high, sd=None)


def disclose_pixels(score: PixelScore, step: float) -> PixelScore:
    """Disclose the template baseline's score; its bits stay, as anybody can compute them from the public images."""
    rounded = disclose(Estimate(score.exact, score.low, score.high), step)
    return replace(score, exact=rounded.value, low=rounded.low, high=rounded.high)


def ladder_step(score: float, best: float | None, step: float) -> float | None:
    """The rounded score of a file that a ladder discloses to its team (Blum and Hardt 2015, section 3).

    Example: with steps of 5 points and a best of 40 %, a file with 46 % shows 45 %, and one with 44 % shows nothing.

    Args:
        score: Exact match on the feedback split, as a share, not rounded.
        best: The highest step that the team was shown before; None if it was shown none.
        step: That of `set_rounding_step`.

    Returns:
        The score to the nearest step if it is the team's first one, or better than its best by a step or more; or None.
    """
    if best is not None and score < best + step - 1e-9:
        return None
    return disclose(Estimate(score, score, score), step).value


def disclose_difference(a: Estimate, b: Estimate, paired: Estimate, step: float) -> Estimate:
    """The difference of two disclosed estimates; for a hidden set it tells nothing that they do not tell.

    Args:
        a: The first estimate, rounded.
        b: The second one, rounded.
        paired: Their difference with its paired interval, not rounded.
        step: The rounding step, as a share; 0 to disclose ``paired`` as it is.
    """
    if not step:
        return paired
    steps = round(1 / step)
    value = round((a.value - b.value) * steps) / steps
    rounded = disclose(paired, step)
    return Estimate(value, min(rounded.low, value), max(rounded.high, value))


def disclose_differences(a: Estimates, b: Estimates, paired: Estimates, step: float) -> Estimates:
    """The differences of disclosed estimates, by metric, as `disclose_difference` makes them."""
    return {metric: disclose_difference(a[metric], b[metric], estimate, step) for metric, estimate in paired.items()}
