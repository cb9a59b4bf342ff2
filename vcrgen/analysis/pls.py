"""Partial least squares on correlation matrices, for many matrices at once: a bootstrap is one batch.

Example: three abilities with their tasks, and a human score that they explain. Each ability becomes one weighted sum of
its tasks (a composite), and weights and composites are updated in turns until convergence. Wold (1982); the steps, the
schemes and the modes are those of Lohmöller (1989), which the usual programs share; the formulas of :func:`quality` are
listed in ``docs/analysis.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from vcrgen.stats.arrays import Bits, Floats, Ints

Scheme = Literal["centroid", "factorial", "path"]
Mode = Literal["A", "B"]
SCHEMES: tuple[Scheme, ...] = ("centroid", "factorial", "path")
MODES: tuple[Mode, ...] = ("A", "B")
MAX_ITERATIONS = 1000
TOLERANCE = 1e-10  # of the largest change of a weight; programs stop at 1e-7, which leaves as much in their results
SINGULAR = 1e-10  # the smallest eigenvalue below which tasks, or abilities, say the same


@dataclass(frozen=True, slots=True)
class Structure:
    """The structural model: tasks of each construct, and paths between constructs.

    A construct is an ability, or the human score that abilities are to explain (the anchor).
    """

    blocks: tuple[tuple[int, ...], ...]  # of each construct the rows of its tasks; each row stands in one block
    causes: tuple[tuple[int, ...], ...]  # of each construct those that explain it; all of them stand before it
    modes: tuple[Mode, ...]  # of each construct
    anchor: int | None = None  # the construct of the human score

    @property
    def members(self) -> Floats:
        """Tasks x constructs: 1 where a task belongs to a construct."""
        found = np.zeros((sum(map(len, self.blocks)), len(self.blocks)))
        for number, block in enumerate(self.blocks):
            found[list(block), number] = 1
        return found

    @property
    def abilities(self) -> list[int]:
        """The constructs but the anchor."""
        return [number for number in range(len(self.blocks)) if number != self.anchor]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlsFit:
    """Estimates for a batch of correlation matrices; the first axis is the matrix. NaN for those that failed."""

    weights: Floats  # matrices x tasks: of the standardised task in the composite of its construct
    loadings: Floats  # matrices x tasks: correlation of a task with its own construct
    cross: Floats  # matrices x tasks x constructs: correlation of every task with every construct
    constructs: Floats  # matrices x constructs x constructs: correlations of the composites
    paths: Floats  # matrices x constructs x constructs: [m, j, k] is the effect of j on k, 0 where there is none
    r2: Floats  # matrices x constructs: how much of a construct its causes explain; NaN without causes
    iterations: Ints  # matrices
    converged: Bits  # matrices: whether there is an estimate; not, if tasks are collinear or constant as well


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Statistics of the measurement model; the first axis is the matrix."""

    vif: Floats  # matrices x tasks: within the block; 1 for a lone task
    alpha: Floats  # matrices x constructs: Cronbach's, standardised
    rho_a: Floats  # matrices x constructs: Dijkstra and Henseler's; 1 in mode B, as programs put it
    cr: Floats  # matrices x constructs: composite reliability (rho_C)
    ave: Floats  # matrices x constructs: average variance extracted
    htmt: Floats  # matrices x constructs x constructs: ratio of correlations between to those within
    htmt2: Floats  # the same with geometric means
    srmr: Floats  # matrices: root mean square of what the model leaves of the correlations
    d_div: Floats  # matrices: diversity of a benchmark, 1 / (2 max HTMT) of abilities, at most 1
    tc: Floats  # matrices: mean absolute loading of tasks
    d_valid: Floats  # matrices: exp(-mean ln VIF) of tasks


def fit_pls(correlations: Floats, structure: Structure, scheme: Scheme = "path") -> PlsFit:
    """Estimate the weights of tasks, and from them loadings, effects and explained variance.

    Args:
        correlations: Matrices x tasks x tasks, the tasks as numbered in the structure. One that is not finite fails.
        structure: Every construct must explain another one or be explained by one.
        scheme: How much a neighbour counts: by the sign of its correlation, by its correlation, or, for neighbours
            that explain the construct, by their coefficients in a regression (``path``, as programs default to).
    """
    members = structure.members
    count, tasks, _ = correlations.shape
    constructs = members.shape[1]
    usable = _usable(correlations, structure)
    weights = np.full((count, tasks, constructs), np.nan)
    iterations = np.zeros(count, np.int64)
    active = np.flatnonzero(usable)
    weights[active] = _scaled(correlations[active], np.broadcast_to(members, (len(active), tasks, constructs)), members)
    whitening = _whitening(correlations, structure, active)
    for turn in range(1, MAX_ITERATIONS + 1):
        if not len(active):
            break
        r, before = correlations[active], weights[active]
        rw = r @ before
        inner, solved = _inner(before.transpose(0, 2, 1) @ rw, structure, scheme)
        outer = (rw @ inner) * members
        for number, block in enumerate(structure.blocks):
            if structure.modes[number] == "B" and len(block) > 1:
                rows = list(block)
                outer[:, rows, number] = np.einsum("mij,mj->mi", whitening[number][active], outer[:, rows, number])
        after = _scaled(r, outer, members)
        solved &= np.logical_and.reduce(np.isfinite(after), axis=(1, 2))
        weights[active] = after
        iterations[active] = turn
        usable[active[~solved]] = False
        moved = np.abs(after - before).max(axis=(1, 2)) >= TOLERANCE
        active = active[moved & solved]
    usable[active] = False  # those that still move
    weights[~usable] = np.nan
    return _estimates(correlations, weights, structure, members, iterations, usable)


