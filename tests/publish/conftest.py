"""Small datasets of the built-in pairs, whole and tampered with, and a browser to look at them."""

import dataclasses
import json
import shutil
from collections.abc import Callable, Iterator
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


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A headless Chromium of the system, driven by selenium; nothing is downloaded."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium (pip install vcrgen[dev])")
    chrome = pytest.importorskip("selenium.webdriver.chrome.service")
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver_path = shutil.which("chromedriver")
    if not browser or not driver_path:
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


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    """The browser; after the test, that the page wrote nothing to its console and asked nothing of the network."""
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
