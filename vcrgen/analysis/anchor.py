"""Agreement of weighted scores with a human score (the anchor), in sample and cross-fitted.

Example: 50 models, eleven tasks, and a human score that is nothing but noise. Weights that are fitted to it "agree"
with it at r = .24 on average, because they follow the noise. Fitted on half of the models and compared on the other
half, the same weights agree at .01 on average. So the figure to report is the cross-fitted one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vcrgen.analysis.correlations import correlation_matrix, standardise
from vcrgen.analysis.factors import FactorFit, fit_correlations
from vcrgen.analysis.spec import BoundSpec
from vcrgen.rng import array_rng_for
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


def overall_weights(found: FactorFit, bound: BoundSpec) -> Floats:
    """Return the weights of the tasks in the weighted overall, matrices x tasks, without the anchor.

    A weight is the loading times the effect of the ability; without an anchor all abilities weigh the same.
    """
    abilities = bound.structure.abilities
    own = bound.structure.members.argmax(axis=1)[: sum(len(bound.structure.blocks[k]) for k in abilities)]
    loadings = found.fit.loadings[:, : len(own)]
    if bound.structure.anchor is None:
        return loadings / len(abilities)
    weights: Floats = loadings * found.paths[:, own]
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
    in_sample = float(_agreements(correlations[None], bound)[0])
    halves = [_one_half(scores, bound, half) for half in split_halves(len(scores), seed=seed, groups=groups)]
    permuted = _agreements(_permuted(scores, correlations, seed), bound)
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
    weights = overall_weights(fit_correlations(correlation_matrix(fitted)[None], bound), bound)[0]
    return pearson(standardise(judged, fitted)[:, :-1] @ weights, judged[:, -1])


def _agreements(correlations: Floats, bound: BoundSpec) -> Floats:
    """Of each matrix the correlation of the weighted overall, fitted to it, with the anchor."""
    weights = overall_weights(fit_correlations(correlations, bound), bound)
    inside, outside = correlations[:, :-1, :-1], correlations[:, :-1, -1]
    variance = np.einsum("mi,mij,mj->m", weights, inside, weights)
    found: Floats = (weights * outside).sum(axis=1) / np.sqrt(variance)
    return found


def _permuted(scores: Floats, correlations: Floats, seed: int) -> Floats:
    """The correlation matrices of the same tasks with the human scores given to other models."""
    rng = array_rng_for(seed, "permutation", "anchor")
    unit = standardise(scores)
    drawn = np.stack([rng.permutation(unit[:, -1]) for _ in range(PERMUTATIONS)])
    found = np.repeat(correlations[None], PERMUTATIONS, axis=0)
    found[:, -1, :-1] = found[:, :-1, -1] = drawn @ unit[:, :-1] / len(scores)
    return found
