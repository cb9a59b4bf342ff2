"""The pages in a browser. The fixture ``browser`` also checks the console and the network after every test."""

import dataclasses
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.browsing import own_size, resize
from tests.leaderboard import examples
from vcrgen.leaderboard.records import SubmissionStatus
from vcrgen.leaderboard.site import names
from vcrgen.leaderboard.site.board_pages import BOARD_PAGES, QUERY_PAGES
from vcrgen.leaderboard.site.render import Pages

pytestmark = pytest.mark.browser


@pytest.fixture
def browser(browser: Any) -> Iterator[Any]:
    """The browser with its own settings again after the test."""
    with own_size(browser):
        yield browser
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {})
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


class Page:
    """The opened page, as somebody sees it."""

    def __init__(self, driver: Any, html: str, file: Path) -> None:
        self.driver = driver
        self.file = file
        file.write_text(html, "utf-8")
        driver.get(file.as_uri())

    def all(self, selector: str) -> list[Any]:
        """Elements that are shown."""
        return [each for each in self.driver.find_elements("css selector", selector) if each.is_displayed()]

    def one(self, selector: str) -> Any:
        return self.all(selector)[0]

    def press(self, selector: str) -> None:
        self.driver.execute_script(
            "arguments[0].scrollIntoView({block: 'center', inline: 'center'})", self.one(selector)
        )
        self.one(selector).click()

    def keys(self, text: str) -> None:
        self.driver.switch_to.active_element.send_keys(text)

    def column(self, number: int, table: str = ".board") -> list[str]:
        """The first line of each shown cell of a column of the first such table."""
        script = (
            "const shown = [...document.querySelector(arguments[0]).tBodies[0].rows].filter((row) => !row.hidden);"
            "const cells = shown.map((row) => row.cells[arguments[1]]);"
            "return cells.map((cell) => (cell.querySelector('b, bdi') ?? cell).textContent.trim())"
        )
        return list(self.driver.execute_script(script, table, number))

    def head(self, text: str) -> Any:
        """The button in the head of a column of the first table."""
        return next(button for button in self.all(".sortable thead button") if button.text.startswith(text))

    def sorted_by(self, table: str = ".sortable") -> list[tuple[str, str]]:
        heads = self.driver.find_elements("css selector", f"{table} th[aria-sort]")
        return [(head.text.split("\n")[0].strip(" ↑↓"), head.get_attribute("aria-sort")) for head in heads]

    def fill(self, field: str, value: str) -> None:
        """Put a value into a filter as typing it would; the form of a typed date goes by the browser's language."""
        script = (
            "const field = document.querySelector('.filters form').elements[arguments[0]]; field.value = arguments[1];"
            "field.dispatchEvent(new Event('input', {bubbles: true}))"
        )
        self.driver.execute_script(script, field, value)

    def count(self) -> str:
        return str(self.one("#count").text)


@pytest.fixture
def pages() -> Pages:
    return Pages(examples.site())


@pytest.fixture
def board(browser: Any, pages: Pages, tmp_path: Path) -> Page:
    return Page(browser, pages.board(examples.table()), tmp_path / names.INDEX)


EXACT, TEI, MODEL = 3, 5, 1  # columns; the drawing is column 2


def shares(column: list[str]) -> list[float]:
    return [float(text) for text in column if text != "–"]


def test_sorting_by_click(board: Page) -> None:
    ranks = board.column(0)
    assert ranks == sorted(ranks, key=int) and board.sorted_by(".board")[0] == ("Rank", "ascending")
    board.head("Exact match").click()
    assert shares(board.column(EXACT)) == sorted(shares(board.column(EXACT)), reverse=True)
    board.head("Exact match").click()
    assert shares(board.column(EXACT)) == sorted(shares(board.column(EXACT)))
    assert board.sorted_by(".board")[0] == ("Exact match", "ascending")
    board.head("Model").click()
    models = board.column(MODEL)
    assert models.index("Aurora-VL 7B") < models.index("Aurora-VL 72B") < models.index("Fjord 2 Mini")


def test_missing_values_are_last_either_way(board: Page) -> None:
    head = board.all(".board thead button")[4]
    assert head.text.startswith("Exact match") and "TEI" in head.text
    for descending in (True, False):
        head.click()
        values = board.column(TEI)
        assert values.index("–") == len(shares(values)) > 0
        assert shares(values) == sorted(shares(values), reverse=descending)


def test_sorting_is_stable(board: Page) -> None:
    board.head("Model").click()
    by_name = board.column(MODEL)
    board.head("Rank").click()
    ranks, models = board.column(0), board.column(MODEL)
    for rank in set(ranks):
        mine = [model for model, of in zip(models, ranks, strict=True) if of == rank]
        assert mine == [model for model in by_name if model in mine]


