"""Folders of a disk and of a store keep the same promises."""

import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fsspec
import pytest
from s3fs import S3FileSystem

from vcrgen.core.storage import BucketFolder, DiskFolder, Folder, StorageError, open_folder, remote_url


@pytest.fixture(params=["disk", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    """An empty folder of each kind."""
    if request.param == "disk":
        made: Folder = DiskFolder(tmp_path / "folder")
    else:
        made = BucketFolder(f"s3://{request.getfixturevalue('store').bucket()}/some/folder")
    made.make()
    return made


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("s3://bucket/a/b", "s3://bucket/a/b"),
        ("s3://bucket/a/b//", "s3://bucket/a/b"),
        ("s3:/bucket/a", "s3://bucket/a"),
        ("gs://bucket", "gs://bucket"),
        ("hf://datasets/org/name@main/data", "hf://datasets/org/name@main/data"),
        *[(text, None) for text in ("a/b", "/s3://x", "s3:", "s3://", "s3:///x", "S3://x", "ftp://x/y", "data:x")],
        *[(text, None) for text in ("simplecache::s3://x/y", "memory://x", "file:///etc", "http://x/y")],
    ],
)
def test_what_is_a_url(text: str, url: str | None) -> None:
    assert remote_url(text) == url
    assert isinstance(open_folder(text), BucketFolder if url else DiskFolder)


def test_an_empty_name_is_no_folder() -> None:
    """Neither an address nor the current folder."""
    assert remote_url("") is None
    with pytest.raises(StorageError, match="its name is empty"):
        open_folder("")


def test_a_path_has_lost_a_slash() -> None:
    assert str(open_folder(Path("s3://bucket/a"))) == "s3://bucket/a"


def test_a_folder_inside_stays_where_it_is_in_another_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers of a cluster start elsewhere, and made files in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    folder = DiskFolder(Path("out"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    inside = pickle.loads(pickle.dumps(folder)).subfolder("work").subfolder("final")
    assert inside.local_path == tmp_path / "out/work/final" and str(inside) == str(Path("out/work/final"))


def test_what_is_written_is_there(folder: Folder) -> None:
    assert folder.entries() == [] and folder.size("a.txt") is None
    folder.subfolder("deep").make()
    folder.write_text("a.txt", "字\n")
    folder.write_json("deep/b.json", {"b": 1, "a": "é"})
    assert folder.entries() == ["a.txt", "deep"] and folder.glob("*") == ["a.txt"]
    assert folder.size("a.txt") == 4 and folder.size("deep") is None and folder.size("deep/none") is None
    assert folder.read_text("a.txt") == "字\n"
    assert folder.subfolder("deep").read_text("b.json") == '{\n "a": "é",\n "b": 1\n}\n'
    assert folder.sha256("a.txt") == "bcdd2585c1ab3e122bdb3c23ebdfaeca6b643f6011ce2bf567eefbc3e3c6b22c"
    with pytest.raises(FileNotFoundError):
        folder.read_text("none")


@pytest.mark.parametrize("ahead", [True, False])
def test_reading_from_anywhere(folder: Folder, ahead: bool) -> None:
    data = bytes(range(256)) * 100
    with folder.writing("data") as file:
        file.write_bytes(data)
    for opened in (folder, pickle.loads(pickle.dumps(folder))):
        with opened.open("data", ahead=ahead) as handle:
            assert handle.read(3) == data[:3]
            handle.seek(1000)
            assert handle.read(256) == data[1000:1256] and handle.tell() == 1256
            handle.seek(-5, 2)
            assert handle.read() == data[-5:] and handle.read(1) == b""


def test_an_error_while_writing_leaves_what_was_there(folder: Folder) -> None:
    folder.write_text("a", "old")
    with pytest.raises(RuntimeError), folder.writing("a") as file:
        file.write_text("ne")
        raise RuntimeError
    assert folder.read_text("a") == "old" and folder.entries() == ["a"]


def test_one_of_many_creates_a_file(folder: Folder) -> None:
    assert folder.create("plan", "first")
    assert not folder.create("plan", "second")
    assert folder.read_text("plan") == "first"


def test_a_store_lets_one_of_many_win(store: Any) -> None:
    folder = BucketFolder(f"s3://{store.bucket()}/race")
    ready = threading.Barrier(8)

    def race(number: int) -> bool:
        ready.wait()
        return folder.create("plan", str(number))

    with ThreadPoolExecutor(8) as threads:
        won = list(threads.map(race, range(8)))
    assert sum(won) == 1 and folder.read_text("plan") == str(won.index(True))


def test_bringing_and_removing(folder: Folder) -> None:
    folder.subfolder("from").make()
    folder.subfolder("to").make()
    folder.write_text("from/a", "x")
    folder.write_text("from/b", "y")
    folder.transfer("from/a", folder.subfolder("to"), "c")
    assert (folder.size("from/a") is None) == isinstance(folder, DiskFolder) and folder.read_text("to/c") == "x"
    folder.subfolder("from").remove()
    folder.subfolder("from").remove()  # that it is not there any more is no error
    assert folder.subfolder("from").entries() == [] and folder.read_text("to/c") == "x"


def test_a_neighbour_with_the_same_beginning_is_left_alone(store: Any) -> None:
    bucket = store.bucket()
    store.put(bucket, "vcr-2/a", b"x")
    folder = BucketFolder(f"s3://{bucket}/vcr")
    folder.write_text("b", "y")
    assert folder.entries() == ["b"]
    folder.remove()
    assert store.objects(bucket) == {"vcr-2/a": b"x"}


def test_what_another_process_did_is_seen(store: Any) -> None:
    bucket = store.bucket()
    folder = BucketFolder(f"s3://{bucket}/vcr")
    assert folder.entries() == [] and folder.size("a") is None
    store.put(bucket, "vcr/a", b"x")
    assert folder.entries() == ["a"] and folder.size("a") == 1
    store.put(bucket, "vcr/a", b"longer")
    assert folder.size("a") == 6 and folder.read_text("a") == "longer"


@pytest.mark.parametrize(
    ("size", "pattern"), [(300_000, "PUT"), pytest.param(101 << 20, "PUT .*partNumber=2", marks=pytest.mark.sweep)]
)
def test_a_put_that_fails_half_way(store: Any, proxy: Any, size: int, pattern: str) -> None:
    bucket = store.bucket()
    folder = BucketFolder(f"s3://{bucket}/vcr")
    proxy.break_off(pattern, after=100_000)
    with pytest.raises(StorageError, match=rf"s3://{bucket}/vcr/part: \S"), folder.writing("part") as file:
        file.write_bytes(b"x" * size)
    assert proxy.broken and store.objects(bucket) == {}
    assert "Uploads" not in store.client().list_multipart_uploads(Bucket=bucket)  # which would cost and not be seen
    proxy.break_off(pattern, after=1000, times=1)
    with folder.writing("part") as file:
        file.write_bytes(b"x" * size)
    assert folder.size("part") == size  # one broken connection is not the end


def become_a_stranger(store: Any, environment: pytest.MonkeyPatch) -> None:
    user = store.client("iam")
    user.create_user(UserName="stranger")
    key = user.create_access_key(UserName="stranger")["AccessKey"]
    environment.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
    environment.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])


