"""The routes of raters. A rater is known by the token in the link alone.

The service has no answers but those of training items and of audits, so no reply can hold another one; the key of an
audit's item is sent after the rater's own answer. A reply that says "saved" is sent when the response is on the disk.
"""

import hashlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sqlalchemy import Connection

from vcrgen.core.media import data_uri
from vcrgen.core.plurals import pluralize
from vcrgen.data.tasks.bloom import LETTERS, direction
from vcrgen.report.templating import Templates
from vcrgen.study.assignment import StepKind
from vcrgen.study.audit_study import audit_page_data, audit_response_error, is_answered
from vcrgen.study.check_picture import check_picture
from vcrgen.study.exclusion import seconds_taken
from vcrgen.study.grading import typed_form
from vcrgen.study.page_texts import has_note, read_text, texts_for
from vcrgen.study.raters import claim_unassigned, unassigned_slots, withdraw
from vcrgen.study.records import Frames, Rater, RaterState, RaterStep, StudyDesign
from vcrgen.study.records import Response as StepResponse
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.items import read_frames, read_items, read_picture, read_questions
from vcrgen.study.store.raters import find_rater, now, save_consent, update_rater
from vcrgen.study.store.steps import mark_served, read_step, read_steps, save_response
from vcrgen.study.visitors import LastSigns, completion_code
from vcrgen.text.languages import LANGUAGES
from vcrgen.web.authentication import TokenAuthenticator
from vcrgen.web.responses import Refusal
from vcrgen.web.tokens import token_hash

UNKEPT = {"cache-control": "no-store"}
MAX_TEXT = 10_000  # characters of a field
CACHED_PICTURES = 256  # as texts: about 40 MB
DAY = 86_400.0
_UNITS = {"words": ("word", "words"), "characters": ("character", "characters")}  # one, and more
COMPLETE = "https://app.prolific.com/submissions/complete?cc="
SCRIPT_TEXTS = ("saved", "saving", "unsaved", "offline", "step", "of", "right", "wrong", "field", "number", "cannot")
_HALF = re.compile(rb"\\ud[89a-f][0-9a-f]{2}")  # as JavaScript writes half of a surrogate pair, and only that
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Tab = Annotated[str, Field(min_length=1, max_length=64)]


class Body(BaseModel):
    """What every request of a page says."""

    model_config = ConfigDict(strict=True, extra="forbid")

    tab: Tab  # the tab of the browser that asks


class Begin(Body):
    """What somebody says who agrees to take part."""

    version: Annotated[str, Field(max_length=64)]  # of the consent
    languages: Annotated[str, Field(min_length=1, max_length=300)]


class _Answer(Body):
    texts: Annotated[list[Text], Field(max_length=1000)]
    unread: Annotated[list[bool], Field(max_length=1000)]
    seconds: Annotated[float, Field(ge=0, le=DAY, allow_inf_nan=False)]
    done: bool
    revision: Annotated[int, Field(ge=1, le=1 << 53)]


class _Volunteer(Body):
    take: bool


Sent = TypeVar("Sent", bound=Body)


