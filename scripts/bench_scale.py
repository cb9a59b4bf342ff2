"""Benchmark scaling: two Ray machines against one process, cost and memory by size.

    python scripts/bench_scale.py ../shared/data/wiki/pairs_en.parquet --lang en

Needs vcrgen[dev] and two idle cores. Everything is measured once processes are running: in one process after fonts and
models are loaded and 100 pairs are built, on Ray when each machine has finished its first shard. Sizes repeat the same
100 pairs. Printed:

* cost by size: processor time a pair in one process at 100, 1,000 and 10,000 pairs (aim: within 5 %), with what the
  kernel takes beside it (it begins to write to the disk after some seconds), and the largest resident size (aim: flat)
* splits: processor time and resident size of duplicates and a test split of made-up pairs, one in ten a near copy of
  another one, with and without the search for near copies
* driver: processor time and resident size of what the driver does once shards are built, with made-up results of shards
  and nothing drawn (aim: under 4 GB)
* empty tasks: what the local engine's driver takes for each, by their number (aim: flat)
* test split: 1,000 pairs with and without one, which is made by the workers, with one and two of them
* two machines: pairs a second on two Ray machines of one processor each, divided by that of one process; and the same
  computed from processor time, for when the cores are not idle

Of the runs of a size the median is taken, of those on machines the smallest, as everything else on the machine only
adds.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench_build import repeat_pairs, run_build
from PIL import Image

from vcrgen.builder import run
from vcrgen.builder.assemble import plan_assembly, read_assembly, save_assembly
from vcrgen.builder.card import dataset_card
from vcrgen.builder.engines import Worker
from vcrgen.builder.engines.local import LocalEngine
from vcrgen.builder.options import BuildConfig, parse_splits
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
from vcrgen.builder.splits import KeyColumns, assign
from vcrgen.core.files import canonical_json
from vcrgen.core.progress import ProgressListener
from vcrgen.core.signature import Signature
from vcrgen.core.storage import DiskFolder
from vcrgen.data.manifest import DatasetFile, Manifest, read_manifest, write_manifest
from vcrgen.data.tasks.vcr import Figures, summarise_figures
from vcrgen.samples import sample_pair

SHARD = 50  # the same at all sizes, so that shards of another size are not what is measured
SIZES = {100: 9, 1_000: 3, 10_000: 1}  # pairs to rounds
WARM = 100  # pairs: the first ones fill caches of glyphs, words and covers
SPLIT_PAIRS = (1_000_000, 10_000_000)
DRIVER_PAIRS = (2_000_000, 25_000_000)
TEST_SPLIT_PAIRS = 1_000
MANY_TASKS = (2_000, 20_000)
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
    started = time.perf_counter()
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
        "start": first[1] - started,
        "pairs": pairs,
        "from": first[1],
        "to": last[1],
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


def splits() -> None:
    """Print what duplicates and splits of made-up pairs cost, in a process for each size."""
    for pairs in SPLIT_PAIRS:
        for near in ("off", "on"):
            command = [sys.executable, __file__, "--splits", str(pairs), near]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            print(f"{pairs:,} pairs, a test split, near copies {near}: {done.stdout.strip()}", flush=True)


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


def split_pairs(pairs: int, near: str) -> None:
    """Assign pairs to splits in this process, and print what that cost."""
    keys = KeyColumns(pairs)
    keys.put(0, made_up_keys(pairs))
    before = os.times()
    assign(keys, parse_splits("train=...,test=0.1"), seed=0, near_copies=near == "on")
    spent = os.times()
    print(
        f"{spent.user - before.user:.1f} s of processor time, and {spent.system - before.system:.1f} of the kernel; "
        f"{resident() / 1e6:.0f} MB"
    )


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


def test_split(lang: str, folder: Path) -> None:
    """Print what a build of unlike pictures costs with a test split and without, by the clock and in processor time."""
    rng, file = np.random.default_rng(0), folder / "unlike.parquet"
    pictures, captions = [], []
    for number in range(TEST_SPLIT_PAIRS):
        noise = Image.fromarray(rng.integers(256, size=(9, 12, 3), dtype=np.uint8))
        noise.resize((400, 300), Image.Resampling.BICUBIC).save(data := io.BytesIO(), "JPEG")
        pictures.append(data.getvalue())
        captions.append(sample_pair(lang, number).caption)
    pq.write_table(pa.table({"image": pa.array(pictures, pa.binary()), "caption": captions}), file, row_group_size=256)
    for workers in (1, 2):
        for splits in ("train=...", "test=0.1,train=..."):
            with tempfile.TemporaryDirectory() as out:
                seconds, spent, _ = run_build(file, lang, "rows", workers, Path(out) / "out", "--splits", splits)
            print(
                f"{TEST_SPLIT_PAIRS:,} pairs, {splits}, workers {workers}: {seconds:.1f} s, {spent:.1f} of processors"
            )


def trivial() -> Worker:
    """A worker that does nothing."""
    return lambda task, report: task


def many_tasks() -> None:
    """Print what the engine of this machine takes for a task that does nothing."""
    for tasks in MANY_TASKS:
        before = os.times()
        with LocalEngine(trivial, 2) as engine:
            done = sum(1 for _ in engine(range(tasks), lambda *_: None))
        spent = os.times()
        driver = spent.user + spent.system - before.user - before.system
        print(f"{done:,} empty tasks, two workers: {driver / tasks * 1e3:.3f} ms of the driver's processor a task")


def drivers() -> None:
    for pairs in DRIVER_PAIRS:
        with tempfile.TemporaryDirectory() as folder:
            for what in ("--prepare", "--driver"):
                if what == "--driver":
                    print(f"{pairs:,} pairs, the driver of a build with a test split:", flush=True)
                subprocess.run([sys.executable, __file__, what, folder, str(pairs)], check=True)


class Workers(threading.Thread):
    """The resident size and the processor time of Ray's worker processes, looked at every quarter of a second."""

    def __init__(self, nodes: list[Any]) -> None:
        super().__init__(daemon=True)
        self._pids = [process.process.pid for node in nodes for process in node.all_processes["raylet"]]
        self._spent: dict[int, float] = {}
        self.over = threading.Event()
        self.resident = 0
        self.times: list[float] = []
        self.processor: list[float] = []

    def run(self) -> None:
        """Look until it is over."""
        import psutil

        while not self.over.wait(0.25):
            for worker in [child for pid in self._pids for child in psutil.Process(pid).children()]:
                with contextlib.suppress(psutil.Error):
                    if worker.name().startswith("ray::"):
                        spent = worker.cpu_times()
                        self._spent[worker.pid] = spent.user + spent.system
                        self.resident = max(self.resident, worker.memory_info().rss)
            self.times.append(time.perf_counter())
            self.processor.append(sum(self._spent.values()))

    def seconds(self, start: float, stop: float) -> float:
        """Processor time of all workers between two moments; the clock is the same for all processes of a machine."""
        before, after = np.interp([start, stop], self.times, self.processor)
        return float(after - before)


