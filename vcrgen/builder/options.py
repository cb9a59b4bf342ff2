"""Options of ``vcrgen build``: every choice that decides the bytes of a dataset."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import ConfigDict, ValidationInfo, field_validator, model_validator

from vcrgen.builder.source_options import SourceOptions
from vcrgen.core.errors import ConfigError
from vcrgen.core.files import canonical_json
from vcrgen.core.options import (
    PANEL_IMAGES,
    PANEL_RUN,
    PANEL_SOURCE,
    PANEL_TEXT,
    drop_none,
    legacy_values,
    option,
    read_yaml,
    validate_options,
)
from vcrgen.core.records import MAX_BITS, MAX_INK, SPLIT_NAME, Mode, modes_text, read_modes
from vcrgen.core.resources import resource_dir
from vcrgen.text.cleaning import CLEANINGS
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.mask_kinds import MASK_KINDS
from vcrgen.typeset.cover_kinds import COVER_KINDS, ROWS
from vcrgen.typeset.degradation_kinds import DEGRADATIONS, parse_degradations
from vcrgen.typeset.paper_kinds import BLACK, LEAST_CONTRAST, PAPER_KINDS, PLAIN, contrast, read_colour

REST = "..."
# The only one of these names that `load_dataset` (datasets 5.2) refuses, in small and in capital letters.
RESERVED_SPLIT = "all"
# Fields that name files. What is in the files counts (in signature and plan), not what they are called here.
BY_CONTENT = {"source", "image_root", "font", "censor_list", "spacy_model"}
KNOWN_PAIRS = ("image_root", "image_column", "caption_column", "id_column")  # in which something is searched
# Fields that decide which split a pair is in, and nothing of the pair.
SPLIT_FIELDS = ("splits", "split_seed", "near_copies")


class BuildConfig(SourceOptions):
    """Every choice that decides the bytes of a dataset, and nothing else.

    Where it is written and by how many workers is not here, so that two builds with equal configurations are equal.

    Examples:
        >>> config = BuildConfig(lang="zh", mode="hard", seed=1)
        >>> build("samples:3", out="data/my-zh", config=config, progress=False)
        <BuildResult data/my-zh: 3 of 3 pairs, modes hard>
    """

    model_config = ConfigDict(validate_default=True)

    source: str = option("samples", "Where the pairs come from.")
    source_license: str | None = option(
        None, "License of the source, for the card.", max_length=200, panel=PANEL_SOURCE
    )

    captions: Literal["first", "longest", "each"] = option(
        "first", "Of several captions of a picture: first, longest or each.", legacy="first", panel=PANEL_SOURCE
    )

    lang: str = option("en", f"Language of the captions: {', '.join(LANGUAGES)}.", short="-l")
    mode: str = option(
        "both",
        "How much the covers hide: easy, hard, both, shares of ink as ink=0.1,0.5, or least bits as bits=4,8.",
        short="-m",
    )
    mask: str = option("ngram", f"Kind of text that is masked: {', '.join(MASK_KINDS)}.", panel=PANEL_TEXT)
    ngram_size: int = option(5, "Tokens of an n-gram.", ge=1, le=10, short="-n", panel=PANEL_TEXT)
    max_share: float = option(0.5, "Masked tokens, at most, as a share of the caption's.", gt=0, le=1, panel=PANEL_TEXT)
    percentage: float = option(0.3, "Share of tokens that --mask percentage aims at.", gt=0, le=1, panel=PANEL_TEXT)
    spacy_model: str | None = option(None, "A trained spaCy pipeline instead of the built-in one.", panel=PANEL_TEXT)
    censor_list: Path | None = option(None, "File of words, one a line, beside the built-in list.", panel=PANEL_TEXT)
    clean: str | None = option(
        None,
        "Clean captions of what the web leaves in them (web): tags, entities, escapes, citation marks, mojibake.",
        legacy=None,
        panel=PANEL_TEXT,
    )
    seed: int = option(0, "Seed of every random choice.", ge=0, lt=1 << 63)

    width: int = option(300, "Width of all images in pixels.", ge=64, le=4096, panel=PANEL_IMAGES)
    font: Path | None = option(None, "Font file, or a name that `vcrgen fonts` lists.", panel=PANEL_IMAGES)
    font_size: int = option(20, "Font size in pixels.", ge=6, le=400, panel=PANEL_IMAGES)
    max_lines: int = option(5, "Captions are shortened to this many rendered lines.", ge=1, le=100, panel=PANEL_IMAGES)
    line_breaks: Literal["native", "vcr-wiki"] = option(
        "native",
        "Where lines end: as readers of the language expect, or as in VCR-WIKI, in Chinese between any two characters.",
        panel=PANEL_IMAGES,
    )
    max_height: int = option(900, "Higher stacked images are rejected, in pixels.", ge=64, le=16384, panel=PANEL_IMAGES)
    min_side: int = option(16, "Images with a shorter side are rejected, in pixels.", ge=1, panel=PANEL_IMAGES)
    max_pixels: int = option(89_478_485, "Images of more pixels are rejected undecoded.", ge=1, panel=PANEL_IMAGES)

    cover: str = option(
        "rows", f"Cover that hides the spans: {', '.join(COVER_KINDS)}.", legacy="rows", panel=PANEL_IMAGES
    )
    least_bits: float = option(
        0.0,
        "Least bits that the visible pixels of a span leave; its cover is drawn again until they do.",
        ge=0,
        le=MAX_BITS,
        legacy=0.0,
        panel=PANEL_IMAGES,
    )
    least_ink: float = option(
        0.25,
        "Least visible ink of a span whose cover goes by bits, as a share.",
        ge=0,
        le=MAX_INK,
        legacy=0.25,
        panel=PANEL_IMAGES,
    )
    distractors: int = option(
        0,
        "Covers of the same kind where no text is, on the picture and on blank paper.",
        ge=0,
        le=20,
        legacy=0,
        panel=PANEL_IMAGES,
    )
    paper: str = option(
        PLAIN, f"Paper that the caption is printed on: {', '.join(PAPER_KINDS)}.", legacy=PLAIN, panel=PANEL_IMAGES
    )
    ink_colour: str = option(
        BLACK, "Colour of the printed caption: red, green and blue in hex, as 1f3a6e.", legacy=BLACK, panel=PANEL_IMAGES
    )
    degrade: str | None = option(
        None,
        "Worsen the finished images, in this order, as jpeg=40,blur=1.2,lowres=0.5,camera=0.3,skew=2,perspective=0.1.",
        legacy=None,
        panel=PANEL_IMAGES,
    )
    glyph_boxes: bool = option(
        False,
        "Add a column with the box of every glyph in the strip.",
        names="--glyph-boxes",
        legacy=False,
        panel=PANEL_IMAGES,
    )
    image_format: Literal["png", "webp"] = option(
        "png", "Format of the written images, png or webp; both are lossless.", panel=PANEL_IMAGES
    )
    splits: str = option(
        "train=...", "NAME=COUNT, NAME=SHARE (0.1) or NAME=... for the rest, by commas.", panel=PANEL_RUN
    )
    split_seed: int | None = option(
        None,
        "Seed of the splits, if another than --seed.",
        ge=0,
        lt=1 << 63,
        shown="that of --seed",
        legacy=None,
        panel=PANEL_RUN,
    )
    near_copies: Literal["on", "off"] = option(
        "on",
        "Near copies of a picture, as its JPEG, count as the picture where a split is not train; off: only equal ones.",
        legacy="on",
        panel=PANEL_RUN,
    )
    shard_size: int | None = option(
        None,
        "Pairs a shard, rows a file; if not given, a 32nd of the source, 16 to 512, and in large ones up to 400 MB.",
        ge=1,
        le=10_000,
        panel=PANEL_RUN,
    )

    @field_validator("lang")
    @classmethod
    def _known_language(cls, value: str) -> str:
        if value not in LANGUAGES:
            raise ValueError(f"unknown language {value!r}; known: {', '.join(LANGUAGES)}")
        return value

    @field_validator("cover", "mask", "paper")
    @classmethod
    def _known_kind(cls, value: str, field: ValidationInfo) -> str:
        name = str(field.field_name)
        kinds: Mapping[str, object] = {"cover": COVER_KINDS, "mask": MASK_KINDS, "paper": PAPER_KINDS}[name]
        if value not in kinds:
            raise ValueError(f"unknown {name} {value!r}; known: {', '.join(kinds)}")
        return value

    @field_validator("clean")
    @classmethod
    def _known_cleaning(cls, value: str | None) -> str | None:
        if value is not None and value not in CLEANINGS:
            raise ValueError(f"unknown cleaning {value!r}; known: {', '.join(CLEANINGS)}")
        return value

    @field_validator("ink_colour")
    @classmethod
    def _is_a_colour(cls, value: str) -> str:
        return bytes(read_colour(value)).hex()

    @field_validator("mode")
    @classmethod
    def _known_mode(cls, value: str) -> str:
        return modes_text(read_modes(value))

    @field_validator("degrade")
    @classmethod
    def _degrade_parses(cls, value: str | None) -> str | None:
        return None if value is None else ",".join(f"{name}={amount:g}" for name, amount in parse_degradations(value))

    @model_validator(mode="after")
    def _splits_parse(self) -> Self:
        parse_splits(self.splits)
        return self

    @model_validator(mode="after")
    def _print_can_be_read(self) -> Self:
        ratio = contrast(PAPER_KINDS[self.paper].colour, self.ink_colour)
        if ratio < LEAST_CONTRAST:
            raise ValueError(
                f"print of the colour {self.ink_colour} has a contrast of {ratio:.1f} on {self.paper} paper, at least "
                f"{LEAST_CONTRAST} is needed; choose a darker --ink-colour"
            )
        return self

    @model_validator(mode="after")
    def _boxes_stay_upright(self) -> Self:
        if self.glyph_boxes and self.is_warped:
            raise ValueError(f"no box of a glyph is valid in a warped image; leave out --glyph-boxes or {self.degrade}")
        return self

    @model_validator(mode="after")
    def _bits_can_be_left(self) -> Self:
        language, whole = LANGUAGES[self.lang], [kind.name for kind in COVER_KINDS.values() if kind.whole_letters]
        levels = [mode.bits for mode in self.modes if mode.bits]
        if odd := set(levels) - set(language.ink_by_bits):
            calibrated_levels = ", ".join(map(str, language.ink_by_bits))
            raise ValueError(f"bits={min(odd)} has no calibrated covers; known: {calibrated_levels}")
        if levels and self.cover not in whole:
            raise ValueError(
                f"--mode bits needs covers that hide whole letters, as --cover {whole[0]}: parts of every letter, as "
                f"--cover {self.cover} leaves them, settle the text"
            )
        if self.is_selective and language.shaper != "basic":
            raise ValueError(f"bits are unknown for {language.name}, whose letters change with their neighbours")
        return self

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes to build: easy first, levels as they rise."""
        return read_modes(self.mode)

    def public_fields(self) -> dict[str, Any]:
        """The fields as JSON values, without names of local files and without legacy values (see `option`)."""
        values = self.model_dump(mode="json", exclude=BY_CONTENT)
        values["n"] = values.pop("ngram_size")  # the name in every dataset that was written
        legacy = legacy_values(type(self))
        return {name: value for name, value in values.items() if name not in legacy or value != legacy[name]}

    @property
    def is_selective(self) -> bool:
        """Covers are accepted by the bits that they leave."""
        return self.least_bits > 0 or any(mode.bits for mode in self.modes)

    @property
    def is_printed(self) -> bool:
        """The strip has another paper or print than black on white."""
        return (self.paper, self.ink_colour) != (PLAIN, BLACK)

    @property
    def is_warped(self) -> bool:
        """The finished images are warped, which makes boxes invalid."""
        return self.degrade is not None and any(DEGRADATIONS[name].warp for name, _ in parse_degradations(self.degrade))

    @property
    def optional_columns(self) -> tuple[str, ...]:
        """The columns of the dataset that not every dataset has."""
        optional = {
            "cover_mask": self.cover != ROWS or self.is_warped,
            "pixel_bits": self.is_selective,
            "distractors": self.distractors > 0 and not self.is_warped,
            "glyph_boxes": self.glyph_boxes,
        }
        return tuple(name for name, is_present in optional.items() if is_present)

    def content_hash(self) -> str:
        """SHA-256 in hex over the canonical JSON of `public_fields` without the splits and their seed."""
        values = {name: value for name, value in self.public_fields().items() if name not in SPLIT_FIELDS}
        return hashlib.sha256(canonical_json(values).encode()).hexdigest()


