"""The card of a language whose covers were measured in another."""

import pytest

from vcrgen.builder.card import target_origin
from vcrgen.text.languages import LANGUAGES


@pytest.mark.parametrize("code", LANGUAGES)
def test_borrowed_targets_are_named_and_whose_they_are(code: str) -> None:
    row, text = LANGUAGES[code], target_origin(LANGUAGES[code])
    if code in ("en", "zh"):
        assert text == "" == row.targets_of
    else:
        assert f"the share of ink that {row.targets_of} ones leave, 0.48 (easy) and 0.27 (hard)" in text
        assert f"no public {row.name} dataset" in text
        assert row.cover_targets == next(
            other.cover_targets for other in LANGUAGES.values() if other.name == row.targets_of
        )
