"""Items of a window of rows, and where the first N of them end."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from vcrgen.builder.sources.base import Partition, Source
from vcrgen.builder.sources.fields import check_columns, matches, read_item
from vcrgen.config import BuildConfig
from vcrgen.records import Item


def iter_items(source: Source, config: BuildConfig, partition_index: int, start: int, stop: int) -> Iterator[Item]:
    """The items of rows ``start`` to ``stop``, in order; rows that do not meet the conditions give none.

    An item's id and content do not depend on the window.

    Raises:
        SourceError: A column is not there, or the file cannot be read.
    """
    for item in iter_rows(source, config, partition_index, start, stop):
        if item is not None:
            yield item


def iter_rows(
    source: Source, config: BuildConfig, partition_index: int, start: int, stop: int
) -> Iterator[Item | None]:
    """As :func:`iter_items`, but with None for every row that does not meet the conditions."""
    columns = check_columns(source, config)
    name = source.partitions()[partition_index].name
    folder = source.root / PurePosixPath(name).parent if source.root else None
    rows = source.rows(partition_index, start, stop, columns.needed)
    for number, row in enumerate(rows, start=start):
        yield read_item(row, columns, root=folder, row_id=f"{name}#{number}")


def matching_rows(source: Source, config: BuildConfig, partition_index: int) -> Iterator[int]:
    """The numbers of the rows that :func:`iter_items` makes items of, found without reading the images."""
    columns = check_columns(source, config)
    count = source.partitions()[partition_index].rows
    if not columns.where:
        yield from range(count)
        return
    for number, row in enumerate(source.rows(partition_index, 0, count, columns.condition_columns)):
        if matches(row, columns):
            yield number


def cut_at_limit(source: Source, partitions: Sequence[Partition], config: BuildConfig) -> list[Partition]:
    """Cut the partitions after the row that gives the last of the first ``config.limit`` items.

    Args:
        source: The source.
        partitions: Its partitions, from the first one on.
        config: Gives the limit and the conditions. Without a limit nothing is cut.

    Returns:
        The partitions up to the last one that is needed, that one with fewer rows.
    """
    left = config.limit
    if left is None:
        return list(partitions)
    kept: list[Partition] = []
    for index, partition in enumerate(partitions):
        rows = min(partition.rows, left) if not config.where else 0
        found = rows
        if config.where:
            for number in matching_rows(source, config, index):
                rows, found = number + 1, found + 1
                if found == left:
                    break
            else:
                rows = partition.rows
        kept.append(dataclasses.replace(partition, rows=rows))
        left -= found
        if not left:
            break
    return kept
