"""The picture of an attention check: its number stands in pixels alone, so that a program has to read them, too."""

import io

from PIL import Image, ImageDraw, ImageFont

from vcrgen.core.rng import rng_for

_SIZE = 48  # of the digits, in pixels
_CELL = 72  # pixels of a side of the square that a digit has
_TURN, _SHIFT = 12, 6  # degrees and pixels, at most
_PAPER, _INK = 255, 40


def check_picture(number: str, seed: int, step: str) -> bytes:
    """Draw a number as PNG; each digit is turned and moved a little, by the seed and the step's name."""
    rng = rng_for(seed, "check picture", step)
    font = ImageFont.load_default(_SIZE)
    picture = Image.new("L", (_CELL * len(number), _CELL), _PAPER)
    for place, digit in enumerate(number):
        cell = Image.new("L", (_CELL, _CELL), _PAPER)
        middle = (_CELL / 2 + rng.uniform(-_SHIFT, _SHIFT), _CELL / 2 + rng.uniform(-_SHIFT, _SHIFT))
        ImageDraw.Draw(cell).text(middle, digit, fill=_INK, font=font, anchor="mm")
        turned = cell.rotate(rng.uniform(-_TURN, _TURN), Image.Resampling.BICUBIC, fillcolor=_PAPER)
        picture.paste(turned, (place * _CELL, 0))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
