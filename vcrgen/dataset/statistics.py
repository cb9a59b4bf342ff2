"""What is in a built dataset: the figures of the paper's Table 4, and how much of the spans can be seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from vcrgen.dataset.manifest import Manifest
from vcrgen.errors import DatasetError
from vcrgen.records import Mode
from vcrgen.storage import Folder, open_folder
from vcrgen.text.languages import LANGUAGES, CoverTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Mean, standard deviation and the 5th and 95th percentile of one figure."""

    mean: float
    sd: float
    p05: float
    p95: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Summary:
        """The summary of some values; of none, all figures are 0."""
        array = np.fromiter(values, dtype=np.float64)
        if not array.size:
            return cls(mean=0.0, sd=0.0, p05=0.0, p95=0.0)
        p05, p95 = np.percentile(array, [5, 95])
        return cls(mean=float(array.mean()), sd=float(array.std()), p05=float(p05), p95=float(p95))


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitStatistics:
    """One split in one mode.

    Attributes:
        rows: Pairs.
        spans: All masked spans.
        height: Of the stacked image, in pixels.
        spans_per_image: Masked spans of a pair.
        caption_length: Characters of the shown caption.
        visible_ink: Of a span, 0 to 1.
        outside: Spans whose visible ink is outside of the band around the mode's target.
    """

    rows: int
    spans: int
    height: Summary
    spans_per_image: Summary
    caption_length: Summary
    visible_ink: Summary
    outside: int


COLUMNS = ["strip_y", "strip_height", "caption", "spans.list.element.visible_ink"]


def dataset_statistics(dataset: str | Path | Folder, manifest: Manifest) -> dict[tuple[str, str], SplitStatistics]:
    """The figures of every mode and split of a finished dataset.

    Raises:
        DatasetError: A data file is missing or damaged.
    """
    folder = open_folder(dataset)
    groups: dict[tuple[str, str], list[str]] = {}
    for file in manifest.files:
        groups.setdefault((file.mode, file.split), []).append(file.path)
    try:
        covers = LANGUAGES[manifest.config["lang"]].covers
        return {key: split_statistics(folder, files, covers[Mode(key[0])]) for key, files in groups.items()}
    except (OSError, pa.ArrowException) as error:
        raise DatasetError(f"{folder} is damaged: {str(error).splitlines()[0]}") from None


def split_statistics(folder: Folder, files: Sequence[str], cover: CoverTarget) -> SplitStatistics:
    """Read the small columns of some Parquet files of a folder; no image is read."""
    heights: list[int] = []
    counts: list[int] = []
    lengths: list[int] = []
    ink: list[float] = []
    for columns in folder.each(lambda file: _small_columns(folder, file), files):
        heights += [y + height for y, height in zip(columns["strip_y"], columns["strip_height"], strict=True)]
        counts += map(len, columns["spans"])
        lengths += map(len, columns["caption"])
        ink += [span["visible_ink"] for spans in columns["spans"] for span in spans]
    return SplitStatistics(
        rows=len(heights),
        spans=len(ink),
        height=Summary.of(heights),
        spans_per_image=Summary.of(counts),
        caption_length=Summary.of(lengths),
        visible_ink=Summary.of(ink),
        outside=sum(not cover.holds(value) for value in ink),
    )


def _small_columns(folder: Folder, file: str) -> dict[str, list[Any]]:
    with folder.open(file) as handle, pq.ParquetFile(handle, pre_buffer=False) as parquet:
        columns: dict[str, list[Any]] = parquet.read(columns=COLUMNS, use_threads=False).to_pydict()
    return columns
