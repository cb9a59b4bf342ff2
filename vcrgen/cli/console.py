"""Where commands write: results to the standard output, progress and errors beside it."""

from collections.abc import Mapping

from rich.console import Console
from rich.markup import escape
from rich.table import Table

out = Console()
err = Console(stderr=True)


def say(text: str, *, highlight: bool = True, style: str | None = None) -> None:
    """Print a sentence that may hold rich's markup, and that is not broken where the terminal ends."""
    out.print(text, soft_wrap=True, highlight=highlight, style=style)


def print_counts(title: str, counts: Mapping[str, int], *, unit: str = "pairs") -> None:
    """Print how many there are of each kind, most first; nothing where there is no kind."""
    if counts:
        table = Table(title, unit, box=None, pad_edge=False)
        for name, count in sorted(counts.items(), key=lambda item: -item[1]):
            table.add_row(escape(name), f"{count:,}")
        out.print(table)
