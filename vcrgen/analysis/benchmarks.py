"""Benchmarks side by side: D_div, TC, D_valid and their agreement with an outside score, over the same models.

Example: GOLD and two others with a human score of 165 models, as in Figures 8 and 9 of the GOLD paper. Every benchmark
is measured on the models that all of them have, and resamples of the models are the same for all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vcrgen.analysis.correlations import correlation_matrix, resampled_correlations, standardise
from vcrgen.analysis.costly_tasks import costly_tasks
from vcrgen.analysis.factors import FEWEST_MODELS, FactorEstimate, FactorResult, fit_factors
from vcrgen.analysis.options import BenchmarkOptions
from vcrgen.analysis.page_command import page_command
from vcrgen.analysis.published_table import plain
from vcrgen.analysis.score_table import Columns, ScoreTable, option_words, read_heads, read_scores, turn_around
from vcrgen.analysis.spec import FactorSpec, bind, read_spec
from vcrgen.analysis.votes import with_anchor
from vcrgen.core.errors import AnalysisError
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import ProgressListener, counted
from vcrgen.report.notebook import LongRow, NotebookResult
from vcrgen.report.table import Table, TableCell, finite_interval, finite_number
from vcrgen.report.templating import named
from vcrgen.stats.arrays import Floats
from vcrgen.stats.bootstrap import percentile_interval

MAX_BENCHMARKS = 12
METRICS = ("d_div", "tc", "d_valid", "sum")
ALL_TASKS = "All tasks"  # the ability of a benchmark without a specification


class Benchmark(NamedTuple):
    """A table of scores with its abilities; without a specification all tasks are one ability."""

    table: ScoreTable
    spec: FactorSpec | None = None


class AgreementDifference(NamedTuple):
    """How much better the first benchmark agrees with the anchor than the second: a difference of Pearson's r."""

    first: int
    second: int
    estimate: FactorEstimate


@dataclass(frozen=True, kw_only=True, repr=False)
class BenchmarkComparison(NotebookResult):
    """Benchmarks side by side.

    ``to_pandas()`` has a row for each figure. Its columns are ``benchmark``, ``tasks``, ``figure`` (``d_div``, ``tc``,
    ``d_valid``, ``sum``, or ``anchor_r`` for Pearson's r of the mean with the anchor), ``value``, ``low`` and ``high``.
    """

    names: tuple[str, ...]
    anchor: str
    fits: tuple[FactorResult, ...]  # of the same models
    agreement: tuple[FactorEstimate, ...]  # Pearson's r of the mean of standardised scores with the anchor
    differences: tuple[AgreementDifference, ...]
    next_command: Sequence[str] = ()  # writes the page

    @property
    def models(self) -> int:
        """The number of common models."""
        return len(self.fits[0].table.models)

    def tasks(self, number: int) -> int:
        """The number of tasks of a benchmark."""
        return sum(map(len, self.fits[number].bound.abilities.values()))

    def metrics(self, number: int) -> dict[str, FactorEstimate]:
        """The metrics of a benchmark; NaN for D_div, and so the sum, of one ability."""
        fit = self.fits[number]
        return {"d_div": fit.d_div, "tc": fit.tc, "d_valid": fit.d_valid, "sum": fit.metric_sum}

    @property
    def headline(self) -> str:
        """What is compared."""
        return f"{', '.join(self.names)}: {pluralize(self.models, 'model')}, anchor {self.anchor}"

    @property
    def summary_table(self) -> Table:
        """The metrics of each benchmark, and its agreement with the anchor."""
        rows: list[list[TableCell]] = []
        for number, name in enumerate(self.names):
            cells: list[TableCell] = [name, self.tasks(number)]
            for estimate in (*self.metrics(number).values(), self.agreement[number]):
                cells += [finite_number(estimate.value), finite_interval(estimate.low, estimate.high)]
            rows.append(cells)
        heads = ["Benchmark", "Tasks"]
        for name in ("D_div", "TC", "D_valid", "Sum", f"r with {self.anchor}"):
            heads += [name, "95 % interval"]
        return Table(title="Benchmarks", heads=heads, labels=1, rows=rows, breaks=(4, 6, 8, 10))

    def long_rows(self) -> Iterator[LongRow]:
        """Yield the figures, benchmark by benchmark."""
        for number, name in enumerate(self.names):
            for figure, estimate in {**self.metrics(number), "anchor_r": self.agreement[number]}.items():
                ends = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
                yield {"benchmark": name, "tasks": self.tasks(number), "figure": figure, **ends}


