"""The texts on which covers are calibrated."""

import hashlib

import pytest

from vcrgen.text.languages import LANGUAGES
from vcrgen.text.sample import calibration_sample

DIGESTS = {
    "en": "784e7b7f5df342361f0a732cb7f6098c696315d716db5a661aeba48d6837d5c2",
    "zh": "7f3c615e1f80ba903776fac760d3412879781120ff35ceedfe2ee220f668934b",
    "fr": "bed3fb177f67f5e487b10eaee291a1586080cd6b6a067377e8f30170e287b693",
}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_sample_of_a_language_never_changes(lang: str) -> None:
    """Another sample gives other covers: datasets of two versions could not be compared."""
    text = "\n".join(calibration_sample(lang))
    assert hashlib.sha256(text.encode()).hexdigest() == DIGESTS[lang]
