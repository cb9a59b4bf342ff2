"""A leaderboard under load.

    python scripts/bench_leaderboard.py [--clients 50] [--submissions 500] [--items 500] [--database URL]
    python scripts/bench_leaderboard.py --models 50 2000
    python scripts/bench_leaderboard.py --kills 14 --submissions 300 [--clock LIBFAKETIME] [--database URL]

Clients hand in submissions at once to a real server, while a reader fetches the index, tables, models' pages and pages
of submissions one after another, until everything is scored. Each file is another model's and holds an output for each
item of a synthetic set. The exit code is 1 if a submission was lost or scored twice, an answer was 5xx, or the 95th
percentile of reading is above 200 ms. Use an empty PostgreSQL database with --database.

With --models 50 2000 boards with so many models of two sets are made, and the milliseconds of processor printed that
finishing a file takes.

With --kills the service is killed (kill -9) so many times, each time at a random moment after it took or scored a file;
a client that gets no answer sends again. With --clock, the path of libfaketime.so.1, the clock of the service jumps at
each start, by a day forward and back again. The exit code is 1 if an accepted file is lost or scored twice, or the log
does not hold.
"""

import argparse
import http.client
import json
import multiprocessing as mp
import os
import random
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from sqlalchemy import Connection, insert, text

from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.commands import give_token
from vcrgen.leaderboard.model_facts import check_facts
from vcrgen.leaderboard.new_board import init_board
from vcrgen.leaderboard.records import Submission
from vcrgen.leaderboard.scoring import CellOutcome, ScoringOutcome
from vcrgen.leaderboard.settings import Settings
from vcrgen.leaderboard.store import results, submissions
from vcrgen.leaderboard.store.log import check_log, now, read_log, record
from vcrgen.leaderboard.store.schema import pair_statistics, rankings
from vcrgen.leaderboard.store.state import counted_sums, store_sums
from vcrgen.leaderboard.store.submissions import list_submissions
from vcrgen.leaderboard.worker import finish
from vcrgen.stats.arrays import Floats
from vcrgen.stats.bootstrap import BootstrapMean
from vcrgen.stats.sign_flips import FLIPS, flipped_sums

MOST_MS = 200.0
SETS, VIEWS = ("set-0", "set-1"), ("stacked", "tei")
IMAGES, LAST = 500, 10  # of made-up scores; models whose files are finished as a worker does
PATIENCE = 3600.0
SET = "bench"
TEXT = (
    "the river station quiet museum train garden bridge light market children winter harbour between village paper "
    "stone evening yellow school window of in a with on under over early morning large small wooden old two three"
)
WORDS = TEXT.split()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=50, help="that hand in at once")
    parser.add_argument("--submissions", type=int, default=500, help="by all of them")
    parser.add_argument("--items", type=int, default=500, help="outputs in each file")
    parser.add_argument("--database", default="", help="URL of an empty PostgreSQL database; SQLite without")
    parser.add_argument("--models", type=int, nargs="+", help="sizes of boards to look at, in place of handing in")
    parser.add_argument("--kills", type=int, default=0, help="of the service, while clients hand in")
    parser.add_argument("--clock", default="", help="libfaketime.so.1, by which the clock jumps at each kill")
    args = parser.parse_args()
    if args.models:
        for models in args.models:
            with tempfile.TemporaryDirectory(prefix="bench-leaderboard-") as name:
                print(
                    f"{models:,} models: a file is finished in {finishing_ms(Path(name), models):,.0f} ms", flush=True
                )
        return 0
    with tempfile.TemporaryDirectory(prefix="bench-leaderboard-") as folder:
        bench = Bench(Path(folder), args.clients, args.submissions, args.items, args.database)
        if args.kills:
            return bench.kill(args.kills, args.clock)
        return bench.run()


