"""Addresses of model servers and their keys, checked before anything is sent."""

import base64
import ipaddress
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from vcrgen.core.errors import ConfigError
from vcrgen.models.servers import SERVERS, Server, server_of_host

REDACTED = "[key]"
_SHORTEST = 8  # characters of a key: a shorter one could be a word of an answer
_LONG = 12  # characters of a beginning or an end of a key that are cut out of texts; half of a short key
_PRIVATE_NAMES = (".local", ".internal", ".lan", ".home.arpa")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUERY = re.compile(r"(?:api-version=[A-Za-z0-9.-]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The address of a server."""

    url: str
    host: str  # ``127.0.0.1:8000``: the part that may be shown and stored
    profile: str  # name of the kind of server
    kind: Server
    is_encrypted: bool
    is_local: bool  # this machine
    is_private: bool  # a private network
    option: str  # the option that gave it, for messages

    @property
    def key_option(self) -> str:
        """Option that names the variable of the key, for messages: --key-env, or that of a judge."""
        return _key_option(self.option)


class Key:
    """The key to a server; ``repr`` and ``str`` do not show it."""

    def __init__(self, value: str) -> None:
        self._value = value
        quoted = {value, quote(value, safe=""), quote(value), value.replace("/", "\\/"), value.encode().hex()}
        self._forms = sorted(quoted | _base64_forms(value.encode()))

    def header(self, profile: Server) -> dict[str, str]:
        """Header that holds the key, by the kind of server."""
        name, before = profile.header
        return {name: before + self._value}

    def redact(self, text: str) -> str:
        """Put ``[key]`` in place of the key and of long beginnings and ends of it, in any form."""
        text = _cut_beginnings(text, self._forms, REDACTED)
        return _cut_beginnings(text[::-1], [form[::-1] for form in self._forms], REDACTED[::-1])[::-1]


def _base64_forms(value: bytes) -> set[str]:
    """Return what all Base64 texts have in common that encode a text with this value in it."""
    forms = set()
    for before in range(3):  # bytes before it in a group of three
        whole = (before + len(value)) // 3 * 3
        text = base64.b64encode((b"\0" * before + value)[:whole]).decode()[(0, 2, 3)[before] :]
        forms |= {text, text.translate(str.maketrans("+/", "-_"))}
    return forms


def _cut_beginnings(text: str, forms: Sequence[str], mark: str) -> str:
    """Put a mark in place of forms and of their long beginnings."""
    starts = (form[: min(_LONG, max(len(form) // 2, _SHORTEST))] for form in forms)
    any_start = re.compile("|".join(map(re.escape, starts)))
    pieces, end = [], 0
    while beginning := any_start.search(text, end):
        place = beginning.start()
        pieces += [text[end:place], mark]
        likely = ([text[place : place + len(form)], form] for form in forms)
        end = place + max(len(os.path.commonprefix(both)) for both in likely)  # noqa: RUF071 - by characters
    return "".join([*pieces, text[end:]])


def parse_address(
    endpoint: str, model: str, profile: str | None = None, *, pictures: bool = False, option: str = "--endpoint"
) -> Address:
    """Parse an address such as ``http://127.0.0.1:8000/v1``.

    Args:
        endpoint: The user's text, with or without ``/chat/completions`` or ``/images/generations``.
        profile: Kind of server; by default derived from the host.
        pictures: Whether the model generates images.
        option: The option that gave the address, for messages.

    Raises:
        ConfigError: The text is no such address, holds a password, or the profile is unknown.
    """
    if profile is not None and profile not in SERVERS:
        raise ConfigError(f"Unknown profile {profile!r}; known: {', '.join(SERVERS)}.")
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
    profile = profile or server_of_host(host)
    kind = SERVERS[profile]
    end = kind.image_path if pictures else kind.path
    end = end.format(model=quote(model, safe=""))
    path = parts.path.rstrip("/")
    for ending in ("/chat/completions", "/images/generations"):
        path = path.removesuffix(ending)
    query = parts.query or kind.query
    bracketed = f"[{host}]" if ":" in host else host
    place = f"{bracketed}:{port}" if port is not None else bracketed
    url = f"{parts.scheme}://{place}{quote(path, safe='/%')}/{end}" + (f"?{query}" if query else "")
    return Address(
        url=url,
        host=place,
        profile=profile,
        kind=kind,
        is_encrypted=parts.scheme == "https",
        is_local=_is_local(host),
        is_private=_is_private(host),
        option=option,
    )


def _key_option(option: str) -> str:
    return "--key-env" if option == "--endpoint" else option.replace("endpoint", "key_env")


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_private(host: str) -> bool:
    """Return whether a host is in a private network, by its address or by a name that only such networks know."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(_PRIVATE_NAMES)
    return address.is_private and not (address.is_unspecified or address.is_link_local or address.is_reserved)


def read_key(variable: str | None, address: Address, *, insecure: bool = False) -> Key | None:
    """Read the key in an environment variable; None if no variable is named.

    Args:
        variable: Its name.
        insecure: Allow plain http to a private network.

    Raises:
        ConfigError: There is none, it is no key, or it would be sent unencrypted. Neither key nor name is shown: the
            name may be the key itself, given by mistake.
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
    if not address.is_encrypted and not address.is_local and not (insecure and address.is_private):
        remedy = "a server on this machine"
        if address.is_private:
            remedy = "in a network that you trust insecure_key: true in --server"
        raise ConfigError(f"A key is not sent to {address.host} by plain http; use https, or {remedy}.")
    return Key(value)
