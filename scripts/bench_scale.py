"""Benchmark scaling: cost and memory by size, the driver of a large build, two Ray machines against one process.

    python scripts/bench_scale.py ../shared/data/wiki/pairs_en.parquet --lang en

Needs vcrgen[dev] and two idle cores. Builds are measured once processes are running: in one process after fonts and
models are loaded and 100 pairs are built, on Ray when each machine has finished its first shard. Sizes repeat the same
100 pairs. Printed:

* cost by size: processor time a pair in one process at 100, 1,000 and 10,000 pairs (aim: within 5 %), with what the
  kernel takes beside it (it begins to write to the disk after some seconds), and the largest resident size (aim: flat)
* driver: processor time and resident size of what the driver does once shards are built, with made-up results of shards
  and nothing drawn (aim: under 4 GB)
* two machines: pairs a second on two Ray machines of one processor each, divided by that of one process

Of the runs of a size the median is taken, of those on machines the smallest, as everything else on the machine only
adds.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from bench_build import repeat_pairs

from vcrgen.builder import run
from vcrgen.builder.assemble import plan_assembly, read_assembly, save_assembly
from vcrgen.builder.card import dataset_card
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.records import KEY_DTYPE
from vcrgen.builder.run import _load_worker, build
from vcrgen.builder.shards import (
    DONE,
    KEYS,
    PAIR_BYTES,
    PART,
    Plan,
    ShardResult,
    divide_tasks,
    read_results,
)
from vcrgen.builder.sources import Partition, RowCounts
from vcrgen.core.files import canonical_json
from vcrgen.core.progress import ProgressListener
from vcrgen.core.signature import Signature
from vcrgen.core.storage import DiskFolder
from vcrgen.data.manifest import DatasetFile, Manifest, read_manifest, write_manifest
from vcrgen.data.tasks.vcr import Figures, summarise_figures

SHARD = 50  # the same at all sizes, so that shards of another size are not what is measured
SIZES = {100: 9, 1_000: 3, 10_000: 1}  # pairs to rounds
WARM = 100  # pairs: the first ones fill caches of glyphs, words and covers
DRIVER_PAIRS = 25_000_000
RAY_PAIRS, RAY_ROUNDS = 2_000, 2


class Clock(ProgressListener):
    """Notes when results come."""

    def __init__(self) -> None:
        self.marks: list[tuple[int, float, float, float]] = []  # pairs so far, time, processor time, the kernel's

    def advance(self, read: int, built: int, rejected: Counter[str]) -> None:
        """More pairs are done."""
        pairs = self.marks[-1][0] if self.marks else 0
        spent = os.times()
        self.marks.append((pairs + read, time.perf_counter(), spent.user, spent.system))

    def worker(self, *arguments: Any) -> Any:
        """The build's own worker; what comes before it has loaded does not count."""
        worker = _load_worker(*arguments)
        self.advance(0, 0, Counter())
        return worker


def child(source: str, lang: str, out: str, address: str) -> None:
    """Build in this process, or on a cluster, and print what was measured once it was running."""
    clock = Clock()
    where: dict[str, Any] = {"engine": "ray", "address": address} if address else {}
    if not address:
        run._load_worker = clock.worker
    build(source, out=out, lang=lang, shard_size=SHARD, progress=clock, **where)
    first = clock.marks[1] if address else next(mark for mark in clock.marks if mark[0] >= WARM)
    last = clock.marks[-1]
    pairs = last[0] - first[0]
    value = {
        "seconds": (last[1] - first[1]) / pairs,
        "user": (last[2] - first[2]) / pairs,
        "kernel": (last[3] - first[3]) / pairs,
        "resident": resident(),
    }
    print(json.dumps(value))


def measured(source: Path, lang: str, address: str = "") -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, "--child", str(source), lang, str(Path(folder) / "out"), address]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    value: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return value


