"""Accuracy and unread outputs by the letter of the right option, and a test of whether position matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from vcrgen.report.table import Percent, percent
from vcrgen.stats.exchange import exchange_p
from vcrgen.stats.paired import holm

UNREAD = ("ambiguous", "invalid", "refused", "empty")  # outcomes of outputs in which no option was read
ALARM = 0.05  # of the p-value, corrected for all tests of a run


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyLetter:
    """The items of a cell whose right option has one letter."""

    letter: str
    units: int
    right: int
    unread: int  # outputs in which no option was read
    options: int = 4  # that the items have: a letter stands once for each number of options


class KeyLetterTest(NamedTuple):
    """The p-values of differences between letters in right and in unread outputs, not corrected."""

    right: float
    unread: float


def letter_test(letters: Sequence[KeyLetter]) -> KeyLetterTest:
    """Test a cell: letters are exchanged among its items of one number of options."""
    sizes, strata = [each.units for each in letters], [each.options for each in letters]
    return KeyLetterTest(
        exchange_p([each.right for each in letters], sizes, strata),
        exchange_p([each.unread for each in letters], sizes, strata),
    )


def by_letter(letters: Sequence[KeyLetter]) -> tuple[KeyLetter, ...]:
    """Return the items of each letter together, whatever their number of options."""
    found: dict[str, KeyLetter] = {}
    for each in letters:
        known = found.get(each.letter)
        found[each.letter] = (
            each
            if known is None
            else replace(
                each, units=known.units + each.units, right=known.right + each.right, unread=known.unread + each.unread
            )
        )
    return tuple(sorted(found.values(), key=lambda each: each.letter))


def key_letter_warnings(cells: Sequence[tuple[str, Sequence[KeyLetter]]]) -> Iterator[str]:
    """Yield a sentence for each cell of a run, by its name, in which position matters."""
    tests = [(where, letters, letter_test(letters)) for where, letters in cells if letters]
    corrected = holm([p for _, _, test in tests for p in test])
    for number, (where, letters, _) in enumerate(tests):
        for kind, p in zip(KeyLetterTest._fields, corrected[2 * number : 2 * number + 2], strict=True):
            if p < ALARM:
                found = ", ".join(f"{each.letter} {_share(each, kind)} %" for each in by_letter(letters))
                of = "right" if kind == "right" else "not read"
                yield f"{where}: the letter of the key matters. {of.capitalize()} are {found} (p = {p:.4f}, by Holm)."


def _share(letter: KeyLetter, kind: str) -> str:
    return percent(getattr(letter, kind) / letter.units) if letter.units else "-"


def shares(letters: Sequence[KeyLetter], kind: str) -> Iterator[Percent]:
    """Yield of each letter the share of its items that are ``right``, or ``unread``."""
    return (Percent(getattr(each, kind) / each.units if each.units else None) for each in letters)
