"""Measure how well a stream mixes a source that is sorted by topic, against a full shuffle.

    python scripts/measure_mixing.py [--rows 65536] [--topic 512] [--batch 32]

Nothing is drawn: the rows of an epoch come from the order of a stream (``VCRStream(runs=)``). Printed for each number
of runs of a window, with windows of 512 rows:

* topics: different topics in a batch, on average
* largest: share of a batch that the most frequent topic has, on average
* rows decoded: for each row of the epoch, of a Parquet file with groups of 1,000 rows or of 100, since the reading of
  a run begins with the first row of its group
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import mean

from vcrgen.builder.shards import Task
from vcrgen.builder.stream.order import Order
from vcrgen.core.rng import rng_for, shuffled

WINDOW = 512  # rows
RUNS = (1, 2, 4, 8, 16, 32, 64)
GROUPS = (1000, 100)  # rows of a row group


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1 << 16, help="of the source")
    parser.add_argument("--topic", type=int, default=512, help="rows of one topic, which are neighbours")
    parser.add_argument("--batch", type=int, default=32, help="examples of a batch")
    args = parser.parse_args()
    print(f"{args.rows:,} rows, topics of {args.topic}, batches of {args.batch}\n")
    print("| runs | topics | largest | rows decoded, groups of 1,000 | of 100 |\n|---:|---:|---:|---:|---:|")
    for count in RUNS:
        order = order_of(args.rows, count)
        topics, largest = mixing([row // args.topic for row in rows_of(order)], args.batch)
        decoded = " | ".join(f"{rows_decoded(order, group) / order.rows:.2f}" for group in GROUPS)
        print(f"| {count} | {topics:.1f} | {100 * largest:.0f} % | {decoded} |")
    topics, largest = mixing(
        [row // args.topic for row in shuffled(rng_for(0, "all", ""), range(args.rows))], args.batch
    )
    print(f"| full shuffle | {topics:.1f} | {100 * largest:.0f} % | | |")


def order_of(rows: int, count: int) -> Order:
    """Return the order of a stream whose windows have so many runs."""
    size = WINDOW // count
    runs = [
        Task(index=index, partition=0, start=start, stop=min(start + size, rows))
        for index, start in enumerate(range(0, rows, size))
    ]
    return Order(runs, seed=0, shuffle=True, runs=count)


def rows_of(order: Order) -> Iterator[int]:
    """Yield the rows of the first epoch."""
    for window in range(order.windows):
        yield from order.shuffled_rows(
            window, [row for run in order.runs(window) for row in range(run.start, run.stop)]
        )


def mixing(topics: Sequence[int], size: int) -> tuple[float, float]:
    """Return the mean number of topics of a batch, and the mean share of its most frequent one."""
    counts = [Counter(topics[start : start + size]) for start in range(0, len(topics), size)]
    return mean(map(len, counts)), mean(max(count.values()) / count.total() for count in counts)


def rows_decoded(order: Order, group: int) -> int:
    """Return the number of rows that an epoch decodes: of each group of a run those before its end."""
    decoded = 0
    for window in range(order.windows):
        for run in order.runs(window):
            for first in range(run.start // group * group, run.stop, group):
                decoded += min(run.stop, first + group) - first
    return decoded


if __name__ == "__main__":
    main()
