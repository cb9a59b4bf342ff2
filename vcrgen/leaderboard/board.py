"""A board: a folder with its settings, its vault, and (unless another is named) its database."""

from __future__ import annotations

import getpass
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import Connection, Engine

from vcrgen.core.errors import ConfigError, LeaderboardError, OutputError, VcrgenError
from vcrgen.core.options import validate_options
from vcrgen.core.signature import Signature
from vcrgen.data.key import HIDDEN_SPLITS
from vcrgen.data.tasks.task import VCR_TASK
from vcrgen.data.views import View
from vcrgen.leaderboard.records import Feedback, SetLifecycle, SplitSize, TestSet
from vcrgen.leaderboard.settings import FILE, SetSettings, Settings, read_settings, write_settings
from vcrgen.leaderboard.store import reported_results
from vcrgen.leaderboard.store.engine import check_board, create_board, open_engine
from vcrgen.leaderboard.store.log import record
from vcrgen.leaderboard.store.sets import add_set, all_sets
from vcrgen.leaderboard.vault import Vault
from vcrgen.report.published.results import read_reported, shipped_tables
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.run import open_session as scoring_session
from vcrgen.scorer.session import BaseScoringSession
from vcrgen.web.database.engine import reading, writing

MAINTAINER = "maintainer"  # how those are called who work on the command line, before the name of their account
NEW_LIFECYCLE = SetLifecycle(feedback=Feedback.LADDER)  # of a hidden set of which nothing else is said
_SET_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Board:
    """An open board."""

    folder: Path
    settings: Settings  # the content of board.yaml
    engine: Engine  # of its database
    vault: Vault  # the files that were submitted

    def reading(self) -> AbstractContextManager[Connection]:
        """A connection that sees one state of the board."""
        return reading(self.engine)

    def writing(self) -> AbstractContextManager[Connection]:
        """A transaction, safe on disk when the block has ended."""
        return writing(self.engine)

    @property
    def sets(self) -> Sequence[TestSet]:
        """The test sets."""
        with self.reading() as connection:
            return all_sets(connection)


def open_board(folder: Path) -> Board:
    """Open the board of a folder.

    Raises:
        LeaderboardError: There is no board, or its database cannot be used or is of another version.
        ConfigError: Its settings are wrong.
    """
    board = open_unapplied(folder)
    check_overall(board, board.sets)
    return board


def open_unapplied(folder: Path) -> Board:
    """Open the board of a folder whose settings may name sets that are not in use yet; it raises as open_board."""
    if not (folder / FILE).is_file():
        raise LeaderboardError(
            f"{folder} is no board (it has no {FILE}); `vcrgen leaderboard init {folder} --data NAME:DATA` makes one."
        )
    settings = read_settings(folder)
    board = Board(folder, settings, open_engine(folder, settings.database), Vault(folder))
    check_board(board.engine)
    return board


