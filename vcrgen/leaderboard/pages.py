"""Pages by name: for a folder of files, and for a service, which makes each of them once after every event."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.page_records import Site
from vcrgen.leaderboard.records import SubmissionStatus
from vcrgen.leaderboard.samples import SampleFolder
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.site.board_pages import BOARD_PAGES
from vcrgen.leaderboard.site.listing import WHOLE, TableRequest
from vcrgen.leaderboard.site.render import Pages
from vcrgen.leaderboard.site.tables import compared_sides
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.comparisons import compare_models, public_hidden_gaps
from vcrgen.leaderboard.store.log import last_event
from vcrgen.leaderboard.store.models import ladder_feedback, model_page, submission_cells, team_page
from vcrgen.leaderboard.store.ranks import count_changes
from vcrgen.leaderboard.store.reader import BoardReader, RankedSet
from vcrgen.leaderboard.tables import FORMATS, export

PARAMETRIC = ("board", "model", "compare", "set")  # kinds of pages whose names say of what they are
# The rows of pages without parameters.
QUERIES: Mapping[str, Callable[[BoardReader], Sequence[Any]]] = {
    names.OVERALL: BoardReader.overall,
    names.GAP: public_hidden_gaps,
    names.REPORTED: BoardReader.reported,
    names.HISTORY: BoardReader.events,
}
MAX_CACHED = 512
MAX_MANAGED = 500  # files on the page for maintainers
FILES = [f"board.{form}" for form in FORMATS]
SHORTEST_PACKED = 500  # bytes


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


class BoardVersion(NamedTuple):
    """What a page is made of: another version has other pages."""

    event: int  # the last one
    rank_changes: int


class NoSuchPage(Exception):
    """There is no set, model or pair of a page; names that lead nowhere are not kept, as there are very many."""


@dataclass(frozen=True, slots=True)
class _State:
    """What every page shows, and the cells that several pages are made of, in one version."""

    ranked_sets: dict[str, RankedSet]
    site: Site


class LivePages:
    """The pages of a board for a service."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._samples = SampleFolder(board.folder)
        self._state = lru_cache(maxsize=1)(self._read_state)
        self._page = lru_cache(maxsize=MAX_CACHED)(self._make)

    def get(self, name: str, asked: TableRequest = TableRequest()) -> CachedPage | None:  # noqa: B008 - it is frozen
        """The page or file of a name, or None if there is none; its rows are those that were asked for."""
        if name not in FILES and not is_page_name(name):
            return None
        make = self._page if asked.is_first else self._make  # of the others there are very many, quickly made
        try:
            return make(name, self._version(), asked)
        except NoSuchPage:
            return None

    def sample_file(self, name: str) -> Path | None:
        """The file of a set to download, or None if there is none of this name."""
        kind, *parameters = names.parse_name(name) or ("",)
        if kind not in ("template", "example"):
            return None
        test_set = next((each for each in self.now().site.sets if each.name == parameters[0]), None)
        samples = None if test_set is None else self._samples.read(test_set)
        return self._samples.file(name) if samples is not None and samples.has_files else None

    def now(self) -> Pages:
        """The pages after the last event, for those that need no more of the database."""
        return Pages(self._state(self._version()).site, self._samples.read)

    def choose(self, asked: Mapping[str, str]) -> tuple[str, str]:
        """The name of the page that compares the two models of a request, or else the page to choose them on."""
        pages = self.now()
        a, b = sides = compared_sides(pages.site, asked)
        if a.entry and b.entry and a.entry != b.entry:
            return names.compare_name(a.entry, b.entry), ""
        return "", pages.choose(sides)

    def team(self, name: str, token: str, problems: list[str]) -> str:
        """The files of a team, for itself; without a team, the form that asks for its token."""
        page = None
        if name:
            with self.reader() as reader:
                page = team_page(reader, name)
        return self.now().team(page, token, problems)

    def manage(self, token: str, problems: list[str]) -> str:
        """The submissions that maintainers may change, held ones first.

        Without a token, the form that asks for it.
        """
        files = None
        if token:
            with self._board.reading() as connection:
                newest = list(reversed(submissions.list_submissions(connection)))
            files = sorted(newest, key=lambda file: file.status is not SubmissionStatus.HELD)[:MAX_MANAGED]
        return self.now().manage(files, token, problems)

    def status(self, submission_id: str) -> str | None:
        """The status page of a submission, or None if there is none. It is not cached: it changes without an event."""
        with self.reader() as reader:
            connection = reader.connection
            submission = submissions.find(connection, submission_id)
            if submission is None:
                return None
            waiting = 0
            if submission.status is SubmissionStatus.QUEUED:
                statuses = [SubmissionStatus.QUEUED, SubmissionStatus.SCORING]
                waiting = submissions.count(connection, statuses=statuses, before=submission.received)
            scored = submission.status is SubmissionStatus.SCORED
            cells = submission_cells(reader, submission.id) if scored else ()
            feedback = ladder_feedback(reader, submission)
        return self.now().status(submission, waiting, cells, feedback)

    def _version(self) -> BoardVersion:
        with self._board.reading() as connection:
            return BoardVersion(last_event(connection)[0], count_changes(connection))

    @contextmanager
    def reader(self) -> Iterator[BoardReader]:
        """A reader that shares the ranks with the pages."""
        with self._reader(self._state(self._version()).ranked_sets) as reader:
            yield reader

    @contextmanager
    def _reader(self, ranked_sets: dict[str, RankedSet]) -> Iterator[BoardReader]:
        with self._board.reading() as connection:
            yield BoardReader(self._board.settings, connection, ranked_sets)

    def _read_state(self, version: BoardVersion) -> _State:
        ranked_sets: dict[str, RankedSet] = {}
        with self._reader(ranked_sets) as reader:
            return _State(ranked_sets, reader.site(live=True))

    def _make(self, name: str, version: BoardVersion, asked: TableRequest) -> CachedPage:
        """Make a page of a version.

        Raises:
            NoSuchPage: There is none of this name.
        """
        state = self._state(version)
        with self._reader(state.ranked_sets) as reader:
            if name in FILES:
                return CachedPage.of(export(reader.tables(), name.removeprefix("board.")))
            text = page_of(Pages(state.site, self._samples.read), reader, name, asked)
        if text is None:
            raise NoSuchPage
        return CachedPage.of(text)


