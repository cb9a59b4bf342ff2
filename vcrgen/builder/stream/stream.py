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
from vcrgen.builder.options import SPLIT_FIELDS, BuildConfig, load_build_config
from vcrgen.builder.shards import divide_tasks
from vcrgen.builder.sources import RowCounts, describe_unmatched, iter_items, open_pairs
from vcrgen.builder.stream.difficulty import read_difficulty
from vcrgen.builder.stream.examples import Examples
from vcrgen.builder.stream.order import Order
from vcrgen.builder.stream.position import POSITIONS, Position, Progress, Share, Tracker
from vcrgen.builder.stream.ranks import find_rank, find_worker
from vcrgen.core.errors import ConfigError, NoPairsError, StreamError
from vcrgen.core.files import canonical_json, sha256_file
from vcrgen.core.plurals import pluralize
from vcrgen.core.records import Reject
from vcrgen.data.views import IMAGE_VIEWS
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
            """Replacement of torch's class."""


Batch = TypeVar("Batch")
STATE_VERSION = 2  # also of the order: another one is another order
RUNS = 8  # of a window
BATCH = 16  # pairs made together: few, so that the first one comes soon
MAX_EMPTY_EPOCHS = 20  # without a usable pair, before one of several workers gives up an endless stream
# Fields that only matter for files of a build.
FILE_FIELDS = ("image_format", "source_license", *SPLIT_FIELDS)


