"""Options of ``vcrgen bloom``: generated sets, imported sets, coverage, audits."""

import re
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from vcrgen.builder.source_options import SourceOptions
from vcrgen.core.options import PANEL_PICTURES, Options, column, option, read_parameters, read_prices, spelling
from vcrgen.models.server_options import ServerOptions, file_option, server_option

RESERVED_IMAGE_PARAMETERS = {"model", "prompt", "stream", "n", "response_format", "seed"}
_OF_SOURCE = {"license_column", *SourceOptions.model_fields} - {"source"}


def _allow_shortcuts() -> Any:
    about = "Write the set even if it can be answered without the pictures."
    return option(False, about, names="--allow-shortcuts")


class BloomSceneOptions(Options):
    """Options of built-in scenes."""

    items: int = option(300, "Items in the set, equally many in each category.", short="-n", ge=1, le=100_000)
    seed: int = option(0, "Seed of pictures and questions.", ge=0, le=1_000_000)
    allow_shortcuts: bool = _allow_shortcuts()


class JudgedOptions(ServerOptions):
    """Options of a run in which several models answer: who judges, and the limits of the run."""

    judge: str | None = server_option(None, "A second model.")
    judge_endpoint: str | None = file_option(None, "Address of the judges' server.")
    judge_key_env: str | None = file_option(None, "The same for judge_endpoint.")
    judge_price: str | None = file_option(None, "Prices of the judges.")
    max_calls: int | None = server_option(None, "Send nothing more after so many replies.", ge=0)
    max_tokens: int | None = server_option(None, "Send nothing more after so many tokens.", ge=0)
    offline: bool = option(False, "Send nothing: only the recorded replies count.", names="--offline")

    @model_validator(mode="after")
    def _limits_fit(self) -> Self:
        if self.offline and self.endpoint:
            raise ValueError("--offline asks nobody, so leave out --endpoint")
        if self.judge_price is not None and self.price is None:
            raise ValueError("judge_price needs price, that of the model that writes")
        if self.judge_key_env and not self.judge_endpoint:
            raise ValueError("judge_key_env is the key to judge_endpoint; without one, --key-env counts")
        _ = self.judge_prices
        return self

    @property
    def judge_prices(self) -> tuple[float, float] | None:
        """The prices of the judges, by default those of the model; a ValueError if they are none."""
        return read_prices(self.judge_price, "judge_price") or self.prices

    @property
    def picture_price(self) -> float:
        """Price of a generated picture."""
        return 0.0


