"""``vcrgen finetune`` as a user meets it."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.extras

Run = Callable[..., tuple[int, str, str]]


def test_the_extra_is_not_installed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from vcrgen.train import run as run_module

    monkeypatch.setattr(run_module, "find_spec", lambda name: None)
    code, _, err = run("finetune", "samples", "--model", "nowhere", "--out", "lora")
    assert code == 2 and err.startswith(
        "Error: Fine-tuning needs torch, transformers, peft, schedulefree, trl, which are not installed: "
    )


@pytest.mark.parametrize("checkpoint", [False, True])
def test_an_interruption_is_told_to_keep_what_it_keeps(
    run: Run, monkeypatch: pytest.MonkeyPatch, checkpoint: bool
) -> None:
    from vcrgen.train import run as run_module

    def interrupted(*_: object, **__: object) -> None:
        if checkpoint:
            Path("lora", run_module.WORK).mkdir(parents=True)
        raise KeyboardInterrupt

    monkeypatch.setattr(run_module, "finetune", interrupted)
    code, _, err = run("finetune", "samples", "--model", "nowhere", "--out", "lora")
    said = "What was finished is kept" if checkpoint else "Nothing is half written; the command begins anew"
    assert code == 130 and said in err


def test_a_training_tells_what_came_of_it_and_how_it_is_used(run: Run, model: Path, one_thread: None) -> None:
    Path("small.yaml").write_text("sft: {gradient_accumulation_steps: 1}\nstream: {width: 200}\n")
    words = ("samples:6", "--model", model, "--recipe", "small.yaml", "--steps", 2, "--out", "lora")
    code, out, err = run("finetune", *words)
    assert (code, err) == (0, "loading the model ...\ntraining 2 steps ...\n")
    assert out.splitlines()[0].startswith("lora is complete: 2 steps; loss 6.")
    assert out.splitlines()[1] == f"Use it: vcrgen predict DATASET --transformers {model} --adapter lora"
    assert "lora was complete already: 2 steps" in run("finetune", *words)[1]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("samples", "--model", "nowhere"), "nowhere is not a folder; give the folder of a model"),
        (("samples", "--model", "."), "is not the folder of a model (it has no config.json)"),
        (("nowhere.csv",), "There is no file or folder 'nowhere.csv'"),
        (("samples", "--lang", "xx"), "unknown language 'xx'"),
        (("samples", "--mode", "medium"), "is not easy, hard, both"),
        (("samples", "--steps", "0"), "steps: Input should be greater than or equal to 1"),
        (("samples", "--recipe", "no.yaml"), "The configuration file no.yaml cannot be read"),
        (("samples", "--adapter", "nowhere"), "nowhere is not the folder of an adapter (it has no adapter_"),
        (("samples", "--device", "cuda"), "--device cuda: torch finds no GPU here"),
        (("samples", "--out", "s3://bucket/lora"), "s3://bucket/lora is no folder of this machine"),
    ],
)
def test_mistakes_are_one_sentence(run: Run, model: Path, words: tuple[str, ...], problem: str) -> None:
    given = [*words, *(() if "--model" in words else ("--model", model)), *(() if "--out" in words else ("-o", "lora"))]
    code, _, err = run("finetune", *given)
    *before, sentence = err.splitlines()
    assert code == 2 and problem in sentence and sentence.startswith("Error: ")
    assert before in ([], ["loading the model ..."]) and not Path("lora").exists()
