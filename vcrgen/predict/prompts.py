"""How a model is asked about a picture: what is sent with it, and the ways in which published scores were made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from vcrgen.dataset.pictures import Picture
from vcrgen.errors import ConfigError
from vcrgen.models.base import Request, Sampling

_WHOLE = {"max_tokens", "seed"}  # of the fields of `Sampling`


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What goes with a picture and its question. What is None, or empty, is not sent."""

    sampling: Sampling
    text_first: bool = False  # whether the question comes before the picture
    detail: str = ""  # how closely servers of OpenAI's kind look at the picture
    parameters: Mapping[str, Any] = field(default_factory=dict)  # others, by the server's names

    def request(self, picture: Picture) -> Request:
        """The request for a picture: with its image, if it shows one, and its question."""
        return Request(
            images=() if picture.data is None else (picture.data,),
            text=picture.question,
            sampling=self.sampling,
            text_first=self.text_first,
            detail=self.detail,
            parameters=self.parameters,
        )

    @property
    def facts(self) -> dict[str, Any]:
        """All of it by name, as JSON values."""
        others = {f"--param {name}": value for name, value in self.parameters.items()}
        return {**self.sampling.given, "text_first": self.text_first, "detail": self.detail, **others}


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


def make_prompt(preset: str | None, parameters: Mapping[str, Any]) -> Prompt:
    """A preset with parameters in place of its own, or beside them.

    Args:
        preset: A name of :data:`PRESETS`.
        parameters: By name; one that is None is not sent.

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
    return replace(prompt, sampling=replace(prompt.sampling, **known), parameters=others)
