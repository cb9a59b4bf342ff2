"""Tables of a board: models ranked within each signature, ladders, human baselines, reported results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from vcrgen.data.tasks.task import ScoredTask
from vcrgen.data.views import View
from vcrgen.leaderboard import records
from vcrgen.leaderboard.disclosure import disclose_human
from vcrgen.leaderboard.queries.state import VIEWS, BoardState
from vcrgen.leaderboard.records import NO_MODE, BoardCell, Estimates, RankedModel, Track
from vcrgen.leaderboard.store import baselines, reported_results, submissions
from vcrgen.report.published.human_baseline import HumanScore
from vcrgen.report.published.results import ReportedResult
from vcrgen.scorer.records import UNSTATED
from vcrgen.stats.ranking import rank_range


class RankingQueries(BoardState):
    """Tracks, their tables, and the overall scores."""

    def tracks(self) -> list[Track]:
        """All tables: those with models, and VI+TEI of every mode of a set without."""
        tracks = []
        for one in self.sets.values():
            modes = one.modes or (NO_MODE,)
            names = {(mode, one.lifecycle.view.value) for mode in modes}
            names |= {*self.ranked(one.name).cells, *(place[1:] for place in self._humans if place[0] == one.name)}
            # Last the modes of scores from before the set was changed.
            order = list(dict.fromkeys([*modes, NO_MODE, *sorted(mode for mode, _ in names)]))
            for mode, view in sorted(names, key=lambda name: (order.index(name[0]), VIEWS.index(View(name[1])))):
                tracks.append(self.track(one.name, mode, view))
        return tracks

    def table(self, track: Track) -> records.BoardTable:
        """The models of a track, ranked within each signature."""
        made = self.ranked(track.set).tables
        if track not in made:
            made[track] = self._table(track)
        return made[track]

    def _table(self, track: Track) -> records.BoardTable:
        ranked = self.ranked(track.set)
        by_signature: dict[str, list[BoardCell]] = defaultdict(list)
        for cell in ranked.cells.get((track.mode, track.view), ()):
            by_signature[cell.short].append(cell)
        newest = sorted(by_signature, key=lambda short: ranked.signatures[short][1], reverse=True)
        language = track.mode if track.task.axis == "lang" else track.language
        return records.BoardTable(
            track=track,
            rankings=tuple(self._ranking(track, short, by_signature[short]) for short in newest),
            ladder_rows=tuple(self._ladder_rows(track.set)) if track.lifecycle.ladder_open else (),
            reported=tuple(self._reported.get((language, track.mode, track.view), {}).values()),
            pixels=tuple(filter(None, [self.pixel_scores.get((track.set, track.mode))])),
            humans=tuple(self._humans.get((track.set, track.mode, track.view.value), ())),
        )

    def tables(self) -> list[records.BoardTable]:
        """All tables."""
        return [self.table(track) for track in self.tracks()]

    def reported(self) -> Sequence[ReportedResult]:
        """All reported results."""
        return reported_results.all_reported(self.connection)

    @cached_property
    def _reported(self) -> Mapping[tuple[str, str, View], Mapping[Any, ReportedResult]]:
        """Reported results by table, one per model and data: papers print some rows in several tables."""
        by_table: dict[tuple[str, str, View], dict[Any, ReportedResult]] = defaultdict(dict)
        for row in self.reported():
            same = (
                row.data,
                row.items,
                row.model,
                row.size,
                *(getattr(row, metric) for metric in row.task.main_metrics),
            )
            by_table[row.language, row.mode, row.view].setdefault(same, row)
        return by_table

    @cached_property
    def _humans(self) -> Mapping[tuple[str, str, str], Sequence[HumanScore]]:
        """Scores of people by set, mode and view; of data that a set does not have any more, none."""
        by_track: dict[tuple[str, str, str], list[HumanScore]] = defaultdict(list)
        for name, data, score in baselines.human_scores(self.connection):
            if name in self.sets and self.sets[name].data == data:
                mode = NO_MODE if score.mode == UNSTATED else score.mode
                disclosed = disclose_human(score, hidden=self.sets[name].hidden)
                by_track[name, mode, score.view.value].append(disclosed)
        return by_track

    def overall(self) -> list[records.OverallScore]:
        """Models with a figure on every set of the overall score, the highest mean first."""
        names = self.board.settings.overall
        by_model: dict[str, dict[tuple[str, str], BoardCell]] = defaultdict(dict)
        for row in self.rows:
            if row.set in names and row.view == self.sets[row.set].lifecycle.view:
                by_model[row.facts.entry][row.set, row.mode] = row
        overall_scores = []
        for rows in by_model.values():
            by_set = {name: self._mean(name, rows) for name in names}
            means = {name: value for name, value in by_set.items() if value is not None}
            if len(means) == len(names):
                facts = max(rows.values(), key=lambda row: row.received).facts
                overall_scores.append(
                    records.OverallScore(facts=facts, exact=sum(means.values()) / len(means), by_set=means)
                )
        return sorted(overall_scores, key=lambda score: (-score.exact, score.facts.model, score.facts.team))

    def _mean(self, set_name: str, rows: Mapping[tuple[str, str], BoardCell]) -> float | None:
        """The mean over the modes of a set, from figures that may be shown; None if one is missing."""
        test_set = self.sets[set_name]
        modes = test_set.modes or (NO_MODE,)
        if not all((set_name, mode) in rows for mode in modes):
            return None
        means = [_leading(test_set.task, rows[set_name, mode].estimates) for mode in modes]
        return sum(means) / len(means)

    def _ladder_rows(self, set_name: str) -> list[records.LadderRow]:
        """The models of a set that is still open, by the step that each has reached."""
        files = submissions.public_files(self.connection, set_name)
        lowest_first = sorted(files, key=lambda file: -1.0 if file.best is None else file.best)
        highest = {file.facts.entry: file for file in lowest_first}.values()
        ladder_rows = [records.LadderRow(facts=file.facts, received=file.received, best=file.best) for file in highest]
        return sorted(ladder_rows, key=lambda row: (-(row.best or -1.0), row.facts.model, row.facts.team))

    def _ranking(self, track: Track, short: str, cells: Sequence[BoardCell]) -> records.Ranking:
        rows = sorted((self._row(cell, len(cells)) for cell in cells), key=_by_rank)
        return records.Ranking(signature=self.ranked(track.set).signatures[short][0], short=short, rows=tuple(rows))

    def _row(self, cell: BoardCell, models: int) -> RankedModel:
        views = self.ranked(cell.set).views_of_run[cell.run, cell.mode]
        assert cell.better is not None and cell.worse is not None  # as it is ranked
        rank, worst_rank = rank_range(cell.better, cell.worse, models)
        return RankedModel(
            facts=cell.facts,
            received=cell.received,
            rank=rank,
            worst_rank=worst_rank,
            scores={view: other.estimates for view, other in views.items()},
            difference=cell.difference,
        )


def _by_rank(row: RankedModel) -> tuple[Any, ...]:
    best = -max(next(iter(estimates.values())).value for estimates in row.scores.values())
    return row.rank, row.worst_rank, best, row.facts.model, row.facts.team


def _leading(task: ScoredTask, estimates: Estimates) -> float:
    """The mean of the metric that ranks; 0 where a model was not asked for it."""
    return estimates[task.main_metrics[0]].value if task.main_metrics[0] in estimates else 0.0
