"""A small source with good and bad pairs in several files."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.making import encoded, two_coloured
from vcrgen.samples.pairs import caption

SIZES = (23, 9, 14)
BAD = {4: "no_caption", 11: "undecodable_image", 16: "no_maskable_ngram", 29: "undecodable_image", 45: "short_caption"}


def picture(number: int) -> bytes:
    return encoded(two_coloured((48, 20 + number % 7), (number, 255 - number, 3 * number % 256)), "JPEG")


@pytest.fixture(scope="session")
def bad() -> dict[int, str]:
    """Numbers of the pairs that cannot be used, and why."""
    return BAD


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A pattern of Parquet files."""
    folder = tmp_path_factory.mktemp("pairs")
    rows = [{"id": f"pair-{n}", "image": picture(n), "caption": caption("en", n)} for n in range(sum(SIZES))]
    for number, reason in BAD.items():
        if reason == "undecodable_image":
            rows[number]["image"] = b"garbage"
        elif reason != "no_maskable_ngram":  # that one is full of names
            rows[number]["caption"] = "" if reason == "no_caption" else "Two words"
    for number, size in enumerate(SIZES):
        start = sum(SIZES[:number])
        pq.write_table(pa.Table.from_pylist(rows[start : start + size]), folder / f"pairs-{number}.parquet")
    return str(Path(folder) / "*.parquet")
