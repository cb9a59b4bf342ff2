"""One small job, and what an engine has to make of it."""

import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.builder.run import build
from vcrgen.work.progress import ProgressListener

Tree = Callable[[Path], dict[str, str]]
Trees = tuple[dict[str, str], dict[str, str]]


@pytest.fixture(scope="session")
def options() -> dict[str, Any]:
    """Options of the build."""
    return {"source": "samples:48", "splits": "train=...,test=6", "mode": "hard", "shard_size": 8}


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory, options: dict[str, Any]) -> Path:
    """It, by one process."""
    out = tmp_path_factory.mktemp("reference") / "out"
    build(out=out, **options)
    return out


class Counting(ProgressListener):
    def __init__(self) -> None:
        self.read = self.built = 0

    def advance(self, read: int, built: int, rejected: Counter[str]) -> None:
        self.read += read
        self.built += built


@pytest.fixture
def listener() -> Counting:
    """Adds up what an engine reports."""
    return Counting()


@pytest.fixture
def bucket_to_bucket(store: Any, pairs_file: Path, tree: Tree, tmp_path: Path) -> Callable[..., Trees]:
    """Builds with an engine from bucket to bucket: the hashes of what that gives, and of what a build on a disk gives.

    By a process of its own: Spark's would not see the store's settings if they came after it was started.
    """

    def both(*engine: str) -> Trees:
        bucket = store.bucket()
        store.put(bucket, "pairs/pairs.parquet", pairs_file.read_bytes())
        words = ["build", f"s3://{bucket}/pairs/*.parquet", "--out", f"s3://{bucket}/vcr", "--shard-size", "7", *engine]
        done = subprocess.run([sys.executable, "-m", "vcrgen", *words], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        build(f"{pairs_file.parent}/*.parquet", out=tmp_path / "out", shard_size=7)
        found = {name: hashlib.sha256(data).hexdigest() for name, data in store.objects(bucket, "vcr/").items()}
        return found, tree(tmp_path / "out")

    return both
