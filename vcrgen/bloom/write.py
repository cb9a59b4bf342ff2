"""Write an MCQ benchmark: Parquet files, manifest, taxonomy, rejected items, and a card. The folder appears whole.

manifest.json       with ``"task": "bloom"``
data/test-00000-of-00001.parquet
taxonomy.csv        level, subcategory and leaf: the path of every category
rejects.jsonl       a line for each rejected item
README.md           the card
croissant.json      the same facts for tools
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from vcrgen.bloom.rejects import RejectLog
from vcrgen.bloom.shortcuts import ShortcutGate
from vcrgen.bloom.taxonomy import Taxonomy
from vcrgen.core.errors import NoPairsError
from vcrgen.core.files import canonical_json, indented_json, sha256_file, write_text
from vcrgen.core.folder import new_folder
from vcrgen.core.reading import without_marks
from vcrgen.core.rng import rng_for
from vcrgen.core.signature import Signature
from vcrgen.data.arrays import record_batch
from vcrgen.data.manifest import DATA_FOLDER, DatasetFile, Manifest, write_manifest
from vcrgen.data.reader import Dataset
from vcrgen.data.schema import DatasetKind
from vcrgen.data.tasks.bloom import TASK, TAXONOMY_FILE, ChoiceItem, item_of, question_kind
from vcrgen.data.tasks.croissant import CROISSANT, croissant_of

SPLIT = "test"
CARD = "README.md"
REJECTS = "rejects.jsonl"
FORM = "bloom-set-1"  # of the files; a part of the signature
ROWS_OF_A_FILE = 2_048
LICENSE_OF_SOURCE = "Whoever passes it on has to keep to the license of its source."
_GROUP_ROWS = 64
_SIGNED = "\nSignature: `"  # begins the card's last line before the notes
_MAX_CARD = 1 << 20  # bytes
_CARD = """---
configs:
- config_name: default
  data_files:
  - split: {split}
    path: data/{split}-*.parquet
---

# MCQ benchmark by Bloom's levels ({languages})

{items:,} multiple-choice questions about pictures, in {filled} of {categories} categories. From: {source}.{license}

```python
from datasets import load_dataset

dataset = load_dataset("PATH", split="{split}")
```

| column | what |
|---|---|
{columns}

Signature: `{signature}`
"""
# Facts of a signature that `write_set` adds; all others tell how the items were generated.
_FILE_FACTS = ("vcrgen", "task", "set", "langs", "leaves", "items")


def option_order(name: str, category: str, number: int, seed: int, options: int) -> list[int]:
    """Draw the order of so many options: of as many items of a category, each has the right one at another letter.

    Returns:
        The numbers of the options as they were written, where 0 is the right one.
    """
    rng = rng_for(seed, "bloom/positions", f"{category}/{number // options}")
    at = rng.sample(range(options), options)[number % options]
    order = rng_for(seed, "bloom/order", name).sample(range(1, options), options - 1)
    order.insert(at, 0)
    return order


def write_set(
    out: Path,
    rows: Iterable[Mapping[str, Any]],
    *,
    languages: Sequence[str],
    taxonomy: Taxonomy,
    source: str,
    config: Mapping[str, Any],
    rejects: RejectLog,
    license_note: str = "",
    facts: Mapping[str, str] | None = None,
    notes: str = "",
    gate: ShortcutGate | None = None,
    columns: Sequence[str] = (),
) -> Manifest:
    """Write an MCQ benchmark; the same rows give the same bytes.

    Args:
        out: A new or empty folder; it appears whole or not at all.
        rows: In the columns of `vcrgen.data.tasks.bloom.question_kind`; read once, a few in memory at a time.
        languages: Codes, in the order of the columns.
        source: The origin of the items in one line.
        config: All that decided the rows, without names of local files.
        rejects: The rejected items; complete when the rows are read.
        license_note: A sentence for the card.
        facts: Further parts of the signature: how the items were generated.
        notes: Further sections of the card, in Markdown.
        gate: Reads the items without their pictures, and refuses the set if that is enough; None for a set that nobody
            makes here.

        columns: Optional columns that the rows have.

    Raises:
        ShortcutError: The gate refuses the set.
        NoPairsError: There is no row.
        OutputError: The folder holds something, or cannot be written.
    """
    with new_folder(out) as folder:
        content = hashlib.sha256()
        filled: set[str] = set()
        read: list[ChoiceItem] = []  # by the gate
        noted = _note(rows, filled, read if gate else None, languages)
        files = _write_files(folder, noted, languages, columns, content)
        if not files:
            raise NoPairsError(f"{source} has no usable item (rejected: {rejects.summary or 'none; it is empty'}).")
        manifest = _manifest(files, content.hexdigest(), languages, taxonomy, source, config, rejects, facts or {})
        write_text(folder / TAXONOMY_FILE, taxonomy.text)
        write_text(folder / REJECTS, "".join(rejects.lines))
        section = gate.section(read) if gate else ""
        write_text(folder / CARD, _card(manifest, len(filled), taxonomy, license_note, columns) + section + notes)
        write_text(folder / CROISSANT, indented_json(croissant_of(manifest, columns=columns)))
        write_manifest(folder, manifest)
    return manifest


def generation_facts(dataset: Dataset) -> dict[str, str]:
    """The parts of a set's signature that tell how its items were generated."""
    return {name: value for name, value in dataset.built.signature.facts.items() if name not in _FILE_FACTS}


