"""What a build is asked to do: from YAML and the command line to one validated, hashable value."""

import difflib
import hashlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from vcrgen.errors import ConfigError
from vcrgen.files import canonical_json
from vcrgen.records import LEAST_INK, MOST_INK, NAMED_MODES, Mode, is_mode
from vcrgen.resources import resource_dir
from vcrgen.text.languages import LANGUAGES

REST = "..."
SPLIT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
# The only one of these names that `load_dataset` (datasets 5.2) refuses, in small and in capital letters.
RESERVED_SPLIT = "all"
# Fields that name files. What is in the files counts (in signature and plan), not what they are called here.
BY_CONTENT = {"source", "font", "censor_list", "spacy_model"}
# Fields of builds that earlier versions did not have, with the value that builds as those did.
LATER = {"cover": "rows", "distractors": 0, "degrade": None}
MAX_CONFIG_BYTES = 1 << 20
MOST_SIZES = 30  # of shorter sets that are compared

# The panels under which `vcrgen build --help` shows its options.
SOURCE, TEXT, IMAGES, RUN = "Source", "Text and masks", "Images", "Run"
# And `vcrgen predict --help`.
SERVER, HERE = "Server", "Model in this process"
# And `vcrgen bloom build --help`.
PICTURES = "Generated pictures"
# And `vcrgen finetune --help`.
MEMORY = "Memory and time"

PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
# What is a request's own, and what would change the form of replies.
NOT_PARAMETERS = {"model", "messages", "stream", "n"}
NOT_PICTURE_PARAMETERS = {"model", "prompt", "stream", "n", "response_format", "seed"}


def option(
    default: Any, description: str, *, short: str = "", panel: str = "", names: str = "", shown: str = "", **limits: Any
) -> Any:
    """A field of a model from which the command line makes an option (``vcrgen/cli/options.py``).

    Args:
        default: Its value where nobody gives one.
        description: What the option means; the help shows it.
        short: A second spelling of one letter, such as ``-l``.
        panel: The heading under which the help shows it.
        names: The option's spelling where it is not the field's name with hyphens, such as ``--strip/--keep``.
        shown: What the help shows as the default, where the value itself says too little.
        limits: Bounds, as pydantic's ``Field`` takes them.
    """
    extra: dict[str, Any] = {"short": short, "panel": panel, "names": names, "shown": shown}
    return Field(default, description=description, json_schema_extra=extra, **limits)


