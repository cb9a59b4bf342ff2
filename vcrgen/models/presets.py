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
        image_form: A name of :data:`vcrgen.models.pictures.IMAGE_FORMS`: images are encoded anew; empty to send them
            as they are stored.
        frame: For multiple-choice questions, the name of the words around them; empty for restoration.
    """

    sampling: Sampling
    text_first: bool = False
    detail: str = ""
    image_form: str = ""
    frame: str = ""


# Small strips are lost where a server shrinks images, as OpenAI's does unless `detail` is high.
DEFAULT = Preset(sampling=Sampling(temperature=0.0, max_tokens=256), detail="high")
# `docs/predict.md` describes each row; `tests/models/requests` has the requests of the programs that they name.
PRESETS = {
    # The VCR repository (b3be5a9): no temperature; for GPT-4o the text before the image, for Claude behind it.
    "vcr-repo-gpt": Preset(sampling=Sampling(max_tokens=256), text_first=True),
    "vcr-repo-claude": Preset(sampling=Sampling(max_tokens=256)),
    # VLMEvalKit (e8e78f05), for GPT models: 14 configurations with `detail` high, 3 with low, which also shrink images.
    "vlmevalkit-gpt-high": Preset(
        sampling=Sampling(temperature=0.0, max_tokens=2048), detail="high", image_form="vlmevalkit"
    ),
    "vlmevalkit-gpt-low": Preset(
        sampling=Sampling(temperature=0.0, max_tokens=2048), detail="low", image_form="vlmevalkit-512"
    ),
    # lmms-eval (0.7.3), its default route.
    "lmms-eval-chat": Preset(sampling=Sampling(temperature=0.0, top_p=0.0, max_tokens=120), image_form="png"),
    # The published code of BloomBench, in other words.
    "bloombench": Preset(sampling=Sampling(temperature=0.0, max_tokens=128), frame="numbers-1"),
}


def preset_names(*, mcq: bool) -> list[str]:
    """Names of presets for multiple-choice questions, or for restoration."""
    return [name for name, preset in PRESETS.items() if bool(preset.frame) == mcq]
