"""A dataset in the formats of other tools. A new format is a module with one function and a row in :data:`FORMATS`."""

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from vcrgen.dataset.reader import Dataset
from vcrgen.errors import ConfigError
from vcrgen.files import write_text
from vcrgen.publish.export.base import Format, plan_job
from vcrgen.publish.export.imagefolder import write_imagefolder
from vcrgen.publish.export.lmms_eval import write_lmms_eval
from vcrgen.publish.export.questions import QUESTION_FORMATS, export_questions
from vcrgen.publish.export.vlmevalkit import write_vlmevalkit
from vcrgen.publish.export.webdataset import write_webdataset
from vcrgen.tasks import bloom
from vcrgen.tasks.opening import open_any
from vcrgen.work.folder import new_folder

FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "vlmevalkit": write_vlmevalkit,
        "lmms-eval": write_lmms_eval,
        "webdataset": write_webdataset,
        "imagefolder": write_imagefolder,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult:
    """What was written."""

    path: Path  # the new folder
    files: int  # number of files in it
    rows: int  # rows of the dataset; a pair counts once a mode


def export_dataset(
    dataset: Path, *, to: str, out: Path, mode: str | None = None, split: str | None = None
) -> ExportResult:
    """Write a dataset in another format; the same dataset gives the same bytes.

    Args:
        dataset: A dataset of any kind that :func:`vcrgen.dataset.reader.open_dataset` knows.
        to: A key of :data:`FORMATS`.
        out: A new or empty folder; it appears whole or not at all.
        mode: Only this mode; also names that of files that do not say it.
        split: Only this split, likewise.

    Raises:
        ConfigError: There is no such format, mode or split.
        DatasetError: The dataset is missing or damaged.
        OutputError: The folder holds something, or cannot be written.
    """
    if to not in FORMATS:
        near = difflib.get_close_matches(to, FORMATS, n=1)
        hint = f"; the nearest is {near[0]!r}" if near else ""
        raise ConfigError(f"Unknown format {to!r}{hint}. Known: {', '.join(FORMATS)}.")
    opened = open_any(dataset)
    if opened.kind.task == bloom.TASK:
        return _export_questions(opened, to=to, out=out, mode=mode, split=split)
    job = plan_job(opened, mode=mode, split=split)
    with new_folder(out) as folder:
        write_text(folder / "README.md", FORMATS[to](job, folder))
        files = _count_files(folder)
    rows = sum(job.dataset.select(mode=part.mode, split=part.split).count() for part in job.parts)
    return ExportResult(path=out, files=files, rows=rows)


def _export_questions(dataset: Dataset, *, to: str, out: Path, mode: str | None, split: str | None) -> ExportResult:
    if to not in QUESTION_FORMATS:
        raise ConfigError(f"A question set is not written as {to!r}; choose {' or '.join(QUESTION_FORMATS)}.")
    if mode is not None:
        raise ConfigError(f"{dataset} is a question set, which has no modes; leave --mode out.")
    with new_folder(out) as folder:
        text, rows = export_questions(dataset, to, folder, split=split)
        write_text(folder / "README.md", text)
        files = _count_files(folder)
    return ExportResult(path=out, files=files, rows=rows)


def _count_files(folder: Path) -> int:
    return sum(len(names) for _, _, names in os.walk(folder))
