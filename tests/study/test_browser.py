"""A rater in front of a real browser: keyboard, input method, phone, no connection, two tabs, accessibility."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browsing import own_size, resize, violations
from tests.study.conftest import look
from vcrgen.study.assignment import StepKind
from vcrgen.study.raters import invite
from vcrgen.study.records import Invitation, RaterState
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.items import read_frames, read_items
from vcrgen.study.store.raters import read_raters, update_rater
from vcrgen.study.store.steps import open_slots, read_steps
from vcrgen.study.visitors import release_place

pytestmark = pytest.mark.browser
PATIENCE = 180
ENTER, TAB, SPACE, END = "\ue007", "\ue004", " ", "\ue010"


class Person:
    """Somebody in front of a rater's page; only keys are used, as long as nothing else is said."""

    def __init__(self, driver: Any, url: str) -> None:
        self.driver, self.url = driver, url

    def open(self, token: str) -> None:
        self.token = token
        self.driver.get(f"{self.url}/r/{token}")

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def keys(self, *texts: str) -> None:
        for text in texts:
            self.driver.switch_to.active_element.send_keys(text)

    def wait(self, script: str) -> Any:
        from selenium.common.exceptions import WebDriverException
        from selenium.webdriver.support.ui import WebDriverWait

        # While one page takes the place of another, the browser may answer any question with an error.
        wait = WebDriverWait(self.driver, PATIENCE, 0.05, ignored_exceptions=[WebDriverException])
        return wait.until(lambda driver: driver.execute_script(f"return {script}"))

    def at(self, section: str) -> None:
        self.wait(f"document.getElementById({section!r})?.hidden === false")

    def at_step(self, number: int) -> None:
        self.at("step")
        self.wait(f"/\\d+/.exec(document.getElementById('where').textContent)?.[0] === '{number}'")

    def saved(self) -> None:
        """Wait until the page says so, and of this text: it says so of half a text, too, if keys come slowly."""
        kept = "localStorage.getItem(JSON.parse(document.getElementById('data').textContent).key)"
        said = "/^(Saved|已保存)$/.test(document.getElementById('status').textContent)"
        self.wait(f"{said} && {kept} === '{{}}'")

    def told(self) -> None:
        """Wait until a step of training shows what was right, and the keyboard goes on to the next step."""
        self.wait("!document.getElementById('answers').hidden && document.activeElement.id === 'next'")

    def tab_to(self, selector: str) -> None:
        """Press the tab key until an element has the keyboard."""
        for _ in range(40):
            if self.driver.execute_script("return document.activeElement.matches(arguments[0])", selector):
                return
            self.keys(TAB)
        raise AssertionError(f"the keyboard does not reach {selector}")

    def press(self, selector: str) -> None:
        """Reach a button by the tab key, and press it."""
        self.tab_to(selector)
        self.keys(ENTER)

    def send(self) -> None:
        """Send everything at the end."""
        self.at("end")
        self.press("#send")
        self.at("thanks")

    def begin(self, languages: str = "English") -> None:
        self.at("consent")
        self.tab_to("#languages")
        self.keys(languages)
        self.tab_to("#agree")
        self.keys(SPACE)
        self.press("#begin button")
        self.at("step")

    def fields(self) -> int:
        return len(self.driver.find_elements("css selector", "#fields .text"))

    def fill(self, text: str) -> None:
        """Type into all fields of a step, and go on."""
        self.tab_to("#text-0")
        for _ in range(self.fields()):
            self.keys(text, ENTER)

    def resize(self, width: int, height: int, ratio: float = 1) -> None:
        resize(self.driver, width, height, ratio)

    def accessible(self, axe: str) -> None:
        """Assert that axe-core finds nothing on the page."""
        assert violations(self.driver, axe) == []

    def compose(self, text: str) -> None:
        """The same by an input method, of which the page sees a composition that ends in another text."""
        self.tab_to("#text-0")
        for _ in range(self.fields()):
            half = {"text": "pin", "selectionStart": 3, "selectionEnd": 3}
            self.driver.execute_cdp_cmd("Input.imeSetComposition", half)
            self.driver.execute_cdp_cmd("Input.insertText", {"text": text})
            self.keys(ENTER)