def test_sorting_by_keyboard(board: Page) -> None:
    board.driver.execute_script("document.querySelector('.board thead button').focus()")
    board.keys("\ue004")  # tab
    assert board.driver.switch_to.active_element.text.startswith("Model")
    board.keys("\ue007")  # enter
    assert board.sorted_by(".board")[0] == ("Model", "ascending")
    board.keys(" ")
    assert board.sorted_by(".board")[0] == ("Model", "descending")
    assert board.driver.switch_to.active_element.text.startswith("Model")


def test_the_first_stop_of_the_keyboard_skips_to_the_content(board: Page) -> None:
    board.driver.find_element("css selector", "body").send_keys("\ue004")
    link = board.driver.switch_to.active_element
    assert link.text == "Skip to the content" and link.is_displayed()
    board.keys("\ue007")
    assert board.driver.switch_to.active_element.get_attribute("id") == "main"


def test_search(board: Page) -> None:
    assert not board.all(".filters form")  # which opens on request
    board.press(".filters summary")
    assert board.count() == "27 of 27 models"
    board.one("[name=search]").send_keys("FJORD pro")
    assert board.count() == "3 of 27 models"
    assert set(board.column(MODEL)) == {"Fjord 2 Pro", "Fjord 2 Pro v2", "Fjord 2 Pro v3"}
    board.keys(" nothing like it")
    assert board.count() == "0 of 27 models"
    assert board.one("#nothing").text == "No model matches these filters."
    board.press("[type=reset]")
    assert board.count() == "27 of 27 models" and not board.all("#nothing")


def test_filters(board: Page) -> None:
    board.press(".filters summary")
    board.press("[name=access] option:nth-child(3)")
    assert {name.split(" v")[0] for name in board.column(MODEL)} == {"Fjord 2 Pro", "Fjord 2 Mini"}
    board.press("[type=reset]")
    board.one("[name=least]").send_keys("7")
    board.one("[name=most]").send_keys("9")
    assert {name.split(" v")[0] for name in board.column(MODEL)} == {"Aurora-VL 7B", "观海 9B", "بصر 8B"}
    board.press("[type=reset]")
    board.fill("received", "2026-11-01")
    received = [cell.text for cell in board.all(".board tbody td:last-child")]
    assert received and min(received) >= "2026-11-01" and len(received) < 27
    board.press("[type=reset]")
    board.fill("released", "2026-10-01")
    assert {name.split(" v")[0] for name in board.column(MODEL)} == {"Fjord 2 Pro", "Fjord 2 Mini"}


def test_enter_in_a_filter_leaves_the_page_as_it_is(board: Page) -> None:
    board.press(".filters summary")
    board.one("[name=search]").send_keys("Iris\ue007")
    assert board.count().endswith("of 27 models") and "search=" not in board.driver.current_url


def test_without_scripts_the_page_is_complete(board: Page) -> None:
    board.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    board.driver.get(board.file.as_uri())
    rows = board.driver.find_elements("css selector", ".board tbody tr")
    assert len(rows) == 27 and all(row.is_displayed() for row in rows)
    assert board.all("button, input, select, output") == []
    assert board.one("thead th.m").text == "Model"
    ranks = [cell.text for cell in board.all("[data-counted] td.r b")][:25]
    assert ranks == sorted(ranks, key=int)


def everything(pages: Pages) -> dict[str, str]:
    hidden = next(track for track in examples.tracks() if track.hidden)
    hostile = examples.hostile_facts()
    long = dataclasses.replace(hostile, model="x" * 80, team="W" * 80, link=f"https://example.org/{'y' * 280}")
    mine = Pages(examples.site(models=[hostile, long], text=examples.HOSTILE))
    rows = {"gap.html": examples.gaps(), "history.html": examples.events(), names.REPORTED: examples.reported()}
    return {
        "board": pages.board(examples.table()),
        "hidden": pages.board(examples.table(hidden)),
        "model": pages.model(examples.model_page()),
        "compare": pages.compare(examples.compare_page()),
        "submit": pages.submit({}, ["The token is not known."]),
        "queued": pages.status(examples.submission(), 1, []),
        "failed": pages.status(examples.submission(SubmissionStatus.FAILED, problems=("z" * 300,)), 0, []),
        "scored": pages.status(examples.submission(SubmissionStatus.SCORED), 0, [examples.cell(hidden)]),
        "message": pages.message("Not found", "There is no such page."),
        "long model": mine.model(examples.model_page(long)),
        "long pair": mine.compare(examples.compare_page(hostile, long)),
        "long choice": mine.page(BOARD_PAGES[names.COMPARE]),
    } | {row.name: pages.page(row, rows.get(row.name, ())) for row in QUERY_PAGES}


