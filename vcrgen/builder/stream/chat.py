"""Chat messages of examples, for the processors of vision-language models."""

from collections.abc import Mapping, Sequence
from typing import Any

from PIL import Image


def answer_text(example: Mapping[str, Any]) -> str:
    """The masked texts in reading order, one a line."""
    return "\n".join(example["answers"])


def messages(example: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages of the user and the assistant of one example of `vcrgen.builder.stream.VCRStream`.

    They are for the chat template of a processor. TRL's trainers do not look for pictures in messages, so they would
    train without pixels; give them `vcrgen.train.rows`.

    Returns:
        ``[{"role": "user", "content": [{"type": "image", "image": PIL}, {"type": "text", "text": question}]},
        {"role": "assistant", "content": [{"type": "text", "text": answer}]}]``.
    """
    picture = {"type": "image", "image": Image.fromarray(example["image"])}
    question = {"type": "text", "text": example["question"]}
    answer = {"type": "text", "text": answer_text(example)}
    return [{"role": "user", "content": [picture, question]}, {"role": "assistant", "content": [answer]}]


def collate(examples: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Collate a batch of a data loader: ``messages``, and each other column except ``image`` as a list."""
    columns = [name for name in examples[0] if name != "image"]
    batch = {name: [example[name] for example in examples] for name in columns}
    return {"messages": [messages(example) for example in examples], **batch}
