"""Forms of other pairs that are alike: which pair goes into which form, and how near the forms come to each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, pstdev
from typing import Any

from vcrgen.records import NAMED_MODES

Numbers = Sequence[float]


def assign(totals: Sequence[Numbers], pairs: Sequence[Numbers]) -> list[int]:
    """Give each form one of as many pairs, so that the forms' totals come near to each other.

    A form that has more than the others of something gets a pair that has less of it.

    Args:
        totals: Of each form the sums of its pairs' statistics so far.
        pairs: Of each pair its statistics: as many numbers, none of them negative.

    Returns:
        For each form the number of its pair.
    """
    means = [fmean(column) or 1.0 for column in zip(*pairs, strict=True)]

    def centred(rows: Sequence[Numbers]) -> list[list[float]]:
        centres = [fmean(column) for column in zip(*rows, strict=True)]
        return [[(x - c) / m for x, c, m in zip(row, centres, means, strict=True)] for row in rows]

    # The sum of squares of the new totals is least where the sum of these products is.
    cost = [[sum(t * x for t, x in zip(a, b, strict=True)) for b in centred(pairs)] for a in centred(totals)]
    chosen = list(range(len(pairs)))
    better = True
    while better:
        better = False
        for one, two in combinations(range(len(chosen)), 2):
            a, b = chosen[one], chosen[two]
            if cost[one][b] + cost[two][a] < cost[one][a] + cost[two][b] - 1e-9:
                chosen[one], chosen[two] = b, a
                better = True
    return chosen


def alike_report(forms: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """How alike forms are.

    Args:
        forms: The lines of each form's key.

    Returns:
        By name of a statistic the ``means`` of the forms, and how far the two most different of them are ``apart``, in
        standard deviations over all items (over all spans, for ink).
    """

    def ink(answers: Sequence[Mapping[str, Any]], mode: str) -> list[float]:
        return [span["visible_ink"] for answer in answers for span in answer["spans"] if span["cover"] == mode]

    values: dict[str, list[list[float]]] = {
        "spans": [[len(answer["spans"]) for answer in answers] for answers in forms],
        "letters": [[len(answer["caption"]) for answer in answers] for answers in forms],
        "covered letters": [[sum(map(len, answer["crossed_text"])) for answer in answers] for answers in forms],
    }
    values |= {f"visible ink, {mode}": [ink(answers, mode) for answers in forms] for mode in NAMED_MODES}
    return {name: _compared(of_forms) for name, of_forms in values.items() if all(of_forms)}


def _compared(of_forms: Sequence[Numbers]) -> dict[str, Any]:
    means = [fmean(values) for values in of_forms]
    spread = pstdev([value for values in of_forms for value in values])
    apart = (max(means) - min(means)) / spread if spread else 0.0
    return {"means": [round(mean, 3) for mean in means], "apart": round(apart, 3)}
