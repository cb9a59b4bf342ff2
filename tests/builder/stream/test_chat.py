"""Examples as chat messages."""

import numpy as np

from vcrgen.builder.stream import VCRStream, answer_text, collate, messages
from vcrgen.scorer.scorer import make_scorer


def test_messages_have_the_form_that_processors_take() -> None:
    example = next(iter(VCRStream("samples:20", seed=1)))
    user, assistant = messages(example)
    picture, question = user["content"]
    assert (user["role"], assistant["role"]) == ("user", "assistant")
    assert picture["type"] == "image" and (np.asarray(picture["image"]) == example["image"]).all()
    assert question == {"type": "text", "text": example["question"]}
    assert assistant["content"] == [{"type": "text", "text": "\n".join(example["answers"])}]


def test_the_answer_scores_in_full() -> None:
    for example, _ in zip(VCRStream("samples:20", seed=1), range(10), strict=False):
        assert all(match.exact for match in make_scorer("en")(example["answers"], answer_text(example)).matches)


def test_a_batch_keeps_every_column_but_the_image() -> None:
    stream = iter(VCRStream("samples:20", seed=1))
    examples = [next(stream) for _ in range(3)]
    batch = collate(examples)
    assert set(batch) == {"messages", *examples[0]} - {"image"}
    assert batch["step"] == [example["step"] for example in examples]
    assert batch["messages"][2][1] == messages(examples[2])[1]
