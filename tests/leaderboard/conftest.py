"""Boards with a public and a hidden set of the built-in pairs, in SQLite and in PostgreSQL, and files to submit."""

import io
import json
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine

from tests.leaderboard.common import Drain, Facts, Hand, MakeBoard, Place, Submit
from vcrgen.builder.options import load_build_config
from vcrgen.builder.run import build
from vcrgen.core.errors import DatabaseError
from vcrgen.data.key import read_key
from vcrgen.hidden import HiddenOptions, make_hidden
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.intake import accept
from vcrgen.leaderboard.model_facts import check_facts
from vcrgen.leaderboard.new_board import init_board
from vcrgen.leaderboard.records import BY_MAINTAINERS, ModelFacts, Submission, SubmissionStatus
from vcrgen.leaderboard.rotation import make_lifecycle
from vcrgen.leaderboard.scoring import CellOutcome, ScoringOutcome
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import submissions
from vcrgen.leaderboard.store.engine import SQLITE_FILE, create_board, open_engine
from vcrgen.leaderboard.store.log import check_unchanged, read_log
from vcrgen.leaderboard.store.state import counted_sums, stored_sums
from vcrgen.leaderboard.worker import Worker, finish
from vcrgen.samples import sample_pair
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.answers import load_answers
from vcrgen.stats.bootstrap import BootstrapMean
from vcrgen.stats.sign_flips import flipped_sums


@pytest.fixture(scope="session", autouse=True)
def _empty_boards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Create the tables of an empty board in SQLite once; other boards begin with a copy."""
    made = tmp_path_factory.mktemp("empty") / SQLITE_FILE

    def create_empty_board(engine: Engine) -> None:
        file = Path(engine.url.database or "")
        if engine.dialect.name != "sqlite" or file.name != SQLITE_FILE or file.exists() or not file.parent.is_dir():
            create_board(engine)
            return
        if not made.exists():
            empty = open_engine(made.parent, "")
            create_board(empty)
            empty.dispose()  # the last connection leaves one file
        shutil.copyfile(made, file)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vcrgen.leaderboard.new_board.create_board", create_empty_board)
        yield


@pytest.fixture(scope="module", autouse=True)
def _few_resamples() -> Iterator[None]:
    """Draw a tenth of the resamples of a file's scores; how many there are is no matter of boards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vcrgen.stats.bootstrap.RESAMPLES", 100)
        yield


@pytest.fixture(scope="session")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of twelve English pairs in both modes."""
    out = tmp_path_factory.mktemp("leaderboard") / "public"
    build("samples", out=out, limit=12)
    return out


@pytest.fixture(scope="session")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hidden set of eight English pairs; its key is in ``key``.

    The same in every run: with the spans of some secrets, most figures are whole steps before they are rounded.
    """
    out = tmp_path_factory.mktemp("leaderboard") / "hidden"
    secret_file = out.with_name("secret.key")
    secret_file.touch(0o600)
    secret_file.write_text("0badf00d" * 8)
    pairs = [sample_pair("en", number) for number in range(60)]
    columns = {
        "image": pa.array([each.image for each in pairs], pa.binary()),
        "caption": [each.caption for each in pairs],
    }
    pq.write_table(pa.table(columns), out.with_name("pairs.parquet"))
    source = str(out.with_name("pairs.parquet"))
    config = load_build_config(None, {"source": source})
    options = HiddenOptions(config=config, items=8, fonts=("open-sans",), cover="rows", public_pictures=True)
    make_hidden(options, out=out, secret_file=secret_file)
    return out


@pytest.fixture(scope="session")
def public_key(public: Path) -> AnswerKey:
    """The answers of the public set."""
    return load_answers(public)


@pytest.fixture(scope="session")
def hidden_key(hidden: Path) -> AnswerKey:
    """The answers of the hidden set."""
    return load_answers(hidden / "key")


