"""Partial least squares on a correlation matrix.

Example: three abilities with their tasks, and a human score that they explain. Each ability becomes one weighted sum of
its tasks (a composite), and weights and composites are updated in turns until convergence. Wold (1982); the steps, the
schemes and the modes are those of Lohmöller (1989), which the usual programs share; the formulas of `quality` are
listed in ``docs/analysis.md``.

The test of the overall fit is the bootstrap of Beran and Srivastava (1985): scores are transformed so that the model
holds exactly, and p is the share of their replicates with residual correlations as large as those of the scores. The
model of the test is that of common factors. Its loadings and correlations are those of the composites, corrected for
their reliability rho_A (Dijkstra and Henseler, 2015): without the correction, residuals of a correct model do not
vanish with more models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from vcrgen.analysis.correlations import correlation_matrix, resampled_correlations, standardise
from vcrgen.stats.arrays import Floats, Ints

Scheme = Literal["centroid", "factorial", "path"]
Mode = Literal["A", "B"]
SCHEMES: tuple[Scheme, ...] = ("centroid", "factorial", "path")
MODES: tuple[Mode, ...] = ("A", "B")
MAX_ITERATIONS = 1000
TOLERANCE = 1e-10  # of the largest change of a weight; programs stop at 1e-7, which leaves as much in their results
SINGULAR = 1e-10  # the smallest eigenvalue below which tasks, or abilities, say the same
FEWEST_ADMISSIBLE = 0.5  # share of replicates of transformed scores with an estimate, below which there is no p
LEVEL = 0.05  # of the test of the overall fit
_TINY = 1e-300  # in place of a correlation of 0, which has no logarithm


@dataclass(frozen=True)
class Structure:
    """The structural model: tasks of each construct, and paths between constructs.

    A construct is an ability, or the human score that abilities are to explain (the anchor).
    """

    blocks: tuple[tuple[int, ...], ...]  # of each construct the rows of its tasks; each row stands in one block
    causes: tuple[tuple[int, ...], ...]  # of each construct those that explain it; all of them stand before it
    modes: tuple[Mode, ...]  # of each construct
    anchor: int | None = None  # the construct of the human score

    @cached_property
    def members(self) -> Floats:
        """Tasks x constructs: 1 where a task belongs to a construct."""
        members = np.zeros((sum(map(len, self.blocks)), len(self.blocks)))
        for number, block in enumerate(self.blocks):
            members[list(block), number] = 1
        return members

    @cached_property
    def owners(self) -> Ints:
        """The construct of each task."""
        owners: Ints = self.members.argmax(axis=1)
        return owners

    @cached_property
    def ability_pairs(self) -> tuple[Ints, Ints]:
        """The constructs of all pairs of abilities."""
        abilities = np.array(self.abilities)
        rows, columns = np.triu_indices(len(abilities), 1)
        return abilities[rows], abilities[columns]

    @cached_property
    def abilities(self) -> list[int]:
        """The constructs but the anchor."""
        return [number for number in range(len(self.blocks)) if number != self.anchor]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlsFit:
    """Estimates for one correlation matrix."""

    weights: Floats  # tasks: of the standardised task in the composite of its construct
    loadings: Floats  # tasks: correlation of a task with its own construct
    cross: Floats  # tasks x constructs: correlation of every task with every construct
    constructs: Floats  # constructs x constructs: correlations of the composites
    paths: Floats  # constructs x constructs: [j, k] is the effect of j on k, 0 where there is none
    r2: Floats  # constructs: how much of a construct its causes explain; NaN without causes


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Statistics of the measurement model."""

    vif: Floats  # tasks: within the block; 1 for a lone task
    alpha: Floats  # constructs: Cronbach's, standardised
    rho_a: Floats  # constructs: Dijkstra and Henseler's; 1 in mode B, as programs put it
    cr: Floats  # constructs: composite reliability (rho_C)
    ave: Floats  # constructs: average variance extracted
    htmt: Floats  # constructs x constructs: ratio of correlations between to those within; NaN on the diagonal
    htmt2: Floats  # the same with geometric means
    srmr: float  # root mean square of what the model leaves of the correlations
    d_div: float  # diversity of a benchmark, 1 / (2 max HTMT) of abilities, at most 1; NaN of one ability
    tc: float  # mean absolute loading of tasks
    d_valid: float  # exp(-mean ln VIF) of tasks


