"""The page of profiles: levels, languages, methods, gaps, categories and their differences, calibration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from vcrgen.analysis.correlations import pearson, spearman
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
from vcrgen.analysis.profile.size_trends import GAP, SizeTrend, level_gaps, size_trends
from vcrgen.core.plurals import pluralize
from vcrgen.data.tasks.wording import LBS_WINDOW
from vcrgen.report.charts import RADAR_AXES, difference_bar, dumbbell, interval_bar, radar, reach, scatter, strip
from vcrgen.report.document import Chart, ChartRows, Document, Section
from vcrgen.report.table import DASH, MINUS, Interval, Number, Percent, PValue, Table, TableCell, percent
from vcrgen.report.templating import Sentences
from vcrgen.stats.calibration import ReliabilityCurve

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
        settings: A line with the options.
        more: Sections that stand at the end.
        about: A sentence on the data, if they ship with the package.
    """
    sections = [
        _scores(data),
        _levels(data),
        _intervals(data),
        _languages(data),
        _methods(data),
        _gaps(data),
        _level_gaps(data),
        _trends(data),
        _categories(data),
        _differences(data, "model", "Categories on which models differ"),
        _differences(data, "lang", "Categories on which languages differ"),
        _calibration(data),
        *more,
    ]
    (lead,) = TEXTS.paragraphs(
        "lead",
        models=len(data.models),
        langs=len(data.langs),
        items=max(profile.micro.items for profile in data.profiles),
        categories=len(data.categories),
        levels=len(data.levels),
        about=about or f"From {data.source}.",
    )
    return Document(
        title="Profiles on an MCQ benchmark",
        summary=_summary(data),
        lead=lead,
        sections=[section for section in sections if section is not None],
        limitations=TEXTS.paragraphs("limitations"),
        warnings=data.notes,
        settings=settings,
        private=data.hidden,
    )


def _summary(data: Profiles) -> list[str]:
    """The weakest levels of the best models, and how many categories tell models or languages apart."""
    weakest = []
    best_profiles = sorted(_image_profiles(data), key=lambda profile: -profile.micro.value)
    for profile in best_profiles[:MOST_SUMMARISED]:
        if len(profile.levels) > 1:
            (worst, low), *_, (best, high) = sorted(profile.levels.items(), key=lambda level: level[1].value)
            weakest.append(
                {
                    "profile": f"{profile.model} ({profile.lang}, {METHODS[profile.metric]})",
                    "is_different": low.high < high.low,
                    "worst": worst,
                    "best": best,
                    "low": percent(low.value, 1),
                    "high": percent(high.value, 1),
                }
            )
    comparisons = []
    for axis, subject in (("model", "models"), ("lang", "languages")):
        if differences := category_differences(pairs_by(_image_profiles(data), axis)):
            significant = sum(difference.adjusted < NAMED for difference in differences)
            comparisons.append({"subject": subject, "significant": significant, "all": len(differences)})
    return TEXTS.paragraphs("summary", weakest=weakest, comparisons=comparisons)


def _image_profiles(data: Profiles) -> list[ModelProfile]:
    """The profiles with the picture, by the methods of levels and categories."""
    return [profile for profile in data.profiles if profile.view == "image" and profile.metric in SHOWN]


def _metrics(data: Profiles) -> list[str]:
    return [metric for metric in SHOWN if any(profile.metric == metric for profile in _image_profiles(data))]


def _share(estimate: ShareEstimate | None, decimals: int = 1) -> Percent:
    return Percent(None if estimate is None else estimate.value, decimals)


def _interval(estimate: ShareEstimate | None) -> Interval | None:
    return None if estimate is None else Interval(estimate.low, estimate.high, 1)


def _labels(profile: ModelProfile) -> tuple[str, str, str]:
    return profile.model, profile.lang, METHODS[profile.metric]