def read_benchmarks(
    files: Sequence[Path],
    specs: Sequence[Path] = (),
    *,
    lower_is_better: Sequence[str] = (),
    columns: Columns | None = None,
    families: bool = True,
    private: bool = False,
) -> list[Benchmark]:
    """Read a table of each benchmark; what names a column or a task is said of each table that has it.

    Args:
        lower_is_better: As for `read_scores`, and so the others.
        columns: Which columns name the models, are tasks, are none.
        private: Whether saved scores of a hidden set are read.

    Raises:
        AnalysisError: As `read_scores`, no table has a column or a task, or specifications are missing.
    """
    if specs and len(specs) != len(files):
        raise AnalysisError(
            f"There are {pluralize(len(files), 'table')} and {pluralize(len(specs), 'specification')}; give one --spec "
            "for each table, in their order, or none."
        )
    columns = columns or Columns()
    abilities = [read_spec(file).without(columns.ignore) for file in specs] if specs else [None] * len(files)
    heads = [read_heads(file) for file in files]
    ignore = [str(plain(name)) for name in columns.ignore]
    _require_known("--ignore", ignore, "column", heads, files)
    _require_known("--models", [columns.models] if columns.models else [], "column", heads, files)
    tables = [
        read_scores(
            [file],
            columns=Columns(
                models=columns.models if columns.models in own else None,
                ignore=[name for name in ignore if name in own],
                keep=columns.keep,
                tasks=[*columns.tasks, *(spec.task_names if spec else ())],
            ),
            families=families,
            private=private,
        )
        for file, own, spec in zip(files, heads, abilities, strict=True)
    ]
    _require_known("--lower-is-better", lower_is_better, "task", [table.tasks for table in tables], files)
    words = option_words(columns, lower_is_better, families=families, private=private)
    return [
        Benchmark(
            replace(
                turn_around(table, [task for task in lower_is_better if task in table.tasks]),
                inputs=(str(file), *words),
            ),
            spec,
        )
        for file, table, spec in zip(files, tables, abilities, strict=True)
    ]


def _require_known(
    option: str, names: Sequence[str], what: str, of_tables: Sequence[Sequence[str]], files: Sequence[Path]
) -> None:
    """Refuse names of columns or tasks that no table has."""
    if unknown := [name for name in names if not any(name in own for own in of_tables)]:
        raise AnalysisError(f"{option} {unknown[0][:80]!r} is no {what} of {named(list(map(str, files)))}.")


def compare_benchmarks(
    benchmarks: Sequence[Benchmark],
    anchor: str,
    *,
    votes: dict[str, float] | None = None,
    seed: int = 0,
    draws: int = 2000,
    progress: bool | ProgressListener = True,
) -> BenchmarkComparison:
    """Measure benchmarks on the models that all of them have.

    Args:
        benchmarks: At least two.
        anchor: A task with an outside score of the models, in one of the tables or, with the same scores, in several.
        votes: Outside scores of models in place of a task; ``anchor`` is their name.
        draws: Resamples of the models, or of their families.
        progress: Show the progress on the standard error or in a notebook; or who is told of it.

    Raises:
        AnalysisError: There are too few or too many benchmarks, or common models; no table has the anchor, or two have
            another one; or a specification cannot be fitted.
    """
    from vcrgen.core.console_progress import open_progress  # which imports rich

    if not 2 <= len(benchmarks) <= MAX_BENCHMARKS:
        raise AnalysisError(
            f"{pluralize(len(benchmarks), 'table')} of scores: 2 to {MAX_BENCHMARKS} benchmarks stand side by side, "
            "each in a table of its own."
        )
    outside = _anchor_scores(benchmarks, anchor) if votes is None else votes
    parts = [_with_abilities(benchmark, anchor, outside) for benchmark in benchmarks]
    tables = _common_models([part.table for part in parts], anchor)
    with open_progress(progress, doing="fitting", unit="benchmarks", kept="fitted") as listener:
        fits = tuple(
            fit_factors(table, part.spec, seed=seed, draws=draws, progress=False)
            for table, part in counted(zip(tables, parts, strict=True), len(parts), listener)
            if part.spec is not None
        )
    scores = np.column_stack([_means(fit) for fit in fits] + [fits[0].table.scores[:, -1]])
    replicates = np.array([r[-1, :-1] for r in resampled_correlations(scores, fits[0].weights)])
    values = correlation_matrix(scores)[-1, :-1]
    return BenchmarkComparison(
        names=_names([benchmark.table for benchmark in benchmarks]),
        anchor=anchor,
        fits=fits,
        agreement=tuple(_estimate(values[number], replicates[:, number]) for number in range(len(fits))),
        differences=tuple(
            AgreementDifference(a, b, _estimate(values[a] - values[b], replicates[:, a] - replicates[:, b]))
            for a, b in combinations(range(len(fits)), 2)
        ),
        next_command=page_command(
            "benchmarks",
            _inputs_of(benchmarks) if votes is None or Path(anchor).suffix.lower() == ".csv" else (),
            BenchmarkOptions,
            {"seed": seed, "resamples": draws, "anchor": anchor},
            out="benchmarks.html",
        ),
    )