def is_page_name(name: str) -> bool:
    """Whether a page of this name may exist, without a look at the database."""
    row = BOARD_PAGES.get(name)
    return not row.is_form if row else (names.parse_name(name) or ("",))[0] in PARAMETRIC


def page_of(pages: Pages, reader: BoardReader, name: str, asked: TableRequest = WHOLE) -> str | None:
    """The HTML of a page, or None if there is no such page, set, model or pair."""
    if name == names.INDEX:
        front = reader.front_track()
        return pages.board(reader.table(front), asked) if front else pages.empty()
    if row := BOARD_PAGES.get(name):
        exists = row.exists(pages.site) and not row.is_form
        return pages.page(row, QUERIES[name](reader) if name in QUERIES else (), asked) if exists else None
    kind, *parameters = names.parse_name(name) or ("",)
    if kind == "model":
        model = model_page(reader, *parameters)
        return pages.model(model) if model else None
    if kind == "compare":
        pair = compare_models(reader, *parameters)
        return pages.compare(pair) if pair else None
    if kind == "set":
        return pages.set(reader.sets[parameters[0]]) if parameters[0] in reader.sets else None
    named = (track for track in reader.tracks() if [track.set, track.mode, track.view.value] == parameters)
    track = next(named, None) if kind == "board" else None
    return pages.board(reader.table(track), asked) if track else None
