"""Rank preservation of subsets of tasks.

Example: 11 of 24 tasks rank 20 models nearly as all 24 do. Random subsets of 11 tasks do nearly as well, so the same
statistics are computed for a thousand random subsets.
"""

from dataclasses import dataclass

import numpy as np

from vcrgen.analysis.correlations import ranks, spearman
from vcrgen.stats.arrays import Bits, Floats, Ints

TOP_MODELS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RankPreservation:
    """Agreement of the rankings by subsets of tasks with that by all tasks; each field has one number a subset."""

    spearman: Floats
    kendall: Floats  # tau-b
    pairs: Floats  # share of the pairs of models that keep their order
    flips: Ints  # pairs that differ significantly over all tasks, and that the subset orders the other way round
    largest: Ints  # largest change of a rank
    top: Floats  # share of the best models of all tasks that are among as many best ones of the set
    apart: int  # pairs of models that differ significantly over all tasks


def rank_preservation(unit: Floats, sets: Floats) -> RankPreservation:
    """Compare rankings by means over sets of tasks with the ranking by the mean over all tasks.

    Args:
        unit: Models x tasks, standardised, none missing.
        sets: Sets x tasks: 1 where a task is in the set, and 0 elsewhere.
    """
    means = unit.mean(axis=1)
    set_means = sets @ unit.T / sets.sum(axis=1, keepdims=True)
    rows, columns = np.triu_indices(len(unit), 1)
    before = np.sign(np.round(means[rows] - means[columns], 12))  # rounded, so that equal means are equal everywhere
    apart = significantly_different(unit)[rows, columns]
    model_ranks = ranks(means)
    best = model_ranks <= min(TOP_MODELS, max(1, len(unit) // 2))
    figures = []
    for own_means, own_ranks in zip(set_means, ranks(set_means), strict=True):
        after = np.sign(np.round(own_means[rows] - own_means[columns], 12))
        product = before * after
        ties = np.sqrt((before != 0).sum() * (after != 0).sum())
        figures.append(
            (
                spearman(means, own_means),
                product.sum() / ties if ties else np.nan,
                (before == after).mean(),
                ((product < 0) & apart).sum(),
                np.abs(own_ranks - model_ranks).max(),
                (best & (own_ranks <= best.sum())).sum() / best.sum(),
            )
        )
    rho, kendall, pairs, flips, largest, top = np.array(figures).T
    return RankPreservation(
        spearman=rho,
        kendall=kendall,
        pairs=pairs,
        flips=flips.astype(np.int64),
        largest=largest.astype(np.int64),
        top=top,
        apart=int(apart.sum()),
    )


def significantly_different(unit: Floats) -> Bits:
    """Mark the pairs of models (models x models) whose scores differ significantly over the tasks.

    The test is the paired t-test at 5 %, with the tasks as a sample of what could be asked.
    """
    tasks = unit.shape[1]
    if tasks < 2:
        return np.zeros((len(unit), len(unit)), bool)
    from scipy.stats import t

    means = unit.mean(axis=1)
    difference = means[:, None] - means
    products = unit @ unit.T / tasks
    squares = np.diag(products)
    variance = np.maximum(squares[:, None] + squares - 2 * products - difference**2, 0) * tasks / (tasks - 1)
    differs: Bits = np.abs(difference) > t.ppf(0.975, tasks - 1) * np.sqrt(variance / tasks) + 1e-12
    return differs
