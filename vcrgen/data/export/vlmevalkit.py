"""VLMEvalKit: one TSV a part and kind of image, with the columns of its ``VCR_*`` datasets.

Facts about VLMEvalKit (``vlmeval/dataset``) that decide the names here:

- ``--data NAME`` with a name it does not know reads ``LMUData/NAME.tsv``. The names of its own datasets
  (``VCR_EN_EASY_ALL``, ``_500``, ``_100``) always mean the published files.
- An unknown name without ``openended`` is prompted as multiple choice.
- ``EN`` anywhere in the name, in capitals, makes its scorer take the English tokens.
- It keeps decoded images as ``LMUData/images/NAME/INDEX.jpg`` and does not look whether the TSV has changed, so two
  datasets may never share a name.
"""

import base64
import contextlib
import csv
import re
from pathlib import Path

from vcrgen.data.export.base import ExportJob, Part, readme, template
from vcrgen.data.views import View

COLUMNS = ("index", "image", "question", "answer", "question_id", "view", "mode")
KINDS = {"": View.STACKED, "TEI_": View.TEI}
"""Part of the name, and the shown image: VI+TEI as published, and TEI only."""


def dataset_name(job: ExportJob, part: Part, kind: str) -> str:
    """Name of a TSV without its extension, which is also the name VLMEvalKit knows the data by."""
    # Eight hex digits of the dataset's identity, so that two datasets do not get the same name.
    manifest = job.dataset.manifest
    tag = re.sub(r"[^0-9a-f]", "", str(manifest.fingerprint) if manifest else job.dataset.identity)[:8]
    # The split in small letters: `OPEN` has an `EN`.
    return f"VCR_{job.language.code.upper()}_{part.mode.upper()}_{kind}{part.split.lower()}_{tag}_openended"


def write_vlmevalkit(job: ExportJob, folder: Path) -> str:
    """Write the files; see the module."""
    for part in job.parts:
        _write_part(job, part, folder)
    return readme(job, template("vlmevalkit.md", example=dataset_name(job, job.example, "")))


def _write_part(job: ExportJob, part: Part, folder: Path) -> None:
    columns = ("question_id", "question", "crossed_text", *(view.column for view in KINDS.values()))
    with contextlib.ExitStack() as stack:
        tables, handles = {}, {}
        for kind, view in KINDS.items():
            file = folder / f"{dataset_name(job, part, kind)}.tsv"
            handles[view] = handle = stack.enter_context(file.open("x", encoding="utf-8", newline=""))
            tables[view] = csv.writer(handle, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_ALL)
            tables[view].writerow(COLUMNS)
        for row in job.rows(part, columns=columns):
            end = (row.text("question"), repr(row.answers), row.text("question_id"))
            for view, table in tables.items():
                image = base64.b64encode(row.image(view.column)).decode("ascii")
                # The writer would look at each letter of the image for quotes.
                handles[view].write(f'"{row.number}"\t"{image}"\t')
                table.writerow((*end, view.value, part.mode))