class Options(BaseModel):
    """Choices that a user makes: a wrong one is a sentence, whether it comes from Python, YAML or a command line.

    Raises:
        ConfigError: A field is unknown, or its value is wrong.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, /, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise ConfigError(first_problem(error, type(self))) from None


Model = TypeVar("Model", bound=Options)


def _with_values(conditions: tuple[str, ...]) -> tuple[str, ...]:
    for condition in conditions:
        if "=" not in condition.strip("="):
            raise ValueError(f"{condition!r} is not of the form PATH=VALUE")
    return conditions


class BuildConfig(Options):
    """Every choice that decides the bytes of a dataset, and nothing else.

    Where it is written and by how many workers is not here, so that two builds with equal configurations are equal.
    """

    model_config = ConfigDict(validate_default=True)

    source: str = option("samples", "Where the pairs come from.")
    source_split: str = option("train", "Split of a Hugging Face dataset.", panel=SOURCE)
    image_column: str = option("image", "Column or nested path of the image.", panel=SOURCE)
    caption_column: str = option("caption", "Column or nested path of the caption.", panel=SOURCE)
    id_column: str | None = option(None, "Column or nested path of the pair's own id.", panel=SOURCE)
    where: tuple[str, ...] = option((), "PATH=VALUE; only rows that match all are used. Repeatable.", panel=SOURCE)
    limit: int | None = option(None, "Use the first N matching pairs.", ge=1, panel=SOURCE)
    source_license: str | None = option(None, "Licence of the source, for the card.", max_length=200, panel=SOURCE)

    lang: str = option("en", f"Language of the captions: {', '.join(LANGUAGES)}.", short="-l")
    mode: str = option(
        "both",
        "How much the covers hide: easy, hard, both, or shares of ink they leave, as ink=0.1,0.2,0.5.",
        short="-m",
    )
    mask: Literal["ngram", "nouns", "sentence", "percentage"] = option(
        "ngram", "What is masked: ngram, nouns, sentence or percentage.", panel=TEXT
    )
    n: int = option(5, "Tokens of an n-gram.", ge=1, le=10, short="-n", panel=TEXT)
    max_share: float = option(0.5, "Masked tokens, at most, as a share of the caption's.", gt=0, le=1, panel=TEXT)
    percentage: float = option(0.3, "Share of tokens that --mask percentage aims at.", gt=0, le=1, panel=TEXT)
    spacy_model: str | None = option(None, "A trained spaCy pipeline instead of the built-in one.", panel=TEXT)
    censor_list: Path | None = option(None, "File of words, one a line, beside the built-in list.", panel=TEXT)
    seed: int = option(0, "Seed of every random choice.", ge=0, lt=1 << 63)

    width: int = option(300, "Width of all images in pixels.", ge=64, le=4096, panel=IMAGES)
    font: Path | None = option(None, "Font file, or a name that `vcrgen fonts` lists.", panel=IMAGES)
    font_size: int = option(20, "Font size in pixels.", ge=6, le=400, panel=IMAGES)
    max_lines: int = option(5, "Captions are cut after this many rendered lines.", ge=1, le=100, panel=IMAGES)
    max_height: int = option(900, "Higher stacked images are set aside, in pixels.", ge=64, le=16384, panel=IMAGES)
    min_side: int = option(16, "Images with a shorter side are set aside, in pixels.", ge=1, panel=IMAGES)
    max_pixels: int = option(89_478_485, "Images of more pixels are set aside undecoded.", ge=1, panel=IMAGES)

    cover: Literal["rows", "stripes", "blinds", "stain", "scribble", "fold", "dropout", "leaf"] = option(
        "rows", "What hides the spans: rows, stripes, blinds, stain, scribble, fold, dropout or leaf.", panel=IMAGES
    )
    distractors: int = option(
        0, "Covers of the same kind where no text is, on the picture and on blank paper.", ge=0, le=20, panel=IMAGES
    )
    degrade: str | None = option(
        None,
        "Worsen the finished images, in this order, as jpeg=40,blur=1.2,lowres=0.5,camera=0.3,skew=2.",
        panel=IMAGES,
    )
    image_format: Literal["png", "webp"] = option(
        "png", "Format of the written images, png or webp; both are lossless.", panel=IMAGES
    )
    splits: str = option("train=...", "NAME=COUNT, NAME=SHARE (0.1) or NAME=... for the rest, by commas.", panel=RUN)
    shard_size: int | None = option(
        None, "Pairs a shard; if not given, a 32nd of the source, 16 to 512.", ge=1, le=10_000, panel=RUN
    )

    @field_validator("lang")
    @classmethod
    def _known_language(cls, value: str) -> str:
        if value not in LANGUAGES:
            raise ValueError(f"unknown language {value!r}; known: {', '.join(LANGUAGES)}")
        return value

    @field_validator("mode")
    @classmethod
    def _known_mode(cls, value: str) -> str:
        kind, _, shares = value.partition("=")
        if kind == "ink":
            return f"ink={','.join(f'{level.ink:.2f}' for level in _read_levels(shares))}"
        if value not in (*NAMED_MODES, "both"):
            raise ValueError(f"{value[:80]!r} is not easy, hard, both, or shares of ink by commas, as ink=0.1,0.2,0.5")
        return value

    _where_has_values = field_validator("where")(_with_values)

    @field_validator("degrade")
    @classmethod
    def _degrade_parses(cls, value: str | None) -> str | None:
        return None if value is None else ",".join(f"{name}={amount:g}" for name, amount in parse_degradations(value))

    @model_validator(mode="after")
    def _splits_parse(self) -> Self:
        parse_splits(self.splits)
        return self

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes to build: easy first, levels as they rise."""
        if self.mode.startswith("ink="):
            return _read_levels(self.mode.removeprefix("ink="))
        return NAMED_MODES if self.mode == "both" else (Mode(self.mode),)

    def published(self) -> dict[str, Any]:
        """The fields as JSON values, without names of local files.

        Fields that came later are left out where they say nothing, so that a dataset stays the same bytes.
        """
        values = self.model_dump(mode="json", exclude=BY_CONTENT)
        return {name: value for name, value in values.items() if name not in LATER or value != LATER[name]}

    @property
    def moves(self) -> bool:
        """Whether the finished images are skewed, so that no box holds in them."""
        return self.degrade is not None and MOVING in dict(parse_degradations(self.degrade))

    @property
    def more_columns(self) -> tuple[str, ...]:
        """The columns of the dataset that not every dataset has."""
        given = {
            "cover_mask": self.cover != "rows" or self.moves,
            "distractors": self.distractors > 0 and not self.moves,
        }
        return tuple(name for name, there in given.items() if there)

    def part_hash(self) -> str:
        """SHA-256 over the canonical JSON of what decides the rows: all of :meth:`published` but the splits, in hex."""
        values = self.published()
        del values["splits"]
        return hashlib.sha256(canonical_json(values).encode()).hexdigest()


def _read_levels(text: str) -> tuple[Mode, ...]:
    """The levels that ``--mode ink=...`` names, as they rise; a ValueError if it names none, or one twice."""
    levels = []
    for share in map(str.strip, text.split(",")):
        if not re.fullmatch(r"0?\.\d\d?", share) or not LEAST_INK <= float(share) <= MOST_INK:
            raise ValueError(
                f"{share[:20]!r} is no share of ink to leave; give shares from {LEAST_INK} to {MOST_INK} with at most "
                "two digits, as ink=0.1,0.25,0.5"
            )
        levels.append(Mode.of_ink(float(share)))
    if len(set(levels)) < len(levels):
        raise ValueError(f"ink={text[:80]} names a share twice")
    return tuple(sorted(levels))


