"""Tables and sentences on a terminal, drawn by rich. Text from files is escaped: no markup, no control codes."""

import io
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from vcrgen.report.document import LIMITATIONS, LONG_TABLES_OMITTED, Document
from vcrgen.report.escape import escape_terminal
from vcrgen.report.table import Interval, NumberInterval, Table, TableCell, show

# Heads and labels that are longer than what stands beside them.
SHORT = {"Exact match": "Exact", "Length ratio": "Ratio", "No n-gram": "Short", "Thinking": "Think"}
TEXT_WIDTH = 120  # characters of a report that is written to a file


def print_parts(console: Console, parts: Iterable[RenderableType]) -> None:
    """Print one part after another.

    A document, which is a plain ``str``, is written as it is. A sentence is wrapped at the width of a terminal; in a
    file or a pipe it stays one line, and so does a signature everywhere, so that it can be copied and found.
    """
    for part in parts:
        if isinstance(part, str):
            console.file.write(part)
        else:
            one_line = isinstance(part, Text) and (bool(part.no_wrap) or not console.is_terminal)
            console.print(part, soft_wrap=one_line)


def as_text(parts: Iterable[RenderableType]) -> str:
    """The parts as text for a file."""
    page = io.StringIO()
    print_parts(Console(file=page, width=TEXT_WIDTH), parts)
    return page.getvalue()


def show_document(document: Document) -> Iterator[RenderableType]:
    """Yield the sentences and tables of a report, without charts and long tables."""
    yield plain(document.title, "bold")
    yield from (plain(f"- {text}") for text in document.summary)
    if document.lead:
        yield plain(document.lead)
    for text in document.alerts:
        yield plain(f"Warning: {text}", "bold red")
    for section in document.sections:
        if not (section.text or section.notes or section.tables):
            continue  # of charts and long tables alone
        if section.title:
            yield plain(f"\n{section.title}", "bold")
        yield from map(plain, section.text)
        for table in section.tables:
            yield draw(table, (), wrapped=True)
        for text in section.notes:
            yield plain(f"- {text}")
    if any(section.details for section in document.sections):
        yield plain(f"\n{LONG_TABLES_OMITTED}", "dim")
    if document.limitations:
        yield plain(f"\n{LIMITATIONS}", "bold")
        for text in document.limitations:
            yield plain(f"- {text}")
    if document.settings:
        yield plain(document.settings, "dim")


def unbroken(text: str, style: str = "") -> Text:
    """Text that is not wrapped on any terminal, so that it can be copied."""
    line = plain(text, style)
    line.no_wrap = True
    return line


def plain(text: str, style: str = "") -> Text:
    """Text without control codes."""
    return Text(escape_terminal(text), style=style)


@dataclass(frozen=True, slots=True, kw_only=True)
class _FittedTable:
    """A table that continues in further blocks, with the labels, on a narrow terminal."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: int  # how many columns, from the left, stand in every block
    breaks: Sequence[int]  # numbers of the columns before which a block ends rather than elsewhere
    wrapped: bool  # whether labels take several lines before there is another block

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        least = [self._least(number) for number in range(len(self.heads))]
        above = Text(f"\n{self.title}")
        for columns in self._blocks(least, options.max_width):
            yield above
            yield self._block(columns, least, options.max_width)
            above = Text("")

    def _least(self, number: int) -> int:
        """Least width of a column in cells of the terminal: heads break between words, of the cells only labels."""
        texts = self.heads[number].split()
        for row in self.rows:
            texts += row[number].split() if self.wrapped and number < self.labels else [row[number]]
        return max(map(cell_len, texts), default=0)

    def _blocks(self, least: Sequence[int], width: int) -> Iterator[list[int]]:
        """Yield the columns of each block: all that are left if they fit, else up to a break, else as many as fit."""
        start, count = self.labels, len(self.heads)
        room = width - min(sum(least[:start]) + start, width // 2)  # labels take half of a terminal at most
        while True:
            ends = range(start + 1, count + 1)
            fitting = [end for end in ends if sum(least[start:end]) + end - start - 1 <= room] or [start + 1]
            end = max({*fitting} & {count, *self.breaks}, default=fitting[-1])
            yield [*range(self.labels), *range(start, min(end, count))]
            if end >= count:
                return
            start = end

    def _block(self, columns: Sequence[int], least: Sequence[int], width: int) -> RichTable:
        block = RichTable(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
        whole = {number: max(least[number], cell_len(self.heads[number])) for number in columns}
        narrow = sum(whole.values()) + len(whole) - 1 > width
        for number, full in whole.items():
            head = Text(self.heads[number])
            if number < self.labels:
                block.add_column(head, overflow="fold")
            else:
                block.add_column(head, justify="right", width=least[number] if narrow else full)
        for row in self.rows:
            block.add_row(*(Text(row[number]) for number in columns))
        return block


def draw(
    table: Table, left_out: Collection[str], *, wrapped: bool = False, short: Mapping[str, str] = SHORT
) -> RenderableType:
    """A table without the columns of some heads, for a terminal of any width.

    Args:
        table: Where it is too wide, heads take several lines; then it is drawn in blocks, each with all labels, which
            end at the table's breaks if that is enough.
        left_out: Heads of columns that are not drawn.
        wrapped: Long labels take several lines, too, before the table is drawn in blocks.
        short: What stands in place of long heads and labels.
    """
    columns = [number for number, head in enumerate(table.heads) if head not in left_out]
    return _FittedTable(
        title=escape_terminal(table.title),
        heads=[escape_terminal(_cell_text(table.heads[number], short)) for number in columns],
        rows=[[escape_terminal(_cell_text(row[number], short)) for number in columns] for row in table.rows],
        labels=sum(number < table.labels for number in columns),
        breaks=[sum(number < end for number in columns) for end in table.breaks],
        wrapped=wrapped,
    )


def _cell_text(cell: TableCell, short: Mapping[str, str]) -> str:
    if isinstance(cell, Interval | NumberInterval):
        return "..".join(cell.ends)
    return short.get(show(cell), show(cell))
