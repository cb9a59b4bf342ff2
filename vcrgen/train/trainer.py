"""TRL's trainers and peft's LoRA, made of a model, rows and a recipe. Imports torch, so it is imported late."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from datasets import Dataset, Features, Image, IterableDataset, Value
from datasets.utils.logging import disable_progress_bar, enable_progress_bar, is_progress_bar_enabled
from peft import LoraConfig
from transformers import PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

from vcrgen.core.errors import ConfigError, OutputError, TrainError
from vcrgen.core.files import write_json
from vcrgen.core.progress import ProgressListener
from vcrgen.core.reading import read_json
from vcrgen.models.loading import LoadedModel, load_adapter
from vcrgen.train.data import StoredRows, StreamRows
from vcrgen.train.options import Recipe, TrainOptions
from vcrgen.train.rewards import Restoration

STATE = "vcrgen-state.json"  # written last into a checkpoint, so one without it is half-written
RANDOM = "vcrgen-random.pt"
LANGUAGE = "language"  # the target modules that are the linear layers of the language model
_NUMBER = re.compile(r"(?<=\\\.)\d+(?=\\\.)")  # of a layer, in a name that is escaped
_MESSAGES = [{"role": Value("string"), "content": Value("string")}]
_FEATURES = Features({"prompt": _MESSAGES, "completion": _MESSAGES, "image": Image(), "answers": [Value("string")]})


class Checkpoint(NamedTuple):
    """A checkpoint of TRL."""

    folder: Path
    step: int
    place: dict[str, Any]  # in the data


def make_trainer(
    loaded: LoadedModel,
    data: StreamRows | StoredRows,
    options: TrainOptions,
    recipe: Recipe,
    *,
    folder: Path,
    checkpoint: Checkpoint | None,
    listener: ProgressListener,
) -> Any:
    """A trainer of TRL.

    Args:
        data: Rows.
        recipe: Fields of TRL's and peft's configurations.
        folder: For checkpoints, and for a copy of a dataset's rows.
        checkpoint: The one that the training goes on from.

    Raises:
        ConfigError: The recipe has a field or value that TRL or peft does not take.
        ModelError: The adapter is of another model, or not LoRA.
        TrainError: The model has no layers to adapt.
    """
    kind, trainer = (SFTConfig, SFTTrainer) if options.method == "sft" else (GRPOConfig, GRPOTrainer)
    on_cpu = loaded.facts["device"] == "cpu"
    fields = {
        "bf16": not on_cpu and torch.cuda.is_bf16_supported(),
        "use_cpu": on_cpu,
        "seed": options.seed,
        "report_to": "none",
        "logging_steps": 1,
        "logging_nan_inf_filter": False,
        "save_total_limit": 2,
        "disable_tqdm": True,
        "remove_unused_columns": False,
        **getattr(recipe, options.method),
        "output_dir": str(folder),
    }
    if options.steps is not None:
        fields["max_steps"] = options.steps
    if isinstance(data, StreamRows):
        fields["ignore_data_skip"] = True  # the stream itself goes on from where the checkpoint is
    if options.method == "grpo":
        fields["shuffle_dataset"] = False  # TRL's order of a second epoch is another one when a training goes on
    args = _configured(kind, fields, options.method)
    used = _rows_of_a_step(args)
    dataset = (
        IterableDataset.from_generator(data)
        if isinstance(data, StreamRows)
        else _stored_dataset(data, math.ceil(args.max_steps * used), folder).shuffle(seed=options.seed)
    )
    given: dict[str, Any] = {"reward_funcs": Restoration(data.lang)} if options.method == "grpo" else {}
    model: Any = loaded.model
    if options.adapter is None:
        layers = recipe.lora.get("target_modules")
        lora = recipe.lora | {"target_modules": _language_layers(model) if layers == LANGUAGE else layers}
        given["peft_config"] = _configured(LoraConfig, lora | {"task_type": "CAUSAL_LM"}, "lora")
    else:
        model = load_adapter(model, options.adapter, loaded.facts["device"], is_trainable=True)
    made = trainer(
        model=model,
        args=args,
        train_dataset=dataset,
        processing_class=loaded.processor,
        callbacks=[_Watch(listener, data, used, checkpoint)],
        **given,
    )
    made.remove_callback(PrinterCallback)  # standard output has the result alone
    return made


def _stored_dataset(data: StoredRows, limit: int, folder: Path) -> Any:
    """A copy of the first rows on this disk, which TRL skips."""
    shown = is_progress_bar_enabled()
    disable_progress_bar()
    try:
        return Dataset.from_generator(
            data, gen_kwargs={"limit": limit}, features=_FEATURES, cache_dir=str(folder / "rows")
        )
    finally:
        if shown:
            enable_progress_bar()


def checkpoint_of(folder: Path) -> Checkpoint | None:
    """The last whole checkpoint in a folder."""
    whole = [place.parent for place in folder.glob(f"checkpoint-*/{STATE}")]
    steps = {int(checkpoint.name.rpartition("-")[2]): checkpoint for checkpoint in whole}
    if not steps:
        return None
    last = max(steps)
    return Checkpoint(steps[last], last, read_json(steps[last] / STATE, OutputError))


def _configured(kind: type[Any], fields: Mapping[str, Any], section: str) -> Any:
    try:
        return kind(**fields)
    except (TypeError, ValueError) as problem:
        reason = str(problem).split("\n")[0].replace(f"{kind.__name__}.__init__() ", "")
        raise ConfigError(f"{section}: of the recipe is not for {kind.__name__}: {reason.rstrip('.')}.") from None


def _rows_of_a_step(args: Any) -> float:
    """Rows that a step of the optimiser uses, in all processes."""
    batch = args.per_device_train_batch_size * args.gradient_accumulation_steps * args.world_size
    if isinstance(args, GRPOConfig):
        return float(batch / args.num_generations / args.num_iterations)
    return float(batch)


def _language_layers(model: Any) -> str:
    """A regular expression of the linear layers of the language model; peft would store a list in random order."""
    output = model.get_output_embeddings()
    inside = {id(layer) for layer in model.get_decoder().modules()}
    names = [
        name
        for name, layer in model.named_modules()
        if isinstance(layer, torch.nn.Linear) and layer is not output and id(layer) in inside
    ]
    if not names:
        raise TrainError("The model's language part has no linear layer; name some by target_modules of lora:.")
    return "|".join(sorted({_NUMBER.sub(r"\\d+", re.escape(name)) for name in names}))


class _Watch(TrainerCallback):
    """Tells a listener of steps, ends a training whose loss is no number, and keeps the place of a stream.

    A training that goes on restores torch's random numbers before its loader begins, which takes one; of a stream,
    whose rows are not skipped, nothing restores them afterwards. So they are kept, too, and restored at the first step.
    """

    def __init__(
        self, listener: ProgressListener, data: StreamRows | StoredRows, used: float, checkpoint: Checkpoint | None
    ) -> None:
        self._listener, self._data, self._used = listener, data, used
        self._random = checkpoint.folder / RANDOM if checkpoint and isinstance(data, StreamRows) else None

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if self._random:
            states = torch.load(self._random, weights_only=True)
            torch.set_rng_state(states["cpu"])
            torch.cuda.set_rng_state_all(states["cuda"])
            self._random = None

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._listener.advance(1, 1, Counter())

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not math.isfinite(loss):
            raise TrainError(
                f"The loss is {loss} at step {state.global_step}, and the last checkpoint is kept; take a smaller "
                "learning_rate."
            )
        for name in ("loss", "reward"):  # the second, of grpo, says more
            if (figure := (logs or {}).get(name)) is not None:
                self._listener.note(f"{name} {float(figure):.3f}")

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        rows = math.ceil(state.global_step * self._used)
        place = self._data.state_after(rows) if isinstance(self._data, StreamRows) else {"rows": rows}
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        torch.save({"cpu": torch.get_rng_state(), "cuda": torch.cuda.get_rng_state_all()}, folder / RANDOM)
        write_json(folder / STATE, place)
