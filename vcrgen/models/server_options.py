"""Options of commands that send requests to a model behind a server: typed, or in a file of ``--server``."""

import re
from functools import partial
from pathlib import Path
from typing import Any, Self

from pydantic import create_model, model_validator
from pydantic.fields import FieldInfo

from vcrgen.core.errors import ConfigError
from vcrgen.core.options import PANEL_SERVER, Options, drop_none, option, read_prices, read_yaml, validate_options
from vcrgen.models.servers import SERVERS

_TIME = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY = re.compile(r"(?:sk-|hf_|gsk_|xai-|AIza)\S{8,}")  # what keys begin with
_EXCLUDED = {"judge": "judges", "judges": "judge", "offline": "endpoint", "endpoint": "offline"}

server_option = partial(option, panel=PANEL_SERVER)
file_option = partial(option, panel=PANEL_SERVER, typed=False)


class ServerOptions(Options):
    """Address of a server, limits of requests, and prices."""

    model: str | None = server_option(None, "Name of the model, as the server knows it.")
    endpoint: str | None = server_option(None, "Address of the server, as http://127.0.0.1:8000/v1.")
    profile: str | None = file_option(None, f"Kind of server: {', '.join(SERVERS)}.")
    key_env: str | None = server_option(None, "Environment variable that holds the key.")
    insecure_key: bool = file_option(False, "Send the key by plain http to a private network.")
    concurrency: int = server_option(8, "Requests under way at a time.", ge=1, le=1000)
    rpm: float | None = file_option(None, "Requests a minute to each model, at most.", gt=0)
    tpm: float | None = file_option(None, "Tokens a minute of each model, at most.", gt=0)
    timeout: float = file_option(300.0, "Seconds for a whole reply.", gt=0, le=86_400)
    patience: str = server_option("10m", "Time without a reply that is waited out: 90s, 30m, 2h.")
    price: str | None = file_option(None, "IN,OUT: price of a million tokens read, and written.")
    max_cost: float | None = server_option(
        None, "Send nothing more when the replies cost this; needs the price in --server.", ge=0
    )

    @model_validator(mode="after")
    def _cost_has_prices(self) -> Self:
        if self.max_cost is not None and self.price is None:
            raise ValueError(
                "--max-cost needs a price in --server, as price: 2.5,10, of a million tokens read, and written"
            )
        _ = self.prices, self.patience_seconds
        return self

    @property
    def patience_seconds(self) -> float:
        """Seconds of ``patience``; a ValueError if it is no time."""
        time = _TIME.fullmatch(self.patience)
        if time is None:
            raise ValueError(f"patience {self.patience[:20]!r} is no time; give one such as 90s, 30m or 2h")
        return float(time[1]) * _SECONDS[time[2]]

    @property
    def prices(self) -> tuple[float, float] | None:
        """Return prices of a million tokens, read and written; a ValueError if they are none."""
        return read_prices(self.price)


def with_server(model: type[ServerOptions], file: Path | None, typed: dict[str, Any]) -> dict[str, Any]:
    """Merge a file of ``--server`` with the options of the command line, which count in its place.

    Args:
        model: The options of the command; the file may set those under the heading of servers.
        file: YAML; None if there is none.
        typed: The options of the command line; None where one was not typed.

    Raises:
        ConfigError: The file cannot be read, has another key or a wrong value, or holds a key to a server.
    """
    typed = drop_none(typed)
    if file is None:
        return typed
    values = read_yaml(file)
    for name, value in values.items():
        if isinstance(value, str) and (_KEY.match(value) or (name.endswith("key_env") and not _NAME.fullmatch(value))):
            raise ConfigError(
                f"{file}: {name} looks like a key to a server, which stands in no file; key_env takes the name of the "
                "environment variable that holds it."
            )
    fields = {name: field for name, field in model.model_fields.items() if is_of_servers(name, field)}
    kinds: dict[str, Any] = {name: (field.annotation, field) for name, field in fields.items()}
    validate_options(create_model("ServerFile", __base__=Options, **kinds), values, f"{file}: ")
    return override(values, typed)


def override(values: dict[str, Any], typed: dict[str, Any]) -> dict[str, Any]:
    """Merge the options of a file with typed ones, which replace their own and those that they exclude."""
    excluded = {other for name, other in _EXCLUDED.items() if typed.get(name)}
    return {name: value for name, value in values.items() if name not in excluded} | typed


def is_of_servers(name: str, field: FieldInfo) -> bool:
    """Return whether a field of a command's options may stand in a file of ``--server``."""
    extra = field.json_schema_extra
    return name == "model" or (isinstance(extra, dict) and extra["panel"] == PANEL_SERVER)
