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

    of: ClassifiedSet
    categories: Counter[str]
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
        """True if these items are a sample of a larger set."""
        return self.items < self.of.count

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
        classification: Under which category each item falls.
        settings: A line that says how the page was made.
        published: Whether the printed figures of MMMU stand at the end.
    """
    levels = _levels_of(classification.taxonomy.paths)
    categories = [path for paths in levels.values() for path in paths]
    spreads = [_spread(each, categories) for each in classification.sets]
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
    lead = TEXTS.paragraphs("lead", sets=spreads, categories=len(categories), levels=len(levels))
    return Document(
        title="Coverage of a taxonomy",
        lead=lead[0],
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


def _spread(of: ClassifiedSet, paths: Sequence[str]) -> _Spread:
    counts = Counter(item.category for item in of.items)
    categories = Counter({path: counts[path] for path in paths if path in counts})  # in the order of the page
    levels = Counter(_level(item.category) for item in of.items if item.category)
    return _Spread(of, categories, levels, Counter(str(item.reason) for item in of.items if item.reason))


def _level(path: str) -> str:
    return path.partition("/")[0]


def _warnings(spreads: Sequence[_Spread]) -> list[str]:
    sets = []
    for each in spreads:
        odd = each.reasons.total() - each.reasons["fits_none"]
        unknown = odd if 2 * odd >= each.items else None
        sets.append({"name": each.name, "number": each.items, "unknown": unknown, "pictures": each.of.pictures})
    return TEXTS.paragraphs("warnings", sets=sets)


def _sets(spreads: Sequence[_Spread], categories: Sequence[str]) -> Section:
    rows: list[Sequence[TableCell]] = []
    for each in spreads:
        covered = len(each.categories)
        rows.append(
            (
                each.name,
                each.of.by,
                each.items,
                each.of.pictures,
                each.classified,
                Percent(each.share(each.classified), 1),
                covered,
                Percent(covered / len(categories), 1),
                _half(each.categories) or None,
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
            {"name": each.name, "number": each.items, "count": each.of.count, "drawn": each.drawn} for each in spreads
        ],
        unasked=any(each.of.pictures is None for each in spreads),
    )
    table = Table(title="Sets", heads=heads, labels=2, rows=rows, breaks=[6])
    return Section(title="Sets", text=text, tables=[table])


def _half(categories: Counter[str]) -> int:
    held = accumulate(count for _, count in categories.most_common())
    return next((number for number, count in enumerate(held, start=1) if 2 * count >= categories.total()), 0)


def _levels(spreads: Sequence[_Spread], levels: Mapping[str, Sequence[str]]) -> Section:
    alone, drawn = len(spreads) == 1, any(each.drawn for each in spreads)
    rows: list[Sequence[TableCell]] = []
    groups = []
    for level, paths in levels.items():
        lines: list[tuple[str, Markup, str]] = []
        for each in spreads:
            count, filled = each.levels[level], sum(path in each.categories for path in paths)
            rows.append((level.capitalize(), each.name, filled, len(paths), *each.cells(count, drawn)))
            bar = interval_bar(each.share(count), *each.interval(count))
            figure = f"{percent(each.share(count), 1)} % ({count:,})"
            lines.append((level.capitalize() if alone else each.name, bar, figure))
        groups.append(("" if alone else level.capitalize(), lines))
    table = Table(
        title="Levels", heads=("Level", "Set", "Categories with items", "of", *_heads(drawn)), labels=2, rows=rows
    )
    panel = ChartRows(title="Share of the items", axis=("0", "50", "100 %"), groups=groups)
    text, about = TEXTS.paragraphs("levels"), TEXTS.paragraphs("bars")[0]
    return Section(title="Levels", text=text, legend=about, panels=[panel], tables=[table])


def _categories(spreads: Sequence[_Spread], levels: Mapping[str, Sequence[str]]) -> Section:
    alone = len(spreads) == 1
    groups = [(level.capitalize(), [_strip(each, paths) for each in spreads]) for level, paths in levels.items()]
    rows: list[Sequence[TableCell]] = []
    for path in (path for paths in levels.values() for path in paths):
        level, subcategory, category = path.split("/")
        cells: list[TableCell] = []
        for each in spreads:
            cells += each.cells(each.categories[path], each.drawn and len(spreads) <= FEW_SETS)
        rows.append((category, subcategory, level.capitalize(), *cells))
    heads = ["Category", "Subcategory", "Level"]
    for each in spreads:
        names = _heads(each.drawn and len(spreads) <= FEW_SETS)
        heads += names if alone else [f"{each.name}: {name.lower()}" for name in names]
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
        # Fields are shaded by the power of 1.5 of what is given.
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
        empty = [[path.rpartition("/")[2] for path in paths if path not in each.categories] for each in spreads]
        if any(empty):
            rows.append((level.capitalize(), subcategory, *(_format_categories(names, len(paths)) for names in empty)))
    heads = ("Level", "Subcategory", *(["Empty categories"] if alone else [each.name for each in spreads]))
    both = sum(not any(path in each.categories for each in spreads) for path in categories)
    text = TEXTS.paragraphs(
        "empty",
        counts=[(each.name, sum(path not in each.categories for path in categories)) for each in spreads],
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
    """The categories with most items of each set: of some with as many items, all are listed or none."""
    rows: list[Sequence[TableCell]] = []
    drawn = any(each.drawn for each in spreads)
    unlisted = []
    for each in spreads:
        counts = each.categories.most_common()
        alike = counts[MOST_CROWDED][1] if len(counts) > MOST_CROWDED else 0  # what the first that is not listed has
        listed = [(path, count) for path, count in counts[:MOST_CROWDED] if count > alike]
        if alike and len(listed) < MOST_CROWDED:
            same = list(each.categories.values()).count(alike)
            unlisted.append({"name": each.name, "same": same, "number": alike, "is_most": not listed})
        for path, count in listed:
            level, subcategory, category = path.split("/")
            rows.append((each.name, level.capitalize(), subcategory, category, *each.cells(count, drawn)))
    if not any(each.categories for each in spreads):
        return None
    heads = ("Set", "Level", "Subcategory", "Category", *_heads(drawn))
    return Section(
        title="Crowded categories",
        text=TEXTS.paragraphs("crowded", most=MOST_CROWDED, unlisted=unlisted),
        tables=[Table(title="Crowded categories", heads=heads, labels=4, rows=rows)] if rows else [],
    )


def _unclassified(spreads: Sequence[_Spread]) -> Section | None:
    rows = [
        (each.name, reason, count, Percent(each.share(count), 1))
        for each in spreads
        for reason, count in sorted(each.reasons.items(), key=lambda of: (-of[1], of[0]))
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
    for each in classification.sets:
        for name, other in kinds:
            if each.by == name:
                continue
            pairs = [
                [item.category or "", second]
                for item in each.items
                if (item.category or item.reason == "fits_none") and (second := other(item)) is not None
            ]
            if not pairs:
                continue
            levels = [[_level(path) for path in pair] for pair in pairs]
            cells = [cell for units in (pairs, levels) for cell in (_same(units), Number(gwet_ac1(units)))]
            rows.append((each.name, f"{each.by} and {name}", len(pairs), *cells))
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
