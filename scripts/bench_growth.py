"""Measure whole commands at 1, 5 and 20 times a size: processor time, the largest resident size, cost of one more.

    python scripts/bench_growth.py                                 # all of them, about an hour
    python scripts/bench_growth.py bloom export --times 1,5        # those whose name holds one of these words
    python scripts/bench_growth.py splits --pairs ../shared/data/wiki/pairs_en.parquet --times 1,5,20

Each run is a process of its own, and what it works on is made before. Processor time is that of its workers, too. One
more costs the difference of two sizes, without start-up. The growth is the last such cost divided by the first one: 1
where time grows with the work. The OCR baseline needs vcrgen[ocr].
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing as mp
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

# What makes the inputs is loaded where it is used: a command seems to hold at least what this process has in memory.
ITEMS = 100  # of a study
PAIRS = "pairs.parquet"  # a link to the pairs of --pairs, or built-in ones


class Command(NamedTuple):
    """A command to measure."""

    unit: str
    smallest: int
    words: str  # {n} stands for the size; paths are in a folder of the run
    prepare: Callable[[int], None] = lambda size: None  # makes what it works on, in the working folder


def outputs(size: int) -> None:
    """Write a key and the outputs of two models."""
    spans = [["a masked span of words", "and another one here"][: 1 + number % 2] for number in range(size)]
    write("key.jsonl", [{"id": f"q{number}", "answers": one} for number, one in enumerate(spans)])
    for name, kept in (("a", 3), ("b", 4)):
        texts = ["; ".join(one) if number % kept else "no idea" for number, one in enumerate(spans)]
        write(f"{name}.jsonl", [{"question_id": f"q{number}", "output": text} for number, text in enumerate(texts)])


def write(name: str, rows: list[dict[str, object]]) -> None:
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def dataset(size: int) -> None:
    from vcrgen.builder.run import build

    build("samples", out=Path("data"), limit=size, splits="test=...")


def distinct(size: int) -> None:
    from bench_build import repeat_pairs

    repeat_pairs(Path(PAIRS), Path("source.parquet"), size)


def photos(size: int) -> None:
    """Write twice as many pairs, and 50, whose pictures are blurred noise: built-in ones are too much alike."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from PIL import Image

    from vcrgen.samples import sample_pair

    rng, pictures, captions = np.random.default_rng(0), [], []
    for number in range(2 * size + 50):
        noise = Image.fromarray(rng.integers(256, size=(9, 12, 3), dtype=np.uint8))
        noise.resize((400, 300), Image.Resampling.BICUBIC).save(data := io.BytesIO(), "JPEG")
        pictures.append(data.getvalue())
        captions.append(sample_pair("en", number).caption)
    pq.write_table(pa.table({"image": pa.array(pictures, pa.binary()), "caption": captions}), "photos.parquet")


