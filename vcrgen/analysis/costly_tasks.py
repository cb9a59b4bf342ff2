"""Tasks that cost most models where only models with all scores count.

Example: 160 models have scores on eight tasks, 13 of them on a ninth. Without the ninth all 160 count.
"""

from dataclasses import dataclass

import numpy as np

from vcrgen.analysis.score_table import ScoreTable
from vcrgen.report.templating import named

MOST_TASKS = 3
_ENOUGH = 0.5  # of the models with all scores, at which no further task is left out
_GAIN = 2  # times as many models at least, for which it is worth to leave tasks out


@dataclass(frozen=True, slots=True)
class CostlyTasks:
    """The tasks to leave out, and how many models then have all scores."""

    tasks: tuple[str, ...]
    models: int
    complete: int  # models with all scores
    complete_without: int  # models with all scores of the other tasks
    options: str  # as of `ScoreTable.ignore_options`

    @property
    def sentence(self) -> str:
        """What to do, and what it gives."""
        without = "without it" if len(self.tasks) == 1 else "without them"
        return (
            f"Leave {named(list(self.tasks))} out{self.options}: {self.complete} of {self.models} models have all "
            f"scores, and {self.complete_without} {without}."
        )


def costly_tasks(table: ScoreTable, anchor: str | None = None) -> CostlyTasks | None:
    """At most three tasks to leave out so that half of the models have all scores; None where it gains little.

    Args:
        table: Scores, NaN for what is missing.
        anchor: A task that stays.
    """
    missing = ~np.isfinite(table.scores)
    candidates = [column for column, task in enumerate(table.tasks) if task != anchor]
    complete = int((~missing.any(axis=1)).sum())
    costly: list[int] = []
    counts = [complete]  # models with all scores: of all tasks, then without each of the costly ones
    while counts[-1] < _ENOUGH * len(missing) and len(costly) < min(MOST_TASKS, len(candidates) - 1):
        # Without either of two tasks that lack the same models as many are complete as before: then the rarest.
        lacks_one = missing.sum(axis=1, keepdims=True) == 1
        gains = (missing & lacks_one).sum(axis=0)
        costliest = max(
            (column for column in candidates if column not in costly),
            key=lambda column: (int(gains[column]), int(missing[:, column].sum())),
        )
        costly.append(costliest)
        counts.append(counts[-1] + int(gains[costliest]))
        missing[:, costliest] = False
    if counts[-1] < max(1, _GAIN * complete):
        return None
    tasks = tuple(table.tasks[column] for column in costly[: counts.index(counts[-1])])
    return CostlyTasks(
        tasks=tasks,
        models=len(missing),
        complete=complete,
        complete_without=counts[-1],
        options=table.ignore_options(tasks),
    )
