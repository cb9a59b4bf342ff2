"""The picture of a font under its covers."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vcrgen.errors import ConfigError, FontError, OutputError
from vcrgen.records import NAMED_MODES
from vcrgen.typeset.specimen import draw_specimen


@pytest.mark.parametrize(("lang", "font"), [("en", None), ("en", "roboto-slab"), ("zh", "wenquanyi-micro-hei")])
def test_three_strips_each_with_less_ink(lang: str, font: str | None, tmp_path: Path) -> None:
    covers = draw_specimen(lang, font, 28, tmp_path / "picture.png")
    picture = 255 - np.asarray(Image.open(tmp_path / "picture.png")).astype(int)
    height = (picture.shape[0] - 2 * (31 // 3)) // 3
    plain, easy, hard = (picture[at : at + height].sum() for at in range(0, picture.shape[0], height + 31 // 3))
    assert plain > easy > hard > 0
    assert set(covers) == set(NAMED_MODES)


def test_every_kind_of_cover_has_a_picture(tmp_path: Path) -> None:
    covers = draw_specimen("en", None, 20, tmp_path / "picture.png", cover="stripes")
    assert [cover.rule.name.partition("-")[0] for cover in covers.values()] == ["stripes", "stripes"]
    rows = draw_specimen("en", None, 20, tmp_path / "rows.png")
    assert [cover.rule.name for cover in rows.values()] == ["10-16", "9-17"]
    assert (tmp_path / "picture.png").read_bytes() != (tmp_path / "rows.png").read_bytes()


def test_what_a_user_can_mend_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Unknown cover 'mud'; known: rows, stripes"):
        draw_specimen("en", None, 20, tmp_path / "a.png", cover="mud")
    for error, arguments in (
        (ConfigError, ("xx", None, 20, tmp_path / "a.png")),
        (FontError, ("en", "nope", 20, tmp_path / "a.png")),
        (FontError, ("zh", "lato", 20, tmp_path / "a.png")),
        (OutputError, ("en", None, 20, tmp_path / "no" / "a.png")),
    ):
        with pytest.raises(error):
            draw_specimen(*arguments)
    assert not list(tmp_path.iterdir())
