"""Sets come and go: one is added, retired when it is used up, replaced by another, and at last its key is published."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from vcrgen.dataset.key import KEY_FILE, MAX_KEY_BYTES, read_key
from vcrgen.dataset.manifest import MANIFEST
from vcrgen.dataset.views import View
from vcrgen.errors import HiddenSetError, LeaderboardError
from vcrgen.leaderboard.board import Board, describe_set, maintainer, register_set
from vcrgen.leaderboard.records import Feedback, SetLifecycle, TestSet
from vcrgen.leaderboard.store.log import now, record
from vcrgen.leaderboard.store.sets import change_set, get_set
from vcrgen.scorer.answers import hidden_folder
from vcrgen.tasks.task import TASKS
from vcrgen.work.folder import new_folder


def make_lifecycle(*, feedback: str = "", view: str = "", opens: str = "", closes: str = "") -> SetLifecycle:
    """The phase of a new hidden set, from what a command line says; what is empty has its default.

    Args:
        feedback: ``ladder`` or ``instant``.
        view: The view whose exact match a ladder shows.
        opens: When the set is open, as ``2026-12-01`` or ``2026-12-01T12:00``, in UTC where no zone is named.
        closes: Until when.

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
            closes=_moment(closes, "closes"),
        )
    )


def add(board: Board, name: str, path: Path, lifecycle: SetLifecycle, *, protocol: str | None = None) -> TestSet:
    """Put another set on a board; a LeaderboardError if it is there already, or cannot be used."""
    found = describe_set(name, path, lifecycle, protocol=protocol)
    with board.writing() as connection:
        register_set(connection, found)
    return found


def move_dates(board: Board, name: str, *, opens: str, closes: str) -> TestSet:
    """Give a set other dates; empty ones stay. A LeaderboardError if it has been closed or retired."""
    with board.writing() as connection:
        known = get_set(connection, name)
        if known.lifecycle.closing or known.lifecycle.retired:
            raise LeaderboardError(f"The set {name!r} is closed; its dates cannot be changed.")
        lifecycle = known.lifecycle
        lifecycle = replace(
            lifecycle,
            opens=_moment(opens, "opens") or lifecycle.opens,
            closes=_moment(closes, "closes") or lifecycle.closes,
        )
        changed = replace(known, lifecycle=_check_order(lifecycle))
        change_set(connection, changed)
        moments = {"opens": lifecycle.opens, "closes": lifecycle.closes}
        details = {what: at.isoformat() for what, at in moments.items() if at is not None}
        record(connection, actor=maintainer(), what="dates changed", subject=name, facts=details)
    return changed


def retire(board: Board, name: str) -> None:
    """Let a set take no more files; its rows stay, and are marked. A LeaderboardError if it is retired already."""
    with board.writing() as connection:
        _retire(connection, name)


def replace_set(
    board: Board, old: str, name: str, path: Path, lifecycle: SetLifecycle, *, protocol: str | None = None
) -> TestSet:
    """Retire a set and put another one in its place, in one transaction."""
    found = describe_set(name, path, lifecycle, protocol=protocol)
    with board.writing() as connection:
        _retire(connection, old)
        register_set(connection, found)
    return found


def publish_key(board: Board, name: str, folder: Path, *, public: Path | None = None) -> str:
    """Write the key of a retired set into a new folder, for everybody to read and to check.

    Before, the key is compared with the commitment that the public part has named since the set was made.

    Args:
        board: The board.
        name: The set.
        folder: Where the key goes.
        public: The folder of the public part; None for the one beside the key.

    Returns:
        The commitment.

    Raises:
        LeaderboardError: The set has no secret key, is not retired, or the key is not the one that was committed to.
        HiddenSetError: The key is damaged.
        OutputError: The folder holds something, or cannot be written.
    """
    with board.reading() as connection:
        known = get_set(connection, name)
    if not known.hidden:
        raise LeaderboardError(f"The set {name!r} is public already.")
    if known.lifecycle.retired is None:
        raise LeaderboardError(
            f"The set {name!r} is in use; retire it first, as a published key cannot be secret again."
        )
    source = hidden_folder(Path(known.path))
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
        known = get_set(connection, name)
        change_set(
            connection, replace(known, lifecycle=replace(known.lifecycle, published=known.lifecycle.published or now()))
        )
        details = {"commitment": key.commitment}
        record(connection, actor=maintainer(), what="key published", subject=name, facts=details)
    return key.commitment


def _retire(connection: Connection, name: str) -> None:
    known = get_set(connection, name)
    if known.lifecycle.retired is not None:
        raise LeaderboardError(f"The set {name!r} is retired already.")
    change_set(connection, replace(known, lifecycle=replace(known.lifecycle, retired=now())))
    record(connection, actor=maintainer(), what="set retired", subject=name, facts={})


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


def _moment(text: str, what: str) -> datetime | None:
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise LeaderboardError(
            f"--{what} takes a date such as 2026-12-01 or 2026-12-01T12:00, not {text[:40]!r}."
        ) from None


def _check_order(lifecycle: SetLifecycle) -> SetLifecycle:
    if lifecycle.opens is not None and lifecycle.closes is not None and lifecycle.closes <= lifecycle.opens:
        raise LeaderboardError(f"The set would close on {lifecycle.closes:%Y-%m-%d}, before it opens.")
    return lifecycle
