"""The page in a browser. The fixture ``browser`` also checks the console and the network after every test."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.browsing import shown_at
from tests.making import pixels
from vcrgen.data.manifest import read_manifest
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.view.preview import write_preview

pytestmark = pytest.mark.browser

Rows = list[dict[str, Any]]
Tamper = Callable[[Callable[[str, Rows], Rows]], Path]

HOSTILE = "</script><script>alert(1)</script> \"'`<img src=x onerror=alert(2)> \u202e\u2066 &lt;b&gt; \u2028 {{data}}"


class Page:
    """The opened page, as somebody sees it."""

    def __init__(self, driver: Any, *datasets: Path, out: Path) -> None:
        self.driver = driver
        if not out.exists():
            write_preview(datasets, out)
        driver.get(out.as_uri())

    def all(self, selector: str) -> list[Any]:
        """Elements that are shown."""
        found = self.driver.find_elements("css selector", selector)
        return [element for element in found if element.is_displayed()]

    def one(self, selector: str) -> Any:
        return self.all(selector)[0]

    def press(self, selector: str) -> None:
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", self.one(selector))
        self.one(selector).click()

    def keys(self, text: str) -> None:
        self.driver.switch_to.active_element.send_keys(text)

    def pointer(self, selector: str) -> None:
        from selenium.webdriver import ActionChains

        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", self.one(selector))
        ActionChains(self.driver).move_to_element(self.one(selector)).perform()

    def pressed(self, scope: str) -> list[str]:
        return [re.sub(r"\s[A-Z]\Z", "", button.text) for button in self.all(f"{scope} [aria-pressed='true']")]

    def outline(self, selector: str) -> str:
        return str(self.one(selector).value_of_css_property("outline-style"))

    def text(self) -> str:
        return str(self.driver.execute_script("return document.body.innerText"))

    def pixels(self, selector: str) -> Any:
        """The pixels of an element, with its edges at whole pixels."""
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", self.one(selector))
        box = self.driver.execute_script(
            "const b = arguments[0].getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]",
            self.one(selector),
        )
        shot = Image.open(io.BytesIO(self.driver.get_screenshot_as_png())).convert("RGB")
        return np.asarray(shot.crop([round(edge) for edge in box]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each page is written once."""
    return tmp_path_factory.mktemp("previews")


@pytest.fixture
def page(browser: Any, dataset: Path, folder: Path) -> Page:
    return Page(browser, dataset, out=folder / "one.html")


@pytest.fixture
def two(browser: Any, dataset: Path, chinese: Path, folder: Path) -> Page:
    """English in both modes and Chinese in the hard one."""
    return Page(browser, dataset, chinese, out=folder / "two.html")


def first_row(dataset: Path, mode: str) -> dict[str, Any]:
    return next(open_dataset(dataset, VCR).select(mode=mode).rows())[1]


def test_every_view_has_the_pixels_of_the_stored_image(page: Page, dataset: Path) -> None:
    for mode in ("easy", "hard"):
        for column in ("stacked_image", "only_it_image"):
            page.keys(f"{mode[0]}{'t' if column == 'only_it_image' else ''}")
            stored = pixels(first_row(dataset, mode)[column]["bytes"])
            assert np.array_equal(page.pixels(".stack"), stored)
        page.keys("z")
        assert np.array_equal(page.pixels(".stack"), stored.repeat(2, axis=0).repeat(2, axis=1))
        page.keys("zt")


def test_buttons_for_all_pairs(page: Page) -> None:
    assert page.pressed(".bar") == ["Hard"]
    page.press(".bar [data-mode=easy]")
    page.press(".bar [data-toggle=alone]")
    assert page.pressed(".bar") == ["Easy", "TEI only"]
    assert page.pressed(".card") == ["Easy", "TEI only"] * 6
    assert page.all(".vi") == []
    page.press(".bar [data-toggle=alone]")
    assert len(page.all(".vi")) == 6
    assert page.pressed(".card") == ["Easy"] * 6


def test_buttons_and_keys_of_one_pair(page: Page) -> None:
    page.press(".card [data-mode=easy]")
    assert page.pressed(".card") == ["Easy"] + ["Hard"] * 5
    page.keys("h")  # the focus is in the card
    page.keys("t")
    page.keys("a")
    assert page.pressed(".card") == ["Hard", "TEI only", "Answers"] + ["Hard"] * 5
    assert page.pressed(".bar") == ["Hard"]
    page.driver.execute_script("document.activeElement.blur()")
    page.keys("e")
    assert page.pressed(".card") == ["Easy", "TEI only", "Answers"] + ["Easy"] * 5


