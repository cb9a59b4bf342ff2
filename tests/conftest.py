"""Fixtures that more than one room uses."""

import contextlib
import csv
import dataclasses
import functools
import gc
import importlib
import json
import math
import os
import shutil
import socket
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import typer
from hypothesis import settings
from rich.console import Console

from tests.forked import Python
from tests.object_store import Proxy, Store

Rows = list[dict[str, Any]]
Change = Callable[[str, Rows], Rows]
AXE = "4.14.1"
MOST_KEPT = 300_000  # numbers of a bootstrap's draws that are kept

# How long an example takes says nothing where other processes use the machine, too. CI looks at the same examples every
# time: a new one is found by whoever runs the tests, and stops no change that has nothing to do with it.
settings.register_profile("vcrgen", deadline=None, derandomize=bool(os.environ.get("VCRGEN_CI")), max_examples=40)
settings.load_profile("vcrgen")
# Some hundred thousand objects of libraries stay: to look at them all again and again takes a twelfth of the time.
gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session", autouse=True)
def _quick() -> Iterator[None]:
    """Make once in this process what many tests need, and never wait for the disk.

    That is built-in pairs, options of commands, and the draws of small bootstraps.
    """
    from vcrgen import samples
    from vcrgen.stats import bootstrap

    draw_weights, blocks = bootstrap.bootstrap_weights, (bootstrap._BLOCK, bootstrap._MOST_DRAWN)

    @functools.lru_cache(maxsize=100)
    def weights_of(groups: int, seed: int, unit: str, draws: int) -> list[Any]:
        return [part.copy() for part in draw_weights(groups, seed=seed, unit=unit, draws=draws)]

    def bootstrap_weights(groups: int, *, seed: int, unit: str, draws: int) -> Iterator[Any]:
        if groups * draws > MOST_KEPT or blocks != (bootstrap._BLOCK, bootstrap._MOST_DRAWN):
            return draw_weights(groups, seed=seed, unit=unit, draws=draws)
        return iter(weights_of(groups, seed, unit, draws))

    make_command = typer.main.get_command_from_info

    @functools.cache
    def command_of(info: Any, help: str | None, settings: tuple[tuple[str, Any], ...]) -> Any:
        return make_command(info, **dict(settings))

    def get_command_from_info(command_info: Any, **settings: Any) -> Any:
        return command_of(command_info, command_info.help, tuple(sorted(settings.items())))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command_from_info", get_command_from_info)
        patch.setattr(samples, "sample_pair", functools.lru_cache(maxsize=2000)(samples.sample_pair))
        patch.setattr(bootstrap, "bootstrap_weights", bootstrap_weights)
        patch.setattr("os.fsync", lambda descriptor: None)
        yield


