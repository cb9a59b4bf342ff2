"""Every mutation can still be made: its text stands once in the package, and what comes in its place is Python."""

import ast
import bisect
import itertools
from pathlib import Path

from tests.loading import load_script

ROOT = Path(__file__).resolve().parents[2]
SEARCHED = (
    ".py",
    ".txt",
    ".md",
    ".yaml",
    ".toml",
    ".html",
    ".css",
    ".j2",
)  # as in scripts/try_mutations.py, which changes no other files


def test_every_mutation_can_be_made() -> None:
    texts = {path: path.read_text("utf-8") for path in sorted((ROOT / "vcrgen").rglob("*")) if path.suffix in SEARCHED}
    whole = "\0".join(texts.values())
    ends = list(itertools.accumulate(len(text) + 1 for text in texts.values()))
    wrong = []
    for one in load_script("mutations").MUTATIONS:
        if (places := whole.count(one.old)) != 1:
            wrong.append(f"{one.package}: {one.what}: {places} places hold {one.old!r}")
            continue
        path = list(texts)[bisect.bisect(ends, whole.index(one.old))]
        if path.suffix == ".py":
            try:
                ast.parse(texts[path].replace(one.old, one.new))
            except SyntaxError as error:
                wrong.append(f"{one.package}: {one.what}: {error}")
    assert not wrong, "Give these of scripts/mutations.py their new text:\n" + "\n".join(wrong)


def test_every_mutation_names_tests_that_there_are() -> None:
    """Where a word was no golden file's, no test that could notice was run."""
    golden = [path.stem for path in (ROOT / "tests/golden/values").iterdir()]
    for one in load_script("mutations").MUTATIONS:
        for word in one.first.split():
            is_known = (ROOT / word).exists() if "/" in word else any(name.startswith(word) for name in golden)
            assert is_known, f"{one.package}: {one.what}: {word}"
