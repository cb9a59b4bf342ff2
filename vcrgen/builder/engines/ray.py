"""The Ray engine: connection, comparison of the machines, remote tasks. The run itself is in `attempts.py`."""

import os
import socket
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from vcrgen.builder.engines.attempts import Outcome, RayRun, alive, on_node
from vcrgen.builder.engines.base import Engine, Report, Worker, freeze_loaded
from vcrgen.core.errors import EngineError
from vcrgen.core.extras import needs_extra

CONNECT_SECONDS = 5.0
PROBE_SECONDS = 120.0

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
        call = ray.remote(num_cpus=1, max_retries=0)(timed_task)

        def submit(task: Any, strategy: Any) -> Any:
            return call.options(scheduling_strategy=strategy).remote(name, references, task)

        def run(tasks: Sequence[Any], report: Report) -> Iterator[Any]:
            for result, reports in RayRun(ray, tasks, submit=submit).results():
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


def timed_task(run: str, held: list[Any], task: Any) -> tuple[Outcome, float]:
    """Run one attempt in a process of Ray; return its outcome and its seconds."""
    import ray

    if run not in _loaded:
        _loaded.clear()
        _loaded[run] = ray.get(held[0])()
        freeze_loaded()
    started = time.monotonic()
    reports: list[tuple[int, int, Counter[str]]] = []
    result = _loaded[run](task, lambda read, built, rejected: reports.append((read, built, rejected)))
    return (result, reports), time.monotonic() - started


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
