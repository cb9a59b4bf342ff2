"""Fixtures that more than one room uses."""

import csv
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes says nothing where other processes use the machine, too.
settings.register_profile("vcrgen", deadline=None)
settings.load_profile("vcrgen")


@pytest.fixture(autouse=True)
def _csv_limit() -> Iterator[None]:
    """How long a field of CSV may be is a setting of the process; what a test makes of it is not for the next one."""
    before = csv.field_size_limit()
    yield
    csv.field_size_limit(before)


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
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium (pip install vcrgen[dev])")
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
