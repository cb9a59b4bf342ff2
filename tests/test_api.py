"""docs/api.md: the names on it, and the examples in their docstrings."""

import doctest
import re
import shutil
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import vcrgen
from tests.pages import Page
from vcrgen.core.resources import resource_dir

PAGE = Page("docs/api.md")
ERRORS = "vcrgen.core.errors"  # a module, all classes of which are on the page
NAMES = [name for name in re.findall(r"^::: ([\w.]+)$", PAGE.text, re.MULTILINE) if name != ERRORS]


def public_object(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def test_every_public_name_is_on_the_page() -> None:
    assert {f"vcrgen.{name}" for name in vcrgen.__all__} <= set(NAMES)
    assert all(callable(public_object(name)) for name in NAMES)


def test_every_function_has_an_example_that_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(resource_dir("configs") / "demo" / "template.jsonl", "outputs.jsonl")
    imported: dict[str, Any] = {}
    for block in PAGE.python:
        exec(block, imported)
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for name in NAMES:  # in their order: one reads the dataset that another has built
        tests = [test for test in finder.find(public_object(name), name, globs=imported) if test.examples]
        assert tests or not isinstance(public_object(name), FunctionType), f"{name} has no example"
        for test in tests:
            report: list[str] = []
            assert runner.run(test, out=report.append).failed == 0, "".join(report)


def test_no_docstring_of_the_page_has_a_raw_role() -> None:
    for name in NAMES:
        members = [public_object(name), *vars(public_object(name)).values()]
        for text in (getattr(member, "__doc__", None) or "" for member in members):
            assert not re.search(r":\w+:`|`~", text), f"{name}: {text}"
