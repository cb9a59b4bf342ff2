"""A copy of an MCQ benchmark without some of its items."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcrgen.bloom.audit.audit_report import WITHOUT, audit_section
from vcrgen.bloom.rejects import ItemRejectReason, RejectLog
from vcrgen.bloom.summary import set_taxonomy
from vcrgen.bloom.write import LICENSE_OF_SOURCE, generation_facts, read_card_notes, write_set
from vcrgen.core.errors import ConfigError, DatasetError
from vcrgen.core.plurals import pluralize
from vcrgen.core.reading import as_texts, check_file_size, iter_lines
from vcrgen.data.manifest import Manifest
from vcrgen.data.reader import Dataset
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.bloom import TASK, languages_of

MAX_BYTES = 64 << 20
_BEFORE = """
## Excluded items

{left_out:,} of {items:,} items. All that follows describes the set with all {items:,}.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOnlyAnswers:
    """Items that models answer without the picture, and the section of the card that tells of it."""

    ids: frozenset[str]
    section: str


def write_filtered_set(
    dataset: Dataset, file: Path | None, out: Path, *, audit: Path | None = None, blind: TextOnlyAnswers | None = None
) -> Manifest:
    """Write a copy without the items of a list, those that an audit rejected, or those answered without the picture.

    The card says what the set's own card says, and what the audit or the models found.

    Args:
        file: The ids of the items to exclude, one a line, in any order.
        out: A new or empty folder.
        audit: The folder of an audit of the set, which has a report, in place of the file.
        blind: What models answer without the picture, in place of the file.

    Raises:
        ConfigError: Not exactly one of them is given; the file cannot be read, or names an item that the set does not
            have.
        DatasetError: The dataset is no MCQ benchmark, or is the public part of a hidden one; the audit is of another
            set, or has no report.
        OutputError: The folder holds something, or cannot be written.
    """
    if dataset.kind.task != TASK or dataset.is_hidden:
        raise DatasetError(f"{dataset} is no MCQ benchmark with keys.")
    section, left_out = _read_excluded(dataset, file, audit, blind)
    reason, detail = ItemRejectReason.EXCLUDED, "excluded by a list"
    if blind is not None:
        reason, detail = ItemRejectReason.ANSWERED_TEXT_ONLY, "answered without the picture"
    # A line of a list has no white space around it, and ids of others may.
    here = {row["question_id"].strip() for _, row in dataset.rows(["question_id"])}
    if unknown := sorted(left_out - here):
        raise ConfigError(
            f"{file} names {pluralize(len(unknown), 'item')} that {dataset} does not have, first {unknown[0][:80]!r}."
        )
    rejects, built = RejectLog(), dataset.built

    def kept() -> Iterator[dict[str, Any]]:
        for _, row in dataset.rows():
            if row["question_id"].strip() in left_out:
                rejects.add(row["question_id"], reason, detail)
            else:
                yield row | {"image": {"bytes": image_bytes(row["image"]), "path": None}}

    columns = [name for _, row in dataset.rows(limit=1) for name in dataset.kind.optional_features if name in row]
    notes = section + _BEFORE.format(left_out=len(left_out), items=len(here))
    source = f"{built.source}, without {pluralize(len(left_out), 'item')}"
    every = left_out.union(as_texts(built.config.get("without")) or ())  # also those that an earlier list left out
    return write_set(
        out,
        kept(),
        languages=languages_of(dataset),
        taxonomy=set_taxonomy(dataset),
        source=source,
        config={**built.config, "without": sorted(every)},
        rejects=rejects,
        license_note=LICENSE_OF_SOURCE,
        facts=generation_facts(dataset),
        notes=notes + read_card_notes(dataset),
        columns=columns,
    )


def _read_excluded(
    dataset: Dataset, file: Path | None, audit: Path | None, blind: TextOnlyAnswers | None
) -> tuple[str, frozenset[str]]:
    """The section of the card and the ids of the items to exclude."""
    if [file, audit, blind].count(None) != 2:
        raise ConfigError(
            "give one of --without FILE, --audit FOLDER and --blind FILE: which items are to be left out?"
        )
    if blind is not None:
        return blind.section, blind.ids
    if audit is not None:
        return audit_section(dataset, audit), read_ids(audit / WITHOUT, may_be_empty=True)
    assert file is not None
    return "", read_ids(file)


def read_ids(file: Path, *, may_be_empty: bool = False) -> frozenset[str]:
    """Read a list of ids, one a line.

    Raises:
        ConfigError: It cannot be read, is too large, or is empty though it may not be.
    """
    check_file_size(file, MAX_BYTES, "it is no list of ids", ConfigError)
    ids = frozenset(line for _, line in iter_lines(file, ConfigError))
    if not ids and not may_be_empty:
        raise ConfigError(f"{file} is empty: nothing is to be left out.")
    return ids