def test_the_focus_on_a_span_survives_the_change_of_mode(page: Page) -> None:
    page.driver.execute_script("document.querySelector('.layer:not([hidden]) .span').focus()")
    page.keys("e")
    page.keys("h")
    assert page.pressed(".card") == ["Hard"] * 6
    assert page.pressed(".bar") == ["Hard"]
    page.keys("e")
    assert page.pressed(".card") == ["Easy"] + ["Hard"] * 5


def test_answers_are_not_in_the_document_before_they_are_asked_for(page: Page, dataset: Path) -> None:
    row = first_row(dataset, "hard")
    answer = row["crossed_text"][0]
    markup = "return document.querySelector('#datasets').outerHTML"
    assert answer not in page.driver.execute_script(markup)
    page.press(".card [data-toggle=answers]")
    assert page.one(".caption").text == row["caption"]
    assert [mark.text for mark in page.all("mark")] == row["crossed_text"]
    assert len(page.all(".caption")) == 1
    page.press(".card [data-toggle=answers]")
    assert answer not in page.driver.execute_script(markup)
    page.press(".bar [data-toggle=answers]")
    assert len(page.all(".caption")) == 6


def test_boxes_appear_under_the_pointer(page: Page, dataset: Path) -> None:
    row = first_row(dataset, "hard")
    box = row["spans"][0]["boxes"][0]
    span = ".card .layer:not([hidden]) .span i"
    assert page.outline(span) == "none"
    page.pointer(".card .strip")
    assert page.outline(span) == "solid"
    place = page.driver.execute_script(
        "const a = arguments[0].getBoundingClientRect(), b = arguments[1].getBoundingClientRect();"
        "return [a.left - b.left, a.top - b.top, a.right - b.left, a.bottom - b.top]",
        page.one(span),
        page.one(".strip"),
    )
    assert place == pytest.approx([box["x0"], box["y0"], box["x1"], box["y1"]], abs=0.1)


def test_the_tip_tells_the_answer_only_when_it_is_shown(page: Page, dataset: Path) -> None:
    span = first_row(dataset, "hard")["spans"][0]
    selector = ".card .layer:not([hidden]) .span i"
    page.pointer(selector)
    hidden = page.one("#tip").text
    assert "Answer hidden" in hidden
    assert span["text"] not in hidden
    assert f"{span['visible_ink']:.0%}".replace("%", " %") in hidden
    assert re.search(rf"{span['rows_above']} rows? of ink above the cover, {span['rows_below']} rows? below", hidden)
    page.press(".card [data-toggle=answers]")
    assert page.all("#tip") == []
    page.pointer(selector)
    assert span["text"] in page.one("#tip").text


def test_the_tip_appears_on_focus_and_goes_on_escape(page: Page) -> None:
    page.driver.execute_script("document.querySelector('.layer:not([hidden]) .span').focus()")
    assert "Answer hidden" in page.one("#tip").text
    label = page.driver.switch_to.active_element.get_attribute("aria-label")
    assert label.startswith("Masked span: Answer hidden; ")
    page.keys("\ue00c")
    assert page.all("#tip") == []


def test_search(page: Page, dataset: Path) -> None:
    row = first_row(dataset, "hard")
    page.keys("/")
    page.keys(row["question_id"])
    assert len(page.all(".card")) == 1
    assert page.one("#count").text == "1 of 6 pairs"
    search = page.one("#search")
    search.clear()
    search.send_keys(f" {row['caption'].upper()} ")
    assert [card.text.splitlines()[-1] for card in page.all(".card")] == [row["question_id"]]
    assert row["crossed_text"][0] not in page.one(".card").text
    search.send_keys("no such words")
    assert page.all(".card, .dataset") == []
    page.press("#clear")
    assert len(page.all(".card")) == 6


def test_filters_by_language_and_mode(two: Page) -> None:
    def choose(select: str, value: str) -> tuple[int, ...]:
        two.press(f"#{select} option[value='{value}']")
        return tuple(
            len(section.find_elements("css selector", ".card:not([hidden])")) for section in two.all(".dataset")
        )

    pairs = len(two.all(".card"))
    assert choose("language", "en") == (6,)
    assert choose("language", "zh") == (pairs - 6,)
    assert choose("modes", "hard") == (pairs - 6,)
    assert choose("modes", "easy hard") == ()
    assert choose("language", "") == (6,)


def test_a_filter_without_a_choice_is_not_shown(page: Page) -> None:
    assert page.all("select") == []


def test_a_pair_keeps_the_only_mode_that_it_has(two: Page) -> None:
    two.keys("e")
    section = two.all(".dataset")[1]
    buttons = section.find_elements("css selector", ".card [data-mode=easy]")
    assert buttons
    assert not any(button.is_enabled() for button in buttons)
    assert len(section.find_elements("css selector", ".card [data-mode=hard][aria-pressed=true]")) == len(buttons)


