"""The requests of presets are those that the published programs send, recorded by `scripts/record_requests.py`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import PIL
import pytest

from tests.loading import load_script
from vcrgen.data.pictures import Picture
from vcrgen.data.views import View
from vcrgen.models.address import parse_address
from vcrgen.models.chat import encode_request
from vcrgen.models.predict.prompts import make_prompt
from vcrgen.models.presets import PRESETS

REQUESTS = Path(__file__).with_name("requests")
told: Callable[[Any], Any] = load_script("record_requests").without_pictures
# Of each preset: the program, and the route in it.
ROUTES = {
    "vcr-repo-gpt": ("vcr-repo", "gpt"),
    "vlmevalkit-gpt-high": ("vlmevalkit", "gpt-high"),
    "vlmevalkit-gpt-low": ("vlmevalkit", "gpt-low"),
    "lmms-eval-chat": ("lmms-eval", "chat"),
}


def record(program: str) -> Any:
    return json.loads((REQUESTS / f"{program}.json").read_text("utf-8"))


def without_bytes(body: Any) -> Any:
    """The same without what another version of Pillow changes."""
    if isinstance(body, dict):
        return {name: without_bytes(value) for name, value in body.items() if name not in ("sha256", "bytes")}
    return [without_bytes(value) for value in body] if isinstance(body, list) else body


def ours(preset: str, name: str, question: str) -> Any:
    """The body of our request about a picture, in the form of a preset."""
    data = (REQUESTS / f"{name}.png").read_bytes()
    picture = Picture(
        question_id="1", lang="en", view=View.STACKED, mode=None, data=data, question=question, place=(0, 0, 0, 0)
    )
    request = make_prompt(preset, {}).request(picture)
    return json.loads(encode_request(request, parse_address("http://127.0.0.1:1/v1", "m"), "m"))


def test_every_preset_of_restoration_has_a_record() -> None:
    named = {name for name, preset in PRESETS.items() if not preset.frame}
    assert named == {*ROUTES, "vcr-repo-claude"}


@pytest.mark.parametrize("name", ["stacked", "strip", "hidden"])
@pytest.mark.parametrize("preset", ROUTES)
def test_a_request_is_the_recorded_one(preset: str, name: str) -> None:
    program, route = ROUTES[preset]
    recorded = record(program)
    expected = recorded["requests"][route][name]
    texts = [part["text"] for part in expected["messages"][0]["content"] if part["type"] == "text"]
    sent = told(ours(preset, name, texts[0]))
    if recorded["with"]["pillow"] != PIL.__version__ and PRESETS[preset].image_form:
        sent, expected = without_bytes(sent), without_bytes(expected)
    assert sent == expected


@pytest.mark.parametrize("name", ["stacked", "strip", "hidden"])
def test_the_request_to_claude_is_the_recorded_one_in_openais_protocol(name: str) -> None:
    """Of the picture, question and limit that Anthropic's own protocol was sent."""
    expected = record("vcr-repo")["requests"]["claude"][name]
    image, words = expected["messages"][0]["content"]
    sent = told(ours("vcr-repo-claude", name, words["text"]))
    (message,) = sent.pop("messages")
    assert sent == {**{field: expected[field] for field in expected if field != "messages"}, "model": "m"}
    url = message["content"][0]["image_url"]["url"]
    assert url["start"] == f"data:{image['source']['media_type']};base64"
    assert url["sha256"] == image["source"]["data"]["sha256"] and message["content"][1:] == [words]
