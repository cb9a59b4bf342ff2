"""Scores of samples by vcrgen's scorers, and their means over spans or items with errors clustered by image.

A sample is an image, and a mean is one over spans: so a sample's value holds sums, and the metric divides them.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from inspect_ai.scorer import SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from vcrgen.scorer.mcq.grammar import GRAMMAR, ReadingKind, read_choice
from vcrgen.scorer.records import Outcome
from vcrgen.scorer.scorer import make_scorer

_REASONS = {Outcome.REFUSED: "refusal", Outcome.EMPTY: "no_response", Outcome.FAILED: "no_response"}
_READINGS = {
    ReadingKind.REFUSED: "refusal", ReadingKind.EMPTY: "no_response", ReadingKind.INVALID: "invalid_response_format",
    ReadingKind.AMBIGUOUS: "invalid_response_format",
}  # fmt: skip
Sums = dict[str, float]


@metric(name="by_group")
def ratios(group: str, unit: str) -> Callable[[list[SampleScore]], dict[str, float]]:
    """Return the metric: of each value of ``group`` the ratio of sums over ``unit``, and its clustered standard error.

    Args:
        group: A key of the samples' metadata, such as ``mode``.
        unit: The key of values that counts, such as ``spans``.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        groups: dict[str, list[tuple[str, Sums]]] = defaultdict(list)
        for each in scores:
            known = each.sample_metadata or {}
            value = each.score.value
            assert isinstance(value, dict)
            sums = {name: float(number or 0) for name, number in value.items()}
            groups[str(known.get(group) or "all")].append((str(known.get("question_id")), sums))
        found: dict[str, float] = {}
        for name, samples in groups.items():
            for kind in samples[0][1]:
                if kind != unit:
                    mean, error = clustered_ratio([(key, sums[kind], sums[unit]) for key, sums in samples])
                    found |= {f"{name}_{kind}": mean, f"{name}_{kind}_stderr": error}
        return found

    return compute


def clustered_ratio(sums: Sequence[tuple[str, float, float]]) -> tuple[float, float]:
    """Return a ratio of sums and its standard error over clusters: ``(cluster, numerator, denominator)`` each.

    The error is that of a ratio by linearisation, with the factor C / (C - 1) for C clusters; NaN for one cluster.
    """
    clusters: dict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
    for name, value, count in sums:
        clusters[name] = clusters[name][0] + value, clusters[name][1] + count
    total, units = (math.fsum(each[at] for each in clusters.values()) for at in (0, 1))
    if not units:
        return math.nan, math.nan
    mean, size = total / units, len(clusters)
    squares = math.fsum((value - mean * count) ** 2 for value, count in clusters.values())
    return mean, math.sqrt(size / (size - 1) * squares) / units if size > 1 else math.nan


@scorer(metrics=[ratios("mode", "spans")])
def spans(lang: str, protocol: str = "vcrgen") -> Scorer:
    """Return the scorer of Visual Caption Restoration: sums of exact matches and Jaccard indices over an image's spans.

    Args:
        lang: Language of the dataset.
        protocol: As ``vcrgen score --protocol``.
    """
    own = make_scorer(lang, protocol=protocol)

    async def score(state: TaskState, target: Target) -> Score:
        result = own(list(target), state.output.completion)
        sums: Sums = {
            "exact": math.fsum(match.scores.exact for match in result.matches),
            "jaccard": math.fsum(match.scores.jaccard for match in result.matches),
            "spans": float(len(result.matches)),
        }
        outcomes = [match.outcome.value for match in result.matches]
        reason = _REASONS.get(result.outcome) if result.outcome else None
        return Score(value=sums, answer=state.output.completion, reason=reason, metadata={"outcomes": outcomes})

    return score


@scorer(metrics=[ratios("lang", "items")])
def choices(protocol: str = GRAMMAR) -> Scorer:
    """Return the scorer of MCQ benchmarks: whether the option that is read in the output is right.

    Args:
        protocol: As ``vcrgen score --protocol``.
    """

    async def score(state: TaskState, target: Target) -> Score:
        known, output = state.metadata, state.output.completion
        reading = read_choice(output, known["options"], rotation=known["rotation"], protocol=protocol)
        return Score(
            value={"right": float(reading.choice == int(target.text)), "items": 1.0}, answer=output,
            reason=_READINGS.get(reading.kind), metadata={"reading": reading.kind.value},
        )  # fmt: skip

    return score
