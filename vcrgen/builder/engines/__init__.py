"""Where tasks run: processes of this machine, a Ray cluster, or Spark. All call the same function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from vcrgen.builder.engines.base import CrashedTasksError, Engine, Job, Report, Worker
from vcrgen.builder.engines.local import LocalEngine
from vcrgen.errors import ConfigError

__all__ = ["CrashedTasksError", "Engine", "EngineChoice", "Job", "Report", "Worker", "open_engine"]

EngineName = Literal["local", "ray", "spark"]
# Options that only one engine has.
OWNERS = {"workers": "local", "address": "ray", "master": "spark"}


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """Where a build runs; it decides nothing of its bytes.

    Attributes:
        name: ``local``, ``ray`` or ``spark``.
        workers: Processes of ``local``.
        address: Of a running Ray cluster: ``HOST:PORT``, or ``auto`` (what None stands for) for that of this machine.
        master: Spark's master URL, such as ``local[2]``; None leaves it to Spark's own configuration.
    """

    name: str = "local"
    workers: int = 1
    address: str | None = None
    master: str | None = None

    def check(self) -> None:
        """Refuse an engine that is not known, and options of another one.

        Raises:
            ConfigError: As said.
        """
        if self.name not in get_args(EngineName):
            raise ConfigError(f"There is no engine {self.name!r}; choose {', '.join(get_args(EngineName))}.")
        given = {"workers": self.workers != 1, "address": self.address is not None, "master": self.master is not None}
        for option, owner in OWNERS.items():
            if given[option] and self.name != owner:
                raise ConfigError(f"--{option} is an option of --engine {owner}, not of --engine {self.name}.")


def open_engine(choice: EngineChoice, job: Job) -> Engine:
    """The engine that was chosen; it connects when it is entered.

    Raises:
        ConfigError: There is no such engine, or an option is of another one.
    """
    choice.check()
    if choice.name == "ray":
        from vcrgen.builder.engines.ray import RayEngine

        return RayEngine(job, address=choice.address)
    if choice.name == "spark":
        from vcrgen.builder.engines.spark import SparkEngine

        return SparkEngine(job, master=choice.master)
    return LocalEngine(job, workers=choice.workers)
