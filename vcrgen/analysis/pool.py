"""A pool of tasks of several benchmarks, from which one benchmark is assembled.

Example: a CSV whose first line is ``task,benchmark,ability,item`` and that has a line for each item, such as
``OCR,MME,Perception,ocr/0001.jpg``. Which ability a task asks for is assigned by hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcrgen.analysis.score_table import MAX_TASKS, check_size, parse_name
from vcrgen.analysis.spec import FactorSpec
from vcrgen.core.errors import AnalysisError
from vcrgen.core.options import validate_options
from vcrgen.core.reading import read_csv

COLUMNS = ("task", "benchmark", "ability", "item")
MAX_ITEMS = 2_000_000
MAX_ITEM = 1000  # characters of the name of an item


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolTask:
    """A task with its items, by the names that its benchmark gives them."""

    benchmark: str
    ability: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Tasks by their names."""

    source: str
    tasks: Mapping[str, PoolTask]
    inputs: tuple[str, ...] = ()  # words of a command line that read the same; none for a pool made in Python

    def spec(self, anchor: str | None) -> FactorSpec:
        """The abilities with their tasks.

        Raises:
            ConfigError: There are too many abilities or tasks, or too few without an anchor.
        """
        abilities: dict[str, list[str]] = {}
        for name, task in self.tasks.items():
            abilities.setdefault(task.ability, []).append(name)
        values: dict[str, Any] = {"abilities": abilities, "anchor": anchor}
        spec = validate_options(FactorSpec, values, f"{self.source}: ")
        return spec.read_by(*self.inputs, *(() if anchor is None else ("--anchor", anchor))) if self.inputs else spec


def read_pool(file: str | Path) -> Pool:
    """Read a pool, whose cells are separated by commas, semicolons or tabs.

    Raises:
        AnalysisError: The file cannot be read, a task has two benchmarks or abilities, or an item stands twice.
    """
    file = Path(file)
    check_size(file, "a CSV of tasks and items")
    about: dict[str, tuple[str, str]] = {}
    items: dict[str, list[str]] = {}
    owners: dict[tuple[str, str], str] = {}  # the task of each item of a benchmark
    for line, row in read_csv(file, AnalysisError, delimiters=",;\t", required=COLUMNS):
        place = f"{file}, line {line}"
        task, benchmark, ability = (parse_name(row[column], column, place) for column in COLUMNS[:3])
        if "*" in task:
            raise AnalysisError(f"{place}: the task {task!r} has a *, which stands for any characters; rename it.")
        if about.setdefault(task, (benchmark, ability)) != (benchmark, ability):
            raise AnalysisError(
                f"{place}: the task {task!r} is of {benchmark} and {ability} here, and of {' and '.join(about[task])} "
                "above; give it one benchmark and one ability."
            )
        item = row["item"].strip()
        if not item or len(item) > MAX_ITEM:
            raise AnalysisError(f"{place}: an item has a name of 1 to {MAX_ITEM:,} characters.")
        if owner := owners.get((benchmark, item)):
            raise AnalysisError(
                f"{place}: the item {item[:80]!r} of {benchmark} stands under {owner!r} above; keep one of them."
            )
        owners[benchmark, item] = task
        items.setdefault(task, []).append(item)
        if len(about) > MAX_TASKS or len(owners) > MAX_ITEMS:
            raise AnalysisError(f"{file} has more than {MAX_TASKS:,} tasks or {MAX_ITEMS:,} items.")
    if not items:
        raise AnalysisError(f"{file} has no item; a line is an item, such as OCR,MME,Perception,ocr/0001.jpg.")
    tasks = {
        name: PoolTask(benchmark=about[name][0], ability=about[name][1], items=tuple(items[name])) for name in items
    }
    return Pool(source=str(file), tasks=tasks, inputs=("--pool", str(file)))
