"""The pages of a board by name, made when they are asked for and kept until something happens on the board."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.pagemap import page_of
from vcrgen.leaderboard.records import Site, State
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.site.render import Pages
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.log import last_event
from vcrgen.leaderboard.tables import FORMATS
from vcrgen.leaderboard.views import Views

KEPT = 512
LOCKS = 64
SITE = ""  # no page's name
STALE_SECONDS = 1.0  # while much happens, a page is made once a second at most


@dataclass(frozen=True, slots=True)
class _Made:
    """A page, or what stands on all of them, as it was made."""

    value: Any
    revision: int
    at: float


class LivePages:
    """Pages for a service.

    Args:
        board: The board.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._made: OrderedDict[str, _Made] = OrderedDict()
        self._lock = threading.Lock()
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    def get(self, name: str) -> bytes | None:
        """The page or file of a name as UTF-8, or None if there is none; at most a second old."""
        make = self._maker(name)
        if make is None:
            return None
        body: bytes | None = self._kept(name, lambda: None if (text := make()) is None else text.encode())
        return body

    def message(self, title: str, text: str) -> str:
        """A page that says something."""
        return Pages(self._site()).message(title, text)

    def submit(self, values: dict[str, str], problems: list[str]) -> str:
        """The form, filled in as it was."""
        return Pages(self._site()).submit(values, problems)

    def status(self, submission_id: str) -> str | None:
        """Where a submission stands, or None if there is none; never kept."""
        with self._board.reading() as connection:
            submission = submissions.find(connection, submission_id)
            if submission is None:
                return None
            waiting = 0
            if submission.state is State.QUEUED:
                states = [State.QUEUED, State.SCORING]
                waiting = submissions.count(connection, states=states, before=submission.received)
            scored = submission.state is State.SCORED
            cells = Views(self._board, connection).cells_of(submission.id) if scored else ()
        return Pages(self._site()).status(submission, waiting, cells)

    def _site(self) -> Site:
        """What stands on every page; at most a second old."""

        def make() -> Site:
            with self._board.reading() as connection:
                return Views(self._board, connection).site(live=True)

        site: Site = self._kept(SITE, make)
        return site

    def _kept(self, name: str, make: Callable[[], Any]) -> Any:
        """What is kept under a name, made anew if something has happened since; nothing is kept where nothing is."""
        with self._board.reading() as connection:
            revision = last_event(connection)[0]
        made = self._fresh(name, revision)
        if made is None:
            with self._locks[hash(name) % LOCKS]:  # the same page is made once, however many ask for it
                made = self._fresh(name, revision)
                if made is None:
                    if (value := make()) is None:
                        return None
                    made = _Made(value, revision, time.monotonic())
                    self._keep(name, made)
        return made.value

    def _fresh(self, name: str, revision: int) -> _Made | None:
        made = self._made.get(name)
        if made is None or (made.revision != revision and time.monotonic() - made.at > STALE_SECONDS):
            return None
        return made

    def _keep(self, name: str, made: _Made) -> None:
        with self._lock:
            self._made[name] = made
            self._made.move_to_end(name)
            while len(self._made) > KEPT:
                self._made.popitem(last=False)

    def _maker(self, name: str) -> Callable[[], str | None] | None:
        """What makes the page of a name; None for a name that is none."""
        if (suffix := name.removeprefix("board.")) in FORMATS and name != suffix:
            return lambda: self._tables(suffix)
        parsed = names.parse_name(name)
        if parsed is None or parsed[0] in ("submission", "submit"):
            return None
        return lambda: self._page(*parsed)

    def _tables(self, form: str) -> str:
        with self._board.reading() as connection:
            views = Views(self._board, connection)
            return FORMATS[form]([views.table(track) for track in views.tracks()])

    def _page(self, kind: str, *parts: str) -> str | None:
        with self._board.reading() as connection:
            views = Views(self._board, connection)
            return page_of(Pages(views.site(live=True)), views, kind, *parts)
