"""The page in a browser. The fixture ``browser`` also checks the console and the network after every test."""

import io
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.browsing import shown_at, violations
from tests.making import pixels
from vcrgen.data.manifest import read_manifest
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.scorer.options import ScoreOptions
from vcrgen.view.folder import write_view
from vcrgen.view.query import Query
from vcrgen.view.server import ViewServer
from vcrgen.view.view_data import ViewData

pytestmark = pytest.mark.browser

Rows = list[dict[str, Any]]
Tamper = Callable[[Callable[[str, Rows], Rows]], Path]

HOSTILE = "</script><script>alert(1)</script> \"'`<img src=x onerror=alert(2)> \u202e\u2066 &lt;b&gt; \u2028 {{data}}"


class Page:
    """The opened page, as somebody sees it."""

    def __init__(self, driver: Any, url: str) -> None:
        self.driver = driver
        driver.get("about:blank")
        driver.get(url)
        self.wait("document.querySelector('.figures').childElementCount > 0")

    def wait(self, condition: str) -> None:
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.driver, 60, 0.02).until(lambda driver: driver.execute_script(f"return {condition}"))

    def ids(self) -> list[str]:
        return [element.text for element in self.all(".card .id")]

    def all(self, selector: str) -> list[Any]:
        """Elements that are shown."""
        found = self.driver.find_elements("css selector", selector)
        return [element for element in found if element.is_displayed()]

    def one(self, selector: str) -> Any:
        return self.all(selector)[0]

    def press(self, selector: str) -> None:
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", self.one(selector))
        self.one(selector).click()
        self.settle()

    def keys(self, text: str) -> None:
        self.driver.switch_to.active_element.send_keys(text)
        self.settle()

    def settle(self) -> None:
        """Wait for the answer to what was asked for last."""
        self.wait("document.querySelector('.grid').getAttribute('aria-busy') === 'false'")

    def pointer(self, selector: str) -> None:
        from selenium.webdriver import ActionChains

        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", self.one(selector))
        ActionChains(self.driver).move_to_element(self.one(selector)).perform()

    def choose(self, name: str, value: str) -> None:
        """Choose in a field of the panel."""
        self.press(f"#panel [name={name}] option[value='{value}']")

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
    return tmp_path_factory.mktemp("views")


def page_of(driver: Any, dataset: Path, outputs: Sequence[Path] = (), *, out: Path) -> Page:
    """The page of a folder."""
    if not out.exists():
        write_view(ViewData(dataset, outputs, ScoreOptions(split="all")), out, Query())
    return Page(driver, (out / "index.html").as_uri())


@pytest.fixture
def page(browser: Any, dataset: Path, folder: Path) -> Page:
    return page_of(browser, dataset, out=folder / "one")


@pytest.fixture
def scored(browser: Any, dataset: Path, outputs: list[Path], folder: Path) -> Page:
    return page_of(browser, dataset, outputs, out=folder / "scored")


def first_row(dataset: Path, mode: str) -> dict[str, Any]:
    return next(open_dataset(dataset, VCR).select(mode=mode).rows())[1]


def test_every_view_has_the_pixels_of_the_stored_image(page: Page, dataset: Path) -> None:
    for mode in ("easy", "hard"):
        for column in ("stacked_image", "only_it_image_small"):
            page.keys(f"{mode[0]}{'' if column == 'stacked_image' else 't'}")
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
    rest = (
        "return [...document.querySelectorAll('.stage')]"
        ".map(stage => stage.clientHeight - stage.querySelector('.strip').clientHeight)"
    )
    assert max(page.driver.execute_script(rest)) < 40  # of a strip no card is as tall as of a picture
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
    markup = "return document.querySelector('.grid').outerHTML"
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
    search.click()
    page.keys(f" {row['caption'].upper()} ")
    assert [card.text.splitlines()[-1] for card in page.all(".card")] == [row["question_id"]]
    assert row["crossed_text"][0] not in page.one(".card").text
    page.keys("no such words")
    assert page.all(".card") == []
    page.press("#clear")
    assert len(page.all(".card")) == 6


def test_a_filter_without_a_choice_is_not_shown(page: Page) -> None:
    assert page.all("select") == []


def test_every_level_of_a_ladder_can_be_seen(browser: Any, ladder: Path, folder: Path) -> None:
    page = page_of(browser, ladder, out=folder / "ladder")
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


