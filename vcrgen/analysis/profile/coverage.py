"""The page of coverage: how the items of sets spread over levels and leaves, what is empty, what is crowded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from vcrgen.analysis.document import Document, Lines, Section
from vcrgen.analysis.profile.example import MMMU_ITEMS, mmmu_table, published_lines
from vcrgen.bloom.coverage.filing import OWN, FiledItem, FiledSet, Filing
from vcrgen.plurals import counted
from vcrgen.report.charts import interval_bar, strip
from vcrgen.report.table import Interval, Number, Percent, Table, TableCell, percent
from vcrgen.stats.agreement import ac1, same_pairs
from vcrgen.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from markupsafe import Markup

MOST_CROWDED = 10  # leaves that are listed of a set
FEW_SETS = 4  # up to which the intervals of leaves stand beside their shares
FAINTEST = 0.2  # the shade of a leaf with an item
SHARE_NOTE = "Shares are of all items that were looked at, filed or not."
NOT_SHOWN = (
    "That an item needs the skill of its leaf: a leaf is what a model, a list or the maker of the set says. vcrgen has "
    "no items filed by people that this could be checked against; agreement tells how far two say the same, not that "
    "it is right.",
    "That an empty leaf is out of a set's reach: an item falls under one leaf, and may train the skill of others too.",
    "That a crowded leaf is well measured: many items may ask the same thing.",
)


@dataclass(frozen=True, slots=True)
class _Spread:
    """How the items of a set spread."""

    of: FiledSet
    leaves: Counter[str]
    levels: Counter[str]
    reasons: Counter[str]

    @property
    def name(self) -> str:
        return self.of.name

    @property
    def items(self) -> int:
        return len(self.of.items)

    @property
    def drawn(self) -> bool:
        """Whether these are some items of a larger set."""
        return self.items < self.of.count

    @property
    def filed(self) -> int:
        return self.leaves.total()

    def share(self, count: int) -> float:
        return count / max(self.items, 1)

    def cells(self, count: int, drawn: bool) -> list[TableCell]:
        """A count, its share and, in a table with drawn items, the interval of that."""
        cells: list[TableCell] = [count, Percent(self.share(count), 1)]
        return [*cells, Interval(*self.interval(count), 1) if self.drawn else None] if drawn else cells

    def interval(self, count: int) -> tuple[float, float]:
        """The ends of the share's interval; of a whole set, the share itself."""
        share = self.share(count)
        return wilson_interval(share, self.items) if self.drawn and self.items else (share, share)


def _heads(drawn: bool) -> list[str]:
    """The heads of what :meth:`_Spread.cells` gives."""
    return ["Items", "%", *(["95 % interval"] if drawn else [])]


def coverage_document(filing: Filing, *, settings: str, published: bool = False) -> Document:
    """The page of some sets.

    Args:
        filing: Under which leaf each item falls.
        settings: A line that says how the page was made.
        published: Whether the printed figures of MMMU stand at the end.
    """
    levels = _levels_of(filing.taxonomy.paths)
    leaves = [path for paths in levels.values() for path in paths]
    spreads = [_spread(each, leaves) for each in filing.sets]
    sections = [
        _sets(spreads, leaves), _levels(spreads, levels), _leaves(spreads, levels), _empty(spreads, leaves),
        _crowded(spreads), _not_filed(spreads), _agreement(filing),
    ]  # fmt: skip
    sections += [_published()] if published else []
    sets = ", ".join(f"{each.name} ({counted(each.items, 'item')})" for each in spreads)
    return Document(
        title="Coverage of a taxonomy",
        lead=f"{sets}: {counted(len(leaves), 'leaf', 'leaves')} of {counted(len(levels), 'level')}.",
        sections=[section for section in sections if section is not None],
        not_shown=NOT_SHOWN,
        warnings=[*filing.notes, *_warnings(spreads)],
        settings=settings,
    )


