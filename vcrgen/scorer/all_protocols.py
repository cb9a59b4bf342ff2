"""The same outputs under every protocol of their task: a line for each, how many units differ, and by which rule.

A span that is exact under one protocol only is scored again with one rule of the other protocol at a time. The first
rule that alone gives the other result is the reason. Of items of MCQ benchmarks the two outcomes are the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from vcrgen.config.score import ScoreOptions
from vcrgen.errors import PipelineError, ScoreError
from vcrgen.scorer.citation import citation, leading_metric
from vcrgen.scorer.mcq.grammar import OPEN
from vcrgen.scorer.mcq.session import ItemSession
from vcrgen.scorer.records import CellName
from vcrgen.scorer.results import RunResult, assign_titles
from vcrgen.scorer.run import open_session
from vcrgen.scorer.scorer import Scorer
from vcrgen.scorer.session import BaseScoringSession, Run
from vcrgen.scorer.span_session import Session

_SEVERAL = "several rules together"


def protocol_lines(data: Path, files: Sequence[Path], options: ScoreOptions) -> Iterator[str]:
    """Yield the lines: of the default protocol one for each run, then those of the others with their differences.

    Raises:
        ScoreError: The options name a protocol or a judge.
        VcrgenError: The answers or a file cannot be read.
    """
    if options.protocol is not None or options.judge is not None:
        raise ScoreError("--all-protocols scores by every protocol; leave --protocol and --judge out.")
    base = open_session(data, options)
    runs = base.runs(files)
    results = assign_titles([base.score(run) for run in runs])
    yield from map(citation, results)
    for name in base.task.protocols[1:]:
        if name == OPEN:
            continue  # of outputs to other requests, without the options
        other = open_session(data, options.model_copy(update={"protocol": name}))
        try:
            other.preload()
        except (ScoreError, PipelineError) as problem:
            yield f"{name}: not scored. {problem}"
            continue
        for run, ours in zip(runs, results, strict=True):
            theirs = replace(other.score(run), label=ours.label)
            yield citation(theirs)
            yield f"  {_sentence(base, other, run, ours, theirs)}"


def _sentence(base: BaseScoringSession, other: BaseScoringSession, run: Run, ours: RunResult, theirs: RunResult) -> str:
    """State how many units have another score under the other protocol, and why."""
    changed = {name: _changed_units(base, ours, theirs, name) for name in theirs.resamples}
    compared, units = sum(cell.units for cell in theirs.cells), base.task.units
    count = sum(map(len, changed.values()))
    head = f"{other.protocol}: {count:,} of {compared:,} {units} differ from {base.protocol}"
    if not count:
        return f"{head}."
    reasons: Counter[str] = Counter()
    if isinstance(base, Session) and isinstance(other, Session):
        reasons.update(_rules(base, other, run, changed))
    elif isinstance(base, ItemSession) and isinstance(other, ItemSession):
        reasons.update(_outcomes(base, other, run, changed))
    ordered = sorted(reasons.items(), key=lambda found: (-found[1], found[0]))
    return f"{head}: {'; '.join(f'{number:,} {reason}' for reason, number in ordered)}."


def _changed_units(base: BaseScoringSession, ours: RunResult, theirs: RunResult, name: CellName) -> list[int]:
    """Return the numbers of the units of a cell whose leading score differs."""
    metric = leading_metric(base.task, theirs.cell(name[1], name[0]))
    a, b = (run.resamples[name].scores[metric] for run in (ours, theirs))
    changed: list[int] = np.flatnonzero((a != b) & ~(np.isnan(a) & np.isnan(b))).tolist()
    return changed


def _rules(base: Session, other: Session, run: Run, changed: Mapping[CellName, Sequence[int]]) -> Iterator[str]:
    """Yield of each changed span the protocol under which it is exact, and the rule that makes the difference."""
    starts = base.key.questions.starts
    places: dict[tuple[CellName, int], list[int]] = {}
    for name, units in changed.items():
        for unit in units:
            row = int(np.searchsorted(starts, unit, side="right")) - 1
            places.setdefault((name, row), []).append(unit - int(starts[row]))
    switched = dict(_with_rules_of(base.scorer, other.scorer))
    for prediction, row, name in base.matched_outputs(run):
        if (wanted := places.get((name, row))) is None or prediction.output is None:
            continue
        answers, output, failed = base.key.question(row).answers, prediction.output, prediction.failed
        first = base.scorer(answers, output, failed=failed).matches
        matches = {reason: scorer(answers, output, failed=failed).matches for reason, scorer in switched.items()}
        for place in wanted:
            was = first[place].exact
            reason = next((each for each, found in matches.items() if found[place].exact != was), _SEVERAL)
            yield f"exact under {(base if was else other).protocol} only ({reason})"


def _with_rules_of(ours: Scorer, theirs: Scorer) -> Iterator[tuple[str, Scorer]]:
    """Yield for each rule in which two protocols differ its name, and our scorer with this rule of theirs."""
    a, b = ours.protocol, theirs.protocol
    rules = {
        "length that is read": replace(ours, protocol=replace(a, budget=b.budget), max_tokens=theirs.max_tokens),
        "thinking blocks": replace(ours, strip_thinking=theirs.strip_thinking),
        "text up to the last Assistant:": replace(ours, protocol=replace(a, cut_prefix=b.cut_prefix)),
        "words of refusal": replace(ours, protocol=replace(a, refusal_is_zero=b.refusal_is_zero)),
        "text of a failed call": replace(ours, protocol=replace(a, failure_is_text=b.failure_is_text)),
        "tokens": replace(ours, protocol=replace(a, white_space=b.white_space), segmenter=theirs.segmenter),
        "nearest n-gram": replace(
            ours, protocol=replace(a, nearest=b.nearest, exact_by_tokens=b.exact_by_tokens, matcher=b.matcher)
        ),
    }
    for reason, scorer in rules.items():
        if scorer != ours:
            yield reason, replace(scorer, _spans={})


def _outcomes(
    base: ItemSession, other: ItemSession, run: Run, changed: Mapping[CellName, Sequence[int]]
) -> Iterator[str]:
    """Yield of each changed item its outcomes under both protocols."""
    ids = {name: {base.key.question(unit).question_id for unit in units} for name, units in changed.items()}
    wanted = set().union(*ids.values())
    for ours, theirs in zip(base.find_examples(run, wanted), other.find_examples(run, wanted), strict=True):
        if ours.item.question_id in ids[ours.lang, ours.view]:
            before, after = ours.result.outcome, theirs.result.outcome
            yield f"{before} under {base.protocol}, {after} under {other.protocol}"
