"""A Ray cluster of three machines, killed and frozen: the same bytes, and no more work than was lost."""

import contextlib
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import psutil
import pytest

from vcrgen.builder import run
from vcrgen.builder.run import WORK, build
from vcrgen.core.errors import WorkerError
from vcrgen.core.progress import ProgressListener

pytest.importorskip("ray", reason="needs vcrgen[ray]")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.extras,
    pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL and SIGSTOP"),
]

Tree = Callable[[Path], dict[str, str]]
OPTIONS = {"source": "samples:120", "shard_size": 8, "splits": "train=...,test=12"}
SHARDS = 15
INSIDE_SECONDS = 0.1
START_SECONDS = 180.0  # for the machines of a cluster: Ray's own 30 are few where others use the processors
# What docs/scale.md tells operators to set on every machine.
SETTINGS = {
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "5",
}
# Where work is counted, a slow machine that runs the tests must not be taken for a frozen one.
PATIENT = SETTINGS | {"RAY_health_check_failure_threshold": "12"}


class Machines:
    """A head without processors and three machines of one, as process trees of this host.

    Args:
        settings: Environment of all of them.
    """

    def __init__(self, settings: dict[str, str]) -> None:
        from ray.cluster_utils import Cluster

        memory = 100 << 20
        # In the environment of all processes: Cluster's own `env_vars` do not reach the head's server, which watches.
        with mock.patch.dict(os.environ, settings):
            head = {"wait": False, "num_cpus": 0, "include_dashboard": False, "object_store_memory": memory}
            self.cluster = Cluster(initialize_head=True, head_node_args=head)
            self.nodes = [self.cluster.add_node(wait=False, num_cpus=1, object_store_memory=memory) for _ in range(3)]
            self.cluster.wait_for_nodes(START_SECONDS)
        self.address = self.cluster.address
        self._frozen: list[psutil.Process] = []

    def tree(self, node: Any) -> list[psutil.Process]:
        """All processes of a machine."""
        found: list[psutil.Process] = []
        for started in (process for kind in node.all_processes.values() for process in kind):
            with contextlib.suppress(psutil.NoSuchProcess):
                root = psutil.Process(started.process.pid)
                found += [root, *root.children(recursive=True)]
        return found

    def of_worker(self, pid: int) -> Any:
        """The machine on which a process runs."""
        return next(node for node in self.nodes if pid in {process.pid for process in self.tree(node)})

    def kill(self, *nodes: Any) -> None:
        """All at once: what is stopped starts nothing in between."""
        for node in nodes:
            self.freeze(node)
        signal_all(self._frozen, "kill")
        self._frozen = []

    def kill_at_work(self, log: "Log", commits: int) -> None:
        """Kill a machine inside a shard: it is stopped, and goes on if it has finished that shard by then."""
        while True:
            pid = log.wait_inside(commits=commits)
            self.freeze(node := self.of_worker(pid))
            if pid in log.inside():
                return self.kill(node)
            self.thaw()

    def freeze(self, node: Any) -> None:
        """Stop all processes of a machine, also those that it starts meanwhile, and wait until they stand."""
        while moving := [process for process in self.tree(node) if not stands(process)]:
            signal_all(moving, "suspend")
            self._frozen += moving
            time.sleep(0.01)

    def thaw(self) -> None:
        signal_all(self._frozen, "resume")
        self._frozen = []

    def close(self) -> None:
        self.thaw()
        trees = [process for node in [self.cluster.head_node, *self.nodes] for process in self.tree(node)]
        signal_all(trees, "kill")
        psutil.wait_procs(trees, timeout=60)


def signal_all(processes: list[psutil.Process], what: str) -> None:
    """Kill, suspend or resume processes, of which some may have ended."""
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            getattr(process, what)()


def stands(process: psutil.Process) -> bool:
    try:
        return process.status() in {psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE}
    except psutil.NoSuchProcess:
        return True


