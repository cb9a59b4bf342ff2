"""Ray and Spark: the same bytes as one process, and a sentence for what is not there or not alike."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vcrgen.builder import run
from vcrgen.builder.engines import EngineChoice, Job, open_engine
from vcrgen.builder.run import Watcher, build
from vcrgen.cli import app
from vcrgen.errors import ConfigError, EngineError, SourceError, VcrgenError, WorkerError
from vcrgen.storage import DiskFolder

Tree = Callable[[Path], dict[str, str]]
SAMPLES = "samples:48"
OPTIONS = {"splits": "train=...,test=6", "mode": "hard", "shard_size": 8}
MEMORY = 100 << 20


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reference") / "out"
    build(SAMPLES, out=out, **OPTIONS)
    return out


@pytest.fixture(scope="module")
def cluster(store_server: Any) -> Iterator[Any]:
    """A head that runs no tasks, and two machines of one processor; they know where the object store is."""
    pytest.importorskip("ray", reason="needs vcrgen[ray]")
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": MEMORY}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        cluster.add_node(num_cpus=1, object_store_memory=MEMORY, env_vars=store_server.settings)
    yield cluster
    cluster.shutdown()


class Counting(Watcher):
    def __init__(self) -> None:
        self.read = self.built = 0

    def advance(self, read: int, built: int, drops: Counter[str]) -> None:
        self.read += read
        self.built += built


def test_ray_gives_the_bytes_of_one_process(cluster: Any, tree: Tree, reference: Path, tmp_path: Path) -> None:
    watcher = Counting()
    result = build(SAMPLES, out=tmp_path / "out", engine="ray", address=cluster.address, watcher=watcher, **OPTIONS)
    assert tree(tmp_path / "out") == tree(reference)
    assert (watcher.read, watcher.built) == (48, result.manifest.pairs)


def test_ray_from_bucket_to_bucket(cluster: Any, store: Any, pairs_file: Path, tree: Tree, tmp_path: Path) -> None:
    from_bucket_to_bucket(store, pairs_file, tree, tmp_path, "--engine", "ray", "--address", cluster.address)


def from_bucket_to_bucket(store: Any, pairs_file: Path, tree: Tree, tmp_path: Path, *engine: str) -> None:
    """By a process of its own: Spark's would not see the store's settings if they came after it was started."""
    bucket = store.bucket()
    store.put(bucket, "pairs/pairs.parquet", pairs_file.read_bytes())
    words = ["build", f"s3://{bucket}/pairs/*.parquet", "--out", f"s3://{bucket}/vcr", "--shard-size", "4", *engine]
    done = subprocess.run([sys.executable, "-m", "vcrgen", *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    build(f"{pairs_file.parent}/*.parquet", out=tmp_path / "out", shard_size=4)
    found = {name: hashlib.sha256(data).hexdigest() for name, data in store.objects(bucket, "vcr/").items()}
    assert found == tree(tmp_path / "out")


def test_ray_from_the_command_line_in_a_relative_folder(
    cluster: Any, tree: Tree, reference: Path, tmp_path: Path
) -> None:
    words = f"build {SAMPLES} --engine ray --address {cluster.address} --out out --mode hard --shard-size 8"
    command = [sys.executable, "-m", "vcrgen", *words.split(), "--splits", str(OPTIONS["splits"])]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert tree(tmp_path / "out") == tree(reference)


def test_what_a_task_raises_is_the_sentence(cluster: Any, pairs_file: Path, tmp_path: Path) -> None:
    class Removing(Watcher):
        def begin(self, total: int, done: int) -> None:
            pairs_file.unlink()

    with pytest.raises(SourceError, match="cannot be read"):
        build(pairs_file, out=tmp_path / "out", engine="ray", address=cluster.address, watcher=Removing())


def test_a_machine_that_does_not_see_the_folder(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = run.Build._job
    elsewhere = tmp_path / "elsewhere"

    def job(self: run.Build, *arguments: Any) -> Job:
        made = real(self, *arguments)
        plan, config, source, _, expected = made.arguments
        work = DiskFolder(elsewhere / "work")
        return Job(make_worker=made.make_worker, arguments=(plan, config, source, work, expected))

    monkeypatch.setattr(run.Build, "_job", job)
    with pytest.raises(EngineError, match=f"does not see {elsewhere}"):
        build(SAMPLES, out=tmp_path / "out", engine="ray", address=cluster.address, **OPTIONS)
    assert not elsewhere.exists()


def test_a_process_that_would_give_other_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = run.Build._job

    def job(self: run.Build, *arguments: Any) -> Job:
        made = real(self, *arguments)
        *others, expected = made.arguments
        return Job(make_worker=made.make_worker, arguments=(*others, expected | {"freetype": "0.0"}))

    monkeypatch.setattr(run.Build, "_job", job)
    with pytest.raises(EngineError, match=r"has freetype .*, the driver 0\.0; install the same"):
        build(SAMPLES, out=tmp_path / "out", **OPTIONS)


def test_machines_with_other_versions_are_refused(cluster: Any, tmp_path: Path) -> None:
    """A machine with another Pillow joins: nothing is written."""
    other = tmp_path / "site" / "pillow-0.0.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: pillow\nVersion: 0.0.1\n")
    paths = [str(other.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {"PYTHONPATH": os.pathsep.join(paths)}
    node = cluster.add_node(num_cpus=1, object_store_memory=MEMORY, env_vars=environment)
    try:
        with pytest.raises(EngineError, match=r"has pillow 0\.0\.1, the driver .*; install the same versions"):
            build(SAMPLES, out=tmp_path / "out", engine="ray", address=cluster.address, **OPTIONS)
    finally:
        cluster.remove_node(node)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("127.0.0.1:1", "No Ray cluster answers at 127.0.0.1:1"),
        ("ray://127.0.0.1:10001", "run the build on a machine of the cluster"),
        ("127.0.0.1:none", "No Ray cluster answers"),
    ],
)
def test_an_unreachable_cluster(
    address: str,
    sentence: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("ray")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["vcrgen", "build", "samples:8", "--engine", "ray", "--address", address])
    with pytest.raises(SystemExit) as stop:
        app(prog_name="vcrgen")
    error = capsys.readouterr().err
    assert stop.value.code == 2 and sentence in error and "Traceback" not in error
    assert not list(tmp_path.iterdir())


def test_a_cluster_without_machines(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    alone = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        with pytest.raises(EngineError, match="no machine with a CPU"):
            build(SAMPLES, out=tmp_path / "out", engine="ray", address=alone.address)
    finally:
        alone.shutdown()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_an_engine_that_is_not_installed(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ray", "pyspark", "py4j.protocol"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(EngineError, match=rf'pip install "vcrgen\[{engine}\]"'):
        build("samples:8", out=tmp_path / "out", engine=engine)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"name": "dask"}, "no engine 'dask'; choose local, ray, spark"),
        ({"name": "ray", "workers": 2}, "--workers is an option of --engine local"),
        ({"address": "auto"}, "--address is an option of --engine ray"),
        ({"name": "ray", "master": "local"}, "--master is an option of --engine spark"),
    ],
)
def test_options_of_other_engines(choice: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=sentence):
        open_engine(EngineChoice(**choice), Job(make_worker=lambda: print, arguments=()))


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

    class Removing(Watcher):
        def begin(self, total: int, done: int) -> None:
            pairs_file.unlink()

    with pytest.raises(SourceError, match="cannot be read"):
        build(pairs_file, out=tmp_path / "out", engine="spark", master="local[1]", watcher=Removing())
    monkeypatch.setattr(run, "_shard_worker", crashing)
    with pytest.raises(WorkerError, match=r"Spark gave up on a shard.*run the same command again") as caught:
        build("samples:8", out=tmp_path / "other", engine="spark", master="local[1]")
    assert isinstance(caught.value, VcrgenError)


@pytest.mark.usefixtures("java")
def test_spark_gives_the_bytes_of_one_process(tree: Tree, reference: Path, tmp_path: Path) -> None:
    watcher = Counting()
    build(SAMPLES, out=tmp_path / "out", engine="spark", master="local[2]", watcher=watcher, **OPTIONS)
    assert tree(tmp_path / "out") == tree(reference) and watcher.read == 48


@pytest.mark.usefixtures("java")
def test_spark_from_bucket_to_bucket(store: Any, pairs_file: Path, tree: Tree, tmp_path: Path) -> None:
    from_bucket_to_bucket(store, pairs_file, tree, tmp_path, "--engine", "spark", "--master", "local[2]")
