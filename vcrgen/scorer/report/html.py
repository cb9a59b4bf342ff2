"""The HTML report: one file, no script, no request. Whatever came from a file is escaped; a policy forbids the rest."""

from __future__ import annotations

import base64
import functools
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from vcrgen.dataset.pictures import media_type
from vcrgen.dataset.views import View
from vcrgen.scorer.comparison import Comparison
from vcrgen.scorer.images import read_images
from vcrgen.scorer.records import UNSTATED
from vcrgen.scorer.report.chart import interval_chart
from vcrgen.scorer.report.tables import Table, percent, remarks, report_tables
from vcrgen.scorer.results import RunResult, require_one_signature
from vcrgen.scorer.run import Found, Outputs, Session

EXAMPLES = 6
EXTREME_BY = ("exact", "jaccard", "character")
MAX_OUTPUT_SHOWN = 2000
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def as_html(
    session: Session,
    predictions: Sequence[Outputs],
    results: Sequence[RunResult],
    comparisons: Sequence[Comparison] = (),
) -> str:
    """A self-contained page: scores, intervals as a chart, tables, and the worst and best items with their images.

    Args:
        session: What scored the results; it gives the examples.
        predictions: The outputs of the results, in the same order; read once more for the examples.
        results: One signature for all.
        comparisons: Of these results.

    Raises:
        ScoreError: The results have different signatures.
    """
    require_one_signature(results)
    title = f"Scores on {session.key.name}"
    tables = report_tables(results, comparisons)
    parts = [_scores_section(results, tables[0])]
    if comparisons:
        parts.append(_comparison_section(comparisons, tables.pop()))
    notes = "".join(f"<li>{escape(text)}</li>" for text in remarks(results))
    parts.append(f"<section><h2>Notes</h2><ul>{notes}</ul></section>" if notes else "")
    for outputs, result in zip(predictions, results, strict=True):
        parts.append(_examples_section(session, outputs, result, len(results) > 1))
    parts += [f"<section>{_table(table)}</section>" for table in tables[1:]]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_style()}</style></head><body><main>"
        f"<h1>{escape(title)}</h1>{_facts(session, results[0])}{''.join(parts)}</main></body></html>\n"
    )


def _facts(session: Session, result: RunResult) -> str:
    cell = result.cells[0]
    lead = f"{cell.images} images, {cell.spans} spans, language {result.lang}, protocol {session.scorer.protocol.name}."
    signature = f"<code>{escape(str(result.signature))}</code>"
    return f'<p class="lead">{escape(lead)}</p><p class="signature">Signature {result.signature.short}: {signature}</p>'


def _scores_section(results: Sequence[RunResult], table: Table) -> str:
    charts = []
    for name, label in (("exact", "Exact match"), ("jaccard", "Jaccard")):
        rows = []
        for result in results:
            head = f"{result.title}, " if len(results) > 1 else ""
            for cell in result.cells:
                rows.append((f"{head}{cell.mode}, {cell.view.label}", cell.metrics[name]))
        charts.append(f"<figure><figcaption>{label}, %</figcaption>{interval_chart(rows)}</figure>")
    caption = "<p>Points are means over spans; bars are 95 % intervals, images resampled 1,000 times.</p>"
    return f'<section>{_table(table)}{caption}<div class="charts">{"".join(charts)}</div></section>'


def _comparison_section(comparisons: Sequence[Comparison], table: Table) -> str:
    sentences = "".join(f"<li>{escape(item.conclusion)}</li>" for item in comparisons)
    return f"<section>{_table(table)}<ul>{sentences}</ul></section>"