class BloomGenerationOptions(SourceOptions, JudgedOptions):
    """Options of a benchmark that models generate from the pictures of a source."""

    source: str = option("", "Pairs, as `vcrgen build` reads them.")
    model: str | None = server_option(None, "The author, as the server knows it.")
    judge: str | None = server_option(None, "The judge.", shown="the author")
    judges: str | None = server_option(None, "A,B: several judges; an item has to pass all of them.")
    ledger: Path | None = option(None, "File of the replies.", shown="OUT.ledger")
    allow_failed: bool = option(False, "Write the set even if replies are missing.", names="--allow-failed")
    without: Path | None = option(None, "Ids of items to exclude, one a line, as of an audit.", shown="none")
    allow_shortcuts: bool = _allow_shortcuts()

    lang: str = option("en,ar", "Languages of the items; the first one is written, the others are translated.")
    per_category: int = option(20, "Items to generate for each category.", ge=1, le=10_000)
    options: int = option(4, "Options of an item: the right one, the trap, and others.", ge=3, le=10)
    per_picture: int = option(4, "Items about one picture, at most.", ge=1, le=100)
    pictures: int = option(3, "Pictures to try for one item, at most.", ge=1, le=20)
    themes: Path | None = option(None, "YAML of themes and their shares, as `Arab: 2`.", shown="none")
    scenarios: Path | None = option(
        None, "Folder of scenes, a JSON file for each category, as BloomBench's.", shown="the author writes them"
    )
    taxonomy: Path | None = option(None, "CSV with level, subcategory and leaf.", shown="BloomBench's 106 categories")
    seed: int = option(0, "Seed of the order of options and the choice of pictures.", ge=0, le=1_000_000)
    license: str = option("", "License of the pictures, for each item and the card.", max_length=100)
    license_column: str | None = column("license", None, "each picture's own license, with --license for those without")
    image_model: str | None = option(
        None, "The model that generates the pictures, in place of pairs.", panel=PANEL_PICTURES
    )
    image_endpoint: str | None = file_option(None, "Address of its server.")
    image_key_env: str | None = file_option(None, "The same for image_endpoint.")
    image_price: float | None = file_option(None, "Price of a picture.", ge=0, le=1_000_000)
    image_param: tuple[str, ...] = option(
        (), "KEY=JSON: a parameter of its requests, as 'size=\"512x512\"'. Repeatable.", panel=PANEL_PICTURES
    )

    @model_validator(mode="after")
    def _options_fit(self) -> Self:
        if bool(self.source) == bool(self.image_model):
            raise ValueError(
                "name the pairs whose pictures are asked about, as pairs.parquet, or --image-model, not both"
            )
        if not self.license.isprintable():
            raise ValueError("--license is one line of text, without control characters, as 'CC BY 4.0'")
        if self.scenarios and self.themes:
            raise ValueError("--scenarios has scenes of its own settings, so leave out --themes")
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
                raise ValueError(f"judge_{name} is for judges that do not write; name others by --judge or --judges")

    def _images_fit(self) -> None:
        given = {"--image-param": self.image_param}
        given |= {name: getattr(self, name) for name in ("image_endpoint", "image_key_env", "image_price")}
        if not self.image_model:
            if named := [name for name, value in given.items() if value not in (None, ())]:
                raise ValueError(f"{named[0]} needs --image-model")
        elif self.image_model in (self.model, *self.judge_names):
            raise ValueError("--image-model needs a name of its own, not that of a model that writes or judges")
        elif named := sorted(self.model_fields_set & _OF_SOURCE):
            raise ValueError(f"{spelling(type(self), named[0])} is for pairs, and --image-model has none")
        elif (self.price is None) != (self.image_price is None):
            raise ValueError("give price and image_price in --server, or neither: a part of the cost would be no cost")
        if self.image_key_env and not self.image_endpoint:
            raise ValueError("image_key_env is the key to image_endpoint; without one, --key-env counts")

    @property
    def picture_price(self) -> float:
        """Price of a picture that is generated."""
        return self.image_price or 0.0

    @property
    def image_parameters(self) -> dict[str, Any]:
        """The values of ``--image-param`` by name; a ValueError for a reserved name."""
        return read_parameters(self.image_param, "--image-param", RESERVED_IMAGE_PARAMETERS)

    @property
    def languages(self) -> tuple[str, ...]:
        """The language codes, that of the items first; a ValueError if they are invalid."""
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
        judges = tuple(name or self.model or "" for name in names)
        if len(set(judges)) < len(judges) or (self.judges and not all(names)):
            raise ValueError(f"--judges {(self.judges or '')[:80]!r} is no list of different models, as A,B")
        return judges


class BloomCoverageOptions(JudgedOptions):
    """Options of mapping items to the categories of a taxonomy."""

    categories: Path | None = option(None, "CSV with question_id and leaf: categories in place of a model's.")
    taxonomy: Path | None = option(
        None,
        "CSV with level, subcategory and leaf.",
        shown="that of the MCQ benchmarks, or BloomBench's 106 categories",
    )
    sample: int | None = option(None, "Size of a random sample of each set.", short="-n", shown="all", ge=1)
    seed: int = option(0, "Seed of the sample.", ge=0, le=1_000_000)
    images: Path | None = option(None, "Folder that paths of pictures lead into.", shown="that of the file")
    image_column: str | None = column("image", None, "the picture, if not image, image_1, image_url and so on")
    model: str | None = server_option(None, "The model that classifies the items, as the server knows it.")
    judge: str | None = server_option(None, "A second model that classifies them, for the agreement.")
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
                raise ValueError(f"judge_{name} is of a second model, so name it by --judge")
        return self

    @property
    def judge_names(self) -> tuple[str, ...]:
        """The second model, if there is one."""
        return (self.judge,) if self.judge else ()


class BloomImportOptions(Options):
    """Options of importing a file of another benchmark."""

    images: Path | None = option(None, "Folder that paths of pictures lead into.", shown="that of the file")
    image_column: str | None = column("image", None, "the picture, if not image, image_url and so on")
    fetch: bool = option(False, "Fetch pictures whose address begins with https.", names="--fetch")
    lang: str = option("en", "Language of a column that names none.", short="-l", pattern="^[a-z]{2,3}$")
    taxonomy: Path | None = option(None, "CSV with level, subcategory and leaf.", shown="BloomBench's 106 categories")
    keep: tuple[str, ...] = option(
        (), "Keep items in spite of wrong_script, numbers_differ, points_at_options or untranslated. Repeatable."
    )


class AuditOptions(Options):
    """Size of an audit by people."""

    items: int | None = option(
        None, "Items to draw; more, if --per-category needs more.", short="-n", shown="one in eight", ge=1, le=100_000
    )
    per_category: int = option(4, "Items of each category, at least.", ge=1, le=1_000)
    raters: int = option(2, "People who look at items.", ge=1, le=100)
    overlap: float = option(0.2, "Share of the items that two of them look at.", ge=0, le=1)
    seed: int = option(0, "Seed of the sample.", ge=0, le=1_000_000)