@pytest.fixture
def machines(request: pytest.FixtureRequest) -> Iterator[Machines]:
    machines = Machines(getattr(request, "param", SETTINGS))
    yield machines
    machines.close()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reference") / "out"
    build(out=out, **OPTIONS)
    return out


class Log:
    """Starts and commits of shards, as files that the processes leave in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def go_on(self) -> None:
        """Let shards that stand still be finished."""
        (self.folder / "go").touch()

    def names(self, what: str) -> list[str]:
        return sorted(path.name for path in self.folder.glob(f"{what}-*"))

    def shards(self, what: str) -> list[int]:
        return [int(name.split("-")[1]) for name in self.names(what)]

    def wait_inside(self, *, commits: int, seconds: float = 300) -> int:
        """Wait until so many shards are done and one is under way for a while; the process that does it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if len(self.names("commit")) >= commits:
                for pid, since in self.inside().items():
                    if time.time() - since >= INSIDE_SECONDS:
                        return pid
            time.sleep(0.02)
        raise AssertionError("no shard is under way")

    def inside(self) -> dict[int, float]:
        """Processes that have started a shard and not finished it, and when they started it."""
        starts = self.names("start")  # before the commits: what is finished meanwhile is not under way
        done = {name.split("-", 1)[1] for name in self.names("commit")}
        under_way = [name for name in starts if name.split("-", 1)[1] not in done]
        return {int(name.split("-")[2]): (self.folder / name).stat().st_mtime for name in under_way}


def logged(folder: Path, poison: int | None = None, pause: float = 1.0, most: float = math.inf) -> Callable[..., Any]:
    """The worker of a build, wrapped: a file at each start and commit; and one shard that kills its process.

    After ``most`` commits shards stand still until `Log.go_on`, so that no kill comes too late.
    A nested function is sent to the processes by value, so they need nothing of the tests.
    """
    real = run._load_worker

    def make_worker(*arguments: Any) -> Any:
        import os
        import time
        import uuid

        work = real(*arguments)

        def work_on(tasks: Any, report: Any) -> Any:
            if not isinstance(tasks, tuple):  # a file of the dataset
                return work(tasks, report)
            (task,) = tasks
            name = f"{task.index:03d}-{os.getpid()}-{uuid.uuid4().hex}"
            (folder / f"start-{name}").touch()
            if task.index == poison:
                os.abort()
            time.sleep(pause)
            while len(list(folder.glob("commit-*"))) >= most and not (folder / "go").exists():
                time.sleep(0.05)
            result = work(tasks, report)
            (folder / f"commit-{name}").touch()
            return result

        return work_on

    return make_worker


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Log:
    log = Log(tmp_path / "log")
    monkeypatch.setattr(run, "_load_worker", logged(log.folder, most=4))
    return log


class Building(threading.Thread):
    """A build on a cluster, beside the test."""

    def __init__(self, out: Path, address: str) -> None:
        super().__init__(daemon=True)
        self._out, self._address = out, address
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            build(out=self._out, engine="ray", address=self._address, **OPTIONS)
        except BaseException as error:
            self.error = error

    def finish(self, seconds: float) -> None:
        self.join(seconds)
        assert not self.is_alive(), "the build hangs"
        if self.error:
            raise self.error


def test_a_machine_is_killed(log: Log, tree: Tree, reference: Path, tmp_path: Path) -> None:
    machines = Machines(PATIENT)
    try:
        building = Building(tmp_path / "out", machines.address)
        building.start()
        machines.kill_at_work(log, commits=4)
        log.go_on()
        building.finish(300)
    finally:
        machines.close()
    assert tree(tmp_path / "out") == tree(reference)
    assert sorted(log.shards("commit")) == list(range(SHARDS))
    assert len(log.names("start")) == SHARDS + 1


