"""All that a training needs to go on, in one file that appears whole.

It holds weights, the state of the optimiser, the place in the data and the states of the random generators.

The weights are those that the optimiser works on, not those of the finished adapter, which are averages: going back and
forth between the two would round them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from vcrgen.errors import OutputError
from vcrgen.files import atomic_path, canonical_json

CHECKPOINT = "checkpoint.safetensors"


@dataclass(slots=True, kw_only=True)
class Counts:
    """How far a training is."""

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
        file: Replaced if it is there.
        model: Whose trained weights are kept.
        optimizer: In its training mode.
        data: The place in the data, as JSON values.
        random: The states of the random generators, as tensors by name.
        counts: How far the training is.

    Raises:
        OSError: The disk is full, or the file cannot be written.
    """
    from safetensors.torch import save

    state = optimizer.state_dict()
    tensors = {f"weights {name}": value for name, value in _trained(model).items()}
    tensors |= {f"random {name}": value for name, value in random.items()}
    for number, values in state["state"].items():
        tensors |= {f"optimizer {number} {name}": value for name, value in values.items()}
    rest = {"data": data, "counts": asdict(counts), "groups": state["param_groups"]}
    kept = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    with atomic_path(file) as temporary:
        temporary.write_bytes(save(kept, metadata={"state": canonical_json(rest)}))


def load_checkpoint(file: Path, *, model: Any, optimizer: Any) -> tuple[dict[str, Any], dict[str, Any], Counts]:
    """Bring a model and its optimiser back to where they were.

    Returns:
        The place in the data, the states of the random generators by name, and how far the training is.

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
    """The weights that are trained, by name."""
    return {name: value for name, value in model.named_parameters() if value.requires_grad}
