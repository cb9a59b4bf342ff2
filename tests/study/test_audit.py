"""An audit as a study: who looks at what, when the key is told, and what `vcrgen bloom audit report` makes of it."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from tests.bloom.audit.conftest import line
from tests.bloom.conftest import PATHS, made_set, row
from tests.study.conftest import look
from tests.study.test_browser import ENTER, Person, person  # noqa: F401 - fixtures
from tests.study.test_service import Client
from vcrgen.bloom.audit.audit_report import write_report
from vcrgen.bloom.audit.draw import Draw, DrawnItem, draw_set, write_draw
from vcrgen.bloom.options import AuditOptions
from vcrgen.core.errors import DatasetError, StudyError
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.study.assignment import StepKind
from vcrgen.study.exports import export
from vcrgen.study.page_texts import AUDIT, MCQ, VCR, PageTexts
from vcrgen.study.raters import forget, invite, rater_by_name, withdraw
from vcrgen.study.report import make_report
from vcrgen.study.service.app import make_app
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.items import read_items
from vcrgen.study.store.raters import read_raters
from vcrgen.study.store.steps import read_step, read_steps

ESCAPE, LEFT, RIGHT = "\ue00c", "\ue012", "\ue014"
SAVED = {"en": "Saved", "ar": "حُفظ"}
ITEMS, OVERLAP = 8, 0.5


def drawn(folder: Path, **changes: Any) -> tuple[Path, Path, Draw]:
    """A set of 24 items of six leaves, and an audit of eight of them by two raters, four by both."""
    rows = [row(number, path=PATHS[number % 6], **changes) for number in range(24)]
    data = made_set(folder / "set", rows)
    draw = draw_set(open_task_dataset(data), AuditOptions(items=ITEMS, per_category=1, overlap=OVERLAP))
    write_draw(folder / "audit" / "draw.json", draw)
    return data, folder / "audit", draw


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Draw]:
    return drawn(tmp_path_factory.mktemp("audited"))


@pytest.fixture
def auditing(make: Callable[..., StudyStore], audit: tuple[Path, Path, Draw]) -> Callable[..., StudyStore]:
    """Makes a study of the audit."""
    return lambda name="study", **options: make(
        audit[0], name, **{"audit": str(audit[1]), "limit": None, "training": None} | options
    )


def held(store: StudyStore, rater: int | None = None) -> set[tuple[str, int]]:
    """Ids and raters of the draw of what a rater, or everybody, is asked."""
    with store.reading() as connection:
        items, places = read_items(connection), read_steps(connection, rater)
    return {(items[place.step.item].question_id, place.step.turn + 1) for place in places}


def of_draw(draw: Draw, rater: int) -> set[tuple[str, int]]:
    return {(item.question_id, rater) for item in draw.items if rater in item.raters}


class Auditor(Client):
    """A rater of an audit as a program."""

    def say(
        self, number: int, answer: str = "", verdict: str = "", note: str = "", *, revision: int = 1, **more: Any
    ) -> Any:
        """Send what is said of an item; it is done when there is a verdict."""
        said = {"texts": [answer, verdict, note], "unread": [not answer, False, False], "seconds": 1.5}
        return self.post(f"step/{number}", **said | {"done": bool(verdict), "revision": revision} | more)


def started(store: StudyStore, lang: str = "en") -> Auditor:
    rater = Auditor(TestClient(make_app(store), raise_server_exceptions=False), invite(store, 1, lang)[0][0])
    rater.begin()
    return rater


def test_who_looks_at_what_is_what_was_drawn(
    auditing: Callable[..., StudyStore], audit: tuple[Path, Path, Draw]
) -> None:
    store, draw = auditing(), audit[2]
    assert len(invite(store, 5, "en")[0]) == 2
    assert held(store, 1) == of_draw(draw, 1) and held(store, 2) == of_draw(draw, 2)
    assert len(held(store)) == ITEMS * (1 + OVERLAP)
    with pytest.raises(StudyError, match="Nobody else is needed"):
        invite(store, 1, "ar")
    with pytest.raises(StudyError, match="no pages in 'zh'; choose --lang en or ar"):
        invite(store, 1, "zh")
    with store.reading() as connection:
        assert {place.step.kind for place in read_steps(connection)} == {StepKind.ITEM}


def test_what_a_rater_leaves_goes_to_the_next_one(
    auditing: Callable[..., StudyStore], audit: tuple[Path, Path, Draw]
) -> None:
    store, draw = auditing(), audit[2]
    rater = started(store)
    assert rater.say(0, "A").json()["saved"] and rater.say(0, "A", "approve", revision=2).json()["saved"]
    rater.say(1, "B")  # without a verdict, so it is not done
    first = rater_by_name(look(store, read_raters), "r1")
    withdraw(store, first)
    kept = held(store, 1)
    assert len(kept) == 1
    second = Auditor(rater.http, invite(store, 2, None)[0][0])
    second.begin()
    second.say(0, "C"), second.say(0, "C", "image", revision=2)
    assert [json.loads(each)["rater"] for each in export(store, rater="r2").splitlines()] == [1]  # of the draw
    assert held(store, 2) == of_draw(draw, 1) - kept and held(store, 3) == of_draw(draw, 2)
    forget(store, first)
    for number in range(len(held(store, 2))):
        second.say(number, "C", revision=3), second.say(number, "C", "approve", revision=4)
    assert second.post("more", take=True).json() == {"count": 0, "waiting": 0}  # a place is dealt as a whole
    invite(store, 1, None)
    assert held(store, 4) == kept


@pytest.mark.parametrize("texts", [VCR, MCQ, AUDIT])
def test_no_sentence_of_consent_and_instructions_is_broken_into_two_paragraphs(texts: PageTexts) -> None:
    """The page makes a paragraph of each line; of those of an audit one broke in the midst of a sentence."""
    for text in (*texts.consent.values(), *texts.instructions.values()):
        assert all(line.endswith(tuple(".:!?)。：！？）؟")) for line in text.splitlines() if line)


def test_an_answer_comes_before_its_key_and_a_verdict_after_it(auditing: Callable[..., StudyStore]) -> None:
    store = auditing()
    rater = started(store)
    assert "key" not in rater.step(0).json()
    assert rater.say(0, "", "approve", unread=[False] * 3).status_code == 400
    assert rater.say(0, "A", "approve").status_code == 400  # the key was not shown yet
    assert rater.say(0, "", unread=[False] * 3).json()["saved"] and "key" not in rater.step(0).json()
    told = rater.say(0, "B", revision=2)
    with store.reading() as connection:
        items, place = read_items(connection), read_step(connection, 1, 0)
    assert place and told.json()["key"] == list(items[place.step.item].answers or ()) and len(told.json()["key"]) == 2
    assert rater.step(0).json()["key"] == told.json()["key"]
    for later in ("A", ""):
        assert rater.say(0, later, revision=3).json()["error"].startswith("An answer cannot be changed")
    assert rater.say(0, "B", unread=[True, False, False], revision=3).status_code == 400
    assert rater.say(0, "B", done=True, revision=3).json()["error"] == "There is no verdict yet."
    assert rater.say(0, "B", "choices", "two are right", revision=3).json()["done"]
    assert rater.say(0, "B", "approve", revision=4).json()["texts"] == ["B", "approve", ""]  # one may think again
    cannot = rater.say(1)
    assert cannot.json()["saved"] and cannot.json()["key"]


@pytest.mark.parametrize(
    "values",
    [
        {"texts": ["E", "", ""]},
        {"texts": ["AB", "", ""]},
        {"texts": ["A", "good", ""]},
        {"texts": ["A", "approve"]},
        {"texts": ["A", "approve", "x" * 2001]},
        {"texts": ["A", "approve", ""], "unread": [False, True, False]},
        {"texts": ["A", "APPROVE", ""]},
        {"texts": ["A", "approve", "\ud800"]},
        {"texts": []},
    ],
)
def test_forged_verdicts_are_refused(auditing: Callable[..., StudyStore], values: dict[str, Any]) -> None:
    store = auditing()
    rater = started(store)
    assert rater.say(0, "A").status_code == 200
    answer = rater.say(0, **{"done": True, "unread": [False] * 3, "revision": 2} | values)
    assert answer.status_code == 400 and "error" in answer.json()
    with store.reading() as connection:
        place = read_step(connection, 1, 0)
    assert place and place.response and place.response.texts == ("A", "", "")


def test_what_is_sent_before_the_answers_does_not_hang_on_the_key(
    make: Callable[..., StudyStore], tmp_path: Path
) -> None:
    sent = []
    for letter in "AD":
        data, folder, draw = drawn(tmp_path / letter, answer=letter, trap="B" if letter == "A" else "C")
        rater = started(make(data, f"study-{letter}", audit=str(folder), limit=None, training=None))
        for number in range(len(of_draw(draw, 1))):
            assert rater.step(number).status_code == 200
        page = json.loads(rater.page().text.partition('id="data">')[2].partition("</script>")[0])
        assert page["audit"]["items"][0]["questions"][1]["dir"] == "rtl"
        sent.append((page["audit"], [rater.step(number).json() for number in range(len(of_draw(draw, 1)))]))
    assert sent[0] == sent[1]


def says(item: DrawnItem, rater: int) -> dict[str, str]:
    """Verdicts of raters: the second one finds fault with every third item, the first one with every fourth."""
    number = int(item.question_id[-3:])
    if rater == 2 and number % 3 == 0:
        return {"answer": "C", "verdict": "choices", "note": f"two are <b>right</b> in {number}"}
    if rater == 1 and number % 4 == 0:
        return {"answer": "", "verdict": "image", "note": ""}
    return {"answer": "ABCD"[number % 4], "verdict": "approve", "note": "صحيح"}


def patiently(do: Callable[[], Any]) -> Any:
    """Ask a service that may be killed until it answers."""
    end = time.monotonic() + 300
    while True:
        try:
            answer = do()
            if answer.status_code == 200:
                return answer.json()
            assert answer.status_code >= 500, answer.text
        except httpx.HTTPError:
            assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.process
def test_two_raters_and_a_kill_lose_nothing(
    auditing: Callable[..., StudyStore],
    audit: tuple[Path, Path, Draw],
    service: Callable[[StudyStore], Any],
    tmp_path: Path,
) -> None:
    """Both at once through the real service, which is killed in between."""
    store, (data, _, draw) = auditing(), audit
    tokens, running = invite(store, 2, "en")[0], service(store)
    by_id = {item.question_id: item for item in draw.items}
    acknowledged: dict[tuple[int, int], list[str]] = {}
    failed: list[BaseException] = []
    ready, killed = threading.Barrier(2), threading.Event()

    def rater(number: int) -> None:
        with httpx.Client(base_url=running.url, timeout=120) as http:
            mine = Auditor(http, tokens[number - 1], f"tab-{number}")
            mine.begin()
            ready.wait(180)
            with store.reading() as connection:
                items, places = read_items(connection), read_steps(connection, number)
            for place in places:
                said = says(by_id[items[place.step.item].question_id], number)
                told = patiently(lambda at=place.number, said=said: mine.say(at, said["answer"]))
                assert told["key"][0] == items[place.step.item].answers[0]  # type: ignore[index]
                told = patiently(lambda at=place.number, said=said: mine.say(at, **said, revision=2))
                acknowledged[number, place.number] = told["texts"]
                assert len(acknowledged) < 7 or killed.wait(180)
            assert patiently(lambda: mine.post("send")) == {"code": "", "url": "", "review": False}

    def run(number: int) -> None:
        try:
            rater(number)
        except BaseException as problem:
            failed.append(problem)

    threads = [threading.Thread(target=run, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 300
    while len(acknowledged) < 5 and not failed and time.monotonic() < end:
        time.sleep(0.01)
    running.kill()
    killed.set()
    before = dict(acknowledged)
    there = {(place.rater, place.number): place.response for place in look(store, read_steps)}
    assert 5 <= len(before) < ITEMS * (1 + OVERLAP)
    assert all(list(there[about].texts) == texts for about, texts in before.items())  # type: ignore[union-attr]
    running.start()
    for thread in threads:
        thread.join(300)
    assert not failed and len(acknowledged) == ITEMS * (1 + OVERLAP)
    assert_reported(store, data, draw, tmp_path)


def assert_reported(store: StudyStore, data: Path, draw: Draw, tmp_path: Path) -> None:
    """Every verdict is exported, and the reports of the study and of the file say the same."""
    file = tmp_path / "verdicts.jsonl"
    file.write_text(export(store), "utf-8")
    expected = [
        line(draw, item, rater, **says(item, rater)) for rater in (1, 2) for item in draw.items if rater in item.raters
    ]
    assert sorted(map(json.loads, file.read_text("utf-8").splitlines()), key=str) == sorted(expected, key=str)
    _, document = write_report(open_task_dataset(data), draw, file, tmp_path / "report")
    of_files, of_study = document.sections[0].tables, make_report(store).document.sections[0].tables
    assert [table.texts() for table in of_study] == [table.texts() for table in of_files]
    assert "two are <b>right</b>" in str(of_study[-1].texts())
    assert {"Agreement of raters", f"Rates: {ITEMS} of {ITEMS} drawn items judged"} <= {one.title for one in of_study}


def test_report_and_exports_of_an_audit(auditing: Callable[..., StudyStore], tmp_path: Path) -> None:
    store = auditing()
    rater = started(store)
    with pytest.raises(StudyError, match="nobody has finished an item yet"):
        make_report(store)
    rater.say(0, "A"), rater.say(0, "A", "question", "<script>&\u202e", revision=2), rater.say(1, "B")
    report = make_report(store)
    assert any("Still at work: r1" in note for note in report.document.limitations)
    page = report.render("html")
    assert "&lt;script&gt;&amp;" in page
    assert "<script>&" not in page
    assert "judged by 2 raters." in page
    (article,) = page.split("<article>")[1:]  # of the item that was not approved; the other one is not done
    assert "who chose A: <b>question integrity</b>" in article and "How many boats?" in article
    assert article.count(">right</i>") == 2 and 'dir="rtl"' in article and "data:image/png;base64," in article
    for form in ("md", "csv", "latex"):
        assert "question integrity" in report.render(form)
    with pytest.raises(StudyError, match="leave out --compare"):
        make_report(store, compare=[tmp_path])
    with pytest.raises(StudyError, match="its raters name the errors"):
        make_report(store, causes=tmp_path / "errors.csv")
    with pytest.raises(StudyError, match="its raters name the errors"):
        export(store, "errors")
    with pytest.raises(StudyError, match="choose --to audit"):
        export(store, "outputs")
    (said,) = (json.loads(one) for one in export(store, rater="r1").splitlines())
    assert (said["rater"], said["answer"], said["verdict"]) == (1, "A", "question")
    assert len(export(store, "design").splitlines()) == len(held(store))


def test_what_cannot_be_a_study_of_an_audit(
    make: Callable[..., StudyStore],
    auditing: Callable[..., StudyStore],
    audit: tuple[Path, Path, Draw],
    pairs: Path,
    tmp_path: Path,
) -> None:
    for options in ({"raters": 3}, {"lang": "en"}, {"limit": 5}, {"training_data": str(pairs)}, {"min_checks": 0.5}):
        shown = next(iter(options)).replace("_", "-")
        with pytest.raises(StudyError, match=f"--{shown} has no meaning beside --audit"):
            auditing(**options)
    with pytest.raises(DatasetError, match="begin with `vcrgen bloom audit draw`"):
        auditing(audit=str(tmp_path))
    with pytest.raises(DatasetError, match="is no MCQ benchmark"):
        make(pairs, audit=str(audit[1]), limit=None, training=None)
    other = made_set(tmp_path / "other", [row(number) for number in range(4)])
    with pytest.raises(DatasetError, match="drawn of another MCQ benchmark"):
        make(other, audit=str(audit[1]), limit=None, training=None)
    items = (replace(audit[2].items[0], question_id="item-999"), *audit[2].items[1:])
    write_draw(tmp_path / "draw.json", replace(audit[2], items=items))
    with pytest.raises(StudyError, match="lacks items of the draw; draw again"):
        auditing(audit=str(tmp_path))
    store = make(other, "choices", limit=2, training=0)
    with pytest.raises(StudyError, match="is no audit"):
        export(store, "audit")


@pytest.mark.parametrize(("lang", "width"), [("en", 1200), ("ar", 400)])
@pytest.mark.browser
def test_an_audit_by_keyboard(
    auditing: Callable[..., StudyStore],
    person: Callable[[StudyStore], Person],  # noqa: F811
    axe: str,
    lang: str,
    width: int,
) -> None:
    """Everything by keys; axe-core finds nothing before the answer, after it, and where something is missing."""
    store = auditing()
    token = invite(store, 1, lang)[0][0]
    with store.reading() as connection:
        total = len(read_steps(connection, 1))
    visitor = person(store)
    visitor.resize(width, 900)
    visitor.open(token)
    visitor.at("consent")
    visitor.accessible(axe)
    visitor.begin()
    visitor.at_step(1)
    visitor.wait("document.querySelectorAll('#choices button').length === 5")
    visitor.accessible(axe)
    forward = LEFT if lang == "ar" else RIGHT
    visitor.keys("6", forward)  # no verdict before an answer, and it does not go on
    visitor.wait("!document.getElementById('fill').hidden && document.activeElement.closest('#choices') !== null")
    assert visitor.wait("document.getElementById('judging').hidden")
    styles = "[...document.querySelectorAll('.stem')].map((one) => getComputedStyle(one).direction)"
    assert visitor.wait(styles) == ["ltr", "rtl"]
    assert visitor.wait("[document.documentElement.lang, document.documentElement.dir]") == [
        lang,
        "rtl" if lang == "ar" else "ltr",
    ]
    for number in range(1, total + 1):
        visitor.at_step(number)
        visitor.wait("document.querySelectorAll('#choices button:enabled').length === 5")
        assert visitor.wait("document.documentElement.scrollWidth") <= width
        visitor.keys("0" if number == 3 else "2")
        visitor.wait("!document.getElementById('judging').hidden")
        assert visitor.wait("document.querySelectorAll('.stem li.key').length") == 2
        assert visitor.wait("document.querySelectorAll('#choices button:enabled').length === 0")
        if number == 1:
            visitor.wait("document.activeElement.closest('#verdicts') !== null")
            visitor.accessible(axe)
            visitor.keys("8", f"two are {ENTER}<b>right</b> 5 6", ESCAPE)
            visitor.driver.refresh()  # what was said is there
            visitor.at_step(1)
            visitor.wait("document.getElementById('note').value === 'two are \\n<b>right</b> 5 6'")
            visitor.wait("document.querySelector('#verdicts [aria-pressed=true]') !== null")
            visitor.keys(ENTER)
        else:
            visitor.keys("5")
            visitor.wait("document.activeElement.matches('#verdicts button:first-child')")
            if number == 2:  # saving takes the keyboard from nothing
                visitor.wait(f"document.getElementById('status').textContent === {SAVED[lang]!r}")
                visitor.wait("document.activeElement.matches('#verdicts button:first-child')")
            visitor.keys(ENTER if number % 2 else forward)
        if number == 2:  # back, to think again; the answer stays
            visitor.at_step(3)
            visitor.keys(RIGHT if lang == "ar" else LEFT)
            visitor.at_step(2)
            visitor.wait("document.querySelectorAll('#choices button:disabled').length === 5")
            visitor.keys("9", ESCAPE, ENTER)
    visitor.send()
    assert_judged(store, total)


def assert_judged(store: StudyStore, total: int) -> None:
    """The verdicts of :func:`test_an_audit_by_keyboard` are there."""
    said = [json.loads(one) for one in export(store).splitlines()]
    assert [one["answer"] for one in said] == ["B", "B", "", *"B" * (total - 3)]
    assert [one["verdict"] for one in said] == ["choices", "translation", *["approve"] * (total - 2)]
    assert said[0]["note"] == "two are \n<b>right</b> 5 6" and not any(one["note"] for one in said[1:])
