"""The Ray engine: connection, comparison of the machines, and tasks that are submitted again where one is lost.

Ray's own retries are not used: it counts lost machines among the crashes of a task, tries a task that ran out of memory
without end, and may wait for a long time for a machine that it has declared dead.
"""

import os
import socket
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from vcrgen.builder.engines.base import CrashedTasksError, Engine, Report, Worker, freeze_loaded
from vcrgen.core.errors import EngineError, VcrgenError, WorkerError
from vcrgen.core.extras import needs_extra

CONNECT_SECONDS = 5.0
PROBE_SECONDS = 120.0
CRASHES = 3  # of a task, before it is left
AHEAD = 2  # tasks that a machine is given for each of its processors, so that none waits
NO_NODE_SECONDS = 300.0  # without any machine, before the build gives up
POLL_SECONDS = 0.5

Outcome = tuple[Any, list[tuple[int, int, Counter[str]]]]
"""The result of a task and its reports: the processes of a cluster cannot call the driver."""

_loaded: dict[str, Worker] = {}  # of this process: the worker of a run


@contextmanager
def ray_engine(make_worker: Callable[[], Worker], packages: tuple[str, ...], address: str | None) -> Iterator[Engine]:
    """Connect to a running Ray cluster (None and ``auto``: that of this machine), and compare its machines.

    Raises:
        EngineError: Ray is not installed, the cluster cannot be reached, has no CPU, or its machines differ.
    """
    try:
        import ray
    except ImportError:
        raise EngineError(needs_extra("--engine ray", "ray")) from None
    address = address or os.environ.get("RAY_ADDRESS") or "auto"
    was_connected = ray.is_initialized()
    if not was_connected:
        _connect(ray, address)
    try:
        _check_machines(ray, address, ("ray", *packages))
        # In a list, a reference stays one: a process fetches the object once, not for every task.
        references = [ray.put(make_worker)]
        name = uuid.uuid4().hex
        call = ray.remote(num_cpus=1, max_retries=0)(reported_task)

        def submit(task: Any, node: str) -> Any:
            return call.options(scheduling_strategy=on_node(node)).remote(name, references, task)

        def run(tasks: Sequence[Any], report: Report) -> Iterator[Any]:
            for result, reports in _Run(ray, tasks, submit).outcomes():
                for counts in reports:
                    report(*counts)
                yield result

        yield run
    finally:
        if not was_connected:
            ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    if "://" in address:
        raise EngineError(
            f"--address {address} is one of Ray's client; run the build on a machine of the cluster and give "
            "HOST:PORT or auto."
        )
    host, colon, port = address.rpartition(":")
    if colon:  # Ray itself would try for minutes, and then end the process
        try:
            socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
        except (OSError, ValueError, OverflowError) as error:
            raise EngineError(f"No Ray cluster answers at {address} ({error}); is its head running?") from None
    try:
        ray.init(address=address, log_to_driver=False, logging_level="CRITICAL")
    except (ConnectionError, RuntimeError, ValueError, AssertionError) as error:
        cause = " ".join(str(error).split())[:400]
        raise EngineError(f"The Ray cluster at {address} cannot be used: {cause}") from None


def _check_machines(ray: Any, address: str, packages: tuple[str, ...]) -> None:
    """Check that all machines have the driver's versions."""
    nodes = alive(ray)
    if not nodes:
        raise EngineError(f"The Ray cluster at {address} has no machine with a CPU for tasks; add one.")
    probe = make_probe(packages)
    driver_versions = probe()
    remote = ray.remote(num_cpus=0, max_retries=3)(probe)
    answers = {node: remote.options(scheduling_strategy=on_node(node)).remote() for node in nodes}
    for node, answer in answers.items():
        machine = f"The machine {nodes[node].address}"
        try:
            versions = ray.get(answer, timeout=PROBE_SECONDS)
        except ray.exceptions.RayError as error:
            if node not in alive(ray):
                continue  # gone in the meantime
            cause = " ".join(str(error).split())[:200]
            raise EngineError(f"{machine} of the Ray cluster runs no task: {cause}") from None
        for name, version in driver_versions.items():
            if versions[name] != version:
                raise EngineError(
                    f"{machine} has {name} {versions[name]}, the driver {version}; install "
                    "the same versions on all machines of the cluster, or the bytes would differ."
                )


class Node(NamedTuple):
    """A machine of the cluster: its address, and how many processors it has for tasks."""

    address: str
    cpus: int


def alive(ray: Any) -> dict[str, Node]:
    """The machines that run tasks, by Ray's id."""
    return {
        node["NodeID"]: Node(address=node["NodeManagerAddress"], cpus=int(node["Resources"]["CPU"]))
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
    }


