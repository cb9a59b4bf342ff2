"""The service of a study, asked by programs: friendly, hostile, many at once, and killed."""

import base64
import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from tests.study.conftest import look, write_consents
from vcrgen.core.errors import StudyError
from vcrgen.study import visitors
from vcrgen.study.assignment import Slot, StepKind
from vcrgen.study.creation import check_source
from vcrgen.study.exports import export
from vcrgen.study.page_texts import VCR, text_file
from vcrgen.study.participants import read_participants
from vcrgen.study.raters import forget, invite
from vcrgen.study.records import Invitation, RaterState
from vcrgen.study.service import app
from vcrgen.study.service import raters as rater_routes
from vcrgen.study.service.app import make_app
from vcrgen.study.store.database import FILE, StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.items import read_items
from vcrgen.study.store.raters import read_raters, update_rater
from vcrgen.study.store.steps import open_slots, read_steps, returned_slots
from vcrgen.study.visitors import release_place

HOSTILE = [
    "<script>alert(1)</script>",
    "'; DROP TABLE steps; --",
    "\u202eabc\u0000\u0007",
    "=1+1",
    "{{ 7 * 7 }}",
    "\\x00%00",
    "红色的狐狸 “ＡＢＣ”",
    "🦊" * 100,
    "x" * 10_000,
    "<!--",
    "\r\n\r\nHTTP/1.1 200 OK",
    '"}]}',
]


class Client:
    """A rater as a program."""

    def __init__(self, http: Any, token: str, tab: str = "tab-1") -> None:
        self.http, self.token, self.tab = http, token, tab
        self.bytes = b""  # everything that was sent to the rater but training steps

    def _keep(self, answer: Any, training: bool = False) -> Any:
        if not training:
            head = "".join(f"{name}: {value}\n" for name, value in answer.headers.items())
            self.bytes += head.encode() + answer.content
        return answer

    def page(self) -> Any:
        return self._keep(self.http.get(f"/r/{self.token}"))

    def post(self, path: str, training: bool = False, **values: Any) -> Any:
        sent = json.dumps({"tab": self.tab, **values})
        return self._keep(self.http.post(f"/api/{self.token}/{path}", content=sent), training)

    def begin(self) -> dict[str, Any]:
        page = self.page().text
        data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
        told: dict[str, Any] = self.post("open").json()
        assert self.post("begin", version=data["version"], languages="English").status_code == 200
        return told

    def step(self, number: int, training: bool = False) -> Any:
        return self._keep(self.http.get(f"/api/{self.token}/step/{number}"), training)

    def answer(self, number: int, *texts: str, revision: int = 1, done: bool = True, training: bool = False) -> Any:
        unread = [not text for text in texts]
        body = {"texts": texts, "unread": unread, "seconds": 1.5, "done": done, "revision": revision}
        return self.post(f"step/{number}", training, **body)


@pytest.fixture
def client(make: Callable[..., StudyStore]) -> Iterator[Callable[..., tuple[Client, StudyStore]]]:
    """A rater of a new study whose service runs in this process."""
    opened = []

    def start(store: StudyStore | None = None, **options: Any) -> tuple[Client, StudyStore]:
        store = store or make(**{"training": 0, "checks": 0, "repeats": 0, "raters": 1} | options)
        http = TestClient(make_app(store), raise_server_exceptions=False)
        opened.append(http)
        return Client(http, invite(store, 1, "en")[0][0]), store

    yield start
    for http in opened:
        http.close()


def test_no_page_shows_the_note_of_a_consent_to_the_maintainers(make: Callable[..., StudyStore]) -> None:
    """Of people who are invited in another language than the first, while the study is served."""
    store = make()
    with TestClient(make_app(store)) as http:
        (store.folder / "CONSENT.zh.txt").write_text(VCR.consent["zh"], "utf-8")
        tokens = [invite(store, 1, lang)[0][0] for lang in ("en", "zh")]
        _, shared = invite(store, 1, "zh", Invitation(code="C1A2B3C4"))
        paths = [f"/r/{tokens[0]}", f"/r/{tokens[1]}", f"/join/{shared}?PROLIFIC_PID={participant('a1')}"]
        assert [http.get(path).status_code for path in paths] == [200, 503, 503]
        write_consents(store.folder)
        assert [http.get(path).status_code for path in paths] == [200, 200, 200]


def test_a_rater_from_the_page_to_the_end(client: Callable[..., tuple[Client, StudyStore]]) -> None:
    rater, store = client()
    assert rater.begin() == {"begun": False, "done": [False] * 6, "training": 0}
    for number in range(6):
        shown = rater.step(number).json()
        assert shown["texts"] is None and shown["picture"].startswith("data:image/png;base64,iVBOR")
        told = rater.answer(number, *["typed"] * shown["fields"])
        assert told.json()["saved"] is True and told.json()["revision"] == 1
        if number == 3:
            assert rater.post("send").status_code == 400  # some are left
    assert rater.post("send").json() == {"code": "", "url": "", "review": False}
    assert rater.post("send").json() == {"code": "", "url": "", "review": False}  # asked again, it says the same
    for void in (rater.step(0), rater.answer(0, "x"), rater.post("stop"), rater.post("more", take=True)):
        assert void.status_code == 404
    assert rater.page().status_code == 200
    assert rater.post("open").json() == {"sent": {"code": "", "url": "", "review": False}}
    with store.reading() as connection:
        found = read_raters(connection)[0]
        texts = connection.exec_driver_sql("SELECT * FROM consents").fetchall()
    assert found.state is RaterState.SENT and found.languages == "English" and found.began <= found.ended
    assert [row.version for row in texts] == [found.consent] and "You are invited" in texts[0].text


