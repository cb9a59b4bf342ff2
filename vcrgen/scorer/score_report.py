"""A scoring as a document and a page."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from markupsafe import Markup

from vcrgen.core.plurals import pluralize
from vcrgen.report import document
from vcrgen.report.charts import interval_bar, scatter
from vcrgen.report.document import Chart, ChartRows, Document, Section, html_page
from vcrgen.report.table import Number, Percent, Table, percent
from vcrgen.scorer.comparison import MAX_CONCLUSIONS, Comparison, conclusions
from vcrgen.scorer.groups import PIXEL_BITS
from vcrgen.scorer.output_matcher import describe_problem
from vcrgen.scorer.paper_table import paper_latex
from vcrgen.scorer.results import (
    CellResult,
    Estimate,
    GroupResult,
    RunResult,
    as_named,
    effective_range,
    require_one_signature,
    warning_sentences,
)
from vcrgen.scorer.score_summary import score_summary
from vcrgen.scorer.score_tables import (
    Row,
    cells_of,
    comparison_table,
    group_tables,
    key_letter_table,
    other_metrics_table,
    outputs_table,
    score_table,
)

# Of each task under its own words: `spans` and `images` of Visual Caption Restoration.
CSV_COLUMNS = (
    "run",
    "model",
    "variant",
    "view",
    "group",
    "value",
    "metric",
    "percent",
    "sd_units",
    "sd_clusters",
    "low",
    "high",
    "units",
    "clusters",
    "missing",
    "only_a",
    "only_b",
    "p_mcnemar",
    "p_clusters",
    "p_corrected",
    "signature",
)
_BITS_LEGEND = (
    "A disc is a range of bits that the visible pixels of a span leave: exact match with its 95 % interval, images "
    "resampled 1,000 times."
)
_NO_TESTS: Row = (None,) * 5


def render(
    results: Sequence[RunResult], form: str, comparisons: Sequence[Comparison] = (), *, details: bool = False
) -> str:
    """The results, of one signature, as ``md``, ``latex``, ``csv``, ``json`` or ``html``; see `score_document`.

    Args:
        form: The format. LaTeX has one table of scores for a paper, and one of comparisons if there are some.
        details: LaTeX has all tables instead.

    Raises:
        ConfigError: The format is another.
        ScoreError: The results have different signatures.
    """
    if form == "html":
        return html_page(_page_document(results, comparisons))
    if form == "latex" and not details:
        return paper_latex(results, comparisons)
    return document.render(score_document(results, comparisons), form)


def score_document(
    results: Sequence[RunResult], comparisons: Sequence[Comparison] = (), title: str = "Scores"
) -> Document:
    """Make the document of results of one signature; its CSV has a line for each number, its JSON everything.

    Raises:
        ScoreError: The results have different signatures.
    """
    require_one_signature(results)
    task, cell, signature = results[0].task, results[0].cells[0], results[0].signature
    sections = [
        Section(
            title="Scores",
            legend=(
                f"A bar ends at the mean over {task.units}; the block around its end is the 95 % interval, "
                f"{task.clusters} resampled 1,000 times."
            ),
            panels=list(_score_panels(results)),
            tables=[score_table(task, results)],
        )
    ]
    sections += _bits_sections(results)
    if comparisons:
        tables, notes = [comparison_table(task, comparisons)], list(conclusions(comparisons))
        if len(comparisons) > MAX_CONCLUSIONS:
            sections.append(Section(title="Comparisons", notes=notes, details=tables))
        else:
            sections.append(Section(title="Comparisons", tables=tables, notes=notes))
    if notes := list(remarks(results)):
        sections.append(Section(title="Notes", notes=notes))
    letters = key_letter_table(task, results)
    others = (other_metrics_table(task, results), outputs_table(task, results), letters, *group_tables(task, results))
    sections.append(Section(title="Details", details=[table for table in others if table.rows]))
    return Document(
        title=title,
        lead=(
            f"{pluralize(cell.clusters, task.cluster)} ({effective_range(results)} effective), "
            f"{pluralize(cell.units, task.unit)}, language {results[0].lang}, "
            f"protocol {signature.facts.get('protocol', '')}."
        ),
        sections=sections,
        warnings=list(warning_sentences(results)),
        settings=f"Signature: {signature}",
        long_tables=True,
        csv_table=_csv_table(results, comparisons),
        json_value=_json_value(results, comparisons),
    )


def _page_document(results: Sequence[RunResult], comparisons: Sequence[Comparison], title: str = "Scores") -> Document:
    """The document of a page, which begins with what was found and what to do."""
    summary = list(score_summary(results, comparisons, len(list(remarks(results)))))
    return replace(score_document(results, comparisons, title), summary=summary)


def _bits_sections(results: Sequence[RunResult]) -> Iterator[Section]:
    """Charts of exact match over the bits that pixels leave, where they are known and differ."""
    baseline = {
        (cell.variant, point.label): point.metrics["exact"].value
        for result, cell in cells_of(results)
        for point in _bits_groups(cell)
        if result.from_pixels
    }
    charts = []
    for result, cell in cells_of(results):
        points = _bits_groups(cell)
        if not points or result.from_pixels:
            continue
        places = [(number + 0.5) / len(points) for number in range(len(points))]
        other = [
            (x, baseline[cell.variant, point.label])
            for x, point in zip(places, points, strict=True)
            if (cell.variant, point.label) in baseline
        ]
        exact = [point.metrics["exact"] for point in points]
        names = [f"{p.label} bits: {percent(e.value)} % of {p.units} spans" for p, e in zip(points, exact, strict=True)]
        drawn = [(x, e.value, e.low, e.high, name) for x, e, name in zip(places, exact, names, strict=True)]
        ticks = [(x, point.label) for x, point in zip(places, points, strict=True)]
        svg = _with_axis(scatter(drawn, ticks, other=other, text="; ".join(names)))
        title = f"{result.title}, {cell.variant}, {cell.view.label}: exact match in percent, by bits that pixels leave"
        note = "Broken line: the template baseline on the same spans." if other else ""
        charts.append(Chart(title=title, svg=svg, note=note))
    if charts:
        yield Section(title="Accuracy against pixel bits", legend=_BITS_LEGEND, panels=charts)


def _bits_groups(cell: CellResult) -> list[GroupResult]:
    return [group for group in cell.groups if group.by == PIXEL_BITS and "exact" in group.metrics]


def score_page(results: Sequence[RunResult], comparisons: Sequence[Comparison], *, data: str, view: str) -> str:
    """The page of a scoring on a dataset of a name, with the command that shows every output.

    Raises:
        ScoreError: The results have different signatures.
    """
    page = _page_document(results, comparisons, f"Scores on {data}")
    if view:
        section = Section(title="Every output", text=[f"Beside what was expected: {view}"])
        page = replace(page, sections=[*page.sections, section])
    return html_page(page)


def _common_notes(models: Sequence[RunResult]) -> list[str]:
    """The notes that all models have, but those on outputs, which a mode and view begin."""
    cells = tuple(f"{cell.view.label}, {cell.variant}: " for cell in models[0].cells)
    notes = [note for note in models[0].notes if not note.startswith(cells)]
    return [note for note in notes if all(note in model.notes for model in models)]


def remarks(results: Sequence[RunResult]) -> Iterator[str]:
    """Notes and problems of all runs, as sentences; a note on the spans, which all models have, once."""
    models = [result for result in results if not result.from_pixels]
    common = _common_notes(models) if len(models) > 1 else []
    yield from (f"All: {note}" for note in common)
    for result in results:
        head = f"{result.title}: " if len(results) > 1 else ""
        said = [note for model in models for note in model.notes] if result.from_pixels else common
        for note in result.notes:
            if note not in said:
                yield head + note
        for kind, (count, places) in result.problems.items():
            first = f" First: {', '.join(places)}." if places else ""
            yield f"{head}{describe_problem(kind, count)}.{first}"


def _score_panels(results: Sequence[RunResult]) -> Iterator[ChartRows]:
    """A panel for each main metric: the bars of every cell, run by run."""
    for metric in results[0].task.main_metrics:
        groups = []
        for result in results:
            cells = [
                (f"{cell.variant}, {cell.view.label}", cell.metrics[metric])
                for cell in result.cells
                if metric in cell.metrics
            ]
            bars = [(name, interval_bar(mean.value, mean.low, mean.high), percent(mean.value)) for name, mean in cells]
            groups.append((result.title if len(results) > 1 else "", bars))
        if any(bars for _, bars in groups):
            label = results[0].task.metrics[metric].label
            yield ChartRows(title=f"{label}, %", axis=("0", "50", "100"), groups=groups)


def _with_axis(drawing: Markup) -> Markup:
    """A drawing with an axis of percentages on its left."""
    ends = Markup("<span>0</span><span>50</span><span>100</span>")
    return Markup('<div class="upright"><span class="axis" aria-hidden="true">{}</span>{}</div>').format(ends, drawing)


def _json_value(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> dict[str, Any]:
    runs: dict[str, Any] = {"runs": [result.as_json() for result in results]}
    if comparisons:
        names = results[0].task.field_names
        runs["comparisons"] = [as_named(asdict(comparison), names) for comparison in comparisons]
    return runs


def _csv_table(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> Table:
    rows = [*_rows_of_runs(results), *_rows_of_comparisons(results, comparisons)]
    names = results[0].task.field_names
    return Table(title="", heads=[names.get(head, head) for head in CSV_COLUMNS], labels=0, rows=rows)


def _rows_of_runs(results: Sequence[RunResult]) -> Iterator[Row]:
    """A line for each metric of each cell, of each group of units, and of each paired difference."""
    for result in results:
        for row in result.long_rows():
            values = list(row.values())
            texts, shares, (units, clusters, missing) = values[:7], values[7:-3], values[-3:]
            size = _size(results) if units is None else (units, clusters)
            signature = str(result.signature)
            yield (*(text or "" for text in texts), *map(Percent, shares), *size, missing, *_NO_TESTS, signature)


def _rows_of_comparisons(results: Sequence[RunResult], comparisons: Sequence[Comparison]) -> Iterator[Row]:
    """A line for each metric of each comparison; the tests stand in that of the metric that ranks."""
    for item in comparisons:
        head = (f"{item.a} - {item.b}", "", item.variant, item.view.value)
        for name, estimate in item.metrics.items():
            tests: Row = _NO_TESTS
            if name == next(iter(item.metrics)):
                p_values = item.p_mcnemar, item.p_clusters, item.p_corrected
                tests = (item.only_a, item.only_b, *map(Number, p_values))
            signature = str(results[0].signature)
            yield (*head, "", "", name, *_numbers(estimate), *_size(results), None, *tests, signature)


def _size(results: Sequence[RunResult]) -> tuple[int | None, int | None]:
    """Units and clusters, where all cells of all runs have the same."""
    sizes = {(cell.units, cell.clusters) for _, cell in cells_of(results)}
    return sizes.pop() if len(sizes) == 1 else (None, None)


def _numbers(estimate: Estimate) -> tuple[Percent, ...]:
    return tuple(map(Percent, (estimate.value, estimate.sd_units, estimate.sd_clusters, estimate.low, estimate.high)))
