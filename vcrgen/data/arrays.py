"""Rows to Arrow: joined buffers instead of values one by one, and without pandas, which pyarrow imports for lists."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

MAX_OFFSET = (1 << 31) - 1  # of a value in the joined ones


def record_batch(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    """The rows in the columns of a schema; what a row lacks is null, and what the schema lacks is left out.

    Args:
        rows: At least one.
        schema: Of texts, bytes, numbers, lists of these and records of these.
    """
    return pa.RecordBatch.from_arrays(
        [_array([row.get(column.name) for row in rows], column.type) for column in schema], schema=schema
    )


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    present = np.array([value is not None for value in values], dtype=bool)
    validity = None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))
    if pa.types.is_struct(kind):
        records = [{} if value is None else value for value in values]
        children = [_array([record.get(part.name) for record in records], part.type) for part in kind]
        return pa.Array.from_buffers(kind, len(values), [validity], children=children)
    if pa.types.is_list(kind):
        lists = [() if value is None else value for value in values]
        items = _array([*chain.from_iterable(lists)], kind.value_type)
        return pa.Array.from_buffers(kind, len(values), [validity, _offsets(lists)], children=[items])
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        texts = [b"" if value is None else value.encode() if isinstance(value, str) else value for value in values]
        return pa.Array.from_buffers(kind, len(values), [validity, _offsets(texts), pa.py_buffer(b"".join(texts))])
    numbers = np.array([0 if value is None else value for value in values], dtype=kind.to_pandas_dtype())
    packed = np.packbits(numbers, bitorder="little") if pa.types.is_boolean(kind) else numbers
    return pa.Array.from_buffers(kind, len(values), [validity, pa.py_buffer(packed)])


def _offsets(values: Sequence[Sequence[Any]]) -> pa.Buffer:
    """Where each value begins in the joined ones, and the end.

    Raises:
        OverflowError: The values hold 2 GiB or more.
    """
    ends = np.cumsum([0, *map(len, values)], dtype=np.int64)
    if ends[-1] > MAX_OFFSET:
        raise OverflowError(f"{ends[-1]} bytes are too many for a batch of rows")
    return pa.py_buffer(ends.astype(np.int32))
