"""``vcrgen fonts fetch`` against a mirror on this machine."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.making import tar_of
from tests.pages import Page
from vcrgen.core.errors import FontError
from vcrgen.typeset import fetch
from vcrgen.typeset.fetch import fetch_fonts
from vcrgen.typeset.fonts import FontEntry, font_registry

FONT = b"the bytes of a font" * 100
MEMBER = "usr/share/fonts/truetype/wqy/wqy-zenhei.ttc"
POOL = "pool/main/f/fonts-x/fonts-x_1.0+repack-1_all.deb"


Run = Callable[..., tuple[int, str, str]]


class Handler(SimpleHTTPRequestHandler):
    """Records the requested paths, and prints nothing."""

    def __init__(self, *words: Any, requests: list[str], **more: Any) -> None:
        self._requests = requests
        super().__init__(*words, **more)

    def log_request(self, *words: object) -> None:
        self._requests.append(self.path)

    def log_message(self, *words: object) -> None:
        pass


class Mirror:
    """A server of a folder with one package.

    Attributes:
        address: The mirror.
        requests: The requested paths.
        entry: The row of the font in the package.
        out: The folder of fetched fonts.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.requests: list[str] = []
        self.out = folder / "out"
        self._folder = folder
        self._patch = monkeypatch
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), partial(Handler, requests=self.requests, directory=str(folder))
        )
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("VCRGEN_FONTS", str(self.out))
        monkeypatch.setenv("no_proxy", "127.0.0.1")

    def offer(self, package: bytes, **changes: Any) -> FontEntry:
        """Serve a package; the register then has one row, with ``changes``."""
        target = self._folder / POOL
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(package)
        row = {
            "package_path": POOL,
            "package_sha256": hashlib.sha256(package).hexdigest(),
            "package_file": MEMBER,
            "sha256": hashlib.sha256(FONT).hexdigest(),
        }
        entry = replace(font_registry()["wenquanyi-zen-hei"], **row | changes)
        register = {"caladea": font_registry()["caladea"], entry.name: entry}
        self._patch.setattr("vcrgen.typeset.fonts.font_registry", lambda: register)
        return entry

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    server = Mirror(tmp_path, monkeypatch)
    yield server
    server.close()


def deb(members: dict[str, bytes], *, compression: str = "xz", data: str = "data.tar.xz") -> bytes:
    """A Debian package with an odd-sized member before the data, so that padding matters."""
    archive = tar_of(members.items(), compression)
    package = b"!<arch>\n"
    for name, content in {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", data: archive}.items():
        package += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name.encode(), 0, 0, 0, b"100644", len(content))
        package += content + b"\n" * (len(content) % 2)
    return package


@pytest.mark.parametrize("compression", ["xz", "gz"])
def test_a_font_is_fetched_once(compression: str, mirror: Mirror, run: Run) -> None:
    members = {"./usr/share/doc/copyright": b"...", f"./{MEMBER}": FONT}
    entry = mirror.offer(deb(members, compression=compression))
    for _ in range(2):
        code, out, _ = run("fonts", "fetch", entry.name, "--mirror", f"{mirror.address}/")
        assert code == 0 and f"{entry.name} is in {mirror.out}" in out
    assert [path.name for path in mirror.out.iterdir()] == [entry.file]
    assert entry.verified_path().read_bytes() == FONT
    assert mirror.requests == ["/pool/main/f/fonts-x/fonts-x_1.0%2Brepack-1_all.deb"]


def test_a_changed_file_is_fetched_again(mirror: Mirror) -> None:
    entry = mirror.offer(deb({MEMBER: FONT}))
    mirror.out.mkdir()
    entry.path.write_bytes(b"half a f")
    assert list(fetch_fonts([entry.name], mirror=mirror.address)) == [entry]
    assert entry.path.read_bytes() == FONT


