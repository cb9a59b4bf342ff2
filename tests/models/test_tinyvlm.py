"""The small model that other tests ask: it is made the same way twice, and learns what it is taught."""

from pathlib import Path
from typing import Any


def test_the_same_weights_twice(tinyvlm: Any, taught_data: Path) -> None:
    examples = tinyvlm.examples_of(taught_data)[:8]
    texts = [text for each in examples for text in (each.question, each.answer)]
    made = []
    for _ in range(2):
        model, processor = tinyvlm.make(texts)
        tinyvlm.teach(model, processor, examples, steps=3)
        made.append(model.state_dict())
    assert all(bool((value == made[1][name]).all()) for name, value in made[0].items())
    assert sum(value.numel() for value in made[0].values()) < 1_000_000


def test_it_learns(tinyvlm: Any, taught: Path, taught_data: Path) -> None:
    from transformers import AutoModelForImageTextToText, AutoProcessor

    processor, model = AutoProcessor.from_pretrained(taught), AutoModelForImageTextToText.from_pretrained(taught)
    examples = tinyvlm.examples_of(taught_data, "easy") + tinyvlm.examples_of(taught_data, "hard")
    encoded = processor.apply_chat_template(
        [each.messages[:1] for each in examples], add_generation_prompt=True, tokenize=True, return_dict=True,
        processor_kwargs={"padding": True, "padding_side": "left", "return_tensors": "pt"},
    )  # fmt: skip
    written = model.generate(**encoded, max_new_tokens=64, do_sample=False)[:, encoded["input_ids"].shape[1] :]
    texts = processor.batch_decode(written, skip_special_tokens=True)
    assert sum(text == each.answer for text, each in zip(texts, examples, strict=True)) >= 57
