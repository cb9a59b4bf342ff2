"""Glyphs cut out of uncovered text: strips in a face that nobody has, and VCR-WIKI's own."""

import io
import json
from pathlib import Path

import numpy as np
from PIL import Image

from vcrgen.models.base import Request
from vcrgen.models.predict.template import TemplateModel, cut_out_glyphs
from vcrgen.pixels.attack import Typeface, read_strip
from vcrgen.pixels.characters import PlacedCharacter
from vcrgen.pixels.faces import FaceFinder
from vcrgen.pixels.harvest import HOLE, _with_early_holes, _with_holes, harvest
from vcrgen.pixels.lexicon import load_lexicon
from vcrgen.pixels.posterior import LEAST_FIT
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.fonts import default_chain
from vcrgen.typeset.layout import layout_caption
from vcrgen.typeset.render import render_strip
from vcrgen.typeset.style import make_shaper

# The covered text of each is all of its second line.
CAPTIONS = [
    "Every morning the baker opens his shop before the church bell rings and bread is sold.",
    "Two boys on bicycles follow the narrow path along the river to the old wooden bridge.",
    "The keeper of the light house wrote about storms and lost ships in his yellow book.",
    "Heavy clouds hang over the quiet harbour while women mend their nets behind the wall.",
    "A grey horse jumps over the fence and five dogs run quickly through the wet grass.",
    "In winter the village square becomes a market where people buy fruit and warm coats.",
    "Just before the exam six zealous pupils asked the teacher about the old Greek myths.",
    "Some of the oldest maps show a wide lake where visitors now find only dry meadows.",
]


def strange_strip(caption: str) -> tuple[np.ndarray, str]:
    """Draw a caption in a face with heavy horizontal strokes, its second line under white rows."""
    shaper = make_shaper(LANGUAGES["en"], default_chain(LANGUAGES["en"].fonts, size=20))
    layout = layout_caption(caption, shaper, width=300, max_lines=5, break_unit="word")
    ink = 255 - render_strip(layout)
    ink[1:] = np.maximum(ink[1:], ink[:-1])
    first = layout.line_height
    ink[first + 9 : first + 18] = 0
    second = layout.lines[1]
    return ink, layout.text[second.start : second.end].strip()


def plain_strip(caption: str) -> np.ndarray:
    shaper = make_shaper(LANGUAGES["en"], default_chain(LANGUAGES["en"].fonts, size=20))
    return render_strip(layout_caption(caption, shaper, width=300, max_lines=5, break_unit="word"))


def look_alike() -> Typeface:
    """The face itself, without heavy strokes."""
    return FaceFinder(load_lexicon("en"), "liberation-sans").candidates(255 - plain_strip(CAPTIONS[0]))[0][0]


def test_a_face_that_nobody_has_is_read_by_its_own_glyphs() -> None:
    strips = [strange_strip(caption) for caption in CAPTIONS]
    alike = look_alike()
    own = harvest(alike, [(ink, alike.match(ink).baseline) for ink, _ in strips])
    for (ink, text), caption in zip(strips[:2], CAPTIONS[:2], strict=True):
        strip = read_strip(ink, own, own.match(ink).baseline)
        assert [span.text for span in strip.spans] == [text], caption
        assert strip.fit > LEAST_FIT > read_strip(ink, alike, alike.match(ink).baseline).fit
    again = harvest(alike, [(ink, alike.match(ink).baseline) for ink, _ in strips])
    assert again.digest == own.digest != alike.digest


def test_glyphs_of_a_known_face_are_not_cut_out() -> None:
    strips = [png(plain_strip(caption)) for caption in CAPTIONS[:2]]
    assert cut_out_glyphs([("en", strip) for strip in strips], font="liberation-sans") == {}
    assert cut_out_glyphs([("en", None), ("en", b"no image")], font="liberation-sans") == {}


def test_glyphs_under_bars_are_not_cut_out() -> None:
    """Letters that a bar cuts do not make a face a strange one."""
    strips = [plain_strip(caption) for caption in CAPTIONS]
    for strip in strips:
        for left in range(35, 280, 70):
            strip[:, left : left + 34] = 160
    assert cut_out_glyphs([("en", png(strip)) for strip in strips], font="liberation-sans") == {}


def test_a_line_in_which_nothing_is_read_has_no_holes() -> None:
    """As one whose only ink is that of letters of the line above."""
    assert _with_holes([]) == []
    e, t = PlacedCharacter("e", 0, 10), PlacedCharacter("t", 16, 22)
    assert [character.text for character in _with_holes([e, t])] == ["e", HOLE, "t"]


def png(strip: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(strip).save(file, "PNG")
    return file.getvalue()


def test_a_hole_after_a_space_may_begin_a_column_earlier() -> None:
    """The first column of a glyph is blank, so a space before it may be read wider than it is."""
    space, hole, letter = PlacedCharacter(" ", 5, 12), PlacedCharacter(HOLE, 12, 23), PlacedCharacter("r", 23, 30)
    assert _with_early_holes([space, hole, letter, hole]) == [space, PlacedCharacter(HOLE, 11, 23), letter, hole]


def test_public_strips_are_read_without_their_face(wiki_dir: Path) -> None:
    items = json.loads((wiki_dir / "strips_en.json").read_text("utf-8"))[:24]
    images = {item["id"]: (wiki_dir / "strips" / f"{item['id']}-hard.png").read_bytes() for item in items}
    cut_out = cut_out_glyphs((("en", image) for image in images.values()), font="liberation-sans")
    model = TemplateModel(font="liberation-sans", cut_out=cut_out)
    assert model.facts["cut_out"] == {"en": cut_out["en"].digest}
    right = total = 0
    for item in items[:8]:  # each takes seconds
        read = model.reply(Request(images=(images[item["id"]],), language="en")).text
        right += sum(answer in read for answer in item["answers"])
        total += len(item["answers"])
    assert right >= total - 1 > 15
