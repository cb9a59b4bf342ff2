"""Outputs that are no plain file: standard input, pipes, gzip and zstd."""

import gzip
import io
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from vcrgen.core.errors import PredictionError
from vcrgen.data.views import View
from vcrgen.scorer import ScoreOptions, Session, score
from vcrgen.scorer.predictions import received
from vcrgen.scorer.predictions.received import receive


def zstd(data: bytes) -> bytes:
    packed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return packed


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".zst", zstd), ("", gzip.compress)])
def test_compressed_outputs_score_as_plain_ones(perfect: Path, key: Path, suffix: str, pack: Any) -> None:
    packed = perfect.with_name(f"packed.jsonl{suffix}")
    packed.write_bytes(pack(perfect.read_bytes()))
    result = score(packed, data=key)
    assert result.name == "packed" and result.cell().metrics["exact"].value == 1.0
    assert result.cells == score(perfect, data=key).cells


def test_the_name_of_a_compressed_file_still_tells_the_task(tmp_path: Path, key: Path) -> None:
    table = tmp_path / "GPT4o_VCR_EN_HARD_TEI_test_1a2b3c4d_openended.csv.gz"
    table.write_bytes(gzip.compress(b"index,prediction\n0,the quick\n"))
    opened = receive(table)
    assert (opened.task.view, opened.task.model, opened.stem) == (View.TEI, "GPT4o", table.name.removesuffix(".csv.gz"))


def test_messages_name_the_file_that_was_given(tmp_path: Path, key: Path) -> None:
    for lines, sentence in (
        (b'{"question_id": "a", "output": "x"}\n{"question_id": "b"}\n', r"bad.jsonl.gz, line 2: no `output`"),
        (b"what is this\n", r"^.*bad.jsonl.gz, line 1: not JSON and not a table"),
        (b"", r"bad.jsonl.gz is empty"),
    ):
        file = tmp_path / "bad.jsonl.gz"
        file.write_bytes(gzip.compress(lines))
        with pytest.raises(PredictionError, match=sentence) as caught:
            score(file, data=key)
        assert "vcrgen-outputs-" not in str(caught.value)


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_damage_is_one_sentence(tmp_path: Path, pack: Any) -> None:
    whole = pack(os.urandom(5000))
    for data in (whole[: len(whole) // 2], whole[:30] + b"\xff" * 8 + whole[38:], whole[:6]):
        file = tmp_path / "bad.jsonl"
        file.write_bytes(data)
        with pytest.raises(PredictionError, match=r"bad\.jsonl"):
            receive(file)


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_what_unpacks_to_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Any) -> None:
    monkeypatch.setattr(received, "MAX_UNPACKED", 1 << 20)
    file = tmp_path / "bomb.jsonl.gz"
    file.write_bytes(pack(b" " * (8 << 20)))
    with pytest.raises(PredictionError, match="holds more than 0 GiB; split it"):
        receive(file)


def test_a_named_pipe_is_read_once_and_scored(tmp_path: Path, perfect: Path, key: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(gzip.compress(perfect.read_bytes())))
    writer.start()
    assert score(pipe, data=key).cell().metrics["exact"].value == 1.0
    writer.join()


def test_a_pipe_to_which_nobody_writes_does_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(received, "WAIT_SECONDS", 0.2)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PredictionError, match=r"is a pipe to which nobody wrote for 0\.2 seconds"):
        receive(tmp_path / "pipe")


@pytest.mark.process
def test_standard_input(perfect: Path, key: Path) -> None:
    command = [sys.executable, "-m", "vcrgen", "score", "-", "--data", str(key), "--format", "csv"]
    with perfect.open("rb") as source:
        done = subprocess.run(command, stdin=source, capture_output=True, check=True, cwd=perfect.parent)
    assert b"\nstandard input,,-,stacked,,,exact,100.0," in done.stdout
    assert not list(perfect.parent.glob("*.scores.json")), "there is no file to write beside"


def test_empty_standard_input(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(PredictionError, match="standard input is empty"):
        score("-", data=key)


def test_nothing_is_left_behind(perfect: Path, key: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    packed = perfect.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(perfect.read_bytes()))
    session = Session(key, ScoreOptions())
    opened = receive(packed)
    assert session.score(opened).cells and list(scratch.iterdir())
    del opened
    assert not list(scratch.iterdir())
    receive(perfect)
    assert not list(scratch.iterdir())


def test_a_plain_file_needs_no_temporary_folder(perfect: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """There may be none, as on a full disk."""
    monkeypatch.setattr(received.tempfile, "tempdir", str(tmp_path / "nowhere"))
    assert receive(perfect).path == perfect
    perfect.with_suffix(".gz").write_bytes(gzip.compress(perfect.read_bytes()))
    with pytest.raises(PredictionError, match=r"no room for a copy of \S+perfect.gz in the temporary folder"):
        receive(perfect.with_suffix(".gz"))


def test_other_things_that_are_no_file(tmp_path: Path) -> None:
    for file, sentence in (
        (tmp_path, "is a folder; name the file of outputs in it"),
        (tmp_path / "none", "No such file"),
    ):
        with pytest.raises(PredictionError, match=sentence):
            receive(file)
