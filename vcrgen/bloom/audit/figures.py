"""What an audit tells of a question set: how much of it is in order, what is wrong, and how much raters agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from vcrgen.bloom.audit.answers import ERRORS, AuditVerdict, Problem, RaterAnswers, RaterVerdict
from vcrgen.bloom.audit.draw import Draw
from vcrgen.stats.agreement import ac1, kappa, same_pairs
from vcrgen.stats.strata import StratifiedMean, Stratum, stratified_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement:
    """How often two who judged the same items said the same."""

    items: int  # judged by both
    same: float  # share of them of which both said the same
    ac1: float | None  # Gwet's
    kappa: float | None  # Fleiss'; None where all said the same one thing


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterFigures:
    """What one rater did: who has not sent a file, who approves all, who cannot answer."""

    rater: int
    dealt: int
    judged: int
    approved: int
    own: tuple[int, int]  # own answers that are the key, and all


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """A judge's verdicts against those of people, on the items that both judged."""

    both: int  # approved by the judge and by every rater
    judge_only: int  # a rater rejected it
    people_only: int  # the judge rejected it
    neither: int
    agreement: RaterAgreement | None
    problems: Mapping[Problem, int]  # lines that do not count


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFigures:
    """An audit in numbers. A rate is the mean over items of the share of an item's raters who say so."""

    drawn: int
    audited: int  # items of which a rater said something
    approved: float  # of these, those in order; an item on which two raters differ is a half
    overall: StratifiedMean | None  # rate of the whole set; each leaf counts by its items
    levels: Mapping[str, StratifiedMean]
    errors: Mapping[AuditVerdict, StratifiedMean]  # rate of each class of errors
    empty: Mapping[str, int]  # leaves of which nothing is audited, with their items; no rate speaks of them
    raters: tuple[RaterFigures, ...]
    agreement: RaterAgreement | None  # approve or not; None where no item has two verdicts
    classes: RaterAgreement | None  # all five verdicts
    problems: Mapping[Problem, int]
    judge: JudgeFigures | None


def audit_figures(
    draw: Draw,
    answers: RaterAnswers,
    keys: Mapping[str, str],
    *,
    judge: tuple[Mapping[str, AuditVerdict], Mapping[Problem, int]] | None = None,
) -> AuditFigures:
    """The figures of an audit.

    Args:
        draw: Which items were drawn.
        answers: What raters said of them.
        keys: The right option of each item, ``A`` to ``D``; a rater's own answer to one without it does not count.
        judge: What :func:`vcrgen.bloom.audit.answers.read_judge` gives.
    """
    said = {one: list(every.values()) for one, every in answers.said.items()}

    def rate(holds: Callable[[RaterVerdict], bool], level: str | None = None) -> StratifiedMean | None:
        values: dict[str, list[float]] = {}
        for item in draw.items:
            if item.question_id in said and level in (None, item.path.partition("/")[0]):
                values.setdefault(item.path, []).append(_share(said[item.question_id], holds))
        return stratified_mean(Stratum(draw.leaves[path], drawn) for path, drawn in values.items())

    levels = {path.partition("/")[0]: None for path in draw.leaves}
    pairs = [every for every in said.values() if len(every) > 1]
    audited = {item.path for item in draw.items if item.question_id in said}
    return AuditFigures(
        drawn=len(draw.items), audited=len(said), approved=sum(_share(every, _approves) for every in said.values()),
        overall=rate(_approves), levels={level: found for level in levels if (found := rate(_approves, level))},
        errors={error: found for error in ERRORS if (found := rate(partial(_names, error)))},
        empty={path: size for path, size in draw.leaves.items() if path not in audited},
        raters=tuple(_rater(number, draw, answers, keys) for number in range(1, draw.raters + 1)),
        agreement=_agreement([[_approves(one) for one in every] for every in pairs]),
        classes=_agreement([[one.verdict for one in every] for every in pairs]),
        problems=dict(answers.problems), judge=judge and _judged(said, *judge),
    )  # fmt: skip


def rejected(answers: RaterAnswers) -> list[str]:
    """The items that a rater did not approve, sorted."""
    return sorted(one for one, every in answers.said.items() if not all(map(_approves, every.values())))


def _rater(number: int, draw: Draw, answers: RaterAnswers, keys: Mapping[str, str]) -> RaterFigures:
    said = {one: every[number] for one, every in answers.said.items() if number in every}
    own = [each.answer == keys[one] for one, each in said.items() if each.answer and one in keys]
    return RaterFigures(
        rater=number, dealt=sum(number in item.raters for item in draw.items), judged=len(said),
        approved=sum(map(_approves, said.values())), own=(sum(own), len(own)),
    )  # fmt: skip


def _approves(said: RaterVerdict) -> bool:
    return said.verdict is AuditVerdict.APPROVE


def _names(error: AuditVerdict, said: RaterVerdict) -> bool:
    return said.verdict is error


def _share(every: list[RaterVerdict], holds: Callable[[RaterVerdict], bool]) -> float:
    return sum(map(holds, every)) / len(every)


def _agreement(units: list[list[bool]] | list[list[AuditVerdict]]) -> RaterAgreement | None:
    same, pairs = same_pairs(units)
    if not pairs:
        return None
    return RaterAgreement(items=len(units), same=same / pairs, ac1=ac1(units), kappa=kappa(units))


def _judged(
    said: Mapping[str, list[RaterVerdict]], verdicts: Mapping[str, AuditVerdict], problems: Mapping[Problem, int]
) -> JudgeFigures:
    units = [
        [verdicts[one] is AuditVerdict.APPROVE, all(map(_approves, every))]
        for one, every in said.items()
        if one in verdicts
    ]
    return JudgeFigures(
        both=units.count([True, True]), judge_only=units.count([True, False]), people_only=units.count([False, True]),
        neither=units.count([False, False]), agreement=_agreement(units), problems=dict(problems),
    )  # fmt: skip
