"""The files of the container: what they name is there, and nothing in it is root."""

import re
from pathlib import Path

import yaml

from vcrgen.cli.leaderboard import leaderboard
from vcrgen.web.options import ServiceOptions

ROOT = Path(__file__).resolve().parents[1]


def test_the_wheel_can_be_built_of_what_is_copied() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    assert all((ROOT / name).exists() for name in kept)
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    named = set(re.findall(r'^"(\w+)" = "vcrgen/_resources', project, re.M)) | {"vcrgen", "pyproject.toml", "README.md"}
    named |= set(re.findall(r'^path = "(scripts/.+)"', project, re.M))  # hooks of the build
    assert named | {"LICENSE", "THIRD_PARTY.md"} == kept


def test_the_service_is_started_without_root() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    last = [line for line in lines if line.startswith("USER")][-1]
    assert last == "USER 10001:10001" and lines.index(last) < next(
        n for n, line in enumerate(lines) if line.startswith("CMD")
    )
    assert any(line.startswith("HEALTHCHECK") for line in lines)


def test_the_commands_and_options_exist() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    _, command, folder, *options = services["board"]["command"]
    assert command in {one.name or one.callback.__name__ for one in leaderboard.registered_commands if one.callback}
    assert {name[2:] for name in options if name.startswith("--")} <= set(ServiceOptions.model_fields)
    assert f"board:{folder}" in services["board"]["volumes"]
    assert services["board"]["cap_drop"] == ["ALL"] and "ports" not in services["board"]
