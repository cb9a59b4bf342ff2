"""Files as they came: kept once, whole, under their hash, and nothing that is packed."""

import bz2
import gzip
import hashlib
import io
import lzma
import pickle
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from vcrgen.core.errors import LeaderboardError
from vcrgen.leaderboard.board import StoredFile, Vault

MOST = 1 << 20


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def zipped(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, "x")
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("preds.jsonl"))
    return out.getvalue()


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"question_id": ["a"], "output": ["b"]}), out)
    return out.getvalue()


# Content that is packed, and what a refusal calls it.
PACKED: dict[str, tuple[Callable[[], bytes], str]] = {
    "zip": (lambda: zipped("preds.jsonl"), "a zip archive"),
    "xlsx": (lambda: zipped("xl/workbook.xml"), "a zip archive or an xlsx table"),
    "empty zip": (lambda: b"PK\x05\x06" + bytes(18), "a zip archive"),
    "gzip": (lambda: gzip.compress(b"{}"), "compressed with gzip"),
    "bzip2": (lambda: bz2.compress(b"{}"), "compressed with bzip2"),
    "xz": (lambda: lzma.compress(b"{}"), "compressed with xz"),
    "zstd": (lambda: b"\x28\xb5\x2f\xfd\x20\x02\x11\x00\x00{}", "compressed with zstd"),
    "lz4": (lambda: b"\x04\x22\x4d\x18" + bytes(20), "compressed with lz4"),
    "7z": (lambda: b"7z\xbc\xaf\x27\x1c" + bytes(20), "a 7z archive"),
    "rar": (lambda: b"Rar!\x1a\x07\x01\x00" + bytes(20), "a rar archive"),
    "tar": (tarred, "a tar archive"),
    "Parquet": (parquet, "a Parquet file"),
    "xls": (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(20), "an old Excel table"),
    "pickle": (lambda: pickle.dumps({"question_id": "a"}), "a pickle"),
    "old binary pickle": (lambda: pickle.dumps([1], protocol=2), "a pickle"),
}


class Slow(io.RawIOBase):
    """A stream that gives a byte at a time, as a network may."""

    def __init__(self, content: bytes) -> None:
        self._rest = io.BytesIO(content)

    def read(self, size: int = -1) -> bytes:
        return self._rest.read(1)


def test_a_file_is_kept_under_its_hash(tmp_path: Path) -> None:
    vault, content = Vault(tmp_path), b'{"question_id": 1}\n' * 1000
    kept = vault.store(io.BytesIO(content), most=MOST)
    assert kept == StoredFile(hashlib.sha256(content).hexdigest(), len(content))
    assert vault.path(kept.sha256).read_bytes() == content
    assert files(tmp_path) == [vault.path(kept.sha256)]


def test_the_same_content_is_stored_once(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    first = vault.store(io.BytesIO(b"{}"), most=MOST)
    path = vault.path(first.sha256)
    before = path.stat()
    path.chmod(0o400)
    assert vault.store(io.BytesIO(b"{}"), most=MOST) == first
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert files(tmp_path) == [path]


@pytest.mark.parametrize("kind", PACKED)
@pytest.mark.parametrize("stream", [io.BytesIO, Slow])
def test_what_is_packed_is_refused(kind: str, stream: Callable[[bytes], Any], tmp_path: Path) -> None:
    make, called = PACKED[kind]
    with pytest.raises(LeaderboardError, match=f"The file is {called}.*; boards take plain text only"):
        Vault(tmp_path).store(stream(make()), most=MOST)
    assert files(tmp_path) == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ['{"question_id": "é"}', "[]", "question_id,output"])
def test_utf16_is_refused_with_what_to_do(encoding: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(LeaderboardError, match=r"UTF-16 text, .*; save it as UTF-8"):
        Vault(tmp_path).store(Slow(text.encode(encoding)), most=MOST)
    assert files(tmp_path) == []


@pytest.mark.parametrize("content", [b'{"a": 1}', b"a,b\n", b"\xef\xbb\xbf{}", b"x" * 300, b"7", b"R", b"\n" * 600])
@pytest.mark.parametrize("stream", [io.BytesIO, Slow])
def test_text_is_kept(content: bytes, stream: Callable[[bytes], Any], tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    kept = vault.store(stream(content), most=MOST)
    assert vault.path(kept.sha256).read_bytes() == content


def test_an_endless_stream_is_not_read_to_its_end(tmp_path: Path) -> None:
    class Endless(io.RawIOBase):
        given = 0

        def read(self, size: int = -1) -> bytes:
            assert 0 < size <= MOST
            self.given += size
            return b"x" * size

    stream: Any = Endless()
    with pytest.raises(LeaderboardError, match="larger than 3 MiB"):
        Vault(tmp_path).store(stream, most=3 * MOST)
    assert stream.given <= 4 * MOST
    assert files(tmp_path) == []


def test_a_file_may_be_as_large_as_the_limit(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    assert vault.store(io.BytesIO(b"x" * MOST), most=MOST).bytes == MOST
    with pytest.raises(LeaderboardError, match="larger than 1 MiB"):
        vault.store(io.BytesIO(b"y" * (MOST + 1)), most=MOST)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LeaderboardError, match="The file is empty"):
        Vault(tmp_path).store(io.BytesIO(), most=MOST)
    assert files(tmp_path) == []


def test_an_upload_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    class Broken(io.RawIOBase):
        reads = 0

        def read(self, size: int = -1) -> bytes:
            self.reads += 1
            if self.reads == 3:
                raise ConnectionError
            return b"x" * 1000

    stream: Any = Broken()
    with pytest.raises(ConnectionError):
        Vault(tmp_path).store(stream, most=MOST)
    assert files(tmp_path) == []


@pytest.mark.parametrize("stage", ["vcrgen.leaderboard.board.fsync", "pathlib.Path.replace"])
def test_a_crash_before_the_file_is_in_its_place_leaves_no_half_file(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise OSError("the disk is full")

    vault = Vault(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(stage, crash)
        with pytest.raises(OSError, match="the disk is full"):
            vault.store(io.BytesIO(b"{}"), most=MOST)
    assert files(tmp_path) == []
    assert vault.path(vault.store(io.BytesIO(b"{}"), most=MOST).sha256).read_bytes() == b"{}"


@pytest.mark.parametrize(
    "name", ["", "0" * 63, "0" * 65, "A" * 64, "g" * 64, "../" + "0" * 61, "0" * 64 + "\n", "/etc/passwd", "٠" * 64]
)
def test_only_a_hash_has_a_path(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a SHA-256"):
        Vault(tmp_path).path(name)
