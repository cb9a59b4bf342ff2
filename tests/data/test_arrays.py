"""Rows to Arrow, against pyarrow's own conversion."""

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.data.arrays import record_batch
from vcrgen.data.tasks.vcr import VCR

SCHEMA = VCR.schema(*VCR.features, *VCR.optional_features)
EXTRA = pa.schema([("flag", pa.bool_()), ("number", pa.float64())])
KINDS: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.string(): st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    pa.binary(): st.binary(max_size=5),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.float64(): st.floats(allow_nan=False),
    pa.bool_(): st.booleans(),
}


def values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    if pa.types.is_struct(kind):
        value: st.SearchStrategy[Any] = st.fixed_dictionaries({part.name: values(part.type) for part in kind})
    elif pa.types.is_list(kind):
        value = st.lists(values(kind.value_type), max_size=3)
    else:
        value = KINDS[kind]
    return st.none() | value


@pytest.mark.parametrize("schema", [SCHEMA, EXTRA], ids=["a dataset", "other types"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_as_pyarrow_converts_them(schema: pa.Schema, data: st.DataObject) -> None:
    row = st.fixed_dictionaries({}, optional={column.name: values(column.type) for column in schema})
    rows = data.draw(st.lists(row, min_size=1, max_size=10))
    batch = record_batch(rows, schema)
    batch.validate(full=True)
    assert batch.equals(pa.RecordBatch.from_pylist(rows, schema=schema), check_metadata=True)


def test_too_much_for_one_batch() -> None:
    class Huge(bytes):
        def __len__(self) -> int:
            return 2**31

    with pytest.raises(OverflowError, match="2147483648 bytes are too many"):
        record_batch([{"a": Huge()}], pa.schema([("a", pa.binary())]))
