"""The pages of a board by name, made when they are asked for and kept until something happens on the board."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

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
MANAGED = 500  # files on the page for maintainers
T = TypeVar("T")
SITE = ""  # no page's name
FILES = [f"board.{form}" for form in FORMATS]
STALE_SECONDS = 1.0  # while much happens, a page is made once a second at most


class Made(NamedTuple):
    """A page, or what stands on all of them, as it was made; ``at`` is a moment of :func:`time.monotonic`."""

    value: Any
    revision: int
    at: float


class LivePages:
    """The pages of a board for a service."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._made: OrderedDict[str, Made] = OrderedDict()
        self._lock = threading.Lock()
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    def get(self, name: str) -> bytes | None:
        """The page or file of a name as UTF-8, or None if there is none; at most a second old."""

        def look(views: Views) -> str | None:
            if name in FILES:
                return FORMATS[name.removeprefix("board.")](views.tables())
            return page_of(Pages(views.site(live=True)), views, *parsed)

        def make() -> bytes | None:
            return None if (text := self._look(look)) is None else text.encode()

        parsed = names.parse_name(name) or ("",)
        if parsed[0] in ("", "submission", "submit", "team", "manage") and name not in FILES:
            return None
        body: bytes | None = self._kept(name, make)
        return body

    def message(self, title: str, text: str) -> str:
        """A page that says something."""
        return Pages(self._site()).message(title, text)

    def submit(self, values: dict[str, str], problems: list[str], checked: bool = False) -> str:
        """The form, filled in as it was; ``checked`` if its file was found good."""
        return Pages(self._site()).submit(values, problems, checked)

    def team(self, name: str, token: str, problems: list[str]) -> str:
        """What a team has handed in, for itself; where no team is named, the form that asks for its token."""
        found = self._look(lambda views: views.team(name)) if name else None
        return Pages(self._site()).team(found, token, problems)

    def manage(self, token: str, problems: list[str]) -> str:
        """What maintainers may change, what waits for them first; without their token, the form that asks for it."""
        files = None
        if token:
            with self._board.reading() as connection:
                newest = list(reversed(submissions.listed(connection)))
            files = sorted(newest, key=lambda one: one.state is not State.HELD)[:MANAGED]
        return Pages(self._site()).manage(files, token, problems)

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
            views = Views(self._board, connection)
            cells, told = views.cells_of(submission.id) if scored else (), views.told(submission)
        return Pages(self._site()).status(submission, waiting, cells, told)

    def _site(self) -> Site:
        """What stands on every page; at most a second old."""
        site: Site = self._kept(SITE, lambda: self._look(lambda views: views.site(live=True)))
        return site

    def _look(self, look: Callable[[Views], T]) -> T:
        with self._board.reading() as connection:
            return look(Views(self._board, connection))

    def _kept(self, name: str, make: Callable[[], Any]) -> Any:
        """What was made under a name, made anew if something has happened since.

        A page that is not there (None) is not kept, so that asking for many such names takes no memory.
        """
        with self._board.reading() as connection:
            revision = last_event(connection)[0]
        if not self._is_fresh(made := self._made.get(name), revision):
            with self._locks[hash(name) % LOCKS]:  # the same page is made once, however many ask for it
                if not self._is_fresh(made := self._made.get(name), revision):
                    if (value := make()) is None:
                        return None
                    made = Made(value, revision, time.monotonic())
                    with self._lock:
                        self._made[name] = made
                        self._made.move_to_end(name)
                        while len(self._made) > KEPT:
                            self._made.popitem(last=False)
        return None if made is None else made.value

    @staticmethod
    def _is_fresh(made: Made | None, revision: int) -> bool:
        return made is not None and (made.revision == revision or time.monotonic() - made.at <= STALE_SECONDS)
