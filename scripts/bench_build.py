"""Benchmark builds: processor time relative to Pillow's PNG encoder in the same run, speed-up, and memory.

    python scripts/bench_build.py ../shared/data/wiki/pairs_*.parquet [--pairs 600]

Yardstick: the time in which Pillow saves the stacked image as PNG with its defaults, per pair, on the images that the
build makes. A build is timed as a whole process at two sizes, and the difference is what a pair costs: start-up falls
out. Printed per language:

* cost: processor seconds a pair for both modes on one worker, divided by the yardstick (aim: at most 0.5); what else
  the machine does changes it little
* speed-up: time by the clock on one worker divided by that on two (aim: at least 1.8 on two idle cores)
* memory: the largest resident size of a process at both sizes (aim: flat, under 600 MB)

The smallest of several runs of each is taken, as everything else on the machine only adds.
"""

import argparse
import io
import os
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

ROUNDS = 3


def repeat_pairs(source: Path, target: Path, pairs: int) -> None:
    """Write the source's pairs again and again; bytes after the end of an image keep copies from being duplicates."""
    rows = pq.read_table(source).to_pylist()
    repeated = [rows[number % len(rows)] for number in range(pairs)]
    images = [row["image"]["bytes"] + b"%d" % (number // len(rows)) for number, row in enumerate(repeated)]
    table = pa.table({"image": pa.array(images, pa.binary()), "caption": [row["caption"] for row in repeated]})
    pq.write_table(table, target, row_group_size=256, use_dictionary=False)


def run_build(source: Path, lang: str, workers: int, out: Path) -> tuple[float, float, int]:
    """Build as a process of its own: seconds, processor seconds, the largest resident size of a process in bytes."""
    command = [sys.executable, "-m", "vcrgen", "build", str(source), "--lang", lang]
    command += ["--workers", str(workers), "--out", str(out)]
    started = time.perf_counter()
    child = os.posix_spawn(
        sys.executable, command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    )
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed")
    return time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def pillow_seconds(dataset: Path) -> float:
    """Seconds in which Pillow saves one of the dataset's stacked images as PNG, on average."""
    data = [
        row["stacked_image"]["bytes"]
        for file in sorted((dataset / "hard").glob("*.parquet"))
        for row in pq.read_table(file, columns=["stacked_image"]).slice(0, 100).to_pylist()
    ]
    images = [Image.open(io.BytesIO(encoded)).convert("RGB") for encoded in data[:200]]
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for image in images:
            image.save(io.BytesIO(), "PNG")
        best = min(best, (time.process_time() - started) / len(images))
    return best


def measure(source: Path, lang: str, pairs: int, folder: Path) -> None:
    """Print the figures of one language."""
    sizes = (pairs, 3 * pairs)
    seconds: dict[tuple[int, int], float] = {}
    processor: dict[tuple[int, int], float] = {}
    memory: dict[tuple[int, int], int] = {}
    yardstick = float("inf")
    for size in sizes:
        repeat_pairs(source, folder / f"{size}.parquet", size)
    for number in range(ROUNDS):
        for key in [(workers, size) for workers in (1, 2) for size in sizes]:
            out = folder / f"{key[0]}-{key[1]}-{number}"
            spent, worked, resident = run_build(folder / f"{key[1]}.parquet", lang, key[0], out)
            seconds[key] = min(spent, seconds.get(key, spent))
            processor[key] = min(worked, processor.get(key, worked))
            memory[key] = max(resident, memory.get(key, 0))
        yardstick = min(yardstick, pillow_seconds(folder / f"1-{pairs}-{number}"))
    one, two = ((seconds[w, sizes[1]] - seconds[w, sizes[0]]) / (sizes[1] - sizes[0]) for w in (1, 2))
    cost = (processor[1, sizes[1]] - processor[1, sizes[0]]) / (sizes[1] - sizes[0])
    print(f"{lang}: Pillow saves a stacked image in {yardstick * 1e3:.2f} ms (yardstick)")
    print(f"{lang}: one worker builds both modes of a pair in {cost * 1e3:.2f} ms: cost {cost / yardstick:.3f}")
    print(
        f"{lang}: by the clock {one * 1e3:.2f} ms a pair, with two workers {two * 1e3:.2f} ms: speed-up {one / two:.2f}"
    )
    for (workers, size), resident in memory.items():
        print(f"{lang}: {workers} worker(s), {size} pairs: at most {resident / 1e6:.0f} MB resident")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=Path, help="Parquet files of pairs, named *_LANG.parquet.")
    parser.add_argument("--pairs", type=int, default=600, help="The smaller size; the larger one is three times that.")
    arguments = parser.parse_args()
    for source in arguments.sources:
        if not source.is_file():
            sys.exit(f"There is no file {source}; give Parquet files of pairs, such as pairs_en.parquet.")
        with tempfile.TemporaryDirectory() as folder:
            measure(source, source.stem.rpartition("_")[2], arguments.pairs, Path(folder))


if __name__ == "__main__":
    main()
