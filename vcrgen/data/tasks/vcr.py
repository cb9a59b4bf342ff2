"""Visual Caption Restoration: the columns of its datasets, and the statistics of the paper's Table 4.

The first eight columns have VCR-WIKI's names, so loaders for it work unchanged.
"""

import io
import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

from vcrgen.core.errors import ConfigError, DatasetError
from vcrgen.core.records import NAMED_MODES, Mode, is_mode
from vcrgen.core.signature import Signature
from vcrgen.data.reader import Dataset
from vcrgen.data.schema import FLOAT, IMAGE, INT, STRING, DatasetKind
from vcrgen.data.statistics import BitsSummary, Summary
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.pixel_bits import PixelBits
from vcrgen.data.views import View
from vcrgen.text.languages import LANGUAGES, CoverTarget, guess_language

_GUESSED_FROM = 100  # rows
WHITE_ROWS = "rows"  # the kind of VCR-WIKI's covers, of which signatures name the rows alone

_BOX = {"x0": INT, "y0": INT, "x1": INT, "y1": INT}
_SPAN = {"start": INT, "end": INT, "text": STRING, "tokens": [STRING], "boxes": [_BOX], "visible_ink": FLOAT}
_SPAN |= {"rows_above": INT, "rows_below": INT}
# Columns with type and description.
_COLUMNS = {
    "question_id": (
        STRING,
        "hash of the source image's bytes and the caption; the same pair has the same id in every build",
    ),
    "image": (IMAGE, "VI, resized to the width"),
    "caption": (STRING, "the text shown in the strip"),
    "stacked_image": (IMAGE, "VI+TEI: VI with the covered strip below it"),
    "only_it_image": (IMAGE, "TEI only: the covered strip on white, same size as `stacked_image`"),
    "only_it_image_small": (IMAGE, "the covered strip"),
    "crossed_text": ([STRING], "texts of the spans, in reading order: the answers"),
    "question": (STRING, "ST, the question put to the model"),
    "language": (STRING, "language code"),
    "mode": (STRING, "`easy` or `hard`"),
    "spans": (
        [_SPAN],
        "per span: offsets into `caption`, text, tokens, boxes of the cover in the strip (px), share of the "
        "ink that stays visible, rows of ink visible above and below the cover",
    ),
    "strip_height": (INT, "height of the strip (px)"),
    "strip_y": (INT, "top row of the strip in `stacked_image` (px)"),
    "only_it_strip_y": (INT, "top row of the strip in `only_it_image` (px)"),
    "source_id": (STRING, "id of the pair in the source"),
}
# Columns that a dataset has if it was built so.
_MORE = {
    "cover_mask": (
        IMAGE,
        "which pixels of VI+TEI covers hide (white), also where they hide no text; of covers that are not rows, and of "
        "warped images",
    ),
    "pixel_bits": ([FLOAT], "per span: bits that its visible pixels leave at least, before images are degraded"),
    "distractors": ([_BOX], "boxes in `stacked_image` (px) of the covers that hide no text"),
    "glyph_boxes": (
        [{"start": INT, "end": INT, **_BOX}],
        "per glyph with ink, also under covers: offsets into `caption` of what it draws, box in the strip (px)",
    ),
}


def caption_with_gaps(row: Mapping[str, Any], lang: str) -> str:
    """Caption of a row with ``[covered]``, or the language's word for it, for every span.

    Example: "It is [covered] Africa." Without offsets, as in VCR-WIKI, spans are located by text, the longest first;
    the first occurrence counts.

    Raises:
        ValueError: The row has no caption, or its spans are not in it.
    """
    caption, answers, details = row.get("caption"), row.get("crossed_text"), row.get("spans")
    if not isinstance(caption, str) or not isinstance(answers, list) or not all(isinstance(a, str) for a in answers):
        raise ValueError("it has no caption or no answers")
    if details:
        offsets = [(span.get("start"), span.get("end")) for span in details if isinstance(span, dict)]
        places = [(start, end) for start, end in offsets if isinstance(start, int) and isinstance(end, int)]
        if [caption[start:end] for start, end in places] != answers:
            raise ValueError("its spans are not where it says")
    else:
        places = _find(caption, answers)
    text, last = "", 0
    for start, end in sorted(places):
        if start < last:
            raise ValueError("two of its spans overlap")
        text, last = text + caption[last:start] + LANGUAGES[lang].gap_marker, end
    return text + caption[last:]


def _find(caption: str, answers: Sequence[str]) -> list[tuple[int, int]]:
    """Locate texts in a caption without overlaps; return start and end of each."""
    free, places = caption, []
    for answer in sorted(answers, key=len, reverse=True):
        start = free.find(answer)
        if not answer or start < 0:
            raise ValueError("its answers are not in its caption")
        places.append((start, start + len(answer)))
        free = free[:start] + "\0" * len(answer) + free[start + len(answer) :]
    return places


