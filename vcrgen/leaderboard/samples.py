"""What teams can look at and download of each set: an example item, a template of a file of outputs, and an example.

They are written once, by who may read the answers, into the folder ``samples`` of the board; pages only read them. Of a
hidden set they hold the ids of its questions, which its public part has, in the order of the alphabet: the order of the
key could tell of its splits.
"""

import io
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from PIL import Image
from pydantic import TypeAdapter

from vcrgen.core.errors import LeaderboardError
from vcrgen.core.files import atomic_path, canonical_json
from vcrgen.core.media import data_uri
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.bloom import LETTERS
from vcrgen.data.tasks.task import VCR_TASK
from vcrgen.leaderboard.board import Board
from vcrgen.leaderboard.page_records import ExampleItem, SetSamples
from vcrgen.leaderboard.records import TestSet
from vcrgen.leaderboard.scoring import open_session
from vcrgen.leaderboard.site.names import example_name, template_name
from vcrgen.scorer.session import BaseScoringSession

FOLDER = "samples"
GUESS = {True: "a guess", False: "A"}  # the output of every other line of an example: of captions, of questions
PICTURE_WIDTH = 720  # pixels, at most
MAX_PIXELS = 1 << 25
JPEG_QUALITY = 88


_SAMPLES = TypeAdapter(SetSamples)


class SampleFolder:
    """The samples of a board's sets on its disk."""

    def __init__(self, board_folder: Path) -> None:
        self._folder = board_folder / FOLDER

    def read(self, test_set: TestSet) -> SetSamples | None:
        """The samples of a set; None if there are none, or only those of other data."""
        try:
            samples = _SAMPLES.validate_json((self._folder / f"{test_set.name}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return samples if samples.made_of == _made_of(test_set) else None

    def file(self, name: str) -> Path:
        """Where a file to download is or would be; the name is one of `names.parse_name`."""
        return self._folder / name

    def write(self, test_set: TestSet, *, most: int) -> None:
        """Write the samples of a set if they are not there.

        Args:
            most: Bytes of the largest file that the board takes; a set whose files are larger gets no template.

        Raises:
            LeaderboardError: Its answers cannot be read.
        """
        if self.read(test_set) is not None:
            return
        session = open_session(test_set.name, Path(test_set.path), protocol=test_set.protocol)
        self._folder.mkdir(exist_ok=True)
        item = None if test_set.hidden else _example_item(test_set, session)
        right = {} if item is None else {item.question_id: item.right_output}
        guess = GUESS[test_set.task is VCR_TASK]
        files = {
            template_name(test_set.name): (test_set.output_line(*where, None) for where in _places(session)),
            example_name(test_set.name): (
                test_set.output_line(question_id, variant, right.get(question_id, guess))
                for question_id, variant in _places(session)
            ),
        }
        written = [_write_lines(self._folder / name, lines, most) for name, lines in files.items()]
        samples = SetSamples(made_of=_made_of(test_set), item=item, has_files=all(written))
        with atomic_path(self._folder / f"{test_set.name}.json") as temporary:
            temporary.write_text(canonical_json(asdict(samples)), "utf-8")


def write_samples(board: Board) -> None:
    """Write the samples of all sets that have none; a set that cannot be read now, or a full disk, gets none."""
    folder = SampleFolder(board.folder)
    for test_set in board.sets:
        try:
            folder.write(test_set, most=board.settings.file_mb << 20)
        except (LeaderboardError, OSError):
            continue


def _made_of(test_set: TestSet) -> str:
    return f"{test_set.signature} {test_set.lifecycle.view.value}"


def _places(session: BaseScoringSession) -> Iterator[tuple[str, str]]:
    """The ids of all questions with each variant that they are asked in."""
    questions = list(session.key.questions)
    if session.key.hidden:
        questions.sort(key=lambda question: question.question_id)
    for variant in session.key.variants or ("",):
        for question in questions:
            if session.task is VCR_TASK or variant in question.questions:  # items may lack a language
                yield question.question_id, variant


def _write_lines(file: Path, lines: Iterator[str], most: int) -> bool:
    """Write lines, unless they have more bytes; whether they were written."""
    size = 0
    file.unlink(missing_ok=True)
    with atomic_path(file) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        for line in lines:
            size += len(line) + 1
            if size > most:
                break
            out.write(f"{line}\n")
    if size > most:
        file.unlink()
    return size <= most


def _example_item(test_set: TestSet, session: BaseScoringSession) -> ExampleItem:
    """The first item of a set: with its picture where the set has pictures."""
    key, is_vcr = session.key, session.task is VCR_TASK
    first, picture, prompt = key.question(0), "", ""
    if key.images is not None:
        column = test_set.lifecycle.view.column if is_vcr else "image"
        for _, row in key.images.rows(["question_id", column], optional=["question"], limit=1):
            found = key.row_of(row["question_id"])
            first = first if found is None else key.question(found)
            picture, prompt = _small_picture(image_bytes(row[column])), row.get("question") or ""
    if not is_vcr:
        question = next(iter(first.questions.values()))
        prompt = "\n".join([question.text, *map("{}. {}".format, LETTERS, question.options)])
    return ExampleItem(question_id=first.question_id, question=prompt, answers=first.answers, picture=picture)


def _small_picture(data: bytes | None) -> str:
    """A picture as a data URI of a size for pages; empty if it cannot be decoded."""
    if data is None:
        return ""
    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP")) as image:
            if image.width * image.height > MAX_PIXELS:
                return ""
            image.thumbnail((PICTURE_WIDTH, PICTURE_WIDTH * 4))
            packed = io.BytesIO()
            image.convert("RGB").save(packed, "JPEG", quality=JPEG_QUALITY)
    except (OSError, ValueError, Image.DecompressionBombError):
        return ""
    return data_uri(packed.getvalue())
