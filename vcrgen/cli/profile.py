"""``vcrgen profile``: scores of models on a question set, level by level and leaf by leaf, as one page."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from vcrgen.cli.analyze import Form, Out, writable_form, write_report
from vcrgen.cli.options import examples, options_of
from vcrgen.cli.root import app
from vcrgen.config import AnalysisOptions, checked, given
from vcrgen.errors import AnalysisError

PAGE = Path("profile.html")  # where the page goes if nobody says


@app.command(
    epilog=examples(
        "vcrgen profile --example --out profile.html",
        "vcrgen profile a.scores.json b.scores.json --format html",
        "vcrgen profile scores_rae.csv scores_lbs.csv --format md",
    )
)
@options_of(AnalysisOptions, only=("private",))
def profile(
    scores: Annotated[
        list[Path] | None,
        typer.Argument(
            help="What vcrgen score wrote of a question set (preds.scores.json), or tables of leaf scores (level, "
            "subcategory, leaf, count, and a column for each model and language such as my-model_en) whose names end "
            "in the method, as in scores_rae.csv."
        ),
    ] = None,
    example: Annotated[bool, typer.Option("--example", help="Take the published scores of BloomBench.")] = False,
    form: Form = None,
    out: Out = None,
    **options: Any,
) -> None:
    """Show what models can do, level by level and leaf by leaf: in each language, by each method, with every gap.

    Several models stand on one page. Leaves are said to differ only after Benjamini-Hochberg.
    """
    from vcrgen.analysis.profile.example import ABOUT, example_profiles, example_sections
    from vcrgen.analysis.profile.read import read_profiles
    from vcrgen.analysis.profile.report import profile_document

    chosen = checked(AnalysisOptions, given(options))
    if example and scores:
        raise AnalysisError("--example takes the place of files; give one of them.")
    if form == "html" and out is None:
        out = PAGE
    shown = writable_form(form, out, scores or [])
    made_by = f"vcrgen {version('vcrgen')}: profile"
    if example:
        data = example_profiles()
        document = profile_document(data, settings=made_by, more=example_sections(data), about=ABOUT)
    else:
        document = profile_document(read_profiles(scores or [], private=chosen.private), settings=made_by)
    write_report(document, shown, out)
