"""docs/api.md: the names on it, and the examples in their docstrings."""

import doctest
import inspect
import re
import shutil
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import vcrgen
from tests.pages import Page
from vcrgen import analysis, hidden, scorer
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


def test_what_takes_a_path_takes_its_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the packages that list their names; a missing file is a sentence, in either form."""
    monkeypatch.chdir(tmp_path)
    text_only = []
    for package in (vcrgen, analysis, hidden, scorer):
        for name in package.__all__:
            made = isinstance(getattr(package, name), type) and name.endswith("Result")  # by us, and not by a user
            for method in () if made else functions_of(getattr(package, name)):
                for parameter in inspect.signature(method).parameters.values():
                    if re.search(r"\bPath\b", str(parameter.annotation)) and "str" not in str(parameter.annotation):
                        text_only.append(f"{package.__name__}.{name}: {parameter}")
    assert text_only == []
    readers: list[Callable[[Any], object]] = [
        scorer.load_answers,
        lambda path: scorer.Session(path, scorer.ScoreOptions()),
        lambda path: scorer.score(path, data=path, progress=False),
        analysis.read_scores,
        lambda path: analysis.read_scores([path]),
        analysis.read_pool,
        analysis.read_votes,
        analysis.read_spec,
        lambda path: vcrgen.build(path, out=path, progress=False),
        lambda path: vcrgen.build(config=vcrgen.BuildConfig(source=path), out="out", progress=False),
    ]
    for read in readers:
        sentences = set()
        for path in ("missing.csv", Path("missing.csv")):
            with pytest.raises(vcrgen.VcrgenError) as caught:
                read(path)
            sentences.add(str(caught.value))
        assert len(sentences) == 1 and "missing.csv" in sentences.pop()
    assert [check.ok for check in hidden.verify("missing")] == [check.ok for check in hidden.verify(Path("missing"))]


def functions_of(public: Any) -> list[Callable[..., Any]]:
    """A function, or what a class has of them."""
    if not isinstance(public, type):
        return [public] if callable(public) else []
    return [value for name, value in vars(public).items() if callable(value) and (name == "__init__" or name[0] != "_")]
