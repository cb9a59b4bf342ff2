"""A factor model as a document."""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vcrgen.analysis.charts import path_diagram
from vcrgen.analysis.correlations import ranks, standardise
from vcrgen.analysis.factors import FactorEstimate, FactorEstimates, FactorResult
from vcrgen.analysis.families import families_section, few_families
from vcrgen.analysis.influence import MOST_DECIDING
from vcrgen.analysis.measured import COVERAGE, COVERAGE_MODELS, FEWEST_D_DIV, POWER_OF_FIT
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.signs import lower_is_better_options
from vcrgen.core.rng import array_rng_for
from vcrgen.report.document import Chart, Document, Section
from vcrgen.report.table import Number, Percent, Table, TableCell, finite_interval, finite_number
from vcrgen.report.templating import Sentences
from vcrgen.stats.arrays import Floats
from vcrgen.stats.bootstrap import MOST_FAILED, percentile_interval

TEXTS = Sentences("vcrgen.analysis", "factors.j2")


def factors_document(
    result: FactorResult, *, settings: str, about: str = "", more: Sequence[Section] = (), private: bool = False
) -> Document:
    """Report a factor model.

    Args:
        settings: With which options it was made.
        about: Where the data come from, if they ship with the package.
        more: Sections that stand at the end.
        private: Whether it is made of the items of a hidden set.
    """
    bound, table = result.bound, result.table
    sections = [_model(result), _tasks(result), _reliability(result), _validity(result), _benchmark(result)]
    if result.second_order is not None:
        sections.append(_second_order(result, result.second_order))
    if result.agreement is not None:
        sections.append(_people(result))
    sections += [_influence(result), _scores(result), *families_section(table.models, table.families)]
    (lead,) = TEXTS.paragraphs(
        "lead",
        models=len(table.models),
        tasks=_tasks_of_abilities(result),
        abilities=len(bound.abilities),
        spec=bound.spec,
        layout=bound.spec.layout or ("anchor" if bound.spec.anchor else "chain"),
        about=about,
    )
    largest = max(map(len, bound.abilities.values()))
    return Document(
        title=f"Factor model of {table.source}",
        summary=_summary(result),
        lead=lead,
        settings=settings,
        private=private,
        sections=[*sections, *more],
        warnings=[
            *TEXTS.paragraphs("warnings", models=len(table.models), largest=largest),
            *few_families(table.families),
            *table.notes,
        ],
        limitations=TEXTS.paragraphs("limitations", anchor=bound.spec.anchor),
    )


def _tasks_of_abilities(result: FactorResult) -> int:
    return sum(map(len, result.bound.abilities.values()))


def _summary(result: FactorResult) -> list[str]:
    """What to do by a factor model."""
    bound, limits = result.bound, result.bound.spec.limits
    tasks = [row for row in range(_tasks_of_abilities(result)) if bound.tasks[row] not in result.reversed_tasks]
    loadings = {bound.tasks[row]: result.loadings[row].verdict(least=limits.loading) for row in tasks}
    vifs = {bound.tasks[row]: result.vif[row].verdict(most=limits.vif) for row in tasks}
    copies = [[task for task in names if vifs.get(task) == "failed"] for names in bound.abilities.values()]
    return TEXTS.paragraphs(
        "summary",
        reversed=result.reversed_tasks,
        options=lower_is_better_options(result.reversed_tasks),
        limits=limits,
        weak=[task for task, verdict in loadings.items() if verdict == "failed"],
        copies=[names for names in copies if names],
        alone=[names[0] for names in bound.abilities.values() if len(names) == 1],
        tasks=_tasks_of_abilities(result),
        unsure=[task for task in loadings if "inconclusive" in (loadings[task], vifs[task])],
        hanging=list(dict.fromkeys(hanging.name for hanging in _hanging(result))),
        on=_deciding(result),
        same=[
            f"{bound.constructs[a]} and {bound.constructs[b]}"
            for a, b in itertools.combinations(bound.structure.abilities, 2)
            if result.htmt[a, b].verdict(most=limits.htmt) == "failed"
        ],
        test=result.overall_fit,
    )


@dataclass(frozen=True, slots=True)
class _Hanging:
    """A verdict that some models decide."""

    name: str  # of the task or of the pair of abilities
    figure: str
    groups: list[int]  # numbers of the groups of models


