"""How a model is asked about a picture: what is sent with it, and the ways in which published scores were made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from vcrgen.dataset.pictures import Picture
from vcrgen.errors import ConfigError
from vcrgen.models.base import Request, RequestProblem, Sampling
from vcrgen.predict.questions import ChoicePicture
from vcrgen.tasks.bloom import LETTERS, shown_option

NO_ANSWER = "no_answer"
_WHOLE = {"max_tokens", "seed"}  # of the fields of `Sampling`


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What goes with a picture and its question. What is None, or empty, is not sent."""

    sampling: Sampling
    text_first: bool = False  # whether the question comes before the picture
    detail: str = ""  # how closely servers of OpenAI's kind look at the picture
    parameters: Mapping[str, Any] = field(default_factory=dict)  # others, by the server's names
    answers: bool = False  # whether the log-probability of the right answer is wanted, too

    def request(self, picture: Picture) -> Request:
        """The request for a picture: with its image, if it shows one, and its question.

        Raises:
            RequestProblem: Its right answer is wanted and there is none, or it cannot be told apart line by line.
        """
        return Request(
            images=() if picture.data is None else (picture.data,),
            text=picture.question,
            sampling=self.sampling,
            text_first=self.text_first,
            detail=self.detail,
            parameters=self.parameters,
            candidates=(_answer(picture),) if self.answers else (),
        )

    @property
    def facts(self) -> dict[str, Any]:
        """All of it by name, as JSON values."""
        others = {f"--param {name}": value for name, value in self.parameters.items()}
        answers = {"answers": True} if self.answers else {}
        return {**self.sampling.given, "text_first": self.text_first, "detail": self.detail, **answers, **others}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """The words around a question and its options. They are English in every language, as those of published scores."""

    name: str  # and version: whoever changes a word changes it
    labels: str  # a character for each option
    option: str  # a line of the list of options
    words: str  # around the question and the list
    alone: str  # around the question where no options are shown, and the likelihood of each is wanted


LETTER_FRAME = Frame(
    name="letters-1",
    labels=LETTERS,
    option="{label}. {text}",
    words="{question}\n\n{options}\n\nAnswer with the letter of the right option only.",
    alone="{question}\n\nGive the answer only.",
)
# As the published code of BloomBench asks, in other words: a role, the question, options from 1 to 4, the number alone.
NUMBER_FRAME = Frame(
    name="numbers-1",
    labels="1234",
    option="{label}) {text}",
    words="You look at pictures and answer questions about them.\nQuestion: {question}\n{options}\n"
    "Reply with the number of the right option and nothing else.\nAnswer: ",
    alone="You look at pictures and answer questions about them.\nQuestion: {question}\nAnswer: ",
)


@dataclass(frozen=True, kw_only=True)
class ChoicePrompt(Prompt):
    """What goes with a picture, its question and four options.

    Here ``answers`` asks for the log-probabilities of each option's text, with no options shown.
    """

    frame: Frame = LETTER_FRAME
    letters: bool = False  # whether the log-probabilities of the labels as the first token are wanted, too

    def request(self, picture: Picture) -> Request:
        """The request for a question, with its options in the order of its rotation."""
        request = Prompt.request(replace(self, answers=False), picture)
        if not isinstance(picture, ChoicePicture):  # a question for the canary
            return request
        frame, listed = self.frame, []
        for number, label in enumerate(frame.labels):
            text = picture.options[shown_option(number, picture.rotation)]
            listed.append(frame.option.format(label=label, text=text))
        # The likelihoods do not hang on the order, as no options are shown: they are asked for once.
        alone = self.answers and picture.rotation == 0
        return replace(
            request,
            text=frame.words.format(question=picture.question, options="\n".join(listed)),
            candidates=tuple(option.strip() for option in picture.options) if alone else (),
            candidates_text=frame.alone.format(question=picture.question) if alone else "",
            labels=tuple(frame.labels) if self.letters else (),
        )

    @property
    def facts(self) -> dict[str, Any]:
        """All of it by name, as JSON values."""
        letters = {"letters": True} if self.letters else {}
        return {"frame": self.frame.name, **letters, **super().facts}


