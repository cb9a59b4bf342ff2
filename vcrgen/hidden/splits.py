"""The two splits of a set: feedback, scored during the open phase, and final, scored when it is closed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from vcrgen.data.key import FEEDBACK, FINAL
from vcrgen.hidden.secret import Secret

ATTEMPTS = 64  # the most balanced one counts


def draw_splits(secret: Secret, form: int, answers: Sequence[Mapping[str, Any]], count: int) -> list[str]:
    """Draw ``count`` items for the feedback split, balanced by mode, place and font.

    Each attempt is a systematic sample in an order by place and font, otherwise random. The attempt with the shares
    nearest to those of the set counts.

    Returns:
        The split of each item, in the order of the answers.
    """
    traits = [_traits(answer) for answer in answers]
    total = sum(traits, Counter[str]())
    items, share = len(answers), count / len(answers)
    best: tuple[float, frozenset[int]] = (float("inf"), frozenset())
    for drawing in range(ATTEMPTS):
        stage = f"part/{form}/{drawing}"
        order = sorted(
            range(items),
            key=lambda at: (answers[at]["strip"], answers[at]["font"], secret.token(stage, str(at))),
        )
        first = int(secret.random(stage, "first").random() * items)
        steps = [(place * count + first) // items for place in range(items + 1)]
        feedback = frozenset(
            at for at, (step, following) in zip(order, pairwise(steps), strict=True) if following > step
        )
        has = sum((traits[at] for at in feedback), Counter[str]())
        distance = sum((has[name] - share * number) ** 2 / number for name, number in sorted(total.items()))
        best = min(best, (distance, feedback), key=lambda drawn: drawn[0])
    return [FEEDBACK if at in best[1] else FINAL for at in range(items)]


def _traits(answer: Mapping[str, Any]) -> Counter[str]:
    """Traits that the splits are balanced by: covers of its spans, place of its strip, font."""
    traits = Counter(f"cover {span['cover']}" for span in answer["spans"])
    return traits + Counter([f"strip {answer['strip']}", f"font {answer['font']}"])
