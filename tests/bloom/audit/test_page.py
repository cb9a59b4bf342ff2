"""The pages of raters, as files and in a browser. The fixture ``browser`` also checks the console and the network."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import made_set, png, row
from tests.browsing import shown_at
from vcrgen.bloom.audit.answers import read_answers
from vcrgen.bloom.audit.draw import Draw, draw_set
from vcrgen.bloom.audit.page import write_pages
from vcrgen.bloom.audit.texts import TEXTS
from vcrgen.config import AuditOptions
from vcrgen.dataset.reader import Dataset
from vcrgen.tasks.opening import open_any

ENTER, ESCAPE, LEFT = "\ue007", "\ue00c", "\ue012"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \u202e"


def shown(page: Path) -> dict[str, Any]:
    text = page.read_text("utf-8")
    holder = '<script type="application/json" id="data">'
    data: dict[str, Any] = json.loads(text[text.index(holder) + len(holder) :].partition("</script>")[0])
    return data


def test_every_rater_gets_the_items_of_the_draw_and_pictures_once(made: Dataset, drawn: Draw, tmp_path: Path) -> None:
    pages = write_pages(made, drawn, tmp_path, [1, 2])
    assert [page.name for page in pages] == ["rater-1.html", "rater-2.html"]
    for rater, page in enumerate(pages, start=1):
        data = shown(page)
        mine = {item.question_id for item in drawn.items if rater in item.raters}
        assert {item["id"] for item in data["items"]} == mine and len(data["items"]) == len(mine)
        assert len(data["pictures"]) == 3 and {item["picture"] for item in data["items"]} == set(data["pictures"])
    before = [page.read_bytes() for page in pages]
    assert [page.read_bytes() for page in write_pages(made, drawn, tmp_path, [1, 2])] == before


def test_many_pictures_are_shared_out_to_several_pages(made: Dataset, drawn: Draw, tmp_path: Path) -> None:
    pages = write_pages(made, drawn, tmp_path, [1], most=len(png()))
    assert len(pages) > 3 and pages[0].name == f"rater-1-part-1-of-{len(pages)}.html"
    data = [shown(page) for page in pages]
    ids = [item["id"] for part in data for item in part["items"]]
    assert sorted(ids) == sorted(item.question_id for item in drawn.items if 1 in item.raters)
    assert all(len(part["pictures"]) == 1 for part in data)
    assert all(item["picture"] in part["pictures"] for part in data for item in part["items"])


def test_both_languages_have_the_same_texts() -> None:
    assert len({frozenset(texts) for texts in TEXTS.values()}) == 1


def wait_until_drawn(browser: Any) -> None:
    """The page asks the browser something before it reads what was kept."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 60, 0.02).until(lambda browser: browser.find_element("id", "progress").text)


def open_anew(browser: Any, page: Path) -> None:
    """The page as a rater sees it for the first time."""
    browser.get(page.as_uri())
    wait_until_drawn(browser)
    browser.execute_script("localStorage.clear()")
    reload(browser)


def reload(browser: Any) -> None:
    browser.refresh()
    wait_until_drawn(browser)


@pytest.mark.parametrize("width", [360, 1200])
def test_an_audit_by_keyboard(browser: Any, made: Dataset, drawn: Draw, tmp_path: Path, width: int) -> None:
    (page,) = write_pages(made, drawn, tmp_path, [1])
    with shown_at(browser, width):
        audit_by_keyboard(browser, page, drawn, tmp_path / "saved.jsonl")


