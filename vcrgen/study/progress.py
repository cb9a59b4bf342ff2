"""Agreement of raters on what they typed, while a study runs: nothing here needs an answer, as the service has none."""

from collections.abc import Sequence
from typing import NamedTuple

from vcrgen.stats.agreement import count_equal_pairs, krippendorff_alpha
from vcrgen.study.grading import finished_steps, typed_form
from vcrgen.study.records import RaterStep, StudyDesign


class LiveAgreement(NamedTuple):
    """Agreement on the fields of a condition that two raters or more have finished."""

    condition: str
    fields: int
    same: int  # pairs that typed the same but for case, quotes, width and spaces
    pairs: int
    alpha: float | None  # Krippendorff's, of the typed texts


def live_agreement(design: StudyDesign, steps: Sequence[RaterStep]) -> list[LiveAgreement]:
    """The agreement in each condition in which some field was typed twice; of an audit that on verdicts."""
    places = range(1, 2) if design.draw else None  # the second field of an audit is the verdict
    units: dict[int, dict[tuple[int, int], list[str]]] = {}
    for finished in finished_steps(steps):
        assert finished.response is not None
        for place, text in enumerate(finished.response.texts):
            if places is None or place in places:
                unit = units.setdefault(finished.step.condition, {}).setdefault((finished.step.item, place), [])
                unit.append(typed_form(text))
    agreements = []
    for number, by_place in sorted(units.items()):
        texts = [unit for unit in by_place.values() if len(unit) > 1]
        if texts:
            same, pairs = count_equal_pairs(texts)
            label = design.conditions[number].label
            agreements.append(LiveAgreement(label, len(texts), same, pairs, krippendorff_alpha(texts)))
    return agreements
