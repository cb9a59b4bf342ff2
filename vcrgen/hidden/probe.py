"""Search of a hidden set's pictures among known pairs: what an attacker finds who has those pairs.

A picture is found if a known one has nearly its difference hash, which survives resizing and JPEG. With the key beside
the public part, an answer is found if the caption of the found picture holds its words.
"""

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from PIL import Image

from vcrgen.builder.images import difference_hash
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.sources import open_every_split
from vcrgen.core.errors import HiddenSetError, SourceError
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import ProgressListener
from vcrgen.data.key import is_key, read_answers
from vcrgen.data.manifest import MANIFEST
from vcrgen.hidden.earlier import question_picture
from vcrgen.hidden.near import MAX_DISTANCE, Bits, distances
from vcrgen.hidden.public import IMAGE_FOLDERS, MCQ_FOLDERS
from vcrgen.hidden.reference import Reference, pairs_by_picture
from vcrgen.report.document import Chart, Document, Section
from vcrgen.report.table import Interval, Percent, Table
from vcrgen.stats.intervals import wilson_interval
from vcrgen.text.normalise import normalise_caption

HEADS = ("Set", "", "Found", "Of", "Share, %", "95 % interval")
FOUND_HEADS = ("Set", "Picture", "Known pair", "Bits apart")
SHOWN, SHOWN_WIDTH = 40, 220  # pictures on the page, and their width


@dataclass(slots=True)
class FoundPicture:
    """The nearest known picture of one of the set."""

    question_id: str
    distance: int  # bits of the hashes that differ
    captions: tuple[str, ...] = ()  # all that the known picture has
    source_id: str = ""
    image: bytes = b""

    @property
    def is_found(self) -> bool:
        """True if it is the same picture by its hash."""
        return self.distance <= MAX_DISTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """The outcome of a search."""

    against: str
    pairs: int  # known pairs whose pictures could be read
    unreadable: int  # known pairs without a picture that can be read
    pictures: Sequence[FoundPicture]  # every picture of the set
    answers: int  # of the key; 0 if there is none
    answers_found: int
    public: Path = field(repr=False)

    @property
    def found(self) -> int:
        """The number of pictures that were found."""
        return sum(picture.is_found for picture in self.pictures)


def probe(folder: Path, config: BuildConfig, listener: ProgressListener) -> ProbeResult:
    """Search the pictures of one hidden set among the pairs of a source, in all of its splits.

    Raises:
        HiddenSetError: There is no public part, or it is damaged.
        SourceError: The pairs cannot be read, or no picture of them.
    """
    public = folder / "public"
    try:
        ids, hashes = zip(*_hashes(public), strict=True)
    except (OSError, ValueError, SyntaxError):
        raise HiddenSetError(f"{folder} holds no hidden set whose pictures can be read; name its folder.") from None
    hidden_hashes: Bits = np.stack(hashes)
    best = [FoundPicture(question_id, hidden_hashes.shape[1] * 8 + 1) for question_id in ids]
    pairs = unreadable = 0
    for split, source in open_every_split(config).items():
        listener.stage(f"reading {config.source} {split}".strip())
        for known in pairs_by_picture(source, config):
            image = known[0].image
            picture_hash = None if image is None else Reference(config.max_pixels).hash(image)
            if image is None or picture_hash is None:
                unreadable += 1
                continue
            pairs += 1
            apart = distances(hidden_hashes, picture_hash)
            captions = tuple(pair.caption or "" for pair in known)
            for place in np.flatnonzero(apart < [picture.distance for picture in best]):
                kept_image = image if apart[place] <= MAX_DISTANCE else b""
                best[place] = FoundPicture(ids[place], int(apart[place]), captions, known[0].source_id, kept_image)
    listener.stage("")
    if not pairs:
        raise SourceError(
            f"No picture of {config.source} can be read, so nothing was compared; if the file names pictures, "
            "--image-root is the folder in which their paths begin."
        )
    found_pictures = {picture.question_id: picture for picture in best if picture.is_found}
    answers = _answers(folder / "key")
    return ProbeResult(
        against=config.source,
        pairs=pairs,
        unreadable=unreadable,
        pictures=best,
        answers=sum(map(len, answers.values())),
        public=public,
        answers_found=sum(
            any(_holds(caption, text) for caption in picture.captions)
            for question_id, picture in found_pictures.items()
            for text in answers.get(question_id, ())
        ),
    )


