"""``vcrgen profile``: scores of models on an MCQ benchmark, level by level and category by category, as one page."""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from vcrgen.analysis.options import AnalysisOptions
from vcrgen.cli.options import examples, options_of
from vcrgen.cli.reports import Figure, Format, Out, report_format, write_report
from vcrgen.cli.root import app
from vcrgen.core.errors import AnalysisError
from vcrgen.core.options import drop_none, validate_options

PAGE = Path("profile.html")  # the default of --out for HTML
EXAMPLE = "bloom"  # the published scores of BloomBench


@app.command(
    epilog=examples(
        "vcrgen profile --example bloom --out profile.html",
        "vcrgen profile a.scores.json b.scores.json --format html",
        "vcrgen profile scores_rae.csv scores_lbs.csv --format md",
    )
)
@options_of(AnalysisOptions, only=("private", "example"))
def profile(
    scores: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Results of vcrgen score on an MCQ benchmark (preds.scores.json), or tables of category scores "
            "(level, subcategory, leaf, count, and a column for each model and language such as my-model_en) whose "
            "names end in the method, as in scores_rae.csv."
        ),
    ] = None,
    form: Format = None,
    out: Out = None,
    figure: Figure = None,
    **options: Any,
) -> None:
    """Show the accuracy profile of models: by level and category, in each language, by each method, with every gap.

    Several models stand on one page. Categories are said to differ only after Benjamini-Hochberg.
    """
    from vcrgen.analysis.profile.example import ABOUT, example_profiles, example_sections
    from vcrgen.analysis.profile.profile_report import profile_document
    from vcrgen.analysis.profile.read_tables import read_profiles

    settings = validate_options(AnalysisOptions, drop_none(options))
    if settings.example and scores:
        raise AnalysisError("--example takes the place of files; give one of them.")
    if settings.example not in (None, EXAMPLE):
        raise AnalysisError(f"vcrgen profile has no example {settings.example!r}; it has {EXAMPLE}.")
    if form == "html" and out is None:
        out = PAGE
    output_format = report_format(form, out, scores or [], figure)
    made_by = f"vcrgen {version('vcrgen')}: profile"
    if settings.example:
        data = example_profiles()
        document = profile_document(data, settings=made_by, more=example_sections(data), about=ABOUT)
    else:
        data = read_profiles(scores or [], private=settings.private)
        document = profile_document(data, settings=made_by)
    write_report(document, output_format, out, figure, next_command=data.next_command)