def read_card_notes(dataset: Dataset) -> str:
    """The sections of a set's card behind the signature; "" if it has no card."""
    folder = dataset.folder
    if not 0 < (folder.size(CARD) or 0) <= _MAX_CARD:
        return ""
    try:
        card = folder.read_text(CARD)
    except ValueError:  # somebody has written another one
        return ""
    return card.partition(_SIGNED)[2].partition("\n")[2]


def _manifest(
    files: Sequence[DatasetFile],
    content: str,
    languages: Sequence[str],
    taxonomy: Taxonomy,
    source: str,
    config: Mapping[str, Any],
    rejects: RejectLog,
    facts: Mapping[str, str],
) -> Manifest:
    """Describe the files, with the signature of the set; `content` is the digest of the rows."""
    tree = hashlib.sha256(taxonomy.text.encode()).hexdigest()
    signed = {
        "vcrgen": version("vcrgen"),
        "task": TASK,
        "set": FORM,
        "langs": "+".join(languages),
        "leaves": tree[:12],
        "items": content[:12],
        **facts,
    }
    fingerprint = canonical_json([signed, content, tree, dict(config)])
    return Manifest(
        fingerprint=hashlib.sha256(fingerprint.encode()).hexdigest(),
        signature=Signature(signed),
        source=source,
        config=dict(config),
        read=sum(file.rows for file in files) + rejects.counts.total(),
        rejected=dict(sorted(rejects.counts.items())),
        files=tuple(files),
        task=TASK,
        languages=tuple(languages),
    )


def _write_files(
    folder: Path,
    rows: Iterable[Mapping[str, Any]],
    languages: Sequence[str],
    columns: Sequence[str],
    content: "hashlib._Hash",
) -> list[DatasetFile]:
    """Write the rows and add to ``content`` what decides a score. Names have the number of files, so they come last."""
    kind = question_kind(languages)
    (folder / DATA_FOLDER).mkdir()
    stream = iter(rows)
    counts: list[int] = []
    names = [*kind.features, *columns]
    while count := _write_file(folder / DATA_FOLDER / str(len(counts)), stream, kind, names, content):
        counts.append(count)
    files = []
    for number, count in enumerate(counts):
        name = f"{DATA_FOLDER}/{SPLIT}-{number:05d}-of-{len(counts):05d}.parquet"
        file = (folder / DATA_FOLDER / str(number)).rename(folder / name)
        size = file.stat().st_size
        files.append(DatasetFile(path=name, mode=None, split=SPLIT, rows=count, bytes=size, sha256=sha256_file(file)))
    return files


def _write_file(
    file: Path, rows: Iterator[Mapping[str, Any]], kind: DatasetKind, names: Sequence[str], content: "hashlib._Hash"
) -> int:
    """Write a file of the next rows and return their number; without a row no file is written."""
    schema, texts, count = kind.schema(*names), [name for name in names if name != "image"], 0
    if not (few := list(islice(rows, _GROUP_ROWS))):
        return 0
    with pq.ParquetWriter(file, schema, **kind.parquet_options()) as writer:
        while few:
            writer.write_batch(record_batch(few, schema))
            for row in few:
                picture = hashlib.sha256(row["image"]["bytes"]).hexdigest()
                content.update(canonical_json([picture, *(row[name] for name in texts)]).encode())
            count += len(few)
            few = list(islice(rows, min(_GROUP_ROWS, ROWS_OF_A_FILE - count)))
    return count


def _note(
    rows: Iterable[Mapping[str, Any]], filled: set[str], read: list[ChoiceItem] | None, languages: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows, and add their categories to ``filled`` and their items to ``read``."""
    for row in rows:
        filled.add(row["path"])
        if read is not None:
            read.append(item_of(row, languages))
        yield row


def _card(manifest: Manifest, filled: int, taxonomy: Taxonomy, license_note: str, columns: Sequence[str]) -> str:
    kind = question_kind(manifest.languages)
    notes = {**kind.descriptions, **{name: kind.optional_features[name][1] for name in columns}}
    return _CARD.format(
        split=SPLIT,
        languages=", ".join(manifest.languages),
        items=manifest.pairs,
        filled=filled,
        categories=len(taxonomy.paths),
        source=without_marks(manifest.source),
        license=f" {license_note}" if license_note else "",
        columns="\n".join(f"| `{name}` | {note} |" for name, note in notes.items()),
        signature=manifest.signature,
    )
