"""Request settings of published evaluations: one row each."""

from dataclasses import dataclass

from vcrgen.models.base import Sampling


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """Settings of requests.

    Attributes:
        sampling: Sampling parameters.
        text_first: Whether the question precedes the image.
        detail: Image detail for servers of OpenAI's kind; not sent if empty.
        frame: For multiple-choice questions, the name of the words around them; empty for restoration.
    """

    sampling: Sampling
    text_first: bool = False
    detail: str = ""
    frame: str = ""


# Small strips are lost where a server shrinks images, as OpenAI's does unless `detail` is high.
DEFAULT = Preset(sampling=Sampling(temperature=0.0, max_tokens=256), detail="high")
# `docs/predict.md` describes each row. A new preset takes both, and nothing else.
PRESETS = {
    # The VCR repository (b3be5a9) for GPT-4o and the like: no temperature, the text before the image.
    "paper-closed": Preset(sampling=Sampling(max_tokens=256), text_first=True),
    # VLMEvalKit (e8e78f05), which also converts the image to JPEG; here it is sent as it is.
    "vlmevalkit": Preset(sampling=Sampling(temperature=0.0, max_tokens=2048), detail="low"),
    # lmms-eval (75571cfe).
    "lmms-eval": Preset(sampling=Sampling(temperature=0.0, max_tokens=120), text_first=True),
    # The published code of BloomBench, in other words.
    "bloombench": Preset(sampling=Sampling(temperature=0.0, max_tokens=128), frame="numbers-1"),
}


def preset_names(*, mcq: bool) -> list[str]:
    """Return the presets for multiple-choice questions, or for restoration."""
    return [name for name, preset in PRESETS.items() if bool(preset.frame) == mcq]
