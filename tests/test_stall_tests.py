"""The script that runs tests while processes stand still."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import ROOT

STALLED = """
import time

def test_a_moment_is_lost():
    last, lost = time.monotonic(), 0.0
    while lost < 0.2:
        time.sleep(0.01)
        now = time.monotonic()
        last, lost = now, now - last

def test_that_fails():
    assert False
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_it_stops_the_tests_and_gives_their_exit_code(tmp_path: Path) -> None:
    file = tmp_path / "test_stalled.py"
    script = [sys.executable, str(ROOT / "scripts" / "stall_tests.py"), "--hold", "1", "--every", "0.2", str(file)]
    file.write_text(STALLED, "utf-8")
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    told = done.stdout
    assert done.returncode == 1 and "1 failed, 1 passed" in told and "Processes stood still" in told, told
