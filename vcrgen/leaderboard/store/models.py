"""Pages of single models and teams, and the scores of single submissions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from vcrgen.data.key import FEEDBACK, FINAL
from vcrgen.data.tasks.task import ScoredTask
from vcrgen.leaderboard.disclosure import set_rounding_step
from vcrgen.leaderboard.page_records import (
    BoardCell,
    Estimate,
    Group,
    LadderFeedback,
    ModelCell,
    ModelPage,
    ModelRun,
    TeamFile,
    TeamPage,
)
from vcrgen.leaderboard.records import Submission, SubmissionStatus
from vcrgen.leaderboard.store import results, submissions
from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.store.reader import BoardReader, board_cells
from vcrgen.leaderboard.store.submissions import as_facts
from vcrgen.leaderboard.store.teams import sharing
from vcrgen.web.database.schema import AnyRow


def model_page(reader: BoardReader, entry: str) -> ModelPage | None:
    """Everything that was scored for a model, or None."""
    # What is in the database of a final split before its set is closed is nobody's to see.
    runs = [run for run in results.runs_of(reader.connection, entry) if not _is_sealed(reader, run)]
    if not runs:
        return None
    by_run: dict[int, list[BoardCell]] = defaultdict(list)
    for cell in board_cells(reader.connection, entries=[entry]):
        by_run[cell.run].append(cell)
    return ModelPage(facts=as_facts(runs[0]), runs=tuple(_model_run(reader, run, by_run[run.run]) for run in runs))


def submission_cells(reader: BoardReader, submission_id: str) -> Sequence[ModelCell]:
    """The scores of a submission: ranked ones, or those of a private file; none where another file counts."""
    submission = submissions.find(reader.connection, submission_id)
    run = results.ranked_run(reader.connection, submission_id)
    if submission is not None and run is None and submission.private:
        lifecycle = reader.sets[submission.set].lifecycle
        if not lifecycle.ladder_open:  # on a ladder its team is told a step, and no more
            last = results.last_run(reader.connection, submission.id, split=lifecycle.split)
            run = None if last is None else last.id
    cells = () if run is None else board_cells(reader.connection, run=run)
    return [_model_cell(reader, cell, {}) for cell in cells]


def ladder_feedback(reader: BoardReader, submission: Submission) -> LadderFeedback | None:
    """What a ladder tells the team of a scored file; None for other files."""
    test_set = reader.sets[submission.set]
    if submission.status is not SubmissionStatus.SCORED or not test_set.lifecycle.ladder_open:
        return None
    return LadderFeedback(
        task=test_set.task,
        view=test_set.lifecycle.view,
        step=set_rounding_step(test_set),
        leading_score=submission.best,
        best=submissions.best_step(reader.connection, submission),
    )


def team_page(reader: BoardReader, team: str) -> TeamPage:
    """A team's files, private ones as well, and what is left to it: for the team alone."""
    connection, settings = reader.connection, reader.settings
    moment, files = submissions.moment(connection), submissions.team_files(connection, team)
    counting = {file.id for name in reader.sets for file in submissions.counted(connection, name)}
    ladders = [name for name, test_set in reader.sets.items() if test_set.lifecycle.ladder_open]
    closing = [submissions.selected_for_closing(connection, name, settings.closing_models) for name in ladders]
    selected = {file.id for ranked in closing for file in ranked}
    teams = sharing(connection, team)
    return TeamPage(
        team=team,
        files=tuple(
            TeamFile(
                submission=file,
                counts=file.id in counting,
                selected=file.id in selected,
                feedback=ladder_feedback(reader, file),
                cells=tuple(submission_cells(reader, file.id)),
            )
            for file in reversed(files)
        ),
        quotas={
            name: submissions.quota(connection, settings, teams, test_set, at=moment)
            for name, test_set in reader.sets.items()
            if not test_set.lifecycle.refusal(name, now())
        },
    )


def _is_sealed(reader: BoardReader, run: AnyRow) -> bool:
    return run.split == FINAL and reader.sets[run.set].lifecycle.ladder_open


def _model_run(reader: BoardReader, run: AnyRow, cells: Sequence[BoardCell]) -> ModelRun:
    axis = reader.sets[run.set].task.axis
    details = {(score[axis], score["view"]): score for score in run.result["scores"]} if cells else {}
    return ModelRun(
        set=run.set,
        facts=as_facts(run),
        received=run.received,
        file=run.file,
        bytes=run.bytes,
        signature=run.signature,
        current=bool(cells),
        split=run.split,
        best=run.best if run.split == FEEDBACK else None,
        length_ratio=run.result.get("length_ratio"),
        removed=run.removed if run.status == SubmissionStatus.REMOVED.value else "",
        cells=tuple(_model_cell(reader, cell, details) for cell in cells),
        differences={cell.mode: cell.difference for cell in cells if cell.difference is not None},
    )


def _model_cell(reader: BoardReader, cell: BoardCell, details: Mapping[tuple[str, str], Any]) -> ModelCell:
    """A cell with its rank; ``details`` are the unrounded scores of its run, of which a hidden set shows nothing."""
    track = reader.track(cell.set, cell.mode, cell.view)
    ranks = reader.ranks(results.key_of_cell(cell))
    models, (rank, worst_rank) = len(ranks), ranks.get(cell.run, (0, 0))
    detail = {} if track.hidden else details.get(results.scorer_cell(cell), {})
    return ModelCell(
        track=track,
        rank=rank,
        worst_rank=worst_rank,
        models=models if rank else 0,
        estimates=cell.estimates,
        outcomes={name: count for name, count in detail.get("outcomes", {}).items() if count},
        groups=tuple(_group(track.task, group) for group in detail.get("groups", ())),
    )


def _group(task: ScoredTask, values: Mapping[str, Any]) -> Group:
    estimates = {}
    for metric in task.main_metrics:
        if (estimate := values["metrics"].get(metric)) is None:
            continue
        value = estimate["value"] or 0.0
        low, high = (value if estimate[end] is None else estimate[end] for end in ("low", "high"))
        estimates[metric] = Estimate(value, low, high)
    return Group(by=values["by"], label=values["label"], spans=values[task.units], estimates=estimates)
