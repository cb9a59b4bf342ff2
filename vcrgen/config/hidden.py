"""Options of ``vcrgen hidden``."""

from typing import Self

from pydantic import field_validator, model_validator

from vcrgen.config.base import Options, option
from vcrgen.config.build import BuildConfig


class HiddenOptions(Options):
    """Options of a hidden set.

    Of ``config`` the source, the language, the text, the mask and the kind of cover count; widths, fonts and modes are
    drawn from the secret.
    """

    config: BuildConfig
    items: int = option(100, "Pairs in the set; with --forms, in each form.", ge=1, le=100_000)
    forms: int = option(1, "Sets that share no picture and no caption, and are alike.", ge=1, le=20)
    same_pairs: int = option(1, "Sets of the same pairs, with other spans, fonts and places.", ge=1, le=20)
    feedback: float = option(
        1 / 3, "Share of the pictures in the feedback part; the others are the final part.", ge=0, lt=1, shown="a third"
    )
    fonts: tuple[str, ...] = option(
        (), "Names of `vcrgen fonts` or font files, by commas.", shown="all shipped text faces"
    )
    not_in: tuple[str, ...] = option(
        (), "Dataset or earlier hidden set whose pairs are refused, by picture and by caption. Repeatable."
    )
    private_source: bool = option(
        False,
        "Draw built-in pairs (samples) or questions (scenes) from the secret: only its owner can rebuild them.",
        names="--private-source",
    )
    reuse_secret: bool = option(False, "Take a secret that has made another set already.", names="--reuse-secret")

    @field_validator("fonts")
    @classmethod
    def _split_at_commas(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name.strip() for names in value for name in names.split(","))

    @model_validator(mode="after")
    def _no_levels(self) -> Self:
        if self.config.mode.startswith("ink="):
            raise ValueError(
                "a hidden set has easy and hard covers, drawn from the secret, and no levels; leave `mode` out"
            )
        return self

    @model_validator(mode="after")
    def _one_kind_of_forms(self) -> Self:
        if min(self.forms, self.same_pairs) > 1:
            raise ValueError("--forms takes other pairs for every form, --same-pairs the same ones; give one of them")
        return self
