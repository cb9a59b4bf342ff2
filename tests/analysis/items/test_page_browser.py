"""The pages of items in a browser. The fixture ``browser`` also checks the console and the network after every test."""

import functools
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.browsing import shown_at
from vcrgen.analysis.items.analyse import analyse_items
from vcrgen.analysis.items.example import example_items
from vcrgen.analysis.items.items_report import items_document
from vcrgen.analysis.items.shorten_report import shorten_document, shorten_items
from vcrgen.config.analysis import ShortenOptions
from vcrgen.report.document import Document, render

pytestmark = pytest.mark.browser

OVERLAPS = """
const of = (each) => each.getBoundingClientRect(), found = [];
for (const svg of document.querySelectorAll('svg.sc')) {
  const texts = [...svg.querySelectorAll('text')];
  for (const [i, a] of texts.entries()) for (const b of texts.slice(i + 1))
    if (of(a).left < of(b).right && of(b).left < of(a).right) found.push(a.textContent + ' / ' + b.textContent);
}
return found;
"""


@functools.cache
def documents() -> dict[str, Document]:
    table = example_items()
    table = replace(table, models=tuple(f"{'MW' * 40} {name}" for name in table.models))
    options = ShortenOptions(resamples=10, error=2)
    return {
        "items": items_document(analyse_items(table, resamples=100), settings="seed 0"),
        "shorten": shorten_document(table, shorten_items(table, options), options, settings="seed 0"),
    }


@pytest.mark.parametrize("name", ["items", "shorten"])
def test_nothing_is_wider_than_the_page(browser: Any, name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.html"
    file.write_text(render(documents()[name], "html"), "utf-8")
    for width in (1200, 400):
        with shown_at(browser, width):
            browser.get(file.as_uri())
            wide = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            assert wide[0] <= wide[1] == width
            assert browser.execute_script(OVERLAPS) == []