def test_head_of_a_dataset(page: Page, dataset: Path) -> None:
    assert page.one("h1").text == "vcr-en"
    spans = sum(len(row["spans"]) for _, row in open_dataset(dataset, VCR).select(mode="easy").rows(["spans"]))
    figures = [(figure.text, name.text) for figure, name in zip(page.all("dd"), page.all(".figures dt"), strict=True)]
    assert figures[:2] == [("6", "pairs"), (str(spans), "spans")]
    assert [name for _, name in figures[-2:]] == ["ink visible, easy", "ink visible, hard"]
    signature = read_manifest(dataset).signature
    assert page.one(".short").text == signature.short
    assert "builtin-en-1" not in page.text()
    page.press("details summary")
    assert [value.text for value in page.all(".facts dd")] == list(signature.facts.values())


@contextmanager
def coloured(page: Page, scheme: str) -> Iterator[None]:
    """Show a page to somebody who prefers light or dark colours."""
    for value in (scheme, ""):
        features = [{"name": "prefers-color-scheme", "value": value}]
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        if value:
            yield


def test_nothing_is_wider_than_the_window(scored: Page, ladder: Path, folder: Path) -> None:
    for width in (390, 1280):
        assert_fits(scored, width)
    assert_fits(page_of(scored.driver, ladder, out=folder / "ladder"), 360)


def assert_fits(page: Page, width: int) -> None:
    bars = "[...document.querySelectorAll('.stage')].some((stage) => stage.scrollHeight > stage.clientHeight)"
    with shown_at(page.driver, width):
        for key in "afa":
            assert not page.driver.execute_script("return document.documentElement.scrollWidth > innerWidth")
            assert not page.driver.execute_script(f"return {bars}")
            page.keys(key)
            page.driver.execute_script("document.activeElement.blur()")