def _table(table: Table) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        numbers = enumerate(cells)
        return "".join(f"<{tag}{'' if i < table.labels else ' class=n'}>{escape(cell)}</{tag}>" for i, cell in numbers)

    body = "".join(f"<tr>{row(cells, 'td')}</tr>" for cells in table.rows)
    return (
        f'<h2>{escape(table.title)}</h2><div class="wide"><table><thead><tr>{row(table.columns, "th")}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _examples_section(session: Session, outputs: Outputs, result: RunResult, named: bool) -> str:
    worst, best = _extremes(session, result)
    found = {
        (item.question_id, item.mode, item.view): item
        for item in session.find(outputs, {question for question, _, _ in (*worst, *best)})
    }
    title = f" of {escape(result.title)}" if named else ""
    sections = []
    for head, names in (("Worst", worst), ("Best", best)):
        items = [found[name] for name in names if name in found]
        images = _images(session, items)
        cards = "".join(_card(item, images.get((item.question_id, item.mode, item.view))) for item in items)
        sections.append(f'<section><h2>{head} items{title}</h2><div class="cards">{cards}</div></section>')
    return "".join(sections)


def _extremes(session: Session, result: RunResult) -> tuple[list[tuple[str, str, View]], list[tuple[str, str, View]]]:
    """The items with an output of the lowest and of the highest score; no question twice."""
    scored = []
    for (mode, view), resamples in result.resamples.items():
        row = 0
        for question in session.key.questions:
            count = len(question.spans)
            if count:
                means = {name: float(resamples.scores[name][row : row + count].mean()) for name in EXTREME_BY}
                # Exact match and Jaccard, then characters; of equals the one with more spans is the better example.
                scored.append(
                    (means["exact"] + means["jaccard"], means["character"], count, question.question_id, mode, view)
                )
            row += count
    scored.sort(key=lambda item: (item[0], item[1], -item[2], item[3:]))
    worst = _distinct(item[3:] for item in scored)
    best = _distinct((item[3:] for item in reversed(scored)), {name[0] for name in worst})
    return worst, best


def _distinct(names: Iterator[tuple[str, str, View]], taken: set[str] | None = None) -> list[tuple[str, str, View]]:
    chosen: dict[str, tuple[str, str, View]] = {}
    for name in names:
        if len(chosen) == EXAMPLES:
            break
        if name[0] not in (taken or ()):
            chosen.setdefault(name[0], name)
    return list(chosen.values())


def _images(session: Session, items: Sequence[Found]) -> dict[tuple[str, str, View], bytes]:
    images: dict[tuple[str, str, View], bytes] = {}
    for mode in {item.mode for item in items}:
        wanted: dict[str, set[View]] = {}
        for item in items:
            if item.mode == mode:
                wanted.setdefault(item.question_id, set()).add(item.view)
        for (question_id, view), data in read_images(session.key, mode, wanted).items():
            images[question_id, mode, view] = data
    return images


def _card(item: Found, image: bytes | None) -> str:
    kind = media_type(image) if image else None
    picture = ""
    if image and kind:
        data = base64.b64encode(image).decode()
        picture = f'<img alt="{escape(item.view.label)}" src="data:{kind};base64,{data}">'
    mode = "" if item.mode == UNSTATED else f", {item.mode}"
    rows = "".join(
        f"<tr><td>{escape(match.answer)}</td><td>{escape(match.ngram) or '<i>none</i>'}</td>"
        f"<td class=w>{escape(match.outcome.value)}</td><td class=n>{percent(match.jaccard)}</td></tr>"
        for match in item.matches
    )
    return (
        f'<article>{picture}<p class="id">{escape(item.question_id)} ({escape(item.view.label + mode)})</p>'
        "<table><thead><tr><th>Answer</th><th>Nearest</th><th class=w>Outcome</th><th class=n>Jaccard</th></tr></thead>"
        f'<tbody>{rows}</tbody></table><p class="output">{_marked(item)}</p></article>'
    )


def _marked(item: Found) -> str:
    """The output with every matched n-gram marked; nothing but marks is markup."""
    if item.output is None:
        return "<i>no output</i>"
    if not item.output.strip():
        return "<i>empty output</i>"
    text = item.output[:MAX_OUTPUT_SHOWN]
    exact: dict[int, bool] = {}
    for match in item.matches:
        for position in range(max(match.start, 0), min(match.end, len(text))):
            exact[position] = match.exact or exact.get(position, False)
    pieces, last = [], None
    for position, char in enumerate(text):
        state = exact.get(position)
        if state is not last:
            pieces.append(("</mark>" if last is not None else "") + _opening(state))
            last = state
        pieces.append(escape(char))
    pieces.append("</mark>" if last is not None else "")
    return "".join(pieces) + ("…" if len(item.output) > MAX_OUTPUT_SHOWN else "")


def _opening(state: bool | None) -> str:
    return "" if state is None else "<mark class=exact>" if state else "<mark>"


@functools.cache
def _style() -> str:
    return (files("vcrgen.scorer.report") / "report.css").read_text("utf-8")
