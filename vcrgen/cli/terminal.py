"""Tables and sentences on a terminal, drawn by rich. Text from files is escaped: no markup, no control codes."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from vcrgen.core.plurals import pluralize
from vcrgen.data.tasks.bloom import LETTERS
from vcrgen.data.tasks.task import MCQ_TASK, TASKS, VCR_TASK
from vcrgen.report.document import LIMITATIONS, LONG_TABLES_OMITTED, Document
from vcrgen.report.escape import escape_terminal
from vcrgen.report.table import Interval, NumberInterval, Table, TableCell, percent, show
from vcrgen.scorer.citation import citation
from vcrgen.scorer.comparison import MAX_CONCLUSIONS, Comparison, conclusions
from vcrgen.scorer.groups import PIXEL_BITS
from vcrgen.scorer.output_matcher import describe_problem
from vcrgen.scorer.records import SpanMatch
from vcrgen.scorer.results import RunResult, require_one_signature
from vcrgen.scorer.score_report import remarks, score_document
from vcrgen.scorer.score_tables import KEY_LETTERS, SCORES, by_title, comparison_table
from vcrgen.scorer.session import Validation
from vcrgen.scorer.span_session import ScoredExample

if TYPE_CHECKING:
    from vcrgen.scorer.mcq.session import ItemExample

# Heads and labels that are longer than what stands beside them, and a title that has to say what a short head does not.
_SHORT = {"Exact match": "Exact", "Length ratio": "Ratio", "No n-gram": "Short", "Thinking": "Think"}
_SHORT |= {task.contrast_label: "difference" for task in TASKS.values()}
_SHORT |= {f"sd {task.units}": "sd" for task in TASKS.values()}

_ALWAYS = (KEY_LETTERS, by_title(PIXEL_BITS))  # breakdowns that are shown without --groups, too
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
    """Return the parts as text for a file."""
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


def show_scores(
    results: Sequence[RunResult], comparisons: Sequence[Comparison], *, groups: bool
) -> Iterator[RenderableType]:
    """Yield a line for each run, to be pasted, and the tables of scores.

    Args:
        results: One signature for all.
        comparisons: Of these results.
        groups: Show the tables of scores by property, too.

    Raises:
        ScoreError: The results have different signatures.
    """
    require_one_signature(results)
    for result in results:
        yield unbroken(citation(result))
    for result in results:
        yield plain(f"\n{result.title}: {result.format}, language {result.lang}", "bold")
        task = result.task
        sections = score_document([result]).sections
        for table in (table for section in sections for table in (*section.tables, *section.details)):
            if table.title == SCORES:
                note = ", as published" if task is VCR_TASK else ""
                known = sorted({percent(share) for cell in result.cells if (share := cell.chance_of(task))}, key=float)
                chance = f"; chance {' to '.join(dict.fromkeys((known[0], known[-1])))}" if known else ""
                title = f"{SCORES} (sd over {task.units}{note}; intervals over {task.clusters}{chance})"
                table = replace(table, title=title)
            if groups or not table.title.startswith("By ") or table.title in _ALWAYS:
                yield draw(table, {"Model", f"sd {task.clusters}", "Chance"})
    pairs = dict.fromkeys((item.a, item.b) for item in comparisons)
    for a, b in pairs if len(pairs) == 1 else ():
        yield plain(f"A = {a}, B = {b}", "bold")
    if len(comparisons) > MAX_CONCLUSIONS:
        yield plain(f"\n{LONG_TABLES_OMITTED}", "dim")
    elif comparisons:
        yield draw(comparison_table(results[0].task, comparisons), {"A", "B"} if len(pairs) == 1 else ())
    for sentence in remarks(results):
        yield plain(f"Note: {sentence}", "yellow")
    for sentence in conclusions(comparisons):
        yield plain(sentence, "bold")
    yield show_signature(results[0].signature.short, str(results[0].signature))


def show_validation(validation: Validation) -> Iterator[RenderableType]:
    """Return the problems of a file."""
    models = f", model {', '.join(validation.models)}" if validation.models else ""
    yield plain(f"{validation.name}: {pluralize(validation.outputs, 'output')}, format {validation.format}{models}.")
    if validation.subset:
        yield plain(
            f"  Only the subset {validation.subset} is looked at: {pluralize(validation.questions, 'question')}."
        )
    for (variant, view), count in validation.cells.items():
        asked = validation.requested[variant, view]
        yield plain(f"  {view.label}, {variant}: outputs for {count} of {pluralize(asked, 'question')}.")
    for kind, (count, places) in validation.problems.items():
        first = f" First: {', '.join(places)}." if places else ""
        yield plain(f"  {describe_problem(kind, count)}.{first}", "yellow")
    yield plain("  Complete." if validation.fit else "  Not complete: --strict would refuse it.", "bold")


def show_found(found: ScoredExample) -> Iterator[RenderableType]:
    """Yield an example with its matches, highlighted in the output."""
    yield plain(f"{found.question_id}  ({found.view.label}, mode {found.mode})", "bold")
    for number, match in enumerate(found.matches, start=1):
        yield _explained(number, match)
        if found.output is not None:
            yield _highlighted(found.output, match)


def show_item(found: ItemExample) -> Iterator[RenderableType]:
    """Yield an MCQ item: question, options, outputs, and scores."""
    item, result = found.item, found.result
    question = item.questions[found.lang]
    yield plain(f"{item.question_id}  ({found.view.label}, {found.lang})  {item.path}", "bold")
    yield plain(question.text)
    for number, option in enumerate(question.options):
        marks = ((item.answer, "right"), (item.trap, "trap"), (result.choice, "chosen"))
        notes = ", ".join(word for place, word in marks if place == number)
        yield plain(f"  {LETTERS[number]}  {option}{f'  ({notes})' if notes else ''}")
    for each in found.responses:
        if each.output is not None:
            rotation = f" (rotation {each.rotation})" if each.rotation else ""
            yield plain(f"  output{rotation}: {each.output}")
        for name, figures in (("log-probability a token", each.logprobs), ("labels", each.label_logprobs)):
            if figures is not None:
                means = (sum(of) / len(of) if isinstance(of, tuple) else of for of in figures)
                yield plain(f"  {name}: {', '.join(f'{mean:.3f}' for mean in means)}")
    known = ((name, score) for name, score in zip(MCQ_TASK.metrics, result.scores, strict=True) if score == score)
    yield plain(f"  outcome: {result.outcome}\n  {', '.join(f'{name} {percent(score)}' for name, score in known)}")


def show_signature(short: str, signature: str) -> RenderableType:
    """Return a signature as one line for any terminal.

    Args:
        short: Its short form, or an empty text.
        signature: All of it.
    """
    return unbroken(f"Signature{f' {short}' if short else ''}: {signature}", "dim")


def unbroken(text: str, style: str = "") -> Text:
    """Return text that is not wrapped on any terminal, so that it can be copied."""
    line = plain(text, style)
    line.no_wrap = True
    return line


def plain(text: str, style: str = "") -> Text:
    """Return text without control codes."""
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
        """Return the least width of a column: heads break between words, cells only if they are labels."""
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


def draw(table: Table, left_out: Collection[str], *, wrapped: bool = False) -> RenderableType:
    """Return a table without the columns of some heads, for a terminal of any width.

    Args:
        table: Where it is too wide, heads take several lines; then it is drawn in blocks, each with all labels, which
            end at the table's breaks if that is enough.
        left_out: Heads of columns that are not drawn.
        wrapped: Long labels take several lines, too, before the table is drawn in blocks.
    """
    kept = [number for number, head in enumerate(table.heads) if head not in left_out]
    return _FittedTable(
        title=escape_terminal(table.title),
        heads=[escape_terminal(_short(table.heads[number])) for number in kept],
        rows=[[escape_terminal(_short(row[number])) for number in kept] for row in table.rows],
        labels=sum(number < table.labels for number in kept),
        breaks=[sum(number < end for number in kept) for end in table.breaks],
        wrapped=wrapped,
    )


def _short(cell: TableCell) -> str:
    if isinstance(cell, Interval | NumberInterval):
        return "..".join(cell.ends)
    return _SHORT.get(show(cell), show(cell))


def _explained(number: int, match: SpanMatch) -> Text:
    scores = ", ".join(f"{name} {percent(value)}" for name, value in match.as_dict().items())
    distance = f", distance {match.distance}" if match.distance is not None else ""
    where = f" at {match.start}-{match.end}" if match.start >= 0 else ""
    nearest = f"\n  nearest: {match.ngram}{where}{distance}" if match.ngram else "\n  nearest: none"
    return plain(f"Span {number}: {match.answer}\n  outcome: {match.outcome.value}{nearest}\n  {scores}")


def _highlighted(output: str, match: SpanMatch) -> Text:
    text = Text("  output: ", style="dim")
    if match.start < 0:
        return text.append(escape_terminal(output), style="default")
    text.append(escape_terminal(output[: match.start]), style="default")
    matched = escape_terminal(output[match.start : match.end])
    text.append(f"[{matched}]", style="bold green" if match.exact else "bold yellow")
    return text.append(escape_terminal(output[match.end :]), style="default")
