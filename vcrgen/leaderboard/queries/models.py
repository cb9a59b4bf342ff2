"""Pages of single models and teams, and the scores of single submissions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from vcrgen.data.key import FEEDBACK, FINAL
from vcrgen.data.tasks.task import ScoredTask
from vcrgen.leaderboard import records
from vcrgen.leaderboard.disclosure import set_rounding_step
from vcrgen.leaderboard.intake import quota, selected_for_closing
from vcrgen.leaderboard.queries.state import BoardState, scorer_cell
from vcrgen.leaderboard.records import BoardCell, Estimate, Submission, SubmissionStatus
from vcrgen.leaderboard.store import results, submissions
from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.store.submissions import as_facts
from vcrgen.leaderboard.store.teams import sharing
from vcrgen.stats.ranking import rank_range
from vcrgen.web.database.schema import AnyRow


class ModelQueries(BoardState):
    """Submissions by model and by team."""

    def model(self, entry: str) -> records.ModelPage | None:
        """Everything that was scored for a model, or None."""
        # What is known of a final split before its set is closed is nobody's to see.
        rows = [row for row in results.runs_of(self.connection, entry) if not self._is_sealed(row)]
        if not rows:
            return None
        cells: dict[int, list[BoardCell]] = defaultdict(list)
        for cell in results.board_cells(self.connection, entries=[entry]):
            cells[cell.run].append(cell)
        runs = tuple(self._model_run(row, cells[row.run]) for row in rows)
        return records.ModelPage(facts=as_facts(rows[0]), runs=runs)

    def cells_of(self, submission_id: str) -> Sequence[records.ModelCell]:
        """The scores of a submission: ranked ones, or those of a private file; none where another file counts."""
        one = submissions.find(self.connection, submission_id)
        run = results.ranked_run(self.connection, submission_id)
        if one is not None and run is None and one.private and not self.sets[one.set].lifecycle.ladder_open:
            last = results.last_run(self.connection, one.id, split=self.sets[one.set].lifecycle.split)
            run = None if last is None else last.id
        cells = () if run is None else results.board_cells(self.connection, run=run)
        return [self._model_cell(cell, {}) for cell in cells]

    def ladder_feedback(self, submission: Submission) -> records.LadderFeedback | None:
        """Return the ladder feedback of a scored file; None for other files."""
        one = self.sets[submission.set]
        if submission.status is not SubmissionStatus.SCORED or not one.lifecycle.ladder_open:
            return None
        best = submissions.best_step(self.connection, submission)
        return records.LadderFeedback(
            task=one.task,
            view=one.lifecycle.view,
            step=set_rounding_step(one),
            leading_score=submission.best,
            best=best,
        )

    def team(self, name: str) -> records.TeamPage:
        """A team's files, private ones as well, and what is left to it: for the team alone."""
        moment, files = submissions.moment(self.connection), submissions.team_files(self.connection, name)
        counting = {one.id for each in self.sets for one in submissions.counted(self.connection, each)}
        number = self.board.settings.closing_models
        open_ladders = [one.name for one in self.sets.values() if one.lifecycle.ladder_open]
        selected = {one.id for each in open_ladders for one in selected_for_closing(self.connection, each, number)}
        teams = sharing(self.connection, name)
        return records.TeamPage(
            team=name,
            files=tuple(
                records.TeamFile(
                    submission=one,
                    counts=one.id in counting,
                    selected=one.id in selected,
                    feedback=self.ladder_feedback(one),
                    cells=tuple(self.cells_of(one.id)),
                )
                for one in reversed(files)
            ),
            quotas={
                one.name: quota(self.connection, self.board.settings, teams, one, at=moment)
                for one in self.sets.values()
                if not one.lifecycle.refusal(one.name, now())
            },
        )

    @cached_property
    def _ranking_sizes(self) -> Mapping[results.CellKey, int]:
        return results.ranking_sizes(self.connection)

    def _is_sealed(self, run: AnyRow) -> bool:
        return run.split == FINAL and self.sets[run.set].lifecycle.ladder_open

    def _model_run(self, row: AnyRow, cells: Sequence[BoardCell]) -> records.ModelRun:
        one = self.sets[row.set]
        details = {(cell[one.task.axis], cell["view"]): cell for cell in row.result["scores"]} if cells else {}
        return records.ModelRun(
            set=row.set,
            facts=as_facts(row),
            received=row.received,
            file=row.file,
            bytes=row.bytes,
            signature=row.signature,
            current=bool(cells),
            split=row.split,
            best=row.best if row.split == FEEDBACK else None,
            length_ratio=row.result.get("length_ratio"),
            removed=row.removed if row.status == SubmissionStatus.REMOVED.value else "",
            cells=tuple(self._model_cell(cell, details) for cell in cells),
            differences={cell.mode: cell.difference for cell in cells if cell.difference is not None},
        )

    def _model_cell(self, cell: BoardCell, details: Mapping[tuple[str, str], Any]) -> records.ModelCell:
        track = self.track(cell.set, cell.mode, cell.view)
        models, rank, worst_rank = 0, 0, 0  # of a private file
        if cell.better is not None and cell.worse is not None:
            models = self._ranking_sizes[results.CellKey(cell.set, cell.mode, cell.view, cell.short)]
            rank, worst_rank = rank_range(cell.better, cell.worse, models)
        detail = {} if track.hidden else details.get(scorer_cell(cell), {})
        return records.ModelCell(
            track=track,
            rank=rank,
            worst_rank=worst_rank,
            models=models,
            estimates=cell.estimates,
            outcomes={name: count for name, count in detail.get("outcomes", {}).items() if count},
            groups=tuple(_group(track.task, group) for group in detail.get("groups", ())),
        )


def _group(task: ScoredTask, values: Mapping[str, Any]) -> records.Group:
    estimates = {}
    for metric in task.main_metrics:
        if (estimate := values["metrics"].get(metric)) is None:
            continue
        value = estimate["value"] or 0.0
        low, high = (value if estimate[end] is None else estimate[end] for end in ("low", "high"))
        estimates[metric] = Estimate(value, low, high)
    return records.Group(by=values["by"], label=values["label"], spans=values[task.units], estimates=estimates)
