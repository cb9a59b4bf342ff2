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
from vcrgen.analysis.pls import PlsFit, Scheme, Structure, dijkstra_henseler, fit_pls, root_mean_square_residual
from vcrgen.stats.arrays import Floats

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
        scheme: As for `fit_pls`.
        weights: Resamples x models.

    Returns:
        None where there is no test: a construct in mode B, as few models as tasks, or estimates that are inadmissible
        for the scores or for too many resamples.
    """
    r = correlation_matrix(scores)
    values, vectors = np.linalg.eigh(r)
    if "B" in structure.modes or values[0] < 1e-9:
        return None
    implied = _fitted_correlations(r, structure, scheme)
    if implied is None:
        return None
    own_values, own_vectors = np.linalg.eigh(implied)
    if own_values[0] < 1e-9:
        return None
    whitened = standardise(scores) @ (vectors / np.sqrt(values)) @ vectors.T
    transformed = whitened @ (own_vectors * np.sqrt(own_values)) @ own_vectors.T
    drawn = []
    for part in resampled_correlations(transformed, weights):
        for resampled in part:
            of_resample = _fitted_correlations(resampled, structure, scheme)
            if of_resample is not None:
                drawn.append(root_mean_square_residual(resampled, of_resample))
    if len(drawn) < FEWEST_ADMISSIBLE * len(weights):
        return None
    found, value = np.array(drawn), root_mean_square_residual(r, implied)
    return OverallFit(
        srmr=value,
        critical=float(np.quantile(found, 1 - LEVEL)),
        draws=len(found),
        p=float((1 + (found >= value).sum()) / (1 + len(found))),
        inadmissible=len(weights) - len(found),
    )


def _fitted_correlations(r: Floats, structure: Structure, scheme: Scheme) -> Floats | None:
    fit = fit_pls(r, structure, scheme)
    return None if fit is None else implied_correlations(fit, dijkstra_henseler(r, fit, structure), structure)


def implied_correlations(fit: PlsFit, rho: Floats, structure: Structure) -> Floats | None:
    """Return the correlations of tasks that common factors imply; None where the estimates are inadmissible.

    Args:
        fit: The estimates of composites.
        rho: The rho_A of each construct.
        structure: The same as of the fit.
    """
    own = structure.owners
    with np.errstate(invalid="ignore"):
        squares = structure.members.T @ fit.weights**2
        loadings = fit.weights * (np.sqrt(rho) / squares)[own]
        constructs = fit.constructs / np.sqrt(np.outer(rho, rho))
    loadings[[block[0] for block in structure.blocks if len(block) == 1]] = 1
    np.fill_diagonal(constructs, 1)
    if not (np.isfinite(loadings).all() and np.isfinite(constructs).all()):
        return None
    if (np.abs(loadings) > 1).any() or np.linalg.eigvalsh(constructs)[0] < 0:
        return None
    implied: Floats = np.outer(loadings, loadings) * constructs[np.ix_(own, own)]
    np.fill_diagonal(implied, 1)
    return implied
