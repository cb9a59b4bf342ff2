"""The script that fetches the large fonts, against a mirror on this machine."""

import hashlib
import importlib.util
import io
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from vcrgen.typeset.fonts import FontEntry, font_register

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "fetch_fonts.py"
FONT = b"the bytes of a font" * 100
MEMBER = "usr/share/fonts/truetype/wqy/wqy-zenhei.ttc"
POOL = "pool/main/f/fonts-x/fonts-x_1.0+repack-1_all.deb"


@pytest.fixture(scope="module")
def script() -> Any:
    specification = importlib.util.spec_from_file_location("fetch_fonts", SCRIPT)
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


class Handler(SimpleHTTPRequestHandler):
    """Notes what is asked, and prints nothing."""

    def __init__(self, *words: Any, asked: list[str], **more: Any) -> None:
        self._asked = asked
        super().__init__(*words, **more)

    def log_request(self, *words: object) -> None:
        self._asked.append(self.path)

    def log_message(self, *words: object) -> None:
        pass


class Mirror:
    """A server of a folder with one package.

    Attributes:
        address: The mirror.
        asked: What was asked of it.
        entry: The row of the font in the package.
        out: The folder of fetched fonts.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[str] = []
        self.out = folder / "out"
        self._folder = folder
        self._patch = monkeypatch
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, asked=self.asked, directory=str(folder)))
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
        entry = replace(font_register()["wenquanyi-zen-hei"], **row | changes)
        register = {"caladea": font_register()["caladea"], entry.name: entry}
        self._patch.setattr("vcrgen.typeset.fonts.font_register", lambda: register)
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
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compression}") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    package = b"!<arch>\n"
    for name, content in {"debian-binary": b"2.0\n", "control.tar.xz": b"odd", data: buffer.getvalue()}.items():
        package += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name.encode(), 0, 0, 0, b"100644", len(content))
        package += content + b"\n" * (len(content) % 2)
    return package


@pytest.mark.parametrize("compression", ["xz", "gz"])
def test_a_font_is_fetched_once(
    compression: str, script: Any, mirror: Mirror, capsys: pytest.CaptureFixture[str]
) -> None:
    members = {"./usr/share/doc/copyright": b"...", f"./{MEMBER}": FONT}
    entry = mirror.offer(deb(members, compression=compression))
    for _ in range(2):
        assert script.main([entry.name, "--mirror", f"{mirror.address}/"]) == 0
        assert f"{entry.name} is in {mirror.out}" in capsys.readouterr().out
    assert [path.name for path in mirror.out.iterdir()] == [entry.file]
    assert entry.checked_path().read_bytes() == FONT
    assert mirror.asked == ["/pool/main/f/fonts-x/fonts-x_1.0%2Brepack-1_all.deb"]


def test_a_changed_file_is_fetched_again(script: Any, mirror: Mirror) -> None:
    entry = mirror.offer(deb({MEMBER: FONT}))
    mirror.out.mkdir()
    entry.path.write_bytes(b"half a f")
    assert script.main([entry.name, "--mirror", mirror.address]) == 0
    assert entry.path.read_bytes() == FONT


def test_nothing_is_written_where_the_archive_says(script: Any, mirror: Mirror, tmp_path: Path) -> None:
    names = ["../../evil", "/tmp/vcrgen-evil", f"../{MEMBER}", f"./{MEMBER}"]
    entry = mirror.offer(deb({name: FONT if name.endswith(MEMBER) else b"evil" for name in names}))
    assert script.main([entry.name, "--mirror", mirror.address]) == 0
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
def test_what_cannot_be_fetched_is_one_sentence_and_leaves_nothing(
    package: bytes,
    changes: dict[str, Any],
    message: str,
    script: Any,
    mirror: Mirror,
    capsys: pytest.CaptureFixture[str],
) -> None:
    entry = mirror.offer(package, **changes)
    assert script.main([entry.name, "--mirror", mirror.address]) == 2
    error = capsys.readouterr().err
    assert error.startswith("Error: The ") or error.startswith(f"Error: {MEMBER}")
    assert message in error and error.count("\n") == 1
    assert not mirror.out.exists()


def test_a_font_larger_than_the_limit_is_not_read(script: Any, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = mirror.offer(deb({MEMBER: FONT}))
    monkeypatch.setattr(script, "MAX_FONT_BYTES", len(FONT) - 1)
    assert script.main([entry.name, "--mirror", mirror.address]) == 2


def test_the_next_mirror_is_asked(script: Any, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = mirror.offer(deb({MEMBER: FONT}))
    monkeypatch.setattr(script, "MIRRORS", (f"{mirror.address}/gone", mirror.address))
    assert script.main([entry.name]) == 0
    assert len(mirror.asked) == 2 and entry.path.read_bytes() == FONT


def test_a_folder_that_cannot_be_written(script: Any, mirror: Mirror, capsys: pytest.CaptureFixture[str]) -> None:
    entry = mirror.offer(deb({MEMBER: FONT}))
    mirror.out.write_text("a file where the folder should be")
    assert script.main([entry.name, "--mirror", mirror.address]) == 2
    assert "name a folder in the environment variable VCRGEN_FONTS" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["caladea"], "The font caladea is shipped with vcrgen"),
        (["wenquanyi-zenhei"], "did you mean wenquanyi-zen-hei?"),
        (["wenquanyi-zen-hei", "--mirror", "file:///etc"], "does not begin with http"),
    ],
)
def test_mistakes(
    words: list[str], message: str, script: Any, mirror: Mirror, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror.offer(b"")
    try:
        assert script.main(words) == 2
    except SystemExit as stop:  # argparse
        assert stop.code == 2
    assert message in capsys.readouterr().err and not mirror.asked


def test_without_names_all_fonts_to_fetch_are_meant(script: Any) -> None:
    entries = script.wanted([])
    assert {entry.name for entry in entries} == {name for name, row in font_register().items() if row.fetched}
    paths = [entry.package_path for entry in entries]
    assert paths == sorted(paths)


def test_help_has_an_example(script: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        script.main(["--help"])
    assert "python scripts/fetch_fonts.py wenquanyi-zen-hei --mirror" in capsys.readouterr().out
