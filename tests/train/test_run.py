"""A training is resumed where it was, says what it cannot do, and its models see pixels."""

import json
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.builder.run import build
from vcrgen.core.errors import ConfigError, OutputError, TrainError
from vcrgen.core.progress import ProgressListener
from vcrgen.train.rewards import Restoration

pytestmark = pytest.mark.extras
Train = Callable[..., Any]


class Stop(ProgressListener):
    """Interrupts a training behind some step."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def advance(self, done: int, kept: int, rejected: Counter[str], /) -> None:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= done


def weights(folder: Path) -> bytes:
    return (folder / "adapter_model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of both modes, half of it for training."""
    folder = tmp_path_factory.mktemp("train") / "data"
    build("samples:8", out=folder, splits="train=...,test=4")
    return folder


@pytest.fixture
def made(model: Path, tmp_path: Path, one_thread: None) -> Callable[..., Any]:
    """A trainer of TRL of some source, before it trains."""
    from tests.train.conftest import SMALL
    from vcrgen.models.loading import load_model
    from vcrgen.train.data import open_training_data
    from vcrgen.train.options import Recipe, TrainOptions
    from vcrgen.train.trainer import make_trainer

    def call(source: str, method: str) -> Any:
        options = TrainOptions(method=method, steps=2)
        recipe = Recipe(lora={"r": 2, "target_modules": "all-linear"}, **SMALL)
        data = open_training_data(source, options, {})
        return make_trainer(
            load_model(model),
            data,
            options,
            recipe,
            folder=tmp_path,
            checkpoint=None,
            listener=ProgressListener(),
        )

    return call


@pytest.mark.parametrize("source", ["pairs", "dataset"])
def test_pixels_reach_the_model_and_only_answers_are_learned(made: Train, dataset: Path, source: str) -> None:
    trainer = made("samples:8" if source == "pairs" else str(dataset), "sft")
    batch = next(iter(trainer.get_train_dataloader()))
    assert batch["pixel_values"].shape[0] == 2 and batch["pixel_values"].std() > 0.1
    learned = batch["labels"] != -100
    texts = [trainer.processing_class.decode(row[mask]) for row, mask in zip(batch["labels"], learned, strict=True)]
    assert 0 < learned.sum() < 0.2 * learned.numel()
    assert not any("<image>" in text or "What is" in text for text in texts) and all(map(str.strip, texts))


@pytest.mark.parametrize("source", ["pairs", "dataset"])
def test_a_group_has_one_prompt_and_the_reward_its_answers(made: Train, dataset: Path, source: str) -> None:
    trainer = made("samples:8" if source == "pairs" else str(dataset), "grpo")
    rows = next(iter(trainer.get_train_dataloader()))
    answers = [row["answers"] for row in rows]
    assert answers[0] == answers[1] != answers[2] == answers[3]
    assert rows[0]["image"].tobytes() == rows[1]["image"].tobytes() != rows[2]["image"].tobytes()
    seen = []
    reward = trainer.reward_funcs[0]
    trainer.reward_funcs[0] = lambda **given: seen.append(given) or reward(**given)
    trainer.train()
    first = seen[0]["answers"]
    assert first[0] == first[1] != first[2] == first[3] and len(seen[0]["completions"]) == 4