class PostgresServer:
    """A PostgreSQL server of our own in a folder, on a free port."""

    def __init__(self, pg_ctl: str, folder: Path) -> None:
        self._pg_ctl, self._folder, self._made = pg_ctl, folder, 0
        self._user = "postgres" if os.getuid() == 0 else None  # the server refuses to run as root
        if self._user:
            shutil.chown(folder, self._user)
        self._run("initdb", "-D", "data", "-U", "vcr", "--auth=trust", "--no-sync", "-E", "UTF8")
        for attempt in range(3):
            self.port = free_port()
            try:
                self.start()
                break
            except subprocess.CalledProcessError:  # another process, which runs other tests, may have taken the port
                if attempt == 2:
                    raise

    def start(self) -> None:
        """Start it, also after a crash."""
        listen = f"-p {self.port} -h 127.0.0.1 -k {self._folder} -c fsync=off"
        self._run("pg_ctl", "-D", "data", "-l", "log", "-o", listen, "-w", "start")

    def crash(self) -> None:
        """End all of its processes at once, without a checkpoint."""
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "stop")

    def database(self) -> str:
        """The URL of a new, empty database."""
        self._made += 1
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "vcr", f"board{self._made}")
        return f"postgresql+psycopg://vcr@127.0.0.1:{self.port}/board{self._made}"

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(Path(self._pg_ctl).with_name(program)), *arguments]
        subprocess.run(command, check=True, user=self._user, cwd=self._folder, capture_output=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """Skips where PostgreSQL is not installed, except in CI (``VCRGEN_CI``), which installs it."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    pg_ctl = str(programs[-1]) if programs else shutil.which("pg_ctl")
    if pg_ctl is None:
        if os.environ.get("VCRGEN_CI"):
            pytest.fail("CI has to install PostgreSQL (apt-get install postgresql)")
        pytest.skip("needs PostgreSQL (apt-get install postgresql)")
    # Not in pytest's own folder, which every run of pytest closes to other users.
    folder = Path(tempfile.mkdtemp(prefix="vcrgen-postgres-"))
    server = PostgresServer(pg_ctl, folder)
    yield server
    server.crash()
    shutil.rmtree(folder)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="session")
def spare_databases() -> list[str]:
    """URLs of databases that were emptied."""
    return []


@pytest.fixture
def postgres(postgres_server: PostgresServer, spare_databases: list[str]) -> Iterator[Callable[[], str]]:
    """Gives the URL of an empty database; to empty one takes less than a tenth of the time to make and remove one."""
    used = []

    def database() -> str:
        used.append(spare_databases.pop() if spare_databases else postgres_server.database())
        return used[-1]

    yield database
    for url in used:
        with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        spare_databases.append(url)


@pytest.fixture(scope="session")
def board_in(public: Path, hidden: Path) -> MakeBoard:
    """Makes a board with both sets in a folder, the hidden one with instant feedback; settings by name."""

    def make(
        folder: Path, *, database: str = "", with_reported: bool = False, feedback: str = "instant", **settings: Any
    ) -> Board:
        data = [f"public:{public}", f"hidden-en:{hidden / 'key'}"]
        chosen = Settings(title="Test board", database=database).model_copy(update=settings)
        lifecycle = make_lifecycle(feedback=feedback)
        return init_board(folder, data, chosen, with_reported=with_reported, lifecycle=lifecycle)

    return make


@pytest.fixture
def make_board(tmp_path: Path, board_in: MakeBoard, request: pytest.FixtureRequest) -> Iterator[MakeBoard]:
    """:func:`board_in` for a folder of the test, by name; the boards are closed after it."""
    made = []

    def make(name: str = "board", **values: Any) -> Board:
        made.append(board_in(tmp_path / name, **values))
        return made[-1]

    yield make
    for board in made:
        with suppress(DatabaseError), board.reading() as connection:  # some tests take the tables away
            check_unchanged(read_log(connection))  # whatever a test did by the package has a line of the log
            if not request.module.__name__.endswith("test_store"):  # whose tests write rows without a line
                assert stored_sums(connection) == counted_sums(connection)
        board.engine.dispose()


@pytest.fixture
def stepped(make_board: MakeBoard) -> Board:
    """A board whose hidden set has a ladder."""
    return make_board(feedback="ladder", hidden_scores_per_day=20)


@pytest.fixture(scope="session")
def scored(
    board_in: MakeBoard,
    facts: Facts,
    submit: Submit,
    drain: Drain,
    public_key: AnswerKey,
    hidden_key: AnswerKey,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Board]:
    """A board that is only read: one model is right, one half right, one wrong with one view of the hidden set."""
    folder = tmp_path_factory.mktemp("scored")
    made = board_in(folder / "board")
    for right, model in ((1, "Right"), (2, "Half"), (0, "Wrong")):
        submit(made, write_outputs(folder, public_key, right=right, note=model), facts(model))
        views = ["stacked"] if model == "Wrong" else ["stacked", "tei"]
        file = write_outputs(folder, hidden_key, right=right, note=model, views=views)
        submit(made, file, facts(model), set_name="hidden-en")
    assert drain(made) == 6
    yield made
    made.engine.dispose()


@pytest.fixture
def board(request: pytest.FixtureRequest, make_board: MakeBoard) -> Board:
    """A board with both sets in SQLite; of a test with ``EACH_DATABASE`` once in each kind of database."""
    is_postgres = getattr(request, "param", "sqlite") == "postgresql"
    return make_board(database=request.getfixturevalue("postgres")() if is_postgres else "")


def write_outputs(
    folder: Path,
    key: AnswerKey,
    *,
    right: int = 1,
    views: Sequence[str] = ("stacked", "tei"),
    modes: Sequence[str | None] = (),
    note: str = "nothing",
    name: str = "preds.jsonl",
) -> Path:
    """Write a complete file of outputs that recovers every ``right``-th question (0: none).

    ``note`` is a word that makes wrong outputs differ from those of other files.
    """
    lines = []
    for mode in modes or (key.variants if len(key.variants) > 1 else (None,)):
        for view in views:
            for number, question in enumerate(key.questions):
                is_right = right and number % right == 0
                output = " ".join(question.answers) if is_right else f"{note} {number}"
                line = {"question_id": question.question_id, "output": output, "view": view}
                lines.append(line | ({"mode": mode} if mode else {}))
    file = folder / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


@pytest.fixture
def hand(tmp_path: Path) -> Hand:
    """:func:`write_outputs` into the folder of the test."""
    return partial(write_outputs, tmp_path)


@pytest.fixture(scope="session")
def facts() -> Callable[..., ModelFacts]:
    """Facts of a model, by name."""
    return lambda model="Model", team="Team", **more: check_facts(team=team, model=model, **more)


@pytest.fixture(scope="session")
def submit() -> Submit:
    """Hands a file in, for the public set and as a maintainer if nothing else is said."""

    def call(
        board: Board, file: Path, facts: ModelFacts, *, set_name: str = "public", limited: bool = False
    ) -> Submission:
        with file.open("rb") as stream:
            return accept(
                board,
                facts,
                stream,
                set_name=set_name,
                name=file.name,
                actor=f"team {facts.team}",
                limited=limited,
                channel="api" if limited else BY_MAINTAINERS,
            )

    return call


@pytest.fixture(scope="session")
def drain() -> Callable[..., int]:
    """Scores everything that waits; how many there were. ``say`` is told what happens."""

    def call(board: Board, say: Callable[..., None] = lambda what, **facts: None) -> int:
        worker = Worker(board, say=say)
        count = 0
        with worker.exclusive(wait=180):  # the process that a killed worker had begun holds the lock until it sees that
            while worker.score_next():
                count += 1
        return count

    return call


@pytest.fixture(scope="session")
def find() -> Callable[[Board, str], Submission]:
    """The submission of an id, as it is now."""

    def call(board: Board, submission_id: str) -> Submission:
        with board.reading() as connection:
            found = submissions.find(connection, submission_id)
        assert found is not None
        return found

    return call


@pytest.fixture(scope="session")
def place(facts: Facts) -> Place:
    """Puts a scored submission on a board without scoring a file.

    Args (of what it returns): board; model; means: by mode and view those of the resamples, which are taken for the
    scores of images, too; set_name; signature; team; hits.
    """

    def call(
        board: Board,
        model: str,
        means: Mapping[tuple[str, str], Sequence[float]],
        *,
        set_name: str = "public",
        signature: str = "metric:made|seed:0",
        team: str = "Team",
        hits: bytes = bytes(16),
    ) -> Submission:
        cells = []
        for (mode, view), values in means.items():
            packed = BootstrapMean(10**9, float(np.mean(values)), np.array(values)).to_bytes()
            value = (float(np.mean(values)), float(np.min(values)), float(np.max(values)))
            estimates = {"exact": value, "jaccard": value}
            cells.append(
                CellOutcome(
                    mode=mode,
                    view=view,
                    estimates=estimates,
                    difference=estimates if view == "stacked" else None,
                    means={"exact": packed, "jaccard": packed},
                    flips=flipped_sums(np.array(values)[:, None], seed=0, unit="image").astype("<f4").tobytes(),
                    hits=hits,
                )
            )
        content = f"{model} {team} {set_name} {secrets.token_hex(8)}".encode()
        with board.writing() as connection:
            for waiting in submissions.list_submissions(connection, SubmissionStatus.QUEUED):
                raise AssertionError(f"{waiting.id} waits")
        submission = accept(
            board,
            facts(model, team),
            io.BytesIO(content),
            set_name=set_name,
            name="made.jsonl",
            channel="api",
            actor="test",
            limited=False,
        )
        scores = [{"mode": mode, "view": view, "images": 8, "outcomes": {}, "groups": []} for mode, view in means]
        result = {"scores": scores}
        finish(board, submission, ScoringOutcome(signature=signature, result=result, cells=tuple(cells)))
        return submission

    return call


@pytest.fixture
def guess(tmp_path: Path, hidden_key: AnswerKey) -> Callable[..., Path]:
    """Writes a file for the hidden set that restores some questions of its parts, and is no copy of another.

    Args (of what it returns): name: also a word that stands in every output; right: how many questions of each part;
    views.
    """

    def write(name: str, right: Mapping[str, int], views: Sequence[str] = ("stacked",)) -> Path:
        left, lines = dict(right), []
        for number, question in enumerate(hidden_key.questions):
            left[question.part] = left.get(question.part, 0) - 1
            said = " ".join(question.answers) if left[question.part] >= 0 else f"nothing {number}"
            for view in views:
                lines.append({"question_id": question.question_id, "output": f"{said} {name}", "view": view})
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return file

    return write


@pytest.fixture
def another(hidden: Path, tmp_path: Path) -> Path:
    """Another hidden set: the same questions under another nonce, and so under another commitment."""
    out = tmp_path / "another"
    shutil.copytree(hidden, out)
    values = json.loads((out / "key" / "key.json").read_text())
    (out / "key" / "key.json").write_text(json.dumps(values | {"nonce": "f" * 64}))
    told = json.loads((out / "public" / "manifest.json").read_text())
    told["commitment"] = read_key(out / "key").commitment
    (out / "public" / "manifest.json").write_text(json.dumps(told))
    return out
