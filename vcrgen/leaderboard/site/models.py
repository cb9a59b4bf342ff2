"""Pages of one model and of two, as texts for their templates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from markupsafe import Markup

from vcrgen.leaderboard.records import (
    SHOWN_METRICS,
    ComparePage,
    Figure,
    Group,
    ModelCell,
    ModelPage,
    ModelRun,
    Site,
    Track,
    Versus,
)
from vcrgen.leaderboard.site.names import board_name, compare_name
from vcrgen.leaderboard.site.texts import (
    Shown,
    day,
    decimals_of,
    file_size,
    language_name,
    mode_name,
    outcome_parts,
    p_value,
    shown,
    track_name,
)
from vcrgen.report import charts
from vcrgen.report.table import DECIMALS, percent
from vcrgen.scorer.tables import DIFFERENCE, METRIC_LABELS


class Score(NamedTuple):
    """A metric of one cell."""

    metric: str
    figure: Shown


class GroupLine(NamedTuple):
    """Exact match of some of the spans."""

    label: str
    spans: str
    exact: Shown | None
    jaccard: Shown | None


class OutcomeLine(NamedTuple):
    """How often something became of a span."""

    kind: str
    words: str
    spans: str
    share: str


class CellTexts(NamedTuple):
    """One mode and view of a model on one set."""

    name: str
    page: str
    rank: str
    places: str
    scores: list[Score]
    outcome_bar: Markup
    outcomes: list[OutcomeLine]
    groups: list[tuple[str, list[GroupLine]]]


class RunTexts(NamedTuple):
    """The file of a model that counts on one set."""

    set: str
    hidden: bool
    language: str
    received: str
    cells: list[CellTexts]
    differences: list[tuple[str, list[Score]]]
    reach: str
    file: str
    size: str
    signature: str


class OldFile(NamedTuple):
    """A file that does not count any more."""

    set: str
    received: str
    file: str
    size: str
    why: str


class VersusLine(NamedTuple):
    """One metric of two models."""

    metric: str
    a: Shown
    b: Shown
    difference: Shown


class VersusTexts(NamedTuple):
    """Two models in one mode and view of one set."""

    set: str
    hidden: bool
    name: str
    page: str
    lines: list[VersusLine]
    conclusion: str
    test: str


def run_texts(run: ModelRun) -> RunTexts:
    """A current file with all its scores."""
    track = run.cells[0].track if run.cells else None
    decimals = decimals_of(track) if track else DECIMALS
    reach = charts.reach_of([each for figures in run.differences.values() for each in figures.values()])
    differences = [
        (
            f"{mode_name(mode)}, {DIFFERENCE}",
            [
                Score(METRIC_LABELS[metric], _difference(figures[metric], decimals, reach))
                for metric in SHOWN_METRICS
                if metric in figures
            ],
        )
        for mode, figures in run.differences.items()
    ]
    return RunTexts(
        set=run.set,
        hidden=bool(track and track.hidden),
        language=language_name(track.language) if track else "",
        received=day(run.received),
        cells=[cell_texts(cell) for cell in run.cells],
        differences=differences,
        reach=f"{100 * reach:g}",
        file=run.file,
        size=file_size(run.bytes),
        signature=run.signature,
    )


def cell_texts(cell: ModelCell) -> CellTexts:
    """The scores of one mode and view."""
    track = cell.track
    parts = [] if track.hidden else outcome_parts(cell.outcomes)
    return CellTexts(
        name=track_name(track),
        page=board_name(track),
        rank=f"{cell.rank} of {cell.models}",
        places=f"{cell.rank} to {cell.lowest}" if cell.lowest != cell.rank else "",
        scores=[
            Score(METRIC_LABELS[metric], _score(cell.figures[metric], track))
            for metric in SHOWN_METRICS
            if metric in cell.figures
        ],
        outcome_bar=charts.stacked_bar([(kind, share) for kind, _, _, share in parts]),
        outcomes=[OutcomeLine(kind, words, f"{spans:,}", percent(share)) for kind, words, spans, share in parts],
        groups=[] if track.hidden else _groups(cell.groups, track),
    )


def old_files(page: ModelPage) -> list[OldFile]:
    """What was replaced or taken off."""
    return [
        OldFile(
            set=run.set,
            received=day(run.received),
            file=run.file,
            size=file_size(run.bytes),
            why=f"removed: {run.removed}" if run.removed else "replaced by a later file",
        )
        for run in page.runs
        if run.removed or not run.current
    ]


def versus_texts(page: ComparePage) -> tuple[list[VersusTexts], str]:
    """All parts of a comparison, drawn on one axis, and how many points it reaches on either side."""
    reach = charts.reach_of([each for part in page.parts for each in part.difference.values()])
    return [_versus(part, reach) for part in page.parts], f"{100 * reach:g}"


def partners(site: Site, entry: str) -> list[tuple[str, str, str, str]]:
    """The models that one can be compared with: entry, model, team and the comparison's page.

    Where no service answers, those whose comparison was exported.
    """
    return [
        (facts.entry, facts.model, facts.team, compare_name(entry, facts.entry))
        for facts in site.models
        if facts.entry != entry and (site.live or _compared(site, entry, facts.entry))
    ]


def _compared(site: Site, a: str, b: str) -> bool:
    return (a, b) in site.compared or (b, a) in site.compared


def _versus(part: Versus, reach: float) -> VersusTexts:
    decimals = decimals_of(part.track)
    lines = [
        VersusLine(
            METRIC_LABELS[metric],
            shown(part.a[metric], decimals),
            shown(part.b[metric], decimals),
            _difference(part.difference[metric], decimals, reach),
        )
        for metric in SHOWN_METRICS
        if metric in part.a and metric in part.b and metric in part.difference
    ]
    return VersusTexts(
        set=part.track.set,
        hidden=part.track.hidden,
        name=track_name(part.track),
        page=board_name(part.track),
        lines=lines,
        conclusion=part.conclusion,
        test=_test(part),
    )


def _test(part: Versus) -> str:
    sentences = []
    if part.only_a is not None and part.only_b is not None:
        sentences.append(f"Only A restored {part.only_a:,} of {part.track.spans:,} texts, only B {part.only_b:,}.")
    if part.p is not None:
        sentences.append(f"McNemar's exact test over single texts: p {p_value(part.p)}.")
    return " ".join(sentences)


def _groups(groups: Iterable[Group], track: Track) -> list[tuple[str, list[GroupLine]]]:
    found: dict[str, list[GroupLine]] = {}
    for group in groups:
        exact, jaccard = (group.figures.get(metric) for metric in SHOWN_METRICS)
        line = GroupLine(
            label=group.label,
            spans=f"{group.spans:,}",
            exact=_score(exact, track) if exact else None,
            jaccard=_score(jaccard, track) if jaccard else None,
        )
        found.setdefault(group.by, []).append(line)
    return list(found.items())


def _score(figure: Figure, track: Track) -> Shown:
    return shown(figure, decimals_of(track), bar=charts.interval_bar(figure))


def _difference(figure: Figure, decimals: int, reach: float) -> Shown:
    return shown(figure, decimals, sign=True, bar=charts.difference_bar(figure, reach))
