"""Regex-based answer extraction (RAE): the grammar of answers, and the published rule.

    options = ("a cat", "a dog", "a horse", "a cow")
    read_choice("The answer is (b).", options)      # chooses option 1, the dog
    read_choice("A or B", options)                  # ambiguous
    read_choice("Answer", options)                  # invalid: its first letter is no label

The grammar splits the output into clauses (``clauses.py``): denial, comparison, correction, conclusion, refusal. Each
says of the options that it names that they are declared, only named, merely possible, or denied.

1. Behind the last correction ("no, wait") the strongest claims count: declared ones before a line that is nothing but
   an option, before an option that is only named, before one that is merely possible.
2. Of declared options the last one wins. Of weaker ones that are not denied there has to be a single one.
3. Where all options but one are denied and none is named otherwise, that one is read.

Where a declared answer names two options, or 2 finds two, the output is ambiguous; no lot is drawn. Letters are
labels before they are texts. Digits are labels only where no option has one of them as a word of its text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from vcrgen.core.errors import ScoreError
from vcrgen.data.tasks.bloom import shown_option
from vcrgen.scorer.clean import LONGEST_OUTPUT, REFUSALS, clean, is_refusal
from vcrgen.scorer.mcq.clauses import Claim, Level, read_claims
from vcrgen.scorer.mcq.open_answers import match_open
from vcrgen.scorer.mcq.tokens import LABEL_LETTERS, tokens_of

GRAMMAR, PUBLISHED, OPEN = "bloom-v4", "bloom-code", "bloom-open"  # the protocols


class ReadingKind(StrEnum):
    """The kind of an output, whichever option is right. All but the first score 0."""

    CHOSEN = "chosen"
    AMBIGUOUS = "ambiguous"  # it names two options or more
    INVALID = "invalid"  # it names none
    REFUSED = "refused"  # it names none, and holds a word of refusal
    EMPTY = "empty"


class Reading(NamedTuple):
    """The option that was read in an output."""

    choice: int | None  # the option, from 0, in the dataset's order; None where none was chosen
    kind: ReadingKind


def read_choice(output: str, options: Sequence[str], *, rotation: int = 0, protocol: str = GRAMMAR) -> Reading:
    """Read which option an output chooses.

    Args:
        output: What the model wrote.
        options: The texts of the options in the dataset's order.
        rotation: The order in which it saw them, as of `shown_option`.
        protocol: ``bloom-v4`` for the grammar above, or ``bloom-code`` for the rule of the published code: a single
            one of the digits 1 to 4, or as many as there are options, in the whole output is the label; with none or
            several, nothing is chosen. With ``bloom-open`` the model saw no options, and the output is matched to their
            texts (``open_answers.py``).

    Raises:
        ScoreError: There is no such protocol.
    """
    if protocol == PUBLISHED:
        return _published(output, rotation, len(options))
    if protocol not in (GRAMMAR, OPEN):
        raise ScoreError(f"Unknown protocol {protocol!r} of MCQ benchmarks; known: {GRAMMAR}, {PUBLISHED}, {OPEN}.")
    count = len(options)
    if protocol == GRAMMAR and (label := LABEL_LETTERS.get(output.strip(), count)) < count:  # most outputs
        return Reading(shown_option(label, rotation, count), ReadingKind.CHOSEN)
    text = clean(output, strip_thinking=True, cut_prefix=False).text[:LONGEST_OUTPUT]
    if not text.strip():
        return Reading(None, ReadingKind.EMPTY)
    if protocol == OPEN:
        named, refuses = frozenset(match_open(text, options)), False
    else:
        claims, refuses = read_claims(tokens_of(text, options, rotation), rotation, count)
        named = _weighed(claims, count)
    if len(named) == 1:
        return Reading(min(named), ReadingKind.CHOSEN)
    if named:
        return Reading(None, ReadingKind.AMBIGUOUS)
    return Reading(None, ReadingKind.REFUSED if refuses or is_refusal(text, _REFUSALS) else ReadingKind.INVALID)


def _published(output: str, rotation: int, options: int) -> Reading:
    digits = [
        number for number in map(int, re.findall("10|[1-9]" if options > 9 else "[1-9]", output)) if number <= options
    ]
    if len(digits) == 1:
        return Reading(shown_option(digits[0] - 1, rotation, options), ReadingKind.CHOSEN)
    kind = ReadingKind.AMBIGUOUS if digits else ReadingKind.INVALID if output.strip() else ReadingKind.EMPTY
    return Reading(None, kind)


_REFUSALS = (*REFUSALS, "can't", "cannot", "unable to", "لا أستطيع", "لا يمكنني", "عذر", "آسف")


def _weighed(claims: Sequence[Claim], options: int) -> frozenset[int]:
    """The options that an output chooses by its claims, of so many."""
    claims, echoed = _without_echo(claims, options)
    denied: set[int] = set()  # options that no weak claim brings back
    best: frozenset[int] = frozenset()
    for section in range(claims[-1].section if claims else -1, -1, -1):
        here = [claim for claim in claims if claim.section == section]
        denied.update(*(claim.options for claim in here if claim.level == Level.DENIED))
        level, named = _strongest(here, denied)
        if named and (len(named) == 1 or level == Level.DECLARED):
            return named
        best = best or named
    if best or echoed:
        return best or echoed
    refused = {option for claim in claims if claim.level == Level.DENIED for option in claim.options}
    return frozenset(range(options)) - refused if len(refused) == options - 1 else frozenset()


def _strongest(claims: Sequence[Claim], denied: set[int]) -> tuple[Level, frozenset[int]]:
    """The options of the strongest claims of one section, and how strong these are."""
    declared: frozenset[int] = frozenset()
    for claim in claims:
        if claim.level == Level.DECLARED:
            declared = claim.options | declared if claim.adds else claim.options
    if declared:
        return Level.DECLARED, declared
    for level in (Level.LINE, Level.NAMED, Level.TEXT, Level.WEAK, Level.COMMON):
        named = [claim.options - denied for claim in claims if claim.level == level]
        if any(named):
            return level, frozenset().union(*named)
    return Level.DOUBTED, frozenset()


def _without_echo(claims: Sequence[Claim], options: int) -> tuple[Sequence[Claim], frozenset[int]]:
    """The claims without the lines that repeat the options of the question; and the options of these lines."""
    first = {next(iter(claim.options)): place for place, claim in reversed(list(enumerate(claims))) if claim.echo}
    if len(first) < max(options - 1, 2):
        return claims, frozenset()
    return [claim for place, claim in enumerate(claims) if place not in first.values()], frozenset(first)
