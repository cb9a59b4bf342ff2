"""Rows of a board as one reading connection sees them, and the scores that may be shown of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from sqlalchemy import Connection

from vcrgen.database.schema import AnyRow
from vcrgen.dataset.views import View
from vcrgen.leaderboard.board import Board, data_of
from vcrgen.leaderboard.disclosure import disclose, disclose_difference, disclose_pixels, set_rounding_step
from vcrgen.leaderboard.records import BoardTable, Estimate, Estimates, PixelScore, TestSet, Track
from vcrgen.leaderboard.scoring import NO_MODE
from vcrgen.leaderboard.store import baselines, results
from vcrgen.leaderboard.store.sets import all_sets
from vcrgen.scorer.records import UNSTATED
from vcrgen.tasks.task import ScoredTask

VIEWS = list(View)


class SetRows:
    """The rows that are ranked on one set, in one state of the database; also the tables made of it, each once."""

    def __init__(self, connection: Connection, set_name: str) -> None:
        self.rows = results.board_rows(connection, set_name=set_name)
        self.cells: dict[tuple[str, str], list[AnyRow]] = defaultdict(list)
        self.views_of_run: dict[tuple[int, str], dict[str, AnyRow]] = defaultdict(dict)
        for row in self.rows:
            self.cells[row.mode, row.view].append(row)
            self.views_of_run[row.run, row.mode][row.view] = row
        self.signatures = results.signatures(connection, set_name)
        self.tables: dict[Track, BoardTable] = {}


class BoardState:
    """Sets and ranked rows of a board.

    Args:
        board: The board.
        connection: Sees one state of its database.
        kept: Rows by set, of this state or one before; those of other sets are added when they are needed.
    """

    def __init__(self, board: Board, connection: Connection, kept: dict[str, SetRows] | None = None) -> None:
        self.board = board
        self.connection = connection
        self.sets: Mapping[str, TestSet] = {one.name: one for one in all_sets(connection)}
        self._kept = {} if kept is None else kept

    def ranked(self, set_name: str) -> SetRows:
        """Return the rows that are ranked on a set."""
        if set_name not in self._kept:
            self._kept[set_name] = SetRows(self.connection, set_name)
        return self._kept[set_name]

    @property
    def rows(self) -> Iterator[AnyRow]:
        """Every ranked cell, set by set."""
        return (row for name in self.sets for row in self.ranked(name).rows)

    def track(self, set_name: str, mode: str, view: View | str) -> Track:
        """Return the track of a set, mode and view."""
        one = self.sets[set_name]
        language = mode if one.task.axis == "lang" else one.language
        return Track(
            set=one.name,
            hidden=one.hidden,
            language=language,
            mode=mode,
            view=View(view),
            questions=one.shown.questions,
            spans=one.shown.spans,
            step=set_rounding_step(one),
            lifecycle=one.lifecycle,
            task=one.task,
            settled_by_pixels=self._is_settled(one, mode),
        )

    def _is_settled(self, one: TestSet, mode: str) -> bool:
        """Tell whether the visible pixels of a set are known to settle its spans in a mode."""
        found = self.pixel_scores.get((one.name, mode))
        return one.white_rows if found is None else found.settles

    @cached_property
    def pixel_scores(self) -> Mapping[tuple[str, str], PixelScore]:
        """The template baseline by set and mode; of data that a set does not have any more, none."""
        return {
            (name, score.mode): disclose_pixels(score, set_rounding_step(self.sets[name]))
            for name, data, score in baselines.pixel_scores(self.connection)
            if name in self.sets and data_of(self.sets[name]) == data
        }


def scorer_cell(cell: AnyRow | results.CellKey) -> tuple[str, str]:
    """The mode and the view of a cell as the scorer names them."""
    return UNSTATED if cell.mode == NO_MODE else cell.mode, cell.view


def disclosed_estimates(values: Mapping[str, Sequence[float]], step: float) -> Estimates:
    """Return stored estimates as they may be shown."""
    return {metric: disclose(Estimate(*triple), step) for metric, triple in values.items()}


def view_difference(task: ScoredTask, views: Mapping[str, AnyRow], step: float) -> Estimates | None:
    """The difference of the two views that are compared, if a run has both."""
    first, second = (views.get(view.value) for view in task.view_contrast)
    if first is None or second is None or first.difference is None:
        return None
    paired = {metric: Estimate(*triple) for metric, triple in first.difference.items()}
    return disclosed_differences(
        disclosed_estimates(first.estimates, step), disclosed_estimates(second.estimates, step), paired, step
    )


def disclosed_differences(a: Estimates, b: Estimates, paired: Estimates, step: float) -> Estimates:
    """Differences of disclosed figures, by metric."""
    return {metric: disclose_difference(a[metric], b[metric], estimate, step) for metric, estimate in paired.items()}
