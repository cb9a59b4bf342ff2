"""The fit of a whole factor model: residual correlations without the bias of sampling, and a test that they are 0.

The test is the bootstrap of Beran and Srivastava (1985): scores are transformed so that the model holds exactly, and
the share of their resamples with residuals as large as those of the scores is p. The model of the test is that of
common factors. Its loadings and correlations are those of the composites, corrected for their reliability rho_A
(Dijkstra and Henseler, 2015): without the correction, residuals of a correct model do not vanish with more models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vcrgen.analysis.correlations import correlation_matrix, resampled_correlations, standardise
from vcrgen.analysis.pls import PlsFit, Quality, Scheme, Structure, fit_pls, quality, root_mean_square_residual
from vcrgen.stats.arrays import Bits, Floats

FEWEST_ADMISSIBLE = 0.5  # share of resamples of transformed scores with an estimate, below which there is no p
LEVEL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class OverallFit:
    """The test that the residual correlations of a factor model are 0."""

    srmr: float  # of the corrected estimates
    critical: float  # of the resamples of transformed scores, 5 % are above
    p: float
    draws: int  # resamples with admissible estimates
    inadmissible: int  # resamples without: a loading or a correlation beyond 1

    @property
    def is_rejected(self) -> bool:
        """Tell whether the test rejects the model."""
        return self.p < LEVEL


def corrected_srmr(value: float, replicates: Floats) -> float:
    """Return the SRMR without the part that sampling adds: the square less its bootstrap bias, at least 0."""
    known = replicates[np.isfinite(replicates)]
    bias = float((known**2).mean()) - value**2 if len(known) else float("nan")
    return float(np.sqrt(max(0.0, value**2 - bias)))


def overall_fit(scores: Floats, structure: Structure, scheme: Scheme, weights: Floats) -> OverallFit | None:
    """Test that a factor model fits the correlations of tasks, by scores that it fits exactly.

    Args:
        scores: Models x tasks, none missing.
        structure: All constructs in mode A.
        scheme: As for :func:`vcrgen.analysis.pls.fit_pls`.
        weights: Resamples x models.

    Returns:
        None where there is no test: a construct in mode B, as few models as tasks, or estimates that are inadmissible
        for the scores or for too many resamples.
    """
    r = correlation_matrix(scores)
    values, vectors = np.linalg.eigh(r)
    if "B" in structure.modes or values[0] < 1e-9:
        return None
    implied, admissible = implied_correlations(*_fitted(r[None], structure, scheme), structure)
    if not admissible[0]:
        return None
    own_values, own_vectors = np.linalg.eigh(implied[0])
    if own_values[0] < 1e-9:
        return None
    whitened = standardise(scores) @ (vectors / np.sqrt(values)) @ vectors.T
    transformed = whitened @ (own_vectors * np.sqrt(own_values)) @ own_vectors.T
    drawn = []
    for part in resampled_correlations(transformed, weights):
        of_part, fine = implied_correlations(*_fitted(part, structure, scheme), structure)
        drawn.append(root_mean_square_residual(part, of_part)[fine])
    found = np.concatenate(drawn)
    if len(found) < FEWEST_ADMISSIBLE * len(weights):
        return None
    value = float(root_mean_square_residual(r[None], implied)[0])
    return OverallFit(
        srmr=value,
        critical=float(np.quantile(found, 1 - LEVEL)),
        draws=len(found),
        p=float((1 + (found >= value).sum()) / (1 + len(found))),
        inadmissible=len(weights) - len(found),
    )


def _fitted(correlations: Floats, structure: Structure, scheme: Scheme) -> tuple[PlsFit, Quality]:
    fit = fit_pls(correlations, structure, scheme)
    return fit, quality(correlations, fit, structure)


def implied_correlations(fit: PlsFit, figures: Quality, structure: Structure) -> tuple[Floats, Bits]:
    """Return the correlations that common factors imply, matrices x tasks x tasks, and the admissible matrices."""
    own = structure.members.argmax(axis=1)
    rho = figures.rho_a
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = np.stack([(fit.weights[:, list(block)] ** 2).sum(axis=1) for block in structure.blocks], axis=1)
        loadings = fit.weights * (np.sqrt(rho) / squares)[:, own]
        constructs = fit.constructs / np.sqrt(rho[:, :, None] * rho[:, None])
    lone = [block[0] for block in structure.blocks if len(block) == 1]
    loadings[:, lone] = 1
    each = range(rho.shape[1])
    constructs[:, each, each] = 1
    finite = np.isfinite(loadings).all(axis=1) & np.isfinite(constructs).all(axis=(1, 2))
    smallest = np.linalg.eigvalsh(np.where(finite[:, None, None], constructs, np.eye(len(each))))[:, 0]
    admissible: Bits = finite & (np.abs(loadings) <= 1).all(axis=1) & (smallest >= 0)
    implied = loadings[:, :, None] * loadings[:, None] * constructs[:, own][:, :, own]
    tasks = range(len(own))
    implied[:, tasks, tasks] = 1
    return implied, admissible
