"""Two runs on the same questions: paired bootstrap and McNemar's test, and what may be concluded from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from vcrgen.dataset.views import View
from vcrgen.errors import ScoreError
from vcrgen.report.table import MINUS, percent
from vcrgen.scorer.results import CellResult, Estimate, RunResult, require_one_signature
from vcrgen.scorer.statistics import difference_of_means
from vcrgen.stats.paired import discordant, mcnemar

ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Run A minus run B in one mode and view."""

    a: str
    b: str
    mode: str
    view: View
    metrics: Mapping[str, Estimate]  # differences with intervals; images are resampled, the same for both
    only_a: int  # spans that only A restored exactly
    only_b: int  # spans that only B restored exactly
    p_mcnemar: float  # exact two-sided p-value of McNemar's test on those; it takes spans as independent
    conclusion: str  # a plain sentence


def compare(results: Sequence[RunResult]) -> list[Comparison]:
    """Compare every pair of two or more runs of one signature in every mode and view that both have."""
    if len(results) < 2:
        raise ScoreError("A comparison needs two files of outputs or more.")
    require_one_signature(results)
    comparisons = []
    for a, b in combinations(results, 2):
        cells = {(cell.mode, cell.view): cell for cell in b.cells}
        common = [(cell, cells[cell.mode, cell.view]) for cell in a.cells if (cell.mode, cell.view) in cells]
        if not common:
            raise ScoreError(f"{a.name} and {b.name} have no mode and view in common, so they cannot be compared.")
        comparisons += [_compare_cells(a, b, ours, theirs) for ours, theirs in common]
    return comparisons


def _compare_cells(a: RunResult, b: RunResult, ours: CellResult, theirs: CellResult) -> Comparison:
    name = (ours.mode, ours.view)
    of_a, of_b = a.resamples[name], b.resamples[name]
    only_a, only_b = discordant(of_a.scores["exact"] == 1, of_b.scores["exact"] == 1)
    metrics = difference_of_means(ours, theirs, of_a, of_b)
    p = mcnemar(only_a, only_b)
    return Comparison(
        a=a.title,
        b=b.title,
        mode=ours.mode,
        view=ours.view,
        metrics=metrics,
        only_a=only_a,
        only_b=only_b,
        p_mcnemar=p,
        conclusion=f"{ours.mode}, {ours.view.label}: "
        + conclude(a.title, b.title, metrics["exact"], only_a + only_b, p, ours.images),
    )


def conclude(a: str, b: str, exact: Estimate, discordant: int, p: float, images: int) -> str:
    """What may be said of two runs, ``a`` and ``b``.

    ``exact`` is the exact match of ``a`` minus that of ``b``, over so many resampled ``images``; ``p`` is McNemar's
    p-value of the ``discordant`` spans, which only one of them restored.
    """
    value, low, high = (percent(x, sign=True).replace(MINUS, "-") for x in (exact.value, exact.low, exact.high))
    gap = f"{value} points of exact match (95 % interval {low} to {high}, {images} images resampled)"
    if discordant == 0:
        return f"{a} and {b} restored exactly the same spans; nothing tells them apart here."
    if exact.low > 0 or exact.high < 0:
        better, worse = (a, b) if exact.value > 0 else (b, a)
        doubt = "" if p < ALPHA else f" McNemar's test does not confirm it (p = {p:.2g}): treat it with caution."
        return f"{better} restores more than {worse} on this data: {gap}.{doubt}"
    hint = f" McNemar's test alone would say otherwise (p = {p:.2g}), but it takes spans of one image as independent."
    hint = hint if p < ALPHA else ""
    return f"No difference between {a} and {b} is shown: {gap} includes 0. More images could show one.{hint}"
