"""Where tasks run: processes of this machine, a Ray cluster, or Spark. All call the same function."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from vcrgen.builder.engines.base import CrashedTasksError, Engine, Report, Worker
from vcrgen.builder.engines.local import run_local
from vcrgen.errors import ConfigError

__all__ = ["CrashedTasksError", "Engine", "EngineChoice", "Report", "Worker", "open_engine"]

ENGINES = ("local", "ray", "spark")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """Where a build runs; the bytes of the dataset do not depend on it.

    Raises:
        ConfigError: There is no such engine, or an option is of another one.
    """

    name: str = "local"  # or `ray` or `spark`
    workers: int = 1  # processes of `local`
    address: str | None = None  # of a running Ray cluster: HOST:PORT; `auto` and None mean that of this machine
    master: str | None = None  # Spark's master URL, such as `local[2]`; None leaves it to Spark's configuration

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise ConfigError(f"There is no engine {self.name!r}; choose {', '.join(ENGINES)}.")
        for engine, option, left_out in (("local", "workers", 1), ("ray", "address", None), ("spark", "master", None)):
            if getattr(self, option) != left_out and self.name != engine:
                raise ConfigError(f"--{option} is an option of --engine {engine}, not of --engine {self.name}.")


@contextmanager
def open_engine(choice: EngineChoice, make_worker: Callable[[], Worker], packages: tuple[str, ...]) -> Iterator[Engine]:
    """Connect to the chosen engine.

    Args:
        choice: Which one.
        make_worker: Called once in every process; loads what all tasks need. It is pickled.
        packages: Distributions that have to be of the same version on every machine.

    Raises:
        EngineError: It is not installed, cannot be reached, or its machines differ.
    """
    if choice.name == "ray":
        from vcrgen.builder.engines.ray import ray_engine

        with ray_engine(make_worker, packages, choice.address) as engine:
            yield engine
    elif choice.name == "spark":
        from vcrgen.builder.engines.spark import spark_engine

        with spark_engine(make_worker, choice.master) as engine:
            yield engine
    else:
        yield partial(run_local, make_worker, choice.workers)
