"""Spark: the same bytes as one process, and sentences."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.builder import run
from vcrgen.builder.run import build
from vcrgen.errors import EngineError, SourceError, VcrgenError, WorkerError
from vcrgen.work.progress import ProgressListener

Tree = Callable[[Path], dict[str, str]]
Options = dict[str, Any]


@pytest.fixture
def java() -> None:
    pytest.importorskip("pyspark", reason="needs vcrgen[spark]")
    try:
        subprocess.run(["java", "-version"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs Java")


@pytest.mark.usefixtures("java")
def test_spark_errors_are_sentences(pairs_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for master, sentence in (
        (None, "needs --master"),
        ("nonsense", "does not start with the master 'nonsense'"),
    ):
        with pytest.raises(EngineError, match=sentence):
            build("samples:8", out=tmp_path / "out", engine="spark", master=master)
        assert not (tmp_path / "out").exists()

    def crashing(*arguments: Any) -> Any:
        def work(task: Any, report: Any) -> Any:
            os.abort()

        return work

    class Removing(ProgressListener):
        def begin(self, total: int, done: int) -> None:
            pairs_file.unlink()

    with pytest.raises(SourceError, match="cannot be read"):
        build(pairs_file, out=tmp_path / "out", engine="spark", master="local[1]", listener=Removing())
    monkeypatch.setattr(run, "_shard_worker", crashing)
    with pytest.raises(WorkerError, match=r"Spark gave up on a shard.*run the same command again") as caught:
        build("samples:8", out=tmp_path / "other", engine="spark", master="local[1]")
    assert isinstance(caught.value, VcrgenError)


@pytest.mark.usefixtures("java")
def test_spark_gives_the_bytes_of_one_process(
    tree: Tree, reference: Path, options: Options, listener: Any, tmp_path: Path
) -> None:
    build(out=tmp_path / "out", engine="spark", master="local[2]", listener=listener, **options)
    assert tree(tmp_path / "out") == tree(reference) and listener.read == 48


@pytest.mark.usefixtures("java")
def test_spark_from_bucket_to_bucket(bucket_to_bucket: Any) -> None:
    built, expected = bucket_to_bucket("--engine", "spark", "--master", "local[2]")
    assert built == expected
