"""How a model is asked about a picture: what is sent with it, and the ways in which published scores were made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from vcrgen.dataset.pictures import Picture
from vcrgen.errors import ConfigError
from vcrgen.models.base import Request, RequestProblem, Sampling

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


def _answer(picture: Picture) -> str:
    """The right answer in full, as models are trained to give it: a line for each place."""
    lines = picture.answers
    if not lines or not all(line.strip() and line.isprintable() for line in lines):
        raise RequestProblem(NO_ANSWER, "its right answers are not texts of one line each")
    return "\n".join(lines)


PRESETS = {
    # Small strips are lost where a server shrinks pictures, as OpenAI's does unless `detail` is high.
    None: Prompt(sampling=Sampling(temperature=0.0, max_tokens=256), detail="high"),
    # The VCR repository (b3be5a9) for GPT-4o and its like: no temperature, the text before the picture.
    "paper-closed": Prompt(sampling=Sampling(max_tokens=256), text_first=True),
    # VLMEvalKit (e8e78f05), which also sends the picture as JPEG: it is sent as it is here.
    "vlmevalkit": Prompt(sampling=Sampling(temperature=0.0, max_tokens=2048), detail="low"),
    # lmms-eval (75571cfe).
    "lmms-eval": Prompt(sampling=Sampling(temperature=0.0, max_tokens=120), text_first=True),
}


def make_prompt(preset: str | None, parameters: Mapping[str, Any], *, answers: bool = False) -> Prompt:
    """A preset with parameters in place of its own, or beside them.

    Args:
        preset: A name of :data:`PRESETS`.
        parameters: By name; one that is None is not sent.
        answers: Whether the log-probability of the right answer is wanted, too.

    Raises:
        ConfigError: A parameter is not of the kind that it has to be.
    """
    prompt = PRESETS[preset]
    known = {name: value for name, value in parameters.items() if name in Sampling.__dataclass_fields__}
    for name, value in known.items():
        fits = type(value) is int or (type(value) is float and name not in _WHOLE and math.isfinite(value))
        if value is not None and not fits:
            raise ConfigError(f"--param {name} has to be a {'whole number' if name in _WHOLE else 'number'} or null.")
    others = {name: value for name, value in parameters.items() if name not in known and value is not None}
    return replace(prompt, sampling=replace(prompt.sampling, **known), parameters=others, answers=answers)
