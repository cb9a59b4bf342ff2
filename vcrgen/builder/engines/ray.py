"""A Ray cluster: connecting, comparing its machines, and what runs on them. The run itself is in `attempts.py`."""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from vcrgen.builder.engines.attempts import Run, alive, on_node
from vcrgen.builder.engines.base import Engine, Job, Report, ReportTotal, Worker
from vcrgen.errors import EngineError

CONNECT_SECONDS = 5.0
PROBE_SECONDS = 120.0

_loaded: dict[str, Worker] = {}


class RayEngine(Engine):
    """A Ray cluster that is running already.

    Args:
        job: What to run.
        address: ``HOST:PORT`` of its head; None and ``auto`` stand for the cluster that this machine is part of.
    """

    def __init__(self, job: Job, *, address: str | None) -> None:
        self._job = job
        self._address = address or os.environ.get("RAY_ADDRESS") or "auto"
        self._connected = False
        self._submit: Callable[[Any, Any], Any] | None = None

    def __enter__(self) -> Self:
        """Connect, and look at every machine.

        Raises:
            EngineError: Ray is not installed, the cluster cannot be reached, has no CPU, or its machines differ.
        """
        try:
            import ray
        except ImportError:
            raise EngineError('--engine ray needs Ray: pip install "vcrgen[ray]".') from None
        if not ray.is_initialized():
            self._connect(ray)
        try:
            self._check_nodes(ray)
            # In a list, a reference stays one: a process fetches the job once, not for every task.
            job = [ray.put(self._job)]
            token = uuid.uuid4().hex
            call = ray.remote(num_cpus=1, max_retries=0)(do_task)
            self._submit = lambda task, where: call.options(scheduling_strategy=where).remote(token, job, task)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if self._connected:
            import ray

            self._connected = False
            ray.shutdown()

    def _connect(self, ray: Any) -> None:
        if "://" in self._address:
            raise EngineError(
                f"--address {self._address} is one of Ray's client; run the build on a machine of the cluster and give "
                "HOST:PORT or auto."
            )
        host, colon, port = self._address.rpartition(":")
        if colon:  # Ray itself would try for minutes, and then end the process
            try:
                socket.create_connection((host, int(port)), timeout=CONNECT_SECONDS).close()
            except (OSError, ValueError, OverflowError) as error:
                raise EngineError(
                    f"No Ray cluster answers at {self._address} ({error}); is its head running?"
                ) from None
        try:
            ray.init(address=self._address, log_to_driver=False, logging_level="CRITICAL")
        except (ConnectionError, RuntimeError, ValueError, AssertionError) as error:
            said = " ".join(str(error).split())[:400]
            raise EngineError(f"The Ray cluster at {self._address} cannot be used: {said}") from None
        self._connected = True

    def _check_nodes(self, ray: Any) -> None:
        """Compare what is installed on all machines that run tasks.

        Raises:
            EngineError: There is none, or one differs from the driver.
        """
        nodes = alive(ray)
        if not nodes:
            raise EngineError(f"The Ray cluster at {self._address} has no machine with a CPU for tasks; add one.")
        probe = make_probe(("ray", *self._job.packages))
        mine = probe()
        remote = ray.remote(num_cpus=0, max_retries=3)(probe)
        asked = {node: remote.options(scheduling_strategy=on_node(node)).remote() for node in nodes}
        for node, answer in asked.items():
            try:
                theirs = ray.get(answer, timeout=PROBE_SECONDS)
            except ray.exceptions.RayError as error:
                if node not in alive(ray):
                    continue  # gone in the meantime
                said = " ".join(str(error).split())[:200]
                raise EngineError(
                    f"The machine {nodes[node].address} of the Ray cluster runs no task: {said}"
                ) from None
            for what, version in mine.items():
                if theirs[what] != version:
                    raise EngineError(
                        f"The machine {nodes[node].address} has {what} {theirs[what]}, the driver {version}; install "
                        "the same versions on all machines of the cluster, or the bytes would differ."
                    )

    def run(self, tasks: Sequence[Any], report: Report) -> Iterator[Any]:
        """See :meth:`Engine.run`."""
        import ray

        assert self._submit is not None
        for result, total in Run(ray, tasks, submit=self._submit).results():
            report(total.read, total.built, total.drops)
            yield result


def do_task(token: str, job: list[Any], task: Any) -> tuple[Any, ReportTotal, float]:
    """One attempt, in a process of Ray's: the result, what to report, and seconds."""
    import ray

    if token not in _loaded:
        _loaded.clear()
        _loaded[token] = ray.get(job[0]).start()
    started = time.monotonic()
    total = ReportTotal()
    return _loaded[token](task, total), total, time.monotonic() - started


def make_probe(packages: tuple[str, ...]) -> Callable[[], dict[str, str]]:
    """A function that says what is installed; sent by value, so that it runs where vcrgen is not installed too."""

    def probe() -> dict[str, str]:
        import importlib.metadata
        import platform

        found = {"Python": ".".join(platform.python_version_tuple()[:2]), "machine": platform.machine()}
        for package in packages:
            try:
                found[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                found[package] = "(not installed)"
        return found

    return probe