@pytest.mark.parametrize("settings", [SETTINGS, {}], ids=["as documented", "defaults of Ray"])
def test_a_machine_is_frozen_and_wakes_up(
    log: Log, tree: Tree, reference: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    machines = Machines(settings)
    try:
        building = Building(tmp_path / "out", machines.address)
        building.start()
        machines.freeze(machines.of_worker(log.wait_inside(commits=4)))
        log.go_on()
        building.finish(240)
        before = len(log.names("commit"))
        assert set(log.shards("commit")) == set(range(SHARDS))
        assert tree(tmp_path / "out") == tree(reference)
        machines.thaw()
        time.sleep(4)
        assert len(log.names("commit")) in (before, before + 1)
        assert tree(tmp_path / "out") == tree(reference)
    finally:
        machines.close()


def test_driver_and_cluster_are_killed(tree: Tree, reference: Path, tmp_path: Path) -> None:
    folder = tmp_path / "log"
    log = Log(folder)
    out = tmp_path / "out"
    script = tmp_path / "job.py"
    script.write_text(
        "import importlib.util, sys\n"
        "from pathlib import Path\n"
        f"spec = importlib.util.spec_from_file_location('survival', {__file__!r})\n"
        "survival = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(survival)\n"
        f"survival.run._load_worker = survival.logged(Path({str(folder)!r}), most=5)\n"
        f"survival.build(out={str(out)!r}, engine='ray', address=sys.argv[1], **survival.OPTIONS)\n"
    )

    machines = Machines(PATIENT)
    with subprocess.Popen([sys.executable, script, machines.address], stderr=subprocess.DEVNULL) as driver:
        log.wait_inside(commits=5)
        driver.kill()
        machines.close()
    done = {int(path.stem) for path in (out / WORK / "manifests").glob("[0-9]*.json")}
    assert 5 <= len(done) < SHARDS and [path.name for path in out.iterdir()] == [WORK]
    for path in folder.iterdir():
        path.unlink()
    log.go_on()
    machines = Machines(PATIENT)
    try:
        subprocess.run([sys.executable, script, machines.address], check=True, timeout=300)
    finally:
        machines.close()
    assert log.shards("start") == log.shards("commit") == sorted(set(range(SHARDS)) - done)
    assert tree(out) == tree(reference)


def test_all_machines_are_killed(
    machines: Machines, log: Log, tree: Tree, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vcrgen.builder.engines.ray.NO_NODE_SECONDS", 3.0)
    building = Building(tmp_path / "out", machines.address)
    building.start()
    log.wait_inside(commits=4)
    machines.kill(*machines.nodes)
    log.go_on()
    with pytest.raises(WorkerError, match=r"lost all its machines.*run the same command again"):
        building.finish(300)
    build(out=tmp_path / "out", **OPTIONS)
    assert tree(tmp_path / "out") == tree(reference)


@pytest.mark.parametrize("machines", [PATIENT], indirect=True, ids=["patient"])
def test_a_poison_shard(
    machines: Machines, tree: Tree, reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vcrgen.builder.engines.ray import CRASHES

    log = Log(tmp_path / "log")
    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(run, "_load_worker", logged(log.folder, poison=3, pause=0.0))
        with pytest.raises(WorkerError, match=r"samples rows 24 to 31 \(shard 3\).*All other shards are finished"):
            build(out=out, engine="ray", address=machines.address, **OPTIONS)
    assert log.shards("start").count(3) == CRASHES
    assert sorted(log.shards("commit")) == [number for number in range(SHARDS) if number != 3]
    assert [path.name for path in out.iterdir()] == [WORK]
    read = []

    class Counting(ProgressListener):
        def advance(self, read_now: int, built: int, rejected: object) -> None:
            read.append(read_now)

    build(out=out, progress=Counting(), **OPTIONS)  # mended, only that one is left to do; here without a cluster
    assert sum(read) == OPTIONS["shard_size"]
    assert tree(out) == tree(reference)
