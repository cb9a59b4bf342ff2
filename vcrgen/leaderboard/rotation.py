"""Sets come and go as ``board.yaml`` says: added, given other dates, and retired; at last a key is published."""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection

from vcrgen.core.errors import HiddenSetError, LeaderboardError
from vcrgen.core.folder import new_folder
from vcrgen.data.key import KEY_FILE, MAX_KEY_BYTES, read_key
from vcrgen.data.manifest import MANIFEST
from vcrgen.data.tasks.task import TASKS
from vcrgen.data.views import View
from vcrgen.leaderboard.board import Board, check_overall, open_unapplied
from vcrgen.leaderboard.new_board import check_same_data, describe_set
from vcrgen.leaderboard.records import Feedback, SetLifecycle, TestSet
from vcrgen.leaderboard.settings import FILE, SetSettings
from vcrgen.leaderboard.store.log import maintainer, now, record
from vcrgen.leaderboard.store.sets import all_sets, change_set, get_set, register_set
from vcrgen.leaderboard.times import iso_minute, minute
from vcrgen.scorer.answers import hidden_folder


class SetChange(NamedTuple):
    """One change of a set, as a line of the log names it."""

    set: str
    what: str


def check_unsafe(feedback: str, *, unsafe: bool) -> None:
    """Refuse, with a LeaderboardError, instant feedback that is not said to be unsafe."""
    if feedback == Feedback.INSTANT and not unsafe:
        raise LeaderboardError(
            "With instant feedback a team that has a few guesses for each text can read the key out of the scores; "
            "take the ladder, or say `unsafe` where you trust all teams."
        )


def make_lifecycle(*, feedback: str = "", view: str = "", opens: str = "", closes: str = "") -> SetLifecycle:
    """The phase of a new hidden set, from what a command line or ``board.yaml`` says; what is empty has its default.

    Args:
        feedback: ``ladder`` or ``instant``.
        view: The view whose exact match a ladder shows.
        opens: When the set is open, as ``2026-12-01`` or ``2026-12-01T12:00``, in UTC where no zone is named.
        closes: Until when; of a date, until its end.

    Raises:
        LeaderboardError: One of them is not that, or it closes before it opens.
    """
    kinds = (Feedback.LADDER, Feedback.INSTANT)
    if feedback not in ("", *kinds):
        raise LeaderboardError(f"The feedback is one of {', '.join(kinds)}, not {feedback[:20]!r}.")
    views = [view for task in TASKS.values() for view in task.image_views]
    if view not in ("", *views):
        raise LeaderboardError(f"The view is one of {', '.join(views)}, not {view[:20]!r}.")
    return _check_order(
        SetLifecycle(
            feedback=Feedback(feedback or Feedback.LADDER),
            view=View(view or View.STACKED),
            opens=_moment(opens, "opens"),
            closes=_moment(closes, "closes", last_day=True),
        )
    )


def apply_settings(folder: Path) -> tuple[Board, Sequence[SetChange]]:
    """Open a board, and make its sets those of its ``board.yaml``: in one transaction, each change a line of the log.

    Raises:
        LeaderboardError: A set cannot be used, or would be changed in a way that is not possible; nothing is changed.
        ConfigError: The settings are wrong.
    """
    board = open_unapplied(folder)
    return board, apply_sets(board)


def apply_sets(board: Board) -> Sequence[SetChange]:
    """Make the sets of a board those of its settings; see `apply_settings`."""
    before = {test_set.name: test_set for test_set in board.sets}
    # Answers are read before the transaction, as others would wait for it. What they are good for is decided inside it:
    # somebody else may apply the same settings at this moment.
    read = {asked.name: _read_new(board, asked, before.get(asked.name)) for asked in board.settings.sets}
    with board.writing() as connection:
        changes = [
            change for asked in board.settings.sets for change in _apply(connection, board, asked, read[asked.name])
        ]
        _check_all_named(board, all_sets(connection))
        check_overall(board, all_sets(connection))
    return changes