def _scores(data: Profiles) -> Section:
    """One row a model, language and view; a method that was not asked is a gap."""
    metrics = _metrics(data)
    has_views = len({profile.view for profile in data.profiles}) > 1
    rows: list[Sequence[TableCell]] = []
    for model, lang, view in dict.fromkeys((profile.model, profile.lang, profile.view) for profile in data.profiles):
        profiles = [data.of(model, lang, metric, view) for metric in metrics]
        if not any(profiles):
            continue
        cells: list[TableCell] = [model, lang, *([view] if has_views else [])]
        cells.append(max(profile.micro.items for profile in profiles if profile))
        for profile in profiles:
            micro, macro, categories = (
                (profile.micro, profile.macro, profile.macro_category) if profile else (None, None, None)
            )
            cells += [_share(micro), _interval(micro), _share(macro), _share(categories)]
        rows.append(cells)
    labels = ["Model", "Language", *(["View"] if has_views else [])]
    columns = [
        f"{METHODS[metric]}, {column}" for metric in metrics for column in ("micro", "interval", "macro", "categories")
    ]
    scores = Table(
        title="Scores, in percent",
        heads=[*labels, "Items", *columns],
        labels=len(labels),
        rows=rows,
        breaks=[len(labels) + 1 + 4 * number for number in range(1, len(metrics))],
    )
    others = Table(
        title="By other methods, in percent",
        heads=["Model", "Language", "View", "Method", "Micro", "95 % interval"],
        labels=4,
        rows=[
            (
                profile.model,
                profile.lang,
                profile.view,
                METHODS[profile.metric],
                _share(profile.micro),
                _interval(profile.micro),
            )
            for profile in data.profiles
            if profile.metric not in SHOWN
        ],
    )
    text = TEXTS.paragraphs(
        "scores", chance=100 * data.chance, rae="rae" in metrics, lbs="lbs" in metrics, window=LBS_WINDOW
    )
    return Section(title="Scores", text=text, tables=[table for table in (scores, others) if table.rows])


def _levels(data: Profiles) -> Section | None:
    levels, profiles = data.levels, _image_profiles(data)
    if not profiles:
        return None
    rows: list[Sequence[TableCell]] = [
        (*_labels(profile), *(_share(profile.levels.get(level)) for level in levels)) for profile in profiles
    ]
    heads = ("Model", "Language", "Method", *(level.capitalize() for level in levels))
    shaded = range(3, len(heads))
    table = Table(title="Levels, in percent", heads=heads, labels=3, rows=rows, shaded=shaded, middle=data.chance)
    models = dict.fromkeys(profile.model for profile in profiles if _has_radar(profile))
    radars = [_radar(data, model) for model in models] if len(levels) in RADAR_AXES else []
    legend = TEXTS.paragraphs("radars")[0] if radars else ""
    return Section(title="Levels", legend=legend, panels=radars, tables=[table])


def _has_radar(profile: ModelProfile) -> bool:
    """Whether enough levels have more than one item: of one item a share is nothing or all."""
    return sum(estimate.items > 1 for estimate in profile.levels.values()) >= RADAR_AXES.start


def _radar(data: Profiles, model: str) -> Chart:
    profiles = [profile for profile in _image_profiles(data) if profile.model == model]
    series, texts = [], []
    for profile in profiles[:MOST_SERIES]:
        name = f"{METHODS[profile.metric]}, {profile.lang}"
        estimates = [profile.levels.get(level) for level in data.levels]
        series.append((name, [estimate.value if estimate else None for estimate in estimates]))
        shares = (f"{level} {percent(estimate.value, 0)} %" for level, estimate in profile.levels.items())
        texts.append(f"{name}: {', '.join(shares)}")
    axes = [level.capitalize() for level in data.levels]
    return Chart(title=model, svg=radar(axes, series, ring=data.chance, text=f"{model}. {'; '.join(texts)}"))


def _intervals(data: Profiles) -> Section | None:
    profiles = _image_profiles(data)
    rows: list[Sequence[TableCell]] = [
        (*_labels(profile), level.capitalize(), estimate.items, _share(estimate), _interval(estimate))
        for profile in profiles
        for level, estimate in profile.levels.items()
    ]
    if not rows:
        return None
    panels = []
    for metric, lang in product(_metrics(data), data.langs):
        if group := [profile for profile in profiles if (profile.metric, profile.lang) == (metric, lang)]:
            bars = [(level.capitalize(), _level_bars(group, level)) for level in data.levels]
            panels.append(ChartRows(title=f"{METHODS[metric]}, {lang}", axis=AXIS, groups=bars))
    heads = ("Model", "Language", "Method", "Level", "Items", "Score", "95 % interval")
    table = Table(title="Levels with their intervals, in percent", heads=heads, labels=4, rows=rows)
    legend = TEXTS.paragraphs("bars")[0]
    return Section(title="Levels with their intervals", legend=legend, panels=panels, details=[table])


