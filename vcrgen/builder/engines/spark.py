"""Tasks as one Spark job: a partition each, mapped and collected. Spark itself schedules, retries and reports."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from vcrgen.builder.engines.base import Engine, Job, Report, ReportTotal, Worker
from vcrgen.errors import EngineError, VcrgenError, WorkerError

Outcome = tuple[Any, ReportTotal] | Exception

_loaded: dict[str, Worker] = {}


class SparkEngine(Engine):
    """Spark.

    Args:
        job: What to run.
        master: Spark's master URL, or None for that of Spark's own configuration.
    """

    def __init__(self, job: Job, *, master: str | None) -> None:
        self._job = job
        self._master = master
        self._context: Any = None

    def __enter__(self) -> Self:
        """Start a Spark context.

        Raises:
            EngineError: Spark or Java is not installed, or the master cannot be used.
        """
        try:
            from py4j.protocol import Py4JError
            from pyspark import SparkConf, SparkContext
            from pyspark.errors import PySparkException
        except ImportError:
            raise EngineError('--engine spark needs Spark: pip install "vcrgen[spark]".') from None
        settings = SparkConf().setAppName("vcrgen").set("spark.log.level", "ERROR")
        settings.set("spark.ui.showConsoleProgress", "false")
        if self._master:
            settings.setMaster(self._master)
        master = settings.get("spark.master")
        if not master:
            raise EngineError("--engine spark needs --master, such as local[2], or Spark's own configuration of one.")
        if master.startswith("local"):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        try:
            self._context = SparkContext(conf=settings)
        except (PySparkException, Py4JError, ValueError) as error:
            raise EngineError(
                f"Spark does not start with the master {master!r} ({_reason(error)}); it needs Java 17 or 21, and a "
                "master that can be reached."
            ) from None
        return self

    def __exit__(self, *error: object) -> None:
        if self._context is not None:
            self._context.stop()
        _loaded.clear()

    def run(self, tasks: Sequence[Any], report: Report) -> Iterator[Any]:
        """See :meth:`Engine.run`; the results come when all tasks are done."""
        from py4j.protocol import Py4JError

        if not tasks:
            return
        try:
            work = _caller(self._job, self._context.applicationId)
            outcomes: list[Outcome] = self._context.parallelize(tasks, len(tasks)).map(work).collect()
        except Py4JError as error:
            raise WorkerError(
                f"Spark gave up on a shard ({_reason(error)}); what was finished is kept: run the same command again "
                "to go on."
            ) from None
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        for result, total in (outcome for outcome in outcomes if not isinstance(outcome, Exception)):
            report(total.read, total.built, total.drops)
            yield result


def _caller(job: Job, name: str) -> Callable[[Any], Outcome]:
    """What Spark maps over the tasks."""

    def call(task: Any) -> Outcome:
        return _call(job, name, task)

    return call


def _call(job: Job, name: str, task: Any) -> Outcome:
    """Do one task; what the user can mend comes back as a value, so that Spark does not try it again."""
    total = ReportTotal()
    try:
        if name not in _loaded:
            _loaded[name] = job.start()
        return _loaded[name](task, total), total
    except (VcrgenError, OSError) as error:
        return error


def _reason(error: Exception) -> str:
    """The line of a Java or Python trace that says most."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("at ", ":", "File ", "An error occurred", "Traceback"))]
    return (telling or lines or [type(error).__name__])[0][:300]
