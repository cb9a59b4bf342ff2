"""Reports on a terminal, drawn by rich. Whatever comes from a file is shown as text: no markup, no control codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vcrgen.scorer.comparison import Comparison
from vcrgen.scorer.join import PROBLEMS
from vcrgen.scorer.records import SpanMatch
from vcrgen.scorer.report.tables import Table, comparison_table, percent, remarks, report_tables
from vcrgen.scorer.results import RunResult, require_one_signature
from vcrgen.scorer.run import Found, Validation

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

# Heads that are longer than what stands below them.
_SHORT = {"Exact match": "Exact", "sd spans": "sd", "Length ratio": "Length", "No n-gram": "Short", "Thinking": "Think"}
_SHORT |= {"A \N{MINUS SIGN} B, exact": "Exact", "A \N{MINUS SIGN} B, Jaccard": "Jaccard", "McNemar p": "McNemar"}
_DIFFERENCE = {"VI+TEI \N{MINUS SIGN} TEI": "difference"}


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
    for result in results:
        yield plain(f"{result.title}: {result.format}, language {result.lang}", "bold")
        for table in report_tables([result]):
            if groups or not table.title.startswith("By "):
                yield _table(table, {"Model", "sd images"})
    if comparisons:
        pairs = dict.fromkeys((item.a, item.b) for item in comparisons)
        for a, b in pairs:
            yield plain(f"A = {a}, B = {b}", "bold")
            yield _table(comparison_table([item for item in comparisons if (item.a, item.b) == (a, b)]), {"A", "B"})
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


def _table(table: Table, left_out: set[str]) -> RenderableType:
    """A table that fits 80 columns, without the columns left out."""
    from rich.table import Table as RichTable

    drawn = RichTable(
        title=f"\n{table.title}",
        title_justify="left",
        title_style="",
        box=None,
        padding=(0, 1, 0, 0),
        header_style="dim",
    )
    shown = [number for number, column in enumerate(table.columns) if column not in left_out]
    for number in shown:
        head = _SHORT.get(table.columns[number], table.columns[number])
        drawn.add_column(head, justify="left" if number < table.labels else "right", no_wrap=True)
    for row in table.rows:
        drawn.add_row(*(plain(_DIFFERENCE.get(row[number], row[number].replace(" to ", ".."))) for number in shown))
    return drawn