def _hanging(result: FactorResult) -> list[_Hanging]:
    bound, limits = result.bound, result.bound.spec.limits
    hanging = []
    for row in range(_tasks_of_abilities(result)):
        loading, vif = result.loadings[row], result.vif[row]
        hanging.append(_Hanging(bound.tasks[row], "loading", loading.hangs_on(least=limits.loading)))
        hanging.append(_Hanging(bound.tasks[row], "VIF", vif.hangs_on(most=limits.vif)))
    for a, b in itertools.combinations(bound.structure.abilities, 2):
        name = f"{bound.constructs[a]} and {bound.constructs[b]}"
        hanging.append(_Hanging(name, "HTMT", result.htmt[a, b].hangs_on(most=limits.htmt)))
    return [verdict for verdict in hanging if verdict.groups]


def _deciding(result: FactorResult) -> list[str]:
    """The groups of models on which most verdicts hang."""
    numbers = Counter(number for verdict in _hanging(result) for number in verdict.groups)
    return [result.left_out.groups[number].label for number, _ in numbers.most_common(MOST_DECIDING)]


def _influence(result: FactorResult) -> Section:
    """What single models, families and outlying models decide."""
    groups, outlying = result.left_out.groups, result.left_out.outlying
    rows: list[list[TableCell]] = [
        [verdict.name, verdict.figure, "; ".join(groups[number].label for number in verdict.groups)]
        for verdict in _hanging(result)
    ]
    tables = []
    if rows:
        heads = ["Of", "Figure", "Models"]
        tables.append(Table(title="Verdicts that hang on a few models", heads=heads, labels=3, rows=rows))
    if outlying:
        cells: list[list[TableCell]] = []
        for row in range(_tasks_of_abilities(result)):
            loading, vif = result.loadings[row], result.vif[row]
            figures = (
                *map(finite_number, (loading.value, loading.without[0])),
                *(finite_number(value, 2) for value in (vif.value, vif.without[0])),
            )
            cells.append([result.bound.tasks[row], *figures])
        heads = ["Task", "Loading", "Loading without them", "VIF", "VIF without them"]
        tables.append(Table(title="With and without outlying models", heads=heads, labels=1, rows=cells))
    text = TEXTS.paragraphs("influence", outlying=list(outlying), groups=len(groups), hanging=rows)
    return Section(title="Influence of single models", text=text, tables=tables)


def _figure(estimate: FactorEstimate, decimals: int = 3) -> tuple[TableCell, TableCell]:
    """A figure and its interval as cells."""
    return finite_number(estimate.value, decimals), finite_interval(estimate.low, estimate.high, decimals)


def _model(result: FactorResult) -> Section:
    bound, structure = result.bound, result.bound.structure
    paths = [(cause, effect) for effect, causes in enumerate(structure.causes) for cause in causes]
    explained = [construct for construct, causes in enumerate(structure.causes) if causes]
    drawing = path_diagram(
        bound,
        result.loadings.value.tolist(),
        [(cause, effect, result.paths[cause, effect]) for cause, effect in paths],
    )
    families = result.table.families
    return Section(
        title="Model",
        text=TEXTS.paragraphs(
            "model",
            draws=len(result.weights),
            families=len(set(families)) if families else 0,
            failed=result.failed,
            no_interval=result.failed > MOST_FAILED * len(result.weights),
        ),
        charts=[Chart(title="Tasks with their loadings, abilities, and the effects between them", svg=drawing)],
        tables=[
            Table(
                title="Paths",
                heads=["From", "To", "Effect", "95 % interval"],
                labels=2,
                rows=[
                    [bound.constructs[cause], bound.constructs[effect], *_figure(result.paths[cause, effect])]
                    for cause, effect in paths
                ],
            ),
            Table(
                title="Explained variance",
                heads=["Construct", "R2", "95 % interval"],
                labels=1,
                rows=[[bound.constructs[construct], *_figure(result.r2[construct])] for construct in explained],
            ),
        ],
        details=[
            Table(
                title="Coverage of 95 % intervals in simulations, %",
                heads=["Statistic", *(f"{models} models" for models in COVERAGE_MODELS)],
                labels=1,
                rows=[[name, *(Percent(share, 1) for share in shares)] for name, shares in COVERAGE.items()],
            )
        ],
    )


