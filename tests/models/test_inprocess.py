"""A model in this process: equal answers in batches of any size, and log-probabilities that are those of `generate`."""

import io
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from vcrgen.core.errors import ConfigError, ModelError
from vcrgen.models.base import Reply, ReplyOutcome, Request, RequestProblem, Sampling
from vcrgen.models.inprocess import InProcessModel, check_settings
from vcrgen.models.loading import LoadedModel, load_model

pytestmark = pytest.mark.extras

GREEDY = Sampling(temperature=0.0, max_tokens=40)


@pytest.fixture(scope="module")
def loaded(taught: Path) -> LoadedModel:
    return load_model(taught)


@pytest.fixture(scope="module")
def requests(tinyvlm: Any, taught_data: Path) -> list[Request]:
    """Twelve pictures that the model knows, each with its right answer as the candidate."""
    examples = tinyvlm.examples_of(taught_data)[:12]
    return [
        Request(images=(png(each.image),), text=each.question, sampling=GREEDY, candidates=(each.answer,))
        for each in examples
    ]


def png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def outcomes(loaded: LoadedModel, requests: Sequence[Request], batch: int = 8) -> list[Reply | RequestProblem]:
    """Return the outcomes of requests, without their times."""
    kept: dict[int, Reply] = {}
    model = InProcessModel(loaded, "tiny", batch=batch)
    found = dict(model.answers(enumerate(requests), kept.__setitem__))
    assert kept == {number: outcome for number, outcome in found.items() if isinstance(outcome, Reply)}
    assert list(found) == list(range(len(requests)))
    return [replace(each, seconds=0.0) if isinstance(each, Reply) else each for each in found.values()]


def replies(loaded: LoadedModel, requests: Sequence[Request], batch: int = 8) -> list[Reply]:
    found = outcomes(loaded, requests, batch)
    assert all(isinstance(outcome, Reply) for outcome in found), found
    return [outcome for outcome in found if isinstance(outcome, Reply)]


def problem(outcome: Reply | RequestProblem) -> RequestProblem:
    assert isinstance(outcome, RequestProblem)
    return outcome


def test_it_says_what_it_was_taught(loaded: LoadedModel, requests: list[Request]) -> None:
    found = replies(loaded, requests)
    assert sum(reply.text == request.candidates[0] for reply, request in zip(found, requests, strict=True)) >= 11
    first = found[0]
    assert (first.model, first.finish_reason, first.outcome) == ("tiny", "stop", ReplyOutcome.ANSWERED)
    ids = loaded.tokenizer(first.text)["input_ids"]
    assert first.usage["output"] == len(ids) + 1 and first.usage["input"] > 100


def test_the_same_in_batches_of_any_size(loaded: LoadedModel, requests: list[Request]) -> None:
    asked = [*requests, replace(requests[0], text="Why?"), replace(requests[1], images=())]  # of other lengths
    one = replies(loaded, asked, 1)
    assert one == replies(loaded, asked, 8) == replies(loaded, asked, 64)


