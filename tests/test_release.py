"""Files that others read of the project: citation, hooks, workflow and forms for issues."""

import tomllib
from typing import Any

import pytest
import yaml

from tests.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text("utf-8"))


def test_the_citation_is_of_this_version() -> None:
    citation = read("CITATION.cff")
    assert (citation["cff-version"], citation["version"]) == ("1.2.0", PROJECT["version"])
    assert citation["license"] in PROJECT["license"] and {"title", "message", "authors"} <= citation.keys()


def test_the_workflow_runs_ci_on_every_python_that_the_package_takes() -> None:
    jobs = read(".github/workflows/ci.yml")["jobs"]
    known = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if line.startswith("Programming Language ::")}
    assert set(jobs["tests"]["strategy"]["matrix"]["python"]) == known
    assert any(".ci/run" in step.get("run", "") for step in jobs["tests"]["steps"])
    assert any("python -m build" in step.get("run", "") for step in jobs["wheel"]["steps"])


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
