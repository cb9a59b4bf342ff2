"""Text-only accuracy on an MCQ benchmark: of a reader that sees only texts, and of a model without the images.

    items = items_with_keys(open_task_dataset("data/my-bloom"))
    for row in text_only_accuracies(items, seed=0):
        print(row.lang, row.reader, row.value, row.low, row.high)

In a good set each of them is right as often as chance: in a quarter of the items, where all have four options.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vcrgen.core.errors import ConfigError, DatasetError, PredictionError
from vcrgen.core.plurals import pluralize
from vcrgen.data.reader import Dataset
from vcrgen.data.tasks.bloom import ChoiceItem, read_items
from vcrgen.data.tasks.text_reader import MIN_ITEMS, READER, read_texts
from vcrgen.data.views import View
from vcrgen.report.document import Document, Section
from vcrgen.report.table import Interval, Percent, Table, TableCell
from vcrgen.scorer.mcq.choices import read_choice
from vcrgen.scorer.mcq.session import ItemSession
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.predictions import receive
from vcrgen.stats.bootstrap import StoredGroupSums, bootstrap_means, group_means
from vcrgen.stats.intervals import sd_and_intervals

_MAX_LEVELS = 8  # columns of levels in a table; the JSON has all
Outputs = Mapping[tuple[str, str], str]  # question id and language to what a model wrote


class TextOnlyAccuracy(NamedTuple):
    """The accuracy of the reader, or of a model, in one language."""

    lang: str
    reader: str  # its name
    items: int
    pictures: int  # what is resampled for the interval
    value: float  # share of the items; of k options between which the reader cannot choose, each counts 1/k
    low: float  # ends of the 95 % interval
    high: float
    levels: Mapping[str, float]  # the same share by level
    chance: float  # mean of one by the number of options

    @property
    def above(self) -> bool:
        """True where the whole interval lies above chance."""
        return self.low > self.chance


class AnsweredItems(NamedTuple):
    """Items that models answer without the picture."""

    ids: frozenset[str]  # answered by enough models
    rows: Sequence[tuple[str, int, int, float]]  # of each model: name, items asked, answered, expected from guesses


def answered_items(data: Path, files: Sequence[Path], *, least: int) -> AnsweredItems:
    """Find the items that enough models answer without the picture.

    A model answers an item if all its outputs in the view ``text-only`` are right, in one language at least: outputs in
    every order of the options leave little to luck.

    Args:
        data: An MCQ benchmark with its keys.
        files: The outputs of one model each.
        least: Models that have to answer an item.

    Raises:
        ConfigError: ``least`` is more than there are files.
        PredictionError: A file has no outputs without the picture, or outputs that do not say whether they are.
    """
    if not 1 <= least <= len(files):
        raise ConfigError(f"--blind-models {least} needs a number from 1 to {len(files)}, the files of --blind.")
    session = ItemSession(data, ScoreOptions(view=View.TEXT_ONLY))
    ids = {item.question_id for item in session.key.questions}
    counts, rows = Counter[str](), []
    for file in files:
        _require_views(file)
        lines, answered, luck = set[str](), set[str](), dict[str, float]()
        for example in session.find_examples(file, ids):
            if not example.responses:
                continue
            item, question = example.item, example.item.questions[example.lang]
            right = [
                response.output is not None
                and read_choice(response.output, question.options, rotation=response.rotation).choice == item.answer
                for response in example.responses
            ]
            lines.add(item.question_id)
            answered |= {item.question_id} if all(right) else set()
            miss = 1 - (1 / len(question.options)) ** len(right)
            luck[item.question_id] = 1 - miss * (1 - luck.get(item.question_id, 0.0))
        counts.update(answered)
        rows.append((file.stem, len(lines), len(answered), math.fsum(luck.values())))
    return AnsweredItems(frozenset(item for item, count in counts.items() if count >= least), rows)


def _require_views(file: Path) -> None:
    """Reject a file with outputs of an unknown view: those of the picture would leave out what a model sees there."""
    if without := sum(prediction.view is None for prediction in receive(file)):
        raise PredictionError(
            f"{file}: {pluralize(without, 'output does', 'outputs do')} not say their view, so the model may have seen "
            'the picture; write "view": "text-only" into the lines of which you know that it did not.'
        )


def items_with_keys(data: Dataset, limit: int | None = None) -> list[ChoiceItem]:
    """The items of an MCQ benchmark, or the first ones.

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


