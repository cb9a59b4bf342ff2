"""Rows of a stream for other trainers."""

from itertools import islice

import numpy as np
import pytest

from vcrgen.builder.stream import VCRStream, answer_text
from vcrgen.core.errors import ConfigError, StreamError
from vcrgen.train import rows


@pytest.mark.parametrize("form", ["sft", "grpo"])
def test_rows_are_the_streams_examples(form: str) -> None:
    made = list(islice(rows(VCRStream("samples:6", mode="easy", rank=0, world_size=1), form), 4))
    examples = list(islice(VCRStream("samples:6", mode="easy"), 4))
    for row, example in zip(made, examples, strict=True):
        assert row["prompt"] == [{"role": "user", "content": example["question"]}]
        assert np.array_equal(np.asarray(row["image"]), example["image"])
        assert all(row[name] == example[name] for name in ("answers", "ink", "question_id", "step"))
        completion = [{"role": "assistant", "content": answer_text(example)}]
        assert row.get("completion") == (completion if form == "sft" else None)


def test_a_trainer_that_slices_rows_gets_all_of_them_or_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(StreamError, match=r"of rank 1 of 2 only.*rank=0, world_size=1"):
        next(rows(VCRStream("samples:6", mode="easy"), "grpo"))
    whole = VCRStream("samples:6", mode="easy", rank=0, world_size=1)
    assert len(list(islice(rows(whole, "grpo"), 3))) == 3
    with pytest.raises(ConfigError, match="Unknown form 'dpo'; known: sft, grpo"):
        next(rows(whole, "dpo"))
