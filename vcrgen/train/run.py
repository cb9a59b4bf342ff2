"""A resumable training in a folder.

An unfinished one holds ``train.jsonl`` and, in ``.vcrgen-finetune``, the plan and the checkpoint. A finished one holds
the adapter, ``README.md``, ``train.jsonl`` and, written last, ``run.json``.
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

from vcrgen.core.errors import OutputError, PipelineError
from vcrgen.core.extras import needs_extra
from vcrgen.core.files import canonical_json, output_errors, write_json, write_text
from vcrgen.core.folder import PLAN, WorkFolder
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import ProgressListener
from vcrgen.core.reading import read_json, without_marks
from vcrgen.core.storage import DiskFolder, remote_url
from vcrgen.models.loading import check_adapter, folder_digest, load_model
from vcrgen.train.adapter import add_adapter, save_adapter
from vcrgen.train.checkpoint import CHECKPOINT, Counts
from vcrgen.train.data import open_training_data
from vcrgen.train.encoding import Encoder, read_template
from vcrgen.train.loop import Loop
from vcrgen.train.options import TrainOptions

WORK = ".vcrgen-finetune"
LOG, REPORT, CARD = "train.jsonl", "run.json", "README.md"
VERSION = "vcrgen-finetune-1"
PACKAGES = ("torch", "transformers", "peft", "schedulefree")
# Options that change no weight but for rounding; they may change when a training is resumed.
FREE = {"steps", "micro_batch", "gradient_checkpointing", "save_every", "device"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainResult:
    """A finished training.

    Attributes:
        path: The adapter's folder.
        counts: Its progress and loss.
        was_complete: Whether it was finished before.
        source: The data, in a line.
    """

    path: Path
    counts: Counts
    was_complete: bool
    source: str


def finetune(
    model: Path,
    source: str,
    *,
    out: Path,
    options: TrainOptions,
    of_pairs: Mapping[str, Any] | None = None,
    listener: ProgressListener | None = None,
) -> TrainResult:
    """Fine-tune a model by LoRA; the same call resumes an interrupted training.

    On a CPU, a resumed training gives the same adapter to the byte.

    Args:
        model: Folder of a model of transformers that reads images and has a chat template.
        source: A dataset with a split ``train``, or pairs as ``vcrgen build`` takes them.
        out: Folder of the adapter: new, empty, or of the same training.
        options: Options; all but `FREE` have to stay the same in an unfinished training.
        of_pairs: Fields of `vcrgen.builder.options.BuildConfig`, for pairs.
        listener: Receives the progress.

    Raises:
        VcrgenError: The user can mend it.
        KeyboardInterrupt: The user interrupts; what was done is kept.
    """
    _check_packages()
    if url := remote_url(out.as_posix()):
        raise OutputError(f"{url} is no folder of this machine; train into one, and copy the adapter there.")
    place = WorkFolder(DiskFolder(out), WORK, making="training")
    with output_errors(out):
        if not (out / REPORT).is_file():  # before a large model is loaded
            place.check_out()
    training = _Training(model, source, out, options, of_pairs or {}, listener or ProgressListener())
    with output_errors(out):
        counts = training.finished()
        was_complete = counts is not None
        if counts is None:
            with place.locked():
                counts = training.finished() or training.train(place)
        place.folder.remove()
    return TrainResult(path=out, counts=counts, was_complete=was_complete, source=training.source)


class _Training:
    """A loaded model with its data, and their training in the folder ``out``."""

    def __init__(
        self,
        model: Path,
        source: str,
        out: Path,
        options: TrainOptions,
        of_pairs: Mapping[str, Any],
        listener: ProgressListener,
    ) -> None:
        self._name, self._out, self._options, self._listener = model.resolve().name, out, options, listener
        template = read_template(options.chat_template) if options.chat_template else None
        if options.adapter is not None:
            check_adapter(options.adapter)
        listener.stage("reading the data's layout")
        self._data = open_training_data(source, options, of_pairs)
        listener.stage("loading the model")
        dtype = None if options.dtype == "auto" else options.dtype
        self._loaded = load_model(
            model, device=options.device, dtype=dtype, trust_remote_code=options.trust_remote_code
        )
        self._encoder = Encoder(self._loaded, template)
        self._facts = {
            **options.model_dump(mode="json", exclude=FREE | {"adapter"}),
            **self._data.facts,
            "format": VERSION,
            **{name: version(name) for name in ("vcrgen", *PACKAGES)},
            "model": self._loaded.facts["digest"],
            "dtype": self._loaded.facts["dtype"],
            "chat_template": template and hashlib.sha256(template.encode()).hexdigest(),
        }
        if options.adapter is not None:
            self._facts["adapter"] = folder_digest(options.adapter)
        self._fingerprint = hashlib.sha256(canonical_json(self._facts).encode()).hexdigest()

    @property
    def source(self) -> str:
        """Return what the examples are made of, in a line."""
        return self._data.source

    def finished(self) -> Counts | None:
        """Progress of a finished training of the same plan; an OutputError for another plan."""
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

    def train(self, place: WorkFolder) -> Counts:
        """Train and write the adapter; without a checkpoint, nothing is left behind."""
        work = place.folder.local_path
        assert work is not None
        checkpoint, log = work / CHECKPOINT, self._out / LOG
        try:
            if not checkpoint.exists():  # a run that did nothing binds nobody to its options
                (work / PLAN).unlink(missing_ok=True)
            place.freeze({"fingerprint": self._fingerprint, "facts": self._facts})
            if not checkpoint.exists():
                self._check_examples()
            adapted = add_adapter(self._loaded, self._options)
            loop = Loop(adapted, self._encoder, self._data.examples, self._options, checkpoint=checkpoint, log=log)
            if loop.counts.step > self._options.steps:
                raise OutputError(
                    f"The unfinished training in {self._out} has done {pluralize(loop.counts.step, 'step')} already; "
                    f"give --steps of at least that, or remove {work}."
                )
            self._listener.stage("")
            loop.run(self._listener)
        finally:
            if not checkpoint.exists():
                log.unlink(missing_ok=True)
                place.clear()
        self._listener.stage("writing the adapter")
        save_adapter(adapted, self._out, base=self._name)
        write_text(self._out / CARD, self._card(loop.counts))
        write_json(self._out / REPORT, self._report(loop.counts))
        return loop.counts

    def _check_examples(self) -> None:
        """Check on the first example whether the model can learn from the data."""
        examples = self._data.examples
        beginning = examples.state_dict()
        self._encoder.check(next(iter(examples)))
        examples.load_state_dict(beginning)

    def _card(self, counts: Counts) -> str:
        template = (files("vcrgen.train") / "card.md").read_text(encoding="utf-8")
        options = self._options
        return template.format(
            model=without_marks(self._name),
            mode=options.mode,
            view=options.view,
            steps=f"{counts.step:,}",
            examples=f"{counts.examples:,}",
            shape=self._shape(),
            rate=options.learning_rate,
            kind=self._data.kind,
        )

    def _shape(self) -> str:
        """Rows of the card about rank and layers."""
        if self._options.adapter is not None:
            return f"| begun from | {without_marks(self._options.adapter.resolve().name)}, an adapter |"
        rank = f"| rank, alpha | {self._options.rank}, {self._options.alpha} |"
        return f"{rank}\n| adapted layers | {self._options.targets} |"

    def _report(self, counts: Counts) -> dict[str, Any]:
        return {
            "fingerprint": self._fingerprint,
            "run": self._facts,
            "device": self._loaded.facts["device"],
            "options": self._options.model_dump(mode="json", include=FREE - {"device"}),
            "python": platform.python_version(),
            "counts": asdict(counts),
        }


def _check_packages() -> None:
    """Check the packages of the extra `train` before anything is read."""
    if missing := [name for name in PACKAGES if find_spec(name) is None]:
        raise PipelineError(needs_extra("Fine-tuning", "train", *missing))
