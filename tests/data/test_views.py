"""The names of the views."""

import pytest

from vcrgen.data.tasks.vcr import VCR
from vcrgen.data.views import IMAGE_VIEWS, View


@pytest.mark.parametrize("view", View)
def test_a_view_is_named_by_its_value_and_its_column(view: View) -> None:
    for text in (view.value, view.value.upper(), *([view.column, view.column.upper()] if view in IMAGE_VIEWS else [])):
        assert View.named(text) is view


@pytest.mark.parametrize("text", ["", "picture", "VI+TEI", "stacked_image_file_name", " tei"])
def test_other_names_are_no_view(text: str) -> None:
    assert View.named(text) is None


def test_every_image_but_the_plain_one_is_a_view() -> None:
    assert {view.column for view in IMAGE_VIEWS} == set(VCR.images) - {"image"}


def test_the_views_that_have_no_column_of_their_own() -> None:
    assert set(View) - set(IMAGE_VIEWS) == {View.IMAGE, View.TEXT_ONLY}
