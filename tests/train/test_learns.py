"""A small model learns by TRL: answers that are given, then by `restoration`, which rises."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from statistics import fmean
from typing import Any

import pytest

from vcrgen.builder.stream import VCRStream
from vcrgen.train import Restoration, rows

for package in ("peft", "schedulefree", "trl"):
    pytest.importorskip(package, reason="needs the extra train")
pytestmark = pytest.mark.extras

PICTURES, SAMPLES = 24, 8
SFT_STEPS, GRPO_STEPS = 100, 40
Row = dict[str, Any]


class Batches:
    """Counts, of every batch of pixels that reaches a model, how often each picture is in it."""

    def __init__(self, model: Any) -> None:
        self.seen: list[Counter[bytes]] = []
        model.model.vision_tower.register_forward_pre_hook(self._count)

    def _count(self, module: Any, given: tuple[Any, ...]) -> None:
        self.seen.append(Counter(pixels.numpy().tobytes() for pixels in given[0] if pixels.std() > 0.1))


def dataset(examples: list[Row], form: str) -> Any:
    """The same rows again and again, as a stream of one epoch would repeat its masks."""
    from datasets import IterableDataset

    def endless() -> Iterator[Row]:
        while True:
            for example in examples:
                yield {name: value for name, value in example.items() if form == "sft" or name != "completion"}

    return IterableDataset.from_generator(endless)


def sampled(model: Any, processor: Any, examples: list[Row]) -> float:
    """The mean reward of eight samples for each picture."""
    import torch

    torch.manual_seed(0)
    model.eval()
    reward, paid = Restoration("en"), list[float]()
    for example in examples:
        question = [
            {"type": "image", "image": example["image"]},
            {"type": "text", "text": example["prompt"][0]["content"]},
        ]
        asked = processor.apply_chat_template(
            [{"role": "user", "content": question}],
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            add_generation_prompt=True,
        )
        written = model.generate(**asked, do_sample=True, num_return_sequences=SAMPLES, max_new_tokens=10)
        texts = processor.batch_decode(written[:, asked["input_ids"].shape[1] :], skip_special_tokens=True)
        paid += [reward.of(example["answers"], text) for text in texts]
    return fmean(paid)


def test_grpo_raises_the_reward_of_what_sft_taught(tinyvlm: Any, tmp_path: Any, one_thread: None) -> None:
    from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

    stream = VCRStream(f"samples:{PICTURES}", mode="easy", ngram_size=2, width=200, seed=0, rank=0, world_size=1)
    examples = list(islice(rows(stream, "sft"), PICTURES))
    model, processor = tinyvlm.make(
        [message["content"] for row in examples for name in ("prompt", "completion") for message in row[name]], side=64
    )
    batches, reward, groups = Batches(model), Restoration("en"), list[list[str]]()
    common = {
        "output_dir": str(tmp_path),
        "use_cpu": True,
        "bf16": False,
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
        "lr_scheduler_type": "constant_with_warmup",
        "seed": 0,
    }

    def rewarded(question_id: list[str], **given: Any) -> list[float]:
        groups.append(question_id)
        return reward(**given)

    SFTTrainer(
        model=model,
        processing_class=processor,
        train_dataset=dataset(examples, "sft"),
        args=SFTConfig(
            max_steps=SFT_STEPS,
            per_device_train_batch_size=8,
            learning_rate=2e-3,
            warmup_steps=10,
            max_length=None,
            **common,
        ),
    ).train()
    assert len(batches.seen) == SFT_STEPS and all(set(seen.values()) == {1} and len(seen) == 8 for seen in batches.seen)
    before = sampled(model, processor, examples)
    batches.seen.clear()
    GRPOTrainer(
        model=model,
        processing_class=processor,
        reward_funcs=rewarded,
        train_dataset=dataset(examples, "grpo"),
        args=GRPOConfig(
            max_steps=GRPO_STEPS,
            per_device_train_batch_size=4 * SAMPLES,
            num_generations=SAMPLES,
            max_completion_length=10,
            learning_rate=3e-5,
            warmup_steps=2,
            shuffle_dataset=False,
            **common,
        ),
    ).train()
    # Each step samples once and learns once.
    assert len(batches.seen) == 2 * GRPO_STEPS and all(list(seen.values()) == [SAMPLES] * 4 for seen in batches.seen)
    assert len(groups) == GRPO_STEPS
    assert all(len(set(ids[start : start + SAMPLES])) == 1 for ids in groups for start in range(0, len(ids), SAMPLES))
    # Measured: from .395 to .485; half of that rise is asked.
    assert sampled(model, processor, examples) >= before + 0.045
