"""Sources and folders that the tests of a whole build share."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from tests.making import encoded, files_of, two_coloured

Tree = Callable[[Path], dict[str, str]]


@pytest.fixture(scope="session")
def tree() -> Tree:
    """Every file of a folder and the hash of its bytes."""
    return lambda folder: {name: hashlib.sha256(data).hexdigest() for name, data in files_of(folder).items()}


def jpeg(color: str, size: tuple[int, int] = (64, 48)) -> bytes:
    return encoded(two_coloured(size, color), "JPEG")


class Stop(Exception):
    """What stops a build."""


def stops(real: Callable[..., Any], *, after: int = 0) -> Callable[..., Any]:
    """A function that does what another one does, so many times, and then stops the build."""
    left = iter(range(after))

    def call(*args: Any, **kwargs: Any) -> Any:
        if next(left, None) is None:
            raise Stop
        return real(*args, **kwargs)

    return call


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    """A Parquet file with good and bad pairs, one of each kind."""
    return write_pairs(tmp_path / "pairs.parquet")


def write_pairs(file: Path) -> Path:
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
        ("blank", encoded(Image.new("RGB", (64, 48), "red"), "JPEG"), good),
        ("no-glyph", jpeg("red"), f"\U000131a0 {good}"),
        ("no-ngram", jpeg("red"), "Paris, Rome, London, Oslo, Madrid"),
        ("greek", jpeg("green"), "ένα παλιό λιμάνι με βάρκες και γλάρους"),
    ]
    ids, images, captions = zip(*rows, strict=True)
    pq.write_table(pa.table({"id": ids, "image": pa.array(images, pa.binary()), "caption": captions}), file)
    return file
