"""Trainers read their exports by themselves; `scripts/check_trainers.py` makes the environments that this needs."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from vcrgen.builder.run import build
from vcrgen.data.export import export_dataset

pytestmark = pytest.mark.extras

Export = Callable[[str], list[dict[str, Any]]]


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Export:
    """Exports a dataset for a trainer and goes into that folder; what the trainer has to find, row by row."""
    from vcrgen.data.reader import open_dataset
    from vcrgen.data.tasks.vcr import VCR

    build("samples:8", out=tmp_path / "data", mode="easy", splits="train=...")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))

    def call(to: str) -> list[dict[str, Any]]:
        monkeypatch.chdir(export_dataset(tmp_path / "data", to=to, out=tmp_path / to).path)
        rows = [row for _, row in open_dataset(tmp_path / "data", VCR).rows()]
        images = [Image.open(io.BytesIO(row["stacked_image"]["bytes"])) for row in rows]
        return [
            {"question": row["question"], "answers": row["crossed_text"], "image": image.convert("RGB")}
            for row, image in zip(rows, images, strict=True)
        ]

    return call


def trainer(name: str) -> Any:
    """The module of a trainer."""
    return pytest.importorskip(
        name, reason="run by scripts/check_trainers.py: the pins of trainers exclude one another"
    )


def test_verl(export: Export, tinyvlm: Any) -> None:
    """Its dataset keeps every row when it filters by the length of the prompt with the picture; its reward is ours."""
    trainer("verl")
    from hydra import compose, initialize_config_module
    from verl.trainer.ppo.reward import get_custom_reward_fn
    from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn

    expected = export("verl")
    command = Path("README.md").read_text("utf-8").split("main_ppo")[1].split("```")[0]
    with initialize_config_module("verl.trainer.config", version_base=None):
        config = compose("ppo_trainer", overrides=command.replace("\\\n", " ").split())
    _, processor = tinyvlm.make([row["question"] for row in expected])
    for config.data.filter_overlong_prompts in (True, False):
        dataset = RLHFDataset(config.data.train_files, processor.tokenizer, config.data, processor)
        assert len(dataset) == len(expected)
    reward = get_custom_reward_fn(config)
    for row, right in zip(dataset, expected, strict=True):
        ((picture, question),) = (message["content"] for message in row["raw_prompt"])
        assert picture["image"].tobytes() == right["image"].tobytes() and question["text"] == right["question"]
        facts = (row["reward_model"]["ground_truth"], row["extra_info"])
        assert reward(row["data_source"], "\n".join(right["answers"]), *facts)["score"] == 1
        assert reward(row["data_source"], "?", *facts)["score"] == 0
    assert len(collate_fn([dataset[number] for number in range(3)])["raw_prompt"]) == 3


def test_llamafactory(export: Export) -> None:
    """Its converter finds messages and pictures by our `dataset_info.json`."""
    trainer("llamafactory")
    from llamafactory.data.loader import _load_single_dataset
    from llamafactory.data.parser import get_dataset_list
    from llamafactory.hparams import DataArguments, ModelArguments, TrainingArguments

    expected = export("llamafactory")
    (name,) = json.loads(Path("dataset_info.json").read_text("utf-8"))
    here = DataArguments(dataset_dir=".", media_dir=".", dataset=name)
    arguments = (here, TrainingArguments(output_dir="out", use_cpu=True))
    rows = _load_single_dataset(*get_dataset_list([name], "."), ModelArguments(model_name_or_path="."), *arguments)
    for row, right in zip(rows, expected, strict=True):
        assert row["_prompt"] == [{"role": "user", "content": f"<image>{right['question']}"}]
        assert row["_response"] == [{"role": "assistant", "content": "\n".join(right["answers"])}]
        (file,) = row["_images"]
        assert Image.open(file).convert("RGB").tobytes() == right["image"].tobytes()


def test_swift(export: Export, tinyvlm: Any) -> None:
    """It reads the lines with their answers, and takes a step of SFT and one of GRPO with the plugin of the export."""
    trainer("swift")
    from swift.dataset import load_dataset

    expected = export("swift")
    rows, _ = load_dataset("easy-train.jsonl", remove_unused_columns=False)
    for row, right in zip(rows, expected, strict=True):
        asked, said = row["messages"]
        assert asked["content"] == f"<image>{right['question']}" and said["content"].split("\n") == right["answers"]
        (picture,) = row["images"]
        assert Image.open(picture["path"]).convert("RGB").tobytes() == right["image"].tobytes()
    model, processor = tinyvlm.make([row["question"] for row in expected])
    tinyvlm.save(model, processor, Path("model"))
    small = "--max_steps 1 --per_device_train_batch_size 2 --gradient_accumulation_steps 1 --tuner_type full"
    words = f"--model model --model_type llava1_5_hf --template llava1_5_hf --torch_dtype float32 {small}"
    grpo = "--external_plugins reward.py --reward_funcs vcr --num_generations 2 --max_completion_length 4"
    for command, logged in (("sft", "loss"), (f"rlhf --rlhf_type grpo {grpo}", "rewards/VCR/mean")):
        line = f"{command} --dataset easy-train.jsonl --output_dir {logged.split('/')[0]} {words}"
        ended = subprocess.run(
            [Path(sys.executable).with_name("swift"), *line.split()],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, ended.stderr[-2000:]
        (log,) = Path(logged.split("/")[0]).rglob("logging.jsonl")
        assert logged in json.loads(log.read_text("utf-8").splitlines()[0])
