"""Groups of spans, against a plain count of the same."""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from vcrgen.scorer.answer_key import AnswerKey, Questions
from vcrgen.scorer.groups import NO_LABEL, Breakdown, SpanBreakdowns
from vcrgen.scorer.records import AnswerSpan, Question
from vcrgen.scorer.scorer import make_scorer

WORDS = ["a", "red", "lighthouse", "stands", "on", "the", "unbelievably", "high", "cliff"]


def make_key(seed: int, *, traits: bool) -> tuple[AnswerKey, list[tuple[int, AnswerSpan]]]:
    """A key of 1 to 40 questions with 0 to 6 spans, some of which lack what the others have."""
    rng, questions, spans = random.Random(seed), Questions(), []
    for number in range(rng.randint(1, 40)):
        inside = []
        for position in range(rng.randint(0, 6)):
            text = " ".join(rng.choices(WORDS, k=rng.randint(1, 10)))
            tokens = rng.choice([tuple(text.split()), tuple(text.split()), (text,), None])
            ink = {
                mode: rng.choice([0.1, 0.25, 0.254, rng.random()]) for mode in ("easy", "hard") if rng.random() < 0.9
            }
            named = {"font": rng.choice("abc"), **({"strip": "above"} if rng.random() < 0.5 else {})} if traits else {}
            bits = {"hard": rng.choice((0.0, 0.5, 3.99, 4.0, 12.0, 80.0))} if rng.random() < 0.8 else {}
            inside.append(AnswerSpan(text=text, tokens=tokens, ink=ink, traits=named, bits=bits))
            spans.append((position + 1, inside[-1]))
        questions.add(Question(question_id=str(number), spans=tuple(inside)))
    questions.close()
    return AnswerKey(name="k", lang="en", questions=questions, variants=("easy", "hard")), spans


BITS = {0.0: 0, 0.5: 0, 3.99: 2, 4.0: 3, 12.0: 6, 80.0: 6}  # numbers of their ranges


def by_value(values: Sequence[object], key: Callable[[object], object] = lambda value: value) -> list[list[int]]:
    """The numbers of the spans of each value, in the order of the values; nothing where there is but one."""
    found = sorted({value for value in values if value is not None}, key=key)  # type: ignore[type-var, arg-type]
    return [[n for n, value in enumerate(values) if value == one] for one in found] if len(found) > 1 else []


def by_quartile(values: Sequence[float | None]) -> list[list[int]]:
    values = [None if value is None else round(value, 2) for value in values]
    known = sorted(value for value in values if value is not None)
    if len(known) < 4 or known[0] == known[-1]:
        return []
    bounds = [known[len(known) * quarter // 4] for quarter in (1, 2, 3)]
    return by_value([None if value is None else sum(value >= bound for bound in bounds) for value in values]) or [
        [n for n, value in enumerate(values) if value is not None]
    ]


def members(part: Breakdown) -> list[list[int]]:
    codes = part.codes.tolist()
    assert set(codes) <= {*range(len(part.labels)), NO_LABEL}
    return [[n for n, code in enumerate(codes) if code == label] for label in range(len(part.labels))]


def test_labels_of_ink_do_not_overlap() -> None:
    """ "0.46" stood beside "0.46-0.47", as values were compared with all their digits and shown with two."""
    questions, rng = Questions(), random.Random(0)
    for number in range(200):
        span = AnswerSpan(text="a b", ink={"hard": round(rng.uniform(0.45, 0.49), 4)})
        questions.add(Question(question_id=str(number), spans=(span,)))
    questions.close()
    key = AnswerKey(name="k", lang="en", questions=questions, variants=("hard",))
    (ink,) = (part for part in SpanBreakdowns(key, make_scorer("en")).of_variant("hard") if part.by == "visible ink")
    ends = [[float(end) for end in label.split("-")] for label in ink.labels]
    assert len(ends) > 2 and all(before[-1] < after[0] for before, after in pairwise(ends))


@pytest.mark.parametrize("seed", range(10))
def test_every_property_is_a_plain_count(seed: int) -> None:
    key, spans = make_key(seed, traits=bool(seed % 2))
    scorer = make_scorer("en")
    tokens = [scorer.prepare(span.text).tokens for _, span in spans]
    same = [None if s.tokens is None else int(t != s.tokens) for (_, s), t in zip(spans, tokens, strict=True)]
    plain = {
        "position": by_value([min(position, 4) for position, _ in spans]),
        "tokens": by_value([min(len(t), 8) for t in tokens]),
        "characters": by_quartile([len(span.text) for _, span in spans]),
        "visible ink": by_quartile([span.ink.get("hard") for _, span in spans]),
        "pixel bits": by_value([BITS.get(span.bits.get("hard")) for _, span in spans]),
        "segmenter": by_value(same),
    }
    plain |= {name: by_value([s.traits.get(name, "") for _, s in spans]) for name in ("font", "strip")}
    properties = SpanBreakdowns(key, scorer)
    for row in random.Random(seed).sample(range(len(key)), len(key) // 2):  # the others are read from the key
        properties.observe(row, key.question(row))
    found = properties.of_variant("hard")
    assert {part.by: members(part) for part in found} == {by: groups for by, groups in plain.items() if groups}
    # Traits come in the order in which spans name them.
    assert [part.by for part in found][:6] == [by for by, groups in plain.items() if groups][:6]


def test_labels() -> None:
    questions = Questions()
    for number, (text, ink) in enumerate([("a b", 0.1), ("a b c", 0.2), ("a", 0.304), ("a b c d e f g h i", 0.4)]):
        span = AnswerSpan(text=text, tokens=(text,), ink={"easy": ink})
        questions.add(
            Question(question_id=str(number), spans=(span, AnswerSpan(text=text, tokens=tuple(text.split()))))
        )
    questions.close()
    key = AnswerKey(name="k", lang="en", questions=questions, variants=("easy",))
    labels = {part.by: part.labels for part in SpanBreakdowns(key, make_scorer("en")).of_variant("easy")}
    assert labels == {
        "position": ("1. span", "2. span"),
        "tokens": ("1", "2", "3", "8"),
        "characters": ("1", "3", "5", "17"),
        "visible ink": ("0.10", "0.20", "0.30", "0.40"),
        "segmenter": ("agrees", "disagrees"),
    }


def test_spans_that_nobody_can_restore() -> None:
    questions = Questions()
    for number in range(8):
        questions.add(Question(question_id=f"q{number}", spans=(AnswerSpan(text="x"), AnswerSpan(text=" "))))
    questions.close()
    found = SpanBreakdowns(AnswerKey(name="k", lang="en", questions=questions), make_scorer("en"))
    found.observe(7, questions[7])  # in whatever order they are seen
    assert found.empty == (8, ["q0", "q1", "q2", "q3", "q4"])
