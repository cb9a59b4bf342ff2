"""A study's service that is killed again and again under load.

    python scripts/bench_study.py [--raters 30] [--kills 20]

Raters are programs that do what the page does: open it, agree, send what is typed, go on; none of them waits. The
service is killed (kill -9) so many times meanwhile. Every answer that was acknowledged has to be there afterwards,
once, as it was typed last; the exit code is 1 if one is not.
"""

import argparse
import http.client
import json
import random
import re
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

ITEMS = 100
Typed = dict[tuple[int, int], tuple[int, list[str]]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raters", type=int, default=30, help="at once")
    parser.add_argument("--kills", type=int, default=20, help="of the service")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-study-") as name:
        folder = Path(name)
        build("samples", out=folder / "data", limit=ITEMS, splits="test=...")
        options = StudyOptions(limit=ITEMS, training=0, raters=(args.raters + 1) // 2)
        init_study(folder / "study", str(folder / "data"), options)
        text_file(folder / "study", "consent", "en").write_text("A benchmark.", "utf-8")  # its note is replaced
        with StudyStore(folder / "study") as store:
            return kills(store, invite(store, args.raters, "en")[0], args.kills)


def kills(store: StudyStore, links: list[str], count: int) -> int:
    """Raters in a hurry, and a service that is killed; the exit code."""
    service = Service(store.folder)
    typed: list[Typed] = [{} for _ in links]
    finished = threading.Event()

    def rate(number: int, link: str) -> None:
        rater = Rater(service.port, link, number)
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

    def __init__(self, port: int, link: str, number: int) -> None:
        self._link, self._tab = link, f"tab-{number}"
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """A request and what it gives; an error for what is no success."""
        try:
            self._connection.request(method, path, None if body is None else json.dumps({"tab": self._tab, **body}))
            answer = self._connection.getresponse()
            content = answer.read().decode()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
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

    def answer(self, step: int, texts: list[str], revision: int) -> Any:
        """Send what is typed."""
        body = {"texts": texts, "unread": [False] * len(texts), "seconds": 1.0, "done": True, "revision": revision}
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
