"""Ray: the same bytes as one process, and a sentence for what is not there or not alike."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.pages import Page, Run, succeed
from vcrgen.builder.assemble import BuildFolders
from vcrgen.builder.engines import Worker
from vcrgen.builder.run import Build, build
from vcrgen.cli import app
from vcrgen.core.errors import EngineError, SourceError
from vcrgen.core.progress import ProgressListener
from vcrgen.core.storage import DiskFolder

pytestmark = pytest.mark.extras

Tree = Callable[[Path], dict[str, str]]
Options = dict[str, Any]
MEMORY = 100 << 20
START_SECONDS = 180.0  # for machines: Ray's own 30 are few where others use the processors


@pytest.fixture(scope="module")
def cluster(store_server: Any) -> Iterator[Any]:
    """A head that runs no tasks, and two machines of one processor; they know where the object store is."""
    pytest.importorskip("ray", reason="needs pip install '.[ray]'")
    from ray.cluster_utils import Cluster

    head = {"wait": False, "num_cpus": 0, "include_dashboard": False, "object_store_memory": MEMORY}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        cluster.add_node(wait=False, num_cpus=1, object_store_memory=MEMORY, env_vars=store_server.settings)
    cluster.wait_for_nodes(START_SECONDS)
    yield cluster
    cluster.shutdown()


def test_ray_gives_the_bytes_of_one_process(
    cluster: Any, tree: Tree, reference: Path, options: Options, listener: Any, tmp_path: Path
) -> None:
    result = build(out=tmp_path / "out", engine="ray", address=cluster.address, progress=listener, **options)
    assert tree(tmp_path / "out") == tree(reference)
    assert (listener.read, listener.built) == (48, result.manifest.pairs)


def test_ray_from_bucket_to_bucket(cluster: Any, store: Any, pairs_file: Path, tree: Tree, tmp_path: Path) -> None:
    bucket = store.bucket()
    store.put(bucket, "pairs/pairs.parquet", pairs_file.read_bytes())
    out = f"s3://{bucket}/vcr"
    build(f"s3://{bucket}/pairs/*.parquet", out=out, shard_size=7, engine="ray", address=cluster.address)
    build(f"{pairs_file.parent}/*.parquet", out=tmp_path / "out", shard_size=7)
    built = {name: hashlib.sha256(data).hexdigest() for name, data in store.objects(bucket, "vcr/").items()}
    assert built == tree(tmp_path / "out")


def test_ray_from_the_command_line_in_a_relative_folder(
    cluster: Any, tree: Tree, reference: Path, options: Options, tmp_path: Path
) -> None:
    words = [f"--{option.replace('_', '-')}={value}" for option, value in options.items() if option != "source"]
    words += ["--engine", "ray", "--address", cluster.address, "--out", "out"]
    command = [sys.executable, "-m", "vcrgen", "build", options["source"], *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert tree(tmp_path / "out") == tree(reference)


def test_the_command_of_the_docs(cluster: Any, pairs_file: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)  # what `auto` finds on a machine with other clusters, too
    Path("pairs").mkdir()
    shutil.copy(pairs_file, "pairs")
    line = next(line for line in Page("docs/scale.md").commands if "--engine ray" in line)
    succeed(run, re.sub(r"--out \S+", "--out by-ray", line))
    assert Path("by-ray/_SUCCESS").exists()


def test_what_a_task_raises_is_the_sentence(cluster: Any, pairs_file: Path, tmp_path: Path) -> None:
    class Removing(ProgressListener):
        def begin(self, total: int, done: int) -> None:
            pairs_file.unlink()

    with pytest.raises(SourceError, match="cannot be read"):
        build(pairs_file, out=tmp_path / "out", engine="ray", address=cluster.address, progress=Removing())


def test_a_machine_that_does_not_see_the_folder(
    cluster: Any, options: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Build._worker_maker
    elsewhere = tmp_path / "elsewhere"

    def maker(self: Build, *arguments: Any) -> partial[Worker]:
        made = real(self, *arguments)
        plan, config, source, _, expected = made.args
        folders = BuildFolders(work=DiskFolder(elsewhere / "work"), out=DiskFolder(elsewhere))
        return partial(made.func, plan, config, source, folders, expected)

    monkeypatch.setattr(Build, "_worker_maker", maker)
    with pytest.raises(EngineError, match=f"does not see {elsewhere}"):
        build(out=tmp_path / "out", engine="ray", address=cluster.address, **options)
    assert not elsewhere.exists()


def test_machines_with_other_versions_are_refused(cluster: Any, options: Options, tmp_path: Path) -> None:
    """A machine with another Pillow joins: nothing is written."""
    other = tmp_path / "site" / "pillow-0.0.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: pillow\nVersion: 0.0.1\n")
    paths = [str(other.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {"PYTHONPATH": os.pathsep.join(paths)}
    node = cluster.add_node(wait=False, num_cpus=1, object_store_memory=MEMORY, env_vars=environment)
    try:
        cluster.wait_for_nodes(START_SECONDS)
        with pytest.raises(EngineError, match=r"has pillow 0\.0\.1, the driver .*; install the same versions"):
            build(out=tmp_path / "out", engine="ray", address=cluster.address, **options)
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
            build("samples:8", out=tmp_path / "out", engine="ray", address=alone.address)
    finally:
        alone.shutdown()
    assert not (tmp_path / "out").exists()
