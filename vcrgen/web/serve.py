"""Run a service: a socket, a server, and a process beside it, until the service is asked to stop."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from vcrgen.core.errors import ServiceError
from vcrgen.core.lock import locked
from vcrgen.web.limits import HEADER_BYTES, IDLE_SECONDS, MAX_CONNECTIONS
from vcrgen.web.log import log_library_warnings, log_line
from vcrgen.web.options import ServiceOptions

LOCK = ".service.lock"
STOP_SECONDS = 10.0  # for a worker to stop
BACKOFF_SECONDS = 2.0  # before a worker that died is started again
# One thread each for the libraries that would take all cores: the other core answers requests.
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


class WorkerProcess:
    """A process beside the service that runs a command, and is started again whenever it dies."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._stopping = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Start the process, and another one whenever it dies."""
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """Ask the process to stop, and end it if it does not."""
        self._stopping.set()
        self._thread.join(STOP_SECONDS + BACKOFF_SECONDS)

    def _watch(self) -> None:
        while not self._stopping.is_set():
            self._process = subprocess.Popen(self._command, env={**ONE_THREAD, **os.environ})  # noqa: S603 - ourselves
            while self._process.poll() is None and not self._stopping.wait(0.1):
                pass
            if self._stopping.is_set():
                break
            log_line("worker died", code=self._process.returncode)
            self._stopping.wait(BACKOFF_SECONDS)
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


@contextmanager
def single_service(folder: Path) -> Iterator[None]:
    """Keep a second service away from a folder, as there is one worker.

    Raises:
        ServiceError: Another service serves the folder.
    """
    busy = ServiceError(f"Another service serves {folder} already; stop it first.")
    with locked(folder / LOCK, busy, wait=1):
        yield


def listen(host: str, port: int) -> socket.socket:
    """Open a socket for requests; port 0 takes a free one.

    Raises:
        ServiceError: The address or the port cannot be had.
    """
    try:
        family, kind, protocol, *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # With its protocol named, asyncio sends at once (TCP_NODELAY); else answers wait 40 ms for a packet to fill.
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(512)
    except OSError as problem:
        raise ServiceError(
            f"Port {port} of {host} cannot be listened on ({problem.strerror or problem}); name another with --port."
        ) from None
    return listening


def run_service(
    make_app: Callable[[Callable[[], bool]], ASGIApp],
    options: ServiceOptions,
    command: Sequence[str] = (),
    on_serving: Callable[[str], None] = lambda url: None,
) -> None:
    """Answer requests until asked to stop (SIGTERM or Ctrl-C); requests that are being answered are finished.

    Args:
        make_app: Makes the application, given a function that tells if the process beside it is there.
        command: The process beside the service; empty for none.
        on_serving: Is told the address as ``http://127.0.0.1:8000/`` when requests are taken.

    Raises:
        ServiceError: The address or the port cannot be had.
    """
    listening = listen(options.host, options.port)
    worker = WorkerProcess(command)
    config = uvicorn.Config(
        make_app(worker.is_alive),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        proxy_headers=bool(options.proxy),
        forwarded_allow_ips=options.proxy or None,
        timeout_graceful_shutdown=30,
        http="h11",
        h11_max_incomplete_event_size=HEADER_BYTES,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        ws="none",
    )
    log_library_warnings()
    server = uvicorn.Server(config)
    for number in (signal.SIGTERM, signal.SIGINT):  # which uvicorn raises once more when it has stopped
        signal.signal(number, lambda *_: setattr(server, "should_exit", True))
    if command:
        worker.start()
    try:
        address, bound = listening.getsockname()[:2]
        url = f"http://{f'[{address}]' if ':' in address else address}:{bound}/"
        log_line("serving", url=url)
        on_serving(url)
        server.run(sockets=[listening])
    finally:
        if command:
            worker.stop()
        listening.close()
        log_line("stopped")
