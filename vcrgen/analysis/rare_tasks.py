"""Replicates in which a task does not vary: its figures are missing there, those of the other tasks are not.

Example: a task that two of 165 models solve at all. One resample in seven draws neither, and there the task correlates
with nothing.
"""

import numpy as np

from vcrgen.analysis.spec import BoundSpec
from vcrgen.stats.arrays import Bits, Floats


def varying_tasks(correlations: Floats) -> Bits:
    """Mark the tasks that have a correlation with another one."""
    others = np.isfinite(correlations) & ~np.eye(len(correlations), dtype=bool)
    varying: Bits = np.logical_or.reduce(others, axis=1)
    return varying


def without_constant_tasks(correlations: Floats, bound: BoundSpec) -> tuple[Floats, BoundSpec] | None:
    """The part of the correlations and of the specification whose tasks vary.

    Returns:
        None where the anchor, or all tasks of an ability, do not vary.
    """
    varying = varying_tasks(correlations)
    if varying.all():
        return correlations, bound
    names = [task for task, varies in zip(bound.tasks, varying, strict=True) if varies]
    is_whole = all(set(tasks) & set(names) for tasks in bound.abilities.values())
    if not is_whole or (bound.spec.anchor is not None and bound.spec.anchor not in names):
        return None
    return correlations[np.ix_(varying, varying)], bound.keep(names)
