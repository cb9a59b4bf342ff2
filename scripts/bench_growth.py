"""Measure `vcrgen hidden` at 1, 5 and 20 times a size: processor time, the largest resident size, cost of one more.

    python scripts/bench_growth.py                      # white rows and bars, about a quarter of an hour
    python scripts/bench_growth.py rows --times 1,5

Each run is a process of its own, and what it works on is made before. Processor time is that of its workers, too. One
more costs the difference of two sizes, without start-up. The growth is the last such cost divided by the first one: 1
where time grows with the work.
"""

import argparse
import io
import multiprocessing as mp
import os
import sys
import tempfile
import time
from pathlib import Path

COVERS = ("rows", "bars")
SMALLEST = 50  # items
COMMAND = "hidden make photos.parquet --public-pictures --items {n} --out set --secret-file secret.key --cover {cover}"


def photos(size: int, file: Path) -> None:
    """Write twice as many pairs, and 50, whose pictures are blurred noise: built-in ones are too much alike.

    What makes them is loaded here: a command seems to hold at least what its parent has in memory.
    """
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
    pq.write_table(pa.table({"image": pa.array(pictures, pa.binary()), "caption": captions}), file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("covers", nargs="*", metavar="|".join(COVERS), help="Only sets under these covers.")
    parser.add_argument("--times", default="1,5,20", help=f"Sizes, as multiples of {SMALLEST} items.")
    args = parser.parse_args()
    for cover in args.covers or COVERS:
        measure(cover, sorted(map(int, args.times.split(","))))


def measure(cover: str, times: list[int]) -> None:
    before: tuple[int, float] | None = None
    margins: list[float] = []
    for size in (SMALLEST * many for many in times):
        with tempfile.TemporaryDirectory(prefix="vcrgen-growth-") as folder:
            preparing = mp.get_context("spawn").Process(target=photos, args=(size, Path(folder, "photos.parquet")))
            preparing.start()
            preparing.join()
            if preparing.exitcode:
                sys.exit("The photos could not be made.")
            seconds, size_bytes, clock = run(COMMAND.format(n=size, cover=cover).split(), folder)
        line = f"{cover}: {size:,} items: {seconds:.1f} s of CPU in {clock:.1f} s, {size_bytes / 1e6:,.0f} MB"
        if before:
            margins.append(1000 * (seconds - before[1]) / (size - before[0]))
            line += f", {margins[-1]:.3g} ms for one more"
        print(line, flush=True)
        before = size, seconds
    if len(margins) > 1 and margins[0] > 0:
        print(f"{cover}: growth {margins[-1] / margins[0]:.2f}", flush=True)


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
