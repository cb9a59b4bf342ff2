"""``vcrgen analyze``: what the scores of some models tell about a benchmark. Here is what its commands share, too."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from vcrgen.cli import console
from vcrgen.cli.options import examples, options_of, out_option
from vcrgen.cli.root import app
from vcrgen.config import AnalysisOptions, FactorOptions, MapOptions, PruneOptions, checked, given
from vcrgen.errors import AnalysisError
from vcrgen.files import output_errors, write_text

if TYPE_CHECKING:
    from vcrgen.analysis.document import Document
    from vcrgen.analysis.examples import Example
    from vcrgen.analysis.spec import FactorSpec
    from vcrgen.analysis.tables import ScoreTable

MARK = ".vcrgen-analysis"  # a folder with it was made here, and may be replaced
TEXT_WIDTH = 120  # characters of a report that is written to a file

Form = Annotated[
    str | None,
    typer.Option(
        "--format", "-f", help="text, md, csv, latex, json or html.", show_default="by the name of --out, else text"
    ),
]
Out = Annotated[Path | None, out_option("Write the report to this file.")]
ExampleName = Annotated[
    str | None,
    typer.Option(
        "--example", help="Take data that ships with vcrgen in place of files; a wrong name lists the right ones."
    ),
]
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
        "vcrgen analyze items spans_*.parquet --data data/my-vcr --out items.html",
    ),
    help="Analyse a benchmark by the scores of some models: which tasks and items earn their place, and how sure is "
    r'that? Needs the extra `analysis`: pip install "vcrgen\[analysis]".',
)
app.add_typer(analyze, name="analyze")


@analyze.command(
    "map",
    epilog=examples(
        "vcrgen analyze map scores.csv --out map.html",
        "vcrgen analyze map --example vcr-map --on abs --clusters 5 --out map.html",
        "vcrgen analyze map *.scores.json --method spearman",
    ),
)
@options_of(MapOptions)
def map_tasks(
    scores: Scores = None,
    example: ExampleName = None,
    form: Form = None,
    out: Out = None,
    **options: Any,
) -> None:
    """Show which tasks tell the same story: correlations, a tree, clusters, components."""
    from vcrgen.analysis.map_report import map_document
    from vcrgen.analysis.redundancy import make_map

    chosen = checked(MapOptions, given(options))
    shown = report_form(form, out, scores or [])
    shipped = shipped_example(example, "map", scores or [], lower_is_better=chosen.lower_is_better)
    table = shipped.load() if shipped else _read(scores, chosen)
    result = make_map(
        table, method=chosen.method, basis=chosen.basis, clusters=chosen.clusters, seed=chosen.seed,
        draws=chosen.resamples,
    )  # fmt: skip
    about = shipped.about if shipped else ""
    write_report(
        map_document(result, settings=settings("map", chosen), about=about, private=chosen.private), shown, out
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
    example: ExampleName = None,
    form: Form = None,
    out: Out = None,
    **options: Any,
) -> None:
    """Ask whether the tasks of an ability belong together, and apart from the others (partial least squares)."""
    from vcrgen.analysis.factors import fit_factors
    from vcrgen.analysis.factors_report import factors_document

    chosen = checked(FactorOptions, given(options))
    shown = report_form(form, out, [*(scores or []), *([spec] if spec else [])])
    shipped = shipped_example(
        example, "factors", [*(scores or []), *([spec] if spec else [])], lower_is_better=chosen.lower_is_better
    )
    table, wanted = _table_and_spec(scores, spec, shipped, chosen)
    result = fit_factors(table, wanted, seed=chosen.seed, draws=chosen.resamples)
    write_report(
        factors_document(
            result, settings=settings("factors", chosen), private=chosen.private, **_published(shipped)
        ),
        shown, out,
    )  # fmt: skip


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
    example: ExampleName = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", "-f", help="text, md, csv, latex, json or html.", show_default="html in a folder, else text"
        ),
    ] = None,
    out: Annotated[Path | None, out_option("Write the kept tasks, the log and the report to this folder.")] = None,
    **options: Any,
) -> None:
    """Drop redundant and weak tasks one by one, and say what that is worth beside random choices."""
    from vcrgen.analysis.document import form_of
    from vcrgen.analysis.prune_report import kept_spec, log_csv, prune_document
    from vcrgen.analysis.refinement import refine

    require_packages()
    chosen = checked(PruneOptions, given(options))
    shown = form_of(form or ("html" if out else "text"), "")
    if shown == "html" and out is None:
        raise AnalysisError("The HTML report is a file: name a folder for it with --out pruned.")
    shipped = shipped_example(
        example, "prune", [*(scores or []), *([spec] if spec else [])], lower_is_better=chosen.lower_is_better
    )
    with report_folder(out) as folder:  # what cannot be written is said before anything is computed
        table, wanted = _table_and_spec(scores, spec, shipped, chosen)
        result = refine(table, wanted, batch=chosen.batch, seed=chosen.seed, repeats=chosen.resamples)
        named = settings("prune", chosen)
        document = prune_document(result, settings=named, private=chosen.private, **_published(shipped))
        if folder is None:
            write_report(document, shown, None)
        else:
            write_folder(document, shown, folder, {"kept.yaml": kept_spec(result), "log.csv": log_csv(result)})
    if out is not None:
        console.out.print(f"Written: {out}", markup=False, highlight=False, soft_wrap=True)


def report_folder(out: Path | None) -> AbstractContextManager[Path | None]:
    """A folder to write into, which becomes ``out`` when the block ends well; None without ``out``."""
    from vcrgen.work.folder import new_folder

    return nullcontext() if out is None else new_folder(out, mark=MARK)


def write_folder(document: Document, form: str, folder: Path, files: Mapping[str, str]) -> None:
    """Write a report into a folder, and the files that go with it."""
    from vcrgen.analysis.document import SUFFIXES

    suffix = next((suffix for suffix, each in SUFFIXES.items() if each == form), ".txt")
    for name, text in {MARK: "", **files, f"report{suffix}": _as_text(document, form)}.items():
        write_text(folder / name, text)


def shipped_example(
    name: str | None, command: str, files: Sequence[Path], *, lower_is_better: Sequence[str] = ()
) -> Example | None:
    """What ships with the package under a name; None if none is asked for.

    Raises:
        AnalysisError: The command does not take it, or there are files, or tasks to turn around, as well.
    """
    from vcrgen.analysis.examples import example

    if name is None:
        return None
    if files:
        raise AnalysisError("--example takes the place of files; give one of them.")
    if lower_is_better:
        raise AnalysisError("--lower-is-better is for files; an example is as it is.")
    return example(name, command)


def _read(files: Sequence[Path] | None, chosen: MapOptions | FactorOptions) -> ScoreTable:
    from vcrgen.analysis.tables import read_scores

    return read_scores(files or [], lower_is_better=chosen.lower_is_better, private=chosen.private)


def _table_and_spec(
    scores: Sequence[Path] | None, spec: Path | None, shipped: Example | None, chosen: FactorOptions
) -> tuple[ScoreTable, FactorSpec]:
    """The scores, and the specification with what the options change of it."""
    from vcrgen.analysis.spec import changed, read_spec

    if shipped is not None and shipped.spec is not None:
        table, wanted = shipped.load(), shipped.spec()
    else:
        table = _read(scores, chosen)
        if spec is None:
            raise AnalysisError("Name the abilities and their tasks in a YAML file: --spec abilities.yaml.")
        wanted = read_spec(spec, anchor=chosen.anchor)
    return table, changed(wanted, chosen)


def _published(shipped: Example | None) -> dict[str, Any]:
    """What a document says of an example: where it comes from, and what is printed wrongly."""
    from vcrgen.analysis.examples import published_rows

    if shipped is None:
        return {}
    return {"about": shipped.about, "errata": published_rows(shipped.errata) if shipped.errata else ()}


def settings(command: str, chosen: AnalysisOptions) -> str:
    """One line that says with which options a report was made: the same line gives the same report."""
    values = chosen.model_dump(mode="json", exclude_defaults=True, exclude={"seed", "resamples", "private"})
    always = {f"vcrgen {version('vcrgen')}": command, "seed": chosen.seed, "resamples": chosen.resamples}
    return " | ".join(f"{name.replace('_', '-')}: {value}" for name, value in (always | values).items())


def require_packages() -> None:
    """Refuse to begin without the packages of the extra ``analysis``."""
    for name in ("scipy", "sklearn"):
        if find_spec(name) is None:
            raise AnalysisError('vcrgen analyze needs SciPy and scikit-learn: pip install "vcrgen[analysis]".')


def report_form(form: str | None, out: Path | None, inputs: Sequence[Path]) -> str:
    """The form of a report by the extra ``analysis``; as of :func:`writable_form`."""
    require_packages()
    return writable_form(form, out, inputs)


def writable_form(form: str | None, out: Path | None, inputs: Sequence[Path]) -> str:
    """The form of a report, refused before anything is computed if it cannot be written.

    Raises:
        AnalysisError: The form is unknown, HTML has no file, or the report would be written over what is read.
    """
    from vcrgen.analysis.document import form_of

    chosen = form_of(form, out.suffix if out else "")
    if chosen == "html" and out is None:
        raise AnalysisError("The HTML report is a file: name it with --out report.html.")
    check_not_read(out, inputs)
    return chosen


def check_not_read(out: Path | None, inputs: Sequence[Path]) -> None:
    """Refuse to write over what is read.

    Raises:
        AnalysisError: ``out`` is one of the inputs.
    """
    if out is not None and out.resolve() in [file.resolve() for file in inputs]:
        raise AnalysisError(f"{out} is read here, so nothing is written over it; name another file.")


def write_report(document: Document, form: str, out: Path | None) -> None:
    """Print a document, or write it to ``out``."""
    if out is None:
        if form == "text":
            _print(console.out, document)
        else:
            console.out.file.write(_as_text(document, form))
        return
    with output_errors(out):
        write_text(out, _as_text(document, form))
    console.out.print(f"Written: {out}", markup=False, highlight=False, soft_wrap=True)


def _as_text(document: Document, form: str) -> str:
    from vcrgen.analysis.document import render

    if form != "text":
        return render(document, form)
    page = io.StringIO()
    _print(Console(file=page, width=TEXT_WIDTH), document)
    return page.getvalue()


def _print(to: Console, document: Document) -> None:
    from vcrgen.analysis.document import LEFT_OUT, NOT_SHOWN
    from vcrgen.cli.terminal import draw, plain, print_parts

    print_parts(to, [plain(document.title, "bold"), plain(document.lead)])
    print_parts(to, [plain(f"Warning: {text}", "bold red") for text in document.marks])
    for section in document.sections:
        if not (section.text or section.tables):
            continue  # of drawings and long tables alone
        print_parts(to, [plain(f"\n{section.title}", "bold"), *map(plain, section.text)])
        print_parts(to, [draw(table, (), wrapped=True) for table in section.tables])
    if any(section.details for section in document.sections):
        print_parts(to, [plain(f"\n{LEFT_OUT}", "dim")])
    print_parts(to, [plain(f"\n{NOT_SHOWN}", "bold"), *(plain(f"- {text}") for text in document.not_shown)])
    print_parts(to, [plain(document.settings, "dim")])
