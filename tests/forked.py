"""Processes of their own that begin at once, as they are forked from one that has loaded the package."""

import multiprocessing as mp
import os
import re
import runpy
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, NamedTuple

# Not the Hub's library, which reads its settings when it is imported.
LOADED = [
    *("vcrgen.cli", "vcrgen.cli.build", "vcrgen.builder.run", "spacy", "s3fs", "vcrgen.cli.leaderboard"),
    *("vcrgen.cli.predict", "vcrgen.cli.study", "vcrgen.leaderboard.service.serve", "vcrgen.leaderboard.service.app"),
    *("vcrgen.study.service.serve", "vcrgen.leaderboard.checking", "vcrgen.leaderboard.closing"),
]


class Surroundings(NamedTuple):
    """Where a process of its own runs."""

    folder: Path
    environment: dict[str, str]
    out: Path | None
    errors: Path | None


class Forked:
    """A function of a module that runs in a process of its own, in the current folder, with what it is given.

    Args:
        given: Its arguments.
        out: The file for what the process writes; appended to. None: as this process does.
        errors: The file for its errors. None: ``out``.
        settings: Environment variables beside those of this process.
    """

    def __init__(
        self,
        function: Callable[..., None],
        *given: Any,
        out: Path | None = None,
        errors: Path | None = None,
        settings: Mapping[str, str] = {},
    ) -> None:
        context = mp.get_context("forkserver")
        context.set_forkserver_preload(LOADED)
        surroundings = Surroundings(Path.cwd(), os.environ | settings, out, errors)
        self._process = context.Process(target=_run, args=(surroundings, function, *given), daemon=True)
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
        super().__init__(_run_python, ("vcrgen", *words), out=log)


class Python:
    """``python -m MODULE``, or ``python -c SCRIPT``, that runs with more words.

    Args:
        words: Of the command line, without ``-m``.
        settings: Environment variables beside those of this process.
    """

    def __init__(self, *words: object, **settings: str) -> None:
        self._words = tuple(map(str, words))
        self._folder = tempfile.TemporaryDirectory()
        self._files = [Path(self._folder.name) / name for name in ("out", "errors")]
        out, errors = self._files
        self._process = Forked(_run_python, self._words, out=out, errors=errors, settings=settings)

    def poll(self) -> int | None:
        """Return the exit code, or None as long as it runs."""
        return self._process.poll()

    def send_signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def result(self, seconds: float = 300) -> CompletedProcess[str]:
        """Wait for its end; what it wrote, and the exit code."""
        code = self._process.wait(seconds)
        out, errors = (file.read_text("utf-8") for file in self._files)
        self._folder.cleanup()
        return CompletedProcess(self._words, code, out, errors)


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


def _run(surroundings: Surroundings, function: Callable[..., None], *given: Any) -> None:
    """In the process of its own."""
    mp.process.current_process()._config["daemon"] = False  # type: ignore[attr-defined] # it may have processes, too
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    os.chdir(surroundings.folder)
    os.environ.clear()
    os.environ.update(surroundings.environment)
    for stream, file in ((1, surroundings.out), (2, surroundings.errors or surroundings.out)):
        if file is not None:
            with file.open("ab") as opened:
                os.dup2(opened.fileno(), stream)
    function(*given)


def _run_python(words: tuple[str, ...]) -> None:
    if words[0] == "-c":
        sys.argv = ["-c", *words[2:]]
        exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = list(words)
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