def _usable(correlations: Floats, structure: Structure) -> Bits:
    """Mark the matrices that are finite and have no collinear tasks within a block."""
    usable: Bits = np.logical_and.reduce(np.isfinite(correlations), axis=(1, 2))
    for block in structure.blocks:
        if len(block) > 1:
            rows = list(block)
            inside = correlations[:, rows][:, :, rows]
            smallest = np.linalg.eigvalsh(np.where(usable[:, None, None], inside, np.eye(len(rows))))[:, 0]
            usable &= smallest > SINGULAR
    return usable


def _whitening(correlations: Floats, structure: Structure, usable: Ints) -> dict[int, Floats]:
    """Of each block in mode B the inverse of its correlations, for the matrices that are usable."""
    found = {}
    for number, block in enumerate(structure.blocks):
        if structure.modes[number] == "B" and len(block) > 1:
            rows = list(block)
            inverse = np.zeros((len(correlations), len(rows), len(rows)))
            inverse[usable] = np.linalg.inv(correlations[usable][:, rows][:, :, rows])
            found[number] = inverse
    return found


def _scaled(correlations: Floats, weights: Floats, members: Floats) -> Floats:
    """Weights whose composites have variance 1 and loadings that sum to more than 0."""
    rw = correlations @ weights
    with np.errstate(invalid="ignore", divide="ignore"):
        length = np.sqrt(np.maximum((weights * rw).sum(axis=1), 0))
        sign = np.where((rw * members).sum(axis=1) < 0, -1.0, 1.0)
        scaled: Floats = weights * (sign / length)[:, None, :]
    return scaled


def _inner(constructs: Floats, structure: Structure, scheme: Scheme) -> tuple[Floats, Bits]:
    """Return the inner weights, constructs (rows) x neighbours (columns), and the matrices that have them."""
    inner = np.zeros_like(constructs)
    solved = np.logical_and.reduce(np.isfinite(constructs), axis=(1, 2))
    for number, causes in enumerate(structure.causes):
        for cause in causes:
            for one, other in ((cause, number), (number, cause)):
                found = constructs[:, one, other]
                inner[:, one, other] = np.sign(found) if scheme == "centroid" else found
        if scheme == "path" and causes:
            inner[:, list(causes), number], fine = _regression(constructs, causes, number)
            solved &= fine
    return inner, solved


def _regression(constructs: Floats, causes: tuple[int, ...], number: int) -> tuple[Floats, Bits]:
    """The coefficients of a construct on its causes, 0 where the causes say the same, and where they do not."""
    rows = list(causes)
    inside = constructs[:, rows][:, :, rows]
    fine: Bits = np.logical_and.reduce(np.isfinite(constructs), axis=(1, 2))
    fine &= np.linalg.eigvalsh(np.where(fine[:, None, None], inside, np.eye(len(rows))))[:, 0] > SINGULAR
    solvable = np.where(fine[:, None, None], inside, np.eye(len(rows)))
    found = np.linalg.solve(solvable, np.where(fine[:, None], constructs[:, rows, number], 0.0)[:, :, None])
    return found[:, :, 0], fine


def _estimates(
    correlations: Floats, weights: Floats, structure: Structure, members: Floats, iterations: Ints, usable: Bits
) -> PlsFit:
    cross = correlations @ weights
    constructs = weights.transpose(0, 2, 1) @ cross
    count, size, _ = constructs.shape
    paths, r2 = np.zeros_like(constructs), np.full((count, size), np.nan)
    for number, causes in enumerate(structure.causes):
        if causes:
            beta, fine = _regression(constructs, causes, number)
            usable &= fine
            paths[:, list(causes), number] = beta
            r2[:, number] = (beta * constructs[:, list(causes), number]).sum(axis=1)
    for each in (weights, cross, constructs, paths, r2):
        each[~usable] = np.nan
    return PlsFit(
        weights=(weights * members).sum(axis=2),
        loadings=(cross * members).sum(axis=2),
        cross=cross,
        constructs=constructs,
        paths=paths,
        r2=r2,
        iterations=iterations,
        converged=usable,
    )


