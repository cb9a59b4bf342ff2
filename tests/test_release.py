"""Files that others read of the project: citation, hooks, workflow and forms for issues."""

import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.loading import load_script
from tests.pages import ROOT, Page

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture
def hook() -> Any:
    """The hook that compresses the wheel."""
    return load_script("hatch_build")


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


def test_the_citation_is_of_this_version() -> None:
    citation = read("CITATION.cff")
    assert (citation["cff-version"], citation["version"]) == ("1.2.0", PROJECT["version"])
    assert citation["license"] in PROJECT["license"] and {"title", "message", "authors"} <= citation.keys()


def commands_of(workflow: str, job: str) -> str:
    return "\n".join(step.get("run", "") for step in read(f".github/workflows/{workflow}.yml")["jobs"][job]["steps"])


def test_each_push_runs_the_readmes_tests_on_the_oldest_and_the_newest_python() -> None:
    known = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if line.startswith("Programming Language ::")}
    ordered = sorted(known, key=lambda python: int(python.partition(".")[2]))
    job = read(".github/workflows/ci.yml")["jobs"]["tests"]
    assert job["strategy"]["matrix"]["python"] == [ordered[0], ordered[-1]]
    assert commands_of("ci", "tests").strip() in Page("README.md").commands
    assert "python3 scripts/build_site.py" in commands_of("ci", "site")


def test_each_night_runs_all_of_ci_and_the_mutations() -> None:
    assert ".ci/run nightly" in commands_of("nightly", "everything")
    assert "python3 scripts/try_mutations.py" in commands_of("nightly", "mutations")


def test_hooks_are_those_of_the_tests() -> None:
    hooks = [hook for repository in read(".pre-commit-config.yaml")["repos"] for hook in repository["hooks"]]
    checks = (ROOT / "scripts" / "run_tests.py").read_text("utf-8")
    for hook in hooks:
        tool, check = hook["entry"].split()[:2]
        assert f'["{tool}", "{check}"' in checks
        (asked,) = hook["additional_dependencies"]
        assert asked in PROJECT["optional-dependencies"]["dev"]


@pytest.mark.parametrize("name", ["fault", "wish"])
def test_forms_for_issues_have_what_is_asked_of_them(name: str) -> None:
    form = read(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert {"name", "description", "body"} <= form.keys()
    assert len({part["id"] for part in form["body"]}) == len(form["body"])
    assert any(part.get("validations", {}).get("required") for part in form["body"])


def test_the_compressed_wheel_has_the_same_files_in_fewer_bytes(hook: Any, tmp_path: Path) -> None:
    wheel = tmp_path / "made.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.write(ROOT / "fonts" / "DejaVuSans.ttf", "fonts/one.ttf")
        archive.writestr(zipfile.ZipInfo("é.txt", (2020, 2, 2, 13, 4, 58)), "x")  # which no compression makes shorter
    before = [
        (info.filename, info.date_time, info.external_attr, info.CRC) for info in zipfile.ZipFile(wheel).infolist()
    ]
    size = wheel.stat().st_size
    hook.CompressHook.finalize(None, "standard", {}, str(wheel))
    with zipfile.ZipFile(wheel) as archive:
        after = [(info.filename, info.date_time, info.external_attr, info.CRC) for info in archive.infolist()]
        assert (
            archive.testzip() is None and archive.read("fonts/one.ttf") == (ROOT / "fonts/DejaVuSans.ttf").read_bytes()
        )
    assert after == before and wheel.stat().st_size < 0.97 * size


def test_a_wheel_above_the_limit_is_not_built(hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hook.LIMIT == 18_000_000
    monkeypatch.setattr(hook, "LIMIT", 100)
    wheel = tmp_path / "made.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("one.txt", "a")
    with pytest.raises(RuntimeError, match="more than 100"):
        hook.CompressHook.finalize(None, "standard", {}, str(wheel))
    wheel_facts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]
    assert wheel_facts["hooks"]["custom"]["path"] == "scripts/hatch_build.py"
