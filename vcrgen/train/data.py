"""Training examples: a stream over pairs, or the training split of a dataset. Both are endless and resumable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol

import numpy as np

from vcrgen.builder.options import BuildConfig
from vcrgen.builder.shards import SHARD_ROWS, Task
from vcrgen.builder.stream import VCRStream
from vcrgen.builder.stream.order import Order
from vcrgen.builder.stream.stream import FILE_FIELDS
from vcrgen.core.errors import ConfigError, DatasetError, ManyDatasetsError, SourceError, StreamError
from vcrgen.core.options import spelling
from vcrgen.core.records import Mode
from vcrgen.core.storage import open_folder
from vcrgen.data.manifest import MANIFEST
from vcrgen.data.reader import Dataset, open_dataset
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.vcr import VCR, fill_metadata
from vcrgen.data.views import View
from vcrgen.models.base import RequestProblem
from vcrgen.models.pictures import decode_image
from vcrgen.train.options import TrainOptions

# Fields of builds that are options of the training, or do not affect a stream.
NOT_OF_STREAMS = {"mode", "seed", *FILE_FIELDS}
TRAINING = "train"
"""The split for training."""


class TrainingData(Protocol):
    """Endless examples: mappings with ``image``, ``question``, ``answers`` and ``question_id``."""

    def __iter__(self) -> Iterator[dict[str, Any]]: ...

    def state_dict(self) -> dict[str, Any]:
        """Position after the last example, as JSON values."""

    def load_state_dict(self, state: Any) -> None:
        """Continue from a position; a StreamError if it is one of other data."""


class StoredExamples:
    """The rows of a dataset as examples, shuffled in every epoch.

    Windows of up to 512 rows of a file come in random order, as do the rows of a window, which is in memory.

    Args:
        dataset: The dataset.
        view: The image.
        seed: Seed of the order.

    Raises:
        DatasetError: A file is missing or damaged, lacks a column, or there are no rows.
    """

    def __init__(self, dataset: Dataset, view: View, seed: int) -> None:
        self._columns = (VCR.identifier, view.column, VCR.answers, "question")
        dataset.check(self._columns)
        self._view, self._identity = view, dataset.identity
        self._files = [replace(dataset, files=(file,)) for file in dataset.files]
        starts = [
            (number, start, rows)
            for number, rows in enumerate(map(Dataset.count, self._files))
            for start in range(0, rows, SHARD_ROWS)
        ]
        tasks = [
            Task(index=index, partition=number, start=start, stop=min(start + SHARD_ROWS, rows))
            for index, (number, start, rows) in enumerate(starts)
        ]
        if not tasks:
            raise DatasetError(f"{dataset} has no row to learn from.")
        self._order = Order(tasks, seed=seed, shuffle=True)
        self._step = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield examples; a DatasetError if a file cannot be read, or a row lacks its image or answers."""
        while True:
            window, done = self._order.find(self._step)
            (task,) = self._order.runs(window)
            rows = list(self._files[task.partition].rows(self._columns, positions=range(task.start, task.stop)))
            for place, row in islice(self._order.shuffled_rows(window, rows), done, None):
                self._step += 1
                yield self._example(place, row)

    def _example(self, place: str, row: Mapping[str, Any]) -> dict[str, Any]:
        answers = row[VCR.answers]
        if not answers or not all(isinstance(text, str) and text for text in answers):
            raise DatasetError(f"{place} has no answers to learn; take a dataset with the column `{VCR.answers}`.")
        try:
            picture = decode_image(image_bytes(row[self._view.column]) or b"")
        except RequestProblem as problem:
            raise DatasetError(f"{place}, {self._view.column}: {problem.detail}; build the dataset again.") from None
        question, question_id = row["question"], row[VCR.identifier]
        return {
            "question_id": question_id,
            "image": np.asarray(picture),
            "question": question,
            "answers": answers,
        }

    def state_dict(self) -> dict[str, Any]:
        """Number of past examples and identity of the data."""
        return {"fingerprint": self._identity, "step": self._step}

    def load_state_dict(self, state: Any) -> None:
        """Continue from a position; a StreamError if it is one of other data."""
        if not isinstance(state, Mapping) or state.get("fingerprint") != self._identity:
            raise StreamError("The position is of other data; resume with the dataset that the training began with.")
        self._step = int(state["step"])


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedData:
    """Opened training data."""

    examples: TrainingData
    kind: str  # ``"stream of pairs"`` or ``"dataset"``
    source: str  # what is read, in a line
    facts: Mapping[str, Any]  # everything that the examples depend on, as JSON values


def open_training_data(source: str, options: TrainOptions, of_pairs: Mapping[str, Any]) -> OpenedData:
    """Open a dataset or pairs.

    Args:
        source: A dataset with a split ``train``, or pairs as of ``vcrgen build``.
        options: Mode, view and seed.
        of_pairs: Fields of `vcrgen.builder.options.BuildConfig`, for pairs only.

    Raises:
        ConfigError: The dataset has no such split or mode, or options of pairs were given with it.
        DatasetError: The source is the public part of a hidden set, damaged, or a folder of several datasets.
        SourceError: The pairs cannot be read.
    """
    view = View(options.view)
    dataset = _dataset_at(source, view)
    if dataset is None:
        level = None if options.mode == "both" else Mode(options.mode).ink
        masking = {"mode": options.mode} if level is None else {"ink": level}
        try:
            stream = VCRStream(source, **masking, views=(view,), rank=0, world_size=1, seed=options.seed, **of_pairs)
        except SourceError:
            _reject_several(source)
            raise
        settings = {name: value for name, value in stream.config.public_fields().items() if name not in NOT_OF_STREAMS}
        facts = _facts(stream, settings)
        return OpenedData(examples=stream, kind="stream of pairs", source=stream.source, facts=facts)
    if of_pairs:
        name = spelling(BuildConfig, next(iter(of_pairs)))
        raise ConfigError(f"{name} is for pairs, and {source} is a dataset, which is read as it is; leave it out.")
    selected = fill_metadata(dataset, mode=None if options.mode == "both" else options.mode, split=TRAINING)
    stored = StoredExamples(selected, view, options.seed)
    read = f"dataset, split {TRAINING}"
    return OpenedData(examples=stored, kind="dataset", source=read, facts=_facts(stored, {}))


def _facts(examples: TrainingData, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"data": examples.state_dict()["fingerprint"], **settings}


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
