"""Making a board: its folder, the tables of its database, and its first sets."""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection

from vcrgen.core.errors import LeaderboardError, OutputError
from vcrgen.core.options import validate_options
from vcrgen.data.key import HIDDEN_SPLITS
from vcrgen.leaderboard.board import Board, Vault
from vcrgen.leaderboard.records import Feedback, SetLifecycle, TestSet
from vcrgen.leaderboard.scoring import open_session
from vcrgen.leaderboard.settings import FILE, SetSettings, Settings, write_settings
from vcrgen.leaderboard.store import results
from vcrgen.leaderboard.store.engine import create_board, open_engine
from vcrgen.leaderboard.store.sets import all_sets, register_set, set_of
from vcrgen.report.published.results import read_reported, shipped_tables

NEW_LIFECYCLE = SetLifecycle(feedback=Feedback.LADDER)  # of a hidden set of which nothing else is said
_SET_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


def init_board(
    folder: Path,
    data: Sequence[str],
    settings: Settings,
    *,
    with_reported: bool,
    lifecycle: SetLifecycle = NEW_LIFECYCLE,
    protocol: str | None = None,
) -> Board:
    """Make a board.

    Args:
        folder: A new or an empty folder.
        data: Its test sets, as ``NAME:PATH``.
        with_reported: Begin with the published results that ship with vcrgen.
        lifecycle: That of the hidden sets: their feedback, their dates.
        protocol: By which the sets are scored; None for the default of their tasks.

    Raises:
        LeaderboardError: The folder is not empty, a set is named wrongly or twice, or it holds no answers or, for a
            ladder, no parts.
    """
    test_sets = [describe_set(name, path, lifecycle, protocol=protocol) for name, path in named_sets(data).items()]
    settings = settings.model_copy(update={"sets": tuple(map(settings_of, test_sets))})
    with fresh_folder(folder), new_board(folder, settings) as board:
        with board.writing() as connection:
            check_database(connection)
            tasks = {test_set.task.name for test_set in test_sets}
            if with_reported:
                rows = (row for file in shipped_tables() for row in read_reported(file))
                results.add_reported(connection, [row for row in rows if row.task.name in tasks])
            for test_set in test_sets:
                register_set(connection, test_set)
        write_settings(folder, settings)  # last: what makes the folder a board
        return board


@contextmanager
def new_board(folder: Path, settings: Settings) -> Iterator[Board]:
    """Make the folder of a board and the tables of its database, with nothing in them; closed if the block raises.

    Raises:
        LeaderboardError: The database cannot be used.
        OutputError: The folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)  # scores of hidden sets are in it, unrounded
    except OSError as problem:
        raise OutputError(f"{folder} cannot be made: {problem.strerror or problem}.") from None
    engine = open_engine(folder, settings.database)
    try:
        create_board(engine)
        yield Board(folder, settings, engine, Vault(folder))
    except BaseException:
        engine.dispose()
        raise


@contextmanager
def fresh_folder(folder: Path) -> Iterator[None]:
    """Let a board be made in a folder: half a board is none, and would be in the way of the next try.

    Args:
        folder: A new or an empty folder, which is so again if the block raises, unless somebody else has made a board
            in it meanwhile.

    Raises:
        LeaderboardError: It holds something.
    """
    was_there = folder.exists()
    if was_there and (not folder.is_dir() or any(folder.iterdir())):
        raise LeaderboardError(f"{folder} is there and not empty; name a new folder.")
    try:
        yield
    except BaseException:
        if not (folder / FILE).exists():  # settings come last: where they are, somebody else has finished a board
            shutil.rmtree(folder, ignore_errors=True)
            if was_there:
                folder.mkdir(exist_ok=True)
        raise


def check_database(connection: Connection) -> None:
    """Refuse, with a LeaderboardError, a database that holds a board."""
    if all_sets(connection):
        raise LeaderboardError("The database holds a board already; name an empty one.")


def describe_set(
    name: str, path: Path, lifecycle: SetLifecycle = NEW_LIFECYCLE, *, protocol: str | None = None
) -> TestSet:
    """Read a dataset or a key, and say what it is.

    Args:
        name: What it is called on the board.
        lifecycle: Its feedback and its dates if it is hidden; a public set is open for ever.
        protocol: Of scores; None for the default of its task.

    Raises:
        LeaderboardError: The name is not one, the answers cannot be read, or have no parts for a ladder.
    """
    if not _SET_NAME.fullmatch(name):
        raise LeaderboardError(f"A set's name is up to 40 small letters, digits and hyphens, not {name[:60]!r}.")
    session = open_session(name, path, protocol=protocol)
    test_set = set_of(name, path, session, lifecycle if session.key.hidden else SetLifecycle(private=True))
    if test_set.lifecycle.feedback is Feedback.LADDER and set(test_set.lifecycle.splits) != set(HIDDEN_SPLITS):
        raise LeaderboardError(
            f"The key of {name!r} is not divided into a feedback and a final split, which a ladder needs: make the set "
            "anew with this version of `vcrgen hidden`, or take --feedback instant, by which the key can be read out."
        )
    if test_set.hidden and test_set.lifecycle.view not in session.key.views:
        views = ", ".join(session.key.views)
        raise LeaderboardError(f"The set {name!r} has no view {test_set.lifecycle.view.value!r}; it has {views}.")
    return test_set


def check_same_data(read: TestSet, stored: TestSet) -> None:
    """Refuse, with a LeaderboardError, other data in the place of a set: its scores would be of both."""
    if read.data != stored.data:
        raise LeaderboardError(
            f"The data of {stored.name!r} at {read.path} is not that of the set on the board; "
            "give a new set a new name."
        )


def settings_of(test_set: TestSet) -> SetSettings:
    """The entry of a set that is in use, for ``board.yaml``."""
    lifecycle = test_set.lifecycle
    values: dict[str, str | bool] = {"protocol": test_set.protocol or "", "retired": lifecycle.retired is not None}
    if test_set.hidden:
        moments = {"opens": lifecycle.opens, "closes": lifecycle.closes}
        values |= {name: at.isoformat() if at else "" for name, at in moments.items()}
        values |= {"feedback": lifecycle.feedback.value, "view": lifecycle.view.value}
        values |= {"unsafe": lifecycle.feedback is Feedback.INSTANT}
    if lifecycle.private is test_set.hidden:  # another than the default
        values["private"] = lifecycle.private
    return validate_options(SetSettings, {"name": test_set.name, "data": test_set.path, **values})


def named_sets(data: Sequence[str]) -> dict[str, Path]:
    """Read ``NAME:PATH`` options.

    Raises:
        LeaderboardError: One is not of that form, or two have the same name.
    """
    named: dict[str, Path] = {}
    for text in data:
        name, colon, path = text.partition(":")
        if not colon or not path:
            raise LeaderboardError(f"A set is named as NAME:PATH, such as public:data/my-vcr, not {text[:100]!r}.")
        if name in named:
            raise LeaderboardError(f"Two sets are named {name!r}; give each a name of its own.")
        named[name] = Path(path)
    return named