VCR = DatasetKind(
    features={name: feature for name, (feature, _) in _COLUMNS.items()},
    descriptions={name: note for name, (_, note) in _COLUMNS.items()},
    identifier="question_id",
    answers="crossed_text",
    text_context=caption_with_gaps,
    text_columns=("caption", "crossed_text"),
    optional_text_columns=("spans.start", "spans.end"),
    dictionary_columns=("question", "language", "mode"),
    indexed_columns=("question_id", "source_id"),
    optional_features=_MORE,
)


def cover_kinds(signature: Signature) -> dict[str, str]:
    """The kind of cover of each mode: ``{"easy": "rows"}`` of ``easy=10-16``, ``{"easy": "stain"}`` of a stain's."""
    covers = [cover.partition("=") for cover in signature.facts.get("cover", "").split(",")]
    return {mode: WHITE_ROWS if rule[:1].isdigit() else rule.partition("-")[0] for mode, _, rule in covers if mode}


def has_white_rows(signature: Signature) -> bool:
    """Tell whether the covers of a signature are easy and hard white rows over letters that are drawn one by one.

    Their visible pixels alone settle nearly every span (docs/pixels.md). Signatures name every other kind of cover:
    ``easy=10-16`` against ``easy=stain-0.516``.
    """
    covers = [cover.partition("=") for cover in signature.facts.get("cover", "").split(",")]
    row = LANGUAGES.get(signature.facts.get("lang", ""))
    easy_or_hard = all(mode in NAMED_MODES and rows[:1].isdigit() for mode, _, rows in covers)
    return row is not None and row.shaper == "basic" and easy_or_hard


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitStatistics:
    """One split in one mode."""

    rows: int  # pairs
    spans: int  # all masked spans
    height: Summary  # of the stacked image, in pixels
    spans_per_image: Summary  # masked spans of a pair
    caption_length: Summary  # characters of the shown caption
    visible_ink: Summary | None  # of a span, 0 to 1; None where the rows do not say it
    pixel_bits: BitsSummary | None  # that the visible pixels of a span leave; None where nobody measured them
    outside: int | None  # spans whose visible ink is outside of the band around the mode's target; only of builds


def fill_metadata(dataset: Dataset, *, mode: str | None = None, split: str | None = None) -> Dataset:
    """Complete mode, split, language and question of every file of a dataset from elsewhere.

    Files of VCR-WIKI may have only images and answers. Missing values are read from the first row (columns ``mode`` and
    ``language``); the language is also guessed from the answers.

    Args:
        dataset: Any dataset of this task but the public part of a hidden set.
        mode: Of files without a mode; also selects files.
        split: Likewise; by default ``"test"``.

    Raises:
        ConfigError: There is nothing of that mode and split, or a file's mode is not known and ``mode`` is None.
        DatasetError: It is a hidden set's public part, which has no answers, or its first rows cannot be read.
    """
    if dataset.is_hidden:
        raise DatasetError(f"{dataset} is the public part of a hidden test set, which has no answers.")
    if dataset.manifest is not None:
        return dataset.select(mode=mode, split=split)
    files = []
    for file in dataset.files:
        part = replace(dataset, files=(file,))
        rows = [row for _, row in part.rows((VCR.answers,), optional=("mode", "language"), limit=_GUESSED_FROM)]
        first = rows[0] if rows else {}
        lang = str(first.get("language"))
        if lang not in LANGUAGES:
            lang = guess_language(text for row in rows for text in row[VCR.answers] or () if isinstance(text, str))
        file_mode = file.mode or (first["mode"] if is_mode(first.get("mode")) else mode)
        if not is_mode(file_mode):
            raise ConfigError(f"{dataset} does not say its mode; name it with --mode ({' or '.join(NAMED_MODES)}).")
        constants = {"mode": file_mode, "language": lang, "question": LANGUAGES[lang].question, "source_id": ""}
        files.append(replace(file, mode=file_mode, split=file.split or split or "test", constants=constants))
    return replace(dataset, files=tuple(files)).select(mode=mode, split=split)


@dataclass(frozen=True, slots=True)
class Figures:
    """How often each value of a figure occurs in some rows. Those of files add up to those of a split."""

    heights: Counter[float] = field(default_factory=Counter)  # of stacked images, in pixels
    lengths: Counter[float] = field(default_factory=Counter)  # of captions, in characters
    spans: Counter[float] = field(default_factory=Counter)  # of rows
    ink: Counter[float] = field(default_factory=Counter)  # visible, of spans
    bits: Counter[float] = field(default_factory=Counter)  # that visible pixels of spans leave, where they are known

    def add(self, other: Self) -> None:
        """Count the values of other rows, too."""
        for name in FIGURES:
            getattr(self, name).update(getattr(other, name))

    def as_json(self) -> dict[str, list[tuple[float, int]]]:
        """The counts as `from_json` reads them."""
        return {name: sorted(getattr(self, name).items()) for name in FIGURES}

    @classmethod
    def from_json(cls, values: Mapping[str, list[tuple[float, int]]]) -> Self:
        """Read the counts."""
        return cls(*(Counter(dict(values[name])) for name in FIGURES))