def on_node(node: str) -> Any:
    """Ray's scheduling strategy for one machine only."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node_id=node, soft=False)


class _Attempt(NamedTuple):
    """A task by number, and the machine that it was given to, by Ray's id."""

    task: int
    node: str


class _Run:
    """A run of tasks, of which each machine has a queue of its own.

    A task of a lost machine runs again without limit, one that crashed its process `CRASHES` times in all.
    """

    def __init__(self, ray: Any, tasks: Sequence[Any], submit: Callable[[Any, str], Any]) -> None:
        self._ray, self._tasks, self._submit = ray, tasks, submit
        self._waiting = deque(range(len(tasks)))
        self._live: dict[Any, _Attempt] = {}  # by Ray's reference
        self._crashes: dict[int, list[str]] = {}  # of a task: the machines
        self._nodes: dict[str, Node] = {}
        self._updated, self._last_alive = float("-inf"), time.monotonic()

    def outcomes(self) -> Iterator[Outcome]:
        """Yield outcomes as they come; errors as of `Engine`."""
        try:
            while self._waiting or self._live:
                self._update_nodes()
                self._submit_waiting()
                if not self._live:
                    time.sleep(POLL_SECONDS)
                    continue
                for reference in self._ray.wait(list(self._live), num_returns=1, timeout=POLL_SECONDS)[0]:
                    outcome = self._outcome(reference, self._live.pop(reference))
                    if outcome is not None:
                        yield outcome
        finally:
            for reference in self._live:
                with suppress(Exception):
                    self._ray.cancel(reference, force=True)
        crashed = sorted(task for task, nodes in self._crashes.items() if len(nodes) == CRASHES)
        if crashed:
            raise CrashedTasksError([self._tasks[task] for task in crashed], CRASHES)

    def _update_nodes(self) -> None:
        """Update the machines at intervals, and take back the tasks of lost ones."""
        now = time.monotonic()
        if now - self._updated < POLL_SECONDS:
            return
        self._updated, self._nodes = now, alive(self._ray)
        if self._nodes:
            self._last_alive = now
        elif now - self._last_alive > NO_NODE_SECONDS:
            raise WorkerError(
                "The Ray cluster has lost all its machines; what was finished is kept: run the same command again to "
                "go on."
            )
        for reference in [name for name, attempt in self._live.items() if attempt.node not in self._nodes]:
            self._waiting.appendleft(self._live.pop(reference).task)

    def _submit_waiting(self) -> None:
        """Give waiting tasks to the least loaded machines."""
        while self._waiting and (node := self._free_node(self._crashes.get(self._waiting[0], []))):
            task = self._waiting.popleft()
            self._live[self._submit(self._tasks[task], node)] = _Attempt(task, node)

    def _free_node(self, crashed: Sequence[str]) -> str | None:
        """The least loaded machine that has room for a task, which crashed on some and goes to another one if any."""
        given = Counter(attempt.node for attempt in self._live.values())
        names = set(self._nodes).difference(crashed) or set(self._nodes)
        load, name = min(((given[name] / self._nodes[name].cpus, name) for name in names), default=(AHEAD, ""))
        return name if load < AHEAD else None

    def _outcome(self, reference: Any, attempt: _Attempt) -> Outcome | None:
        """The outcome of a task; None where it has to run again, or crashed too often."""
        errors = self._ray.exceptions
        try:
            outcome: Outcome = self._ray.get(reference)
        except errors.RayTaskError as error:
            if isinstance(error.cause, VcrgenError | OSError):
                raise error.cause from None
            raise
        except errors.RayError as error:
            lost = isinstance(error, errors.NodeDiedError | errors.TaskUnschedulableError | errors.ObjectLostError)
            crashes = self._crashes.setdefault(attempt.task, [])
            if not lost and attempt.node in alive(self._ray):
                crashes.append(attempt.node)
            if len(crashes) < CRASHES:
                self._waiting.appendleft(attempt.task)
            return None
        return outcome


def reported_task(run: str, held: list[Any], task: Any) -> Outcome:
    """Run a task in a process of Ray."""
    import ray

    if run not in _loaded:
        _loaded.clear()
        _loaded[run] = ray.get(held[0])()
        freeze_loaded()
    reports: list[tuple[int, int, Counter[str]]] = []
    result = _loaded[run](task, lambda read, built, rejected: reports.append((read, built, rejected)))
    return result, reports


def make_probe(packages: tuple[str, ...]) -> Callable[[], dict[str, str]]:
    """A function that lists installed versions; it is sent by value, as vcrgen may be missing there."""

    def probe() -> dict[str, str]:
        import importlib.metadata
        import platform

        versions = {"Python": ".".join(platform.python_version_tuple()[:2]), "machine": platform.machine()}
        for package in packages:
            try:
                versions[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                versions[package] = "(not installed)"
        return versions

    return probe