def finishing_ms(folder: Path, models: int) -> float:
    """The milliseconds of processor that finishing a file takes on a board with made-up scores."""
    keys = []
    for number in range(len(SETS)):
        keys.append(folder / f"key{number}.jsonl")
        line = {"question_id": f"q{number}", "crossed_text": [TEXT[:20]], "language": "en"}
        keys[-1].write_text(json.dumps(line) + "\n", "utf-8")
    data = [f"{name}:{key}" for name, key in zip(SETS, keys, strict=True)]
    board = init_board(folder / "board", data, Settings(title="Bench"), with_reported=True)
    rng = np.random.default_rng(0)
    skills = rng.uniform(0.1, 0.95, models)
    right = rng.random((IMAGES, models)) < skills
    flips = flipped_sums(right.astype(float), seed=0, unit="image").astype("<f4")
    early = max(models - LAST, 0)
    with board.queueing() as connection:  # quickly: their pairs are not tested, and one line tells of all
        for number in range(early):
            for name in SETS:
                submission = made_submission(number, name, rng)
                outcome = made_outcome(skills[number], flips[number], rng)
                submissions.add(connection, submission)
                results.add_run(connection, submission.id, name, outcome)
                submissions.change(connection, submission.id, status="scored", current=True)
        make_up_ranks(connection, skills[:early])
        connection.execute(text("UPDATE sets SET hidden = 1 WHERE name = 'set-1'"))  # so that there are gaps
        store_sums(connection, counted_sums(connection), {})
        record(connection, actor="bench", what="scored", subject="board", facts={"models": str(early)})
    times = []
    for number in range(early, models):
        for name in SETS:
            submission = made_submission(number, name, rng)
            with board.writing() as connection:
                submissions.add(connection, submission)
                facts = submission.log_details
                record(connection, actor="bench", what="accepted", subject=submission.facts.entry, facts=facts)
            started = time.process_time()
            finish(board, submission, made_outcome(skills[number], flips[number], rng))
            times.append(1000 * (time.process_time() - started))
    return statistics.median(times)


def made_submission(number: int, set_name: str, rng: np.random.Generator) -> Submission:
    """A file of a model."""
    facts = check_facts(
        team=f"Team {number % 40}",
        model=f"Model {number}",
        size=f"{rng.integers(1, 900)}B",
        access="open",
        released=f"20{rng.integers(20, 27)}-0{rng.integers(1, 10)}-11",
        link=f"https://example.org/{number}",
    )
    return Submission(
        id=secrets.token_hex(16),
        set=set_name,
        facts=facts,
        file=secrets.token_hex(32),
        file_name="made.jsonl",
        bytes=1,
        channel="api",
        received=now(),
    )


def made_outcome(skill: float, flips: Floats, rng: np.random.Generator) -> ScoringOutcome:
    """Scores in both views that were not made by scoring; the sign flips are those of images."""
    cells = []
    for view in VIEWS:
        value = float(np.clip(skill + rng.normal(0, 0.02), 0, 1))
        means = BootstrapMean(IMAGES, value, np.clip(value + rng.normal(0, 0.02, 1000), 0, 1))
        three = (value, max(value - 0.04, 0), min(value + 0.04, 1))
        estimates = {"exact": three, "jaccard": three}
        cells.append(
            CellOutcome(
                mode="any",
                view=view,
                estimates=estimates,
                difference=estimates if view == VIEWS[0] else None,
                means={"exact": means.to_bytes(), "jaccard": means.to_bytes()},
                flips=flips.tobytes(),
                hits=bytes(8),
            )
        )
    return ScoringOutcome(signature="metric:made|seed:0", result={"scores": []}, cells=tuple(cells))


def make_up_ranks(connection: Connection, skills: Floats) -> None:
    """Rank the runs that are there: each pair by the difference of their skills in standard errors."""
    runs = np.array(connection.execute(text("SELECT id FROM runs ORDER BY id")).scalars().all(), "<i8")
    by_set = {name: runs[number :: len(SETS)] for number, name in enumerate(SETS)}
    maxima = np.full(FLIPS, 5, "<f4").tobytes()
    for name, numbers in by_set.items():
        for view in VIEWS:
            short = connection.execute(text("SELECT short FROM runs LIMIT 1")).scalar_one()
            ranking = {"set": name, "mode": "any", "view": view, "short": short}
            connection.execute(insert(rankings).values(**ranking, maxima=maxima, stale=False, changes=len(numbers)))
            rows = [
                {
                    "run": int(run),
                    "mode": "any",
                    "view": view,
                    "place": place,
                    "others": numbers[: place - 1].tobytes(),
                    "statistics": ((skills[place - 1] - skills[: place - 1]) / 0.02).astype("<f4").tobytes(),
                }
                for place, run in enumerate(numbers.tolist(), start=1)
            ]
            if rows:
                connection.execute(insert(pair_statistics), rows)
    connection.execute(text("UPDATE cells SET ranked = 1"))


@dataclass
class Fetched:
    """The view of a reader."""

    times: list[float] = field(default_factory=list)  # milliseconds
    statuses: Counter[int] = field(default_factory=Counter)