Begun = Callable[..., tuple[Person, StudyStore]]


@pytest.fixture
def person(chromium: Any, service: Callable[[StudyStore], Any]) -> Iterator[Callable[[StudyStore], Person]]:
    """Starts the service of a study, and gives a person in front of it; after the test, that no script failed."""
    chromium.get("about:blank")
    for log in ("browser", "performance"):
        chromium.get_log(log)
    urls = []

    def start(store: StudyStore) -> Person:
        running = service(store)
        urls.append(running.url)
        return Person(chromium, running.url)

    with own_size(chromium):
        yield start
    told = [entry for entry in chromium.get_log("browser") if "Failed to load resource" not in entry["message"]]
    assert told == []
    events = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert all(url.startswith((*urls, "data:", "chrome:", "about:")) for url in asked)


@pytest.fixture
def begun(make: Callable[..., StudyStore], people: Any, person: Any) -> Begun:
    """Lets somebody begin a study without training, checks and repeats."""

    def begin(**options: Any) -> tuple[Person, StudyStore]:
        store = make(**{"training": 0, "raters": 1, "checks": 0, "repeats": 0} | options)
        visitor = person(store)
        visitor.open(people(store, 1)[0])
        visitor.begin()
        return visitor, store

    return begin


def given_of(store: StudyStore, rater: int = 1) -> list[tuple[str, ...] | None]:
    with store.reading() as connection:
        places = read_steps(connection, rater)
    return [place.response.texts if place.response else None for place in places]


def test_a_whole_study_by_keyboard_alone(make: Callable[..., StudyStore], people: Any, person: Any) -> None:
    """In Chinese, at 360 px: twelve items, two of training, a check and a repeat; then the link shows thanks."""
    store = make(limit=12, training=2, checks=1, repeats=1, raters=1, pause=5)
    token = people(store, 1, "zh")[0]
    visitor = person(store)
    visitor.resize(360, 740, 2)
    visitor.open(token)
    visitor.begin("中文, English")
    total = len(given_of(store))
    assert total == 16
    numbers = {place.number + 1: place.step.word for place in look(store, read_steps)}
    for number in range(1, total + 1):
        visitor.at_step(number)
        assert visitor.driver.execute_script("return document.documentElement.scrollWidth") <= 360
        word = numbers[number]
        assert visitor.one("#check").is_displayed() is bool(word)
        if number == 1:  # without a word it does not go on
            visitor.tab_to("#text-0")
            visitor.keys(*[ENTER] * visitor.fields())
            visitor.wait("!document.getElementById('fill').hidden")
        if number == 4:
            for place in range(visitor.fields()):
                visitor.tab_to(f"#fields li:nth-child({place + 1}) [type=checkbox]")
                visitor.keys(SPACE)
            visitor.press("#next")
        else:
            visitor.fill(word) if word else visitor.compose(f"红色的狐狸 {number}")
        if number <= 2:
            visitor.told()
            visitor.keys(ENTER)
        elif (number - 2) % 5 == 0 and number < total:
            visitor.at("pause")
            visitor.press("#resume")
    visitor.send()
    with store.reading() as connection:
        rater, places = read_raters(connection)[0], read_steps(connection, 1)
    assert rater.state is RaterState.SENT and rater.languages == "中文, English" and rater.consent
    for number, place in enumerate(places, start=1):
        assert place.response is not None and place.response.done and 0 < place.response.seconds < 300
        if number == 4:
            assert set(place.response.texts) == {""} and set(place.response.unread) == {True}
        elif place.step.kind is StepKind.CHECK:
            assert place.response.texts == (place.step.word,)
        else:
            assert set(place.response.texts) == {f"红色的狐狸 {number}"}
    visitor.open(token)  # and there it says so again
    visitor.at("thanks")


