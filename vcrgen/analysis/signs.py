"""Tasks that rank models the other way round, such as an error rate among shares of right answers.

Loadings are taken as absolute values, and alpha of two opposite tasks is far below 0, so figures alone mislead here.
"""

import shlex
from collections.abc import Sequence

import numpy as np

from vcrgen.stats.arrays import Floats
from vcrgen.stats.intervals import NORMAL_QUANTILE


def reversed_tasks(correlations: Floats, models: int, rows: Sequence[int]) -> list[int]:
    """The rows of tasks whose mean correlation with the tasks of the other direction is below 0 beyond chance.

    The direction of a task is the sign of its loading on the first principal component; that of most tasks, or of the
    first one, is upwards.

    Args:
        correlations: Tasks x tasks; a pair whose correlation is not known has NaN.
        models: From how many models they are.
        rows: The tasks that are compared, without an anchor.
    """
    r = np.nan_to_num(correlations[np.ix_(rows, rows)])
    component = np.linalg.eigh(r)[1][:, -1].round(9)
    upwards = np.sign(component)
    if upwards.sum() < 0 or (upwards.sum() == 0 and upwards[0] < 0):
        upwards = -upwards
    chance = NORMAL_QUANTILE / np.sqrt(models)
    return [
        row for number, row in enumerate(rows) if upwards[number] < 0 and float(r[number, upwards > 0].mean()) < -chance
    ]


def lower_is_better_options(tasks: Sequence[str]) -> str:
    """The options that turn tasks around, as a command line takes them."""
    return " ".join(f"--lower-is-better {shlex.quote(task)}" for task in tasks)