def check_overall(board: Board, sets: Sequence[TestSet]) -> None:
    """Refuse, with a ConfigError, an overall score over a set that the board does not have."""
    names = [test_set.name for test_set in sets]
    for name in board.settings.overall:
        if name not in names:
            raise ConfigError(
                f"{board.folder / FILE}: overall names {name[:40]!r}, which is no set of the board; it has "
                f"{', '.join(names)}."
            )


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
        settings: What goes into ``board.yaml``.
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
            for test_set in test_sets:
                register_set(connection, test_set)
            tasks = {test_set.task.name for test_set in test_sets}
            for file in shipped_tables() if with_reported else ():
                reported_results.add(connection, [row for row in read_reported(file) if row.task.name in tasks])
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
        path: Where it is.
        lifecycle: Its feedback and its dates if it is hidden; a public set is open for ever.
        protocol: Of scores; None for the default of its task.

    Raises:
        LeaderboardError: The name is not one, the answers cannot be read, or have no parts for a ladder.
    """
    if not _SET_NAME.fullmatch(name):
        raise LeaderboardError(f"A set's name is up to 40 small letters, digits and hyphens, not {name[:60]!r}.")
    session = open_session(name, path, protocol=protocol)
    test_set = set_of(name, path, session, lifecycle if session.key.hidden else SetLifecycle())
    if test_set.lifecycle.feedback is Feedback.LADDER and set(test_set.lifecycle.splits) != set(HIDDEN_SPLITS):
        raise LeaderboardError(
            f"The key of {name!r} is not divided into a feedback and a final split, which a ladder needs: make the set "
            "anew with this version of `vcrgen hidden`, or take --feedback instant, by which the key can be read out."
        )
    if test_set.hidden and test_set.lifecycle.view not in session.key.views:
        views = ", ".join(session.key.views)
        raise LeaderboardError(f"The set {name!r} has no view {test_set.lifecycle.view.value!r}; it has {views}.")
    return test_set


def register_set(connection: Connection, test_set: TestSet) -> None:
    """Put a set on a board.

    Raises:
        LeaderboardError: A set of this name, or with these hidden answers, is on the board.
    """
    for other in all_sets(connection):
        if other.name == test_set.name:
            raise LeaderboardError(f"There is a set {test_set.name!r} on this board; give the new one another name.")
        if test_set.hidden and other.hidden and data_of(other) == data_of(test_set):
            raise LeaderboardError(f"The set {other.name!r} has the same key as {test_set.name!r}; make another one.")
    add_set(connection, test_set)
    details = {"signature": test_set.signature} | (
        {"feedback": test_set.lifecycle.feedback.value} if test_set.hidden else {}
    )
    record(connection, actor=maintainer(), what="set added", subject=test_set.name, facts=details)


def data_of(test_set: TestSet) -> str:
    """The data of a set as its signature names it: of a hidden set the beginning of its commitment."""
    return Signature.parse(test_set.signature).facts["data"]


def protocol_of(test_set: TestSet) -> str | None:
    """The protocol by which a set is scored, which it keeps; None for the default of its task."""
    name = Signature.parse(test_set.signature).facts.get("protocol", "")
    return name.rpartition("-")[0] or None if test_set.task is VCR_TASK else None


def open_session(
    name: str, path: Path, *, split: str = "", view: View | None = None, protocol: str | None = None
) -> BaseScoringSession:
    """Answers and scorer of a set; every answer tokenised, so that processes which are forked share that.

    Args:
        name: What the set is called on the board.
        path: Where it is.
        split: The split of a hidden set to score; empty for the whole.
        view: The only view to score; None for all.
        protocol: That of the scores; None for the default of the task.

    Raises:
        LeaderboardError: The answers cannot be read.
    """
    try:
        session = scoring_session(path, ScoreOptions(subset=split or None, view=view and view.value, protocol=protocol))
        session.preload()
    except VcrgenError as problem:
        raise LeaderboardError(f"The set {name!r} cannot be used: {problem}") from None
    return session


def set_of(name: str, path: Path, session: BaseScoringSession, lifecycle: SetLifecycle) -> TestSet:
    """The record of a set; ``session`` has to hold all of its splits, as their sizes are counted."""
    key = session.key
    if lifecycle.feedback is Feedback.LADDER:
        sizes = {
            split: [len(question.answers) for question in key.questions if question.part == split]
            for split in HIDDEN_SPLITS
        }
        splits = {split: SplitSize(questions=len(spans), spans=sum(spans)) for split, spans in sizes.items() if spans}
        lifecycle = replace(lifecycle, splits=splits)
    if lifecycle.view is VCR_TASK.image_views[0]:  # of which nothing else was said
        lifecycle = replace(lifecycle, view=session.task.image_views[0])
    return TestSet(
        name=name,
        path=str(path.absolute()),
        hidden=key.hidden,
        language=key.lang,
        questions=len(key.questions),
        spans=sum(len(question.answers) for question in key.questions),
        modes=key.variants,
        signature=str(session.signature),
        lifecycle=lifecycle,
        task=session.task,
        white_rows=isinstance(key, AnswerKey) and key.white_rows,
    )


def settings_of(test_set: TestSet) -> SetSettings:
    """The entry of a set that is in use, for ``board.yaml``."""
    lifecycle = test_set.lifecycle
    values: dict[str, str | bool] = {"protocol": protocol_of(test_set) or "", "retired": lifecycle.retired is not None}
    if test_set.hidden:
        moments = {"opens": lifecycle.opens, "closes": lifecycle.closes}
        values |= {name: at.isoformat() if at else "" for name, at in moments.items()}
        values |= {"feedback": lifecycle.feedback.value, "view": lifecycle.view.value}
        values |= {"unsafe": lifecycle.feedback is Feedback.INSTANT}
    return validate_options(SetSettings, {"name": test_set.name, "data": test_set.path, **values})


def maintainer() -> str:
    """Who uses the command line, by the name of the account, for the log."""
    try:
        return f"{MAINTAINER} {getpass.getuser()}"[:100]
    except (OSError, KeyError):
        return MAINTAINER


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