def test_an_input_method_and_its_enter(make: Callable[..., StudyStore], people: Any, person: Any) -> None:
    store = make(training=0, raters=1, checks=0, repeats=0)
    token = people(store, 1, "zh")[0]
    visitor = person(store)
    visitor.open(token)
    visitor.begin("中文")
    assert visitor.driver.execute_script("return document.documentElement.lang") == "zh"
    visitor.at_step(1)
    visitor.tab_to("#text-0")
    last = visitor.fields() - 1
    visitor.driver.execute_script("document.getElementById(arguments[0]).focus()", f"text-{last}")
    cdp = visitor.driver.execute_cdp_cmd
    cdp("Input.imeSetComposition", {"text": "hongse", "selectionStart": 6, "selectionEnd": 6})
    # The Enter by which people end a composition, as the browser tells it to pages.
    script = """
        const field = document.activeElement;
        const press = (more) => field.dispatchEvent(
          new KeyboardEvent('keydown', {key: 'Enter', bubbles: true, cancelable: true, ...more}));
        press({isComposing: true}); press({keyCode: 229});
        return field.value"""
    assert visitor.driver.execute_script(script) == "hongse"
    cdp("Input.insertText", {"text": "红色的狐狸"})
    visitor.saved()
    visitor.at_step(1)  # it did not go on
    assert given_of(store)[0] is not None and given_of(store)[0][last] == "红色的狐狸"  # type: ignore[index]


def test_a_reload_shows_what_was_typed_and_back_is_possible(begun: Begun) -> None:
    visitor, store = begun()
    visitor.at_step(1)
    visitor.fill("first <b>&amp; “quoted”</b>")
    visitor.at_step(2)
    visitor.tab_to("#text-0")
    visitor.keys("half")
    visitor.saved()
    visitor.driver.refresh()
    visitor.at_step(2)
    assert visitor.one("#text-0").get_attribute("value") == "half"
    visitor.press("#back")
    visitor.at_step(1)
    assert visitor.one("#text-0").get_attribute("value") == "first <b>&amp; “quoted”</b>"
    visitor.tab_to("#text-0")
    visitor.keys(END, "!")
    visitor.saved()
    assert given_of(store)[0][0] == "first <b>&amp; “quoted”</b>!"  # type: ignore[index]


def test_without_a_connection_answers_are_kept_and_sent_once(begun: Begun) -> None:
    visitor, store = begun()
    visitor.at_step(1)
    visitor.wait("performance.getEntriesByType('resource').some((entry) => entry.name.endsWith('/step/1'))")
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    visitor.driver.execute_cdp_cmd("Network.enable", {})
    visitor.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    try:
        visitor.fill("typed offline")
        visitor.at_step(2)
        visitor.fill("so was this")
        visitor.wait("document.getElementById('status').textContent.startsWith('No connection')")
        assert given_of(store)[:2] == [None, None]
    finally:
        visitor.driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline | {"offline": False})
    visitor.at_step(3)
    visitor.saved()
    assert [set(texts or ()) for texts in given_of(store)[:2]] == [{"typed offline"}, {"so was this"}]
    assert visitor.driver.execute_script("return JSON.stringify(localStorage)").endswith('"{}"}')


def test_what_cannot_be_saved_is_kept_and_told(begun: Begun) -> None:
    """Half of an emoji, as some input methods leave it: it survives a reload, and holds up the sending."""
    visitor, store = begun(limit=2)
    for number in (1, 2):
        visitor.at_step(number)
        visitor.fill("typed")
    visitor.at("end")
    visitor.press("#change")
    visitor.at_step(2)
    half = """
        const field = document.getElementById('text-0');
        field.value = 'red \\ud83e fox';
        field.dispatchEvent(new Event('input'))"""
    visitor.driver.execute_script(half)
    visitor.wait("!document.getElementById('refused').hidden")
    assert "half of a character" in visitor.one("#refused").text and visitor.one("#status").text == "Not saved"
    visitor.press("#next")
    visitor.at("end")
    visitor.driver.refresh()
    visitor.at("end")
    visitor.press("#send")
    visitor.at_step(2)
    assert visitor.driver.execute_script("return document.getElementById('text-0').value.length") == len("red x fox")
    assert visitor.one("#refused").is_displayed()
    with store.reading() as connection:
        assert read_raters(connection)[0].state is RaterState.WORKING
    visitor.driver.execute_script(half.replace("\\ud83e", "\\ud83e\\udd8a"))
    visitor.saved()
    assert not visitor.one("#refused").is_displayed()
    assert given_of(store)[1][0] == "red 🦊 fox"  # type: ignore[index]
    visitor.driver.execute_script(half)
    visitor.wait("!document.getElementById('refused').hidden")
    visitor.press("#drop")
    visitor.at("end")  # and the text that was saved is there again
    visitor.press("#change")
    visitor.at_step(2)
    assert visitor.driver.execute_script("return document.getElementById('text-0').value.length") == len("red xx fox")


