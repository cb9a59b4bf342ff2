"""``vcrgen leaderboard serve``: the web service, and beside it the process that scores."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from filelock import FileLock, Timeout

from vcrgen.errors import LeaderboardError
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.service.app import make_app
from vcrgen.leaderboard.worker import log_line

LOCK = ".service.lock"
PATIENCE_SECONDS = 10.0  # for a worker to stop
BACKOFF_SECONDS = 2.0  # before a worker that died is started again
# One thread each for the libraries that would take all cores: the other core answers requests.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


class Foreman:
    """Keeps a worker alive.

    Args:
        board: The folder of the board.
    """

    def __init__(self, board: Path) -> None:
        self._board = board
        self._stopping = threading.Event()
        self._worker: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Start a worker, and another one whenever it dies."""
        self._thread.start()

    def alive(self) -> bool:
        """Whether there is a worker."""
        return self._worker is not None and self._worker.poll() is None

    def stop(self) -> None:
        """Let the worker put back what it holds, and end it."""
        self._stopping.set()
        self._thread.join(PATIENCE_SECONDS + BACKOFF_SECONDS)

    def _watch(self) -> None:
        command = [sys.executable, "-m", "vcrgen.leaderboard.worker", str(self._board), str(os.getpid())]
        while not self._stopping.is_set():
            self._worker = subprocess.Popen(command, env={**ONE_THREAD, **os.environ})  # noqa: S603 - ourselves
            while self._worker.poll() is None and not self._stopping.wait(0.1):
                pass
            if self._stopping.is_set():
                break
            log_line("worker died", code=self._worker.returncode)
            self._stopping.wait(BACKOFF_SECONDS)
        if self._worker is not None:
            _end(self._worker)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def serve(board: Board, *, host: str, port: int, proxy: str) -> None:
    """Answer requests until asked to stop (SIGTERM or Ctrl-C); requests that are being answered are finished.

    Args:
        board: The board.
        host: Address to listen on.
        port: Port; 0 for a free one.
        proxy: Addresses of proxies, by commas, whose X-Forwarded-For is believed; empty for none.

    Raises:
        LeaderboardError: The port is taken, or the board is served already.
    """
    with _alone(board.folder):
        _serve(board, host=host, port=port, proxy=proxy)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One service for a board at a time, as there is one worker."""
    try:
        with FileLock(folder / LOCK, timeout=1):
            yield
    except Timeout:
        raise LeaderboardError(f"Another service serves {folder} already; stop it first.") from None


def _serve(board: Board, *, host: str, port: int, proxy: str) -> None:
    _sweep(board.folder)
    listening = _listen(host, port)
    foreman = Foreman(board.folder)
    config = uvicorn.Config(
        make_app(board, foreman.alive), log_config=None, access_log=False, server_header=False, lifespan="off",
        proxy_headers=bool(proxy), forwarded_allow_ips=proxy or None, timeout_graceful_shutdown=30,
        h11_max_incomplete_event_size=32 << 10, limit_concurrency=1000,
    )  # fmt: skip
    logging.basicConfig(handlers=[_JsonLines()], level=logging.WARNING, force=True)
    server = uvicorn.Server(config)
    for number in (signal.SIGTERM, signal.SIGINT):  # which uvicorn raises once more when it has stopped
        signal.signal(number, lambda *_: setattr(server, "should_exit", True))
    foreman.start()
    try:
        address, bound = listening.getsockname()[:2]
        log_line("serving", url=f"http://{f'[{address}]' if ':' in address else address}:{bound}/")
        server.run(sockets=[listening])
    finally:
        foreman.stop()
        listening.close()
        log_line("stopped")


class _JsonLines(logging.Handler):
    """What libraries log, in the form of our own lines."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; of an exception its kind only, as its text could quote anything."""
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        log_line("library", name=record.name, level=record.levelname, text=record.getMessage()[:500], exception=kind)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # With its protocol named, asyncio sends at once (TCP_NODELAY); else answers wait 40 ms for a packet to fill.
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(512)
    except OSError as problem:
        raise LeaderboardError(
            f"Port {port} of {host} cannot be listened on ({problem.strerror or problem}); name another with --port."
        ) from None
    return listening


def _sweep(folder: Path) -> None:
    """Delete what uploads left that were cut off more than an hour ago."""
    for left in (folder / "files" / "incoming").glob("*"):
        if left.stat().st_mtime < time.time() - 3600:
            left.unlink(missing_ok=True)
