"""Scores as a paper prints them: one LaTeX table, a model a row, the best in bold, with caption and label."""

from collections.abc import Iterator, Sequence

from vcrgen.data.views import View
from vcrgen.report.escape import one_line
from vcrgen.report.forms import PaperTable, as_paper_latex, latex_head
from vcrgen.report.table import Interval, Percent, Table, TableCell, percent
from vcrgen.scorer.citation import size_of
from vcrgen.scorer.comparison import MAX_CONCLUSIONS, Comparison, conclusions
from vcrgen.scorer.records import UNSTATED
from vcrgen.scorer.results import RunResult, missing_sentences, require_one_signature
from vcrgen.scorer.score_tables import cells_of, chance_level, comparison_table

_HEADS = {"exact": "EM"}  # of metrics, where the label is long
MOST_INTERVALS = 2  # scores of a row that have their intervals beside them; of more, the caption has the widest
_NAMES = {"exact": "exact match (EM)", "jaccard": "Jaccard index"}  # in a caption, where that says more


def paper_latex(results: Sequence[RunResult], comparisons: Sequence[Comparison] = ()) -> str:
    """Write the main metrics of runs of one signature, and their comparisons, for the packages booktabs and graphicx.

    Raises:
        ScoreError: The results have different signatures.
    """
    require_one_signature(results)
    tables = [score_paper_table(results)]
    if 0 < len(comparisons) <= MAX_CONCLUSIONS:
        tables.append(_comparison_paper_table(results, comparisons))
    body = "\n\n".join(map(as_paper_latex, tables)).splitlines()
    comments = [str(results[0].signature), *conclusions(comparisons)]
    lines = [*(f"% {one_line(text)}" for text in comments), "", *body]
    return "\n".join([latex_head(lines, "booktabs,graphicx"), *lines]) + "\n"


def score_paper_table(results: Sequence[RunResult]) -> PaperTable:
    """A row for each model and view; a column for each metric of a mode, or language."""
    task, cells = results[0].task, [cell for _, cell in cells_of(results)]
    columns = [
        (variant, metric)
        for variant in dict.fromkeys(cell.variant for cell in cells)
        for metric in task.main_metrics
        if any(metric in cell.metrics for cell in cells if cell.variant == variant)
    ]
    width = 2 if len(columns) <= MOST_INTERVALS else 1  # of a score with and without its interval
    groups: dict[str, int] = {}
    heads = ["Model"]
    for variant, metric in columns:
        groups[variant] = groups.get(variant, 0) + width
        heads += [_HEADS.get(metric, task.metrics[metric].label), "95 % interval"][:width]
    return PaperTable(
        caption=" ".join(_caption(results, [metric for _, metric in columns])),
        label=f"tab:{task.name}-scores",
        groups=list(groups.items()),
        blocks=[
            Table(
                title=view.label,
                heads=heads,
                labels=1,
                rows=list(_rows(results, view, columns, width)),
                best=range(1, len(heads), width),
            )
            for view in View
            if any(cell.view is view for cell in cells)
        ],
    )


def _rows(
    results: Sequence[RunResult], view: View, columns: Sequence[tuple[str, str]], width: int
) -> Iterator[list[TableCell]]:
    for result in results:
        cells = {cell.variant: cell for cell in result.cells if cell.view is view}
        if not cells:
            continue
        row: list[TableCell] = [result.title]
        for variant, metric in columns:
            estimate = cells[variant].metrics.get(metric) if variant in cells else None
            interval = Interval(estimate.low, estimate.high) if estimate else None
            row += [Percent(estimate.value if estimate else None), interval][:width]
        yield row


def _caption(results: Sequence[RunResult], metrics: Sequence[str]) -> Iterator[str]:
    task, (cell, *others) = results[0].task, [cell for _, cell in cells_of(results)]
    signature, views = results[0].signature, dict.fromkeys(cell.view.label for _, cell in cells_of(results))
    names = [_NAMES.get(metric, task.metrics[metric].label) for metric in dict.fromkeys(metrics)]
    sizes = dict.fromkeys(size_of(task, cell) for cell in (cell, *others))
    variants = {cell.variant for _, cell in cells_of(results)}
    if len(variants) > 1:
        where = f" by {task.axis_label.lower()}"
    else:
        where = "" if variants <= {UNSTATED, results[0].lang} else f", {task.axis_label.lower()} {cell.variant}"
    view = f", view {cell.view.label}" if len(views) == 1 else ""
    text = f"{' and '.join(names)} in percent{where}{view}; n = {' or '.join(sizes)}, language {results[0].lang}."
    yield text[0].upper() + text[1:]
    if len(metrics) > MOST_INTERVALS:
        yield _widest_interval(results, metrics[0])
    else:
        yield f"95 % intervals are over {task.clusters}."
    if chance := chance_level(results):
        yield f"Chance is {chance} %."
    if len(results) > 1:
        yield "The best of each column is bold."
    yield from missing_sentences(results)
    yield (
        f"vcrgen {signature.facts.get('vcrgen', '')}, protocol {signature.facts.get('protocol', '')}, "
        f"signature {signature.short}."
    )


def _widest_interval(results: Sequence[RunResult], metric: str) -> str:
    estimates = [cell.metrics[metric] for _, cell in cells_of(results) if metric in cell.metrics]
    widest = max(estimates, key=lambda estimate: estimate.high - estimate.low)
    name = results[0].task.metrics[metric].in_text
    return f"The widest 95 % interval of {name} is {percent(widest.low)} to {percent(widest.high)}."


def _comparison_paper_table(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> PaperTable:
    task, table = results[0].task, comparison_table(results[0].task, comparisons)
    return PaperTable(
        caption=f"{table.title}, with 95 % intervals over {task.clusters} and corrected p-values.",
        label=f"tab:{task.name}-comparisons",
        groups=(),
        blocks=[table],
    )