AnyPrompt = TypeVar("AnyPrompt", bound=Prompt)


def _answer(picture: Picture) -> str:
    """The right answer in full, as models are trained to give it: a line for each place."""
    lines = picture.answers
    if not lines or not all(line.strip() and line.isprintable() for line in lines):
        raise RequestProblem(NO_ANSWER, "its right answers are not texts of one line each")
    return "\n".join(lines)


PRESETS: dict[str | None, Prompt] = {
    # Small strips are lost where a server shrinks pictures, as OpenAI's does unless `detail` is high.
    None: Prompt(sampling=Sampling(temperature=0.0, max_tokens=256), detail="high"),
    # The VCR repository (b3be5a9) for GPT-4o and its like: no temperature, the text before the picture.
    "paper-closed": Prompt(sampling=Sampling(max_tokens=256), text_first=True),
    # VLMEvalKit (e8e78f05), which also sends the picture as JPEG: it is sent as it is here.
    "vlmevalkit": Prompt(sampling=Sampling(temperature=0.0, max_tokens=2048), detail="low"),
    # lmms-eval (75571cfe).
    "lmms-eval": Prompt(sampling=Sampling(temperature=0.0, max_tokens=120), text_first=True),
}
# And of question sets.
CHOICE_PRESETS: dict[str | None, ChoicePrompt] = {
    None: ChoicePrompt(sampling=Sampling(temperature=0.0, max_tokens=256), detail="high"),
    "bloombench": ChoicePrompt(sampling=Sampling(temperature=0.0, max_tokens=128), frame=NUMBER_FRAME),
}


def make_prompt(preset: str | None, parameters: Mapping[str, Any], *, answers: bool = False) -> Prompt:
    """How pictures of Visual Caption Restoration are asked about: a preset with parameters in place of its own.

    Args:
        preset: A name of :data:`PRESETS`.
        parameters: By name; one that is None is not sent.
        answers: Whether the log-probability of the right answer is wanted, too.

    Raises:
        ConfigError: A parameter is not of the kind that it has to be, or the preset is for question sets.
    """
    return replace(_with_parameters(_preset(PRESETS, preset), parameters), answers=answers)


def make_choice_prompt(
    preset: str | None, parameters: Mapping[str, Any], *, answers: bool = False, letters: bool = False
) -> ChoicePrompt:
    """How the questions of a question set are asked, as :func:`make_prompt`.

    Args:
        preset: A name of :data:`CHOICE_PRESETS`.
        parameters: As there.
        answers: Whether the log-probabilities of the options' texts are wanted, too.
        letters: Whether those of the labels are.

    Raises:
        ConfigError: As there; or the preset is for Visual Caption Restoration.
    """
    prompt = _with_parameters(_preset(CHOICE_PRESETS, preset), parameters)
    return replace(prompt, answers=answers, letters=letters)


def _preset(presets: Mapping[str | None, AnyPrompt], name: str | None) -> AnyPrompt:
    if name not in presets:
        known = ", ".join(other for other in presets if other)
        raise ConfigError(f"--preset {name} is not for a dataset of this kind; for this one there is {known}.")
    return presets[name]


def _with_parameters(prompt: AnyPrompt, parameters: Mapping[str, Any]) -> AnyPrompt:
    known = {name: value for name, value in parameters.items() if name in Sampling.__dataclass_fields__}
    for name, value in known.items():
        fits = type(value) is int or (type(value) is float and name not in _WHOLE and math.isfinite(value))
        if value is not None and not fits:
            raise ConfigError(f"--param {name} has to be a {'whole number' if name in _WHOLE else 'number'} or null.")
    others = {name: value for name, value in parameters.items() if name not in known and value is not None}
    return replace(prompt, sampling=replace(prompt.sampling, **known), parameters=others)
