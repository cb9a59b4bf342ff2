"""Submissions in the API, as JSON values."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from vcrgen.core.reading import encodable
from vcrgen.leaderboard.page_records import LadderFeedback, ModelCell, TeamPage
from vcrgen.leaderboard.records import Event, Submission, TestSet
from vcrgen.leaderboard.times import iso_minute


def as_json(submission: Submission, cells: Sequence[ModelCell], feedback: LadderFeedback | None) -> dict[str, Any]:
    """The status of a submission with its problems, its scores, or its ladder feedback."""
    scores = [
        {cell.track.task.axis: cell.track.mode, "view": cell.track.view.value, "rank": cell.rank or None}
        | {metric: asdict(estimate) for metric, estimate in cell.estimates.items()}
        for cell in cells
    ]
    told: dict[str, Any] = {}
    if feedback is not None:  # under the name of the metric that ranks
        leading = {feedback.task.main_metrics[0]: feedback.leading_score}
        told["feedback"] = {"view": feedback.view.value, "step": feedback.step} | leading | {"best": feedback.best}
    return {
        "id": submission.id,
        "set": submission.set,
        "team": submission.facts.team,
        "model": submission.facts.model,
        "status": submission.status.value,
        "received": iso_minute(submission.received),
        "finished": iso_minute(submission.finished) if submission.finished else None,
        "private": submission.private,
        "problems": [encodable(problem) for problem in submission.problems],
        "scores": scores,
    } | told


def event_as_json(event: Event) -> dict[str, Any]:
    """A line of the history, as far as its page shows it."""
    return {
        "number": event.number,
        "at": iso_minute(event.at),
        "what": event.what,
        "subject": event.subject,
        "actor": event.actor,
        "facts": dict(event.facts),
        "chain": event.chain,
    }


def team_as_json(page: TeamPage, sets: Mapping[str, TestSet], file_mb: int) -> dict[str, Any]:
    """A team's files, the newest first, and what is left to it on each set that is open, with what that set takes."""
    files = [
        as_json(file.submission, file.cells, file.feedback)
        | {"counts": file.counts, "chosen": file.submission.chosen, "selected": file.selected}
        for file in page.files
    ]
    quotas = {name: asdict(quota) | {"left": quota.left} for name, quota in page.quotas.items()}
    taken = {name: set_as_json(sets[name]) for name in page.quotas}
    return {"team": page.team, "files": files, "quotas": quotas, "sets": taken, "file_mb": file_mb}


def set_as_json(test_set: TestSet) -> dict[str, Any]:
    """What a file for a set may hold."""
    return {
        "task": test_set.task.name,
        "language": test_set.language,
        "modes": list(test_set.modes),
        "hidden": test_set.hidden,
        "private": test_set.lifecycle.private,
        "view": test_set.lifecycle.view.value if test_set.lifecycle.ladder_open else None,
    }
