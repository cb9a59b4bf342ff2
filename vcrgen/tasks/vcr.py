"""Visual Caption Restoration: the columns of its datasets, and the figures of the paper's Table 4.

The first eight columns have VCR-WIKI's names, so that loaders written for it work unchanged.
"""

from dataclasses import dataclass
from typing import NamedTuple

from vcrgen.dataset.reader import Dataset
from vcrgen.dataset.schema import FLOAT, IMAGE, INT, STRING, DatasetKind
from vcrgen.dataset.statistics import Summary
from vcrgen.errors import DatasetError
from vcrgen.records import Mode
from vcrgen.text.languages import LANGUAGES, CoverTarget

_BOX = {"x0": INT, "y0": INT, "x1": INT, "y1": INT}
_SPAN = {"start": INT, "end": INT, "text": STRING, "tokens": [STRING], "boxes": [_BOX], "visible_ink": FLOAT}
_SPAN |= {"rows_above": INT, "rows_below": INT}
# Column to its type and what it holds.
_COLUMNS = {
    "question_id": (
        STRING, "hash of the source image's bytes and the caption; the same pair has the same id in every build"
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
}  # fmt: skip
VCR = DatasetKind(
    features={name: feature for name, (feature, _) in _COLUMNS.items()},
    notes={name: note for name, (_, note) in _COLUMNS.items()},
    identifier="question_id",
    answers="crossed_text",
    repeated=("question", "language", "mode"),
    searched=("question_id", "source_id"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitStatistics:
    """One split in one mode."""

    rows: int  # pairs
    spans: int  # all masked spans
    height: Summary  # of the stacked image, in pixels
    spans_per_image: Summary  # masked spans of a pair
    caption_length: Summary  # characters of the shown caption
    visible_ink: Summary  # of a span, 0 to 1
    outside: int  # spans whose visible ink is outside of the band around the mode's target


class _Figures(NamedTuple):
    """The figures of some rows: one each, but for the visible ink, of which a row has as many as spans."""

    heights: list[int]
    lengths: list[int]
    counts: list[int]
    ink: list[float]


def vcr_statistics(dataset: Dataset) -> dict[tuple[str, str], SplitStatistics]:
    """The figures of every mode and split of a dataset that vcrgen built; no image is read.

    Raises:
        DatasetError: A data file is missing or damaged, or of a mode or language that vcrgen does not build.
    """
    figures: dict[tuple[str, str], list[_Figures]] = {}
    for file, found in zip(dataset.files, dataset.each_file(_read_figures), strict=True):
        figures.setdefault((str(file.mode), str(file.split)), []).append(found)
    try:
        covers = LANGUAGES[dataset.built.config["lang"]].covers
        return {(mode, split): _summarise(found, covers[Mode(mode)]) for (mode, split), found in figures.items()}
    except (KeyError, ValueError, TypeError):
        raise DatasetError(f"The manifest of {dataset} names a mode or language that vcrgen does not build.") from None


def _read_figures(part: Dataset) -> _Figures:
    figures = _Figures([], [], [], [])
    for place, row in part.rows(("strip_y", "strip_height", "caption", "spans.visible_ink")):
        try:
            figures.heights.append(row["strip_y"] + row["strip_height"])
            figures.lengths.append(len(row["caption"]))
            figures.counts.append(len(row["spans"]))
            figures.ink.extend(float(span["visible_ink"]) for span in row["spans"])
        except TypeError:
            raise DatasetError(f"{place} has values that no build writes; copy or build the dataset again.") from None
    return figures


def _summarise(parts: list[_Figures], cover: CoverTarget) -> SplitStatistics:
    ink = [share for part in parts for share in part.ink]
    return SplitStatistics(
        rows=sum(len(part.heights) for part in parts),
        spans=len(ink),
        height=Summary.of(height for part in parts for height in part.heights),
        spans_per_image=Summary.of(count for part in parts for count in part.counts),
        caption_length=Summary.of(length for part in parts for length in part.lengths),
        visible_ink=Summary.of(ink),
        outside=sum(not cover.holds(share) for share in ink),
    )
