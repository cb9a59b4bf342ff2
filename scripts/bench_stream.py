"""Benchmark streams: processor time of an example relative to Pillow's PNG encoder in the same run.

    python scripts/bench_stream.py ../shared/data/wiki/pairs_*.parquet [--pairs 400]

Yardstick: the time in which Pillow saves an example's stacked image as PNG with its defaults. Printed for every source,
and for the built-in pairs, written to a file first so that drawing them is not measured:

* cost: seconds of processor time an example (one mode, nothing encoded) in one process, divided by the yardstick
  (aim: at most 0.3)
* cost in two workers: processor time of an example in all processes of a data loader with two workers, which also send
  it, divided by a save in two processes at once, and that of sending alone, of an example that is there already; the
  median of several rounds; needs torch
* processes: the cost in one process alone and in two at once, and how much dearer two at once make an example and a
  save; only what saving does not show is the stream's (aim: the cost in two is that of one)
* bits: processor time of an example of the modes by bits, divided by the yardstick, in processes that load numpy first:
  once with one thread of BLAS and once with one for each core (aim: no difference)
* speed-up: examples a second out of a data loader with two workers, divided by those with one (aim: at least 1.8 on two
  idle cores); needs torch

The best of several rounds of the others is taken, as everything else on the machine only adds.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice, repeat
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from vcrgen.builder.stream import VCRStream
from vcrgen.core.plurals import pluralize
from vcrgen.samples import sample_pair

ROUNDS = 5
YARDSTICK = 100  # images saved a round
WARM_UP = 100  # examples before a loader is timed
BITS = (("bits-4", "bars"), ("bits-4", "blots"))
BITS_EXAMPLES = 40  # a round
# Examples and saves take turns, so that others on the machine disturb both alike. A process waits for a line before
# each turn, so that several ones save at once, and make examples at once.
PROCESS_SCRIPT = """
import io, sys, time
from itertools import islice
from PIL import Image
from vcrgen.builder.stream import VCRStream

source, lang, pairs, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
examples = iter(VCRStream(source, lang=lang, mode="hard"))
images = [Image.fromarray(example["image"]) for example in islice(examples, 50)]
best = [float("inf")] * 2
turns = [
    (lambda: [None for _ in islice(examples, pairs)], pairs),
    (lambda: [image.save(io.BytesIO(), "PNG") for image in images], len(images)),
]
for _ in range(rounds):
    for number, (turn, count) in enumerate(turns):
        print(flush=True)
        input()
        started = time.process_time()
        turn()
        best[number] = min(best[number], (time.process_time() - started) / count)
print(*best)
"""
# numpy is there before vcrgen, with its threads.
BITS_SCRIPT = """
import sys, time
import numpy
from itertools import islice
from vcrgen.builder.stream import VCRStream

source, lang, mode, cover, count = sys.argv[1:]
examples = iter(VCRStream(source, lang=lang, mode=mode, cover=cover))
next(examples)
started = time.process_time()
for _ in islice(examples, int(count)):
    pass
print((time.process_time() - started) / int(count))
"""


def write_samples(target: Path, pairs: int) -> None:
    """The built-in pairs as a Parquet file."""
    made = [sample_pair("en", index) for index in range(pairs)]
    images = pa.array([pair.image for pair in made], pa.binary())
    pq.write_table(pa.table({"image": images, "caption": [pair.caption for pair in made]}), target, row_group_size=64)


def seconds(work: Callable[[], Any], count: int) -> float:
    """Processor seconds of one of so many steps."""
    started = time.process_time()
    work()
    return (time.process_time() - started) / count


def measure_cost(source: Path, lang: str, pairs: int) -> tuple[float, float]:
    """Processor seconds of an example, and of saving its image; the two take turns."""
    stream = VCRStream(source, lang=lang, mode="hard")
    examples = iter(stream)
    images = [Image.fromarray(example["image"]) for example in islice(examples, YARDSTICK)]
    cost = yardstick = float("inf")
    for _ in range(ROUNDS):
        cost = min(cost, seconds(lambda: [None for _ in islice(examples, pairs)], pairs))
        yardstick = min(yardstick, seconds(lambda: [image.save(io.BytesIO(), "PNG") for image in images], len(images)))
    return cost, yardstick


def ready_examples(source: Path, lang: str) -> Any:
    """A data set that gives the stream's first example again and again: what is left is to send it."""
    from torch.utils.data import IterableDataset

    example = next(iter(VCRStream(source, lang=lang, mode="hard")))

    class Ready(IterableDataset):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            return repeat(example)

    return Ready()


