"""What tests make and look into: encoded images, tar files, rows and files of datasets."""

import io
import json
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from PIL import Image


def encoded(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    """An image as a file."""
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def two_coloured(size: tuple[int, int], color: str | tuple[int, int, int]) -> Image.Image:
    """A picture of a colour with a white corner; without it, it would be blank."""
    image = Image.new("RGB", size, color)
    image.paste("white", (0, 0, size[0] // 2, size[1] // 2))
    return image


def pixels(data: bytes, mode: str = "RGB") -> Any:
    """The pixels of an image file."""
    return np.asarray(Image.open(io.BytesIO(data)).convert(mode))


def tar_of(members: Iterable[tuple[str, bytes]], compression: str = "") -> bytes:
    """A tar file of names and contents."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}") as archive:
        for name, data in members:
            add_member(archive, name, data)
    return buffer.getvalue()


def add_member(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """Every row of the Parquet files in a folder, by the names of these."""
    return [row for file in sorted(folder.glob("*.parquet")) for row in pq.read_table(file).to_pylist()]


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file in a folder and below it."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def outputs_by_ink(dataset: Path, file: Path, least: float) -> None:
    """Write outputs that restore the spans of which more than a share of the ink is visible."""
    with file.open("w", encoding="utf-8") as lines:
        for table in sorted(dataset.glob("ink-*/*.parquet")):
            for row in pq.read_table(table, columns=["question_id", "mode", "spans"]).to_pylist():
                said = "\n".join(span["text"] if span["visible_ink"] > least else "no" for span in row["spans"])
                line = {"question_id": row["question_id"], "mode": row["mode"], "view": "stacked", "output": said}
                lines.write(json.dumps(line) + "\n")
