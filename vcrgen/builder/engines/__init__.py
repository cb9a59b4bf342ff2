"""Engines that run the tasks of a build: processes of this machine, or a Ray cluster."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from vcrgen.builder.engines.base import CrashedTasksError, Engine, Report, Worker
from vcrgen.builder.engines.local import LocalEngine
from vcrgen.builder.engines.ray import ray_engine
from vcrgen.core.errors import ConfigError

CLUSTER_PROCESSES = 64  # taken for the number of processes of a cluster, which may grow

__all__ = ["CrashedTasksError", "Engine", "EngineChoice", "Report", "Worker", "open_engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """The engine of a build; the bytes of the dataset do not depend on it.

    Raises:
        ConfigError: There is no such engine, or an option is of another one.
    """

    name: str = "local"  # or ray
    workers: int = 1  # processes of `local`
    address: str | None = None  # of a running Ray cluster: HOST:PORT; `auto` and None mean that of this machine

    def __post_init__(self) -> None:
        if self.name not in ("local", "ray"):
            raise ConfigError(f"There is no engine {self.name!r}; choose local or ray.")
        if self.name == "ray" and self.workers != 1:
            raise ConfigError("--workers is an option of --engine local, not of --engine ray.")
        if self.name == "local" and self.address is not None:
            raise ConfigError("--address is an option of --engine ray, not of --engine local.")

    @property
    def processes(self) -> int:
        """The number of processes, as far as it is known before the engine starts."""
        return self.workers if self.name == "local" else CLUSTER_PROCESSES


def open_engine(
    choice: EngineChoice, make_worker: Callable[[], Worker], packages: tuple[str, ...]
) -> AbstractContextManager[Engine]:
    """Connect to the chosen engine.

    ``make_worker`` is pickled and called once in every process; ``packages`` must have equal versions on all machines.

    Raises:
        EngineError: It is not installed, cannot be reached, or its machines differ.
    """
    if choice.name == "ray":
        return ray_engine(make_worker, packages, choice.address)
    return LocalEngine(make_worker, choice.workers)
