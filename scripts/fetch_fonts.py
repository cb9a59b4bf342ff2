"""Fetch the fonts that are too large to ship: whole Debian packages are downloaded, one file of each is kept.

    python scripts/fetch_fonts.py                                       # all of them
    python scripts/fetch_fonts.py noto-sans-cjk-sc noto-sans-cjk-sc-bold
    python scripts/fetch_fonts.py wenquanyi-zen-hei --mirror http://ftp.de.debian.org/debian

The files go to the folder in the environment variable VCRGEN_FONTS, or to vcrgen/fonts in the user's cache. Packages
and fonts are those whose hashes are in fonts/fonts.toml, whichever mirror they come from. A font that is there already
is not fetched again.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
import tarfile
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from http.client import HTTPException
from itertools import groupby

from vcrgen.errors import FontError, VcrgenError
from vcrgen.files import atomic_path, sha256_file
from vcrgen.typeset.fonts import MAX_FONT_BYTES, FontEntry, find_font, font_register

MIRRORS = ("https://deb.debian.org/debian", "https://snapshot.debian.org/archive/debian/20250520T000000Z")
"""The second one keeps what the first one drops some day."""
MAX_PACKAGE_BYTES = 256 << 20
TIMEOUT = 60  # seconds without a byte


def wanted(names: Sequence[str]) -> list[FontEntry]:
    """The rows of the names, or all that have to be fetched; those of one package side by side.

    Raises:
        FontError: A name is not known, or is that of a shipped font.
    """
    entries = [find_font(name) for name in names] or [entry for entry in font_register().values() if entry.fetched]
    for entry in entries:
        if not entry.fetched:
            raise FontError(f"The font {entry.name} is shipped with vcrgen; there is nothing to fetch.")
    return sorted(entries, key=lambda entry: entry.package_path)


def fetch(entries: Iterable[FontEntry], mirrors: Sequence[str]) -> Iterator[FontEntry]:
    """Fetch fonts, those of one package side by side; each is given back when it is in its place.

    Raises:
        FontError: No mirror has a package, a package lacks its font, or a file cannot be written.
    """
    for path, members in groupby(entries, key=lambda entry: entry.package_path):
        package = b""
        for entry in members:
            if not (entry.installed and sha256_file(entry.path) == entry.sha256):
                package = package or download(path, entry.package_sha256, mirrors)
                _write(entry, unpack(package, entry))
            yield entry


def download(path: str, sha256: str, mirrors: Sequence[str]) -> bytes:
    """A package from the first mirror that has it.

    Args:
        path: Where it lies on a mirror.
        sha256: Its hash, in hex.
        mirrors: Addresses.

    Raises:
        FontError: No mirror has it.
    """
    reasons = []
    for mirror in mirrors:
        address = f"{mirror.rstrip('/')}/{urllib.parse.quote(path)}"
        print(f"Fetching {address}", flush=True)
        try:
            with urllib.request.urlopen(address, timeout=TIMEOUT) as response:  # noqa: S310 - main looks at the scheme
                package: bytes = response.read(MAX_PACKAGE_BYTES)
        except (OSError, HTTPException, ValueError) as error:
            reasons.append(f"{mirror}: {error}")
            continue
        if hashlib.sha256(package).hexdigest() == sha256:
            return package
        reasons.append(f"{mirror}: what it gives is not the package that fonts.toml names")
    raise FontError(f"The package {path} cannot be fetched ({'; '.join(reasons)}); name another mirror with --mirror.")


def unpack(package: bytes, entry: FontEntry) -> bytes:
    """The font in a package; no other member is read, and no path of the archive is used.

    Args:
        package: A package whose hash is right.
        entry: The row of the font.

    Raises:
        FontError: The package is damaged, or the font is not in it or is not the one of the register.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(ar_member(package, "data.tar")), mode="r|*") as archive:
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


def ar_member(archive: bytes, prefix: str) -> bytes:
    """The first member of an ``ar`` archive, as a Debian package is one, whose name begins with ``prefix``.

    Every member has a header of 60 bytes (16 for the name, and 10 for the decimal size, from byte 48), and begins at
    an even byte.

    Raises:
        ValueError: It is no such archive, or has no such member.
    """
    if not archive.startswith(b"!<arch>\n"):
        raise ValueError("it is not a Debian package")
    start = 8
    while header := archive[start : start + 60]:
        size = int(header[48:58])
        if header.startswith(prefix.encode()):
            return archive[start + 60 : start + 60 + size]
        start += 60 + size + size % 2
    raise ValueError(f"it has no {prefix}")


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch what is asked for; 2 if that is not possible."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a name in fonts/fonts.toml (default: all to fetch)")
    parser.add_argument("--mirror", metavar="URL", help=f"a Debian mirror (default: {', then '.join(MIRRORS)})")
    options = parser.parse_args(arguments)
    if options.mirror and not options.mirror.startswith(("http://", "https://")):
        parser.error(f"--mirror {options.mirror} does not begin with http:// or https://.")
    try:
        for entry in fetch(wanted(options.names), [options.mirror] if options.mirror else MIRRORS):
            print(f"{entry.name} is in {entry.path}")
    except VcrgenError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
