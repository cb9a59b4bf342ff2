"""Options of ``vcrgen finetune``."""

import re
from pathlib import Path
from typing import Literal, Self

from pydantic import field_validator, model_validator

from vcrgen.core.options import PANEL_MEMORY, Options, option
from vcrgen.core.records import is_mode


class TrainOptions(Options):
    """Options of fine-tuning; the defaults are those of the VCR paper (section 4.1), where it names a value."""

    mode: str = option(
        "hard",
        "How much the covers hide: easy, hard, both (of a dataset all of its modes), or a level, as ink-0.20.",
        short="-m",
    )
    view: Literal["stacked", "tei", "strip"] = option("stacked", "What the model sees: stacked (VI+TEI), tei or strip.")
    steps: int = option(250, "Steps of the optimiser.", ge=1, le=10_000_000)
    batch: int = option(64, "Examples of a step.", ge=1, le=65_536)
    learning_rate: float = option(2e-4, "Learning rate of schedule-free AdamW; it stays as it is.", gt=0, le=1)
    rank: int = option(8, "Rank of the LoRA matrices.", ge=1, le=1024)
    alpha: int = option(32, "What they add is multiplied by ALPHA / RANK.", ge=1, le=65_536)
    targets: str = option(
        "language",
        "Linear layers that are adapted: language (those of the language model), all (all but the output layer), or "
        "their names by commas, as q_proj,v_proj.",
    )
    adapter: Path | None = option(
        None, "Folder of a LoRA adapter to start from, whose rank, alpha and layers hold.", shown="a new one"
    )
    seed: int = option(0, "Seed of every random choice.", ge=0, lt=1 << 63)
    chat_template: Path | None = option(
        None, "Jinja file instead of the model's own template; it marks the answer by {% generation %}."
    )
    device: Literal["auto", "cpu", "cuda"] = option(
        "auto", "auto (a GPU if there is one), cpu or cuda.", panel=PANEL_MEMORY
    )
    dtype: Literal["auto", "float32", "bfloat16"] = option(
        "auto",
        "Of the model's weights; the adapter's are float32.",
        shown="float32 on a CPU, else as they are stored",
        panel=PANEL_MEMORY,
    )
    micro_batch: int = option(
        1, "Examples in memory at a time; the step is the same but for rounding.", ge=1, panel=PANEL_MEMORY
    )
    gradient_checkpointing: bool = option(
        False,
        "Compute again what the backward pass needs, instead of keeping it.",
        names="--gradient-checkpointing",
        panel=PANEL_MEMORY,
    )
    save_every: int = option(25, "Steps between two checkpoints.", ge=1, panel=PANEL_MEMORY)
    trust_remote_code: bool = option(
        False, "Run Python code that comes with the model.", names="--trust-remote-code", panel=PANEL_MEMORY
    )

    @field_validator("mode")
    @classmethod
    def _one_mode(cls, value: str) -> str:
        if value != "both" and not is_mode(value):
            raise ValueError(f"{value[:80]!r} is not easy, hard, both, or the name of one level, as ink-0.20")
        return value

    @field_validator("targets")
    @classmethod
    def _names_by_commas(cls, value: str) -> str:
        names = [name.strip() for name in value.split(",")]
        if not all(re.fullmatch(r"[A-Za-z_]\w{0,99}", name) for name in names):
            raise ValueError(f"{value[:80]!r} is not language, all, or names of layers by commas, as q_proj,v_proj")
        return ",".join(names)

    @model_validator(mode="after")
    def _adapter_has_its_own(self) -> Self:
        own = sorted({"rank", "alpha", "targets"} & self.model_fields_set)
        if self.adapter is not None and own:
            raise ValueError(f"--{own[0]} is that of the adapter which --adapter names; leave it out")
        return self