def _read_new(board: Board, asked: SetSettings, stored: TestSet | None) -> TestSet | None:
    """The record of a set that is new or was moved, of which the answers are read; None of another one."""
    path = _data_path(board, asked)
    if stored is not None:
        return (
            None if _is_at(stored, path) else describe_set(asked.name, path, stored.lifecycle, protocol=stored.protocol)
        )
    if asked.retired:
        raise LeaderboardError(f"The set {asked.name!r} was never on the board, so it cannot be retired.")
    check_unsafe(asked.feedback, unsafe=asked.unsafe)
    lifecycle = make_lifecycle(feedback=asked.feedback, view=asked.view, opens=asked.opens, closes=asked.closes)
    read = describe_set(asked.name, path, lifecycle, protocol=asked.protocol or None)
    return replace(read, lifecycle=replace(read.lifecycle, private=_takes_private(asked, read)))


def _takes_private(asked: SetSettings, test_set: TestSet) -> bool:
    return not test_set.hidden if asked.private is None else asked.private


def _data_path(board: Board, asked: SetSettings) -> Path:
    return (board.folder / asked.data).absolute()


def _is_at(stored: TestSet, path: Path) -> bool:
    return Path(stored.path).resolve() == path.resolve()


def _apply(connection: Connection, board: Board, asked: SetSettings, read: TestSet | None) -> Iterator[SetChange]:
    """Make one set what the settings ask for; ``read`` is its record if it was new or elsewhere a moment ago."""
    stored = next((test_set for test_set in all_sets(connection) if test_set.name == asked.name), None)
    if stored is None:
        assert read is not None  # as no set is ever deleted
        _check_public(asked, read)
        register_set(connection, read)
        yield SetChange(asked.name, "set added")
        return
    _check_public(asked, stored)
    _check_kept(asked, stored)
    if not _is_at(stored, _data_path(board, asked)):
        stored = _move(connection, stored, read)
        yield _record(connection, stored.name, "set moved")
    lifecycle = stored.lifecycle
    opens, closes = _moment(asked.opens, "opens"), _moment(asked.closes, "closes", last_day=True)
    if (opens, closes) != (lifecycle.opens, lifecycle.closes):
        if lifecycle.closing or lifecycle.retired:
            raise LeaderboardError(f"The set {stored.name!r} is closed; its dates cannot be changed.")
        lifecycle = _check_order(replace(lifecycle, opens=opens, closes=closes))
        change_set(connection, replace(stored, lifecycle=lifecycle))
        moments = {"opens": opens, "closes": closes}
        facts = {what: iso_minute(at) for what, at in moments.items() if at is not None}
        yield _record(connection, stored.name, "dates changed", **facts)
    if (private := _takes_private(asked, stored)) != lifecycle.private:
        lifecycle = replace(lifecycle, private=private)
        change_set(connection, replace(stored, lifecycle=lifecycle))
        yield _record(connection, stored.name, f"private files {'allowed' if private else 'forbidden'}")
    if asked.retired and lifecycle.retired is None:
        _check_over(stored.name, lifecycle)
        change_set(connection, replace(stored, lifecycle=replace(lifecycle, retired=now())))
        yield _record(connection, stored.name, "set retired")


def _move(connection: Connection, stored: TestSet, read: TestSet | None) -> TestSet:
    """Let a set be read from another place, where its data has to be the same."""
    if read is None or read.protocol != stored.protocol:
        raise LeaderboardError(f"The set {stored.name!r} was changed by somebody else at this moment; apply once more.")
    check_same_data(read, stored)
    moved = replace(read, lifecycle=stored.lifecycle)
    change_set(connection, moved)
    return moved


def _record(connection: Connection, name: str, what: str, **facts: str) -> SetChange:
    record(connection, actor=maintainer(), what=what, subject=name, facts=facts)
    return SetChange(name, what)


def _check_public(asked: SetSettings, test_set: TestSet) -> None:
    given = [name for name in ("feedback", "view", "opens", "closes") if getattr(asked, name)]
    if given and not test_set.hidden:
        raise LeaderboardError(f"The set {asked.name!r} is public, so it has no `{given[0]}`; hidden sets have.")


