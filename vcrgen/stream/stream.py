"""A source as an endless, shuffled, resumable stream of training examples."""

import hashlib
import math
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from vcrgen.builder.filters import CensorList
from vcrgen.builder.shards import cut_tasks
from vcrgen.builder.sources import check_columns, cut_at_limit, iter_items, open_source
from vcrgen.config import BuildConfig, load_build_config
from vcrgen.dataset.views import IMAGE_VIEWS
from vcrgen.errors import ConfigError, NoPairsError, StreamError
from vcrgen.files import canonical_json, sha256_file
from vcrgen.records import Reject
from vcrgen.stream.difficulty import read_difficulty
from vcrgen.stream.examples import Examples
from vcrgen.stream.order import Order
from vcrgen.stream.place import Place, Progress, Share, Tracker
from vcrgen.stream.ranks import find_rank, find_worker
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.fonts import resolve_font

if TYPE_CHECKING:
    from torch.utils.data import IterableDataset
else:
    try:
        from torch.utils.data import IterableDataset
    except (ImportError, OSError):  # not installed, or not usable on this machine
        ExampleType = TypeVar("ExampleType")

        class IterableDataset(Generic[ExampleType]):
            """Stands in for torch's class."""


Example = dict[str, Any]
Batch = TypeVar("Batch")
STATE_VERSION = 1  # also of the order: another one is another order
BATCH = 16  # pairs made together: few, so that the first one comes soon
PATIENCE = 20  # epochs' rows in which one of several workers finds nothing, before it gives up an endless stream
# Fields that decide what a build writes, and nothing of a stream.
OF_FILES = ("image_format", "source_license", "splits")


