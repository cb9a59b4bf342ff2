"""What the Parquet and the Arrow readers share: batches to rows, schemas to column paths."""

from collections.abc import Iterator
from typing import Any

from vcrgen.builder.sources.base import PROBLEM, ColumnPath, Row, first_line

BATCH_ROWS = 32
"""Rows decoded at a time: images of a few MB each stay within a few hundred MB."""


def rows_of(batch: Any) -> Iterator[Row]:
    """The rows of a record batch as Python values; a row that does not convert is a problem of its own."""
    for start in range(0, batch.num_rows, BATCH_ROWS):
        part = batch.slice(start, BATCH_ROWS)
        try:
            yield from _converted(part)
        except (ValueError, ArithmeticError, NotImplementedError, ImportError):
            for index in range(part.num_rows):
                yield _row_or_problem(part.slice(index, 1))


def paths_of_schema(schema: Any) -> list[ColumnPath]:
    """The column paths of an Arrow schema, top-level columns first; lists are not named."""
    found: list[ColumnPath] = []
    level: list[tuple[ColumnPath, Any]] = [((field.name,), field.type) for field in schema]
    while level:
        found.extend(path for path, _ in level)
        structs = [(path, _without_lists(kind)) for path, kind in level]
        level = [((*path, field.name), field.type) for path, kind in structs for field in _fields(kind)]
    return found


def corrupt(error: Exception) -> bool:
    """Whether a failed read means damaged data, which stay damaged, and not a failing disk or network."""
    from pyarrow import ArrowException

    return isinstance(error, ArrowException) or (type(error) is OSError and error.errno is None)


def _converted(batch: Any) -> list[dict[str, Any]]:
    # Offsets of a hostile file may point outside of its buffers: without this check they would be followed.
    batch.validate(full=True)
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def _row_or_problem(batch: Any) -> Row:
    try:
        return _converted(batch)[0]
    except (ValueError, ArithmeticError, NotImplementedError, ImportError) as error:
        return {PROBLEM: f"the row cannot be decoded: {first_line(error)}"}


def _without_lists(kind: Any) -> Any:
    import pyarrow.types as types

    while types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind = kind.value_type
    return kind


def _fields(kind: Any) -> list[Any]:
    import pyarrow.types as types

    return [kind.field(index) for index in range(kind.num_fields)] if types.is_struct(kind) else []
