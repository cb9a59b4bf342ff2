"""Compatibility of column types."""

import pyarrow as pa
import pytest

from vcrgen.data.tables import fits, image_bytes, narrowed
from vcrgen.data.tasks.vcr import VCR

STRING, LARGE = pa.string(), pa.large_string()
IMAGE = VCR.schema().field("image").type


@pytest.mark.parametrize(
    ("found", "expected", "fit"),
    [
        (LARGE, STRING, True),
        (pa.dictionary(pa.int8(), STRING), STRING, True),
        (pa.binary(), STRING, False),
        (pa.int64(), pa.int32(), True),
        (pa.bool_(), pa.int32(), False),
        (pa.float64(), pa.float32(), True),
        (pa.int32(), pa.float32(), False),
        (pa.list_(LARGE, 2), pa.list_(STRING), True),
        (pa.large_list(STRING), pa.list_(STRING), True),
        (pa.list_(pa.int8()), pa.list_(STRING), False),
        (STRING, pa.list_(STRING), False),
        (pa.binary(), IMAGE, True),
        (pa.struct([("bytes", pa.large_binary())]), IMAGE, True),
        (pa.struct([("path", STRING)]), IMAGE, False),
        (STRING, IMAGE, False),
        (pa.struct([("a", STRING), ("b", STRING)]), pa.struct([("a", STRING)]), True),
        (pa.struct([("b", STRING)]), pa.struct([("a", STRING)]), False),
        (pa.null(), STRING, False),
    ],
)
def test_types_of_the_same_kind(found: pa.DataType, expected: pa.DataType, fit: bool) -> None:
    assert fits(found, expected) is fit


def test_one_field_of_a_type() -> None:
    spans = VCR.schema().field("spans").type
    assert narrowed(spans, ["boxes", "x0"]) == pa.list_(
        pa.struct([("boxes", pa.list_(pa.struct([("x0", pa.int32())])))])
    )


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({"bytes": b"x", "path": None}, b"x"),
        (b"x", b"x"),
        ({"path": "x"}, None),
        (None, None),
        ("x", None),
        ({"bytes": "x"}, None),
    ],
)
def test_the_bytes_of_an_image(value: object, data: bytes | None) -> None:
    assert image_bytes(value) == data