class Bench:
    """A board with its server, its clients and its reader."""

    def __init__(self, folder: Path, clients: int, count: int, items: int, database: str) -> None:
        self.folder, self.clients, self.count = folder, clients, count
        rng = random.Random(0)
        self.answers = [" ".join(rng.choices(WORDS, k=rng.randint(4, 7))) for _ in range(items)]
        self.key = folder / "key.jsonl"
        lines = ({"question_id": f"q{n}", "crossed_text": [a], "language": "en"} for n, a in enumerate(self.answers))
        self.key.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        settings = Settings(
            title="Bench",
            database=database,
            files_per_day=10**6,
            failed_files_per_day=10**6,
            requests_per_minute=10**9,
        )
        self.board: Board = init_board(folder / "board", [f"{SET}:{self.key}"], settings, with_reported=True)
        self.tokens = [give_token(self.board, f"Team {n}", "bench") for n in range(clients)]

    def run(self) -> int:
        """Everything; the exit code."""
        with self.server() as url:
            fetch(connect(url), "/index.html")
            queue: Any = mp.get_context("spawn").Queue()
            sent = mp.get_context("spawn").Process(
                target=hand_in, args=(url, self.tokens, self.count, self.answers, queue)
            )
            sent.start()
            start, fetched, stop = time.monotonic(), Fetched(), threading.Event()
            reader = threading.Thread(target=self.read, args=(url, fetched, stop))
            reader.start()
            ids, failures, accepting = queue.get(timeout=PATIENCE)
            sent.join()
            while self.waiting() and time.monotonic() - start < PATIENCE:
                time.sleep(0.5)
            scoring = time.monotonic() - start
            stop.set()
            reader.join()
        bad, line = self.outcome(ids)
        statuses = [status for status in failures + fetched.statuses if isinstance(status, int)]
        print(line)
        print(f"answers that were not 202: {dict(failures) or 'none'}; pages: {dict(fetched.statuses)}")
        print(f"accepted in {accepting:.1f} s by {self.clients} clients, scored in {scoring:.1f} s")
        times = sorted(fetched.times)
        slow = times[int(0.95 * len(times))]
        print(f"{len(times)} pages meanwhile, ms: median {statistics.median(times):.0f}, 95th percentile {slow:.0f}")
        return int(bad or max(statuses, default=0) >= 500 or slow > MOST_MS)

    def kill(self, kills: int, clock: str) -> int:
        """Kill the service again and again while clients hand in; the exit code."""
        rng, start = random.Random(0), time.monotonic()
        port = random.randrange(20_000, 30_000)  # a system gives it to no client that waits for the service
        with self.server(port, kills=True, environment=self.clock(clock, 0)) as url:
            queue: Any = mp.get_context("spawn").Queue()
            words = (url, self.tokens, self.count, self.answers, queue, True)
            sent = mp.get_context("spawn").Process(target=hand_in, args=words, daemon=True)
            sent.start()
        for number in range(kills):
            with self.server(port, kills=True, environment=self.clock(clock, 1 - number % 2)):
                self.wait_for_work(sent)
                time.sleep(rng.uniform(0.05, 6))
        with self.server(port, environment=self.clock(clock, 0)):
            ids, failures, accepting = queue.get(timeout=PATIENCE)
            sent.join()
            while self.waiting() and time.monotonic() - start < PATIENCE:
                time.sleep(0.5)
        bad, line = self.outcome(ids)
        print(f"{kills} kills in {accepting:.0f} s: {line}")
        print(
            f"sent again after: {dict(failures) or 'nothing'}; everything scored after {time.monotonic() - start:.0f} s"
        )
        return int(bad)

    @staticmethod
    def clock(library: str, days: int) -> dict[str, str]:
        """The environment of a process whose clock is so many days ahead; without a library, that of this process."""
        fake = {"LD_PRELOAD": library, "FAKETIME": f"+{days}d", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        return {**os.environ, **(fake if library and days else {})}

    @contextmanager
    def server(self, port: int = 0, *, kills: bool = False, environment: dict[str, str] | None = None) -> Iterator[str]:
        """A server of the board, killed or stopped at the end; gives its address."""
        command = [sys.executable, "-m", "vcrgen", "leaderboard", "serve", str(self.board.folder), "--port", str(port)]
        log = self.folder / "log"
        with log.open("wb") as out:
            process = subprocess.Popen(command, stderr=out, env=environment)
        try:
            while not (found := re.search(r'"url": "([^"]+)"', log.read_text("utf-8"))):
                if process.poll() is not None:
                    sys.exit(log.read_text("utf-8"))
                time.sleep(0.1)
            yield found[1].rstrip("/")
        finally:
            if kills:
                process.kill()
            process.terminate()
            process.wait()

    def wait_for_work(self, sent: Any) -> None:
        """Wait until a file is taken or scored, or all were sent and scored: a service that does nothing is no test."""
        before = self.progress()
        while self.progress() == before and (sent.is_alive() or self.waiting()):
            time.sleep(0.2)

    def progress(self) -> tuple[int, int]:
        """The files that were taken, and those that were scored."""
        with self.board.reading() as connection:
            found = list_submissions(connection)
        return len(found), sum(one.finished is not None for one in found)

    def waiting(self) -> int:
        """Submissions that are not scored yet."""
        with self.board.reading() as connection:
            return sum(one.finished is None for one in list_submissions(connection))

    def read(self, url: str, into: Fetched, stop: threading.Event) -> None:
        """Fetch pages one after another, as a visitor does who never rests."""
        connection, rng = connect(url), random.Random(1)
        paths = ["/index.html", "/history.html", "/compare.html", "/about.html", "/board.csv"]
        models: list[str] = []
        pages: list[str] = []
        for number in count():
            if stop.is_set():
                return
            if number % 100 == 0:
                with self.board.reading() as reading:
                    found = list_submissions(reading)
                models = [f"/model-{one.facts.entry}.html" for one in found if one.finished]
                pages = [f"/submission-{one.id}.html" for one in found]
            kind = rng.choice(("single", "model", "status"))
            path = rng.choice({"single": paths, "model": models or paths, "status": pages or paths}[kind])
            start = time.perf_counter()
            status = fetch(connection, path)
            into.times.append(1000 * (time.perf_counter() - start))
            into.statuses[status] += 1

    def outcome(self, ids: list[str]) -> tuple[bool, str]:
        """Whether an accepted file is lost or scored twice, and a line that counts them; a broken log ends it all."""
        with self.board.reading() as connection:
            statuses = {one.id: one.status.value for one in list_submissions(connection)}
            runs = Counter(connection.execute(text("SELECT submission FROM runs")).scalars())
            log = list(read_log(connection))
        check_log(iter(log))
        lines = Counter(line.subject for line in log if line.what == "scored")
        scored = sum(status == "scored" for status in statuses.values())
        twice = sum(count > 1 for count in runs.values()) + sum(count > 1 for count in lines.values())
        lost = self.count - len(ids) + sum(statuses.get(one, "failed") == "failed" for one in ids)
        wait = len(ids) - lost - scored
        line = (
            f"accepted {len(ids)} of {self.count}, scored {scored}, scored twice {twice}, lost {lost}, waiting {wait}"
        )
        return bool(lost or twice or wait), line


def outputs(answers: list[str], seed: int) -> bytes:
    """A file: some outputs right, some nearly, some wrong; no two files are the same."""
    rng = random.Random(seed)
    skill = rng.uniform(0.2, 0.9)
    lines = []
    for number, answer in enumerate(answers):
        words = [word if rng.random() < skill else rng.choice(WORDS) for word in answer.split()]
        lines.append(json.dumps({"question_id": f"q{number}", "output": " ".join(words)}))
    return "\n".join(lines).encode()


def hand_in(url: str, tokens: list[str], count: int, answers: list[str], queue: Any, patient: bool = False) -> None:
    """In a process of its own: every client hands in its share, one file after another; a patient one tries again."""
    bodies = [form({"set": SET, "model": f"Model {n}", "size": "7B"}, outputs(answers, n)) for n in range(count)]
    ids: list[str] = []
    failures: Counter[int | str] = Counter()

    def send(number: int, body: bytes) -> bool:
        kind = {"content-type": "multipart/form-data; boundary=bench", "authorization": f"Bearer {tokens[number]}"}
        try:
            connection = connect(url)
            connection.request("POST", "/api/submissions", body, kind)
            answer = connection.getresponse()
            content = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as problem:
            failures[type(problem).__name__] += 1
            return False
        if answer.status == 202 or (answer.status == 409 and "id" in content):  # 409: it came, but not our answer
            ids.append(content["id"])
            return True
        failures[answer.status] += 1
        return False

    def client(number: int) -> None:
        for body in bodies[number :: len(tokens)]:
            while not send(number, body) and patient:
                time.sleep(1)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(len(tokens))]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.put((ids, failures, time.monotonic() - start))


def form(fields: dict[str, str], file: bytes) -> bytes:
    parts = [f'--bench\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{v}\r\n' for name, v in fields.items()]
    head = '--bench\r\nContent-Disposition: form-data; name="file"; filename="preds.jsonl"\r\n\r\n'
    return "".join([*parts, head]).encode() + file + b"\r\n--bench--\r\n"


def connect(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)


def fetch(connection: http.client.HTTPConnection, path: str) -> int:
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    return answer.status


if __name__ == "__main__":
    sys.exit(main())