def by_size(source: Path, lang: str, folder: Path) -> None:
    same = folder / "same.parquet"
    pq.write_table(pq.read_table(source).slice(0, min(SIZES)), same)
    for size, rounds in SIZES.items():
        file = folder / f"{size}.parquet"
        repeat_pairs(same, file, WARM + size)
        runs = [measured(file, lang) for _ in range(rounds)]
        user, kernel = (statistics.median(run[what] for run in runs) * 1e3 for what in ("user", "kernel"))
        memory = max(run["resident"] for run in runs) / 1e6
        print(
            f"{size:,} pairs, one process: {user:.2f} ms of processor time a pair, and {kernel:.2f} of the kernel; "
            f"{memory:.0f} MB",
            flush=True,
        )


def made_up_keys(pairs: int) -> np.ndarray:
    """Hashes of pairs, four of ten of which share their caption; one picture in ten is a near copy of another one."""
    rng = np.random.default_rng(0)
    keys = np.zeros(pairs, KEY_DTYPE)
    keys["pair"]["high"] = keys["pixels"]["high"] = rng.permutation(pairs).astype(np.uint64) * 0x9E3779B97F4A7C15
    keys["caption"]["high"] = rng.integers(pairs, size=pairs, dtype=np.uint64) * 0x9E3779B97F4A7C15
    for start in range(0, pairs, 1 << 20):
        part = keys["difference"][start : start + (1 << 20)]
        part[:] = rng.integers(256, size=part.shape, dtype=np.uint8)
    copies = pairs // 10
    keys["caption"]["high"][:copies] += np.uint64(1)  # as no pair may repeat another one: its part would be read
    keys["difference"][:copies] = keys["difference"][copies : 2 * copies]
    keys["difference"][:copies, 0] ^= 1
    return keys


def resident() -> int:
    """The largest resident size, in bytes; not of getrusage, which counts what the parent held when it started this."""
    return int(re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[0]) * 1024


class Stages:
    """Prints the processor time of each stage, and the largest resident size so far."""

    def __init__(self) -> None:
        self._before = os.times()

    def over(self, name: str) -> None:
        """A stage ends."""
        spent = os.times()
        user, kernel = spent.user - self._before.user, spent.system - self._before.system
        print(f"  {name}: {user:.1f} s, and {kernel:.1f} of the kernel; {resident() / 1e6:.0f} MB", flush=True)
        self._before = os.times()


def made_up_figures(rng: np.random.Generator, rows: int) -> Figures:
    """Figures of rows with three spans each."""
    heights, lengths, spans = (
        Counter(rng.normal(mean, sd, rows).astype(int).tolist()) for mean, sd in ((377, 80), (130, 40), (3, 1))
    )
    return Figures(heights, lengths, spans, Counter(rng.normal(0.2, 0.02, 3 * rows).round(4).tolist()))


def driver_config() -> BuildConfig:
    return BuildConfig(source="samples", splits="train=...,test=0.1")


def prepare_driver(folder: str, pairs: str) -> None:
    """Write what the shards of a build leave, with made-up hashes and empty parts: nothing is drawn."""
    work, config, rng = Path(folder), driver_config(), np.random.default_rng(1)
    for name in ("parts", "keys", "rejects", "manifests"):
        (work / name).mkdir()
    _, tasks = divide_tasks(config, [Partition(name="made up", rows=int(pairs))])
    keys = made_up_keys(int(pairs))
    figures = made_up_figures(rng, tasks[0].stop).as_json()
    for task in tasks:
        rows = task.stop - task.start
        np.save(work / KEYS.format(task.index), keys[task.start : task.stop], allow_pickle=False)
        for mode in config.modes:
            with (work / PART.format(task.index, mode)).open("wb") as part:
                part.truncate(rows * PAIR_BYTES)
        result = ShardResult(
            index=task.index,
            fingerprint="made up",
            rows=rows,
            rejected={},
            cleaned={},
            source=RowCounts(rows=rows, captions=rows),
            bytes={str(mode): rows * PAIR_BYTES for mode in config.modes},
            sha256={str(mode): f"{task.index:064d}" for mode in config.modes},
        )
        text = canonical_json(asdict(result) | {"figures": {str(mode): figures for mode in config.modes}})
        (work / DONE.format(task.index)).write_text(text)


