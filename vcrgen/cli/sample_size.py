"""``vcrgen sample-size``: how many images, raters and models an evaluation needs."""

from __future__ import annotations

from typing import Any

from vcrgen.cli.options import examples, options_of
from vcrgen.cli.reports import Format, Out, report_format, write_report
from vcrgen.cli.root import app
from vcrgen.config.analysis import SampleSizeOptions
from vcrgen.config.base import drop_none, validate_options


@app.command(
    "sample-size",
    epilog=examples(
        "vcrgen sample-size --difference 3 --power 0.8",
        "vcrgen sample-size --human 5",
        "vcrgen sample-size --lost-tasks 5",
        "vcrgen sample-size --threshold 2 --levels 6 --out plan.html",
    ),
)
@options_of(SampleSizeOptions)
def sample_size(form: Format = None, out: Out = None, **options: Any) -> None:
    """Show how many images, raters and models are needed: for a comparison, a threshold, people, an analysis.

    The numbers are those of simulations with the tests and intervals of vcrgen. What was not measured is refused.
    """
    from vcrgen.analysis.sample_size_report import sample_size_document

    chosen = validate_options(SampleSizeOptions, drop_none(options))
    shown = report_format(form, out)
    values = chosen.model_dump(mode="json", exclude_none=True)
    line = " | ".join(f"{name.replace('_', '-')}: {value}" for name, value in values.items())
    write_report(sample_size_document(chosen, settings=f"sample-size | {line}"), shown, out)