def test_log_probabilities_are_those_of_generate(loaded: LoadedModel, requests: list[Request]) -> None:
    import torch

    for request in requests[:6]:
        image = Image.open(io.BytesIO(request.images[0]))
        asked = [{"type": "image", "image": image}, {"type": "text", "text": request.text}]
        inputs = loaded.processor.apply_chat_template(
            [{"role": "user", "content": asked}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=True,
            processor_kwargs={"return_tensors": "pt"},
        )
        done = loaded.model.generate(
            **inputs, max_new_tokens=40, do_sample=False, output_logits=True, return_dict_in_generate=True
        )
        tokens = done.sequences[0, inputs["input_ids"].shape[1] :].tolist()[:-1]
        steps = [torch.log_softmax(step[0], -1) for step in done.logits]
        expected = [float(step[token]) for step, token in zip(steps, tokens, strict=False)]
        written = loaded.tokenizer.decode(tokens)
        (reply,) = replies(loaded, [replace(request, candidates=(written,))])
        assert [token for token, _ in reply.candidate_logprobs[0]] == [
            loaded.tokenizer.decode([token]) for token in tokens
        ]
        assert [value for _, value in reply.candidate_logprobs[0]] == pytest.approx(expected, abs=1e-3)


def test_candidates_open_the_turn_and_exactly_their_tokens_count(loaded: LoadedModel, requests: list[Request]) -> None:
    request = requests[0]
    right = request.candidates[0]
    texts = (right, right.split("\n")[0][:-1], "an absurd answer", "猫 é", right)
    (reply,) = replies(loaded, [replace(request, candidates=texts)])
    assert len(reply.candidate_logprobs) == 5 and reply.candidate_logprobs[0] == reply.candidate_logprobs[4]
    for text, tokens in zip(texts, reply.candidate_logprobs, strict=True):
        assert len(tokens) == len(loaded.tokenizer(text)["input_ids"]) and all(value <= 0 for _, value in tokens)
    means = [sum(value for _, value in tokens) / len(tokens) for tokens in reply.candidate_logprobs]
    assert means[0] > -0.5 > means[2]


@pytest.mark.parametrize(
    ("before", "after", "detail"),
    [
        # The space becomes a part of the answer's first token.
        ("<|bot|>", "<|bot|> ", "the prompt's tokens change when an answer follows"),
        # A template of a model that thinks opens a block where the model is to begin, and none where it has answered.
        (
            "<|bot|>{% endif",
            "<|bot|><think>{% endif",
            "the chat template puts a given answer elsewhere than the model's",
        ),
    ],
)
def test_a_prompt_that_an_answer_changes(
    tinyvlm: Any, requests: list[Request], before: str, after: str, detail: str
) -> None:
    asked = replace(requests[0], candidates=("it was",))
    texts = ["it was a day and it was it was it was", *asked.text.split()]
    model, processor = tinyvlm.make(texts, template=tinyvlm.TEMPLATE.replace(before, after))
    (found,) = outcomes(LoadedModel(model=model, processor=processor, facts={}), [asked])
    assert problem(found).reason == "token_boundary" and problem(found).detail.startswith(detail)


def test_an_answer_of_zero_tokens(loaded: LoadedModel, requests: list[Request]) -> None:
    (found,) = outcomes(loaded, [replace(requests[0], candidates=("",))])
    assert problem(found).reason == "no_tokens"


def test_how_an_answer_ends(loaded: LoadedModel, requests: list[Request], monkeypatch: pytest.MonkeyPatch) -> None:
    (cut,) = replies(loaded, [replace(requests[0], sampling=Sampling(temperature=0.0, max_tokens=2))])
    assert (cut.outcome, cut.usage["output"]) == (ReplyOutcome.TRUNCATED, 2) and requests[0].candidates[0].startswith(
        cut.text
    )
    end = loaded.model.generation_config.eos_token_id
    others = [token for token in range(len(loaded.tokenizer)) if token != end]
    monkeypatch.setattr(loaded.model.generation_config, "suppress_tokens", others)
    (empty,) = replies(loaded, requests[:1])
    assert (empty.text, empty.outcome, empty.usage["output"]) == ("", ReplyOutcome.EMPTY, 1)


def test_what_is_set_aside_alone(loaded: LoadedModel, requests: list[Request]) -> None:
    """One bad request in a batch: the others get what they would have got without it."""
    small = png(Image.new("RGB", (30, 30)))
    header = small[12:16] + (60_000).to_bytes(4, "big") * 2 + small[24:29]
    huge = small[:12] + header + zlib.crc32(header).to_bytes(4, "big") + small[33:]
    bad = {
        1: (replace(requests[0], images=(b"no picture",)), "undecodable_image", "not a whole PNG, JPEG or WebP image"),
        3: (replace(requests[0], images=(huge,)), "oversized_image", "pixels"),
        4: (replace(requests[0], text="<image> twice"), "refused_by_processor", "the model's processor fails on it"),
        6: (replace(requests[0], text="why " * 2000), "too_long", "is more than the model's 1,024"),
    }
    asked = list(requests[:8])
    for number, (request, _, _) in bad.items():
        asked[number] = request
    found = outcomes(loaded, asked)
    good = [number for number in range(8) if number not in bad]
    assert [found[number] for number in good] == replies(loaded, [asked[number] for number in good])
    for number, (_, reason, detail) in bad.items():
        assert (problem(found[number]).reason, detail in problem(found[number]).detail) == (reason, True), found[number]


def test_no_memory_for_a_batch(loaded: LoadedModel, requests: list[Request]) -> None:
    """The error is torch's own, raised where a batch is too large: no test has a GPU of the size that it needs."""
    import torch

    sizes: list[int] = []

    def run_out(module: Any, arguments: Any, options: Any) -> None:
        size = len(options["input_ids"])
        sizes.append(size)
        if size > most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    expected = replies(loaded, requests)
    hook = loaded.model.register_forward_pre_hook(run_out, with_kwargs=True)
    try:
        most = 3
        assert replies(loaded, requests, batch=8) == expected
        assert sizes[:2] == [8, 4] and max(sizes[2:]) == 2  # what was too large once is not tried again
        most = 0
        with pytest.raises(ModelError, match="The memory is too small for tiny and one picture"):
            outcomes(loaded, requests)
    finally:
        hook.remove()


def test_answers_that_are_drawn(loaded: LoadedModel, requests: list[Request]) -> None:
    """Each is drawn by its own seed: neither the batch nor the order of requests decides it."""
    drawn = [replace(each, sampling=Sampling(temperature=3.0, max_tokens=8), candidates=()) for each in requests[:4]]
    first = replies(loaded, drawn)
    assert first == replies(loaded, drawn, 1) == replies(loaded, drawn[::-1])[::-1]
    assert first != replies(loaded, [replace(each, sampling=replace(each.sampling, seed=1)) for each in drawn])
    narrow = [replace(each, sampling=replace(each.sampling, top_p=1e-6)) for each in drawn]
    greedy = [replace(each, sampling=replace(each.sampling, temperature=0.0)) for each in drawn]
    assert replies(loaded, narrow) == replies(loaded, greedy)


def test_parameters_reach_the_model(loaded: LoadedModel, requests: list[Request]) -> None:
    plain, changed = requests[:2], [replace(each, parameters={"min_new_tokens": 20}) for each in requests[:2]]
    found = replies(loaded, [plain[0], changed[0], plain[1], changed[1]])  # in one batch
    assert [reply.usage["output"] >= 20 for reply in found] == [False, True, False, True]


@pytest.mark.parametrize(
    ("sampling", "parameters", "message"),
    [
        (
            GREEDY,
            {"logit_bias": 1},
            "--param logit_bias is nothing that a model in this process knows; it knows",
        ),
        (GREEDY, {"top_k": "5"}, "--param top_k has to be a number"),
        (GREEDY, {"top_k": True}, "--param top_k has to be a number"),
        (Sampling(max_tokens=9, temperature=-0.1), {}, "--param temperature has to be 0 or more"),
        (Sampling(max_tokens=9, top_p=0.0), {}, "--param top_p has to be above 0"),
        (Sampling(max_tokens=9, top_p=1.1), {}, "--param top_p has to be above 0"),
        (Sampling(), {}, "--param max_tokens has to be 1 or more"),
        (Sampling(max_tokens=0), {}, "--param max_tokens has to be 1 or more"),
    ],
)
def test_settings_that_only_servers_know(sampling: Sampling, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_settings(sampling, parameters)
    check_settings(GREEDY, {"top_k": 5, "repetition_penalty": 1.1})