def fit_pls(r: Floats, structure: Structure, scheme: Scheme = "path") -> PlsFit | None:
    """Estimate the weights of tasks, and from them loadings, effects and explained variance.

    Args:
        r: Correlations, tasks x tasks, the tasks as numbered in the structure.
        structure: Every construct must explain another one or be explained by one.
        scheme: How much a neighbour counts: by the sign of its correlation, by its correlation, or, for neighbours
            that explain the construct, by their coefficients in a regression (``path``, as programs default to).

    Returns:
        None where there is no solution: a correlation is not known, tasks of a block or causes of a construct are
        collinear, or the weights still move after `MAX_ITERATIONS`.
    """
    if not np.isfinite(r).all() or not all(_is_independent(r, block) for block in structure.blocks):
        return None
    members = structure.members
    inverses = {
        number: np.linalg.inv(_inside(r, block))
        for number, block in enumerate(structure.blocks)
        if structure.modes[number] == "B" and len(block) > 1
    }
    weights = _scaled(r, members, members)
    for _ in range(MAX_ITERATIONS):
        rw = r @ weights
        inner = _inner(weights.T @ rw, structure, scheme)
        if inner is None:
            return None
        outer = (rw @ inner) * members
        for number, inverse in inverses.items():
            rows = list(structure.blocks[number])
            outer[rows, number] = inverse @ outer[rows, number]
        before = weights
        weights = _scaled(r, outer, members)
        if not np.isfinite(weights).all():
            return None
        if np.abs(weights - before).max() < TOLERANCE:
            return _estimates(r, weights, structure)
    return None


def _inside(r: Floats, rows: Sequence[int]) -> Floats:
    """The correlations among some rows."""
    return r.take(rows, axis=0).take(rows, axis=1)  # four times as fast as r[np.ix_(rows, rows)]


def _is_independent(r: Floats, rows: Sequence[int]) -> bool:
    """Tell whether no row of a part of the correlations is a sum of others."""
    return len(rows) == 1 or bool(np.linalg.eigvalsh(_inside(r, rows))[0] > SINGULAR)


def _scaled(r: Floats, weights: Floats, members: Floats) -> Floats:
    """Weights whose composites have variance 1 and loadings that sum to more than 0."""
    rw = r @ weights
    with np.errstate(invalid="ignore", divide="ignore"):
        length = np.sqrt(np.maximum((weights * rw).sum(axis=0), 0))
        sign = np.where((rw * members).sum(axis=0) < 0, -1.0, 1.0)
        scaled: Floats = weights * (sign / length)
    return scaled


def _inner(constructs: Floats, structure: Structure, scheme: Scheme) -> Floats | None:
    """The inner weights, constructs (rows) x neighbours (columns); None where a regression has no solution."""
    if not np.isfinite(constructs).all():
        return None
    inner = np.zeros_like(constructs)
    for number, causes in enumerate(structure.causes):
        for cause in causes:
            correlation = float(constructs[cause, number])
            weight = np.sign(correlation) if scheme == "centroid" else correlation
            inner[cause, number] = inner[number, cause] = weight
        if scheme == "path" and causes:
            beta = _regression(constructs, causes, number)
            if beta is None:
                return None
            inner[list(causes), number] = beta
    return inner


def _regression(constructs: Floats, causes: tuple[int, ...], number: int) -> Floats | None:
    """The coefficients of a construct on its causes; None where the causes say the same."""
    if not _is_independent(constructs, causes):
        return None
    return np.asarray(np.linalg.solve(_inside(constructs, causes), constructs[list(causes), number]), np.float64)


def _estimates(r: Floats, weights: Floats, structure: Structure) -> PlsFit | None:
    cross, members = r @ weights, structure.members
    constructs = weights.T @ cross
    paths, r2 = np.zeros_like(constructs), np.full(len(constructs), np.nan)
    for number, causes in enumerate(structure.causes):
        if causes:
            beta = _regression(constructs, causes, number)
            if beta is None:
                return None
            paths[list(causes), number] = beta
            r2[number] = beta @ constructs[list(causes), number]
    return PlsFit(
        weights=(weights * members).sum(axis=1),
        loadings=(cross * members).sum(axis=1),
        cross=cross,
        constructs=constructs,
        paths=paths,
        r2=r2,
    )


