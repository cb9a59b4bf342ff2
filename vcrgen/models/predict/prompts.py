"""Prompts: the request for an image and its question, by default or with the settings of published scores."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from vcrgen.core.errors import ConfigError
from vcrgen.data.pictures import Picture
from vcrgen.data.tasks.bloom import LETTERS, MAX_OPTIONS, shown_option
from vcrgen.models.base import Request, RequestProblem, Sampling
from vcrgen.models.pictures import encode_image
from vcrgen.models.predict.questions import QuestionPicture
from vcrgen.models.presets import DEFAULT, PRESETS, Preset, preset_names

NO_ANSWER = "no_answer"
_INTEGERS = {"max_tokens", "seed"}  # of the fields of `Sampling`


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Settings of the requests for restoration. None and empty fields are not sent."""

    sampling: Sampling
    text_first: bool = False  # whether the question precedes the image
    detail: str = ""  # image detail for servers of OpenAI's kind
    system: str = ""  # the system prompt
    image_form: str = ""  # how images are encoded anew, by a name of `IMAGE_FORMS`; empty to send them as stored
    parameters: Mapping[str, Any] = field(default_factory=dict)  # others, by the server's names
    answer_logprobs: bool = False  # request the log-probabilities of the right answer, too

    def request(self, picture: Picture) -> Request:
        """Make the request for a picture: its image, if the view shows one, and its question.

        Raises:
            RequestProblem: The right answer is needed and is missing, or is not one line for each span.
        """
        data = picture.data
        if data is not None and self.image_form:
            data = encode_image(data, self.image_form)
        return Request(
            images=() if data is None else (data,),
            text=picture.question,
            system=self.system,
            sampling=self.sampling,
            text_first=self.text_first,
            detail=self.detail,
            parameters=self.parameters,
            candidates=(_answer(picture),) if self.answer_logprobs else (),
        )

    @property
    def facts(self) -> dict[str, Any]:
        """Return all settings by name, as JSON values."""
        others = {f"--param {name}": value for name, value in self.parameters.items()}
        logprobs = {"answer_logprobs": True} if self.answer_logprobs else {}
        form = {"image_form": self.image_form} if self.image_form else {}
        place = {"text_first": self.text_first, "detail": self.detail}
        system = {"system": self.system} if self.system else {}
        return {**self.sampling.given, **place, **form, **system, **logprobs, **others}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The words around a question and its options: English in every language, as in published evaluations."""

    name: str  # with a version, which changes with any word
    labels: tuple[str, ...]  # of the most options that an item may have; none where they are not shown
    option: str  # a line of the list of options
    words: str  # around the question and the list
    alone: str  # around the question without options, for log-probabilities of the options' texts


_FRAMES = (
    Frame(
        name="letters-1",
        labels=tuple(LETTERS),
        option="{label}. {text}",
        words="{question}\n\n{options}\n\nAnswer with the letter of the right option only.",
        alone="{question}\n\nGive the answer only.",
    ),
    # The published code of BloomBench in other words: a role, the question, numbered options, the number alone.
    Frame(
        name="numbers-1",
        labels=tuple(str(number) for number in range(1, MAX_OPTIONS + 1)),
        option="{label}) {text}",
        words="You look at pictures and answer questions about them.\nQuestion: {question}\n{options}\n"
        "Reply with the number of the right option and nothing else.\nAnswer: ",
        alone="You look at pictures and answer questions about them.\nQuestion: {question}\nAnswer: ",
    ),
)
FRAMES = {frame.name: frame for frame in _FRAMES}
_OPEN_FRAME = Frame(
    name="open-1",
    labels=(),
    option="",
    words="{question}\n\nGive the answer only, in a few words.",
    alone="{question}\n\nGive the answer only.",
)


@dataclass(frozen=True, kw_only=True)
class ChoicePrompt(Prompt):
    """Settings of the requests for multiple-choice questions.

    Here ``answer_logprobs`` requests the log-probabilities of each option's text, with no options shown.
    """

    frame: Frame = _FRAMES[0]
    label_logprobs: bool = False  # request the log-probabilities of the labels as the first token, too

    def request(self, picture: Picture) -> Request:
        """Make the request for a question, with its options in the order of its rotation."""
        request = Prompt.request(replace(self, answer_logprobs=False), picture)
        if not isinstance(picture, QuestionPicture):  # a question for the canary
            return request
        frame, count, listed = self.frame, len(picture.options), []
        labels = frame.labels[:count]
        for number, label in enumerate(labels):
            text = picture.options[shown_option(number, picture.rotation, count)]
            listed.append(frame.option.format(label=label, text=text))
        # No options are shown for these, so one request serves all rotations.
        alone = self.answer_logprobs and picture.rotation == 0
        return replace(
            request,
            text=frame.words.format(question=picture.question, options="\n".join(listed)),
            candidates=tuple(option.strip() for option in picture.options) if alone else (),
            candidates_text=frame.alone.format(question=picture.question) if alone else "",
            labels=labels if self.label_logprobs else (),
        )

    @property
    def facts(self) -> dict[str, Any]:
        """Return all settings by name, as JSON values."""
        logprobs = {"label_logprobs": True} if self.label_logprobs else {}
        return {"frame": self.frame.name, **logprobs, **super().facts}


AnyPrompt = TypeVar("AnyPrompt", bound=Prompt)


def _answer(picture: Picture) -> str:
    """Right answer in the form that models are trained to give: a line for each span."""
    lines = picture.answers
    if not lines or not all(line.strip() and line.isprintable() for line in lines):
        raise RequestProblem(NO_ANSWER, "its right answers are not texts of one line each")
    return "\n".join(lines)


def make_prompt(preset: str | None, parameters: Mapping[str, Any], *, answer_logprobs: bool = False) -> Prompt:
    """Make the prompt of restoration: a preset, with parameters that replace its own.

    Args:
        preset: A name of :data:`PRESETS`.
        parameters: By name; None removes one.
        answer_logprobs: Request the log-probabilities of the right answer, too.

    Raises:
        ConfigError: A parameter has the wrong type, or the preset is for multiple-choice questions.
    """
    base = _preset(preset, mcq=False)
    prompt = Prompt(sampling=base.sampling, text_first=base.text_first, detail=base.detail, image_form=base.image_form)
    return replace(_with_parameters(prompt, parameters), answer_logprobs=answer_logprobs)


def make_choice_prompt(
    preset: str | None,
    parameters: Mapping[str, Any],
    *,
    answer_logprobs: bool = False,
    label_logprobs: bool = False,
    is_open: bool = False,
) -> ChoicePrompt:
    """Make the prompt of multiple-choice questions, as :func:`make_prompt`.

    Args:
        preset: A name of :data:`PRESETS`.
        parameters: By name; None removes one.
        answer_logprobs: Request the log-probabilities of the options' texts, too.
        label_logprobs: Request the log-probabilities of the labels, too.
        is_open: Show no options.

    Raises:
        ConfigError: A parameter has the wrong type, or the preset is for restoration.
    """
    base = _preset(preset, mcq=True)
    frame = _OPEN_FRAME if is_open else FRAMES[base.frame] if base.frame else _FRAMES[0]
    prompt = ChoicePrompt(sampling=base.sampling, text_first=base.text_first, detail=base.detail, frame=frame)
    return replace(_with_parameters(prompt, parameters), answer_logprobs=answer_logprobs, label_logprobs=label_logprobs)


def _preset(name: str | None, *, mcq: bool) -> Preset:
    if name is None:
        return DEFAULT
    if name not in (names := preset_names(mcq=mcq)):
        raise ConfigError(
            f"--preset {name} is not for a dataset of this kind; for this one there is {', '.join(names)}."
        )
    return PRESETS[name]


def _with_parameters(prompt: AnyPrompt, parameters: Mapping[str, Any]) -> AnyPrompt:
    sampling = {name: value for name, value in parameters.items() if name in Sampling.__dataclass_fields__}
    for name, value in sampling.items():
        fits = type(value) is int or (type(value) is float and name not in _INTEGERS and math.isfinite(value))
        if value is not None and not fits:
            kind = "whole number" if name in _INTEGERS else "number"
            raise ConfigError(f"--param {name} has to be a {kind} or null.")
    others = {name: value for name, value in parameters.items() if name not in sampling and value is not None}
    return replace(prompt, sampling=replace(prompt.sampling, **sampling), parameters=others)
