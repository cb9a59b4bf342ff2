"""A factor model as a document."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vcrgen.analysis.anchor import AnchorAgreement, anchor_agreement, overall_weights
from vcrgen.analysis.charts import path_diagram
from vcrgen.analysis.correlations import MOST_FAILED, percentile_interval, standardise
from vcrgen.analysis.factors import FactorEstimate, FactorEstimates, FactorResult
from vcrgen.analysis.measured import COVERAGE, COVERAGE_MODELS, FEWEST_D_DIV, POWER_OF_FIT
from vcrgen.analysis.model_fit import OverallFit, corrected_srmr, overall_fit
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.analysis.spec import BoundSpec
from vcrgen.analysis.wording import CELL, between, errata_sections, few_models, figure, left_out, number, said
from vcrgen.core.rng import array_rng_for
from vcrgen.report.document import Chart, Document, Section
from vcrgen.report.table import Number, NumberInterval, Percent, Table, TableCell
from vcrgen.stats.arrays import Floats
from vcrgen.stats.ranking import ranks


def factors_document(
    result: FactorResult, *, settings: str, about: str = "", errata: Sequence[Sequence[str]] = (), private: bool = False
) -> Document:
    """A factor model with its tables and its path diagram.

    Args:
        result: The model.
        settings: With which options it was made.
        about: Where the data come from, if they ship with the package.
        errata: What the publication prints wrongly, the first row its heads.
        private: Whether it is made of the items of a hidden set.
    """
    bound, table = result.bound, result.table
    tasks = len(bound.tasks) - (bound.structure.anchor is not None)
    largest = max(map(len, bound.abilities.values()))
    lead = said(
        "factors",
        "lead",
        models=len(table.models),
        tasks=tasks,
        abilities=len(bound.abilities),
        spec=bound.spec,
        layout=bound.spec.layout or ("anchor" if bound.spec.anchor else "chain"),
        about=about,
    )
    tested = overall_fit(result.table.scores, bound.structure, bound.spec.scheme, result.weights)
    sections = [_model(result), _loadings(result), _reliability(result), _validity(result), _benchmark(result, tested)]
    if result.second_order is not None:
        sections.append(_top(bound, result.second_order))
    if bound.spec.anchor is not None:
        sections.append(_people(result))
    sections.append(_scores(result))
    return Document(
        title=f"Factor model of {table.source}",
        summary=_summary(result, tested),
        lead=lead[0],
        settings=settings,
        private=private,
        sections=sections + errata_sections(errata, about),
        warnings=[*few_models(len(table.models), largest), *table.notes],
        limitations=said("factors", "limitations", anchor=bound.spec.anchor is not None),
    )


def _summary(result: FactorResult, tested: OverallFit | None) -> list[str]:
    """Sentences on what to do by a factor model."""
    bound, limits, models = result.bound, result.bound.spec.limits, len(result.table.models)
    loadings, vif, htmt, abilities = result.loadings, result.vif, result.htmt, bound.structure.abilities
    rows = [row for k in abilities for row in bound.structure.blocks[k]]
    verdicts = {
        bound.tasks[row]: (loadings[row].verdict(least=limits.loading), vif[row].verdict(most=limits.vif))
        for row in rows
    }
    return said(
        "factors",
        "summary",
        limits=limits,
        models=models,
        tasks=len(rows),
        weak=[task for task, (loading, _) in verdicts.items() if loading == "failed"],
        copies=[task for task, (_, inflated) in verdicts.items() if inflated == "failed"],
        unsure=[task for task, both in verdicts.items() if "inconclusive" in both],
        nearest=_settling([loadings[row] for row in rows], limits.loading, models),
        same=[
            f"{bound.constructs[a]} and {bound.constructs[b]}"
            for a, b in itertools.combinations(abilities, 2)
            if htmt[a, b].verdict(most=limits.htmt) == "failed"
        ],
        tested=tested,
    )


def _settling(loadings: Sequence[FactorEstimate], limit: float, models: int) -> int:
    """Estimate the models that settle the clearest of the unsettled loadings, as widths fall by the root; 0 if none."""
    needed = [
        models * (((loading.high - loading.low) / 2) / abs(loading.value - limit)) ** 2
        for loading in loadings
        if loading.low <= limit <= loading.high and abs(loading.value - limit) > 1e-6
    ]
    return int(np.ceil(min(needed, default=0.0) / 10)) * 10


def _model(result: FactorResult) -> Section:
    bound, structure = result.bound, result.bound.structure
    pairs = [(cause, effect) for effect, causes in enumerate(structure.causes) for cause in causes]
    paths, explained = result.paths, result.r2
    effects = [k for k, causes in enumerate(structure.causes) if causes]
    rows: list[list[TableCell]] = [
        [bound.constructs[cause], bound.constructs[effect], *figure(paths[cause, effect])] for cause, effect in pairs
    ]
    effects_table = Table(title="Paths", heads=["From", "To", "Effect", "95 % interval"], labels=2, rows=rows)
    r2 = Table(
        title="Explained variance",
        heads=["Construct", "R2", "95 % interval"],
        labels=1,
        rows=[[bound.constructs[k], *figure(explained[k])] for k in effects],
    )
    loadings = result.estimate.fit.loadings.tolist()
    drawing = Chart(
        title="Tasks with their loadings, abilities, and the effects between them",
        svg=path_diagram(bound, loadings, [(cause, effect, paths[cause, effect]) for cause, effect in pairs]),
    )
    draws = len(result.weights)
    units = f"{len(set(result.table.families))} families of models" if result.table.families else "models"
    resampled = said(
        "shared",
        "resamples",
        draws=draws,
        units=units,
        failed=result.failed,
        no_interval=result.failed > MOST_FAILED * draws,
    )
    return Section(
        title="Model",
        text=[*resampled, *said("factors", "model")],
        charts=[drawing],
        tables=[effects_table, r2],
        details=[_coverage()],
    )


def _coverage() -> Table:
    """Table of the measured coverage of the intervals."""
    heads = ["Statistic", *(f"{models} models" for models in COVERAGE_MODELS)]
    rows: list[list[TableCell]] = [[name, *(Percent(share, 1) for share in row)] for name, row in COVERAGE.items()]
    return Table(title="Coverage of 95 % intervals in simulations, %", heads=heads, labels=1, rows=rows)


def _loadings(result: FactorResult) -> Section:
    bound, limits = result.bound, result.bound.spec.limits
    loadings, vif, weights = result.loadings, result.vif, result.task_weights
    rows: list[list[TableCell]] = []
    for k in bound.structure.abilities:
        for i in bound.structure.blocks[k]:
            rows.append(
                [
                    bound.constructs[k],
                    bound.tasks[i],
                    *figure(loadings[i]),
                    loadings[i].verdict(least=limits.loading),
                    *figure(vif[i], 2),
                    vif[i].verdict(most=limits.vif),
                ]
            )
    least, most = f"At least {limits.loading:g}", f"At most {limits.vif:g}"
    heads = ["Ability", "Task", "Loading", "95 % interval", least, "VIF", "95 % interval", most]
    table = Table(title="Loadings and redundancy of tasks", heads=heads, labels=2, rows=rows, breaks=(5,))
    cross = Table(
        title="Cross-loadings",
        heads=["Task", *bound.constructs],
        labels=1,
        rows=[
            [task, *(Number(float(value), CELL) for value in result.estimate.fit.cross[i])]
            for i, task in enumerate(bound.tasks)
        ],
    )
    outer = Table(
        title="Outer weights",
        heads=["Ability", "Task", "Weight", "95 % interval"],
        labels=2,
        rows=[
            [bound.constructs[k], bound.tasks[i], *figure(weights[i])]
            for k in bound.structure.abilities
            for i in bound.structure.blocks[k]
        ],
    )
    return Section(title="Tasks", text=said("factors", "tasks"), tables=[table], details=[outer, cross])


def _reliability(result: FactorResult) -> Section:
    bound, limits = result.bound, result.bound.spec.limits
    rows: list[list[TableCell]] = []
    figures = (
        ("alpha", result.alpha, limits.alpha),
        ("rho_A", result.rho_a, limits.alpha),
        ("CR", result.cr, limits.alpha),
        ("AVE", result.ave, limits.ave),
    )
    for k in bound.structure.abilities:
        if len(bound.structure.blocks[k]) == 1:
            rows.append([bound.constructs[k], "one task: not defined", None, None, None])
            continue
        for name, estimates, limit in figures:
            verdict = f"{estimates[k].verdict(least=limit)} (at least {limit:g})"
            rows.append([bound.constructs[k], name, *figure(estimates[k]), verdict])
    table = Table(
        title="Reliability and convergence",
        labels=2,
        rows=rows,
        heads=["Ability", "Statistic", "Value", "95 % interval", "Limit"],
    )
    return Section(title="Abilities", text=said("factors", "abilities"), tables=[table])


def _validity(result: FactorResult) -> Section:
    bound, limit = result.bound, result.bound.spec.limits.htmt
    size = len(bound.constructs)
    pairs = [(a, b) for a in range(size) for b in range(a + 1, size)]
    rows: list[list[TableCell]] = []
    figures = (
        ("HTMT", result.htmt, result.draws(lambda estimate: estimate.quality.htmt)),
        ("HTMT2", result.htmt2, result.draws(lambda estimate: estimate.quality.htmt2)),
    )
    for name, estimates, draws in figures:
        _, above = percentile_interval(draws, high=95.0)
        for a, b in pairs:
            estimate = estimates[a, b]
            ends = (*figure(estimate), number(float(above[a, b])))
            rows.append([bound.constructs[a], bound.constructs[b], name, *ends, estimate.verdict(most=limit)])
    heads = ["Construct", "With", "Statistic", "Value", "95 % interval", "Upper bound", f"At most {limit:g}"]
    table = Table(title="HTMT", heads=heads, labels=3, rows=rows)
    return Section(title="Discriminant validity", text=said("factors", "validity"), tables=[table])


def _benchmark(result: FactorResult, tested: OverallFit | None) -> Section:
    limit = result.bound.spec.limits.srmr
    plain = result.srmr
    value = corrected_srmr(plain.value, result.draws(lambda estimate: estimate.quality.srmr))
    srmr = replace(plain, value=value, low=min(plain.low, value), high=max(plain.high, value))
    rows: list[list[TableCell]] = [
        ["SRMR of these models", number(plain.value), None, None],
        ["SRMR, corrected", *figure(srmr), f"{srmr.verdict(most=limit)} (at most {limit:g})"],
    ]
    for name, estimate in (("D_div", result.d_div), ("TC", result.tc), ("D_valid", result.d_valid)):
        if name == "D_div" and len(result.table.models) < FEWEST_D_DIV:
            rows.append([name, number(estimate.value), None, "higher is better"])
        else:
            rows.append([name, *figure(estimate), "higher is better"])
    table = Table(
        title="The benchmark as a whole", heads=["Statistic", "Value", "95 % interval", "Limit"], labels=1, rows=rows
    )
    text = said(
        "factors",
        "benchmark",
        tested=tested,
        draws=len(result.weights),
        power=POWER_OF_FIT,
        models=len(result.table.models),
        fewest_d_div=FEWEST_D_DIV,
    )
    return Section(title="Benchmark", text=text, tables=[table])


def _top(bound: BoundSpec, estimates: FactorEstimates) -> Section:
    """Section of the second-order construct of the layout two-stage."""
    names = (f"Loading of {name}" for name in bound.abilities)
    labels = [*names, "Effect on the anchor", "R2 of the anchor", "CR", "AVE"]
    rows = [[label, *figure(estimates[place])] for place, label in enumerate(labels)]
    table = Table(title="Second-order construct", heads=["Statistic", "Value", "95 % interval"], labels=1, rows=rows)
    return Section(title="Second-order construct", text=said("factors", "top"), tables=[table])


def _people(result: FactorResult) -> Section:
    agreement: AnchorAgreement = anchor_agreement(
        result.table.scores, result.bound, seed=result.seed, groups=result.table.groups
    )
    rows: list[list[TableCell]] = [
        ["Weighted overall, cross-fitted", number(agreement.cross_fitted)],
        ["Plain mean of standardised scores", number(agreement.plain)],
        ["Weighted overall, in sample", number(agreement.in_sample)],
        ["p of the agreement in sample (permuted)", Number(agreement.p, CELL)],
    ]
    table = Table(title="Agreement with the anchor", heads=["Score", "r"], labels=1, rows=rows)
    text = said("factors", "people", halves=agreement.halves)
    text += left_out(agreement.failed, "halves or permuted anchors")
    return Section(title="Agreement with people", text=text, tables=[table])


def _scores(result: FactorResult) -> Section:
    """The models by the weighted overall and by the plain mean, with intervals of scores and ranks."""
    bound, table = result.bound, result.table
    tasks = [task for task in bound.tasks if task != bound.spec.anchor]
    used = table.select_tasks(tasks)
    unit = standardise(used.scores)
    weights = overall_weights(result.estimate.fit, bound.structure)
    drawn = result.draws(lambda estimate: overall_weights(estimate.fit, bound.structure))
    per_draw = _unit(drawn @ unit.T + _noise(used, drawn, result.seed))
    overall = _unit(unit @ weights)
    low, high = percentile_interval(per_draw)
    finite = np.isfinite(per_draw).all(axis=1)
    places = ranks(per_draw[finite]) if finite.any() else np.empty((0, len(overall)))
    rank, plain = ranks(overall), ranks(unit.mean(axis=1))
    rows: list[list[TableCell]] = []
    for i in np.lexsort((np.arange(len(rank)), rank)).tolist():
        reach = np.percentile(places[:, i], [2.5, 97.5]) if finite.mean() >= 0.95 else None
        rows.append(
            [
                table.models[i],
                int(rank[i]),
                NumberInterval(float(reach[0]), float(reach[1]), 0) if reach is not None else None,
                Number(float(overall[i]), 2),
                between(float(low[i]), float(high[i]), 2),
                int(plain[i]),
                Number(float(used.scores[i].mean()), 2),
                Number(float(used.scores[i] @ weights), 1),
            ]
        )
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
    text = said("factors", "models", errors=used.errors is not None)
    return Section(
        title="Models", text=text, tables=[Table(title="Models", heads=heads, labels=1, rows=rows, breaks=(5,))]
    )


def _unit(values: Floats) -> Floats:
    spread = values.std(axis=-1, keepdims=True)
    z_scores: Floats = (values - values.mean(axis=-1, keepdims=True)) / np.where(spread > 0, spread, 1)
    return z_scores


def _noise(table: ScoreTable, weights: Floats, seed: int) -> Floats:
    """Resamples x models: sampling noise of the weighted sum of standardised scores, as far as it is known."""
    if table.errors is None:
        return np.zeros((len(weights), len(table.models)))
    spread = table.scores.std(axis=0)
    scale = np.where(np.isfinite(table.errors), table.errors, 0) / np.where(spread > 0, spread, 1)
    rng = array_rng_for(seed, "sampling noise", "scores")
    noise: Floats = rng.standard_normal((len(weights), len(scale))) * np.sqrt(weights**2 @ (scale**2).T)
    return noise
