"""A dataset in the formats of other tools."""

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

from vcrgen.errors import ConfigError
from vcrgen.files import write_text
from vcrgen.publish.export.base import plan_export
from vcrgen.publish.export.mcq import export_mcq
from vcrgen.publish.export_formats import EXPORT_FORMATS, FILE_FORMATS, MCQ_FORMATS
from vcrgen.resources import load_object
from vcrgen.tasks import bloom
from vcrgen.tasks.opening import open_task_dataset
from vcrgen.work.folder import new_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult:
    """The size of an export."""

    path: Path  # the new folder
    files: int  # number of files in it
    rows: int  # rows of the dataset; a pair counts once a mode


def export_dataset(
    dataset: Path, *, to: str, out: Path, mode: str | None = None, split: str | None = None
) -> ExportResult:
    """Write a dataset in another format; the same dataset gives the same bytes.

    Args:
        dataset: A dataset of any kind that :func:`vcrgen.tasks.opening.open_task_dataset` opens.
        to: A key of :data:`EXPORT_FORMATS`.
        out: A new or empty folder; it appears whole or not at all.
        mode: Only this mode; also the mode of files that do not state theirs.
        split: Only this split, likewise.

    Raises:
        ConfigError: There is no such format, mode or split.
        DatasetError: The dataset is missing or damaged.
        OutputError: The folder is not empty, or cannot be written.
    """
    if to not in EXPORT_FORMATS:
        known = [*EXPORT_FORMATS, *FILE_FORMATS]
        near = difflib.get_close_matches(to, known, n=1)
        hint = f"; the nearest is {near[0]!r}" if near else ""
        raise ConfigError(f"Unknown format {to!r}{hint}. Known: {', '.join(known)}.")
    opened, row = open_task_dataset(dataset), EXPORT_FORMATS[to]
    mcq = opened.kind.task == bloom.TASK
    if mcq and not row.write_mcq:
        raise ConfigError(f"An MCQ benchmark is not written as {to!r}; choose {' or '.join(MCQ_FORMATS)}.")
    if mcq and mode is not None:
        raise ConfigError(f"{opened} is an MCQ benchmark, which has no modes; leave --mode out.")
    job = None if mcq else plan_export(opened, mode=mode, split=split)
    with new_folder(out) as folder:
        if job is None:
            text, rows = export_mcq(opened, row, folder, split=split)
        else:
            text = load_object(row.write)(job, folder)
            rows = sum(job.dataset.select(mode=part.mode, split=part.split).count() for part in job.parts)
        write_text(folder / "README.md", text)
        files = sum(len(names) for _, _, names in os.walk(folder))
    return ExportResult(path=out, files=files, rows=rows)