def audit_by_keyboard(browser: Any, page: Path, drawn: Draw, saved: Path) -> None:
    open_anew(browser, page)

    def keys(*every: str) -> None:
        for key in every:
            browser.switch_to.active_element.send_keys(key)

    def count(selector: str) -> int:
        return len([one for one in browser.find_elements("css selector", selector) if one.is_displayed()])

    def wide() -> bool:
        return bool(browser.execute_script("return document.documentElement.scrollWidth > innerWidth"))

    assert count(".key") == count("#verdicts button") == 0 and not wide()
    keys("5", ENTER)  # no verdict before an answer
    assert '"key":' not in browser.execute_script("return document.documentElement.outerHTML")
    keys("2")
    assert count(".stem .key") == count(".stem .trap") == 2 and count("#verdicts button") == 5
    keys("3")  # too late to answer something else
    keys("8", "two are <b>right</b>", ESCAPE, ENTER)
    keys("0", "5", ENTER)
    browser.find_element("id", "language").click()
    assert browser.execute_script("return [document.documentElement.dir, document.documentElement.lang]") == [
        "rtl",
        "ar",
    ]
    directions = [one.value_of_css_property("direction") for one in browser.find_elements("css selector", ".stem")]
    assert directions == ["ltr", "rtl"] and not wide()
    keys("1", "5", LEFT)  # forward, where lines begin at the right
    reload(browser)
    assert browser.find_element("id", "progress").text.startswith("3 ")
    saved.write_text(browser.find_element("id", "lines").get_property("value"), "utf-8")
    read = read_answers([saved], drawn).said  # in the order of the draw; lines stand in that of the page
    said = [read[json.loads(one)["question_id"]][1] for one in saved.read_text("utf-8").splitlines()]
    assert [one.answer for one in said] == ["B", "", "A"]
    assert [one.verdict.value for one in said] == ["choices", "approve", "approve"]
    assert said[0].note == "two are <b>right</b>"


@pytest.mark.parametrize("answer", ["resolve({})", "reject(new DOMException('no', 'SecurityError'))"])
def test_nothing_kept_is_touched_before_the_browser_has_noted_the_page(
    browser: Any, made: Dataset, drawn: Draw, tmp_path: Path, answer: str
) -> None:
    (page,) = write_pages(made, drawn, tmp_path, [1])
    slow = """
        const locks = new Promise((resolve, reject) => { window.answer = { resolve, reject } });
        LockManager.prototype.query = () => locks;
        const touch = () => { window.touched = true; return null; };
        Object.assign(Storage.prototype, { getItem: touch, setItem: touch });"""
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": slow})
    try:
        browser.get(page.as_uri())
        for what in ("next", "language"):
            browser.execute_script("document.getElementById(arguments[0]).click()", what)
        browser.switch_to.active_element.send_keys("2")
        assert browser.execute_script("return window.touched") is None
        browser.execute_script(f"answer.{answer}")
        wait_until_drawn(browser)
        assert browser.execute_script("return window.touched")
        assert browser.find_element("id", "progress").text == "0 of 48 done"
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_a_browser_that_keeps_nothing_says_so(browser: Any, made: Dataset, drawn: Draw, tmp_path: Path) -> None:
    (page,) = write_pages(made, drawn, tmp_path, [1])
    open_anew(browser, page)
    full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); }; keep();"
    browser.execute_script(full)
    assert (
        browser.find_element("id", "warning").is_displayed() and not browser.find_element("id", "kept").is_displayed()
    )


def test_hostile_texts_and_ids_are_texts(browser: Any, tmp_path: Path) -> None:
    texts = {"question_en": HOSTILE, "options_en": [f"{HOSTILE}{number}" for number in range(4)]}
    rows = [
        row(number, question_id=name, **texts) for number, name in enumerate(("__proto__", "constructor", "</script>"))
    ]
    data = open_any(made_set(tmp_path / "set", rows))
    draw = draw_set(data, AuditOptions(raters=1))
    (page,) = write_pages(data, draw, tmp_path, [1])
    open_anew(browser, page)
    for _ in rows:
        for key in ("1", "5", ENTER):
            browser.switch_to.active_element.send_keys(key)
    assert browser.find_element("css selector", ".stem p").get_property("textContent") == HOSTILE
    saved = tmp_path / "saved.jsonl"
    saved.write_text(browser.find_element("id", "lines").get_property("value"), "utf-8")
    assert len(read_answers([saved], draw).said) == 3
    kept = 'localStorage.setItem(arguments[0], \'{"said":{"__proto__":{"answer":9}},"lang":"constructor","at":1e9}\')'
    browser.execute_script(kept, f"vcrgen-audit-{draw.name}-rater-1")
    reload(browser)
    assert browser.find_element("id", "progress").text == "0 of 3 done"