def test_a_visitor_of_prolific_agrees_and_sees_the_code_again(make: Callable[..., StudyStore], person: Any) -> None:
    store = make(limit=2, training=0, raters=1, checks=0, repeats=0, max_fast=1.0)
    _, link = invite(store, 1, "en", Invitation(code="C1A2", speaks=("English",), keeps_ids=True))
    visitor = person(store)
    visitor.driver.get(f"{visitor.url}/join/{link}?PROLIFIC_PID={'5f' * 12}")
    visitor.at("consent")
    assert "Your ID at Prolific is stored" in visitor.one("#consent").text
    visitor.tab_to("#languages")
    visitor.keys("Deutsch")
    visitor.tab_to("#agree")
    visitor.keys(SPACE)
    visitor.press("#begin button")
    visitor.at("unfit")
    assert visitor.one("#unfit").text.endswith("English")
    visitor.driver.refresh()
    visitor.begin()
    visitor.at_step(1)
    assert "/r/vcrs_" in visitor.driver.current_url
    visitor.fill("typed")
    visitor.at_step(2)
    visitor.saved()
    visitor.driver.get(f"{visitor.url}/join/{link}?PROLIFIC_PID={'6f' * 12}")
    assert visitor.one("h1").text == "The study is full"
    # From a page of another site, as Prolific's is, the link leads back to where the visitor was.
    link_elsewhere = f'<a href="{visitor.url}/join/{link}?PROLIFIC_PID={"5f" * 12}">take part</a>'
    visitor.driver.get(f"data:text/html,{link_elsewhere}")
    visitor.one("a").click()
    visitor.at_step(2)
    visitor.driver.delete_all_cookies()
    visitor.driver.get(f"{visitor.url}/join/{link}?PROLIFIC_PID={'5f' * 12}")
    assert visitor.one("h1").text == "You began in another browser"
    release_place(store, "5f" * 12)
    visitor.driver.refresh()
    visitor.begin()
    visitor.at_step(2)
    # Sent by another way, as the page would go on to Prolific, out of this machine.
    with store.writing() as connection:
        update_rater(connection, 1, state=RaterState.SENT)
    visitor.driver.refresh()
    visitor.at("thanks")
    assert "C1A2" in visitor.one("#paid").text and visitor.one("#return").get_attribute("href").endswith("cc=C1A2")


def test_the_part_that_has_the_keyboard_is_framed_and_its_length_told(
    make: Callable[..., StudyStore], people: Any, person: Any
) -> None:
    store = make(training=1, raters=1, checks=0, repeats=0)
    visitor = person(store)
    visitor.resize(390, 844, 2)
    visitor.open(people(store, 1)[0])
    visitor.at("consent")
    with store.reading() as connection:
        design, items = read_design(connection), read_items(connection)
        first = read_steps(connection, 1)[0].step
        frames = read_frames(connection, first.item, first.condition)
    example = items[design.example or 0]
    shown = visitor.driver.find_elements("css selector", "#consent ol bdi")
    assert tuple(one.text for one in shown) == example.answers
    visitor.wait(
        "document.querySelectorAll('#consent .frame b').length === document.querySelectorAll('#consent ol li').length"
    )
    visitor.begin()
    visitor.at_step(1)
    assert not visitor.driver.find_elements("css selector", "#shown .frame")
    visitor.tab_to("#text-0")
    for number in range(visitor.fields()):
        where = """
            const [picture, times] = [document.getElementById('picture').getBoundingClientRect(), arguments[0]];
            return [...document.querySelectorAll('#shown .frame')].map((box) => {
              const at = box.getBoundingClientRect();
              return [at.left - picture.left, at.top - picture.top, at.right - picture.left, at.bottom - picture.top];
            })"""
        times = visitor.driver.execute_script(
            "const p = document.getElementById('picture'); return p.getBoundingClientRect().width / p.naturalWidth"
        )
        found = [[round(side / times) for side in box] for box in visitor.driver.execute_script(where)]
        assert found == frames[number]
        words = items[first.item].lengths[number]
        assert visitor.one(f"#length-{number}").text == f"{words} word{'s' * (words > 1)}"
        visitor.keys("typed", ENTER)
    visitor.told()