def quality(r: Floats, fit: PlsFit, structure: Structure) -> Quality:
    """The statistics of a fit to correlations."""
    alpha, cr, ave = (np.ones(len(structure.blocks)) for _ in range(3))
    for number, block in enumerate(structure.blocks):
        loadings, size = fit.loadings[list(block)], len(block)
        length = loadings.sum() ** 2
        cr[number] = length / (length + (1 - loadings**2).sum())
        ave[number] = (loadings**2).mean()
        if size > 1:  # of standardised tasks: the variances sum to their number, the covariances are correlations
            alpha[number] = size / (size - 1) * (1 - size / _inside(r, block).sum())
    vif = inflation(r, structure)
    tasks = [row for number in structure.abilities for row in structure.blocks[number]]
    htmt = _htmt(_block_means(np.abs(r), structure))
    ratios = htmt[structure.ability_pairs]
    return Quality(
        vif=vif,
        alpha=alpha,
        rho_a=dijkstra_henseler(r, fit, structure),
        cr=cr,
        ave=ave,
        htmt=htmt,
        htmt2=_htmt(np.exp(_block_means(np.log(np.maximum(np.abs(r), _TINY)), structure))),
        srmr=_srmr(r, fit, structure),
        # Capped as in the released code of the GOLD paper, which says that D_div lies between 0 and 1.
        d_div=min(1.0, 1 / (2 * float(ratios.max()))) if len(ratios) else float("nan"),
        tc=float(np.abs(fit.loadings[tasks]).mean()),
        d_valid=float(np.exp(-np.log(vif[tasks]).mean())),
    )


def inflation(r: Floats, structure: Structure) -> Floats:
    """The variance inflation factor of every task within its block."""
    vif = np.ones(len(r))
    for block in structure.blocks:
        if len(block) > 1:
            vif[list(block)] = np.diagonal(np.linalg.inv(_inside(r, block)))
    return vif


def dijkstra_henseler(r: Floats, fit: PlsFit, structure: Structure) -> Floats:
    """The rho_A of every construct; NaN where one task has all the weight."""
    rho = np.ones(len(structure.blocks))
    for number, block in enumerate(structure.blocks):
        if len(block) > 1 and structure.modes[number] == "A":
            weights = fit.weights[list(block)]
            squares = weights @ weights
            off_diagonal = weights @ _inside(r, block) @ weights - squares  # the diagonal is 1
            products = squares**2 - (weights**4).sum()
            rho[number] = squares**2 * off_diagonal / products if products > 0 else np.nan
    return rho


def _htmt(means: Floats) -> Floats:
    """The mean between two blocks over the root of the product of those within; NaN on the diagonal."""
    within = np.diagonal(means)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: Floats = means / np.sqrt(np.outer(within, within))
    np.fill_diagonal(ratios, np.nan)
    return ratios


def _block_means(values: Floats, structure: Structure) -> Floats:
    """Constructs x constructs: the mean over pairs of different tasks; a lone task goes with itself."""
    members = structure.members
    sizes = members.sum(axis=0)
    itself = np.where(sizes > 1, members.T @ np.diagonal(values), 0.0)
    pairs = np.outer(sizes, sizes) - np.diag(np.where(sizes > 1, sizes, 0.0))
    means: Floats = (members.T @ values @ members - np.diag(itself)) / pairs
    return means


def _srmr(r: Floats, fit: PlsFit, structure: Structure) -> float:
    between = fit.constructs.copy()
    np.fill_diagonal(between, 1)
    implied = np.outer(fit.loadings, fit.loadings) * _inside(between, structure.owners.tolist())
    return root_mean_square_residual(r, implied)


def root_mean_square_residual(r: Floats, implied: Floats) -> float:
    """The SRMR of correlations beside those that a model implies: the diagonal counts as if it were explained."""
    tasks, squares = len(r), (r - implied) ** 2
    return float(np.sqrt((squares.sum() - np.trace(squares)) / (tasks * (tasks + 1))))


