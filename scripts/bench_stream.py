"""Benchmark streams: processor time of an example relative to Pillow's PNG encoder in the same run.

    python scripts/bench_stream.py ../shared/data/wiki/pairs_*.parquet [--pairs 400]

Yardstick: the time in which Pillow saves an example's stacked image as PNG with its defaults. Printed for every source,
and for the built-in pairs, written to a file first so that drawing them is not measured: seconds of processor time an
example (one mode, nothing encoded) divided by the yardstick, for white rows (aim: at most 0.3) and for covers by bits.
The best of several rounds is taken, as everything else on the machine only adds.
"""

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from vcrgen.builder.stream import VCRStream
from vcrgen.samples import sample_pair

ROUNDS = 5
YARDSTICK = 100  # images saved a round
BITS = (("bits-4", "bars"), ("bits-4", "blots"), ("bits-8", "bars"))
BITS_EXAMPLES = 40  # a round


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


def cost_of(examples: Iterator[Any], count: int) -> float:
    """Processor seconds of one of the next examples."""
    return seconds(lambda: [None for _ in islice(examples, count)], count)


def measure(source: Path, lang: str, name: str, pairs: int) -> None:
    """Print the figures of one source; examples and saves take turns."""
    examples = iter(VCRStream(source, lang=lang, mode="hard"))
    images = [Image.fromarray(example["image"]) for example in islice(examples, YARDSTICK)]
    cost = save = float("inf")
    for _ in range(ROUNDS):
        cost = min(cost, cost_of(examples, pairs))
        save = min(save, seconds(lambda: [image.save(io.BytesIO(), "PNG") for image in images], len(images)))
    print(f"{name}: Pillow saves a stacked image in {save * 1e3:.2f} ms (yardstick)")
    tell(name, "white rows", cost, save)
    for mode, cover in BITS:
        examples = iter(VCRStream(source, lang=lang, mode=mode, cover=cover))
        next(examples)  # loads what all share
        rounds = [cost_of(examples, BITS_EXAMPLES) for _ in range(ROUNDS)]
        tell(name, f"{mode} of {cover}", min(rounds), save)


def tell(name: str, what: str, cost: float, save: float) -> None:
    print(f"{name}: {what}: an example costs {cost * 1e3:.2f} ms: cost {cost / save:.3f}", flush=True)


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
