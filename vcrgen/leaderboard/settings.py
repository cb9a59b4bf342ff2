"""``board.yaml``: what the maintainers of a board decide."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import ConfigDict, Field

from vcrgen.config.base import Options, read_yaml, validate_options
from vcrgen.files import write_text

FILE = "board.yaml"


class Provider(Options):
    """A provider of OpenID Connect with which people sign in."""

    model_config = ConfigDict(strict=True)

    name: str = Field(min_length=1, max_length=60, description="What people call it.")
    issuer: str = Field(max_length=300, description="Its address, as it calls itself.")
    client_id: str = Field(min_length=1, max_length=300, description="What it calls this board.")
    client_secret: str = Field("", max_length=500, description="The password of this board there.")


class Settings(Options):
    """The keys of ``board.yaml``; unknown ones are errors."""

    model_config = ConfigDict(strict=True)

    title: str = Field("", max_length=120, description="Head of every page; empty: what the sets are.")
    intro: str = Field("", max_length=1000, description="A sentence below the title.")
    contact: str = Field("", max_length=200, description="How teams reach you: an address, or a page.")
    url: str = Field(
        "",
        max_length=300,
        pattern=r"^(https?://[^\s?#]+)?$",
        description="Where people find the board; empty: as asked.",
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


def absolute_url(settings: Settings, asked: str, name: str) -> str:
    """Return the address of a page: below the board's, or else below the one that a request asked."""
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
        kept = settings.model_dump(mode="json", include={name})
        value = yaml.safe_dump(kept, allow_unicode=True, width=10_000)
        lines.append(f"# {field.description}\n{value}")
    write_text(board / FILE, "\n".join(lines))
    (board / FILE).chmod(0o600)
