"""The stages of generation: each asks a model and turns its reply into a record. No stage knows the next one.

A stage is a coroutine: it yields requests, is sent their replies, and returns a record. So it knows neither a server
nor the other items, and many of them run concurrently.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

from vcrgen.bloom.generation.item_records import AUTHOR, InvalidReply, Scenario, StageCoroutine, StageRequest
from vcrgen.bloom.generation.prompts import category_values, language_name, prompt
from vcrgen.bloom.rejects import ItemRejected, ItemRejectReason
from vcrgen.core.errors import SourceError
from vcrgen.core.reading import encodable, parse_json
from vcrgen.data.tasks.bloom import LETTERS, ChoiceQuestion
from vcrgen.models.base import ReplyOutcome, Request, Sampling

T = TypeVar("T")


class SetSize(NamedTuple):
    """Counts from which the number of requests follows."""

    scenes: int  # requests for scenes: one for each category and theme
    items: int
    targets: int  # languages into which an item is translated
    judges: int


class Stage(NamedTuple):
    """A stage as plans of costs see it. Its name is that of its prompt."""

    calls: Callable[[SetSize], int]  # requests, if each reply is valid and the first picture fits
    reply_tokens: int  # of a valid reply
    judged: bool = False  # by the judges, not by the author
    with_picture: bool = True
    item_texts: Callable[[SetSize], int] = lambda size: 0  # whole items in the prompt


STAGES: Mapping[str, Stage] = {
    "scenario": Stage(lambda size: size.scenes, 700, with_picture=False),
    "fitness": Stage(lambda size: size.items, 10, judged=True),
    "question": Stage(lambda size: size.items, 60),
    "options": Stage(lambda size: size.items, 80),
    "translation": Stage(lambda size: size.items * size.targets, 200, with_picture=False, item_texts=lambda size: 1),
    "answer": Stage(lambda size: size.items * size.judges, 10, judged=True, item_texts=lambda size: 1),
    "verdict": Stage(lambda size: size.items * size.judges, 40, judged=True, item_texts=lambda size: size.targets + 1),
}
REPEATED = "again"  # the prompt behind that of a stage whose reply was not valid
PROMPTS = (*STAGES, REPEATED)
TRIES = 3  # of a request whose reply is not valid
SCENARIOS = 10  # of one request
LEAST_FITNESS = 4
_SAMPLING = Sampling(temperature=0.0, max_tokens=4096)  # of which a model that thinks takes most for that
_MAX_KEYWORDS = 12
MAX_SCENE = 400  # characters
MAX_QUESTION, MAX_ANSWER = 600, 300  # characters
_FENCE = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*", re.DOTALL)
_COUNTS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_NO_OPTIONS = "(no options are given)"
_OTHER_ANSWER = "none"  # where a judge finds no right option, or several
PARTS = {
    "picture": ItemRejectReason.JUDGE_REJECTS_PICTURE,
    "question": ItemRejectReason.JUDGE_REJECTS_QUESTION,
    "category": ItemRejectReason.JUDGE_REJECTS_CATEGORY,
    "options": ItemRejectReason.JUDGE_REJECTS_OPTIONS,
    "translation": ItemRejectReason.JUDGE_REJECTS_TRANSLATION,
}


def plan_scenarios(path: str, theme: str, lang: str) -> StageCoroutine[list[Scenario]]:
    """Return scenes for a category, with keywords by which pictures are found."""
    values = category_values(path) | {"theme": theme, "language": language_name(lang), "count": str(SCENARIOS)}
    return (yield from _ask("scenario", AUTHOR, values, (), _scenarios))


def rate_fitness(path: str, scene: Scenario, picture: bytes, judge: int) -> StageCoroutine[int]:
    """The fitness of a picture for a category, from 1 to 5."""
    values = category_values(path) | {"scenario": scene.text}
    return (yield from _ask("fitness", judge, values, (picture,), lambda reply: _number(reply, "fitness", 1, 5)))


def write_question(path: str, scene: Scenario, picture: bytes, lang: str) -> StageCoroutine[tuple[str, str]]:
    """Return a question about a picture, and its answer."""
    values = category_values(path) | {"scenario": scene.text, "language": language_name(lang)}

    def read(reply: Mapping[str, Any]) -> tuple[str, str]:
        return _text(reply, "question", MAX_QUESTION), _text(reply, "answer", MAX_ANSWER)

    return (yield from _ask("question", AUTHOR, values, (picture,), read))


def write_options(question: str, answer: str, picture: bytes, lang: str, count: int) -> StageCoroutine[list[str]]:
    """Return so many options: the right one, the trap, and others."""
    values = {
        "question": question,
        "answer": answer,
        "language": language_name(lang),
        "count": _COUNTS[count],
        "wrong": _COUNTS[count - 1],
        "others": _blanks(count - 2),
    }

    def read(reply: Mapping[str, Any]) -> list[str]:
        wrong = _texts(reply, "wrong", count - 2, MAX_ANSWER)
        return [_text(reply, "right", MAX_ANSWER), _text(reply, "trap", MAX_ANSWER), *wrong]

    return (yield from _ask("options", AUTHOR, values, (picture,), read))


def translate_item(question: ChoiceQuestion, lang: str, target: str) -> StageCoroutine[ChoiceQuestion]:
    """The item in another language; its options keep their order."""
    count = len(question.options)
    values = {
        "language": language_name(lang),
        "target": language_name(target),
        "question": question.text,
        "options": json.dumps(question.options, ensure_ascii=False),
        "count": _COUNTS[count],
        "form": _blanks(count),
    }

    def read(reply: Mapping[str, Any]) -> ChoiceQuestion:
        options = _texts(reply, "options", count, 2 * MAX_ANSWER)
        return ChoiceQuestion(_text(reply, "question", 2 * MAX_QUESTION), tuple(options))

    return (yield from _ask("translation", AUTHOR, values, (), read))


def judge_item(
    path: str, questions: Mapping[str, ChoiceQuestion], answer: int, picture: bytes, judge: int
) -> StageCoroutine[ItemRejectReason | None]:
    """The reason for which a judge rejects the item, or None.

    The judge answers the question before it is shown the key, since a model that has seen a key agrees too easily.
    """
    first = next(iter(questions.values()))
    count = len(first.options)
    values = {"question": first.text, "options": _lettered(first.options)}
    read = partial(_letter, letters=LETTERS[:count])
    if (yield from _ask("answer", judge, values, (picture,), read)) != answer:
        return ItemRejectReason.JUDGE_DISAGREES
    item = "\n\n".join(
        f"[{lang}] {question.text}\n{_lettered(question.options)}" for lang, question in questions.items()
    )
    values = category_values(path) | {"item": item, "key": LETTERS[answer], "wrong": _COUNTS[count - 1]}
    verdict = yield from _ask("verdict", judge, values, (picture,), _verdict)
    return next((PARTS[part] for part, good in verdict.items() if not good), None)


def classify_item(
    question: str, options: Sequence[str], pictures: tuple[bytes, ...], categories: str, role: int
) -> StageCoroutine[int]:
    """The category of an item of any set: its number in a list, from 1; 0 for none of them."""
    values = {"leaves": categories, "question": question, "options": _lettered(options) or _NO_OPTIONS}
    most = categories.count("\n") + 1
    return (yield from _ask("category", role, values, pictures, lambda reply: _number(reply, "leaf", 0, most)))


def _lettered(options: Sequence[str]) -> str:
    """Return options with letters, one a line; a set to be classified may have more than ten."""
    return "\n".join(f"{chr(ord('A') + number)}) {option}" for number, option in enumerate(options))


def _blanks(count: int) -> str:
    """Return so many empty texts, as the form of a reply shows them."""
    return ", ".join(['"..."'] * count)


def _ask(
    stage: str, role: int, values: Mapping[str, str], pictures: tuple[bytes, ...], read: Callable[[Any], T]
) -> StageCoroutine[T]:
    """Ask until a reply is valid, three times at most."""
    request = Request(images=pictures, text=prompt(stage, values), sampling=_SAMPLING)
    problem = ""
    for attempt in range(1, TRIES + 1):
        suffix = prompt(REPEATED, {"attempt": str(attempt)}) if attempt > 1 else ""
        reply = yield StageRequest(stage, role, replace(request, text=request.text + suffix))
        if reply.outcome == ReplyOutcome.FILTERED:
            raise ItemRejected(ItemRejectReason.FILTERED, "a content filter of the server removed the reply", stage)
        try:
            if reply.outcome == ReplyOutcome.TRUNCATED:
                raise InvalidReply("it was truncated at its limit")
            return read(_object(reply.text))
        except InvalidReply as error:
            problem = str(error)
    raise ItemRejected(ItemRejectReason.INVALID_REPLY, f"{TRIES} replies are not valid; the last: {problem}", stage)


def _object(text: str) -> dict[str, Any]:
    """The JSON object that is the whole reply, with or without a code fence. Nothing is repaired."""
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    try:
        value = parse_json(text, "the reply", SourceError)
    except SourceError:
        raise InvalidReply("it is not JSON") from None
    if not isinstance(value, dict):
        raise InvalidReply("it is no JSON object")
    return value


def _text(reply: Mapping[str, Any], name: str, most: int) -> str:
    return _line(reply.get(name), name, most)


def _texts(reply: Mapping[str, Any], name: str, count: int, most: int) -> list[str]:
    values = reply.get(name)
    if not isinstance(values, list) or len(values) != count:
        raise InvalidReply(f"`{name}` is no list of {count}")
    return [_line(value, name, most) for value in values]


def _line(value: Any, name: str, most: int) -> str:
    """Return a text as items hold it: one line, not empty, not too long."""
    text = " ".join(encodable(value).split()) if isinstance(value, str) else ""
    if not 0 < len(text) <= most:
        raise InvalidReply(f"`{name}` is no text of 1 to {most} characters")
    return text


def _scenarios(reply: Mapping[str, Any]) -> list[Scenario]:
    listed = reply.get("scenarios")
    if not isinstance(listed, list) or not listed:
        raise InvalidReply("`scenarios` is no list")
    scenarios = []
    for value in listed[:SCENARIOS]:
        words = value.get("keywords") if isinstance(value, dict) else None
        if not isinstance(words, list) or not words:
            raise InvalidReply("`keywords` is no list")
        keywords = tuple(_line(word, "keywords", 80) for word in words[:_MAX_KEYWORDS])
        scenarios.append(Scenario(text=_text(value, "scenario", MAX_SCENE), keywords=keywords))
    return scenarios


def _number(reply: Mapping[str, Any], name: str, least: int, most: int) -> int:
    value = reply.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidReply(f"`{name}` is no number from {least} to {most}")
    return value


def _letter(reply: Mapping[str, Any], letters: str) -> int | None:
    value = reply.get("answer")
    if isinstance(value, str) and value.strip().lower() == _OTHER_ANSWER:
        return None
    if not isinstance(value, str) or len(value.strip()) != 1 or value.strip() not in letters:
        raise InvalidReply(f"`answer` is none of {', '.join(letters)} and none")
    return letters.index(value.strip())


def _verdict(reply: Mapping[str, Any]) -> dict[str, bool]:
    if not all(isinstance(reply.get(part), bool) for part in PARTS):
        raise InvalidReply(f"one of {', '.join(PARTS)} is neither true nor false")
    return {part: reply[part] for part in PARTS}
