"""Options of commands, made from the models in the ``options.py`` of each package.

A field of such a model is an option of the command: its description is the help, its default is shown, its bounds are
checked when the model is made. So an option is added in one place, the model.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

import typer

from vcrgen.core.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

Command = TypeVar("Command", bound=Callable[..., None])
NOT_OPTIONS = {"source", "config"}  # fields that are an argument of the command, or made of other options


def examples(*lines: str) -> str:
    """The end of a command's help, one example a line, in paragraphs that rich does not join."""
    return "\n\n".join((f"Example{'s' if len(lines) > 1 else ''}:", *(f"  {line}" for line in lines)))


def out_option(about: str, *, default: str | None = None) -> Any:
    """Make the option ``--out`` of a command, whose help shows ``default``; `-` is an error."""
    return typer.Option("--out", "-o", help=about, show_default=default or False, callback=_check_out)


def _check_out(out: Path | None) -> Path | None:
    if out == Path("-"):
        raise ConfigError(
            "--out takes a name, not `-`; a command that can print what it makes does so where --out is left out."
        )
    return out


def options_of(model: type[BaseModel], *, only: Collection[str] | None = None) -> Callable[[Command], Command]:
    """Give a command one option for every field of a model, in place of its ``**options``; None if not given.

    Args:
        model: A model whose fields were made by :func:`vcrgen.core.options.option`.
        only: Names of the fields that become options; all but :data:`NOT_OPTIONS` if not given.
    """
    names = [name for name in model.model_fields if (name in only if only else name not in NOT_OPTIONS)]
    fields = {name: field for name in names if _extra(field := model.model_fields[name])["typed"]}
    columns = {column: name for name, field in fields.items() if (column := _column_name(field))}
    parameters = [_parameter(name, field) for name, field in fields.items() if name not in columns.values()]
    if not columns:
        return _with_parameters(parameters)

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def with_columns(*, column: list[str] | None, **options: Any) -> None:
            command(**options, **_read_columns(column or [], columns))

        option = _column_option({column: fields[name] for column, name in columns.items()})
        return _with_parameters([*parameters, option])(cast("Command", with_columns))

    return decorate


def _column_name(field: FieldInfo) -> str:
    """Name by which ``--column`` takes a field; empty if the field is an option of its own."""
    from vcrgen.core.options import COLUMN

    spelled = str(_extra(field)["names"])
    return spelled.removeprefix(COLUMN) if spelled.startswith(COLUMN) else ""


def _column_option(fields: Mapping[str, FieldInfo]) -> inspect.Parameter:
    """Make ``--column``, one option for all columns of a source, whose names the help lists."""
    names = ", ".join(f"{name} ({field.description})" for name, field in fields.items())
    defaults = " ".join(f"{name}={field.default}" for name, field in fields.items() if field.default)
    panel = str(_extra(next(iter(fields.values())))["panel"])
    described = typer.Option(
        "--column",
        help=f"NAME=COLUMN, a column or nested path of the source. Repeatable. NAME is {names}.",
        show_default=defaults or False,
        rich_help_panel=panel,
    )
    annotation = Annotated[list[str] | None, described]
    return inspect.Parameter("column", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _read_columns(texts: Sequence[str], columns: Mapping[str, str]) -> dict[str, str | None]:
    """Read texts NAME=COLUMN: the field that ``columns`` has for NAME gets COLUMN; None if not given."""
    paths: dict[str, str | None] = dict.fromkeys(columns.values())
    for text in texts:
        name, _, path = text.partition("=")
        if name not in columns or not path:
            raise ConfigError(
                f"--column {text[:80]!r} is not NAME=COLUMN with one of {', '.join(columns)}, as in --column "
                f"{next(iter(columns))}=jpg."
            )
        if paths[columns[name]] is not None:
            raise ConfigError(f"--column names the column of {name} twice: {paths[columns[name]]} and {path[:80]}.")
        paths[columns[name]] = path
    return paths


def _with_parameters(more: list[inspect.Parameter]) -> Callable[[Command], Command]:
    """Replace a function's ``**options`` by named parameters, which typer reads."""

    def decorate(command: Command) -> Command:
        given = inspect.signature(command, eval_str=True).parameters.values()
        own = [parameter for parameter in given if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own + more]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorate


def _extra(field: FieldInfo) -> dict[str, Any]:
    """Return what :func:`vcrgen.core.options.option` says of a field beside its type and limits."""
    extra = field.json_schema_extra
    assert isinstance(extra, dict), f"the field {field.description!r} was not made by `option`"
    return extra


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    """Make the option of a field; its default is None, so that a recipe may set it."""
    extra = _extra(field)
    plain: Any = _plain_type(field.annotation)
    long = str(extra["names"]) or f"--{name.replace('_', '-')}"
    if plain is bool and not extra["names"]:  # so that it can be switched off where a recipe switches it on
        long = f"{long}/--no-{long[2:]}"
    default = field.default
    default_text = extra["shown"] or (",".join(default) if isinstance(default, tuple) else default)
    described = typer.Option(
        *((str(extra["short"]), long) if extra["short"] else (long,)),
        help=field.description,
        show_default=str(default_text) if default_text not in (None, "") and default_text is not False else False,
        rich_help_panel=str(extra["panel"]) or None,
    )
    annotation = Annotated[plain | None, described]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _plain_type(annotation: Any) -> type:
    """Type that typer parses; the model checks the rest, as the words of a Literal."""
    if get_origin(annotation) in (UnionType, Union):  # the latter of a Literal
        annotation = next(kind for kind in get_args(annotation) if kind is not NoneType)
    if get_origin(annotation) is Literal:
        return str
    if annotation == tuple[str, str]:  # two words behind one option
        pair: type = annotation
        return pair
    if get_origin(annotation) is tuple:
        return list[str]
    assert annotation in (bool, int, float, str, Path), annotation
    plain: type = annotation
    return plain
