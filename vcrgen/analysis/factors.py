"""The factor model of a benchmark: abilities measured by their tasks, and a human score that the abilities explain.

Example: eleven tasks of three abilities, and a human score of 165 models. The result has loadings,
reliability and validity of the abilities (alpha, AVE, HTMT) and the explained variance of the human score (R2), each
with a bootstrap interval over models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vcrgen.analysis.correlations import (
    MOST_FAILED,
    correlation_matrix,
    model_weights,
    percentile_interval,
    require_varied,
    resampled_correlations,
)
from vcrgen.analysis.pls import PlsFit, Quality, Structure, fit_pls, quality
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import BoundSpec, FactorSpec, bind
from vcrgen.core.errors import AnalysisError
from vcrgen.core.plurals import pluralize
from vcrgen.stats.arrays import Floats
from vcrgen.stats.intervals import NORMAL_QUANTILE

FEWEST_MODELS = 10
FEW_MODELS = 50
FEW_A_TASK = 10  # models for each task of the largest ability
_SAME = 1e-9  # how near to 1 the correlation of two tasks is that are one


@dataclass(frozen=True, slots=True)
class FactorEstimate:
    """A figure with its 95 % interval; NaN for the ends where too many resamples failed, or none were drawn."""

    value: float
    low: float
    high: float

    def verdict(self, *, least: float | None = None, most: float | None = None) -> str:
        """Compare with a limit: ``passed`` or ``failed`` only if the whole interval is on one side of it."""
        limit = least if least is not None else most
        if limit is None or not (np.isfinite(self.low) and np.isfinite(self.high)):
            return "no interval"
        if self.low <= limit <= self.high:
            return "inconclusive"
        above = self.low > limit
        return "passed" if above == (least is not None) else "failed"


class Scale(NamedTuple):
    """A scale on which the errors of a figure are nearly normal, and the way back."""

    there: Callable[[Floats], Floats]
    back: Callable[[Floats], Floats]


LOGARITHM = Scale(np.log, np.exp)  # of VIF and D_valid
SQUARE = Scale(np.square, lambda value: np.sqrt(np.maximum(value, 0)))  # of SRMR
CORRELATION = Scale(np.arctanh, np.tanh)  # of TC
FISHER = Scale(  # of R2: Fisher's z of its root
    lambda value: np.arctanh(np.sqrt(np.clip(value, 0, 1 - 1e-12))), lambda z: np.tanh(np.maximum(z, 0)) ** 2
)


@dataclass(frozen=True, slots=True)
class FactorEstimates:
    """Figures with their 95 % intervals, as arrays of one shape; one of them is taken by its place."""

    value: Floats
    low: Floats
    high: Floats

    def __getitem__(self, place: int | tuple[int, ...]) -> FactorEstimate:
        return FactorEstimate(float(self.value[place]), float(self.low[place]), float(self.high[place]))


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorFit:
    """The estimates of one correlation matrix."""

    fit: PlsFit
    quality: Quality
    top: PlsFit | None = None  # of the layout two-stage: the construct above the abilities, and the anchor
    top_quality: Quality | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorResult:
    """A factor model with what its resamples say of it.

    The figures are those of `PlsFit` and `Quality`, each with
    its interval: ``result.vif[0]`` is that of the first task, ``result.paths[0, 3]`` the effect of the first construct
    on the fourth. Intervals of VIF, R2, TC, D_valid and SRMR are corrected for bias; the others are percentiles of the
    resamples.
    """

    table: ScoreTable  # models with a score on every task of the model
    bound: BoundSpec
    correlations: Floats
    estimate: FactorFit  # of all models
    replicates: tuple[FactorFit | None, ...]  # of the resamples; None without a solution
    weights: Floats  # resamples x models: how often each is drawn
    seed: int

    @property
    def failed(self) -> int:
        """Resamples without an estimate: a task did not vary, or two said the same."""
        return self.replicates.count(None)

    @property
    def loadings(self) -> FactorEstimates:
        """Of each task."""
        return self._estimates(lambda estimate: estimate.fit.loadings)

    @property
    def task_weights(self) -> FactorEstimates:
        """Of each task, in the composite of its construct."""
        return self._estimates(lambda estimate: estimate.fit.weights)

    @property
    def vif(self) -> FactorEstimates:
        """Of each task."""
        return self._estimates(lambda estimate: estimate.quality.vif, LOGARITHM)

    @property
    def paths(self) -> FactorEstimates:
        """Of each pair of constructs, [j, k] the effect of j on k."""
        return self._estimates(lambda estimate: estimate.fit.paths)

    @property
    def r2(self) -> FactorEstimates:
        """Of each construct."""
        return self._estimates(lambda estimate: estimate.fit.r2, FISHER)

    @property
    def alpha(self) -> FactorEstimates:
        """Of each construct."""
        return self._estimates(lambda estimate: estimate.quality.alpha)

    @property
    def rho_a(self) -> FactorEstimates:
        """Of each construct."""
        return self._estimates(lambda estimate: estimate.quality.rho_a)

    @property
    def cr(self) -> FactorEstimates:
        """Of each construct."""
        return self._estimates(lambda estimate: estimate.quality.cr)

    @property
    def ave(self) -> FactorEstimates:
        """Of each construct."""
        return self._estimates(lambda estimate: estimate.quality.ave)

    @property
    def htmt(self) -> FactorEstimates:
        """Of each pair of constructs."""
        return self._estimates(lambda estimate: estimate.quality.htmt)

    @property
    def htmt2(self) -> FactorEstimates:
        """Of each pair of constructs."""
        return self._estimates(lambda estimate: estimate.quality.htmt2)

    @property
    def srmr(self) -> FactorEstimate:
        """Of these models, with what sampling adds; `corrected_srmr` is without."""
        return self._estimates(lambda estimate: estimate.quality.srmr, SQUARE)[()]

    @property
    def d_div(self) -> FactorEstimate:
        """Of the benchmark."""
        return self._estimates(lambda estimate: estimate.quality.d_div)[()]

    @property
    def tc(self) -> FactorEstimate:
        """Of the benchmark."""
        return self._estimates(lambda estimate: estimate.quality.tc, CORRELATION)[()]

    @property
    def d_valid(self) -> FactorEstimate:
        """Of the benchmark."""
        return self._estimates(lambda estimate: estimate.quality.d_valid, LOGARITHM)[()]

    @property
    def second_order(self) -> FactorEstimates | None:
        """Loadings of the abilities on the construct above them, its effect on the anchor, R2 of that, CR, AVE."""
        return None if self.estimate.top is None else self._estimates(_second_order)

    def draws(self, figure: Callable[[FactorFit], Floats | float]) -> Floats:
        """A figure of every resample, resamples x its shape; NaN for those without a solution."""
        draws = np.full((len(self.replicates), *np.shape(figure(self.estimate))), np.nan)
        for number, replicate in enumerate(self.replicates):
            if replicate is not None:
                draws[number] = figure(replicate)
        return draws

    def _estimates(self, figure: Callable[[FactorFit], Floats | float], scale: Scale | None = None) -> FactorEstimates:
        values, draws = np.asarray(figure(self.estimate)), self.draws(figure)
        ends = percentile_interval(draws) if scale is None else corrected_interval(values, draws, scale)
        return FactorEstimates(values, *ends)


def _second_order(estimate: FactorFit) -> Floats:
    top, quality_of_top = estimate.top, estimate.top_quality
    assert top is not None and quality_of_top is not None
    figures = (top.paths[0, 1], top.r2[1], quality_of_top.cr[0], quality_of_top.ave[0])
    return np.concatenate([top.loadings[:-1], figures])


def corrected_interval(values: Floats, draws: Floats, scale: Scale) -> tuple[Floats, Floats]:
    """Both ends of normal intervals on a scale, about the values less the median bias of their resamples.

    An interval is widened to hold its value. NaN where more than 5 % of the resamples failed.

    Args:
        values: Figures of all models.
        draws: Resamples x figures.
        scale: The scale on which errors are nearly normal.
    """
    failed = np.isnan(draws).mean(axis=0) > MOST_FAILED
    replicates = np.where(np.isnan(draws).all(axis=0), 0.5, draws)  # any number: it has no interval
    on_scale, replicates_on_scale = scale.there(values), scale.there(replicates)
    middle = 2 * on_scale - np.nanmedian(replicates_on_scale, axis=0)
    half = NORMAL_QUANTILE * np.nanstd(replicates_on_scale, axis=0)
    low, high = np.minimum(scale.back(middle - half), values), np.maximum(scale.back(middle + half), values)
    return np.where(failed, np.nan, low), np.where(failed, np.nan, high)


def fit_correlations(correlations: Floats, bound: BoundSpec) -> FactorFit | None:
    """Fit a specification to correlations, in the order of ``bound.tasks``; None without a solution."""
    structure = bound.structure
    fit = fit_pls(correlations, structure, bound.spec.scheme)
    if fit is None:
        return None
    measures = quality(correlations, fit, structure)
    if bound.spec.layout != "two-stage":
        return FactorFit(fit=fit, quality=measures)
    # The composites of the first stage are the indicators of the second: abilities of the top, the anchor of itself.
    size = len(structure.abilities)
    above = Structure((tuple(range(size)), (size,)), ((), (0,)), ("A", "A"), 1)
    top = fit_pls(fit.constructs, above, bound.spec.scheme)
    if top is None:
        return None
    return FactorFit(fit=fit, quality=measures, top=top, top_quality=quality(fit.constructs, top, above))


def fit_factors(table: ScoreTable, spec: FactorSpec, *, seed: int = 0, draws: int = 2000) -> FactorResult:
    """Fit a specification to scores.

    Args:
        table: The scores. Models that lack a score of some task of the specification are left out, which a note says.
        spec: Abilities with their tasks, and the anchor.
        seed: Of the resamples.
        draws: How many times the models (or their families) are resampled.

    Raises:
        AnalysisError: There are too few models, a task does not vary, tasks of an ability are collinear, or no
            solution is found.
    """
    bound = bind(spec, table.tasks)
    used = table.select_tasks(bound.tasks).complete_cases()
    require_fit(used, bound)
    correlations = correlation_matrix(used.scores)
    estimate = fit_correlations(correlations, bound)
    if estimate is None:
        raise AnalysisError(
            f"No solution was found for {used.source} (scheme {spec.scheme}, mode {spec.mode}): two abilities may say "
            "the same; put their tasks under one."
        )
    weights = model_weights(len(used.models), seed=seed, draws=draws, groups=used.groups)
    return FactorResult(
        table=used,
        bound=bound,
        correlations=correlations,
        estimate=estimate,
        replicates=tuple(
            fit_correlations(replicate, bound)
            for block in resampled_correlations(used.scores, weights)
            for replicate in block
        ),
        weights=weights,
        seed=seed,
    )


def require_fit(table: ScoreTable, bound: BoundSpec) -> None:
    """Refuse scores to which a specification cannot be fitted; says why in one sentence."""
    models = len(table.models)
    if models < FEWEST_MODELS:
        raise AnalysisError(
            f"{table.source}: {pluralize(models, 'model has', 'models have')} a score on every task; a factor model "
            f"needs {FEWEST_MODELS} at least."
        )
    require_varied(table.scores, table.tasks)
    for ability, tasks in bound.abilities.items():
        if len(tasks) >= models - 1:
            raise AnalysisError(
                f"The ability {ability!r} has {len(tasks)} tasks, and there are {models} models: with as many tasks as "
                "models less one, any weights fit. Give it fewer tasks, or score more models."
            )
        _require_independent(table.select_tasks(tasks), ability)


def _require_independent(table: ScoreTable, ability: str) -> None:
    """Refuse an ability of which a task is an exact sum of others; names the pair if it is one."""
    if len(table.tasks) == 1:
        return
    r = correlation_matrix(table.scores)
    rows, columns = np.triu_indices(len(r), 1)
    nearest = int(np.abs(r[rows, columns]).argmax())
    if abs(r[rows[nearest], columns[nearest]]) > 1 - _SAME:
        pair = table.tasks[rows[nearest]], table.tasks[columns[nearest]]
        raise AnalysisError(
            f"The tasks {pair[0]!r} and {pair[1]!r} of the ability {ability!r} rank all models alike: each is the "
            "other in another unit; take one out."
        )
    values, vectors = np.linalg.eigh(r)
    if values[0] < _SAME:
        involved = [table.tasks[number] for number in np.flatnonzero(np.abs(vectors[:, 0]) > 0.1)]
        raise AnalysisError(
            f"The tasks {', '.join(map(repr, involved[:5]))} of the ability {ability!r} are exactly collinear: one "
            "is a sum of the others, such as their mean; take it out."
        )
