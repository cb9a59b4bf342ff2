"""Rows of a board as one reading connection sees them, and the scores that may be shown of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from sqlalchemy import Connection

from vcrgen.data.views import View
from vcrgen.leaderboard.board import Board, data_of
from vcrgen.leaderboard.disclosure import disclose_pixels, set_rounding_step
from vcrgen.leaderboard.records import BoardCell, BoardTable, PixelScore, TestSet, Track
from vcrgen.leaderboard.scoring import NO_MODE
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
        self.sets: Mapping[str, TestSet] = {one.name: one for one in all_sets(connection)}
        self._kept = {} if kept is None else kept

    def ranked(self, set_name: str) -> SetRows:
        """Return the rows that are ranked on a set."""
        if set_name not in self._kept:
            self._kept[set_name] = SetRows(self.connection, set_name)
        return self._kept[set_name]

    @property
    def rows(self) -> Iterator[BoardCell]:
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


def scorer_cell(cell: BoardCell | results.CellKey) -> tuple[str, str]:
    """The mode and the view of a cell as the scorer names them."""
    return UNSTATED if cell.mode == NO_MODE else cell.mode, cell.view
