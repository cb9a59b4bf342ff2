"""Choosing an engine, and what every engine refuses."""

import errno
import gc
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from vcrgen.builder import run
from vcrgen.builder.engines import EngineChoice, Report, Worker
from vcrgen.builder.engines.local import AHEAD, LocalEngine
from vcrgen.builder.run import build
from vcrgen.core.errors import ConfigError, EngineError

Tree = Callable[[Path], dict[str, str]]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_process_that_would_give_other_bytes(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    real = run.Build._worker_maker

    def maker(self: run.Build, *arguments: Any) -> partial[Worker]:
        made = real(self, *arguments)
        *others, expected = made.args
        return partial(made.func, *others, expected | {"freetype": "0.0"})

    monkeypatch.setattr(run.Build, "_worker_maker", maker)
    with pytest.raises(EngineError, match=r"has freetype .*, the driver 0\.0; install the same"):
        build(out=tmp_path / "out", workers=workers, **options)


def test_an_engine_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(EngineError, match=r'pip install "ray=='):
        build("samples:8", out=tmp_path / "out", engine="ray")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"name": "dask"}, "no engine 'dask'; choose local or ray"),
        ({"name": "ray", "workers": 2}, "--workers is an option of --engine local"),
        ({"address": "auto"}, "--address is an option of --engine ray"),
    ],
)
def test_options_of_other_engines(choice: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        EngineChoice(**choice)


def test_objects_of_the_caller_are_collected_as_before() -> None:
    """A build in this process lets garbage collection pass over what is loaded, until it is over."""
    counts: list[int] = []

    def worker(task: int, report: object) -> int:
        counts.append(gc.get_freeze_count())
        return task

    assert list(LocalEngine(lambda: worker, 1)([1, 2], lambda *_: None)) == [1, 2]
    assert min(counts) > 0 and gc.get_freeze_count() == 0
    unfinished = LocalEngine(lambda: worker, 1)([1, 2], lambda *_: None)
    next(unfinished)
    unfinished.close()  # type: ignore[attr-defined]
    assert gc.get_freeze_count() == 0


def worker_of_two(folder: Path) -> Worker:
    """Notes the process, and each task as a file; tasks wait for two processes, and task 50 finds the disk full."""
    (folder / f"process-{os.getpid()}").touch()

    def work(task: int, report: Report) -> int:
        while len(list(folder.glob("process-*"))) < 2:
            time.sleep(0.02)
        (folder / f"task-{task}").touch()
        if task == 50:
            raise OSError(errno.ENOSPC, "full")
        return task

    return work


def test_processes_run_further_lists_and_an_error_ends_them_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="full"), LocalEngine(partial(worker_of_two, tmp_path), 2) as engine:
        for tasks in (range(20), range(20, 40)):
            assert sorted(engine(tasks, lambda *_: None)) == list(tasks)
        assert len(list(tmp_path.glob("process-*"))) == 2
        list(engine(range(50, 1000), lambda *_: None))
    assert 41 <= len(list(tmp_path.glob("task-*"))) <= 41 + 2 * AHEAD * 2
