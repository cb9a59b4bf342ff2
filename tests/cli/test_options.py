"""Options are made from models: what a field says of itself is what the command takes and shows."""

from pathlib import Path
from typing import Any, Literal

import pytest
import typer
from pydantic import BaseModel
from typer.testing import CliRunner

from vcrgen.cli import app
from vcrgen.cli.options import examples, options_of
from vcrgen.config.base import option
from vcrgen.config.build import BuildConfig


class Fruit(BaseModel):
    source: str = option("garden", "Where it grows.")
    sort: Literal["apple", "pear"] = option("apple", "Which fruit.", short="-s")
    count: int | None = option(None, "How many.", panel="Amounts", ge=1)
    weight: float = option(0.5, "Of one, in kilograms.", panel="Amounts")
    place: Path | None = option(None, "A file.")
    words: tuple[str, ...] = option((), "Words, repeatable.")
    is_ripe: bool = option(False, "Whether it can be eaten.")


def call(command: Any, *words: str) -> str:
    one = typer.Typer()
    one.command()(command)
    result = CliRunner().invoke(one, list(words), env={"COLUMNS": "80"})  # whatever the terminal's width is
    return result.output


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        ((), "sort", None),
        (("-s", "pear"), "sort", "pear"),
        (("--sort", "pear"), "sort", "pear"),
        (("--count", "3"), "count", 3),
        (("--weight", "0.25"), "weight", 0.25),
        (("--place", "a/b"), "place", Path("a/b")),
        (("--words", "a", "--words", "b"), "words", ["a", "b"]),
        (("--is-ripe",), "is_ripe", True),
        (("--no-is-ripe",), "is_ripe", False),
    ],
)
def test_a_field_is_an_option_of_its_type(words: tuple[str, ...], name: str, value: object) -> None:
    @options_of(Fruit)
    def pick(**options: Any) -> None:
        typer.echo(f"{options[name]!r} {sorted(options)}")

    fields = sorted(set(Fruit.model_fields) - {"source"})
    assert call(pick, *words) == f"{value!r} {fields}\n"


def test_the_help_shows_what_the_field_says(monkeypatch: pytest.MonkeyPatch) -> None:
    @options_of(Fruit, only=("sort", "count"))
    def pick(**options: Any) -> None:
        """Pick some."""

    shown = call(pick, "--help")
    assert "Which fruit. [default: (apple)]" in shown and "Amounts" in shown and "How many." in shown
    assert "--weight" not in shown


def test_every_choice_of_a_build_is_an_option() -> None:
    group: Any = typer.main.get_command(app)
    names = {parameter.name for parameter in group.get_command(None, "build").params}
    assert set(BuildConfig.model_fields) <= names


def test_one_example_is_not_called_examples() -> None:
    assert examples("vcrgen build") == "Example:\n\n  vcrgen build"
    assert examples("a", "b") == "Examples:\n\n  a\n\n  b"
