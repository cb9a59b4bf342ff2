"""Options of ``vcrgen predict``."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import field_validator, model_validator

from vcrgen.core.options import PANEL_LOCAL_MODEL, PANEL_SERVER, option, read_parameters, spelling
from vcrgen.models.presets import PRESETS, preset_names
from vcrgen.models.server_options import ServerOptions

RESERVED_PARAMETERS = {"model", "messages", "stream", "n"}  # of the request itself, or of the form of its reply


class PredictOptions(ServerOptions):
    """Choice of a model, of the items that it answers, and of the requests."""

    model: str | None = option(None, "Name of the model, as the server knows it; of --transformers, for the outputs.")

    transformers: Path | None = option(
        None, "Folder of a model that is loaded into this process.", panel=PANEL_LOCAL_MODEL
    )
    adapter: Path | None = option(None, "Folder of a LoRA adapter of it.", panel=PANEL_LOCAL_MODEL)
    batch_size: int = option(8, "Images that are answered together.", ge=1, le=1024, panel=PANEL_LOCAL_MODEL)
    device: Literal["auto", "cpu", "cuda"] = option(
        "auto", "auto (a GPU if there is one), cpu or cuda.", panel=PANEL_LOCAL_MODEL
    )
    trust_remote_code: bool = option(
        False,
        "Run Python code that comes with the model, if it needs it.",
        names="--trust-remote-code",
        panel=PANEL_LOCAL_MODEL,
    )

    view: Literal["stacked", "tei", "both", "image", "text-only"] | None = option(
        None,
        "stacked (VI+TEI), tei, both, or text-only (the caption with gaps). Of an MCQ benchmark: image, text-only (the "
        "question alone), or both.",
        shown="stacked, or image",
    )
    mode: str | None = option(None, "Only this mode.", shown="all")
    split: str | None = option(None, "Only this split.", shown="all")
    limit: int | None = option(None, "Only the first N questions.", shown="all", ge=1)
    lang: str | None = option(None, "Of an MCQ benchmark: only this language.", shown="all")
    rotations: int = option(
        1,
        "Of an MCQ benchmark: 1, or the number of options (4 of most) to send each question in all their orders.",
        ge=1,
        le=10,
    )
    open_answers: bool = option(
        False, "Of an MCQ benchmark: do not show the options; score with --protocol bloom-open.", names="--open-answers"
    )
    canary: bool = option(
        False, "Instead of pictures, ask for the canary of a hidden set, in five ways.", names="--canary"
    )
    preset: str | None = option(
        None,
        f"Settings of published scores: {', '.join(preset_names(mcq=False))}; of an MCQ benchmark, "
        f"{', '.join(preset_names(mcq=True))}.",
    )
    system: str = option("", "A system prompt.", shown="none")
    param: tuple[str, ...] = option((), "KEY=JSON: a parameter of the request; null takes one away. Repeatable.")
    answer_logprobs: bool = option(
        False,
        "Request log-probabilities of the right answers; of an MCQ benchmark, of every option's text.",
        names="--answer-logprobs",
    )
    label_logprobs: bool = option(
        False, "Of an MCQ benchmark: request log-probabilities of the labels (A, B, ...).", names="--label-logprobs"
    )

    @field_validator("preset")
    @classmethod
    def _known_preset(cls, value: str | None) -> str | None:
        if value is not None and value not in PRESETS:
            raise ValueError(f"unknown preset {value[:80]!r}; known: {', '.join(PRESETS)}")
        return value

    @model_validator(mode="after")
    def _options_fit(self) -> Self:
        if self.transformers is None and not (self.endpoint and self.model):
            raise ValueError(
                "give --endpoint and --model (where the server is, and what it calls the model), or --transformers DIR"
            )
        if self.transformers is not None and self.endpoint:
            raise ValueError("give --endpoint or --transformers, not both")
        panel, other = (
            (PANEL_LOCAL_MODEL, "--transformers") if self.transformers is None else (PANEL_SERVER, "--endpoint")
        )
        for name in sorted(self.model_fields_set):
            extra = type(self).model_fields[name].json_schema_extra
            if isinstance(extra, dict) and extra["panel"] == panel:
                raise ValueError(f"{spelling(type(self), name)} belongs to {other}")
        if self.canary and (self.view or self.mode or self.split or self.limit or self.answer_logprobs):
            raise ValueError(
                "--canary asks about no picture, so leave out --view, --mode, --split, --limit and --answer-logprobs"
            )
        if self.open_answers and (self.label_logprobs or self.rotations > 1):
            raise ValueError("--open-answers shows no options, so leave out --rotations and --label-logprobs")
        _ = self.parameters
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """Values of ``--param`` by name; a ValueError for a reserved name."""
        return read_parameters(self.param, "--param", RESERVED_PARAMETERS)