TARGETS = """
return [...document.querySelectorAll("a, button, summary, input, select")].filter((each) => {
  const box = each.getBoundingClientRect();
  const inline = each.closest("p, .prose li, footer") && !each.closest(".all");
  return box.width && !inline && (box.height < 24 || box.width < 24) && !each.matches(".all input");
}).map((each) => each.outerHTML.slice(0, 100));
"""


# A page chooses its columns by the width that it is loaded at, so one load stands for two widths.
@pytest.mark.parametrize("widths", [(360, 390), (768, 1280)], ids=["phone", "desk"])
def test_every_page_fits_and_can_be_pressed_read_aloud_and_reached_by_keys(
    browser: Any, pages: Pages, tmp_path: Path, widths: tuple[int, int]
) -> None:
    for kind, html in everything(pages).items():
        resize(browser, widths[0])
        page = Page(browser, html, tmp_path / f"{kind}.html")
        heads = browser.find_elements("css selector", "th")
        assert all(head.get_attribute("textContent").strip() for head in heads), kind
        assert browser.find_elements("css selector", "pre:not([tabindex='0'])") == [], kind
        assert browser.execute_script(TARGETS) == [], kind
        resize(browser, widths[1])
        assert browser.execute_script(TARGETS) == [], kind
        browser.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        for width in widths:
            resize(browser, width)
            wide = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            assert wide[0] <= wide[1] == width, (kind, width)
        assert page.one("h1").text


def test_the_name_stays_while_a_table_scrolls_on_a_phone(browser: Any, board: Page) -> None:
    resize(browser, 360)
    place = "return document.querySelector('.board tbody th').getBoundingClientRect().x"
    browser.execute_script("document.querySelector('.wide').scrollLeft = 52")
    before = browser.execute_script(place)
    browser.execute_script("document.querySelector('.wide').scrollLeft = 300")
    assert browser.execute_script("return document.querySelector('.wide').scrollLeft") > 200
    assert browser.execute_script(place) == pytest.approx(before, abs=1)


def test_light_and_dark(browser: Any, board: Page) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    for scheme, colour in (("light", "rgb(246, 244, 239)"), ("dark", "rgb(21, 23, 26)")):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        assert browser.execute_script(ground) == colour


def test_hostile_texts_are_shown_as_text(browser: Any, tmp_path: Path) -> None:
    facts = examples.hostile_facts()
    table = examples.table(count=3)
    rankings = tuple(
        dataclasses.replace(each, rows=tuple(dataclasses.replace(row, facts=facts) for row in each.rows))
        for each in table.rankings
    )
    html = Pages(examples.site(models=[facts], text=examples.HOSTILE)).board(
        dataclasses.replace(table, rankings=rankings)
    )
    page = Page(browser, html, tmp_path / "board.html")
    page.head("Model").click()
    page.press(".filters summary")
    page.one("[name=search]").send_keys("<script>")
    assert page.count() == "5 of 5 models"
    assert page.column(MODEL)[0] == facts.model
    assert page.one(".brand > span").text == examples.HOSTILE
    assert browser.find_elements("css selector", "img, iframe") == []
    assert len(browser.find_elements("css selector", "script")) == 1


def test_links_between_files_work(browser: Any, tmp_path: Path) -> None:
    pages = Pages(examples.site(live=False))
    model = examples.facts(2)
    (tmp_path / names.model_name(model.entry)).write_text(pages.model(examples.model_page(model)), "utf-8")
    (tmp_path / names.ABOUT).write_text(pages.page(BOARD_PAGES[names.ABOUT]), "utf-8")
    page = Page(browser, pages.board(examples.table()), tmp_path / names.INDEX)
    page.press(".board tbody th a")
    assert page.one("h1").text == model.model
    page.press(f"nav a[href='{names.ABOUT}']")
    assert page.one("h1").text == "About this board"
    assert page.one("nav [aria-current=page]").text == "About"


@pytest.fixture
def many(pages: Pages) -> str:
    """A page with 35 quoted rows."""
    one = examples.reported()[0]
    rows = tuple(dataclasses.replace(one, model=f"Model {number:02}", exact=number / 100) for number in range(35))
    return pages.page(BOARD_PAGES[names.REPORTED], rows)