def two_machines(source: Path, lang: str, folder: Path) -> None:
    from ray.cluster_utils import Cluster

    file = folder / "ray.parquet"
    repeat_pairs(source, file, RAY_PAIRS)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        workers = Workers([cluster.add_node(num_cpus=1) for _ in range(2)])
        workers.start()
        one, two = [], []
        for _ in range(RAY_ROUNDS):
            one.append(measured(file, lang))
            two.append(measured(file, lang, cluster.address))
        time.sleep(1)
        workers.over.set()
    finally:
        cluster.shutdown()
    slow, fast = (min(run["seconds"] for run in runs) for runs in (one, two))
    cost = min(run["user"] + run["kernel"] for run in one)
    drivers = [run["user"] + run["kernel"] for run in two]
    spent = min(
        workers.seconds(run["from"], run["to"]) / run["pairs"] + driver
        for run, driver in zip(two, drivers, strict=True)
    )
    print(f"{RAY_PAIRS:,} pairs, one process: {slow * 1e3:.2f} ms a pair, {cost * 1e3:.2f} of processor time")
    print(f"{RAY_PAIRS:,} pairs, two Ray machines: {fast * 1e3:.2f} ms a pair, {spent * 1e3:.2f} of processor time")
    print(f"ratio of time: {slow / fast:.2f}; of processor time, for two idle cores: {2 * cost / spent:.2f}")
    print(f"first shards after {one[0]['start']:.1f} s and {two[0]['start']:.1f} s")
    print(f"a worker of Ray held at most {workers.resident / 1e6:.0f} MB", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return
    if sys.argv[1:2] == ["--splits"]:
        split_pairs(int(sys.argv[2]), sys.argv[3])
        return
    if sys.argv[1:2] == ["--tasks"]:
        many_tasks()
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
        splits()
        drivers()
        subprocess.run([sys.executable, __file__, "--tasks"], check=True)
        test_split(arguments.lang, Path(folder))
        two_machines(arguments.source, arguments.lang, Path(folder))


if __name__ == "__main__":
    main()