def _levels_of(paths: Sequence[str]) -> dict[str, list[str]]:
    """The leaves of each level, those of a subcategory together."""
    parts = {part: number for number, part in enumerate(dict.fromkeys(path.rpartition("/")[0] for path in paths))}
    levels: dict[str, list[str]] = {}
    for path in sorted(paths, key=lambda path: parts[path.rpartition("/")[0]]):
        levels.setdefault(_level(path), []).append(path)
    return levels


def _spread(of: FiledSet, paths: Sequence[str]) -> _Spread:
    counts = Counter(item.leaf for item in of.items)
    leaves = Counter({path: counts[path] for path in paths if path in counts})  # in the order of the page
    levels = Counter(_level(item.leaf) for item in of.items if item.leaf)
    return _Spread(of, leaves, levels, Counter(str(item.reason) for item in of.items if item.reason))


def _level(path: str) -> str:
    return path.partition("/")[0]


def _warnings(spreads: Sequence[_Spread]) -> Iterator[str]:
    for each in spreads:
        odd = each.reasons.total() - each.reasons["fits_none"]
        if 2 * odd >= each.items:
            yield (
                f"Of {each.name}, nobody says where {odd:,} of {each.items:,} items belong: what is empty here may not "
                "be empty."
            )
        if each.of.pictures == 0:
            yield f"No item of {each.name} was shown with a picture; name the column with --image-column if it has any."


def _sets(spreads: Sequence[_Spread], leaves: Sequence[str]) -> Section:
    rows: list[Sequence[TableCell]] = []
    text = []
    for each in spreads:
        covered = len(each.leaves)
        rows.append((
            each.name, each.of.by, each.items, each.of.pictures, each.filed, Percent(each.share(each.filed), 1),
            covered, Percent(covered / len(leaves), 1), _half(each.leaves) or None,
        ))  # fmt: skip
        if each.drawn:
            text.append(
                f"Of {each.name}, {each.items:,} of {each.of.count:,} items were drawn; intervals are Wilson's, and an "
                "item that was not drawn may be under a leaf that is empty here."
            )
    heads = ("Set", "Filed by", "Items", "With picture", "Filed", "%", "Leaves with items", "% of leaves", "Half in")
    if any(each.of.pictures is None for each in spreads):
        text.append(
            '"With picture" is how many items a model was shown with a picture; no model was asked where it is –.'
        )
    text.append('"Half in" is how few leaves hold half of the filed items.')
    table = Table(title="Sets", heads=heads, labels=2, rows=rows, breaks=[6])
    return Section(title="Sets", text=text, tables=[table])


def _half(leaves: Counter[str]) -> int:
    """The fewest leaves that hold half of all items."""
    held = accumulate(count for _, count in leaves.most_common())
    return next((number for number, count in enumerate(held, start=1) if 2 * count >= leaves.total()), 0)


def _levels(spreads: Sequence[_Spread], levels: Mapping[str, Sequence[str]]) -> Section:
    alone, drawn = len(spreads) == 1, any(each.drawn for each in spreads)
    rows: list[Sequence[TableCell]] = []
    groups = []
    for level, paths in levels.items():
        lines: list[tuple[str, Markup, str]] = []
        for each in spreads:
            count, filled = each.levels[level], sum(path in each.leaves for path in paths)
            rows.append((level.capitalize(), each.name, filled, len(paths), *each.cells(count, drawn)))
            bar = interval_bar(each.share(count), *each.interval(count))
            figure = f"{percent(each.share(count), 1)} % ({count:,})"
            lines.append((level.capitalize() if alone else each.name, bar, figure))
        groups.append(("" if alone else level.capitalize(), lines))
    table = Table(
        title="Levels", heads=("Level", "Set", "Leaves with items", "of", *_heads(drawn)), labels=2, rows=rows
    )
    panel = Lines(title="Share of the items", axis=("0", "50", "100 %"), groups=groups)
    about = "A bar ends at the share of a set's items; the table has the same figures."
    return Section(title="Levels", text=[SHARE_NOTE], legend=about, panels=[panel], tables=[table])


