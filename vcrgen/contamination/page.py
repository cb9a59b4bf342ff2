"""The HTML report on contamination: one file with all tables, drawings and sentences."""

from __future__ import annotations

import functools

from vcrgen.contamination.records import ContaminationReport
from vcrgen.contamination.tables import parts, summary, where
from vcrgen.report.charts import difference_bar, reach
from vcrgen.report.pages import Templates
from vcrgen.report.table import percent


def as_html(report: ContaminationReport) -> str:
    """A page that needs nothing beside it."""
    drawn = [*report.fresh, *report.redrawn]
    ends = reach(end for each in drawn for end in (each.low, each.high))
    return _templates().render(
        "contamination.html",
        title=f"Had {report.model} seen {report.data or report.canary[0].data}?",
        summary=summary(report),
        parts=parts(report),
        bar=lambda each: difference_bar(each.value, each.low, each.high, reach=ends),
        reach=ends,
        notes=report.notes,
        signature=report.signature,
    )


@functools.cache
def _templates() -> Templates:
    return Templates("vcrgen.contamination", style="contamination.css", percent=percent, where=where)