class HiddenOptions(Options):
    """What a hidden set is made of.

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


class BloomOptions(Options):
    """What the built-in maker of question sets is asked for."""

    items: int = option(300, "Items in the set; as many for each leaf.", short="-n", ge=1, le=100_000)
    seed: int = option(0, "Other numbers give other pictures and questions.", ge=0, le=1_000_000)


class AskingOptions(Options):
    """Which models behind a server are asked, and what that may take."""

    model: str | None = option(None, "The model, as the server knows it.", panel=SERVER)
    judge: str | None = option(None, "A second model.", panel=SERVER)
    endpoint: str | None = option(None, "Address of the server, as http://127.0.0.1:8000/v1.", panel=SERVER)
    judge_endpoint: str | None = option(None, "Address of the judges' server.", shown="--endpoint", panel=SERVER)
    profile: str | None = option(None, "Kind of server, as of predict.", shown="told by the host", panel=SERVER)
    key_env: str | None = option(None, "Environment variable that holds the key.", panel=SERVER)
    judge_key_env: str | None = option(None, "The same for --judge-endpoint.", panel=SERVER)
    concurrency: int = option(8, "Requests under way at a time.", ge=1, le=1000, panel=SERVER)
    rpm: float | None = option(None, "Requests a minute to each model, at most.", gt=0, panel=SERVER)
    tpm: float | None = option(None, "Tokens a minute of each model, at most.", gt=0, panel=SERVER)
    timeout: float = option(300.0, "Seconds for a whole reply.", gt=0, le=86_400, panel=SERVER)
    price: str | None = option(None, "IN,OUT: price of a million tokens read, and written.", panel=SERVER)
    judge_price: str | None = option(
        None, "The same of the judges, which may be others.", shown="--price", panel=SERVER
    )
    max_calls: int | None = option(None, "Ask nothing more when there are so many replies.", ge=0, panel=SERVER)
    max_tokens: int | None = option(None, "Ask nothing more when they took so many tokens.", ge=0, panel=SERVER)
    max_cost: float | None = option(None, "Ask nothing more when they cost this; needs --price.", ge=0, panel=SERVER)
    offline: bool = option(False, "Ask nobody: only the replies that are there count.", names="--offline")

    @model_validator(mode="after")
    def _limits_fit(self) -> Self:
        if self.max_cost is not None and self.price is None:
            raise ValueError("--max-cost needs --price IN,OUT, the prices of a million tokens")
        if self.offline and self.endpoint:
            raise ValueError("--offline asks nobody, so leave out --endpoint")
        if self.judge_price is not None and self.price is None:
            raise ValueError("--judge-price needs --price IN,OUT, the prices of the model that writes")
        if self.judge_key_env and not self.judge_endpoint:
            raise ValueError("--judge-key-env is the key to --judge-endpoint; without one, --key-env counts")
        _ = self.prices, self.judge_prices
        return self

    @property
    def prices(self) -> tuple[float, float] | None:
        """Prices of a million tokens that are read, and that are written; a ValueError if they are none."""
        return read_prices(self.price)

    @property
    def judge_prices(self) -> tuple[float, float] | None:
        """The same of the judges, one as the other; a ValueError if they are none."""
        return read_prices(self.judge_price, "--judge-price") or self.prices

    @property
    def picture_price(self) -> float:
        """Price of a picture that is generated."""
        return 0.0


_OF_SOURCE = frozenset({
    "limit", "image_column", "caption_column", "id_column", "licence_column", "where", "source_split"
})  # fmt: skip


class BloomMakeOptions(AskingOptions):
    """How a question set is made with models, of the pictures of a source."""

    source: str = option("", "Pairs, as `vcrgen build` reads them.")
    model: str | None = option(None, "The model that writes, as the server knows it.", panel=SERVER)
    judge: str | None = option(None, "The model that judges.", shown="the model that writes", panel=SERVER)
    judges: str | None = option(None, "A,B: several that judge; an item has to pass all of them.", panel=SERVER)
    ledger: Path | None = option(None, "File of the replies.", shown="OUT.ledger")
    allow_failed: bool = option(False, "Write the set even if replies are missing.", names="--allow-failed")
    without: Path | None = option(None, "Ids of items to leave out, one a line, as an audit lists them.", shown="none")

    lang: str = option("en,ar", "Languages of the items; the first one is written, the others are translated.")
    per_leaf: int = option(20, "Items that are tried for each leaf.", ge=1, le=10_000)
    per_picture: int = option(4, "Items about one picture, at most.", ge=1, le=100)
    pictures: int = option(3, "Pictures that are looked at for one item, at most.", ge=1, le=20)
    themes: Path | None = option(None, "YAML of themes and their shares, as `Arab: 2`.", shown="none")
    taxonomy: Path | None = option(None, "CSV with level, subcategory and leaf.", shown="BloomBench's 106 leaves")
    seed: int = option(0, "Other numbers give other orders of options, and other pictures.", ge=0, le=1_000_000)
    licence: str = option("", "Licence of the pictures, for each item and the card.", max_length=100)
    licence_column: str | None = option(
        None, "Column of each picture's own licence, where the source has one; --licence is for those without.",
        panel=SOURCE,
    )  # fmt: skip
    image_column: str = option("image", "Column or nested path of the image.", panel=SOURCE)
    caption_column: str = option("caption", "Column or nested path of the caption.", panel=SOURCE)
    id_column: str | None = option(None, "Column or nested path of the pair's own id.", panel=SOURCE)
    where: tuple[str, ...] = option((), "PATH=VALUE; only rows that match all are used. Repeatable.", panel=SOURCE)
    source_split: str = option("train", "Split of a Hugging Face dataset.", panel=SOURCE)
    limit: int | None = option(None, "Only the first N pairs.", shown="all", ge=1, panel=SOURCE)
    image_model: str | None = option(None, "The model that generates the pictures, in place of pairs.", panel=PICTURES)
    image_endpoint: str | None = option(None, "Address of its server.", shown="--endpoint", panel=PICTURES)
    image_key_env: str | None = option(None, "As --key-env, for --image-endpoint.", panel=PICTURES)
    image_price: float | None = option(None, "Price of a picture.", ge=0, le=1_000_000, panel=PICTURES)
    image_param: tuple[str, ...] = option(
        (), "KEY=JSON: a parameter of its requests, as 'size=\"512x512\"'. Repeatable.", panel=PICTURES
    )

    _where_has_values = field_validator("where")(_with_values)

    @model_validator(mode="after")
    def _options_fit(self) -> Self:
        if bool(self.source) == bool(self.image_model):
            raise ValueError(
                "name the pairs whose pictures are asked about, as pairs.parquet, or --image-model, not both"
            )
        if not self.licence.isprintable():
            raise ValueError("--licence is one line of text, without control characters, as 'CC BY 4.0'")
        self._images_fit()
        self._judges_fit()
        if not self.model:
            raise ValueError("give --endpoint and --model (where the server is, and what it calls the model)")
        if not (self.endpoint or self.offline):
            raise ValueError("give --endpoint (where the server is), or --offline for the replies that are there")
        _ = self.languages, self.judge_names, self.image_parameters
        return self

    def _judges_fit(self) -> None:
        if self.judge and self.judges:
            raise ValueError("give --judge or --judges, not both")
        for name in ("price", "endpoint"):
            if getattr(self, f"judge_{name}") is not None and self.model in self.judge_names:
                raise ValueError(f"--judge-{name} is for judges that do not write; name others by --judge or --judges")

    def _images_fit(self) -> None:
        given = {name: getattr(self, f"image_{name}") for name in ("endpoint", "key_env", "price", "param")}
        if not self.image_model:
            if named := [name for name, value in given.items() if value not in (None, ())]:
                raise ValueError(f"--image-{named[0].replace('_', '-')} needs --image-model")
        elif self.image_model in (self.model, *self.judge_names):
            raise ValueError("--image-model needs a name of its own, not that of a model that writes or judges")
        elif named := sorted(self.model_fields_set & _OF_SOURCE):
            raise ValueError(f"--{named[0].replace('_', '-')} is for pairs, and --image-model has none")
        elif (self.price is None) != (self.image_price is None):
            raise ValueError("give --price and --image-price, or neither: a part of the cost would be no cost")
        if self.image_key_env and not self.image_endpoint:
            raise ValueError("--image-key-env is the key to --image-endpoint; without one, --key-env counts")

    @property
    def picture_price(self) -> float:
        """Price of a picture that is generated."""
        return self.image_price or 0.0

    @property
    def image_parameters(self) -> dict[str, Any]:
        """What ``--image-param`` sets, by name; a ValueError if it sets what is not its own."""
        return read_parameters(self.image_param, "--image-param", NOT_PICTURE_PARAMETERS)

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes, the language in which items are written first; a ValueError if they are none."""
        codes = tuple(code.strip() for code in self.lang.split(","))
        if not all(re.fullmatch("[a-z]{2,3}", code) for code in codes):
            raise ValueError(f"--lang {self.lang[:80]!r} is no list of languages by their codes, as en,ar")
        if len(set(codes)) < len(codes):
            raise ValueError(f"--lang {self.lang[:80]!r} names a language twice; once is enough")
        return codes

    @property
    def judge_names(self) -> tuple[str, ...]:
        """The models that judge; a ValueError if one comes twice."""
        names = tuple(name.strip() for name in (self.judges or "").split(",")) if self.judges else (self.judge,)
        found = tuple(name or self.model or "" for name in names)
        if len(set(found)) < len(found) or (self.judges and not all(names)):
            raise ValueError(f"--judges {(self.judges or '')[:80]!r} is no list of different models, as A,B")
        return found


