"""The category of each item of some sets: by a model, by a list, or by the set itself."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from vcrgen.bloom.coverage.item_sets import ItemSet
from vcrgen.bloom.generation.item_records import StageCoroutine
from vcrgen.bloom.generation.scheduler import MissingReplies, MissingReply, RequestScheduler, UsageMeter
from vcrgen.bloom.generation.stages import classify_item
from vcrgen.bloom.importing import ID_COLUMNS
from vcrgen.bloom.options import BloomCoverageOptions
from vcrgen.bloom.rejects import ItemRejected, ItemRejectReason
from vcrgen.bloom.taxonomy import COLUMNS, Taxonomy
from vcrgen.core.errors import ConfigError
from vcrgen.core.files import output_errors
from vcrgen.core.progress import ProgressListener
from vcrgen.core.reading import check_file_size, read_csv
from vcrgen.models.endpoint import EndpointModel
from vcrgen.models.run import open_replies
from vcrgen.report.escape import escape_formula
from vcrgen.report.forms import as_csv
from vcrgen.report.table import Table

MAX_BYTES = 64 << 20  # of a list of categories
SET = "set"  # the column of a list that names the set of an item
NO_CATEGORY = ""  # in lists and replies, of an item that fits no category
ITSELF = "itself"


@dataclass(slots=True, kw_only=True)
class ClassifiedItem:
    """An item with its category, or with the reason why it has none."""

    name: str
    own: str | None  # the category in its set
    category: str | None = None
    reason: str = ""
    second: str | None = None  # the category by the second model; "" for none that fits, None if it gave none

    def set_category(self, category: str) -> None:
        """Give the item a category, or none that fits."""
        self.category, self.reason = (category, "") if category else (None, ItemRejectReason.FITS_NONE.value)


@dataclass(slots=True, kw_only=True)
class ClassifiedSet:
    """The items of a set with their categories.

    Attributes:
        name: Of the set, in tables.
        by: A model, the name of a list, or `ITSELF`.
        count: Items of the whole set; more than ``items`` if these were drawn.
        pictures: Items that were shown with a picture; None without a model.
    """

    name: str
    by: str
    count: int
    items: list[ClassifiedItem]
    pictures: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification:
    """Outcome of a run.

    Attributes:
        missing: Items without a reply.
        notes: Sentences about ignored lines of a list.
        usage: Usage of all replies in the ledger; None without a model.
    """

    taxonomy: Taxonomy
    sets: Sequence[ClassifiedSet]
    missing: MissingReplies
    notes: Sequence[str] = ()
    usage: UsageMeter | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryList:
    """A list of items with their categories.

    Attributes:
        categories: By set and id of an item its category, ``""`` for none, or None if the taxonomy has no such
            category. The set is empty for a line without one, which applies to every set that has the id.
        unknown: The first name that is no category, for people.
    """

    file: Path
    categories: Mapping[tuple[str, str], str | None]
    unknown: str

    def find(self, name: str, item: str) -> str | ItemRejectReason:
        """The category of an item of a set, or the reason why it has none."""
        for key in (_key(name, item), _key("", item)):
            if key in self.categories:
                category = self.categories[key]
                return ItemRejectReason.UNKNOWN_CATEGORY if category is None else category
        return ItemRejectReason.NOT_LISTED


def read_categories(file: Path, taxonomy: Taxonomy) -> CategoryList:
    """Read a CSV with the columns ``question_id`` and ``leaf`` (optionally ``level``, ``subcategory``, ``set``).

    ``leaf`` is a whole path, or a name that stands for one path only; an empty one or ``0`` says that none fits.

    Raises:
        ConfigError: The file cannot be read, is no such CSV, or names no item, or one twice.
    """
    check_file_size(file, MAX_BYTES, "it is no list of categories", ConfigError)
    categories: dict[tuple[str, str], str | None] = {}
    unknown = ""
    for number, row in read_csv(file, ConfigError, required=("leaf",)):
        if not (id_column := next((name for name in ID_COLUMNS if name in row), None)):
            raise ConfigError(f"{file} needs the columns question_id and leaf in its first line.")
        key = _key(row.get(SET, ""), row[id_column])
        if key in categories:
            raise ConfigError(f"{file}, line {number}: {key[1][:80]!r} has a category already; name it once.")
        names = [name for part in COLUMNS for name in row.get(part, "").split("/") if name.strip()]
        if not row["leaf"].strip(" 0"):
            categories[key] = NO_CATEGORY
            continue
        categories[key] = taxonomy.find(*names)
        if categories[key] is None:
            unknown = unknown or f"{'/'.join(names)[:80]!r} in line {number}"
    if not categories:
        raise ConfigError(f"{file} names no item below its first line; leave out --categories, or fill it.")
    return CategoryList(file=file, categories=categories, unknown=unknown)


def _key(name: str, item: str) -> tuple[str, str]:
    """The key of an item in a list: both names as `format_categories` writes them."""
    return escape_formula(name), escape_formula(item)


def format_categories(classification: Classification) -> str:
    """A list as `read_categories` reads it: the items with a category, or with none that fits."""
    rows = [
        (classified_set.name, item.name, item.category or "")
        for classified_set in classification.sets
        for item in classified_set.items
        if item.category or item.reason == ItemRejectReason.FITS_NONE
    ]
    return as_csv(Table(title="", heads=(SET, "question_id", "leaf"), labels=0, rows=rows))


def classify_sets(
    sets: Sequence[ItemSet],
    taxonomy: Taxonomy,
    options: BloomCoverageOptions,
    models: Mapping[str, EndpointModel],
    *,
    listener: ProgressListener | None = None,
) -> Classification:
    """Classify the items of some sets.

    A set takes the categories of the list if that has one of its items, else those of the model, else its own.

    Raises:
        ConfigError: The list is not valid, or a set has no source of categories.
        EndpointError: The server cannot be reached, or refuses one request after another.
        OutputError: The ledger is in use or damaged.
        SourceError: A set cannot be read.
    """
    listed = read_categories(options.categories, taxonomy) if options.categories else None
    classified: dict[str, ClassifiedSet] = {}
    for_model = []
    used: set[tuple[str, str]] = set()
    for item_set in sets:
        keys = _listed_keys(listed, item_set, taxonomy) if listed else set()
        used |= keys
        if listed and keys:
            classified[item_set.name] = _by_list(item_set, taxonomy, listed)
        elif options.model:
            for_model.append(item_set)
        else:
            classified[item_set.name] = _by_itself(item_set, taxonomy, listed)
    missing, usage = MissingReplies.of([]), None
    if for_model:
        listener = listener or ProgressListener()
        with output_errors(options.ledger), open_replies(options.ledger, listener, offline=options.offline) as ledger:
            run = _ModelRun(for_model, taxonomy, options)
            scheduler = RequestScheduler(ledger, run.names, models, options)
            missing = run.classify(scheduler, listener)
            classified |= {classified_set.name: classified_set for classified_set in run.classified}
            usage = scheduler.ledger_usage
    return Classification(
        taxonomy=taxonomy,
        sets=[classified[item_set.name] for item_set in sets],
        missing=missing,
        usage=usage,
        notes=list(_notes(listed, used)) if listed else [],
    )


def _listed_keys(listed: CategoryList, item_set: ItemSet, taxonomy: Taxonomy) -> set[tuple[str, str]]:
    """The lines of a list that are of a set, drawn or not."""
    keys = (_key(name, item.name) for item in item_set.read(taxonomy, frozenset()) for name in (item_set.name, ""))
    return {key for key in keys if key in listed.categories}


def _notes(listed: CategoryList, used: set[tuple[str, str]]) -> Iterator[str]:
    unknown = sum(category is None for category in listed.categories.values())
    if unknown:
        yield (
            f"{listed.file.name}: lines that name no category of the taxonomy: {unknown:,}; the first is "
            f"{listed.unknown}. A name that several categories have needs its whole path, as "
            "create/creative generation/poem."
        )
    if others := [key[1] for key in listed.categories if key not in used]:
        yield f"{listed.file.name}: lines of items that no set has: {len(others):,}; the first is {others[0][:80]!r}."


def _by_list(item_set: ItemSet, taxonomy: Taxonomy, listed: CategoryList) -> ClassifiedSet:
    items = []
    for item in item_set.items(taxonomy, pictures=False):
        classified = ClassifiedItem(name=item.name, own=item.path)
        category = listed.find(item_set.name, item.name)
        if isinstance(category, ItemRejectReason) or item.problem == ItemRejectReason.DUPLICATE_ID:
            classified.reason = item.problem or str(category)
        else:
            classified.set_category(category)
        items.append(classified)
    return ClassifiedSet(name=item_set.name, by=listed.file.name, count=item_set.count, items=items)


def _by_itself(item_set: ItemSet, taxonomy: Taxonomy, listed: CategoryList | None) -> ClassifiedSet:
    items = [
        ClassifiedItem(
            name=item.name,
            own=item.path,
            category=item.path,
            reason="" if item.path else item.problem or ItemRejectReason.UNKNOWN_CATEGORY,
        )
        for item in item_set.items(taxonomy, pictures=False)
    ]
    if not any(item.category for item in items):
        why = (
            f"{listed.file} names none of its items" if listed else "give --endpoint and --model, or --categories FILE"
        )
        raise ConfigError(f"{item_set.name} has no categories of the taxonomy for its items; {why}.")
    return ClassifiedSet(name=item_set.name, by=ITSELF, count=item_set.count, items=items)


class _ModelRun:
    """The items of sets on their way through one model or two; ``classified`` has the sets after the run."""

    def __init__(self, sets: Sequence[ItemSet], taxonomy: Taxonomy, options: BloomCoverageOptions) -> None:
        assert options.model is not None
        self.names = [options.model, *options.judge_names]
        self._sets, self._taxonomy = sets, taxonomy
        self.classified = [
            ClassifiedSet(name=item_set.name, by=options.model, count=item_set.count, items=[], pictures=0)
            for item_set in sets
        ]

    def classify(self, scheduler: RequestScheduler, listener: ProgressListener) -> MissingReplies:
        """Bring every item to a category, a reason, or a missing reply."""
        listener.begin(sum(len(item_set.positions) for item_set in self._sets) * len(self.names), 0)
        chains = self._chains(listener)
        missing: dict[int, tuple[str, MissingReply]] = {}
        for (number, item, role), outcome in scheduler.run(lambda: next(chains, None), listener):
            if isinstance(outcome, MissingReply):
                missing[number] = item.name, outcome
            self._record(item, role, outcome)
            listener.note(scheduler.ledger_usage.note)
            listener.advance(1, int(isinstance(outcome, int)), Counter())
        # In the order of the requests: replies fail in another order in each run.
        return MissingReplies.of([missing[number] for number in sorted(missing)])

    def _chains(
        self, listener: ProgressListener
    ) -> Iterator[tuple[tuple[int, ClassifiedItem, int], StageCoroutine[int]]]:
        """Yield the request of each item, one after another, so that few pictures are in memory."""
        numbers = count()
        categories = "\n".join(f"{number}. {path}" for number, path in enumerate(self._taxonomy.paths, start=1))
        for item_set, classified_set in zip(self._sets, self.classified, strict=True):
            for item in item_set.items(self._taxonomy, pictures=True):
                classified = ClassifiedItem(name=item.name, own=item.path, reason=item.problem)
                classified_set.items.append(classified)
                if item.problem:
                    listener.advance(len(self.names), 0, Counter({item.problem: len(self.names)}))
                    continue
                classified_set.pictures = (classified_set.pictures or 0) + bool(item.pictures)
                for role in range(len(self.names)):
                    steps = classify_item(item.question, item.options, item.pictures, categories, role)
                    yield (next(numbers), classified, role), steps

    def _record(self, item: ClassifiedItem, role: int, outcome: int | ItemRejected | MissingReply) -> None:
        if isinstance(outcome, int):
            category = self._taxonomy.paths[outcome - 1] if outcome else NO_CATEGORY
            if role:
                item.second = category
            else:
                item.set_category(category)
        elif not role:
            rejected = isinstance(outcome, ItemRejected)
            item.reason = outcome.reason if rejected else ItemRejectReason.MISSING_REPLY
