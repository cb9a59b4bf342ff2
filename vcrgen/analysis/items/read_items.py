"""Files of items to a table: evidence of ``vcrgen score --spans``, or a long table ``model,item,score[,image]``.

    files -> chunks of columns, of a bounded size -> codes and scores -> models x items

Evidence names its outcome: an output that is missing, null or failed is a missing cell
here, while ``vcrgen score`` counts it as wrong. Other tables leave a cell empty, or its row out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vcrgen.analysis.items.chunks import Columns, read_chunks
from vcrgen.analysis.items.item_table import FEWEST_MODELS, MOST_CELLS, ItemTable, MaskedSpan
from vcrgen.dataset.key import HIDDEN_MODE
from vcrgen.errors import AnalysisError
from vcrgen.scorer.records import Outcome
from vcrgen.scorer.results import signature_differences
from vcrgen.signature import Signature
from vcrgen.stats.arrays import Bits, Floats, Ints
from vcrgen.tasks.task import LABELS, MCQ_TASK, VCR_TASK, ScoredTask

if TYPE_CHECKING:
    import pyarrow as pa

ABSENT = (Outcome.MISSING, Outcome.NULL, Outcome.FAILED)
MOST_SPANS = 1 << 16
LONGEST_NAME = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceChoice:
    """Selection of rows of evidence, and of one of its scores."""

    metric: str | None = None  # the leading one of the task
    mode: str | None = None
    view: str | None = None


def read_items(files: Sequence[Path], choice: EvidenceChoice = EvidenceChoice(), *, private: bool = False) -> ItemTable:
    """The items of some files, which may hold a model each or many.

    Args:
        files: Parquet or JSON Lines that ``vcrgen score --spans`` wrote, or long tables as CSV, TSV, xlsx, JSON Lines
            or Parquet: columns ``model``, ``item``, ``score`` (0 to 1, or empty), ``image`` if items share images,
            ``span`` for the number of an item in its image, and ``choice`` if they have options.
        choice: Of evidence, the score, and the mode and the view if there are several.
        private: Take the items of a hidden set.

    Raises:
        AnalysisError: A file cannot be read or is neither, a model answers an item twice, scores were made in different
            ways, or the items are of a hidden set and ``private`` is not given.
    """
    if choice.metric not in (None, *LABELS):
        raise AnalysisError(f"Unknown metric {choice.metric!r}; known: {', '.join(LABELS)}.")
    if not files:
        raise AnalysisError("Name a file of evidence (vcrgen score --spans) or a long table, or take --example items.")
    gathered = _Gathered(choice)
    for file in files:
        for columns in read_chunks(file, choice.metric):
            gathered.add(file, columns)
    return gathered.table(", ".join(file.name for file in files[:3]) + (" and others" if files[3:] else ""), private)


@dataclass
class _Gathered:
    """The rows of all files as codes: numbers that stand for models, items and groups."""

    choice: EvidenceChoice
    models: dict[str, int] = field(default_factory=dict)
    items: dict[Any, int] = field(default_factory=dict)  # a name, or a question's code with the number of a span
    groups: dict[str, int] = field(default_factory=dict)
    group_of: dict[int, int] = field(default_factory=dict)  # of items
    number_of: dict[int, int] = field(default_factory=dict)  # of items of long tables, in their images
    texts: dict[int, str] = field(default_factory=dict)
    cells: dict[tuple[str, str], None] = field(default_factory=dict)  # modes and views
    missing_outcomes: Counter[str] = field(default_factory=Counter)
    signatures: dict[str, Path] = field(default_factory=dict)
    parts: list[tuple[Ints, Ints, Any, Ints]] = field(default_factory=list)
    options: dict[str, int] = field(default_factory=dict)  # that some model chose
    rows: int = 0
    task: ScoredTask | None = None  # of evidence; None for long tables

    def add(self, file: Path, columns: Columns) -> None:
        """Take a chunk."""
        import pyarrow as pa
        import pyarrow.compute as pc

        evidence = "outcome" in columns
        task = None if not evidence else VCR_TASK if "span" in columns else MCQ_TASK
        if self.parts and self.task is not task:
            kind = "a long table" if task is None else f"evidence of {task.units}"
            raise AnalysisError(f"{file} is {kind}, and other files are not.")
        self.task = task
        scores = np.array(columns["score"].to_numpy(zero_copy_only=False), float)
        taken = self._take_evidence(file, columns, scores) if evidence else np.ones(len(scores), bool)
        if not ((scores >= 0) & (scores <= 1) | np.isnan(scores)).all():
            raise AnalysisError(f"{file} holds a score that is not from 0 to 1; divide percentages by 100.")
        columns = {name: column.filter(pa.array(taken)) for name, column in columns.items()}
        names = pc.coalesce(columns["model"], columns["run"]) if evidence else columns["model"]
        models = _codes(file, "model", names, self.models)
        items = self._item_codes(file, columns) if task is None else self._of_evidence(file, columns)
        self.rows += len(items)
        if self.rows > MOST_CELLS:
            raise AnalysisError(f"The files hold more than {MOST_CELLS:,} scores; analyse a part of the items.")
        self.parts.append((models.astype(np.int32), items.astype(np.int32), scores[taken], self._chosen(columns)))

    def _take_evidence(self, file: Path, columns: Columns, scores: Any) -> Bits:
        """Select the rows of the mode and view; scores of rows without an answer become NaN."""
        for text in columns["signature"].unique().to_pylist():
            self._check_signature(file, text or "")
        outcomes = np.array(columns["outcome"].to_pylist(), object)
        taken = np.ones(len(scores), bool)
        for name, wanted in (("mode", self.choice.mode), ("view", self.choice.view)):
            if wanted is not None:
                taken &= np.array(columns[name].to_pylist(), object) == wanted
        modes, views = (columns[name].to_pylist() for name in ("mode", "view"))
        for cell in dict.fromkeys(zip(modes, views, strict=True)):
            self.cells.setdefault((str(cell[0]), str(cell[1])))
        for outcome in ABSENT:
            where = (outcomes == outcome.value) & taken
            if where.any():
                self.missing_outcomes[outcome.value] += int(where.sum())
                scores[where] = np.nan
        return taken

    def _check_signature(self, file: Path, text: str) -> None:
        if text in self.signatures:
            return
        self.signatures[text] = file
        (first, where), *others = self.signatures.items()
        if others:
            try:
                parts = signature_differences(Signature.parse(first), Signature.parse(text))
            except ValueError:
                raise AnalysisError(f"The signatures in {where} and {file} differ, and one of them is none.") from None
            raise AnalysisError(f"{where} and {file} were not scored in the same way: {parts}.")

    def _chosen(self, columns: Columns) -> Ints:
        """Codes of the options that were chosen, -1 for none; empty without such a column."""
        if "choice" not in columns:
            return np.empty(0, np.int64)
        texts = [text and text.strip() for text in columns["choice"].to_pylist()]
        return np.array([self.options.setdefault(text, len(self.options)) if text else -1 for text in texts], np.int64)

    def _of_evidence(self, file: Path, columns: Columns) -> Ints:
        """Codes of the spans of questions, or of the questions of an MCQ benchmark."""
        questions = _codes(file, "question_id", columns["question_id"], self.groups)
        if self.task is MCQ_TASK:
            for question in np.unique(questions).tolist():
                code = self.items.setdefault(question * MOST_SPANS, len(self.items))
                self.group_of[code] = question
            return np.array([self.items[question * MOST_SPANS] for question in questions.tolist()], np.int64)
        both = questions * MOST_SPANS + _span_numbers(file, columns)
        codes = np.array([self.items.setdefault(key, len(self.items)) for key in both.tolist()], np.int64)
        for code, question in zip(codes.tolist(), questions.tolist(), strict=True):
            self.group_of[code] = question
        if "answer" in columns and len(self.texts) < len(self.items):
            for code, text in zip(codes.tolist(), columns["answer"].to_pylist(), strict=True):
                self.texts.setdefault(code, text or "")
        return codes

    def _item_codes(self, file: Path, columns: Columns) -> Ints:
        """Codes of the items of a long table; an item without an image is a group of its own."""
        codes = _codes(file, "item", columns["item"], self.items)
        if "image" in columns:
            groups = _codes(file, "image", columns["image"], self.groups)
            for code, group in zip(codes.tolist(), groups.tolist(), strict=True):
                if self.group_of.setdefault(code, group) != group:
                    raise AnalysisError(f"{file} puts an item under two images; give its items different names.")
            if "span" in columns:
                for code, number in zip(codes.tolist(), _span_numbers(file, columns).tolist(), strict=True):
                    if self.number_of.setdefault(code, number) != number:
                        raise AnalysisError(f"{file} gives an item two numbers `span` in its image; give it one.")
        return codes

    def table(self, source: str, private: bool) -> ItemTable:
        """The table of all that was taken, in the order of names."""
        hidden = any(mode == HIDDEN_MODE for mode, _ in self.cells)
        if hidden and not private:
            raise AnalysisError(
                f"{source} holds single items of a hidden test set, which reveal its content; with --private "
                "they are analysed, and every page is marked as not to be published."
            )
        chosen = [cell for cell in self.cells if _is(cell, self.choice)]
        if self.task is not None and len(chosen) != 1:
            have = "; ".join(f"--mode {mode} --view {view}" for mode, view in chosen or self.cells)
            few = len(self.models) < FEWEST_MODELS
            more = f" Give the evidence of {FEWEST_MODELS} models or more; here are {len(self.models)}." if few else ""
            raise AnalysisError(f"{source}: choose one of {have}.{more}" if have else f"{source} holds no rows.")
        if not self.rows:
            raise AnalysisError(f"{source} holds no rows.")
        if len(self.models) * len(self.items) > MOST_CELLS:
            raise AnalysisError(f"{source} has more than {MOST_CELLS:,} cells; analyse a part of the items.")
        names = [*self.groups]
        keys: list[Any] = [divmod(key, MOST_SPANS) if self.task else key for key in self.items]
        number = " [{}]" if self.task is VCR_TASK else ""  # of a span in its question
        shown = [f"{names[key[0]]}{number.format(key[1] + 1)}" if self.task else key for key in keys]
        sorted_by = [(names[key[0]], key[1]) if self.task else (key, 0) for key in keys]
        order = sorted(range(len(keys)), key=sorted_by.__getitem__)
        models = sorted(self.models)
        scores, choices = self._matrix(source, models, shown)
        known = ~np.isnan(scores)
        kept = np.flatnonzero(known.any(axis=1))
        answered = set(np.flatnonzero(known.any(axis=0)).tolist())  # of the others nothing is known
        if not len(kept):
            raise AnalysisError(f"{source} holds no score.")
        order = [code for code in order if code in answered]
        scores = scores[kept][:, order]
        choices = choices[kept][:, order] if choices is not None else None
        of_items = [self.group_of.get(code, -1) for code in order]
        group_names = [names[code] for code in of_items] if self.groups else [shown[code] for code in order]
        found, groups = np.unique(np.array(group_names, object), return_inverse=True)
        has_texts = self.task is VCR_TASK and len(self.texts) == len(self.items)
        spans = [MaskedSpan(names[keys[code][0]], keys[code][1], self.texts[code]) for code in order if has_texts]
        if len({(self.group_of[code], number) for code, number in self.number_of.items()}) < len(self.number_of):
            raise AnalysisError(f"{source}: two items of an image have the same number `span`; number them from 0.")
        has_numbers = bool(order) and all(code in self.number_of for code in order)
        return ItemTable(
            models=tuple(models[row] for row in kept.tolist()),
            items=tuple(shown[code] for code in order),
            scores=scores,
            groups=groups.astype(np.int64),
            group_names=tuple(found.tolist()),
            source=source,
            metric=self.choice.metric or self.task.main_metrics[0] if self.task else "score",
            mode=chosen[0][0] if chosen else None,
            view=chosen[0][1] if chosen else None,
            missing_outcomes=dict(self.missing_outcomes),
            empty_counts=(len(models) - len(kept), len(shown) - len(answered)),
            hidden=hidden,
            spans=tuple(spans),
            numbers=tuple(self.number_of[code] for code in order) if has_numbers else (),
            choices=choices,
            options=tuple(self.options),
        )

    def _matrix(self, source: str, models: Sequence[str], shown: Sequence[str]) -> tuple[Floats, Ints | None]:
        """Scores and, if there are any, chosen options: models in order x items as they came."""
        place = np.empty(len(models), np.int64)
        place[[self.models[name] for name in models]] = np.arange(len(models))
        scores = np.full((len(models), len(self.items)), np.nan)
        seen = np.zeros(scores.shape, bool)
        choices = np.full(scores.shape, -1) if self.options else None
        for model_codes, items, values, chosen in self.parts:
            rows = place[model_codes]
            flat = rows * len(self.items) + items
            if seen.flat[flat].any() or len(np.unique(flat)) < len(flat):
                again = np.flatnonzero(seen.flat[flat])
                first = int(again[0]) if len(again) else int(np.flatnonzero(np.bincount(flat)[flat] > 1)[0])
                raise AnalysisError(
                    f"{source}: {models[rows[first]][:80]!r} has two scores on {shown[items[first]][:80]!r}; give each "
                    "model one file, and one mode and view."
                )
            seen.flat[flat] = True
            scores.flat[flat] = values
            if choices is not None and len(chosen):
                choices.flat[flat] = chosen
        return scores, choices


def _is(cell: tuple[str, str], choice: EvidenceChoice) -> bool:
    return choice.mode in (None, cell[0]) and choice.view in (None, cell[1])


def _span_numbers(file: Path, columns: Columns) -> Ints:
    numbers = columns["span"].to_numpy(zero_copy_only=False)
    if not ((numbers >= 0) & (numbers < MOST_SPANS) & (numbers == np.floor(numbers))).all():
        raise AnalysisError(f"{file} holds a `span` that is no whole number from 0 on.")
    whole: Ints = numbers.astype(np.int64)
    return whole


def _codes(file: Path, name: str, column: pa.Array, known: dict[str, int]) -> Ints:
    """The numbers that stand for texts; a new text gets the next number."""
    encoded = column.dictionary_encode()
    if encoded.indices.null_count:
        raise AnalysisError(f"{file} has a row without {name!r}.")
    texts = encoded.dictionary.to_pylist()
    if any(not text.strip() or len(text) > LONGEST_NAME for text in texts):
        raise AnalysisError(f"{file} has a row whose {name!r} is empty or longer than {LONGEST_NAME} characters.")
    if odd := next((text for text in texts if not text.isprintable()), None):
        raise AnalysisError(f"{file}: the {name} {odd[:80]!r} holds a character that cannot be seen; take it out.")
    numbers = np.array([known.setdefault(text, len(known)) for text in texts], np.int64)
    found: Ints = numbers[encoded.indices.to_numpy(zero_copy_only=False)]
    return found
