"""Which items of a question set people look at, and who of them: drawn once, and written down.

Each leaf gives a least number of items, and the rest are shared out in proportion to the items of the leaves. Every
item goes to one rater, and some go to a second one, so that it can be told how much raters agree. All of it comes from
the ids and a seed, so the same set and options give the same draw.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from vcrgen.config import AuditOptions
from vcrgen.dataset.reader import Dataset
from vcrgen.errors import ConfigError, DatasetError
from vcrgen.files import canonical_json, output_errors, write_json
from vcrgen.reading import read_json
from vcrgen.rng import rng_for, shuffled
from vcrgen.stats.strata import allocate
from vcrgen.tasks.bloom import TASK, read_items

FILE = "draw.json"  # in the folder of an audit
FORM = "bloom-audit-1"  # of the file
SHARE = 8  # one item of so many is drawn where nobody says how many
MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """An item that people look at."""

    question_id: str
    path: str  # level/subcategory/leaf
    raters: tuple[int, ...]  # from 1; the first one, and a second one where it is read twice


@dataclass(frozen=True, kw_only=True)
class Draw:
    """What was drawn of a set."""

    data: str  # digest of the set's files
    options: Mapping[str, int | float]  # as of AuditOptions; ``items`` is how many were drawn
    leaves: Mapping[str, int]  # items of each leaf in the whole set, by path
    items: tuple[DrawnItem, ...]

    @cached_property
    def name(self) -> str:
        """Sixteen hex digits that stand for the draw: every answer of a rater names them."""
        text = canonical_json([FORM, asdict(self)])
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]

    @property
    def raters(self) -> int:
        """How many raters there are."""
        return int(self.options["raters"])

    def weights(self) -> dict[str, float]:
        """How many items of the set a drawn item of each leaf stands for."""
        drawn = Counter(item.path for item in self.items)
        return {path: size / drawn[path] for path, size in self.leaves.items()}


def draw_items(items: Iterable[tuple[str, str]], options: AuditOptions, *, data: str = "") -> Draw:
    """Draw items and deal them to raters.

    Args:
        items: Id and path of each item of the set, in any order.
        options: How many, and for how many raters.
        data: What stands for the bytes of the set.

    Raises:
        DatasetError: Two items have one id.
    """
    leaves: dict[str, list[str]] = {}
    for question_id, path in items:
        leaves.setdefault(path, []).append(question_id)
    sizes = {path: len(leaves[path]) for path in sorted(leaves)}
    every = [question_id for ids in leaves.values() for question_id in ids]
    if len(set(every)) < len(every):
        raise DatasetError("Two items of the set have the same id; build or import it again.")
    total = options.items or -(-len(every) // SHARE)
    luck = {question_id: rng_for(options.seed, "audit", question_id).random() for question_id in every}
    chosen = {
        question_id: path
        for (path, _), count in zip(sizes.items(), allocate(list(sizes.values()), total, options.per_leaf), strict=True)
        for question_id in sorted(leaves[path], key=lambda one: (luck[one], one))[:count]
    }
    raters = _deal(sorted(chosen), options)
    drawn = tuple(DrawnItem(one, chosen[one], tuple(raters[one])) for one in sorted(chosen))
    kept = options.model_dump(mode="json") | {"items": len(drawn)}
    return Draw(data=data, options=kept, leaves=sizes, items=drawn)


def _deal(ids: Sequence[str], options: AuditOptions) -> dict[str, list[int]]:
    """The raters of each item: as many items for everybody, and as many of those that are read twice."""
    first = shuffled(rng_for(options.seed, "audit-deal", ""), ids)
    raters = {question_id: [number % options.raters + 1] for number, question_id in enumerate(first)}
    load = Counter(number for numbers in raters.values() for number in numbers)
    twice = round(options.overlap * len(ids)) if options.raters > 1 else 0
    for question_id in shuffled(rng_for(options.seed, "audit-overlap", ""), ids)[:twice]:
        others = (number for number in range(1, options.raters + 1) if number not in raters[question_id])
        second = min(others, key=lambda number: (load[number], number))
        raters[question_id].append(second)
        load[second] += 1
    return raters


def draw_set(dataset: Dataset, options: AuditOptions) -> Draw:
    """Draw items of a question set.

    Raises:
        DatasetError: It is none that vcrgen wrote, or is the public part of a hidden one, which has no keys.
    """
    return draw_items(
        ((item.question_id, item.path) for item in read_items(dataset, pictures=False)), options, data=digest(dataset)
    )


def digest(dataset: Dataset) -> str:
    """What stands for the bytes of a question set.

    Raises:
        DatasetError: It is no finished question set with keys.
    """
    if dataset.kind.task != TASK:
        raise DatasetError(f"{dataset} is no question set; only those are audited.")
    if dataset.is_hidden:
        raise DatasetError(f"{dataset} is the public part of a hidden question set, which has no keys.")
    return dataset.built.digest


def write_draw(file: Path, draw: Draw) -> None:
    """Write a draw; where the same one is there already, nothing changes.

    Raises:
        ConfigError: Another draw is there, for which people may be at work.
        OutputError: The file cannot be written.
    """
    if file.exists() and read_draw(file) != draw:
        raise ConfigError(f"{file} holds another draw, which raters may be reading; choose another --folder.")
    with output_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, as_values(draw))


def as_values(draw: Draw) -> dict[str, Any]:
    """A draw as JSON; :func:`from_values` reads it."""
    return {"form": FORM, "name": draw.name} | asdict(draw)


def from_values(values: Any) -> Draw:
    """The draw that :func:`as_values` has written.

    Raises:
        ValueError: It is none, or was changed.
    """
    try:
        items = tuple(DrawnItem(row["question_id"], row["path"], tuple(row["raters"])) for row in values["items"])
        draw = Draw(data=values["data"], options=values["options"], leaves=values["leaves"], items=items)
        options = AuditOptions(**dict(values["options"], items=None)).model_dump(mode="json") | {"items": len(items)}
        sized = all(type(size) is int and size > 0 for size in draw.leaves.values())
        people = {*range(1, draw.raters + 1)}
        dealt = all(
            type(item.question_id) is str and item.path in draw.leaves and people.issuperset(item.raters)
            for item in items
        )
        if sized and dealt and options == draw.options and (values["form"], values["name"]) == (FORM, draw.name):
            return draw
    except (KeyError, TypeError, AttributeError, ConfigError):
        pass
    raise ValueError("it is no draw, or was changed")


def read_draw(file: Path, dataset: Dataset | None = None) -> Draw:
    """Read a draw, and see that it is of a set as it is now.

    Raises:
        DatasetError: It cannot be read, was changed, or is of another set.
    """
    damaged = DatasetError(f"{file} is not what `vcrgen bloom audit draw` wrote; remove it, and draw again.")
    try:
        if file.stat().st_size > MAX_BYTES:
            raise damaged
    except OSError:
        raise DatasetError(f"{file} cannot be read; begin with `vcrgen bloom audit draw`.") from None
    values = read_json(file, DatasetError)
    try:
        draw = from_values(values)
    except ValueError:
        raise damaged from None
    if dataset is not None and digest(dataset) != draw.data:
        raise DatasetError(f"{file} was drawn of another question set than {dataset}; draw again in another --folder.")
    return draw