def _leaves(spreads: Sequence[_Spread], levels: Mapping[str, Sequence[str]]) -> Section:
    alone = len(spreads) == 1
    groups = [(level.capitalize(), [_strip(each, paths) for each in spreads]) for level, paths in levels.items()]
    rows: list[Sequence[TableCell]] = []
    for path in (path for paths in levels.values() for path in paths):
        level, subcategory, leaf = path.split("/")
        cells: list[TableCell] = []
        for each in spreads:
            cells += each.cells(each.leaves[path], each.drawn and len(spreads) <= FEW_SETS)
        rows.append((leaf, subcategory, level.capitalize(), *cells))
    heads = ["Leaf", "Subcategory", "Level"]
    for each in spreads:
        names = _heads(each.drawn and len(spreads) <= FEW_SETS)
        heads += names if alone else [f"{each.name}: {name.lower()}" for name in names]
    about = (
        "A field is a leaf, in the order of the table below: the same leaf of all sets is in one column. The darker it "
        "is, the more items a set has there, measured by the leaf where it has most; an empty field has none. Beside "
        "the fields stands how many leaves of the level have items."
    )
    table = Table(title="Items of every leaf", heads=heads, labels=3, rows=rows)
    return Section(
        title="Leaves", legend=about, panels=[Lines(title="Leaves", axis=(), groups=groups)], details=[table]
    )


def _strip(spread: _Spread, paths: Sequence[str]) -> tuple[str, Markup, str]:
    """The leaves of a level as fields."""
    most = max(spread.leaves.values(), default=1)
    fields = []
    for path in paths:
        count = spread.leaves[path]
        name = f"{path.rpartition('/')[2]}: {counted(count, 'item')}"
        # Fields are shaded by the power of 1.5 of what is given.
        fields.append((name, (FAINTEST + (1 - FAINTEST) * (count / most) ** 0.5) ** (2 / 3) if count else None))
    filled = sum(path in spread.leaves for path in paths)
    text = f"{spread.name}: {filled} of {len(paths)} leaves have items"
    return spread.name, strip(fields, middle=0.0, text=text), f"{filled} of {len(paths)}"


def _empty(spreads: Sequence[_Spread], leaves: Sequence[str]) -> Section:
    """The leaves without items, by subcategory."""
    alone = len(spreads) == 1
    parts: dict[tuple[str, str], list[str]] = {}
    for path in leaves:
        level, subcategory, _ = path.split("/")
        parts.setdefault((level, subcategory), []).append(path)
    rows: list[Sequence[TableCell]] = []
    for (level, subcategory), paths in parts.items():
        empty = [[path.rpartition("/")[2] for path in paths if path not in each.leaves] for each in spreads]
        if any(empty):
            rows.append((level.capitalize(), subcategory, *(_named(names, len(paths)) for names in empty)))
    counts = (f"{each.name} {sum(path not in each.leaves for path in leaves)}" for each in spreads)
    heads = ("Level", "Subcategory", *(["Empty leaves"] if alone else [each.name for each in spreads]))
    text = [f"Leaves without an item: {', '.join(counts)}."]
    if not alone:
        both = sum(not any(path in each.leaves for each in spreads) for path in leaves)
        text.append(f"No set has an item in {both} of {len(leaves)}.")
    return Section(
        title="Empty leaves", text=text,
        tables=[Table(title="Leaves without items", heads=heads, labels=len(heads), rows=rows)] if rows else [],
    )  # fmt: skip


def _named(names: Sequence[str], leaves: int) -> str:
    return "none" if not names else f"all {leaves}" if len(names) == leaves > 1 else ", ".join(names)


