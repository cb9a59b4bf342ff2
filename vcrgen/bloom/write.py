"""Writing a question set: Parquet files, manifest, taxonomy, what was set aside, and a card. All of it at once.

In the folder stand:

    manifest.json       what the set is, with ``"task": "bloom"``
    data/test-00000-of-00001.parquet
    taxonomy.csv        level, subcategory and leaf of every leaf that an item may be filed under
    rejects.jsonl       a line for each item that was set aside
    README.md           the card
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from vcrgen.bloom.taxonomy import Taxonomy
from vcrgen.dataset.manifest import DATA_FOLDER, DatasetFile, Manifest, write_manifest
from vcrgen.dataset.reader import Dataset
from vcrgen.dataset.schema import DatasetKind
from vcrgen.errors import NoPairsError
from vcrgen.files import canonical_json, sha256_file, write_text
from vcrgen.reading import without_marks
from vcrgen.rng import rng_for
from vcrgen.signature import Signature
from vcrgen.tasks.bloom import LETTERS, TASK, TAXONOMY_FILE, question_kind
from vcrgen.work.folder import new_folder

SPLIT = "test"
CARD = "README.md"
REJECTS = "rejects.jsonl"
FORM = "bloom-set-1"  # of the files; a part of the signature
ROWS_OF_A_FILE = 2_048
LICENCE_OF_SOURCE = "Whoever passes it on has to keep to the licence of its source."
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

# Question set by Bloom's levels ({languages})

{items:,} multiple-choice questions about pictures, filed under {filled} of {leaves} leaves. From: {source}.{licence}

```python
from datasets import load_dataset

dataset = load_dataset("PATH", split="{split}")
```

| column | what |
|---|---|
{columns}

Signature: `{signature}`
"""
# Facts of a signature that :func:`write_set` finds itself; all others say how the items were made.
_OF_FILES = ("vcrgen", "task", "set", "langs", "leaves", "items")


@dataclass(kw_only=True)
class Aside:
    """What was set aside on the way to a set."""

    counts: Counter[str] = field(default_factory=Counter)  # items by reason
    lines: list[str] = field(default_factory=list)  # of ``rejects.jsonl``

    def add(self, item: str, reason: str, detail: str, about: Mapping[str, Any] | None = None) -> None:
        """Count an item; ``detail`` and what else is known ``about`` it are for people and hold no answer."""
        self.counts[reason] += 1
        self.lines.append(canonical_json({"item": item, "reason": reason, "detail": detail, **(about or {})}) + "\n")

    @property
    def most(self) -> str:
        """The commonest reasons and the first item, in a few words: all that is told where no set is written."""
        if not self.lines:
            return ""
        first = json.loads(self.lines[0])
        counts = ", ".join(f"{reason} {count}" for reason, count in self.counts.most_common(3))
        # What a detail quotes of a file may be anything, also what a terminal would obey.
        detail = "".join(char if char.isprintable() else " " for char in first["detail"][:200])
        return f"{counts}; such as {first['item'][:80]!r}, {first['reason']}: {detail}"


def option_order(name: str, leaf: str, number: int, seed: int) -> list[int]:
    """In which order options are shown: of four items of a leaf, each has the right one at another letter.

    Args:
        name: The item's.
        leaf: Its path.
        number: Its number among the items of the leaf, from 0.
        seed: Of the set.

    Returns:
        Numbers of the options as they were made, where 0 is the right one.
    """
    rng = rng_for(seed, "bloom/positions", f"{leaf}/{number // len(LETTERS)}")
    at = rng.sample(range(len(LETTERS)), len(LETTERS))[number % len(LETTERS)]
    order = rng_for(seed, "bloom/order", name).sample(range(1, len(LETTERS)), len(LETTERS) - 1)
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
    aside: Aside,
    licence: str = "",
    made: Mapping[str, str] | None = None,
    notes: str = "",
) -> Manifest:
    """Write a question set; the same rows give the same bytes.

    Args:
        out: A new or empty folder; it appears whole or not at all.
        rows: In the columns of :func:`vcrgen.tasks.bloom.question_kind`; read once, a few in memory at a time.
        languages: Codes, in the order of the columns.
        taxonomy: What the items are filed under.
        source: One line on where the items are from.
        config: What decided the rows, without names of local files.
        aside: What was set aside; complete when the rows are read.
        licence: A sentence for the card.
        made: More facts for the signature, on how the items were made.
        notes: More of the card, in Markdown.

    Raises:
        NoPairsError: There is no row.
        OutputError: The folder holds something, or cannot be written.
    """
    with new_folder(out) as folder:
        content = hashlib.sha256()
        filled: set[str] = set()
        files = _write_files(folder, _noting(rows, filled), languages, content)
        if not files:
            raise NoPairsError(f"{source} has no usable item (set aside: {aside.most or 'none; it is empty'}).")
        tree = hashlib.sha256(taxonomy.text.encode()).hexdigest()
        facts = {
            "vcrgen": version("vcrgen"), "task": TASK, "set": FORM, "langs": "+".join(languages),
            "leaves": tree[:12], "items": content.hexdigest()[:12],
            **(made or {}),
        }  # fmt: skip
        count = sum(file.rows for file in files)
        fingerprint = canonical_json([facts, content.hexdigest(), tree, dict(config)])
        manifest = Manifest(
            fingerprint=hashlib.sha256(fingerprint.encode()).hexdigest(),
            signature=Signature(facts), source=source, config=dict(config), read=count + aside.counts.total(),
            drops=dict(sorted(aside.counts.items())), files=tuple(files), task=TASK, languages=tuple(languages),
        )  # fmt: skip
        write_text(folder / TAXONOMY_FILE, taxonomy.text)
        write_text(folder / REJECTS, "".join(aside.lines))
        write_text(folder / CARD, _card(manifest, len(filled), taxonomy, licence) + notes)
        write_manifest(folder, manifest)
    return manifest