@pytest.mark.parametrize(
    ("method", "source"), [("sft", "pairs"), ("sft", "dataset"), ("grpo", "pairs"), ("grpo", "dataset")]
)
def test_an_interrupted_training_ends_as_if_nothing_had_been(
    train: Train, tmp_path: Path, dataset: Path, method: str, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, asked = "samples:8" if source == "pairs" else dataset, []

    def by_chance(self: Restoration, completions: Any, answers: Any, **_: Any) -> list[float]:
        """What a small model writes is rewarded by 0, which would move no weights."""
        asked.append(answers)
        return [zlib.crc32(json.dumps(completion).encode()) / 2**32 for completion in completions]

    monkeypatch.setattr(Restoration, "__call__", by_chance)
    whole = train("whole", given, method=method)
    in_order = [*asked]
    with pytest.raises(KeyboardInterrupt):
        train("twice", given, method=method, listener=Stop(2))
    assert [path.name for path in (tmp_path / "twice").iterdir()] == [".vcrgen-finetune"]
    with pytest.raises(OutputError, match=r"unfinished training of another plan \((data; )?seed 7 there, 8 here\)"):
        train("twice", given, method=method, seed=8)
    again = train("twice", given, method=method)
    assert weights(again.path) == weights(whole.path) and again.steps == 3
    # Step 3 is done twice, and asks the same both times.
    assert asked == [*in_order, *in_order, *in_order[2:]] and len(in_order) == (3 if method == "grpo" else 0)
    assert [entry["step"] for entry in again.log] == [1, 2, 3]
    assert sorted(path.name for path in again.path.iterdir()) == [
        "adapter_config.json",
        "adapter_model.safetensors",
        "run.json",
        "train.jsonl",
    ]


def test_a_checkpoint_that_was_not_finished_is_not_taken(train: Train, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train("lora", listener=Stop(2))
    work = tmp_path / "lora/.vcrgen-finetune"
    last = max(work.glob("checkpoint-*"))
    (last / "vcrgen-state.json").unlink()  # written last
    (last / "optimizer.pt").write_bytes(b"half")
    assert weights(train("lora").path) == weights(train("whole").path)


def test_a_training_without_checkpoints_keeps_what_it_made(train: Train) -> None:
    quick = {"sft": {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 1, "save_strategy": "no"}}
    assert weights(train("lora", fields=quick, steps=1).path)


def test_a_finished_training_is_not_done_again(train: Train, tmp_path: Path) -> None:
    first = train("lora")
    before = {path: path.stat().st_mtime_ns for path in first.path.iterdir()}
    again = train("lora")
    assert again.was_complete and (again.steps, again.log) == (first.steps, first.log)
    assert {path: path.stat().st_mtime_ns for path in first.path.iterdir()} == before
    for other in ({"seed": 8}, {"steps": 4}, {"mode": "easy"}, {"fields": {"lora": {"r": 4}}}):
        with pytest.raises(OutputError, match="holds another finished training"):
            train("lora", **other)
    facts = json.loads((first.path / "run.json").read_text())
    assert facts["run"]["trl"] and facts["run"]["recipe"]["lora"]["r"] == 8
    assert str(tmp_path) not in "".join(path.read_text() for path in first.path.glob("*.json"))


def test_a_training_goes_on_from_an_adapter(train: Train) -> None:
    first = train("first", fields={"lora": {"r": 3}})
    second = train("second", "samples:6", adapter=first.path, fields={"lora": {"r": 5}})
    configs = [json.loads((result.path / "adapter_config.json").read_text()) for result in (first, second)]
    assert [config["r"] for config in configs] == [3, 3] and weights(first.path) != weights(second.path)


def test_a_loss_that_is_no_number_ends_a_training(made: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = made("samples:8", "sft")
    loss = trainer.compute_loss
    monkeypatch.setattr(trainer, "compute_loss", lambda *given, **more: loss(*given, **more) * float("nan"))
    with pytest.raises(TrainError, match="The loss is nan at step 1, and the last checkpoint is kept; take a smaller"):
        trainer.train()


@pytest.mark.parametrize(
    ("fields", "options", "error", "problem"),
    [
        (
            {"sft": {"learnig_rate": 1}},
            {},
            ConfigError,
            r"sft: of the recipe is not for SFTConfig: .*learnig_rate",
        ),
        ({"lora": {"rank": 1}}, {}, ConfigError, r"lora: of the recipe is not for LoraConfig: .*rank"),
        ({"stream": {"width": 3}}, {}, ConfigError, "width"),
        ({"dpo": {}}, {}, ConfigError, "dpo"),
        ({"sft": {"max_steps": -1}}, {"steps": None}, ConfigError, "max_steps of the recipe is -1; give a count"),
        ({"grpo": {"num_generations": 3}}, {"method": "grpo"}, ConfigError, "GRPOConfig"),
        ({}, {"lang": "xx"}, ConfigError, "unknown language 'xx'"),
    ],
)
def test_mistakes_of_a_recipe(
    train: Train, tmp_path: Path, fields: Any, options: Any, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error, match=problem):
        train("lora", fields=fields, **options)
    assert not (tmp_path / "lora").exists()  # nothing holds who mends it to the options of before
