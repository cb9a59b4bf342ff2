"""LoRA on a model: which layers are adapted, and the files of the adapter that comes of it.

The files are those of `peft`: ``adapter_model.safetensors`` and ``adapter_config.json``.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vcrgen.config import TrainOptions
from vcrgen.errors import TrainError
from vcrgen.files import atomic_path, write_json

WEIGHTS, CONFIG = "adapter_model.safetensors", "adapter_config.json"


def add_adapter(model: Any, options: TrainOptions) -> Any:
    """A model with LoRA on the layers that ``options.targets`` names; only the adapter's weights are trained.

    The new weights are random, drawn from the seed, in such a way that the model's answers do not change yet.

    Raises:
        TrainError: The model has no such layers.
    """
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(options.seed)
    config = LoraConfig(
        r=options.rank, lora_alpha=options.alpha, target_modules=_targets(model, options.targets), task_type="CAUSAL_LM"
    )
    adapted = get_peft_model(model, config)
    if options.gradient_checkpointing:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return adapted


def _targets(model: Any, targets: str) -> list[str] | str:
    """Names of layers, as `peft` takes them."""
    import torch

    if targets == "all":
        return "all-linear"
    linear = [name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)]
    if targets == "language":
        inside = {id(module) for module in model.get_decoder().modules()}
        modules = dict(model.named_modules())
        found = [name for name in linear if id(modules[name]) in inside]
    else:
        ends = targets.split(",")
        found = [name for name in linear if any(f".{name}".endswith(f".{end}") for end in ends)]
        for end in ends:
            if not any(f".{name}".endswith(f".{end}") for name in linear):
                known = ", ".join(sorted({name.rpartition(".")[2] for name in linear}))
                raise TrainError(f"The model has no linear layer called {end!r}; it has {known[:500]}. Mend --targets.")
    if not found:
        raise TrainError("The model's language part has no linear layer that could be adapted; name some by --targets.")
    return found


def save_adapter(model: Any, folder: Path) -> None:
    """Write the adapter's two files, each whole or not at all; the same weights give the same bytes.

    Raises:
        OSError: The disk is full, or the folder cannot be written.
    """
    from peft import get_peft_model_state_dict
    from safetensors.torch import save

    weights = {name: value.detach().cpu().contiguous() for name, value in get_peft_model_state_dict(model).items()}
    with atomic_path(folder / WEIGHTS) as file:
        file.write_bytes(save(weights, metadata={"format": "pt"}))
    config = model.peft_config["default"]
    with TemporaryDirectory() as written:
        config.save_pretrained(written)
        values = json.loads((Path(written) / CONFIG).read_text("utf-8"))
    # Out of a set, so their order is another one each time.
    values["target_modules"] = sorted(config.target_modules)
    values["inference_mode"] = True
    write_json(folder / CONFIG, values)