def _tasks(result: FactorResult) -> Section:
    bound, limits = result.bound, result.bound.spec.limits
    names = [(ability, task) for ability, tasks in bound.abilities.items() for task in tasks]
    rows: list[list[TableCell]] = []
    for number, (ability, task) in enumerate(names):
        loading, vif = result.loadings[number], result.vif[number]
        verdicts = loading.verdict(least=limits.loading), vif.verdict(most=limits.vif)
        rows.append([ability, task, *_figure(loading), verdicts[0], *_figure(vif, 2), verdicts[1]])
    least, most = f"At least {limits.loading:g}", f"At most {limits.vif:g}"
    heads = ["Ability", "Task", "Loading", "95 % interval", least, "VIF", "95 % interval", most]
    cross_loadings = Table(
        title="Cross-loadings",
        heads=["Task", *bound.constructs],
        labels=1,
        rows=[
            [task, *map(finite_number, result.estimate.fit.cross[number])] for number, task in enumerate(bound.tasks)
        ],
    )
    weights = Table(
        title="Outer weights",
        heads=["Ability", "Task", "Weight", "95 % interval"],
        labels=2,
        rows=[[*name, *_figure(result.task_weights[number])] for number, name in enumerate(names)],
    )
    return Section(
        title="Tasks",
        text=TEXTS.paragraphs("tasks"),
        tables=[Table(title="Loadings and redundancy of tasks", heads=heads, labels=2, rows=rows, breaks=(5,))],
        details=[weights, cross_loadings],
    )


def _reliability(result: FactorResult) -> Section:
    bound, limits = result.bound, result.bound.spec.limits
    statistics = (
        ("alpha", result.alpha, limits.alpha),
        ("rho_A", result.rho_a, limits.alpha),
        ("CR", result.cr, limits.alpha),
        ("AVE", result.ave, limits.ave),
    )
    rows: list[list[TableCell]] = []
    for number, (ability, tasks) in enumerate(bound.abilities.items()):
        if len(tasks) == 1:
            rows.append([ability, "one task: not defined", None, None, None])
            continue
        for name, estimates, limit in statistics:
            estimate = estimates[number]
            rows.append([ability, name, *_figure(estimate), f"{estimate.verdict(least=limit)} (at least {limit:g})"])
    heads = ["Ability", "Statistic", "Value", "95 % interval", "Limit"]
    table = Table(title="Reliability and convergence", heads=heads, labels=2, rows=rows)
    return Section(title="Abilities", text=TEXTS.paragraphs("abilities"), tables=[table])


def _validity(result: FactorResult) -> Section:
    constructs, limit = result.bound.constructs, result.bound.spec.limits.htmt
    rows: list[list[TableCell]] = []
    for name, estimates in (("HTMT", result.htmt), ("HTMT2", result.htmt2)):
        _, upper = percentile_interval(estimates.replicates, high=95.0)
        for a, b in itertools.combinations(range(len(constructs)), 2):
            estimate = estimates[a, b]
            figures = *_figure(estimate), finite_number(upper[a, b])
            rows.append([constructs[a], constructs[b], name, *figures, estimate.verdict(most=limit)])
    heads = ["Construct", "With", "Statistic", "Value", "95 % interval", "Upper bound", f"At most {limit:g}"]
    table = Table(title="HTMT", heads=heads, labels=3, rows=rows)
    return Section(title="Discriminant validity", text=TEXTS.paragraphs("validity"), tables=[table])


def _benchmark(result: FactorResult) -> Section:
    models, srmr, limit = len(result.table.models), result.corrected_srmr, result.bound.spec.limits.srmr
    rows: list[list[TableCell]] = [
        ["SRMR of these models", finite_number(result.srmr.value), None, None],
        ["SRMR, corrected", *_figure(srmr), f"{srmr.verdict(most=limit)} (at most {limit:g})"],
    ]
    for name, estimate in (("D_div", result.d_div), ("TC", result.tc), ("D_valid", result.d_valid)):
        value, interval = _figure(estimate)
        rows.append([name, value, None if name == "D_div" and models < FEWEST_D_DIV else interval, "higher is better"])
    heads = ["Statistic", "Value", "95 % interval", "Limit"]
    text = TEXTS.paragraphs(
        "benchmark",
        test=result.overall_fit,
        draws=len(result.weights),
        power=POWER_OF_FIT,
        models=models,
        fewest_d_div=FEWEST_D_DIV,
    )
    table = Table(title="The benchmark as a whole", heads=heads, labels=1, rows=rows)
    return Section(title="Benchmark", text=text, tables=[table])


