"""Reports on a terminal, drawn by rich. Whatever comes from a file is shown as text: no markup, no control codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vcrgen.score.compare import Comparison
from vcrgen.score.join import PROBLEMS
from vcrgen.score.records import SpanMatch
from vcrgen.score.report.tables import Table, percent, remarks, report_tables
from vcrgen.score.results import RunResult, require_one_signature
from vcrgen.score.run import Found, Validation

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


def show_scores(
    results: Sequence[RunResult], comparisons: Sequence[Comparison], *, groups: bool
) -> Iterator[RenderableType]:
    """The tables of a scoring.

    Args:
        results: One signature for all.
        comparisons: Of these results.
        groups: Show the tables of scores by property, too.

    Raises:
        ScoreError: The results have different signatures.
    """
    require_one_signature(results)
    for table in report_tables(results, comparisons):
        if groups or not table.title.startswith("By "):
            yield _table(table)
    for sentence in remarks(results):
        yield plain(f"Note: {sentence}", "yellow")
    for comparison in comparisons:
        yield plain(comparison.conclusion, "bold")
    yield plain(f"Signature {results[0].signature.short}: {results[0].signature}", "dim")


def show_validation(validation: Validation) -> Iterator[RenderableType]:
    """What is odd about a file."""
    models = f", model {', '.join(validation.models)}" if validation.models else ""
    yield plain(f"{validation.name}: {validation.outputs} outputs, format {validation.format}{models}.")
    for (mode, view), count in validation.cells.items():
        yield plain(f"  {view.label}, {mode}: outputs for {count} of {validation.questions} questions.")
    for kind, (count, places) in validation.problems.items():
        first = f" First: {', '.join(places)}." if places else ""
        yield plain(f"  {count} {PROBLEMS[kind]}.{first}", "yellow")
    yield plain("  Complete." if validation.fit else "  Not complete: --strict would refuse it.", "bold")


def show_found(found: Found) -> Iterator[RenderableType]:
    """One item with what was matched, highlighted in the output."""
    yield plain(f"{found.question_id}  ({found.view.label}, mode {found.mode})", "bold")
    for number, match in enumerate(found.matches, start=1):
        yield _explained(number, match)
        if found.output is not None:
            yield _highlighted(found.output, match)


def plain(text: str, style: str = "") -> Text:
    """Text that does nothing to a terminal but stand there."""
    from rich.text import Text

    return Text(_visible(text), style=style)


def _explained(number: int, match: SpanMatch) -> Text:
    scores = ", ".join(f"{name} {percent(value)}" for name, value in match.as_dict().items())
    distance = f", distance {match.distance}" if match.distance is not None else ""
    where = f" at {match.start}-{match.end}" if match.start >= 0 else ""
    nearest = f"\n  nearest: {match.ngram}{where}{distance}" if match.ngram else "\n  nearest: none"
    return plain(f"Span {number}: {match.answer}\n  outcome: {match.outcome.value}{nearest}\n  {scores}")


def _highlighted(output: str, match: SpanMatch) -> Text:
    from rich.text import Text

    text = Text("  output: ", style="dim")
    if match.start < 0:
        return text.append(_visible(output), style="default")
    text.append(_visible(output[: match.start]), style="default")
    text.append(f"[{_visible(output[match.start : match.end])}]", style="bold green" if match.exact else "bold yellow")
    return text.append(_visible(output[match.end :]), style="default")


def _visible(text: str) -> str:
    """Control characters as escapes, so that an output cannot drive the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def _table(table: Table) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable

    drawn = RichTable(title=table.title, title_justify="left", box=SIMPLE_HEAD, title_style="bold")
    for number, column in enumerate(table.columns):
        label = number < table.labels
        drawn.add_column(column, justify="left" if label else "right", overflow="fold", no_wrap=not label)
    for row in table.rows:
        drawn.add_row(*(plain(cell) for cell in row))
    return drawn
