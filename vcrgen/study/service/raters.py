"""What a rater's page asks of the service. A rater is known by the token in the link alone; no cookie, no address.

The service has no answers but those of training items and of audits, so no reply can hold another one; that of an
audit's item is told after the rater's own answer. A reply that says "saved" is sent when what was typed is on the disk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vcrgen.media import data_uri
from vcrgen.plurals import counted
from vcrgen.report.pages import Templates
from vcrgen.study import store as db
from vcrgen.study.audit import asked_in_audit, audit_problem, has_answered
from vcrgen.study.choice_texts import texts_for
from vcrgen.study.design import Kind
from vcrgen.study.marks import typed_form
from vcrgen.study.people import come_in, leave, spare_slots, take_spare
from vcrgen.study.records import Frozen, Rater, RaterState, RaterStep
from vcrgen.study.records import Response as Typed
from vcrgen.study.store import Store
from vcrgen.study.texts import read_text
from vcrgen.tasks.bloom import LETTERS, direction
from vcrgen.web.answers import Refusal
from vcrgen.web.guesses import TokenOwners
from vcrgen.web.tokens import hash_of

UNKEPT = {"cache-control": "no-store"}
MAX_TEXT = 10_000  # characters of a field
MOST_PICTURES = 256  # that are kept as texts: about 40 MB
DAY = 86_400.0
COMPLETE = "https://app.prolific.com/submissions/complete?cc="
VISITOR = "PROLIFIC_PID"
SCRIPT_TEXTS = ("saved", "saving", "offline", "step", "of", "right", "wrong", "field", "number", "cannot")
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Tab = Annotated[str, Field(min_length=1, max_length=64)]


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    tab: Tab  # the tab of the browser that asks


class _Begin(_Body):
    version: Annotated[str, Field(max_length=64)]  # of the consent
    languages: Annotated[str, Field(min_length=1, max_length=300)]


class _Answer(_Body):
    texts: Annotated[list[Text], Field(max_length=1000)]
    unread: Annotated[list[bool], Field(max_length=1000)]
    seconds: Annotated[float, Field(ge=0, le=DAY, allow_inf_nan=False)]
    done: bool
    revision: Annotated[int, Field(ge=1, le=1 << 53)]


class _More(_Body):
    take: bool


Sent = TypeVar("Sent", bound=_Body)


class RaterRoutes:
    """The routes for raters."""

    def __init__(self, store: Store, templates: Templates, guesses: TokenOwners) -> None:
        self._store = store
        self._templates = templates
        self._guesses = guesses
        with store.reading() as connection:
            self._frozen: Frozen = db.read_frozen(connection)
            self._items = db.items_of(connection)
            asks = self._frozen.choosing or self._frozen.draw
            self._questions = db.questions_of(connection) if asks else {}
        self._texts = texts_for(self._frozen)
        self._picture = lru_cache(MOST_PICTURES)(self._read_picture)

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to a service."""
        app.add_api_route("/r/{token}", self.page)
        app.add_api_route("/join/{token}", self.join)
        app.add_api_route("/api/{token}/step/{number:int}", self.step)
        app.add_api_route("/api/{token}/step/{number:int}", self.answer, methods=["POST"])
        app.add_api_route("/api/{token}/open", self._route(_Body, self._open), methods=["POST"])
        app.add_api_route("/api/{token}/begin", self._route(_Begin, self._begin), methods=["POST"])
        app.add_api_route("/api/{token}/send", self._route(_Body, self._send), methods=["POST"])
        app.add_api_route("/api/{token}/stop", self._route(_Body, self._stop), methods=["POST"])
        app.add_api_route("/api/{token}/more", self._route(_More, self._more), methods=["POST"])

    def page(self, request: Request, token: str) -> Response:
        """The page of a rater."""
        with self._store.reading() as connection:
            rater = self._rater(request, token, connection)
            places = db.places_of(connection, rater.number) if self._questions else []
        lang, folder = self._texts.lang(rater.lang), self._store.folder
        texts = self._texts.page[lang]
        consent = read_text(folder, "consent", lang)
        data = {
            "api": f"../api/{token}", "key": f"vcrgen-study {hash_of(token)}", "version": _version(consent),
            "pause": self._frozen.options["pause"],
            "texts": {name: texts[name] for name in SCRIPT_TEXTS},
            **(self._asked(rater, places, texts) if self._frozen.choosing else {}),
            **(asked_in_audit(self._frozen.draw, self._questions, places, lang) if self._frozen.draw else {}),
        }  # fmt: skip
        page = self._templates.render(
            "rater.html", title=texts["title"], lang=lang, dir=direction(lang), t=texts, name=rater.name, data=data,
            consent=consent.splitlines(), instructions=read_text(folder, "instructions", lang).splitlines(),
        )  # fmt: skip
        return HTMLResponse(page, headers=UNKEPT)

    def join(self, request: Request, token: str) -> Response:
        """A visitor of a shared link is sent to a place of the visitor's own, the same one each time."""
        visitor = request.query_params.get(VISITOR, "")
        if not (0 < len(visitor) <= 64 and visitor.isascii() and visitor.isalnum()):
            raise Refusal(400, f"The link lacks {VISITOR}; open it from your study's page at Prolific.")
        own = self._guesses.owner(request, come_in(self._store, token, visitor))
        return RedirectResponse(f"../r/{own}", status_code=303, headers=UNKEPT)

    def step(self, request: Request, token: str, number: int) -> Response:
        """One step of a rater: its picture, and what was typed there."""
        with self._store.reading() as connection:
            rater = self._rater(request, token, connection)
            if rater.phase is not RaterState.WORKING:
                raise Refusal(403, "Agree to take part first.")
            place = db.place_of(connection, rater.number, number) if number < 1 << 31 else None
        if place is None:
            raise Refusal(404, "There is no such step.")
        return JSONResponse(self._shown(place), headers=UNKEPT)

    async def answer(self, request: Request, token: str, number: int) -> Response:
        """Keep what a rater typed at a step; a training step that is done tells its answers."""
        sent = await _read(request, _Answer)
        return await run_in_threadpool(self._answer, request, token, number, sent)

    def _answer(self, request: Request, token: str, number: int, sent: _Answer) -> Response:
        with self._store.writing() as connection:
            rater = self._rater(request, token, connection)
            _only(rater, sent)
            place = db.place_of(connection, rater.number, number) if number < 1 << 31 else None
            if place is None or rater.phase is not RaterState.WORKING:
                raise Refusal(404, "There is no such step.")
            fields = self._fields(place)
            if not len(sent.texts) == len(sent.unread) == fields:
                raise Refusal(400, f"This step has {counted(fields, 'field')}.")
            if self._frozen.choosing and place.step.kind is not Kind.CHECK and sent.texts[0] not in ("", *LETTERS):
                raise Refusal(400, "This step has four options.")
            if self._frozen.draw and (problem := audit_problem(sent.texts, sent.unread, sent.done, place.response)):
                raise Refusal(400, problem)
            over = place.step.kind is Kind.TRAINING and place.done
            if not over:  # the answers were shown
                typed = Typed(tuple(sent.texts), tuple(sent.unread), sent.seconds, sent.done, sent.revision)
                db.save(connection, rater.number, number, typed)
                place = db.place_of(connection, rater.number, number) or place
        return JSONResponse({"saved": True} | self._shown(place, picture=False), headers=UNKEPT)

    def _route(self, of: type[Sent], do: Callable[[db.Connection, Rater, Sent], dict[str, Any]]) -> Any:
        """A route that takes a body of a kind and does one thing in one transaction."""

        async def route(request: Request, token: str) -> Response:
            sent = await _read(request, of)
            return await run_in_threadpool(work, request, token, sent)

        def work(request: Request, token: str, sent: Sent) -> Response:
            with self._store.writing() as connection:
                rater = self._rater(request, token, connection, sent=do == self._send)
                if do != self._open:
                    _only(rater, sent)
                told = do(connection, rater, sent)
            if do == self._stop:
                leave(self._store, rater)
            return JSONResponse(told, headers=UNKEPT)

        return route

    def _open(self, connection: db.Connection, rater: Rater, sent: _Body) -> dict[str, Any]:
        """Make a tab the one that may answer; where the rater stands."""
        db.change_rater(connection, rater.number, tab=sent.tab)
        places = db.places_of(connection, rater.number)
        training = sum(place.step.kind is Kind.TRAINING for place in places)
        done = [place.done for place in places]
        return {"begun": rater.phase is RaterState.WORKING, "done": done, "training": training}

    def _begin(self, connection: db.Connection, rater: Rater, sent: _Begin) -> dict[str, Any]:
        """The rater agrees to the text of a version."""
        text = read_text(self._store.folder, "consent", self._texts.lang(rater.lang))
        if _version(text) != sent.version:
            raise Refusal(400, "The text has changed meanwhile; load the page again.")
        db.keep_consent(connection, sent.version, text)
        if rater.phase is RaterState.INVITED:
            values = {"consent": sent.version, "languages": sent.languages.strip(), "began": db.now()}
            db.change_rater(connection, rater.number, phase=RaterState.WORKING, **values)
        return {"begun": True}

    def _send(self, connection: db.Connection, rater: Rater, sent: _Body) -> dict[str, Any]:
        """The rater is finished; from now on the link is void. Asked again, it says the same."""
        if rater.phase is not RaterState.SENT:
            if _unfinished(connection, rater):
                raise Refusal(400, "Some steps are not finished yet.")
            db.change_rater(connection, rater.number, phase=RaterState.SENT, ended=db.now())
        return {"code": rater.code, "url": COMPLETE + rater.code if rater.code else ""}

    def _stop(self, connection: db.Connection, rater: Rater, sent: _Body) -> dict[str, Any]:
        """The rater leaves; see :func:`vcrgen.study.people.leave`."""
        return {"stopped": True}

    def _more(self, connection: db.Connection, rater: Rater, sent: _More) -> dict[str, Any]:
        """How many items that others left a rater who has finished may do, too; or give them to the rater.

        A page that does not know of steps that wait, as it did not hear the reply before, loads itself again.
        """
        working = rater.phase is RaterState.WORKING
        if working and sent.take and not _unfinished(connection, rater):
            take_spare(connection, self._frozen, rater)
        waiting = _unfinished(connection, rater)
        offered = len(spare_slots(connection, self._frozen, rater)) if working and not waiting else 0
        return {"count": offered, "waiting": waiting}

    def _rater(self, request: Request, token: str, connection: db.Connection, *, sent: bool = False) -> Rater:
        """Whose link it is; of those who have sent everything only if ``sent``.

        Raises:
            Refusal: Nobody's, or it is void.
        """
        rater = db.rater_by_token(connection, hash_of(token))
        void = rater is not None and rater.phase is RaterState.SENT and not sent
        return self._guesses.owner(request, None if void else rater)

    def _fields(self, place: RaterStep) -> int:
        return 1 if place.step.kind is Kind.CHECK else self._items[place.step.item].fields

    def _shown(self, place: RaterStep, *, picture: bool = True) -> dict[str, Any]:
        """A step as the page needs it."""
        typed = place.response
        shown: dict[str, Any] = {
            "check": place.step.word,
            "training": place.step.kind is Kind.TRAINING,
            "fields": self._fields(place),
            "texts": typed.texts if typed else None,
            "unread": typed.unread if typed else None,
            "seconds": typed.seconds if typed else 0,
            "done": place.done,
            "revision": typed.revision if typed else 0,
        }
        if picture and place.step.kind is not Kind.CHECK and place.step.condition not in self._frozen.blind:
            shown["picture"] = self._picture(place.step.item, place.step.condition)
        if self._frozen.draw and typed is not None and has_answered(typed):
            shown["key"] = self._items[place.step.item].answers
        if place.step.kind is Kind.TRAINING and typed is not None and place.done:
            answers = self._items[place.step.item].answers or ()
            pairs = zip(answers, typed.texts, strict=True)
            shown["answers"] = [
                [self._named(place, answer), typed_form(answer) == typed_form(text)] for answer, text in pairs
            ]
        return shown

    def _asked(self, rater: Rater, places: Sequence[RaterStep], texts: Mapping[str, str]) -> dict[str, Any]:
        """What the page of a rater needs to ask the questions of a question set: none of it is an answer."""
        asked = [self._questions.get((place.step.item, rater.lang)) for place in places]
        return {
            "questions": [each and {"text": each.text, "options": each.options} for each in asked],
            "cannot": texts["cannot"], "lang": rater.lang, "dir": direction(rater.lang),
        }  # fmt: skip

    def _named(self, place: RaterStep, answer: str) -> str:
        """An answer as training shows it: of a question the letter with the option's text."""
        if not self._frozen.choosing:
            return answer
        lang = self._frozen.conditions[place.step.condition].mode
        mark = "\u200f" if direction(lang) == "rtl" else ""  # else the letter would decide where the line begins
        return f"{mark}{answer}. {self._questions[place.step.item, lang].options[LETTERS.index(answer)]}"

    def _read_picture(self, item: int, condition: int) -> str:
        with self._store.reading() as connection:
            return data_uri(db.picture_of(connection, item, condition))


async def _read(request: Request, kind: type[Sent]) -> Sent:
    """The body of a request as JSON of a kind."""
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError:
        raise Refusal(400, "That is not what the page sends.") from None


def _unfinished(connection: db.Connection, rater: Rater) -> int:
    """How many steps a rater has not done."""
    return sum(not place.done for place in db.places_of(connection, rater.number))


def _only(rater: Rater, sent: _Body) -> None:
    """Refuse a tab that is not the last one that was opened: two could not know of each other's changes."""
    if rater.tab != sent.tab:
        raise Refusal(409, "This study was opened in another tab or window.")


def _version(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
