"""What is left out to see whether a verdict hangs on a few models: outlying models, each family, each model."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vcrgen.analysis.outlying_models import outlying_models
from vcrgen.analysis.score_table import ScoreTable
from vcrgen.stats.arrays import Bits, Floats

MOST_DECIDING = 3  # groups that the first sentences of a report name; its tables name all
_NAMED = 6  # models of a group that its label names


@dataclass(frozen=True, slots=True)
class LeaveOut:
    """Models that are left out together, and the name under which a report has them."""

    label: str
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LeaveOuts:
    """All groups of models that are left out in turn."""

    outlying: tuple[str, ...]  # models far from all others, at most half of them
    groups: tuple[
        LeaveOut, ...
    ]  # the outlying models first, if there are any; then families of several, then single models
    weights: Floats  # groups x models: 0 for the models of a group, else 1


def leave_outs(table: ScoreTable, blocks: Sequence[Sequence[int]]) -> LeaveOuts:
    """Which models to leave out; never more than half of them.

    Args:
        table: Scores, none missing.
        blocks: The columns of the tasks of each ability; other columns, such as an anchor's, are not looked at.
    """
    columns = [column for block in blocks for column in block]
    places = {column: place for place, column in enumerate(columns)}
    far = outlying_models(table.scores[:, columns], [[places[column] for column in block] for block in blocks])
    if 2 * far.sum() > len(far):
        far = np.zeros_like(far)
    groups: list[tuple[str, Bits]] = [(_label(table.select_models(far).models), far)] if far.any() else []
    if table.groups is not None and table.families is not None:
        families = [table.groups == number for number in range(int(table.groups.max()) + 1)]
        groups += [
            (f"the family {table.families[int(mask.argmax())]}", mask)
            for mask in families
            if 1 < mask.sum() <= len(mask) / 2
        ]
    groups += list(zip(table.models, np.eye(len(table.models), dtype=bool), strict=True))
    return LeaveOuts(
        outlying=table.select_models(far).models,
        groups=tuple(LeaveOut(label, table.select_models(mask).models) for label, mask in groups),
        weights=np.array([~mask for _, mask in groups], float),
    )


def _label(models: Sequence[str]) -> str:
    if len(models) == 1:
        return models[0]
    more = f" and {len(models) - _NAMED} more" if len(models) > _NAMED else ""
    return f"{', '.join(models[:_NAMED])}{more} together"
