"""``vcrgen analyze map``, ``factors`` and ``prune``, and the shared parts of all analyses."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vcrgen.analysis.options import AnalysisOptions, FactorOptions, MapOptions, PruneOptions
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.reports import Format, Out, report_folder, report_format, write_report
from vcrgen.cli.root import app
from vcrgen.core.errors import AnalysisError
from vcrgen.core.extras import needs_extra
from vcrgen.core.options import drop_none, validate_options

if TYPE_CHECKING:
    from vcrgen.analysis.examples import Example
    from vcrgen.analysis.score_table import ScoreTable
    from vcrgen.analysis.spec import FactorSpec

Scores = Annotated[
    list[Path] | None,
    typer.Argument(
        help="A table of scores (CSV, TSV, xlsx, Parquet; models x tasks, or model,task,score), a board's export, or "
        "files of saved scores (*.scores.json)."
    ),
]
Spec = Annotated[Path | None, typer.Option("--spec", help="YAML: abilities with their tasks, and limits.")]

analyze = typer.Typer(
    no_args_is_help=True,
    epilog=examples(
        "vcrgen analyze map --example vcr-map --out map.html",
        "vcrgen analyze factors scores.csv --spec gold.yaml --out sem.html",
    ),
    help="Analyze a benchmark by the scores of models: redundant and weak tasks, with confidence intervals. Needs the "
    r'extra `analysis`: pip install "vcrgen\[analysis]".',
)
app.add_typer(analyze, name="analyze")


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
    **options: Any,
) -> None:
    """Show which tasks tell the same story: correlations, a tree, clusters, components."""
    from vcrgen.analysis.map_report import map_document
    from vcrgen.analysis.redundancy import make_map
    from vcrgen.cli import console
    from vcrgen.cli.progress import ConsoleProgress

    _require_packages()
    chosen = validate_options(MapOptions, drop_none(options))
    shown = report_format(form, out, scores or [])
    shipped = _shipped(chosen, "map", scores or [])
    table = shipped.load() if shipped else _read(scores, chosen)
    with ConsoleProgress(console.err, doing="clustering", unit="resamples", kept="clustered") as listener:
        result = make_map(
            table,
            method=chosen.method,
            basis=chosen.distance,
            clusters=chosen.clusters,
            seed=chosen.seed,
            draws=chosen.resamples,
            listener=listener,
        )
    about = shipped.about if shipped else ""
    write_report(
        map_document(result, settings=_settings("map", chosen), about=about, private=chosen.private), shown, out
    )


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
    **options: Any,
) -> None:
    """Ask whether the tasks of an ability belong together, and apart from the others (partial least squares)."""
    from vcrgen.analysis.factors import fit_factors
    from vcrgen.analysis.factors_report import factors_document

    _require_packages()
    chosen = validate_options(FactorOptions, drop_none(options))
    shown = report_format(form, out, [*(scores or []), *([spec] if spec else [])])
    shipped = _shipped(chosen, "factors", [*(scores or []), *([spec] if spec else [])])
    table, wanted = _table_and_spec(scores, spec, shipped, chosen)
    result = fit_factors(table, wanted, seed=chosen.seed, draws=chosen.resamples)
    write_report(
        factors_document(result, settings=_settings("factors", chosen), private=chosen.private, **_published(shipped)),
        shown,
        out,
    )


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

    _require_packages()
    chosen = validate_options(PruneOptions, drop_none(options))
    shown = report_format(form or ("html" if out else None), out)
    shipped = _shipped(chosen, "prune", [*(scores or []), *([spec] if spec else [])])
    with report_folder(out, shown) as write:
        table, wanted = _table_and_spec(scores, spec, shipped, chosen)
        result = evaluate_pruning(table, wanted, batch=chosen.batch, seed=chosen.seed, repeats=chosen.resamples)
        named = _settings("prune", chosen)
        document = prune_document(result, settings=named, private=chosen.private, **_published(shipped))
        chosen_tasks = {"kept.yaml": kept_spec(result)} if is_judged(result) else {}
        write(document, {**chosen_tasks, "log.csv": log_csv(result)})


def _shipped(chosen: AnalysisOptions, command: str, files: Sequence[Path]) -> Example | None:
    """Return the shipped example of a name; None without a name.

    Raises:
        AnalysisError: The command does not take it, or there are files, or options of their columns, as well.
    """
    from vcrgen.analysis.examples import get_example

    if chosen.example is None:
        return None
    if files:
        raise AnalysisError("--example takes the place of files; give one of them.")
    for option in ("lower_is_better", "ignore"):
        if getattr(chosen, option):
            raise AnalysisError(f"--{option.replace('_', '-')} is for files; an example is as it is.")
    return get_example(chosen.example, command)


def _read(files: Sequence[Path] | None, chosen: AnalysisOptions) -> ScoreTable:
    from vcrgen.analysis.score_table import read_scores

    return read_scores(
        files or [], lower_is_better=chosen.lower_is_better, ignore=chosen.ignore, private=chosen.private
    )


def _table_and_spec(
    scores: Sequence[Path] | None, spec: Path | None, shipped: Example | None, chosen: FactorOptions
) -> tuple[ScoreTable, FactorSpec]:
    """Return the scores, and the specification with the changes of the options."""
    from vcrgen.analysis.spec import apply_options, read_spec

    if shipped is not None and shipped.spec is not None:
        table, wanted = shipped.load(), shipped.spec()
    else:
        table = _read(scores, chosen)
        if spec is None:
            raise AnalysisError("Name the abilities and their tasks in a YAML file: --spec abilities.yaml.")
        wanted = read_spec(spec, anchor=chosen.anchor)
    return table, apply_options(wanted, chosen)


def _published(shipped: Example | None) -> dict[str, Any]:
    """Return the origin and the errata of an example, for its document."""
    from vcrgen.analysis.examples import published_rows

    if shipped is None:
        return {}
    return {"about": shipped.about, "errata": published_rows(shipped.errata) if shipped.errata else ()}


def _settings(command: str, chosen: AnalysisOptions) -> str:
    """Return the settings of a report as one line, which determines the report."""
    values = chosen.model_dump(mode="json", exclude_defaults=True, exclude={"seed", "resamples", "private", "example"})
    always = {f"vcrgen {version('vcrgen')}": command, "seed": chosen.seed, "resamples": chosen.resamples}
    return " | ".join(f"{name.replace('_', '-')}: {value}" for name, value in (always | values).items())


def _require_packages() -> None:
    """Raise an error if packages of the extra ``analysis`` are missing."""
    if not find_spec("scipy"):
        raise AnalysisError(needs_extra("vcrgen analyze", "analysis"))
