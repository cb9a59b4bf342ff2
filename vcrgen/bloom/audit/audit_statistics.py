"""Estimates of an audit: the share of a benchmark in order, classes of errors, and agreement of raters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from vcrgen.bloom.audit.draw import Draw
from vcrgen.bloom.audit.verdicts import ERRORS, AuditVerdict, AuditVerdicts, LineProblem, RaterVerdict
from vcrgen.stats.agreement import count_equal_pairs, fleiss_kappa, gwet_ac1
from vcrgen.stats.strata import StratifiedMean, Stratum, stratified_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAgreement:
    """Agreement of two who judged the same items."""

    items: int  # judged by both
    same: float  # share of them with the same verdict
    ac1: float | None  # Gwet's
    kappa: float | None  # Fleiss'; None where all verdicts are equal


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditorStatistics:
    """The work of one rater."""

    rater: int
    assigned: int
    judged: int
    approved: int
    own_answers: tuple[int, int]  # equal to the key, and all


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeStatistics:
    """A judge's verdicts against those of people, on the items that both judged."""

    both: int  # approved by the judge and by every rater
    judge_only: int  # a rater rejected it
    people_only: int  # the judge rejected it
    neither: int
    agreement: RaterAgreement | None
    problems: Mapping[LineProblem, int]  # rejected lines


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditStatistics:
    """Estimates of an audit. A rate is the mean over items of the share of an item's raters."""

    drawn: int
    audited: int  # items with a verdict
    approved: float  # of these, those in order; an item on which two raters differ is a half
    overall: StratifiedMean | None  # rate of the whole benchmark; each category counts by its items
    levels: Mapping[str, StratifiedMean]
    errors: Mapping[AuditVerdict, StratifiedMean]  # rate of each class of errors
    empty: Mapping[str, int]  # categories without a verdict, with their items; no rate covers them
    raters: tuple[AuditorStatistics, ...]
    agreement: RaterAgreement | None  # approved or not; None where no item has two verdicts
    classes: RaterAgreement | None  # all five verdicts
    problems: Mapping[LineProblem, int]
    judge: JudgeStatistics | None


def audit_statistics(
    draw: Draw,
    verdicts: AuditVerdicts,
    keys: Mapping[str, str],
    *,
    judge: tuple[Mapping[str, AuditVerdict], Mapping[LineProblem, int]] | None = None,
) -> AuditStatistics:
    """Estimate the rates of an audit.

    Args:
        verdicts: The verdicts on its items.
        keys: The right option of each item, ``A`` to ``D``; a rater's own answer to one without it does not count.
        judge: The verdicts that `vcrgen.bloom.audit.verdicts.read_judge` returns.
    """
    by_item = {item: list(own.values()) for item, own in verdicts.by_item.items()}

    def rate(holds: Callable[[RaterVerdict], bool], level: str | None = None) -> StratifiedMean | None:
        values: dict[str, list[float]] = {}
        for item in draw.items:
            if item.question_id in by_item and level in (None, item.path.partition("/")[0]):
                values.setdefault(item.path, []).append(_share(by_item[item.question_id], holds))
        return stratified_mean(Stratum(draw.categories[path], drawn) for path, drawn in values.items())

    levels = {path.partition("/")[0]: None for path in draw.categories}
    pairs = [both for both in by_item.values() if len(both) > 1]
    audited = {item.path for item in draw.items if item.question_id in by_item}
    return AuditStatistics(
        drawn=len(draw.items),
        audited=len(by_item),
        approved=sum(_share(of_item, _approves) for of_item in by_item.values()),
        overall=rate(_approves),
        levels={level: mean for level in levels if (mean := rate(_approves, level))},
        errors={error: mean for error in ERRORS if (mean := rate(partial(_is_error, error)))},
        empty={path: size for path, size in draw.categories.items() if path not in audited},
        raters=tuple(_auditor(number, draw, verdicts, keys) for number in range(1, draw.raters + 1)),
        agreement=_agreement([[_approves(verdict) for verdict in both] for both in pairs]),
        classes=_agreement([[verdict.verdict for verdict in both] for both in pairs]),
        problems=dict(verdicts.problems),
        judge=judge and _judge(by_item, *judge),
    )


def rejected_ids(verdicts: AuditVerdicts) -> list[str]:
    """The ids of items that a rater did not approve, sorted."""
    return sorted(item for item, own in verdicts.by_item.items() if not all(map(_approves, own.values())))


def _auditor(number: int, draw: Draw, verdicts: AuditVerdicts, keys: Mapping[str, str]) -> AuditorStatistics:
    judged = {item: by_rater[number] for item, by_rater in verdicts.by_item.items() if number in by_rater}
    own = [verdict.answer == keys[item] for item, verdict in judged.items() if verdict.answer and item in keys]
    return AuditorStatistics(
        rater=number,
        assigned=sum(number in item.raters for item in draw.items),
        judged=len(judged),
        approved=sum(map(_approves, judged.values())),
        own_answers=(sum(own), len(own)),
    )


def _approves(verdict: RaterVerdict) -> bool:
    return verdict.verdict is AuditVerdict.APPROVE


def _is_error(error: AuditVerdict, verdict: RaterVerdict) -> bool:
    return verdict.verdict is error


def _share(verdicts: list[RaterVerdict], holds: Callable[[RaterVerdict], bool]) -> float:
    return sum(map(holds, verdicts)) / len(verdicts)


def _agreement(units: list[list[bool]] | list[list[AuditVerdict]]) -> RaterAgreement | None:
    same, pairs = count_equal_pairs(units)
    if not pairs:
        return None
    return RaterAgreement(items=len(units), same=same / pairs, ac1=gwet_ac1(units), kappa=fleiss_kappa(units))


def _judge(
    by_item: Mapping[str, list[RaterVerdict]],
    verdicts: Mapping[str, AuditVerdict],
    problems: Mapping[LineProblem, int],
) -> JudgeStatistics:
    units = [
        [verdicts[item] is AuditVerdict.APPROVE, all(map(_approves, own))]
        for item, own in by_item.items()
        if item in verdicts
    ]
    return JudgeStatistics(
        both=units.count([True, True]),
        judge_only=units.count([True, False]),
        people_only=units.count([False, True]),
        neither=units.count([False, False]),
        agreement=_agreement(units),
        problems=dict(problems),
    )
