"""The pages of a board by name, kept until something happens that shows on them.

While a service answers, a thread looks for what happened and makes pages anew behind those that are read: at most every
``PAUSE_SECONDS``, and of tables only those of a set that changed. Without that thread, a request looks for itself.
"""

from __future__ import annotations

import gzip
import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from sqlalchemy import Connection

from vcrgen.errors import VcrgenError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.pagemap import is_page_name, page_of
from vcrgen.leaderboard.queries import BoardQueries, SetRows
from vcrgen.leaderboard.records import Site, SubmissionStatus
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.site.listing import TableRequest
from vcrgen.leaderboard.site.render import Pages
from vcrgen.leaderboard.site.tables import compared_sides
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.log import last_event, read_log
from vcrgen.leaderboard.tables import FORMATS, export
from vcrgen.web.log import log_line

MAX_CACHED = 512
LOCKS = 64
MAX_MANAGED = 500  # files on the page for maintainers
T = TypeVar("T")
FILES = [f"board.{form}" for form in FORMATS]
POLL_SECONDS = 0.5
PAUSE_SECONDS = 5.0  # between two times that pages are made anew
REST = 4  # times as long as making them took: a board in which much happens leaves most of a core to its readers
SHORTEST_PACKED = 500  # bytes
# What happens to one set, and what only the history tells. Anything else may show on every page.
SET_EVENTS = ("scored", "removed", "chosen", "taken back")
QUIET_EVENTS = (
    "accepted",
    "failed",
    "approved",
    "declined",
    "token given",
    "tokens revoked",
    "maintainer added",
    "maintainer removed",
)


@dataclass(frozen=True, slots=True)
class CachedPage:
    """A page as it is sent."""

    body: bytes
    packed: bytes  # with gzip; empty where that would gain nothing
    tag: str  # of the content, for ETag

    @classmethod
    def of(cls, text: str) -> CachedPage:
        """Pack a page. It holds no secret of its reader, of which a packed size could tell."""
        body = text.encode()
        packed = gzip.compress(body, 6, mtime=0) if len(body) >= SHORTEST_PACKED else b""
        return cls(body, packed, f'W/"{hashlib.sha256(body).hexdigest()[:32]}"')


@dataclass(slots=True)
class _CacheEntry:
    page: CachedPage
    state: _State
    read: bool = False  # whether somebody has read it since it was made


@dataclass(slots=True, eq=False)
class _State:
    """One state of a board, with what was read of it."""

    revision: int  # number of the last line of the log
    rows: dict[str, SetRows]
    site: Site


