"""Families of models, guessed from their names, and how many independent models a table is worth.

Example: Qwen2-VL-7B, Qwen2.5-VL-72B and qwen-vl-max share training data and code, so their scores say less than those
of three models of three makers, and intervals over models as if each were independent are too short.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from vcrgen.analysis.correlations import correlation_matrix, standardise
from vcrgen.core.plurals import pluralize
from vcrgen.report.document import Section
from vcrgen.report.table import Table, TableCell
from vcrgen.stats.arrays import Floats, Ints

FEWEST_FAMILIES = 5  # that intervals need: four families of equal size have 35 different resamples
LARGE_SHARE = 0.1  # of the models that a family has which a warning names
LARGEST_SHARE = 0.5  # of the models: a longer row of names, such as "model 1" to "model 99", is no family
_VERSION = re.compile(r"[\s_.:@(\[-]*(?:v(?=\d)|\d)", re.IGNORECASE)  # where a size, a version or a date begins
_WORD_ENDS = " _-."


def guess_family(model: str) -> str:
    """The part of a model's name before its size or version, in lower case, without the organisation before a slash.

    >>> [guess_family(name) for name in ("Qwen/Qwen2-VL-7B", "LLaVA-v1.5-13B", "GPT-4o", "Molmo")]
    ['qwen', 'llava', 'gpt', 'molmo']
    """
    name = model.rpartition("/")[2].strip().casefold()
    begins = _VERSION.search(name)
    if begins is None:
        return name
    return name[: begins.start()].strip(_WORD_ENDS) or name


def guess_families(models: Sequence[str]) -> tuple[str, ...]:
    """A family of each model, by their names; that of a model that is alone is its own name.

    A longer prefix joins a shorter one that is there as well: beside LLaVA-v1.5, LLaVA-OneVision is LLaVA. A prefix of
    more than half of the models is no family.
    """
    prefixes = [guess_family(model) for model in models]
    names = [_shortest(prefix, set(prefixes)) for prefix in prefixes]
    sizes = Counter(names)
    return tuple(
        name if 1 < sizes[name] <= LARGEST_SHARE * len(names) else model
        for name, model in zip(names, models, strict=True)
    )


def _shortest(prefix: str, prefixes: set[str]) -> str:
    """The shortest of the prefixes with which a prefix begins, word by word."""
    ends = [end for end, letter in enumerate(prefix) if letter in _WORD_ENDS]
    return next((prefix[:end] for end in ends if prefix[:end] in prefixes), prefix)


def effective_families(sizes: Ints) -> int:
    """How many families of equal size are worth these, rounded down (Kish, 1965): large ones count for more than small.

    Args:
        sizes: Models of each family.
    """
    return int(sizes.sum() ** 2 // (sizes**2).sum())


def few_families(families: Sequence[str] | None) -> list[str]:
    """A warning where a few families hold so many of the models that intervals over families mean little."""
    models, sizes = len(families or ()), Counter(families)
    if len(sizes) == models:
        return []
    worth = effective_families(np.array(list(sizes.values())))
    if worth >= FEWEST_FAMILIES:
        return []
    large = [name for name, size in sizes.most_common() if size >= LARGE_SHARE * models]
    held = sum(sizes[name] for name in large)
    return [
        f"{held} of {pluralize(models, 'model')} are of {pluralize(len(large), 'family', 'families')} "
        f"({', '.join(large)}). All models together count as {pluralize(worth, 'family', 'families')} of equal size, "
        f"and intervals mean little with fewer than {FEWEST_FAMILIES}: score models of other families."
    ]


def families_section(models: Sequence[str], families: Sequence[str] | None) -> list[Section]:
    """The families of several models with their members, as a section at the end of a report; none without them."""
    members: dict[str, list[str]] = {}
    for family, model in zip(families or (), models, strict=False):
        members.setdefault(family, []).append(model)
    rows: list[list[TableCell]] = [[family, ", ".join(names)] for family, names in members.items() if len(names) > 1]
    if not rows:
        return []
    heads = ["Family", "Models"]
    return [Section(title="Families", details=[Table(title="Families of models", heads=heads, labels=2, rows=rows)])]


def effective_models(scores: Floats, groups: Ints | None) -> float:
    """How many independent models are worth these in correlations of tasks: their number over the design effect.

    The design effect (Kish, 1965) is the variance with models of a family drawn together over that with each model
    drawn alone, here of the linearised correlations (Skinner, Holt and Smith, 1989), summed over pairs of tasks; at
    least 1.

    Args:
        scores: Models x tasks, none missing.
        groups: Of each model the number of its family; None if each is its own.
    """
    if groups is None:
        return float(len(scores))
    unit, r = standardise(scores), correlation_matrix(scores)
    together = alone = 0.0
    for task in range(scores.shape[1]):
        others = slice(task + 1, None)
        shares = unit[:, [task]] * unit[:, others] - r[task, others] * (unit[:, [task]] ** 2 + unit[:, others] ** 2) / 2
        sums = np.zeros((int(groups.max()) + 1, shares.shape[1]))
        np.add.at(sums, groups, shares)
        together += float((sums**2).sum())
        alone += float((shares**2).sum())
    return len(scores) / max(1.0, together / alone) if alone else float(len(scores))