def _crowded(spreads: Sequence[_Spread]) -> Section | None:
    """The leaves with most items of each set: of some with as many items, all are listed or none."""
    rows: list[Sequence[TableCell]] = []
    drawn = any(each.drawn for each in spreads)
    text = [f"The leaves of a set that have most items, at most {MOST_CROWDED}."]
    for each in spreads:
        counts = each.leaves.most_common()
        alike = counts[MOST_CROWDED][1] if len(counts) > MOST_CROWDED else 0  # what the first that is not listed has
        listed = [(path, count) for path, count in counts[:MOST_CROWDED] if count > alike]
        if alike and len(listed) < MOST_CROWDED:
            same = counted(list(each.leaves.values()).count(alike), "leaf", "leaves")
            most = "" if listed else " and none has more"
            text.append(f"Of {each.name}, {same} have {counted(alike, 'item')} each{most}; they are not listed.")
        for path, count in listed:
            level, subcategory, leaf = path.split("/")
            rows.append((each.name, level.capitalize(), subcategory, leaf, *each.cells(count, drawn)))
    if not any(each.leaves for each in spreads):
        return None
    heads = ("Set", "Level", "Subcategory", "Leaf", *_heads(drawn))
    return Section(
        title="Crowded leaves", text=text,
        tables=[Table(title="Crowded leaves", heads=heads, labels=4, rows=rows)] if rows else [],
    )  # fmt: skip


def _not_filed(spreads: Sequence[_Spread]) -> Section | None:
    rows = [
        (each.name, reason, count, Percent(each.share(count), 1))
        for each in spreads
        for reason, count in sorted(each.reasons.items(), key=lambda of: (-of[1], of[0]))
    ]
    if not rows:
        return None
    table = Table(title="Items under no leaf", heads=("Set", "Reason", "Items", "%"), labels=2, rows=rows)
    text = ["fits_none: no leaf fits, as the model or the list says. All others are items of which it is not known."]
    return Section(title="Not filed", text=text, tables=[table])


def _agreement(filing: Filing) -> Section | None:
    """How far two say the same: two models, or a model or list and the set itself."""
    kinds: list[tuple[str, Callable[[FiledItem], str | None]]] = [
        ("the second model", lambda item: item.second),
        (OWN, lambda item: item.own),
    ]
    rows: list[Sequence[TableCell]] = []
    for each in filing.sets:
        for name, other in kinds:
            if each.by == name:
                continue
            pairs = [
                [item.leaf or "", told]
                for item in each.items
                if (item.leaf or item.reason == "fits_none") and (told := other(item)) is not None
            ]
            if not pairs:
                continue
            levels = [[_level(path) for path in pair] for pair in pairs]
            cells = [cell for units in (pairs, levels) for cell in (_same(units), Number(ac1(units)))]
            rows.append((each.name, f"{each.by} and {name}", len(pairs), *cells))
    if not rows:
        return None
    heads = ("Set", "Who", "Items", "Same leaf, %", "AC1", "Same level, %", "AC1 of levels")
    text = [
        "Of the items of which both say something, how many both file alike; that no leaf fits counts as a leaf "
        "and as a level. AC1 is Gwet's: 1 is full agreement, 0 what chance gives."
    ]
    return Section(title="Agreement", text=text, tables=[Table(title="Agreement", heads=heads, labels=2, rows=rows)])


def _same(units: Sequence[Sequence[str]]) -> Percent:
    same, pairs = same_pairs(units)
    return Percent(same / pairs, 1)


def _published() -> Section:
    """What BloomBench prints of MMMU."""
    flaw = next(line["why"] for line in published_lines("bloom-errata") if line["where"] == "Table 11")
    return Section(
        title="Published figures of MMMU",
        text=[
            f"Quoted from BloomBench (arXiv 2606.05531, Table 11), not worked out here: a model filed {MMMU_ITEMS:,} "
            "items of MMMU, without seeing their options; 94 fitted none.",
            f"How many leaves are covered is too high or right, by how much is not known. {flaw} In the tables above a "
            "leaf is known by its whole path.",
        ],
        tables=[mmmu_table()],
    )