def test_without_rights(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = store.bucket()
    store.put(bucket, "vcr/a", b"x")
    become_a_stranger(store, monkeypatch)
    folder = BucketFolder(f"s3://{bucket}/vcr")
    asked: list[Callable[[], Any]] = [
        folder.entries,
        folder.remove,
        lambda: folder.size("a"),
        lambda: folder.read_text("a"),
        lambda: folder.write_text("b", "y"),
        lambda: folder.create("b", "y"),
        lambda: folder.glob("*"),
    ]
    with store.checking_rights():
        for ask in asked:
            with pytest.raises(StorageError, match=f"s3://{bucket}/vcr/.*: access denied"):
                ask()
    assert store.objects(bucket) == {"vcr/a": b"x"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_after_a_fork(store: Any) -> None:
    """As in the workers of a data loader, whose parent has read before."""
    folder = BucketFolder(f"s3://{store.bucket()}/vcr")
    folder.write_text("a", "x")
    assert folder.read_text("a") == "x"
    child = multiprocessing.get_context("fork").Process(target=folder.write_text, args=("b", "y"))
    child.start()
    child.join(300)
    assert child.exitcode == 0 and folder.read_text("b") == "y"


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:1", "Could not connect to the endpoint"),
        ("AWS_ACCESS_KEY_ID", None, "Unable to locate credentials"),
    ],
)
def test_nobody_to_ask(
    store: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str, value: str | None, message: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr(S3FileSystem, "retries", 2)
    if value is None:
        monkeypatch.delenv(variable)
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    else:
        monkeypatch.setenv(variable, value)
    with pytest.raises(StorageError, match=message):
        BucketFolder("s3://bucket/vcr").size("a")


def test_no_such_bucket(store: Any) -> None:
    folder = BucketFolder("s3://no-such-bucket/vcr")
    assert folder.entries() == [] and folder.size("a") is None
    with pytest.raises(StorageError, match="bucket does not exist"):
        folder.write_text("a", "x")
    with pytest.raises(StorageError, match="bucket does not exist"):
        folder.create("a", "x")


@pytest.mark.parametrize(("scheme", "package"), [("s3", "s3fs"), ("gs", "gcsfs")])
def test_a_library_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, scheme: str, package: str) -> None:
    def missing(*args: Any, **options: Any) -> None:
        raise ImportError("Install x to access y")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(StorageError, match=rf'^{scheme}:// needs .*pip install "{package}>='):
        BucketFolder(f"{scheme}://bucket/vcr").size("a")
