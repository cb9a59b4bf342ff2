"""Where raters reach the service of a study: links that are printed later begin with it."""

from pathlib import Path
from urllib.parse import urlsplit

from vcrgen.core.files import write_text
from vcrgen.web.log import log_line
from vcrgen.web.options import ServiceOptions

FILE = "address.txt"  # in the folder of the study
MOST_BYTES = 2048
EVERYWHERE = ("0.0.0.0", "[::]")  # noqa: S104 - addresses to listen on, which no browser opens


def note_address(folder: Path, url: str) -> None:
    """Note where a service of this machine is, unless links name a server of another name.

    The log says so where links were printed for another port.
    """
    links, served = link_base(folder), _reachable(url)
    if urlsplit(links).hostname not in ("127.0.0.1", "localhost", urlsplit(served).hostname):
        return  # a proxy, which --url named
    if links != served and (folder / FILE).exists():
        log_line("links that were printed begin with another address", printed=links, served=served)
    write_text(folder / FILE, f"{served}\n")


def note_links(folder: Path, base: str) -> None:
    """Note what links that are printed begin with."""
    write_text(folder / FILE, f"{base}\n")


def link_base(folder: Path) -> str:
    """What links begin with: where the study is or was served, as far as it is known."""
    try:
        with (folder / FILE).open("rb") as handle:
            text = handle.read(MOST_BYTES).decode("ascii").strip()
        if urlsplit(text).scheme in ("http", "https"):
            return text
    except (OSError, ValueError):
        pass
    options = ServiceOptions()
    return f"http://{options.host}:{options.port}"


def _reachable(url: str) -> str:
    base = url.rstrip("/")
    for address in EVERYWHERE:
        base = base.replace(f"//{address}:", f"//{ServiceOptions().host}:")
    return base
