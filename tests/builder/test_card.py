"""What the card says of a language whose covers were measured in another."""

import pytest

from vcrgen.builder.card import borrowed_targets
from vcrgen.text.languages import LANGUAGES


@pytest.mark.parametrize("code", LANGUAGES)
def test_borrowed_targets_are_named_and_whose_they_are(code: str) -> None:
    row, text = LANGUAGES[code], borrowed_targets(LANGUAGES[code])
    if code in ("en", "zh"):
        assert text == "" == row.covers_of
    else:
        assert f"the share of ink that {row.covers_of} ones leave, 0.48 (easy) and 0.27 (hard)" in text
        assert f"no public {row.name} dataset" in text
        assert row.covers == next(other.covers for other in LANGUAGES.values() if other.name == row.covers_of)
