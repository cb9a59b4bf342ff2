"""One sample pair: from its language and index to its picture and caption."""

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from random import Random
from typing import Any

from vcrgen.samples.captions import Captions
from vcrgen.samples.facts import Facts
from vcrgen.samples.scenery import SceneCanvas
from vcrgen.samples.table import SCENES, Scene

BUILTIN_COUNT = 4 * len(SCENES)
"""Size of the built-in corpus per language: every kind of scene four times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplePair:
    """A picture with its caption."""

    id: str  # stable name, e.g. "en-000017".
    image: bytes  # the encoded picture, PNG or JPEG
    caption: str  # of the picture, in the pair's language


def sample_pair(lang: str, index: int) -> SamplePair:
    """Make the pair number `index` of a language, the same in every process.

    The pairs of one index show the same picture in every language.

    Args:
        lang: A language with a file of captions, such as "en".
        index: Any number from 0.

    Raises:
        ValueError: For a language without built-in captions, or a negative index.
    """
    return SamplePair(id=f"{lang}-{index:06d}", caption=caption(lang, index), image=picture(index))


def scene_and_facts(index: int) -> tuple[Scene[Any], Facts]:
    """Scene of pair number `index`, and the sampled facts of its picture.

    Raises:
        ValueError: For a negative index.
    """
    if index < 0:
        raise ValueError(f"the index of a sample pair must be at least 0, not {index}")
    turn, place = divmod(index, len(SCENES))
    scene = SCENES[_order(turn)[place]]
    return scene, scene.facts.sample(_rng(f"facts/{index}"))


def caption(lang: str, index: int) -> str:
    """Compose the caption of a pair without drawing its picture.

    Raises:
        ValueError: For a language without built-in captions, or a negative index.
    """
    scene, facts = scene_and_facts(index)
    return captions(lang).render(scene.kind, facts, _rng(f"{lang}/{index}"), index // len(SCENES))


def has_captions(lang: str) -> bool:
    """True if a language has built-in captions."""
    return _captions_file(lang).is_file()


def _captions_file(lang: str) -> Traversable:
    return files("vcrgen.text") / lang / "captions.txt"


@cache
def captions(lang: str) -> Captions:
    """Read the file of captions of a language; cached.

    Raises:
        ValueError: The language has no built-in captions.
    """
    if not has_captions(lang):
        raise ValueError(f"there are no built-in captions in language {lang!r}")
    kinds = {scene.kind: scene.facts for scene in SCENES}
    file = _captions_file(lang)
    return Captions(file.read_text(encoding="utf-8"), kinds, file=f"vcrgen/text/{lang}/captions.txt")


def picture(index: int) -> bytes:
    """Draw the picture of a pair, and encode it as PNG or JPEG.

    Raises:
        ValueError: For a negative index.
    """
    scene, facts = scene_and_facts(index)
    rng = _rng(f"image/{index}")
    width, height = rng.choice(scene.sizes)
    # PNG is slow for large pictures, and the sources of real datasets mix both.
    as_png = rng.random() < (0.5 if width * height < 110_000 else 0.15)
    picture, buffer = SceneCanvas(width, height, rng), BytesIO()
    scene.draw(picture, facts)
    if as_png:
        picture.finish().save(buffer, "PNG", compress_level=3)
    else:
        picture.finish().save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


@cache
def _order(turn: int) -> list[int]:
    """Shuffle the scenes of one turn: each once, so that any stretch of pairs is varied."""
    order = list(range(len(SCENES)))
    _rng(f"order/{turn}").shuffle(order)
    return order


def _rng(name: str) -> Random:
    """Generator for one decision, so that captions of a language never change an image."""
    return Random(int.from_bytes(blake2b(name.encode(), digest_size=16).digest(), "big"))