def test_axe_finds_nothing(scored: Page, axe: str) -> None:
    scored.keys("f")
    for width, scheme in ((390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")):
        with shown_at(scored.driver, width), coloured(scored, scheme):
            assert violations(scored.driver, axe) == [], (width, scheme)
    scored.press(".card .id")
    assert violations(scored.driver, axe) == []


def test_outputs_stand_beside_what_was_expected(scored: Page, dataset: Path) -> None:
    row = next(open_dataset(dataset, VCR).select(mode="hard").rows())[1]
    card = scored.one(".card")
    first, second = card.find_elements("css selector", ".result")
    assert [badge.text for badge in first.find_elements("css selector", ".badge")] == ["exact"] * len(
        row["crossed_text"]
    )
    assert first.find_element("css selector", ".output mark.exact").text == row["crossed_text"][0]
    assert second.find_element("css selector", ".badge").text == "wrong"
    assert row["crossed_text"][0] in second.find_element("css selector", "dl").text
    scored.press("[data-toggle=answers]")
    assert scored.all(".output mark, .result dl") == []


def test_an_item_has_an_address_and_neighbours(scored: Page) -> None:
    ids = scored.ids()
    scored.press(".card:nth-of-type(2) .id")
    scored.wait("document.querySelectorAll('.card').length === 1")
    assert scored.ids() == ids[1:2] and scored.one("#position").text == "2 of 6"
    address = scored.driver.current_url
    scored.keys("j")
    assert scored.ids() == ids[2:3]
    scored.keys("k")
    scored.keys("k")
    assert scored.ids() == ids[:1] and not scored.one("[data-step=previous]").is_enabled()
    assert Page(scored.driver, address).ids() == ids[1:2]
    scored.press("[data-step=all]")
    assert scored.ids() == ids


def test_the_panel_filters_and_sorts(scored: Page) -> None:
    every = scored.ids()
    scored.keys("f")
    scored.choose("right", "0")
    scored.choose("wrong", "1")
    assert "right=0&wrong=1" in scored.driver.current_url and 0 < len(scored.ids()) < 6
    scored.choose("sort", "score-1")
    scored.choose("direction", "down")
    scored.press("[type=reset]")
    assert scored.ids() == every
    scored.driver.find_element("name", "outcome").send_keys("\ue00c")  # Escape closes the panel
    assert scored.all("#panel") == [] and scored.driver.switch_to.active_element.get_attribute("id") == "more"
    scored.keys("f")
    scored.driver.find_element("name", "length_min").send_keys("many\t")
    assert scored.driver.find_element("name", "length_min").get_attribute("aria-invalid") == "true"
    assert scored.ids() == every


QUERIES = (
    "",
    "mode=easy",
    "split=train",
    "outcome=exact",
    "outcome=wrong&run=1",
    "outcome=missing&mode=easy",
    "outcome=refused",
    "right=0&wrong=1",
    "right=1&wrong=0&mode=easy",
    "right=1",
    "wrong=0",
    "length_min=60&length_max=110",
    "bits_max=3",
    "search=The",
    "search=nothing+seen",
    "sort=score",
    "sort=score-1&direction=down",
    "sort=length&direction=down",
    "sort=id",
    "sort=bits",
)


def test_a_folder_filters_as_the_server_does(browser: Any, dataset: Path, outputs: list[Path], folder: Path) -> None:
    data = ViewData(dataset, outputs, ScoreOptions(split="all"))
    data.score()
    page = page_of(browser, dataset, outputs, out=folder / "scored")
    counts = set()
    for text in QUERIES:
        found = data.page(Query.parse(text))
        script = "if (arguments[0]) document.querySelector('.grid').ariaBusy = true; location.hash = arguments[0]"
        page.driver.execute_script(script, text)
        page.settle()
        assert page.ids() == [item["id"] for item in found["items"]], text
        counts.add(found["total"])
    assert len(counts) > 4


def test_the_page_of_the_server(chromium: Any, dataset: Path, outputs: list[Path]) -> None:
    server = ViewServer(ViewData(dataset, outputs, ScoreOptions(split="all")), "mode=easy&sort=length")
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        page = Page(chromium, server.url)
        assert page.pressed(".bar") == ["Easy", "Answers"] and len(page.all(".card")) == 6
        page.press(".bar [data-mode=hard]")
        page.keys("f")
        page.choose("outcome", "wrong")
        assert "mode=hard" in chromium.current_url and 0 < len(page.all(".card")) < 6
        assert [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"] == []
    finally:
        chromium.get("about:blank")
        server.stop()
        thread.join(60)
    assert not thread.is_alive()


class Held(ViewData):
    """Outputs that are scored when the test lets them be."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.gate = threading.Event()

    def score(self, is_stopped: Callable[[], bool] = lambda: False) -> None:
        self.gate.wait(60)
        super().score(is_stopped)


def test_a_filter_waits_for_the_scores_and_then_works(
    chromium: Any, dataset: Path, outputs: list[Path], axe: str
) -> None:
    data = Held(dataset, outputs, ScoreOptions(split="all"))
    server = ViewServer(data)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        page = Page(chromium, server.url)
        page.wait("document.querySelectorAll('.card').length === 6")
        assert page.text().count("not scored yet") == 12 and "0 of about 12 outputs" in page.one("#scoring").text
        assert violations(chromium, axe) == []
        page.keys("f")
        page.choose("outcome", "wrong")
        assert page.all(".card, #nothing") == [] and "is applied when" in page.one("#waits").text
        data.gate.set()
        page.wait("document.querySelectorAll('.card').length === 2")
        assert page.all("#waits, #scoring") == [] and "not scored" not in page.text()
    finally:
        data.gate.set()
        chromium.get("about:blank")
        server.stop()
        thread.join(60)


def test_hostile_text_is_shown_as_text(browser: Any, dataset: Path, tampered: Tamper, tmp_path: Path) -> None:
    def change(_: str, rows: Rows) -> Rows:
        names = ("question_id", "source_id", "caption", "question")
        span = {"start": 0, "end": len(HOSTILE), "text": HOSTILE}
        return [
            row
            | dict.fromkeys(names, f"{HOSTILE}{row['question_id']}")
            | {"spans": [old | span for old in row["spans"][:1]], "crossed_text": [HOSTILE]}
            for row in rows
        ]

    first = f"{HOSTILE}{first_row(dataset, 'hard')['question_id']}"
    odd = tampered(change).rename(tmp_path / "<svg onload=alert(3)>")
    line = {"question_id": first, "mode": "hard", "view": "stacked", "model": HOSTILE, "output": HOSTILE}
    (tmp_path / "outputs.jsonl").write_text(json.dumps(line), "utf-8")
    page = page_of(browser, odd, [tmp_path / "outputs.jsonl"], out=tmp_path / "view")
    page.driver.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.pointer(".card .layer:not([hidden]) .span i")
    content = "return document.querySelector(arguments[0]).textContent"
    assert page.driver.execute_script(content, ".caption") == first
    assert page.driver.execute_script(content, ".card .id") == first
    assert page.driver.execute_script(content, ".output") == HOSTILE
    assert page.driver.execute_script(content, ".result strong") == HOSTILE
    assert page.driver.execute_script(content, "#tip strong") == HOSTILE
    assert page.driver.execute_script(content, "h1") == "<svg onload=alert(3)>"
    kinds = page.driver.execute_script("return [...new Set([...document.querySelectorAll('*')].map((e) => e.tagName))]")
    assert not {"SVG", "svg", "B"} & set(kinds)
    assert len(page.driver.find_elements("css selector", "script")) == 3
    images = page.driver.execute_script("return [...document.images].map((image) => image.getAttribute('src'))")
    assert images and all(re.fullmatch(r"images/[0-9-]+\.png", image) for image in images)
    # An alert would make this raise.
    assert page.driver.title.startswith("<svg onload=alert(3)> ·")