@dataclass(frozen=True, slots=True, kw_only=True)
class OverallFit:
    """The test that the residual correlations of a factor model are 0."""

    srmr: float  # of the corrected estimates
    critical: float  # 5 % of the replicates of transformed scores are above
    p: float
    draws: int  # replicates with admissible estimates: no loading and no correlation beyond 1

    @property
    def is_rejected(self) -> bool:
        """Tell whether the test rejects the model."""
        return self.p < LEVEL


def corrected_srmr(value: float, replicates: Floats) -> float:
    """The SRMR without the part that sampling adds: the square less its bootstrap bias, at least 0."""
    finite = replicates[np.isfinite(replicates)]
    bias = float((finite**2).mean()) - value**2 if len(finite) else float("nan")
    return float(np.sqrt(max(0.0, value**2 - bias)))


def overall_fit(scores: Floats, structure: Structure, scheme: Scheme, weights: Floats) -> OverallFit | None:
    """Test that a factor model fits the correlations of tasks, by scores that it fits exactly.

    Args:
        scores: Models x tasks, none missing.
        structure: All constructs in mode A.
        scheme: As for `fit_pls`.
        weights: Replicates x models: how often each is drawn.

    Returns:
        None where there is no test: a construct in mode B, as few models as tasks, or estimates that are inadmissible
        for the scores or for too many replicates.
    """
    r = correlation_matrix(scores)
    values, vectors = np.linalg.eigh(r)
    if "B" in structure.modes or values[0] < 1e-9:  # a singular matrix has no inverse root
        return None
    implied = _fitted_correlations(r, structure, scheme)
    if implied is None:
        return None
    implied_values, implied_vectors = np.linalg.eigh(implied)
    if implied_values[0] < 1e-9:
        return None
    # Scores whose correlations are exactly those that the model implies: the hypothesis of the test.
    whitened = standardise(scores) @ (vectors / np.sqrt(values)) @ vectors.T
    transformed = whitened @ (implied_vectors * np.sqrt(implied_values)) @ implied_vectors.T
    replicates = []
    for resampled in resampled_correlations(transformed, weights):
        replicate = _fitted_correlations(resampled, structure, scheme)
        if replicate is not None:
            replicates.append(root_mean_square_residual(resampled, replicate))
    if len(replicates) < FEWEST_ADMISSIBLE * len(weights):
        return None
    srmr = root_mean_square_residual(r, implied)
    as_large = sum(replicate >= srmr for replicate in replicates)
    return OverallFit(
        srmr=srmr,
        critical=float(np.quantile(replicates, 1 - LEVEL)),
        draws=len(replicates),
        p=(1 + as_large) / (1 + len(replicates)),  # the scores count as one of the replicates, so p is never 0
    )


def _fitted_correlations(r: Floats, structure: Structure, scheme: Scheme) -> Floats | None:
    fit = fit_pls(r, structure, scheme)
    return None if fit is None else implied_correlations(fit, dijkstra_henseler(r, fit, structure), structure)


def implied_correlations(fit: PlsFit, rho: Floats, structure: Structure) -> Floats | None:
    """The correlations of tasks that common factors imply; None where the estimates are inadmissible.

    Args:
        fit: The estimates of composites.
        rho: The rho_A of each construct.
        structure: The same as of the fit.
    """
    owners = structure.owners
    with np.errstate(invalid="ignore"):
        squares = structure.members.T @ fit.weights**2
        loadings = fit.weights * (np.sqrt(rho) / squares)[owners]
        constructs = fit.constructs / np.sqrt(np.outer(rho, rho))
    loadings[[block[0] for block in structure.blocks if len(block) == 1]] = 1  # a lone task is its construct
    np.fill_diagonal(constructs, 1)
    if not (np.isfinite(loadings).all() and np.isfinite(constructs).all()):
        return None
    if (np.abs(loadings) > 1).any() or np.linalg.eigvalsh(constructs)[0] < 0:
        return None
    implied: Floats = np.outer(loadings, loadings) * constructs[np.ix_(owners, owners)]
    np.fill_diagonal(implied, 1)
    return implied