class BloomCoverageOptions(AskingOptions):
    """How items of any set are filed under the leaves of a taxonomy."""

    leaves: Path | None = option(None, "CSV with question_id and leaf: it files the items in place of a model.")
    taxonomy: Path | None = option(
        None, "CSV with level, subcategory and leaf.", shown="that of the question sets, or BloomBench's 106 leaves"
    )
    sample: int | None = option(None, "Draw so many items of each set.", short="-n", shown="all", ge=1)
    seed: int = option(0, "Other numbers draw other items.", ge=0, le=1_000_000)
    images: Path | None = option(None, "Folder that paths of pictures lead into.", shown="that of the file")
    image_column: str | None = option(None, "Column of the picture.", shown="image, image_1, image_url, ...")
    model: str | None = option(None, "The model that files the items, as the server knows it.", panel=SERVER)
    judge: str | None = option(None, "Another one that files them too: how far do both agree?", panel=SERVER)
    ledger: Path = option(Path("coverage.ledger"), "File of the replies.")
    allow_failed: bool = option(False, "Go on even if replies are missing.", names="--allow-failed")

    @model_validator(mode="after")
    def _models_fit(self) -> Self:
        if (self.model is None) == bool(self.endpoint or self.offline):
            raise ValueError("give --endpoint and --model (where the server is, and what it calls the model)")
        if self.judge and not self.model:
            raise ValueError("--judge is a second model, so give --model as well")
        if self.judge == self.model and self.model:
            raise ValueError("--judge has to be another model than --model")
        for name in ("endpoint", "price"):
            if getattr(self, f"judge_{name}") is not None and not self.judge:
                raise ValueError(f"--judge-{name} is of a second model, so name it by --judge")
        return self

    @property
    def judge_names(self) -> tuple[str, ...]:
        """The second model, if there is one."""
        return (self.judge,) if self.judge else ()