def text_only_accuracies(
    items: Sequence[ChoiceItem], *, seed: int, lang: str | None = None, models: Mapping[str, Outputs] | None = None
) -> list[TextOnlyAccuracy]:
    """Compute the accuracy of the reader, and of each model in the text-only view, language by language.

    The reader is left out in a language of fewer than 100 items.

    Args:
        items: As `items_with_keys` gives them.
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
        credits = {READER: read_texts(of_lang, None, code)} if len(of_lang) >= MIN_ITEMS else {}
        for name, outputs in (models or {}).items():
            credits[f"{name}, text only"] = [_read(outputs, item, code) for item in of_lang]
        rows += _rows(of_lang, code, credits, seed) if credits else []
    return rows


def _read(outputs: Outputs, item: ChoiceItem, lang: str) -> float:
    output = outputs.get((item.question_id, lang))
    return float(output is not None and read_choice(output, item.questions[lang].options).choice == item.answer)


def _rows(
    items: Sequence[ChoiceItem], lang: str, credit: Mapping[str, Sequence[float]], seed: int
) -> list[TextOnlyAccuracy]:
    """The shares with their intervals; pictures are resampled, as the items of one are not independent."""
    pictures = {picture: number for number, picture in enumerate(dict.fromkeys(item.picture for item in items))}
    codes = np.array([pictures[item.picture] for item in items])
    columns = [np.bincount(codes, np.array(credits), len(pictures)) for credits in credit.values()]
    sums = StoredGroupSums(np.column_stack(columns), np.bincount(codes)[:, None].astype(np.float64), [0] * len(columns))
    means, counting = group_means(sums)
    intervals = sd_and_intervals(means, bootstrap_means(sums, seed=seed, unit="picture"), counting)
    levels = np.array([item.level for item in items])
    chance = math.fsum(1 / len(item.questions[lang].options) for item in items) / len(items)
    rows = []
    for (name, credits), mean, spread in zip(credit.items(), means.tolist(), intervals, strict=True):
        by_level = {
            level: float(np.mean(np.array(credits)[levels == level])) for level in dict.fromkeys(levels.tolist())
        }
        rows.append(
            TextOnlyAccuracy(lang, name, len(items), len(pictures), mean, spread.low, spread.high, by_level, chance)
        )
    return rows


def text_only_document(name: str, rows: Sequence[TextOnlyAccuracy], categories: Sequence[str] = ()) -> Document:
    """Make the document of a set; its CSV has percentages that are not rounded, its JSON shares.

    Args:
        rows: As `text_only_accuracies` gives them.
        categories: Paths in the order of the taxonomy, in which the levels are shown.
    """
    names = dict.fromkeys(
        [*(path.partition("/")[0] for path in categories), *(level for row in rows for level in row.levels)]
    )
    levels = [level for level in names if any(level in row.levels for row in rows)]
    table_levels = levels if len(levels) <= _MAX_LEVELS else []
    cells: list[list[TableCell]] = [
        [
            *(row.lang, row.reader, row.items, Percent(row.value), Interval(row.low, row.high)),
            Percent(row.value - row.chance, sign=True),
            *(Percent(row.levels[level]) if level in row.levels else None for level in table_levels),
        ]
        for row in rows
    ]
    heads = [
        "Lang",
        "Reader",
        "Items",
        "Right",
        "95 % interval",
        "− chance",
        *(level.title() for level in table_levels),
    ]
    chance = max((row.chance for row in rows), default=0.0)
    title = f"Text-only accuracy on {name}" + (f" (chance {100 * chance:.3g} %)" if rows else "")
    table = Table(
        title="Share of items, in percent", heads=heads, labels=2, rows=cells, breaks=[6] if table_levels else []
    )
    accuracies = [
        f"{row.lang}, {row.reader}: right in {Percent(row.value)} % ({Interval(row.low, row.high)}), more than chance."
        for row in rows
        if row.above
    ]
    columns = ["lang", "reader", "items", "pictures", "right", "low", "high", *levels]
    figures: list[list[TableCell]] = [
        [
            *(row.lang, row.reader, row.items, row.pictures, Percent(row.value), Percent(row.low), Percent(row.high)),
            *(Percent(row.levels.get(level)) for level in levels),
        ]
        for row in rows
    ]
    return Document(
        title=title,
        sections=[Section(tables=[table] if rows else [], notes=accuracies or [_nothing_found(rows)])],
        limitations=[
            "Intervals are clustered by image. One of twenty 95 % intervals misses the true share, so one just "
            "above chance may be there by luck."
        ],
        csv_table=Table(title="", heads=columns, labels=2, rows=figures),
        json_value={"chance": chance, "rows": [row._asdict() | {"above_chance": row.above} for row in rows]},
    )


def _nothing_found(rows: Sequence[TextOnlyAccuracy]) -> str:
    if not rows:
        return f"Not tested: no language has {MIN_ITEMS} items, and no model was asked."
    return "No reader is right more often than chance: no interval lies above it."
