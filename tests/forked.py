"""Processes of their own that begin at once, as they are forked from one that has loaded the package."""

import multiprocessing as mp
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LOADED = [
    "vcrgen.cli",
    "vcrgen.leaderboard.service.serve",
    "vcrgen.leaderboard.service.app",
    "vcrgen.study.service.serve",
]
LOADED += ["vcrgen.cli.leaderboard", "vcrgen.cli.study", "vcrgen.leaderboard.checking", "vcrgen.leaderboard.closing"]


class Forked:
    """A function of a module that runs in a process of its own, with what it is given."""

    def __init__(self, function: Callable[..., None], *given: Any) -> None:
        context = mp.get_context("forkserver")
        context.set_forkserver_preload(LOADED)
        self._process = context.Process(target=_run, args=(function, *given), daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, or None as long as it runs."""
        return self._process.exitcode

    def wait(self, seconds: float = 180) -> int:
        """Wait for its end; the exit code."""
        self._process.join(seconds)
        assert self._process.exitcode is not None, "it goes on"
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it by force."""
        self._process.kill()

    def terminate(self) -> None:
        """Ask it to end."""
        self._process.terminate()


class Vcrgen(Forked):
    """A command that runs.

    Args:
        words: Of the command line.
        log: The file for what it writes; appended to.
    """

    def __init__(self, *words: str, log: Path) -> None:
        super().__init__(_run_command, words, log)


@contextmanager
def serving(*words: str, log: Path) -> Iterator[str]:
    """A service while it runs, with the arguments of :class:`Vcrgen`; its address. In the end it stops when told to."""
    log.write_text("")
    service, end = Vcrgen(*words, log=log), time.monotonic() + 120
    try:
        while not (found := re.search(r'"url": "([^"]+)"', log.read_text("utf-8"))):
            assert service.poll() is None and time.monotonic() < end, log.read_text("utf-8")
            time.sleep(0.02)
        yield found[1]
    finally:
        service.terminate()
    assert service.wait() == 0


def _run(function: Callable[..., None], *given: Any) -> None:
    """In the process of its own."""
    mp.process.current_process()._config["daemon"] = False  # type: ignore[attr-defined] # it may have processes, too
    function(*given)


def _run_command(words: tuple[str, ...], log: Path) -> None:
    with log.open("ab") as out:
        for stream in (1, 2):
            os.dup2(out.fileno(), stream)
    sys.argv = ["vcrgen", *words]
    from vcrgen.cli import app

    app()
