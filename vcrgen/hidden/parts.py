"""The two parts of a set: feedback, scored while a phase is open, and final, scored when it is closed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from vcrgen.dataset.key import FEEDBACK, FINAL
from vcrgen.hidden.secret import Secret

DRAWINGS = 64  # the most balanced one counts


def draw_feedback(secret: Secret, form: int, answers: Sequence[Mapping[str, Any]], count: int) -> list[str]:
    """Draw ``count`` items for the feedback part, so that the spans of both parts are alike.

    Each drawing takes every so-manieth item in an order by place and font, that is random otherwise. Of several
    drawings the one counts whose shares of easy spans, hard spans, places and fonts are nearest to those of the set.

    Args:
        secret: Decides.
        form: The number of the form, from 0.
        answers: Lines of the key, in its order.
        count: Items of the feedback part.

    Returns:
        The part of each item, in the order of the answers.
    """
    traits = [_traits(answer) for answer in answers]
    total = sum(traits, Counter[str]())
    items, share = len(answers), count / len(answers)
    best: tuple[float, frozenset[int]] = (float("inf"), frozenset())
    for drawing in range(DRAWINGS):
        stage = f"part/{form}/{drawing}"
        order = sorted(
            range(items),
            key=lambda at: (answers[at]["strip"], answers[at]["font"], secret.token(stage, str(at))),
        )
        first = int(secret.random(stage, "first").random() * items)
        steps = [(place * count + first) // items for place in range(items + 1)]
        chosen = frozenset(at for at, (step, following) in zip(order, pairwise(steps), strict=True) if following > step)
        has = sum((traits[at] for at in chosen), Counter[str]())
        distance = sum((has[name] - share * each) ** 2 / each for name, each in sorted(total.items()))
        best = min(best, (distance, chosen), key=lambda drawn: drawn[0])
    return [FEEDBACK if at in best[1] else FINAL for at in range(items)]


def _traits(answer: Mapping[str, Any]) -> Counter[str]:
    """What both parts should have in the same shares, by name."""
    traits = Counter(f"cover {span['cover']}" for span in answer["spans"])
    return traits + Counter([f"strip {answer['strip']}", f"font {answer['font']}"])
