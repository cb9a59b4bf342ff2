"""The HTML report of a scoring: one file with all tables, drawings, and the worst and best items with their images."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from vcrgen.dataset.views import View
from vcrgen.media import data_uri
from vcrgen.report.charts import interval_bar
from vcrgen.report.pages import Templates
from vcrgen.report.table import percent
from vcrgen.scorer.comparison import Comparison
from vcrgen.scorer.curve_tables import curve_charts, curve_sentences
from vcrgen.scorer.curves import compare_thresholds
from vcrgen.scorer.images import read_images
from vcrgen.scorer.records import UNSTATED, SpanMatch
from vcrgen.scorer.results import RunResult, require_one_signature
from vcrgen.scorer.run import AnySession, Found, Outputs, Session
from vcrgen.scorer.tables import remarks, report_tables

EXAMPLES = 6
MAX_OUTPUT_SHOWN = 2000
OutputKey = tuple[str, str, View]  # the question's id, the mode and the view of an output
Card = tuple[Found, str]  # an output with its matches, and the image as a `data:` URI or an empty text


def as_html(
    session: AnySession,
    predictions: Sequence[Outputs],
    results: Sequence[RunResult],
    comparisons: Sequence[Comparison] = (),
) -> str:
    """A page that needs nothing beside it.

    The results are those of the session, with one signature; their outputs, ``predictions``, stand in the same order
    and are read again for the examples.

    Raises:
        ScoreError: The results have different signatures.
    """
    require_one_signature(results)
    tables, task = report_tables(results, comparisons), results[0].task
    return _templates().render(
        "report.html",
        title=f"Scores on {session.key.name}",
        cell=results[0].cells[0],
        task=task,
        language=results[0].lang,
        protocol=session.protocol,
        signature=results[0].signature,
        scores=tables[0],
        charts=[
            (task.metrics[metric].label, [_bars(result, metric) for result in results])
            for metric in task.shown
            if any(metric in cell.metrics for result in results for cell in result.cells)
        ],
        curves=curve_charts(results),
        curve_sentences=list(curve_sentences(results)),
        comparison=tables.pop() if comparisons else None,
        conclusions=[item.conclusion for item in (*comparisons, *(compare_thresholds(results) if comparisons else ()))],
        remarks=list(remarks(results)),
        examples=[
            (f"{head} items{f' of {result.title}' if len(results) > 1 else ''}", cards)
            for outputs, result in zip(predictions, results, strict=True)
            if isinstance(session, Session)
            for head, cards in zip(("Worst", "Best"), _examples(session, outputs, result), strict=True)
            if cards
        ],
        tables=tables[1:],
    )


def _bars(result: RunResult, metric: str) -> tuple[str, list[tuple[str, str, str]]]:
    """A run's title, and the label, drawing and mean of each of its cells."""
    cells = [
        (f"{cell.variant}, {cell.view.label}", cell.metrics[metric]) for cell in result.cells if metric in cell.metrics
    ]
    return result.title, [(name, interval_bar(of.value, of.low, of.high), percent(of.value)) for name, of in cells]


def _examples(session: Session, outputs: Outputs, result: RunResult) -> tuple[list[Card], list[Card]]:
    """The outputs of the lowest and of the highest score; no question comes twice."""
    ranked = _ranked(session, outputs, result)
    count = min(EXAMPLES, (len({question for question, _, _ in ranked}) + 1) // 2)
    worst = _first(ranked, count)
    taken = {question for question, _, _ in worst}
    best = _first((key for key in reversed(ranked) if key[0] not in taken), count)
    wanted = taken | {question for question, _, _ in best}
    found = {(each.question_id, each.mode, each.view): each for each in session.find(outputs, wanted)}
    images = _images(session, [*worst, *best])
    worst_cards, best_cards = ([(found[key], images.get(key, "")) for key in keys] for keys in (worst, best))
    return worst_cards, best_cards


def _ranked(session: Session, outputs: Outputs, result: RunResult) -> list[OutputKey]:
    """Every item with an output, the worst first: by exact match and Jaccard, then by characters.

    Of equals the one with more spans comes first: it is the better example.
    """
    answered = {
        (joined.question, *joined.cell) for joined in session.joined(outputs) if joined.prediction.output is not None
    }
    scored = []
    for (mode, view), resamples in result.resamples.items():
        row = 0
        for number, question in enumerate(session.key.questions):
            count = len(question.spans)
            if count and (number, mode, view) in answered:
                spans = resamples.scores[row : row + count]
                exact, jaccard, character = (float(spans[name].mean()) for name in ("exact", "jaccard", "character"))
                score = (exact + jaccard, character, -count)
                scored.append((score, (question.question_id, mode, view)))
            row += count
    return [item for _, item in sorted(scored)]


def _first(keys: Iterable[OutputKey], count: int) -> list[OutputKey]:
    """The first outputs of so many questions, one of each."""
    chosen: dict[str, OutputKey] = {}
    for key in keys:
        if len(chosen) < count:
            chosen.setdefault(key[0], key)
    return list(chosen.values())


def _images(session: Session, keys: Sequence[OutputKey]) -> dict[OutputKey, str]:
    """The images that a page may show, as ``data:`` URIs."""
    images: dict[OutputKey, str] = {}
    for mode in {mode for _, mode, _ in keys}:
        wanted: dict[str, set[View]] = {}
        for question_id, of, view in keys:
            if of == mode and view in session.task.image_views:
                wanted.setdefault(question_id, set()).add(view)
        for (question_id, view), data in read_images(session.key, mode, wanted).items():
            if uri := data_uri(data):
                images[question_id, mode, view] = uri
    return images


def _marked(output: str, matches: Sequence[SpanMatch]) -> list[tuple[str, str]]:
    """An output in pieces with the mark of each: ``exact``, ``near`` (the nearest to a span), or nothing."""
    marks = [""] * len(output)
    for match in sorted(matches, key=lambda match: match.exact):  # where two overlap, the exact one is shown
        for position in range(max(match.start, 0), min(match.end, len(output))):
            marks[position] = "exact" if match.exact else "near"
    pieces = groupby(zip(output, marks, strict=True), key=lambda pair: pair[1])
    return [("".join(char for char, _ in pairs), mark) for mark, pairs in pieces]


@functools.cache
def _templates() -> Templates:
    names: dict[str, Any] = {"percent": percent, "marked": _marked, "longest": MAX_OUTPUT_SHOWN, "UNSTATED": UNSTATED}
    return Templates("vcrgen.scorer", style="report.css", **names)
