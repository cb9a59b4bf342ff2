"""The factor model of a benchmark: abilities measured by their tasks, and a human score that the abilities explain.

Example: eleven tasks of three abilities, and a human score of 165 models. The result has loadings,
reliability and validity of the abilities (alpha, AVE, HTMT) and the explained variance of the human score (R2), each
with a bootstrap interval over models.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from vcrgen.analysis.correlations import correlation_matrix, pearson, resampled_correlations, standardise
from vcrgen.analysis.families import effective_families
from vcrgen.analysis.influence import LeaveOuts, leave_outs
from vcrgen.analysis.options import FactorOptions
from vcrgen.analysis.page_command import page_command
from vcrgen.analysis.pls import OverallFit, PlsFit, Quality, Structure, corrected_srmr, fit_pls, overall_fit, quality
from vcrgen.analysis.rare_tasks import varying_tasks, without_constant_tasks
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.signs import reversed_tasks
from vcrgen.analysis.spec import BoundSpec, FactorSpec, bind, inputs_of
from vcrgen.core.errors import AnalysisError
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import ProgressListener, counted
from vcrgen.core.rng import array_rng_for
from vcrgen.report.notebook import LongRow, NotebookResult
from vcrgen.report.table import Table, TableCell, finite_interval, finite_number
from vcrgen.stats.arrays import Bits, Floats, Ints
from vcrgen.stats.bootstrap import (
    CORRELATION,
    EXPLAINED_VARIANCE,
    FROM_1,
    PLAIN,
    SQUARE,
    TO_1,
    Scale,
    corrected_interval,
    expanded_interval,
    few_groups_factor,
    model_weights,
    percentile_interval,
)

FEWEST_MODELS = 10
SPLITS = 10
PERMUTATIONS = 1000
_SAME = 1e-9  # how near to 1 the correlation of two tasks is that are one


@dataclass(frozen=True, slots=True)
class FactorEstimate:
    """A figure with its 95 % interval; NaN for the ends where too many resamples failed, or none were drawn."""

    value: float
    low: float
    high: float
    without: tuple[float, ...] = ()  # the figure when each group of models is left out; NaN without a solution
    has_outlying: bool = False  # whether the first group is that of the models far from all others

    def verdict(self, *, least: float | None = None, most: float | None = None) -> str:
        """Compare with a limit.

        Returns:
            ``passed`` or ``failed`` if the whole interval is on one side of the limit, and no group of models decides;
            else ``inconclusive``, or ``hangs on few`` where one does.
        """
        verdict = self._compare(0.0, least, most)
        return "hangs on few" if self.hangs_on(least=least, most=most) else verdict

    def hangs_on(self, *, least: float | None = None, most: float | None = None) -> list[int]:
        """The numbers of the groups of models that decide whether a limit is passed or failed.

        A model or a family decides if without it the figure is beyond the limit: that it might be absent, the interval
        allows for. Outlying models decide if the interval, moved as far as the figure moves, reaches the limit.
        """
        verdict = self._compare(0.0, least, most)
        limit = least if least is not None else most
        if verdict not in ("passed", "failed") or limit is None:
            return []
        deciding = []
        for number, value in enumerate(self.without):
            is_outlying = self.has_outlying and number == 0
            remains = (
                self._compare(value - self.value, least, most) == verdict
                if is_outlying
                else (np.isfinite(value) and (value > limit) == (self.low > limit))
            )
            deciding += [] if remains else [number]
        return deciding

    def _compare(self, moved: float, least: float | None, most: float | None) -> str:
        limit = least if least is not None else most
        low, high = self.low + moved, self.high + moved
        if limit is None or not (np.isfinite(low) and np.isfinite(high)):
            return "no interval"
        if low <= limit <= high:
            return "inconclusive"
        above = low > limit
        return "passed" if above == (least is not None) else "failed"


def _long_row(figure: str, of: str | None, on: str | None, estimate: FactorEstimate) -> LongRow:
    ends = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {"figure": figure, "of": of, "on": on, **ends}


@dataclass(frozen=True, slots=True)
class FactorEstimates:
    """Figures with their 95 % intervals, as arrays of one shape; one of them is taken by its position."""

    value: Floats
    low: Floats
    high: Floats
    replicates: Floats  # replicates x shape of the figures; NaN where a replicate has no solution
    without: Floats  # groups of models that are left out x shape of the figures; NaN where there is no solution
    has_outlying: bool  # as of `FactorEstimate`

    def __getitem__(self, position: int | tuple[int, ...]) -> FactorEstimate:
        return FactorEstimate(
            float(self.value[position]),
            float(self.low[position]),
            float(self.high[position]),
            tuple(float(figure[position]) for figure in self.without),
            self.has_outlying,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorFit:
    """The estimates of one correlation matrix."""

    fit: PlsFit
    quality: Quality
    top: PlsFit | None = None  # of the layout two-stage: the construct above the abilities, and the anchor
    top_quality: Quality | None = None


@dataclass(frozen=True, kw_only=True)
class AnchorAgreement:
    """Correlations (Pearson) of scores of models with the human score."""

    in_sample: float  # of the weighted overall, with weights fitted to the same models
    cross_fitted: float  # with weights fitted to half of the models, on the other half; the mean of all halves
    plain: float  # of the plain mean of standardised scores, for which nothing is fitted
    p: float  # share of permuted human scores that agree as well, in sample
    halves: int  # fits to halves that the mean is of
    failed: int  # fits to halves or permuted scores that have no solution


@dataclass(frozen=True, kw_only=True, repr=False)
class FactorResult(NotebookResult):
    """A factor model with what its bootstrap replicates say of it.

    ``to_pandas()`` has a row for each figure. Its columns are ``figure`` (``loading``, ``weight``, ``vif``, ``r2``,
    ``alpha``, ``rho_a``, ``cr``, ``ave``, ``path``, ``htmt``, ``tc``, ``d_div``, ``d_valid`` or ``srmr``), ``of`` (a
    task or a construct; None for the benchmark), ``on`` (of a path the construct it leads to, of HTMT the other one),
    ``value``, ``low`` and ``high``.

    The figures are those of `PlsFit` and `Quality`, each with
    its interval: ``result.vif[0]`` is that of the first task, ``result.paths[0, 3]`` the effect of the first construct
    on the fourth. Intervals of VIF, R2, TC, D_valid and SRMR are corrected for bias; the others are percentiles of the
    replicates.
    """

    table: ScoreTable  # models with a score on every task of the model
    bound: BoundSpec
    correlations: Floats
    estimate: FactorFit  # of all models
    replicates: tuple[FactorFit | None, ...]  # None without a solution: a task did not vary, or two said the same
    weights: Floats  # replicates x models: how often each is drawn
    left_out: LeaveOuts  # the groups of models that are left out in turn
    left_out_fits: tuple[FactorFit | None, ...]  # without each of them
    seed: int
    next_command: Sequence[str] = ()  # writes the page

    @property
    def headline(self) -> str:
        """What was modelled."""
        abilities = pluralize(len(self.bound.abilities), "ability", "abilities")
        return f"{self.table.source}: {abilities}, {pluralize(len(self.table.models), 'model')}"

    @property
    def summary_table(self) -> Table:
        """Each task with its loading and VIF."""
        rows: list[list[TableCell]] = []
        for task, owner in zip(self.bound.tasks, self.bound.structure.owners, strict=True):
            number = len(rows)
            loading, vif = self.loadings[number], self.vif[number]
            rows.append(
                [
                    self.bound.constructs[owner],
                    task,
                    finite_number(loading.value),
                    finite_interval(loading.low, loading.high),
                    finite_number(vif.value, 2),
                    finite_interval(vif.low, vif.high, 2),
                ]
            )
        heads = ("Construct", "Task", "Loading", "95 % interval", "VIF", "95 % interval")
        return Table(title="Tasks", heads=heads, labels=2, rows=rows)

    def long_rows(self) -> Iterator[LongRow]:
        """Yield the figures of tasks, of constructs, of pairs of constructs, and of the benchmark."""
        for name, estimates in (("loading", self.loadings), ("weight", self.task_weights), ("vif", self.vif)):
            for number, task in enumerate(self.bound.tasks):
                yield _long_row(name, task, None, estimates[number])
        of_constructs = {"r2": self.r2, "alpha": self.alpha, "rho_a": self.rho_a, "cr": self.cr, "ave": self.ave}
        for name, estimates in of_constructs.items():
            for number, construct in enumerate(self.bound.constructs):
                yield _long_row(name, construct, None, estimates[number])
        for effect, causes in enumerate(self.bound.structure.causes):
            for cause in causes:
                names = self.bound.constructs[cause], self.bound.constructs[effect]
                yield _long_row("path", *names, self.paths[cause, effect])
        for a, b in combinations(self.bound.structure.abilities, 2):
            yield _long_row("htmt", self.bound.constructs[a], self.bound.constructs[b], self.htmt[a, b])
        for name in ("tc", "d_div", "d_valid", "srmr"):
            yield _long_row(name, None, None, getattr(self, name))

    @property
    def failed(self) -> int:
        """Replicates without a solution."""
        return self.replicates.count(None)

    @cached_property
    def reversed_tasks(self) -> list[str]:
        """Tasks that rank models the other way round than most."""
        rows = [row for ability in self.bound.structure.abilities for row in self.bound.structure.blocks[ability]]
        return [self.bound.tasks[row] for row in reversed_tasks(self.correlations, len(self.table.models), rows)]

    @cached_property
    def loadings(self) -> FactorEstimates:
        """Of each task."""
        return self._estimates(lambda estimate: estimate.fit.loadings)

    @cached_property
    def task_weights(self) -> FactorEstimates:
        """Of each task, in the composite of its construct."""
        return self._estimates(lambda estimate: estimate.fit.weights)

    @cached_property
    def overall_weights(self) -> FactorEstimates:
        """Of each task but the anchor, in the weighted overall."""
        return self._estimates(lambda estimate: overall_weights(estimate.fit, self.bound.structure))

    @cached_property
    def vif(self) -> FactorEstimates:
        """Of each task."""
        return self._estimates(lambda estimate: estimate.quality.vif, FROM_1)

    @cached_property
    def paths(self) -> FactorEstimates:
        """Of each pair of constructs, [j, k] the effect of j on k."""
        return self._estimates(lambda estimate: estimate.fit.paths)

    @cached_property
    def r2(self) -> FactorEstimates:
        """Of each construct."""
        return self._estimates(lambda estimate: estimate.fit.r2, EXPLAINED_VARIANCE)

    @cached_property
    def alpha(self) -> FactorEstimates:
        """Of each construct."""
        return self._estimates(lambda estimate: estimate.quality.alpha)

    @cached_property
    def rho_a(self) -> FactorEstimates:
        """Of each construct."""
        return self._estimates(lambda estimate: estimate.quality.rho_a)

    @cached_property
    def cr(self) -> FactorEstimates:
        """Of each construct."""
        return self._estimates(lambda estimate: estimate.quality.cr)

    @cached_property
    def ave(self) -> FactorEstimates:
        """Of each construct."""
        return self._estimates(lambda estimate: estimate.quality.ave)

    @cached_property
    def htmt(self) -> FactorEstimates:
        """Of each pair of constructs."""
        return self._estimates(lambda estimate: estimate.quality.htmt)

    @cached_property
    def htmt2(self) -> FactorEstimates:
        """Of each pair of constructs."""
        return self._estimates(lambda estimate: estimate.quality.htmt2)

    @cached_property
    def srmr(self) -> FactorEstimate:
        """Of these models, with what sampling adds."""
        return self._srmr[()]

    @cached_property
    def corrected_srmr(self) -> FactorEstimate:
        """Without what sampling adds; the interval is that of `srmr`, widened to hold the value."""
        value = corrected_srmr(self.srmr.value, self._srmr.replicates)
        without = tuple(value + other - self.srmr.value for other in self.srmr.without)
        low, high = min(self.srmr.low, value), max(self.srmr.high, value)
        return FactorEstimate(value, low, high, without, self.srmr.has_outlying)

    @cached_property
    def d_div(self) -> FactorEstimate:
        """Of the benchmark."""
        return self._estimates(lambda estimate: estimate.quality.d_div)[()]

    @cached_property
    def tc(self) -> FactorEstimate:
        """Of the benchmark."""
        return self._estimates(lambda estimate: estimate.quality.tc, CORRELATION)[()]

    @cached_property
    def d_valid(self) -> FactorEstimate:
        """Of the benchmark."""
        return self._estimates(lambda estimate: estimate.quality.d_valid, TO_1)[()]

    @cached_property
    def metric_sum(self) -> FactorEstimate:
        """D_div, TC and D_valid added up."""
        return self._estimates(_metric_sum, PLAIN)[()]

    @cached_property
    def second_order(self) -> FactorEstimates | None:
        """Loadings of the abilities on the construct above them, its effect on the anchor, R2 of that, CR, AVE."""
        return None if self.estimate.top is None else self._estimates(_second_order)

    @cached_property
    def overall_fit(self) -> OverallFit | None:
        """The test that the model fits; None where there is none."""
        if not np.isfinite(self.table.scores).all():
            return None
        return overall_fit(self.table.scores, self.bound.structure, self.bound.spec.scheme, self.weights)

    @cached_property
    def agreement(self) -> AnchorAgreement | None:
        """The agreement with the anchor; None without one."""
        if self.bound.spec.anchor is None:
            return None
        complete = self.table.complete_cases()  # a score that is expected by the others would agree too well
        if len(complete.models) < FEWEST_MODELS or (np.ptp(complete.scores, axis=0) == 0).any():
            return None
        return anchor_agreement(complete.scores, self.bound, seed=self.seed, groups=complete.groups)

    @cached_property
    def _srmr(self) -> FactorEstimates:
        return self._estimates(lambda estimate: estimate.quality.srmr, SQUARE)

    def _estimates(self, figure: Callable[[FactorFit], Floats | float], scale: Scale | None = None) -> FactorEstimates:
        values = np.asarray(figure(self.estimate))
        replicates = _of_each(figure, self.replicates, values)
        groups = self.table.groups
        families = None if groups is None else effective_families(np.bincount(groups))
        if scale is not None:
            longer = 1.0 if families is None else few_groups_factor(families)
            interval = corrected_interval(values, replicates, scale, longer=longer)
        elif families is not None:
            interval = expanded_interval(replicates, families)
        else:
            interval = percentile_interval(replicates)
        without = _of_each(figure, self.left_out_fits, values)
        return FactorEstimates(values, *interval, replicates, without, bool(self.left_out.outlying))


def _of_each(figure: Callable[[FactorFit], Floats | float], fits: Sequence[FactorFit | None], like: Floats) -> Floats:
    """Fits x the shape of a figure; NaN where there is no fit."""
    values = np.full((len(fits), *like.shape), np.nan)
    for number, fit in enumerate(fits):
        if fit is not None:
            values[number] = figure(fit)
    return values


def _metric_sum(estimate: FactorFit) -> float:
    measures = estimate.quality
    return measures.d_div + measures.tc + measures.d_valid


def _second_order(estimate: FactorFit) -> Floats:
    top, quality_of_top = estimate.top, estimate.top_quality
    assert top is not None and quality_of_top is not None
    figures = (top.paths[0, 1], top.r2[1], quality_of_top.cr[0], quality_of_top.ave[0])
    return np.concatenate([top.loadings[:-1], figures])


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


def fit_replicate(correlations: Floats, bound: BoundSpec) -> FactorFit | None:
    """Fit as `fit_correlations`; the figures of a task that does not vary are NaN, the others are without it."""
    part = without_constant_tasks(correlations, bound)
    estimate = None if part is None else fit_correlations(*part)
    if estimate is None or len(estimate.fit.loadings) == len(bound.tasks):
        return estimate
    varying, fit = varying_tasks(correlations), estimate.fit

    def spread(values: Floats) -> Floats:
        whole = np.full((len(varying), *values.shape[1:]), np.nan)
        whole[varying] = values
        return whole

    fit = replace(fit, weights=spread(fit.weights), loadings=spread(fit.loadings), cross=spread(fit.cross))
    return replace(estimate, fit=fit, quality=replace(estimate.quality, vif=spread(estimate.quality.vif)))


def fit_factors(
    table: ScoreTable,
    spec: FactorSpec,
    *,
    seed: int = 0,
    draws: int = 2000,
    progress: bool | ProgressListener = True,
) -> FactorResult:
    """Fit a specification to scores.

    Args:
        table: The scores. Where some are missing, correlations are estimated by EM, which a note says.
        spec: Abilities with their tasks, and the anchor.
        draws: Bootstrap replicates: how many times the models, or their families, are resampled.
        progress: Show the progress on the standard error or in a notebook; or who is told of it.

    Raises:
        AnalysisError: There are too few models, a task does not vary, tasks of an ability are collinear, or no
            solution is found.
    """
    from vcrgen.core.console_progress import open_progress  # which imports rich

    bound = bind(spec, table.tasks)
    used = table.select_tasks(bound.tasks).estimable_cases()
    require_fit(used, bound)
    correlations = correlation_matrix(used.scores)
    estimate = fit_correlations(correlations, bound)
    if estimate is None:
        raise AnalysisError(
            f"No solution was found for {used.source} (scheme {spec.scheme}, mode {spec.mode}): two abilities may say "
            "the same; put their tasks under one."
        )
    weights = model_weights(len(used.models), seed=seed, draws=draws, groups=used.groups)
    left_out = leave_outs(used.filled(), [bound.structure.blocks[ability] for ability in bound.structure.abilities])
    values = {"seed": seed, "resamples": draws}
    with open_progress(progress, doing="fitting", unit="resamples", kept="fitted") as listener:
        replicates = tuple(
            fit_replicate(r, bound) for r in counted(resampled_correlations(used.scores, weights), draws, listener)
        )
    return FactorResult(
        table=used,
        bound=bound,
        correlations=correlations,
        estimate=estimate,
        replicates=replicates,
        weights=weights,
        left_out=left_out,
        left_out_fits=tuple(fit_replicate(r, bound) for r in resampled_correlations(used.scores, left_out.weights)),
        seed=seed,
        next_command=page_command("factors", inputs_of(table, spec), FactorOptions, values, out="factors.html"),
    )


def require_fit(table: ScoreTable, bound: BoundSpec) -> None:
    """Refuse scores to which a specification cannot be fitted; says why in one sentence."""
    models = len(table.models)
    if models < FEWEST_MODELS:
        raise AnalysisError(
            f"{table.source}: {pluralize(models, 'model has', 'models have')} scores; a factor model "
            f"needs {FEWEST_MODELS} at least."
        )
    table.require_varied()
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


def overall_weights(fit: PlsFit, structure: Structure) -> Floats:
    """The weights of the tasks in the weighted overall, without the anchor.

    A weight is the loading times the effect of the ability; without an anchor all abilities weigh the same.
    """
    tasks = sum(len(structure.blocks[ability]) for ability in structure.abilities)
    loadings = fit.loadings[:tasks]  # the anchor is the last
    if structure.anchor is None:
        return loadings / len(structure.abilities)
    weights: Floats = loadings * fit.paths[structure.owners[:tasks], structure.anchor]
    return weights


def anchor_agreement(scores: Floats, bound: BoundSpec, *, seed: int, groups: Ints | None = None) -> AnchorAgreement:
    """Correlate the weighted overall with the anchor, in sample and cross-fitted on halves of the models.

    Example: 50 models, eleven tasks, and a human score that is nothing but noise. Weights that are fitted to it "agree"
    with it at r = .24 on average, because they follow the noise. Fitted on half of the models and compared on the other
    half, the same weights agree at .01 on average. So the figure to report is the cross-fitted one.

    Args:
        scores: Models x tasks in the order of ``bound.tasks``, none missing; the anchor is the last.
        bound: A specification with an anchor.
        seed: Of the halves and of the permutations.
        groups: Of each model the number of its family, which stays in one half.
    """
    correlations = correlation_matrix(scores)
    in_sample = _agreement(correlations, bound)
    halves = [_one_half(scores, bound, half) for half in split_halves(len(scores), seed=seed, groups=groups)]
    permuted = [_agreement(permutation, bound) for permutation in _permuted(scores, correlations, seed)]
    solved_halves = [r for r in halves if np.isfinite(r)]
    solved_permuted = [r for r in permuted if np.isfinite(r)]
    as_good = sum(r >= in_sample for r in solved_permuted)
    return AnchorAgreement(
        in_sample=in_sample,
        cross_fitted=float(np.mean(solved_halves)) if solved_halves else float("nan"),
        plain=pearson(standardise(scores[:, :-1]).mean(axis=1), scores[:, -1]),
        p=(1 + as_good) / (1 + len(solved_permuted)),
        halves=len(solved_halves),
        failed=len(halves) - len(solved_halves) + len(permuted) - len(solved_permuted),
    )


def split_halves(models: int, *, seed: int, groups: Ints | None = None, repeats: int = SPLITS) -> list[Bits]:
    """Halves of the models, or of their families, at random: of each repeat the first half and the second."""
    numbers = np.arange(models) if groups is None else groups
    count = int(numbers.max()) + 1
    halves: list[Bits] = []
    for repeat in range(repeats):
        rng = array_rng_for(seed, "split half", str(repeat))
        in_first = np.zeros(count, bool)
        in_first[rng.permutation(count)[: count // 2]] = True
        halves += [in_first[numbers], ~in_first[numbers]]
    return halves


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
        permuted = correlations.copy()
        permuted[-1, :-1] = permuted[:-1, -1] = rng.permutation(unit[:, -1]) @ unit[:, :-1] / len(scores)
        yield permuted
