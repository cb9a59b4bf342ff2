"""The factor model of a benchmark: abilities measured by their tasks, and a human score that the abilities explain.

Example: eleven tasks of three abilities, and a human score of 165 models. The result has loadings,
reliability and validity of the abilities (alpha, AVE, HTMT) and the explained variance of the human score (R2), each
with a bootstrap interval over models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, TypeVar

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
from vcrgen.errors import AnalysisError
from vcrgen.plurals import pluralize
from vcrgen.stats.arrays import Floats
from vcrgen.stats.intervals import NORMAL_QUANTILE

FEWEST_MODELS = 10
FEW_MODELS = 50
FEW_A_TASK = 10  # models for each task of the largest ability
Arrays = TypeVar("Arrays", PlsFit, Quality)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorFit:
    """The estimates of one or of many correlation matrices, which are the first axis of all arrays."""

    fit: PlsFit
    quality: Quality
    top: PlsFit | None = None  # of the layout two-stage: the construct above the abilities, and the anchor
    top_quality: Quality | None = None

    @property
    def paths(self) -> Floats:
        """Matrices x abilities: the effect on the last construct, which is the anchor if there is one."""
        return self.fit.paths[:, :-1, -1]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorResult:
    """A factor model with what its resamples say of it."""

    table: ScoreTable  # models with a score on every task of the model
    bound: BoundSpec
    correlations: Floats
    estimate: FactorFit  # of all models
    replicates: FactorFit  # of the resamples
    weights: Floats  # resamples x models: how often each is drawn
    seed: int

    @property
    def failed(self) -> int:
        """Resamples without an estimate: a task did not vary, or two said the same."""
        return int((~self.replicates.fit.converged).sum())

    def estimates(self, figure: Callable[[FactorFit], Floats], scale: Scale | None = None) -> list[FactorEstimate]:
        """A figure of all models with its interval; ``figure`` takes matrices x numbers from a fit.

        Example: ``result.estimates(lambda of: of.fit.loadings)`` has one for every task. With a ``scale`` the interval
        is corrected for bias, which VIF, R2, D_valid and SRMR need; without, it has the percentiles of the resamples.
        """
        values, draws = figure(self.estimate)[0], figure(self.replicates)
        low, high = percentile_interval(draws) if scale is None else corrected_interval(values, draws, scale)
        return [FactorEstimate(*map(float, each)) for each in zip(values, low, high, strict=True)]

    def upper_bounds(self, figure: Callable[[FactorFit], Floats]) -> list[float]:
        """The upper 95 % bound of figures, of which 5 % of the resamples are above; NaN where too many failed."""
        return [float(value) for value in percentile_interval(figure(self.replicates), high=95.0)[1]]


def corrected_interval(values: Floats, draws: Floats, scale: Scale) -> tuple[Floats, Floats]:
    """Return both ends of normal intervals on a scale, about the values less the median bias of their resamples.

    An interval is widened to hold its value. NaN where more than 5 % of the resamples failed.

    Args:
        values: Figures of all models.
        draws: Resamples x figures.
        scale: The scale on which errors are nearly normal.
    """
    failed = np.isnan(draws).mean(axis=0) > MOST_FAILED
    known = np.where(np.isnan(draws).all(axis=0), values, draws)
    on_scale, drawn = scale.there(values), scale.there(known)
    middle = 2 * on_scale - np.nanmedian(drawn, axis=0)
    half = NORMAL_QUANTILE * np.nanstd(drawn, axis=0)
    low, high = np.minimum(scale.back(middle - half), values), np.maximum(scale.back(middle + half), values)
    return np.where(failed, np.nan, low), np.where(failed, np.nan, high)


def fit_correlations(correlations: Floats, bound: BoundSpec) -> FactorFit:
    """Fit a specification to correlation matrices (matrices x tasks x tasks) in the order of ``bound.tasks``."""
    structure = bound.structure
    fit = fit_pls(correlations, structure, bound.spec.scheme)
    found = quality(correlations, fit, structure)
    if bound.spec.layout != "two-stage":
        return FactorFit(fit=fit, quality=found)
    # The composites of the first stage are the indicators of the second: abilities of the top, the anchor of itself.
    size = len(structure.abilities)
    above = Structure((tuple(range(size)), (size,)), ((), (0,)), ("A", "A"), 1)
    top = fit_pls(fit.constructs, above, bound.spec.scheme)
    return FactorFit(fit=fit, quality=found, top=top, top_quality=quality(fit.constructs, top, above))


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
    found = fit_correlations(correlations[None], bound)
    if not found.fit.converged[0]:
        raise AnalysisError(
            f"No solution was found for {used.source} (scheme {spec.scheme}, mode {spec.mode}): two abilities may say "
            "the same; put their tasks under one."
        )
    weights = model_weights(len(used.models), seed=seed, draws=draws, groups=used.groups)
    parts = [fit_correlations(part, bound) for part in resampled_correlations(used.scores, weights)]
    return FactorResult(
        table=used,
        bound=bound,
        correlations=correlations,
        estimate=found,
        replicates=_joined(parts),
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


def _joined(parts: Sequence[FactorFit]) -> FactorFit:
    return FactorFit(
        fit=_stacked([part.fit for part in parts]),
        quality=_stacked([part.quality for part in parts]),
        top=_stacked([part.top for part in parts if part.top]) if parts[0].top else None,
        top_quality=_stacked([part.top_quality for part in parts if part.top_quality])
        if parts[0].top_quality
        else None,
    )


def _stacked(parts: Sequence[Arrays]) -> Arrays:
    names = [each.name for each in fields(parts[0])]
    return type(parts[0])(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})
