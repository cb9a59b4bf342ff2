"""A study's service under load, and killed again and again.

    python scripts/bench_study.py [--raters 50] [--seconds 30]
    python scripts/bench_study.py --kills 20 [--raters 30]

Raters are programs in another process that do what the page does: open it, agree, fetch a picture, send what is typed
several times, go on. Between two requests they wait as people do, about a second. Printed is how long the requests
took, with the same requests of a single rater alone as the yardstick. The exit code is 1 if an answer was no success,
or the median with all raters is above 30 ms.

With --kills the service is killed (kill -9) so many times meanwhile, and nobody waits; every answer that was
acknowledged has to be there afterwards, once, as it was typed last. The exit code is 1 if one is not.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing as mp
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from vcrgen.builder.run import build
from vcrgen.study.creation import init_study
from vcrgen.study.options import StudyOptions
from vcrgen.study.page_texts import text_file
from vcrgen.study.raters import invite
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.steps import read_steps

MOST_MS = 30.0
ITEMS = 100
THINKING = 1.0  # seconds between two requests, on average
Typed = dict[tuple[int, int], tuple[int, list[str]]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, default=0, help="at once; 50, or 30 with --kills")
    parser.add_argument("--seconds", type=float, default=30, help="of load")
    parser.add_argument("--kills", type=int, default=0, help="of the service")
    args = parser.parse_args()
    count = args.raters or (30 if args.kills else 50)
    with tempfile.TemporaryDirectory(prefix="bench-study-") as name:
        folder = Path(name)
        build("samples", out=folder / "data", limit=ITEMS, splits="test=...")
        options = StudyOptions(limit=ITEMS, training=0, raters=(count + 1) // 2)
        init_study(folder / "study", str(folder / "data"), options)
        text_file(folder / "study", "consent", "en").write_text("A benchmark.", "utf-8")  # its note is replaced
        with StudyStore(folder / "study") as store:
            links = invite(store, count, "en")[0]
            return kills(store, links, args.kills) if args.kills else load(store, links, args.seconds)


def load(store: StudyStore, links: list[str], seconds: float) -> int:
    """Raters who take their time; the exit code."""
    service = Service(store.folder)
    alone = together(service.port, links[:1], seconds / 3)
    busy = together(service.port, links, seconds)
    service.kill()
    for name, times in (("one rater", alone), (f"{len(links)} raters", busy)):
        ordered = sorted(times)
        last = ordered[int(0.95 * len(ordered))]
        print(f"{name}: {len(times)} requests, median {statistics.median(times):.1f} ms, 95th percentile {last:.1f} ms")
    print(f"ratio of the medians: {statistics.median(busy) / statistics.median(alone):.2f}")
    return int(statistics.median(busy) > MOST_MS)


def together(port: int, links: list[str], seconds: float) -> list[float]:
    """The milliseconds of all requests of some raters at once, who are in a process of their own."""
    queue: Any = mp.get_context("spawn").Queue()
    process = mp.get_context("spawn").Process(target=_raters, args=(port, links, seconds, queue))
    process.start()
    times: list[float] = queue.get(timeout=seconds + 300)
    process.join()
    return times


def _raters(port: int, links: list[str], seconds: float, queue: Any) -> None:
    times: list[float] = []
    end = time.monotonic() + seconds

    def rate(number: int, link: str) -> None:
        rng = random.Random(number)
        rater = Rater(port, link, number, times)
        time.sleep(rng.random() * THINKING)
        steps = rater.begin()
        for revision in range(1, 1000):
            for step in range(steps):
                fields = rater.ask("GET", f"/api/{link}/step/{step}")["fields"]
                for part in range(3):
                    time.sleep(2 * THINKING * rng.random())
                    if time.monotonic() > end:
                        return
                    rater.answer(step, [f"typed {revision} {part}"] * fields, 3 * revision + part, done=part == 2)

    threads = [threading.Thread(target=rate, args=each) for each in enumerate(links)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.put(times)


def kills(store: StudyStore, links: list[str], count: int) -> int:
    """Raters in a hurry, and a service that is killed; the exit code."""
    service = Service(store.folder)
    typed: list[Typed] = [{} for _ in links]
    finished = threading.Event()

    def rate(number: int, link: str) -> None:
        rater = Rater(service.port, link, number, [])
        steps = patiently(rater.begin)
        for revision in range(1, 1000):
            for step in range(steps or 0):
                if finished.is_set():
                    return
                fields = patiently(lambda step=step: rater.ask("GET", f"/api/{link}/step/{step}"))
                if fields is None:
                    return
                texts = [f"{number} {step} {revision} {place}" for place in range(fields["fields"])]
                answer = (step, texts, revision)
                if patiently(lambda answer=answer: rater.answer(*answer)) is not None:
                    typed[number][number + 1, step] = (revision, texts)

    def patiently(do: Any) -> Any:
        while not finished.is_set():
            try:
                return do()
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.05)
        return None

    threads = [threading.Thread(target=rate, args=each) for each in enumerate(links)]
    for thread in threads:
        thread.start()
    for _ in range(count):
        time.sleep(0.2 + random.Random(0).random())
        service.kill()
        service.start()
    time.sleep(1)
    finished.set()
    for thread in threads:
        thread.join()
    service.kill()
    with store.reading() as connection:
        there = {(place.rater, place.number): place.response for place in read_steps(connection)}
    lost = 0
    acknowledged = {about: sent for mine in typed for about, sent in mine.items()}
    for about, (revision, texts) in acknowledged.items():
        response = there.get(about)
        # The one after the last acknowledged may have reached the disk, too.
        same = response is not None and (list(response.texts) == texts or response.revision == revision + 1)
        lost += not same
    print(f"{len(links)} raters, {count} kills, {len(acknowledged)} steps acknowledged, {lost} lost")
    return int(lost > 0 or not acknowledged)


class Rater:
    """A program in front of the service."""

    def __init__(self, port: int, link: str, number: int, times: list[float]) -> None:
        self._port, self._link, self._tab, self._times = port, link, f"tab-{number}", times
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """A request and what it gives; an error for what is no success."""
        start = time.perf_counter()
        try:
            self._connection.request(method, path, None if body is None else json.dumps({"tab": self._tab, **body}))
            answer = self._connection.getresponse()
            content = answer.read().decode()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        self._times.append(1000 * (time.perf_counter() - start))
        if answer.status != 200:
            raise ValueError(f"{path}: {answer.status}")
        return json.loads(content) if path.startswith("/api/") else content

    def begin(self) -> int:
        """Open the page and agree; how many steps there are."""
        page = self.ask("GET", f"/r/{self._link}")
        version = json.loads(page.partition('id="data">')[2].partition("</script>")[0])["version"]
        steps = len(self.ask("POST", f"/api/{self._link}/open", {})["done"])
        self.ask("POST", f"/api/{self._link}/begin", {"version": version, "languages": "English"})
        return steps

    def answer(self, step: int, texts: list[str], revision: int, *, done: bool = True) -> Any:
        """Send what is typed."""
        body = {"texts": texts, "unread": [False] * len(texts), "seconds": 1.0, "done": done, "revision": revision}
        return self.ask("POST", f"/api/{self._link}/step/{step}", body)


class Service:
    """The service, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.port = folder, 0
        self.start()

    def start(self) -> None:
        """Start it, on the same port as before."""
        log = self._folder.with_name("service.log")
        command = [sys.executable, "-m", "vcrgen", "study", "serve", str(self._folder), "--port", str(self.port)]
        with log.open("wb") as out:
            self._process = subprocess.Popen(command, stdout=out, stderr=out)
        while not (found := re.search(r'"url": "http://127\.0\.0\.1:(\d+)/"', log.read_text())):
            if self._process.poll() is not None:
                raise RuntimeError(log.read_text())
            time.sleep(0.05)
        self.port = int(found[1])

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()


if __name__ == "__main__":
    sys.exit(main())
