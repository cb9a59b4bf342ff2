"""Models that lie far from all others, such as those whose every answer failed to parse.

Example: four of 154 models score near zero on everything. Each correlation of tasks rises, because these four are low
on both; with only one of them left out it still does. So such models are found first, and left out together.

Two distances find them. The first is that of Stahel (1981) and Donoho (1982): how far a model lies from the middle in
the worst of several directions, in robust standard deviations (the shortest half, reweighted; Rousseeuw and Leroy,
1987). Directions are the mean of all tasks, each task, the mean of each ability, and that less the mean of all. The
second finds failures that are not as far below: models that fail alike lie much nearer to each other than models that
answer.
"""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from vcrgen.stats.arrays import Bits, Floats

CUT = 2.5  # robust standard deviations beyond which a model has no weight in the middle and the spread
REWEIGHTED = 5  # times, after which few models change sides
_SD_WITHIN_CUT = 0.9546  # standard deviation of the standard normal distribution within the cut
_HALF = 0.6745  # half of it lies as far from the middle, or nearer
FALSE_ALARMS = 0.1  # of a table of normal scores: expected number of models that are found by the first distance
TWINS = 0.1  # of the median squared distance of two models: below it they are as good as one
LOW = -1.5  # robust standard deviations of the mean of all tasks, below which twins count as failed


def outlying_models(scores: Floats, blocks: Sequence[Sequence[int]]) -> Bits:
    """Mark the models that lie far from all others, or low and close together.

    Args:
        scores: Models x tasks, none missing.
        blocks: The columns of the tasks of each ability.
    """
    unit = robust_z(scores)
    directions = _directions(blocks, scores.shape[1])
    distances = robust_z(unit @ directions.T)
    cut = NormalDist().inv_cdf(1 - FALSE_ALARMS / (2 * distances.size))
    far: Bits = np.logical_or.reduce(np.abs(distances) > cut, axis=1)
    squares = (unit**2).sum(axis=1)
    apart = np.maximum(squares[:, None] + squares - 2 * unit @ unit.T, 0)
    typical = np.median(apart[np.triu_indices(len(apart), 1)])
    np.fill_diagonal(apart, np.inf)
    low = distances[:, 0] < LOW
    twins: Bits = low & (np.where(low, apart, np.inf).min(axis=1) < TWINS * typical)
    return far | twins


def _directions(blocks: Sequence[Sequence[int]], tasks: int) -> Floats:
    """Directions x tasks: the mean of all tasks first."""
    whole = np.full(tasks, 1 / tasks)
    rows = [whole, *np.eye(tasks)]
    for block in blocks if len(blocks) > 1 else ():
        mean = np.zeros(tasks)
        mean[list(block)] = 1 / len(block)
        rows += [mean, mean - whole]
    return np.array(rows)


def robust_z(values: Floats) -> Floats:
    """Columns less their middle, in robust standard deviations; 0 where more than half of a column is the same."""
    ordered = np.sort(values, axis=0)
    half = len(values) // 2 + 1
    lengths = ordered[half - 1 :] - ordered[: len(values) - half + 1]
    start = lengths.argmin(axis=0)
    columns = np.arange(values.shape[1])
    middle = (ordered[start, columns] + ordered[start + half - 1, columns]) / 2
    # The shortest half of few values is too short; the factor is that of Rousseeuw and Leroy (1987).
    spread = lengths[start, columns] / (2 * _HALF) * (1 + 5 / max(len(values) - 1, 1))
    for _ in range(REWEIGHTED):
        inside = np.abs(values - middle) <= CUT * spread
        count = np.maximum(inside.sum(axis=0), 1)
        middle = (values * inside).sum(axis=0) / count
        spread = np.sqrt(((values - middle) ** 2 * inside).sum(axis=0) / count) / _SD_WITHIN_CUT
    z: Floats = np.divide(values - middle, spread, out=np.zeros_like(values), where=spread > 0)
    return z