def made_facts(dataset: Dataset) -> dict[str, str]:
    """What the signature of a set says of how its items were made."""
    return {name: value for name, value in dataset.built.signature.facts.items() if name not in _OF_FILES}


def card_notes_of(dataset: Dataset) -> str:
    """What the card of a set says behind its signature, on how it was made; nothing if it has no card."""
    folder = dataset.folder
    if not 0 < (folder.size(CARD) or 0) <= _MAX_CARD:
        return ""
    try:
        card = folder.read_text(CARD)
    except ValueError:  # somebody has written another one
        return ""
    return card.partition(_SIGNED)[2].partition("\n")[2]


def _write_files(
    folder: Path, rows: Iterable[Mapping[str, Any]], languages: Sequence[str], content: "hashlib._Hash"
) -> list[DatasetFile]:
    """Write the rows and add what decides a score to ``content``; names say how many files there are, so they wait."""
    kind = question_kind(languages)
    (folder / DATA_FOLDER).mkdir()
    stream = iter(rows)
    counts: list[int] = []
    while count := _write_file(folder / DATA_FOLDER / str(len(counts)), stream, kind, content):
        counts.append(count)
    files = []
    for number, count in enumerate(counts):
        name = f"{DATA_FOLDER}/{SPLIT}-{number:05d}-of-{len(counts):05d}.parquet"
        file = (folder / DATA_FOLDER / str(number)).rename(folder / name)
        size = file.stat().st_size
        files.append(DatasetFile(path=name, mode=None, split=SPLIT, rows=count, bytes=size, sha256=sha256_file(file)))
    return files


def _write_file(file: Path, rows: Iterator[Mapping[str, Any]], kind: DatasetKind, content: "hashlib._Hash") -> int:
    """Write one file of the next rows and say how many there were; none is written where there is no row."""
    schema, texts, count = kind.schema(), [name for name in kind.features if name != "image"], 0
    if not (few := list(islice(rows, _GROUP_ROWS))):
        return 0
    with pq.ParquetWriter(file, schema, **kind.parquet_options()) as writer:
        while few:
            writer.write_table(pa.Table.from_pylist(few, schema))
            for row in few:
                picture = hashlib.sha256(row["image"]["bytes"]).hexdigest()
                content.update(canonical_json([picture, *(row[name] for name in texts)]).encode())
            count += len(few)
            few = list(islice(rows, min(_GROUP_ROWS, ROWS_OF_A_FILE - count)))
    return count


def _noting(rows: Iterable[Mapping[str, Any]], filled: set[str]) -> Iterator[Mapping[str, Any]]:
    """The rows; their leaves are added to ``filled`` when they pass."""
    for row in rows:
        filled.add(row["path"])
        yield row


def _card(manifest: Manifest, filled: int, taxonomy: Taxonomy, licence: str) -> str:
    notes = question_kind(manifest.languages).notes
    return _CARD.format(
        split=SPLIT,
        languages=", ".join(manifest.languages),
        items=manifest.pairs,
        filled=filled,
        leaves=len(taxonomy.paths),
        source=without_marks(manifest.source),
        licence=f" {licence}" if licence else "",
        columns="\n".join(f"| `{name}` | {note} |" for name, note in notes.items()),
        signature=manifest.signature,
    )
