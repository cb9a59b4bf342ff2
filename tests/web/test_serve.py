"""A socket, a lock, and a process that is started again whenever it dies."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vcrgen.core.errors import ServiceError
from vcrgen.web import serve
from vcrgen.web.serve import WorkerProcess, listen, single_service


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.02)


def test_a_process_that_dies_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "BACKOFF_SECONDS", 0.01)
    file = tmp_path / "starts"
    worker = WorkerProcess([sys.executable, "-c", f"open({str(file)!r}, 'a').write('x')"])
    assert not worker.is_alive()
    worker.start()
    wait_for(lambda: file.exists() and len(file.read_text()) >= 2)
    worker.stop()
    assert not worker.is_alive()


def test_a_process_is_asked_to_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "STOP_SECONDS", 60.0)
    file = tmp_path / "said"
    code = (
        "import signal, sys, time\n"
        f"signal.signal(signal.SIGTERM, lambda *_: (open({str(file)!r}, 'w').write('bye'), sys.exit(0)))\n"
        f"open({str(file)!r}, 'w').write('up')\n"
        "time.sleep(600)"
    )
    worker = WorkerProcess([sys.executable, "-c", code])
    worker.start()
    wait_for(lambda: file.exists() and file.read_text() == "up")
    assert worker.is_alive()
    worker.stop()
    assert file.read_text() == "bye"


def test_one_service_a_folder(tmp_path: Path) -> None:
    with single_service(tmp_path), pytest.raises(ServiceError, match=r"serves .* already"), single_service(tmp_path):
        pass


def test_a_taken_port_is_said_in_a_sentence() -> None:
    first = listen("127.0.0.1", 0)
    port = first.getsockname()[1]
    with pytest.raises(ServiceError, match=rf"Port {port} of 127\.0\.0\.1 cannot be listened on"):
        listen("127.0.0.1", port)
    first.close()
