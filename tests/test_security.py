"""The tests that SECURITY.md names are there: a promise without its test is none."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_each_promise_has_its_test() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "SECURITY.md").read_text("utf-8"))
    missing = []
    for file, name in named:
        functions = ast.walk(ast.parse((ROOT / file).read_text("utf-8"))) if (ROOT / file).is_file() else ()
        if not any(isinstance(node, ast.FunctionDef) and node.name == name for node in functions):
            missing.append(f"{file}::{name}")
    assert len(named) >= 11 and missing == []
