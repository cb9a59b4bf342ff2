"""The answers to score against: a dataset of any kind, the key of a hidden set, or a key in JSON Lines.

No image is read.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from vcrgen.core.errors import AnswerError, ConfigError
from vcrgen.core.reading import SURROGATE, as_id, as_texts, iter_json_lines
from vcrgen.core.signature import Signature
from vcrgen.core.storage import remote_url
from vcrgen.data.key import HIDDEN_MODE, HIDDEN_SPLITS, HIDDEN_VIEWS, NO_ANSWERS, is_key, read_answers, read_key
from vcrgen.data.reader import Dataset, open_dataset
from vcrgen.data.tasks.pixel_bits import PixelBits, read_pixel_bits
from vcrgen.data.tasks.vcr import VCR, cover_kinds, has_white_rows
from vcrgen.scorer.answer_key import AnswerKey, Questions
from vcrgen.scorer.records import AnswerSpan, Question
from vcrgen.scorer.subset import Subset
from vcrgen.text.languages import LANGUAGES, guess_language

_GUESSED_FROM = 1000  # questions whose answers tell the language
Rows = Iterator[tuple[str, Question]]  # each with the place where it stands, for messages


def load_answers(
    data: str | Path,
    *,
    mode: str | None = None,
    split: str | None = None,
    subset: str | Path | None = None,
    lang: str | None = None,
    pixels: str | Path | None = None,
) -> AnswerKey:
    """Read the answers of a dataset.

    Args:
        data: A dataset as `open_dataset` takes it, on a disk or in an object store; the key
            of a hidden set; or a JSON Lines key (``question_id`` and ``crossed_text``, or ``id`` and ``answers``).
        mode: Only this mode of a dataset that has both.
        split: The split; by default ``test`` if there is one, or the only one. ``all`` takes all.
        subset: ``firstN``: only the first N questions, in the order of the dataset (``first100`` and ``first500`` are
            the paper's); ``feedback`` or ``final``: only the questions of that part of a hidden set; a file with an id
            on each line: only those questions.
        lang: The language, for files that do not say; by default told by the script of the answers.
        pixels: Outputs of ``vcrgen baseline template``, for the bits of spans in modes of which the
            dataset has none.

    Raises:
        AnswerError: The answers cannot be read, or what is asked for is not there.
        DatasetError: The dataset is none, or damaged.
        HiddenSetError: The key of a hidden set is damaged or was changed.
    """
    data = Path(data)
    part = Subset.parse(None if subset is None else str(subset))
    bits = read_pixel_bits(Path(pixels)) if pixels else None
    remote = remote_url(data.as_posix())
    if not remote and not data.exists():
        raise AnswerError(f"{data} does not exist; name a dataset's folder, a Parquet file or a JSONL key.")
    if folder := hidden_folder(data):
        key = _hidden(folder, mode, split, part, bits)
    elif part.split:
        raise AnswerError(
            f"{data} has no parts; only the key of a hidden set is divided into {' and '.join(HIDDEN_SPLITS)}."
        )
    elif data.is_file() and data.suffix.lower() not in {".parquet", ".pq", ".arrow"}:
        key = _jsonl(data, part)
    else:
        key = _dataset(data.name, open_dataset(data, VCR), mode, split, part, bits)
    if part.split and not len(key):
        raise AnswerError(
            f"{folder} has no question in the split {part.split!r}; `vcrgen hidden` divides a set when it makes it."
        )
    if part.ids:
        part.check(data, {question_id for question_id in part.ids if key.row_of(question_id) is not None})
    key = _with_language(key, data, lang)
    if not key.questions.starts[-1]:
        raise AnswerError(f"{data} has no answers to score against.")
    facts = {**key.facts, **({"subset": part.name} if part.name else {})}
    if not key.hidden:  # whose commitment stands for the answers, and tells nothing of them
        facts["answers"] = key.questions.digest[:8]
    return replace(key, facts=facts, bits_signature=str(bits.signature) if bits else "")


def _with_language(key: AnswerKey, data: Path, lang: str | None) -> AnswerKey:
    """The key with its language: the one that is given, that it says, or that its answers tell."""
    if lang is not None:
        if key.lang and key.lang != lang:
            raise AnswerError(f"{data} is a dataset of language {key.lang!r}, not {lang!r}.")
        key = replace(key, lang=lang)
    first = (answer for question in islice(key.questions, _GUESSED_FROM) for answer in question.answers)
    key = replace(key, lang=key.lang or guess_language(first))
    if key.lang not in LANGUAGES:
        raise AnswerError(f"{data} is of language {key.lang!r}, which is not known; known: {', '.join(LANGUAGES)}.")
    return key


def hidden_folder(data: Path) -> Path | None:
    """The folder of the key of a hidden set, in a place that holds one; None for every other place."""
    return None if remote_url(data.as_posix()) else next(filter(is_key, (data, data / "key")), None)


def _collect(rows: Callable[[], Rows], subset: Subset, *, secret: bool = False) -> Questions:
    """Read questions, those of the subset first; refuses an id that stands for two of them."""
    scattered = bool(subset.ids or subset.split)
    questions = Questions(limit=subset.limit, secret=secret, reordered=scattered)
    for number, (_, question) in enumerate(rows()):
        if not scattered or subset.contains(number, question):
            questions.add(question, number)
    if scattered:  # of the others only the ids are needed
        questions.end_of_subset()
        for number, (_, question) in enumerate(rows()):
            if not subset.contains(number, question):
                questions.add(question, number)
    twice = questions.close()
    if twice is not None:
        place, question = next(islice(rows(), questions.place(twice), None))
        raise AnswerError(f"{place}: the id {question.question_id!r} stands for two questions.")
    return questions


def _question(place: str, row: Mapping[str, Any], mode: str | None = None) -> Question:
    """The question of a row; refuses one without an id or answers, or with an answer that no output can match."""
    question_id = as_id(row.get("question_id", row.get("id")))
    answers = as_texts(row.get("crossed_text", row.get("answers")))
    if question_id is None:
        raise AnswerError(f"{place}: no `question_id`.")
    if answers is None:
        raise AnswerError(f"{place}: no list of texts `crossed_text` (or `answers`), so there is nothing to score.")
    if SURROGATE.search("\n".join((question_id, *answers))):
        raise AnswerError(f"{place}: holds half a character (a lone surrogate), which no output can match.")
    return Question(question_id=question_id, spans=_spans(answers, row.get("spans"), row.get("pixel_bits"), mode))


def _dataset(
    name: str, data: Dataset, mode: str | None, split: str | None, subset: Subset, bits: PixelBits | None
) -> AnswerKey:
    if data.is_hidden:
        raise AnswerError(f"{data} is the public part of a hidden test set, {NO_ANSWERS}")
    modes = data.modes if mode is None or not data.modes else (mode,)
    if not set(modes) <= set(data.modes):
        raise AnswerError(f"{data} has no mode {mode!r}; it has {', '.join(data.modes)}.")
    data = choose_split(data, split)
    languages = set[str]()
    questions = _collect(lambda: _with_bits(_in_all_modes(data, modes, languages), bits, modes), subset)
    key = replace(_plain(name, questions, languages), variants=modes, images=data)
    if data.manifest is None:
        return key
    signature = data.manifest.signature
    return replace(
        key,
        lang=signature.facts.get("lang", ""),
        white_rows=has_white_rows(signature),
        covers=cover_kinds(signature),
        segmenter=signature.facts.get("seg"),
        facts={"data": signature.short, "split": "+".join(data.splits)},
    )


def _in_all_modes(data: Dataset, modes: Sequence[str], languages: set[str]) -> Rows:
    """The questions of a dataset whose rows are in the same order in all modes; spans have ink and bits of each.

    The languages that the rows name are added to ``languages``.
    """
    first, *others = modes or (None,)
    readers = [_questions(data.select(mode=mode), mode, languages) for mode in others]
    for place, question in _questions(data.select(mode=first), first, languages):
        spans = question.spans
        for mode, reader in zip(others, readers, strict=True):
            _, other = next(reader, ("", None))
            if other is None or (other.question_id, other.answers) != (question.question_id, question.answers):
                raise AnswerError(
                    f"{place}: in mode {mode} this row is not {question.question_id!r} with the same answers; copy or "
                    "build the dataset again."
                )
            spans = tuple(
                a._replace(ink={**a.ink, **b.ink}, bits={**a.bits, **b.bits})
                for a, b in zip(spans, other.spans, strict=True)
            )
        yield place, question._replace(spans=spans)
    for mode, reader in zip(others, readers, strict=True):
        if extra := next(reader, None):
            raise AnswerError(f"{extra[0]}: mode {first} has no such row, mode {mode} has; copy the dataset again.")


def _questions(data: Dataset, mode: str | None, languages: set[str]) -> Rows:
    """The questions of one mode of a dataset, or of a dataset that names no modes."""
    optional = ("language", "spans.tokens", "spans.visible_ink", "pixel_bits")
    for place, row in data.rows(("question_id", "crossed_text"), optional=optional):
        if isinstance(row.get("language"), str):
            languages.add(row["language"])
        yield place, _question(place, row, mode)


def _hidden(folder: Path, mode: str | None, split: str | None, subset: Subset, bits: PixelBits | None) -> AnswerKey:
    """The key of a hidden set, or a part of it; each of its spans has a cover of its own, so there is one mode."""
    if mode is not None or split not in (None, "all"):
        raise AnswerError(f"{folder} is the key of a hidden set, which has no modes and no splits.")
    key = read_key(folder)
    if key.task is not None:
        raise AnswerError(f"{folder} is the key of a hidden MCQ benchmark, which this command does not take.")
    signature = Signature.parse(key.signature)
    return AnswerKey(
        name="hidden set",
        white_rows=has_white_rows(signature),
        covers=cover_kinds(signature),
        lang=key.language,
        questions=_collect(lambda: _with_bits(_hidden_rows(folder), bits, (HIDDEN_MODE,)), subset, secret=True),
        variants=(HIDDEN_MODE,),
        views=HIDDEN_VIEWS,
        segmenter=signature.facts.get("seg"),
        facts={"data": key.commitment[:8], "pictures": key.pictures.value},
        hidden=True,
    )


def _hidden_rows(folder: Path) -> Rows:
    for number, item in enumerate(read_answers(folder), start=1):
        place = f"{folder}, item {number}"
        answers, spans = as_texts(item.get("crossed_text")), item.get("spans")
        if as_id(item.get("question_id")) is None or answers is None or not isinstance(spans, list):
            raise AnswerError(f"{place}: not an item of a key.")
        if item.get("part", "") not in ("", *HIDDEN_SPLITS):
            raise AnswerError(f"{place}: its `part` is none of {' and '.join(HIDDEN_SPLITS)}.")
        plain = _question(place, item, HIDDEN_MODE)._replace(part=item.get("part", ""))
        traits = {name: str(item.get(name))[:80] for name in ("font", "strip")}
        covers = [str(span.get("cover"))[:20] if isinstance(span, dict) else "" for span in spans]
        if len(covers) != len(answers):
            raise AnswerError(f"{place}: not an item of a key.")
        marked = (a._replace(traits={"cover": c, **traits}) for a, c in zip(plain.spans, covers, strict=True))
        yield place, plain._replace(spans=tuple(marked))


def choose_split(data: Dataset, name: str | None) -> Dataset:
    """The split to score against: the one that is asked for, or ``test``, or the only one."""
    if name == "all" or (name is None and len(data.splits) == 0):
        return data
    if name is None and "test" not in data.splits and len(data.splits) > 1:
        raise AnswerError(f"{data} has the splits {', '.join(data.splits)}; name one with --split.")
    split = name or ("test" if "test" in data.splits else data.splits[0])
    try:
        return data.select(split=split)
    except ConfigError:
        raise AnswerError(f"{data} has no split {split!r}; it has {', '.join(data.splits) or 'none'}.") from None


def _jsonl(data: Path, subset: Subset) -> AnswerKey:
    languages = set[str]()

    def questions() -> Rows:
        for number, row in iter_json_lines(data, AnswerError):
            if isinstance(row.get("language"), str):
                languages.add(row["language"])
            place = f"{data}, line {number}"
            yield place, _question(place, row)

    return _plain(data.name, _collect(questions, subset), languages)


def _plain(name: str, questions: Questions, languages: set[str]) -> AnswerKey:
    """A key of which nothing is known but what the rows say."""
    if len(languages) > 1:
        raise AnswerError(f"{name} mixes the languages {', '.join(sorted(languages))}; score them apart.")
    return AnswerKey(name=name, lang=next(iter(languages), ""), questions=questions)


def _spans(answers: Sequence[str], details: Any, bits: Any, mode: str | None) -> tuple[AnswerSpan, ...]:
    """Spans of a row; ``details`` and ``bits`` are columns that the dataset may have, if they fit the answers."""
    if not isinstance(details, list) or len(details) != len(answers):
        return tuple([AnswerSpan(text) for text in answers])
    if not isinstance(bits, list) or len(bits) != len(answers):  # of a hidden set they stand in its spans
        bits = [row.get("pixel_bits") for row in details]
    return tuple(
        AnswerSpan(
            text=text,
            tokens=as_texts(row.get("tokens")),
            ink=_by_mode(mode, row.get("visible_ink")),
            bits=_by_mode(mode, left),
        )
        for text, row, left in zip(answers, details, bits, strict=True)
    )


def _by_mode(mode: str | None, value: Any) -> dict[str, float]:
    return {mode: value} if mode and isinstance(value, float) else {}


def _with_bits(rows: Rows, bits: PixelBits | None, modes: Sequence[str]) -> Rows:
    """The questions with the bits of a file, if there is one, in modes of which they have none of their own."""
    for place, question in rows:
        spans = question.spans
        for mode in modes if bits else ():
            assert bits is not None
            span_bits = bits.of_question(question.question_id, mode, len(spans))
            spans = tuple(
                span if math.isnan(left) else span._replace(bits={mode: left, **span.bits})
                for span, left in zip(spans, span_bits, strict=True)
            )
        yield place, question._replace(spans=spans)
