"""Statistics of a run: replies by outcome, tokens, cost, servers; the content of ``preds.run.json``."""

import platform
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

from vcrgen.core.plurals import pluralize
from vcrgen.models.base import Reply, ReplyOutcome
from vcrgen.models.run import NOT_SENT

VERSION = "vcrgen-run-1"
_PACKAGES = ("httpx2", "torch", "transformers", "peft")  # named if this process has loaded them
_NAMES = 20  # limit of names of servers, models, ...


@dataclass(slots=True)
class ReplyTally:
    """Statistics of replies; ``price`` is that of a million tokens, read and written."""

    price: tuple[float, float] | None = None
    outcomes: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(ReplyOutcome, 0)))
    tokens: Counter[str] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)
    served: dict[str, Counter[str]] = field(default_factory=dict)
    extra: Counter[str] = field(default_factory=Counter)  # tokens of checks and of unusable replies, in `tokens` too
    thinking: int = 0  # replies with thinking
    seconds: float = 0.0  # of all answers

    def add(self, reply: Reply) -> None:
        """Count a reply."""
        self.outcomes[reply.outcome] += 1
        self.tokens.update(reply.usage)
        for usage in reply.extra_usage.values():
            self.add_unusable(usage)
        self.retries.update(reply.retries)
        self.thinking += bool(reply.thinking)
        self.seconds += reply.seconds
        for name, value in {"model": reply.model, **reply.served}.items():
            values = self.served.setdefault(name, Counter())
            if value and (value in values or len(values) < _NAMES):
                values[value] += 1

    def add_unusable(self, usage: Mapping[str, int]) -> None:
        """Count tokens that no output shows."""
        self.tokens.update(usage)
        self.extra.update(usage)

    @property
    def replies(self) -> int:
        """Replies with any outcome."""
        return self.outcomes.total()

    @property
    def cost(self) -> float | None:
        """Cost in the unit of the price, which is for a million tokens; None without a price."""
        if self.price is None:
            return None
        return (self.tokens["input"] * self.price[0] + self.tokens["output"] * self.price[1]) / 1_000_000

    @property
    def spending(self) -> str:
        """Return tokens, and cost where there is a price, for people; empty if the server counts no tokens."""
        if not self.tokens["input"] and not self.tokens["output"]:
            return ""
        cost = "" if self.cost is None else f", cost {self.cost:,.4g}"
        return f"{pluralize(self.tokens['input'], 'token')} read, {self.tokens['output']:,} written{cost}"


def run_report(
    facts: Mapping[str, Any],
    choices: Sequence[Mapping[str, Any]],
    tally: ReplyTally,
    *,
    finished: bool,
    pictures: int,
    missing: Counter[str],
    prompt: Mapping[str, Any],
) -> dict[str, Any]:
    """Content of ``preds.run.json``.

    Args:
        facts: Everything that the replies depend on.
        pictures: Pictures of the last run.
        missing: Those without a reply, by reason.
    """
    used = [name for name in _PACKAGES if name in sys.modules]
    return {
        "run": dict(facts),
        "finished": finished,
        "choices": choices,
        "prompt": prompt,
        "pictures": pictures,
        "served": tally.served,
        "versions": {"python": platform.python_version()} | {name: version(name) for name in ("vcrgen", *used)},
        "outcomes": {**tally.outcomes, "failed": missing.total() - missing[NOT_SENT]},
        "without_reply": missing,
        "with_thinking": tally.thinking,
        "retries": tally.retries,
        "tokens": tally.tokens,
        "tokens_of_unusable_replies": tally.extra,
        "price": tally.price,
        "cost": tally.cost,
    }
