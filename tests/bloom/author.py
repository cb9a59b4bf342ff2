"""An imitation of models that write and judge questions, behind the server of tests/models/fault_server.py.

It answers each prompt of vcrgen/bloom/generation/prompts in the form that is asked for; what it says follows from the
request alone. As a process, ``python -m tests.bloom.author [DELAY]`` prints its port and serves until it is ended.
"""

import contextlib
import json
import random
import re
import sys
import threading
from dataclasses import replace
from functools import cache, lru_cache
from string import Template
from typing import Any
from zlib import crc32

from tests.models.fault_server import Answer, Call, FaultServer, generated
from vcrgen.bloom.generation.prompts import template
from vcrgen.bloom.generation.stages import REPEATED, STAGES

SCENES = ("boat", "house", "tree", "market", "bird", "wall", "street", "fish", "crate", "field")
_WORDS = """
    lamp stone river cloud basket ladder window flag drum apple wheel bench candle rope bottle carpet mirror shovel
    bucket feather garden hammer island jacket kettle lemon marble needle orange pencil quilt ribbon saddle tunnel
    umbrella violin wagon anchor button curtain dolphin engine fountain goblet helmet lantern magnet napkin oyster
"""
_ARABIC_WORDS = """
    قارب صغير أحمر جسر قديم بيت شجرة سوق طائر جدار شارع سمك حقل نهر حجر مصباح باب نافذة علم طبل
"""

THINGS, ARABIC = _WORDS.split(), _ARABIC_WORDS.split()


def text_of(call: Call) -> str:
    """Return the prompt of a call, also of one for a picture."""
    if "prompt" in call.body:
        return str(call.body["prompt"])
    return "".join(part.get("text", "") for part in call.body["messages"][0]["content"])


@cache
def _forms() -> dict[str, re.Pattern[str]]:
    """Return the form of each stage's prompt, with a group for each value that is filled in."""
    again = _form(template(REPEATED), set())
    return {
        name: re.compile(f"{_form(template(name), set())}(?:{again})?", re.DOTALL) for name in (*STAGES, "category")
    }


def _form(text: str, known_names: set[str]) -> str:
    form, at = "", 0
    for found in Template.pattern.finditer(text):
        name = found["named"] or found["braced"]
        form += re.escape(text[at : found.start()])
        value = r"[^()]+" if name == "subcategory" else ".+?"  # "semantic understanding (knowledge)" is a category
        form += f"(?P={name})" if name in known_names else f"(?P<{name}>{value})"
        known_names.add(name)
        at = found.end()
    return form + re.escape(text[at:])


@lru_cache(maxsize=1 << 12)
def read_prompt(text: str) -> tuple[str, dict[str, str]]:
    """Return the stage of a prompt, and the values that were filled in."""
    return next((stage, found.groupdict()) for stage, form in _forms().items() if (found := form.fullmatch(text)))


def stage_of(call: Call) -> str:
    return "picture" if "prompt" in call.body else read_prompt(text_of(call))[0]


def is_right(option: str) -> bool:
    """True for the right option: the judges have no eyes, and readers of words and lengths do not see it."""
    return crc32(option.encode()) % 4 == 0


def _drawn(rng: random.Random, right: bool) -> str:
    while is_right(text := " ".join(rng.sample(THINGS, 2))) != right:
        pass
    return text


def said(call: Call) -> Any:
    """Return the reply of a good author or judge."""
    rng = random.Random(call.digest)
    match stage_of(call):
        case "scenario":
            scenes = [{"scenario": f"a {word} and two of its kind", "keywords": [word, "small"]} for word in SCENES]
            return {"scenarios": rng.sample(scenes, len(scenes))}
        case "fitness":
            return {"fitness": rng.choice([2, 4, 4, 5, 5])}
        case "question":
            return {"question": f"Where is the {' '.join(rng.sample(THINGS, 5))}?", "answer": "at the left"}
        case "options":
            others = read_prompt(text_of(call))[1]["others"].count(",") + 1
            right, trap, *wrong = (_drawn(rng, is_first) for is_first in (True, False, *[False] * others))
            return {"right": right, "trap": trap, "wrong": wrong}
        case "translation":
            given = json.loads(read_prompt(text_of(call))[1]["options"])
            options = [" ".join(rng.sample(ARABIC, 2)) + " " + rng.choice(ARABIC) for _ in given]
            return {"question": f"أين {' '.join(rng.sample(ARABIC, 4))}؟", "options": options}
        case "category":
            return {"leaf": int(call.digest[:8], 16) % 107}
        case "answer":
            lines = [line for line in text_of(call).splitlines() if line[1:3] == ") " and is_right(line[3:])]
            return {"answer": lines[0][0] if lines and rng.random() < 0.95 else "none"}
        case _:
            return dict.fromkeys(("picture", "question", "category", "options", "translation"), True)


def good(call: Call) -> Answer:
    """The answer of one who does as asked."""
    if stage_of(call) == "picture":
        return generated(call)
    return Answer(text=json.dumps(said(call), ensure_ascii=False))


if __name__ == "__main__":
    wait = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0

    def late(call: Call) -> Answer:
        return replace(good(call), delay=wait)

    with FaultServer(late) as running:
        sys.stdout.write(f"{running.port}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
