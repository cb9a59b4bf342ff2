"""What of a score may be seen: everything for a public set, rounded aggregates for a hidden one.

A team that learns the exact score of many files, each a little different, learns the key. So scores of a hidden set
are rounded to a step that is worth at least two of its spans, and counts and breakdowns are not shown at all. That
alone does not keep a key: while a set takes files, a ladder shows only what beats the team's best, of a part of the key
that does not count in the end.
"""

from __future__ import annotations

import math
from dataclasses import replace

from vcrgen.leaderboard.records import Figure, TestSet
from vcrgen.published.people import PeopleScore

INSTANT_SENTENCE = (
    "Its scores are shown at once and for all of its key, so a team that has a few guesses for each text can read the "
    "key out of them."
)
STEPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5)
SPANS_A_STEP = 2


def step_of(*, hidden: bool, spans: int) -> float:
    """What a set's scores are rounded to, as a share; 0 for a public set, which is not rounded."""
    if not hidden:
        return 0.0
    return next((step for step in STEPS if step * spans >= SPANS_A_STEP), STEPS[-1])


def step_on(one: TestSet) -> float:
    """What the scores of a set are rounded to that are shown now: of the whole of it, or of a part."""
    return step_of(hidden=one.hidden, spans=one.shown.spans)


def in_points(step: float) -> str:
    """A step in percentage points, in words: ``1 point``, ``0.5 points``."""
    points = f"{100 * step:.6f}".rstrip("0").rstrip(".")
    return f"{points} {'point' if points == '1' else 'points'}"


def disclose(figure: Figure, step: float) -> Figure:
    """The figure as it is shown: the mean to the nearest step, the interval widened to whole steps."""
    if not step:
        return figure
    each = round(1 / step)
    value, low, high = figure.value * each, figure.low * each, figure.high * each
    # Bounds that are whole steps but for the error of floating point stay where they are.
    return Figure(round(value) / each, math.floor(low + 1e-9) / each, math.ceil(high - 1e-9) / each)


def disclose_people(score: PeopleScore, *, hidden: bool) -> PeopleScore:
    """A score of people as it is shown: of a hidden set rounded by the texts that they saw, and nothing else of it."""
    step = step_of(hidden=hidden, spans=score.spans)
    if not step:
        return score
    shown = disclose(Figure(score.exact, score.low, score.high), step)
    return replace(score, exact=shown.value, low=shown.low, high=shown.high, sd=None, threshold=None)


def climb(score: float, best: float | None, step: float) -> float | None:
    """What a team is told of a file's score on a ladder (Blum and Hardt 2015, section 3).

    Example: with steps of 5 points and a best of 40 %, a file with 46 % shows 45 %, and one with 44 % shows nothing.

    Args:
        score: Exact match on the feedback part, as a share, not rounded.
        best: The highest step that the team was shown before; None if it was shown none.
        step: That of :func:`step_of`.

    Returns:
        The score to the nearest step if it is the team's first one, or better than its best by a step or more; or None.
    """
    if best is not None and score < best + step - 1e-9:
        return None
    return disclose(Figure(score, score, score), step).value


def disclose_difference(a: Figure, b: Figure, paired: Figure, step: float) -> Figure:
    """The difference of two disclosed figures; for a hidden set it tells nothing that they do not tell.

    ``paired`` is their difference with its paired interval, not rounded; ``step`` is that of :func:`disclose`.
    """
    if not step:
        return paired
    each = round(1 / step)
    value = round((a.value - b.value) * each) / each
    rounded = disclose(paired, step)
    return Figure(value, min(rounded.low, value), max(rounded.high, value))
