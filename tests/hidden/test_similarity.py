"""Forms of other pairs come near to each other, by figures that are counted by hand."""

import random
from typing import Any

import pytest

from vcrgen.hidden.similarity import assign, similarity_report


def test_who_has_more_gets_less() -> None:
    assert assign([(10, 100), (2, 20)], [(3, 30), (1, 10)]) == [1, 0]
    assert assign([(2, 20), (10, 100)], [(3, 30), (1, 10)]) == [0, 1]
    assert assign([(0, 0), (0, 0), (0, 0)], [(3, 1), (1, 1), (2, 1)]) == [0, 1, 2]  # nothing to even out yet


@pytest.mark.parametrize("forms", [2, 3, 5])
def test_totals_stay_together(forms: int) -> None:
    """After many pairs the forms' totals differ by less than a pair has; dealt out in turn, they would drift apart."""
    rng = random.Random(forms)
    totals, dealt = [[0.0] * 3 for _ in range(forms)], [0.0] * forms
    for _ in range(60):
        pairs = [(rng.randint(1, 5), rng.randint(40, 200), rng.random()) for _ in range(forms)]
        chosen = assign(totals, pairs)
        assert sorted(chosen) == list(range(forms))
        for form, number in enumerate(chosen):
            totals[form] = [a + b for a, b in zip(totals[form], pairs[number], strict=True)]
            dealt[form] += pairs[form][0]
    spans = [total[0] for total in totals]
    assert max(spans) - min(spans) <= 5 < max(dealt) - min(dealt)


def test_the_report() -> None:
    def answer(caption: str, *spans: tuple[str, float]) -> dict[str, Any]:
        rows = [{"cover": cover, "visible_ink": ink} for cover, ink in spans]
        return {"caption": caption, "crossed_text": ["abcd"] * len(spans), "spans": rows}

    one = [answer("a" * 10, ("easy", 0.5)), answer("a" * 30, ("hard", 0.2), ("hard", 0.3))]
    two = [answer("a" * 20, ("easy", 0.5)), answer("a" * 20, ("easy", 0.5))]
    report = similarity_report([one, two])
    assert report["spans"] == {"means": [1.5, 1.0], "apart": pytest.approx(0.5 / 0.433, abs=1e-3)}
    assert report["letters"] == {"means": [20, 20], "apart": 0.0}
    assert report["covered letters"]["means"] == [6, 4]
    assert report["visible ink, easy"] == {"means": [0.5, 0.5], "apart": 0.0}
    assert "visible ink, hard" not in report  # which one form lacks
