"""Runs on the same questions, pair by pair: paired bootstrap, McNemar's test, and what may be concluded from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from vcrgen.dataset.views import View
from vcrgen.errors import ScoreError
from vcrgen.report.table import MINUS, percent
from vcrgen.scorer.results import CellResult, Estimate, RunResult, require_one_signature
from vcrgen.scorer.statistics import differences
from vcrgen.stats.paired import Paired, discordant, holm, mcnemar, paired

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
    p_images: (
        float  # two-sided p-value of exact match over resampled images: below 0.05 where the interval leaves out 0
    )
    p_holm: float  # the same, corrected by Holm for the number of comparisons that were made at once
    conclusion: str  # a plain sentence


def compare(results: Sequence[RunResult]) -> list[Comparison]:
    """Compare every pair of two or more runs of one signature in every mode and view that both have."""
    if len(results) < 2:
        raise ScoreError("A comparison needs two runs or more; name another file.")
    require_one_signature(results)
    comparisons = []
    for a, b in combinations(results, 2):
        cells = {(cell.mode, cell.view): cell for cell in b.cells}
        common = [cell for cell in a.cells if (cell.mode, cell.view) in cells]
        if not common:
            raise ScoreError(f"{a.name} and {b.name} have no mode and view in common, so they cannot be compared.")
        comparisons += [_compare_cells(a, b, cell) for cell in common]
    return _corrected(comparisons)


def _compare_cells(a: RunResult, b: RunResult, cell: CellResult) -> Comparison:
    of_a, of_b = (run.resamples[cell.mode, cell.view] for run in (a, b))
    only_a, only_b = discordant(of_a.scores["exact"] == 1, of_b.scores["exact"] == 1)
    exact = paired(of_a.means["exact"], of_b.means["exact"])
    p = mcnemar(only_a, only_b)
    sentence = conclude(a.title, b.title, exact, only_a + only_b, p, cell.images)
    return Comparison(
        a=a.title,
        b=b.title,
        mode=cell.mode,
        view=cell.view,
        metrics=differences(of_a, of_b),
        only_a=only_a,
        only_b=only_b,
        p_mcnemar=p,
        p_images=exact.p,
        p_holm=exact.p,
        conclusion=f"{cell.mode}, {cell.view.label}: {sentence}",
    )


def _corrected(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The comparisons with p-values for their number; says of which that number takes the conclusion away."""
    corrected = []
    for each, p in zip(comparisons, holm([each.p_images for each in comparisons]), strict=True):
        doubt = f" Among {len(comparisons)} comparisons chance may give as much (Holm's correction: p = {p:.2g})."
        lost = each.p_images < ALPHA <= p
        corrected.append(replace(each, p_holm=p, conclusion=each.conclusion + (doubt if lost else "")))
    return corrected


def conclude(a: str, b: str, exact: Paired, discordant: int, p: float, images: int) -> str:
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