class BloomImportOptions(Options):
    """How a file of somebody else's becomes a question set."""

    images: Path | None = option(None, "Folder that paths of pictures lead into.", shown="that of the file")
    image_column: str | None = option(
        None, "Column of the picture: a path, an address, or base64.", shown="image, image_url, ..."
    )
    fetch: bool = option(False, "Fetch pictures whose address begins with https.", names="--fetch")
    lang: str = option("en", "Language of a column that names none.", short="-l", pattern="^[a-z]{2,3}$")
    taxonomy: Path | None = option(None, "CSV with level, subcategory and leaf.", shown="BloomBench's 106 leaves")
    keep: tuple[str, ...] = option(
        (), "Keep items in spite of wrong_script, numbers_differ or points_at_options. Repeatable."
    )


class AuditOptions(Options):
    """How many items of a question set people look at, and how many people."""

    items: int | None = option(
        None, "Items to draw; more, if --per-leaf needs more.", short="-n", shown="one in eight", ge=1, le=100_000
    )
    per_leaf: int = option(4, "Items of each leaf, at least.", ge=1, le=1_000)
    raters: int = option(2, "People who look at items.", ge=1, le=100)
    overlap: float = option(0.2, "Share of the items that two of them look at.", ge=0, le=1)
    seed: int = option(0, "Other numbers draw other items.", ge=0, le=1_000_000)


class ScoreOptions(Options):
    """How outputs are scored; what depends on the protocol is its own choice where it is None."""

    protocol: str | None = option(
        None,
        "paper, vlmevalkit or lmms-eval (as those programs score); of question sets bloom-v1 or bloom-code.",
        shown="paper, or bloom-v1",
    )
    mode: str | None = option(None, "Only outputs of this mode: easy, hard, ink-0.20, …")
    view: str | None = option(
        None, "stacked, tei, strip or text (image or blind): what the model saw; only outputs of this view."
    )
    split: str | None = option(None, "Split of the dataset, or all.", shown="test, or the only one")
    subset: str | None = option(
        None,
        "firstN: the first N questions (the paper's: first100, first500); FILE: those whose ids it has, one a line; "
        "feedback or final: of a hidden set.",
    )
    lang: str | None = option(None, "Language, where the dataset does not say; of question sets, only this one.")
    segmenter: str | None = option(None, "builtin, or a trained spaCy pipeline for its tokens.")
    strip_thinking: bool | None = option(
        None, "Thinking blocks.", names="--strip-thinking/--keep-thinking", shown="strip (paper), keep (others)"
    )
    max_output_tokens: int | None = option(
        None, "Read only so many tokens of an output; 0 for all.", shown="512 (paper), all (others)"
    )
    refusals: str | None = option(
        None, "WORD,WORD: the words of refusal.", shown="I can't, I cannot, sorry, 无法, 抱歉"
    )
    normalise: str = option(
        "none", "Of answers and outputs: none, nfkc (full-width letters, ligatures) or arabic (alefs, tatweel, too)."
    )
    seed: int = option(0, "Seed of the bootstrap.")
    workers: int = option(1, "Processes that score at once; the scores are the same.", ge=1, le=256)
    curve: bool = option(False, "Fit accuracy against visible ink, for outputs at several levels.", names="--curve")
    strict: bool = option(False, "Missing, unknown, double, null or failed outputs are an error.", names="--strict")