def test_nothing_is_written_where_the_archive_says(mirror: Mirror, tmp_path: Path) -> None:
    names = ["../../evil", "/tmp/vcrgen-evil", f"../{MEMBER}", f"./{MEMBER}"]
    entry = mirror.offer(deb({name: FONT if name.endswith(MEMBER) else b"evil" for name in names}))
    assert list(fetch_fonts([entry.name], mirror=mirror.address)) == [entry]
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {POOL, f"out/{entry.file}"}
    assert not (tmp_path.parent / "evil").exists() and not Path("/tmp/vcrgen-evil").exists()


@pytest.mark.parametrize(
    ("package", "changes", "message"),
    [
        (deb({MEMBER: FONT}), {"package_sha256": "0" * 64}, "not the package that fonts.toml names"),
        (deb({MEMBER: FONT}), {"sha256": "0" * 64}, "is not the font that fonts.toml names"),
        (deb({MEMBER: FONT}), {"package_path": "pool/none.deb"}, "404"),
        (deb({f"../{MEMBER}": FONT}), {}, f"it has no {MEMBER}"),
        (deb({MEMBER: FONT}, data="other.tar.xz"), {}, "it has no data.tar"),
        (deb({MEMBER: FONT})[:-100], {}, "does not hold the font wenquanyi-zen-hei"),
        (b"not a package", {}, "it is not a Debian package"),
    ],
)
def test_a_package_that_cannot_be_used_leaves_nothing(
    package: bytes, changes: dict[str, Any], message: str, mirror: Mirror
) -> None:
    entry = mirror.offer(package, **changes)
    with pytest.raises(FontError, match=message):
        list(fetch_fonts([entry.name], mirror=mirror.address))
    assert not mirror.out.exists()


def test_a_font_larger_than_the_limit_is_not_read(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = mirror.offer(deb({MEMBER: FONT}))
    monkeypatch.setattr(fetch, "MAX_FONT_BYTES", len(FONT) - 1)
    with pytest.raises(FontError, match="it has no"):
        list(fetch_fonts([entry.name], mirror=mirror.address))


def test_the_next_mirror_is_tried(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = mirror.offer(deb({MEMBER: FONT}))
    monkeypatch.setattr(fetch, "MIRRORS", (f"{mirror.address}/gone", mirror.address))
    assert list(fetch_fonts([entry.name])) == [entry]
    assert len(mirror.requests) == 2 and entry.path.read_bytes() == FONT


def test_a_folder_that_cannot_be_written(mirror: Mirror) -> None:
    entry = mirror.offer(deb({MEMBER: FONT}))
    mirror.out.write_text("a file where the folder should be")
    with pytest.raises(FontError, match="name a folder in the environment variable VCRGEN_FONTS"):
        list(fetch_fonts([entry.name], mirror=mirror.address))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["caladea"], "The font caladea is shipped with vcrgen"),
        (["wenquanyi-zenhei"], "did you mean wenquanyi-zen-hei?"),
        (["wenquanyi-zen-hei", "--mirror", "file:///etc"], "does not begin with http"),
    ],
)
def test_mistakes(words: list[str], message: str, mirror: Mirror, run: Run) -> None:
    mirror.offer(b"")
    code, _, error = run("fonts", "fetch", *words)
    assert code == 2 and message in error and not mirror.requests


def test_without_names_all_fonts_to_fetch_are_meant() -> None:
    entries = fetch.fetched_entries([])
    assert {entry.name for entry in entries} == {name for name, row in font_registry().items() if row.fetched}
    paths = [entry.package_path for entry in entries]
    assert paths == sorted(paths)


def test_the_command_of_the_page(mirror: Mirror, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of docs/languages.md; the mirror is our own, and lacks the package that is asked for first."""
    (fetching,) = (line for line in Page("docs/languages.md").commands if line.startswith("vcrgen fonts fetch"))
    monkeypatch.setattr(fetch, "MIRRORS", (mirror.address,))
    code, _, err = run(*fetching.split()[1:])
    assert code == 2 and mirror.address in err
    assert mirror.requests[0].startswith("/pool/main/f/fonts-")
