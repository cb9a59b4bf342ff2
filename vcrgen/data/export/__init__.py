"""A dataset in the formats of other tools."""

import difflib
import os
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from vcrgen.core.errors import ConfigError, DatasetError, OutputError
from vcrgen.core.files import indented_json, write_text
from vcrgen.core.folder import new_folder
from vcrgen.core.reading import read_json
from vcrgen.core.resources import load_object
from vcrgen.data.export.base import plan_export
from vcrgen.data.export.export_formats import EXPORT_FORMATS, FILE_FORMATS
from vcrgen.data.export.mcq import export_mcq
from vcrgen.data.tasks import bloom
from vcrgen.data.tasks.opening import open_task_dataset

RECORD = ".vcrgen-export.json"  # in a finished export: what it was made of


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult:
    """The size of an export."""

    path: Path  # the new folder
    files: int  # number of files in it
    rows: int  # rows of the dataset; a pair counts once a mode
    was_complete: bool = False  # it existed already


def export_dataset(
    dataset: Path, *, to: str, out: Path, mode: str | None = None, split: str | None = None
) -> ExportResult:
    """Write a dataset in another format; the same dataset gives the same bytes.

    Args:
        dataset: A dataset of any kind that `vcrgen.data.tasks.opening.open_task_dataset` opens.
        to: A key of `EXPORT_FORMATS`.
        out: A new or empty folder, which appears whole or not at all, or one with the same export.
        mode: Only this mode; also the mode of files that do not state theirs.
        split: Only this split, likewise.

    Raises:
        ConfigError: There is no such format, mode or split.
        DatasetError: The dataset is missing or damaged.
        OutputError: The folder is not empty, or cannot be written.
    """
    if to not in EXPORT_FORMATS:
        names = [*EXPORT_FORMATS, *FILE_FORMATS]
        near = difflib.get_close_matches(to, names, n=1)
        hint = f"; the nearest is {near[0]!r}" if near else ""
        raise ConfigError(f"Unknown format {to!r}{hint}. Known: {', '.join(names)}.")
    opened, row = open_task_dataset(dataset), EXPORT_FORMATS[to]
    mcq = opened.kind.task == bloom.TASK
    if mcq and mode is not None:
        raise ConfigError(f"{opened} is an MCQ benchmark, which has no modes; leave --mode out.")
    if mcq and row.write_mcq is None:
        takers = " or ".join(name for name, known in EXPORT_FORMATS.items() if known.write_mcq)
        raise ConfigError(f"{opened} is an MCQ benchmark, which goes to {takers} only.")
    if opened.is_hidden and not mcq:
        raise DatasetError(f"{opened} is the public part of a hidden test set, which has no answers to export.")
    job = None if mcq else plan_export(opened, mode=mode, split=split)
    facts = {"dataset": opened.identity, "to": to, "mode": mode, "split": split, "vcrgen": version("vcrgen")}
    if finished := _finished(out, facts):
        return finished
    with new_folder(out) as folder:
        if job is None:
            text, rows = export_mcq(opened, row, folder, split=split)
        else:
            text = load_object(row.write)(job, folder)
            rows = sum(job.dataset.select(mode=part.mode, split=part.split).count() for part in job.parts)
        write_text(folder / "README.md", text)
        files = sum(len(names) for _, _, names in os.walk(folder))
        write_text(folder / RECORD, indented_json({**facts, "files": files, "rows": rows}))
    return ExportResult(path=out, files=files, rows=rows)


def _finished(out: Path, facts: dict[str, str | None]) -> ExportResult | None:
    """Find a finished export of the same facts in the folder.

    Raises:
        OutputError: The folder holds another export.
    """
    if not (out / RECORD).is_file():
        return None
    record = read_json(out / RECORD, OutputError)
    if isinstance(record, dict) and {name: record.get(name) for name in facts} == facts:
        with suppress(KeyError, TypeError, ValueError):
            return ExportResult(path=out, files=int(record["files"]), rows=int(record["rows"]), was_complete=True)
    raise OutputError(f"{out} holds another export (of other data, options or versions); choose another --out.")
