"""A plan against the truth: what the rest of a run takes then, for every view and option."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from vcrgen.bloom.scenes.generator import build_scene_set
from vcrgen.config.bloom import BloomSceneOptions
from vcrgen.dataset.pictures import PictureSelection, open_pictures
from vcrgen.dataset.views import QUESTION_VIEWS, VIEWS
from vcrgen.models.address import parse_address
from vcrgen.models.connection import Limits
from vcrgen.models.endpoint import EndpointModel
from vcrgen.predict.job import predict
from vcrgen.predict.plan import PLAN_REQUESTS, RunPlan, plan
from vcrgen.predict.prompts import Prompt, make_choice_prompt, make_prompt
from vcrgen.predict.questions import QuestionSelection
from vcrgen.tasks.opening import open_task_dataset

PRICE = (1e6, 1e6)  # a token costs 1
Case = tuple[PictureSelection, Prompt]
CASES: dict[str, Case] = {
    **{view: (PictureSelection(views=views), make_prompt(None, {})) for view, views in VIEWS.items()},
    "answers": (PictureSelection(views=VIEWS["both"]), make_prompt(None, {}, answer_logprobs=True)),
    "limit": (PictureSelection(limit=4, mode="hard"), make_prompt(None, {})),
}
CHOICES: dict[str, Case] = {
    **{
        f"mcq {view}": (QuestionSelection(views=views), make_choice_prompt(None, {}))
        for view, views in QUESTION_VIEWS.items()
    },
    "rotations": (QuestionSelection(views=QUESTION_VIEWS["both"], rotations=4), make_choice_prompt(None, {})),
    "all": (
        QuestionSelection(views=QUESTION_VIEWS["both"], rotations=4, lang="en"),
        make_choice_prompt(None, {}, answer_logprobs=True, label_logprobs=True),
    ),
}


@pytest.fixture
def counting(serve: Any, faults: Any) -> Any:
    """A server that counts a token for 4 bytes of text and 85 for a picture."""

    def answer(call: Any) -> Any:
        content = call.body["messages"][0]["content"]
        images = sum(part["type"] == "image_url" for part in content)
        text = "".join(part.get("text", "") for part in content)
        usage = {"prompt_tokens": 85 * images + len(text.encode()) // 4, "completion_tokens": 5}
        made = faults.with_likelihoods(call)
        first = [{"token": letter, "logprob": -1.5} for letter in "ABCD"]
        choice = {"logprobs": {"content": [{"top_logprobs": first}]}} if "top_logprobs" in call.body else {}
        return faults.Answer(more={**made.more, "usage": usage}, choice=choice)

    return serve(answer)


def model_of(server: Any) -> EndpointModel:
    return EndpointModel(parse_address(server.url, "m"), "m", limits=Limits(concurrency=4, timeout=60))


def pictures_of(data: Any, choice: PictureSelection) -> list[Any]:
    return list(open_pictures(data, choice).stream())


def image_in(body: Any) -> bytes:
    return base64.b64decode(body["messages"][0]["content"][0]["image_url"]["url"].partition(",")[2])


def compare(folder: Path, server: Any, case: Case, out: Path) -> tuple[RunPlan, dict[str, int]]:
    """Plan, then run; what the run took after the plan."""
    data, (choice, prompt) = open_task_dataset(folder), case
    found = plan(data, choice, out=out, model=model_of(server), prompt=prompt, price=PRICE)
    before, calls = dict(found.spent.tokens), len(server.calls)
    checks = dict(found.spent.extra)
    assert not out.exists()
    result = predict(data, choice, out=out, model=model_of(server), prompt=prompt, price=PRICE)
    assert result.finished
    tokens = result.spent.tokens
    # Each run checks a server of log-probabilities once, with a text that no reply shows.
    more = {kind: result.spent.extra[kind] - checks.get(kind, 0) for kind in ("input", "output")}
    took = {kind: tokens[kind] - before[kind] - more[kind] for kind in ("input", "output")}
    return found, took | {"calls": len(server.calls) - calls - bool(prompt.answer_logprobs)}


@pytest.mark.parametrize("name", [*CASES, *CHOICES])
def test_a_plan_is_the_truth(name: str, dataset: Path, tmp_path: Path, counting: Any) -> None:
    if name in CHOICES:
        build_scene_set(BloomSceneOptions(items=12), folder := tmp_path / "bloom")
    else:
        folder = dataset
    found, took = compare(folder, counting, (CASES | CHOICES)[name], tmp_path / "p.jsonl")
    assert found.calls == took["calls"] and found.requests - found.left == found.sampled
    kinds = 4 if name == "all" else 2
    assert found.sampled <= PLAN_REQUESTS + kinds
    for kind in ("input", "output"):
        estimate = found.tokens[kind]
        assert estimate.lowest <= estimate.mean <= estimate.highest, kind
        assert estimate.mean == pytest.approx(took[kind], rel=0.3), kind  # languages and captions differ
    # In output every reply is alike, but for the number of calls, which is known.
    assert found.tokens["output"].lowest == found.tokens["output"].highest == took["output"]


def test_replies_of_another_choice_do_not_count(dataset: Path, tmp_path: Path, counting: Any, serve: Any) -> None:
    """After a view with short prompts and no picture, the plan of another view is that of its own replies."""
    out, data, prompt = tmp_path / "p.jsonl", open_task_dataset(dataset), make_prompt(None, {})
    text = PictureSelection(views=VIEWS["text-only"])
    assert predict(data, text, out=out, model=model_of(counting), prompt=prompt).finished
    found = plan(data, CASES["tei"][0], out=out, model=model_of(counting), prompt=prompt)
    alone = plan(data, CASES["tei"][0], out=tmp_path / "q.jsonl", model=model_of(counting), prompt=prompt)
    assert found.tokens == alone.tokens and found.sampled == alone.sampled == PLAN_REQUESTS


def test_five_requests_are_spread_and_count(dataset: Path, tmp_path: Path, serve: Any) -> None:
    server, data, prompt = serve(), open_task_dataset(dataset), make_prompt(None, {})
    choice, out = PictureSelection(), tmp_path / "p.jsonl"
    for _ in range(2):
        plan(data, choice, out=out, model=model_of(server), prompt=prompt)
    assert len(server.calls) == 10
    sent = {image_in(call.body) for call in server.calls[:5]}
    places = [place for place, picture in enumerate(pictures_of(data, choice)) if picture.data in sent]
    assert places == [1, 3, 6, 8, 10]
    found = plan(data, choice, out=out, model=model_of(server), prompt=prompt)
    assert len(server.calls) == 12 and found.left == 0 and found.tokens["input"].mean == 0


def test_unusable_replies_are_part_of_the_cost(dataset: Path, tmp_path: Path, serve: Any, faults: Any) -> None:
    useless = faults.Answer(body=json.dumps({"usage": {"prompt_tokens": 100}}).encode())
    server = serve(lambda call: useless if call.tries == 0 else faults.Answer())
    prompt = make_prompt(None, {})
    found = plan(
        open_task_dataset(dataset), PictureSelection(), out=tmp_path / "p.jsonl", model=model_of(server), prompt=prompt
    )
    assert found.left == 7 and found.tokens["input"].mean == 7 * 200 and found.spent.tokens["input"] == 5 * 200
