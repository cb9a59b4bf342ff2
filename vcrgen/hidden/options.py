"""Options of ``vcrgen hidden``."""

from typing import Self

from pydantic import ValidationInfo, field_validator, model_validator

from vcrgen.builder.options import BuildConfig
from vcrgen.core.options import Options, option
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover_kinds import COVER_KINDS

# Options of a build that a hidden set does not have: it draws its pages from the secret, black on white.
NOT_HIDDEN = frozenset(
    {"width", "font", "font_size", "distractors", "paper", "ink_colour", "degrade", "glyph_boxes", "image_format"}
)


class HiddenOptions(Options):
    """Options of a hidden set.

    Of ``config`` the source, the language, the text and the mask count; its cover is `cover`. Covers that hide
    whole letters go by bits, others by ink. Widths, fonts and modes are drawn from the secret.
    """

    cover: str = option(
        "bars", f"Cover that hides the spans: {', '.join(COVER_KINDS)}; of rows, the pixels alone settle every span."
    )
    config: BuildConfig  # after the cover, which decides its modes
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
    public_pictures: bool = option(
        False,
        "Take pictures that may be public, without --not-in; the set's card and boards say so.",
        names="--public-pictures",
    )
    reuse_secret: bool = option(False, "Take a secret that has made another set already.", names="--reuse-secret")

    @field_validator("cover")
    @classmethod
    def _known_cover(cls, value: str) -> str:
        return BuildConfig(cover=value).cover

    @field_validator("fonts")
    @classmethod
    def _split_at_commas(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name.strip() for names in value for name in names.split(","))

    @field_validator("config")
    @classmethod
    def _modes_follow_from_the_cover(cls, config: BuildConfig, info: ValidationInfo) -> BuildConfig:
        if "cover" not in info.data:  # it is wrong itself
            return config
        cover, language = info.data["cover"], LANGUAGES[config.lang]
        by_bits = COVER_KINDS[cover].whole_letters and language.shaper == "basic"
        given = {"cover": cover, "mode": f"bits={','.join(map(str, language.ink_by_bits))}" if by_bits else "both"}
        if wrong := next(
            (name for name in config.model_fields_set & {*given} if getattr(config, name) != given[name]), ""
        ):
            raise ValueError(
                f"the modes of a hidden set follow from its own `cover`; leave `{wrong}` out of its `config`"
            )
        if drawn := sorted(config.model_fields_set & NOT_HIDDEN):
            raise ValueError(
                f"a hidden set draws its pages from the secret, black on white; leave `{drawn[0]}` out of its `config`"
            )
        return BuildConfig(**config.model_dump(exclude_unset=True) | given)

    @model_validator(mode="after")
    def _one_kind_of_forms(self) -> Self:
        if min(self.forms, self.same_pairs) > 1:
            raise ValueError("--forms takes other pairs for every form, --same-pairs the same ones; give one of them")
        return self
