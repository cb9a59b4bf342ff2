"""Scores of samples by vcrgen's scorers, and their means over spans or items with errors clustered by image.

A sample is an image, and a mean is one over spans: so a sample's value holds sums, and the metric divides them. Of an
MCQ benchmark, a sample is one order of an item's options, and the metric puts the orders together.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from inspect_ai.scorer import SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from vcrgen.scorer.mcq.choices import RULES, ReadingKind, read_choice
from vcrgen.scorer.records import Outcome
from vcrgen.scorer.scorer import make_scorer
from vcrgen.stats.bootstrap import StoredGroupSums, group_means

_REASONS = {Outcome.REFUSED: "refusal", Outcome.EMPTY: "no_response", Outcome.FAILED: "no_response"}
_READINGS = {
    ReadingKind.REFUSED: "refusal",
    ReadingKind.EMPTY: "no_response",
    ReadingKind.INVALID: "invalid_response_format",
    ReadingKind.AMBIGUOUS: "invalid_response_format",
}
Sums = dict[str, float]


@metric(name="by_mode")
def spans_by_mode() -> Callable[[list[SampleScore]], dict[str, float]]:
    """Metric of VCR: for each mode, means over spans with standard errors clustered by image."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        modes: dict[str, list[tuple[str, Sums]]] = defaultdict(list)
        for sample in scores:
            metadata, value = sample.sample_metadata or {}, sample.score.value
            assert isinstance(value, dict)
            sums = {name: float(number or 0) for name, number in value.items()}
            modes[str(metadata.get("mode") or "all")].append((str(metadata.get("question_id")), sums))
        figures: dict[str, float] = {}
        for mode, samples in modes.items():
            rows = [(image, (sums["exact"], sums["jaccard"]), sums["spans"]) for image, sums in samples]
            for kind, (mean, error) in zip(("exact", "jaccard"), clustered_ratios(rows), strict=True):
                figures |= {f"{mode}_{kind}": mean, f"{mode}_{kind}_stderr": error}
        return figures

    return compute


def clustered_ratios(samples: Sequence[tuple[str, Sequence[float], float]]) -> list[tuple[float, float]]:
    """Return ratios of sums with standard errors over clusters; a sample has a cluster, numerators and a denominator.

    The ratio is summed as `vcrgen score` sums it, so that it is the same in every digit. The error is that of a ratio
    by linearisation, with the factor C / (C - 1) for C clusters; NaN for one cluster.
    """
    numbers = {name: number for number, name in enumerate(dict.fromkeys(name for name, *_ in samples))}
    cluster, size = [numbers[name] for name, *_ in samples], len(numbers)
    counts = np.bincount(cluster, [count for *_, count in samples])[:, None].astype(np.float64)
    columns = zip(*(values for _, values, _ in samples), strict=True)
    values = np.column_stack([np.bincount(cluster, column) for column in columns]).astype(np.float64)
    means, _ = group_means(StoredGroupSums(values, counts, [0] * values.shape[1]))
    squares = ((values - means * counts) ** 2).sum(axis=0)
    errors = np.sqrt(size / (size - 1) * squares) / counts.sum() if size > 1 else np.full(len(means), math.nan)
    return list(zip(means.tolist(), errors.tolist(), strict=True))


@scorer(metrics=[spans_by_mode()])
def spans(lang: str, protocol: str = "vcrgen") -> Scorer:
    """Scorer of Visual Caption Restoration: sums of exact matches and Jaccard indices over an image's spans.

    Args:
        protocol: As ``vcrgen score --protocol``.
    """
    own = make_scorer(lang, protocol=protocol)

    async def score(state: TaskState, target: Target) -> Score:
        result = own(list(target), state.output.completion)
        sums: Sums = {
            "exact": sum(match.scores.exact for match in result.matches),
            "jaccard": sum(match.scores.jaccard for match in result.matches),
            "spans": float(len(result.matches)),
        }
        outcomes = [match.outcome.value for match in result.matches]
        reason = _REASONS.get(result.outcome) if result.outcome else None
        return Score(value=sums, answer=state.output.completion, reason=reason, metadata={"outcomes": outcomes})

    return score


@metric(name="by_language")
def items() -> Callable[[list[SampleScore]], dict[str, float]]:
    """Metric of MCQ benchmarks: accuracies in each language, with standard errors clustered by picture.

    ``rae`` is of the dataset's own order of options; ``circular`` is the share that is right in all orders.
    """

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        figures: dict[str, float] = {}
        orders: dict[str, int] = {}  # by item, as many as it has options
        languages: dict[str, dict[str, dict[int, tuple[str, float]]]] = defaultdict(lambda: defaultdict(dict))
        for sample in scores:
            metadata = sample.sample_metadata or {}
            readings = languages[str(metadata.get("lang"))][str(metadata.get("question_id"))]
            readings[metadata["rotation"]] = str(metadata.get("picture")), sample.score.as_float()
            orders[str(metadata.get("question_id"))] = len(metadata["options"])
        for lang, questions in languages.items():
            turned = [
                list(rotations.values()) for name, rotations in questions.items() if len(rotations) == orders[name]
            ]
            shares = {
                "rae": [(rotations[0][0], rotations[0][1:], 1.0) for rotations in questions.values() if 0 in rotations],
                "circular": [
                    (orders_read[0][0], (min(right for _, right in orders_read),), 1.0) for orders_read in turned
                ],
            }
            for name, sums in shares.items():
                if sums:
                    ((mean, error),) = clustered_ratios(sums)
                    figures |= {f"{lang}_{name}": mean, f"{lang}_{name}_stderr": error}
        return figures

    return compute


@scorer(metrics=[items()])
def choices(protocol: str = RULES) -> Scorer:
    """Scorer of MCQ benchmarks: 1 if the option that is read in the output is right.

    Args:
        protocol: As ``vcrgen score --protocol``.
    """

    async def score(state: TaskState, target: Target) -> Score:
        metadata, output = state.metadata, state.output.completion
        reading = read_choice(output, metadata["options"], rotation=metadata["rotation"], protocol=protocol)
        return Score(
            value=float(reading.choice == int(target.text)),
            answer=output,
            reason=_READINGS.get(reading.kind),
            metadata={"reading": reading.kind.value},
        )

    return score