def loader_processor_time(examples_of: Any, examples: int) -> float:
    """Processor seconds of a data loader with two workers, its processes' start included."""
    from torch.utils.data import DataLoader

    before = os.times()
    loader = DataLoader(examples_of, batch_size=8, num_workers=2, collate_fn=list)
    batches = iter(loader)
    for _ in islice(batches, examples // 8):
        pass
    del batches  # ends the workers, whose time counts from then on
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


def measure_worker_cost(examples_of: Any, pairs: int) -> float:
    """Processor seconds of an example in all processes of a loader with two workers, without their start."""
    costs = []
    for _ in range(ROUNDS):
        short, long = (loader_processor_time(examples_of, count * pairs) for count in (1, 3))
        costs.append((long - short) / (2 * pairs))
    return median(costs)


def measure_processes(source: Path, lang: str, pairs: int, processes: int) -> tuple[float, float]:
    """Processor seconds of an example, and of saving its image, in so many processes that do both at once."""
    command = [sys.executable, "-c", PROCESS_SCRIPT, str(source), lang, str(pairs), str(ROUNDS)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, **pipes) for _ in range(processes)]
    for _ in range(2 * ROUNDS):
        for process in running:
            process.stdout.readline()
        for process in running:
            process.stdin.write("\n")
            process.stdin.flush()
    costs = [list(map(float, process.communicate()[0].split())) for process in running]
    return sum(example for example, _ in costs) / processes, sum(save for _, save in costs) / processes


def measure_bits(source: Path, lang: str, mode: str, cover: str) -> dict[int, float]:
    """Processor seconds of an example by the number of BLAS threads that the process has."""
    best = dict.fromkeys((1, os.cpu_count() or 1), float("inf"))
    command = [sys.executable, "-c", BITS_SCRIPT, str(source), lang, mode, cover, str(BITS_EXAMPLES)]
    for _ in range(ROUNDS):
        for threads, seconds in best.items():
            environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(threads)}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            best[threads] = min(seconds, float(done.stdout))
    return best


def measure_loader(source: Path, lang: str, workers: int, pairs: int) -> float:
    """Seconds of an example out of a data loader."""
    from torch.utils.data import DataLoader

    stream = VCRStream(source, lang=lang, mode="hard")
    examples = (
        one for batch in DataLoader(stream, batch_size=8, num_workers=workers, collate_fn=list) for one in batch
    )
    for _ in islice(examples, WARM_UP * workers):
        pass
    started = time.perf_counter()
    for _ in islice(examples, pairs * workers):
        pass
    return (time.perf_counter() - started) / (pairs * workers)


def measure(source: Path, lang: str, name: str, pairs: int) -> None:
    """Print the figures of one source."""
    cost, yardstick = measure_cost(source, lang, pairs)
    print(f"{name}: Pillow saves a stacked image in {yardstick * 1e3:.2f} ms (yardstick)")
    print(f"{name}: an example costs {cost * 1e3:.2f} ms: cost {cost / yardstick:.3f}", flush=True)
    alone, save_alone = measure_processes(source, lang, pairs, 1)
    at_once, save_at_once = measure_processes(source, lang, pairs, 2)
    print(
        f"{name}: an example costs {alone / save_alone:.3f} in a process, {at_once / save_at_once:.3f} in two at once"
    )
    dearer = f"an example {at_once / alone:.2f} times as dear, a save {save_at_once / save_alone:.2f} times"
    print(f"{name}: two at once make {dearer}", flush=True)
    for mode, cover in BITS:
        for threads, bits_cost in measure_bits(source, lang, mode, cover).items():
            ways = f"{name}: {mode} of {cover}, {pluralize(threads, 'thread')} of BLAS"
            print(f"{ways}: an example costs {bits_cost * 1e3:.2f} ms: cost {bits_cost / yardstick:.3f}", flush=True)
    if importlib.util.find_spec("torch") is None:
        print(f"{name}: the speed-up is not measured, for want of torch")
        return
    both = measure_worker_cost(VCRStream(source, lang=lang, mode="hard"), pairs)
    sending = measure_worker_cost(ready_examples(source, lang), pairs)
    print(f"{name}: in two workers an example costs {both * 1e3:.2f} ms: cost {both / save_at_once:.3f}")
    print(f"{name}: sending it alone {sending * 1e3:.2f} ms: cost {sending / save_at_once:.3f}", flush=True)
    best = dict.fromkeys((1, 2), float("inf"))
    for _ in range(ROUNDS):
        for workers in best:
            best[workers] = min(best[workers], measure_loader(source, lang, workers, pairs))
    one, two = best.values()
    print(f"{name}: a loader gives an example in {one * 1e3:.2f} ms with one worker, {two * 1e3:.2f} ms with two")
    print(f"{name}: speed-up {one / two:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="*", type=Path, help="Parquet files of pairs, named *_LANG.parquet.")
    parser.add_argument("--pairs", type=int, default=400, help="Examples a round.")
    arguments = parser.parse_args()
    for source in arguments.sources:
        if not source.is_file():
            sys.exit(f"There is no file {source}; give Parquet files of pairs, such as pairs_en.parquet.")
    with tempfile.TemporaryDirectory() as folder:
        samples = Path(folder) / "samples_en.parquet"
        write_samples(samples, 120)
        for source in [*arguments.sources, samples]:
            measure(source, source.stem.rpartition("_")[2], source.stem, arguments.pairs)


if __name__ == "__main__":
    main()
