"""``board.yaml``: what the maintainers of a board decide."""

import re
from datetime import date
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import ConfigDict, Field, field_validator

from vcrgen.core.files import write_text
from vcrgen.core.options import Options, read_yaml, validate_options

FILE = "board.yaml"
SetTitle = Annotated[str, Field(max_length=80)]


class Provider(Options):
    """A provider of OpenID Connect with which people sign in."""

    model_config = ConfigDict(strict=True)

    name: str = Field(min_length=1, max_length=60, description="What people call it.")
    issuer: str = Field(max_length=300, description="Its address, as it calls itself.")
    client_id: str = Field(min_length=1, max_length=300, description="What it calls this board.")
    client_secret: str = Field("", max_length=500, description="The password of this board there.")

    @property
    def address(self) -> str:
        """The provider in addresses of the board, such as ``huggingface-co``."""
        return re.sub("[^a-z0-9]+", "-", self.issuer.lower().partition("://")[2]).strip("-")


class SetSettings(Options):
    """A test set as it is wanted."""

    model_config = ConfigDict(strict=True)

    name: str = Field(max_length=40, description="What files and addresses call it.")
    title: SetTitle = Field("", description="What pages call it; empty: the name.")
    data: str = Field(min_length=1, max_length=4000, description="A dataset or a hidden set's key, on this machine.")
    feedback: str = Field("", max_length=20, description="Of a hidden set: ladder, or instant with `unsafe: true`.")
    view: str = Field("", max_length=20, description="The view whose exact match a ladder shows.")
    opens: str = Field("", max_length=40, description="First day of submissions to a hidden set, in UTC; empty: now.")
    closes: str = Field("", max_length=40, description="Last day of submissions, in UTC; empty: until `close`.")
    protocol: str = Field("", max_length=40, description="Of a set of captions: vcrgen, paper and others.")
    private: bool | None = Field(
        None, description="Whether a team may hide a file until it chooses it; empty: on public sets alone."
    )
    retired: bool = Field(False, description="Whether it is out of use; its rows stay.")
    unsafe: bool = Field(False, description="Take instant feedback, by which the key can be read out.")

    @field_validator("opens", "closes", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return value.isoformat() if isinstance(value, date) else value  # as YAML reads a date without quotes


class Settings(Options):
    """The keys of ``board.yaml``; unknown ones are errors."""

    model_config = ConfigDict(strict=True)

    title: str = Field("", max_length=120, description="Head of every page; empty: what the sets are.")
    intro: str = Field("", max_length=1000, description="A sentence below the title.")
    rules: str = Field(
        "", max_length=20_000, description="Rules for teams: plain text, an empty line between paragraphs; empty: none."
    )
    contact: str = Field("", max_length=200, description="How teams reach you: an address, or a page.")
    url: str = Field(
        "",
        max_length=300,
        pattern=r"^(https?://[^\s?#]+)?$",
        description="Where people find the board; empty: as asked.",
    )
    sets: tuple[SetSettings, ...] = Field(
        (),
        max_length=100,
        strict=False,
        description="Sets: name, title, data, feedback, view, opens, closes, protocol, private, retired, unsafe; see "
        "docs/leaderboard-service.md.",
    )
    database: str = Field(
        "", max_length=500, description="A SQLAlchemy URL such as postgresql+psycopg://...; empty: SQLite, here."
    )
    file_mb: int = Field(64, ge=1, le=1024, description="Largest file of outputs, in MiB.")
    files_per_day: int = Field(20, ge=1, description="Files that are scored for a team on a public set in 24 hours.")
    hidden_scores_per_day: int = Field(2, ge=1, description="Figures that a hidden set's key gives a team in 24 hours.")
    hidden_scores_lifetime: int = Field(20, ge=1, description="Figures that a hidden set's key gives a team, ever.")
    failed_files_per_day: int = Field(
        30, ge=1, description="Files of a team or its group that are rejected after a look in 24 hours."
    )
    requests_per_minute: int = Field(300, ge=10, description="Requests of one address.")
    ladder_minutes: int = Field(
        1, ge=0, le=1440, description="A ladder answers after so many minutes, or a multiple of them; 0: at once."
    )
    closing_models: int = Field(
        2, ge=1, description="Models of a team or its group that are ranked when a set with a ladder is closed."
    )
    approval: bool = Field(False, description="Whether a maintainer approves each file of a team before it is scored.")
    oidc: tuple[Provider, ...] = Field(
        (),
        max_length=10,
        strict=False,
        description="Sign-in with providers: name, issuer, client_id, client_secret.",
    )
    seconds: int = Field(600, ge=1, le=86400, description="Time for scoring one file.")
    memory_mb: int = Field(1024, ge=64, description="Memory for scoring one file, in MiB, beside the answers'.")
    overall: tuple[str, ...] = Field(
        (), max_length=100, strict=False, description="Sets over which models have one figure, their mean; empty: none."
    )

    @field_validator("sets")
    @classmethod
    def _check_names(cls, sets: tuple[SetSettings, ...]) -> tuple[SetSettings, ...]:
        names = [asked.name for asked in sets]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two sets are named {name!r}")
        return sets


def absolute_url(settings: Settings, asked: str, name: str) -> str:
    """The address of a page: below the board's, or else below the one that a request asked."""
    return f"{(settings.url or asked).rstrip('/')}/{name}"


def read_settings(board: Path) -> Settings:
    """Read a board's settings.

    Raises:
        ConfigError: The file cannot be read, a key is unknown, or a value is wrong.
    """
    file = board / FILE
    return validate_options(Settings, read_yaml(file), f"{file}: ")


def write_settings(board: Path, settings: Settings) -> None:
    """Write all settings with what they mean; readable by the owner only, as a database's URL may hold a password."""
    lines = []
    for name, field in Settings.model_fields.items():
        values = settings.model_dump(mode="json", include={name})
        if name == "sets":
            values = {name: [asked.model_dump(mode="json", exclude_defaults=True) for asked in settings.sets]}
        value = yaml.safe_dump(values, allow_unicode=True, width=10_000, sort_keys=False)
        lines.append(f"# {field.description}\n{value}")
    write_text(board / FILE, "\n".join(lines))
    (board / FILE).chmod(0o600)
