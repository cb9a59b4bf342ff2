"""Webhooks: a signed POST to an address that a maintainer wrote down.

Nothing is followed: no redirection, and no name that leads into a private network. So whoever can change what a name
means, or answers at the address, reaches nothing that this machine could reach and the world cannot.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import socket
import ssl
import time
from urllib.parse import urlsplit

from vcrgen.errors import ServiceError

SECONDS = 10.0  # for connecting, and for each part of the answer
MAX_RESPONSE = 64 << 10  # bytes of an answer that are read
SIGNATURE = "X-Vcrgen-Signature"
LOCALHOST = "localhost"


class Webhook:
    """An address to which events are posted, with the key of its signatures.

    Raises:
        ServiceError: The address is not https, nor http on this machine.
    """

    def __init__(self, url: str, key: bytes) -> None:
        try:
            parts = urlsplit(url)
            self._host, port = parts.hostname or "", parts.port
        except ValueError:
            raise ServiceError(f"The webhook is no address: {url[:100]!r}.") from None
        self._secure = parts.scheme == "https"
        if not self._host or parts.username or not (self._secure or (parts.scheme == "http" and _is_own(self._host))):
            raise ServiceError("The webhook is an https address, or http on this machine, without a name before an @.")
        self._port = port or (443 if self._secure else 80)
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._key = key

    def send(self, body: bytes) -> None:
        """Post a body once.

        Raises:
            OSError: It could not be reached, or did not answer with a status from 200 to 299.
        """
        connection = _Connection(self._host, self._port, secure=self._secure)
        headers = {"content-type": "application/json", "user-agent": "vcrgen", SIGNATURE: self.sign(body, time.time())}
        try:
            connection.request("POST", self._path, body, headers)
            answer = connection.getresponse()
            answer.read(MAX_RESPONSE)
        except http.client.HTTPException as problem:
            raise OSError(f"it gave no answer of HTTP ({type(problem).__name__})") from None
        finally:
            connection.close()
        if not 200 <= answer.status < 300:
            raise OSError(f"it answered {answer.status}")

    def sign(self, body: bytes, at: float) -> str:
        """Return the header that proves the sender and the time of a body: ``t=SECONDS,v1=HMAC``.

        The HMAC-SHA256, in hex, is of the seconds since 1970, a point and the body.
        """
        seconds = str(int(at))
        mac = hmac.new(self._key, seconds.encode() + b"." + body, hashlib.sha256)
        return f"t={seconds},v1={mac.hexdigest()}"


class _Connection(http.client.HTTPConnection):
    """A connection to an address that is looked up once and looked at before it is used."""

    def __init__(self, host: str, port: int, *, secure: bool) -> None:
        super().__init__(host, port, timeout=SECONDS)
        self._secure = secure

    def connect(self) -> None:
        """Connect, with TLS and the host's certificate checked if it has to be."""
        plain = socket.create_connection((_address_of(self.host, self.port), self.port), SECONDS)
        self.sock = (
            ssl.create_default_context().wrap_socket(plain, server_hostname=self.host) if self._secure else plain
        )


def _address_of(host: str, port: int) -> str:
    """Resolve a host's name; to a private address only if that was written itself."""
    found = [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    written = host == LOCALHOST or _is_address(host)
    for address in found:
        if written or ipaddress.ip_address(address.partition("%")[0]).is_global:
            return address
    raise OSError("its name leads into a private network; write the address itself if that is meant")


def _is_own(host: str) -> bool:
    return host == LOCALHOST or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