def parse_splits(text: str) -> dict[str, int | float | None]:
    """Read ``train=...,validation=5000,test=0.1``.

    Returns:
        Name to count (int), share (float) or None for the one split that takes the rest.

    Raises:
        ValueError: The text is not of that form, a name comes twice or is one that `datasets` refuses, or not exactly
            one split takes the rest.
    """
    splits: dict[str, int | float | None] = {}
    for part in text.split(","):
        name, equals, size = (piece.strip() for piece in part.partition("="))
        if not equals or not SPLIT_NAME.fullmatch(name):
            raise ValueError(f"{part.strip()!r} is not of the form NAME=COUNT, NAME=SHARE or NAME=...")
        if name.lower() == RESERVED_SPLIT:
            raise ValueError(
                f"split {name!r} has the name that `datasets` keeps for all splits together; choose another"
            )
        if name in splits:
            raise ValueError(f"split {name!r} is named twice")
        if size == REST:
            splits[name] = None
        elif size.isdigit() and int(size) > 0:
            splits[name] = int(size)
        elif re.fullmatch(r"0?\.\d+", size) and float(size) > 0:
            splits[name] = float(size)
        else:
            raise ValueError(f"the size of split {name!r} is {size!r}; give a count, a share below 1, or '...'")
    if sum(size is None for size in splits.values()) != 1:
        raise ValueError(f"exactly one split takes the rest, as in train=...; got {text!r}")
    if sum(size for size in splits.values() if isinstance(size, float)) >= 1:
        raise ValueError(f"the shares in {text!r} leave nothing for the rest")
    return splits


def load_build_config(file: Path | None, overrides: Mapping[str, Any]) -> BuildConfig:
    """Merge a YAML recipe with options; an option given on the command line wins.

    Args:
        file: The recipe, or None.
        overrides: Field name to value; values that are None are not given.

    Raises:
        ConfigError: The file cannot be read, a key is unknown, or a value is wrong.
    """
    values = read_yaml(file) if file else {}
    return validate_options(BuildConfig, values | drop_none(overrides), f"{file}: " if file else "")


def find_recipe(file: Path) -> Path:
    """The file itself, or the shipped recipe of that name (``vcr-wiki-zh-hard``, with or without ``.yaml``).

    Raises:
        ConfigError: There is neither.
    """
    if file.exists():
        return file
    shipped = {recipe.name: recipe for recipe in sorted(resource_dir("configs").glob("*.yaml"))}
    if (name := file.with_suffix(".yaml").name) not in shipped:
        recipes = ", ".join(recipe.stem for recipe in shipped.values())
        raise ConfigError(f"There is no recipe {file}; give the path of a YAML file, or the name of one of {recipes}.")
    return shipped[name]
