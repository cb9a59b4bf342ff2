"""The stages: each asks a model and makes a record of its reply. None knows the one that follows.

A stage is a generator: it yields requests, is sent their replies, and returns a record. So it knows neither a server
nor the other items, and many of them go on side by side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from vcrgen.bloom.making.prompts import language_name, leaf_values, prompt
from vcrgen.bloom.making.records import AUTHOR, Drop, ItemDropped, NotValid, Scenario, StageRequest, Steps
from vcrgen.errors import SourceError
from vcrgen.models.base import ReplyOutcome, Request, Sampling
from vcrgen.reading import encodable, parse_json
from vcrgen.tasks.bloom import LETTERS, ChoiceQuestion

T = TypeVar("T")

TRIES = 3  # of a request whose reply is not valid
SCENARIOS = 10  # that are asked for at a time
LEAST_FITNESS = 4
_MAX_TOKENS = 4096  # of a reply; a model that thinks takes most of them for that
_SAMPLING = Sampling(temperature=0.0, max_tokens=_MAX_TOKENS)
_MOST_KEYWORDS = 12
MAX_QUESTION, MAX_ANSWER = 600, 300  # characters
_FENCE = re.compile(r"\s*```(?:json)?\s*(.*?)\s*```\s*", re.DOTALL)
_NO_OPTIONS = "(no options are given)"
_OTHER_ANSWER = "none"  # where a judge finds no right option, or several
PARTS = {
    "picture": Drop.JUDGED_PICTURE,
    "question": Drop.JUDGED_QUESTION,
    "options": Drop.JUDGED_OPTIONS,
    "translation": Drop.JUDGED_TRANSLATION,
}


def scenarios(path: str, theme: str, lang: str) -> Steps[list[Scenario]]:
    """Scenes for a leaf, with words by which pictures are found."""
    values = leaf_values(path) | {"theme": theme, "language": language_name(lang), "count": str(SCENARIOS)}
    return (yield from _asked("scenario", AUTHOR, values, (), _scenarios))


def fitness(path: str, scene: Scenario, picture: bytes, judge: int) -> Steps[int]:
    """How well a picture serves a leaf, from 1 to 5."""
    return (yield from _asked("fitness", judge, leaf_values(path) | {"scenario": scene.text}, (picture,), _fitness))


def open_question(path: str, scene: Scenario, picture: bytes, lang: str) -> Steps[tuple[str, str]]:
    """A question about a picture, and its answer."""
    values = leaf_values(path) | {"scenario": scene.text, "language": language_name(lang)}

    def read(reply: Mapping[str, Any]) -> tuple[str, str]:
        return _text(reply, "question", MAX_QUESTION), _text(reply, "answer", MAX_ANSWER)

    return (yield from _asked("question", AUTHOR, values, (picture,), read))


def four_options(question: str, answer: str, picture: bytes, lang: str) -> Steps[list[str]]:
    """Four options: the right one, the trap, and two others."""
    values = {"question": question, "answer": answer, "language": language_name(lang)}

    def read(reply: Mapping[str, Any]) -> list[str]:
        wrong = _texts(reply, "wrong", 2, MAX_ANSWER)
        return [_text(reply, "right", MAX_ANSWER), _text(reply, "trap", MAX_ANSWER), *wrong]

    return (yield from _asked("options", AUTHOR, values, (picture,), read))


def translation(question: ChoiceQuestion, lang: str, target: str) -> Steps[ChoiceQuestion]:
    """The item in another language; its options keep their order."""
    values = {
        "language": language_name(lang), "target": language_name(target), "question": question.text,
        "options": json.dumps(question.options, ensure_ascii=False),
    }  # fmt: skip

    def read(reply: Mapping[str, Any]) -> ChoiceQuestion:
        options = _texts(reply, "options", len(LETTERS), 2 * MAX_ANSWER)
        return ChoiceQuestion(_text(reply, "question", 2 * MAX_QUESTION), tuple(options))

    return (yield from _asked("translation", AUTHOR, values, (), read))


def judged(
    path: str, questions: Mapping[str, ChoiceQuestion], answer: int, picture: bytes, judge: int
) -> Steps[Drop | None]:
    """What a judge says: why the item is to be dropped, or None.

    It answers the question itself before it is shown the key: who has seen a key agrees too easily.
    """
    first = next(iter(questions.values()))
    values = {"question": first.text, **dict(zip("abcd", first.options, strict=True))}
    if (yield from _asked("answer", judge, values, (picture,), _letter)) != answer:
        return Drop.JUDGED_ANSWER
    item = "\n\n".join(
        "\n".join([f"[{lang}] {one.text}", *(f"{x}) {text}" for x, text in zip(LETTERS, one.options, strict=True))])
        for lang, one in questions.items()
    )
    values = leaf_values(path) | {"item": item, "key": LETTERS[answer]}
    verdict = yield from _asked("verdict", judge, values, (picture,), _verdict)
    return next((PARTS[part] for part, good in verdict.items() if not good), None)


def leaf_number(
    question: str, options: Sequence[str], pictures: tuple[bytes, ...], leaves: str, role: int
) -> Steps[int]:
    """The leaf under which a model files an item of any set: its number in the list, from 1; 0 for none of them."""
    shown = "\n".join(f"{chr(ord('A') + number)}) {option}" for number, option in enumerate(options))
    values = {"leaves": leaves, "question": question, "options": shown or _NO_OPTIONS}
    most = leaves.count("\n") + 1
    return (yield from _asked("leaf", role, values, pictures, lambda reply: _number(reply, "leaf", 0, most)))


def _asked(
    stage: str, role: int, values: Mapping[str, str], pictures: tuple[bytes, ...], read: Callable[[Any], T]
) -> Steps[T]:
    """Ask until a reply is valid, three times at most."""
    request = Request(images=pictures, text=prompt(stage, values), sampling=_SAMPLING)
    problem = ""
    for attempt in range(1, TRIES + 1):
        more = prompt("again", {"attempt": str(attempt)}) if attempt > 1 else ""
        reply = yield StageRequest(stage, role, replace(request, text=request.text + more))
        if reply.outcome == ReplyOutcome.FILTERED:
            raise ItemDropped(stage, Drop.FILTERED, "a filter of the server's took the reply away")
        try:
            if reply.outcome == ReplyOutcome.CUT:
                raise NotValid("it was cut at its limit")
            return read(_object(reply.text))
        except NotValid as error:
            problem = str(error)
    raise ItemDropped(stage, Drop.INVALID_REPLY, f"{TRIES} replies are not valid; the last: {problem}")


def _object(text: str) -> dict[str, Any]:
    """The JSON object that is a whole reply, with or without a fence around it. Nothing is repaired."""
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    try:
        value = parse_json(text, "the reply", SourceError)
    except SourceError:
        raise NotValid("it is not JSON") from None
    if not isinstance(value, dict):
        raise NotValid("it is no JSON object")
    return value


def _text(reply: Mapping[str, Any], name: str, most: int) -> str:
    return _checked(reply.get(name), name, most)


def _texts(reply: Mapping[str, Any], name: str, count: int, most: int) -> list[str]:
    values = reply.get(name)
    if not isinstance(values, list) or len(values) != count:
        raise NotValid(f"`{name}` is no list of {count}")
    return [_checked(value, name, most) for value in values]


def _checked(value: Any, name: str, most: int) -> str:
    """A text as items hold it: one line, not empty, not too long."""
    text = " ".join(encodable(value).split()) if isinstance(value, str) else ""
    if not 0 < len(text) <= most:
        raise NotValid(f"`{name}` is no text of 1 to {most} characters")
    return text


def _scenarios(reply: Mapping[str, Any]) -> list[Scenario]:
    listed = reply.get("scenarios")
    if not isinstance(listed, list) or not listed:
        raise NotValid("`scenarios` is no list")
    found = []
    for value in listed[:SCENARIOS]:
        words = value.get("keywords") if isinstance(value, dict) else None
        if not isinstance(words, list) or not words:
            raise NotValid("`keywords` is no list")
        keywords = tuple(_checked(word, "keywords", 80) for word in words[:_MOST_KEYWORDS])
        found.append(Scenario(text=_text(value, "scenario", 400), keywords=keywords))
    return found


def _fitness(reply: Mapping[str, Any]) -> int:
    return _number(reply, "fitness", 1, 5)


def _number(reply: Mapping[str, Any], name: str, least: int, most: int) -> int:
    value = reply.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise NotValid(f"`{name}` is no number from {least} to {most}")
    return value


def _letter(reply: Mapping[str, Any]) -> int | None:
    value = reply.get("answer")
    if isinstance(value, str) and value.strip().lower() == _OTHER_ANSWER:
        return None
    if not isinstance(value, str) or len(value.strip()) != 1 or value.strip() not in LETTERS:
        raise NotValid("`answer` is none of A, B, C, D and none")
    return LETTERS.index(value.strip())


def _verdict(reply: Mapping[str, Any]) -> dict[str, bool]:
    if not all(isinstance(reply.get(part), bool) for part in PARTS):
        raise NotValid(f"one of {', '.join(PARTS)} is neither true nor false")
    return {part: reply[part] for part in PARTS}


def in_order(options: Sequence[str], order: Sequence[int]) -> tuple[str, ...]:
    """Options in the set's order: that with number ``order[0]`` first."""
    return tuple(options[number] for number in order)
