"""Image files in folders, with a ``metadata.jsonl`` a split, as ``datasets`` reads them (``imagefolder``)."""

from pathlib import Path
from typing import Any

import yaml

from vcrgen.dataset.views import View
from vcrgen.publish.export.base import MASK, MAX_GROUP, SHORT_NAMES, ExportJob, FileNames, Part, readme, template

FIELDS = {
    "file_name": View.STACKED.column,
    "vi_file_name": "image",
    "tei_file_name": View.TEI.column,
    "strip_file_name": View.STRIP.column,
    "mask_file_name": "cover_mask",
}
"""Field of the metadata to image column. `datasets` makes ``image``, ``vi``, ``tei``, ``strip`` and ``mask`` of
them: the image that a loader takes by itself is the one that a model is asked about. ``file_name`` has to be the first,
for `datasets` 5.2 gives its file to whichever field comes first. Not every dataset has a mask."""


def write_imagefolder(job: ExportJob, folder: Path) -> str:
    """Write ``MODE/SPLIT/metadata.jsonl`` and, in folders of 1,000 pairs below it, the images."""
    for part in job.parts:
        place = folder / part.mode / part.split
        place.mkdir(parents=True)
        with (place / "metadata.jsonl").open("x", encoding="utf-8", newline="") as metadata:
            names = FileNames()
            for row in job.rows(part):
                if row.number % MAX_GROUP == 0:
                    names = FileNames()
                below, key, fields = f"{row.number // MAX_GROUP:05d}", names.name(row), {}
                (place / below).mkdir(exist_ok=True)
                for field, column in FIELDS.items():
                    if not row.has(column):  # such as the mask of covers
                        continue
                    image = row.image(column)
                    fields[field] = f"{below}/{key}.{(SHORT_NAMES | MASK)[column]}.{image.extension}"
                    with (place / fields[field]).open("xb") as file:
                        file.write(image.data)
                metadata.write(row.as_json(**fields) + "\n")
    return _head(job.parts) + readme(job, template("imagefolder.md", example=job.example))


def _head(parts: tuple[Part, ...]) -> str:
    """The YAML by which ``load_dataset(FOLDER, MODE)`` finds the splits, whatever they are called."""
    files: dict[str, list[dict[str, Any]]] = {}
    for part in parts:
        files.setdefault(part.mode, []).append({"split": part.split, "path": f"{part.mode}/{part.split}/**"})
    configs = [{"config_name": mode, "data_files": data_files} for mode, data_files in files.items()]
    return f"---\n{yaml.safe_dump({'configs': configs}, sort_keys=False)}---\n\n"
