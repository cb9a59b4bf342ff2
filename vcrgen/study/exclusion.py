"""The rule by which a study excludes raters: one for payment and for the baseline, fixed when the study is made.

It counts failed attention checks, repeats with another answer, blank items, and items that were answered faster than
people read. Times are those of the service, never those that a browser sends.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from vcrgen.study.assignment import StepKind
from vcrgen.study.grading import finished_steps, typed_form
from vcrgen.study.records import RaterStep, StudyDesign, StudyItem
from vcrgen.text.languages import LANGUAGES


class Tally(NamedTuple):
    """How many of some things have a property."""

    number: int
    total: int

    @property
    def share(self) -> float:
        """The share, of at least one thing."""
        return self.number / self.total


class Conduct(NamedTuple):
    """What the rule looks at, of one rater."""

    checks: Tally  # right
    repeats: Tally  # texts typed as the first time
    blank: Tally  # items without a letter or digit, of those shown with their image
    fast: Tally  # items answered faster than people read, of all items


class Limit(NamedTuple):
    """A part of the rule."""

    option: str  # its name in `StudyOptions`
    tally: str  # its name in `Conduct`
    words: str  # for the counted things

    @property
    def is_least(self) -> bool:
        """Whether a smaller share excludes; else a larger one does."""
        return self.option.startswith("min_")


LIMITS = (
    Limit("min_checks", "checks", "attention checks right"),
    Limit("min_repeats", "repeats", "repeated texts typed alike"),
    Limit("max_blank", "blank", "items blank"),
    Limit("max_fast", "fast", "items answered faster than {speed}"),
)


def seconds_taken(served: float | None, answered: float | None, at: float) -> float | None:
    """The time of a step: since it was shown, or since the rater finished another one, whichever came later.

    A page asks for the next step ahead of time, and a program for all of them at once.

    Args:
        served: When the step was shown first; None if it never was, which counts as no time.
        answered: When the rater finished another step last, or None.
        at: Now, by the same clock.

    Returns:
        Seconds, or None where the clock was set back meanwhile.
    """
    if served is None:
        return 0.0
    taken = at - max(served, answered or 0.0)
    return taken if taken >= 0 else None


def rater_conduct(design: StudyDesign, items: Sequence[StudyItem], steps: Sequence[RaterStep]) -> Conduct:
    """Count what the rule looks at in the steps of one rater."""
    done = finished_steps(steps)
    seen = [step for step in done if step.step.condition not in design.text_only]
    blank = sum(not any(map(str.isalnum, "".join(step.response.texts))) for step in seen if step.response)
    speed = design.options["max_speed"]
    fast = sum(step.took is not None and step.took * speed < items[step.step.item].words for step in done)
    return Conduct(_checks(steps), _repeats(steps), Tally(blank, len(seen)), Tally(fast, len(done)))


def broken_limits(design: StudyDesign, conduct: Conduct) -> list[str]:
    """The parts of the rule that exclude a rater, such as ``0 of 2 attention checks right``; empty for none."""
    return [
        f"{tally.number} of {tally.total} {_words(design, limit)}"
        for limit in _limits(design)
        if (tally := getattr(conduct, limit.tally)).total
        and (
            tally.share < design.options[limit.option] if limit.is_least else tally.share > design.options[limit.option]
        )
    ]


def is_excluded(design: StudyDesign, items: Sequence[StudyItem], steps: Sequence[RaterStep]) -> bool:
    """Whether the rule of a study excludes the rater of these steps."""
    return bool(broken_limits(design, rater_conduct(design, items, steps)))


def exclusion_rule(design: StudyDesign) -> str:
    """The rule of a study, as ``raters with fewer than 50 % of ...``; empty where it excludes nobody."""
    parts = [
        f"{'fewer' if limit.is_least else 'more'} than {100 * design.options[limit.option]:g} % of their "
        f"{_words(design, limit)}"
        for limit in _limits(design)
    ]
    return f"raters with {', or '.join(parts)}" if parts else ""


def _limits(design: StudyDesign) -> Iterator[Limit]:
    """The parts of the rule that can exclude somebody in this study."""
    options = design.options
    counts = {"min_checks": options["checks"], "min_repeats": options["repeats"]}
    for limit in LIMITS:
        if counts.get(limit.option, 1) and (options[limit.option] > 0 if limit.is_least else options[limit.option] < 1):
            yield limit


def _words(design: StudyDesign, limit: Limit) -> str:
    unit = LANGUAGES[design.lang].length_unit if design.lang in LANGUAGES else "words"
    return limit.words.format(speed=f"{design.options['max_speed']:g} {unit} a second")


def _checks(steps: Iterable[RaterStep]) -> Tally:
    checks = finished_steps(steps, StepKind.CHECK)
    right = (check.response and typed_form(check.response.texts[0]) == check.step.word for check in checks)
    return Tally(sum(map(bool, right)), len(checks))


def _repeats(steps: Sequence[RaterStep]) -> Tally:
    first = {step.step.item: step.response for step in finished_steps(steps)}
    pairs = [
        (typed_form(a), typed_form(b))
        for repeat in finished_steps(steps, StepKind.REPEAT)
        if (before := first.get(repeat.step.item)) and repeat.response
        for a, b in zip(before.texts, repeat.response.texts, strict=True)
    ]
    return Tally(sum(a == b for a, b in pairs), len(pairs))
