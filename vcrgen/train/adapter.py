"""LoRA on a model, and the files of its adapter in the format of `peft`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vcrgen.core.errors import TrainError
from vcrgen.core.files import atomic_path, write_json
from vcrgen.models.loading import ADAPTER_CONFIG, ADAPTER_WEIGHTS, LoadedModel, load_adapter, silence_transformers
from vcrgen.train.options import TrainOptions

_NUMBER = re.compile(r"(?<=\\\.)\d+(?=\\\.)")  # of a layer, in a name that is escaped


def add_adapter(loaded: LoadedModel, options: TrainOptions) -> Any:
    """Add LoRA to a model: that of ``options.adapter``, or a new one, which does not change the answers yet.

    A new one has the layers of ``options.targets``, initialised from the seed.

    Raises:
        ModelError: The adapter is of another model, or not LoRA.
        TrainError: The model has no such layers.
    """
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(options.seed)
    model = loaded.model
    with silence_transformers():
        if options.adapter is not None:
            adapted = load_adapter(model, options.adapter, loaded.facts["device"], is_trainable=True)
        else:
            layers = _pattern(model, options.targets)
            config = LoraConfig(r=options.rank, lora_alpha=options.alpha, target_modules=layers, task_type="CAUSAL_LM")
            adapted = get_peft_model(model, config)
        if options.gradient_checkpointing:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return adapted


def _pattern(model: Any, targets: str) -> str:
    """Return a regular expression of the adapted layers; `peft` would store a list in random order."""
    import torch

    output = model.get_output_embeddings()
    linear = {
        name: layer
        for name, layer in model.named_modules()
        if isinstance(layer, torch.nn.Linear) and layer is not output
    }
    if targets == "all":
        layers = list(linear)
    elif targets == "language":
        inside = {id(layer) for layer in model.get_decoder().modules()}
        layers = [name for name, layer in linear.items() if id(layer) in inside]
    else:
        suffixes = {name.rpartition(".")[2] for name in linear}
        target_names = set(targets.split(","))
        if unknown := sorted(target_names - suffixes):
            have = ", ".join(sorted(suffixes))[:500]
            raise TrainError(f"The model has no linear layer called {unknown[0]!r}; it has {have}. Mend --targets.")
        layers = [name for name in linear if name.rpartition(".")[2] in target_names]
    if not layers:
        raise TrainError("The model's language part has no linear layer that can be adapted; name some by --targets.")
    return "|".join(sorted({_NUMBER.sub(r"\\d+", re.escape(name)) for name in layers}))


def save_adapter(model: Any, folder: Path, *, base: str) -> None:
    """Write the adapter's two files atomically and deterministically; ``base`` names the model without its path."""
    from peft import get_peft_model_state_dict
    from safetensors.torch import save

    weights = {name: value.detach().cpu().contiguous() for name, value in get_peft_model_state_dict(model).items()}
    with atomic_path(folder / ADAPTER_WEIGHTS) as file:
        file.write_bytes(save(weights, metadata={"format": "pt"}))
    with TemporaryDirectory() as written:
        model.peft_config["default"].save_pretrained(written)
        values = json.loads((Path(written) / ADAPTER_CONFIG).read_text("utf-8"))
    values |= {"base_model_name_or_path": base, "inference_mode": True}
    if isinstance(values["target_modules"], list):  # of an adapter from elsewhere; peft has it in random order
        values["target_modules"].sort()
    write_json(folder / ADAPTER_CONFIG, values)
