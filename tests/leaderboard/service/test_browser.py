"""Handing in as people do: a browser in front of a server."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from vcrgen.leaderboard.board import Board
from vcrgen.scorer.answer_key import AnswerKey

pytestmark = pytest.mark.browser

PATIENCE = 180


class Visitor:
    """Somebody in front of the service.

    Args:
        url: Address of the service.
        token: The token of the team.
    """

    def __init__(self, driver: Any, url: str, token: str) -> None:
        self.driver = driver
        self.url = url
        self.token = token

    def open(self, name: str = "") -> None:
        self.driver.get(f"{self.url}/{name}")

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str = "main") -> str:
        return str(self.one(selector).text)

    def click(self, element: Any) -> None:
        """Click on what leads to another page, and wait for that: on a busy machine, the old one stays for a while."""
        self.driver.execute_script("window.isOld = true")
        element.click()
        self.wait_until("return !window.isOld && document.readyState === 'complete'")

    def follow(self, text: str) -> None:
        self.click(self.driver.find_element("link text", text))

    def hand_in(self, file: Path, **fields: str) -> None:
        """Fill in the form and send it."""
        self.open()
        self.follow("Submit")
        for name, value in {"token": self.token, **fields}.items():
            self.one(f"form.submit [name={name}]").send_keys(value)
        self.one("form.submit [name=file]").send_keys(str(file))
        self.click(self.one("form.submit button"))

    def wait_for_heading(self, text: str) -> None:
        heading = "document.querySelector('h1').textContent"
        self.wait_until(f"return document.readyState === 'complete' && {heading} === {json.dumps(text)}")

    def wait_until(self, script: str) -> None:
        """Wait until a script gives true."""
        from selenium.common.exceptions import WebDriverException
        from selenium.webdriver.support.ui import WebDriverWait

        # While one page takes the place of another, the browser may answer any question with an error.
        wait = WebDriverWait(self.driver, PATIENCE, 0.05, ignored_exceptions=[WebDriverException])
        wait.until(lambda driver: driver.execute_script(script))


@pytest.fixture
def visitor(chromium: Any, board: Board, visit: Callable[..., Any]) -> Iterator[Visitor]:
    """A visitor; after the test, that the console is empty and that nothing was asked of any other server."""
    server, desk = visit(board)
    chromium.get("about:blank")
    for log in ("browser", "performance"):
        chromium.get_log(log)
    yield Visitor(chromium, server.url, desk.token)
    # Chromium itself writes down that a form was answered with a status above 400.
    told = [
        entry
        for entry in chromium.get_log("browser")
        if not ("/submit -" in entry["message"] and entry["source"] == "network")
    ]
    assert told == []
    events = (json.loads(entry["message"])["message"] for entry in chromium.get_log("performance"))
    urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert urls and all(url.startswith((server.url, "data:", "chrome:")) for url in urls)
    assert not [line for line in server.complete_lines() if line["what"] in ("fault", "library", "unavailable")]


def test_from_the_form_to_the_board(visitor: Visitor, hand: Any, public_key: AnswerKey) -> None:
    for model, right in (("First & <b>model</b>", 1), ("Second model", 3)):
        file = hand(public_key, right=right, name=f"{right}.jsonl")
        visitor.hand_in(file, model=model, link="https://example.org/model", size="7B", access="open")
        assert "/submission-" in visitor.driver.current_url
        visitor.wait_for_heading("Scored")  # the page looks again by itself
        assert model in visitor.text() and f"{right}.jsonl" in visitor.text()
    assert "2 of 2" in visitor.text("table")

    end = time.monotonic() + PATIENCE
    rows: list[str] = []
    while len(rows) < 2 and time.monotonic() < end:  # pages are made anew behind those that are read
        visitor.open()
        rows = [row.text for row in visitor.driver.find_elements("css selector", "table.board tbody tr")]
    assert len(rows) == 2
    assert "First & <b>model</b>" in rows[0] and "Second model" in rows[1] and "Team A" in rows[0]
    assert visitor.driver.find_elements("css selector", "table.board tbody b > b") == []

    visitor.follow("Compare")
    for field, words in (("first", "first"), ("second", "SECOND mod")):
        visitor.one(f"form.pair [name={field}]").send_keys(words)
    visitor.click(visitor.one("form.pair button"))
    visitor.wait_for_heading("Two models compared")
    assert "/compare-" in visitor.driver.current_url
    assert "First & <b>model</b>" in visitor.text() and "Second model" in visitor.text()
    visitor.follow("History")
    assert visitor.text().count("scored") >= 2


def test_what_is_wrong_with_an_upload(visitor: Visitor, hand: Any, public_key: AnswerKey, tmp_path: Path) -> None:
    packed = tmp_path / "preds.zip"
    packed.write_bytes(b"PK\x03\x04")
    visitor.hand_in(packed, model="My model")
    visitor.wait_for_heading("Submit outputs")
    assert "The file is a zip archive" in visitor.text(".problems")
    assert visitor.one("[name=model]").get_attribute("value") == "My model"
    assert visitor.one("[name=token]").get_attribute("value") == ""
    assert visitor.token not in visitor.driver.page_source
    visitor.driver.get(visitor.driver.current_url)
    assert visitor.driver.current_url.endswith("/submit.html"), "a look at where the form went"

    lines = hand(public_key).read_text().splitlines()
    broken = tmp_path / "broken.jsonl"
    broken.write_text("\n".join([*lines[:4], lines[4][:-2], *lines[5:]]))
    visitor.hand_in(broken, model="My model")
    visitor.wait_for_heading("Not scored")
    assert "broken.jsonl, line 5: not JSON" in visitor.text(".problems")
    visitor.follow("Submit another file")
    assert "Submit outputs" in visitor.text()
