"""Rank correlations of a refined benchmark with the original one and with an outside score, as in GOLD's Table VII.

Example: the original benchmark ranks the 50 best models as people do at Spearman .42, the refined one at .50. The gain
of .08 has an interval from resampled models, the same for both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vcrgen.analysis.correlations import ranks, spearman
from vcrgen.stats.arrays import Bits, Floats, Ints
from vcrgen.stats.bootstrap import model_weights, percentile_interval

MOST_AT_AN_END = 50  # models at the top and at the bottom, of fewer than 100 half of them
DRAWS = 1000


class Correlation(NamedTuple):
    """A Spearman correlation, or a difference of two, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCorrelations:
    """The correlations of three rankings on some of the models."""

    subset: str  # "all", "top" or "bottom", by the original benchmark
    models: int
    refined: Correlation  # of the refined benchmark with the original one
    original_anchor: Correlation | None = None  # of the original benchmark with the outside score, if there is one
    refined_anchor: Correlation | None = None
    gain: Correlation | None = None  # of the refined benchmark over the original one


def rank_correlations(
    original: Floats, refined: Floats, anchor: Floats | None, *, seed: int, groups: Ints | None = None
) -> tuple[RankCorrelations, ...]:
    """Correlate the rankings over all models, and within the best and the worst ones of the original benchmark.

    Resamples are of all models. Which of them are at an end is not drawn anew: their intervals would be too wide.

    Args:
        original: The score of each model on the original benchmark.
        refined: The same on the refined one.
        groups: Of each model the number of its family.
    """
    weights = model_weights(len(original), seed=seed, draws=DRAWS, groups=groups).astype(np.int64)
    place = ranks(original)
    end = min(MOST_AT_AN_END, len(original) // 2)
    subsets = {"all": place > 0, "top": place <= end, "bottom": ranks(-original) <= end}
    scores = [original, refined] if anchor is None else [original, refined, anchor]
    return tuple(_within(name, mask, scores, weights) for name, mask in subsets.items())


def _within(subset: str, mask: Bits, scores: Sequence[Floats], weights: Ints) -> RankCorrelations:
    models = np.flatnonzero(mask)
    values = _spearmans(scores, models)
    replicates = np.array([_spearmans(scores, np.repeat(models, row[models])) for row in weights])
    low, high = percentile_interval(replicates)
    columns = zip(values.tolist(), low.tolist(), high.tolist(), strict=True)
    names = ("refined", "original_anchor", "refined_anchor", "gain")
    correlations = {name: Correlation(*column) for name, column in zip(names, columns, strict=False)}
    return RankCorrelations(subset=subset, models=len(models), **correlations)


def _spearmans(scores: Sequence[Floats], models: Ints) -> Floats:
    """The correlations of the first score with the second, of both with the third, and their difference."""
    original, refined, *anchors = (score[models] for score in scores)
    values = [spearman(original, refined)]
    for anchor in anchors:
        before, after = spearman(original, anchor), spearman(refined, anchor)
        values += [before, after, after - before]
    return np.array(values)
