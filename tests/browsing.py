"""Helpers of tests about a page that a browser shows."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def resize(browser: Any, width: int, height: int = 900, ratio: float = 1) -> None:
    """Show pages at a size, within a block of `own_size`.

    Args:
        width: In pixels of pages; it may be less than a window of Chromium can have.
        ratio: Pixels of the screen on one of pages.
    """
    from selenium.webdriver.support.ui import WebDriverWait

    metrics = {"width": width, "height": height, "deviceScaleFactor": ratio, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    size = "return [innerWidth, innerHeight, devicePixelRatio]"  # which the page has a moment later
    WebDriverWait(browser, 60, 0.02).until(lambda browser: browser.execute_script(size) == [width, height, ratio])


@contextmanager
def own_size(browser: Any) -> Iterator[None]:
    """After the block, pages have the size of the window again."""
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@contextmanager
def shown_at(browser: Any, width: int) -> Iterator[None]:
    """Show pages at a width in pixels, for the time of the block."""
    with own_size(browser):
        resize(browser, width)
        yield


def lines_of_labels(browser: Any, *labels: str) -> dict[str, int]:
    """In how many lines some labels of the rows of charts stand, by label."""
    found = browser.execute_script(
        "return [...document.querySelectorAll('.lines th[scope=row]')].map(each => {"
        " const range = document.createRange(); range.selectNodeContents(each);"
        " return [each.textContent.trim(), range.getClientRects().length]; })"
    )
    return {label: lines for label, lines in found if label in labels}


def violations(browser: Any, axe: str) -> list[Any]:
    """What axe-core finds on the page: rules, with the elements that break them."""
    # Through the protocol, which a page's content security policy does not bind.
    found = "found.violations.map((one) => [one.id, one.nodes.map((node) => node.html)])"
    script = f"{axe}; axe.run().then((found) => JSON.stringify({found}))"
    told = browser.execute_cdp_cmd(
        "Runtime.evaluate", {"expression": script, "awaitPromise": True, "returnByValue": True}
    )
    return list(json.loads(told["result"]["value"]))
