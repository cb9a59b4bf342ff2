"""The built-in pairs as a source: no file, no network."""

from collections.abc import Iterator
from pathlib import Path

from vcrgen.builder.sources.base import ColumnPath, Partition, Row


class SampleSource:
    """The first ``count`` built-in pairs of a language; rows are ``{"id", "image", "caption"}``."""

    def __init__(self, lang: str, count: int) -> None:
        self.description = "built-in pairs"
        self.root: Path | None = None
        self._lang = lang
        self._count = count

    def partitions(self) -> list[Partition]:
        """One partition."""
        return [Partition(name="samples", rows=self._count)]

    def names(self) -> list[ColumnPath]:
        """The three columns."""
        return [("id",), ("image",), ("caption",)]

    def rows(self, partition: int, start: int, stop: int, columns: frozenset[str]) -> Iterator[Row]:
        """Pairs ``start`` to ``stop``, drawn when they are asked for."""
        from vcrgen.samples import sample_pair

        for index in range(start, min(stop, self._count)):
            pair = sample_pair(self._lang, index)
            yield {"id": pair.id, "image": pair.image, "caption": pair.caption}
