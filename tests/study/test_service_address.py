"""Links begin with the address that the service of a study has."""

from collections.abc import Callable
from pathlib import Path

import pytest

from vcrgen.study.service_address import FILE, link_base, note_address, note_links
from vcrgen.study.store.database import StudyStore


@pytest.mark.parametrize(
    ("served", "expected"),
    [
        ("http://127.0.0.1:8123/", "http://127.0.0.1:8123"),
        ("http://0.0.0.0:8123/", "http://127.0.0.1:8123"),
        ("http://[::]:8123/", "http://127.0.0.1:8123"),
    ],
)
def test_links_that_follow_name_the_port_of_the_service(tmp_path: Path, served: str, expected: str) -> None:
    assert link_base(tmp_path) == "http://127.0.0.1:8000"
    note_address(tmp_path, served)
    assert link_base(tmp_path) == expected


def test_links_of_another_port_are_told_in_the_log_and_a_named_server_stays(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    note_links(tmp_path, "http://127.0.0.1:8000")
    note_address(tmp_path, "http://127.0.0.1:8000/")
    assert capfd.readouterr().err == ""
    note_address(tmp_path, "http://127.0.0.1:8124/")
    assert '"printed": "http://127.0.0.1:8000", "served": "http://127.0.0.1:8124"' in capfd.readouterr().err
    note_links(tmp_path, "https://study.example.org")
    note_address(tmp_path, "http://127.0.0.1:8125/")
    assert link_base(tmp_path) == "https://study.example.org"
    (tmp_path / FILE).write_bytes(b"\xff" * 9999)
    assert link_base(tmp_path) == "http://127.0.0.1:8000"


def test_invitations_take_the_address(
    make: Callable[..., StudyStore], run: Callable[..., tuple[int, str, str]]
) -> None:
    folder = make().folder
    note_address(folder, "http://127.0.0.1:8123/")
    assert run("study", "invite", folder, "--count", 1)[1].startswith("http://127.0.0.1:8123/r/")
    assert run("study", "invite", folder, "--count", 1, "--url", "https://a.org/")[1].startswith("https://a.org/r/")
    assert run("study", "invite", folder, "--count", 1)[1].startswith("https://a.org/r/")
