"""A resumable training in a folder, by TRL.

An unfinished one holds ``.vcrgen-finetune`` with the plan and TRL's checkpoints. A finished one holds the adapter,
``train.jsonl`` (what TRL logged of every step) and, written last, ``run.json``.
"""

import hashlib
import json
import platform
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vcrgen.core.errors import ConfigError, OutputError, PipelineError
from vcrgen.core.extras import needs_extra
from vcrgen.core.files import canonical_json, output_errors, write_json, write_text
from vcrgen.core.folder import PLAN, WorkFolder
from vcrgen.core.progress import SILENT, ProgressListener
from vcrgen.core.reading import read_json
from vcrgen.core.storage import DiskFolder, remote_url
from vcrgen.models.loading import (
    ADAPTER_CONFIG,
    ADAPTER_WEIGHTS,
    check_adapter,
    check_model,
    folder_digest,
    load_model,
    silence_transformers,
)
from vcrgen.train.data import StreamRows, open_training_data
from vcrgen.train.options import TrainOptions, read_recipe

WORK = ".vcrgen-finetune"
LOG, REPORT = "train.jsonl", "run.json"
VERSION = "vcrgen-finetune-3"
PACKAGES = ("torch", "transformers", "peft", "schedulefree", "trl")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainResult:
    """A finished training."""

    path: Path  # the adapter's folder
    steps: int
    log: list[dict[str, Any]]  # what TRL logged of every step, as loss or reward
    was_complete: bool  # whether it was finished before


def finetune(
    source: str, *, model: Path, out: Path, options: TrainOptions, listener: ProgressListener = SILENT
) -> TrainResult:
    """Train a LoRA adapter of a model; the same call resumes an interrupted training.

    Args:
        source: A dataset with a split ``train``, or pairs as ``vcrgen build`` takes them.
        model: Folder of a model of transformers that reads images and has a chat template.
        out: Folder of the adapter: new, empty, or of the same training.
        options: Options; all but steps and device have to stay the same in an unfinished training.

    Raises:
        VcrgenError: The user can mend it.
        KeyboardInterrupt: The user interrupts; the last checkpoint is kept.
    """
    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        raise PipelineError(needs_extra("Fine-tuning", "train", *missing))
    if url := remote_url(out.as_posix()):
        raise OutputError(f"{url} is no folder of this machine; train into one, and copy the adapter there.")
    place = WorkFolder(DiskFolder(out), WORK, making="training")
    with output_errors(out):
        if not (out / REPORT).is_file():  # before a large model is loaded
            place.check_out()
    recipe = read_recipe(options.recipe)
    if options.adapter is not None:
        check_adapter(options.adapter)
    check_model(model)
    listener.stage("reading the pairs")
    data = open_training_data(source, options, recipe.stream)
    listener.stage("loading the model", is_long=True)
    loaded = load_model(model, device=options.device, trust_remote_code=options.trust_remote_code)
    from vcrgen.train.trainer import checkpoint_of, make_trainer

    fields = dict(getattr(recipe, options.method))
    steps = options.steps or fields["max_steps"]
    del fields["max_steps"]  # a training may be prolonged
    if type(steps) is not int or steps < 1:
        raise ConfigError(f"max_steps of the recipe is {steps!r}; give a count of at least 1.")
    facts = {
        **options.model_dump(mode="json", exclude={"adapter", "recipe", "device", "steps"}),
        **{name: version(name) for name in ("vcrgen", *PACKAGES)},
        "recipe": {"lora": recipe.lora, options.method: fields, "stream": recipe.stream},
        "format": VERSION,
        "data": data.identity,
        "model": loaded.facts["digest"],
        "adapter": options.adapter and folder_digest(options.adapter),
    }
    fingerprint = hashlib.sha256(canonical_json(facts).encode()).hexdigest()
    with output_errors(out):
        if (result := _finished(out, fingerprint, steps)) is not None:
            return result
        with place.locked():
            work = place.folder.local_path
            assert work is not None
            if checkpoint_of(work) is None:  # a run that did nothing binds nobody to its options
                (work / PLAN).unlink(missing_ok=True)
            place.freeze({"fingerprint": fingerprint, "facts": facts})
            try:
                with silence_transformers():
                    last = checkpoint_of(work)
                    if last and isinstance(data, StreamRows):
                        data.go_on_from(last.place)
                    trainer = make_trainer(
                        loaded, data, options, recipe, folder=work, checkpoint=last, listener=listener
                    )
                    listener.stage("")
                    listener.begin(trainer.args.max_steps, last.step if last else 0)
                    trainer.train(resume_from_checkpoint=str(last.folder) if last else None)
                    trainer.model.peft_config["default"].base_model_name_or_path = model.resolve().name
                    trainer.model.save_pretrained(work / "adapter")
            except BaseException:
                if checkpoint_of(work) is None:
                    place.clear()
                raise
            for name in (ADAPTER_CONFIG, ADAPTER_WEIGHTS):  # whole, and without peft's README, a form without entries
                (work / "adapter" / name).replace(out / name)
        log = [entry for entry in trainer.state.log_history if "train_runtime" not in entry]
        write_text(out / LOG, "".join(json.dumps(entry) + "\n" for entry in log))
        report = {"fingerprint": fingerprint, "run": facts, "steps": trainer.state.global_step}
        write_json(out / REPORT, report | {"device": loaded.facts["device"], "python": platform.python_version()})
        place.folder.remove()
    return TrainResult(path=out, steps=trainer.state.global_step, log=log, was_complete=False)


def _finished(out: Path, fingerprint: str, steps: int) -> TrainResult | None:
    """A finished training of the same plan; an OutputError for another plan."""
    if not (out / REPORT).is_file():
        return None
    with suppress(KeyError, TypeError, ValueError, OSError):
        report = read_json(out / REPORT, OutputError)
        if report["fingerprint"] == fingerprint and report["steps"] == steps:
            log = [json.loads(line) for line in (out / LOG).read_text("utf-8").splitlines()]
            return TrainResult(path=out, steps=report["steps"], log=log, was_complete=True)
    raise OutputError(
        f"{out} holds another finished training (other model, data, options or versions); choose another --out."
    )
