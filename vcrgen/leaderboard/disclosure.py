"""What of a score may be seen: everything for a public set, rounded aggregates for a hidden one.

A team that learns the exact score of many files, each a little different, learns the key. So scores of a hidden set
are rounded to a step that is worth at least two of its spans, counts and breakdowns are not shown at all, and how many
files a team may try is limited (``board.yaml``).
"""

from __future__ import annotations

import math

from vcrgen.leaderboard.records import Figure

STEPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
SPANS_A_STEP = 2


def step_of(*, hidden: bool, spans: int) -> float:
    """What a set's scores are rounded to, as a share; 0 for a public set, which is not rounded."""
    if not hidden:
        return 0.0
    return next((step for step in STEPS if step * spans >= SPANS_A_STEP), STEPS[-1])


def disclose(figure: Figure, step: float) -> Figure:
    """The figure as it is shown: the mean to the nearest step, the interval widened to whole steps."""
    if not step:
        return figure
    each = round(1 / step)
    value, low, high = figure.value * each, figure.low * each, figure.high * each
    # Bounds that are whole steps but for the error of floating point stay where they are.
    return Figure(round(value) / each, math.floor(low + 1e-9) / each, math.ceil(high - 1e-9) / each)


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