def _check_kept(asked: SetSettings, stored: TestSet) -> None:
    """Refuse other rules for a set in use: its scores were made and disclosed by those that it has."""
    if stored.lifecycle.retired is not None and not asked.retired:
        raise LeaderboardError(
            f"The set {stored.name!r} was retired and cannot come back: say `retired: true` in {FILE}, or leave it out."
        )
    rules = {
        "feedback": (asked.feedback, stored.lifecycle.feedback.value),
        "view": (asked.view, stored.lifecycle.view.value),
        "protocol": (asked.protocol, stored.protocol),
    }
    for rule, (new, old) in rules.items():
        if new and new != old:
            raise LeaderboardError(
                f"The {rule} of the set {stored.name!r} stays {old}; make another set for {new[:40]}."
            )


def _check_over(name: str, lifecycle: SetLifecycle) -> None:
    """Refuse to retire a hidden set while it takes files: teams have to know its last day."""
    is_over = lifecycle.closing is not None or (lifecycle.closes is not None and lifecycle.closes <= now())
    if lifecycle.feedback is not Feedback.FULL and not is_over:
        raise LeaderboardError(
            f"The set {name!r} is open: write its last day as `closes`, and retire or replace it when that is over."
        )


def _check_all_named(board: Board, sets: Sequence[TestSet]) -> None:
    named = {test_set.name for test_set in board.settings.sets}
    for test_set in sets:
        if test_set.name not in named and test_set.lifecycle.retired is None:
            raise LeaderboardError(
                f"{board.folder / FILE} does not name the set {test_set.name!r}, which is in use; name it, with "
                "`retired: true` if it is used up."
            )


def publish_key(board: Board, name: str, folder: Path, *, public: Path | None = None) -> str:
    """Write the key of a retired set into a new folder, for everybody to read and to check.

    Before, the key is compared with the commitment that the public part has named since the set was made.

    Args:
        public: The folder of the public part; None for the one beside the key.

    Returns:
        The commitment.

    Raises:
        LeaderboardError: The set has no secret key, is not retired, or the key is not the one that was committed to.
        HiddenSetError: The key is damaged.
        OutputError: The folder holds something, or cannot be written.
    """
    with board.reading() as connection:
        stored = get_set(connection, name)
    if not stored.hidden:
        raise LeaderboardError(f"The set {name!r} is public already.")
    if stored.lifecycle.retired is None:
        raise LeaderboardError(
            f"The set {name!r} is in use; retire it first, as a published key cannot be secret again."
        )
    source = hidden_folder(Path(stored.path))
    if source is None:
        raise LeaderboardError(f"The key of {name!r} is not where it was, so it cannot be published.")
    key = read_key(source)
    manifest = (public or source.with_name("public")) / MANIFEST
    if _commitment(manifest) != key.commitment:
        raise LeaderboardError(f"{manifest} names another commitment than this key has; the key is not published.")
    with new_folder(folder) as temporary:
        for file in (KEY_FILE, *key.files):
            shutil.copyfile(source / file, temporary / file)
    with board.writing() as connection:
        stored = get_set(connection, name)
        change_set(
            connection,
            replace(stored, lifecycle=replace(stored.lifecycle, published=stored.lifecycle.published or now())),
        )
        details = {"commitment": key.commitment}
        record(connection, actor=maintainer(), what="key published", subject=name, facts=details)
    return key.commitment


def _commitment(manifest: Path) -> str:
    try:
        if manifest.stat().st_size > MAX_KEY_BYTES:
            raise ValueError
        values: Any = json.loads(manifest.read_text("utf-8"))
        return str(values["commitment"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise HiddenSetError(
            f"{manifest} cannot be read, so nobody can tell whether the key is the one of the set; name the folder of "
            "the public part with --public."
        ) from None


def _moment(text: str, what: str, *, last_day: bool = False) -> datetime | None:
    """The moment that a setting names: of a date its beginning, or with ``last_day`` its end."""
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
        if last_day and _is_date(text):
            at += timedelta(days=1)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise LeaderboardError(
            f"`{what}` takes a date such as 2026-12-01 or 2026-12-01T12:00, not {text[:40]!r}."
        ) from None


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _check_order(lifecycle: SetLifecycle) -> SetLifecycle:
    if lifecycle.opens is not None and lifecycle.closes is not None and lifecycle.closes <= lifecycle.opens:
        raise LeaderboardError(f"The set would close at {minute(lifecycle.closes)} UTC, before it opens.")
    return lifecycle
