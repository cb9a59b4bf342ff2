"""Accuracy and unread outputs by the letter of the right option, and a test of whether position matters."""

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
    sizes, strata = [row.units for row in letters], [row.options for row in letters]
    return KeyLetterTest(
        exchange_p([row.right for row in letters], sizes, strata),
        exchange_p([row.unread for row in letters], sizes, strata),
    )


def by_letter(letters: Sequence[KeyLetter]) -> tuple[KeyLetter, ...]:
    """The items of each letter together, whatever their number of options; in the order of the alphabet."""
    totals: dict[str, KeyLetter] = {}
    for row in letters:
        total = totals.get(row.letter)
        totals[row.letter] = (
            row
            if total is None
            else replace(
                row, units=total.units + row.units, right=total.right + row.right, unread=total.unread + row.unread
            )
        )
    return tuple(sorted(totals.values(), key=lambda total: total.letter))


def key_letter_warnings(cells: Sequence[tuple[str, Sequence[KeyLetter]]]) -> Iterator[str]:
    """Yield a sentence for each cell of a run, by its name, in which position matters."""
    tests = [(where, letters, letter_test(letters)) for where, letters in cells if letters]
    corrected = holm([p for _, _, test in tests for p in test])
    for number, (where, letters, _) in enumerate(tests):
        for kind, p in zip(KeyLetterTest._fields, corrected[2 * number : 2 * number + 2], strict=True):
            if p < ALARM:
                percentages = ", ".join(f"{row.letter} {_share(row, kind)} %" for row in by_letter(letters))
                what = "Right" if kind == "right" else "Not read"
                yield f"{where}: the letter of the key matters. {what} are {percentages} (p = {p:.4f}, by Holm)."


def _share(letter: KeyLetter, kind: str) -> str:
    return percent(getattr(letter, kind) / letter.units) if letter.units else "-"


def shares(letters: Sequence[KeyLetter], kind: str) -> Iterator[Percent]:
    """Yield of each letter the share of its items that are ``right``, or ``unread``."""
    return (Percent(getattr(row, kind) / row.units if row.units else None) for row in letters)