def copies(size: int) -> None:
    """Write a source of which nine of ten pairs are copies."""
    import pyarrow.parquet as pq
    from bench_build import repeat_pairs

    repeat_pairs(Path(PAIRS), Path("tenth.parquet"), size // 10)
    tenth = pq.read_table("tenth.parquet")
    with pq.ParquetWriter("source.parquet", tenth.schema) as written:
        for _ in range(10):
            written.write_table(tenth, row_group_size=256)


def study(size: int) -> None:
    """Make a study in which so many raters have answered, one in five times wrongly."""
    from vcrgen.study.assignment import StepKind
    from vcrgen.study.creation import check_source, init_study
    from vcrgen.study.grading import question_of
    from vcrgen.study.options import StudyOptions
    from vcrgen.study.raters import invite
    from vcrgen.study.records import RaterState, Response
    from vcrgen.study.store.database import StudyStore
    from vcrgen.study.store.designs import read_design
    from vcrgen.study.store.items import read_items
    from vcrgen.study.store.raters import read_raters, update_rater
    from vcrgen.study.store.steps import read_steps, save_response

    dataset(ITEMS)
    init_study(Path("study"), "data", StudyOptions(limit=ITEMS, training=0, raters=(size + 1) // 2))
    rng = random.Random(0)
    with StudyStore(Path("study")) as store:
        invite(store, size, "en")
        with store.writing() as connection:
            design, items = read_design(connection), read_items(connection)
            source = check_source(design)
            answers = [item.answers or question_of(source, item).answers for item in items]
            for place in read_steps(connection):
                step = place.step
                texts = (step.word,) if step.kind is StepKind.CHECK else answers[step.item]
                typed = tuple(text if rng.random() < 0.8 else "wrong" for text in texts)
                save_response(
                    connection, place.rater, place.number, Response(typed, (False,) * len(typed), 5.0, True, 1)
                )
            for rater in read_raters(connection):
                update_rater(connection, rater.number, state=RaterState.SENT, languages="English")


HIDDEN = "hidden make photos.parquet --public-pictures --items {n} --out set --secret-file secret.key --cover"
SPLITS = "build source.parquet --lang en --workers 1 --out out --splits train=...,validation=0.1,test=0.1"
COMMANDS = {
    "build with splits": Command("pair", 1_000, SPLITS, distinct),
    "build with splits, nine of ten are copies": Command("pair", 1_000, SPLITS, copies),
    "hidden, rows": Command("item", 50, f"{HIDDEN} rows", photos),
    "hidden, bars": Command("item", 50, f"{HIDDEN} bars", photos),
    "hidden, bars, two workers": Command("item", 50, f"{HIDDEN} bars --workers 2", photos),
    "bloom build": Command("item", 500, "bloom build --items {n} --out out"),
    "export to vlmevalkit": Command("image", 100, "export data --to vlmevalkit --mode hard --out out", dataset),
    "baseline ocr": Command("image", 10, "baseline ocr data --mode hard --workers 1 --out o.jsonl", dataset),
    "validate": Command("output", 5_000, "validate a.jsonl --data key.jsonl", outputs),
    "score --compare": Command("output", 5_000, "score a.jsonl b.jsonl --data key.jsonl --compare", outputs),
    "study report": Command("rater", 25, "study report study", study),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="Only commands whose name holds one of these.")
    parser.add_argument("--times", default="1,5,20", help="Sizes, as multiples of each command's smallest.")
    parser.add_argument("--pairs", type=Path, help="Parquet file of English pairs for builds; else built-in ones.")
    args = parser.parse_args()
    for name, command in COMMANDS.items():
        if not args.names or any(word in name for word in args.names):
            measure(name, command, sorted(map(int, args.times.split(","))), args.pairs)


def measure(name: str, command: Command, times: list[int], pairs: Path | None) -> None:
    found: list[tuple[int, float]] = []
    margins: list[float] = []
    for size in (command.smallest * many for many in times):
        with tempfile.TemporaryDirectory(prefix="vcrgen-growth-") as folder:
            # In a process of its own, as a command would be said to hold what its parent has in memory.
            preparing = mp.get_context("spawn").Process(target=prepare, args=(name, size, folder, pairs))
            preparing.start()
            preparing.join()
            if preparing.exitcode:
                sys.exit(f"{name}: what it works on could not be made.")
            seconds, size_bytes, clock = run(command.words.format(n=size).split(), folder)
        line = f"{name}: {size:,} {command.unit}s: {seconds:.1f} s of CPU in {clock:.1f} s, {size_bytes / 1e6:,.0f} MB"
        if found:
            margins.append(1000 * (seconds - found[-1][1]) / (size - found[-1][0]))
            line += f", {margins[-1]:.3g} ms for one more"
        print(line, flush=True)
        found.append((size, seconds))
    if len(margins) > 1 and margins[0] > 0:
        print(f"{name}: growth {margins[-1] / margins[0]:.2f}", flush=True)


def prepare(name: str, size: int, folder: str, pairs: Path | None) -> None:
    """Make what a command works on."""
    source = pairs and pairs.absolute()
    os.chdir(folder)
    if source:
        Path(PAIRS).symlink_to(source)
    elif "splits" in name:
        sys.exit("Builds with splits need --pairs.")
    COMMANDS[name].prepare(size)


def run(words: list[str], folder: str) -> tuple[float, int, float]:
    """Run a command of vcrgen; return processor time, the largest resident size in bytes, and time by the clock."""
    log = os.open(f"{folder}/log", os.O_CREAT | os.O_RDWR)
    command = [sys.executable, "-m", "vcrgen", *words]
    here = Path.cwd()
    os.chdir(folder)
    started = time.perf_counter()
    child = os.posix_spawn(
        sys.executable, command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, log, number) for number in (1, 2)]
    )
    os.chdir(here)
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"vcrgen {' '.join(words)} failed: {Path(folder, 'log').read_text('utf-8')[-500:]}")
    os.close(log)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, time.perf_counter() - started


if __name__ == "__main__":
    main()
