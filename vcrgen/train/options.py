"""Options of ``vcrgen finetune``."""

from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from vcrgen.core.options import Options, option, read_yaml, validate_options
from vcrgen.core.records import is_mode, read_modes
from vcrgen.core.resources import resource_dir


class TrainOptions(Options):
    """Options of fine-tuning."""

    method: Literal["sft", "grpo"] = option(
        "sft", "sft (answers are given) or grpo (answers are sampled, and `restoration` rewards them)."
    )
    recipe: Path | None = option(
        None,
        "YAML of fields for peft's LoRA (lora:), TRL's configurations (sft:, grpo:) and a build's of pairs (stream:).",
        shown="the VCR paper's",
    )
    mode: str = option(
        "hard",
        "How much the covers hide: easy, hard, both (of a dataset all modes), or one level, as ink=0.2 or bits=4.",
        short="-m",
    )
    view: Literal["stacked", "tei", "strip"] = option("stacked", "What the model sees: stacked (VI+TEI), tei or strip.")
    lang: str = option("en", "Language of pairs; of a dataset its own.", short="-l")
    steps: int | None = option(None, "Steps of the optimiser.", shown="max_steps of the configuration", ge=1)
    adapter: Path | None = option(None, "Folder of a LoRA adapter to go on from.", shown="a new one")
    seed: int = option(0, "Seed of every random choice.", ge=0, lt=1 << 32)
    device: Literal["auto", "cpu", "cuda"] = option("auto", "auto (a GPU if there is one), cpu or cuda.")
    trust_remote_code: bool = option(False, "Run Python code that comes with the model.", names="--trust-remote-code")

    @field_validator("mode")
    @classmethod
    def _one_mode(cls, value: str) -> str:
        """The name of a mode, which may be typed as for a build."""
        if value == "both" or is_mode(value):
            return value
        with suppress(ValueError):
            if len(modes := read_modes(value)) == 1:
                return str(modes[0])
        raise ValueError(f"{value[:80]!r} is not easy, hard, both, or one level, as ink=0.2 or bits=4")


class Recipe(Options):
    """The sections of a configuration, each with fields for a constructor."""

    lora: dict[str, Any] = Field(default_factory=dict)  # peft.LoraConfig
    sft: dict[str, Any] = Field(default_factory=dict)  # trl.SFTConfig
    grpo: dict[str, Any] = Field(default_factory=dict)  # trl.GRPOConfig
    stream: dict[str, Any] = Field(default_factory=dict)  # of pairs: vcrgen.BuildConfig


def read_recipe(file: Path | None) -> Recipe:
    """The built-in configuration, with the values of a file in place of its own.

    Raises:
        ConfigError: The file cannot be read, or has other sections.
    """
    recipe = Recipe.model_validate(read_yaml(resource_dir("configs") / "finetune.yaml"))
    if file is None:
        return recipe
    own = validate_options(Recipe, read_yaml(file), f"{file}: ")
    return Recipe(**{name: values | getattr(own, name) for name, values in recipe})
