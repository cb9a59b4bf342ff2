"""What covers are calibrated on."""

import hashlib

import pytest

from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.style import sample_of


@pytest.mark.parametrize(
    ("lang", "digest"),
    [
        ("en", "784e7b7f5df342361f0a732cb7f6098c696315d716db5a661aeba48d6837d5c2"),
        ("zh", "7f3c615e1f80ba903776fac760d3412879781120ff35ceedfe2ee220f668934b"),
    ],
)
def test_the_sample_of_a_language_never_changes(lang: str, digest: str) -> None:
    """Another sample gives other covers: datasets of two versions could not be compared."""
    text = "\n".join(sample_of(LANGUAGES[lang]))
    assert hashlib.sha256(text.encode()).hexdigest() == digest
