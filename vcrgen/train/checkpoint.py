"""Checkpoints: weights, optimiser, place in the data and random generators in one file that appears whole.

The weights are those that the optimiser works on, not averages as in the adapter, as converting them would round.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vcrgen.core.errors import OutputError
from vcrgen.core.files import atomic_path, canonical_json

CHECKPOINT = "checkpoint.safetensors"


@dataclass(slots=True, kw_only=True)
class Counts:
    """The progress of a training."""

    step: int = 0  # steps of the optimiser that were done
    examples: int = 0  # examples that were learned from
    tokens: int = 0  # tokens of their answers, with the end tokens
    seconds: float = 0.0  # that it took, without loading
    first_loss: float | None = None  # mean of a token in the first step, in nats
    last_loss: float | None = None  # and in the last one


def save_checkpoint(
    file: Path, *, model: Any, optimizer: Any, data: dict[str, Any], random: dict[str, Any], counts: Counts
) -> None:
    """Write a checkpoint.

    Args:
        file: The file, which is replaced.
        model: The model, whose trained weights are saved.
        optimizer: The optimiser in its training mode.
        data: The place in the data, as JSON values.
        random: States of the random generators, as tensors by name.
        counts: The progress.
    """
    from safetensors.torch import save

    state = optimizer.state_dict()
    tensors = {f"weights {name}": value for name, value in _trained(model).items()}
    tensors |= {f"random {name}": value for name, value in random.items()}
    for number, values in state["state"].items():
        tensors |= {f"optimizer {number} {name}": value for name, value in values.items()}
    rest = {"data": data, "counts": asdict(counts), "groups": state["param_groups"]}
    on_cpu = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    with atomic_path(file) as temporary:
        temporary.write_bytes(save(on_cpu, metadata={"state": canonical_json(rest)}))


def load_checkpoint(file: Path, *, model: Any, optimizer: Any) -> tuple[dict[str, Any], dict[str, Any], Counts]:
    """Restore a model and its optimiser.

    Returns:
        The place in the data, states of the random generators by name, and the progress.

    Raises:
        OutputError: The file is damaged, or of another model.
    """
    import torch
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="pt") as opened:
            rest = json.loads((opened.metadata() or {})["state"])
            parts: dict[str, dict[str, Any]] = {"weights": {}, "random": {}, "optimizer": {}}
            for key in opened.keys():  # noqa: SIM118 as it is no mapping
                kind, _, name = key.partition(" ")
                parts[kind][name] = opened.get_tensor(key)
        state: dict[int, dict[str, Any]] = {}
        for key, value in parts["optimizer"].items():
            number, _, name = key.partition(" ")
            state.setdefault(int(number), {})[name] = value
        with torch.no_grad():
            for name, weight in _trained(model).items():
                weight.copy_(parts["weights"].pop(name))
        optimizer.load_state_dict({"state": state, "param_groups": rest["groups"]})
        return rest["data"], parts["random"], Counts(**rest["counts"])
    except (OSError, SafetensorError, KeyError, ValueError, TypeError, RuntimeError, RecursionError):
        raise OutputError(f"{file} is damaged; remove the folder that it is in to begin the training anew.") from None


def _trained(model: Any) -> dict[str, Any]:
    """Weights that are trained, by name; all others are the model's own."""
    return {name: value for name, value in model.named_parameters() if value.requires_grad}
