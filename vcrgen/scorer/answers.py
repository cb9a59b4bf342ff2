"""The answers to score against: a built dataset, VCR-WIKI's Parquet, the key of a hidden set, or a key in JSON Lines.

No image is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vcrgen.dataset.key import is_key, read_answers, read_key
from vcrgen.dataset.manifest import MANIFEST, read_manifest
from vcrgen.errors import AnswerError
from vcrgen.files import canonical_json
from vcrgen.reading import SURROGATE, as_id, as_texts, iter_json_lines
from vcrgen.scorer.records import AnswerKey, AnswerSpan, Question
from vcrgen.signature import Signature
from vcrgen.storage import remote_url
from vcrgen.text.languages import LANGUAGES, guess_language

HIDDEN_MODE = "mixed"  # easy or hard for each span
SUBSETS = {"first100": 100, "first500": 500}
_BATCH_ROWS = 1024


@dataclass
class _Rows:
    """Questions as they are collected from files; spans of a second mode only add their visible ink."""

    questions: dict[str, Question] = field(default_factory=dict)
    languages: set[str] = field(default_factory=set)
    first_mode: str | None = None

    def add(self, place: str, row: Mapping[str, Any], mode: str | None) -> None:
        question_id = as_id(row.get("question_id", row.get("id")))
        answers = as_texts(row.get("crossed_text", row.get("answers")))
        if question_id is None:
            raise AnswerError(f"{place}: no `question_id`.")
        if answers is None:
            raise AnswerError(f"{place}: no list of texts `crossed_text` (or `answers`), so there is nothing to score.")
        if any(SURROGATE.search(text) for text in (question_id, *answers)):
            raise AnswerError(f"{place}: holds half a character (a lone surrogate), which no output can match.")
        if isinstance(row.get("language"), str):
            self.languages.add(row["language"])
        spans = _spans(answers, row.get("spans"), mode)
        known = self.questions.get(question_id)
        if known is None:
            if mode != self.first_mode:
                raise AnswerError(f"{place}: {question_id!r} is in mode {mode} and not in mode {self.first_mode}.")
            self.questions[question_id] = Question(question_id=question_id, spans=spans)
        elif mode == self.first_mode:
            raise AnswerError(f"{place}: the id {question_id!r} stands for two questions.")
        elif known.answers != answers:
            raise AnswerError(f"{place}: {question_id!r} has other answers in mode {mode} than in {self.first_mode}.")
        else:
            merged = tuple(replace(a, ink={**a.ink, **b.ink}) for a, b in zip(known.spans, spans, strict=True))
            self.questions[question_id] = replace(known, spans=merged)


def load_answers(
    data: Path,
    *,
    mode: str | None = None,
    split: str | None = None,
    subset: str | None = None,
    lang: str | None = None,
) -> AnswerKey:
    """Read the answers of a dataset.

    Args:
        data: A dataset that vcrgen built, a Parquet file or a folder of them with VCR-WIKI's columns, the key of a
            hidden set, or a JSON Lines key (``question_id`` and ``crossed_text``, or ``id`` and ``answers``).
        mode: Only this mode of a dataset that has both.
        split: The split; by default ``test`` if there is one, or the only one. ``all`` takes all.
        subset: ``first100`` or ``first500``: only the first questions, in the order of the dataset.
        lang: The language, for files that do not say; by default told by the script of the answers.

    Raises:
        AnswerError: The answers cannot be read, or what is asked for is not there.
        DatasetError: The manifest of a built dataset is damaged.
        HiddenSetError: The key of a hidden set is damaged or was changed.
    """
    if subset is not None and subset not in SUBSETS:
        raise AnswerError(f"Unknown subset {subset!r}; known: {', '.join(SUBSETS)}.")
    if url := remote_url(data.as_posix()):
        raise AnswerError(f"{url} is in an object store; copy the dataset to a disk and score against that.")
    if not data.exists():
        raise AnswerError(f"{data} does not exist; --data takes a dataset's folder, a Parquet file or a JSONL key.")
    if folder := next(filter(is_key, (data, data / "key")), None):
        key = _hidden(folder, mode, split)
    elif data.is_dir() and (data / MANIFEST).is_file():
        key = _built(data, mode, split)
    elif data.is_dir() or data.suffix.lower() in {".parquet", ".pq"}:
        key = _parquet(data, split)
    else:
        key = _jsonl(data)
    if lang is not None:
        if key.lang and key.lang != lang:
            raise AnswerError(f"{data} is a dataset of language {key.lang!r}, not {lang!r}.")
        key = replace(key, lang=lang)
    key = replace(key, lang=key.lang or _guessed(key.questions))
    if key.lang not in LANGUAGES:
        raise AnswerError(f"{data} is of language {key.lang!r}, which is not known; known: {', '.join(LANGUAGES)}.")
    if not any(question.spans for question in key.questions):
        raise AnswerError(f"{data} has no answers to score against.")
    return _with_facts(key, subset)


def _with_facts(key: AnswerKey, subset: str | None) -> AnswerKey:
    """Cut to the subset, and say in the facts which answers exactly are scored against."""
    questions = key.questions[: SUBSETS[subset]] if subset else key.questions
    digest = hashlib.sha256()
    for question in questions:
        digest.update(canonical_json([question.question_id, question.answers]).encode("utf-8", "surrogatepass"))
    facts = {**key.facts, **({"subset": subset} if subset else {})}
    if not key.hidden:  # whose commitment stands for the answers, and tells nothing of them
        facts["answers"] = digest.hexdigest()[:8]
    return replace(key, questions=questions, facts=facts)


def _built(data: Path, mode: str | None, split: str | None) -> AnswerKey:
    manifest = read_manifest(data)
    modes = manifest.modes if mode is None else (mode,)
    if not set(modes) <= set(manifest.modes):
        raise AnswerError(f"{data} has no mode {mode!r}; it has {', '.join(manifest.modes)}.")
    splits = _choose_splits(data, manifest.splits, split)
    rows = _Rows(first_mode=modes[0])
    images: dict[str, list[str]] = {}
    for name in modes:
        files = [data / f.path for f in manifest.files if f.mode == name and f.split in splits]
        images[name] = [str(file) for file in files]
        for place, row in _parquet_rows(files):
            rows.add(place, row, name)
    return AnswerKey(
        name=data.name,
        lang=manifest.signature.facts.get("lang", ""),
        questions=tuple(rows.questions.values()),
        rows={question_id: row for row, question_id in enumerate(rows.questions)},
        modes=modes,
        segmenter=manifest.signature.facts.get("seg"),
        facts={"data": manifest.signature.short, "split": "+".join(splits)},
        images=images,
    )


def _hidden(folder: Path, mode: str | None, split: str | None) -> AnswerKey:
    """The key of a hidden set; each of its spans has a cover of its own, so there is one mode."""
    if mode is not None or split not in (None, "all"):
        raise AnswerError(f"{folder} is the key of a hidden set, which has no modes and no splits.")
    key = read_key(folder)
    questions = {}
    for number, item in enumerate(read_answers(folder), start=1):
        question_id, answers, spans = (
            as_id(item.get("question_id")),
            as_texts(item.get("crossed_text")),
            item.get("spans"),
        )
        if question_id is None or answers is None or question_id in questions or not isinstance(spans, list):
            raise AnswerError(f"{folder}, item {number}: not an item of a key.")
        plain = _spans(answers, spans, HIDDEN_MODE)
        traits = {name: str(item.get(name))[:80] for name in ("font", "strip")}
        covers = [str(span.get("cover"))[:20] if isinstance(span, dict) else "" for span in spans]
        if len(covers) != len(plain):
            raise AnswerError(f"{folder}, item {number}: not an item of a key.")
        marked = (replace(a, traits={"cover": cover, **traits}) for a, cover in zip(plain, covers, strict=True))
        questions[question_id] = Question(question_id=question_id, spans=tuple(marked))
    facts = Signature.parse(key.signature).facts
    return AnswerKey(
        name="hidden set",
        lang=key.language,
        questions=tuple(questions.values()),
        rows={question_id: row for row, question_id in enumerate(questions)},
        modes=(HIDDEN_MODE,),
        segmenter=facts.get("seg"),
        facts={"data": key.commitment[:8]},
        hidden=True,
    )


def _choose_splits(data: Path, splits: Sequence[str], wanted: str | None) -> tuple[str, ...]:
    if wanted == "all":
        return tuple(splits)
    if wanted is not None:
        if wanted not in splits:
            raise AnswerError(f"{data} has no split {wanted!r}; it has {', '.join(splits)}.")
        return (wanted,)
    if len(splits) == 1 or "test" in splits:
        return ("test",) if "test" in splits else (splits[0],)
    raise AnswerError(f"{data} has the splits {', '.join(splits)}; name one with --split.")


def _parquet(data: Path, split: str | None) -> AnswerKey:
    files = sorted(data.rglob("*.parquet")) if data.is_dir() else [data]
    if split not in (None, "all"):
        files = [file for file in files if file.name.startswith(f"{split}-") or file.stem == split]
    if not files:
        raise AnswerError(f"{data} holds no Parquet file{f' of split {split!r}' if split else ''} and no {MANIFEST}.")
    if data.is_dir() and split is None:
        names = sorted({file.name.partition("-")[0] for file in files if "-of-" in file.name})
        if len(names) > 1:
            chosen = _choose_splits(data, names, None)
            files = [file for file in files if file.name.partition("-")[0] in chosen]
    rows = _Rows()
    for place, row in _parquet_rows(files):
        rows.add(place, row, None)
    return _plain(data, rows, {"": [str(file) for file in files]})


def _jsonl(data: Path) -> AnswerKey:
    rows = _Rows()
    for number, row in iter_json_lines(data, AnswerError):
        rows.add(f"{data}, line {number}", row, None)
    return _plain(data, rows, {})


def _plain(data: Path, rows: _Rows, images: Mapping[str, Sequence[str]]) -> AnswerKey:
    if len(rows.languages) > 1:
        raise AnswerError(f"{data} mixes the languages {', '.join(sorted(rows.languages))}; score them apart.")
    return AnswerKey(
        name=data.name,
        lang=next(iter(rows.languages), ""),
        questions=tuple(rows.questions.values()),
        rows={question_id: row for row, question_id in enumerate(rows.questions)},
        images=images,
    )


def _parquet_rows(files: Sequence[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of Parquet files without their images."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = ["question_id", "crossed_text", "language", "spans"]
    for file in files:
        try:
            with pq.ParquetFile(file) as parquet:
                names = set(parquet.schema_arrow.names)
                if not {"question_id", "crossed_text"} <= names:
                    raise AnswerError(f"{file} has no columns `question_id` and `crossed_text`; is it a VCR dataset?")
                columns = [name for name in wanted[:3] if name in names]
                if "spans" in names:
                    columns += ["spans.list.element.tokens", "spans.list.element.visible_ink"]
                number = 0
                for batch in parquet.iter_batches(_BATCH_ROWS, columns=columns):
                    for row in batch.to_pylist():
                        number += 1
                        yield f"{file}, row {number}", row
        except (pa.ArrowException, OSError) as problem:
            reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
            raise AnswerError(f"{file} cannot be read as Parquet: {reason}") from None


def _spans(answers: Sequence[str], details: Any, mode: str | None) -> tuple[AnswerSpan, ...]:
    """Spans of a row; ``details`` is the column ``spans``, if the dataset has it and it fits the answers."""
    rows = details if isinstance(details, list) and len(details) == len(answers) else [{}] * len(answers)
    spans = []
    for text, row in zip(answers, rows, strict=True):
        tokens = as_texts(row.get("tokens"))
        ink = row.get("visible_ink")
        known = {mode: float(ink)} if mode and isinstance(ink, float) else {}
        spans.append(AnswerSpan(text=text, tokens=tokens, ink=known))
    return tuple(spans)


def _guessed(questions: Sequence[Question]) -> str:
    return guess_language(text for question in questions[:1000] for text in question.answers)
