"""Sources and folders that the tests of a whole build share."""

import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

Tree = Callable[[Path], dict[str, str]]


@pytest.fixture(scope="session")
def tree() -> Tree:
    """Every file of a folder and the hash of its bytes."""
    return lambda folder: {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def jpeg(color: str, size: tuple[int, int] = (64, 48)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, color).save(buffer, "JPEG")
    return buffer.getvalue()


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    """A Parquet file with good and bad pairs, one of each kind."""
    good = "The old man was reading a long book before the evening came."
    rows = [
        ("good", jpeg("red"), good),
        ("good-2", jpeg("blue"), good),
        ("copy", jpeg("red"), good),
        ("no-image", None, good),
        ("no-caption", jpeg("red"), " "),
        ("short", jpeg("red"), "Two words"),
        ("sensitive", jpeg("red"), f"{good} It was a massacre."),
        ("garbage", b"garbage", good),
        ("truncated", jpeg("red", (640, 480))[:400], good),
        ("tiny", jpeg("red", (8, 8)), good),
        ("tall", jpeg("red", (30, 600)), good),
        ("no-glyph", jpeg("red"), f"\U000131a0 {good}"),
        ("no-ngram", jpeg("red"), "Paris, Rome, London, Oslo, Madrid"),
        ("greek", jpeg("green"), "ένα παλιό λιμάνι με βάρκες και γλάρους"),
    ]
    file = tmp_path / "pairs.parquet"
    ids, images, captions = zip(*rows, strict=True)
    pq.write_table(pa.table({"id": ids, "image": pa.array(images, pa.binary()), "caption": captions}), file)
    return file