def test_no_answer_leaves_but_in_training(make: Callable[..., StudyStore], client: Any) -> None:
    store = make(limit=12, training=2, raters=1)
    rater, _ = client(store)
    with store.reading() as connection:
        design, items = read_design(connection), read_items(connection)
        places = read_steps(connection, 1)
    rater.begin()
    shown_answers = []
    for place in places:
        training = place.step.kind is StepKind.TRAINING
        before = rater.step(place.number, training).json()
        assert "answers" not in before
        told = rater.answer(place.number, *["no idea"] * before["fields"], training=training).json()
        assert ("answers" in told) == training
        shown_answers += [answer for answer, _ in told.get("answers", [])]
        rater.step(place.number, training)
    rater.post("send")
    assert shown_answers == [answer for place in places[:2] for answer in items[place.step.item].answers or ()]
    sent = rater.bytes
    for part in sent.split(b"data:image/png;base64,")[1:]:
        sent += base64.b64decode(part.partition(b'"')[0])
    questions = list(check_source(design).key.questions)[:12]
    assert len(questions) == 12 and len(sent) > 100_000
    for question in questions:
        for text in (question.question_id, *question.answers):
            assert text.encode() not in sent and text.casefold().encode() not in sent.lower()


def test_hostile_texts_are_kept_as_typed_and_shown_as_texts(client: Any) -> None:
    rater, store = client(modes="easy", limit=12)
    rater.begin()
    rows = []
    for number, text in enumerate(HOSTILE):
        fields = rater.step(number).json()["fields"]
        assert rater.answer(number, *[text] * fields).status_code == 200
        assert rater.step(number).json()["texts"] == [text] * fields
    page = rater.http.post("/maintain", data={"token": store.token, "end": "<script>"})
    assert page.status_code == 400 and "no rater &#39;&lt;script&gt;&#39;" in page.text
    with store.reading() as connection:
        rows = [place.response for place in read_steps(connection, 1)]
    assert [row.texts[0] for row in rows if row] == HOSTILE


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b'{"tab": "tab-1"}',
        b"[" * 50_000,
        b"\xff\xfe",
        b'{"tab":"tab-1","texts":["x"],"unread":[false],"seconds":NaN,"done":true,"revision":1}',
        b'{"tab":"tab-1","texts":["x"],"unread":[false],"seconds":-1,"done":true,"revision":1}',
        b'{"tab":"tab-1","texts":["x"],"unread":[false],"seconds":1,"done":true,"revision":0}',
        b'{"tab":"tab-1","texts":["x"],"unread":[false],"seconds":1,"done":true,"revision":1e99}',
        b'{"tab":"tab-1","texts":["\\ud800"],"unread":[false],"seconds":1,"done":true,"revision":1}',
        b'{"tab":"tab-1","texts":["' + b"x" * 10_001 + b'"],"unread":[false],"seconds":1,"done":true,"revision":1}',
        b'{"tab":"tab-1","texts":["x","x","x","x"],"unread":[],"seconds":1,"done":true,"revision":1}',
        b'{"tab":"tab-1","texts":["x"],"unread":[false],"seconds":1,"done":true,"revision":1,"answers":1}',
        b'{"tab":1,"texts":["x"],"unread":[false],"seconds":1,"done":true,"revision":1}',
    ],
)
def test_forged_bodies_are_refused(client: Any, body: bytes) -> None:
    rater, store = client()
    rater.begin()
    answer = rater.http.post(f"/api/{rater.token}/step/0", content=body)
    assert answer.status_code == 400 and "error" in answer.json()
    with store.reading() as connection:
        assert read_steps(connection, 1)[0].response is None


def test_half_a_character_is_named_as_the_reason(client: Any) -> None:
    rater, _ = client()
    rater.begin()
    fields = rater.step(0).json()["fields"]
    refused = rater.answer(0, *["half \ud83e"] * fields)
    assert refused.status_code == 400 and "has half of a character" in refused.json()["error"]
    assert rater.answer(0, *["whole 🦊 \\ud83e"] * fields).json()["saved"]  # a text about such a half is a text


def test_forged_requests(client: Any) -> None:
    rater, _ = client()
    assert rater.step(0).status_code == 403  # before the consent
    assert rater.answer(0, "x").status_code == 409  # no tab was opened
    rater.begin()
    assert rater.step(6).status_code == rater.step(10**30).status_code == 404
    assert rater.answer(10**30, "x").status_code == 404
    assert rater.http.get(f"/api/{rater.token}/step/first").status_code == 404
    assert rater.post("begin", version="0" * 12, languages="x").status_code == 400
    huge = rater.http.post(f"/api/{rater.token}/step/0", content=b"x" * (2 << 20))
    assert huge.status_code == 413
    foreign = rater.http.post(
        f"/api/{rater.token}/open", content='{"tab":"t"}', headers={"origin": "https://a.example"}
    )
    assert foreign.status_code == 403
    for method in ("PUT", "DELETE", "PATCH"):
        assert rater.http.request(method, f"/api/{rater.token}/step/0").status_code == 405


