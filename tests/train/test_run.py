"""A training in a folder: begun, interrupted, killed, gone on with, finished; always the same adapter."""

import errno
import json
import os
import re
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.core.errors import DatasetError, ModelError, NoPairsError, OutputError, PipelineError, TrainError
from vcrgen.core.lock import locked
from vcrgen.core.progress import ProgressListener
from vcrgen.train import run as run_module

torch = pytest.importorskip("torch", reason='needs pip install "vcrgen[train]"')
pytestmark = pytest.mark.extras
Train = Callable[..., Any]
Log = Callable[[Path], list[dict[str, Any]]]

FILES = ["README.md", "adapter_config.json", "adapter_model.safetensors", "run.json", "train.jsonl"]
SAME = ["adapter_config.json", "adapter_model.safetensors", "train.jsonl"]


class Interrupts(ProgressListener):
    """Does something after a step; raises KeyboardInterrupt if nothing else is said."""

    def __init__(self, step: int, act: Callable[[], None] | None = None) -> None:
        self.steps, self._step, self._act = 0, step, act
        self.resumed = 0

    def begin(self, total: int, done: int) -> None:
        self.steps = self.resumed = done

    def advance(self, done: int, kept: int, drops: Counter[str], /) -> None:
        self.steps += done
        if self.steps == self._step:
            if self._act is None:
                raise KeyboardInterrupt
            self._act()


def same(one: Path, other: Path) -> bool:
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in SAME)


def test_a_training(train: Train, log_of: Log, tmp_path: Path, model: Path) -> None:
    result = train("lora")
    assert sorted(file.name for file in result.path.iterdir()) == FILES and not result.was_complete
    lines = log_of(result.path)
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5] and {line["learning_rate"] for line in lines} == {1e-2}
    assert lines[0]["loss"] == result.counts.first_loss and lines[-1]["loss"] < lines[0]["loss"] - 0.1
    report = json.loads((result.path / "run.json").read_text())
    assert report["counts"]["examples"] == 15 and report["counts"]["tokens"] == sum(line["tokens"] for line in lines)
    assert report["run"]["rank"] == 8 and len(report["run"]["model"]) == 64 and report["run"]["dtype"] == "float32"
    for name in ("run.json", "README.md", "adapter_config.json"):  # nothing of where it was made
        assert str(tmp_path.parent) not in (result.path / name).read_text()
    config = json.loads((result.path / "adapter_config.json").read_text())
    assert (
        config["base_model_name_or_path"] == model.name
        and config["r"] == 8
        and config["lora_alpha"] == 32
        and config["target_modules"]
    )
    layers = r"model\.language_model\.layers\.\d+\.self_attn\.v_proj"
    assert layers in config["target_modules"].split("|") and "vision" not in config["target_modules"]
    again = train("lora")
    assert again.was_complete and again.counts == result.counts
    with pytest.raises(OutputError, match="holds another finished training"):
        train("lora", steps=6)


def test_peft_loads_the_adapter_and_the_model_answers_otherwise(
    train: Train, parts: tuple[Any, Any], model: Path
) -> None:
    from peft import PeftModel
    from transformers import AutoModelForImageTextToText

    result = train("lora", targets="all")
    adapted = PeftModel.from_pretrained(AutoModelForImageTextToText.from_pretrained(model), str(result.path))
    weights = {name: value for name, value in adapted.named_parameters() if "lora_B" in name}
    assert any("vision_tower" in name for name in weights) and not any("lm_head" in name for name in weights)
    assert all(float(value.abs().sum()) > 0 for value in weights.values())


def test_going_on_from_an_adapter(train: Train, log_of: Log, tmp_path: Path, parts: tuple[Any, Any]) -> None:
    """The first loss is that of the earlier adapter, its shape stays, and an interruption changes nothing."""
    first = train("first", rank=4, alpha=8, targets="all").path
    after = train("after", adapter=first).path
    assert log_of(after)[0]["loss"] < log_of(first)[0]["loss"] - 0.1  # the same examples, and not a new adapter
    configs = [json.loads((path / "adapter_config.json").read_text()) for path in (first, after)]
    assert configs[0] == configs[1] and configs[0]["r"] == 4
    assert "| begun from | first, an adapter |" in (after / "README.md").read_text()
    assert len(json.loads((after / "run.json").read_text())["run"]["adapter"]) == 64
    with pytest.raises(KeyboardInterrupt):
        train("parts", adapter=first, listener=Interrupts(3))
    assert same(train("parts", adapter=first).path, after)
    shutil.move(first, tmp_path / "elsewhere")
    assert train("after", adapter=tmp_path / "elsewhere").was_complete
    with pytest.raises(OutputError, match="holds another finished training"):
        train("after", adapter=after)


