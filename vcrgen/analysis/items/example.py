"""Made items: models of known ability on items of known difficulty, so that every figure can be checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vcrgen.analysis.items.classical import generator
from vcrgen.analysis.items.item_table import ItemTable
from vcrgen.stats.arrays import Floats, Ints

SOURCE = "made items"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeItems:
    """Items as they are, of which any number of models can be made."""

    slope: Floats
    intercept: Floats
    image: float  # standard deviation, over models, of what a model makes of an image as a whole
    seed: int

    def ask(self, models: int, *, sample: int = 0, images: int | None = None) -> tuple[ItemTable, Floats]:
        """The answers of some models, and the models' abilities; another ``sample`` has other models."""
        rng = generator(self.seed, f"models {sample}")
        items = len(self.slope)
        groups = np.sort(np.arange(items) % images) if images else np.arange(items)
        ability = rng.normal(size=models)
        logits = ability[:, None] * self.slope + self.intercept
        logits += self.image * rng.normal(size=(models, groups.max() + 1))[:, groups]
        scores = (rng.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(np.float64)
        return named(scores, groups, source=SOURCE), ability


def made_items(items: int, *, seed: int, image: float = 0.0) -> MadeItems:
    """Items with slopes about 1 and difficulties from easy to hard."""
    rng = generator(seed, "items")
    slope = np.exp(rng.normal(0, 0.35, items))
    return MadeItems(slope=slope, intercept=-slope * rng.normal(0, 1, items), image=image, seed=seed)


def named(scores: Floats, groups: Ints | None = None, *, source: str) -> ItemTable:
    """A table of scores with made names, in their order."""
    models, items = scores.shape
    of = np.arange(items) if groups is None else groups
    count = int(of.max()) + 1
    return ItemTable(
        models=tuple(f"model {n:0{len(str(models))}d}" for n in range(1, models + 1)),
        items=tuple(f"item {n:0{len(str(items))}d}" for n in range(1, items + 1)),
        scores=scores,
        groups=of,
        group_names=tuple(f"image {n:0{len(str(count))}d}" for n in range(1, count + 1)),
        source=source,
    )


def example_items() -> ItemTable:
    """60 models on 300 items of 150 images, with what an analysis should find.

    A wrong key, a copy, an item that everybody solves, one that nobody does, and missing cells.
    """
    table, ability = made_items(300, seed=14, image=0.6).ask(60, images=150)
    scores = table.scores.copy()
    rng = generator(14, "faults")
    scores[:, 7] = rng.random(60) < 1 / (1 + np.exp(2.5 * ability))  # a wrong key
    scores[:, 120] = scores[:, 40]  # a copy
    scores[:, 200], scores[:, 250] = 1.0, 0.0
    scores[rng.random(scores.shape) < 0.001] = np.nan
    return named(scores, table.groups, source="made items (60 models, seed 14)")
