"""Folders of models: what is loaded, and what is said of a folder that cannot be."""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.core.errors import ModelError, PipelineError
from vcrgen.models.loading import LoadedModel, load_model

pytestmark = pytest.mark.extras

WORDS = ["What is the covered texts in the image?", "it was a fine day", "the bird sat still"]


@pytest.fixture(scope="module")
def folder(tinyvlm: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with random weights."""
    saved: Path = tinyvlm.save(*tinyvlm.make(WORDS), tmp_path_factory.mktemp("models") / "tiny")
    return saved


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "model"))


def with_config(**changes: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / "config.json"
        file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | changes), "utf-8")

    return change


def write(name: str, content: str | bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def with_weights(change: Callable[[dict[str, Any], str], object]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        from safetensors.torch import load_file, save_file

        weights = load_file(folder / "model.safetensors")
        change(weights, min(name for name in weights if "mlp" in name))
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})

    return apply


AUTO_MAP = {"AutoConfig": "own.Config", "AutoModelForImageTextToText": "own.Model"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (remove("config.json"), "is not the folder of a model (it has no config.json)."),
        (write("config.json", '{"model_type":'), "cannot be loaded as a vision-language model: "),
        (with_config(model_type="nonsense"), "does not recognize this architecture"),
        (with_config(model_type="\x1b[2Jnonsense\x07"), "model type ` [2Jnonsense `"),
        (
            write("config.json", '{"model_type": "llama"}'),
            "is a language model, or of a kind that does",
        ),
        (with_config(model_type="nonsense", auto_map=AUTO_MAP), "comes with Python code of its own, which is not run"),
        (remove("processor_config.json"), "cannot be loaded as a vision-language model: Can't load image processor"),
        (
            write("processor_config.json", '{"processor_class": "Nope"}'),
            "is a language model without an image processor",
        ),
        (remove("tokenizer.json"), "cannot be loaded as a vision-language model: "),
        (remove("chat_template.jinja"), "has no chat template, so it cannot be prompted; put the one"),
        (write("model.safetensors", b"\0" * 1000), "cannot be loaded as a vision-language model: "),
        (with_weights(lambda weights, name: weights.pop(name)), "1 of its weights are in no file (the first: model."),
        (
            with_weights(lambda weights, name: weights.update({name: weights[name][:1].clone()})),
            "cannot be loaded as a vision-language model: ",
        ),
        (
            lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"),
            "no weights in files *.",
        ),
    ],
)
def test_a_folder_that_is_no_model_that_sees(copy: Path, change: Callable[[Path], object], message: str) -> None:
    change(copy)
    with pytest.raises(ModelError) as error:
        load_model(copy)
    said = str(error.value)
    assert message in said and said.startswith(str(copy)) and said.endswith(".") and "\n" not in said
    assert len(said) < 600


def test_code_of_the_folder_runs_only_when_that_is_asked_for(copy: Path) -> None:
    with_config(model_type="nonsense", auto_map=AUTO_MAP)(copy)
    write("own.py", f"open({str(copy / 'ran')!r}, 'w')\nraise RuntimeError('it ran')\n")(copy)
    with pytest.raises(ModelError, match="give --trust-remote-code"):
        load_model(copy)
    assert not (copy / "ran").exists()
    with pytest.raises(ModelError, match="it ran"):
        load_model(copy, trust_remote_code=True)
    assert (copy / "ran").exists()


def test_a_name_of_the_hub_is_no_folder(tmp_path: Path, folder: Path) -> None:
    for path in (Path("org/model"), folder / "config.json"):
        with pytest.raises(ModelError, match="is not a folder; give the folder of a model, as `hf download"):
            load_model(path)


def test_a_gpu_that_is_not_there(folder: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(ModelError, match="torch finds no GPU here"):
        load_model(folder, device="cuda")


def test_the_extra_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(PipelineError, match=r'pip install "peft>=0.20" "torch>='):
        load_model(tmp_path)


def test_what_is_loaded(folder: Path) -> None:
    loaded = load_model(folder)
    assert not loaded.model.training and str(loaded.model.device) == "cpu"
    assert loaded.facts["dtype"] == "float32" and loaded.facts["device"] == "cpu"
    assert load_model(folder).facts == loaded.facts


def test_facts_change_with_what_may_change_an_answer(folder: Path, copy: Path) -> None:
    before = load_model(copy).facts
    assert before == load_model(folder).facts  # wherever it is
    write("README.md", "another")(copy)
    assert load_model(copy).facts == before
    write("chat_template.jinja", "Now {{ messages }}")(copy)
    changed = load_model(copy).facts
    assert {name for name in before if before[name] != changed[name]} == {"digest"}


def save_adapter(loaded: LoadedModel, folder: Path, **options: Any) -> Path:
    """A LoRA adapter of a model, with random weights."""
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(1)
    config = LoraConfig(**{"r": 4, "target_modules": "all-linear", "init_lora_weights": False} | options)
    get_peft_model(loaded.model, config).save_pretrained(folder)
    return folder


def test_an_adapter_is_within_the_model(folder: Path, tmp_path: Path) -> None:
    import torch

    ids = torch.tensor([[7, 8, 9]])
    plain = load_model(folder)
    without = plain.model(input_ids=ids).logits
    adapter = save_adapter(plain, tmp_path / "lora")
    tuned = plain.model(input_ids=ids).logits  # peft puts its layers into the model that it is given
    loaded = load_model(folder, adapter=adapter)
    assert torch.allclose(loaded.model(input_ids=ids).logits, tuned, atol=1e-6) and not torch.allclose(without, tuned)
    assert type(loaded.model) is type(load_model(folder).model)
    assert set(loaded.facts) - set(load_model(folder).facts) == {"adapter", "peft"}


def test_folders_that_are_no_adapter_of_the_model(folder: Path, tinyvlm: Any, tmp_path: Path) -> None:
    adapter = save_adapter(load_model(folder), tmp_path / "lora")
    with pytest.raises(ModelError, match="lora is an adapter; give the folder of its base model, and this one"):
        load_model(adapter)
    with pytest.raises(ModelError, match=r"is not the folder of an adapter \(it has no adapter_config.json\)"):
        load_model(folder, adapter=folder)

    def refused(message: str) -> None:
        with pytest.raises(ModelError, match=message) as error:
            load_model(folder, adapter=adapter)
        assert str(error.value).startswith(str(adapter)) and "\n" not in str(error.value)

    file = adapter / "adapter_config.json"
    config = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps(config | {"r": 8}), "utf-8")
    refused("cannot be loaded")
    file.write_text(json.dumps(config | {"target_modules": ["q_proj"]}), "utf-8")
    refused("is the adapter of another model")
    file.write_text(json.dumps(config | {"target_modules": ["nowhere"]}), "utf-8")
    refused("cannot be loaded")
    file.write_text(json.dumps(config | {"peft_type": "PROMPT_TUNING", "num_virtual_tokens": 4}), "utf-8")
    refused("is an adapter of the kind PROMPT_TUNING; give one of LoRA's kind")
    for text in ("[]", "{", json.dumps(config | {"peft_type": "MINE"})):
        file.write_text(text, "utf-8")
        refused("cannot be loaded")
    (adapter / "adapter_model.safetensors").rename(adapter / "adapter_model.bin")
    refused("it has no adapter_model.safetensors")
