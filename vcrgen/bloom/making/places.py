"""The places of a set: of which leaf and which theme each is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, count, islice
from operator import itemgetter
from pathlib import Path

from vcrgen.bloom.making.records import ItemPlace
from vcrgen.bloom.taxonomy import Taxonomy
from vcrgen.config import read_yaml
from vcrgen.errors import ConfigError
from vcrgen.rng import rng_for, shuffled

ANYWHERE = "anywhere"
_MOST_THEMES = 50


def themes_of(file: Path | None) -> dict[str, int]:
    """Themes and their shares.

    Raises:
        ConfigError: The file is none of themes.
    """
    if file is None:
        return {ANYWHERE: 1}
    found = read_yaml(file)
    for name, share in found.items():
        whole = isinstance(share, int) and not isinstance(share, bool)
        if not name.isprintable() or not 0 < len(name) <= 100:
            raise ConfigError(f"{file}: the name of a theme is one line of 1 to 100 characters, not {name[:50]!r}.")
        if not whole or not 1 <= share <= 1000:
            raise ConfigError(
                f"{file}: the share of a theme is a whole number from 1 to 1000, as in `Arab: 2`; that of "
                f"{name[:50]!r} is none."
            )
    if not 0 < len(found) <= _MOST_THEMES:
        raise ConfigError(f"{file} names no theme, or more than {_MOST_THEMES}.")
    return found


def slots_of(taxonomy: Taxonomy, themes: Mapping[str, int], per_leaf: int) -> list[list[ItemPlace]]:
    """The places of each leaf. Of which theme a place is does not depend on how many places a leaf has."""
    rounds = list(islice(_dealt(themes, len(taxonomy.paths)), per_leaf))
    return [
        [
            ItemPlace(name=f"leaf-{number + 1:03d}-{place + 1:04d}", path=path, number=place, theme=dealt[number])
            for place, dealt in enumerate(rounds)
        ]
        for number, path in enumerate(taxonomy.paths)
    ]


def _dealt(themes: Mapping[str, int], leaves: int) -> Iterator[list[str]]:
    """The theme of each leaf's first place, then those of the second places, and so on without end.

    Up to any round, each theme has its share of all places, give or take less than one. Within a round two leaves swap
    their themes if both together come nearer to the shares by it. So each leaf has themes by their shares, too, as
    nearly as whole places allow.
    """
    total, names = sum(themes.values()), _by_shares(themes)
    # Of each leaf and theme, how many places it should have had by its share, less those that it had; times the total.
    owed = [dict.fromkeys(themes, 0) for _ in range(leaves)]
    for number in count():
        dealt = list(islice(names, leaves))
        # Of leaves that gain the same, those swap that a lot says: leaves side by side, which are of one level, would
        # come to have the same theme otherwise.
        order = shuffled(rng_for(0, "bloom/themes", str(number)), range(leaves))
        for leaf in owed:
            for name, share in themes.items():
                leaf[name] += share
        while any(_swap(dealt, owed, order, *pair) for pair in combinations(themes, 2)):
            pass
        for leaf, name in zip(owed, dealt, strict=True):
            leaf[name] -= total
        yield dealt


def _swap(dealt: list[str], owed: Sequence[Mapping[str, int]], order: Sequence[int], one: str, other: str) -> bool:
    """Swap two themes between leaves that gain by it, those first that gain most; whether any did."""

    def who_gain(has: str, takes: str) -> list[tuple[int, int]]:
        gains = [(owed[leaf][takes] - owed[leaf][has], leaf) for leaf in order if dealt[leaf] == has]
        return sorted(gains, key=itemgetter(0), reverse=True)

    swapped = False
    for (gain, leaf), (more, partner) in zip(who_gain(one, other), who_gain(other, one), strict=False):
        if gain + more <= 0:
            break
        dealt[leaf], dealt[partner] = other, one
        swapped = True
    return swapped


def _by_shares(themes: Mapping[str, int]) -> Iterator[str]:
    """Themes one after another without end; each comes as often as its share says, give or take less than one.

    A theme may come again when its share says that it should have begun to, and has to when its share says that it
    should be done. Of those that may, the one comes that has to soonest; by this rule none is ever late.
    """
    total, given = sum(themes.values()), dict.fromkeys(themes, 0)
    for number in count():
        may = [name for name, share in themes.items() if given[name] * total <= share * number]
        name = min(may, key=lambda name: -(-(given[name] + 1) * total // themes[name]))
        given[name] += 1
        yield name
