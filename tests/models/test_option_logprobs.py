"""Log-probabilities of options in this process, against sums by the chain rule."""

import copy
import io
import random
from dataclasses import replace
from typing import Any

import pytest
from PIL import Image

from vcrgen.models.base import Reply, Request, RequestProblem, Sampling
from vcrgen.models.inprocess import InProcessModel
from vcrgen.models.loading import LoadedModel
from vcrgen.scorer.mcq.likelihood import likelihood_scores

pytestmark = pytest.mark.extras

WORDS = {
    "en": "a the cat dog horse boat red two sky under small green house and on tree of man sees river",
    "ar": "قطة كلب حصان قارب أحمر اثنان سماء تحت صغير أخضر بيت على شجرة من رجل يرى نهر في الماء",
}
QUESTIONS = {"en": "What is in the picture?", "ar": "ماذا في الصورة؟"}
OPTIONS = 200


@pytest.fixture(scope="module")
def loaded(tinyvlm: Any) -> LoadedModel:
    """A small model with random weights in numbers of 64 bits, whose tokenizer knows English and Arabic words."""
    texts = [*WORDS.values(), *QUESTIONS.values()]
    model, processor = tinyvlm.make(texts)
    return LoadedModel(model=model.double(), processor=processor, facts={})


@pytest.fixture(scope="module")
def picture() -> bytes:
    file = io.BytesIO()
    Image.effect_noise((160, 160), 60).convert("RGB").save(file, "PNG")
    return file.getvalue()


def options(loaded: LoadedModel) -> dict[str, list[str]]:
    """So many options of 1 to 20 tokens, half of them in each language."""
    draws = random.Random(3)
    found: dict[str, list[str]] = {}
    for lang, words in WORDS.items():
        known: dict[str, int] = {}
        while len(known) < OPTIONS // 2:
            text = " ".join(draws.choices(words.split(), k=draws.randrange(1, 20)))[: draws.randrange(1, 110)].strip()
            count = len(loaded.tokenizer(text)["input_ids"])
            if text and count <= 20:
                known[text] = count
        found[lang] = list(known)
    lengths = {len(loaded.tokenizer(text)["input_ids"]) for texts in found.values() for text in texts}
    assert lengths == set(range(1, 21))
    return found


def own_sum(loaded: LoadedModel, pixels: Any, question: str, option: str) -> tuple[float, int]:
    """The sum over an option's tokens, by the chain rule: the model is run once, and each token looked up by hand."""
    import torch

    processor, tokenizer = loaded.processor, loaded.tokenizer
    turn = f"<s><|user|>{'<image>' * 100}{question}<|end|><|bot|>"
    asked, said = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (turn, option))
    assert processor.image_token == "<image>"
    ids = torch.tensor([asked + said])
    with torch.inference_mode():
        logits = loaded.model(input_ids=ids, pixel_values=pixels, attention_mask=torch.ones_like(ids)).logits[0]
    total = 0.0
    for number, token in enumerate(said):
        row = logits[len(asked) + number - 1]
        total += float(row[token] - torch.logsumexp(row, 0))
    return total, len(said)


def test_two_hundred_options_have_the_likelihood_of_their_own_sum(loaded: LoadedModel, picture: bytes) -> None:
    import torch

    image = loaded.processor.image_processor(Image.open(io.BytesIO(picture)).convert("RGB"), return_tensors="pt")
    pixels = image["pixel_values"].to(torch.float64)
    model, far = InProcessModel(loaded, "tiny"), 0.0
    for lang, texts in options(loaded).items():
        for start in range(0, len(texts), 4):
            four = tuple(texts[start : start + 4])
            request = Request(
                images=(picture,),
                text="the options",
                sampling=Sampling(temperature=0.0, max_tokens=1),
                candidates=four,
                candidates_text=QUESTIONS[lang],
            )
            ((_, reply),) = model.answers([(0, request)], lambda what, reply: None)
            assert isinstance(reply, Reply)
            logprobs = [[value for _, value in tokens] for tokens in reply.candidate_logprobs]
            for tokens, option in zip(logprobs, four, strict=True):
                total, count = own_sum(loaded, pixels, QUESTIONS[lang], option)
                assert len(tokens) == count
                far = max(far, abs(sum(tokens) - total), abs(sum(tokens) / len(tokens) - total / count))
            means = [own_sum(loaded, pixels, QUESTIONS[lang], option) for option in four] if start == 0 else []
            for number, (total, count) in enumerate(means):
                best = all(total / count >= other / many for other, many in means)
                assert likelihood_scores(logprobs, answer=number, texts=four).scores["lbs"] == best
    assert far < 1e-9


