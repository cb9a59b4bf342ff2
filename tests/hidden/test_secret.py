"""The maintainer's secret: made for one pair of eyes, refused where others could read it, and never shown."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.core.errors import HiddenSetError
from vcrgen.hidden.secret import Secret, check_unused, load_secret, remember_set

HEX = "00112233445566778899aabbccddeeff"
posix = pytest.mark.skipif(os.name == "nt", reason="needs the permissions of a Unix system")


def written(folder: Path, text: str | bytes, mode: int = 0o600) -> Path:
    file = folder / "secret.key"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    file.chmod(mode)
    return file


def test_a_new_secret_has_256_bits_and_one_reader(tmp_path: Path) -> None:
    file = tmp_path / "not" / "yet" / "secret.key"
    secret = load_secret(file, create=True)
    assert len(bytes.fromhex(file.read_text())) == 32
    assert load_secret(file, create=True).seal(b"x") == secret.seal(b"x")
    assert load_secret(tmp_path / "second.key", create=True).seal(b"x") != secret.seal(b"x")


@posix
@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_its_permissions_do_not_depend_on_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        load_secret(tmp_path / "secret.key", create=True)
    finally:
        os.umask(before)
    assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEX[:30], "has 120 bits, and at least 128"),
        ("", "does not hold hexadecimal"),
        (HEX + "0", "hexadecimal digits, in pairs"),
        (HEX + "\n" + HEX, "on one line"),
        ("correct horse battery staple, correct horse", "hexadecimal"),
        ("0x" + HEX, "hexadecimal"),
        (b"\xff\xfe" + HEX.encode(), "hexadecimal"),
        (bytes(range(3, 256, 8)), "hexadecimal"),  # 32 bytes, as a program might write them
        (HEX * 129, "hexadecimal"),  # no secret has 4128 digits
    ],
)
def test_what_is_no_secret(tmp_path: Path, text: str | bytes, message: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(HiddenSetError, match=message) as caught:
        load_secret(file, create=True)
    shown = str(caught.value)
    assert HEX[:8] not in shown and "horse" not in shown and shown.count("\n") == 0
    assert file.read_bytes() == (text if isinstance(text, bytes) else text.encode())  # it is never written over


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o611, 0o666])
def test_a_file_that_others_can_use(tmp_path: Path, mode: int) -> None:
    file = written(tmp_path, HEX, mode)
    with pytest.raises(HiddenSetError, match=f"chmod 600 {file}"):
        load_secret(file, create=True)
    file.chmod(0o400)
    load_secret(file, create=True)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(HiddenSetError, match="cannot be read: no such file"):
        load_secret(tmp_path / "secret.key", create=False)
    assert not any(tmp_path.iterdir())


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(HiddenSetError, match="cannot be read"):
        load_secret(tmp_path, create=True)


def test_a_place_where_none_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(HiddenSetError, match=r"cannot be (made|read)"):
        load_secret(tmp_path / "file" / "secret.key", create=True)


def test_a_full_disk_leaves_no_empty_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The empty file was in the way of the same command, once there was room again."""

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("vcrgen.hidden.secret.os.fsync", full)
        with pytest.raises(HiddenSetError, match="cannot be made: no space left on device"):
            load_secret(tmp_path / "secret.key", create=True)
    assert not any(tmp_path.iterdir())
    load_secret(tmp_path / "secret.key", create=True)


def test_a_link_to_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HiddenSetError, match="cannot be made"):
        load_secret(tmp_path / "link", create=True)
    assert not (tmp_path / "elsewhere").exists()


def test_case_and_white_space_do_not_count(tmp_path: Path) -> None:
    seals = {load_secret(written(tmp_path, text), create=False).seal(b"") for text in (HEX, f" {HEX.upper()}\r\n")}
    assert len(seals) == 1


def test_it_has_no_text_form() -> None:
    secret = Secret(bytes.fromhex(HEX))
    for text in (repr(secret), str(secret), f"{secret}", f"{[secret]}"):
        assert text.strip("[]") == "Secret(...)"
    assert not hasattr(secret, "__dict__")
    with pytest.raises(TypeError):
        vars(secret)


def test_the_same_secret_gives_the_same_choices_for_ever() -> None:
    """Fixed values: if they change, a maintainer cannot make the same set again."""
    secret = Secret(bytes.fromhex(HEX))
    assert secret.token("id/0", "pair") == "c6b052b72fe21cbfc6cf1fa8fbe3852a"
    assert secret.seal(b"data") == "8b3ddfa4a10e05871777584537e15d68e49116c0116136a60f8bf856ca99d6f1"
    assert secret.random("mask", "pair").random() == 0.7336305780306557


@given(
    st.binary(min_size=16, max_size=64), st.binary(min_size=16, max_size=64), st.text(max_size=8), st.text(max_size=8)
)
def test_tokens_depend_on_secret_purpose_and_text(one: bytes, two: bytes, purpose: str, text: str) -> None:
    token = Secret(one).token(purpose, text)
    assert token == Secret(one).token(purpose, text)
    assert len(token) == 32 and not set(token) - set("0123456789abcdef")
    assert token != Secret(one).token(purpose + "x", text)
    assert token != Secret(one).token(purpose, text + "x")
    assert (token == Secret(two).token(purpose, text)) == (one == two)
    assert not Secret(one).seal(b"").startswith(token)


def test_a_secret_remembers_the_set_that_was_made_of_it(tmp_path: Path) -> None:
    file = written(tmp_path, HEX)  # without a line feed at its end
    check_unused(file, "a" * 32)
    remember_set(file, "a" * 32)
    remember_set(file, "a" * 32)  # the same set again
    check_unused(file, "a" * 32)
    assert file.read_text() == f"{HEX}\nmade {'a' * 32}\n"
    assert os.name == "nt" or file.stat().st_mode & 0o777 == 0o600
    for function in (check_unused, remember_set):
        with pytest.raises(HiddenSetError, match="has made another hidden set already") as caught:
            function(file, "b" * 32)
        assert HEX not in str(caught.value) and "\n" not in str(caught.value)
    secrets = [load_secret(path, create=False) for path in (file, written(tmp_path, HEX))]
    assert secrets[0].seal(b"") == secrets[1].seal(b"")  # what is remembered is no part of the secret


def test_other_lines_are_no_secret(tmp_path: Path) -> None:
    with pytest.raises(HiddenSetError, match="on one line"):
        load_secret(written(tmp_path, f"{HEX}\n{HEX}\n"), create=False)


def test_a_secret_that_cannot_remember_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    file = written(tmp_path, HEX)
    monkeypatch.setattr("vcrgen.hidden.secret.fsync", full)
    with pytest.raises(HiddenSetError, match=r"cannot be written.*no space left on device.*--reuse-secret"):
        remember_set(file, "a" * 32)
