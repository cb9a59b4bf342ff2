"""The commands of ``vcrgen analyze``, and the shared parts of all analyses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vcrgen.analysis.options import AnalysisOptions, BenchmarkOptions, FactorOptions, MapOptions, PruneOptions
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.reports import Figure, Format, Out, report_folder, report_format, write_report
from vcrgen.cli.root import add_group
from vcrgen.core.errors import AnalysisError
from vcrgen.core.extras import needs_extra
from vcrgen.core.options import drop_none, validate_options

if TYPE_CHECKING:
    from vcrgen.analysis.benchmarks import Benchmark
    from vcrgen.analysis.examples import Example
    from vcrgen.analysis.score_table import Columns, ScoreTable
    from vcrgen.analysis.spec import FactorSpec
    from vcrgen.report.document import Section

Scores = Annotated[
    list[Path] | None,
    typer.Argument(
        help="A table of scores (CSV, TSV, xlsx, Parquet; models x tasks, or model,task,score), a board's export, or "
        "files of saved scores (*.scores.json)."
    ),
]
Spec = Annotated[Path | None, typer.Option("--spec", help="YAML: abilities with their tasks, and limits.")]

analyze = add_group(
    "analyze",
    epilog=examples(
        "vcrgen analyze map --example vcr-map --out map.html",
        "vcrgen analyze factors scores.csv --spec gold.yaml --out sem.html",
    ),
)


@analyze.command(
    "map",
    epilog=examples(
        "vcrgen analyze map scores.csv --out map.html",
        "vcrgen analyze map --example vcr-map --distance abs --clusters 5 --out map.html",
        "vcrgen analyze map *.scores.json --method spearman",
    ),
)
@options_of(MapOptions)
def map_tasks(
    scores: Scores = None,
    form: Format = None,
    out: Out = None,
    figure: Figure = None,
    **options: Any,
) -> None:
    """Show which tasks tell the same story: correlations, a tree, clusters, components."""
    from vcrgen.analysis.map_report import map_document
    from vcrgen.analysis.redundancy import make_map
    from vcrgen.cli import console

    _require_packages()
    settings = validate_options(MapOptions, drop_none(options))
    output_format = report_format(form, out, scores or [], figure)
    example = _find_example("map", settings, scores or [])
    table = example.load() if example else _read_table(scores, settings)
    with console.progress(doing="clustering", unit="resamples", kept="clustered") as listener:
        result = make_map(
            table,
            method=settings.method,
            basis=settings.distance,
            clusters=settings.clusters,
            seed=settings.seed,
            draws=settings.resamples,
            progress=listener,
        )
    about = example.about if example else ""
    document = map_document(result, settings=_settings_line("map", settings), about=about, private=settings.private)
    write_report(document, output_format, out, figure, next_command=result.next_command)


@analyze.command(
    epilog=examples(
        "vcrgen analyze factors scores.csv --spec gold.yaml --anchor arena --out sem.html",
        "vcrgen analyze factors --example gold-made",
    )
)
@options_of(FactorOptions)
def factors(
    scores: Scores = None,
    spec: Spec = None,
    form: Format = None,
    out: Out = None,
    figure: Figure = None,
    **options: Any,
) -> None:
    """Ask whether the tasks of an ability belong together, and apart from the others (partial least squares)."""
    from vcrgen.analysis.factors import fit_factors
    from vcrgen.analysis.factors_report import factors_document
    from vcrgen.cli import console

    _require_packages()
    settings = validate_options(FactorOptions, drop_none(options))
    output_format = report_format(form, out, [*(scores or []), *([spec] if spec else [])], figure)
    inputs = _read_inputs("factors", scores, spec, settings)
    with console.progress(doing="fitting", unit="resamples", kept="fitted") as listener:
        result = fit_factors(
            inputs.scores, inputs.spec, seed=settings.seed, draws=settings.resamples, progress=listener
        )
    document = factors_document(
        result,
        settings=_settings_line("factors", settings),
        about=inputs.about,
        more=inputs.more,
        private=settings.private,
    )
    write_report(document, output_format, out, figure, next_command=result.next_command)


@analyze.command(
    epilog=examples(
        "vcrgen analyze prune scores.csv --spec gold.yaml --anchor arena --out pruned",
        "vcrgen analyze prune --example gold --loading-min 0.8",
    )
)
@options_of(PruneOptions)
def prune(
    scores: Scores = None,
    spec: Spec = None,
    form: Format = None,
    out: Annotated[Path | None, out_option("Write the kept tasks, the log and the report to this folder.")] = None,
    **options: Any,
) -> None:
    """Drop redundant and weak tasks one by one, and say what that is worth beside random choices."""
    from vcrgen.analysis.prune_evaluation import evaluate_pruning
    from vcrgen.analysis.prune_report import is_judged, kept_spec, log_csv, prune_document
    from vcrgen.cli import console

    _require_packages()
    settings = validate_options(PruneOptions, drop_none(options))
    output_format = report_format(form or ("html" if out else None), out)
    inputs = _read_inputs("prune", scores, spec, settings)
    with report_folder(out, output_format) as write:
        with console.progress(doing="pruning", unit="resamples", kept="pruned") as listener:
            result = evaluate_pruning(
                inputs.scores,
                inputs.spec,
                batch=settings.batch,
                seed=settings.seed,
                repeats=settings.resamples,
                progress=listener,
            )
        document = prune_document(
            result,
            settings=_settings_line("prune", settings),
            about=inputs.about,
            more=inputs.more,
            private=settings.private,
        )
        tasks = {"kept.yaml": kept_spec(result)} if is_judged(result) else {}
        write(document, {**tasks, "log.csv": log_csv(result)}, result.next_command)


@analyze.command(
    "assemble",
    epilog=examples(
        "vcrgen analyze assemble scores.csv --pool pool.csv --anchor human --out set",
        "vcrgen analyze assemble --example pool-made --out set",
    ),
)
@options_of(PruneOptions)
def assemble_benchmark(
    scores: Scores = None,
    pool: Annotated[
        Path | None, typer.Option(help="A CSV with a line for each item: task, benchmark, ability, item.")
    ] = None,
    form: Format = None,
    out: Annotated[
        Path | None, out_option("Write the items, the manifest, the kept tasks, the log and the report to this folder.")
    ] = None,
    **options: Any,
) -> None:
    """Assemble a benchmark from a pool of tasks, as GOLD was: prune it, take the items of what stays, fit it anew."""
    from vcrgen.analysis.assemble_report import assemble_document
    from vcrgen.analysis.assembly import assemble, items_csv, manifest
    from vcrgen.analysis.pool import read_pool
    from vcrgen.analysis.prune_report import is_judged, kept_spec, log_csv
    from vcrgen.analysis.spec import apply_options
    from vcrgen.analysis.votes import with_votes
    from vcrgen.cli import console

    _require_packages()
    settings = validate_options(PruneOptions, drop_none(options))
    output_format = report_format(form or ("html" if out else None), out)
    example = _find_example("assemble", settings, [*(scores or []), *([pool] if pool else [])])
    if example is not None:
        table, tasks = example.load()
    elif pool is None:
        raise AnalysisError("Name the tasks with their abilities and items in a CSV: --pool pool.csv.")
    else:
        tasks = read_pool(pool)
        table = _read_table(scores, settings, tasks.spec(settings.anchor).task_names)
    anchor = settings.anchor or (table.tasks[-1] if example else None)
    spec = apply_options(tasks.spec(anchor), settings)
    line = _settings_line("assemble", settings)
    with report_folder(out, output_format) as write:
        with console.progress(doing="pruning", unit="resamples", kept="pruned") as listener:
            result = assemble(
                with_votes(table, anchor),
                tasks,
                spec,
                batch=settings.batch,
                seed=settings.seed,
                repeats=settings.resamples,
                progress=listener,
            )
        about = example.about if example else ""
        document = assemble_document(result, settings=line, about=about, private=settings.private)
        files = {"log.csv": log_csv(result.evaluation)}
        if is_judged(result.evaluation):
            files |= {
                "items.csv": items_csv(result),
                "manifest.json": manifest(result, line),
                "kept.yaml": kept_spec(result.evaluation),
            }
        write(document, files, result.next_command)


@analyze.command(
    "benchmarks",
    epilog=examples(
        "vcrgen analyze benchmarks mmbench.csv blink.csv --anchor human --out benchmarks.html",
        "vcrgen analyze benchmarks a.csv b.csv --spec a.yaml --spec b.yaml --anchor votes.csv",
        "vcrgen analyze benchmarks --example gold-parts",
    ),
)
@options_of(BenchmarkOptions)
def benchmarks_side_by_side(
    scores: Annotated[
        list[Path] | None, typer.Argument(help="A table of scores of each benchmark, as for the other analyses.")
    ] = None,
    spec: Annotated[
        list[Path] | None,
        typer.Option(help="YAML with the abilities of a benchmark: one for each table, in their order."),
    ] = None,
    form: Format = None,
    out: Out = None,
    figure: Figure = None,
    **options: Any,
) -> None:
    """Compare benchmarks on the same models: D_div, TC, D_valid, and the agreement with an outside score.

    Without --spec all tasks of a benchmark are one ability, which has no D_div.
    """
    from vcrgen.analysis.benchmarks import compare_benchmarks, read_benchmarks
    from vcrgen.analysis.benchmarks_report import benchmarks_document
    from vcrgen.analysis.examples import published_sections
    from vcrgen.analysis.votes import read_anchor
    from vcrgen.cli import console

    _require_packages()
    settings = validate_options(BenchmarkOptions, drop_none(options))
    files, specs = scores or [], spec or []
    output_format = report_format(form, out, [*files, *specs], figure)
    example = _find_example("benchmarks", settings, [*files, *specs])
    benchmarks: list[Benchmark] = (
        example.load()
        if example
        else read_benchmarks(
            files,
            specs,
            lower_is_better=settings.lower_is_better,
            columns=_columns(settings, [settings.anchor] if settings.anchor else []),
            families=not settings.no_families,
            private=settings.private,
        )
    )
    anchor = settings.anchor or next((of.anchor for _, of in benchmarks if of is not None), None)
    if anchor is None:
        raise AnalysisError(
            "Name the outside score of the models: --anchor TASK, or --anchor votes.csv. Whether benchmarks measure "
            "the same needs none: join their tables, and see the HTMT of `vcrgen analyze factors`."
        )
    votes = read_anchor(anchor, [task for benchmark in benchmarks for task in benchmark.table.tasks])
    with console.progress(doing="fitting", unit="benchmarks", kept="fitted") as listener:
        result = compare_benchmarks(
            benchmarks, anchor, votes=votes, seed=settings.seed, draws=settings.resamples, progress=listener
        )
    document = benchmarks_document(
        result,
        settings=_settings_line("benchmarks", settings),
        about=example.about if example else "",
        more=published_sections(example, "benchmarks") if example else (),
        private=settings.private,
    )
    write_report(document, output_format, out, figure, next_command=result.next_command)


@analyze.command(
    "votes",
    epilog=examples(
        "vcrgen analyze votes votes.csv --out strengths.html",
        "vcrgen analyze factors scores.csv --spec gold.yaml --anchor votes.csv",
    ),
)
def rank_by_votes(
    votes: Annotated[
        Path, typer.Argument(help="A CSV of votes: model_a, model_b, winner (model_a, model_b, tie, or a name).")
    ],
    form: Format = None,
    out: Out = None,
    figure: Figure = None,
) -> None:
    """Turn votes on pairs of models into strengths (Bradley-Terry), which other analyses take as --anchor."""
    from vcrgen.analysis.votes import fit_votes, read_votes
    from vcrgen.analysis.votes_report import votes_document

    _require_packages()
    output_format = report_format(form, out, [votes], figure)
    result = fit_votes(read_votes(votes))
    document = votes_document(result, settings=f"vcrgen {version('vcrgen')}: votes")
    write_report(document, output_format, out, figure, next_command=result.next_command)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """What `factors` and `prune` begin with, from files or from an example."""

    scores: ScoreTable
    spec: FactorSpec
    about: str = ""  # of an example: its source
    more: Sequence[Section] = ()  # of an example: what its publication prints


def _find_example(command: str, settings: AnalysisOptions, files: Sequence[Path]) -> Example | None:
    """The example that the options name; None without a name.

    Raises:
        AnalysisError: The command does not take it, or there are files, or options of their columns, as well.
    """
    from vcrgen.analysis.examples import get_example

    if settings.example is None:
        return None
    if files:
        raise AnalysisError("--example takes the place of files; give one of them.")
    for option in ("lower_is_better", "ignore", "models", "keep", "no_families"):
        if getattr(settings, option):
            raise AnalysisError(f"--{option.replace('_', '-')} is for files; an example is as it is.")
    return get_example(settings.example, command)


def _read_table(files: Sequence[Path] | None, settings: AnalysisOptions, tasks: Sequence[str] = ()) -> ScoreTable:
    """Read the scores; what a specification names are tasks, whatever their columns look like."""
    from vcrgen.analysis.score_table import read_scores

    return read_scores(
        files or [],
        lower_is_better=settings.lower_is_better,
        columns=_columns(settings, tasks),
        families=not settings.no_families,
        private=settings.private,
    )


def _columns(settings: AnalysisOptions, tasks: Sequence[str] = ()) -> Columns:
    from vcrgen.analysis.score_table import Columns

    return Columns(models=settings.models, ignore=settings.ignore, keep=settings.keep, tasks=tasks)


def _read_inputs(command: str, files: Sequence[Path] | None, spec: Path | None, settings: FactorOptions) -> _Inputs:
    """Read the scores, and the specification with the changes of the options."""
    from vcrgen.analysis.examples import published_sections
    from vcrgen.analysis.spec import apply_options, read_spec
    from vcrgen.analysis.votes import with_votes

    example = _find_example(command, settings, [*(files or []), *([spec] if spec else [])])
    if example is not None and example.spec is not None:
        return _Inputs(
            scores=example.load(),
            spec=apply_options(example.spec(), settings),
            about=example.about,
            more=published_sections(example, command),
        )
    if spec is None:
        table = _read_table(files, settings)  # what is wrong with it is said first
        raise AnalysisError(
            "Name the abilities and their tasks in a YAML file: --spec abilities.yaml. Below `abilities:` it has a "
            f"line for each ability, such as `  Reasoning: {json.dumps(table.tasks[:2], ensure_ascii=False)}`."
        )
    model = apply_options(read_spec(spec, anchor=settings.anchor), settings)
    return _Inputs(scores=with_votes(_read_table(files, settings, model.task_names), model.anchor), spec=model)


def _settings_line(command: str, settings: AnalysisOptions) -> str:
    """The settings that give the same report again, as one line."""
    values = settings.model_dump(
        mode="json", exclude_defaults=True, exclude={"seed", "resamples", "private", "example"}
    )
    always = {f"vcrgen {version('vcrgen')}": command, "seed": settings.seed, "resamples": settings.resamples}
    return " | ".join(f"{name.replace('_', '-')}: {value}" for name, value in (always | values).items())


def _require_packages() -> None:
    """Raise an error if packages of the extra ``analysis`` are missing."""
    if not find_spec("scipy"):
        raise AnalysisError(needs_extra("vcrgen analyze", "analysis"))