def _level_bars(profiles: Sequence[ModelProfile], level: str) -> list[tuple[str, Markup, str]]:
    estimates = [(profile.model, profile.levels[level]) for profile in profiles if level in profile.levels]
    return [
        (model, interval_bar(estimate.value, estimate.low, estimate.high), percent(estimate.value, 1))
        for model, estimate in estimates
    ]


def _dumbbells(title: str, pairs: Sequence[Pair], levels: Sequence[str], note: str) -> ChartRows:
    """The shares of both profiles of each pair, level by level, on one axis."""
    groups = []
    for first, second in pairs:
        lines = []
        for level in levels:
            if level in first.levels and level in second.levels:
                a, b = first.levels[level].value, second.levels[level].value
                lines.append((level.capitalize(), dumbbell(a, b), f"{percent(a, 1)} | {percent(b, 1)}"))
        groups.append((first.model, lines))
    return ChartRows(title=title, axis=AXIS, groups=groups, note=note)


def _languages(data: Profiles) -> Section | None:
    pairs: dict[tuple[str, str, str], list[Pair]] = {}
    for first, second in pairs_by(_image_profiles(data), "lang"):
        pairs.setdefault((first.metric, first.lang, second.lang), []).append((first, second))
    if not pairs:
        return None
    panels = []
    for (metric, disc, ring), group in pairs.items():
        note = f"A disc stands for {disc}, a ring for {ring}."
        panels.append(_dumbbells(f"{METHODS[metric]}: {disc} and {ring}", group, data.levels, note))
    return Section(title="Languages side by side", panels=panels)


def _methods(data: Profiles) -> Section | None:
    pairs = pairs_by(_image_profiles(data), "metric")
    if not pairs:
        return None
    panels = []
    for lang in dict.fromkeys(rae.lang for rae, _ in pairs):
        group = [pair for pair in pairs if pair[0].lang == lang]
        panels.append(_dumbbells(f"RAE and LBS, {lang}", group, data.levels, "A disc stands for RAE, a ring for LBS."))
    rows: list[Sequence[TableCell]] = []
    for rae, lbs in pairs:
        shared = [category for category in rae.categories if category in lbs.categories]
        shares = [[profile.categories[category].value for category in shared] for profile in (rae, lbs)]
        r = pearson(np.array(shares[0]), np.array(shares[1]))
        rows.append((rae.model, rae.lang, len(shared), Number(r), _below_chance(rae), _below_chance(lbs)))
    heads = ("Model", "Language", "Categories", "r over categories", "RAE below chance", "LBS below chance")
    text = [*TEXTS.paragraphs("gap"), *TEXTS.paragraphs("methods", ranked=list(_rank_correlations(pairs)))]
    table = Table(title="Agreement of RAE and LBS", heads=heads, labels=2, rows=rows)
    return Section(title="RAE against LBS", text=text, panels=panels, tables=[table])


def _below_chance(profile: ModelProfile) -> int:
    """The number of categories whose whole interval is below chance."""
    return sum(estimate.high < profile.chance for estimate in profile.categories.values())


def _rank_correlations(pairs: Sequence[Pair]) -> Iterator[tuple[str, int, str]]:
    """Of each language with enough models how many they are, and the rank correlation of both methods."""
    for lang in dict.fromkeys(rae.lang for rae, _ in pairs):
        shares = np.array([(rae.micro.value, lbs.micro.value) for rae, lbs in pairs if rae.lang == lang])
        if len(shares) >= FEWEST_MODELS:
            rho = spearman(*shares.T)
            if np.isfinite(rho):
                yield lang, len(shares), str(Number(rho))


def _gaps(data: Profiles) -> Section | None:
    profiles = [profile for profile in data.profiles if profile.metric in SHOWN]
    panels: list[ChartRows] = []
    rows: list[Sequence[TableCell]] = []
    for title, axis in (("Languages", "lang"), ("Image and text-only", "view"), ("RAE and LBS", "metric")):
        if gaps := [gap(*pair) for pair in pairs_by(profiles, axis)]:
            panels.append(_gap_bars(f"{title}, points", gaps, axis))
            rows += map(_gap_row, gaps)
    if not rows:
        return None
    heads = ("Model", "Language", "Method", "View", "Gap", "95 % interval", "Paired by")
    text = TEXTS.paragraphs("gaps", unpaired=any(row[-1] == "none" for row in rows))
    if pairs_by(profiles, "metric"):
        text += TEXTS.paragraphs("gap")
    table = Table(title="Gaps, in points", heads=heads, labels=4, rows=rows)
    return Section(title="Gaps", text=text, panels=panels, tables=[table])


