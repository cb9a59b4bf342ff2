"""The page of profiles: levels, languages, methods, gaps, categories and their differences, calibration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vcrgen.analysis.profile.differences import NAMED, CategoryDifference, Pair, category_differences, pairs_by
from vcrgen.analysis.profile.profiles import (
    METHODS,
    SHOWN,
    Category,
    ModelProfile,
    ProfileGap,
    Profiles,
    ShareEstimate,
    gap,
)
from vcrgen.core.plurals import pluralize
from vcrgen.data.tasks.wording import LBS_WINDOW
from vcrgen.report.charts import RADAR_AXES, difference_bar, dumbbell, interval_bar, radar, reach, scatter, strip
from vcrgen.report.document import Chart, ChartRows, Document, Section
from vcrgen.report.table import DASH, MINUS, Interval, Number, Percent, PValue, Table, TableCell, percent
from vcrgen.report.templating import Sentences
from vcrgen.stats.calibration import ReliabilityCurve
from vcrgen.stats.correlations import pearson, spearman

if TYPE_CHECKING:
    from markupsafe import Markup

TEXTS = Sentences("vcrgen.analysis", "profile.j2")
AXIS = ("0", "50", "100 %")
MOST_SERIES = 8  # of a radar
MOST_SUMMARISED = 3  # profiles
MOST_LISTED = 200  # differences of categories
FEW_COLUMNS = 4  # up to which the scores of categories have their intervals beside them
FEWEST_MODELS = 4  # of a rank correlation


def profile_document(data: Profiles, *, settings: str, more: Sequence[Section] = (), about: str = "") -> Document:
    """Report profiles.

    Args:
        data: What was read.
        settings: A line with the options.
        more: Sections that stand at the end.
        about: A sentence on the data, if they ship with the package.
    """
    sections = [
        _scores(data),
        _levels(data),
        _bars(data),
        _languages(data),
        _methods(data),
        _gaps(data),
        _categories(data),
    ]
    for what, title in (
        ("model", "Categories on which models differ"),
        ("lang", "Categories on which languages differ"),
    ):
        sections.append(_differences(title, pairs_by(_image_profiles(data), what), what))
    sections.append(_calibration(data))
    items = max(each.micro.items for each in data.profiles)
    lead = TEXTS.paragraphs(
        "lead",
        models=len(data.models),
        langs=len(data.langs),
        items=items,
        categories=len(data.categories),
        levels=len(data.levels),
        about=about or f"From {data.source}.",
    )
    return Document(
        title="Profiles on an MCQ benchmark",
        summary=_summary(data),
        lead=lead[0],
        sections=[section for section in (*sections, *more) if section is not None],
        limitations=TEXTS.paragraphs("limitations"),
        warnings=data.notes,
        settings=settings,
        private=data.hidden,
    )


def _summary(data: Profiles) -> list[str]:
    """The weakest levels of the best models, and how many categories tell models or languages apart."""
    profiles = []
    for each in sorted(_image_profiles(data), key=lambda each: -each.micro.value)[:MOST_SUMMARISED]:
        if len(each.levels) > 1:
            (worst, low), *_, (best, high) = sorted(each.levels.items(), key=lambda level: level[1].value)
            profiles.append(
                {
                    "name": f"{each.model} ({each.lang}, {METHODS[each.metric]})",
                    "differ": low.high < high.low,
                    "worst": worst,
                    "best": best,
                    "low": percent(low.value, 1),
                    "high": percent(high.value, 1),
                }
            )
    compared = []
    for what, subject in (("model", "Models"), ("lang", "Languages")):
        if found := category_differences(pairs_by(_image_profiles(data), what)):
            differ = sum(each.adjusted < NAMED for each in found)
            compared.append({"subject": subject, "differ": differ, "all": len(found)})
    return TEXTS.paragraphs("summary", profiles=profiles, compared=compared)


def _image_profiles(data: Profiles) -> list[ModelProfile]:
    """The profiles with the picture, by the methods of levels and categories."""
    return [each for each in data.profiles if each.view == "image" and each.metric in SHOWN]


def _metrics(data: Profiles) -> list[str]:
    return [metric for metric in SHOWN if any(each.metric == metric for each in _image_profiles(data))]


def _share(of: ShareEstimate | None, decimals: int = 1) -> Percent:
    return Percent(None if of is None else of.value, decimals)


def _interval(of: ShareEstimate | None) -> Interval | None:
    return None if of is None else Interval(of.low, of.high, 1)


def _row(of: ModelProfile) -> tuple[str, str, str]:
    return of.model, of.lang, METHODS[of.metric]


def _scores(data: Profiles) -> Section:
    """One row a model, language and view; a method that was not asked is a gap."""
    metrics = _metrics(data)
    views = list(dict.fromkeys(each.view for each in data.profiles))
    rows: list[Sequence[TableCell]] = []
    keys = dict.fromkeys((each.model, each.lang, each.view) for each in data.profiles)
    for model, lang, view in keys:
        found = [data.of(model, lang, metric, view) for metric in metrics]
        if not any(found):
            continue
        cells: list[TableCell] = [model, lang, *([view] if len(views) > 1 else [])]
        cells.append(max(each.micro.items for each in found if each))
        for each in found:
            overall = (None, None, None) if each is None else (each.micro, each.macro, each.macro_category)
            cells += [_share(overall[0]), _interval(overall[0]), _share(overall[1]), _share(overall[2])]
        rows.append(cells)
    labels = ["Model", "Language", *(["View"] if len(views) > 1 else [])]
    heads = [*labels, "Items"]
    for metric in metrics:
        name = METHODS[metric]
        heads += [f"{name}, micro", f"{name}, interval", f"{name}, macro", f"{name}, categories"]
    breaks = [len(labels) + 1 + 4 * number for number in range(1, len(metrics))]
    text = TEXTS.paragraphs(
        "scores",
        chance=100 * data.chance,
        rae="rae" in metrics,
        lbs="lbs" in metrics,
        window=LBS_WINDOW,
    )
    table = Table(title="Scores, in percent", heads=heads, labels=len(labels), rows=rows, breaks=breaks)
    more: list[Sequence[TableCell]] = [
        (each.model, each.lang, each.view, METHODS[each.metric], _share(each.micro), _interval(each.micro))
        for each in data.profiles
        if each.metric not in SHOWN
    ]
    heads = ["Model", "Language", "View", "Method", "Micro", "95 % interval"]
    others = Table(title="By other methods, in percent", heads=heads, labels=4, rows=more)
    return Section(title="Scores", text=text, tables=[each for each in (table, others) if each.rows])


def _levels(data: Profiles) -> Section | None:
    levels, shown = data.levels, _image_profiles(data)
    if not shown:
        return None
    models = dict.fromkeys(each.model for each in shown)
    rows: list[Sequence[TableCell]] = [
        (*_row(each), *(_share(each.levels.get(level)) for level in levels)) for each in shown
    ]
    heads = ("Model", "Language", "Method", *(level.capitalize() for level in levels))
    table = Table(
        title="Levels, in percent", heads=heads, labels=3, rows=rows, shaded=range(3, len(heads)), middle=data.chance
    )
    radars = [_radar(data, model) for model in models] if len(levels) in RADAR_AXES else []
    about = TEXTS.paragraphs("radars")[0] if radars else ""
    return Section(title="Levels", legend=about, panels=radars, tables=[table])


def _bars(data: Profiles) -> Section | None:
    shown, panels = _image_profiles(data), []
    for metric, lang in [(metric, lang) for metric in _metrics(data) for lang in data.langs]:
        profiles = [each for each in shown if (each.metric, each.lang) == (metric, lang)]
        groups = []
        for level in data.levels if profiles else ():
            found = [(each.model, each.levels[level]) for each in profiles if level in each.levels]
            lines = [(name, interval_bar(of.value, of.low, of.high), percent(of.value, 1)) for name, of in found]
            groups.append((level.capitalize(), lines))
        panels += [ChartRows(title=f"{METHODS[metric]}, {lang}", axis=AXIS, groups=groups)] if groups else []
    rows: list[Sequence[TableCell]] = [
        (*_row(each), level.capitalize(), of.items, _share(of), _interval(of))
        for each in shown
        for level, of in each.levels.items()
    ]
    heads = ("Model", "Language", "Method", "Level", "Items", "Score", "95 % interval")
    table = Table(title="Levels with their intervals, in percent", heads=heads, labels=4, rows=rows)
    about = TEXTS.paragraphs("bars")[0]
    return Section(title="Levels with their intervals", legend=about, panels=panels, details=[table]) if rows else None


def _radar(data: Profiles, model: str) -> Chart:
    series, texts = [], []
    for each in [each for each in _image_profiles(data) if each.model == model][:MOST_SERIES]:
        name = f"{METHODS[each.metric]}, {each.lang}"
        shares = [each.levels.get(level) for level in data.levels]
        series.append((name, [of.value if of else None for of in shares]))
        texts.append(f"{name}: " + ", ".join(f"{level} {percent(of.value, 0)} %" for level, of in each.levels.items()))
    axes = [level.capitalize() for level in data.levels]
    return Chart(title=model, svg=radar(axes, series, ring=data.chance, text=f"{model}. {'; '.join(texts)}"))


def _compared(title: str, pairs: Sequence[Pair], levels: Sequence[str], note: str) -> ChartRows:
    groups = []
    for first, second in pairs:
        lines = []
        for level in levels:
            one, other = first.levels.get(level), second.levels.get(level)
            if one and other:
                figure = f"{percent(one.value, 1)} | {percent(other.value, 1)}"
                lines.append((level.capitalize(), dumbbell(one.value, other.value), figure))
        groups.append((first.model, lines))
    return ChartRows(title=title, axis=AXIS, groups=groups, note=note)


def _languages(data: Profiles) -> Section | None:
    pairs = pairs_by(_image_profiles(data), "lang")
    if not pairs:
        return None
    panels = []
    for metric, one, other in dict.fromkeys((a.metric, a.lang, b.lang) for a, b in pairs):
        found = [pair for pair in pairs if (pair[0].metric, pair[0].lang, pair[1].lang) == (metric, one, other)]
        title = f"{METHODS[metric]}: {one} and {other}"
        panels.append(_compared(title, found, data.levels, f"A disc stands for {one}, a ring for {other}."))
    return Section(title="Languages side by side", legend=TEXTS.paragraphs("languages")[0], panels=panels)


def _methods(data: Profiles) -> Section | None:
    pairs = pairs_by(_image_profiles(data), "metric")
    if not pairs:
        return None
    panels = [
        _compared(
            f"RAE and LBS, {lang}",
            [pair for pair in pairs if pair[0].lang == lang],
            data.levels,
            "A disc stands for RAE, a ring for LBS.",
        )
        for lang in dict.fromkeys(a.lang for a, _ in pairs)
    ]
    rows: list[Sequence[TableCell]] = []
    for rae, lbs in pairs:
        both = [category for category in rae.categories if category in lbs.categories]
        r = pearson(
            *np.array([(rae.categories[category].value, lbs.categories[category].value) for category in both]).T
        )
        below = [sum(of.high < each.chance for of in each.categories.values()) for each in (rae, lbs)]
        rows.append((rae.model, rae.lang, len(both), Number(r), *below))
    heads = ("Model", "Language", "Categories", "r over categories", "RAE below chance", "LBS below chance")
    text = [*TEXTS.paragraphs("gap"), *TEXTS.paragraphs("methods", ranked=list(_rank_correlations(pairs)))]
    table = Table(title="Agreement of RAE and LBS", heads=heads, labels=2, rows=rows)
    return Section(title="RAE against LBS", text=text, panels=panels, tables=[table])


def _rank_correlations(pairs: Sequence[Pair]) -> Iterator[tuple[str, int, str]]:
    """Of each language with enough models how many they are, and the rank correlation of both methods."""
    for lang in dict.fromkeys(a.lang for a, _ in pairs):
        found = [(a.micro.value, b.micro.value) for a, b in pairs if a.lang == lang]
        if len(found) >= FEWEST_MODELS:
            rho = spearman(*np.array(found).T)
            if np.isfinite(rho):
                yield lang, len(found), str(Number(rho))


def _gaps(data: Profiles) -> Section | None:
    shown = _image_profiles(data)
    of_views = [each for each in data.profiles if each.metric in SHOWN]
    kinds: list[tuple[str, list[ProfileGap], Callable[[ProfileGap], str]]] = [
        (
            "Languages",
            [gap(*pair) for pair in pairs_by(shown, "lang")],
            lambda of: f"{METHODS[of.first.metric]}, {of.first.lang} {MINUS} {of.second.lang}",
        ),
        (
            "Image and text-only",
            [gap(*pair) for pair in pairs_by(of_views, "view")],
            lambda of: f"{METHODS[of.first.metric]}, {of.first.lang}",
        ),
        ("RAE and LBS", [gap(*pair) for pair in pairs_by(shown, "metric")], lambda of: of.first.lang),
    ]
    panels, rows = [], []
    for title, gaps, name in kinds:
        if not gaps:
            continue
        widest = reach(end for of in gaps for end in (of.low, of.high))
        groups = [
            (
                model,
                [
                    (name(of), difference_bar(of.value, of.low, of.high, reach=widest), percent(of.value, 1, sign=True))
                    for of in gaps
                    if of.first.model == model
                ],
            )
            for model in dict.fromkeys(of.first.model for of in gaps)
        ]
        axis = (f"{MINUS}{100 * widest:g}", "0", f"+{100 * widest:g}")
        panels.append(ChartRows(title=f"{title}, points", axis=axis, groups=groups))
        for of in gaps:
            a, b = of.first, of.second
            differ = [x if x == y else f"{x} {MINUS} {y}" for x, y in zip(_row(a), _row(b), strict=True)]
            view = a.view if a.view == b.view else f"{a.view} {MINUS} {b.view}"
            cells = (Percent(of.value, 1, sign=True), Interval(of.low, of.high, 1, sign=True))
            rows.append((*differ, view, *cells, "pictures" if of.paired else "none"))
    if not rows:
        return None
    heads = ("Model", "Language", "Method", "View", "Gap", "95 % interval", "Paired by")
    text = TEXTS.paragraphs("gaps", unpaired=any(row[-1] == "none" for row in rows))
    text += TEXTS.paragraphs("gap") if any(title == "RAE and LBS" and gaps for title, gaps, _ in kinds) else []
    table = Table(title="Gaps, in points", heads=heads, labels=4, rows=rows)
    return Section(title="Gaps", text=text, panels=panels, tables=[table])


def _categories(data: Profiles) -> Section | None:
    panels, details, categories = [], [], data.categories
    levels = {level: [category for category in categories if category.level == level] for level in data.levels}
    for metric in _metrics(data):
        profiles = [each for each in _image_profiles(data) if each.metric == metric]
        for lang in dict.fromkeys(each.lang for each in profiles):
            of_lang = [each for each in profiles if each.lang == lang]
            groups = [(level.capitalize(), [_strip(each, of) for each in of_lang]) for level, of in levels.items()]
            panels.append(ChartRows(title=f"{METHODS[metric]}, {lang}", axis=(), groups=groups))
        details.append(_category_table(categories, metric, profiles))
    about = TEXTS.paragraphs("categories")[0]
    return Section(title="Categories", legend=about, panels=panels, details=details) if details else None


def _strip(profile: ModelProfile, categories: Sequence[Category]) -> tuple[str, Markup, str]:
    found = {category: profile.categories[category].value for category in categories if category in profile.categories}
    fields = [
        (f"{category.name}: {percent(found.get(category), 0)}{' %' if category in found else ''}", found.get(category))
        for category in categories
    ]
    if not found:
        return profile.model, strip(fields, middle=profile.chance, text="no category has items"), DASH
    low, high = (pick(found.items(), key=lambda item: item[1]) for pick in (min, max))
    ends = [f"{percent(share, 0)} % ({category.name})" for category, share in (low, high)]
    text = f"{pluralize(len(found), 'category', 'categories')}, from {ends[0]} to {ends[1]}"
    return (
        profile.model,
        strip(fields, middle=profile.chance, text=text),
        f"{percent(low[1], 0)} to {percent(high[1], 0)}",
    )


def _category_table(categories: Sequence[Category], metric: str, profiles: Sequence[ModelProfile]) -> Table:
    few = len(profiles) <= FEW_COLUMNS
    rows: list[Sequence[TableCell]] = []
    for category in categories:
        found = [each.categories.get(category) for each in profiles]
        items = max((of.items for of in found if of), default=0)
        cells = [cell for of in found for cell in ((_share(of, 0), _interval(of)) if few else (_share(of, 0),))]
        rows.append((category.name, category.subcategory, category.level.capitalize(), items, *cells))
    heads = ["Category", "Subcategory", "Level", "Items"]
    for each in profiles:
        heads += [f"{each.model} {each.lang}", *([f"{each.model} {each.lang}, interval"] if few else [])]
    shaded = range(4, len(heads), 2 if few else 1)
    return Table(
        title=f"Categories by {METHODS[metric]}, in percent",
        heads=heads,
        labels=3,
        rows=rows,
        shaded=shaded,
        middle=profiles[0].chance,
    )


def _differences(title: str, pairs: Sequence[Pair], what: str) -> Section | None:
    found = category_differences(pairs)
    if not found:
        return None
    named = sorted((of for of in found if of.adjusted < NAMED), key=lambda of: (of.adjusted, -abs(of.value)))
    counts: dict[tuple[str, ...], list[int]] = {}
    for of in found:
        counted = counts.setdefault(_names(of, what), [0, 0, 0])
        counted[0] += 1
        if of.adjusted < NAMED:
            counted[1 if of.value > 0 else 2] += 1
    heads = ("A", "B", "Language" if what == "model" else "Model", "Method")
    rows: list[Sequence[TableCell]] = [(*names, *counted) for names, counted in counts.items()]
    table = Table(
        title="Differing categories", heads=(*heads, "Categories", "A better", "B better"), labels=4, rows=rows
    )
    text = TEXTS.paragraphs("differences", all=len(found), differ=len(named), level=NAMED, listed=MOST_LISTED)
    listed_heads = (*heads, "Category", "Subcategory", "Level", f"A {MINUS} B", "95 % interval", "p", "p (BH)")
    listed = [_difference_row(of, what) for of in named[:MOST_LISTED]]
    long = Table(title=f"{title}, in points", heads=listed_heads, labels=7, rows=listed)
    return Section(title=title, text=text, tables=[table], details=[long] if listed else [])


def _names(of: CategoryDifference, what: str) -> tuple[str, ...]:
    a, b = of.first, of.second
    names = (a.model, b.model, a.lang) if what == "model" else (a.lang, b.lang, a.model)
    return *names, METHODS[a.metric]


def _difference_row(of: CategoryDifference, what: str) -> Sequence[TableCell]:
    figures = (Percent(of.value, 1, sign=True), Interval(of.low, of.high, 1, sign=True))
    category = (of.category.name, of.category.subcategory, of.category.level.capitalize())
    return (*_names(of, what), *category, *figures, PValue(of.p), PValue(of.adjusted))


def _calibration(data: Profiles) -> Section | None:
    if not data.calibrations:
        return None
    panels, rows, bins = [], [], []
    for (model, lang), of in data.calibrations.items():
        panels.append(_reliability_curve(f"{model}, {lang}", of))
        rows.append(
            (
                model,
                lang,
                of.items,
                Percent(of.confidence, 1),
                Percent(of.right, 1),
                Percent(of.error, 1),
                Percent(of.by_chance, 1),
                Number(of.brier, 3),
            )
        )
        bins += [
            (
                model,
                lang,
                f"{100 * each.start:g} to {100 * each.end:g}",
                each.items,
                Percent(each.confidence, 1),
                Percent(each.right, 1),
                Interval(each.low, each.high, 1),
            )
            for each in of.bins
        ]
    heads = ("Model", "Language", "Items", "Confidence", "Accuracy", "ECE", "Expected ECE", "Brier score")
    bin_heads = ("Model", "Language", "Confidence, %", "Items", "Mean confidence", "Accuracy", "95 % interval")
    return Section(
        title="Calibration of LBS",
        text=TEXTS.paragraphs("calibration", equal=1 - data.chance),
        panels=panels,
        tables=[Table(title="Calibration, in percent", heads=heads, labels=2, rows=rows)],
        details=[Table(title="Bins of the curves, in percent", heads=bin_heads, labels=3, rows=bins)],
    )


def _reliability_curve(title: str, of: ReliabilityCurve) -> Chart:
    points, texts = [], []
    for each in of.bins:
        texts.append(f"{percent(each.confidence, 0)} % confidence, {percent(each.right, 0)} % of {each.items} correct")
        points.append((each.confidence, each.right, each.low, each.high, texts[-1]))
    ticks = ((0.0, "0"), (0.5, "confidence 50 %"), (1.0, "100"))
    drawn = scatter(points, ticks, other=((0.0, 0.0), (1.0, 1.0)), text=f"{title}: {'; '.join(texts)}")
    note = "Height: accuracy, from 0 to 100 %. The broken line is perfect calibration."
    return Chart(title=title, svg=drawn, note=note)