def test_an_adapter_whose_layers_are_a_list_is_written_in_order(train: Train) -> None:
    """As most programs write it."""
    names = ["fc1", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj"]
    first = train("first", targets=",".join(names), steps=1).path
    config = json.loads((first / "adapter_config.json").read_text())
    (first / "adapter_config.json").write_text(json.dumps(config | {"target_modules": names[::-1]}))
    after = train("after", adapter=first, steps=1).path
    assert json.loads((after / "adapter_config.json").read_text())["target_modules"] == names
    (first / "adapter_config.json").write_text(json.dumps(config | {"target_modules": names[1:]}))
    with pytest.raises(ModelError, match="first is the adapter of another model"):
        train("other", adapter=first, steps=1)


@pytest.mark.parametrize("step", [1, 3])
def test_interrupted_and_gone_on_with_is_the_same_to_the_byte(train: Train, tmp_path: Path, step: int) -> None:
    whole = train("whole").path
    with pytest.raises(KeyboardInterrupt):
        train("parts", listener=Interrupts(step))
    assert not (tmp_path / "parts" / "run.json").exists()
    listener = Interrupts(99)
    result = train("parts", listener=listener)
    assert same(result.path, whole) and listener.resumed == step and not result.was_complete


def test_the_random_state_is_gone_on_with(train: Train, model: Path, tmp_path: Path) -> None:
    """A model that drops some of its attention at random while it is trained."""
    base = tmp_path / "dropping"
    shutil.copytree(model, base)
    config = json.loads((base / "config.json").read_text())
    config["text_config"]["attention_dropout"] = 0.5
    (base / "config.json").write_text(json.dumps(config))
    whole = train("whole", base=base).path
    with pytest.raises(KeyboardInterrupt):
        train("parts", base=base, listener=Interrupts(3))
    assert same(train("parts", base=base).path, whole) and not same(train("other").path, whole)


def test_an_interruption_within_a_step_does_not_count(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the examples that were taken nor what the optimiser had done by half."""
    from schedulefree import AdamWScheduleFree

    whole = train("whole").path
    real = {"loss": run_module.Loop._loss, "step": AdamWScheduleFree.step}
    for place in ("loss", "step"):
        calls = Counter[str]()

        def broken(self: Any, *values: Any, place: str = place, calls: Counter[str] = calls) -> Any:
            calls[place] += 1
            done = real[place](self, *values)
            if calls[place] == {"loss": 6, "step": 4}[place]:  # within step 3; after the weights of step 4 were changed
                raise KeyboardInterrupt
            return done

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(*((run_module.Loop, "_loss") if place == "loss" else (AdamWScheduleFree, "step")), broken)
            train(place, save_every=2)
        listener = Interrupts(99)
        assert same(train(place, listener=listener).path, whole) and listener.resumed == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_moment_and_gone_on_with_is_the_same_to_the_byte(train: Train, tmp_path: Path) -> None:
    started = time.process_time()
    whole = train("whole", save_every=1).path
    length = time.process_time() - started
    killed = 0
    for number in range(12):
        child = os.fork()
        if child == 0:
            try:
                # Ends the process on the spot after so much work, however much time that takes on a busy machine.
                signal.setitimer(signal.ITIMER_PROF, length * (0.05 + 0.13 * (number % 7)))
                train("parts", save_every=1)
            finally:
                os._exit(0)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        if (tmp_path / "parts" / "run.json").exists():
            break
    result = train("parts", save_every=1)
    assert killed >= 2 and same(result.path, whole) and sorted(file.name for file in result.path.iterdir()) == FILES


def test_what_may_change_in_between_and_what_may_not(train: Train, log_of: Log) -> None:
    """More steps, and what takes less memory; the weights hang on everything else."""
    with pytest.raises(KeyboardInterrupt):
        train("lora", listener=Interrupts(3))
    for options, problem in (
        ({"learning_rate": 1e-3}, "learning_rate 0.01 there, 0.001 here"),
        ({"rank": 4}, "rank 8 there, 4 here"),
        ({"seed": 8}, "seed 7 there, 8 here"),
        ({"batch": 4}, "batch 3 there, 4 here"),
        ({"targets": "all"}, "targets language there, all here"),
        ({"of_pairs": {"width": 200}}, "width 300 there, 200 here"),
    ):
        with pytest.raises(OutputError, match=f"unfinished training of another plan .*{problem}.*its own command"):
            train("lora", **options)
    with pytest.raises(OutputError, match="has done 3 steps already; give --steps of at least that"):
        train("lora", steps=2)
    result = train("lora", steps=6, micro_batch=1, gradient_checkpointing=True, save_every=100)
    assert [line["step"] for line in log_of(result.path)] == [1, 2, 3, 4, 5, 6]


def test_an_unfinished_training_can_be_ended_where_it_is(train: Train) -> None:
    shorter = train("shorter", steps=3).path
    with pytest.raises(KeyboardInterrupt):
        train("lora", listener=Interrupts(3))
    assert same(train("lora", steps=3).path, shorter)


def test_the_adapter_is_the_average_of_what_the_optimiser_works_on(train: Train, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    with pytest.raises(KeyboardInterrupt):
        train("lora", listener=Interrupts(3))
    kept = load_file(tmp_path / "lora" / run_module.WORK / run_module.CHECKPOINT)
    adapter = load_file(train("lora", steps=3).path / "adapter_model.safetensors")
    for name, weight in adapter.items():
        works_on = kept["weights " + name.replace(".weight", ".default.weight")]
        ends = [value for key, value in kept.items() if key.endswith(" z") and value.shape == weight.shape]
        # Schedule-free AdamW: what it works on lies a tenth of the way from the average to the end.
        assert any(torch.allclose(works_on, 0.9 * weight + 0.1 * end, atol=1e-6) for end in ends)
        assert not torch.equal(weight, works_on)


def test_micro_batches_change_nothing_but_rounding(train: Train, log_of: Log) -> None:
    """Though answers differ in length: the mean goes over all tokens of a step."""
    losses = [
        [line["loss"] for line in log_of(train(f"lora-{size}{more}", micro_batch=size, **more).path)]
        for size, more in ((1, {}), (3, {}), (64, {"gradient_checkpointing": True}))
    ]
    for other in losses[1:]:
        assert other == pytest.approx(losses[0], abs=1e-4)


def test_a_training_that_did_nothing_binds_nobody(train: Train, tmp_path: Path, parts: tuple[Any, Any]) -> None:
    template = tmp_path / "bare.jinja"
    template.write_text(parts[1].chat_template.replace("{% generation %}", "").replace("{% endgeneration %}", ""))
    with pytest.raises(TrainError, match="does not mark the assistant's answer"):
        train("lora", chat_template=template)
    assert not (tmp_path / "lora").exists()
    (tmp_path / "lora" / run_module.WORK).mkdir(parents=True)  # killed before the first checkpoint
    (tmp_path / "lora" / run_module.WORK / "plan.json").write_text('{"fingerprint": "x", "facts": {}}')
    assert train("lora").counts.step == 5


def test_a_loss_that_is_no_number(train: Train, tmp_path: Path, log_of: Log) -> None:
    def damage() -> None:
        import gc

        for each in gc.get_objects():
            if isinstance(each, run_module.Loop):
                each._weights[0].data.fill_(float("nan"))

    with pytest.raises(TrainError, match=r"In step 4 the loss is no number .* lower --learning-rate"):
        train("lora", listener=Interrupts(3, damage))
    assert [line["step"] for line in log_of(tmp_path / "lora")] == [1, 2, 3]
    assert same(train("lora").path, train("whole").path)  # the checkpoint of step 2 is good


def test_memory_that_does_not_suffice(train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = run_module.Loop._loss

    def greedy(self: Any, inputs: Any, labels: Any) -> Any:
        if len(labels) > 1:
            torch.empty(1 << 60)  # raises what torch raises
        return real(self, inputs, labels)

    monkeypatch.setattr(run_module.Loop, "_loss", greedy)
    with pytest.raises(TrainError, match=r"memory does not suffice .* lower --micro-batch or add"):
        train("lora")
    assert not (tmp_path / "lora").exists() and train("lora", micro_batch=1).counts.step == 5


def test_a_model_that_fails(train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any, inputs: Any, labels: Any) -> Any:
        return torch.zeros(3)[torch.tensor(7)]  # raises what torch raises where a text has more tokens than positions

    monkeypatch.setattr(run_module.Loop, "_loss", broken)
    with pytest.raises(TrainError, match=r"The model fails on these examples \(index 7 is out of bounds"):
        train("lora")
    assert not (tmp_path / "lora").exists()


def test_a_full_disk(train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a checkpoint is written: the one before it is gone on from."""
    whole = train("whole").path
    real = Path.write_bytes

    def full(self: Path, data: bytes) -> int:
        if "checkpoint" in self.name and (self.parent / run_module.CHECKPOINT).exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OutputError, match="lora cannot be written: the disk is full; free some space"):
            train("lora")
    assert sorted(file.name for file in (tmp_path / "lora" / run_module.WORK).iterdir()) == [
        run_module.CHECKPOINT,
        "plan.json",
    ]
    assert same(train("lora").path, whole)


def test_two_runs_into_one_folder(train: Train, tmp_path: Path) -> None:
    (tmp_path / "lora").mkdir()
    lock = tmp_path / "lora" / run_module.WORK / "lock"
    with locked(lock, OutputError("busy")), pytest.raises(OutputError, match="Another process is writing to"):
        train("lora")


def test_places_that_are_taken(train: Train, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a file; choose a folder"):
        train("file")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    with pytest.raises(OutputError, match="is not empty and not an unfinished training"):
        train("full")
    assert [file.name for file in (tmp_path / "full").iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"counts": 3}', '{"counts": {"step": 5}}', '{"counts": {"steps": 5}}', "[" * 9999]
)
def test_a_report_of_somebody_else(train: Train, tmp_path: Path, text: str) -> None:
    (tmp_path / "lora").mkdir()
    (tmp_path / "lora" / "run.json").write_text(text)
    with pytest.raises(OutputError):
        train("lora")


@pytest.mark.parametrize("data", [b"", b"\xff" * 99, b"\x08\0\0\0\0\0\0\0{}      "])
def test_a_damaged_checkpoint(train: Train, tmp_path: Path, data: bytes) -> None:
    with pytest.raises(KeyboardInterrupt):
        train("lora", listener=Interrupts(3))
    (tmp_path / "lora" / run_module.WORK / run_module.CHECKPOINT).write_bytes(data)
    with pytest.raises(OutputError, match=r"checkpoint.safetensors is damaged; remove the folder"):
        train("lora")


def test_a_checkpoint_of_other_weights_is_damaged(train: Train, tmp_path: Path) -> None:
    for name, rank in (("lora", 8), ("other", 4)):
        with pytest.raises(KeyboardInterrupt):
            train(name, rank=rank, listener=Interrupts(3))
    files = [tmp_path / name / run_module.WORK / run_module.CHECKPOINT for name in ("other", "lora")]
    files[0].replace(files[1])
    with pytest.raises(OutputError, match="is damaged"):
        train("lora")


def test_layers_that_are_not_there(train: Train, tmp_path: Path) -> None:
    with pytest.raises(TrainError, match=r"no linear layer called 'query'; it has .*q_proj.* Mend --targets"):
        train("lora", targets="q_proj,query")
    assert not (tmp_path / "lora").exists()
    named = train("named", targets="fc1, up_proj", steps=1).path
    config = json.loads((named / "adapter_config.json").read_text())
    assert config["target_modules"].split("|") == [
        r"model\.language_model\.layers\.\d+\.mlp\.up_proj",
        r"model\.vision_tower\.encoder\.layers\.\d+\.mlp\.fc1",
    ]


def test_data_that_cannot_be_used(train: Train, tmp_path: Path, hidden: Callable[..., Path]) -> None:
    with pytest.raises(DatasetError, match="hidden test set, which has no answers"):
        train("lora", hidden())
    with pytest.raises(NoPairsError, match="No pair of samples:8 can be used"):
        train("lora", of_pairs={"max_height": 64})
    assert not (tmp_path / "lora").exists()


def test_the_extra_is_not_installed(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "find_spec", lambda name: None if name == "schedulefree" else True)
    with pytest.raises(
        PipelineError, match=re.escape('needs schedulefree, which is not installed: pip install "vcrgen[train]"')
    ):
        train("lora")
