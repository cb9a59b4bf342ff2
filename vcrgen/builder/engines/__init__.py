"""Engines that run the tasks of a build: processes of this machine, a Ray cluster, or Spark."""

import importlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple

from vcrgen.builder.engines.base import CrashedTasksError, Engine, Report, Worker
from vcrgen.errors import ConfigError

CLUSTER_PROCESSES = 64  # taken for the number of processes of a cluster, which may grow

__all__ = ["CrashedTasksError", "Engine", "EngineChoice", "Report", "Worker", "open_engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """The engine of a build; the bytes of the dataset do not depend on it.

    Raises:
        ConfigError: There is no such engine, or an option is of another one.
    """

    name: str = "local"  # a key of :data:`ENGINES`
    workers: int = 1  # processes of `local`
    address: str | None = None  # of a running Ray cluster: HOST:PORT; `auto` and None mean that of this machine
    master: str | None = None  # Spark's master URL, such as `local[2]`; None leaves it to Spark's configuration

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise ConfigError(f"There is no engine {self.name!r}; choose {', '.join(ENGINES)}.")
        for name, engine in ENGINES.items():
            if name != self.name and getattr(self, engine.option) != engine.default:
                raise ConfigError(f"--{engine.option} is an option of --engine {name}, not of --engine {self.name}.")

    @property
    def processes(self) -> int:
        """Return the number of processes, as far as it is known before the engine starts."""
        return self.workers if self.name == "local" else CLUSTER_PROCESSES


class EngineRow(NamedTuple):
    """A row of :data:`ENGINES`."""

    option: str  # the field of :class:`EngineChoice` that only this engine has
    default: Any  # the value of that field for other engines
    module: str  # in this package; imported for the chosen engine only
    function: str  # opens the engine


ENGINES = {
    "local": EngineRow("workers", 1, "local", "local_engine"),
    "ray": EngineRow("address", None, "ray", "ray_engine"),
    "spark": EngineRow("master", None, "spark", "spark_engine"),
}


def open_engine(
    choice: EngineChoice, make_worker: Callable[[], Worker], packages: tuple[str, ...]
) -> AbstractContextManager[Engine]:
    """Connect to the chosen engine.

    ``make_worker`` is pickled and called once in every process; ``packages`` must have equal versions on all machines.

    Raises:
        EngineError: It is not installed, cannot be reached, or its machines differ.
    """
    row = ENGINES[choice.name]
    module = importlib.import_module(f"vcrgen.builder.engines.{row.module}")
    engine: AbstractContextManager[Engine] = getattr(module, row.function)(
        make_worker, packages, getattr(choice, row.option)
    )
    return engine
