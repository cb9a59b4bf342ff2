"""Fetch pictures of a benchmark: only by https, only from public addresses, within limits.

Files of questions and their addresses are not trusted. A name is resolved once, all of its addresses have to be public,
and the connection goes to the address that was checked. The same holds for each redirection.
"""

import hashlib
import http.client
import ipaddress
import socket
import ssl
import threading
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from vcrgen.core.errors import ImageProblem
from vcrgen.core.records import RejectReason

MAX_BYTES = 32 << 20
SECONDS = 30.0  # for one picture, redirections and all
MAX_REDIRECTIONS = 3
MAX_ADDRESS = 2_000  # characters
PORT = 443
_MOVED = (301, 302, 303, 307, 308)


class PictureCache:
    """Pictures by their address, each fetched once: pictures are kept in a folder, failures in memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._problems: dict[str, ImageProblem] = {}

    def get(self, address: str) -> bytes:
        """The bytes at an address; an ImageProblem as of `fetch`."""
        file = self._folder / hashlib.sha256(address.encode("utf-8", "surrogatepass")).hexdigest()
        if address in self._problems:
            raise self._problems[address]
        try:
            if not file.exists():
                file.write_bytes(fetch(address))
        except ImageProblem as problem:
            self._problems[address] = problem
            raise
        return file.read_bytes()


def fetch(address: str) -> bytes:
    """The bytes at an address.

    Raises:
        ImageProblem: The address is not allowed, or gives nothing within the limits.
    """
    end = time.monotonic() + SECONDS
    try:
        for _ in range(MAX_REDIRECTIONS + 1):
            moved, data = _get(address, end)
            if moved is None:
                return data
            address = urljoin(address, moved)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _problem(f"cannot be fetched ({str(getattr(error, 'strerror', None) or error)[:100]})") from None
    raise _problem("leads on too often")


def _get(address: str, end: float) -> tuple[str | None, bytes]:
    """The target of a redirection, or the content."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.scheme != "https" or not host or parts.port not in (None, PORT) or parts.username is not None:
        raise _problem("is not https, or names a port or a user")
    if len(address) > MAX_ADDRESS or not address.isascii() or not address.isprintable() or " " in address:
        raise _problem("is no address")
    seconds = max(end - time.monotonic(), 0.0)
    connection = _PinnedConnection(host, public_address(host), seconds)
    # A server that gives a byte now and then keeps each wait short, and so never runs into the limit of one.
    stop = threading.Timer(seconds, connection.stop)
    stop.start()
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={"User-Agent": "vcrgen", "Accept": "image/*"})
        reply = connection.getresponse()
        if reply.status in _MOVED and (moved := reply.getheader("Location")):
            return moved, b""
        if reply.status != http.HTTPStatus.OK:
            raise _problem(f"gives status {reply.status}")
        data = reply.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise _problem(f"gives more than {MAX_BYTES >> 20} MiB")
        if time.monotonic() > end:  # and so it was cut
            raise _problem(f"takes longer than {SECONDS:g} s")
        return None, data
    finally:
        stop.cancel()
        connection.close()


def public_address(host: str) -> str:
    """The address of a host that has only public ones.

    Raises:
        ImageProblem: It has a private one, or one of this machine.
        OSError: The name is not known.
    """
    texts = [str(entry[4][0]).partition("%")[0] for entry in socket.getaddrinfo(host, PORT, type=socket.SOCK_STREAM)]
    addresses = [ipaddress.ip_address(text) for text in texts]
    if not addresses or not all(address.is_global and not address.is_multicast for address in addresses):
        raise _problem("leads into a private network")
    return texts[0]


class _PinnedConnection(http.client.HTTPSConnection):
    """A connection to a checked address, with the certificate of the host's name."""

    def __init__(self, host: str, address: str, seconds: float) -> None:
        super().__init__(host, PORT, timeout=max(seconds, 0.1))
        self._address = address
        self._open: socket.socket | None = None  # also when the reply has taken over `sock`

    def stop(self) -> None:
        """End whatever another thread waits for."""
        with suppress(OSError):
            if self._open:
                socket.socket.shutdown(self._open, socket.SHUT_RDWR)

    def connect(self) -> None:
        """Connect to the checked address, not to a new one of the name."""
        self._open = plain = socket.create_connection((self._address, self.port), self.timeout)
        self._open = self.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=self.host)


def _problem(detail: str) -> ImageProblem:
    return ImageProblem(RejectReason.NO_IMAGE, f"the picture's address {detail}")
