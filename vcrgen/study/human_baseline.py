"""The scores of people that a leaderboard shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vcrgen.data.tasks.task import TASKS
from vcrgen.report.published.human_baseline import HumanDifference, HumanScore
from vcrgen.study import scoring
from vcrgen.study.records import GradedResponse, StudyDesign


def baseline_scores(design: StudyDesign, graded: Sequence[GradedResponse]) -> Iterator[HumanScore]:
    """Yield a score for each mode and view."""
    for condition, mine in scoring.by_condition(design, graded):
        found = scoring.human_scores(mine, scoring.exact_match, seed=design.seed)
        yield HumanScore(
            mode=condition.mode,
            view=condition.view,
            raters=found.raters,
            items=len({one.cluster for one in mine}),
            spans=found.spans,
            exact=found.mean.value,
            low=found.mean.low,
            high=found.mean.high,
            sd=found.sd,
        )


def baseline_differences(design: StudyDesign, graded: Sequence[GradedResponse]) -> Iterator[HumanDifference]:
    """Yield the difference of two views for each mode or language that was seen in both."""
    of = TASKS[design.task].contrast_name
    for mode, found in scoring.view_differences(design, graded):
        ends = found.difference
        yield HumanDifference(mode=mode, of=of, spans=found.spans, value=ends.value, low=ends.low, high=ends.high)