def _second_order(result: FactorResult, estimates: FactorEstimates) -> Section:
    """Section of the construct above the abilities, in the layout two-stage."""
    loadings = (f"Loading of {ability}" for ability in result.bound.abilities)
    labels = [*loadings, "Effect on the anchor", "R2 of the anchor", "CR", "AVE"]
    rows = [[label, *_figure(estimates[position])] for position, label in enumerate(labels)]
    title = "Second-order construct"
    table = Table(title=title, heads=["Statistic", "Value", "95 % interval"], labels=1, rows=rows)
    return Section(title=title, text=TEXTS.paragraphs("second_order"), tables=[table])


def _people(result: FactorResult) -> Section:
    agreement = result.agreement
    assert agreement is not None
    rows: list[list[TableCell]] = [
        ["Weighted overall, cross-fitted", finite_number(agreement.cross_fitted)],
        ["Plain mean of standardised scores", finite_number(agreement.plain)],
        ["Weighted overall, in sample", finite_number(agreement.in_sample)],
        ["p of the agreement in sample (permuted)", finite_number(agreement.p)],
    ]
    table = Table(title="Agreement with the anchor", heads=["Score", "r"], labels=1, rows=rows)
    text = TEXTS.paragraphs("people", agreement=agreement)
    return Section(title="Agreement with people", text=text, tables=[table])


def _scores(result: FactorResult) -> Section:
    """The models by the weighted overall and by the plain mean, with intervals of scores and ranks."""
    table = result.table.filled().select_tasks(
        [task for task in result.bound.tasks if task != result.bound.spec.anchor]
    )
    unit, weights = standardise(table.scores), result.overall_weights
    overall = _standardise_models(unit @ weights.value)
    # A task that does not vary in a replicate has no weight there; a replicate without a solution has none at all.
    solved_at_all = np.isfinite(weights.replicates).any(axis=1, keepdims=True)
    drawn = np.where(solved_at_all, np.nan_to_num(weights.replicates), np.nan)
    replicates = _standardise_models(drawn @ unit.T + _sampling_noise(table, drawn, result.seed))
    low, high = percentile_interval(replicates)
    solved = replicates[np.isfinite(replicates).all(axis=1)]
    no_ranks = len(solved) < (1 - MOST_FAILED) * len(replicates)
    rank_ends = np.full((2, len(overall)), np.nan) if no_ranks else np.percentile(ranks(solved), [2.5, 97.5], axis=0)
    rank, plain_rank = ranks(overall), ranks(unit.mean(axis=1))
    rows: list[list[TableCell]] = [
        [
            table.models[model],
            int(rank[model]),
            finite_interval(rank_ends[0, model], rank_ends[1, model], 0),
            Number(float(overall[model]), 2),
            finite_interval(low[model], high[model], 2),
            int(plain_rank[model]),
            Number(float(table.scores[model].mean()), 2),
            Number(float(table.scores[model] @ weights.value), 1),
        ]
        for model in np.argsort(rank, kind="stable").tolist()
    ]
    heads = [
        "Model",
        "Rank",
        "Ranks, 95 %",
        "Weighted overall",
        "95 % interval",
        "Rank by mean",
        "Mean",
        "Weighted sum",
    ]
    filled = int((~np.isfinite(result.table.select_tasks(table.tasks).scores)).sum())
    text = TEXTS.paragraphs("models", errors=table.errors is not None, filled=filled)
    models = Table(title="Models", heads=heads, labels=1, rows=rows, breaks=(5,))
    return Section(title="Models", text=text, tables=[models])


def _standardise_models(values: Floats) -> Floats:
    """Scores with mean 0 and variance 1 over the models, which are the last axis."""
    sd = values.std(axis=-1, keepdims=True)
    z_scores: Floats = (values - values.mean(axis=-1, keepdims=True)) / np.where(sd > 0, sd, 1)
    return z_scores


def _sampling_noise(table: ScoreTable, weights: Floats, seed: int) -> Floats:
    """Replicates x models: sampling noise of the weighted sum of standardised scores, as far as errors are known."""
    if table.errors is None:
        return np.zeros((len(weights), len(table.models)))
    sd = table.scores.std(axis=0)
    errors = np.where(np.isfinite(table.errors), table.errors, 0) / np.where(sd > 0, sd, 1)
    rng = array_rng_for(seed, "sampling noise", "scores")
    noise: Floats = rng.standard_normal((len(weights), len(errors))) * np.sqrt(weights**2 @ (errors**2).T)
    return noise
