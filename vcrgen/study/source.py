"""The dataset of a study: its answers, its pictures, and its signature."""

import hashlib
import io
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from PIL import Image

from vcrgen.bloom.audit.rejected_items import question_views
from vcrgen.core.errors import StudyError
from vcrgen.core.files import canonical_json
from vcrgen.core.storage import remote_url
from vcrgen.data.key import is_key
from vcrgen.data.pictures import PictureSelection, open_pictures
from vcrgen.data.reader import Dataset
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.data.views import View
from vcrgen.scorer.answer_key import AnswerKey
from vcrgen.scorer.answers import load_answers
from vcrgen.scorer.mcq.key import ItemKey, KeyItem
from vcrgen.scorer.mcq.loading import load_items
from vcrgen.scorer.records import UNSTATED, Question
from vcrgen.scorer.run import is_mcq
from vcrgen.study.records import Condition
from vcrgen.text.languages import LANGUAGES

StudyQuestion = Question | KeyItem
MAX_BYTES = 32 << 20  # of an encoded picture
SIGNATURE_DIGITS = 16
MAX_PIXELS = 1 << 24  # a page shows it at twice its size


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySource:
    """A dataset with its answers."""

    place: str  # an absolute path, or the address in an object store
    key: AnswerKey | ItemKey
    images: Dataset

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes, or `UNSTATED` where the dataset names none."""
        return self.key.variants or (UNSTATED,)

    @property
    def signature(self) -> str:
        """Sixteen hex digits that change with any picture or answer, and tell nothing of the answers."""
        facts = [self.images.identity, self.key.facts.get("data") if self.key.hidden else self.key.questions.digest]
        return hashlib.sha256(canonical_json(facts).encode()).hexdigest()[:SIGNATURE_DIGITS]

    def questions(self, limit: int, conditions: Sequence[Condition]) -> Sequence[StudyQuestion]:
        """The first questions that have answers in all conditions."""
        return list(islice((question for question in self.key.questions if question.answers), limit))

    def words_to_read(self, questions: Sequence[StudyQuestion]) -> dict[str, int]:
        """The words, or characters in languages without spaces, of each caption by id.

        Of a dataset that shows no captions, as the public part of a hidden set, those of the masked spans alone.
        """
        count = LANGUAGES[self.key.lang].count_units
        words = {question.question_id: sum(map(count, question.answers)) for question in questions}
        left = set(words)
        for _, row in self.images.rows(["question_id"], optional=["caption"]) if left else ():
            if row["question_id"] in left:
                left.remove(row["question_id"])
                words[row["question_id"]] = max(words[row["question_id"]], count(row.get("caption") or ""))
            if not left:
                break
        return words

    def pictures(
        self, conditions: Sequence[Condition], question_ids: Collection[str]
    ) -> Iterator[tuple[str, int, bytes]]:
        """Yield the pictures of some questions: id, number of the condition, and the picture as PNG.

        A mode that the dataset lacks is replaced by its first.

        Raises:
            StudyError: One is missing, too large, or no image.
        """
        for number, condition in enumerate(conditions):
            left = set(question_ids)
            mode = condition.mode if condition.mode in self.images.modes else next(iter(self.images.modes), None)
            for picture in open_pictures(self.images, PictureSelection(views=(condition.view,), mode=mode)).stream():
                if not left:
                    break
                if picture.question_id in left:
                    left.remove(picture.question_id)
                    yield picture.question_id, number, self._clean(picture.question_id, picture.data, picture.problem)
            if left:
                raise StudyError(f"{self.place} lacks the picture of {min(left)!r} ({condition.label}).")

    def _clean(self, question_id: str, data: bytes | None, problem: str) -> bytes:
        try:
            if data is None:
                raise ValueError(problem)
            return clean_picture(data)
        except ValueError as why:
            raise StudyError(f"{self.place}: the picture of {question_id!r} cannot be shown: {why}.") from None


class McqSource(StudySource):
    """An MCQ benchmark with its answers: people see the picture, and choose an option in one language."""

    key: ItemKey

    def questions(self, limit: int, conditions: Sequence[Condition]) -> Sequence[KeyItem]:
        """The first items that are complete in all languages of the conditions."""
        languages = {condition.mode for condition in conditions}
        return list(islice((item for item in self.key.questions if languages <= item.questions.keys()), limit))

    def words_to_read(self, questions: Sequence[StudyQuestion]) -> dict[str, int]:
        """The words or characters of each question with its options, in the language in which they are fewest."""
        words = {}
        for item in questions:
            assert isinstance(item, KeyItem)
            counts = (
                sum(map(LANGUAGES[lang].count_units, (asked.text, *asked.options)))
                for lang, asked in item.questions.items()
            )
            words[item.question_id] = min(counts, default=0)
        return words

    def pictures(
        self, conditions: Sequence[Condition], question_ids: Collection[str]
    ) -> Iterator[tuple[str, int, bytes]]:
        """Yield the pictures of some items, the same one in every condition; see `StudySource`."""
        with_picture = [number for number, condition in enumerate(conditions) if condition.view is not View.TEXT_ONLY]
        left = set(question_ids)
        for _, row in self.images.rows(["question_id", "image"]):
            question_id = row["question_id"]
            if question_id in left:
                left.remove(question_id)
                png = self._clean(question_id, image_bytes(row["image"]), "it has none")
                yield from ((question_id, number, png) for number in with_picture)
        if left:
            raise StudyError(f"{self.place} lacks the picture of {min(left)!r}.")


def displayed_questions(question: StudyQuestion) -> list[dict[str, Any]]:
    """The question of an MCQ item in each of its languages, for templates; an empty list for masked spans."""
    return question_views(question.questions) if isinstance(question, KeyItem) else []


def clean_picture(data: bytes) -> bytes:
    """The same pixels as PNG and nothing else: no other data of the file, which could hold an answer.

    Raises:
        ValueError: It is too large, or no image.
    """
    if len(data) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES >> 20} MiB")
    try:
        with warnings.catch_warnings(action="ignore"):
            image = Image.open(io.BytesIO(data), formats=("PNG", "WEBP", "JPEG"))
            if image.width * image.height > MAX_PIXELS:
                raise ValueError(f"it has more than {MAX_PIXELS:,} pixels")
            pixels = image.convert("RGB")
    except ValueError:
        raise
    except Exception:  # decoders raise anything on hostile files
        raise ValueError("it is no whole PNG, WebP or JPEG image") from None
    out = io.BytesIO()
    Image.frombytes("RGB", pixels.size, pixels.tobytes()).save(out, "PNG")
    return out.getvalue()


def open_source(data: str, split: str | None) -> StudySource:
    """Open a dataset, or a hidden set by its key, whose pictures are in the folder ``public`` beside it.

    Raises:
        AnswerError: The answers cannot be read.
        DatasetError: It is no dataset, or damaged.
        StudyError: There are no pictures beside the answers.
    """
    path = Path(data)
    place = data if remote_url(data) else str(path.absolute())
    kind, load = (McqSource, load_items) if is_mcq(path) else (StudySource, load_answers)
    key = load(path, split=split)
    if key.images is not None:
        return kind(place=place, key=key, images=key.images)
    public = (path if is_key(path / "key") else path.absolute().parent) / "public"
    if not key.hidden or not public.is_dir():
        raise StudyError(f"{data} has no pictures; a study needs a dataset, or a hidden set with `public` and `key`.")
    return kind(place=place, key=key, images=open_task_dataset(public))