class PredictOptions(Options):
    """What is asked of a model, and how much of it at a time."""

    model: str | None = option(None, "Name of the model, as the server knows it; of --transformers, for the outputs.")
    endpoint: str | None = option(None, "Address of the server, as http://127.0.0.1:8000/v1.", panel=SERVER)
    profile: str | None = option(
        None,
        "Kind of server: openai, azure, openrouter, vllm, sglang, llamacpp, ollama, transformers.",
        shown="told by the host",
        panel=SERVER,
    )
    key_env: str | None = option(None, "Environment variable that holds the key.", panel=SERVER)
    concurrency: int = option(8, "Requests under way at a time.", ge=1, le=1000, panel=SERVER)
    rpm: float | None = option(None, "Requests a minute, at most.", gt=0, panel=SERVER)
    tpm: float | None = option(None, "Tokens a minute, at most.", gt=0, panel=SERVER)
    timeout: float = option(300.0, "Seconds for a whole reply.", gt=0, le=86_400, panel=SERVER)
    max_cost: float | None = option(
        None, "Ask nothing more when the replies cost this; needs --price.", gt=0, panel=SERVER
    )
    price: str | None = option(None, "IN,OUT: price of a million tokens read, and written.", panel=SERVER)

    transformers: Path | None = option(None, "Folder of a model that is loaded into this process.", panel=HERE)
    adapter: Path | None = option(None, "Folder of a LoRA adapter of it.", panel=HERE)
    batch: int = option(8, "Images that are answered together.", ge=1, le=1024, panel=HERE)
    device: Literal["auto", "cpu", "cuda"] = option("auto", "auto (a GPU if there is one), cpu or cuda.", panel=HERE)
    trust_remote_code: bool = option(
        False, "Run Python code that comes with the model, if it needs it.", names="--trust-remote-code", panel=HERE
    )

    view: Literal["stacked", "tei", "both", "text", "image", "blind"] | None = option(
        None,
        "stacked (VI+TEI), tei, both, or text: no picture, but the words around the gaps. Of a question set: image, "
        "blind (the question without its picture), or both.",
        shown="stacked, or image",
    )
    mode: str | None = option(None, "Only this mode.", shown="all")
    split: str | None = option(None, "Only this split.", shown="all")
    limit: int | None = option(None, "Only the first N questions.", shown="all", ge=1)
    lang: str | None = option(None, "Of a question set: only this language.", shown="all")
    rotations: int = option(
        1, "Of a question set: 4 to ask each question with its options in four orders; or 1.", ge=1, le=4
    )
    canary: bool = option(
        False, "Instead of pictures, ask for the canary of a hidden set, in five ways.", names="--canary"
    )
    preset: Literal["paper-closed", "vlmevalkit", "lmms-eval", "bloombench"] | None = option(
        None,
        "Ask as was done for published scores: paper-closed, vlmevalkit or lmms-eval; of a question set, bloombench.",
    )
    param: tuple[str, ...] = option((), "KEY=JSON: a parameter of the request; null takes one away. Repeatable.")
    answers: bool = option(
        False,
        "Ask for log-probabilities of the right answers, too; of a question set, of every option's text.",
        names="--answers",
    )
    letters: bool = option(
        False, "Of a question set: ask for log-probabilities of the labels A to D, too.", names="--letters"
    )
    staircase: bool = option(
        False, "Ask a fifth of the questions of a dataset with levels, where half is restored.", names="--staircase"
    )
    seed: int = option(0, "Of --staircase: seed of the order of the questions.", ge=0, lt=1 << 63)

    @model_validator(mode="after")
    def _options_fit(self) -> Self:
        if self.transformers is None and (self.endpoint is None or not self.model):
            raise ValueError(
                "give --endpoint and --model (where the server is, and what it calls the model), or --transformers DIR"
            )
        if self.transformers is not None and self.endpoint is not None:
            raise ValueError("give --endpoint or --transformers, not both")
        panel, other = (HERE, "--transformers") if self.transformers is None else (SERVER, "--endpoint")
        for name in sorted(self.model_fields_set):
            extra = type(self).model_fields[name].json_schema_extra
            if isinstance(extra, dict) and extra["panel"] == panel:
                raise ValueError(f"--{name.replace('_', '-')} belongs to {other}")
        if self.canary and (self.view or self.mode or self.split or self.limit or self.answers):
            raise ValueError(
                "--canary asks about no picture, so leave out --view, --mode, --split, --limit and --answers"
            )
        if self.staircase and (self.canary or self.mode or self.limit or self.answers or self.view == "both"):
            raise ValueError(
                "--staircase chooses what is asked, of one view, so leave out --canary, --mode, --limit, --answers and "
                "--view both"
            )
        if self.rotations not in (1, 4):
            raise ValueError("--rotations is 1 or 4: a question that is asked in some of the orders says little")
        if self.max_cost is not None and self.price is None:
            raise ValueError("--max-cost needs --price IN,OUT, the prices of a million tokens")
        _ = self.prices, self.parameters
        return self

    @property
    def prices(self) -> tuple[float, float] | None:
        """Prices of a million tokens that are read, and that are written; a ValueError if they are none."""
        return read_prices(self.price)

    @property
    def parameters(self) -> dict[str, Any]:
        """What ``--param`` sets, by name; a ValueError if it sets what is not its own."""
        return read_parameters(self.param, "--param", NOT_PARAMETERS)


