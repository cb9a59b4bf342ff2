"""The base of all options: fields, one-sentence errors, YAML recipes."""

import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vcrgen.core.errors import ConfigError, OptionError

# Headings under which the help of a command shows its options.
PANEL_SOURCE, PANEL_TEXT, PANEL_IMAGES, PANEL_RUN = "Source", "Text and masks", "Images", "Run"
PANEL_SERVER, PANEL_LOCAL_MODEL = "Server", "Model in this process"
SHORT_LIST = 6  # names that a message lists whole
PANEL_PICTURES = "Generated pictures"
MAX_CONFIG_BYTES = 1 << 20
COLUMN = "--column "  # and the name of what the column holds
ALWAYS_NAMED = object()  # `legacy` of a field that every signature names
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


def option(
    default: Any,
    description: str,
    *,
    short: str = "",
    panel: str = "",
    names: str = "",
    shown: str = "",
    typed: bool = True,
    legacy: Any = ALWAYS_NAMED,
    **limits: Any,
) -> Any:
    """A field from which the command line makes an option (``vcrgen/cli/options.py``).

    Args:
        short: A spelling of one letter, such as ``-l``.
        panel: The heading in the help.
        names: The spelling, if it is not the field's name with hyphens, such as ``--strip/--keep``.
        shown: The default as the help shows it.
        typed: Whether the command line has it; the others stand in files only.
        legacy: For a field that came later, the value that does what versions without it did. Signatures and manifests
            leave it out, so that they stay as they were; it never changes, even if the default does.
        limits: Bounds of pydantic's ``Field``.
    """
    extra: dict[str, Any] = {"short": short, "panel": panel, "names": names, "shown": shown, "typed": typed}
    if legacy is not ALWAYS_NAMED:
        extra["legacy"] = legacy
    return Field(default, description=description, json_schema_extra=extra, **limits)


def column(name: str, default: str | None, description: str) -> Any:
    """Return a field for the name of a column; the command line takes all of them by ``--column NAME=COLUMN``."""
    return option(default, description, names=f"{COLUMN}{name}", panel=PANEL_SOURCE)


def spelling(model: type[BaseModel], field: str) -> str:
    """Option of a field, as users spell it; the field's name for one that is not typed."""
    extra = model.model_fields[field].json_schema_extra
    assert isinstance(extra, dict)  # made by `option`
    if not extra["typed"]:
        return field
    return str(extra["names"]) or f"--{field.replace('_', '-')}"


class Options(BaseModel):
    """Options of a user, from Python, YAML or a command line; a wrong one is a ConfigError of one sentence.

    Raises:
        ConfigError: A field is unknown, or its value is wrong.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, /, **values: Any) -> None:
        try:
            super().__init__(**{name: _paths_as_text(value) for name, value in values.items()})
        except ValidationError as error:
            raise first_problem(error, type(self)) from None


def _paths_as_text(value: Any) -> Any:
    """A source, a subset or a reference is a text, as it need not be a path; from Python it may come as one."""
    if isinstance(value, list | tuple):
        return [_paths_as_text(element) for element in value]
    return str(value) if isinstance(value, Path) else value


Model = TypeVar("Model", bound=Options)


def legacy_values(model: type[BaseModel]) -> dict[str, Any]:
    """The fields that earlier versions did not have, each with the value that does what those did."""
    extras = {name: field.json_schema_extra for name, field in model.model_fields.items()}
    return {name: extra["legacy"] for name, extra in extras.items() if isinstance(extra, dict) and "legacy" in extra}


def drop_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out options that were not given, which are None."""
    return {name: value for name, value in values.items() if value is not None}


def validate_options(model: type[Model], values: Mapping[str, Any], place: str = "") -> Model:
    """Make the options from a user's values.

    Raises:
        ConfigError: A field is unknown, or its value is wrong; the sentence begins with ``place``, such as a file.
    """
    try:
        return model(**values)
    except ConfigError as error:
        if not place:
            raise
        field, colon, message = str(error).partition(": ")
        key = field.replace("-", "_") if isinstance(error, OptionError) else field  # as files spell it
        raise ConfigError(f"{place}{key}{colon}{message}") from None


def read_yaml(file: Path) -> dict[str, Any]:
    """Read a YAML mapping with string keys, of at most 1 MiB.

    Raises:
        ConfigError: The file is missing, too large, not UTF-8, not YAML, or not a mapping.
    """
    import yaml

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
        raise ConfigError(
            f"The configuration file {file} is not valid YAML{at}; a text with a colon stands in quotes."
        ) from None
    except ValueError as error:  # of a date such as 2026-13-01, for which YAML names no line
        raise ConfigError(f"The configuration file {file} has a value that is none: {error}.") from None
    if not isinstance(loaded, dict) or not all(isinstance(key, str) for key in loaded):
        raise ConfigError(f"The configuration file {file} must hold `key: value` lines.")
    return loaded


def read_parameters(texts: tuple[str, ...], given_by: str, own: set[str]) -> dict[str, Any]:
    """Parse texts ``KEY=JSON``; a ValueError if one is invalid or its name is in ``own``."""
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


def read_prices(price: str | None, name: str = "price") -> tuple[float, float] | None:
    """Parse ``IN,OUT``; a ValueError if these are no prices."""
    if price is None:
        return None
    try:
        read, written = (float(part) for part in price.split(","))
    except ValueError:
        read = written = -1.0
    if not (0 <= read < float("inf") and 0 <= written < float("inf")):
        raise ValueError(f"{name} {price!r} is not of the form IN,OUT, as in 2.5,10")
    return read, written


def first_problem(error: ValidationError, model: type[BaseModel]) -> ConfigError:
    """First problem that pydantic found, as a sentence with the user's spelling of the option."""
    problem = error.errors()[0]
    field = str(problem["loc"][0]) if problem["loc"] else ""
    if problem["type"] == "extra_forbidden":
        known = tuple(model.model_fields)
        if len(known) <= SHORT_LIST:
            return ConfigError(f"Unknown key {field!r}; known: {', '.join(known)}.")
        near = difflib.get_close_matches(field, known, n=1, cutoff=0.0)
        return ConfigError(f"Unknown key {field!r}; the nearest known key is {near[0]!r}.")
    message = problem["msg"].removeprefix("Value error, ")
    if not field:
        return ConfigError(f"{message}.")
    name = field.replace("_", "-")
    mistake = OptionError(f"{name}: {message}.")
    model_field = model.model_fields.get(field)
    if (
        model_field is not None
        and isinstance(model_field.json_schema_extra, dict)
        and model_field.json_schema_extra["typed"]
    ):
        mistake.option = spelling(model, field)
    return mistake