def _level_gaps(data: Profiles) -> Section | None:
    """Gaps between languages, and RAE minus LBS, level by level."""
    tables, details = [], []
    profiles = _image_profiles(data)
    for title, axis in (("Languages", "lang"), ("RAE and LBS", "metric")):
        pairs = pairs_by(profiles, axis)
        gaps = [(_gap_labels(first, second), level_gaps((first, second))) for first, second in pairs]
        values = [(labels, {each.level: each.value for each in own}) for labels, own in gaps]
        if not values:
            continue
        tables.append(level_gap_table(f"{title}: gaps by level, in points", data.levels, values))
        rows: list[Sequence[TableCell]] = [
            (
                *labels,
                each.level.capitalize(),
                Percent(each.value, 1, sign=True),
                Interval(each.low, each.high, 1, sign=True),
            )
            for labels, own in gaps
            for each in own
        ]
        heads = ("Model", "Language", "Method", "Level", "Gap", "95 % interval")
        details.append(Table(title=f"{title}: gaps by level with their intervals", heads=heads, labels=4, rows=rows))
    if not tables:
        return None
    return Section(title="Gaps by level", text=TEXTS.paragraphs("level_gaps"), tables=tables, details=details)


def _gap_labels(first: ModelProfile, second: ModelProfile) -> tuple[str, ...]:
    pairs = zip(_labels(first), _labels(second), strict=True)
    return tuple(a if a == b else f"{a} {MINUS} {b}" for a, b in pairs)


def level_gap_table(
    title: str, levels: Sequence[str], gaps: Sequence[tuple[Sequence[str], Mapping[str, float]]]
) -> Table:
    """Gaps of models by level, and below those of several models their mean.

    Args:
        levels: In the order of the columns.
        gaps: Model, language and method, and the gap of each level.
    """
    rows: list[Sequence[TableCell]] = []
    kinds: dict[tuple[str, ...], list[Mapping[str, float]]] = {}
    for labels, values in gaps:
        rows.append((*labels, *(Percent(values.get(level), 1, sign=True) for level in levels)))
        kinds.setdefault(tuple(labels[1:]), []).append(values)
    for kind, own in kinds.items():
        if len(own) > 1:
            present = [[values[level] for values in own if level in values] for level in levels]
            means = [Percent(fmean(shares) if shares else None, 1, sign=True) for shares in present]
            rows.append((f"mean of {len(own)} models", *kind, *means))
    heads = ("Model", "Language", "Method", *(level.capitalize() for level in levels))
    return Table(title=title, heads=heads, labels=3, rows=rows)


def _trends(data: Profiles) -> Section | None:
    """Slopes by size within families of models."""
    profiles = _image_profiles(data)
    trends = size_trends(profiles)
    if not trends:
        return None
    heads = ("Family", "Billions of parameters", "Language", "Method", "By doubling", "95 % interval")
    by_level: list[Sequence[TableCell]] = [
        (*_trend_labels(trend), trend.level.capitalize(), *_slope(trend))
        for trend in size_trends(profiles, by_level=True)
    ]
    return Section(
        title="Trends by size",
        text=TEXTS.paragraphs("trends"),
        tables=[
            Table(
                title="Change of the accuracy when the size doubles, in points",
                heads=heads,
                labels=4,
                rows=[(*_trend_labels(trend), *_slope(trend)) for trend in trends],
            )
        ],
        details=[
            Table(
                title="The same by level, in points", heads=(*heads[:4], "Level", *heads[4:]), labels=5, rows=by_level
            )
        ],
    )


def _trend_labels(trend: SizeTrend) -> tuple[str, str, str, str]:
    method = f"RAE {MINUS} LBS" if trend.metric == GAP else METHODS[trend.metric]
    return trend.family, ", ".join(f"{size:g}" for size in trend.sizes), trend.lang, method


def _slope(trend: SizeTrend) -> tuple[TableCell, TableCell]:
    return Percent(trend.slope, 1, sign=True), Interval(trend.low, trend.high, 1, sign=True)


