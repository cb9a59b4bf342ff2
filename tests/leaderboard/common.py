"""Names of types, and looks at a board, that many tests of boards need."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.new_board import settings_of
from vcrgen.leaderboard.page_records import BoardTable
from vcrgen.leaderboard.records import Event, ModelFacts, Submission
from vcrgen.leaderboard.rotation import SetChange, apply_settings
from vcrgen.leaderboard.settings import SetSettings, write_settings
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.log import read_log
from vcrgen.leaderboard.store.reader import BoardReader

SET = "hidden-en"
Drain = Callable[..., int]
Facts = Callable[..., ModelFacts]
Find = Callable[[Board, str], Submission]
Guess = Callable[..., Path]
Hand = Callable[..., Path]
MakeBoard = Callable[..., Board]
Place = Callable[..., Submission]
Run = Callable[..., tuple[int, str, str]]
Submit = Callable[..., Submission]
Visit = Callable[..., tuple[Any, Any]]


def want(board: Board, *new: str, changes: Mapping[str, Mapping[str, Any]] = {}) -> Sequence[SetChange]:
    """Write sets into board.yaml as a maintainer does, and apply them.

    Args:
        new: Sets to add, as ``NAME:PATH``.
        changes: What else is said of sets, new ones too, by name.
    """
    known = {one.name: settings_of(one).model_dump(exclude_defaults=True) for one in board.sets}
    known |= {name: {"name": name, "data": data} for name, _, data in (text.partition(":") for text in new)}
    for name, values in changes.items():
        known[name] = known[name] | values
    settings = board.settings.model_copy(update={"sets": tuple(SetSettings(**values) for values in known.values())})
    write_settings(board.folder, settings)
    opened, done = apply_settings(board.folder)
    opened.engine.dispose()
    return done


def events(board: Board, *kinds: str) -> list[Event]:
    """The lines of the log, or those of some kinds."""
    with board.reading() as connection:
        return [line for line in read_log(connection) if not kinds or line.what in kinds]


def statuses(board: Board) -> Counter[str]:
    """How many submissions are in each state."""
    with board.reading() as connection:
        return Counter(one.status.value for one in submissions.list_submissions(connection))


def table_of(board: Board) -> BoardTable:
    """The first table of the hidden set."""
    with board.reading() as connection:
        return next(each for each in BoardReader(board.settings, connection).tables() if each.track.set == SET)


def until(look: Callable[[], Any], seconds: float = 180) -> Any:
    """The first value that a look gives."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found
