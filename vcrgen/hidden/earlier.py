"""Earlier hidden sets, whose pairs a new one must not hold: read from public part or key."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from vcrgen.builder.images import difference_hash
from vcrgen.core.errors import HiddenSetError
from vcrgen.core.files import sha256_file
from vcrgen.data.key import ANSWERS, is_key, read_answers
from vcrgen.data.tables import METADATA
from vcrgen.hidden.near import BITS, Bits
from vcrgen.hidden.public import IMAGE_FOLDERS, MCQ_FOLDERS, Pixels, content_digest, image_name, read_pixels
from vcrgen.hidden.reference import HASH_WIDTH, Reference


def find_earlier_sets(place: str) -> list[Path]:
    """Find public parts and keys in a folder, those of all forms, too."""
    folder = Path(place).expanduser()
    sets = [folder, *sorted(folder.glob("form-*"))] if folder.is_dir() else []
    return [part for root in sets for part in (root, root / "public", root / "key") if is_key(part) or _is_public(part)]


def part_digest(part: Path) -> str:
    """Return a hash of a public part or a key."""
    try:
        return sha256_file(part / ANSWERS) if is_key(part) else content_digest(part)
    except OSError as error:
        raise _unusable(part, error.strerror or "a file is missing") from None


def add_part(reference: Reference, part: Path) -> int:
    """Add the pairs of a key, or the pictures of a public part, and return their number.

    Raises:
        HiddenSetError: A file is damaged; the message quotes nothing of it.
    """
    pairs = 0
    try:
        for picture, caption in _pairs_of_key(part) if is_key(part) else _pictures_of_public(part):
            reference.add_hash(picture, caption)
            pairs += 1
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, Image.DecompressionBombError):
        raise _unusable(part, "a file of it is missing or damaged") from None
    return pairs


def _is_public(folder: Path) -> bool:
    return (folder / METADATA).is_file() and all((folder / view).is_dir() for view in IMAGE_FOLDERS)


def _unusable(part: Path, reason: str) -> HiddenSetError:
    return HiddenSetError(f"{part} cannot be compared with, because it cannot be read: {reason}; copy the set again.")


def _pairs_of_key(key: Path) -> Iterator[tuple[Bits, str]]:
    for item in read_answers(key):
        picture = np.frombuffer(bytes.fromhex(item["picture"]), np.uint8)
        if 8 * picture.size != BITS:
            raise ValueError("not the hash of a picture")
        yield picture, str(item["caption"])


def _pictures_of_public(public: Path) -> Iterator[tuple[Bits, None]]:
    for file in sorted((public / IMAGE_FOLDERS[0]).glob("*.png")):
        yield difference_hash(question_picture(public, file.stem)), None


def question_picture(public: Path, question_id: str) -> Image.Image:
    """Decode the picture of a question without its caption, as wide as pictures are hashed."""
    if (public / MCQ_FOLDERS[0]).is_dir():
        image = Image.fromarray(read_pixels(public / image_name(MCQ_FOLDERS[0], question_id))).convert("RGB")
    else:
        stacked, only_it = (read_pixels(public / image_name(view, question_id)) for view in IMAGE_FOLDERS)
        image = Image.fromarray(picture_inside(stacked, only_it))
    width = min(HASH_WIDTH, image.width)
    return image.resize((width, max(1, round(image.height * width / image.width))), Image.Resampling.LANCZOS)


def picture_inside(stacked: Pixels, only_it: Pixels) -> Pixels:
    """Extract the picture (VI) from the two views of a question: VI+TEI, and TEI alone on white.

    Raises:
        ValueError: They are not the two views of one question.
    """
    height = len(stacked)
    inked = np.flatnonzero((only_it < 255).any(axis=(1, 2)))
    if stacked.shape != only_it.shape or not inked.size:
        raise ValueError("not the two views of one question")
    for strip in range(int(inked[-1] - inked[0]) + 1, height - 1):
        above = (height - strip) // 2
        if above <= inked[0] and inked[-1] < above + strip:
            for top in (0, height - strip):
                first = top + int(inked[0]) - above  # compared before the rest of the strip, which takes longer
                same = (stacked[first] == only_it[inked[0]]).all()
                if same and (stacked[top : top + strip] == only_it[above : above + strip]).all():
                    return stacked[: top - 1] if top else stacked[strip + 1 :]
    raise ValueError("the strip of one view is not in the other")
