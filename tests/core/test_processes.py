"""Tasks in processes, and one sentence where a process dies."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from vcrgen.core.errors import WorkerError
from vcrgen.core.processes import process_pool

ADVICE = "use fewer"


def make_square(base: int = 0) -> Callable[[int], int]:
    return partial(square, base)


def square(base: int, number: int) -> int:
    if number < 0:
        os._exit(9)
    return base + number**2


def test_each_task_has_its_result() -> None:
    with process_pool(partial(make_square, 100), 2, advice=ADVICE) as submit:
        assert [submit(number).result() for number in range(5)] == [100, 101, 104, 109, 116]


def test_a_process_that_dies() -> None:
    message = r"A worker process died \(killed, or out of memory\); use fewer\."
    with pytest.raises(WorkerError, match=message), process_pool(make_square, 2, advice=ADVICE) as submit:
        submit(-1).result()


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
from vcrgen.core.processes import process_pool

def make():
    return abs

if __name__ == "__mp_main__":
    os.kill(os.getpid(), signal.SIGINT)
elif __name__ == "__main__":
    with process_pool(make, 2, advice="") as submit:
        print([future.result() for future in map(submit, range(-3, 1))])
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs signals that can be held back")
def test_ctrl_c_is_left_to_the_parent_from_the_beginning(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(BEGINNING)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    command = [sys.executable, str(tmp_path / "job.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[3, 2, 1, 0]\n", "")
