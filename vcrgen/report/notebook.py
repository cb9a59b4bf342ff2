"""Results as Python and notebooks show them: one line, a table with the next command, and a pandas DataFrame."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from vcrgen.core.errors import ConfigError
from vcrgen.core.plurals import pluralize
from vcrgen.report.escape import one_line
from vcrgen.report.table import Table

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN_ROWS = 20  # of a table in a notebook

LongRow = dict[str, Any]
"""A row of a DataFrame: its values by the names of columns."""


class NotebookResult:
    """The base of results that people look at in Python.

    It has no annotations of its own, so that a dataclass with slots can be made of it; such a dataclass has
    ``repr=False``.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def headline(self) -> str:
        """What it is, in a line."""

    @property
    @abstractmethod
    def summary_table(self) -> Table:
        """The table that a notebook shows."""

    @property
    def next_command(self) -> Sequence[str]:
        """The command to run next, as words; empty if there is none."""
        return ()

    @property
    def link(self) -> str:
        """The address of a file to open; empty if there is none."""
        return ""

    @abstractmethod
    def long_rows(self) -> Iterator[LongRow]:
        """Yield the rows of `to_pandas`, all with the same columns."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {one_line(self.headline)}>"

    def _repr_html_(self) -> str:
        """The first rows of the table below the line, with the next command, for notebooks."""
        from vcrgen.report.templating import page_templates  # which takes long to load

        table = self.summary_table
        hidden = max(len(table.rows) - SHOWN_ROWS, 0)
        return page_templates("vcrgen.report", style="").render(
            "result.html",
            name=type(self).__name__,
            headline=self.headline,
            table=table,
            rows=table.texts()[:SHOWN_ROWS],
            hidden=f"{pluralize(hidden, 'more row')}; to_pandas() has all figures." if hidden else "",
            link=self.link,
            command=shlex.join(self.next_command),
        )

    def to_pandas(self) -> DataFrame:
        """The figures in long form, one a row; the class says what its columns are. Shares are from 0 to 1.

        Raises:
            ConfigError: pandas is not installed.
        """
        return as_frame(self.long_rows())


def as_frame(rows: Iterable[LongRow]) -> DataFrame:
    """Rows as a DataFrame.

    Raises:
        ConfigError: pandas is not installed.
    """
    try:
        from pandas import DataFrame
    except ImportError:
        raise ConfigError("to_pandas() needs pandas, which is not installed: pip install pandas.") from None
    return DataFrame(list(rows))