class VCRStream(IterableDataset[Example]):  # type: ignore[misc, unused-ignore]
    """Image-caption pairs as VCR examples, made when they are asked for.

    A ``torch.utils.data.IterableDataset`` where torch is installed, an iterable everywhere. Every epoch has every
    usable pair once, in another order, with other spans; over all ranks and workers together, however many there are.
    A pair's example depends on source, options and epoch alone, and on its step if there is a schedule.

    The stream has a place, as a file has: an iteration goes on where the last one stopped. Ranks and workers get
    windows of rows, so their counts of examples differ a little.

    An example has ``question_id``, ``image`` (uint8, height x width x 3), ``question``, ``answers`` (the covered texts
    in reading order), ``caption``, ``view``, ``mode`` (``"ink"`` if the cover goes by a share of ink), ``ink`` (the
    visible share aimed at), ``visible_ink`` (what is left of each span), ``epoch``, ``step`` (its number in the stream,
    over all ranks, unusable pairs counted) and ``source_id``.

    Args:
        source: As ``vcrgen build`` takes it.
        mode: ``"easy"``, ``"hard"``, ``"both"`` or several of them (drawn for each pair), or a mapping to weights.
        ink: Instead, the share of ink that stays visible, or the lowest and the highest share.
        schedule: Instead, a list of ``(step, mode or ink)``; in between, it changes linearly.
        views: Of ``stacked``, ``tei`` and ``strip``, those of which one is drawn for each pair.
        epochs: How many epochs one iteration gives; None for no end.
        shuffle: Random order; otherwise the source's.
        rank: This process's rank, with ``world_size``; by default what torch.distributed says, or the variables
            ``RANK`` and ``WORLD_SIZE``, when the stream is made.
        world_size: Number of ranks.
        **options: Other fields of :class:`vcrgen.config.BuildConfig`, such as ``lang``, ``seed``, ``n``, ``width``.

    Attributes:
        config: The configuration.
        skipped: Unusable pairs that this process came by, counted by reason.

    Raises:
        ConfigError: An option is wrong.
        SourceError: The source cannot be read.
    """

    def __init__(
        self,
        source: str | Path = "samples",
        *,
        mode: Any = None,
        ink: Any = None,
        schedule: Any = None,
        views: Sequence[str] = ("stacked",),
        epochs: int | None = None,
        shuffle: bool = True,
        rank: int | None = None,
        world_size: int | None = None,
        **options: Any,
    ) -> None:
        if useless := next((name for name in OF_FILES if name in options), None):
            raise ConfigError(f"A stream writes no files, so {useless!r} does nothing here; leave it out.")
        self.config = load_build_config(None, options | {"source": str(source)})
        self._difficulty = read_difficulty(mode, ink, schedule)
        self._views = (views,) if isinstance(views, str) else tuple(views)
        if not self._views or not set(self._views) <= set(IMAGE_VIEWS) or len(set(self._views)) < len(self._views):
            raise ConfigError(f"`views` is {views!r}; give one or several of {', '.join(IMAGE_VIEWS)}.")
        if epochs is not None and (type(epochs) is not int or epochs < 1):
            raise ConfigError(f"`epochs` is {epochs!r}; give a count of at least 1, or None for no end.")
        self._epochs = epochs
        self._source = open_source(self.config)
        check_columns(self._source, self.config)
        partitions = cut_at_limit(self._source, self.config)
        _, tasks = cut_tasks(self.config, partitions)
        self._order = Order(tasks, seed=self.config.seed, shuffle=shuffle)
        facts = _choices(self.config) | {
            "partitions": [asdict(partition) for partition in partitions], "difficulty": asdict(self._difficulty),
            "views": self._views, "shuffle": shuffle,
        }  # fmt: skip
        self._fingerprint = hashlib.sha256(canonical_json(facts).encode()).hexdigest()
        self._rank = find_rank(rank, world_size)
        self._place = Place().share(*self._rank)
        self._tracker: Tracker | None = None
        self._turn = 0
        self._loaders: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._examples: Examples | None = None
        self.skipped: Counter[str] = Counter()

    def __getstate__(self) -> dict[str, Any]:
        """Without what a process loads for itself."""
        own = {"_examples": None, "_tracker": None, "_loaders": None, "_place": self._here()}
        return self.__dict__ | own

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._loaders = WeakKeyDictionary()

    @property
    def rows(self) -> int:
        """Pairs of an epoch over all ranks, unusable ones counted."""
        return self._order.rows

    @property
    def epoch(self) -> int:
        """The epoch that this rank is in, from 0; after the end of an iteration the next one."""
        place = self._here()
        last = math.inf if place.until is None else place.until - 1
        return int(min(self._order.epoch(place.start), last))

    def __iter__(self) -> Generator[Example, None, None]:
        """Examples from the stream's place on.

        Raises:
            NoPairsError: No pair can be used.
            SourceError: A file of the source cannot be read.
        """
        place, turn = self._begin()
        worker = find_worker()
        if worker and len(place.shares) == 1:
            place = place.share(*worker)
        barren, patience = 0, self._patience(place)
        for window, done in place.windows(self._order):
            if place.until is not None and self._order.epoch(window) >= place.until:
                break
            barren += self._order.size(window) - done
            for row, example in self._window(window, done):
                barren = 0
                self._place = place.at(window, row + 1)
                yield example
                if self._turn != turn:
                    how = "by another one or by a state that was loaded"
                    raise StreamError(f"The stream was moved while this iteration was under way, {how}; iterate anew.")
            self._place = place.at(window + 1, 0)
            if barren >= patience:
                raise NoPairsError(self._nothing_usable())
        self._place = self._ended(place)

    def batches(self, loader: Iterable[Batch]) -> Iterator[Batch]:
        """Go through a data loader of this stream; :meth:`state_dict` stays exact, whatever its workers have prepared.

        Args:
            loader: A ``torch.utils.data.DataLoader`` of this stream. With workers, its batches have to be mappings with
                the examples' ``step``, as :func:`vcrgen.stream.collate` makes them.

        Raises:
            StreamError: The loader is another stream's, its batches lack ``step``, or its persistent workers are
                somewhere else.
            NoPairsError: No pair can be used.
        """
        if getattr(loader, "dataset", self) is not self:
            raise StreamError("The loader has another dataset than this stream; go through it with its own stream.")
        workers = getattr(loader, "num_workers", 0)
        if not workers:
            yield from loader  # this process makes the examples, and knows where it is
            return
        if getattr(loader, "persistent_workers", False) and self._loaders.get(loader, self._turn) != self._turn:
            why = "because an iteration was broken off or a state was loaded; make a new DataLoader"
            raise StreamError(f"The persistent workers of this loader are not where the stream is, {why}.")
        place, turn = self._begin()
        self._loaders[loader] = turn - 1  # until the end is reached
        tracker = self._tracker = Tracker(place, workers, self._order)
        empty = True
        for batch in loader:
            empty = False
            for step in _steps(batch):
                if self._turn != turn or not tracker.handed_out(step):
                    raise StreamError("The loader hands out pairs that the stream is past; make a new DataLoader.")
            yield batch
        whole = place.until is None or self._order.epoch(place.start) < place.until
        whole = whole and place.start % self._order.windows == 0 and not place.done.rows
        if empty and self._rank[1] == 1 and whole:  # whole: this iteration went through whole epochs
            raise NoPairsError(self._nothing_usable())
        if self._turn == turn:
            self._tracker, self._place = None, self._ended(place)
            self._loaders[loader] = turn

    def state_dict(self) -> dict[str, Any]:
        """The stream's place as JSON values: small, and independent of the number of workers.

        It is exact for iteration in this process and for :meth:`batches`; other data loaders' workers are not seen.
        """
        return {"version": STATE_VERSION, "fingerprint": self._fingerprint, **self._here().to_json()}

    def load_state_dict(self, state: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        """Take up a place: what :meth:`state_dict` gave on the same rank, or a list of what it gave on all ranks.

        There may have been another number of ranks.

        Raises:
            StreamError: The state is of another source, other options, or other ranks.
        """
        places = [self._read(one) for one in ([state] if isinstance(state, Mapping) else state)]
        self._place = self._taken_up(places)
        self._tracker = None
        self._turn += 1

    def _here(self) -> Place:
        return self._tracker.place() if self._tracker else self._place

    def _begin(self) -> tuple[Place, int]:
        """Begin an iteration: the place, with the epoch before which it ends, and the number of the iteration."""
        place, self._tracker = self._here(), None
        self._place = replace(place, until=self._until(place))
        self._turn += 1
        return self._place, self._turn

    def _patience(self, place: Place) -> float:
        """How many rows without a usable pair mean that there is none; a part of the source may do without."""
        if all(share.count == 1 for share in place.shares):
            return self._order.rows
        return PATIENCE * self._order.rows if place.until is None else math.inf

    def _until(self, place: Place) -> int | None:
        """The epoch before which the iteration ends that is under way at a place, or that begins there."""
        if self._epochs is None:
            return None
        return self._order.epoch(place.start) + self._epochs if place.until is None else place.until

    def _ended(self, place: Place) -> Place:
        """The place of a rank after an iteration came to its end."""
        assert place.until is not None
        return Place(shares=place.shares[:1], done=Progress(start=place.until * self._order.windows))

    def _window(self, window: int, done: int) -> Iterator[tuple[int, Example]]:
        """The examples of a window, each with its row, from a row on."""
        if self._examples is None:
            self._examples = Examples(self.config, self._difficulty, self._views)
        task, epoch = self._order.task(window), self._order.epoch(window)
        items = list(iter_items(self._source, self.config, task.partition, task.start, task.stop))
        left = islice(self._order.arranged(window, items), done, None)
        planned = self._examples.pipeline.planned(left, stage=f"stream mask {epoch}", batch_size=BATCH)
        for row, outcome in enumerate(planned, start=done):
            if isinstance(outcome, Reject):
                self.skipped[str(outcome.reason)] += 1
            else:
                example = self._examples.make(*outcome, epoch=epoch, step=self._order.step(window, row))
                if isinstance(example, Reject):
                    self.skipped[str(example.reason)] += 1
                else:
                    yield row, example

    def _nothing_usable(self) -> str:
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.skipped.most_common(5))
        found = f" ({reasons})" if reasons else ""
        return f"No pair of {self.config.source} can be used{found}; `vcrgen build` with the same options lists why."

    def _read(self, state: Any) -> Place:
        try:
            version, fingerprint, place = state["version"], state["fingerprint"], Place.from_json(state)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise StreamError("This is no state of a stream; give what VCRStream.state_dict() returned.") from None
        if version != STATE_VERSION:
            raise StreamError(f"The state is of format {version!r}, which this version of vcrgen does not read.")
        if fingerprint != self._fingerprint:
            raise StreamError("The state is of another source or of other options; make the stream as it was then.")
        return place

    def _taken_up(self, places: Sequence[Place]) -> Place:
        """The place of this rank, or in a worker of this worker, after the places of whoever was there before."""
        here = [self._rank, worker] if (worker := find_worker()) else [self._rank]
        if len(places) == 1:
            shares = [(share.index, share.count) for share in places[0].shares]
            if shares and shares == here[: len(shares)]:
                return places[0]
        ranks = sorted(places, key=lambda place: [share.index for share in place.shares])
        first = ranks[0].shares[0].done if ranks and ranks[0].shares else Progress()
        expected = [(Share(done=first, index=index, count=len(ranks)),) for index in range(len(ranks))]
        if not ranks or [place.shares for place in ranks] != expected:
            raise StreamError(
                f"The state is not that of rank {self._rank[0]} of {self._rank[1]}; give load_state_dict the state of "
                "this rank, or the list of the states of all ranks that there were."
            )
        whole = Place(done=first).merged([place.done for place in ranks], self._order)
        until = min((end for end in map(self._until, ranks) if end is not None), default=None)
        return replace(whole.share(*self._rank), until=until)


def _choices(config: BuildConfig) -> dict[str, Any]:
    """The configuration as JSON values, its files by their content."""
    font = sha256_file(resolve_font(config.font)[0]) if config.font else None
    censor = CensorList.load(LANGUAGES[config.lang], config.censor_list).digest
    return {"config": config.published(), "font": font, "censor": censor, "spacy_model": config.spacy_model}


def _steps(batch: Any) -> list[int]:
    """The steps of a batch's examples, or of the one example that it is."""
    try:
        steps = batch["step"]
        return [int(steps)] if isinstance(steps, int) else [int(step) for step in steps]
    except (KeyError, TypeError, ValueError, IndexError):
        raise StreamError(
            "The loader's batches lack the `step` of their examples, so the place cannot be known; keep it in "
            "collate_fn, as vcrgen.stream.collate does."
        ) from None
