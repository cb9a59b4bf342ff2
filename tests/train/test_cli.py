"""``vcrgen finetune`` as a user meets it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.extras

Run = Callable[..., tuple[int, str, str]]
QUICK = ("--steps", 2, "--batch", 2, "--micro-batch", 2)


def test_the_extra_is_not_installed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from vcrgen.train import run as run_module

    monkeypatch.setattr(run_module, "find_spec", lambda name: None)
    code, _, err = run("finetune", "nowhere", "samples", "--out", "lora")
    assert code == 2 and err.strip() == (
        "Error: Fine-tuning needs torch, transformers, peft, schedulefree, which are not installed: "
        'pip install "vcrgen[train]".'
    )


def test_a_training_tells_what_came_of_it_and_how_it_is_used(run: Run, model: Path, one_thread: None) -> None:
    code, out, err = run("finetune", model, "samples:6", "--lang", "zh", "--out", "lora", *QUICK)
    assert (code, err) == (0, "")
    assert out.splitlines()[0].startswith("lora is complete: 2 steps, 4 examples; loss of a token 6.")
    assert out.splitlines()[1:3] == [
        "Source built-in pairs",
        f"Use it: vcrgen predict DATASET --transformers {model} --adapter lora",
    ]
    assert json.loads(Path("lora/run.json").read_text())["run"]["lang"] == "zh"
    assert (
        "lora was complete already: 2 steps" in run("finetune", model, "samples:6", "-l", "zh", "-o", "lora", *QUICK)[1]
    )


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("nowhere", "samples"), "nowhere is not a folder; give the folder of a model"),
        ((".", "samples"), "is not the folder of a model (it has no config.json)"),
        (("MODEL", "nowhere.csv"), "There is no file or folder 'nowhere.csv'"),
        (("MODEL", "samples", "--lang", "xx"), "unknown language 'xx'"),
        (("MODEL", "samples", "--rank", "0"), "rank: Input should be greater than or equal to 1"),
        (("MODEL", "samples", "--chat-template", "no.jinja"), "The chat template no.jinja cannot be read"),
        (("MODEL", "samples", "--targets", "conv"), "no linear layer called 'conv'"),
        (("MODEL", "samples", "--adapter", "lora-1", "--rank", "4"), "--rank is that of the adapter which --adapter"),
        (("MODEL", "samples", "--adapter", "nowhere"), "nowhere is not the folder of an adapter (it has no adapter_"),
        (("MODEL", "samples", "--device", "cuda"), "--device cuda: torch finds no GPU here"),
        (("MODEL", "samples", "--out", "s3://bucket/lora"), "s3://bucket/lora is no folder of this machine"),
    ],
)
def test_mistakes_are_one_sentence(run: Run, model: Path, words: tuple[str, ...], problem: str) -> None:
    given = [str(model) if word == "MODEL" else word for word in words]
    code, _, err = run("finetune", *given, *(() if "--out" in words else ("--out", "lora")))
    assert code == 2 and problem in err and err.count("\n") == 1 and err.startswith("Error: ")
    assert not Path("lora").exists()
