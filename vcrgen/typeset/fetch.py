"""Fetch the fonts that are not shipped: a whole Debian package is downloaded, and one file of it is kept.

Packages and fonts are those whose hashes are in ``fonts/fonts.toml``, whichever mirror they come from.
"""

import hashlib
import io
import tarfile
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPException
from itertools import groupby

from vcrgen.core.errors import ConfigError, FontError
from vcrgen.core.files import atomic_path, sha256_file
from vcrgen.typeset.fonts import MAX_FONT_BYTES, FontEntry, find_font, font_registry

MIRRORS = ("https://deb.debian.org/debian", "https://snapshot.debian.org/archive/debian/20250520T000000Z")
"""The second one keeps packages that the first one no longer has."""
MAX_PACKAGE_BYTES = 256 << 20
TIMEOUT = 60  # seconds without a byte


def fetched_entries(names: Sequence[str]) -> list[FontEntry]:
    """Entries of the names, or of all fetched fonts, sorted by package.

    Raises:
        FontError: A name is not known, or names a shipped font.
    """
    entries = [find_font(name) for name in names] or [entry for entry in font_registry().values() if entry.fetched]
    for entry in entries:
        if not entry.fetched:
            raise FontError(f"The font {entry.name} is shipped with vcrgen; there is nothing to fetch.")
    return sorted(entries, key=lambda entry: entry.package_path)


def fetch_fonts(
    names: Sequence[str], *, mirror: str | None = None, on_download: Callable[[str], None] = lambda address: None
) -> Iterator[FontEntry]:
    """Fetch fonts that are not installed yet; yield each when it is in its place.

    Args:
        names: Names in ``fonts.toml``; empty for all fetched fonts.
        mirror: A Debian mirror, in place of `MIRRORS`.
        on_download: Called with each address before it is requested.

    Raises:
        ConfigError: The mirror is not an HTTP address.
        FontError: A name is unknown or shipped, no mirror has a package, a package lacks its font, or a file cannot be
            written.
    """
    if mirror is not None and not mirror.startswith(("http://", "https://")):
        raise ConfigError(f"--mirror {mirror} does not begin with http:// or https://.")
    for path, entries in groupby(fetched_entries(names), key=lambda entry: entry.package_path):
        package = b""
        for entry in entries:
            if not (entry.is_installed and sha256_file(entry.path) == entry.sha256):
                mirrors = MIRRORS if mirror is None else (mirror,)
                package = package or _download(path, entry.package_sha256, mirrors, on_download)
                _write(entry, _unpack(package, entry))
            yield entry


def _download(path: str, sha256: str, mirrors: Sequence[str], on_download: Callable[[str], None]) -> bytes:
    """Download a package from the first mirror that has it with this hash."""
    reasons = []
    for mirror in mirrors:
        address = f"{mirror.rstrip('/')}/{urllib.parse.quote(path)}"
        on_download(address)
        try:
            with urllib.request.urlopen(address, timeout=TIMEOUT) as response:  # noqa: S310 - http or https
                package: bytes = response.read(MAX_PACKAGE_BYTES)
        except (OSError, HTTPException, ValueError) as error:
            reasons.append(f"{mirror}: {error}")
            continue
        if hashlib.sha256(package).hexdigest() == sha256:
            return package
        reasons.append(f"{mirror}: the file there is not the package that fonts.toml names")
    raise FontError(f"The package {path} cannot be fetched ({'; '.join(reasons)}); name another mirror with --mirror.")


def _unpack(package: bytes, entry: FontEntry) -> bytes:
    """Take the font with the right hash out of a package; no path in it is used, and no other member is read."""
    try:
        with tarfile.open(fileobj=io.BytesIO(_data_member(package)), mode="r|*") as archive:
            for member in archive:
                if member.name.removeprefix("./") == entry.package_file and member.size <= MAX_FONT_BYTES:
                    file = archive.extractfile(member)
                    font = file.read() if file else b""
                    break
            else:
                raise ValueError(f"it has no {entry.package_file}")
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise FontError(f"The package {entry.package_path} does not hold the font {entry.name}: {error}.") from None
    if hashlib.sha256(font).hexdigest() != entry.sha256:
        raise FontError(f"{entry.package_file} in {entry.package_path} is not the font that fonts.toml names.")
    return font


def _data_member(archive: bytes) -> bytes:
    """The member with the files of a Debian package, which is an ``ar`` archive.

    A member begins at an even byte with a header of 60 bytes: 16 for the name; 10 for the decimal size, from byte 48.
    """
    if not archive.startswith(b"!<arch>\n"):
        raise ValueError("it is not a Debian package")
    start = 8
    while header := archive[start : start + 60]:
        size = int(header[48:58])
        if header.startswith(b"data.tar"):
            return archive[start + 60 : start + 60 + size]
        start += 60 + size + size % 2
    raise ValueError("it has no data.tar")


def _write(entry: FontEntry, font: bytes) -> None:
    try:
        entry.path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(entry.path) as temporary:
            temporary.write_bytes(font)
    except OSError as error:
        raise FontError(
            f"The font {entry.path} cannot be written ({error.strerror}); "
            "name a folder in the environment variable VCRGEN_FONTS."
        ) from None
