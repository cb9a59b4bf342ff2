"""The tests that SECURITY.md names are there: a promise without its test is none."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_each_promise_has_its_test() -> None:
    """Files stand with their path, or seen from the folder that their table names."""
    folder, promises, missing = ROOT, 0, []
    for line in (ROOT / "SECURITY.md").read_text("utf-8").splitlines():
        if line.endswith(":"):
            named = re.search(r"\(`(tests/[\w/]+)`\):$", line)
            folder = ROOT / named[1] if named else ROOT
        if line.startswith("| ") and not line.startswith("| promise"):
            files = re.findall(r"`([\w/]+\.py)`", line.split("|")[2])
            promises += 1
            missing += [file for file in files if not any((place / file).is_file() for place in (folder, ROOT))]
            assert files, line
    assert promises >= 24 and missing == []
