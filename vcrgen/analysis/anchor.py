"""Agreement of weighted scores with a human score (the anchor), in sample and cross-fitted.

Example: 50 models, eleven tasks, and a human score that is nothing but noise. Weights that are fitted to it "agree"
with it at r = .24 on average, because they follow the noise. Fitted on half of the models and compared on the other
half, the same weights agree at .01 on average. So the figure to report is the cross-fitted one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vcrgen.analysis.correlations import correlation_matrix, standardise
from vcrgen.analysis.pls import PlsFit, Structure, fit_pls
from vcrgen.analysis.spec import BoundSpec
from vcrgen.core.rng import array_rng_for
from vcrgen.stats.arrays import Bits, Floats, Ints
from vcrgen.stats.ranking import pearson

SPLITS = 10
PERMUTATIONS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorAgreement:
    """Correlations (Pearson) of scores of models with the human score."""

    in_sample: float  # of the weighted overall, with weights fitted to the same models
    cross_fitted: float  # with weights fitted to half of the models, on the other half; the mean of all halves
    plain: float  # of the plain mean of standardised scores, for which nothing is fitted
    p: float  # share of permuted human scores that agree as well, in sample
    halves: int  # fits to halves that the mean is of
    failed: int  # fits to halves or permuted scores that have no solution


def overall_weights(fit: PlsFit, structure: Structure) -> Floats:
    """Return the weights of the tasks in the weighted overall, without the anchor.

    A weight is the loading times the effect of the ability; without an anchor all abilities weigh the same.
    """
    tasks = sum(len(structure.blocks[k]) for k in structure.abilities)
    loadings, own = fit.loadings[:tasks], structure.owners[:tasks]
    if structure.anchor is None:
        return loadings / len(structure.abilities)
    weights: Floats = loadings * fit.paths[own, structure.anchor]
    return weights


def anchor_agreement(scores: Floats, bound: BoundSpec, *, seed: int, groups: Ints | None = None) -> AnchorAgreement:
    """Correlate the weighted overall with the anchor, cross-fitted on halves of the models.

    Args:
        scores: Models x tasks in the order of ``bound.tasks``, none missing; the anchor is the last.
        bound: A specification with an anchor.
        seed: Of the halves and of the permutations.
        groups: Of each model the number of its family, which stays in one half.
    """
    correlations = correlation_matrix(scores)
    in_sample = _agreement(correlations, bound)
    halves = [_one_half(scores, bound, half) for half in split_halves(len(scores), seed=seed, groups=groups)]
    permuted = np.array([_agreement(each, bound) for each in _permuted(scores, correlations, seed)])
    known = np.array(halves)[np.isfinite(halves)]
    counted = permuted[np.isfinite(permuted)]
    return AnchorAgreement(
        in_sample=in_sample,
        cross_fitted=float(known.mean()) if len(known) else float("nan"),
        plain=pearson(standardise(scores[:, :-1]).mean(axis=1), scores[:, -1]),
        p=float((1 + (counted >= in_sample).sum()) / (1 + len(counted))),
        halves=len(known),
        failed=len(halves) - len(known) + len(permuted) - len(counted),
    )


def split_halves(models: int, *, seed: int, groups: Ints | None = None, repeats: int = SPLITS) -> list[Bits]:
    """Halves of the models, or of their families, at random: of each repeat the one half and the other."""
    numbers = np.arange(models) if groups is None else groups
    count = int(numbers.max()) + 1
    found: list[Bits] = []
    for repeat in range(repeats):
        rng = array_rng_for(seed, "split half", str(repeat))
        chosen = np.zeros(count, bool)
        chosen[rng.permutation(count)[: count // 2]] = True
        found += [chosen[numbers], ~chosen[numbers]]
    return found


def _one_half(scores: Floats, bound: BoundSpec, half: Bits) -> float:
    """The agreement on one half of the models of weights that were fitted to the other; NaN without a solution."""
    fitted, judged = scores[~half], scores[half]
    if len(fitted) < 3 or len(judged) < 3 or (np.ptp(fitted, axis=0) == 0).any():
        return float("nan")
    fit = fit_pls(correlation_matrix(fitted), bound.structure, bound.spec.scheme)
    if fit is None:
        return float("nan")
    return pearson(standardise(judged, fitted)[:, :-1] @ overall_weights(fit, bound.structure), judged[:, -1])


def _agreement(correlations: Floats, bound: BoundSpec) -> float:
    """The correlation of the weighted overall, fitted to correlations, with the anchor; NaN without a solution."""
    fit = fit_pls(correlations, bound.structure, bound.spec.scheme)
    if fit is None:
        return float("nan")
    weights = overall_weights(fit, bound.structure)
    inside, outside = correlations[:-1, :-1], correlations[:-1, -1]
    return float(weights @ outside / np.sqrt(weights @ inside @ weights))


def _permuted(scores: Floats, correlations: Floats, seed: int) -> Iterator[Floats]:
    """The correlations of the same tasks with the human scores given to other models, once for each permutation."""
    rng = array_rng_for(seed, "permutation", "anchor")
    unit = standardise(scores)
    for _ in range(PERMUTATIONS):
        found = correlations.copy()
        found[-1, :-1] = found[:-1, -1] = rng.permutation(unit[:, -1]) @ unit[:, :-1] / len(scores)
        yield found
