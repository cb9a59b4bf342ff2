"""Spans by what may make them hard: length, place in the image, visible ink, the segmenter's doubt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.records import AnswerSpan
from vcrgen.scorer.scorer import Scorer

LAST_POSITION = 4
MOST_LENGTHS = 8


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the spans.

    Attributes:
        by: The property.
        label: Its value, for people.
        spans: The numbers of the spans in the key's order.
    """

    by: str
    label: str
    spans: list[int]


def group_spans(key: AnswerKey, scorer: Scorer, mode: str) -> list[Group]:
    """All groups of a key's spans; a property with a single value makes none.

    Args:
        key: The answers.
        scorer: Its tokens are those of the lengths.
        mode: The mode whose visible ink counts.
    """
    spans = [span for question in key.questions for span in question.spans]
    positions = [n for question in key.questions for n, _ in enumerate(question.spans, start=1)]
    tokens = [len(scorer.prepare(span.text).tokens) for span in spans]
    groups = _by_value("position", positions, _position_label, LAST_POSITION)
    groups += _by_value("tokens", tokens, str, MOST_LENGTHS)
    groups += _by_quartile("characters", [float(len(span.text)) for span in spans], "{:.0f}")
    groups += _by_quartile("visible ink", [span.ink.get(mode) for span in spans], "{:.2f}")
    groups += _by_segmenter(spans, scorer)
    for trait in dict.fromkeys(trait for span in spans for trait in span.traits):
        groups += _by_label(trait, [span.traits.get(trait, "") for span in spans])
    return groups


def _position_label(position: int) -> str:
    return f"{position}. span" if position < LAST_POSITION else f"{position}. span and later"


def _by_value(by: str, values: Sequence[int], label: Callable[[int], str], most: int) -> list[Group]:
    """One group a value; values from ``most`` on are one group."""
    found: dict[int, list[int]] = {}
    for number, value in enumerate(values):
        found.setdefault(min(value, most), []).append(number)
    return [Group(by, label(value), found[value]) for value in sorted(found)] if len(found) > 1 else []


def _by_label(by: str, labels: Sequence[str]) -> list[Group]:
    """One group a label, in alphabetical order."""
    found: dict[str, list[int]] = {}
    for number, label in enumerate(labels):
        found.setdefault(label, []).append(number)
    return [Group(by, label, found[label]) for label in sorted(found)] if len(found) > 1 else []


def _by_quartile(by: str, values: Sequence[float | None], form: str) -> list[Group]:
    """Four groups of about equal size, of one where most values are equal."""
    known = sorted(value for value in values if value is not None)
    if len(known) < LAST_POSITION or known[0] == known[-1]:
        return []
    bounds = [known[len(known) * quarter // 4] for quarter in (1, 2, 3)]
    members: list[list[int]] = [[], [], [], []]
    for number, value in enumerate(values):
        if value is not None:
            members[sum(value >= bound for bound in bounds)].append(number)
    groups = []
    for numbers in filter(None, members):
        inside = [value for number in numbers if (value := values[number]) is not None]
        low, high = form.format(min(inside)), form.format(max(inside))
        groups.append(Group(by, low if low == high else f"{low}-{high}", numbers))
    return groups


def _by_segmenter(spans: Sequence[AnswerSpan], scorer: Scorer) -> list[Group]:
    """Whether a span on its own is cut into the tokens it has in its caption.

    Where it is not, an output that embeds the span in other words can hold it and still lack its tokens.
    """
    same: list[int] = []
    other: list[int] = []
    for number, span in enumerate(spans):
        if span.tokens is not None:
            (same if scorer.prepare(span.text).tokens == span.tokens else other).append(number)
    return [Group("segmenter", "agrees", same), Group("segmenter", "disagrees", other)] if same and other else []
