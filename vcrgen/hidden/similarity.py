"""Similar forms of different pairs: assignment of pairs to forms, and a similarity report."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, pstdev
from typing import Any

Numbers = Sequence[float]


def assign(totals: Sequence[Numbers], pairs: Sequence[Numbers]) -> list[int]:
    """Assign one pair to each form so that the forms' totals become similar.

    Returns:
        The number of each form's pair.
    """
    means = [fmean(column) or 1.0 for column in zip(*pairs, strict=True)]

    def centred(rows: Sequence[Numbers]) -> list[list[float]]:
        centres = [fmean(column) for column in zip(*rows, strict=True)]
        return [[(x - c) / m for x, c, m in zip(row, centres, means, strict=True)] for row in rows]

    # The sum of squares of the new totals is least where the sum of these products is.
    cost = [[sum(t * x for t, x in zip(a, b, strict=True)) for b in centred(pairs)] for a in centred(totals)]
    assigned = list(range(len(pairs)))
    better = True
    while better:
        better = False
        for first, second in combinations(range(len(assigned)), 2):
            a, b = assigned[first], assigned[second]
            if cost[first][b] + cost[second][a] < cost[first][a] + cost[second][b] - 1e-9:
                assigned[first], assigned[second] = b, a
                better = True
    return assigned


def similarity_report(forms: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Compare the forms' key items: the ``means`` of each statistic, and how far they are ``apart`` at most.

    Distances are in standard deviations over all items (over all spans for ink).
    """

    def ink(answers: Sequence[Mapping[str, Any]], mode: str) -> list[float]:
        return [span["visible_ink"] for answer in answers for span in answer["spans"] if span["cover"] == mode]

    values: dict[str, list[list[float]]] = {
        "spans": [[len(answer["spans"]) for answer in answers] for answers in forms],
        "letters": [[len(answer["caption"]) for answer in answers] for answers in forms],
        "covered letters": [[sum(map(len, answer["crossed_text"])) for answer in answers] for answers in forms],
    }
    modes = sorted({str(span["cover"]) for answers in forms for answer in answers for span in answer["spans"]})
    values |= {f"visible ink, {mode}": [ink(answers, mode) for answers in forms] for mode in modes}
    return {name: _compared(of_forms) for name, of_forms in values.items() if all(of_forms)}


def _compared(of_forms: Sequence[Numbers]) -> dict[str, Any]:
    means = [fmean(values) for values in of_forms]
    spread = pstdev([value for values in of_forms for value in values])
    distance = (max(means) - min(means)) / spread if spread else 0.0
    return {"means": [round(mean, 3) for mean in means], "apart": round(distance, 3)}
