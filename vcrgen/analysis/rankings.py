"""How much of a ranking fewer tasks keep, and how much as many tasks at random would keep.

Example: 11 of 24 tasks put 20 models in nearly the same order as all 24 do. That says little by itself, because 11
tasks at random do nearly as well: so the same figures are taken of a thousand random choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vcrgen.analysis.correlations import pearson

if TYPE_CHECKING:
    from vcrgen.stats.arrays import Bits, Floats, Ints

TOP = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Preserved:
    """How well the rankings by some sets of tasks agree with that by all tasks; each field has one number a set."""

    spearman: Floats
    kendall: Floats  # tau-b
    pairs: Floats  # share of the pairs of models that keep their order
    flips: Ints  # pairs that all tasks tell apart and the set orders the other way round
    largest: Ints  # largest change of a rank
    top: Floats  # share of the best models of all tasks that are among as many best ones of the set
    apart: int  # pairs of models that all tasks tell apart


def preserved(unit: Floats, sets: Floats) -> Preserved:
    """Compare rankings by means over sets of tasks with the ranking by the mean over all tasks.

    Args:
        unit: Models x tasks, standardised, none missing.
        sets: Sets x tasks: 1 where a task is in the set, and 0 elsewhere.
    """
    whole = unit.mean(axis=1)
    parts = sets @ unit.T / sets.sum(axis=1, keepdims=True)
    rows, columns = np.triu_indices(len(unit), 1)
    before = np.sign(np.round(whole[rows] - whole[columns], 12))
    apart = told_apart(unit)[rows, columns]
    places = ranks(whole)
    best = places <= min(TOP, max(1, len(unit) // 2))
    of_sets = ranks(parts)
    figures = []
    for part, own in zip(parts, of_sets, strict=True):
        after = np.sign(np.round(part[rows] - part[columns], 12))
        product = before * after
        ties = np.sqrt((before != 0).sum() * (after != 0).sum())
        figures.append(
            (
                _spearman(whole, part), product.sum() / ties if ties else np.nan, (before == after).mean(),
                ((product < 0) & apart).sum(), np.abs(own - places).max(),
                (best & (own <= best.sum())).sum() / best.sum(),
            )
        )  # fmt: skip
    spearman, kendall, pairs, flips, largest, top = np.array(figures).T
    return Preserved(
        spearman=spearman, kendall=kendall, pairs=pairs, flips=flips.astype(np.int64),
        largest=largest.astype(np.int64), top=top, apart=int(apart.sum()),
    )  # fmt: skip


def told_apart(unit: Floats) -> Bits:
    """Models x models: whether the tasks, as a sample of what could be asked, tell two models apart.

    They do if the mean of the differences over the tasks is further from 0 than Student's t allows at 95 %.
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
    found: Bits = np.abs(difference) > t.ppf(0.975, tasks - 1) * np.sqrt(variance / tasks) + 1e-12
    return found


def ranks(values: Floats) -> Ints:
    """Places from 1 along the last axis, the highest first; equal values share the best place of theirs."""
    if values.ndim > 1:
        return np.stack([ranks(row) for row in values])
    rounded = np.round(values, 12)
    found: Ints = np.searchsorted(np.sort(-rounded), -rounded, side="left") + 1
    return found


def _spearman(a: Floats, b: Floats) -> float:
    from scipy.stats import rankdata

    return pearson(rankdata(a.round(12)), rankdata(b.round(12)))
