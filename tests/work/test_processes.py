"""Tasks in processes: in order, a few ahead, and one sentence where a process dies."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from vcrgen.errors import WorkerError
from vcrgen.work.processes import AHEAD, process_pool, results

ADVICE = "use fewer"


def make_square(base: int = 0) -> Callable[[int], int]:
    return partial(square, base)


def square(base: int, number: int) -> int:
    if number < 0:
        os._exit(9)
    return base + number**2


@pytest.mark.parametrize("processes", [1, 2])
def test_in_order(processes: int) -> None:
    found = results(partial(make_square, 100), range(20), processes, advice=ADVICE)
    assert list(found) == [100 + number**2 for number in range(20)]
    assert list(results(make_square, [], processes, advice=ADVICE)) == []


def make_getenv() -> Callable[[str], str | None]:
    return os.environ.get


@pytest.mark.parametrize("own", [None, "3"])
def test_each_takes_one_thread_for_matrices_unless_the_user_says_otherwise(
    own: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "OPENBLAS_NUM_THREADS"
    monkeypatch.delenv(name, raising=False)
    if own:
        monkeypatch.setenv(name, own)
    assert list(results(make_getenv, [name], 2, advice=ADVICE)) == [own or "1"]
    assert os.environ.get(name) == own


def test_only_a_few_are_taken_ahead() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    found = results(make_square, tasks(), 2, advice=ADVICE)
    assert [next(found) for _ in range(5)] == [0, 1, 4, 9, 16]
    assert len(taken) <= 5 + 2 * AHEAD
    found.close()  # type: ignore[attr-defined]


def test_a_process_that_dies() -> None:
    with pytest.raises(WorkerError, match=r"A worker process died \(killed, or out of memory\); use fewer\."):
        list(results(make_square, [1, -1, 2], 2, advice=ADVICE))


def test_processes_end_with_the_block() -> None:
    with process_pool(make_process, 2, advice=ADVICE) as submit:
        numbers = {submit(0).result() for _ in range(4)}
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def make_process() -> Callable[[int], int]:
    return lambda _: os.getpid()


# Its processes hear of Ctrl-C as soon as they begin, before they can do anything about it.
BEGINNING = """
import os, signal
from vcrgen.work.processes import results

def make():
    return abs

if __name__ == "__mp_main__":
    os.kill(os.getpid(), signal.SIGINT)
elif __name__ == "__main__":
    print(list(results(make, range(-3, 1), 2, advice="")))
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs signals that can be held back")
def test_ctrl_c_is_left_to_the_parent_from_the_beginning(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(BEGINNING)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, str(tmp_path / "job.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[3, 2, 1, 0]\n", "")
