"""The script of CI, with commands in place of those it calls."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tests.pages import ROOT


def goes_on(process: str) -> bool:
    """Return True until a process has ended; one whose parent is gone may stay as a zombie."""
    try:
        return Path("/proc", process, "stat").read_text("utf-8").rpartition(")")[2].split()[0] not in "XZ"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_nothing_goes_on_beside_a_second_command_that_failed(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci")
    (checkout / "README.md").write_text("python3 -m venv .venv && .venv/bin/vcrgen build\n", "utf-8")
    stands_in = {
        "bin/apt-get": "exit 0",
        "bin/git": f'sleep 300 & echo "$!" >{tmp_path}/new; mv {tmp_path}/new {tmp_path}/beside; wait',
        "bin/python3": f"case $1 in -m) exit 0;; esac; until [ -e {tmp_path}/beside ]; do sleep 0.01; done; exit 1",
        "checkout/.venv/bin/vcrgen": "mkdir -p data/vcr-samples-en-both; touch data/vcr-samples-en-both/_SUCCESS",
    }
    for name, text in stands_in.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n", "utf-8")
        (tmp_path / name).chmod(0o755)
    (temporary := tmp_path / "temporary").mkdir()
    environment = os.environ | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "TMPDIR": str(temporary)}
    ended = subprocess.run([checkout / ".ci" / "run"], env=environment, capture_output=True, timeout=120)
    assert ended.returncode == 1, ended.stderr
    beside, deadline = (tmp_path / "beside").read_text("utf-8").strip(), time.monotonic() + 120
    while goes_on(beside):  # a signal takes its time
        assert time.monotonic() < deadline, "the processes beside go on"
        time.sleep(0.05)
    assert list(temporary.iterdir()) == []


def test_what_the_tests_environment_lacks_has_the_marker_by_which_ci_runs_it() -> None:
    """A test of a bucket's stream was skipped everywhere, as no list of CI named its file."""
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    for file in (ROOT / "tests").rglob("test_*.py"):
        text = file.read_text("utf-8")
        if re.search(r'importorskip\("(torch|ray|peft|trl|inspect_ai)|\btinyvlm: Any', text):
            path = file.relative_to(ROOT)
            assert "mark.extras" in text and re.search(rf"[ (]tests/{path.parts[1]}\b", script), path
