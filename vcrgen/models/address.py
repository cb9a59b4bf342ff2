"""Where a model is served, and the key to it: what is refused before anything is sent."""

import ipaddress
import os
import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from vcrgen.errors import ConfigError
from vcrgen.models.profiles import PROFILES, Profile, profile_of

CUT = "[key]"
_SHORTEST = 8  # characters of a key: a shorter one could be a word of an answer
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUERY = re.compile(r"(?:api-version=[A-Za-z0-9.-]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where requests go."""

    url: str  # all of it
    host: str  # ``127.0.0.1:8000``: what may be shown and kept
    profile: str  # name of the kind of server
    secure: bool  # whether what is sent is encrypted
    here: bool  # whether it is this machine
    option: str  # what gave it, for messages

    @property
    def kind(self) -> Profile:
        """The kind of server."""
        return PROFILES[self.profile]

    @property
    def key_option(self) -> str:
        """What names the variable of its key, for messages."""
        return _key_option(self.option)


class Key:
    """The key to a server. It is never part of a text: ``repr`` and ``str`` do not show it."""

    def __init__(self, value: str) -> None:
        self._value = value
        self._forms = sorted({value, quote(value, safe=""), quote(value)}, key=len, reverse=True)

    def header(self, profile: Profile) -> dict[str, str]:
        """The header that shows the key to a server."""
        name, before = profile.header
        return {name: before + self._value}

    def cut(self, text: str) -> str:
        """The text with ``[key]`` wherever the key stood in it."""
        for form in self._forms:
            text = text.replace(form, CUT)
        return text


def address_of(
    endpoint: str, model: str, profile: str | None = None, *, pictures: bool = False, option: str = "--endpoint"
) -> Address:
    """Where to send requests for a model, as ``http://127.0.0.1:8000/v1`` for a server on this machine.

    Args:
        endpoint: As the user gives it, with or without ``/chat/completions`` or ``/images/generations``.
        model: Name of the model.
        profile: Name of the kind of server; told by the host if it is None.
        pictures: Whether the model generates pictures.
        option: What gave the address, for messages.

    Raises:
        ConfigError: It is no such address, holds a password, or the profile is unknown.
    """
    if profile is not None and profile not in PROFILES:
        raise ConfigError(f"Unknown profile {profile!r}; known: {', '.join(PROFILES)}.")
    try:
        parts = urlsplit(endpoint.strip())
        host, port = (parts.hostname or "").lower(), parts.port
        host.encode("idna" if not host.isascii() else "ascii")
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("http", "https") or not endpoint.isprintable():
        raise ConfigError(f"{option} has to be an address as http://127.0.0.1:8000/v1 or https://HOST/v1.")
    # Neither the password nor the rest is quoted: it may be a key.
    if parts.username is not None or parts.password is not None or parts.fragment or not _QUERY.fullmatch(parts.query):
        raise ConfigError(
            f"{option} may hold no user, password or parameters; name a key's variable by {_key_option(option)}."
        )
    kind = profile or profile_of(host)
    end = PROFILES[kind].pictures if pictures else PROFILES[kind].path
    end = end.format(model=quote(model, safe=""))
    path = parts.path.rstrip("/").removesuffix("/chat/completions").removesuffix("/images/generations")
    query = parts.query or PROFILES[kind].query
    shown = f"[{host}]" if ":" in host else host
    place = f"{shown}:{port}" if port is not None else shown
    url = f"{parts.scheme}://{place}{quote(path, safe='/%')}/{end}" + (f"?{query}" if query else "")
    return Address(
        url=url, host=place, profile=kind, secure=parts.scheme == "https", here=_is_here(host), option=option
    )


def _key_option(option: str) -> str:
    return option.replace("endpoint", "key-env")


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def key_of(variable: str | None, address: Address) -> Key | None:
    """The key in an environment variable; None where no variable is named.

    Raises:
        ConfigError: There is none or it is no key, or it would go over the network unencrypted. The key and the name
            that was given are not shown: it may be the key itself that was given in place of a name.
    """
    if variable is None:
        return None
    value = os.environ.get(variable, "").strip() if _NAME.fullmatch(variable) else ""
    if not value:
        raise ConfigError(
            f"{address.key_option} takes the name of an environment variable, and there is none of the given name."
        )
    if len(value) < _SHORTEST or not value.isascii() or not value.isprintable() or " " in value:
        raise ConfigError(
            f"The variable of {address.key_option} holds no key ({_SHORTEST} printable ASCII characters at least, no "
            f"spaces); leave {address.key_option} out where the server asks for none."
        )
    if not address.secure and not address.here:
        raise ConfigError(f"A key is not sent to {address.host} by plain http; use https, or a server on this machine.")
    return Key(value)