class RaterRoutes:
    """The routes for raters."""

    def __init__(self, store: StudyStore, templates: Templates, tokens: TokenAuthenticator, signs: LastSigns) -> None:
        self._store = store
        self._templates = templates
        self._tokens = tokens
        self._signs = signs
        with store.reading() as connection:
            self._design: StudyDesign = read_design(connection)
            self._items = read_items(connection)
            has_questions = self._design.is_mcq or self._design.draw
            self._questions = read_questions(connection) if has_questions else {}
        self._texts = texts_for(self._design)
        self._picture = lru_cache(CACHED_PICTURES)(self._read_picture)

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to a service."""
        app.add_api_route("/r/{token}", self.page)
        app.add_api_route("/api/{token}/step/{number:int}", self.step)
        app.add_api_route("/api/{token}/step/{number:int}", self.answer, methods=["POST"])
        app.add_api_route("/api/{token}/open", self._route(Body, self._open), methods=["POST"])
        app.add_api_route("/api/{token}/begin", self._route(Begin, self._begin), methods=["POST"])
        app.add_api_route("/api/{token}/send", self._route(Body, self._send), methods=["POST"])
        app.add_api_route("/api/{token}/stop", self._route(Body, self._stop), methods=["POST"])
        app.add_api_route("/api/{token}/more", self._route(_Volunteer, self._volunteer), methods=["POST"])

    def page(self, request: Request, token: str) -> Response:
        """The page of a rater; of one who has sent everything it is that of thanks."""
        with self._store.reading() as connection:
            rater = self._rater(request, token, connection, sent=True)
            over = rater.state is RaterState.SENT
            steps = read_steps(connection, rater.number) if self._questions and not over else []
        return self.render(token, rater.lang, steps, name=rater.name)

    def render(
        self, token: str, rater_lang: str, steps: Sequence[RaterStep], name: str = "", **visit: str | bool
    ) -> Response:
        """Render the page of a rater, or of a visitor, who has no name yet."""
        lang, folder = self._texts.page_lang(rater_lang), self._store.folder
        texts = self._texts.page[lang]
        consent = read_text(folder, "consent", lang)
        if has_note(self._texts, lang, consent):  # of somebody who was invited, in this language, while the service ran
            raise Refusal(503, "This study does not say yet who runs it; come back later.")
        data = {
            "api": f"../api/{token}",
            "key": f"vcrgen-study {token_hash(token)}",
            "version": _version(consent),
            "pause": self._design.options["pause"],
            "texts": {name: texts[name] for name in SCRIPT_TEXTS},
            **visit,
            **self._lengths(texts),
            **self._example(),
            **(self._mcq_page_data(rater_lang, steps) if self._design.is_mcq else {}),
            **(audit_page_data(self._design.draw, self._questions, steps, lang) if self._design.draw else {}),
        }
        page = self._templates.render(
            "rater.html",
            title=texts["title"],
            lang=lang,
            dir=direction(lang),
            t=texts,
            name=name,
            data=data,
            consent=consent.splitlines(),
            instructions=read_text(folder, "instructions", lang).splitlines(),
        )
        return HTMLResponse(page, headers=UNKEPT)

    def step(self, request: Request, token: str, number: int) -> Response:
        """Return a step of a rater: its picture, and the stored response."""
        with self._store.reading() as connection:
            rater = self._rater(request, token, connection)
            if rater.state is not RaterState.WORKING:
                raise Refusal(403, "Agree to take part first.")
            place = read_step(connection, rater.number, number) if number < 1 << 31 else None
        if place is None:
            raise Refusal(404, "There is no such step.")
        if place.served is None:
            with self._store.writing() as connection:
                mark_served(connection, rater.number, number, time.time())
        return JSONResponse(self._step_view(place), headers=UNKEPT)

    async def answer(self, request: Request, token: str, number: int) -> Response:
        """Store the response to a step; the reply to a finished training step has its answers."""
        sent = await read_body(request, _Answer)
        return await run_in_threadpool(self._answer, request, token, number, sent)

    def _answer(self, request: Request, token: str, number: int, sent: _Answer) -> Response:
        with self._store.writing() as connection:
            rater = self._rater(request, token, connection)
            _check_tab(rater, sent)
            place = read_step(connection, rater.number, number) if number < 1 << 31 else None
            if place is None or rater.state is not RaterState.WORKING:
                raise Refusal(404, "There is no such step.")
            fields = self._fields(place)
            if not len(sent.texts) == len(sent.unread) == fields:
                raise Refusal(400, f"This step has {pluralize(fields, 'field')}.")
            letters = self._letters(place)
            if self._design.is_mcq and place.step.kind is not StepKind.CHECK and sent.texts[0] not in ("", *letters):
                raise Refusal(400, f"This step has {pluralize(len(letters), 'option')}.")
            if self._design.draw and (
                problem := audit_response_error(sent.texts, sent.unread, sent.done, place.response, letters)
            ):
                raise Refusal(400, problem)
            over = place.step.kind is StepKind.TRAINING and place.done
            if not over:  # the answers were shown
                typed = StepResponse(tuple(sent.texts), tuple(sent.unread), sent.seconds, sent.done, sent.revision)
                first = sent.done and not place.done
                took = seconds_taken(place.served, rater.answered, time.time()) if first else None
                saved = save_response(connection, rater.number, number, typed, took if place.took is None else None)
                if saved and first:
                    update_rater(connection, rater.number, answered=time.time())
                self._signs.record(rater.number)
                place = read_step(connection, rater.number, number) or place
        return JSONResponse({"saved": True} | self._step_view(place, picture=False), headers=UNKEPT)

    def _route(self, body: type[Sent], do: Callable[[Connection, Rater, Sent], dict[str, Any]]) -> Any:
        """A route that takes a body of a kind and does one thing in one transaction."""

        async def route(request: Request, token: str) -> Response:
            sent = await read_body(request, body)
            return await run_in_threadpool(work, request, token, sent)

        def work(request: Request, token: str, sent: Sent) -> Response:
            with self._store.writing() as connection:
                rater = self._rater(request, token, connection, sent=do in (self._open, self._send))
                if do != self._open:
                    _check_tab(rater, sent)
                answer = do(connection, rater, sent)
            if do == self._stop:
                withdraw(self._store, rater)
            return JSONResponse(answer, headers=UNKEPT)

        return route

    def _open(self, connection: Connection, rater: Rater, sent: Body) -> dict[str, Any]:
        """Make a tab the one that may answer, and return the progress of the rater, or the code at the end."""
        if rater.state is RaterState.SENT:
            return {"sent": self._send(connection, rater, sent)}
        update_rater(connection, rater.number, tab=sent.tab)
        self._signs.record(rater.number)
        places = read_steps(connection, rater.number)
        training = sum(place.step.kind is StepKind.TRAINING for place in places)
        done = [place.done for place in places]
        return {"begun": rater.state is RaterState.WORKING, "done": done, "training": training}

    def _begin(self, connection: Connection, rater: Rater, sent: Begin) -> dict[str, Any]:
        """Store that the rater agrees to the text of a version."""
        save_consent(connection, sent.version, self.consent_text(rater.lang, sent.version))
        if rater.state is RaterState.INVITED:
            values = {"consent": sent.version, "languages": sent.languages.strip(), "began": now()}
            update_rater(connection, rater.number, state=RaterState.WORKING, **values)
        return {"begun": True}

    def consent_text(self, lang: str, version: str) -> str:
        """The text that raters agree to.

        Raises:
            Refusal: It is not of the version that was shown any more.
        """
        text = read_text(self._store.folder, "consent", self._texts.page_lang(lang))
        if _version(text) != version:
            raise Refusal(400, "The text has changed meanwhile; load the page again.")
        return text

    def _send(self, connection: Connection, rater: Rater, sent: Body) -> dict[str, Any]:
        """Finish; from now on the link shows thanks and the code. A second request gets the same reply."""
        if rater.state is not RaterState.SENT:
            if _unfinished(connection, rater):
                raise Refusal(400, "Some steps are not finished yet.")
            update_rater(connection, rater.number, state=RaterState.SENT, ended=now())
        code = completion_code(connection, rater)
        is_reviewed = bool(rater.shared_link and not code)  # by a person, who decides on the payment
        return {"code": code, "url": COMPLETE + code if code else "", "review": is_reviewed}

    def _stop(self, connection: Connection, rater: Rater, sent: Body) -> dict[str, Any]:
        """The rater leaves; see `vcrgen.study.raters.withdraw`."""
        return {"stopped": True}

    def _volunteer(self, connection: Connection, rater: Rater, sent: _Volunteer) -> dict[str, Any]:
        """The number of items of drop-outs that a rater who has finished may do, too; or assign them.

        A page that does not know of waiting steps, as it missed the reply before, loads itself again.
        """
        working = rater.state is RaterState.WORKING
        if working and sent.take and not _unfinished(connection, rater):
            claim_unassigned(connection, self._design, rater)
        waiting = _unfinished(connection, rater)
        offered = len(unassigned_slots(connection, self._design, rater)) if working and not waiting else 0
        return {"count": offered, "waiting": waiting}

    def _rater(self, request: Request, token: str, connection: Connection, *, sent: bool = False) -> Rater:
        """The rater of a link, also one who has sent everything if ``sent``.

        Raises:
            Refusal: There is none, or the link is void.
        """
        rater = find_rater(connection, token_hash(token))
        void = rater is not None and rater.state is RaterState.SENT and not sent
        return self._tokens.authenticate(request, None if void else rater)

    def _fields(self, place: RaterStep) -> int:
        return 1 if place.step.kind is StepKind.CHECK else self._items[place.step.item].fields

    def _step_view(self, place: RaterStep, *, picture: bool = True) -> dict[str, Any]:
        """Return a step for the page."""
        typed = place.response
        view: dict[str, Any] = {
            "check": place.step.kind is StepKind.CHECK,
            "training": place.step.kind is StepKind.TRAINING,
            "fields": self._fields(place),
            "lengths": () if place.step.kind is StepKind.CHECK else self._items[place.step.item].lengths,
            "texts": typed.texts if typed else None,
            "unread": typed.unread if typed else None,
            "seconds": typed.seconds if typed else 0,
            "done": place.done,
            "revision": typed.revision if typed else 0,
        }
        if picture and place.step.kind is StepKind.CHECK:
            name = f"{place.rater} {place.number} {place.step.word}"
            view["picture"] = data_uri(check_picture(place.step.word, self._design.seed, name))
        elif picture and place.step.condition not in self._design.text_only:
            view["picture"] = self._picture(place.step.item, place.step.condition)
            view["frames"] = self._read_frames(place.step.item, place.step.condition)
        if self._design.draw and typed is not None and is_answered(typed):
            view["key"] = self._items[place.step.item].answers
        if place.step.kind is StepKind.TRAINING and typed is not None and place.done:
            answers = self._items[place.step.item].answers or ()
            pairs = zip(answers, typed.texts, strict=True)
            view["answers"] = [
                [self._shown_answer(place, answer), typed_form(answer) == typed_form(text)] for answer, text in pairs
            ]
        return view

    def _mcq_page_data(self, lang: str, steps: Sequence[RaterStep]) -> dict[str, Any]:
        """The questions of an MCQ benchmark for the page of a rater; no answer is among them."""
        texts = self._texts.page[self._texts.page_lang(lang)]
        questions = [self._questions.get((step.step.item, lang)) for step in steps]
        return {
            "questions": [question and {"text": question.text, "options": question.options} for question in questions],
            "cannot": texts["cannot"],
            "lang": lang,
            "dir": direction(lang),
        }

    def _letters(self, place: RaterStep) -> str:
        """The letters of the options of a step; "" where it has none, as a check has."""
        questions = (question for (item, _), question in self._questions.items() if item == place.step.item)
        return LETTERS[: len(question.options)] if (question := next(questions, None)) else ""

    def _shown_answer(self, place: RaterStep, answer: str) -> str:
        """Return an answer for training: of a question the letter with the option's text."""
        if not self._design.is_mcq:
            return answer
        lang = self._design.conditions[place.step.condition].mode
        mark = "\u200f" if direction(lang) == "rtl" else ""  # else the letter would decide where the line begins
        return f"{mark}{answer}. {self._questions[place.step.item, lang].options[LETTERS.index(answer)]}"

    def _lengths(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """The names of one and of more units of a covered part, for the page."""
        if self._design.is_mcq or self._design.draw:
            return {}
        return {"units": [texts[name] for name in _UNITS[LANGUAGES[self._design.lang].length_unit]]}

    def _example(self) -> dict[str, Any]:
        """The worked example for the page, if the study has one."""
        number = self._design.example
        if number is None:
            return {}
        picture, frames = self._picture(number, 0), self._read_frames(number, 0)
        return {"example": {"picture": picture, "frames": frames, "answers": self._items[number].answers}}

    def _read_frames(self, item: int, condition: int) -> Frames:
        with self._store.reading() as connection:
            return read_frames(connection, item, condition)

    def _read_picture(self, item: int, condition: int) -> str:
        with self._store.reading() as connection:
            return data_uri(read_picture(connection, item, condition))


async def read_body(request: Request, kind: type[Sent]) -> Sent:
    """Parse the body of a request as JSON of a kind.

    Raises:
        Refusal: It is something else, or has half of a character that takes two, which no database can store.
    """
    body = await request.body()
    try:
        return kind.model_validate_json(body)
    except ValidationError:
        if _HALF.search(body):
            raise Refusal(400, "A text has half of a character, such as of an emoji; type that word again.") from None
        raise Refusal(400, "That is not what the page sends.") from None


def _unfinished(connection: Connection, rater: Rater) -> int:
    """Count the unfinished steps of a rater."""
    return sum(not step.done for step in read_steps(connection, rater.number))


def _check_tab(rater: Rater, sent: Body) -> None:
    """Refuse a tab that is not the last one that was opened: two could not know of each other's changes."""
    if rater.tab != sent.tab:
        raise Refusal(409, "This study was opened in another tab or window.")


def _version(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
