"""Options are made from models: what a field says of itself is what the command takes and shows."""

from pathlib import Path
from typing import Any, Literal

import pytest
import typer
from pydantic import BaseModel
from typer.testing import CliRunner

from vcrgen.builder.options import BuildConfig
from vcrgen.cli import app
from vcrgen.cli.options import examples, options_of
from vcrgen.core.errors import ConfigError
from vcrgen.core.options import column, option


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


class Basket(BaseModel):
    image_column: str = column("image", "image", "the picture")
    key_column: str | None = column("key", None, "its own key")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "{'image_column': None, 'key_column': None, 'size': 1}"),
        (("--column", "key=a.b=c", "--size", "4"), "{'image_column': None, 'key_column': 'a.b=c', 'size': 4}"),
        (("--column", "image=jpg", "--column", "key=k"), "{'image_column': 'jpg', 'key_column': 'k', 'size': 1}"),
        (("--column", "photo=jpg"), "--column 'photo=jpg' is not NAME=COLUMN with one of image, key, as in --column "),
        (("--column", "jpg"), "--column 'jpg' is not NAME=COLUMN with one of image, key, as in --column image=jpg."),
        (("--column", "key="), "--column 'key=' is not NAME=COLUMN"),
        (("--column", "key=a", "--column", "key=b"), "--column names the column of key twice: a and b."),
    ],
)
def test_all_columns_are_one_option(words: tuple[str, ...], expected: str) -> None:
    @options_of(Basket)
    def pick(size: int = 1, **options: Any) -> None:
        typer.echo(dict(sorted({"size": size, **options}.items())))

    one = typer.Typer()
    one.command()(pick)
    result = CliRunner().invoke(one, list(words))
    assert expected in (result.output or str(result.exception))
    assert isinstance(result.exception, ConfigError | None)


def test_the_help_of_columns_names_them() -> None:
    @options_of(Basket)
    def pick(**options: Any) -> None:
        """Pick some."""

    shown = " ".join(call(pick, "--help").replace("│", " ").split())
    assert "NAME is image (the picture), key (its own key). [default: (image=image)]" in shown and "Source" in shown
    assert "--image-column" not in shown


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
    columns = {name for name in BuildConfig.model_fields if name.endswith("_column")}
    assert set(BuildConfig.model_fields) - columns | {"column"} <= names


def test_one_example_is_not_called_examples() -> None:
    assert examples("vcrgen build") == "Example:\n\n  vcrgen build"
    assert examples("a", "b") == "Examples:\n\n  a\n\n  b"
