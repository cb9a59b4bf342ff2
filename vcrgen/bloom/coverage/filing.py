"""Under which leaf each item of some sets falls: by a model, by a list of somebody's, or as the set itself says."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from pathlib import Path

from vcrgen.bloom.checks import Fault
from vcrgen.bloom.coverage.items import OtherSet
from vcrgen.bloom.importing import ID_COLUMNS
from vcrgen.bloom.making.asking import Desk, NotAsked, Spent
from vcrgen.bloom.making.records import Drop, ItemDropped, Steps
from vcrgen.bloom.making.replies import open_replies
from vcrgen.bloom.making.stages import leaf_number
from vcrgen.bloom.taxonomy import COLUMNS, Taxonomy
from vcrgen.config import BloomCoverageOptions
from vcrgen.errors import ConfigError
from vcrgen.files import output_errors
from vcrgen.models.endpoint import EndpointModel
from vcrgen.reading import check_file_size
from vcrgen.report.escape import escape_formula
from vcrgen.report.forms import as_csv
from vcrgen.report.table import Table
from vcrgen.work.watcher import Watcher

MAX_BYTES = 64 << 20  # of a list of leaves
SET = "set"  # the column of a list that names the set of an item
NO_LEAF = ""  # what a list or a model says of an item that fits no leaf
OWN = "itself"


class NotFiled(StrEnum):
    """Why an item is under no leaf, beside what is wrong with the item itself."""

    FITS_NONE = "fits_none"
    UNKNOWN_LEAF = "unknown_leaf"
    NOT_LISTED = "not_listed"
    INVALID_REPLY = Drop.INVALID_REPLY.value
    FILTERED = Drop.FILTERED.value
    NOT_ASKED = Drop.NOT_ASKED.value


@dataclass(slots=True, kw_only=True)
class FiledItem:
    """An item and what became of it."""

    name: str
    own: str | None  # the leaf under which its set files it
    leaf: str | None = None
    reason: str = ""  # why it has no leaf
    second: str | None = None  # the leaf by the second model; "" for none that fits, None where it was not told


@dataclass(frozen=True, slots=True, kw_only=True)
class FiledSet:
    """The items of a set, filed.

    Attributes:
        name: What tables call the set.
        by: Who filed its items: a model, the name of a list, or :data:`OWN`.
        count: Items of the whole set; more than ``items`` where these were drawn.
        pictures: Items that were shown with a picture; None where nobody was shown any.
    """

    name: str
    by: str
    count: int
    items: Sequence[FiledItem]
    pictures: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filing:
    """What became of a run.

    Attributes:
        missing: Replies that are missing, by the reason.
        example: The first of them, for people.
        notes: Sentences about lines of a list that do not count.
        spent: What all replies in the ledger took; None where no model was to be asked.
    """

    taxonomy: Taxonomy
    sets: Sequence[FiledSet]
    missing: Counter[str]
    example: str = ""
    notes: Sequence[str] = ()
    spent: Spent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafList:
    """Leaves that somebody gave items.

    Attributes:
        leaves: By set and id of an item its leaf, ``""`` for none, or None where the taxonomy has no such leaf. The
            set is empty where the list names none: such a line is of every set that has the id.
        unknown: The first name that is no leaf, for people.
    """

    file: Path
    leaves: Mapping[tuple[str, str], str | None]
    unknown: str

    def of(self, name: str, item: str) -> str | NotFiled | None:
        """The leaf of an item of a set."""
        for key in (_key(name, item), _key("", item)):
            if key in self.leaves:
                leaf = self.leaves[key]
                return NotFiled.UNKNOWN_LEAF if leaf is None else leaf
        return NotFiled.NOT_LISTED


def read_leaves(file: Path, taxonomy: Taxonomy) -> LeafList:
    """Read a CSV with the columns ``question_id`` and ``leaf`` (and ``level``, ``subcategory``, ``set`` if it likes).

    ``leaf`` is a whole path, or a name that stands for one path only; an empty one or ``0`` says that none fits.

    Raises:
        ConfigError: The file cannot be read, is no such CSV, or names no item, or one twice.
    """
    check_file_size(file, MAX_BYTES, "it is no list of leaves", ConfigError)
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8 text'}.") from None
    leaves: dict[tuple[str, str], str | None] = {}
    unknown = ""
    try:
        rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        heads = rows.fieldnames or ()
        column = next((name for name in ID_COLUMNS if name in heads), None)
        if column is None or "leaf" not in heads:
            raise ConfigError(f"{file} needs the columns question_id and leaf in its first line.")
        for row in rows:
            key = _key(row.get(SET) or "", row[column] or "")
            if key in leaves:
                raise ConfigError(f"{file}, line {rows.line_num}: {key[1][:80]!r} has a leaf already; name it once.")
            names = [name for part in COLUMNS for name in (row.get(part) or "").split("/") if name.strip()]
            if not (row["leaf"] or "").strip(" 0"):
                leaves[key] = NO_LEAF
            elif (found := taxonomy.find(*names)) is None:
                unknown = unknown or f"{'/'.join(names)[:80]!r} in line {rows.line_num}"
                leaves[key] = None
            else:
                leaves[key] = found
    except csv.Error as error:
        raise ConfigError(f"{file} is no CSV: {error}.") from None
    if not leaves:
        raise ConfigError(f"{file} names no item below its first line; leave out --leaves, or fill it.")
    return LeafList(file=file, leaves=leaves, unknown=unknown)


def _key(name: str, item: str) -> tuple[str, str]:
    """By what an item of a set is looked up: both names as :func:`write_leaves` writes them."""
    return escape_formula(name), escape_formula(item)


def write_leaves(filing: Filing) -> str:
    """What :func:`read_leaves` reads: a line for each item whose leaf, or that none fits, is known."""
    rows = [
        (one.name, item.name, item.leaf or "")
        for one in filing.sets
        for item in one.items
        if item.leaf or item.reason == NotFiled.FITS_NONE
    ]
    return as_csv(Table(title="", heads=(SET, "question_id", "leaf"), labels=0, rows=rows))


def file_items(
    sets: Sequence[OtherSet],
    taxonomy: Taxonomy,
    options: BloomCoverageOptions,
    models: Mapping[str, EndpointModel],
    *,
    watcher: Watcher | None = None,
) -> Filing:
    """File the items of some sets.

    A set is filed by the list if that has one of its items, else by the model, else as it files its items itself.

    Args:
        sets: What is looked at.
        taxonomy: The leaves.
        options: The list, the models, the ledger and limits.
        models: By name; none where nobody is to be asked.
        watcher: Told of the progress.

    Raises:
        ConfigError: The list is none, or nobody says how a set is filed.
        EndpointError: The server cannot be reached, or refuses one request after another.
        OutputError: The ledger is in use or damaged.
        SourceError: A set cannot be read.
    """
    listed = read_leaves(options.leaves, taxonomy) if options.leaves else None
    found: dict[str, FiledSet] = {}
    asked = []
    used: set[tuple[str, str]] = set()
    for one in sets:
        keys = _listed_in(listed, one, taxonomy) if listed else set()
        used |= keys
        if listed and keys:
            found[one.name] = _by_list(one, taxonomy, listed)
        elif options.model:
            asked.append(one)
        else:
            found[one.name] = _by_itself(one, taxonomy, listed)
    notes = list(_notes(listed, used)) if listed else []
    if not asked:
        return Filing(taxonomy=taxonomy, sets=[found[one.name] for one in sets], missing=Counter(), notes=notes)
    with output_errors(options.ledger), open_replies(options.ledger, offline=options.offline) as ledger:
        run = _Asking(asked, taxonomy, options)
        desk = Desk(ledger, run.names, models, options)
        run.ask(desk, watcher or Watcher())
        found |= {one.name: one for one in run.filed()}
        return Filing(
            taxonomy=taxonomy, sets=[found[one.name] for one in sets], missing=run.missing, example=run.example,
            notes=notes, spent=desk.spent,
        )  # fmt: skip


def _listed_in(listed: LeafList, one: OtherSet, taxonomy: Taxonomy) -> set[tuple[str, str]]:
    """Lines of a list that are of a set, whether its items are drawn or not."""
    keys = (_key(name, item.name) for item in one.read(taxonomy, frozenset()) for name in (one.name, ""))
    return {key for key in keys if key in listed.leaves}


def _notes(listed: LeafList, used: set[tuple[str, str]]) -> Iterator[str]:
    unknown = sum(leaf is None for leaf in listed.leaves.values())
    if unknown:
        yield (
            f"{listed.file.name}: lines that name no leaf of the taxonomy: {unknown:,}; the first is {listed.unknown}. "
            "A name that several leaves have needs its whole path, as create/creative generation/poem."
        )
    if others := [key[1] for key in listed.leaves if key not in used]:
        yield f"{listed.file.name}: lines of items that no set has: {len(others):,}; the first is {others[0][:80]!r}."


def _by_list(one: OtherSet, taxonomy: Taxonomy, listed: LeafList) -> FiledSet:
    items = []
    for item in one.items(taxonomy, pictures=False):
        leaf = listed.of(one.name, item.name)
        if isinstance(leaf, NotFiled) or item.fault == Fault.DUPLICATE_ID:
            items.append(FiledItem(name=item.name, own=item.path, reason=item.fault or str(leaf)))
        else:
            items.append(_filed(FiledItem(name=item.name, own=item.path), leaf or NO_LEAF))
    return FiledSet(name=one.name, by=listed.file.name, count=one.count, items=items)


def _by_itself(one: OtherSet, taxonomy: Taxonomy, listed: LeafList | None) -> FiledSet:
    items = [
        FiledItem(
            name=item.name, own=item.path, leaf=item.path,
            reason="" if item.path else item.fault or NotFiled.UNKNOWN_LEAF,
        )
        for item in one.items(taxonomy, pictures=False)
    ]  # fmt: skip
    if not any(item.leaf for item in items):
        why = f"{listed.file} names none of its items" if listed else "give --endpoint and --model, or --leaves FILE"
        raise ConfigError(f"{one.name} does not say under which leaves of the taxonomy its items fall; {why}.")
    return FiledSet(name=one.name, by=OWN, count=one.count, items=items)


def _filed(item: FiledItem, leaf: str) -> FiledItem:
    """The item under a leaf, or under none."""
    item.leaf, item.reason = (leaf, "") if leaf else (None, NotFiled.FITS_NONE.value)
    return item


@dataclass(slots=True)
class _Asked:
    """A set whose items a model files."""

    of: OtherSet
    items: list[FiledItem] = field(default_factory=list)
    pictures: int = 0


class _Asking:
    """The items of sets on their way through one model or two.

    Attributes:
        missing: Replies that are missing, by the reason.
        example: The first of them, for people.
    """

    def __init__(self, sets: Sequence[OtherSet], taxonomy: Taxonomy, options: BloomCoverageOptions) -> None:
        assert options.model is not None
        self.names = [options.model, *options.judge_names]
        self.missing: Counter[str] = Counter()
        self.example = ""
        self._sets, self._taxonomy = [_Asked(one) for one in sets], taxonomy

    def ask(self, desk: Desk, watcher: Watcher) -> None:
        """Bring every item to a leaf, a reason, or a reply that is missing."""
        watcher.begin(sum(len(each.of.positions) for each in self._sets) * len(self.names), 0)
        chains = self._chains(watcher)
        not_asked: dict[int, tuple[str, NotAsked]] = {}
        for (number, item, role), outcome in desk.work(lambda: next(chains, None)):
            if isinstance(outcome, NotAsked):
                not_asked[number] = item.name, outcome
            self._take(item, role, outcome)
            watcher.note(desk.spent.so_far)
            watcher.advance(1, int(isinstance(outcome, int)), Counter())
        # In the order of asking: which reply fails first differs from run to run, and what is said must not.
        unanswered = [not_asked[number] for number in sorted(not_asked)]
        self.missing = Counter(outcome.reason for _, outcome in unanswered)
        self.example = next((f"{name}: {outcome.detail}" for name, outcome in unanswered), "")

    def _chains(self, watcher: Watcher) -> Iterator[tuple[tuple[int, FiledItem, int], Steps[int]]]:
        """What is asked about each item, one after another: the pictures of few are in memory."""
        numbers = count()
        leaves = "\n".join(f"{number}. {path}" for number, path in enumerate(self._taxonomy.paths, start=1))
        for each in self._sets:
            for item in each.of.items(self._taxonomy, pictures=True):
                filed = FiledItem(name=item.name, own=item.path, reason=item.fault)
                each.items.append(filed)
                if item.fault:
                    watcher.advance(len(self.names), 0, Counter({item.fault: len(self.names)}))
                    continue
                each.pictures += bool(item.pictures)
                for role in range(len(self.names)):
                    steps = leaf_number(item.question, item.options, item.pictures, leaves, role)
                    yield (next(numbers), filed, role), steps

    def _take(self, item: FiledItem, role: int, outcome: int | ItemDropped | NotAsked) -> None:
        if isinstance(outcome, int):
            leaf = self._taxonomy.paths[outcome - 1] if outcome else NO_LEAF
            if role:
                item.second = leaf
            else:
                _filed(item, leaf)
        elif not role:
            item.reason = NotFiled.NOT_ASKED if isinstance(outcome, NotAsked) else NotFiled(outcome.reason)

    def filed(self) -> list[FiledSet]:
        """The sets, when all is asked."""
        return [
            FiledSet(name=each.of.name, by=self.names[0], count=each.of.count, items=each.items, pictures=each.pictures)
            for each in self._sets
        ]
