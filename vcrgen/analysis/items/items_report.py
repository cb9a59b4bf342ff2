"""The report on items: reliability of scores, statistics of each item, predictors of difficulty."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from vcrgen.analysis.items.analyse import ItemResult
from vcrgen.analysis.items.classical import NEAR_DUPLICATE, IntervalEstimate, score_intervals
from vcrgen.analysis.items.difficulty_model import DifficultyModel
from vcrgen.analysis.items.irt import FEWEST_FOR_2PL, ItemModel
from vcrgen.analysis.items.item_table import FEW_MODELS, ItemTable
from vcrgen.analysis.measured import found_wrong_keys
from vcrgen.analysis.summaries import named
from vcrgen.analysis.wording import between, number, p_value
from vcrgen.plurals import pluralize
from vcrgen.report.charts import curve, histogram
from vcrgen.report.document import Chart, Document, Section
from vcrgen.report.table import Interval, Number, Percent, Table, TableCell
from vcrgen.stats.arrays import Floats
from vcrgen.stats.ranking import ascending

MOST_LISTED = 20  # items in a table that is not folded
RELIABLE = (0.90, 0.95)
_REACH, _POINTS = 4.0, 17  # of the information curve
_P_TICKS = ((0.0, "0"), (0.5, "50 % solved"), (1.0, "100"))
_R_TICKS = ((0.0, "-1"), (0.5, "item-rest r = 0"), (1.0, "+1"))
_ABILITIES = ((0.0, "-4"), (0.25, "-2"), (0.5, "ability 0"), (0.75, "+2"), (1.0, "+4"))
_LIMITATIONS = (
    "The validity of an item: an item may discriminate among models for a bad reason.",
    "Statistics for other models: a benchmark that all models solve is not reliable.",
    "That a listed item is wrong. A negative item-rest r is a reason to inspect the item, not to remove it unseen: "
    "selecting items by the models that are ranked with them flatters those models.",
)
_NOT_CAUSES = (
    "Causes: an odds ratio compares spans that differ in one covariate and are equal in the other listed ones."
)


def items_document(result: ItemResult, *, settings: str) -> Document:
    """The report on an analysis of items; ``settings`` is a line that says how it was made."""
    table = result.table
    sections = [_models(result), _reliability(result), _all_items(result), _suspects(result)]
    if result.model is not None:
        sections += [_item_model(result, result.model), _top(result, result.model)]
    if result.difficulty_model is not None:
        sections.append(_difficulty(result.difficulty_model))
    return Document(
        title="Items of a benchmark",
        summary=list(_summary(result)),
        lead=f"{describe_table(table)}, from {table.source}.",
        sections=sections,
        limitations=_LIMITATIONS + ((_NOT_CAUSES,) if result.difficulty_model is not None else ()),
        warnings=[*table_warnings(table), *result.notes],
        settings=settings,
        private=table.hidden,
    )


def _summary(result: ItemResult) -> Iterator[str]:
    """Sentences on what to do, and with how many models more could be said."""
    table, figures, models = result.table, result.figures, len(result.table.models)
    wrong = list(dict.fromkeys([each.item for each in result.preferred or ()] + figures.negative.tolist()))
    names = [table.items[item] for item in wrong]
    size, found = found_wrong_keys(models)
    power = f"with {size} models the tests find {found[result.preferred is not None]} of 150 wrong keys in simulations"
    if names:
        yield f"Look at the key of {named(names)}: better models fail, or prefer another option; {power}."
    else:
        yield f"No key is shown to be wrong; {power}."
    if result.duplicates.pairs:
        pairs = [f"{table.items[a]} and {table.items[b]}" for a, b, _ in result.duplicates.pairs]
        yield f"Drop one of each pair of near-duplicates ({result.duplicates.found:,}): {named(pairs)}."
    solved, unsolved = len(figures.solved_by_all), len(figures.unsolved)
    if solved or unsolved:
        yield (
            f"{pluralize(solved + unsolved, 'item tells', 'items tell')} no model from another: {solved} solved by "
            f"all, {unsolved} by none."
        )
    unit = "image" if table.is_grouped else "item"
    reliable = result.reliability
    if reliable is not None and (needed := reliable.needed(RELIABLE[0])) is not None:
        verdict = "enough" if needed <= reliable.images else "too few"
        yield (
            f"{pluralize(reliable.images, unit)} are {verdict} for a generalisability of {RELIABLE[0]:.2f} (now "
            f"{reliable.generalisability:.3f}): that takes {needed:,}."
        )
    if models < FEW_MODELS:
        more_models = pluralize(FEW_MODELS - models, "more model", "more models")
        yield f"Score {more_models}: with fewer than {FEW_MODELS}, figures of single items are vague."


def describe_table(table: ItemTable) -> str:
    """Return the size of a table in words."""
    images = f" of {pluralize(len(table.group_names), 'image')}" if table.is_grouped else ""
    metric = f", metric {table.metric}" if table.metric != "score" else ""
    return f"{len(table.models)} models, {pluralize(len(table.items), 'item')}{images}{metric}"


def table_warnings(table: ItemTable) -> list[str]:
    """The warning of few models, and what missing cells there are."""
    warnings = []
    if len(table.models) < FEW_MODELS:
        warnings.append(
            f"Only {len(table.models)} models: figures of single items are vague below {FEW_MODELS}, and models of one "
            "family count as fewer."
        )
    if any(table.empty_counts):
        models, items = table.empty_counts
        warnings.append(
            f"{pluralize(models, 'model')} and {pluralize(items, 'item')} have no score at all and are left out."
        )
    if missing := int((~table.present).sum()):
        why = ", ".join(f"{count} {outcome}" for outcome, count in sorted(table.missing_outcomes.items()))
        share = 100 * missing / table.scores.size
        warnings.append(
            f"{pluralize(missing, f'cell ({share:.2g} %) is', f'cells ({share:.2g} %) are')} missing"
            f"{f' (outputs: {why})' if why else ''} and left so; scores here are means over what is there."
        )
    return warnings


def share(value: float, decimals: int = 1) -> Percent:
    """A share of a table, or nothing for NaN."""
    return Percent(float(value) if math.isfinite(value) else None, decimals)


def _models(result: ItemResult) -> Section:
    table, model = result.table, result.model
    means, errors, low, high = score_intervals(table)
    counts = table.present.sum(axis=1)
    rows: list[Sequence[TableCell]] = []
    for row in sorted(range(len(table.models)), key=lambda row: (-round(float(means[row]), 12), table.models[row])):
        cells: list[TableCell] = [table.models[row], int(counts[row]), share(means[row], 2), share(errors[row], 2)]
        cells.append(Interval(float(low[row]), float(high[row])))
        if model is not None:
            cells += [number(model.ability[row], 2), number(model.ability_error[row], 2)]
        rows.append(cells)
    heads = ["Model", "Items", "Score, %", "Error", "95 % interval"]
    heads += ["Ability", "Error"] if model is not None else []
    return Section(
        title="Models",
        text=[
            f"The error of a score is its standard error over {'images' if table.is_grouped else 'items'}. "
            "Abilities have mean 0 and standard deviation 1 over these models."
        ],
        tables=[Table(title="Scores of models", heads=heads, labels=1, rows=rows)],
    )


def _reliability(result: ItemResult) -> Section:
    found, table = result.reliability, result.table
    if found is None:
        why = "Fewer than three models have a score on every item, so reliability cannot be computed."
        return Section(title="Reliability", text=[why])
    unit = "images" if table.is_grouped else "items"
    rows: list[Sequence[TableCell]] = [
        ("Cronbach's alpha", *_estimate(found.alpha)),
        (f"Split-half, random halves of the {unit}", *_estimate(found.halves)),
        (f"Generalisability, {unit} drawn anew", number(found.generalisability, 3), None),
        ("Standard error of a score against the others, points", number(100 * found.error, 2), None),
    ]
    for wanted in RELIABLE:
        needed = found.needed(wanted)
        rows.append((f"{unit.capitalize()} needed for {wanted:.2f}", needed, None))
    total = (found.between_models + found.models_by_images + found.rest) or math.nan
    parts = [("Models", found.between_models)]
    parts += [("Models with images", found.models_by_images)] if table.is_grouped else []
    parts.append((f"Models with items{' of an image' if table.is_grouped else ''}, and chance", found.rest))
    sizes = sorted({max(1, round(found.images * times)) for times in (0.1, 0.25, 0.5, 1, 2)})
    text = [
        "Reliability is the share of the variance between models that is not due to the choice of items. "
        f"It is lower among models that are more alike. {found.models} of "
        f"{len(table.models)} models have every item and are used here."
    ]
    if table.is_grouped:
        text.append("Items of one image stand or fall together; alpha takes them as independent, and is too high then.")
    if math.isnan(found.alpha.low):
        text.append(f"In {found.failed} of the resamples all models have the same score, so alpha has no interval.")
    elif found.failed:
        why = "in which all models have the same score"
        text.append(f"{pluralize(found.failed, f'resample, {why}, is', f'resamples, {why}, are')} left out.")
    return Section(
        title="Reliability",
        text=text,
        tables=[
            Table(title="Reliability of scores", heads=("Statistic", "Value", "95 %"), labels=1, rows=rows),
            Table(
                title="Variance components of a single score",
                heads=("Source", "Variance", "Share, %"),
                labels=1,
                rows=[(name, number(part, 4), share(part / total)) for name, part in parts],
            ),
            Table(
                title=f"Generalisability with other numbers of {unit}",
                heads=(unit.capitalize(), "Generalisability"),
                labels=1,
                rows=[(str(size), number(found.at(size), 3)) for size in sizes],
            ),
        ],
    )


def _estimate(value: IntervalEstimate) -> tuple[TableCell, TableCell]:
    return number(value.value, 3), between(value.low, value.high, 3)


def _all_items(result: ItemResult) -> Section:
    table, figures, model = result.table, result.figures, result.model
    solved = np.histogram(figures.p, 10, (0, 1))[0].tolist()
    known = figures.item_rest[~np.isnan(figures.item_rest)]
    rests = np.histogram(known, 20, (-1, 1))[0].tolist()
    place = {} if model is None else {int(item): number for number, item in enumerate(model.items)}
    rows: list[Sequence[TableCell]] = []
    for item, name in enumerate(table.items):
        cells: list[TableCell] = [
            name,
            int(figures.models[item]),
            share(figures.p[item]),
            number(figures.item_rest[item], 2),
        ]
        cells += [between(figures.low[item], figures.high[item], 2), number(figures.alpha_dropped[item], 4)]
        if model is not None:
            at = place.get(item)
            values = (model.difficulty, model.difficulty_error, model.slope, model.slope_error)
            cells += [None if at is None else number(each[at], 2) for each in values]
        rows.append(cells)
    heads = ["Item", "Models", "Solved, %", "Item-rest r", "95 % interval", "Alpha without"]
    heads += ["Difficulty", "Error", "Slope", "Error"] if model is not None else []
    return Section(
        title="Items",
        text=[
            "An item's p is the share of models that solve it. Its item-rest r is the correlation of its scores with "
            "the models' means over all other items: near 0 the item does not discriminate."
        ],
        charts=[
            Chart(title="Items by the share of models that solve them", svg=histogram(solved, _P_TICKS)),
            Chart(title="Items by their item-rest correlation", svg=histogram(rests, _R_TICKS)),
        ],
        tables=[
            Table(
                title="Items by share solved",
                heads=("Solved, %", "Items"),
                labels=1,
                rows=[(f"{10 * n} to {10 * n + 10}", count) for n, count in enumerate(solved)],
            ),
            Table(
                title="Items by item-rest r",
                heads=("Item-rest r", "Items"),
                labels=1,
                rows=[
                    (f"{(n - 10) / 10:+.1f} to {(n - 9) / 10:+.1f}", count) for n, count in enumerate(rests) if count
                ],
            ),
        ],
        details=[Table(title="All items", heads=heads, labels=1, rows=rows)],
    )


def _suspects(result: ItemResult) -> Section:
    table, figures = result.table, result.figures
    duplicates = result.duplicates
    preferred = result.preferred
    counts = [
        ("Solved by no model", len(figures.unsolved)),
        ("Solved by every model", len(figures.solved_by_all)),
        ("Another option preferred by better models: wrong key?", None if preferred is None else len(preferred)),
        ("Significantly negative item-rest r: wrong key?", len(figures.negative)),
        ("Pairs of near-duplicates", duplicates.found if duplicates.is_testable else None),
    ]
    text = [
        "Significantly negative: r is below 0 with p below .05, adjusted by Benjamini and Hochberg. "
        f"Near-duplicates are pairs with r of {NEAR_DUPLICATE:g} or more that chance would not give in one of 20 such "
        "tables."
    ]
    text.append(_power(len(table.models), preferred is not None))
    if not duplicates.is_testable:
        text.append(f"{len(table.models)} models are too few to test for near-duplicates among so many items.")
    details = [
        Table(
            title=title,
            heads=("Item", "Models"),
            labels=1,
            rows=[(table.items[item], int(figures.models[item])) for item in found.tolist()],
        )
        for title, found in (
            ("Items that no model solves", figures.unsolved),
            ("Items that every model solves", figures.solved_by_all),
        )
        if len(found)
    ]
    tables = [Table(title="Items to look at", heads=("Group", "Items"), labels=1, rows=counts)]
    for title, more, labels, heads, rows in _listed(result):
        for of, name, some in ((tables, title, rows[:MOST_LISTED]), (details, more, rows[MOST_LISTED:])):
            if some:
                of.append(Table(title=name, heads=heads, labels=labels, rows=some))
    return Section(title="Items to look at", text=text, tables=tables, details=details)


def _listed(result: ItemResult) -> Iterator[tuple[str, str, int, Sequence[str], Sequence[Sequence[TableCell]]]]:
    """Of each reason to look at items the titles of its table and of what does not fit, labels, heads and rows."""
    table, figures = result.table, result.figures
    preferred = [
        (
            table.items[each.item],
            "none chosen" if each.key < 0 else table.options[each.key],
            table.options[each.option],
            number(each.r, 2),
            p_value(each.adjusted),
        )
        for each in result.preferred or ()
    ]
    heads: Sequence[str] = ("Item", "Key", "Preferred", "r", "Adjusted p")
    yield "Options that better models prefer to the key", "More options that better models prefer", 3, heads, preferred
    negative = [
        (
            table.items[item],
            share(figures.p[item]),
            number(figures.item_rest[item], 2),
            between(figures.low[item], figures.high[item], 2),
            p_value(float(figures.adjusted[item])),
        )
        for item in figures.negative.tolist()
    ]
    heads = ("Item", "Solved, %", "Item-rest r", "95 % interval", "Adjusted p")
    yield "Negative discrimination", "More with negative discrimination", 1, heads, negative
    pairs = [(table.items[a], table.items[b], number(r, 3)) for a, b, r in result.duplicates.pairs]
    yield "Near-duplicates", "More near-duplicates", 2, ("Item", "Near-duplicate", "r"), pairs


def _power(models: int, has_options: bool) -> str:
    """Say how many wrong keys the tests find, by simulations of the nearest size below."""
    size, (by_rest, by_option) = found_wrong_keys(models)
    start = f"In simulations with {size} models"
    end = "without a false alarm: an item that is not listed may well have a wrong key."
    if has_options:
        return (
            f"{start} the test of options finds {by_option} of 150 wrong keys of questions with four options, and that "
            f"of item-rest r {by_rest}, {end}"
        )
    return (
        f"{start} this finds {by_rest} of 150 wrong keys of questions with four options, {end} With the options that "
        f"models chose (a column `choice`, or evidence of an MCQ benchmark) {by_option} would be found."
    )


def _item_model(result: ItemResult, model: ItemModel) -> Section:
    grid = np.linspace(-_REACH, _REACH, _POINTS)
    information = model.information(grid).sum(axis=1)
    places = ((model.ability + _REACH) / (2 * _REACH)).tolist()
    points = [
        ((at + _REACH) / (2 * _REACH), float(value / information.max()))
        for at, value in zip(grid, information, strict=True)
    ]
    rows = [
        (Number(at, 1, sign=True), number(value, 2), number(1 / math.sqrt(value + 1), 2))
        for at, value in zip(grid, information, strict=True)
    ]
    left = len(result.table.items) - len(model.items)
    text = [
        f"A model of ability t solves an item with probability 1 / (1 + exp(-(slope (t - difficulty)))): {model.kind}. "
        f"Items that all models solve, or none, are not in it ({left})."
    ]
    if model.kind == "Rasch":
        text.append(
            f"With {len(result.table.models)} models the slopes of single items would be noise, so all items have one "
            f"(a 2PL takes {FEWEST_FOR_2PL} models), and difficulties are drawn towards their mean by as much as the "
            "data say."
        )
    text.append("Standard errors are those on the scale of these models: its zero and unit are taken as known.")
    return Section(
        title=f"Item response model: {model.kind}",
        text=text,
        charts=[
            Chart(
                title="Information of all items by ability",
                svg=curve(points, _ABILITIES, marks=places),
                note="Where the line is high, models are separated best. A stroke at the bottom is a model.",
            )
        ],
        tables=[
            Table(
                title="Information by ability",
                heads=("Ability", "Information", "Error of an ability"),
                labels=1,
                rows=rows,
            )
        ],
    )


def _top(result: ItemResult, model: ItemModel) -> Section:
    table = result.table
    count = max(3, math.ceil(len(table.models) / 5))
    best = ascending(-model.ability)[:count]
    top = table.select_models(best)
    low, high = (np.where(top.present, top.scores, end) for end in (np.inf, -np.inf))
    all_fail, all_solve = int((high.max(axis=0) <= 0).sum()), int((low.min(axis=0) >= 1).sum())
    information: Floats = model.information(model.ability[best]).mean(axis=0)
    order = ascending(-information)
    half = int(np.searchsorted(np.cumsum(information[order]), information.sum() / 2)) + 1
    with np.errstate(invalid="ignore"):
        solved = np.divide(
            np.nansum(top.scores, axis=0),
            top.present.sum(axis=0),
            out=np.full(len(table.items), np.nan),
            where=top.present.any(axis=0),
        )
    rows = [
        (table.items[item], number(information[at], 3), share(solved[item]), share(result.figures.p[item]))
        for at, item in zip(order[:MOST_LISTED].tolist(), model.items[order[:MOST_LISTED]].tolist(), strict=True)
    ]
    return Section(
        title="Items that discriminate among the top models",
        text=[
            f"Of {len(table.items)} items, all of the {count} best models solve {all_solve}, none of them solves "
            f"{all_fail}, and {len(table.items) - all_solve - all_fail} discriminate among them. By the item model, "
            f"{pluralize(half, 'item gives', 'items give')} half of all information at their abilities."
        ],
        tables=[
            Table(
                title=f"The items with most information at the abilities of the {count} best models",
                heads=("Item", "Information", "Solved by them, %", "By all, %"),
                labels=1,
                rows=rows,
            )
        ],
    )


def _difficulty(found: DifficultyModel) -> Section:
    rows: list[Sequence[TableCell]] = []
    for weight in found.effects:
        ratio, low, high = weight.odds_ratio
        verdict = "easier" if low > 1 else "harder" if high < 1 else "inconclusive"
        rows.append(
            (
                weight.covariate.name,
                weight.covariate.unit,
                number(ratio, 2),
                between(low, high, 2),
                p_value(weight.p),
                verdict,
            )
        )
    spreads = [("Models", found.of_models), ("Images", found.of_images), ("Spans of an image", found.of_items)]
    text = [
        "Mixed logistic regression of exact match on covariates of the span, with random effects of models, images "
        "and spans. The odds ratio is per unit of the covariate, the others being equal."
    ]
    if found.left_out:
        text.append(f"Left out: {'; '.join(f'{name} {why}' for name, why in found.left_out)}.")
    return Section(
        title="Predictors of difficulty",
        text=text,
        tables=[
            Table(
                title="Odds ratios",
                labels=2,
                rows=rows,
                heads=("Covariate", "One unit", "Odds ratio", "95 % interval", "p", "Effect"),
            ),
            Table(
                title="Spread of the random effects",
                heads=("Effect", "Standard deviation, log-odds"),
                labels=1,
                rows=[(name, number(spread, 2)) for name, spread in spreads],
            ),
        ],
    )
