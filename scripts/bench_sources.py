"""Measure what reading a Parquet source costs, by the size of its row groups: bytes fetched from a store, and time.

    python scripts/bench_sources.py [--rows 100] [--processes 1,2,8]

Sizes are 1, 5 and 20 times --rows, with images of 25 kB that are not decoded; the store is moto's S3 on this machine.
Every task of a build is read, by as many processes as a build would have: each takes the next group of neighbouring
tasks in turn, from a source of its own. Printed are the bytes fetched as a multiple of the file, and processor time.
"""

import argparse
import copy
import io
import os
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.shards import divide_tasks, neighbours
from vcrgen.builder.sources import Source, items_at, open_source

IMAGE_BYTES = 25_000
SIZES = (1, 5, 20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100, help="The smallest size, and the rows of a small group.")
    parser.add_argument("--processes", default="1,2,8")
    args = parser.parse_args()
    os.environ |= dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "testing")
    os.environ["AWS_DEFAULT_REGION"] = "us-east-1"
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        os.environ["AWS_ENDPOINT_URL"] = "http://{}:{}".format(*server.get_host_and_port())
        measure(args.rows, [int(text) for text in args.processes.split(",")])
    finally:
        server.stop()


def measure(smallest: int, processes: list[int]) -> None:
    """Put files of all sizes into a store, read them and print the figures."""
    import boto3
    from s3fs.core import S3File

    store = boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"])
    store.create_bucket(Bucket="pairs")
    fetched = 0
    fetch = S3File._fetch_range

    def counted(self: S3File, start: int, end: int) -> bytes:
        nonlocal fetched
        found: bytes = fetch(self, start, end)
        fetched += len(found)
        return found

    S3File._fetch_range = counted
    for rows in [smallest * times for times in SIZES]:
        for name, group, files in (("one group", rows, 1), ("small groups", smallest, 1), ("a group a file", rows, 8)):
            size = 0
            for number in range(files):
                data = parquet(rows // files, group, number)
                size += len(data)
                store.put_object(Bucket="pairs", Key=f"{name}-{rows}/{number}.parquet".replace(" ", "-"), Body=data)
            config = BuildConfig(source=f"s3://pairs/{name}-{rows}/*.parquet".replace(" ", "-"))
            for count in processes:
                fetched, clock = 0, time.process_time()
                read_all(open_source(config), config, count)
                spent = time.process_time() - clock
                line = (
                    f"{rows:7,} rows, {size / 1e6:5.0f} MB, {name:15}: {count} processes fetch {fetched / size:5.2f} x"
                )
                print(f"{line} the file, {spent:5.1f} s of CPU with the store", flush=True)


def parquet(rows: int, group: int, number: int) -> bytes:
    """Return a file of rows that do not compress."""
    rng = np.random.default_rng(number)
    table = pa.table({"image": [rng.bytes(IMAGE_BYTES) for _ in range(rows)], "caption": ["Words."] * rows})
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=group, use_dictionary=False)
    return sink.getvalue()


def read_all(source: Source, config: BuildConfig, processes: int) -> None:
    """Read all tasks, in the order in which processes of the same speed take them."""
    _, tasks = divide_tasks(config, source.partitions())
    groups = neighbours(tasks, source, processes)
    sources = [copy.copy(source) for _ in range(processes)]
    for turn, group in enumerate(groups):
        for task in group:
            for _ in items_at(sources[turn % processes], config, task.partition, range(task.start, task.stop)):
                pass


if __name__ == "__main__":
    main()
