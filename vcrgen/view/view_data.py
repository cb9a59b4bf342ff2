"""What a view shows: a dataset or a key, the outputs of models, and pages of both."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from vcrgen.core.errors import ConfigError
from vcrgen.core.storage import remote_url
from vcrgen.data.reader import Dataset
from vcrgen.data.tasks.bloom import TASK
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.data.tasks.vcr import fill_metadata
from vcrgen.data.views import View
from vcrgen.scorer.answers import choose_split, hidden_folder
from vcrgen.scorer.mcq.key import KeyItem
from vcrgen.scorer.mcq.session import ItemSession
from vcrgen.scorer.options import ScoreOptions
from vcrgen.scorer.predictions import PredictionFile, receive
from vcrgen.scorer.records import UNSTATED
from vcrgen.scorer.run import open_session
from vcrgen.scorer.session import BaseScoringSession
from vcrgen.view.index import OUTCOMES, IndexedItem, IndexedRow, ViewIndex
from vcrgen.view.pairs import HiddenPairs, Json, Pairs
from vcrgen.view.query import PAGE_ITEMS, Query
from vcrgen.view.questions import Questions, question_json
from vcrgen.view.scored import NEAR, Scored, open_scored, read_runs

_NO_ITEMS: Json = {"total": 0, "start": 0, "previous": "", "next": "", "items": []}


class ItemSource(Protocol):
    """Where items come from."""

    @property
    def task(self) -> str:
        """``vcr`` or ``mcq``."""

    @property
    def modes(self) -> Sequence[str]:
        """Modes of covers, or languages of questions."""

    @property
    def is_public_part(self) -> bool:
        """Whether it is the public part of a hidden set, without answers."""

    def items(self) -> Iterator[IndexedItem]:
        """All items for the index."""

    def rows(self, limit: int | None = None) -> Iterator[IndexedRow]:
        """Where the modes of items stand, for the index; of every mode the first rows up to a limit."""

    def cards(self, rows: Mapping[str, Mapping[str, int]]) -> dict[str, Json]:
        """What a page shows of some items, by id; ``rows`` has of each mode the row of each item."""

    def about(self) -> Json:
        """What the head of the page says."""


class KeyItems:
    """The questions of a key without pictures."""

    is_public_part = False

    def __init__(self, session: BaseScoringSession) -> None:
        self._session = session
        self.task = "mcq" if isinstance(session, ItemSession) else "vcr"
        self.modes = session.key.variants or (UNSTATED,)

    def items(self) -> Iterator[IndexedItem]:
        """The questions for the index."""
        for question in self._session.key.questions:
            texts = [*question.answers] if self.task == "vcr" else _texts(question)
            text = "\n".join((question.question_id, *texts))
            yield IndexedItem(question.question_id, "", "", len(texts[0]) if texts else 0, len(question.answers), text)

    def rows(self, limit: int | None = None) -> Iterator[IndexedRow]:
        """The modes of the first questions, for the index, with their bits."""
        for number, question in enumerate(islice(self._session.key.questions, limit)):
            for mode in self.modes:
                if isinstance(question, KeyItem):
                    if mode in question.questions:
                        yield IndexedRow(question.question_id, mode, number, None)
                else:
                    bits = [span.bits[mode] for span in question.spans if mode in span.bits]
                    yield IndexedRow(question.question_id, mode, number, min(bits, default=None))

    def cards(self, rows: Mapping[str, Mapping[str, int]]) -> dict[str, Json]:
        """Ids, and the questions of a benchmark."""
        numbers = {question_id: number for of_mode in rows.values() for question_id, number in of_mode.items()}
        questions = (self._session.key.question(number) for number in numbers.values())
        return {question.question_id: self._card(question) for question in questions}

    def about(self) -> Json:
        """What the head of the page says: nothing is known."""
        return {"source": None, "signature": None, "leftOut": 0}

    def _card(self, question: Any) -> Json:
        if not isinstance(question, KeyItem):
            return {"id": question.question_id, "sourceId": "", "question": "", "views": {}}
        return {
            "id": question.question_id,
            "path": question.path.split("/"),
            "image": None,
            "questions": question_json(question.questions),
            "key": question.answer,
            "trap": question.trap,
        }


class ViewData:
    """A dataset or key with the outputs of models: the first page at once, all after `read`, scores after `score`.

    Args:
        data: As `vcrgen score --data` takes it, or the public part of a hidden set.
        outputs: Files of outputs; none shows the dataset alone.
        options: Those of `VIEW_OPTIONS`, as of `vcrgen score`.
        models: Outputs that are open already, by the titles of their models; in place of ``outputs``.

    Raises:
        VcrgenError: The first page or a file of outputs cannot be read.
    """

    def __init__(
        self,
        data: Path,
        outputs: Sequence[Path],
        options: ScoreOptions,
        *,
        models: Mapping[str, PredictionFile] = MappingProxyType({}),
    ) -> None:
        if options.subset is not None and not (outputs or models):
            raise ConfigError("--subset names the questions that are scored; give files of outputs, too.")
        self._data, self._outputs, self._options, self._models = data, outputs, options, models
        self._has_outputs = bool(outputs or models)
        for file in outputs:
            receive(file)  # a ScoreError for one that holds none
        # Only of a plain dataset the first page can be known before all answers are read.
        self._session = None if _is_plain(data, options) else self._open_session()
        self.secret = self._session is not None and self._session.key.hidden
        self.source = _source(data, self._session, options, scored=self._has_outputs)
        self.name = _name(data)
        self.scored: Scored[Any] | None = None
        self.is_read = False
        self.index = self._indexed(PAGE_ITEMS)
        self.modes = self._modes()

    def read(self) -> None:
        """Read the whole dataset, and find out which outputs are of which model.

        Raises:
            VcrgenError: The data cannot be read, or the outputs fit them nowhere.
        """
        if self.is_read:
            return
        self._session = self._session or self._open_session()
        if self._session is not None:
            runs = [(file,) for file in self._models.values()] or read_runs(self._session, self._outputs)
            self.scored = open_scored(self._session, runs, list(self._models))
        self.index = self._indexed()
        self.modes = self._modes()
        self.is_read = True

    def _open_session(self) -> BaseScoringSession | None:
        return open_session(self._data, self._options) if self._has_outputs else None

    def _indexed(self, limit: int | None = None) -> ViewIndex:
        """The index of all items, or of the first ones."""
        index = ViewIndex(secret=self.secret)
        index.add_items(islice((item for item in self.source.items() if _is_asked(self._session, item)), limit))
        index.add_rows(self.source.rows(limit))
        index.finish()
        return index

    def _modes(self) -> list[str]:
        """The modes that have rows."""
        there = set(self.index.distinct("mode"))
        return [mode for mode in self.source.modes if mode in there]

    def score(self, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Read the whole dataset and score all outputs; a page shows those that are scored.

        Args:
            is_stopped: Is asked now and then, and ends the scoring early.

        Raises:
            VcrgenError: As of `read`, or an output does not fit the dataset.
        """
        self.read()
        if self.scored is not None and not self.scored.progress.finished:
            self.scored.add_to(self.index, is_stopped)

    def default_mode(self) -> str:
        """The mode that is shown first: hard, easy, the first language, or the level in the middle of a ladder."""
        if self.source.task == "mcq":
            return next(iter(self.modes), "")
        named = next((mode for mode in ("hard", "easy") if mode in self.modes), None)
        return named or (self.modes[len(self.modes) // 2] if self.modes else "")

    def facts(self) -> Json:
        """What the page has to know before any item."""
        titles = self.scored.titles if self.scored else []
        is_mcq = self.source.task == "mcq"
        labels = {"exact": "right" if is_mcq else "exact"}
        shown = [name for name in OUTCOMES if not (is_mcq and name == "near")]
        return {
            "name": self.name,
            "task": self.source.task,
            "isRead": self.is_read,
            "total": self.index.total,
            "modes": self.modes,
            "mode": self.default_mode(),
            "views": self._views(),
            "runs": titles,
            "languages": self.index.distinct("lang"),
            "splits": self.index.distinct("split"),
            "outcomes": [[name, OUTCOMES[name], labels.get(name, name)] for name in shown] if titles else [],
            "near": f"{100 * NEAR:.0f} %",
            "hasBits": self.index.has_bits,
            "signature": self.scored.signature if self.scored else "",
            "secret": self.secret,
            "pictures": not isinstance(self.source, KeyItems),
            "answers": bool(titles) or not self.source.is_public_part,
            "pageItems": PAGE_ITEMS,
        }

    def about(self) -> Json:
        """What the head of the page says of the dataset; reads all of its texts."""
        return self.source.about()

    def page(self, query: Query, size: int = PAGE_ITEMS) -> Json:
        """The items of a page with all that it shows of them.

        Raises:
            VcrgenError: A filter cannot be used, or a file of the dataset cannot be read any more.
        """
        query = self.complete(query)
        scoring, whole = self.scoring(), self.is_read
        if (scoring["progress"] and query.needs_scores) or not (whole or query.is_first_page):
            return {**_NO_ITEMS, "waits": True, **scoring}
        with self.scored.turns.page() if self.scored else nullcontext():
            selection = self.index.select(query, size)
            items = self.cards(selection.places)
        return {
            "total": selection.total,
            "start": selection.start,
            "previous": selection.previous,
            "next": selection.next,
            "items": items,
            "waits": False,
            **scoring,
        }

    def scoring(self) -> Json:
        """Whether all is read, how far the scoring is (None when it has ended well), and the views known so far."""
        progress = asdict(self.scored.progress) if self.scored and not self.scored.progress.finished else None
        return {"progress": progress, "views": self._views(), "isRead": self.is_read}

    @property
    def problem(self) -> str:
        """Why outputs cannot be scored; empty where they can."""
        return self.scored.progress.problem if self.scored else ""

    def _views(self) -> list[list[str]]:
        """Values and labels of the views that have outputs."""
        return [[view, View(view).label] for view in self.scored.views] if self.scored else []

    def complete(self, query: Query) -> Query:
        """A query that names a mode and a view.

        Raises:
            ConfigError: There is no such mode, view or model, as far as that is known.
        """
        defaults = {"mode": query.mode or self.default_mode(), "view": query.view or next(iter(self._views()), [""])[0]}
        if not self.is_read:
            return query.model_copy(update=defaults)
        views, runs = (self.scored.views, len(self.scored.runs)) if self.scored else ([], 0)
        if self.scored and not self.scored.progress.finished:
            views = list(View)  # of outputs that come later
        values = (
            ("mode", query.mode, self.modes),
            ("view", query.view, views),
            ("language", query.lang, self.index.distinct("lang")),
            ("split", query.split, self.index.distinct("split")),
        )
        for name, value, there in values:
            if value and value not in there:
                raise ConfigError(f"The filter names the {name} {value!r}; there are {', '.join(there) or 'none'}.")
        for number in (query.run, query.right, query.wrong):
            if number is not None and number >= runs:
                raise ConfigError(f"The filter names the model {number}; there are {runs}, counted from 0.")
        return query.model_copy(update=defaults)

    def cards(self, places: Sequence[int]) -> list[Json]:
        """The items of places in their order."""
        items = self.index.items(places)
        rows: dict[str, dict[str, int]] = {}
        bits: dict[int, dict[str, float | None]] = {}
        for place, mode, row, smallest in self.index.rows(places):
            rows.setdefault(mode, {})[items[place].id] = row
            bits.setdefault(place, {})[mode] = smallest
        results: dict[int, list[Json]] = {}
        for place, output in self.index.outputs(places):
            assert self.scored is not None
            shown = self.scored.details(items[place].id, output)
            values = {name: value for name, value in output._asdict().items() if name != "details"}
            results.setdefault(place, []).append(values | shown)
        cards = self.source.cards(rows)
        return [
            {
                "id": item.id,
                "place": place,
                "lang": item.lang,
                "split": item.split,
                "length": item.length,
                "bits": bits.get(place, {}),
                "card": cards.get(item.id),
                "results": results.get(place, []),
            }
            for place in places
            for item in [items[place]]
        ]


def _is_plain(data: Path, options: ScoreOptions) -> bool:
    """Whether a place is a dataset with its answers and all of its items are asked for."""
    return (
        options.subset is None and hidden_folder(data) is None and (bool(remote_url(data.as_posix())) or data.is_dir())
    )


def _source(data: Path, session: BaseScoringSession | None, options: ScoreOptions, *, scored: bool) -> ItemSource:
    """Where the items of a view come from; ``scored`` where outputs are given, which are of one split."""
    if session is not None and session.key.hidden:
        folder = hidden_folder(data)
        public = folder.parent / "public" if folder is not None else data
        if not isinstance(session, ItemSession) and public.is_dir():
            dataset = open_task_dataset(public)
            if dataset.is_hidden:
                return HiddenPairs(dataset)
        return KeyItems(session)
    if session is not None and session.key.images is None:
        return KeyItems(session)
    dataset = open_task_dataset(data)
    if dataset.kind.task == TASK:
        if not scored and options.mode is not None:
            raise ConfigError(f"{dataset} is an MCQ benchmark, which has no modes; leave --mode out.")
        return Questions(_of_split(dataset, options, scored=scored))
    if dataset.is_hidden:
        return HiddenPairs(dataset)
    mode = options.mode if dataset.manifest is None else None
    return Pairs(_of_split(fill_metadata(dataset, mode=mode), options, scored=scored))


def _of_split(dataset: Dataset, options: ScoreOptions, *, scored: bool) -> Dataset:
    """The split that is scored; without outputs all, or the one that is named."""
    if not scored and options.split in (None, "all"):
        return dataset
    return choose_split(dataset, options.split)


def _is_asked(session: BaseScoringSession | None, item: IndexedItem) -> bool:
    """Whether an item is scored: not one outside of a subset."""
    return session is None or ((row := session.key.row_of(item.id)) is not None and row < len(session.key))


def _texts(item: KeyItem) -> list[str]:
    return [text for question in item.questions.values() for text in (question.text, *question.options)]


def _name(data: Path) -> str:
    """The last part of a path or URL."""
    return (remote_url(data.as_posix()) or str(data.resolve())).rstrip("/").rpartition("/")[2]
