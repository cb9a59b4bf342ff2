"""A manifest is read back as it was written; what is none is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from vcrgen.core.errors import DatasetError
from vcrgen.core.files import write_json
from vcrgen.core.signature import Signature
from vcrgen.data.manifest import DatasetFile, Manifest, read_manifest, write_manifest

FILE = DatasetFile(path="easy/train-0.parquet", mode="easy", split="train", rows=1, bytes=2, sha256="00")
MANIFEST = Manifest(
    fingerprint="f", signature=Signature({"lang": "en"}), source="s", config={}, read=1, rejected={}, files=(FILE,)
)


@pytest.mark.parametrize("path", ["easy/train-0.parquet", "easy/017/train-0.parquet"])
def test_a_manifest_is_read_back(tmp_path: Path, path: str) -> None:
    manifest = replace(MANIFEST, files=(replace(FILE, path=path),))
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/etc/passwd",
            "../x",
            "easy/../../x",
            "easy/a/b",
            "easy/..",
            "easy\\x",
            "hard/x",
            "easy/",
            "easy",
            "easy/a\\b",
        ),
        *("easy/000/", "easy/00a/x", "easy/-1/x", "easy/٣/x", "easy/0/0/x", "hard/000/x", "easy//x", "/easy/x"),
    ],
)
def test_a_path_of_a_manifest_is_not_trusted(tmp_path: Path, path: str) -> None:
    values = {"signature": "lang:en", "fingerprint": "f", "source": "s", "config": {}, "read": 1, "rejected": {}}
    file = {"path": path, "mode": "easy", "split": "train", "rows": 1, "bytes": 2, "sha256": "00"}
    write_json(tmp_path / "manifest.json", values | {"files": [file]})
    with pytest.raises(DatasetError, match="damaged"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"signature": 5}', "[" * 100_000])
def test_damaged_manifests(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(DatasetError, match="damaged"):
        read_manifest(tmp_path)
    with pytest.raises(DatasetError, match="not a dataset"):
        read_manifest(tmp_path / "elsewhere")
