"""A training in a folder: begun, interrupted, gone on with, finished.

While it is under way, the folder holds ``train.jsonl`` and, in ``.vcrgen-finetune``, the plan and the checkpoint. In
the end it holds the adapter, ``README.md``, ``train.jsonl`` and, written last, ``run.json``.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vcrgen.config import TrainOptions
from vcrgen.errors import OutputError, TrainError
from vcrgen.files import canonical_json, output_errors, write_json, write_text
from vcrgen.models.local import LocalChoice, load_local, model_digest
from vcrgen.reading import one_line, read_json
from vcrgen.storage import DiskFolder
from vcrgen.train.adapter import add_adapter, save_adapter
from vcrgen.train.checkpoint import CHECKPOINT, Counts
from vcrgen.train.data import open_training_data
from vcrgen.train.encoding import Encoder, read_template
from vcrgen.train.loop import Loop
from vcrgen.work.folder import PLAN, WorkFolder
from vcrgen.work.watcher import Watcher

WORK = ".vcrgen-finetune"
LOG, REPORT, CARD = "train.jsonl", "run.json", "README.md"
VERSION = "vcrgen-finetune-1"
PACKAGES = ("vcrgen", "torch", "transformers", "peft", "schedulefree")
# Options that change no weight but for rounding; another run of the same training may have others.
FREE = {"steps", "micro_batch", "gradient_checkpointing", "save_every"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainResult:
    """A finished training.

    Attributes:
        path: The adapter's folder.
        counts: How far it went, and with what loss.
        was_complete: Whether it was there already, so that nothing was done.
    """

    path: Path
    counts: Counts
    was_complete: bool


def finetune(
    model: Path,
    source: str,
    *,
    out: Path,
    options: TrainOptions,
    of_pairs: Mapping[str, Any] | None = None,
    local: LocalChoice | None = None,
    watcher: Watcher | None = None,
) -> TrainResult:
    """Fine-tune a model by LoRA. Interrupted or killed, the same call goes on where it was.

    On a processor, a training that was interrupted ends with the same adapter to the byte as one that was not.

    Args:
        model: Folder of a model of transformers that reads pictures and has a chat template.
        source: A dataset with a split ``train``, or pairs as ``vcrgen build`` takes them.
        out: Folder of the adapter: new, empty, or of the same training.
        options: How it is trained. What the weights hang on may not change in an unfinished training.
        of_pairs: Fields of :class:`vcrgen.config.BuildConfig`, for pairs.
        local: On which device, and in which type of numbers.
        watcher: Told of the progress.

    Raises:
        VcrgenError: The user can mend it.
        KeyboardInterrupt: The user interrupts; what was done is kept.
    """
    return _Run(model, source, out, options, of_pairs or {}, local or LocalChoice(), watcher or Watcher()).run()


class _Run:
    def __init__(
        self, model: Path, source: str, out: Path, options: TrainOptions, of_pairs: Mapping[str, Any],
        local: LocalChoice, watcher: Watcher,
    ) -> None:  # fmt: skip
        _check_packages()
        self._model, self._out, self._options, self._local, self._watcher = model, out, options, local, watcher
        self._template = read_template(options.chat_template) if options.chat_template else None
        self._place = WorkFolder(DiskFolder(out), WORK, making="training")
        watcher.stage("reading the data's layout")
        self._data = open_training_data(source, options, of_pairs)
        watcher.stage("reading the model")
        own = options.model_dump(mode="json", exclude={*FREE, "chat_template"})
        template = self._template and hashlib.sha256(self._template.encode()).hexdigest()
        self._facts = {
            "format": VERSION, **{name: version(name) for name in PACKAGES}, "model": model_digest(model),
            "dtype": local.dtype, "chat_template": template, **own, **self._data.facts,
        }  # fmt: skip
        self._fingerprint = hashlib.sha256(canonical_json(self._facts).encode()).hexdigest()

    def run(self) -> TrainResult:
        with output_errors(self._out):
            counts = self._finished()
            was_complete = counts is not None
            if counts is None:
                self._place.check_out()
                with self._place.locked():
                    counts = self._train()
            self._place.folder.remove()
        return TrainResult(path=self._out, counts=counts, was_complete=was_complete)

    def _finished(self) -> Counts | None:
        """How far a finished training of the same plan went; a finished one of another plan is an error."""
        if not (self._out / REPORT).is_file():
            return None
        with suppress(KeyError, TypeError):
            report = read_json(self._out / REPORT, OutputError)
            counts = Counts(**report["counts"])
            if report["fingerprint"] == self._fingerprint and counts.step == self._options.steps:
                return counts
        raise OutputError(
            f"{self._out} holds another finished training (other model, data, options or versions); choose another "
            "--out."
        )

    def _train(self) -> Counts:
        """Train, and write the adapter; where there is no checkpoint in the end, nothing is left behind."""
        work = self._place.folder.disk
        assert work is not None
        checkpoint, log = work / CHECKPOINT, self._out / LOG
        try:
            if not checkpoint.exists():  # a run that did nothing binds nobody to its options
                (work / PLAN).unlink(missing_ok=True)
            self._place.freeze({"fingerprint": self._fingerprint, "facts": self._facts})
            self._watcher.stage("loading the model")
            loaded = load_local(self._model, self._local)
            encoder = Encoder(loaded.processor, loaded.end_tokens, self._template)
            self._check_examples(encoder)
            adapted = add_adapter(loaded.model, self._options)
            loop = Loop(adapted, encoder, self._data.examples, self._options, checkpoint=checkpoint, log=log)
            if loop.counts.step > self._options.steps:
                raise OutputError(
                    f"The unfinished training in {self._out} has done {loop.counts.step:,} steps already; give --steps "
                    f"of at least that, or remove {work}."
                )
            self._watcher.stage("")
            loop.run(self._watcher)
        finally:
            if not checkpoint.exists():
                log.unlink(missing_ok=True)
                self._place.clear()
        self._watcher.stage("writing the adapter")
        save_adapter(adapted, self._out)
        write_text(self._out / CARD, self._card(loop.counts))
        write_json(self._out / REPORT, self._report(loop.counts))
        return loop.counts

    def _check_examples(self, encoder: Encoder) -> None:
        """See on the first example whether the model can learn from these at all."""
        examples = self._data.examples
        beginning = examples.state_dict()
        encoder.check(next(iter(examples)))
        examples.load_state_dict(beginning)

    def _card(self, counts: Counts) -> str:
        template = (files("vcrgen.train") / "card.md").read_text(encoding="utf-8")
        options = self._options
        return template.format(
            model=one_line(self._model.resolve().name), mode=options.mode, view=options.view, steps=f"{counts.step:,}",
            examples=f"{counts.examples:,}", rank=options.rank, alpha=options.alpha, rate=options.learning_rate,
            targets=options.targets, kind=self._data.kind,
        )  # fmt: skip

    def _report(self, counts: Counts) -> dict[str, Any]:
        return {
            "fingerprint": self._fingerprint,
            "run": self._facts,
            "options": {name: getattr(self._options, name) for name in sorted(FREE)},
            "python": platform.python_version(),
            "counts": asdict(counts),
        }


def _check_packages() -> None:
    """See that what the extra `train` brings is there, before anything is read."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise TrainError(f'Fine-tuning needs {", ".join(missing)}: pip install "vcrgen[train]".')
