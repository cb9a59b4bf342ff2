"""The random sample of an audit: which items of an MCQ benchmark, and which rater judges each.

Each category gives a least number of items, and the rest are allocated in proportion to the items of the categories.
Every item has one rater, and some have a second one for the agreement of raters. All of it comes from the ids and a
seed, so the same benchmark and options give the same draw.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from vcrgen.bloom.options import AuditOptions
from vcrgen.core.errors import ConfigError, DatasetError
from vcrgen.core.files import canonical_json, output_errors, write_json
from vcrgen.core.reading import read_json
from vcrgen.core.rng import rng_for, shuffled
from vcrgen.data.reader import Dataset
from vcrgen.data.tasks.bloom import TASK, read_items
from vcrgen.stats.strata import allocate

FILE = "draw.json"  # in the folder of an audit
FORM = "bloom-audit-3"  # of the file
DEFAULT_SHARE = 8  # one item of so many is drawn without --items
MAX_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """A sampled item."""

    question_id: str
    path: str  # of the category: level 1/level 2/level 3
    choices: int  # number of its options
    raters: tuple[int, ...]  # numbers from 1; one, or two for the agreement


@dataclass(frozen=True, kw_only=True)
class Draw:
    """The sample of an audit."""

    data: str  # digest of the benchmark's files
    options: Mapping[str, int | float]  # as of AuditOptions; ``items`` is how many were drawn
    categories: Mapping[str, int]  # items of each category in the whole benchmark, by path
    items: tuple[DrawnItem, ...]

    @cached_property
    def name(self) -> str:
        """Sixteen hex digits that identify the draw: every verdict names them."""
        text = canonical_json([FORM, asdict(self)])
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]

    @property
    def raters(self) -> int:
        """Number of raters."""
        return int(self.options["raters"])

    def weights(self) -> dict[str, float]:
        """The inverse sampling probability of the items of each category."""
        drawn = Counter(item.path for item in self.items)
        return {path: size / drawn[path] for path, size in self.categories.items()}


def draw_items(items: Iterable[tuple[str, str, int]], options: AuditOptions, *, data: str = "") -> Draw:
    """Draw items and assign them to raters.

    Args:
        items: Id, category and number of options of each item of the benchmark, in any order.
        options: Size of the sample, and number of raters.
        data: Digest of the benchmark's files.

    Raises:
        DatasetError: Two items have one id.
    """
    categories: dict[str, list[str]] = {}
    choices: dict[str, int] = {}
    for question_id, path, count in items:
        categories.setdefault(path, []).append(question_id)
        choices[question_id] = count
    sizes = {path: len(categories[path]) for path in sorted(categories)}
    every = [question_id for ids in categories.values() for question_id in ids]
    if len(set(every)) < len(every):
        raise DatasetError("Two items of the benchmark have the same id; build or import it again.")
    total = options.items or -(-len(every) // DEFAULT_SHARE)
    order = {question_id: rng_for(options.seed, "audit", question_id).random() for question_id in every}
    sample = {
        question_id: path
        for (path, _), count in zip(
            sizes.items(), allocate(list(sizes.values()), total, options.per_category), strict=True
        )
        for question_id in sorted(categories[path], key=lambda question_id: (order[question_id], question_id))[:count]
    }
    raters = _assign(sorted(sample), options)
    drawn = tuple(
        DrawnItem(question_id, sample[question_id], choices[question_id], tuple(raters[question_id]))
        for question_id in sorted(sample)
    )
    facts = options.model_dump(mode="json") | {"items": len(drawn)}
    return Draw(data=data, options=facts, categories=sizes, items=drawn)


def _assign(ids: Sequence[str], options: AuditOptions) -> dict[str, list[int]]:
    """The raters of each item: equal numbers of items, and of items with two raters, for everybody."""
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
    """Draw items of an MCQ benchmark.

    Raises:
        DatasetError: It is no MCQ benchmark of vcrgen, or is the public part of a hidden one, which has no keys.
    """
    return draw_items(
        ((item.question_id, item.path, item.options) for item in read_items(dataset, pictures=False)),
        options,
        data=digest(dataset),
    )


def digest(dataset: Dataset) -> str:
    """The digest of an MCQ benchmark's files.

    Raises:
        DatasetError: It is no finished MCQ benchmark with keys.
    """
    if dataset.kind.task != TASK:
        raise DatasetError(f"{dataset} is no MCQ benchmark; only those are audited.")
    if dataset.is_hidden:
        raise DatasetError(f"{dataset} is the public part of a hidden MCQ benchmark, which has no keys.")
    return dataset.built.digest


def write_draw(file: Path, draw: Draw) -> None:
    """Write a draw; where the same one is there already, nothing changes.

    Raises:
        ConfigError: Another draw is there, for which people may be at work.
        OutputError: The file cannot be written.
    """
    if file.exists() and read_draw(file) != draw:
        raise ConfigError(f"{file} holds another draw, which raters may be judging; choose another --folder.")
    with output_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_json(file, draw_to_json(draw))


def draw_to_json(draw: Draw) -> dict[str, Any]:
    """Return a draw as JSON; `draw_from_json` reads it."""
    return {"form": FORM, "name": draw.name} | asdict(draw)


def draw_from_json(values: Any) -> Draw:
    """The draw that `draw_to_json` has written.

    Raises:
        ValueError: It is none, or was changed.
    """
    try:
        items = tuple(
            DrawnItem(row["question_id"], row["path"], row["choices"], tuple(row["raters"])) for row in values["items"]
        )
        draw = Draw(data=values["data"], options=values["options"], categories=values["categories"], items=items)
        options = AuditOptions(**dict(values["options"], items=None)).model_dump(mode="json") | {"items": len(items)}
        sized = all(type(size) is int and size > 0 for size in draw.categories.values())
        people = {*range(1, draw.raters + 1)}
        assigned = all(
            type(item.question_id) is str
            and type(item.choices) is int
            and item.path in draw.categories
            and people.issuperset(item.raters)
            for item in items
        )
        if sized and assigned and options == draw.options and (values["form"], values["name"]) == (FORM, draw.name):
            return draw
    except (KeyError, TypeError, AttributeError, ConfigError):
        pass
    raise ValueError("it is no draw, or was changed")


def read_draw(file: Path, dataset: Dataset | None = None) -> Draw:
    """Read a draw, and check that it is of a benchmark as it is now.

    Raises:
        DatasetError: It cannot be read, was changed, or is of another benchmark.
    """
    damaged = DatasetError(f"{file} is not what `vcrgen bloom audit draw` wrote; remove it, and draw again.")
    try:
        if file.stat().st_size > MAX_BYTES:
            raise damaged
    except OSError:
        raise DatasetError(f"{file} cannot be read; begin with `vcrgen bloom audit draw`.") from None
    values = read_json(file, DatasetError)
    try:
        draw = draw_from_json(values)
    except ValueError:
        raise damaged from None
    if dataset is not None and digest(dataset) != draw.data:
        raise DatasetError(f"{file} was drawn of another MCQ benchmark than {dataset}; draw again in another --folder.")
    return draw
