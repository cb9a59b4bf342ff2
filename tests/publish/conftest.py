"""Small datasets of the built-in pairs, whole and tampered with."""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vcrgen.builder.run import build
from vcrgen.builder.schema import arrow_schema
from vcrgen.files import sha256_file
from vcrgen.manifest import read_manifest, write_manifest

Rows = list[dict[str, Any]]
Change = Callable[[str, Rows], Rows]


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six English pairs in both modes, in four files."""
    out = tmp_path_factory.mktemp("publish") / "vcr-en"
    build("samples", out=out, limit=6, splits="test=2,train=...")
    return out


@pytest.fixture(scope="session")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Chinese pairs, hard only."""
    out = tmp_path_factory.mktemp("publish") / "vcr-zh"
    build("samples", out=out, limit=6, lang="zh", mode="hard")
    return out


@pytest.fixture
def tampered(dataset: Path, tmp_path: Path) -> Callable[[Change], Path]:
    """Makes a copy of the dataset with other rows, under a manifest that agrees with them."""

    def tamper(change: Change) -> Path:
        copy = tmp_path / "tampered"
        shutil.copytree(dataset, copy)
        manifest = read_manifest(copy)
        files = []
        for file in manifest.files:
            path = copy / file.path
            rows = change(file.mode, pq.read_table(path).to_pylist())
            pq.write_table(pa.Table.from_pylist(rows, schema=arrow_schema()), path)
            size, sha256 = path.stat().st_size, sha256_file(path)
            files.append(dataclasses.replace(file, rows=len(rows), bytes=size, sha256=sha256))
        write_manifest(copy, dataclasses.replace(manifest, files=tuple(files)))
        return copy

    return tamper
