"""Consoles of all commands: results on the standard output, progress and errors on the standard error."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

if TYPE_CHECKING:
    from vcrgen.core.console_progress import ConsoleProgress

out = Console()
err = Console(stderr=True)
_SILENT = Console(stderr=True, quiet=True)
_quiet = False


class _Log(logging.Handler):
    """Prints the log on the standard error, above a bar of progress; what warns is printed by the bar itself."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno < logging.WARNING:
            err.print(self.format(record), soft_wrap=True, markup=False, highlight=False, style="dim")


def set_loudness(*, quiet: bool, verbose: bool) -> None:
    """Show the progress or not, and the log or not, from now on."""
    global _quiet
    _quiet = quiet
    logger = logging.getLogger("vcrgen")
    for handler in [handler for handler in logger.handlers if isinstance(handler, _Log)]:
        logger.removeHandler(handler)
    logger.setLevel(logging.DEBUG if verbose else logging.NOTSET)
    if verbose:
        handler = _Log()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        logger.addHandler(handler)


def progress(*, doing: str = "building", unit: str = "pairs", kept: str = "built") -> ConsoleProgress:
    """The progress of a long job on the standard error; silent with ``-q``."""
    from vcrgen.core.console_progress import ConsoleProgress

    return ConsoleProgress(_SILENT if _quiet else err, doing=doing, unit=unit, kept=kept)


def say(text: str, *, highlight: bool = True, style: str | None = None) -> None:
    """Print a sentence with rich's markup, without wrapping."""
    out.print(text, soft_wrap=True, highlight=highlight, style=style)


def say_mistake(sentence: str) -> None:
    """Print what the user has to mend."""
    err.print(f"[bold red]Error:[/] {escape(sentence)}", soft_wrap=True)


def say_plain(text: str) -> None:
    """Print a sentence with what a file says in it: no markup, no control codes; one line in a file or a pipe."""
    from vcrgen.report.escape import escape_terminal

    out.print(Text(escape_terminal(text)), soft_wrap=not out.is_terminal)


def say_step(text: str) -> None:
    """Say on the standard error what takes a while from here; nothing with ``-q``."""
    (_SILENT if _quiet else err).print(escape(text), soft_wrap=True, highlight=False)


def say_signature(signature: object) -> None:
    """Print a signature without colours: parts of it look like addresses and numbers."""
    say(f"Signature [dim]{escape(str(signature))}[/]", highlight=False)


def say_next(what: str, *command: object) -> None:
    """Print a command to run next as one line that can be copied; nothing with ``-q``."""
    if not _quiet:
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