def test_maintainers_see_agreement_while_a_study_runs(make: Callable[..., StudyStore], typing: Any) -> None:
    store = make(limit=6, raters=2, modes="easy", training=0, checks=0, repeats=0)
    invite(store, 2, "en")
    http = TestClient(make_app(store))

    def page() -> str:
        return str(http.post("/maintain", data={"token": store.token}).text)  # type: ignore[attr-defined]

    assert "Agreement" not in page()
    # The two differ in the first field of each item.
    typing(store, lambda rater, _id, place, answer: f"“{answer}”" if place or rater == 1 else "odd word")
    fields = sum(item.fields for item in look(store, read_items)[:6])
    shown = page()
    assert f'<td class="n">{fields}</td><td class="n">{fields - 6} of {fields}</td>' in shown
    assert "odd word" not in shown


def test_replays_and_late_ones_change_nothing(client: Any) -> None:
    rater, _ = client()
    rater.begin()
    fields = rater.step(0).json()["fields"]
    for revision, text in ((1, "first"), (3, "third"), (2, "second"), (3, "forged"), (1, "first")):
        told = rater.answer(0, *[text] * fields, revision=revision).json()
        assert told["saved"]
    assert rater.step(0).json()["texts"] == ["third"] * fields and told["revision"] == 3


def test_only_the_last_tab_may_answer(client: Any) -> None:
    rater, _ = client()
    rater.begin()
    other = Client(rater.http, rater.token, "tab-2")
    other.post("open")
    assert rater.answer(0, "x").status_code == 409 and rater.post("send").status_code == 409
    fields = other.step(0).json()["fields"]
    assert other.answer(0, *["y"] * fields).status_code == 200


def test_after_the_answers_were_shown_nothing_can_be_changed(client: Any) -> None:
    rater, _ = client(training=1)
    rater.begin()
    fields = rater.step(0).json()["fields"]
    rater.answer(0, *["no"] * fields)
    answers = [answer for answer, right in rater.step(0).json()["answers"]]
    told = rater.answer(0, *answers, revision=9).json()
    assert told["texts"] == ["no"] * fields and told["revision"] == 1


def test_whoever_guesses_links_waits_and_a_right_link_passes(client: Any) -> None:
    rater, store = client()
    tried = [rater.http.get(f"/r/vcrs_{number:043d}").status_code for number in range(12)]
    assert tried == [404] * 10 + [429] * 2
    assert rater.http.get(f"/join/vcrd_x?PROLIFIC_PID={participant('5f')}").status_code == 429
    assert rater.http.post("/maintain", data={"token": "guessed"}).status_code == 429
    assert rater.page().status_code == 200
    for odd in ("x" * 5000, "%00", "..%2f..", "%ff"):
        assert rater.http.get(f"/r/{odd}").status_code in (404, 429)
    shown = rater.http.post("/maintain", data={"token": store.token})
    assert shown.status_code == 200 and "0 of 12 answers" in shown.text


def participant(name: str) -> str:
    """An id as Prolific gives it, from the first digits of it."""
    return name.ljust(24, "0")


class Prolific:
    """Visitors of a study's shared link, each with a browser of their own."""

    def __init__(self, store: StudyStore, count: int, listed: Sequence[str] = (), **options: Any) -> None:
        self.link = invite(store, count, "en", Invitation(code="C1A2", **options), listed)[1]
        self.app = make_app(store)
        self.browsers: dict[str, TestClient] = {}

    def browser(self, name: str, address: str = "") -> TestClient:
        """The browser of a visitor, at an address of its own if none is given."""
        there = address or f"10.0.0.{len(self.browsers)}"
        if name not in self.browsers:
            self.browsers[name] = TestClient(
                self.app, follow_redirects=False, raise_server_exceptions=False, client=(there, 1)
            )
        return self.browsers[name]

    def visit(self, name: str, browser: str = "") -> Any:
        query = f"PROLIFIC_PID={participant(name)}&STUDY_ID=1&SESSION_ID=2"
        return self.browser(browser or name).get(f"/join/{self.link}?{query}")

    def claim(self, name: str, browser: str = "", languages: str = "English", **changed: Any) -> dict[str, Any]:
        page = self.visit(name, browser).text
        version = json.loads(page.partition('id="data">')[2].partition("</script>")[0])["version"]
        return self.send(name, browser, **{"version": version, "languages": languages, **changed})

    def send(self, name: str, browser: str = "", **values: Any) -> dict[str, Any]:
        sent = {"tab": "t", "visitor": participant(name), **values}
        told: dict[str, Any] = self.browser(browser or name).post(f"/api/{self.link}/claim", json=sent).json()
        return told

    def rater(self, name: str, browser: str = "") -> Client:
        rater = Client(self.browser(browser or name), self.claim(name, browser)["page"].rpartition("/")[2])
        rater.post("open")
        return rater


ALONE = {"limit": 6, "raters": 1, "training": 0, "checks": 0, "repeats": 0, "max_fast": 1.0}


