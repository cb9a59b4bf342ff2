"""Examples of a stream as rows of a trainer's dataset."""

from collections.abc import Iterator
from typing import Any

from PIL import Image

from vcrgen.builder.stream.chat import answer_text
from vcrgen.builder.stream.stream import VCRStream
from vcrgen.core.errors import ConfigError, StreamError

FORMS = ("sft", "grpo")


def rows(stream: VCRStream, form: str) -> Iterator[dict[str, Any]]:
    """The examples from the stream's position on, for a generator such as ``IterableDataset.from_generator``.

    A row has ``prompt`` (messages), ``image`` (of PIL; TRL reads pixels from this column only), ``answers``, ``ink``,
    ``question_id`` and ``step``; in the form ``sft`` also ``completion``, the masked texts one a line.

    Raises:
        ConfigError: There is no such form.
        StreamError: The stream is dealt to several ranks. A trainer that reads a generator in every process and takes
            its slice of it would then put two prompts into one group.

    Examples:
        >>> row = next(rows(VCRStream("samples", mode="easy"), "sft"))
        >>> row["completion"]
        [{'role': 'assistant', 'content': 'its pointed roofs seems to'}]
    """
    if form not in FORMS:
        raise ConfigError(f"Unknown form {form!r}; known: {', '.join(FORMS)}.")
    if stream.rank != (0, 1):
        raise StreamError(
            f"This stream has the pairs of rank {stream.rank[0]} of {stream.rank[1]} only, but a trainer slices rows "
            "itself; make it with VCRStream(..., rank=0, world_size=1)."
        )
    for example in stream:
        row = {
            "prompt": [{"role": "user", "content": example["question"]}],
            "image": Image.fromarray(example["image"]),
            **{name: example[name] for name in ("answers", "ink", "question_id", "step")},
        }
        if form == "sft":
            row["completion"] = [{"role": "assistant", "content": answer_text(example)}]
        yield row