def test_every_level_of_a_ladder_can_be_seen(browser: Any, ladder: Path, folder: Path) -> None:
    page = Page(browser, ladder, out=folder / "ladder.html")
    assert [button.text for button in page.all(".bar [data-mode]")] == ["5 %", "30 %", "70 %"]
    assert page.pressed(".bar") == ["30 %"] and page.pressed(".card") == ["30 %"] * 3
    assert "E easy" not in page.text()
    page.keys("h")  # there is no such mode
    assert page.pressed(".bar") == ["30 %"] and page.pressed(".card") == ["30 %"] * 3
    page.press(".bar [data-mode='ink-0.70']")
    assert page.pressed(".card") == ["70 %"] * 3
    page.press(".card [data-mode='ink-0.05']")
    assert page.pressed(".card") == ["5 %", "70 %", "70 %"]
    assert np.array_equal(page.pixels(".stack"), pixels(first_row(ladder, "ink-0.05")["stacked_image"]["bytes"]))


def test_a_ladder_beside_a_dataset_of_two_modes(browser: Any, dataset: Path, ladder: Path, tmp_path: Path) -> None:
    page = Page(browser, dataset, ladder, out=tmp_path / "preview.html")
    assert [button.text for button in page.all(".bar [data-mode]")] == ["Easy E", "Hard H", "5 %", "30 %", "70 %"]
    first, *_, last = page.all(".card")
    modes = [[one.text for one in card.find_elements("css selector", "[data-mode]")] for card in (first, last)]
    assert modes == [["Easy", "Hard"], ["5 %", "30 %", "70 %"]]
    page.press(".bar [data-mode='ink-0.70']")
    assert page.pressed(".card") == ["Hard"] * 6 + ["70 %"] * 3
    page.press("#modes option[value=levels]")
    assert len(page.all(".card")) == 3


def test_head_of_a_dataset(page: Page, dataset: Path) -> None:
    assert page.one("h2").text == "vcr-en"
    spans = sum(len(row["spans"]) for _, row in open_dataset(dataset, VCR).select(mode="easy").rows(["spans"]))
    figures = [(figure.text, name.text) for figure, name in zip(page.all("dd"), page.all(".figures dt"), strict=True)]
    assert figures[:2] == [("6", "pairs"), (str(spans), "spans")]
    assert [name for _, name in figures[-2:]] == ["ink visible, easy", "ink visible, hard"]
    signature = read_manifest(dataset).signature
    assert page.one(".short").text == signature.short
    assert "builtin-en-1" not in page.text()
    page.press("details summary")
    assert [value.text for value in page.all(".facts dd")] == list(signature.facts.values())


def test_nothing_is_wider_than_the_window(two: Page, ladder: Path, folder: Path) -> None:
    for width in (360, 1920):
        assert_fits(two, width)
    assert_fits(Page(two.driver, ladder, out=folder / "ladder.html"), 900)


def assert_fits(page: Page, width: int) -> None:
    bars = "[...document.querySelectorAll('.stage')].some((stage) => stage.scrollHeight > stage.clientHeight)"
    with shown_at(page.driver, width):
        for _ in range(2):
            assert not page.driver.execute_script("return document.documentElement.scrollWidth > innerWidth")
            assert not page.driver.execute_script(f"return {bars}")
            page.keys("a")


def test_hostile_text_is_shown_as_text(browser: Any, tampered: Tamper, tmp_path: Path) -> None:
    def change(_: str, rows: Rows) -> Rows:
        names = ("question_id", "source_id", "caption", "language", "question")
        span = {"start": 0, "end": len(HOSTILE), "text": HOSTILE}
        return [
            row
            | dict.fromkeys(names, f"{HOSTILE}{index}")
            | {"spans": [old | span for old in row["spans"][:1]], "crossed_text": [HOSTILE]}
            for index, row in enumerate(rows)
        ]

    odd = tampered(change).rename(tmp_path / "<svg onload=alert(3)>")
    page = Page(browser, odd, out=tmp_path / "preview.html")
    page.keys("a")
    page.driver.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.pointer(".card .layer:not([hidden]) .span i")
    content = "return document.querySelector(arguments[0]).textContent"
    assert page.driver.execute_script(content, ".caption") == f"{HOSTILE}0"
    assert page.driver.execute_script(content, ".id") == f"{HOSTILE}0"
    assert page.driver.execute_script(content, "#tip strong") == HOSTILE
    assert page.driver.execute_script(content, "h2") == "<svg onload=alert(3)>"
    kinds = page.driver.execute_script("return [...new Set([...document.querySelectorAll('*')].map((e) => e.tagName))]")
    assert not {"SVG", "svg", "B"} & set(kinds)
    assert len(page.driver.find_elements("css selector", "script")) == 2
    images = page.driver.execute_script("return [...document.images].map((image) => image.src.slice(0, 11))")
    assert set(images) == {"data:image/"}
    # An alert would make this raise.
    assert page.driver.title.startswith("VCR")
