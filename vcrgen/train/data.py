"""Rows for a trainer: of a stream over pairs, or of the training split of a dataset."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from vcrgen.builder.stream import VCRStream
from vcrgen.core.errors import ConfigError, DatasetError, ManyDatasetsError, SourceError
from vcrgen.core.records import Mode
from vcrgen.core.storage import open_folder
from vcrgen.data.manifest import MANIFEST
from vcrgen.data.reader import Dataset, open_dataset
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.vcr import VCR, fill_metadata
from vcrgen.data.views import View
from vcrgen.train.forms import rows
from vcrgen.train.options import TrainOptions

TRAINING = "train"  # the split for training
# States of a stream that are kept: a trainer reads less than this many rows ahead of its last step.
_KEPT_STATES = 1 << 14


@dataclass
class StreamRows:
    """The rows of a stream, with its state after each of the last ones, as trainers read ahead of what they use."""

    stream: VCRStream
    form: str
    _count: int = 0  # rows that were read
    _states: deque[tuple[int, dict[str, Any]]] = field(default_factory=lambda: deque(maxlen=_KEPT_STATES))

    @property
    def lang(self) -> str:
        """The language of the answers."""
        return self.stream.config.lang

    @property
    def identity(self) -> str:
        """What decides the rows, as a hash."""
        return str(self.stream.state_dict()["fingerprint"])

    def __call__(self) -> Iterator[dict[str, Any]]:
        """The rows from the stream's position on."""
        for row in rows(self.stream, self.form):
            self._count += 1
            self._states.append((self._count, self.stream.state_dict()))
            yield row

    def state_after(self, used: int) -> dict[str, Any]:
        """The place from which a training goes on that has used this many rows."""
        state = next((state for count, state in self._states if count == used), self.stream.state_dict())
        return {"rows": used, "stream": state}

    def go_on_from(self, state: Mapping[str, Any]) -> None:
        """Continue from a place."""
        self._count = int(state["rows"])
        self.stream.load_state_dict(state["stream"])


@dataclass(frozen=True)
class StoredRows:
    """The rows of a dataset's training split, in the dataset's order."""

    dataset: Dataset
    view: View
    lang: str

    @property
    def identity(self) -> str:
        """What decides the rows, as a hash."""
        return self.dataset.identity

    def __call__(self, limit: int) -> Iterator[dict[str, Any]]:
        """The first rows, with encoded images.

        Raises:
            DatasetError: A file cannot be read, or a row lacks its image or answers.
        """
        columns = (VCR.identifier, self.view.column, VCR.answers, "question")
        for place, row in islice(self.dataset.rows(columns), limit):
            answers, data = row[VCR.answers], image_bytes(row[self.view.column])
            if not answers or not all(isinstance(text, str) and text for text in answers) or not data:
                raise DatasetError(f"{place} has no answers or no image to learn from; build the dataset again.")
            yield {
                "prompt": [{"role": "user", "content": row["question"]}],
                "completion": [{"role": "assistant", "content": "\n".join(answers)}],
                "image": {"bytes": data, "path": None},
                "answers": answers,
            }


def open_training_data(source: str, options: TrainOptions, of_pairs: Mapping[str, Any]) -> StreamRows | StoredRows:
    """Open a dataset or pairs.

    Args:
        source: A dataset with a split ``train``, or pairs as of ``vcrgen build``.
        options: Mode, view, language, seed and form.
        of_pairs: Further fields of `vcrgen.builder.options.BuildConfig`, for pairs only.

    Raises:
        ConfigError: The dataset has no such split or mode, or options of pairs were given with it.
        DatasetError: The source is the public part of a hidden set, damaged, or a folder of several datasets.
        SourceError: The pairs cannot be read.
    """
    view = View(options.view)
    dataset = _dataset_at(source, view)
    if dataset is None:
        level = None if options.mode == "both" else Mode(options.mode).ink
        masking: dict[str, Any] = {"mode": options.mode} if level is None else {"ink": level}
        if options.mode.startswith("bits-") and "cover" not in of_pairs:
            raise ConfigError(
                f"Pairs under mode {options.mode} need covers that hide whole letters: a --recipe with the line "
                "`stream: {cover: bars}`."
            )
        own = {"lang": options.lang, "seed": options.seed, **of_pairs}
        try:
            stream = VCRStream(source, **masking, views=(view,), rank=0, world_size=1, **own)
        except SourceError:
            _reject_several(source)
            raise
        return StreamRows(stream, options.method)
    if of_pairs:
        raise ConfigError(f"{next(iter(of_pairs))} of the recipe's stream: is for pairs, and {source} is a dataset.")
    selected = fill_metadata(dataset, mode=None if options.mode == "both" else options.mode, split=TRAINING)
    row = next((row for _, row in selected.rows((), optional=("language",), limit=1)), None)
    if row is None:
        raise DatasetError(f"{dataset} has no row to learn from.")
    return StoredRows(selected, view, str(row.get("language") or options.lang))


def _dataset_at(source: str, view: View) -> Dataset | None:
    """Open the dataset at a source; None for pairs."""
    try:
        dataset = open_dataset(source, VCR)
    except (DatasetError, OSError, ValueError):
        if MANIFEST in _entries(source):
            raise
        return None
    if dataset.manifest is not None:
        return dataset
    if dataset.is_hidden:  # or a folder of images with their captions
        return dataset if MANIFEST in _entries(source) else None
    try:
        next(dataset.rows((view.column, VCR.answers), limit=1), None)
    except DatasetError:
        return None
    return dataset


def _reject_several(source: str) -> None:
    """Raise an error that lists the datasets in a folder, if there are several."""
    try:
        open_dataset(source, VCR)
    except ManyDatasetsError as several:
        raise several from None
    except (DatasetError, OSError, ValueError):
        return


def _entries(source: str) -> list[str]:
    try:
        return open_folder(source).entries()
    except (OSError, ValueError):
        return []
