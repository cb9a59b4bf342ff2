"""Options of commands that send requests to a model behind a server."""

import re
from functools import partial
from typing import Self

from pydantic import model_validator

from vcrgen.config.base import PANEL_SERVER, Options, option, read_prices
from vcrgen.models.servers import SERVERS

_TIME = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}

server_option = partial(option, panel=PANEL_SERVER)


class ServerOptions(Options):
    """Address of a server, limits of requests, and prices."""

    model: str | None = server_option(None, "Name of the model, as the server knows it.")
    endpoint: str | None = server_option(None, "Address of the server, as http://127.0.0.1:8000/v1.")
    profile: str | None = server_option(None, f"Kind of server: {', '.join(SERVERS)}.", shown="derived from the host")
    key_env: str | None = server_option(None, "Environment variable that holds the key.")
    insecure_key: bool = server_option(
        False, "Send the key by plain http to a private network.", names="--insecure-key"
    )
    concurrency: int = server_option(8, "Requests under way at a time.", ge=1, le=1000)
    rpm: float | None = server_option(None, "Requests a minute to each model, at most.", gt=0)
    tpm: float | None = server_option(None, "Tokens a minute of each model, at most.", gt=0)
    timeout: float = server_option(300.0, "Seconds for a whole reply.", gt=0, le=86_400)
    patience: str = server_option(
        "10m", "Time of an outage that is waited out, once the server has answered: 90s, 30m, 2h."
    )
    price: str | None = server_option(None, "IN,OUT: price of a million tokens read, and written.")
    max_cost: float | None = server_option(None, "Send nothing more when the replies cost this; needs --price.", ge=0)

    @model_validator(mode="after")
    def _cost_has_prices(self) -> Self:
        if self.max_cost is not None and self.price is None:
            raise ValueError("--max-cost needs --price IN,OUT, the prices of a million tokens")
        _ = self.prices, self.patience_seconds
        return self

    @property
    def patience_seconds(self) -> float:
        """Return the seconds of ``--patience``; a ValueError if it is no time."""
        found = _TIME.fullmatch(self.patience)
        if found is None:
            raise ValueError(f"--patience {self.patience[:20]!r} is no time; give one such as 90s, 30m or 2h")
        return float(found[1]) * _SECONDS[found[2]]

    @property
    def prices(self) -> tuple[float, float] | None:
        """Return prices of a million tokens, read and written; a ValueError if they are none."""
        return read_prices(self.price)
