"""The findings of a board's attacks on itself as a document; nothing of a key is in it."""

from __future__ import annotations

from collections.abc import Sequence

from vcrgen.leaderboard.attacks.checks import LIMITED, WEAK, Finding
from vcrgen.plurals import pluralize
from vcrgen.report.document import Document, Section
from vcrgen.report.table import Interval, Percent, Table

HEADS = ("Set", "Attack", "Verdict", "Right", "Chance", "Over chance", "95 % interval", "Of")
LIMITATIONS = (
    "An attack that wins nothing here may be won by a better attacker.",
    "Wrong guesses are other texts of the set; a real attacker has fewer or better ones.",
    "The template baseline knows the shipped faces and no picture or question.",
)


def check_document(title: str, findings: Sequence[Finding]) -> Document:
    """Return the findings of all sets as a document."""
    weak = [one for one in findings if one.verdict == WEAK]
    rows = [
        (
            one.set,
            one.attack,
            one.verdict,
            _percent(one.wins),
            Percent(one.chance) if one.wins is not None else None,
            _percent(None if one.wins is None else one.wins - one.chance, sign=True),
            Interval(*one.interval, sign=True) if one.interval else None,
            one.count or None,
        )
        for one in findings
    ]
    notes = dict.fromkeys(f"{one.attack}: {one.note}" for one in findings if one.note)
    return Document(
        title=f"Attacks on {title}",
        lead=f"{pluralize(len({one.set for one in findings}), 'hidden set')}, with the board's own limits.",
        warnings=[f"{one.set} is weak: {one.attack}." for one in weak],
        sections=[
            Section(
                title="What each attack wins",
                text=(
                    f"Weak is what wins more than a board of this version should lose; {LIMITED} is what docs state.",
                ),
                tables=[Table(title="Attacks", heads=HEADS, labels=3, rows=rows)],
                notes=list(notes),
            )
        ],
        limitations=LIMITATIONS,
        private=True,
    )


def _percent(share: float | None, *, sign: bool = False) -> Percent | None:
    return None if share is None else Percent(share, sign=sign)