def _hashes(public: Path) -> Iterator[tuple[str, Bits]]:
    folder = MCQ_FOLDERS[0] if (public / MCQ_FOLDERS[0]).is_dir() else IMAGE_FOLDERS[0]
    if not (public / MANIFEST).is_file():
        raise ValueError("no public part")
    for file in sorted((public / folder).glob("*.png")):
        yield file.stem, difference_hash(question_picture(public, file.stem))


def _answers(key: Path) -> Mapping[str, Sequence[str]]:
    """The texts of a key by item; an answer of a multiple-choice question does not stand in a caption."""
    if not is_key(key):
        return {}
    rows: list[Mapping[str, Any]] = list(read_answers(key))
    return {str(row["question_id"]): row["crossed_text"] for row in rows if "crossed_text" in row}


def _holds(caption: str, text: str) -> bool:
    """Return true if a caption has a text's letters and digits; a build leaves out emoji that it cannot draw."""
    letters, others = ("".join(filter(str.isalnum, normalise_caption(words))) for words in (text, caption))
    return letters in others


def probe_document(results: Mapping[str, ProbeResult]) -> Document:
    """Return results by name of a set as a document, with the first pictures that were found beside their finds."""
    rows, found_rows, panels = [], [], []
    for name, result in results.items():
        for what, count, total in (
            ("pictures", result.found, len(result.pictures)),
            ("answers", result.answers_found, result.answers),
        ):
            if total:
                interval = wilson_interval(count / total, total)
                rows.append((name, what, count, total, Percent(count / total), Interval(*interval)))
        found_rows += [
            (name, picture.question_id, picture.source_id, picture.distance)
            for picture in result.pictures
            if picture.is_found
        ]
        panels += [_panel(result, picture) for picture in result.pictures if picture.is_found]
    first = next(iter(results.values()))
    warnings = []
    if first.unreadable:
        warnings.append(f"{pluralize(first.unreadable, 'picture')} of {first.against} could not be read or compared.")
    if found_rows:
        warnings.append("Whoever has these pairs has the captions of the found pictures.")
    return Document(
        title="Search of a hidden set's pictures",
        lead=f"Among {pluralize(first.pairs, 'picture')} of {first.against}, by a perceptual hash.",
        private=True,
        warnings=warnings,
        sections=[
            Section(
                tables=[Table(title="Found", heads=HEADS, labels=2, rows=rows)],
                notes=[f"A picture is found if at most {MAX_DISTANCE} of the 256 bits of its hash differ."],
            ),
            Section(
                title="Found pictures",
                text=("On a page of HTML the set's picture is left, the known one right.",),
                tables=[Table(title="Known pairs with the same picture", heads=FOUND_HEADS, labels=3, rows=found_rows)],
                panels=panels[:SHOWN],
            )
            if panels
            else Section(title="Found pictures", text=("None.",)),
        ],
    )


def _panel(result: ProbeResult, picture: FoundPicture) -> Chart:
    with Image.open(io.BytesIO(picture.image)) as opened:
        pair_image = opened.convert("RGB")
    pictures = (question_picture(result.public, picture.question_id), pair_image)
    images = "".join(f'<img alt="" width="48%" src="{_data_url(image)}">' for image in pictures)
    drawing = Markup(images)  # noqa: S704 - nothing but base64
    title = f"{picture.question_id[:8]}: {pluralize(picture.distance, 'bit')} apart"
    return Chart(title=title, svg=drawing, note=picture.source_id)


def _data_url(picture: Image.Image) -> str:
    out = io.BytesIO()
    picture.thumbnail((SHOWN_WIDTH, 4 * SHOWN_WIDTH))
    picture.convert("RGB").save(out, "JPEG", quality=70)
    return f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}"
