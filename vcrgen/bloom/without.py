"""A question set without some of its items."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vcrgen.bloom.summary import set_taxonomy
from vcrgen.bloom.write import Aside, write_set
from vcrgen.dataset.manifest import Manifest
from vcrgen.dataset.reader import Dataset
from vcrgen.dataset.tables import image_bytes
from vcrgen.errors import ConfigError, DatasetError
from vcrgen.reading import iter_lines
from vcrgen.tasks.bloom import TASK, languages_of

MAX_BYTES = 64 << 20
REASON = "without"  # by which the items are counted


def write_without(dataset: Dataset, file: Path, out: Path) -> Manifest:
    """Write a question set anew without the items whose ids a file has, one a line.

    Args:
        dataset: A question set.
        file: The ids, in any order.
        out: A new or empty folder.

    Raises:
        ConfigError: The file cannot be read, or names an item that the set does not have.
        DatasetError: The dataset is no question set, or is the public part of a hidden one.
        OutputError: The folder holds something, or cannot be written.
    """
    if dataset.kind.task != TASK or dataset.is_hidden:
        raise DatasetError(f"{dataset} is no question set with keys.")
    left_out = _read_ids(file)
    here = {row["question_id"] for _, row in dataset.rows(["question_id"])}
    if unknown := sorted(left_out - here):
        raise ConfigError(
            f"{file} names {len(unknown):,} items that {dataset} does not have, first {unknown[0][:80]!r}."
        )
    aside, built = Aside(), dataset.built

    def kept() -> Iterator[dict[str, Any]]:
        for _, row in dataset.rows():
            if row["question_id"] in left_out:
                aside.add(row["question_id"], REASON, "left out by a list")
            else:
                yield row | {"image": {"bytes": image_bytes(row["image"]), "path": None}}

    source = f"{built.source}, without {len(left_out):,} items"
    return write_set(
        out, kept(), languages=languages_of(dataset), taxonomy=set_taxonomy(dataset), source=source,
        config={**built.config, "without": sorted(left_out)}, aside=aside,
    )  # fmt: skip


def _read_ids(file: Path) -> frozenset[str]:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{file} is larger than {MAX_BYTES >> 20} MiB, so it is no list of ids.")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from None
    ids = frozenset(line for _, line in iter_lines(file, ConfigError))
    if not ids:
        raise ConfigError(f"{file} is empty: nothing is to be left out.")
    return ids