def _gap_bars(title: str, gaps: Sequence[ProfileGap], axis: str) -> ChartRows:
    widest = reach(end for difference in gaps for end in (difference.low, difference.high))
    groups: dict[str, list[tuple[str, Markup, str]]] = {}
    for difference in gaps:
        bar = difference_bar(difference.value, difference.low, difference.high, reach=widest)
        line = (_gap_name(difference, axis), bar, percent(difference.value, 1, sign=True))
        groups.setdefault(difference.first.model, []).append(line)
    ends = (f"{MINUS}{100 * widest:g}", "0", f"+{100 * widest:g}")
    return ChartRows(title=title, axis=ends, groups=list(groups.items()))


def _gap_name(difference: ProfileGap, axis: str) -> str:
    first, second = difference.first, difference.second
    if axis == "metric":
        return first.lang
    langs = f"{first.lang} {MINUS} {second.lang}" if axis == "lang" else first.lang
    return f"{METHODS[first.metric]}, {langs}"


def _gap_row(difference: ProfileGap) -> Sequence[TableCell]:
    first, second = difference.first, difference.second
    view = first.view if first.view == second.view else f"{first.view} {MINUS} {second.view}"
    value = Percent(difference.value, 1, sign=True)
    interval = Interval(difference.low, difference.high, 1, sign=True)
    return (*_gap_labels(first, second), view, value, interval, "pictures" if difference.paired else "none")


def _categories(data: Profiles) -> Section | None:
    levels = {level: [path for path in data.categories if path.level == level] for level in data.levels}
    panels, details = [], []
    for metric in _metrics(data):
        profiles = [profile for profile in _image_profiles(data) if profile.metric == metric]
        for lang in dict.fromkeys(profile.lang for profile in profiles):
            strips = [
                (level.capitalize(), [_strip(profile, categories) for profile in profiles if profile.lang == lang])
                for level, categories in levels.items()
            ]
            panels.append(ChartRows(title=f"{METHODS[metric]}, {lang}", axis=(), groups=strips))
        details.append(_category_table(data.categories, metric, profiles))
    legend = TEXTS.paragraphs("categories")[0]
    return Section(title="Categories", legend=legend, panels=panels, details=details) if details else None


def _strip(profile: ModelProfile, categories: Sequence[Category]) -> tuple[str, Markup, str]:
    shares = {category: profile.categories[category].value for category in categories if category in profile.categories}
    fields = [
        (
            f"{category.name}: {percent(shares.get(category), 0)}{' %' if category in shares else ''}",
            shares.get(category),
        )
        for category in categories
    ]
    if not shares:
        return profile.model, strip(fields, middle=profile.chance, text="no category has items"), DASH
    low, high = (pick(shares, key=shares.__getitem__) for pick in (min, max))
    ends = " to ".join(f"{percent(shares[category], 0)} % ({category.name})" for category in (low, high))
    text = f"{pluralize(len(shares), 'category', 'categories')}, from {ends}"
    figure = f"{percent(shares[low], 0)} to {percent(shares[high], 0)}"
    return profile.model, strip(fields, middle=profile.chance, text=text), figure


def _category_table(categories: Sequence[Category], metric: str, profiles: Sequence[ModelProfile]) -> Table:
    has_intervals = len(profiles) <= FEW_COLUMNS
    rows: list[Sequence[TableCell]] = []
    for category in categories:
        estimates = [profile.categories.get(category) for profile in profiles]
        cells: list[TableCell] = []
        for estimate in estimates:
            cells += [_share(estimate, 0), *([_interval(estimate)] if has_intervals else [])]
        items = max((estimate.items for estimate in estimates if estimate), default=0)
        rows.append((category.name, category.subcategory, category.level.capitalize(), items, *cells))
    heads = ["Category", "Subcategory", "Level", "Items"]
    for profile in profiles:
        name = f"{profile.model} {profile.lang}"
        heads += [name, f"{name}, interval"] if has_intervals else [name]
    return Table(
        title=f"Categories by {METHODS[metric]}, in percent",
        heads=heads,
        labels=3,
        rows=rows,
        shaded=range(4, len(heads), 2 if has_intervals else 1),
        middle=profiles[0].chance,
    )


