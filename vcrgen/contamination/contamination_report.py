"""A report on contamination as a document: for each test its table, its findings, and what it cannot show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from vcrgen.contamination.records import CanaryOutcome, ContaminationReport, Contrast, RecoveredShare, Verdict
from vcrgen.plurals import pluralize
from vcrgen.report.charts import difference_bar, reach
from vcrgen.report.document import ChartRows, Document, Section
from vcrgen.report.table import MINUS, Interval, Number, Percent, PValue, Table, TableCell, percent
from vcrgen.scorer.comparison import format_gap
from vcrgen.scorer.records import UNSTATED

SCHEMA = "vcrgen-contamination-2"
CSV_COLUMNS = (
    "part",
    "data",
    "against",
    "mode",
    "view",
    "percent",
    "low",
    "high",
    "spans",
    "images",
    "p",
    "p_holm",
    "verdict",
    "signature",
)
FEW_IMAGES = 30
INTERVAL = "95 % interval"
Row: TypeAlias = tuple[TableCell, ...]


def contamination_document(report: ContaminationReport) -> Document:
    """Make the document of a report: the five tests in their order; skipped tests name the option that enables them."""
    sections = [_guessed(report), _unguessed(report), _fresh(report), _redrawn(report)] if report.data else []
    sections.append(_canary(report))
    if report.notes:
        sections.append(Section(title="Notes", notes=report.notes))
    return Document(
        title=f"Contamination tests of {report.model} on {_data(report)}",
        lead=summary(report),
        sections=sections,
        settings=f"Signature: {report.signature}" if report.signature else "",
        csv_table=Table(
            title="", heads=CSV_COLUMNS, labels=0, rows=[(*row, report.signature) for row in _rows(report)]
        ),
        json_value=_json_value(report),
    )


def summary(report: ContaminationReport) -> str:
    """The report in one sentence."""
    data, signs = _data(report), []
    for other, contrasts in (("of fresh pairs", report.fresh), ("of other spans of its images", report.redrawn)):
        if cells := [cell_name(each.ours) for each in contrasts if each.verdict is Verdict.MORE]:
            signs.append(f"it recovers more than {other} ({'; '.join(dict.fromkeys(cells))})")
    if repeated := dict.fromkeys(reply.data for reply in report.canary if reply.outcome is CanaryOutcome.REPEATED):
        signs.append(f"it repeats the canary of {', '.join(repeated)}")
    if signs:
        return f"{report.model} shows signs of having seen {data}: {', and '.join(signs)}."
    if report.fresh or report.redrawn or report.canary:
        return f"No test shows that {report.model} had seen {data}, which is no proof that it had not."
    return f"Whether {report.model} had seen {data} was not tested: give --against, --redraw or --canary."


def _data(report: ContaminationReport) -> str:
    return report.data or report.canary[0].data


def _section(title: str, table: Table, found: Sequence[str], skipped: str, limit: str, **charts: Any) -> Section:
    """A test: its findings or, where it was skipped, how to enable it; then its table; then what it cannot show."""
    tables = [table] if table.rows else []
    return Section(title=title, text=found or [skipped], tables=tables, notes=[limit], **charts)


def _guessed(report: ContaminationReport) -> Section:
    return _section(
        "Text-only exact match",
        Table(
            title="Exact match without an image, in percent",
            heads=("Data", "Exact match", INTERVAL, "Spans", "Images"),
            labels=1,
            rows=[(share.data, *_figures(share)) for share in report.guessed],
        ),
        [
            f"Without an image, {report.model} recovers {_points(share)} of the spans of {share.data}: this much of a "
            "score needs no pixels."
            for share in report.guessed
            if share.data == report.data
        ],
        "Skipped: `vcrgen predict ... --view text-only` asks, into the same file, about a set that is not hidden.",
        "It does not separate guesses from the words around a gap from memorised captions.",
    )


def _unguessed(report: ContaminationReport) -> Section:
    shares = [each.unguessed for each in report.unguessed]
    figures = "; ".join(f"{cell_name(share)}: {percent(share.exact.value)} %" for share in shares)
    return _section(
        "Spans that were not guessed",
        Table(
            title="Exact match with an image, in percent",
            heads=("Mode", "View", "All spans", "Not guessed", INTERVAL, "Spans", "Images"),
            labels=2,
            rows=[
                (of.mode, of.view.label, Percent(each.all.exact.value), *_figures(of))
                for each, of in zip(report.unguessed, shares, strict=True)
            ],
        ),
        [f"Of the spans that no text-only run recovered, {report.model} recovers: {figures}."] if shares else [],
        "Skipped: it needs outputs with an image and without one, of the same questions.",
        "Another model may guess spans that these runs missed (--guesses takes more runs). A span that was read looks "
        "like one that was memorised.",
    )


def _fresh(report: ContaminationReport) -> Section:
    return _contrasts(
        report,
        report.fresh,
        title="The set against fresh pairs",
        of="of fresh pairs",
        skipped="Skipped: give --against FILE=DATASET, outputs of the same model on pairs that are younger than it.",
        limit="Fresh pairs may be harder or easier than those of the set. Take them from the same source, and build "
        "them with the same options; a difference is a sign, no proof.",
    )


def _redrawn(report: ContaminationReport) -> Section:
    return _contrasts(
        report,
        report.redrawn,
        title="The set against other spans of the same images",
        of="of other spans of its images",
        skipped="Skipped: `vcrgen build` with the set's source and options and another --seed makes a dataset of the "
        "same pairs with other spans (--split-seed keeps the splits); ask the model about it, and give "
        "--redraw FILE=DATASET.",
        limit="A model that memorised whole captions recovers their other spans, too: this test finds only one that "
        "memorised the items.",
    )


def _contrasts(
    report: ContaminationReport, contrasts: Sequence[Contrast], *, title: str, of: str, skipped: str, limit: str
) -> Section:
    """A test of differences; ``of`` is what the set is compared with."""
    rows: list[Row] = [
        (
            each.theirs.data,
            each.ours.mode,
            each.ours.view.label,
            Percent(each.ours.exact.value),
            Percent(each.theirs.exact.value),
            Percent(each.value, sign=True),
            Interval(each.low, each.high, sign=True),
            PValue(each.p),
            PValue(each.p_holm),
            each.verdict.value,
            f"{each.ours.images:,} / {each.theirs.images:,}",
            f"{each.ours.spans:,} / {each.theirs.spans:,}",
        )
        for each in contrasts
    ]
    heads = (
        "Against",
        "Mode",
        "View",
        "Set",
        "Other",
        "Difference",
        INTERVAL,
        "p",
        "Holm p",
        "Verdict",
        "Images",
        "Spans",
    )
    found = [_conclusion(report, each, of) for each in contrasts if each.excludes_zero]
    if undecided := [f"{cell_name(each.ours)} ({each.theirs.data})" for each in contrasts if not each.excludes_zero]:
        found.append(f"No difference is shown, as the interval includes 0: {'; '.join(undecided)}.")
    if few := [each for each in contrasts if min(each.ours.images, each.theirs.images) < FEW_IMAGES]:
        counts = "; ".join(f"{cell_name(each.ours)}, {each.theirs.data}: {_compared(each)}" for each in few)
        found.append(f"Few images: {counts}. With fewer than {FEW_IMAGES} an interval may miss the truth.")
    table = Table(title="Exact match, in percent", heads=heads, labels=3, rows=rows, breaks=(7,))
    return _section(title, table, found, skipped, limit, panels=_bars(report, contrasts))


def _compared(each: Contrast) -> str:
    """Return the number of compared images and spans of the set and of the other dataset."""
    images, spans = pluralize(each.theirs.images, "image"), pluralize(each.theirs.spans, "span")
    return f"{each.ours.images:,} and {images}, {each.ours.spans:,} and {spans}"


def _bars(report: ContaminationReport, contrasts: Sequence[Contrast]) -> list[ChartRows]:
    """The differences as bars, on one axis for all tests of the report."""
    if not contrasts:
        return []
    end = reach(end for each in (*report.fresh, *report.redrawn) for end in (each.low, each.high))
    bars = [
        (
            f"{cell_name(each.ours)} ({each.theirs.data})",
            difference_bar(each.value, each.low, each.high, reach=end),
            percent(each.value, sign=True),
        )
        for each in contrasts
    ]
    axis = (f"{MINUS}{100 * end:g}", "0", f"+{100 * end:g}")
    return [ChartRows(title="Set minus other, points of exact match", axis=axis, groups=[("", bars)])]


def _conclusion(report: ContaminationReport, each: Contrast, of: str) -> str:
    """The sentence about a difference whose interval excludes 0."""
    gap = format_gap(each.value, each.low, each.high, "points of exact match")
    more = Verdict.MORE if each.low > 0 else Verdict.LESS
    doubt = f" Among several tests chance may give as much (Holm's correction: p = {each.p_holm:.2g})."
    return (
        f"{cell_name(each.ours)}: {report.model} recovers {more} of {report.data} than {of} ({each.theirs.data}): "
        f"{gap}.{doubt if each.verdict is Verdict.OPEN else ''}"
    )


def _canary(report: ContaminationReport) -> Section:
    repeated = sum(reply.outcome is CanaryOutcome.REPEATED for reply in report.canary)
    replies = sum(reply.outcome is not CanaryOutcome.NO_REPLY for reply in report.canary)
    found = [f"None of {replies} replies holds digits of the canary."] if report.canary else []
    if repeated:
        found = [
            f"{repeated} of {replies} replies hold digits of the canary that were not shown, which nobody can guess: "
            f"{report.model} was trained on a file of the set."
        ]
    return _section(
        "The canary",
        Table(
            title="Replies",
            heads=("Set", "Prompt", "Canary"),
            labels=3,
            rows=[(reply.data, reply.way, reply.outcome.value) for reply in report.canary],
        ),
        found,
        "Skipped: `vcrgen predict PUBLIC ... --canary` asks a model for the canary of a hidden set.",
        "A repeated canary is proof; its absence is not: a model may have seen the set and not have learnt this line, "
        "or be kept from telling it.",
    )


def cell_name(share: RecoveredShare) -> str:
    """The view and the mode, for people."""
    return share.view.label if share.mode == UNSTATED else f"{share.view.label}, {share.mode}"


def _points(share: RecoveredShare) -> str:
    low, high = (percent(end) for end in (share.exact.low, share.exact.high))
    return f"{percent(share.exact.value)} % (95 % interval {low} to {high})"


def _figures(share: RecoveredShare) -> Row:
    return Percent(share.exact.value), Interval(share.exact.low, share.exact.high), share.spans, share.images


def _json_value(report: ContaminationReport) -> dict[str, Any]:
    values = {"schema": SCHEMA, "summary": summary(report), **asdict(report)}
    for name in ("fresh", "redrawn"):
        values[name] = [{**asdict(each), "verdict": each.verdict} for each in getattr(report, name)]
    return values


def _rows(report: ContaminationReport) -> Iterator[Row]:
    for share in report.guessed:
        yield "guessed", *_share_row(share)
    for each in report.unguessed:
        yield "all", *_share_row(each.all)
        yield "not guessed", *_share_row(each.unguessed)
    for part, contrasts in (("fresh", report.fresh), ("redrawn", report.redrawn)):
        for contrast in contrasts:
            a = contrast.ours
            numbers = map(Percent, (contrast.value, contrast.low, contrast.high))
            tests = map(Number, (contrast.p, contrast.p_holm))
            head = (part, a.data, contrast.theirs.data, a.mode, a.view.value)
            yield *head, *numbers, a.spans, a.images, *tests, contrast.verdict.value
    for reply in report.canary:
        yield "canary", reply.data, reply.way, *[None] * 9, reply.outcome.value


def _share_row(share: RecoveredShare) -> Row:
    numbers = map(Percent, (share.exact.value, share.exact.low, share.exact.high))
    return share.data, "", share.mode, share.view.value, *numbers, share.spans, share.images, None, None, ""