def published_window(loaded: LoadedModel, question: str, option: str) -> tuple[float, list[int]]:
    """The score as the published code computes it, in this test's own writing, and the tokens that it is of.

    The option stands at the end of the user's turn; the turn is closed and the model's is opened, which takes five
    tokens here, as in templates of several families. Then as many tokens count, from the end, as the option added.
    """
    import torch

    def tokens(text: str) -> list[int]:
        asked = f"<s><|user|>{text}<|end|>\n<|end|>\n<|bot|>"
        found: list[int] = loaded.tokenizer(asked, add_special_tokens=False)["input_ids"]
        return found

    whole = tokens(f"{question} {option}")
    count = len(whole) - len(tokens(question))
    ids = torch.tensor([whole])
    with torch.inference_mode():
        logits = loaded.model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[0].log_softmax(-1)
    values = [float(logits[place - 1, whole[place]]) for place in range(len(whole) - count, len(whole))]
    return sum(values) / count, whole[-count:]


def score(loaded: LoadedModel, *texts: str) -> list[float]:
    """The mean log-probability of a token of each option, as this package has it."""
    greedy = Sampling(temperature=0.0, max_tokens=1)
    request = Request(text="q", sampling=greedy, candidates=texts, candidates_text="What?")
    ((_, reply),) = InProcessModel(loaded, "tiny").answers([(0, request)], lambda what, reply: None)
    assert isinstance(reply, Reply)
    return [sum(value for _, value in tokens) / len(tokens) for tokens in reply.candidate_logprobs]


@pytest.mark.parametrize(
    ("one", "other"), [("cat boat", "dog boat"), ("a red house", "a two house"), ("قارب تحت شجرة", "حصان تحت شجرة")]
)
def test_a_changed_token_changes_the_score_and_the_published_window_does_not_see_it(
    loaded: LoadedModel, one: str, other: str
) -> None:
    """An option of up to five tokens is not in the published window at all: what is scored there is the template."""
    import torch

    tokenizer = loaded.tokenizer
    closing = tokenizer("<|end|>\n<|end|>\n<|bot|>", add_special_tokens=False)["input_ids"]
    for text in (one, other):
        count = len(tokenizer(f" {text}")["input_ids"])
        assert count <= len(closing) == 5 and published_window(loaded, "What?", text)[1] == closing[-count:]
    first, second = score(loaded, one, other)
    assert abs(first - second) > 1e-6
    # The window's figure may still move a little, as the template stands behind the option. In a model that looks at
    # the last token only, it does not.
    looks_back = copy.deepcopy(loaded.model)
    for layer in looks_back.model.language_model.layers:
        torch.nn.init.zeros_(layer.self_attn.o_proj.weight)
    short = replace(loaded, model=looks_back)
    assert published_window(short, "What?", one) == published_window(short, "What?", other)
    first, second = score(short, one, other)
    assert abs(first - second) > 1e-6


def test_labels_are_the_first_token_of_the_turn(loaded: LoadedModel, picture: bytes) -> None:
    """The same figure that a candidate of one token has; whatever else is in the batch, and beside likelihoods."""
    labels = ("c", "a", "t", "ق")  # the last begins with a part of a letter
    greedy = Sampling(temperature=0.0, max_tokens=2)
    first = Request(images=(picture,), text="What?", sampling=greedy, labels=labels)
    other = Request(text="And what else is in it?", sampling=greedy, labels=labels, candidates=("cat",))
    model = InProcessModel(loaded, "tiny")
    together = dict(model.answers([(0, first), (1, other)], lambda what, reply: None))
    alone = dict(model.answers([(0, first)], lambda what, reply: None))
    candidates = Request(images=(picture,), text="What?", sampling=greedy, candidates=labels)
    ((_, as_candidates),) = model.answers([(0, candidates)], lambda what, reply: None)
    assert isinstance(as_candidates, Reply)
    found, same = together[0], alone[0]
    assert isinstance(found, Reply) and isinstance(same, Reply)
    assert found.label_logprobs == same.label_logprobs
    assert found.label_logprobs == pytest.approx(
        [tokens[0][1] for tokens in as_candidates.candidate_logprobs], abs=1e-12
    )
    assert found.text == same.text and len(set(found.label_logprobs)) == 4
    assert (
        isinstance(more := together[1], Reply) and len(more.label_logprobs) == 4 and len(more.candidate_logprobs) == 1
    )


def test_labels_that_begin_alike_cannot_be_told_apart(loaded: LoadedModel) -> None:
    greedy = Sampling(temperature=0.0, max_tokens=1)
    request = Request(text="What?", sampling=greedy, labels=("cat", "cat boat"))
    ((_, problem),) = InProcessModel(loaded, "tiny").answers([(0, request)], lambda what, reply: None)
    assert isinstance(problem, RequestProblem) and problem.reason == "same_start"