class LivePages:
    """The pages of a board for a service."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._state: _State | None = None
        self._made: OrderedDict[str, _CacheEntry] = OrderedDict()
        self._lock, self._refreshing = threading.Lock(), threading.Lock()
        self._locks = [threading.Lock() for _ in range(LOCKS)]
        self._stopping = threading.Event()
        self._is_watched = False

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Make pages anew in a thread while the block lasts."""
        thread = threading.Thread(target=self._watch, daemon=True)
        self._is_watched = True
        thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            thread.join()
            self._is_watched = False

    def get(self, name: str, asked: TableRequest = TableRequest()) -> CachedPage | None:  # noqa: B008 - it is frozen
        """The page or file of a name, or None if there is none; its rows are those that were asked for."""
        if name not in FILES and not is_page_name(name):
            return None
        state = self._current()
        if not asked.is_first:  # one of very many pages, and quickly made
            return self._make(name, state, asked)
        if (kept := self._fresh(name, state)) is None:
            with self._locks[hash(name) % LOCKS]:  # the same page is made once, however many ask for it
                if (kept := self._fresh(name, state)) is None:
                    if (page := self._make(name, state)) is None:  # not kept: there are very many such names
                        return None
                    kept = _CacheEntry(page, state)
                    self._keep(name, kept)
        kept.read = True
        return kept.page

    def message(self, title: str, text: str) -> str:
        """A page that says something."""
        return Pages(self._site()).message(title, text)

    def choose(self, asked: Mapping[str, str]) -> tuple[str, str]:
        """Return the name of the page that compares two models that were asked for, or the page to choose them on."""
        a, b = sides = compared_sides(self._site(), asked)
        if a.entry and b.entry and a.entry != b.entry:
            return names.compare_name(a.entry, b.entry), ""
        return "", Pages(self._site()).choose(sides)

    def submit(self, values: dict[str, str], problems: list[str], checked: bool = False) -> str:
        """The form, filled in as it was; ``checked`` if its file was found good."""
        return Pages(self._site()).submit(values, problems, checked)

    def team(self, name: str, token: str, problems: list[str]) -> str:
        """Return the files of a team, for itself; without a team, the form that asks for its token."""
        found = self._look(lambda views: views.team(name)) if name else None
        return Pages(self._site()).team(found, token, problems)

    def manage(self, token: str, problems: list[str]) -> str:
        """Return the submissions that maintainers may change, held ones first.

        Without a token, the form that asks for it.
        """
        files = None
        if token:
            with self._board.reading() as connection:
                newest = list(reversed(submissions.list_submissions(connection)))
            files = sorted(newest, key=lambda one: one.status is not SubmissionStatus.HELD)[:MAX_MANAGED]
        return Pages(self._site()).manage(files, token, problems)

    def sign_in(self) -> str:
        """The providers with which people sign in."""
        return Pages(self._site()).sign_in()

    def signed_in(self, team: str, *, token: str = "", ticket: str = "", problems: Sequence[str] = ()) -> str:
        """The page of somebody who signed in."""
        return Pages(self._site()).signed_in(team, token=token, ticket=ticket, problems=problems)

    def status(self, submission_id: str) -> str | None:
        """Return the status page of a submission, which is never cached, or None if there is no such submission."""
        with self._board.reading() as connection:
            submission = submissions.find(connection, submission_id)
            if submission is None:
                return None
            waiting = 0
            if submission.status is SubmissionStatus.QUEUED:
                statuses = [SubmissionStatus.QUEUED, SubmissionStatus.SCORING]
                waiting = submissions.count(connection, statuses=statuses, before=submission.received)
            scored = submission.status is SubmissionStatus.SCORED
            views = BoardQueries(self._board, connection)
            cells, feedback = views.cells_of(submission.id) if scored else (), views.ladder_feedback(submission)
        return Pages(self._site()).status(submission, waiting, cells, feedback)

    def _site(self) -> Site:
        """Return the record that every page of the board shows."""
        return self._current().site

    def _look(self, look: Callable[[BoardQueries], T], rows: dict[str, SetRows] | None = None) -> T:
        with self._board.reading() as connection:
            return look(BoardQueries(self._board, connection, rows))

    def _make(self, name: str, state: _State, asked: TableRequest = TableRequest()) -> CachedPage | None:  # noqa: B008
        def look(views: BoardQueries) -> str | None:
            if name in FILES:
                return export(views.tables(), name.removeprefix("board."))
            return page_of(Pages(state.site), views, name, asked)

        text = self._look(look, state.rows)
        return None if text is None else CachedPage.of(text)

    def _fresh(self, name: str, state: _State) -> _CacheEntry | None:
        """Return the kept page of a name; an older one will do while the thread watches, which renews it."""
        kept = self._made.get(name)
        return kept if kept is not None and (self._is_watched or kept.state is state) else None

    def _keep(self, name: str, kept: _CacheEntry) -> None:
        """Keep a page, unless it was made of a state that is over: nobody would make it anew."""
        with self._lock:
            if kept.state is self._state:
                self._made[name] = kept
                self._made.move_to_end(name)
                while len(self._made) > MAX_CACHED:
                    self._made.popitem(last=False)

    def _current(self) -> _State:
        """The state of the board that pages show."""
        if self._state is None or not self._is_watched:
            self._refresh()
        assert self._state is not None
        return self._state

    def _refresh(self) -> Collection[str]:
        """Read what happened since the last time; returns the names of kept pages on which it shows."""
        with self._refreshing, self._board.reading() as connection:
            before = self._state
            revision = last_event(connection)[0]
            if before is not None and revision == before.revision:
                return ()
            changed = None if before is None else _changed_sets(connection, before.revision)
            rows = {} if before is None or changed is None else before.rows.copy()
            for name in changed or ():
                rows.pop(name, None)
            site = BoardQueries(self._board, connection, rows).site(live=True)
            if before is not None and not _same_frame(before.site, site):
                changed = None
            with self._lock:
                self._state = _State(revision, rows, site)
                shown_on = {name for name in self._made if _shows(name, before.site if before else site, changed)}
                for name in self._made.keys() - shown_on:
                    self._made[name].state = self._state
            return shown_on

    def _watch(self) -> None:
        while not self._stopping.wait(POLL_SECONDS):
            began = time.monotonic()
            try:
                changed = self._refresh()
                for name in changed:
                    self._remake(name)
            except (VcrgenError, OSError) as problem:
                log_line("pages wait", reason=str(problem)[:200])
                changed = ("",)
            if changed:
                self._stopping.wait(max(PAUSE_SECONDS, REST * (time.monotonic() - began)))

    def _remake(self, name: str) -> None:
        """Make a page anew if somebody has read it since it was made; of models only when somebody asks."""
        kept, state = self._made.get(name), self._state
        assert state is not None
        is_table = (names.parse_name(name) or ("board",))[0] == "board"
        page = self._make(name, state) if kept and kept.read and is_table else None
        if page is not None:
            self._keep(name, _CacheEntry(page, state))
        else:
            with self._lock:
                self._made.pop(name, None)


def _changed_sets(connection: Connection, revision: int) -> Collection[str] | None:
    """The sets to which something happened since a line of the log; None if it may show on any page."""
    found = set()
    for line in read_log(connection, after=revision):
        if line.what in SET_EVENTS and "set" in line.facts:
            found.add(line.facts["set"])
        elif line.what not in QUIET_EVENTS:
            return None
    return found


def _same_frame(a: Site, b: Site) -> bool:
    """Return whether what stands around the content of a page is the same."""
    return replace(a, updated=None, models=()) == replace(b, updated=None, models=())


def _shows(name: str, site: Site, changed: Collection[str] | None) -> bool:
    """Return whether a page shows something of what happened to some sets; None stands for everything."""
    if changed is None or name == names.HISTORY:
        return True
    kind, *parameters = names.parse_name(name) or ("",)
    if name == names.INDEX and site.tracks:
        kind, parameters = "board", [site.tracks[0].set]
    return parameters[0] in changed if kind == "board" else bool(changed)
