"""WebDataset: uncompressed tar shards in which the files of one pair stand together and share a key."""

import io
import tarfile
from pathlib import Path

from vcrgen.publish.export.base import MASK, MAX_GROUP, SHORT_NAMES, ExportJob, FileNames, Part, readme, template

MAX_SHARD_BYTES = 500_000_000


def write_webdataset(job: ExportJob, folder: Path) -> str:
    """Write ``MODE-SPLIT-000000.tar`` and so on; the same rows give the same bytes.

    Members of a pair: ``KEY.image.png``, ``KEY.stacked.png``, ``KEY.tei.png``, ``KEY.strip.png`` (or ``.webp``),
    ``KEY.mask.png`` where the dataset has a mask of its covers, and ``KEY.json``, which holds all other columns. A
    shard has at most 1,000 pairs and, unless it has only one, 500 MB.
    """
    for part in job.parts:
        _write_part(job, part, folder)
    return readme(job, template("webdataset.md", example=job.example))


def _write_part(job: ExportJob, part: Part, folder: Path) -> None:
    rows = job.rows(part)
    row = next(rows, None)
    shard = 0
    while row is not None:
        names, size, count = FileNames(), 0, 0
        with tarfile.open(folder / f"{part}-{shard:06d}.tar", "x:", format=tarfile.USTAR_FORMAT) as archive:
            while row is not None and count < MAX_GROUP:
                images = {short: row.image(column) for column, short in (SHORT_NAMES | MASK).items() if row.has(column)}
                members = {f"{short}.{image.extension}": image.data for short, image in images.items()}
                members["json"] = row.as_json().encode("utf-8")
                weight = sum(map(len, members.values()))
                if count and size + weight > MAX_SHARD_BYTES:
                    break
                key = names.name(row)
                for extension, data in sorted(members.items()):
                    info = tarfile.TarInfo(f"{key}.{extension}")  # no owner, no date
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))
                size, count = size + weight, count + 1
                row = next(rows, None)
        shard += 1
