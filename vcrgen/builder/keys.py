"""How the hashes of a pair are made, and the form in which files hold them."""

import hashlib

import numpy as np

from vcrgen.builder.records import PairKeys

KEY_LENGTH = 20  # hex digits
KEY_DTYPE = np.dtype([(name, f"S{KEY_LENGTH}") for name in ("pair", "image", "caption")])


def pair_keys(image: bytes, caption: str, shown: str) -> PairKeys:
    """The hashes of a pair.

    Args:
        image: The source image, as it is encoded.
        caption: The normalised caption.
        shown: The part of it that the strip shows.
    """
    image_hash = hashlib.blake2b(image, digest_size=KEY_LENGTH // 2)
    pair_hash = image_hash.copy()
    pair_hash.update(b"\0" + caption.encode("utf-8", "surrogatepass"))
    caption_hash = hashlib.blake2b(shown.encode("utf-8", "surrogatepass"), digest_size=KEY_LENGTH // 2)
    return PairKeys(pair=pair_hash.hexdigest(), image=image_hash.hexdigest(), caption=caption_hash.hexdigest())
