"""Builds that read from and write to an object store: the same bytes as on a disk, whatever breaks."""

import json
import os
import signal
import time
from collections.abc import Callable
from itertools import chain
from typing import Any

import pytest

from tests.builder.conftest import Stop, stops, write_pairs
from tests.forked import Python
from tests.making import files_of, tar_of
from tests.standing import stands_at
from vcrgen.builder import run as run_module
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.run import WORK, build
from vcrgen.builder.sources import open_source
from vcrgen.core.errors import OutputError, SourceError
from vcrgen.core.storage import BucketFolder

SAMPLES = "samples:12"
OPTIONS = {"mode": "hard", "splits": "train=...,validation=2", "shard_size": 4, "width": 160, "font_size": 12}
WORDS = ["build", SAMPLES]
for option, value in OPTIONS.items():
    WORDS += [f"--{option.replace('_', '-')}", str(value)]
COMMAND = ["vcrgen", *WORDS]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every file of a build on a disk."""
    out = tmp_path_factory.mktemp("reference") / "out"
    build(SAMPLES, out=out, **OPTIONS)
    return files_of(out)


@pytest.fixture
def out(store: Any) -> str:
    """A place in an empty bucket."""
    return f"s3://{store.bucket()}/some/vcr"


@pytest.fixture
def there(store: Any) -> Callable[[str], dict[str, bytes]]:
    """Every object below a URL."""

    def objects(url: str) -> dict[str, bytes]:
        bucket, _, prefix = url.removeprefix("s3://").partition("/")
        found: dict[str, bytes] = store.objects(bucket, f"{prefix}/" if prefix else "")
        return found

    return objects


There = Callable[[str], dict[str, bytes]]
Run = Callable[..., tuple[int, str, str]]


def test_the_same_bytes_as_on_a_disk(reference: dict[str, bytes], out: str, there: There) -> None:
    result = build(SAMPLES, out=out, **OPTIONS)
    assert there(out) == reference
    assert result.path == out and not result.was_complete
    assert build(SAMPLES, out=out, **OPTIONS).was_complete
    assert there(out) == reference


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_killed_and_run_again(reference: dict[str, bytes], out: str, there: There) -> None:
    words = [*WORDS, "--out", out, "--workers", "2"]
    process = stands_at(12, *words)
    manifests = BucketFolder(f"{out}/{WORK}/manifests")
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline and len(manifests.entries()) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert "_SUCCESS" not in there(out) and "manifest.json" not in there(out)
    done = Python(*COMMAND, "--out", out).result()
    assert done.returncode == 0 and "Going on with an earlier run" in done.stderr, done.stderr
    assert f"{out} is complete" in done.stdout
    assert there(out) == reference


def test_stopped_while_assembling(
    reference: dict[str, bytes], out: str, there: There, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(run_module, "make_file", stops(run_module.make_file, after=1))
        patch.setattr(run_module, "write_manifest", stops(run_module.write_manifest))
        with pytest.raises(Stop):
            build(SAMPLES, out=out, **OPTIONS)
    left = there(out)
    assert not {"_SUCCESS", "manifest.json"} & set(left)
    assert all(left[name] == data for name, data in reference.items() if name in left)  # whole, if there
    with pytest.raises(OutputError, match="unfinished build with other splits"):
        build(SAMPLES, out=out, **OPTIONS | {"splits": "train=..."})
    build(SAMPLES, out=out, **OPTIONS)
    assert there(out) == reference


@pytest.mark.parametrize("pattern", [r"PUT \S+/parts/00002-hard", r"PUT \S+/_SUCCESS"])
def test_a_put_that_fails_half_way(
    reference: dict[str, bytes], out: str, there: There, proxy: Any, pattern: str
) -> None:
    """Again and again, so that the build ends; and a single time, so that it goes on."""
    proxy.break_off(pattern, after=600)
    with pytest.raises(OutputError) as error:
        build(SAMPLES, out=out, **OPTIONS)
    assert f"{out} cannot be written: {out}/" in str(error.value) and "\n" not in str(error.value)
    left = there(out)
    assert proxy.broken and "_SUCCESS" not in left
    assert all(left[name] == data for name, data in reference.items() if name in left)
    finished = {name for name in left if "/manifests/" in name}
    for name in finished:
        facts = json.loads(left[name])
        for mode, size in facts["bytes"].items():
            part = f"{WORK}/parts/{facts['index']:05d}-{mode}.parquet"
            assert part not in left or len(left[part]) == size
    proxy.break_off(pattern, after=600, times=1)
    build(SAMPLES, out=out, **OPTIONS)
    assert there(out) == reference


@pytest.mark.process
def test_two_builds_of_one_plan_at_once(reference: dict[str, bytes], out: str, there: There) -> None:
    both = [Python(*COMMAND, "--out", out) for _ in range(2)]
    results = [process.result() for process in both]
    assert [result.returncode for result in results] == [0, 0], results
    assert there(out) == reference


@pytest.mark.process
def test_two_builds_of_different_plans_at_once(reference: dict[str, bytes], out: str, there: There, run: Run) -> None:
    commands = [[*COMMAND, "--out", out], [*COMMAND, "--out", out, "--seed", "1"]]
    both = [Python(*command) for command in commands]
    results = [process.result() for process in both]
    codes = [result.returncode for result in results]
    assert sorted(codes) == [0, 2], results
    refused = results[codes.index(2)].stderr
    assert "unfinished build of another" in refused or "another finished dataset" in refused
    assert (there(out) == reference) == (codes[0] == 0)
    assert "was complete already" in run(*commands[codes.index(0)][1:])[1]


def test_a_build_that_another_one_has_overtaken(
    reference: dict[str, bytes], out: str, there: There, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work folder goes away in the middle: the other build's dataset is taken."""
    real = run_module.plan_assembly

    def late(*args: Any, **kwargs: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(run_module, "plan_assembly", real)
            build(SAMPLES, out=out, **OPTIONS)
        return real(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(run_module, "plan_assembly", late)
        assert build(SAMPLES, out=out, **OPTIONS).path == out
    assert there(out) == reference


def test_a_place_that_is_taken(store: Any, out: str, there: There) -> None:
    with BucketFolder(out).writing("thesis.txt") as file:
        file.write_text("mine")
    with pytest.raises(OutputError, match="is not empty and not an unfinished build"):
        build(SAMPLES, out=out, **OPTIONS)
    assert there(out) == {"thesis.txt": b"mine"}


def test_what_cannot_be_built_in(store: Any, monkeypatch: pytest.MonkeyPatch, out: str, run: Run) -> None:
    from s3fs import S3FileSystem

    with pytest.raises(OutputError, match="hf upload"):
        build("samples:4", out="hf://datasets/me/vcr")
    with pytest.raises(OutputError, match=r"s3://no-such-bucket/x cannot be written: .*bucket does not exist"):
        build("samples:4", out="s3://no-such-bucket/x")
    user = store.client("iam")
    user.create_user(UserName="builder")
    key = user.create_access_key(UserName="builder")["AccessKey"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])
    S3FileSystem.clear_instance_cache()
    with store.checking_rights():
        code, _, err = run("build", "samples:4", "--out", out)
    assert code == 2 and f"{out} cannot be written" in err and "access denied" in err and "Traceback" not in err


# Sources


@pytest.fixture(scope="module")
def pairs(store_server: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A bucket with the same pairs as Parquet, WebDataset and JSON lines."""
    store = store_server
    bucket = store.bucket()
    data = write_pairs(tmp_path_factory.mktemp("pairs") / "pairs.parquet").read_bytes()
    store.put(bucket, "parquet/a-00.parquet", data)
    store.put(bucket, "parquet/a-01.parquet", data)
    store.put(bucket, "parquet/_hidden.parquet", b"")
    store.put(bucket, "nested/data/b.parquet", data)
    images = ((f"{number:05d}.jpg", b"x" * 5000) for number in range(300))
    captions = ((f"{number:05d}.txt", f"caption {number}".encode()) for number in range(300))
    store.put(bucket, "tar/shard-0.tar", tar_of(chain.from_iterable(zip(images, captions, strict=True))))
    store.put(bucket, "lines/a.jsonl", b"".join(b'{"caption": "%d"}\n' % number for number in range(700)))
    return f"s3://{bucket}"


@pytest.mark.parametrize(
    ("name", "files", "rows"),
    [
        ("parquet/*.parquet", ["_hidden.parquet", "a-00.parquet", "a-01.parquet"], None),
        ("parquet/a-*.parquet", ["a-00.parquet", "a-01.parquet"], 30),
        ("parquet/a-{00..01}.parquet", ["a-00.parquet", "a-01.parquet"], 30),
        ("parquet", ["a-00.parquet", "a-01.parquet"], 30),
        ("parquet/a-01.parquet", ["a-01.parquet"], 15),
        ("**/b.parquet", ["nested/data/b.parquet"], 15),
        ("tar", ["shard-0.tar"], 300),
        ("lines/a.jsonl", ["a.jsonl"], 700),
    ],
)
@pytest.mark.usefixtures("store")
def test_sources(pairs: str, name: str, files: list[str], rows: int | None) -> None:
    source = open_source(BuildConfig(source=f"{pairs}/{name}"))
    assert list(source.files) == files  # type: ignore[attr-defined]
    if rows is None:
        with pytest.raises(SourceError, match=rf"{pairs}/parquet/_hidden\.parquet cannot be read"):
            source.partitions()
        return
    partitions = source.partitions()
    assert sum(partition.rows for partition in partitions) == rows
    last = partitions[-1].rows - 1
    (row,) = source.rows(len(partitions) - 1, [last], frozenset({"caption"}))
    assert row["caption"] is not None


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3://buck*/x.parquet", "wildcard in the name of its bucket"),
        ("s3://no-such-bucket/x.parquet", "is no file, and no folder"),
        ("{pairs}/none.parquet", "is no file, and no folder"),
        ("{pairs}/none-*.parquet", "No file matches"),
        ("{pairs}/parquet/a-{{00..02}}.parquet", r"a-02\.parquet is missing"),
        ("{pairs}/*/a*", "mixes formats"),
        ("{pairs}", "is no file, and no folder"),
    ],
)
@pytest.mark.usefixtures("store")
def test_sources_that_are_none(pairs: str, url: str, message: str) -> None:
    with pytest.raises(SourceError, match=message) as error:
        open_source(BuildConfig(source=url.format(pairs=pairs)))
    assert "\n" not in str(error.value)


def test_a_source_without_rights(store: Any, pairs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from s3fs import S3FileSystem

    source = open_source(BuildConfig(source=f"{pairs}/parquet/a-*.parquet"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "nobody")
    S3FileSystem.clear_instance_cache()
    with store.checking_rights():
        for name in ("parquet/a-*.parquet", "parquet", "parquet/a-00.parquet"):
            with pytest.raises(SourceError, match=r"cannot be read: .*access denied"):
                open_source(BuildConfig(source=f"{pairs}/{name}"))
    assert source.partitions()  # as the first account


def test_a_store_that_goes_away_is_no_damaged_row(store: Any, pairs: str, proxy: Any) -> None:
    config = BuildConfig(source=f"{pairs}/parquet/a-*.parquet")
    source = open_source(config)
    source.partitions()
    proxy.break_off("GET .*a-01", after=0)
    with pytest.raises(SourceError, match=r"a-01\.parquet cannot be read"):
        list(source.rows(1, range(13), frozenset({"image", "caption"})))
    proxy.break_off("GET .*a-01", after=0, times=1)
    assert len(list(source.rows(1, range(13), frozenset({"image", "caption"})))) == 13
