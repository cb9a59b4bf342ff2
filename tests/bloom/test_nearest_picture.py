"""Hidden questions about drawn scenes can be taken from public ones, as their card and boards say."""

from statistics import mean

from tests.bloom.nearest_picture import NearestPictureReader
from vcrgen.bloom.rejects import RejectLog
from vcrgen.bloom.scenes.generator import generate_scene_items, scene_options
from vcrgen.hidden.mcq import MIN_PRIVATE_SEED


def test_the_nearest_public_picture_tells_more_than_chance() -> None:
    """200 public items against 60 of a secret seed; the note says what 3,600 public scenes tell."""
    public, hidden = (
        list(generate_scene_items(scene_options(items, seed), RejectLog()))
        for items, seed in ((200, 0), (60, 3 * MIN_PRIVATE_SEED))
    )
    credits = NearestPictureReader(public).credits(hidden)
    assert len(credits) == 60 and mean(credits) > 0.3
    without = NearestPictureReader([]).credits(hidden[:5])
    assert set(without) == {0.25}
