"""The script of CI, with commands in place of those it calls."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.pages import ROOT


def goes_on(process: str) -> bool:
    """Whether a process has not ended; one whose parent is gone may stay as a zombie."""
    try:
        return Path("/proc", process, "stat").read_text("utf-8").rpartition(")")[2].split()[0] not in "XZ"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_nothing_goes_on_beside_a_first_step_that_failed(tmp_path: Path) -> None:
    stands_in = {
        "apt-get": "exit 0",
        "git": f'sleep 300 & echo "$!" >{tmp_path}/new; mv {tmp_path}/new {tmp_path}/beside; wait',
        "python3": f"until [ -e {tmp_path}/beside ]; do sleep 0.01; done; exit 1",
    }
    for name, text in stands_in.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        (tmp_path / name).chmod(0o755)
    (temporary := tmp_path / "temporary").mkdir()
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TMPDIR": str(temporary)}
    assert subprocess.run([ROOT / ".ci" / "run"], env=environment, capture_output=True, timeout=300).returncode == 1
    beside, deadline = (tmp_path / "beside").read_text("utf-8").strip(), time.monotonic() + 120
    while goes_on(beside):  # a signal takes its time
        assert time.monotonic() < deadline, "the processes beside go on"
        time.sleep(0.05)
    assert list(temporary.iterdir()) == []
