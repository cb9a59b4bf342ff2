"""The page in a browser. The fixture ``browser`` also checks the console and the network after every test."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.browsing import lines_of_labels, shown_at
from vcrgen.analysis.profile.profile_report import profile_document
from vcrgen.analysis.profile.read_tables import read_profiles
from vcrgen.report.document import render
from vcrgen.stats.calibration import reliability_curve

pytestmark = pytest.mark.browser

MODELS = ("نموذج اللغة 7B", "Model with a name that is long enough to need two lines", "gpt-x")
CATEGORIES = (
    ("تذكر", "رموز", "أعلام الدول (2024)"),
    ("فهم", "مشاهد", "مشاهد داخلية"),
    ("Apply", "logic", "sorting & counting"),
    ("Create", "titles", "poem <ending>"),
)
OUTSIDE = """
const found = [];
for (const svg of document.querySelectorAll('svg.rd')) {
  const frame = svg.getBoundingClientRect();
  for (const text of svg.querySelectorAll('text')) {
    const box = text.getBoundingClientRect();
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1) {
      found.push(text.textContent);
    }
  }
}
return found;
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """The page of three models in two languages by two methods, some names in Arabic."""
    heads = ",".join(f"{model}_{lang}" for model in MODELS for lang in ("en", "ar"))
    files = []
    for number, method in enumerate(("rae", "lbs")):
        lines = [f"level,subcategory,leaf,count,{heads}"]
        for row, category in enumerate(CATEGORIES):
            scores = (f"{0.9 - 0.1 * (row + number) - 0.02 * column:.2f}" for column in range(6))
            lines.append(",".join((*category, str(60 + row), *scores)))
        files.append(tmp_path / f"scores_{method}.csv")
        files[-1].write_text("\n".join(lines) + "\n", "utf-8")
    file = tmp_path / "page.html"
    rng = np.random.default_rng(0)
    sure = rng.random(300)
    curve = reliability_curve(sure, (rng.random(300) < sure).astype(float), np.zeros(300), np.arange(300), seed=0)
    assert curve is not None
    data = replace(read_profiles(files), calibrations={(MODELS[0], "ar"): curve})
    file.write_text(render(profile_document(data, settings="made"), "html"), "utf-8")
    return file


def test_nothing_is_wider_than_the_page_and_drawings_have_words(browser: Any, page: Path) -> None:
    browser.get(page.as_uri())
    for width in (360, 1200):
        with shown_at(browser, width):
            browser.execute_script("document.querySelectorAll('details').forEach(each => each.open = true)")
            wide = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            assert wide[0] <= wide[1] == width
            assert browser.execute_script(OUTSIDE) == []
    drawings = browser.execute_script(
        "return [...document.querySelectorAll('svg')].map(each => [each.getAttribute('aria-hidden'),"
        " each.getAttribute('aria-label'), each.closest('tr')?.innerText ?? ''])"
    )
    assert len(drawings) > 60
    for hidden, label, beside in drawings:
        assert label or (hidden == "true" and re.search(r"\d", beside)), (hidden, label, beside)


def test_names_of_levels_are_not_broken_on_a_phone(browser: Any, page: Path) -> None:
    """ "Remember" stood in two lines, as "Remembe" and "r"."""
    text = page.read_text("utf-8").replace(">Apply<", ">Understand<").replace(">Create<", ">Remember<")
    page.write_text(text, "utf-8")
    with shown_at(browser, 360):
        browser.get(page.as_uri())
        assert lines_of_labels(browser, "Understand", "Remember") == {"Understand": 1, "Remember": 1}
        assert browser.execute_script("return document.documentElement.scrollWidth") == 360


def test_names_from_right_to_left_are_paragraphs_of_their_own(browser: Any, page: Path) -> None:
    browser.get(page.as_uri())
    found = browser.execute_script(
        "return [...document.querySelectorAll('td, th')].filter(each => each.textContent.includes('نموذج'))"
        ".map(each => getComputedStyle(each).unicodeBidi)"
    )
    assert found and set(found) == {"plaintext"}


def test_shades_are_printed_and_tables_are_open_on_paper(browser: Any, page: Path) -> None:
    browser.get(page.as_uri())
    try:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        adjust = "return getComputedStyle(document.querySelector(arguments[0])).printColorAdjust"
        assert {
            browser.execute_script(adjust, what) for what in ("svg.st", "td.plus-10, td.plus-9, td.plus-8, td.plus-7")
        } == {"exact"}
        assert browser.execute_script("return document.querySelector('details td').checkVisibility()")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


CONTRAST = """
const channel = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
const light = (colour) => {
  canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
  return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
};
return Math.min(...['plus', 'minus'].flatMap((kind) => [0, 5, 10].map((depth) => {
  const cell = document.querySelector('td.n'); cell.className = `n ${kind}-${depth}`;
  const style = getComputedStyle(cell), [a, b] = [light(style.color), light(style.backgroundColor)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
})));
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_can_be_read_on_every_shade(browser: Any, page: Path, scheme: str) -> None:
    browser.get(page.as_uri())
    try:
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        assert browser.execute_script(CONTRAST) >= 4.5
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
