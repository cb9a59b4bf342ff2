"""Strengths of models by votes as a document."""

import numpy as np

from vcrgen.analysis.votes import VoteResult
from vcrgen.report.charts import interval_bar
from vcrgen.report.document import ChartRows, Document, Section
from vcrgen.report.table import percent
from vcrgen.report.templating import Sentences
from vcrgen.stats.arrays import Floats

TEXTS = Sentences("vcrgen.analysis", "votes.j2")
MOST_DRAWN = 60  # models of a chart


def votes_document(result: VoteResult, *, settings: str) -> Document:
    """Report strengths; ``settings`` is a line with the options."""
    votes, strengths = result.votes, result.strengths
    first = result.order[0]
    (lead,) = TEXTS.paragraphs("lead", models=len(votes.models), votes=int(votes.counts.sum()) // 2)
    ends = [f"{strength[first]:.2f}".replace("-", "\N{MINUS SIGN}") for strength in strengths]
    return Document(
        title=f"Preferences in {votes.source}",
        summary=TEXTS.paragraphs(
            "summary",
            first=votes.models[first],
            tied=[votes.models[model] for model in result.tied_with_first],
            ends=ends,
            source=votes.source,
        ),
        lead=lead,
        settings=settings,
        sections=[
            Section(
                title="Strengths",
                text=TEXTS.paragraphs("strengths"),
                panels=[_chart(result)],
                tables=[result.summary_table],
            )
        ],
        limitations=TEXTS.paragraphs("limitations"),
    )


def _chart(result: VoteResult) -> ChartRows:
    """The probability of a win against the average model."""
    value, low, high = (_win_share(strength) for strength in result.strengths)
    lines = [
        (
            result.votes.models[model],
            interval_bar(float(value[model]), float(low[model]), float(high[model])),
            percent(float(value[model]), 0),
        )
        for model in result.order[:MOST_DRAWN]
    ]
    title = "Wins against the average model, %"
    return ChartRows(title=title, axis=("0", "50", "100 %"), groups=[("", lines)])


def _win_share(strength: Floats) -> Floats:
    share: Floats = 1 / (1 + np.exp(-strength))
    return share
