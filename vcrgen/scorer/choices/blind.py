"""What can be answered of a question set without its pictures: by rules that see only texts, and by a model.

    items = items_with_keys(open_any("data/my-bloom"))
    for row in blind_rows(items, seed=0):
        print(row.lang, row.rule, row.value, row.low, row.high)

In a good set each of them is right in a quarter of the items.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple

from vcrgen.dataset.reader import Dataset
from vcrgen.errors import ConfigError, DatasetError, ScoreError
from vcrgen.report.forms import as_csv, as_latex, as_markdown
from vcrgen.report.table import Interval, Percent, Table, TableCell
from vcrgen.scorer.choices.grammar import read_choice
from vcrgen.stats.bootstrap import Sums, means_of, resampled_means
from vcrgen.stats.intervals import spreads
from vcrgen.tasks.bloom import LETTERS, ChoiceItem, ChoiceQuestion, read_items

CHANCE = 1 / len(LETTERS)
FORMATS = ("text", "md", "csv", "latex", "json")
_MOST_LEVELS = 8  # columns of levels in a table; the JSON has all
_WORD = re.compile(r"\w+")
Outputs = Mapping[tuple[str, str], str]  # question id and language to what a model wrote


class BlindRow(NamedTuple):
    """How often one rule is right in one language."""

    lang: str
    rule: str  # in words
    items: int
    pictures: int  # what is resampled for the interval
    value: float  # share of the items; of k options between which a rule cannot choose, each counts 1/k
    low: float  # ends of the 95 % interval
    high: float
    levels: Mapping[str, float]  # the same share by level

    @property
    def above(self) -> bool:
        """Whether the whole interval lies above chance."""
        return self.low > CHANCE


def _longest(question: ChoiceQuestion) -> set[int]:
    return _highest([len(option) for option in question.options])


def _shortest(question: ChoiceQuestion) -> set[int]:
    return _highest([-len(option) for option in question.options])


def _most_overlap(question: ChoiceQuestion) -> set[int]:
    asked = _words(question.text)
    return _highest([len(asked & _words(option)) for option in question.options])


def _always(number: int, question: ChoiceQuestion) -> set[int]:
    return {number}


def _highest(values: Sequence[int]) -> set[int]:
    return {number for number, value in enumerate(values) if value == max(values)}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


# What a rule takes, in words, to the options that it takes.
RULES: Mapping[str, Callable[[ChoiceQuestion], set[int]]] = {
    "longest option": _longest,
    "shortest option": _shortest,
    "most words of the question": _most_overlap,
    **{f"always {letter}": partial(_always, number) for number, letter in enumerate(LETTERS)},
}


def items_with_keys(data: Dataset, limit: int | None = None) -> list[ChoiceItem]:
    """The items of a question set, or the first ones.

    Raises:
        ConfigError: The limit is not 1 or more.
        DatasetError: An item has no key.
    """
    if limit is not None and limit < 1:
        raise ConfigError(f"--limit is 1 or more, not {limit}.")
    items = list(islice(read_items(data), limit))
    if any(item.answer is None for item in items):
        raise DatasetError(f"{data} has questions without a key, as a hidden set's public part; give a set with keys.")
    return items


def blind_rows(
    items: Sequence[ChoiceItem], *, seed: int, lang: str | None = None, models: Mapping[str, Outputs] | None = None
) -> list[BlindRow]:
    """How often each rule, and each model in the blind view, is right: language by language.

    Args:
        items: As :func:`items_with_keys` gives them.
        seed: Of the bootstrap.
        lang: Only this language; None for all.
        models: Outputs by the name of the model. An item without one is wrong.

    Raises:
        DatasetError: No item is complete in the language.
    """
    languages = dict.fromkeys(code for item in items for code in item.questions if lang in (None, code))
    if not languages:
        raise DatasetError(f"No question is complete in {lang or 'any language'}.")
    rows = []
    for code in languages:
        of_lang = [item for item in items if code in item.questions]
        credit = {name: [_credit(rule, item, code) for item in of_lang] for name, rule in RULES.items()}
        for name, outputs in (models or {}).items():
            credit[f"{name}, blind"] = [_read(outputs, item, code) for item in of_lang]
        rows += _rows(of_lang, code, credit, seed)
    return rows


def _credit(rule: Callable[[ChoiceQuestion], set[int]], item: ChoiceItem, lang: str) -> float:
    taken = rule(item.questions[lang])
    return (item.answer in taken) / len(taken)


def _read(outputs: Outputs, item: ChoiceItem, lang: str) -> float:
    output = outputs.get((item.question_id, lang))
    return float(output is not None and read_choice(output, item.questions[lang].options).choice == item.answer)


def _rows(items: Sequence[ChoiceItem], lang: str, credit: Mapping[str, Sequence[float]], seed: int) -> list[BlindRow]:
    """The shares with their intervals; pictures are resampled, as the items of one are not independent."""
    import numpy as np

    pictures = {picture: number for number, picture in enumerate(dict.fromkeys(item.picture for item in items))}
    codes = np.array([pictures[item.picture] for item in items])
    columns = [np.bincount(codes, np.array(each), len(pictures)) for each in credit.values()]
    sums = Sums(np.column_stack(columns), np.bincount(codes)[:, None].astype(np.float64), [0] * len(columns))
    means, counting = means_of(sums)
    found = spreads(means, resampled_means(sums, seed=seed, unit="picture"), counting)
    levels = np.array([item.level for item in items])
    rows = []
    for (name, each), mean, spread in zip(credit.items(), means.tolist(), found, strict=True):
        by_level = {level: float(np.mean(np.array(each)[levels == level])) for level in dict.fromkeys(levels.tolist())}
        rows.append(BlindRow(lang, name, len(items), len(pictures), mean, spread.low, spread.high, by_level))
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindReport:
    """The table of a set, and what it says in words."""

    table: Table
    levels: Sequence[str]  # heads of the columns that are of one level
    says: Sequence[str]
    rows: Sequence[BlindRow]


def blind_report(name: str, rows: Sequence[BlindRow], leaves: Sequence[str] = ()) -> BlindReport:
    """Make a report.

    Args:
        name: Of the set.
        rows: As :func:`blind_rows` gives them.
        leaves: Paths in the order of the taxonomy, in which the levels are shown.
    """
    known = dict.fromkeys(
        [*(leaf.partition("/")[0] for leaf in leaves), *(each for row in rows for each in row.levels)]
    )
    levels = [level for level in known if any(level in row.levels for row in rows)]
    shown = levels if len(levels) <= _MOST_LEVELS else []
    named = [level.title() for level in shown]
    cells: list[list[TableCell]] = [
        [
            *(row.lang, row.rule, row.items, Percent(row.value), Interval(row.low, row.high)),
            Percent(row.value - CHANCE, sign=True),
            *(Percent(row.levels[level]) if level in row.levels else None for level in shown),
        ]
        for row in rows
    ]
    heads = ["Lang", "Rule", "Items", "Right", "95 % interval", "− chance", *named]
    table = Table(
        title=f"What can be answered of {name} without the picture (chance {100 * CHANCE:g} %)",
        heads=heads, labels=2, rows=cells, breaks=[6] if shown else [],
    )  # fmt: skip
    says = [
        f"{row.lang}, {row.rule}: right in {Percent(row.value)} % ({Interval(row.low, row.high)}), more than chance."
        for row in rows
        if row.above
    ]
    says = says or ["No rule is right more often than chance: no interval lies above it."]
    says.append(
        "Intervals are by picture. Each misses the truth in one of twenty sets, so one rule that lies just above "
        "chance may do so by luck."
    )
    return BlindReport(table=table, levels=named, says=says, rows=rows)


def _figures(rows: Sequence[BlindRow]) -> Table:
    """Everything as columns of numbers."""
    levels = list(dict.fromkeys(level for row in rows for level in row.levels))
    cells: list[list[TableCell]] = [
        [
            *(row.lang, row.rule, row.items, row.pictures, Percent(row.value), Percent(row.low), Percent(row.high)),
            *(Percent(row.levels.get(level)) for level in levels),
        ]
        for row in rows
    ]
    heads = ["lang", "rule", "items", "pictures", "right", "low", "high", *levels]
    return Table(title="", heads=heads, labels=2, rows=cells)


def render_blind(report: BlindReport, form: str) -> str:
    """The report as a document: ``md``, ``csv``, ``latex`` or ``json`` (shares, not rounded).

    Raises:
        ScoreError: The form is another.
    """
    if form == "csv":
        return as_csv(_figures(report.rows))
    if form == "json":
        rows = [row._asdict() | {"above_chance": row.above} for row in report.rows]
        return json.dumps({"chance": CHANCE, "rows": rows}, ensure_ascii=False, indent=2) + "\n"
    if form not in ("md", "latex"):
        raise ScoreError(f"Unknown format {form!r}; known: {', '.join(FORMATS)}.")
    if form == "latex":
        return as_latex(report.table) + "\n"
    return "\n\n".join([f"## {report.table.title}", as_markdown(report.table), *report.says]) + "\n"