def test_somebody_from_prolific(make: Callable[..., StudyStore]) -> None:
    store = make(**ALONE)
    prolific = Prolific(store, 1)
    for query in ("", "?PROLIFIC_PID=5f00", f"?PROLIFIC_PID={'5F' * 12}", f"?PROLIFIC_PID={'5f' * 12}0"):
        assert prolific.browser("5f00").get(f"/join/{prolific.link}{query}").status_code == 400
    for number in range(30):  # whoever looks takes nothing
        assert prolific.visit(f"a{number}").status_code == 200
    with store.reading() as connection:
        assert {rater.state for rater in read_raters(connection)} == {RaterState.INVITED}
    rater = prolific.rater("5f00")
    there = [prolific.visit("5f00") for _ in range(2)]
    assert [answer.status_code for answer in there] == [303, 303]
    assert there[0].headers["location"] == there[1].headers["location"] == f"../r/{rater.token}"
    full = prolific.visit("6f00")
    assert full.status_code == 409 and "The study is full" in full.text
    finish(rater)
    done = {"code": "C1A2", "url": "https://app.prolific.com/submissions/complete?cc=C1A2", "review": False}
    assert rater.post("send").json() == done
    assert prolific.visit("5f00").status_code == 303 and rater.post("open").json() == {"sent": done}


def test_an_id_alone_opens_nothing(make: Callable[..., StudyStore]) -> None:
    """Somebody who knows the shared link and the id of a participant, with a browser, without one, or with a guess."""
    store = make(**ALONE)
    prolific = Prolific(store, 2)
    victim = prolific.rater("5f00")
    secret = victim.token.removeprefix("vcrs_")
    version = json.loads(prolific.visit("6f00").text.partition('id="data">')[2].partition("</script>")[0])["version"]
    attacker = prolific.browser("attacker")
    for guess in (None, "", "x" * 43, secret[:43], "é" * 43):
        attacker.cookies.clear()
        headers = {} if guess is None else {b"cookie": f"vcr-study={guess}".encode()}
        query = f"PROLIFIC_PID={participant('5f00')}"
        looked = attacker.get(f"/join/{prolific.link}?{query}", headers=headers)
        sent = {"tab": "t", "visitor": participant("5f00"), "version": version, "languages": "English"}
        claimed = attacker.post(f"/api/{prolific.link}/claim", json=sent, headers=headers)
        assert looked.status_code == 409 and "You began in another browser" in looked.text
        assert claimed.json() in ({"over": "taken"}, {"over": "cookies"})
        for answer in (looked, claimed):
            assert secret not in answer.text + str(answer.headers) and "set-cookie" not in answer.headers
    assert victim.answer(0, *["x"] * victim.step(0).json()["fields"]).json()["saved"]
    # A place of one's own says nothing of another's.
    assert prolific.rater("6f00", "attacker").token != victim.token
    assert prolific.visit("5f00", "attacker").status_code == 409


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_cookie_of_a_browser(make: Callable[..., StudyStore], scheme: str) -> None:
    store = make(**ALONE)
    prolific = Prolific(store, 1)
    browser = TestClient(prolific.app, base_url=f"{scheme}://study.example.org")
    page = f"/join/{prolific.link}?PROLIFIC_PID={participant('5f00')}"
    cookie = browser.get(page).headers["set-cookie"]
    value, *attributes = cookie.split("; ")
    assert attributes == ["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=lax", *["Secure"] * (scheme == "https")]
    assert value.startswith({"http": "vcr-study=", "https": "__Host-vcr-study="}[scheme])
    assert browser.get(page).headers["set-cookie"].partition(";")[0] == value  # the same one, and longer
    # The token of the page is not the cookie, which is not stored.
    assert value.partition("=")[2].encode() not in (store.folder / FILE).read_bytes()


def test_a_reply_that_was_lost_is_given_again_to_the_same_browser(make: Callable[..., StudyStore]) -> None:
    prolific = Prolific(make(**ALONE), 1)
    assert prolific.claim("5f00", version="0" * 12)["error"].startswith("The text has changed")
    page = prolific.visit("5f00").text
    version = json.loads(page.partition('id="data">')[2].partition("</script>")[0])["version"]
    assert len({prolific.send("5f00", version=version, languages="English")["page"] for _ in range(3)}) == 1


def test_a_released_place_goes_on_in_the_next_browser(make: Callable[..., StudyStore]) -> None:
    store = make(**ALONE)
    prolific = Prolific(store, 1)
    first = prolific.rater("5f00")
    first.answer(0, *["typed"] * first.step(0).json()["fields"])
    assert prolific.visit("5f00", "new").status_code == 409
    assert [rater.name for rater in release_place(store, participant("5f00"))] == ["r1"]
    assert first.page().status_code == 404  # what the first browser has is void
    second = prolific.rater("5f00", "new")
    assert second.step(0).json()["texts"][0] == "typed" and prolific.visit("5f00").status_code == 409
    finish(second)
    second.post("send")
    release_place(store, participant("5f00"))
    assert prolific.rater("5f00", "third").post("open").json()["sent"]["code"] == "C1A2"
    for name, message in ((participant("6f00"), "Nobody with the id 6f00"), ("6f00", "'6f00' is no id of Prolific")):
        with pytest.raises(StudyError, match=message):
            release_place(store, name)
    other = make(name="other", **ALONE)
    prolific = Prolific(other, 1)
    prolific.rater("5f00").post("stop")
    with pytest.raises(StudyError, match="Nobody with the id"):  # who has left has no place
        release_place(other, participant("5f00"))