def test_back_of_the_browser_is_a_step_back(begun: Begun) -> None:
    visitor, _ = begun()
    for number in (1, 2):
        visitor.at_step(number)
        visitor.fill(f"typed {number}")
    visitor.at_step(3)
    visitor.tab_to("#text-0")
    visitor.keys("half")
    for number in (2, 1):
        visitor.driver.back()
        visitor.at_step(number)
        assert visitor.one("#text-0").get_attribute("value") == f"typed {number}"
    visitor.driver.back()  # and there it stays
    visitor.saved()
    visitor.at_step(1)
    visitor.driver.refresh()
    visitor.at_step(3)
    assert visitor.one("#text-0").get_attribute("value") == "half"
    visitor.driver.back()
    visitor.at_step(2)


# What a step held when the page asked for it arrives long after what the rater typed was sent again and saved.
LATE = """
    const real = window.fetch;
    window.fetch = async (url, options) => {
      const answer = await real(url, options);
      if (/\\/step\\/\\d+$/.test(url) && !options.method) {
        while (localStorage.length && Object.values(localStorage)[0] !== '{}')
          await new Promise((go) => setTimeout(go, 20));
      }
      return answer;
    };"""


def test_a_late_answer_does_not_bring_older_text_back(begun: Begun) -> None:
    visitor, store = begun()
    visitor.at_step(1)
    visitor.driver.execute_script("window.fetch = () => Promise.reject(new TypeError())")
    visitor.tab_to("#text-0")
    visitor.keys("typed before the reload")
    late = visitor.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": LATE})
    try:
        visitor.driver.refresh()
        visitor.at_step(1)
        assert visitor.one("#text-0").get_attribute("value") == "typed before the reload"
    finally:
        visitor.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", late)
    visitor.saved()
    assert given_of(store)[0][0] == "typed before the reload"  # type: ignore[index]


# The question whether there is more to do reaches the service when all is sent already, and is answered before that.
OVERTAKEN = """
    const real = window.fetch, told = {};
    const sent = new Promise((go) => { told.sent = go; });
    const more = new Promise((go) => { told.more = go; });
    window.fetch = async (url, options) => {
      if (url.endsWith('/more')) await sent;
      const answer = await real(url, options);
      if (url.endsWith('/more')) setTimeout(told.more);
      if (url.endsWith('/send')) { told.sent(); await more; }
      return answer;
    };"""


def test_whoever_sends_at_once_is_thanked(begun: Begun) -> None:
    visitor, store = begun(limit=2)
    visitor.driver.execute_script(OVERTAKEN)
    for number in (1, 2):
        visitor.at_step(number)
        visitor.fill("typed")
    visitor.at("end")
    visitor.press("#send")
    visitor.wait("!document.getElementById('thanks').hidden || !document.getElementById('gone').hidden")
    assert visitor.one("#thanks").is_displayed()
    with store.reading() as connection:
        assert read_raters(connection)[0].state is RaterState.SENT


def test_a_second_tab_cannot_answer_too(begun: Begun) -> None:
    visitor, store = begun()
    visitor.at_step(1)
    first = visitor.driver.current_window_handle
    visitor.driver.switch_to.new_window("tab")
    second = visitor.driver.current_window_handle
    try:
        visitor.open(visitor.token)
        visitor.at_step(1)
        visitor.driver.switch_to.window(first)
        visitor.tab_to("#text-0")
        # All at once: between keys that come slowly the page would be gone.
        visitor.driver.execute_cdp_cmd("Input.insertText", {"text": "of the first tab"})
        visitor.at("elsewhere")
        assert given_of(store)[0] is None
        visitor.press("#take")
        visitor.at_step(1)
        visitor.saved()  # what was typed there is not lost
        assert visitor.one("#text-0").get_attribute("value") == "of the first tab"
        visitor.driver.switch_to.window(second)
        visitor.tab_to("#text-0")
        visitor.keys("x")
        visitor.at("elsewhere")
    finally:
        visitor.driver.switch_to.window(second)
        visitor.driver.close()
        visitor.driver.switch_to.window(first)


