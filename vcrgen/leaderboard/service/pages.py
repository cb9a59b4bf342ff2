"""The pages of a board by name, made when they are asked for and kept until something happens on the board."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.pagemap import is_page_name, page_of
from vcrgen.leaderboard.queries import BoardQueries
from vcrgen.leaderboard.records import Site, SubmissionStatus
from vcrgen.leaderboard.site.render import Pages
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.log import last_event
from vcrgen.leaderboard.tables import FORMATS, export

MAX_CACHED = 512
LOCKS = 64
MAX_MANAGED = 500  # files on the page for maintainers
T = TypeVar("T")
SITE = ""  # no page's name
FILES = [f"board.{form}" for form in FORMATS]
STALE_SECONDS = 1.0  # while much happens, a page is made once a second at most


class CachedPage(NamedTuple):
    """A page, or what stands on all of them, as it was made; ``at`` is a moment of :func:`time.monotonic`."""

    value: Any
    revision: int
    at: float


class LivePages:
    """The pages of a board for a service."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._made: OrderedDict[str, CachedPage] = OrderedDict()
        self._lock = threading.Lock()
        self._locks = [threading.Lock() for _ in range(LOCKS)]

    def get(self, name: str) -> bytes | None:
        """The page or file of a name as UTF-8, or None if there is none; at most a second old."""

        def look(views: BoardQueries) -> str | None:
            if name in FILES:
                return export(views.tables(), name.removeprefix("board."))
            return page_of(Pages(views.site(live=True)), views, name)

        def make() -> bytes | None:
            return None if (text := self._look(look)) is None else text.encode()

        if name not in FILES and not is_page_name(name):
            return None
        body: bytes | None = self._cached(name, make)
        return body

    def message(self, title: str, text: str) -> str:
        """A page that says something."""
        return Pages(self._site()).message(title, text)

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
        """Return the record of every page, at most a second old."""
        site: Site = self._cached(SITE, lambda: self._look(lambda views: views.site(live=True)))
        return site

    def _look(self, look: Callable[[BoardQueries], T]) -> T:
        with self._board.reading() as connection:
            return look(BoardQueries(self._board, connection))

    def _cached(self, name: str, make: Callable[[], Any]) -> Any:
        """Return the cached value of a name, made again if something has happened since.

        A page that is not there (None) is not kept, so that asking for many such names takes no memory.
        """
        with self._board.reading() as connection:
            revision = last_event(connection)[0]
        if not self._is_fresh(made := self._made.get(name), revision):
            with self._locks[hash(name) % LOCKS]:  # the same page is made once, however many ask for it
                if not self._is_fresh(made := self._made.get(name), revision):
                    if (value := make()) is None:
                        return None
                    made = CachedPage(value, revision, time.monotonic())
                    with self._lock:
                        self._made[name] = made
                        self._made.move_to_end(name)
                        while len(self._made) > MAX_CACHED:
                            self._made.popitem(last=False)
        return None if made is None else made.value

    @staticmethod
    def _is_fresh(made: CachedPage | None, revision: int) -> bool:
        return made is not None and (made.revision == revision or time.monotonic() - made.at <= STALE_SECONDS)