def quality(correlations: Floats, fit: PlsFit, structure: Structure) -> Quality:
    """The statistics of a fit; those of matrices that failed are NaN."""
    size = len(structure.blocks)
    r = np.where(fit.converged[:, None, None], correlations, np.nan)
    shape = (len(r), size)
    alpha, rho_a, cr, ave = (np.ones(shape) for _ in range(4))
    vif = inflation(correlations, fit, structure)
    for number, block in enumerate(structure.blocks):
        rows = list(block)
        loadings = fit.loadings[:, rows]
        length = loadings.sum(axis=1) ** 2
        cr[:, number] = length / (length + (1 - loadings**2).sum(axis=1))
        ave[:, number] = (loadings**2).mean(axis=1)
        if len(rows) > 1:
            inside = r[:, rows][:, :, rows]
            alpha[:, number] = len(rows) / (len(rows) - 1) * (1 - len(rows) / inside.sum(axis=(1, 2)))
            if structure.modes[number] == "A":
                rho_a[:, number] = _dijkstra_henseler(inside, fit.weights[:, rows])
    for each in (alpha, rho_a, cr, ave):
        each[~fit.converged] = np.nan
    htmt, htmt2 = _htmt(r, structure, geometric=False), _htmt(r, structure, geometric=True)
    tasks = [row for number in structure.abilities for row in structure.blocks[number]]
    pairs = np.triu_indices(len(structure.abilities), 1)
    of_abilities = htmt[:, structure.abilities][:, :, structure.abilities][:, pairs[0], pairs[1]]
    d_div = np.minimum(1, 1 / (2 * of_abilities.max(axis=1))) if len(pairs[0]) else np.full(len(r), np.nan)
    return Quality(
        vif=vif,
        alpha=alpha,
        rho_a=rho_a,
        cr=cr,
        ave=ave,
        htmt=htmt,
        htmt2=htmt2,
        srmr=_srmr(r, fit, structure),
        d_div=d_div,
        tc=np.abs(fit.loadings[:, tasks]).mean(axis=1),
        d_valid=np.exp(-np.log(vif[:, tasks]).mean(axis=1)),
    )


def inflation(correlations: Floats, fit: PlsFit, structure: Structure) -> Floats:
    """The variance inflation factor of every task within its block: matrices x tasks; NaN where the fit failed."""
    vif = np.ones(correlations.shape[:2])
    for block in structure.blocks:
        if len(block) > 1:
            rows = list(block)
            inside = correlations[:, rows][:, :, rows]
            solvable = np.where(fit.converged[:, None, None], inside, np.eye(len(rows)))
            vif[:, rows] = np.diagonal(np.linalg.inv(solvable), axis1=1, axis2=2)
    vif[~fit.converged] = np.nan
    return vif


def _dijkstra_henseler(inside: Floats, weights: Floats) -> Floats:
    squares = (weights**2).sum(axis=1)
    off_diagonal = np.einsum("mi,mij,mj->m", weights, inside, weights) - squares  # the diagonal is 1
    products = squares**2 - (weights**4).sum(axis=1)  # 0 where one task has all the weight
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(products > 0, squares**2 * off_diagonal / products, np.nan)
    return found


def _htmt(r: Floats, structure: Structure, *, geometric: bool) -> Floats:
    """Mean correlation between two blocks, over the root of the product of those within; NaN on the diagonal."""
    with np.errstate(divide="ignore"):
        sizes = np.abs(r) if not geometric else np.log(np.abs(r))
    size = len(structure.blocks)
    found = np.full((len(r), size, size), np.nan)
    means = np.empty_like(found)
    for a, rows in enumerate(structure.blocks):
        for b, columns in enumerate(structure.blocks):
            part = sizes[:, list(rows)][:, :, list(columns)].reshape(len(r), -1)
            if a == b:  # without the diagonal; a lone task goes with itself
                off = ~np.eye(len(rows), dtype=bool).ravel()
                part = part[:, off] if len(rows) > 1 else part * 0 + (0 if geometric else 1)
            means[:, a, b] = part.mean(axis=1)
    means = np.exp(means) if geometric else means
    for a in range(size):
        for b in range(size):
            if a != b:
                with np.errstate(invalid="ignore", divide="ignore"):
                    found[:, a, b] = means[:, a, b] / np.sqrt(means[:, a, a] * means[:, b, b])
    return found


def _srmr(r: Floats, fit: PlsFit, structure: Structure) -> Floats:
    own = structure.members.argmax(axis=1)
    between = fit.constructs.copy()
    between[:, range(len(structure.blocks)), range(len(structure.blocks))] = 1
    implied = fit.loadings[:, :, None] * fit.loadings[:, None, :] * between[:, own][:, :, own]
    return root_mean_square_residual(r, implied)


def root_mean_square_residual(correlations: Floats, implied: Floats) -> Floats:
    """The SRMR of each matrix of correlations beside those that a model implies."""
    tasks = correlations.shape[1]
    rows, columns = np.triu_indices(tasks, 1)
    left = ((correlations - implied)[:, rows, columns] ** 2).sum(axis=1)
    found: Floats = np.sqrt(2 * left / (tasks * (tasks + 1)))
    return found
