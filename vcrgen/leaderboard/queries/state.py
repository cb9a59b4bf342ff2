"""Rows of a board as one reading connection sees them, and the scores that may be shown of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from sqlalchemy import Connection

from vcrgen.data.views import View
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.disclosure import disclose_pixels, set_rounding_step
from vcrgen.leaderboard.records import NO_MODE, BoardCell, BoardTable, PixelScore, TestSet, Track
from vcrgen.leaderboard.store import baselines, results
from vcrgen.leaderboard.store.sets import all_sets
from vcrgen.scorer.records import UNSTATED

VIEWS = list(View)


class SetRows:
    """The rows that are ranked on one set, in one state of the database; also the tables made of it, each once."""

    def __init__(self, connection: Connection, set_name: str) -> None:
        self.rows = results.board_cells(connection, set_name=set_name)
        self.cells: dict[tuple[str, View], list[BoardCell]] = defaultdict(list)
        self.views_of_run: dict[tuple[int, str], dict[View, BoardCell]] = defaultdict(dict)
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
        self.sets: Mapping[str, TestSet] = {test_set.name: test_set for test_set in all_sets(connection)}
        self._kept = {} if kept is None else kept

    def ranked(self, set_name: str) -> SetRows:
        """The rows that are ranked on a set, read once for a state of the database."""
        if set_name not in self._kept:
            self._kept[set_name] = SetRows(self.connection, set_name)
        return self._kept[set_name]

    @property
    def rows(self) -> Iterator[BoardCell]:
        """Every ranked cell, set by set."""
        return (row for name in self.sets for row in self.ranked(name).rows)

    def track(self, set_name: str, mode: str, view: View | str) -> Track:
        """The track of a set, mode and view, with the step to which its scores are rounded."""
        test_set = self.sets[set_name]
        language = mode if test_set.task.axis == "lang" else test_set.language
        return Track(
            set=test_set.name,
            hidden=test_set.hidden,
            language=language,
            mode=mode,
            view=View(view),
            questions=test_set.shown.questions,
            spans=test_set.shown.spans,
            step=set_rounding_step(test_set),
            lifecycle=test_set.lifecycle,
            task=test_set.task,
            settled_by_pixels=self._is_settled(test_set, mode),
        )

    def _is_settled(self, test_set: TestSet, mode: str) -> bool:
        """Tell whether the visible pixels of a set are known to settle its spans in a mode."""
        pixel_score = self.pixel_scores.get((test_set.name, mode))
        return test_set.white_rows if pixel_score is None else pixel_score.settles

    @cached_property
    def pixel_scores(self) -> Mapping[tuple[str, str], PixelScore]:
        """The template baseline by set and mode; of data that a set does not have any more, none."""
        return {
            (name, score.mode): disclose_pixels(score, set_rounding_step(self.sets[name]))
            for name, data, score in baselines.pixel_scores(self.connection)
            if name in self.sets and self.sets[name].data == data
        }


def scorer_cell(cell: BoardCell | results.CellKey) -> tuple[str, str]:
    """The mode and the view of a cell as the scorer names them."""
    return UNSTATED if cell.mode == NO_MODE else cell.mode, cell.view