def _inputs_of(benchmarks: Sequence[Benchmark]) -> tuple[str, ...]:
    """Words of a command line that read all of them; none where one was made in Python or read with other options."""
    tables = [benchmark.table.inputs for benchmark in benchmarks]
    specs = [() if benchmark.spec is None else benchmark.spec.inputs[:2] for benchmark in benchmarks]
    options = {inputs[1:] for inputs in tables}
    has_specs = any(benchmark.spec is not None for benchmark in benchmarks)
    if len(options) > 1 or not all(tables) or (has_specs and not all(specs)):
        return ()
    if "--example" in {words[0] for words in (*tables, *specs) if words}:
        return tables[0] if {*tables, *specs} == {tables[0]} else ()
    return (*(inputs[0] for inputs in tables), *tables[0][1:], *(word for words in specs for word in words))


def _means(fit: FactorResult) -> Floats:
    """The mean of the standardised scores of each model."""
    means: Floats = standardise(fit.table.scores[:, :-1]).mean(axis=1)
    return means


def _estimate(value: float, replicates: Floats) -> FactorEstimate:
    low, high = percentile_interval(replicates)
    return FactorEstimate(float(value), float(low), float(high))


def _names(tables: Sequence[ScoreTable]) -> tuple[str, ...]:
    """The names of the files without their ends, or the whole names where two are alike."""
    stems = [Path(table.source).stem for table in tables]
    return tuple(stems if len(set(stems)) == len(stems) else [table.source for table in tables])


def _anchor_scores(benchmarks: Sequence[Benchmark], anchor: str) -> dict[str, float]:
    """The outside score of each model, by the first table that has it."""
    scores: dict[str, float] = {}
    tables = [benchmark.table for benchmark in benchmarks if anchor in benchmark.table.tasks]
    if not tables:
        names = named([benchmark.table.source for benchmark in benchmarks])
        raise AnalysisError(f"The anchor {anchor[:80]!r} is no task of any table ({names}).")
    for table in tables:
        column = table.scores[:, table.tasks.index(anchor)].tolist()
        for model, score in zip(table.models, column, strict=True):
            if np.isfinite(score) and scores.setdefault(model, score) != score:
                raise AnalysisError(
                    f"{table.source}: {model!r} has the score {score:g} on {anchor!r}, and {scores[model]:g} in an "
                    "earlier table; keep the right one."
                )
    return scores


def _with_abilities(benchmark: Benchmark, anchor: str, scores: dict[str, float]) -> Benchmark:
    """The tasks of the abilities and the anchor, and a specification with it."""
    table, spec = benchmark
    tasks = tuple(task for task in table.tasks if task != anchor)
    if not tasks:
        raise AnalysisError(f"{table.source} has no task but the anchor {anchor!r}; a benchmark needs one.")
    if spec is None:
        abilities = {ALL_TASKS: tasks}
        spec = FactorSpec.model_construct(abilities=abilities, anchor=anchor)
    else:
        abilities = bind(spec.model_copy(update={"anchor": None}), tasks).abilities
        spec = spec.model_copy(update={"abilities": abilities, "anchor": anchor, "layout": None}).read_by()
    used = [task for members in abilities.values() for task in members]
    return Benchmark(with_anchor(table.select_tasks(used), anchor, scores), spec)


def _common_models(tables: Sequence[ScoreTable], anchor: str) -> list[ScoreTable]:
    """The tables of the models with all scores in each of them, in the order of the first table."""
    complete = [table.complete_cases() for table in tables]
    costly = [found.sentence for table in tables if (found := costly_tasks(table, anchor)) is not None]
    common = set.intersection(*(set(table.models) for table in complete))
    if len(common) < FEWEST_MODELS:
        counts = ", ".join(f"{len(table.models)} in {table.source}" for table in complete)
        are_named_alike = len(set.intersection(*(set(table.models) for table in tables))) >= FEWEST_MODELS
        advice = costly[0] if costly and are_named_alike else "Are models named alike?"
        raise AnalysisError(
            f"{pluralize(len(common), 'model has', 'models have')} all scores in every table and the anchor "
            f"({counts}); {FEWEST_MODELS} are needed. {advice}"
        )
    models = [model for model in complete[0].models if model in common]
    ordered = []
    for table in complete:
        rows = [table.models.index(model) for model in models]
        ordered.append(
            replace(
                table,
                notes=(*costly, *table.notes),
                models=tuple(models),
                scores=table.scores[rows],
                errors=None if table.errors is None else table.errors[rows],
                families=None if table.families is None else tuple(table.families[row] for row in rows),
            )
        )
    families = next((table.families for table in ordered if table.families), None)
    return [replace(table, families=families) for table in ordered]
