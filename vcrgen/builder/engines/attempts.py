"""A run of tasks on Ray: the driver assigns tasks to machines and counts the attempts.

Ray itself does not distinguish a task that crashes its process from a lost machine, and one frozen machine blocks its
tasks. Here

- every machine has its own queue of WINDOW tasks for each of its processors;
- a task on a lost machine is tried again without limit;
- a task that crashed CRASHES times on machines that are still alive is abandoned and reported at the end;
- a task that takes much longer than others gets a second attempt on another machine.

Attempts of a task may overlap: all write the same files, so the first result counts.
"""

import contextlib
import statistics
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from vcrgen.builder.engines.base import CrashedTasksError
from vcrgen.core.errors import VcrgenError, WorkerError

CRASHES = 3  # of a task, before it is left
WINDOW = 2  # tasks of a machine for each processor
LATE_FACTOR, LATE_SECONDS = 4.0, 20.0  # an attempt is late after so many times the median, and at least so long
NO_NODE_SECONDS = 300.0  # without any machine, before the build gives up
POLL_SECONDS = 0.5

Outcome = tuple[Any, list[tuple[int, int, Counter[str]]]]
"""The result of a task and its reports: the processes of a cluster cannot call the driver."""


class Node(NamedTuple):
    """A machine of the cluster: its address, and how many processors it has for tasks."""

    address: str
    cpus: int


class Attempt(NamedTuple):
    """One attempt of a task: its number in the run, the machine (Ray's id), and the time of submission."""

    task: int
    node: str
    submitted: float


class RayRun:
    """A run of tasks."""

    def __init__(self, ray: Any, tasks: Sequence[Any], *, submit: Callable[[Any, Any], Any]) -> None:
        self._ray = ray
        self._tasks = tasks
        self._submit_to_ray = submit
        self._waiting = deque(range(len(tasks)))
        self._open = set(range(len(tasks)))
        self._left: list[int] = []
        self._live: dict[Any, Attempt] = {}  # by Ray's reference
        self._crashes: dict[int, list[str]] = {}  # of a task: where
        self._seconds: deque[float] = deque(maxlen=1000)  # of the last attempts that gave a result
        self._last_result: dict[str, float] = {}  # of a machine: when
        self._nodes: dict[str, Node] = {}
        self._updated = 0.0
        self._last_alive = time.monotonic()

    def results(self) -> Iterator[Outcome]:
        """Yield outcomes as they arrive; errors as of `Engine` in `base.py`."""
        try:
            while self._open:
                self._update_nodes()
                self._submit_waiting()
                for reference in self._ready():
                    attempt = self._live.pop(reference)
                    outcome = self._outcome(reference, attempt)
                    if outcome and attempt.task in self._open:
                        self._open.discard(attempt.task)
                        yield outcome
        finally:
            for reference in self._live:
                with contextlib.suppress(Exception):
                    self._ray.cancel(reference, force=True)
        if self._left:
            raise CrashedTasksError([self._tasks[number] for number in sorted(self._left)], CRASHES)

    def _ready(self) -> list[Any]:
        """The references of finished attempts, after a short wait."""
        if not self._live:
            time.sleep(POLL_SECONDS)
            return []
        live = list(self._live)
        self._ray.wait(live, num_returns=1, timeout=POLL_SECONDS)
        ready: list[Any] = self._ray.wait(live, num_returns=len(live), timeout=0)[0]
        return ready

    def _update_nodes(self) -> None:
        """Update the machines at intervals, and retry lost and late attempts."""
        now = time.monotonic()
        if now - self._updated < POLL_SECONDS:
            return
        self._updated = now
        self._nodes = alive(self._ray)
        if self._nodes:
            self._last_alive = now
        elif now - self._last_alive > NO_NODE_SECONDS:
            raise WorkerError(
                "The Ray cluster has lost all its machines; what was finished is kept: run the same command again to "
                "go on."
            )
        # Ray may wait for a long time for a machine that it has declared dead.
        lost = [reference for reference, attempt in self._live.items() if attempt.node not in self._nodes]
        for reference in lost:
            self._retry(self._live.pop(reference).task)
        for attempt in self._late(now):
            tried = {other.node for other in self._live.values() if other.task == attempt.task}
            if free := self._least_loaded(without=tried):
                self._submit(attempt.task, free)

    def _submit_waiting(self) -> None:
        """Submit waiting tasks to machines, up to the window of each."""
        while self._waiting:
            # Retry a crashed task on another machine if possible.
            crashed = set(self._crashes.get(self._waiting[0], []))
            node = self._least_loaded(without=crashed if set(self._nodes) - crashed else set(), window=WINDOW)
            if node is None:
                return
            self._submit(self._waiting.popleft(), node)

    def _least_loaded(self, *, without: set[str], window: float = float("inf")) -> str | None:
        """The least loaded machine below the window; None if there is none."""
        tasks = Counter(attempt.node for attempt in self._live.values())
        loads = sorted((tasks[name] / node.cpus, name) for name, node in self._nodes.items() if name not in without)
        return loads[0][1] if loads and loads[0][0] < window else None

    def _submit(self, number: int, node: str) -> None:
        reference = self._submit_to_ray(self._tasks[number], on_node(node))
        self._live[reference] = Attempt(task=number, node=node, submitted=time.monotonic())

    def _outcome(self, reference: Any, attempt: Attempt) -> Outcome | None:
        """The outcome of an attempt; None after a failure, which is recorded."""
        errors = self._ray.exceptions
        try:
            outcome: Outcome
            outcome, seconds = self._ray.get(reference)
        except errors.RayTaskError as error:
            if attempt.task not in self._open:
                return None  # too late to matter
            if isinstance(error.cause, VcrgenError | OSError):
                raise error.cause from None
            raise
        except (errors.NodeDiedError, errors.TaskUnschedulableError, errors.ObjectLostError):
            self._retry(attempt.task)
            return None
        except errors.RayError:
            self._crashes.setdefault(attempt.task, []).append(attempt.node)
            self._retry(attempt.task)
            return None
        self._seconds.append(seconds)
        self._last_result[attempt.node] = time.monotonic()
        return outcome

    def _retry(self, number: int) -> None:
        """Retry a task unless another attempt is running or it has crashed too often."""
        if number not in self._open or any(attempt.task == number for attempt in self._live.values()):
            return
        nodes = alive(self._ray)
        if sum(node in nodes for node in self._crashes.get(number, [])) >= CRASHES:
            self._open.discard(number)
            self._left.append(number)
        else:
            self._waiting.appendleft(number)

    def _late(self, now: float) -> list[Attempt]:
        """The newest attempt of each task that takes much longer than others did."""
        if not self._seconds:
            return []
        limit = max(LATE_SECONDS, LATE_FACTOR * statistics.median(self._seconds))
        newest = {attempt.task: attempt for attempt in self._live.values() if attempt.task in self._open}

        def is_late(attempt: Attempt) -> bool:
            # A machine without a result may still be loading; one with many processors may have others at work.
            last = self._last_result.get(attempt.node)
            silent = last is not None and now - max(attempt.submitted, last) > limit
            return silent or now - attempt.submitted > (WINDOW + 1) * limit

        return list(filter(is_late, newest.values()))


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
