"""How long `vcrgen view` takes for its first page and for a filter, with 100 items and with many.

    python scripts/bench_view.py [--items 10000] [--models 5] [--folder FOLDER]

`started` is the time from the command to the first items of its page, without saved scores; `ended` that from Ctrl-C,
which comes then, to the end of the program. The yardstick of filters is what somebody without it does for one question
about outputs: parse the lines of all files as JSON. Times are medians of five; a page is the JSON that the browser asks
for, with its pictures.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from vcrgen.builder.run import build
from vcrgen.scorer.answers import load_answers
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.run import open_session
from vcrgen.scorer.saved import write_saved
from vcrgen.view.query import Query
from vcrgen.view.view_data import ViewData

FILTERS = {
    "first page": "",
    "last page": "page=LAST",
    "outcome of any model": "outcome=wrong",
    "outcome, split, characters": "outcome=near&run=1&split=test&length_min=80",
    "right by one, wrong by another": "right=0&wrong=4",
    "words in captions and outputs": "search=the+white",
    "words in no text": "search=nowhere+to+be+found",
    "sorted by a model's score": "sort=score-2&direction=down",
    "sorted by the score of all": "sort=score",
}
WORDS = ("the", "white", "red", "boat", "over", "house", "seven", "lights", "of", "a")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="keep datasets and outputs here, and use those that are there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        for items in (100, arguments.items):
            report(items, *make(folder / f"{items}", items, arguments.models))


def make(folder: Path, items: int, models: int) -> tuple[Path, list[Path]]:
    """A dataset of so many pairs, and outputs of models that are right in 10 to 90 % of them."""
    data = folder / "data"
    build(f"samples:{items}", out=data, mode="hard", splits="test=...", workers=2)
    questions = list(load_answers(data).questions)
    files = []
    for model in range(models):
        rng, file = random.Random(model), folder / f"model-{model}.jsonl"
        with file.open("w", encoding="utf-8") as handle:
            for question in questions:
                words = [word for answer in question.answers for word in answer.split()]
                if rng.random() > (model + 1) / (models + 1):
                    words = [word if rng.random() < 0.6 else rng.choice(WORDS) for word in words]
                line = {"question_id": question.question_id, "mode": "hard", "view": "stacked"}
                handle.write(json.dumps({**line, "model": file.stem, "output": " ".join(words)}) + "\n")
        files.append(file)
    return data, files


def report(items: int, data: Path, files: list[Path]) -> None:
    """Print the times of a dataset beside the yardstick."""
    yardstick = median(lambda: [json.loads(line) for file in files for line in file.open(encoding="utf-8")])
    print(f"{items:,} items, {len(files)} models; yardstick: {1000 * yardstick:,.0f} ms to parse all outputs")
    runs = [serve(data, files) for _ in range(5)]
    for name, values in zip(Served._fields, zip(*runs, strict=True), strict=True):
        print(f"  {name}: {statistics.median(values):.2f} s")
    scoring = seconds(ViewData(data, files, ScoreOptions()).score)
    session = open_session(data, ScoreOptions())
    for file in files:
        write_saved(file.with_name(f"{file.stem}.scores.json"), session.score(file), secret=False)
    view = ViewData(data, files, ScoreOptions())
    saved = seconds(view.score)
    print(f"  all outputs are scored in {scoring:.1f} s; with saved scores in {saved:.1f} s")
    for name, text in FILTERS.items():
        query = Query.parse(text.replace("LAST", str((items - 1) // 24)))

        def page(query: Query = query) -> Any:
            view.index._order.cache_clear()  # orders of earlier queries are kept
            return json.dumps(view.page(query))

        took = median(page)
        found = view.page(query)["total"]
        print(f"  {name}: {1000 * took:,.0f} ms, {took / yardstick:.2f} yardsticks, {found:,} items")
    for file in files:
        file.with_name(f"{file.stem}.scores.json").unlink()


class Served(NamedTuple):
    """Seconds of a command."""

    started: float
    ended: float


def serve(data: Path, files: list[Path]) -> Served:
    """Start the command, load its page and the first items, and end it while it scores."""
    start = time.perf_counter()
    command = [sys.executable, "-m", "vcrgen", "view", str(data), *map(str, files), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = next(word for word in process.stdout.readline().split() if word.startswith("http://127.0.0.1:"))
        for part in ("", "items.json"):
            with urllib.request.urlopen(url + part, timeout=60) as answer:  # noqa: S310 - of this machine
                answer.read()
        ready = time.perf_counter()
        process.send_signal(signal.SIGINT)
        process.wait(60)
    return Served(ready - start, time.perf_counter() - ready)


def median(call: Callable[[], object]) -> float:
    return statistics.median(seconds(call) for _ in range(5))


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
