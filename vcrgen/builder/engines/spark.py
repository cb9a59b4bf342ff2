"""The Spark engine: one job with a partition a task. Spark itself schedules and retries."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from vcrgen.builder.engines.base import Engine, Outcome, Report, Worker, do_task, loaded_worker
from vcrgen.errors import EngineError, VcrgenError, WorkerError
from vcrgen.extras import needs_extra


@contextmanager
def spark_engine(make_worker: Callable[[], Worker], packages: tuple[str, ...], master: str | None) -> Iterator[Engine]:
    """Start a Spark context on a master, or on that of Spark's own configuration; workers compare versions themselves.

    Raises:
        EngineError: Spark or Java is not installed, or the master cannot be used.
    """
    try:
        from py4j.protocol import Py4JError
        from pyspark import SparkConf, SparkContext
        from pyspark.errors import PySparkException
    except ImportError:
        raise EngineError(needs_extra("--engine spark", "spark")) from None
    settings = SparkConf().setAppName("vcrgen").set("spark.log.level", "ERROR")
    settings.set("spark.ui.showConsoleProgress", "false")
    if master:
        settings.setMaster(master)
    chosen = settings.get("spark.master")
    if not chosen:
        raise EngineError("--engine spark needs --master, such as local[2], or Spark's own configuration of one.")
    if chosen.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        context = SparkContext(conf=settings)
    except (PySparkException, Py4JError, ValueError) as error:
        raise EngineError(
            f"Spark does not start with the master {chosen!r} ({_reason(error)}); it needs Java 17 or 21, and a "
            "master that can be reached."
        ) from None

    def run(tasks: Sequence[Any], report: Report) -> Iterator[Any]:
        """Run all tasks, then yield their results."""
        try:
            work = partial(_call, make_worker, context.applicationId)
            outcomes: list[Any] = context.parallelize(tasks, len(tasks)).map(work).collect() if tasks else []
        except Py4JError as error:
            raise WorkerError(
                f"Spark gave up on a shard ({_reason(error)}); what was finished is kept: run the same command again "
                "to go on."
            ) from None
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        for result, reports in outcomes:
            for counts in reports:
                report(*counts)
            yield result

    try:
        yield run
    finally:
        context.stop()


def _call(make_worker: Callable[[], Worker], application: str, task: Any) -> Outcome | Exception:
    """Run one task; errors that the user can fix are returned, so that Spark does not retry it."""
    try:
        return do_task(loaded_worker(application, make_worker), task)
    except (VcrgenError, OSError) as error:
        return error


def _reason(error: Exception) -> str:
    """Return the most informative line of a Java or Python trace."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("at ", ":", "File ", "An error occurred", "Traceback"))]
    return (telling or lines or [type(error).__name__])[0][:300]
