"""One process at a time, and no file of a lock afterwards."""

import subprocess
import sys
from pathlib import Path

import pytest

from vcrgen.core.errors import OutputError
from vcrgen.core.lock import locked

BUSY = OutputError("Another process is at work.")


def test_a_lock_is_had_once_and_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "work" / "lock"
    with locked(file, BUSY):
        assert file.exists()
        with pytest.raises(OutputError, match="at work"), locked(file, BUSY):
            raise AssertionError("both are in")
        assert file.exists()  # who was refused has not taken it away
    assert list(file.parent.iterdir()) == []
    with locked(file, BUSY):
        pass


def test_an_error_in_the_block_lets_go_of_the_lock(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), locked(tmp_path / "lock", BUSY):
        raise RuntimeError
    with locked(tmp_path / "lock", BUSY):
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_lock_of_a_process_that_died_is_free(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from vcrgen.core.errors import OutputError\n"
        "from vcrgen.core.lock import locked\n"
        "with locked(Path(sys.argv[1]), OutputError('x')): os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "lock")], check=True)
    assert (tmp_path / "lock").exists()  # nobody was left to remove it
    with locked(tmp_path / "lock", BUSY):
        pass
    assert list(tmp_path.iterdir()) == []


def test_who_waits_gets_the_lock(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from vcrgen.core.errors import OutputError\n"
        "from vcrgen.core.lock import locked\n"
        "with locked(Path(sys.argv[1]), OutputError('x')): print('mine', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout and other.stdin and other.stdout.readline() == b"mine\n"
        with pytest.raises(OutputError), locked(tmp_path / "lock", BUSY):
            pass
        other.stdin.close()
        with locked(tmp_path / "lock", BUSY, wait=60):
            pass
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_not_a_lock_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OSError), locked(tmp_path / "file" / "lock", BUSY):
        pass