class VCRStream(IterableDataset[dict[str, Any]]):  # type: ignore[misc, unused-ignore]
    """Image-caption pairs as VCR (Visual Caption Restoration) examples, generated on demand.

    A ``torch.utils.data.IterableDataset`` if torch is installed. Every epoch has every usable pair once over all ranks
    and workers, in another order and with other spans. An example depends on source, options and epoch alone, and on
    its step if there is a schedule.

    The stream has a position, as a file: an iteration continues after the last one. Ranks and workers get windows of
    rows, so their numbers of examples differ a little.

    Of several captions of a picture (``captions="each"``), every epoch takes the next one.

    An example has ``question_id``, ``image`` (uint8, height x width x 3), ``question``, ``answers`` (the masked texts
    in reading order), ``caption``, ``view``, ``mode`` (``"ink"`` if the cover goes by a share of ink), ``ink`` (the
    target share of visible ink), ``visible_ink`` (of each span), ``pixel_bits`` (where covers go by bits),
    ``glyph_boxes`` (with ``glyph_boxes=True``), ``epoch``, ``step`` (its number in the stream, over all ranks, unusable
    pairs counted) and ``source_id``.

    Args:
        source: As ``vcrgen build`` takes it.
        mode: ``"easy"``, ``"hard"``, ``"both"`` or several of them (drawn for each pair), or a mapping to weights. With
            covers ``bars`` and ``blots`` also ``"bits-4"`` and ``"bits-8"``: bits that visible pixels leave at least.
        ink: Instead, the share of ink that stays visible, or the lowest and the highest share.
        schedule: Instead, a list of ``(step, mode or ink)``; in between, it changes linearly.
        views: Of ``stacked``, ``tei`` and ``strip``; one is drawn for each pair.
        epochs: Epochs of one iteration; None for an endless one.
        shuffle: Random order instead of the source's.
        runs: Places of the source from which each window of a shuffled stream has its rows.
        rank: This process's rank; by default from torch.distributed, or from ``RANK`` and ``WORLD_SIZE``, at creation.
        **options: Other fields of [BuildConfig][vcrgen.BuildConfig], such as ``lang``, ``seed``, ``ngram_size``,
            ``width``.

    Attributes:
        config: The configuration.
        skipped: Numbers of rejected pairs of this process by reason.
        rows_read: Rows of the windows that this process has finished, and the captions in them.

    Raises:
        ConfigError: An option is wrong.
        SourceError: The source cannot be read.

    Examples:
        >>> stream = VCRStream("samples", mode={"easy": 1, "hard": 3}, epochs=1)
        >>> example = next(iter(stream))
        >>> example["mode"], example["answers"], example["image"].shape
        ('easy', ['its pointed roofs seems to'], (293, 300, 3))
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
        runs: int = RUNS,
        rank: int | None = None,
        world_size: int | None = None,
        **options: Any,
    ) -> None:
        if useless := next((name for name in FILE_FIELDS if name in options), None):
            raise ConfigError(f"A stream writes no files, so {useless!r} does nothing here; leave it out.")
        self._difficulty = read_difficulty(mode, ink, schedule)
        covers = {"mode": self._difficulty.build_mode} if self._difficulty.build_mode else {}
        self.config = load_build_config(None, options | covers | {"source": str(source)})
        self._views = (views,) if isinstance(views, str) else tuple(views)
        if not self._views or not set(self._views) <= set(IMAGE_VIEWS) or len(set(self._views)) < len(self._views):
            raise ConfigError(f"`views` is {views!r}; give one or several of {', '.join(IMAGE_VIEWS)}.")
        if epochs is not None and (type(epochs) is not int or epochs < 1):
            raise ConfigError(f"`epochs` is {epochs!r}; give a count of at least 1, or None for no end.")
        self._epochs = epochs
        self._source, partitions = open_pairs(self.config)
        if type(runs) is not int or runs < 1:
            raise ConfigError(f"`runs` is {runs!r}; give a count of at least 1.")
        self._runs = runs if shuffle else 1
        rows, _ = divide_tasks(self.config, partitions)  # of a window
        of_run = self.config.model_copy(update={"shard_size": max(rows // self._runs, 1)})
        _, tasks = divide_tasks(of_run, partitions)
        self._order = Order(tasks, seed=self.config.seed, shuffle=shuffle, runs=self._runs)
        facts = _choices(self.config) | {
            "partitions": [asdict(partition) for partition in partitions],
            "difficulty": {"kind": self._difficulty.kind, "points": self._difficulty.points},  # the modes: as config
            "views": self._views,
            "shuffle": shuffle,
            "runs": self._runs,
        }
        self._fingerprint = hashlib.sha256(canonical_json(facts).encode()).hexdigest()
        self._rank = find_rank(rank, world_size)
        self._current = Position().share(*self._rank)
        self._tracker: Tracker | None = None
        self._iteration = 0
        self._loaders: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._examples: Examples | None = None
        self.skipped: Counter[str] = Counter()
        self.rows_read = RowCounts()

    def __getstate__(self) -> dict[str, Any]:
        """The state without objects that each process loads itself."""
        local = {"_examples": None, "_tracker": None, "_loaders": None, "_current": self._position()}
        return self.__dict__ | local

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._loaders = WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"<VCRStream of {self.source}: {pluralize(self.rows, 'pair')}, {self.config.lang}, epoch {self.epoch}>"

    @property
    def source(self) -> str:
        """The files or built-in pairs that are read, with their splits, in a line."""
        return self._source.description

    @property
    def rows(self) -> int:
        """The number of pairs of an epoch over all ranks, with unusable ones."""
        return self._order.rows

    @property
    def rank(self) -> tuple[int, int]:
        """The rank that the pairs are dealt to, and the number of ranks."""
        return self._rank

    @property
    def epoch(self) -> int:
        """The current epoch of this rank, from 0; after an iteration, the next one."""
        place = self._position()
        last = math.inf if place.until is None else place.until - 1
        return int(min(self._order.epoch(place.start), last))

    def __iter__(self) -> Generator[dict[str, Any], None, None]:
        """Yield examples from the stream's position on.

        Raises:
            NoPairsError: No pair can be used.
            SourceError: A file of the source cannot be read.
        """
        place, iteration = self._begin()
        worker = find_worker()
        if worker and len(place.shares) == 1:
            place = place.share(*worker)
        empty_rows, max_empty = 0, self._max_empty_rows(place)
        for window, done in place.windows(self._order):
            if place.until is not None and self._order.epoch(window) >= place.until:
                break
            empty_rows += self._order.size(window) - done
            for row, example in self._window(window, done):
                empty_rows = 0
                self._current = place.at(window, row + 1)
                yield example
                if self._iteration != iteration:
                    how = "by another one or by a state that was loaded"
                    raise StreamError(f"The stream was moved while this iteration was under way, {how}; iterate anew.")
            self._current = place.at(window + 1, 0)
            if empty_rows >= max_empty:
                raise NoPairsError(self._nothing_usable())
        self._current = self._end_position(place)

    def batches(self, loader: Iterable[Batch]) -> Iterator[Batch]:
        """Iterate over a data loader of this stream with an exact `state_dict`.

        Args:
            loader: A ``torch.utils.data.DataLoader`` of this stream. With workers, its batches have to be mappings with
                the examples' ``step``, as `vcrgen.builder.stream.collate` makes them.

        Raises:
            StreamError: The loader is another stream's, its batches lack ``step``, or its persistent workers are
                elsewhere.
            NoPairsError: No pair can be used.
        """
        if getattr(loader, "dataset", self) is not self:
            raise StreamError("The loader has another dataset than this stream; go through it with its own stream.")
        workers = getattr(loader, "num_workers", 0)
        if not workers:
            yield from loader  # this process makes the examples, and knows where it is
            return
        if (
            getattr(loader, "persistent_workers", False)
            and self._loaders.get(loader, self._iteration) != self._iteration
        ):
            why = "because an iteration was broken off or a state was loaded; make a new DataLoader"
            raise StreamError(f"The persistent workers of this loader are not where the stream is, {why}.")
        place, iteration = self._begin()
        self._loaders[loader] = iteration - 1  # until the end is reached
        tracker = self._tracker = Tracker(place, workers, self._order)
        empty = True
        for batch in loader:
            empty = False
            for step in _steps(batch):
                if self._iteration != iteration or not tracker.record(step):
                    raise StreamError("The loader hands out pairs that the stream is past; make a new DataLoader.")
            yield batch
        is_whole = place.until is None or self._order.epoch(place.start) < place.until
        is_whole = is_whole and place.start % self._order.windows == 0 and not place.has_later_rows
        if empty and self._rank[1] == 1 and is_whole:  # whole: this iteration went through whole epochs
            raise NoPairsError(self._nothing_usable())
        if self._iteration == iteration:
            self._tracker, self._current = None, self._end_position(place)
            self._loaders[loader] = iteration

    def state_dict(self) -> dict[str, Any]:
        """The stream's position as small JSON values, independent of the number of workers.

        It is exact for iteration in this process and for `batches`, not for other loops over data loaders.
        """
        facts = {"version": STATE_VERSION, "fingerprint": self._fingerprint, "runs": self._runs}
        return facts | dict(POSITIONS.dump_python(self._position(), mode="json"))

    def load_state_dict(self, state: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        """Load a position: the `state_dict` of the same rank, or a list of those of all ranks.

        The number of ranks may differ.

        Raises:
            StreamError: The state is of another source, other options, or other ranks.
        """
        states = [state] if isinstance(state, Mapping) else state
        places = [self._read(rank_state) for rank_state in states]
        self._current = self._merge_positions(places)
        self._tracker = None
        self._iteration += 1

    def _position(self) -> Position:
        return self._tracker.place() if self._tracker else self._current

    def _begin(self) -> tuple[Position, int]:
        """Begin an iteration; return its position and its number."""
        place, self._tracker = self._position(), None
        self._current = replace(place, until=self._until(place))
        self._iteration += 1
        return self._current, self._iteration

    def _max_empty_rows(self, place: Position) -> float:
        """Rows in succession without a usable pair after which the stream gives up; infinite where the epochs end."""
        if all(share.share == (0, 1) for share in place.shares):
            return self._order.rows
        return MAX_EMPTY_EPOCHS * self._order.rows if place.until is None else math.inf

    def _until(self, place: Position) -> int | None:
        """The epoch before which the iteration from a position ends; None without an end."""
        if self._epochs is None:
            return None
        return self._order.epoch(place.start) + self._epochs if place.until is None else place.until

    def _end_position(self, place: Position) -> Position:
        """The position from which a rank begins its next iteration: the first window of epoch ``until``."""
        assert place.until is not None
        return Position(shares=place.shares[:1], done=Progress(start=place.until * self._order.windows))

    def _window(self, window: int, done: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the examples of a window from a row on, each with its row."""
        if self._examples is None:
            self._examples = Examples(self.config, self._difficulty, self._views)
        epoch = self._order.epoch(window)
        counts = RowCounts()
        items = [
            item
            for run in self._order.runs(window)
            for item in iter_items(
                self._source, self.config, run.partition, run.start, run.stop, counts=counts, turn=epoch
            )
        ]
        counts.check(self._order.size(window), outcomes=len(items), place=self._source.description)
        left = islice(self._order.shuffled_rows(window, items), done, None)
        planned = self._examples.pipeline.plan_items(left, stage=f"stream mask {epoch}", batch_size=BATCH)
        row = done - 1
        for row, outcome in enumerate(planned, start=done):
            if isinstance(outcome, Reject):
                self.skipped[str(outcome.reason)] += 1
            else:
                example = self._examples.make(*outcome, epoch=epoch, step=self._order.step(window, row))
                if isinstance(example, Reject):
                    self.skipped[str(example.reason)] += 1
                else:
                    yield row, example
        counts.check(self._order.size(window), outcomes=row + 1, place=self._source.description)
        self.rows_read += counts

    def _nothing_usable(self) -> str:
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.skipped.most_common(5))
        why = reasons or describe_unmatched(self._source, self.config)
        counts = f" ({why})" if why else ""
        return f"No pair of {self.config.source} can be used{counts}; `vcrgen build` with the same options lists why."

    def _read(self, state: Any) -> Position:
        try:
            place = POSITIONS.validate_python({key: state[key] for key in ("shares", "done", "until")})
            version, fingerprint = state["version"], state["fingerprint"]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise StreamError("This is no state of a stream; give what VCRStream.state_dict() returned.") from None
        if version != STATE_VERSION:
            raise StreamError(f"The state is of format {version!r}, which this version of vcrgen does not read.")
        if state.get("runs") != self._runs:
            there = state.get("runs")
            raise StreamError(
                f"The state is of windows of {there} runs, not {self._runs}; make the stream as it was then."
            )
        if fingerprint != self._fingerprint:
            raise StreamError("The state is of another source or of other options; make the stream as it was then.")
        return place

    def _merge_positions(self, places: Sequence[Position]) -> Position:
        """The position of this rank or worker, given the positions of all former ranks."""
        here = [self._rank, worker] if (worker := find_worker()) else [self._rank]
        if len(places) == 1:
            shares = [share.share for share in places[0].shares]
            if shares and shares == here[: len(shares)]:
                return places[0]
        ranks = sorted(places, key=lambda place: [share.share for share in place.shares])
        first = ranks[0].shares[0].done if ranks and ranks[0].shares else Progress()
        expected = [(Share(done=first, share=(index, len(ranks))),) for index in range(len(ranks))]
        if not ranks or [place.shares for place in ranks] != expected:
            raise StreamError(
                f"The state is not that of rank {self._rank[0]} of {self._rank[1]}; give load_state_dict the state of "
                "this rank, or the list of the states of all ranks that there were."
            )
        whole = Position(done=first).merged([place.done for place in ranks], self._order)
        until = min((end for end in map(self._until, ranks) if end is not None), default=None)
        return replace(whole.share(*self._rank), until=until)


def _choices(config: BuildConfig) -> dict[str, Any]:
    """The configuration as JSON values, with hashes of its files."""
    font = sha256_file(resolve_font(config.font)[0]) if config.font else None
    censor = CensorList.load(LANGUAGES[config.lang], config.censor_list).digest
    return {"config": config.public_fields(), "font": font, "censor": censor, "spacy_model": config.spacy_model}


def _steps(batch: Any) -> list[int]:
    """Steps of a batch, or the one step of a single example.

    Raises:
        StreamError: The batch has no `step`.
    """
    try:
        steps = batch["step"]
        return [int(steps)] if isinstance(steps, int) else [int(step) for step in steps]
    except (KeyError, TypeError, ValueError, IndexError):
        raise StreamError(
            "The loader's batches lack the `step` of their examples, so the place cannot be known; keep it in "
            "collate_fn, as vcrgen.builder.stream.collate does."
        ) from None
