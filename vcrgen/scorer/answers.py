"""The answers to score against: a built dataset, VCR-WIKI's Parquet, the key of a hidden set, or a key in JSON Lines.

No image is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from vcrgen.dataset.key import HIDDEN_MODE, is_key, read_answers, read_key
from vcrgen.dataset.manifest import MANIFEST, read_manifest
from vcrgen.errors import AnswerError
from vcrgen.reading import SURROGATE, as_id, as_texts, iter_json_lines
from vcrgen.scorer.answer_key import AnswerKey, Questions
from vcrgen.scorer.records import AnswerSpan, Question
from vcrgen.signature import Signature
from vcrgen.storage import remote_url
from vcrgen.text.languages import LANGUAGES

SUBSETS = {"first100": 100, "first500": 500}
_BATCH_ROWS = 1024


Rows = Iterator[tuple[str, Question]]
"""Questions, each with the place where it stands, for messages."""


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
    limit = SUBSETS[subset] if subset else None
    if url := remote_url(data.as_posix()):
        raise AnswerError(f"{url} is in an object store; copy the dataset to a disk and score against that.")
    if not data.exists():
        raise AnswerError(f"{data} does not exist; --data takes a dataset's folder, a Parquet file or a JSONL key.")
    if folder := next(filter(is_key, (data, data / "key")), None):
        key = _hidden(folder, mode, split, limit)
    elif data.is_dir() and (data / MANIFEST).is_file():
        key = _built(data, mode, split, limit)
    elif data.is_dir() or data.suffix.lower() in {".parquet", ".pq"}:
        key = _parquet(data, split, limit)
    else:
        key = _jsonl(data, limit)
    if lang is not None:
        if key.lang and key.lang != lang:
            raise AnswerError(f"{data} is a dataset of language {key.lang!r}, not {lang!r}.")
        key = replace(key, lang=lang)
    key = replace(key, lang=key.lang or _script(key.questions))
    if key.lang not in LANGUAGES:
        raise AnswerError(f"{data} is of language {key.lang!r}, which is not known; known: {', '.join(LANGUAGES)}.")
    if not key.questions.starts[-1]:
        raise AnswerError(f"{data} has no answers to score against.")
    facts = {**key.facts, **({"subset": subset} if subset else {})}
    if not key.hidden:  # whose commitment stands for the answers, and tells nothing of them
        facts["answers"] = key.questions.digest[:8]
    return replace(key, facts=facts)


def _collect(rows: Callable[[], Rows], limit: int | None, *, secret: bool = False) -> Questions:
    """Read questions.

    Raises:
        AnswerError: An id stands for two of them.
    """
    questions = Questions(limit=limit, secret=secret)
    for _, question in rows():
        questions.add(question)
    twice = questions.close()
    if twice is not None:
        place, question = next(islice(rows(), twice, None))
        raise AnswerError(f"{place}: the id {question.question_id!r} stands for two questions.")
    return questions


def _question(place: str, row: Mapping[str, Any], mode: str | None = None) -> Question:
    """The question of a row.

    Raises:
        AnswerError: It has no id or no answers, or one that no output can match.
    """
    question_id = as_id(row.get("question_id", row.get("id")))
    answers = as_texts(row.get("crossed_text", row.get("answers")))
    if question_id is None:
        raise AnswerError(f"{place}: no `question_id`.")
    if answers is None:
        raise AnswerError(f"{place}: no list of texts `crossed_text` (or `answers`), so there is nothing to score.")
    if any(SURROGATE.search(text) for text in (question_id, *answers)):
        raise AnswerError(f"{place}: holds half a character (a lone surrogate), which no output can match.")
    return Question(question_id=question_id, spans=_spans(answers, row.get("spans"), mode))


def _built(data: Path, mode: str | None, split: str | None, limit: int | None) -> AnswerKey:
    manifest = read_manifest(data)
    modes = manifest.modes if mode is None else (mode,)
    if not set(modes) <= set(manifest.modes):
        raise AnswerError(f"{data} has no mode {mode!r}; it has {', '.join(manifest.modes)}.")
    splits = _choose_splits(data, manifest.splits, split)
    files = {
        name: [data / file.path for file in manifest.files if file.mode == name and file.split in splits]
        for name in modes
    }
    return AnswerKey(
        name=data.name,
        lang=manifest.signature.facts.get("lang", ""),
        questions=_collect(lambda: _in_all_modes(files), limit),
        modes=modes,
        segmenter=manifest.signature.facts.get("seg"),
        facts={"data": manifest.signature.short, "split": "+".join(splits)},
        images={name: [str(file) for file in paths] for name, paths in files.items()},
    )


def _in_all_modes(files: Mapping[str, Sequence[Path]]) -> Rows:
    """The questions of a dataset whose rows are in the same order in all modes; spans have the ink of each."""
    modes = list(files)
    for rows in zip_longest(*map(_parquet_rows, files.values())):
        if None in rows:
            shorter, longer = modes[rows.index(None)], next(place for place, _ in filter(None, rows))
            raise AnswerError(f"{longer}: there is no such row in mode {shorter}; copy or build the dataset again.")
        questions = [_question(place, row, mode) for mode, (place, row) in zip(modes, rows, strict=True)]
        first, place = questions[0], rows[0][0]
        for mode, question, (other, _) in zip(modes, questions, rows, strict=True):
            if (question.question_id, question.answers) != (first.question_id, first.answers):
                raise AnswerError(
                    f"{other}: {question.question_id!r} in mode {mode} has another id or other answers than "
                    f"{first.question_id!r} in mode {modes[0]}; copy or build the dataset again."
                )
        spans = (
            replace(same[0], ink={name: ink for span in same for name, ink in span.ink.items()})
            for same in zip(*(question.spans for question in questions), strict=True)
        )
        yield place, replace(first, spans=tuple(spans))


def _hidden(folder: Path, mode: str | None, split: str | None, limit: int | None) -> AnswerKey:
    """The key of a hidden set; each of its spans has a cover of its own, so there is one mode."""
    if mode is not None or split not in (None, "all"):
        raise AnswerError(f"{folder} is the key of a hidden set, which has no modes and no splits.")
    key = read_key(folder)
    facts = Signature.parse(key.signature).facts
    return AnswerKey(
        name="hidden set",
        lang=key.language,
        questions=_collect(lambda: _hidden_rows(folder), limit, secret=True),
        modes=(HIDDEN_MODE,),
        segmenter=facts.get("seg"),
        facts={"data": key.commitment[:8]},
        hidden=True,
    )


def _hidden_rows(folder: Path) -> Rows:
    for number, item in enumerate(read_answers(folder), start=1):
        place = f"{folder}, item {number}"
        answers, spans = as_texts(item.get("crossed_text")), item.get("spans")
        if as_id(item.get("question_id")) is None or answers is None or not isinstance(spans, list):
            raise AnswerError(f"{place}: not an item of a key.")
        plain = _question(place, item, HIDDEN_MODE)
        traits = {name: str(item.get(name))[:80] for name in ("font", "strip")}
        covers = [str(span.get("cover"))[:20] if isinstance(span, dict) else "" for span in spans]
        if len(covers) != len(answers):
            raise AnswerError(f"{place}: not an item of a key.")
        marked = (replace(a, traits={"cover": c, **traits}) for a, c in zip(plain.spans, covers, strict=True))
        yield place, replace(plain, spans=tuple(marked))


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


def _parquet(data: Path, split: str | None, limit: int | None) -> AnswerKey:
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
    return _plain(data, lambda: _parquet_rows(files), limit, {"": [str(file) for file in files]})


def _jsonl(data: Path, limit: int | None) -> AnswerKey:
    return _plain(
        data, lambda: ((f"{data}, line {n}", row) for n, row in iter_json_lines(data, AnswerError)), limit, {}
    )


def _plain(
    data: Path,
    rows: Callable[[], Iterator[tuple[str, dict[str, Any]]]],
    limit: int | None,
    images: Mapping[str, Sequence[str]],
) -> AnswerKey:
    languages = set()

    def questions() -> Rows:
        for place, row in rows():
            if isinstance(row.get("language"), str):
                languages.add(row["language"])
            yield place, _question(place, row)

    collected = _collect(questions, limit)
    if len(languages) > 1:
        raise AnswerError(f"{data} mixes the languages {', '.join(sorted(languages))}; score them apart.")
    return AnswerKey(name=data.name, lang=next(iter(languages), ""), questions=collected, images=images)


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


def _script(questions: Sequence[Question]) -> str:
    """Chinese if most letters are Han characters, else English."""
    letters = han = 0
    for question in questions[:1000]:
        for text in question.answers:
            letters += sum(char.isalpha() for char in text)
            han += sum("\u3400" <= char <= "\u9fff" for char in text)
    return "zh" if 2 * han > letters else "en"
