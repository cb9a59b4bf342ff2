"""Consoles of all commands: results on the standard output, progress and errors on the standard error."""

import shlex
from collections.abc import Mapping

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

out = Console()
err = Console(stderr=True)


def say(text: str, *, highlight: bool = True, style: str | None = None) -> None:
    """Print a sentence with rich's markup, without wrapping."""
    out.print(text, soft_wrap=True, highlight=highlight, style=style)


def say_plain(text: str) -> None:
    """Print a sentence with what a file says in it: no markup, no control codes; one line in a file or a pipe."""
    from vcrgen.report.escape import escape_terminal

    out.print(Text(escape_terminal(text)), soft_wrap=not out.is_terminal)


def say_next(what: str, *command: object) -> None:
    """Print a command to run next as one line that can be copied."""
    say(escape(f"{what}: {shlex.join(map(str, command))}"), highlight=False)


def ruled_table(*heads: str | Column) -> Table:
    """Return a table with a line below its heads, whose cells fold on a narrow terminal."""
    table = Table(*heads, box=SIMPLE_HEAD)
    for column in table.columns:
        column.overflow = "fold"
    return table


def print_counts(title: str, counts: Mapping[str, int], *, unit: str = "pairs") -> None:
    """Print counts by kind, the largest first."""
    if counts:
        table = Table(title, unit, box=None, pad_edge=False)
        for name, count in sorted(counts.items(), key=lambda item: -item[1]):
            table.add_row(escape(name), f"{count:,}")
        out.print(table)
