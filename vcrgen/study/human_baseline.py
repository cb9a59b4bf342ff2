"""The scores of people that a leaderboard shows."""

from collections.abc import Iterator, Sequence

from vcrgen.data.tasks.task import TASKS
from vcrgen.report.published.human_baseline import HumanDifference, HumanScore
from vcrgen.study import scoring
from vcrgen.study.records import GradedResponse, StudyDesign


def baseline_scores(design: StudyDesign, graded: Sequence[GradedResponse]) -> Iterator[HumanScore]:
    """Yield a score for each mode and view."""
    for condition, mine in scoring.by_condition(design, graded):
        scores = scoring.human_scores(mine, scoring.exact_match, seed=design.seed)
        yield HumanScore(
            mode=condition.mode,
            view=condition.view,
            raters=scores.raters,
            items=len({response.cluster for response in mine}),
            spans=scores.spans,
            exact=scores.mean.value,
            low=scores.mean.low,
            high=scores.mean.high,
            sd=scores.sd,
        )


def baseline_differences(design: StudyDesign, graded: Sequence[GradedResponse]) -> Iterator[HumanDifference]:
    """Yield the difference of two views for each mode or language that was seen in both."""
    contrast = TASKS[design.task].contrast_name
    for mode, views in scoring.view_differences(design, graded):
        ends = views.difference
        yield HumanDifference(mode=mode, of=contrast, spans=views.spans, value=ends.value, low=ends.low, high=ends.high)