def test_pixels_of_the_picture_are_whole_pixels_of_the_screen(begun: Begun) -> None:
    """Rows of one or two pixels, all that is left of covered letters, vanish at other sizes (T12)."""
    visitor, _ = begun()
    visitor.wait("document.getElementById('picture').complete")
    script = "const p = document.getElementById('picture'); return [p.naturalWidth, p.getBoundingClientRect().width]"
    for ratio, width, height, times in (
        (1, 1200, 3000, 3),
        (1, 1200, 800, 2),
        (1, 360, 740, 2),
        (2, 390, 740, 1),
        (1.5, 900, 740, 2),
    ):
        visitor.resize(width, height, ratio)
        visitor.driver.execute_script("window.dispatchEvent(new Event('resize'))")
        natural, shown = visitor.driver.execute_script(script)
        assert round(shown * ratio / natural, 6) == round(times * ratio), (ratio, width)
        assert visitor.driver.execute_script("return document.documentElement.scrollWidth") <= width
    visitor.resize(1280, 720)
    visitor.driver.execute_script("window.dispatchEvent(new Event('resize'))")
    script = (
        "const box = name => document.getElementById(name).getBoundingClientRect();"
        "return [box('picture').bottom, box('sizes').bottom, box('picture').right, box('fields').left, scrollY]"
    )
    covered, sizes, right, left, scrolled = visitor.driver.execute_script(script)
    assert covered < sizes <= 720 and right < left and scrolled == 0  # the covered lines, beside the fields
    style = "return getComputedStyle(document.getElementById('picture')).imageRendering"
    assert visitor.driver.execute_script(style) == "pixelated"


def test_axe_finds_nothing(make: Callable[..., StudyStore], people: Any, person: Any, axe: str) -> None:
    store = make(training=1, raters=1, checks=0)
    visitor = person(store)
    for lang, width in (("en", 1200), ("zh", 360)):
        visitor.resize(width, 900)
        visitor.open(people(store, 1, lang)[0])
        visitor.at("consent")
        visitor.accessible(axe)
        visitor.begin()
        visitor.at_step(1)
        visitor.accessible(axe)
        visitor.fill("nothing")
        visitor.told()
        visitor.accessible(axe)
        visitor.keys(ENTER)
        visitor.at_step(2)
        visitor.accessible(axe)
    visitor.driver.get(f"{visitor.url}/maintain")
    visitor.accessible(axe)
    visitor.one("#token").send_keys(store.token, ENTER)  # type: ignore[attr-defined]
    visitor.wait("document.querySelector('table') !== null")
    visitor.accessible(axe)


def test_the_page_for_maintainers(make: Callable[..., StudyStore], people: Any, person: Any) -> None:
    store = make(training=0, raters=1, checks=0, repeats=0)
    tokens = people(store, 2)
    visitor = person(store)
    visitor.open(tokens[0])
    visitor.begin("<script>alert(1)</script>")
    visitor.at_step(1)
    visitor.fill("typed")
    visitor.at_step(2)
    visitor.saved()
    visitor.driver.get(f"{visitor.url}/maintain")
    visitor.one("#token").send_keys(store.token, ENTER)  # type: ignore[attr-defined]
    visitor.wait("document.querySelectorAll('tbody tr').length === 2")
    row = visitor.one("tbody tr").text
    assert re.match(r"r1 working <script>alert\(1\)</script> 1 of 6 ", row)
    visitor.one("button[value=r1]").click()
    visitor.wait("document.querySelectorAll('button[name=end]').length === 1")
    assert "left" in visitor.one("tbody tr").text
    visitor.open(tokens[0])
    assert visitor.one("h1").text == "There is no such page"
    with store.reading() as connection:
        assert len(open_slots(connection, read_design(connection))) == 5