def test_made_up_ids_of_one_address_take_few_places(
    make: Callable[..., StudyStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make(**ALONE | {"limit": 12, "max_items": 1})
    prolific = Prolific(store, 12)
    for number in range(8):
        prolific.browser(f"b{number}", "10.9.9.9")
    told = [prolific.claim(f"b{number}") for number in range(8)]
    assert ["page" in answer for answer in told] == [True] * 3 + [False] * 5 and told[-1] == {"over": "crowded"}
    assert "page" in prolific.claim("c0") and prolific.visit("b0").status_code == 303
    later = time.monotonic() + 3601
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert "page" in prolific.claim("b7")


def test_only_listed_participants_are_admitted(make: Callable[..., StudyStore], tmp_path: Path) -> None:
    store = make(**ALONE | {"raters": 2})
    file = tmp_path / "ids.txt"
    file.write_text(f"\ufeff{participant('5f00')}\n\n{participant('5f01')}\r\n{participant('5f00')}\n", "utf-8")
    assert read_participants(file) == [participant("5f00"), participant("5f01")]
    prolific = Prolific(store, 2, read_participants(file))
    refused = prolific.visit("6f00")
    assert refused.status_code == 409 and "not on the list" in refused.text
    version = json.loads(prolific.visit("5f01").text.partition('id="data">')[2].partition("</script>")[0])["version"]
    prolific.browser("6f00").cookies.set("vcr-study", "x" * 43)
    assert prolific.send("6f00", version=version, languages="English") == {"over": "unlisted"}
    first = prolific.rater("5f00")
    assert first.page().status_code == 200
    # A new list takes the place of the old one; who has a place keeps it.
    invite(store, 1, "en", Invitation(code="C1A2"), [participant("6f00")])
    assert [prolific.visit(name).status_code for name in ("5f00", "5f01", "6f00")] == [303, 409, 200]
    assert not any(participant(name).encode() in (store.folder / FILE).read_bytes() for name in ("5f00", "6f00"))
    forget(store, look(store, read_raters)[0])
    assert prolific.visit("5f00").status_code == 409
    for text, message in (("", "has no id"), ("5f00\n", "line 1: '5f00' is no id of Prolific")):
        file.write_text(text, "utf-8")
        with pytest.raises(StudyError, match=message):
            read_participants(file)


def test_a_place_is_claimed_with_the_consent_alone(make: Callable[..., StudyStore]) -> None:
    store = make(**ALONE)
    prolific = Prolific(store, 2, speaks=("English", "anglais"))
    assert prolific.claim("5f00", version="0" * 12)["error"].startswith("The text has changed")
    assert "what the page sends" in prolific.claim("5f00", visitor="../x")["error"]
    assert "what the page sends" in prolific.claim("5f00", visitor="5F" * 12)["error"]
    assert prolific.claim("5f00", languages="中文, Deutsch") == {"unfit": ["English", "anglais"]}
    with store.reading() as connection:
        assert {rater.state for rater in read_raters(connection)} == {RaterState.INVITED}
        assert connection.exec_driver_sql("SELECT count(*) FROM consents").scalar() == 0
    first = prolific.claim("5f00", languages="français, ANGLAIS")
    version = json.loads(prolific.visit("7f00").text.partition('id="data">')[2].partition("</script>")[0])["version"]
    assert prolific.claim("6f00")["page"] != first["page"]
    assert prolific.send("5f00", version=version, languages="x") == first
    # Its page was loaded while there was a place.
    assert prolific.send("7f00", version=version, languages="English") == {"over": "full"}
    unknown = prolific.browser("7f00").post(
        f"/api/{prolific.link}x/claim",
        json={"tab": "t", "visitor": participant("7f00"), "version": version, "languages": "x"},
    )
    assert unknown.status_code == 404


def test_an_idle_place_is_given_to_the_next_visitor(
    make: Callable[..., StudyStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [time.monotonic()]
    monkeypatch.setattr(visitors, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    store = make(**ALONE)
    prolific = Prolific(store, 1)
    clock[0] += 7200  # after the start of the service
    first = prolific.rater("5f00")
    first.answer(0, *["x"] * first.step(0).json()["fields"])
    clock[0] += 59 * 60
    assert prolific.visit("6f00").status_code == 409
    clock[0] += 2 * 60
    second = prolific.rater("6f00")
    gone = prolific.visit("5f00")
    assert gone.status_code == 409 and "not valid any more" in gone.text and first.page().status_code == 404
    before = given(store)
    assert len(before[1]) == 1 and len(before[2]) == 5 and not set(before[1]) & set(before[2])
    finish(second)
    clock[0] += 9 * 3600  # has done everything, and may still look at it
    assert prolific.visit("7f00").status_code == 409
    assert second.post("send").json()["code"] == "C1A2"


def test_who_stops_leaves_a_place(make: Callable[..., StudyStore]) -> None:
    store = make(**ALONE)
    prolific = Prolific(store, 1)
    prolific.rater("5f00").post("stop")
    assert prolific.visit("5f00").status_code == 409
    version = json.loads(prolific.visit("6f00").text.partition('id="data">')[2].partition("</script>")[0])["version"]
    assert prolific.send("5f00", version=version, languages="English") == {"over": "gone"}
    assert len(prolific.rater("6f00").post("open").json()["done"]) == 6


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock by which the service measures steps; each answer takes a minute unless a test moves it otherwise."""
    times = [1e9]
    monkeypatch.setattr(rater_routes, "time", SimpleNamespace(time=lambda: times[0]))
    return times


def answer_all(
    store: StudyStore, rater: Client, clock: list[float], *, text: str, check: str = "", pause: float
) -> str:
    """Answer every step after a pause; of a check with the right number if none is given. Returns the code."""
    for place in [place for place in look(store, read_steps) if place.step.kind is not StepKind.TRAINING]:
        shown = rater.step(place.number).json()
        clock[0] += pause
        said = (check or place.step.word) if place.step.kind is StepKind.CHECK else text
        rater.answer(place.number, *[said] * shown["fields"])
    told: dict[str, Any] = rater.post("send").json()
    return str(told["code"]) or ("review" if told["review"] else "")


@pytest.mark.parametrize(
    ("text", "check", "pause", "failed_code", "code", "reason"),
    [
        ("x", "", 60.0, "F5", "C1A2", ""),
        ("x", "0", 60.0, "F5", "F5", "0 of 2 attention checks right"),
        ("x", "0", 60.0, "", "review", "0 of 2 attention checks right"),
        ("", "", 60.0, "", "review", "6 of 6 items blank"),
        (" \u3000.\u200b", "", 60.0, "", "review", "6 of 6 items blank"),
        ("x", "", 0.1, "", "review", "6 of 6 items answered faster than 20 words a second"),
        (
            "",
            "-",
            0.0,
            "",
            "review",
            "0 of 2 attention checks right; 6 of 6 items blank; 6 of 6 items answered faster than 20 words a second",
        ),
    ],
)
def test_codes_and_payments_follow_the_rule(
    make: Callable[..., StudyStore],
    clock: list[float],
    text: str,
    check: str,
    pause: float,
    failed_code: str,
    code: str,
    reason: str,
) -> None:
    store = make(**ALONE | {"checks": 2, "max_fast": 0.5})
    prolific = Prolific(store, 2, failed_code=failed_code, keeps_ids=True)
    assert "stored with what you type" in prolific.visit("5f00").text
    rater = prolific.rater("5f00")
    assert prolific.rater("6f00") and answer_all(store, rater, clock, text=text, check=check, pause=pause) == code
    decision = "reject" if reason else "approve"
    assert export(store, "payments").splitlines() == [
        "participant_id,rater,state,items,decision,reason",
        f"{participant('5f00')},r1,sent,6,{decision},{reason}",
        f"{participant('6f00')},r2,working,0,,",
    ]
    first = look(store, read_raters)[0]
    forget(store, first)
    assert "5f00" not in export(store, "payments")
    assert b"5f00" not in (store.folder / FILE).read_bytes()


def test_the_time_of_a_step_is_the_services(client: Any, clock: list[float]) -> None:
    """Whoever loads all steps first and waits gains nothing; nor does a browser that says how long it took."""
    rater, store = client(modes="easy")
    rater.begin()
    items, places = look(store, read_items, read_steps)
    fields = [items[place.step.item].fields for place in places]
    for number in range(5):
        rater.step(number)
    clock[0] += 600
    for number in range(4):
        rater.answer(number, *["x"] * fields[number])  # which says 1.5 seconds each time
        clock[0] += 0.25
    rater.answer(5, *["x"] * fields[5])  # without having been shown
    clock[0] -= 86_400  # the clock is set back by a day: how long it took is not known
    rater.answer(4, *["x"] * fields[4])
    rater.answer(0, *["y"] * fields[0], revision=2)  # a change takes no time of its own
    took = [600, 0.25, 0.25, 0.25, None, 0]
    places = look(store, read_steps)
    assert [place.took for place in places] == took
    of_items = [seconds for place, seconds in zip(places, took, strict=True) if place.step.kind is StepKind.ITEM]
    assert [json.loads(line)["seconds"] for line in export(store, "outputs").splitlines()] == of_items


def test_the_number_of_a_check_is_no_text(make: Callable[..., StudyStore], client: Any) -> None:
    store = make(**ALONE | {"checks": 3})
    rater, _ = client(store)
    rater.begin()
    checks = [place for place in look(store, read_steps) if place.step.kind is StepKind.CHECK]
    pictures = []
    for place in checks:
        shown = rater.step(place.number).json()
        pictures.append(shown.pop("picture"))
        assert shown["check"] is True and place.step.word not in json.dumps(shown)
        assert rater.step(place.number).json()["picture"] == pictures[-1]  # the same each time
    assert len(set(pictures)) == 3 and not any(place.step.word in rater.page().text for place in checks)
    assert not any(place.step.word in export(store, "design") for place in checks)
    # Two studies with the same seed ask for different numbers, so that nobody can look them up in another one.
    other = make(name="other", **ALONE | {"checks": 3})
    invite(other, 1, "en")
    assert [place.step.word for place in look(other, read_steps) if place.step.word] != [c.step.word for c in checks]


def test_ids_are_stored_only_if_the_invitation_says_so(make: Callable[..., StudyStore]) -> None:
    store = make(**ALONE)
    Prolific(store, 1).rater("5f00aa77")
    stored = b"".join(file.read_bytes() for file in store.folder.iterdir() if file.is_file())
    assert participant("5f00aa77").encode() not in stored
    with pytest.raises(StudyError, match="keeps no ids of raters"):
        export(store, "payments")


def test_a_rater_may_stop(client: Any) -> None:
    rater, store = client()
    rater.begin()
    rater.answer(0, *["x"] * rater.step(0).json()["fields"])
    assert rater.post("stop").json() == {"stopped": True} and rater.page().status_code == 404
    with store.reading() as connection:
        assert read_raters(connection)[0].state is RaterState.LEFT
        assert len(open_slots(connection, read_design(connection))) == 12 - 1


def finish(rater: Client) -> None:
    """Do all steps that are not done yet."""
    for number, done in enumerate(rater.post("open").json()["done"]):
        if not done:
            rater.answer(number, *["x"] * rater.step(number).json()["fields"])


@pytest.fixture
def three(make: Callable[..., StudyStore]) -> Callable[..., tuple[list[Client], StudyStore]]:
    """Three raters of four items each, of whom the first has left after one; the others have begun."""

    def start(name: str = "study", **options: Any) -> tuple[list[Client], StudyStore]:
        store = make(name=name, **{"training": 1, "checks": 1, "repeats": 1, "raters": 1, "pause": 2} | options)
        http = TestClient(make_app(store), raise_server_exceptions=False)
        raters = [Client(http, token) for token in invite(store, 3, "en")[0]]
        for rater in raters:
            rater.begin()
        with store.reading() as connection:
            first = next(place.number for place in read_steps(connection, 1) if place.step.kind is StepKind.ITEM)
        raters[0].answer(first, *["x"] * raters[0].step(first).json()["fields"])
        raters[0].post("stop")
        return raters, store

    return start


def given(store: StudyStore) -> dict[int, list[Slot]]:
    """The items of each rater in order."""
    places = [place for place in look(store, read_steps) if place.step.kind is StepKind.ITEM]
    return {
        rater: [Slot(*place.step[1:4]) for place in places if place.rater == rater]
        for rater in sorted({place.rater for place in places})
    }


def test_who_has_finished_may_take_what_others_left(three: Any) -> None:
    raters, store = three()
    before = given(store)
    told = raters[1].post("more", take=False).json()
    assert told == raters[1].post("more", take=True).json() and told["count"] == 0 < told["waiting"]
    finish(raters[1])
    with store.reading() as connection:
        left = returned_slots(connection)
    seen = {slot.item for slot in before[2]}
    may = [slot for slot in left if slot.item not in seen]
    assert len(left) == 3 and may
    assert raters[1].post("more", take=False).json() == {"count": min(len(may), 2), "waiting": 0}
    assert given(store) == before
    taken = raters[1].post("more", take=True).json()
    assert taken == {"count": 0, "waiting": min(len(may), 2)}
    after = given(store)
    more = after[2][len(before[2]) :]
    assert after[2][: len(before[2])] == before[2] and set(more) <= set(may) and len(more) == min(len(may), 2)
    # A page that did not hear that is told again; nothing is taken twice.
    assert raters[1].post("more", take=True).json() == raters[1].post("more", take=False).json() == taken
    assert given(store) == after and raters[1].post("send").status_code == 400
    finish(raters[1])
    assert raters[1].post("send").status_code == 200
    with store.reading() as connection:
        assert returned_slots(connection) == [slot for slot in left if slot not in more]
    finish(raters[2])
    for _ in range(3):
        raters[2].post("more", take=True)
        finish(raters[2])
    everything = [slot for slots in given(store).values() for slot in slots]
    assert len(set(everything)) == len(everything) and all(
        len({slot.item for slot in slots}) == len(slots) for slots in given(store).values()
    )


def test_nobody_is_offered_what_they_have_seen(three: Any) -> None:
    raters, store = three(pause=20)
    seen = [{slot.item for slot in given(store)[rater]} for rater in (2, 3)]
    with store.reading() as connection:
        left = [slot.item for slot in returned_slots(connection)]
    may = [[item for item in left if item not in mine] for mine in seen]
    assert any(len(items) < len(left) for items in may)
    for rater, items in zip(raters[1:], may, strict=True):
        finish(rater)
        assert rater.post("more", take=False).json()["count"] == len(items)


def test_what_is_taken_is_the_same_each_time(three: Any) -> None:
    """The same seed, and the same people who come and go in the same order."""
    found = []
    for name in ("one", "two"):
        raters, store = three(name)
        finish(raters[1])
        raters[1].post("more", take=True)
        found.append(given(store))
    assert found[0] == found[1]


def test_who_is_offered_nothing(three: Any, make: Callable[..., StudyStore]) -> None:
    raters, _ = three("most", max_items=4)
    finish(raters[1])
    assert raters[1].post("more", take=True).json() == {"count": 0, "waiting": 0}
    # What was never dealt waits for those who are still to be invited.
    store = make(name="few", training=0, checks=0, repeats=0, raters=1, max_items=2)
    rater = Client(TestClient(make_app(store)), invite(store, 1, "en")[0][0])
    rater.begin()
    finish(rater)
    assert rater.post("more", take=True).json() == {"count": 0, "waiting": 0}
    # Who is paid for what was agreed on.
    raters, store = three("paid")
    finish(raters[1])
    assert raters[1].post("more", take=False).json()["count"]
    with store.writing() as connection:
        update_rater(connection, 2, shared_link="some link")
    assert raters[1].post("more", take=True).json() == {"count": 0, "waiting": 0}


def test_consent_is_to_the_text_that_was_shown(client: Any) -> None:
    rater, store = client()
    version = json.loads(rater.page().text.partition('id="data">')[2].partition("</script>")[0])["version"]
    rater.post("open")
    text_file(store.folder, "consent", "en").write_text("Another <b>text</b>.", "utf-8")
    assert rater.post("begin", version=version, languages="x").status_code == 400
    assert "Another &lt;b&gt;text&lt;/b&gt;." in rater.page().text
    rater.begin()


def test_the_log_has_no_address_and_no_link(client: Any, capfd: pytest.CaptureFixture[str]) -> None:
    rater, _ = client()
    rater.begin()
    rater.answer(0, "secret words")
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    assert [line["path"] for line in lines] == ["/r", "/api", "/api", "/api"]
    assert not any("client" in line for line in lines) and rater.token[:12] not in json.dumps(lines)


def test_a_full_disk_is_told_and_nothing_is_called_saved(client: Any) -> None:
    rater, store = client()
    rater.begin()
    fields = rater.step(0).json()["fields"]
    with store.reading() as connection:
        size = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {size}")
    texts = ["x" * 9999] * fields
    refused = rater.answer(0, *texts)
    assert refused.status_code == 503 and "no room" in refused.json()["error"]
    assert rater.step(0).json()["texts"] is None
    with store.reading() as connection:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {100 * size}")
    assert rater.answer(0, *texts).json()["saved"]  # there is room again


def test_health_tells_of_a_full_disk(make: Callable[..., StudyStore], monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(make_app(make()), raise_server_exceptions=False) as http:
        assert (http.get("/health").status_code, http.get("/health").json()) == (200, {"status": "ok"})
        monkeypatch.setattr(app.shutil, "disk_usage", lambda place: SimpleNamespace(free=3 << 20))
        full = http.get("/health")
        assert (full.status_code, full.json()) == (503, {"status": "the disk is full", "free_mb": 3})


def test_a_broken_database_is_told_in_one_sentence(client: Any) -> None:
    rater, store = client()
    rater.begin()
    with store.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE steps RENAME TO gone")
    answer = rater.step(0)
    assert answer.status_code == 503
    assert answer.json() == {"error": "The study cannot be read just now; try again soon."}


def ask(mine: Client, step: int) -> int:
    return int(mine.step(step).json()["fields"])


def send(mine: Client, step: int, texts: list[str], revision: int) -> dict[str, Any]:
    told: dict[str, Any] = mine.answer(step, *texts, revision=revision).json()
    return told if told["saved"] else {}


@pytest.mark.process
def test_every_acknowledged_answer_is_there_once_after_kills(
    make: Callable[..., StudyStore], people: Any, service: Callable[[StudyStore], Any]
) -> None:
    """Four raters, and twice kill -9; ``scripts/bench_study.py`` has more of both."""
    store = make(limit=10, training=0, raters=4)
    tokens = people(store, 4)
    running = service(store)
    acknowledged: dict[tuple[int, int], list[str]] = {}
    stop = threading.Event()

    def rater(number: int, token: str) -> None:
        rng = random.Random(number)
        with httpx.Client(base_url=running.url, timeout=60) as http:
            mine = Client(http, token, f"tab-{number}")
            steps = (patiently(mine.begin) or {"done": []})["done"]
            for revision in range(1, 9):
                for step in range(len(steps)):
                    if stop.is_set():
                        return
                    fields = patiently(partial(ask, mine, step))
                    texts = [f"{number} {step} {revision} {rng.random()}" for _ in range(fields or 0)]
                    told = patiently(partial(send, mine, step, texts, revision))
                    if told:
                        assert told["texts"] == texts
                        acknowledged[number, step] = texts

    def patiently(do: Callable[[], Any]) -> Any:
        while not stop.is_set():
            try:
                return do()
            except (httpx.HTTPError, KeyError, ValueError):
                time.sleep(0.05)
        return None

    threads = [threading.Thread(target=rater, args=(n, token)) for n, token in enumerate(tokens, start=1)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        before = len(acknowledged)
        end = time.monotonic() + 120
        while len(acknowledged) < before + 5 and any(t.is_alive() for t in threads) and time.monotonic() < end:
            time.sleep(0.02)
        running.kill()
        running.start()
    stop.set()
    for thread in threads:
        thread.join(180)
    running.kill()
    there = {(place.rater, place.number): place.response for place in look(store, read_steps)}
    assert len(acknowledged) >= 10
    for about, texts in acknowledged.items():
        response = there[about]
        assert response is not None
        # What was sent last may be there without having been acknowledged.
        if list(response.texts) != texts:
            assert float(response.texts[0].split()[2]) > float(texts[0].split()[2])