def _differences(data: Profiles, axis: str, title: str) -> Section | None:
    """The categories on which profiles differ significantly that differ in one thing, the axis."""
    differences = category_differences(pairs_by(_image_profiles(data), axis))
    if not differences:
        return None
    significant = sorted(
        (difference for difference in differences if difference.adjusted < NAMED),
        key=lambda difference: (difference.adjusted, -abs(difference.value)),
    )
    compared = Counter(_names(difference, axis) for difference in differences)
    first_better = Counter(_names(difference, axis) for difference in significant if difference.value > 0)
    second_better = Counter(_names(difference, axis) for difference in significant if difference.value <= 0)
    heads = ("A", "B", "Language" if axis == "model" else "Model", "Method")
    counts = Table(
        title="Differing categories",
        heads=(*heads, "Categories", "A better", "B better"),
        labels=4,
        rows=[(*names, count, first_better[names], second_better[names]) for names, count in compared.items()],
    )
    listed = Table(
        title=f"{title}, in points",
        heads=(*heads, "Category", "Subcategory", "Level", f"A {MINUS} B", "95 % interval", "p", "p (BH)"),
        labels=7,
        rows=[_difference_row(difference, axis) for difference in significant[:MOST_LISTED]],
    )
    text = TEXTS.paragraphs(
        "differences", all=len(differences), significant=len(significant), level=NAMED, listed=MOST_LISTED
    )
    return Section(title=title, text=text, tables=[counts], details=[listed] if listed.rows else [])


def _names(difference: CategoryDifference, axis: str) -> tuple[str, ...]:
    first, second = difference.first, difference.second
    if axis == "model":
        return first.model, second.model, first.lang, METHODS[first.metric]
    return first.lang, second.lang, first.model, METHODS[first.metric]


def _difference_row(difference: CategoryDifference, axis: str) -> Sequence[TableCell]:
    category = difference.category
    return (
        *_names(difference, axis),
        category.name,
        category.subcategory,
        category.level.capitalize(),
        Percent(difference.value, 1, sign=True),
        Interval(difference.low, difference.high, 1, sign=True),
        PValue(difference.p),
        PValue(difference.adjusted),
    )


def _calibration(data: Profiles) -> Section | None:
    if not data.calibrations:
        return None
    curves = [(model, lang, curve) for (model, lang), curve in data.calibrations.items()]
    rows: list[Sequence[TableCell]] = [
        (
            model,
            lang,
            curve.items,
            *(Percent(share, 1) for share in (curve.confidence, curve.right, curve.error, curve.by_chance)),
            Number(curve.brier, 3),
        )
        for model, lang, curve in curves
    ]
    bins: list[Sequence[TableCell]] = [
        (
            model,
            lang,
            f"{100 * interval.start:g} to {100 * interval.end:g}",
            interval.items,
            Percent(interval.confidence, 1),
            Percent(interval.right, 1),
            Interval(interval.low, interval.high, 1),
        )
        for model, lang, curve in curves
        for interval in curve.bins
    ]
    heads = ("Model", "Language", "Items", "Confidence", "Accuracy", "ECE", "Expected ECE", "Brier score")
    bin_heads = ("Model", "Language", "Confidence, %", "Items", "Mean confidence", "Accuracy", "95 % interval")
    return Section(
        title="Calibration of LBS",
        text=TEXTS.paragraphs("calibration", equal=1 - data.chance),
        panels=[_reliability_chart(f"{model}, {lang}", curve) for model, lang, curve in curves],
        tables=[Table(title="Calibration, in percent", heads=heads, labels=2, rows=rows)],
        details=[Table(title="Bins of the curves, in percent", heads=bin_heads, labels=3, rows=bins)],
    )


def _reliability_chart(title: str, curve: ReliabilityCurve) -> Chart:
    points, texts = [], []
    for point in curve.bins:
        text = f"{percent(point.confidence, 0)} % confidence, {percent(point.right, 0)} % of {point.items} correct"
        texts.append(text)
        points.append((point.confidence, point.right, point.low, point.high, text))
    ticks = ((0.0, "0"), (0.5, "confidence 50 %"), (1.0, "100"))
    svg = scatter(points, ticks, other=((0.0, 0.0), (1.0, 1.0)), text=f"{title}: {'; '.join(texts)}")
    note = "Height: accuracy, from 0 to 100 %. The broken line is perfect calibration."
    return Chart(title=title, svg=svg, note=note)
