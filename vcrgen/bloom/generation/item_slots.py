"""The slots of a set, each with a category and a theme."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, count, islice
from operator import itemgetter
from pathlib import Path

from vcrgen.bloom.generation.item_records import ItemSlot
from vcrgen.bloom.taxonomy import Taxonomy
from vcrgen.core.errors import ConfigError
from vcrgen.core.options import read_yaml
from vcrgen.core.rng import rng_for, shuffled

ANYWHERE = "anywhere"
_MAX_THEMES = 50


def read_themes(file: Path | None) -> dict[str, int]:
    """Read themes and their shares.

    Raises:
        ConfigError: The file cannot be read, or is no list of themes.
    """
    if file is None:
        return {ANYWHERE: 1}
    themes = read_yaml(file)
    for name, share in themes.items():
        whole = isinstance(share, int) and not isinstance(share, bool)
        if not name.isprintable() or not 0 < len(name) <= 100:
            raise ConfigError(f"{file}: the name of a theme is one line of 1 to 100 characters, not {name[:50]!r}.")
        if not whole or not 1 <= share <= 1000:
            raise ConfigError(
                f"{file}: the share of a theme is a whole number from 1 to 1000, as in `Arab: 2`; that of "
                f"{name[:50]!r} is none."
            )
    if not 0 < len(themes) <= _MAX_THEMES:
        raise ConfigError(f"{file} names no theme, or more than {_MAX_THEMES}.")
    return themes


def assign_slots(taxonomy: Taxonomy, themes: Mapping[str, int], per_category: int) -> list[list[ItemSlot]]:
    """The slots of each category. The theme of a slot does not depend on the number of slots."""
    rounds = list(islice(_theme_rounds(themes, len(taxonomy.paths)), per_category))
    return [
        [
            ItemSlot(name=f"leaf-{number + 1:03d}-{at + 1:04d}", path=path, number=at, theme=names[number])
            for at, names in enumerate(rounds)
        ]
        for number, path in enumerate(taxonomy.paths)
    ]


def _theme_rounds(themes: Mapping[str, int], categories: int) -> Iterator[list[str]]:
    """Yield the themes of the first slot of each category, then those of the second slots, and so on without end.

    Up to any round, each theme has its share of all slots, give or take less than one. Within a round two categories
    swap their themes if that brings both together nearer to the shares. So each category has themes by their shares,
    too, as nearly as whole slots allow.
    """
    total, names = sum(themes.values()), _theme_sequence(themes)
    # For each category and theme, the slots that are due by its share, less those that it had; times the total.
    owed = [dict.fromkeys(themes, 0) for _ in range(categories)]
    for number in count():
        row = list(islice(names, categories))
        # Among categories with the same gain, those that swap are drawn: adjacent categories, which are of one level,
        # would come to have the same theme otherwise.
        order = shuffled(rng_for(0, "bloom/themes", str(number)), range(categories))
        for due in owed:
            for name, share in themes.items():
                due[name] += share
        while any(_swap(row, owed, order, *pair) for pair in combinations(themes, 2)):
            pass
        for due, name in zip(owed, row, strict=True):
            due[name] -= total
        yield row


def _swap(row: list[str], owed: Sequence[Mapping[str, int]], order: Sequence[int], theme: str, other: str) -> bool:
    """Swap two themes between the categories that gain by it, those that gain most first; True if any did."""

    def sorted_gains(has: str, takes: str) -> list[tuple[int, int]]:
        gains = [(owed[at][takes] - owed[at][has], at) for at in order if row[at] == has]
        return sorted(gains, key=itemgetter(0), reverse=True)

    swapped = False
    for (gain, at), (more, partner) in zip(sorted_gains(theme, other), sorted_gains(other, theme), strict=False):
        if gain + more <= 0:
            break
        row[at], row[partner] = other, theme
        swapped = True
    return swapped


def _theme_sequence(themes: Mapping[str, int]) -> Iterator[str]:
    """Yield themes without end, each as often as its share says, give or take less than one.

    A theme may come again when its share says that it should have begun to, and has to when its share says that it
    should be done (earliest deadline first). By this rule none is ever late.
    """
    total, given = sum(themes.values()), dict.fromkeys(themes, 0)
    for number in count():
        may = [name for name, share in themes.items() if given[name] * total <= share * number]
        name = min(may, key=lambda name: -(-(given[name] + 1) * total // themes[name]))
        given[name] += 1
        yield name