def test_quoted_rows_come_on_pages(browser: Any, many: str, tmp_path: Path) -> None:
    page = Page(browser, many, tmp_path / "board.html")
    place = lambda: page.one(".pages output").text  # noqa: E731
    assert place() == "1 to 10 of 35" and page.column(0, ".quoted") == [f"Model {n:02}" for n in range(10)]
    assert not page.one(".pages button").is_enabled()
    for _ in range(3):
        page.all(".pages button")[1].click()
    assert place() == "31 to 35 of 35" and len(page.column(0, ".quoted")) == 5
    assert not page.all(".pages button")[1].is_enabled()
    page.fill("search", "MODEL 26")
    assert place() == "1 to 1 of 1" and page.column(0, ".quoted") == ["Model 26"]
    page.fill("search", "MODEL 26x")
    assert place() == "no row" and page.column(0, ".quoted") == []
    page.fill("search", "Model 34")
    assert page.column(0, ".quoted") == ["Model 34"]
    page.fill("search", "")
    page.one(".quoted thead button").click()
    page.one(".quoted thead button").click()
    assert page.column(0, ".quoted")[0] == "Model 34"


def test_quoted_rows_without_the_script(browser: Any, many: str, tmp_path: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    page = Page(browser, many, tmp_path / "board.html")
    assert len(page.all(".quoted tbody tr")) == 10 and "Show all 35 rows" in page.one(".all").text
    page.one(".all input").click()
    assert len(page.all(".quoted tbody tr")) == 35


def test_the_history_fits_a_phone(browser: Any, pages: Pages, tmp_path: Path) -> None:
    resize(browser, 400)
    page = Page(browser, pages.page(BOARD_PAGES["history.html"], examples.events()), tmp_path / "history.html")
    inside = "const box = document.querySelector('.wide'); return [box.scrollWidth, box.clientWidth]"
    wide, seen = browser.execute_script(inside)
    assert wide <= seen, "nothing has to be scrolled sideways"
    assert page.one(".log tbody tr").is_displayed()


def test_a_long_history_comes_on_pages(browser: Any, pages: Pages, tmp_path: Path) -> None:
    page = Page(browser, pages.page(BOARD_PAGES["history.html"], examples.events(120)), tmp_path / "history.html")
    assert page.one(".pages output").text == "1 to 50 of 120" and len(page.all(".log tbody tr")) == 50
    page.one(".pages input").send_keys("removed")
    assert page.one(".pages output").text == "1 to 30 of 30"


def test_columns_are_chosen(board: Page) -> None:
    def shown() -> list[str]:
        return [head.text.split("\n")[0].strip(" ↑↓") for head in board.all(".board thead th") if head.text.strip()]

    before = shown()
    board.press("details.columns summary")
    labels = board.all("details.columns label")
    labels[1].click()
    after = shown()
    assert len(after) == len(before) - len(board.all("table.board"))
    board.driver.refresh()
    assert shown() == after, "the next page knows it"
    board.driver.execute_script("localStorage.clear()")
    resize(board.driver, 390)
    board.driver.refresh()
    wide = board.driver.execute_script(
        "const box = document.querySelector('.wide'); return box.scrollWidth - box.clientWidth"
    )
    assert len(shown()) < len(before) and wide <= 0, "no column is cut"


@pytest.mark.parametrize("name", ["model", "compare", "about", "board", "history"])
def test_no_table_is_cut_on_a_telephone(name: str, browser: Any, tmp_path: Path) -> None:
    pages = Pages(examples.site())
    html = {
        "model": lambda: pages.model(examples.model_page()),
        "compare": lambda: pages.compare(examples.compare_page()),
        "about": lambda: pages.page(BOARD_PAGES[names.ABOUT]),
        "board": lambda: pages.board(examples.table()),
        "history": lambda: pages.page(BOARD_PAGES["history.html"], examples.events()),
    }
    resize(browser, 390)
    page = Page(browser, html[name](), tmp_path / "page.html")
    browser.execute_script("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    cut = (
        "return [...document.querySelectorAll('.wide, figure, body')].filter("
        "(each) => each.scrollWidth > each.clientWidth).map((each) => each.outerHTML.slice(0, 200))"
    )
    assert page.all("table") and browser.execute_script(cut) == []


@pytest.mark.parametrize("years", [2, 7, 12])
def test_labels_below_a_chart_do_not_touch(years: int, browser: Any, tmp_path: Path) -> None:
    table = examples.table()
    rows = [
        dataclasses.replace(row, facts=dataclasses.replace(row.facts, released=date(2014 + number % years, 6, 1)))
        for number, row in enumerate(table.rankings[0].rows)
    ]
    ranked = dataclasses.replace(table.rankings[0], rows=tuple(rows))
    resize(browser, 390)
    html = Pages(examples.site()).board(dataclasses.replace(table, rankings=(ranked,)))
    Page(browser, html, tmp_path / "page.html")
    boxes = browser.execute_script(
        "return [...document.querySelector('svg.sc').querySelectorAll('text')]"
        ".map((each) => each.getBoundingClientRect()).map((box) => [box.left, box.right])"
    )
    assert len(boxes) > 1 and all(left > right for (_, right), (left, _) in pairwise(boxes))
