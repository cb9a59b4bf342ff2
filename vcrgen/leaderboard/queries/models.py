"""Pages of single models and teams, and the scores of single submissions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from vcrgen.database.schema import AnyRow
from vcrgen.dataset.key import FEEDBACK, FINAL
from vcrgen.leaderboard import records
from vcrgen.leaderboard.disclosure import set_rounding_step
from vcrgen.leaderboard.intake import quota, selected_for_closing
from vcrgen.leaderboard.queries.state import BoardState, disclosed_estimates, scorer_cell, view_difference
from vcrgen.leaderboard.records import Estimate, Submission, SubmissionStatus
from vcrgen.leaderboard.store import results, submissions
from vcrgen.leaderboard.store.log import now
from vcrgen.leaderboard.store.submissions import as_facts
from vcrgen.stats.ranking import rank_range
from vcrgen.tasks.task import ScoredTask


class ModelQueries(BoardState):
    """Submissions by model and by team."""

    def model(self, entry: str) -> records.ModelPage | None:
        """Everything that was scored for a model, or None."""
        # What is known of a final split before its set is closed is nobody's to see.
        rows = [row for row in results.runs_of(self.connection, entry) if not self._is_sealed(row)]
        if not rows:
            return None
        cells: dict[int, list[AnyRow]] = defaultdict(list)
        for cell in results.board_rows(self.connection, entries=[entry]):
            cells[cell.run].append(cell)
        runs = tuple(self._model_run(row, cells[row.run]) for row in rows)
        return records.ModelPage(facts=as_facts(rows[0]), runs=runs)

    def cells_of(self, submission_id: str) -> Sequence[records.ModelCell]:
        """The scores of a submission: ranked ones, or those of a private file; none where another file counts."""
        one = submissions.find(self.connection, submission_id)
        run = results.ranked_run(self.connection, submission_id)
        if one is not None and run is not None:
            rows = results.board_rows(self.connection, entries=[one.facts.entry])
            return [self._model_cell(cell, {}) for cell in rows if cell.run == run]
        if one is None or not one.private or self.sets[one.set].lifecycle.ladder_open:
            return []
        last = results.last_run(self.connection, one.id, split=self.sets[one.set].lifecycle.split)
        private = results.evidence(self.connection, last.id) if last is not None else {}
        return [self._model_cell(of.cell, {}) for of in private.values()]

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
                one.name: quota(self.connection, self.board.settings, name, one, at=moment)
                for one in self.sets.values()
                if not one.lifecycle.refusal(one.name, now())
            },
        )

    @cached_property
    def _ranking_sizes(self) -> Mapping[results.CellKey, int]:
        return results.ranking_sizes(self.connection)

    def _is_sealed(self, run: AnyRow) -> bool:
        return run.split == FINAL and self.sets[run.set].lifecycle.ladder_open

    def _model_run(self, row: AnyRow, cells: Sequence[AnyRow]) -> records.ModelRun:
        one = self.sets[row.set]
        views: dict[str, dict[str, AnyRow]] = defaultdict(dict)
        for cell in cells:
            views[cell.mode][cell.view] = cell
        paired = {mode: view_difference(one.task, of, set_rounding_step(one)) for mode, of in views.items()}
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
            differences={mode: estimates for mode, estimates in paired.items() if estimates is not None},
        )

    def _model_cell(self, cell: AnyRow, details: Mapping[tuple[str, str], Any]) -> records.ModelCell:
        track = self.track(cell.set, cell.mode, cell.view)
        ranked = cell.better is not None  # a private file is not
        models = self._ranking_sizes[results.CellKey(cell.set, cell.mode, cell.view, cell.short)] if ranked else 0
        rank, worst_rank = rank_range(cell.better, cell.worse, models) if ranked else (0, 0)
        detail = {} if track.hidden else details.get(scorer_cell(cell), {})
        return records.ModelCell(
            track=track,
            rank=rank,
            worst_rank=worst_rank,
            models=models,
            estimates=disclosed_estimates(cell.estimates, track.step),
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
