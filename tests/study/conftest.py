"""A small study of built-in pairs, and people who type."""

import functools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from tests.forked import Vcrgen
from vcrgen.builder.run import build
from vcrgen.report.table import Table
from vcrgen.study import source
from vcrgen.study.assignment import StepKind
from vcrgen.study.creation import check_source, init_study
from vcrgen.study.grading import question_of
from vcrgen.study.options import StudyOptions
from vcrgen.study.raters import invite
from vcrgen.study.records import RaterState, RaterStep, Response
from vcrgen.study.report import StudyReport
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.items import read_items
from vcrgen.study.store.raters import read_raters, update_rater
from vcrgen.study.store.steps import read_steps, save_response


@pytest.fixture(scope="session", autouse=True)
def _pictures_once() -> Iterator[None]:
    """Clean a picture once in this process: most studies are of the same ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "clean_picture", functools.lru_cache(maxsize=500)(source.clean_picture))
        yield


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fourteen English pairs in both modes, all in the split ``test``."""
    out = tmp_path_factory.mktemp("study") / "vcr-en"
    build("samples", out=out, limit=14, splits="test=...")
    return out


@pytest.fixture
def make(pairs: Path, tmp_path: Path) -> Iterator[Callable[..., StudyStore]]:
    """Makes a study of the pairs; its maintainers' token stands in ``store.token``."""
    stores = []

    def make(data: Path = pairs, name: str = "study", **options: Any) -> StudyStore:
        chosen = {"limit": 6, "training": 2} | options
        chosen = {name: value for name, value in chosen.items() if value is not None}
        _, token = init_study(tmp_path / name, str(data), StudyOptions(**chosen))
        write_consents(tmp_path / name)
        store = StudyStore(tmp_path / name)
        store.token = token  # type: ignore[attr-defined]
        stores.append(store)
        return store

    yield make
    for store in stores:
        store.close()


@pytest.fixture
def typing() -> Callable[..., None]:
    """Lets everybody who was invited type: the answer, or what ``says`` makes of rater, question id, place, answer."""

    def type_all(store: StudyStore, says: Callable[[int, str, int, str], str] = lambda *about: str(about[-1])) -> None:
        with store.reading() as connection:
            design, items = read_design(connection), read_items(connection)
            raters = [rater for rater in read_raters(connection) if rater.state is RaterState.INVITED]
        checked = check_source(design)

        def response(place: RaterStep) -> Response:
            if place.step.kind is StepKind.CHECK:
                return Response((place.step.word,), (False,), 2.0, True, 1)
            item = items[place.step.item]
            answers = item.answers or question_of(checked, item).answers
            texts = tuple(says(place.rater, item.question_id, n, answer) for n, answer in enumerate(answers))
            return Response(texts, tuple(not text for text in texts), 9.0, True, 1)

        with store.writing() as connection:
            for rater in raters:
                for place in read_steps(connection, rater.number):
                    save_response(connection, rater.number, place.number, response(place), 5.0)
                update_rater(connection, rater.number, state=RaterState.SENT, languages="English")

    return type_all


@pytest.fixture
def people() -> Callable[..., list[str]]:
    """Invites people; their tokens."""

    def call(store: StudyStore, count: int = 6, lang: str = "en") -> list[str]:
        return invite(store, count, lang)[0]

    return call


@pytest.fixture
def lines() -> Callable[[str], list[dict[str, Any]]]:
    """The objects of JSON Lines."""
    return lambda text: [json.loads(line) for line in text.splitlines()]


def look(store: StudyStore, *read: Callable[[Connection], Any]) -> Any:
    """What some functions, or one, read of a study."""
    with store.reading() as connection:
        found = [each(connection) for each in read]
    return found if len(found) > 1 else found[0]


def table_of(report: StudyReport, title: str) -> Table:
    """The only table whose title begins so."""
    (found,) = (table for table in report.document.sections[0].tables if table.title.startswith(title))
    return found


def write_consents(folder: Path) -> None:
    """Put a name in place of the note to the maintainers, which is the last line of each consent."""
    for file in folder.glob("CONSENT.*.txt"):
        *lines, _ = file.read_text("utf-8").strip().splitlines()
        file.write_text("\n".join([*lines, "Ada, ada@example.org"]) + "\n", "utf-8")


class Service:
    """`vcrgen study serve` in a process of its own, that may be killed and started again on the same port."""

    def __init__(self, folder: Path, log: Path, port: int) -> None:
        self.folder, self.log = folder, log
        self.port = port
        self.start()

    def start(self) -> None:
        self.log.unlink(missing_ok=True)
        self.log.touch()
        self.process = Vcrgen("study", "serve", str(self.folder), "--port", str(self.port), log=self.log)
        end = time.monotonic() + 120
        while f'"url": "http://127.0.0.1:{self.port}/"' not in self.log.read_text("utf-8"):
            assert self.process.poll() is None and time.monotonic() < end, self.log.read_text("utf-8")
            time.sleep(0.02)
        self.url = f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def service(tmp_path: Path, own_port: int) -> Iterator[Callable[[StudyStore], Service]]:
    """Starts services; whatever of them is left after the test is killed."""
    started: list[Service] = []

    def start(store: StudyStore) -> Service:
        started.append(Service(store.folder, tmp_path / f"service-{len(started)}.log", own_port))
        return started[-1]

    yield start
    for one in started:
        one.kill()