FIGURES = ("heights", "lengths", "spans", "ink", "bits")


def summarise_figures(figures: Mapping[tuple[str, str], Figures], lang: str) -> dict[tuple[str, str], SplitStatistics]:
    """Summarise the modes and splits of a dataset that vcrgen built in a language; a ValueError for unknown ones."""
    if lang not in LANGUAGES:
        raise ValueError(f"no language {lang}")
    targets = {mode: LANGUAGES[lang].cover_target(Mode(mode)) for mode, _ in figures}
    return {(mode, split): _summarise(counts, targets[mode]) for (mode, split), counts in figures.items()}


def vcr_statistics(dataset: Dataset, pixels: PixelBits | None = None) -> dict[tuple[str, str], SplitStatistics]:
    """Measure every mode and split; ``"-"`` stands for an unknown one.

    Only datasets from elsewhere need image headers, for the height of each stacked image.

    Args:
        dataset: Any dataset of this task but the public part of a hidden set.
        pixels: The bits of its spans, where it has none itself.

    Raises:
        DatasetError: A data file is missing or damaged, or of a mode or language that vcrgen does not build.
    """
    figures: dict[tuple[str, str], Figures] = {}
    for file, file_figures in zip(dataset.files, dataset.map_files(partial(_read_figures, pixels)), strict=True):
        figures.setdefault((file.mode or "-", file.split or "-"), Figures()).add(file_figures)
    if dataset.manifest is None:
        return {name: _summarise(file_figures, None) for name, file_figures in figures.items()}
    try:
        return summarise_figures(figures, dataset.built.config["lang"])
    except (KeyError, ValueError, TypeError):
        raise DatasetError(f"The manifest of {dataset} names a mode or language that vcrgen does not build.") from None


def _read_figures(pixels: PixelBits | None, part: Dataset) -> Figures:
    figures = Figures()
    built = part.manifest is not None
    ink = ("spans.visible_ink",)
    geometry = ("strip_y", "strip_height", *ink) if built else (View.STACKED.column,)
    optional = ("pixel_bits", *(() if built else ink), *(("question_id",) if pixels else ()))
    for place, row in part.rows((VCR.answers, "caption", *geometry), optional=optional):
        try:
            height = row["strip_y"] + row["strip_height"] if built else image_size(row[View.STACKED.column])[1]
            spans, bits = len(row[VCR.answers]), row.get("pixel_bits")
            if bits is None and pixels:
                mode = part.modes[0] if part.modes else None
                bits = pixels.of_question(str(row.get("question_id")), mode, spans)
            shares = [float(span["visible_ink"]) for span in row.get("spans") or ()]
            if not all(map(math.isfinite, shares)):
                raise ValueError("ink that is no number")
            figures.heights[height] += 1
            figures.lengths[len(row["caption"])] += 1
            figures.spans[spans] += 1
            figures.ink.update(shares)
            figures.bits.update(value for value in map(float, bits or ()) if not math.isnan(value))
        except (TypeError, ValueError):
            raise DatasetError(f"{place} has values that no build writes; copy or build the dataset again.") from None
    return figures


def image_size(value: Any) -> tuple[int, int]:
    """Return width and height in pixels from the header of a PNG, WebP or JPEG; a ValueError for others."""
    from PIL import Image

    try:
        data = io.BytesIO(image_bytes(value) or b"")
        with warnings.catch_warnings(action="ignore"), Image.open(data, formats=("PNG", "WEBP", "JPEG")) as image:
            return image.size
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError("no image that can be read") from error


def _summarise(figures: Figures, cover: CoverTarget | None) -> SplitStatistics:
    off_target = sum(count for share, count in figures.ink.items() if cover and not cover.contains(share))
    return SplitStatistics(
        rows=figures.heights.total(),
        spans=sum(int(spans) * rows for spans, rows in figures.spans.items()),
        height=Summary.of_counts(figures.heights),
        spans_per_image=Summary.of_counts(figures.spans),
        caption_length=Summary.of_counts(figures.lengths),
        visible_ink=Summary.of_counts(figures.ink) if figures.ink or cover else None,
        pixel_bits=BitsSummary.of_counts(figures.bits),
        outside=off_target if cover else None,
    )