def driver(folder: str, pairs: str) -> None:
    """All that the driver of a build does once the shards are built, but for the making of files."""
    work, config, stages = DiskFolder(Path(folder)), driver_config(), Stages()
    size, tasks = divide_tasks(config, [Partition(name="made up", rows=int(pairs))])
    plan = Plan(fingerprint="made up", dataset_fingerprint="made up", facts={}, shard_size=size, tasks=tasks)
    work.write_json("plan.json", asdict(plan))
    stages.over(f"plan of {len(tasks):,} shards")
    results = read_results(plan, work)
    stages.over("results of shards")
    assembly = plan_assembly([results[index] for index in sorted(results)], config, work=work)
    stages.over("duplicates and splits")
    save_assembly(assembly, "made up", work)
    assembly = read_assembly("made up", work) or assembly
    stages.over(f"plan of {len(assembly.files):,} files")
    figures = {(file.mode, file.split): Figures() for file in assembly.files}
    of_file = made_up_figures(np.random.default_rng(1), assembly.files[0].rows)
    files = []
    for file in assembly.files:
        figures[file.mode, file.split].add(of_file)
        facts = {"path": file.path, "mode": file.mode, "split": file.split, "rows": file.rows}
        files.append(DatasetFile(**facts, bytes=file.rows * PAIR_BYTES, sha256="0" * 64))
    manifest = Manifest(
        fingerprint="made up",
        signature=Signature({"lang": "en", "cover": "easy=10-16,hard=12-14"}),
        source="made up",
        config=config.public_fields(),
        read=int(pairs),
        rejected={},
        files=tuple(files),
    )
    write_manifest(work, manifest)
    assert read_manifest(work).pairs == int(pairs)
    work.write_text("README.md", dataset_card(manifest, summarise_figures(figures, config.lang)))
    stages.over(f"figures, manifest of {work.size('manifest.json'):,} bytes and card")


def large_build() -> None:
    print(f"{DRIVER_PAIRS:,} pairs, the driver of a build with a test split:", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for what in ("--prepare", "--driver"):
            subprocess.run([sys.executable, __file__, what, folder, str(DRIVER_PAIRS)], check=True)


def two_machines(source: Path, lang: str, folder: Path) -> None:
    from ray.cluster_utils import Cluster

    file = folder / "ray.parquet"
    repeat_pairs(source, file, RAY_PAIRS)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=1)
        one, two = [], []
        for _ in range(RAY_ROUNDS):
            one.append(measured(file, lang))
            two.append(measured(file, lang, cluster.address))
    finally:
        cluster.shutdown()
    slow, fast = (min(run["seconds"] for run in runs) for runs in (one, two))
    print(f"{RAY_PAIRS:,} pairs, one process: {slow * 1e3:.2f} ms a pair; two Ray machines: {fast * 1e3:.2f} ms")
    print(f"ratio: {slow / fast:.2f}", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return
    if sys.argv[1:2] in (["--prepare"], ["--driver"]):
        {"--prepare": prepare_driver, "--driver": driver}[sys.argv[1]](*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="A Parquet file of pairs.")
    parser.add_argument("--lang", default="en", help="Their language.")
    arguments = parser.parse_args()
    if not arguments.source.is_file():
        sys.exit(f"There is no file {arguments.source}; give a Parquet file of pairs, such as pairs_en.parquet.")
    with tempfile.TemporaryDirectory() as folder:
        by_size(arguments.source, arguments.lang, Path(folder))
        large_build()
        two_machines(arguments.source, arguments.lang, Path(folder))


if __name__ == "__main__":
    main()
