"""Tasks for ``inspect eval``: each picture of a dataset is a sample, as `vcrgen predict` asks about it.

    inspect eval vcrgen/vcr -T data=data/my-vcr -T mode=hard --model openai/gpt-5

All pictures of the task are in memory before the first request, as Inspect AI keeps its samples there.
"""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from click import ClickException
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
)

from vcrgen.core.errors import ConfigError, VcrgenError
from vcrgen.core.media import media_type
from vcrgen.data.pictures import Picture, PictureSelection
from vcrgen.data.reader import Dataset
from vcrgen.data.tasks.bloom import TASK, read_items
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.data.views import View
from vcrgen.models.base import Request
from vcrgen.models.predict.prompts import Prompt, make_choice_prompt, make_prompt
from vcrgen.models.predict.questions import QuestionPicture, QuestionSelection, open_selection
from vcrgen.scorer.inspect.scorers import choices, spans
from vcrgen.scorer.mcq.choices import RULES

_DETAILS = ("auto", "low", "high", "original")


class TaskError(ClickException, VcrgenError):
    """A mistake in the arguments of a task: ``inspect eval``, a program of click, shows its sentence alone."""

    exit_code = 2


@contextmanager
def _mistakes_in_one_sentence() -> Iterator[None]:
    try:
        yield
    except VcrgenError as problem:
        raise TaskError(str(problem)) from None


@task
@_mistakes_in_one_sentence()
def vcr(
    data: str,
    mode: str | None = None,
    view: str = View.STACKED.value,
    split: str | None = None,
    limit: int | None = None,
    preset: str | None = None,
    protocol: str = "vcrgen",
) -> Task:
    """Visual Caption Restoration: recover the covered texts of each picture.

    Args:
        data: A dataset of pairs, or the public part of a hidden set, which is asked and not scored.
        mode: Only this mode; all by default.
        view: ``stacked`` (VI+TEI), ``tei`` or ``text-only``.
        split: Only this split; all by default.
        limit: Questions at most, each in all modes.
        preset: Settings of published scores, as ``vcrgen predict --preset``.
        protocol: As ``vcrgen score --protocol``.
    """
    dataset = open_task_dataset(data)
    if dataset.kind.task is not None:
        raise ConfigError(f"{dataset} is an MCQ benchmark; its task is vcrgen/bloom.")
    choice = PictureSelection(views=(_view(view),), mode=mode, split=split, limit=limit)
    prompt = make_prompt(preset, {})
    samples = [_sample(picture, prompt, list(picture.answers)) for picture in _pictures(dataset, choice)]
    lang = str(samples[0].metadata["lang"]) if samples and samples[0].metadata else "en"
    return _task(dataset, prompt, samples, None if dataset.is_hidden else spans(lang, protocol))


@task
@_mistakes_in_one_sentence()
def bloom(
    data: str,
    lang: str | None = None,
    view: str = View.IMAGE.value,
    split: str | None = None,
    limit: int | None = None,
    rotations: int = 1,
    preset: str | None = None,
    protocol: str = RULES,
) -> Task:
    """Multiple-choice questions by Bloom's levels: name the letter of the right option.

    Args:
        data: An MCQ benchmark, or the public part of a hidden one, which is asked and not scored.
        lang: Only this language; all by default.
        view: ``image`` or ``text-only``.
        split: Only this split; all by default.
        limit: Items at most, each in all languages.
        rotations: Orders of the options, each a sample of its own.
        preset: Settings of published scores, as ``vcrgen predict --preset``.
        protocol: As ``vcrgen score --protocol``.
    """
    dataset = open_task_dataset(data)
    if dataset.kind.task != TASK:
        raise ConfigError(f"{dataset} is no MCQ benchmark; its task is vcrgen/vcr.")
    choice = QuestionSelection(views=(_view(view),), lang=lang, split=split, limit=limit, rotations=rotations)
    prompt, samples = make_choice_prompt(preset, {}), []
    keys = {} if dataset.is_hidden else {item.question_id: item for item in read_items(dataset.select(split=split))}
    for picture in _pictures(dataset, choice):
        assert isinstance(picture, QuestionPicture)
        item = keys.get(picture.question_id)
        sample = _sample(picture, prompt, str(item.answer) if item else "", f".{picture.lang}.{picture.rotation}")
        assert sample.metadata is not None
        sample.metadata |= {"rotation": picture.rotation, "options": list(picture.options)}
        sample.metadata |= {"picture": item.picture or item.question_id} if item else {}
        samples.append(sample)
    return _task(dataset, prompt, samples, None if dataset.is_hidden else choices(protocol))


def _view(name: str) -> View:
    try:
        return View(name)
    except ValueError:
        raise ConfigError(f"view={name[:40]!r} is none of {', '.join(view.value for view in View)}.") from None


def _pictures(dataset: Dataset, choice: PictureSelection) -> Iterator[Picture]:
    """Yield the pictures of a selection, with their answers unless these are hidden.

    Raises:
        ConfigError: A picture has no image.
    """
    pictures = open_selection(dataset, choice, answers=not dataset.is_hidden)
    for picture in pictures.stream():
        if picture.problem:
            raise ConfigError(f"{dataset}, question {picture.question_id}: {picture.problem}.")
        yield picture


def _sample(picture: Picture, prompt: Prompt, target: str | list[str], end: str = "") -> Sample:
    mode = f".{picture.mode}" if picture.mode else ""
    metadata = {
        "question_id": picture.question_id,
        "view": picture.view.value,
        "lang": picture.lang,
        "mode": picture.mode,
    }
    return Sample(
        id=f"{picture.question_id}{mode}.{picture.view.value}{end}",
        input=_messages(prompt.request(picture)),
        target=target,
        metadata=metadata,
    )


def _messages(request: Request) -> list[ChatMessage]:
    """Return a request as messages; the bytes of its images stay as they are."""
    images: list[Content] = [
        ContentImage(
            image=f"data:{media_type(image)};base64,{base64.b64encode(image).decode()}",
            detail=next((detail for detail in _DETAILS if detail == request.detail), "auto"),
        )
        for image in request.images
    ]
    text: list[Content] = [ContentText(text=request.text)]
    user = ChatMessageUser(content=[*text, *images] if request.text_first else [*images, *text])
    return [ChatMessageSystem(content=request.system), user] if request.system else [user]


def _task(dataset: Dataset, prompt: Prompt, samples: list[Sample], scorer: Any) -> Task:
    given = prompt.sampling.given
    settings = {name: value for name, value in given.items() if name in GenerateConfig.model_fields}
    rest = {name: value for name, value in given.items() if name not in settings} | dict(prompt.parameters)
    signature = dataset.manifest and str(dataset.manifest.signature)
    return Task(
        dataset=MemoryDataset(samples, name=Path(str(dataset)).name),
        scorer=scorer,
        config=GenerateConfig(**settings, extra_body=rest or None),
        metadata={"dataset": dataset.identity, "signature": signature, **prompt.facts},
    )