@pytest.fixture(autouse=True)
def _csv_limit() -> Iterator[None]:
    """Restore the longest field of CSV, which is a setting of the process, after every test."""
    before = csv.field_size_limit()
    yield
    csv.field_size_limit(before)


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """Runs the command line in an empty folder and on a wide terminal: exit code, output, errors.

    Nothing is said of the progress, which a machine that is slow would have time for.
    """
    from vcrgen.cli import app, console
    from vcrgen.core import console_progress

    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(console, "out", Console(width=300))
    monkeypatch.setattr(console, "err", Console(width=300, stderr=True))
    monkeypatch.setattr(console_progress, "LINE_SECONDS", math.inf)

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["vcrgen", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            app(prog_name="vcrgen")
        captured = capfd.readouterr()
        return stop.value.code if isinstance(stop.value.code, int) else 0, captured.out, captured.err

    return call


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six English pairs in both modes and two splits, in four files."""
    from vcrgen.builder.run import build

    out = tmp_path_factory.mktemp("dataset") / "vcr-en"
    build("samples", out=out, limit=6, splits="test=2,train=...")
    return out


@pytest.fixture(scope="session")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve English pairs at four levels of ink, in one split."""
    from vcrgen.builder.run import build

    out = tmp_path_factory.mktemp("ladder") / "ladder"
    build("samples", out=out, limit=12, splits="test=...", mode="ink=0.1,0.2,0.3,0.7")
    return out


@pytest.fixture
def tampered(dataset: Path, tmp_path: Path) -> Callable[[Change], Path]:
    """Makes a copy of the dataset with other rows, under a manifest that agrees with them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from vcrgen.core.files import sha256_file
    from vcrgen.data.manifest import read_manifest, write_manifest
    from vcrgen.data.tasks.vcr import VCR

    def tamper(change: Change) -> Path:
        copy = tmp_path / "tampered"
        shutil.copytree(dataset, copy)
        manifest = read_manifest(copy)
        files = []
        for file in manifest.files:
            path = copy / file.path
            rows = change(file.mode, pq.read_table(path).to_pylist())
            pq.write_table(pa.Table.from_pylist(rows, schema=VCR.schema()), path)
            size, sha256 = path.stat().st_size, sha256_file(path)
            files.append(dataclasses.replace(file, rows=len(rows), bytes=size, sha256=sha256))
        write_manifest(copy, dataclasses.replace(manifest, files=tuple(files)))
        return copy

    return tamper


@pytest.fixture
def hidden(tmp_path: Path) -> Callable[..., Path]:
    """Writes the public part of a hidden set: three questions, pictures of 40, 41 and 42 px; rows may be changed."""
    from PIL import Image

    from vcrgen.hidden.public import IMAGE_FOLDERS, image_name, pair_question_row

    def write(change: Callable[[Rows], Any] = lambda rows: None) -> Path:
        public = tmp_path / "hidden" / "public"
        ids = [f"{number:032x}" for number in range(3)]
        rows: Rows = [
            dict(pair_question_row({"question_id": question_id}, {"language": "en", "canary": "canary"}))
            for question_id in ids
        ]
        for number, question_id in enumerate(ids):
            for view in IMAGE_FOLDERS:
                file = public / image_name(view, question_id)
                file.parent.mkdir(parents=True, exist_ok=True)
                Image.new("RGB", (40 + number, 30)).save(file)
        change(rows)
        (public / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        (public / "manifest.json").write_text(json.dumps({"version": "vcrgen-hidden-1"}), "utf-8")
        return public

    return write


@pytest.fixture(scope="session")
def wiki_dir() -> Path:
    """A part of the public VCR-WIKI test sets, beside the project; never copied into it."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data" / "wiki"
    if not folder.is_dir():
        pytest.skip(f"needs the public test items in {folder}")
    return folder


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium of the system, driven by selenium; nothing is downloaded."""
    webdriver = pytest.importorskip("selenium.webdriver", reason='needs pip install ".[dev]"')
    chrome = pytest.importorskip("selenium.webdriver.chrome.service")
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver_path = shutil.which("chromedriver")
    if not browser or not driver_path:
        if os.environ.get("VCRGEN_CI"):
            pytest.fail("CI has to install Chromium (apt-get install chromium chromium-driver)")
        pytest.skip("needs chromium and chromedriver (apt-get install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (
        *("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking"),
        *("disable-component-update", "disable-sync", "disable-dev-shm-usage", "hide-scrollbars"),
        *("force-color-profile=srgb", "force-device-scale-factor=1", "window-size=1440,1200"),
        f"user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=chrome.Service(driver_path))
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, fetched from the npm registry (MPL-2.0; it is no part of vcrgen)."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs npm, to fetch axe-core")
    folder = tmp_path_factory.mktemp("axe")
    environment = {**os.environ, "npm_config_update_notifier": "false"}
    command = [npm, "pack", f"axe-core@{AXE}", "--silent"]
    try:
        subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True, timeout=120)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip("needs axe-core from the npm registry, which cannot be reached")
    with tarfile.open(folder / f"axe-core-{AXE}.tgz") as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member is not None
        return member.read().decode()


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    """The browser; after the test, that the page wrote nothing to its console and asked nothing of the network."""
    chromium.get("about:blank")  # what the page of an earlier test still does is not told of this one
    for log in ("browser", "performance"):
        chromium.get_log(log)
    chromium.set_window_size(1440, 1200)
    yield chromium
    assert chromium.get_log("browser") == []
    events = (json.loads(entry["message"])["message"] for entry in chromium.get_log("performance"))
    urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert urls
    # Chromium asks for pages of its own (chrome:) when it starts; nothing may go over a network.
    assert {url.partition(":")[0] for url in urls} <= {"file", "data", "chrome"}


@pytest.fixture
def own_port() -> Iterator[int]:
    """A port on which a server of this test can listen again and again, as the system gives it to nobody else."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # servers set it, too, so they may share the port
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


@pytest.fixture(scope="session")
def store_server() -> Iterator[Store]:
    """An S3 server of our own on a free port."""
    moto = pytest.importorskip("moto.server", reason='needs pip install ".[dev]"')
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    yield Store(server.get_host_and_port()[1])
    server.stop()


@pytest.fixture
def store(store_server: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The S3 server, which this process and its children take for Amazon's."""
    import s3fs

    for name, value in store_server.settings.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    yield store_server
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def proxy(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """A proxy before the S3 server, which this process and its children take for Amazon's and try fewer times."""
    import s3fs

    made = Proxy(store)
    monkeypatch.setenv("AWS_ENDPOINT_URL", made.url)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 2)
    yield made
    made.close()


@pytest.fixture(scope="session")
def faults() -> Any:
    """The module of a server for models that does what real ones do at the worst time."""
    return importlib.import_module("tests.models.fault_server")


@pytest.fixture
def serve(faults: Any) -> Iterator[Callable[..., Any]]:
    """Starts such servers; without arguments, one that answers every request at once."""
    with contextlib.ExitStack() as running:
        yield lambda *plan, **options: running.enter_context(faults.FaultServer(*plan, **options))


@pytest.fixture(scope="session")
def tinyvlm() -> Any:
    """The module that makes small vision-language models; needs torch and transformers."""
    for package in ("torch", "transformers"):
        pytest.importorskip(package, reason='needs pip install ".[transformers]"')
    return importlib.import_module("tests.tinyvlm")


@pytest.fixture(scope="session")
def taught_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty English pairs in both modes: the pictures that the taught model knows."""
    from vcrgen.builder.run import build

    out = tmp_path_factory.mktemp("taught") / "vcr-en"
    build("samples", out=out, limit=31, splits="test=...")
    return out


@pytest.fixture(scope="session")
def taught(tinyvlm: Any, taught_data: Path, request: pytest.FixtureRequest) -> Path:
    """Folder of a model that was taught the 60 pictures of `taught_data`; kept in pytest's cache for other runs."""
    import torch
    from filelock import FileLock

    from vcrgen.data.reader import open_dataset
    from vcrgen.data.tasks.vcr import VCR

    steps = 320
    key = tinyvlm.recipe(open_dataset(taught_data, VCR).identity, steps)
    folder: Path = request.config.cache.mkdir("tinyvlm") / key
    with FileLock(folder.with_suffix(".lock")):
        if not folder.exists():
            threads = torch.get_num_threads()
            torch.set_num_threads(1)  # two threads on busy cores take several times as long as one
            examples = [each for mode in ("easy", "hard") for each in tinyvlm.examples_of(taught_data, mode)]
            model, processor = tinyvlm.make([text for each in examples for text in (each.question, each.answer)])
            tinyvlm.teach(model, processor, examples, steps=steps)
            torch.set_num_threads(threads)
            tinyvlm.save(model, processor, folder.with_suffix(".part"))
            folder.with_suffix(".part").rename(folder)
    return folder


@pytest.fixture(scope="session")
def hub() -> Iterator[Any]:
    """An imitation of the Hugging Face Hub."""
    made = importlib.import_module("tests.hub").Hub()
    yield made
    made.close()


@pytest.fixture(scope="session")
def on_hub(hub: Any, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command that takes the imitation for the Hub: its address is read when the Hub's library is imported."""
    settings = hub.settings(tmp_path_factory.mktemp("hub"))

    def run(*command: Any, **more: str) -> subprocess.CompletedProcess[str]:
        """A module with its arguments or, after ``-c``, a script."""
        return Python(*command, **settings | more).result()

    return run


@pytest.fixture
def as_foreign() -> Callable[..., Path]:
    """Writes the test rows of a built dataset as others do: with the columns of VCR-WIKI and nothing more.

    ``as_foreign(dataset, out)`` makes a folder a mode; ``as_foreign(dataset, out, "hard")`` one Parquet file that does
    not say its mode.
    """
    columns = [*("question_id", "image", "caption"), *("stacked_image", "only_it_image", "only_it_image_small")]

    def write(dataset: Path, out: Path, mode: str = "") -> Path:
        for each in (mode,) if mode else ("easy", "hard"):
            table = pq.read_table(next((dataset / each).glob("test-*")), columns=[*columns, "crossed_text"])
            folder = out if mode else out / each
            folder.mkdir(parents=True)
            pq.write_table(table.replace_schema_metadata(None), folder / "part.parquet")
        return out

    return write
