"""What the API says of submissions, as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from vcrgen.leaderboard.records import ModelCell, Submission, TeamPage, Told
from vcrgen.reading import encodable


def as_json(submission: Submission, cells: Sequence[ModelCell], told: Told | None) -> dict[str, Any]:
    """Where a submission stands: its problems, or its scores, or what a ladder shows of it."""
    scores = [
        {cell.track.task.axis: cell.track.mode, "view": cell.track.view.value, "rank": cell.rank or None}
        | {metric: asdict(figure) for metric, figure in cell.figures.items()}
        for cell in cells
    ]
    return {
        "id": submission.id, "set": submission.set, "team": submission.facts.team, "model": submission.facts.model,
        "state": submission.state.value, "received": submission.received.isoformat(),
        "finished": submission.finished.isoformat() if submission.finished else None, "private": submission.private,
        "problems": [encodable(problem) for problem in submission.problems], "scores": scores,
    } | ({} if told is None else {"feedback": _feedback(told)})  # fmt: skip


def _feedback(told: Told) -> dict[str, Any]:
    """What a ladder shows, under the name of the metric that ranks."""
    return {"view": told.view.value, "step": told.step, told.task.shown[0]: told.exact, "best": told.best}


def team_as_json(page: TeamPage) -> dict[str, Any]:
    """A team's files, the newest first, and what is left to it on each set that takes files."""
    files = [as_json(one.submission, one.cells, one.told) | {"counts": one.counts} for one in page.files]
    quotas = {name: asdict(quota) | {"left": quota.left} for name, quota in page.quotas.items()}
    return {"team": page.team, "files": files, "quotas": quotas}
