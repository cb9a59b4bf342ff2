"""The page of coverage: how the items of sets spread over levels and categories, what is empty, what is crowded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from vcrgen.analysis.profile.example import MMMU_ITEMS, mmmu_table, published_lines
from vcrgen.bloom.coverage.classification import ITSELF, Classification, ClassifiedItem, ClassifiedSet
from vcrgen.core.plurals import pluralize
from vcrgen.report.charts import interval_bar, strip
from vcrgen.report.document import ChartRows, Document, Section
from vcrgen.report.table import Interval, Number, Percent, Table, TableCell, percent
from vcrgen.report.templating import Sentences
from vcrgen.stats.agreement import count_equal_pairs, gwet_ac1
from vcrgen.stats.intervals import wilson_interval

if TYPE_CHECKING:
    from markupsafe import Markup

TEXTS = Sentences("vcrgen.analysis", "coverage.j2")
MOST_CROWDED = 10  # categories that are listed of a set
FEW_SETS = 4  # up to which the intervals of categories stand beside their shares
FAINTEST = 0.2  # the shade of a category with an item


@dataclass(frozen=True, slots=True)
class _Spread:
    """Counts of the items of a set by category and level."""

    classified_set: ClassifiedSet
    categories: Counter[str]
    levels: Counter[str]
    reasons: Counter[str]

    @property
    def name(self) -> str:
        return self.classified_set.name

    @property
    def items(self) -> int:
        return len(self.classified_set.items)

    @property
    def drawn(self) -> bool:
        """True if these items are a sample of a larger set."""
        return self.items < self.classified_set.count

    @property
    def classified(self) -> int:
        return self.categories.total()

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
    return ["Items", "%", *(["95 % interval"] if drawn else [])]


def coverage_document(classification: Classification, *, settings: str, published: bool = False) -> Document:
    """The page of some sets.

    Args:
        classification: Under which category spread item falls.
        settings: A line that says how the page was made.
        published: Whether the printed figures of MMMU stand at the end.
    """
    levels = _levels_of(classification.taxonomy.paths)
    categories = [path for paths in levels.values() for path in paths]
    spreads = [_spread(classified_set, categories) for classified_set in classification.sets]
    sections = [
        _sets(spreads, categories),
        _levels(spreads, levels),
        _categories(spreads, levels),
        _empty(spreads, categories),
        _crowded(spreads),
        _unclassified(spreads),
        _agreement(classification),
    ]
    sections += [_published()] if published else []
    (lead,) = TEXTS.paragraphs("lead", sets=spreads, categories=len(categories), levels=len(levels))
    return Document(
        title="Coverage of a taxonomy",
        lead=lead,
        sections=[section for section in sections if section is not None],
        limitations=TEXTS.paragraphs("limitations"),
        warnings=[*classification.notes, *_warnings(spreads)],
        settings=settings,
    )


def _levels_of(paths: Sequence[str]) -> dict[str, list[str]]:
    parts = {part: number for number, part in enumerate(dict.fromkeys(path.rpartition("/")[0] for path in paths))}
    levels: dict[str, list[str]] = {}
    for path in sorted(paths, key=lambda path: parts[path.rpartition("/")[0]]):
        levels.setdefault(_level(path), []).append(path)
    return levels


def _spread(classified_set: ClassifiedSet, paths: Sequence[str]) -> _Spread:
    items = classified_set.items
    counts = Counter(item.category for item in items)
    categories = Counter({path: counts[path] for path in paths if path in counts})  # in the order of the page
    levels = Counter(_level(item.category) for item in items if item.category)
    return _Spread(classified_set, categories, levels, Counter(str(item.reason) for item in items if item.reason))


def _level(path: str) -> str:
    return path.partition("/")[0]


def _warnings(spreads: Sequence[_Spread]) -> list[str]:
    sets = []
    for spread in spreads:
        unknown = spread.reasons.total() - spread.reasons["fits_none"]
        sets.append(
            {
                "name": spread.name,
                "number": spread.items,
                "unknown": unknown if 2 * unknown >= spread.items else None,
                "pictures": spread.classified_set.pictures,
            }
        )
    return TEXTS.paragraphs("warnings", sets=sets)


def _sets(spreads: Sequence[_Spread], categories: Sequence[str]) -> Section:
    rows: list[Sequence[TableCell]] = []
    for spread in spreads:
        covered = len(spread.categories)
        rows.append(
            (
                spread.name,
                spread.classified_set.by,
                spread.items,
                spread.classified_set.pictures,
                spread.classified,
                Percent(spread.share(spread.classified), 1),
                covered,
                Percent(covered / len(categories), 1),
                _half(spread.categories) or None,
            )
        )
    heads = (
        "Set",
        "Classified by",
        "Items",
        "With picture",
        "Classified",
        "%",
        "Categories with items",
        "% of categories",
        "Half in",
    )
    text = TEXTS.paragraphs(
        "sets",
        sets=[
            {
                "name": spread.name,
                "number": spread.items,
                "count": spread.classified_set.count,
                "drawn": spread.drawn,
            }
            for spread in spreads
        ],
        unasked=any(spread.classified_set.pictures is None for spread in spreads),
    )
    table = Table(title="Sets", heads=heads, labels=2, rows=rows, breaks=[6])
    return Section(title="Sets", text=text, tables=[table])


def _half(categories: Counter[str]) -> int:
    held = accumulate(count for _, count in categories.most_common())
    return next((number for number, count in enumerate(held, start=1) if 2 * count >= categories.total()), 0)


def _levels(spreads: Sequence[_Spread], levels: Mapping[str, Sequence[str]]) -> Section:
    alone, drawn = len(spreads) == 1, any(spread.drawn for spread in spreads)
    rows: list[Sequence[TableCell]] = []
    groups = []
    for level, paths in levels.items():
        lines: list[tuple[str, Markup, str]] = []
        for spread in spreads:
            count, filled = spread.levels[level], sum(path in spread.categories for path in paths)
            rows.append((level.capitalize(), spread.name, filled, len(paths), *spread.cells(count, drawn)))
            bar = interval_bar(spread.share(count), *spread.interval(count))
            figure = f"{percent(spread.share(count), 1)} % ({count:,})"
            lines.append((level.capitalize() if alone else spread.name, bar, figure))
        groups.append(("" if alone else level.capitalize(), lines))
    table = Table(
        title="Levels", heads=("Level", "Set", "Categories with items", "of", *_heads(drawn)), labels=2, rows=rows
    )
    panel = ChartRows(title="Share of the items", axis=("0", "50", "100 %"), groups=groups)
    return Section(title="Levels", text=TEXTS.paragraphs("levels"), panels=[panel], tables=[table])


def _categories(spreads: Sequence[_Spread], levels: Mapping[str, Sequence[str]]) -> Section:
    alone = len(spreads) == 1
    groups = [(level.capitalize(), [_strip(spread, paths) for spread in spreads]) for level, paths in levels.items()]
    rows: list[Sequence[TableCell]] = []
    for path in (path for paths in levels.values() for path in paths):
        level, subcategory, category = path.split("/")
        cells: list[TableCell] = []
        for spread in spreads:
            cells += spread.cells(spread.categories[path], spread.drawn and len(spreads) <= FEW_SETS)
        rows.append((category, subcategory, level.capitalize(), *cells))
    heads = ["Category", "Subcategory", "Level"]
    for spread in spreads:
        names = _heads(spread.drawn and len(spreads) <= FEW_SETS)
        heads += names if alone else [f"{spread.name}: {name.lower()}" for name in names]
    table = Table(title="Items of every category", heads=heads, labels=3, rows=rows)
    return Section(
        title="Categories",
        legend=TEXTS.paragraphs("categories")[0],
        panels=[ChartRows(title="Categories", axis=(), groups=groups)],
        details=[table],
    )


def _strip(spread: _Spread, paths: Sequence[str]) -> tuple[str, Markup, str]:
    most = max(spread.categories.values(), default=1)
    fields = []
    for path in paths:
        count = spread.categories[path]
        name = f"{path.rpartition('/')[2]}: {pluralize(count, 'item')}"
        # `strip` shades by the power of 1.5 of a share; counts are shaded by their root, as few items differ from none.
        fields.append((name, (FAINTEST + (1 - FAINTEST) * (count / most) ** 0.5) ** (2 / 3) if count else None))
    filled = sum(path in spread.categories for path in paths)
    text = f"{spread.name}: {filled} of {len(paths)} categories have items"
    return spread.name, strip(fields, middle=0.0, text=text), f"{filled} of {len(paths)}"


def _empty(spreads: Sequence[_Spread], categories: Sequence[str]) -> Section:
    alone = len(spreads) == 1
    parts: dict[tuple[str, str], list[str]] = {}
    for path in categories:
        level, subcategory, _ = path.split("/")
        parts.setdefault((level, subcategory), []).append(path)
    rows: list[Sequence[TableCell]] = []
    for (level, subcategory), paths in parts.items():
        empty = [[path.rpartition("/")[2] for path in paths if path not in spread.categories] for spread in spreads]
        if any(empty):
            rows.append((level.capitalize(), subcategory, *(_format_categories(names, len(paths)) for names in empty)))
    heads = ("Level", "Subcategory", *(["Empty categories"] if alone else [spread.name for spread in spreads]))
    both = sum(not any(path in spread.categories for spread in spreads) for path in categories)
    text = TEXTS.paragraphs(
        "empty",
        counts=[(spread.name, sum(path not in spread.categories for path in categories)) for spread in spreads],
        both=None if alone else both,
        categories=len(categories),
    )
    return Section(
        title="Empty categories",
        text=text,
        tables=[Table(title="Categories without items", heads=heads, labels=len(heads), rows=rows)] if rows else [],
    )


def _format_categories(names: Sequence[str], categories: int) -> str:
    return "none" if not names else f"all {categories}" if len(names) == categories > 1 else ", ".join(names)


def _crowded(spreads: Sequence[_Spread]) -> Section | None:
    """The categories with most items of spread set: of some with as many items, all are listed or none."""
    rows: list[Sequence[TableCell]] = []
    drawn = any(spread.drawn for spread in spreads)
    unlisted = []
    for spread in spreads:
        counts = spread.categories.most_common()
        alike = counts[MOST_CROWDED][1] if len(counts) > MOST_CROWDED else 0  # what the first that is not listed has
        listed = [(path, count) for path, count in counts[:MOST_CROWDED] if count > alike]
        if alike and len(listed) < MOST_CROWDED:
            same = list(spread.categories.values()).count(alike)
            unlisted.append({"name": spread.name, "same": same, "number": alike, "is_most": not listed})
        for path, count in listed:
            level, subcategory, category = path.split("/")
            rows.append((spread.name, level.capitalize(), subcategory, category, *spread.cells(count, drawn)))
    if not any(spread.categories for spread in spreads):
        return None
    heads = ("Set", "Level", "Subcategory", "Category", *_heads(drawn))
    return Section(
        title="Crowded categories",
        text=TEXTS.paragraphs("crowded", most=MOST_CROWDED, unlisted=unlisted),
        tables=[Table(title="Crowded categories", heads=heads, labels=4, rows=rows)] if rows else [],
    )


def _unclassified(spreads: Sequence[_Spread]) -> Section | None:
    rows = [
        (spread.name, reason, count, Percent(spread.share(count), 1))
        for spread in spreads
        for reason, count in sorted(spread.reasons.items(), key=lambda reason: (-reason[1], reason[0]))
    ]
    if not rows:
        return None
    table = Table(title="Unclassified items", heads=("Set", "Reason", "Items", "%"), labels=2, rows=rows)
    return Section(title="Unclassified", text=TEXTS.paragraphs("unclassified"), tables=[table])


def _agreement(classification: Classification) -> Section | None:
    kinds: list[tuple[str, Callable[[ClassifiedItem], str | None]]] = [
        ("the second model", lambda item: item.second),
        (ITSELF, lambda item: item.own),
    ]
    rows: list[Sequence[TableCell]] = []
    for classified_set in classification.sets:
        for name, other in kinds:
            if classified_set.by == name:
                continue
            pairs = [
                [item.category or "", second]
                for item in classified_set.items
                if (item.category or item.reason == "fits_none") and (second := other(item)) is not None
            ]
            if not pairs:
                continue
            levels = [[_level(path) for path in pair] for pair in pairs]
            cells = [cell for units in (pairs, levels) for cell in (_same(units), Number(gwet_ac1(units)))]
            rows.append((classified_set.name, f"{classified_set.by} and {name}", len(pairs), *cells))
    if not rows:
        return None
    heads = ("Set", "Judges", "Items", "Same category, %", "AC1", "Same level, %", "AC1 of levels")
    text = TEXTS.paragraphs("agreement")
    return Section(title="Agreement", text=text, tables=[Table(title="Agreement", heads=heads, labels=2, rows=rows)])


def _same(units: Sequence[Sequence[str]]) -> Percent:
    same, pairs = count_equal_pairs(units)
    return Percent(same / pairs, 1)


def _published() -> Section:
    flaw = next(line["why"] for line in published_lines("bloom-errata") if line["where"] == "Table 11")
    return Section(
        title="Published figures of MMMU",
        text=TEXTS.paragraphs("published", items=MMMU_ITEMS, flaw=flaw),
        tables=[mmmu_table()],
    )
