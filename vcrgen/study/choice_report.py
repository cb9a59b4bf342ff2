"""A report on people who chose options: its tables in the words of question sets, and models on the same items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from vcrgen.config import ScoreOptions
from vcrgen.report.table import Table
from vcrgen.scorer.choices.session import ItemSession
from vcrgen.study.records import Frozen

# Heads of columns that say nothing of options, and what the others are called.
_GONE = {"Language", "Items", "typed", "alpha edits", "Span"}
_HEADS = {
    "Mode and view": "Language and view", "Mode": "Asked in", "Spans": "Questions", "All": "RAE",
    "alpha texts": "alpha options", "Typed": "Chosen", "Unread": "Cannot tell",
}  # fmt: skip
_TITLES = {"People, exact match in percent": "People, right answers (RAE) in percent"}
CHANCE = (
    "RAE is the share of questions with the right option; who guesses has 25 %. Intervals resample pictures and raters."
)


def of_questions(table: Table) -> Table:
    """A table of a report without the columns of typed texts, in the words of question sets."""
    heads = list(table.heads)
    gone = {place for place, head in enumerate(heads) if head in _GONE}
    gone |= {place + 1 for place in gone if heads[place] == "typed" and heads[place + 1 : place + 2] == ["sd"]}
    kept = [place for place in range(len(heads)) if place not in gone]
    return replace(
        table,
        title=_TITLES.get(table.title, table.title),
        heads=tuple(_HEADS.get(heads[place], heads[place]) for place in kept),
        labels=sum(place < table.labels for place in kept),
        rows=[tuple(row[place] for place in kept) for row in table.rows],
    )


def model_choices(
    data: Path, frozen: Frozen, numbers: Mapping[str, int], files: list[Path]
) -> Iterator[tuple[str, dict[str, dict[tuple[int, int], bool]]]]:
    """Of each run its name, and by label of the condition which items it has right; what it lacks is left out."""
    session = ItemSession(data, ScoreOptions(split=frozen.options["split"]))
    for run in session.runs(files):
        right: dict[str, dict[tuple[int, int], bool]] = {condition.label: {} for condition in frozen.conditions}
        for found in session.find(run, set(numbers)):
            for condition in frozen.conditions:
                if found.said and (condition.mode, condition.view) == (found.lang, found.view):
                    place = numbers[found.item.question_id], 0
                    right[condition.label][place] = found.result.choice == found.item.answer
        yield run[0].path.stem, right
