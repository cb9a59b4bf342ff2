"""What a report on contamination says: parts with a table, what they show in a sentence, and what they cannot show."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from vcrgen.contamination.records import CanaryOutcome, ContaminationReport, Contrast, RestoredShare, Verdict
from vcrgen.errors import ScoreError
from vcrgen.report.escape import escape_markdown, one_line
from vcrgen.report.forms import as_csv, as_markdown, as_narrow_latex
from vcrgen.report.table import MINUS, Interval, Number, Percent, PValue, Table, TableCell, percent
from vcrgen.scorer.records import UNSTATED
from vcrgen.scorer.tables import FORMATS

SCHEMA = "vcrgen-contamination-1"
CSV_COLUMNS = (
    "part", "data", "against", "mode", "view", "percent", "low", "high", "spans", "images", "p", "p_holm", "verdict",
    "signature",
)  # fmt: skip
INTERVAL = "95 % interval"
Row: TypeAlias = tuple[TableCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportPart:
    """One test: its table, and what may be concluded from it."""

    table: Table  # without rows where the test was not made
    says: Sequence[str]  # what was found or, where nothing was asked for, how to ask
    limit: str  # what it cannot show
    contrasts: Sequence[Contrast] = ()  # differences that can be drawn


def summary(report: ContaminationReport) -> str:
    """The report in one sentence."""
    data, signs = report.data or report.canary[0].data, []
    for other, contrasts in (("of fresh pairs", report.fresh), ("of other spans of its images", report.redrawn)):
        if more := [where(each.ours) for each in contrasts if each.verdict is Verdict.MORE]:
            signs.append(f"it restores more than {other} ({'; '.join(dict.fromkeys(more))})")
    if back := dict.fromkeys(reply.data for reply in report.canary if reply.outcome is CanaryOutcome.BACK):
        signs.append(f"the canary of {', '.join(back)} came back")
    if signs:
        return f"{report.model} shows signs of having seen {data}: {', and '.join(signs)}."
    if report.fresh or report.redrawn or report.canary:
        return f"No test shows that {report.model} had seen {data}, which is no proof that it had not."
    return f"Whether {report.model} had seen {data} was not tested: give --against, --redraw or --canary."


def parts(report: ContaminationReport) -> list[ReportPart]:
    """The five tests in their order; those that were not made say how to make them."""
    made = [_guessed(report), _unguessed(report), _fresh(report), _redrawn(report)] if report.data else []
    return [*made, _canary(report)]


def render(report: ContaminationReport, form: str) -> str:
    """The report as a document.

    Args:
        report: The report.
        form: ``md``, ``latex`` (for the packages booktabs and graphicx), ``csv`` (a line for each share and each
            difference, in percent, not rounded) or ``json`` (everything, as shares, not rounded).

    Raises:
        ScoreError: The form is another.
    """
    forms = {"md": _markdown, "csv": _csv, "latex": _latex, "json": _json}
    if form not in forms:
        raise ScoreError(f"Unknown format {form!r}; known: {', '.join(FORMATS)}.")
    return forms[form](report)


def _guessed(report: ContaminationReport) -> ReportPart:
    says = [
        f"Without an image, {report.model} restores {_points(share)} of the spans of {share.data}: so much of a score "
        "needs no pixels."
        for share in report.guessed
        if share.data == report.data
    ]
    return ReportPart(
        table=Table(
            title="Guessed without an image, in percent",
            heads=("Data", "Exact match", INTERVAL, "Spans", "Images"),
            labels=1,
            rows=[(share.data, *_figures(share)) for share in report.guessed],
        ),
        says=says
        or ["Not asked: `vcrgen predict ... --view text` asks, into the same file, of a set that is not hidden."],
        limit="It does not tell what was guessed from the words around a gap from what was known by heart.",
    )


def _unguessed(report: ContaminationReport) -> ReportPart:
    shares = [each.unguessed for each in report.unguessed]
    figures = "; ".join(f"{where(share)}: {percent(share.exact.value)} %" for share in shares)
    says = f"Of the spans that no run without an image restored, {report.model} restores so many: {figures}."
    return ReportPart(
        table=Table(
            title="On spans that were not guessed, in percent",
            heads=("Mode", "View", "All spans", "Not guessed", INTERVAL, "Spans", "Images"),
            labels=2,
            rows=[
                (of.mode, of.view.label, Percent(each.all.exact.value), *_figures(of))
                for each, of in zip(report.unguessed, shares, strict=True)
            ],
        ),
        says=[says if shares else "Not asked: it needs outputs with an image and without one, of the same questions."],
        limit="What these runs missed, another model may guess (--guesses takes more of them); and a span that was "
        "read looks like one that was remembered.",
    )


def _fresh(report: ContaminationReport) -> ReportPart:
    return _contrasts(
        report,
        report.fresh,
        title="The set against fresh pairs",
        of="of fresh pairs",
        how="Not asked: give --against FILE=DATASET, the outputs of the same model on pairs that are younger than it.",
        limit="Fresh pairs may be harder or easier than those of the set. Take them from the same source, and build "
        "them with the same options; a difference is a sign, no proof.",
    )


def _redrawn(report: ContaminationReport) -> ReportPart:
    return _contrasts(
        report,
        report.redrawn,
        title="The set against other spans of the same images",
        of="of other spans of its images",
        how="Not asked: `vcrgen build` with the set's source and options and another --seed makes a dataset of the "
        "same pairs with other spans; ask the model about it, and give --redraw FILE=DATASET.",
        limit="A model that knows whole captions by heart restores their other spans, too: this test finds only one "
        "that knows the items.",
    )


def _contrasts(
    report: ContaminationReport, contrasts: Sequence[Contrast], *, title: str, of: str, how: str, limit: str
) -> ReportPart:
    """A part about differences: ``of`` is what the set is compared with, ``how`` how to ask for it."""
    rows: list[Row] = [
        (
            each.theirs.data, each.ours.mode, each.ours.view.label, Percent(each.ours.exact.value),
            Percent(each.theirs.exact.value), Percent(each.value, sign=True),
            Interval(each.low, each.high, sign=True), PValue(each.p), PValue(each.p_holm), each.verdict.value,
        )
        for each in contrasts
    ]  # fmt: skip
    heads = ("Against", "Mode", "View", "Set", "Other", "Difference", INTERVAL, "p", "Holm p", "Verdict")
    says = [_conclusion(report, each, of) for each in contrasts if each.leaves_out_zero]
    if undecided := [f"{where(each.ours)} ({each.theirs.data})" for each in contrasts if not each.leaves_out_zero]:
        says.append(f"No difference is shown, as the interval includes 0: {'; '.join(undecided)}.")
    return ReportPart(
        table=Table(title=f"{title}, in percent", heads=heads, labels=3, rows=rows, breaks=(7,)),
        says=says or [how],
        limit=limit,
        contrasts=contrasts,
    )


def _conclusion(report: ContaminationReport, each: Contrast, of: str) -> str:
    """What may be said of a difference whose interval leaves out 0."""
    value, low, high = (percent(x, sign=True).replace(MINUS, "-") for x in (each.value, each.low, each.high))
    more = Verdict.MORE if each.low > 0 else Verdict.LESS
    doubt = f" Among several tests chance may give as much (Holm's correction: p = {each.p_holm:.2g})."
    return (
        f"{where(each.ours)}: {report.model} restores {more} of {report.data} than {of} ({each.theirs.data}): {value} "
        f"points of exact match (95 % interval {low} to {high}).{doubt if each.verdict is Verdict.OPEN else ''}"
    )


def _canary(report: ContaminationReport) -> ReportPart:
    back = sum(reply.outcome is CanaryOutcome.BACK for reply in report.canary)
    asked = sum(reply.outcome is not CanaryOutcome.NO_REPLY for reply in report.canary)
    says = "Not asked: `vcrgen predict PUBLIC ... --canary` asks a model for the canary of a hidden set."
    if back:
        says = (
            f"{back} of {asked} replies hold digits of the canary that were not shown, which nobody can guess: "
            f"{report.model} was trained on a file of the set."
        )
    elif report.canary:
        says = f"None of {asked} replies holds digits of the canary."
    return ReportPart(
        table=Table(
            title="The canary",
            heads=("Set", "Asked by", "Canary"),
            labels=3,
            rows=[(reply.data, reply.way, reply.outcome.value) for reply in report.canary],
        ),
        says=[says],
        limit="A canary that comes back proves; silence does not: a model may have seen the set and not have learnt "
        "this line, or be kept from telling it.",
    )


def where(share: RestoredShare) -> str:
    """The view and the mode, for people."""
    return share.view.label if share.mode == UNSTATED else f"{share.view.label}, {share.mode}"


def _points(share: RestoredShare) -> str:
    low, high = (percent(end) for end in (share.exact.low, share.exact.high))
    return f"{percent(share.exact.value)} % (95 % interval {low} to {high})"


def _figures(share: RestoredShare) -> Row:
    return Percent(share.exact.value), Interval(share.exact.low, share.exact.high), share.spans, share.images


def _markdown(report: ContaminationReport) -> str:
    blocks = [escape_markdown(summary(report))]
    for part in parts(report):
        blocks.append(f"**{escape_markdown(part.table.title)}**")
        if part.table.rows:
            blocks.append(as_markdown(part.table))
        blocks.append("\n".join(f"- {escape_markdown(text)}" for text in (*part.says, part.limit)))
    if report.notes:
        blocks.append("\n".join(f"- {escape_markdown(note)}" for note in report.notes))
    if report.signature:
        blocks.append(f"Signature: `{report.signature}`")
    return "\n\n".join(blocks) + "\n"


def _latex(report: ContaminationReport) -> str:
    lines = [
        "% needs \\usepackage{booktabs,graphicx}",
        f"% {one_line(report.signature)}",
        f"% {one_line(summary(report))}",
    ]
    for part in parts(report):
        lines.append(f"\n% {one_line(part.table.title)}")
        if part.table.rows:
            lines.append(as_narrow_latex(part.table))
        lines += [f"% {one_line(text)}" for text in (*part.says, part.limit)]
    return "\n".join([*lines, *(f"% {one_line(note)}" for note in report.notes)]) + "\n"


def _json(report: ContaminationReport) -> str:
    values = {"schema": SCHEMA, "summary": summary(report), **asdict(report)}
    for name in ("fresh", "redrawn"):
        values[name] = [{**asdict(each), "verdict": each.verdict} for each in getattr(report, name)]
    return json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _csv(report: ContaminationReport) -> str:
    return as_csv(
        Table(title="", heads=CSV_COLUMNS, labels=0, rows=[(*row, report.signature) for row in _rows(report)])
    )


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


def _share_row(share: RestoredShare) -> Row:
    numbers = map(Percent, (share.exact.value, share.exact.low, share.exact.high))
    return share.data, "", share.mode, share.view.value, *numbers, share.spans, share.images, None, None, ""
