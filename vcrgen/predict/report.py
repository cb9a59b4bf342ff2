"""What came of a run: replies by outcome, tokens, cost, and who answered; the content of ``preds.run.json``."""

import platform
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from vcrgen.models.base import Reply, ReplyOutcome
from vcrgen.models.run import NOT_SENT

VERSION = "vcrgen-run-1"
_PACKAGES = ("httpx2", "torch", "transformers", "peft")  # of models; named where this process has loaded them
_NAMES = 20  # of servers, models, ...: so many are told apart


@dataclass(slots=True)
class ReplyTally:
    """What some replies were, and what they cost.

    Attributes:
        price: Of a million tokens that are read, and that are written; None where nobody knows.
    """

    price: tuple[float, float] | None = None
    outcomes: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(ReplyOutcome, 0)))
    tokens: Counter[str] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)
    served: dict[str, Counter[str]] = field(default_factory=dict)
    thinking: int = 0  # replies with thinking
    seconds: float = 0.0  # of all answers

    def add(self, reply: Reply) -> None:
        """Count one more."""
        self.outcomes[reply.outcome] += 1
        self.tokens.update(reply.usage)
        self.retries.update(reply.retries)
        self.thinking += bool(reply.thinking)
        self.seconds += reply.seconds
        for name, value in {"model": reply.model, **reply.served}.items():
            values = self.served.setdefault(name, Counter())
            if value and (value in values or len(values) < _NAMES):
                values[value] += 1

    @property
    def replies(self) -> int:
        """How many."""
        return self.outcomes.total()

    @property
    def cost(self) -> float | None:
        """What the tokens cost; None where there is no price."""
        if self.price is None:
            return None
        return (self.tokens["input"] * self.price[0] + self.tokens["output"] * self.price[1]) / 1_000_000


def report_of(
    facts: Mapping[str, Any],
    choices: Sequence[Mapping[str, Any]],
    tally: ReplyTally,
    *,
    finished: bool,
    pictures: int,
    missing: Counter[str],
) -> dict[str, Any]:
    """The content of ``preds.run.json``.

    Args:
        facts: What decides the replies.
        choices: The pictures that are in the outputs, as the fields of :class:`vcrgen.dataset.pictures.Choice`.
        tally: Of the replies.
        finished: Whether the outputs were written.
        pictures: How many the last run was about.
        missing: How many of these have no reply, by the reason.
    """
    used = [name for name in _PACKAGES if name in sys.modules]
    return {
        "run": dict(facts),
        "finished": finished,
        "choices": choices,
        "pictures": pictures,
        "served": tally.served,
        "versions": {"python": platform.python_version()} | {name: version(name) for name in ("vcrgen", *used)},
        "outcomes": {**tally.outcomes, "failed": missing.total() - missing[NOT_SENT]},
        "without_reply": missing,
        "with_thinking": tally.thinking,
        "retries": tally.retries,
        "tokens": tally.tokens,
        "price": tally.price,
        "cost": tally.cost,
    }