class TrainOptions(Options):
    """How a model is fine-tuned. The defaults are those of the VCR paper (section 4.1), where it names a value."""

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
    seed: int = option(0, "Seed of every random choice.", ge=0, lt=1 << 63)
    chat_template: Path | None = option(
        None, "Jinja file instead of the model's own template; it marks the answer by {% generation %}."
    )
    device: Literal["auto", "cpu", "cuda"] = option("auto", "auto (a GPU if there is one), cpu or cuda.", panel=MEMORY)
    dtype: Literal["auto", "float32", "bfloat16"] = option(
        "auto",
        "Of the model's weights; the adapter's are float32.",
        shown="float32 on a CPU, else as they are stored",
        panel=MEMORY,
    )
    micro_batch: int = option(
        1, "Examples in memory at a time; the step is the same but for rounding.", ge=1, panel=MEMORY
    )
    gradient_checkpointing: bool = option(
        False,
        "Compute again what the backward pass needs, instead of keeping it.",
        names="--gradient-checkpointing",
        panel=MEMORY,
    )
    save_every: int = option(25, "Steps between two checkpoints.", ge=1, panel=MEMORY)
    trust_remote_code: bool = option(
        False, "Run Python code that comes with the model.", names="--trust-remote-code", panel=MEMORY
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


class AnalysisOptions(Options):
    """What all analyses of scores share."""

    seed: int = option(0, "Seed of every random choice.", ge=0, lt=1 << 63)
    resamples: int = option(2000, "Resamples of the models, for intervals.", ge=100, le=20_000)
    private: bool = option(
        False, "Take scores of a hidden set; the report is marked as not to be published.", names="--private"
    )


class ItemOptions(AnalysisOptions):
    """Which scores of which items are analysed."""

    metric: str = option("exact", "Of evidence, the score: exact, jaccard, … as in vcrgen score.")
    mode: str | None = option(None, "Of evidence with several, the mode.")
    view: str | None = option(None, "Of evidence with several, the view.")


class ShortenOptions(ItemOptions):
    """How few items are enough, and for what."""

    keep: str | None = option(
        None, "N,N,…: how many images (or items, where they have no images) to keep.", shown="10,15,20,30,50,70,100,…"
    )
    method: Literal["random", "stratified", "information", "clustered"] = option(
        "stratified", "random, stratified, information or clustered: whose choice is written, and held to the limits."
    )
    error: float | None = option(
        None, "Find the smallest size whose scores are off by so many points at most, on average.", gt=0, le=100
    )
    agreement: float | None = option(
        None, "Find the smallest size whose ranking correlates so with that of all.", gt=0, le=1
    )
    resamples: int = option(40, "How often models are held out of the choice.", ge=10, le=1000)

    @model_validator(mode="after")
    def _sizes_are_numbers(self) -> Self:
        _ = self.sizes
        return self

    @property
    def sizes(self) -> tuple[int, ...] | None:
        """What ``--keep`` names, in order; a ValueError if it names none."""
        if self.keep is None:
            return None
        parts = [part.strip() for part in self.keep.split(",")]
        if len(parts) > MOST_SIZES or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
            raise ValueError(
                f"--keep {self.keep[:80]!r} is not of the form N,N, as in 100,200,500 ({MOST_SIZES} at most)"
            )
        return tuple(sorted(set(map(int, parts))))


class MapOptions(AnalysisOptions):
    """How a benchmark is mapped."""

    lower_is_better: tuple[str, ...] = option((), "A task of which a lower score is better. Repeatable.")
    method: Literal["pearson", "spearman", "kendall"] = option("pearson", "pearson, spearman or kendall.")
    basis: Literal["r", "abs"] = option(
        "r", "r, or abs: tasks that rank models the other way round are near.", names="--on"
    )
    clusters: int | None = option(None, "Number of clusters.", shown="that with the best silhouette", ge=2)


class FactorOptions(AnalysisOptions):
    """How a factor model is fitted; its specification is a file."""

    lower_is_better: tuple[str, ...] = option((), "A task of which a lower score is better. Repeatable.")
    anchor: str | None = option(None, "Task with an outside score of the models, in place of the specification's.")


class PruneOptions(FactorOptions):
    """How a benchmark is pruned; limits that are given take the place of the specification's."""

    resamples: int = option(200, "Resamples of the models that are pruned as well.", ge=20, le=20_000)
    vif_max: float | None = option(None, "A task with a higher VIF is redundant.", ge=1)
    loading_min: float | None = option(None, "A task with a lower loading is weak.", ge=0, le=1)
    floor: int | None = option(None, "Tasks that every ability keeps.", ge=1)
    batch: bool = option(False, "Drop all such tasks of a fit at once, as the GOLD paper says.", names="--batch")


class StudyOptions(Options):
    """What people are asked to do in a study, and how many of them."""

    audit: str | None = option(
        None,
        "An audit's folder (bloom audit draw): people audit a question set, dealt as drawn there.",
        shown="no audit",
    )
    split: str | None = option(None, "Split of the dataset.", shown="test, or the only one")
    limit: int = option(100, "Only the first N items.", ge=1, le=100_000)
    modes: str | None = option(None, "Modes, by commas.", shown="all of the dataset")
    lang: str | None = option(None, "Languages of a question set, by commas.", shown="all of the set")
    view: Literal["stacked", "tei", "image", "blind", "both"] | None = option(
        None,
        "stacked (VI+TEI), tei or both; of a question set image, blind (no picture) or both.",
        shown="stacked, or image",
    )
    raters: int = option(3, "People who see each item in each mode (or language) and view.", ge=1, le=100)
    most: int | None = option(None, "Items of one rater, at most.", shown="no limit", ge=1)
    training: int = option(3, "Items to learn from, with their answers; not scored.", ge=0, le=100)
    training_data: str | None = option(
        None, "Another dataset for the training items.", shown="the items after the first N"
    )
    checks: int = option(2, "Attention checks of a rater.", ge=0, le=100)
    repeats: int = option(2, "Items that a rater sees twice.", ge=0, le=100)
    min_checks: float = option(0.0, "Leave out raters with a smaller share of checks right.", ge=0, le=1)
    min_repeats: float = option(0.0, "Leave out raters who typed a smaller share of repeats alike.", ge=0, le=1)
    pause: int = option(20, "Items between two breaks.", ge=1)
    seed: int = option(0, "Decides who sees what.", ge=0)


# The least and the largest amount of each degradation.
DEGRADATIONS = {"jpeg": (1, 95), "blur": (0.1, 10), "lowres": (0.1, 0.95), "camera": (0.05, 1), "skew": (0.1, 10)}
MOVING = "skew"  # the degradation after which nothing stands where it stood


def parse_degradations(text: str) -> list[tuple[str, float]]:
    """Read ``jpeg=40,blur=1.2``: what is done to a finished image, in this order, and how much of it.

    Raises:
        ValueError: The text is not of that form, names something else or the same twice, or an amount is out of range.
    """
    steps: dict[str, float] = {}
    for part in text.split(","):
        name, _, size = (piece.strip() for piece in part.partition("="))
        if name not in DEGRADATIONS:
            raise ValueError(f"{part.strip()[:40]!r} is not NAME=AMOUNT with one of {', '.join(DEGRADATIONS)}")
        if name in steps:
            raise ValueError(f"{name!r} is named twice")
        least, most = DEGRADATIONS[name]
        try:
            steps[name] = float(size)
        except ValueError:
            steps[name] = math.nan
        if not least <= steps[name] <= most or (name == "jpeg" and steps[name] % 1):
            kind = "a whole number" if name == "jpeg" else "a number"
            raise ValueError(f"{name}={size[:40]} is not {kind} from {least} to {most}")
    return list(steps.items())


def read_parameters(texts: tuple[str, ...], given_by: str, own: set[str]) -> dict[str, Any]:
    """Values of ``KEY=JSON`` by name; a ValueError if one is none, or sets what is in ``own``."""
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not PARAMETER.fullmatch(name):
            raise ValueError(f"{given_by} {text[:80]!r} is not of the form KEY=JSON")
        if name in own:
            raise ValueError(f"{given_by} cannot set {name!r}, which vcrgen sets")
        try:
            values[name] = json.loads(value)
            # A ValueError for what only Python takes for JSON, and for half of a surrogate pair.
            json.dumps(values[name], allow_nan=False, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise ValueError(
                f"the value of {given_by} {name} is not JSON; a text needs quotes: '{name}=\"x\"'"
            ) from None
    return values


def read_prices(price: str | None, name: str = "--price") -> tuple[float, float] | None:
    """Two prices out of ``IN,OUT``; None where none is given, a ValueError if they are none."""
    if price is None:
        return None
    try:
        read, written = (float(part) for part in price.split(","))
    except ValueError:
        read = written = -1.0
    if not (0 <= read < float("inf") and 0 <= written < float("inf")):
        raise ValueError(f"{name} {price!r} is not of the form IN,OUT, as in 2.5,10")
    return read, written


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
    return checked(BuildConfig, values | given(overrides), f"{file}: " if file else "")


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options that somebody gave: the others are None."""
    return {name: value for name, value in values.items() if value is not None}


def checked(model: type[Model], values: Mapping[str, Any], place: str = "") -> Model:
    """Make a model of values that a user gave.

    Args:
        model: What to make.
        values: Field name to value.
        place: The beginning of the error's sentence, such as the name of a file.

    Raises:
        ConfigError: A field is unknown, or its value is wrong.
    """
    try:
        return model(**values)
    except ConfigError as error:
        raise ConfigError(f"{place}{error}") from None


def find_recipe(file: Path) -> Path:
    """The file itself, or the shipped recipe of that name (``vcr-wiki-zh-hard``, with or without ``.yaml``).

    Raises:
        ConfigError: There is neither.
    """
    if file.exists():
        return file
    shipped = {recipe.name: recipe for recipe in sorted(resource_dir("configs").glob("*.yaml"))}
    if (name := file.with_suffix(".yaml").name) not in shipped:
        known = ", ".join(recipe.stem for recipe in shipped.values())
        raise ConfigError(f"There is no recipe {file}; give the path of a YAML file, or the name of one of {known}.")
    return shipped[name]


def read_yaml(file: Path) -> dict[str, Any]:
    """Read a YAML mapping with string keys, of at most 1 MiB.

    Raises:
        ConfigError: The file is missing, too large, not UTF-8, not YAML, or not a mapping.
    """
    try:
        if file.stat().st_size > MAX_CONFIG_BYTES:
            raise ConfigError(f"{file} is larger than {MAX_CONFIG_BYTES} bytes, so it is not a configuration file.")
        loaded = yaml.safe_load(file.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"The configuration file {file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ConfigError(f"The configuration file {file} is not UTF-8 text.") from None
    except (yaml.YAMLError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        at = f" at line {line + 1}" if line is not None else ""
        raise ConfigError(f"The configuration file {file} is not valid YAML{at}.") from None
    if not isinstance(loaded, dict) or not all(isinstance(key, str) for key in loaded):
        raise ConfigError(f"The configuration file {file} must hold `key: value` lines.")
    return loaded


def first_problem(error: ValidationError, model: type[BaseModel]) -> str:
    """The first thing that pydantic found wrong, as a sentence."""
    problem = error.errors()[0]
    field = str(problem["loc"][0]) if problem["loc"] else ""
    if problem["type"] == "extra_forbidden":
        near = difflib.get_close_matches(field, model.model_fields, n=1, cutoff=0.0)
        return f"Unknown key {field!r}; the nearest known key is {near[0]!r}."
    message = problem["msg"].removeprefix("Value error, ")
    return f"{field.replace('_', '-')}: {message}." if field else f"{message}."
