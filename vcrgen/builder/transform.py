"""A transform of single examples for `datasets.map`, `set_transform` and torch data loaders."""

import io
from collections.abc import Mapping
from typing import Any

from PIL import Image

from vcrgen.builder.options import BuildConfig, load_build_config
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import Pair
from vcrgen.core.errors import ConfigError, VcrgenError
from vcrgen.core.records import Item, Reject
from vcrgen.data.tasks.vcr import VCR


class RejectedPairError(VcrgenError):
    """An example that a build would reject; ``reject`` has the reason."""

    def __init__(self, reject: Reject) -> None:
        super().__init__(f"The pair {reject.source_id!r} is rejected: {reject.detail} ({reject.reason}).")
        self.reject = reject


class VCRTransform:
    """Adds the VCR (Visual Caption Restoration) columns to an example ``{"image", "caption"[, "crossed_text"]}``.

    ``crossed_text`` lists the texts to cover. Without it, spans are selected as in a build: the same image bytes,
    caption and seed give the same spans. An instance can be pickled for ``num_proc`` and data loader workers; each
    process loads its own pipeline on the first call.

    Args:
        lang: Language of the captions.
        mode: ``"easy"``, ``"hard"``, one share of ink to leave, as ``"ink=0.2"``, or with the covers ``bars`` and
            ``blots`` bits to leave at least, as ``"bits=4"``.
        **options: Other fields of [BuildConfig][vcrgen.BuildConfig], such as ``seed``, ``ngram_size``, ``width``,
            ``font``.

    Raises:
        ConfigError: An option is wrong.
    """

    def __init__(self, lang: str = "en", mode: str = "easy", **options: Any) -> None:
        self.config: BuildConfig = load_build_config(None, options | {"lang": lang, "mode": mode})
        if len(self.config.modes) > 1:
            raise ConfigError(
                "VCRTransform makes one mode; give mode='easy', mode='hard' or one share, mode='ink=0.2'."
            )
        self._pipeline: Pipeline | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"config": self.config, "_pipeline": None}

    def __call__(self, example: Mapping[str, Any]) -> dict[str, Any]:
        """Transform one example.

        Args:
            example: ``image`` is a PIL image, encoded bytes, or a mapping with ``bytes``; ``caption`` a string. Other
                keys are kept.

        Returns:
            The example with the columns of a built dataset; the images are PIL images.

        Raises:
            RejectedPairError: A build would reject the pair.
        """
        self._pipeline = self._pipeline or Pipeline(self.config)
        answers = example.get("crossed_text")
        item = Item(
            source_id=str(example.get("id", example.get("question_id", "example"))),
            image=_image_bytes(example.get("image")),
            caption=example.get("caption"),
            answers=None if answers is None else tuple(answers),
        )
        pair = next(iter(self._pipeline.pairs([item])))
        if not isinstance(pair, Pair):
            raise RejectedPairError(pair)
        row = self._pipeline.row(pair, self.config.modes[0])
        for name in (*VCR.images, *({"cover_mask"} & row.keys())):
            row[name] = Image.open(io.BytesIO(row[name]["bytes"]))
            row[name].load()
        return {**example, **row}


def _image_bytes(image: Any) -> bytes | None:
    """Return the encoded image; a PIL image is encoded losslessly."""
    if isinstance(image, Mapping):
        image = image.get("bytes")
    if image is None or isinstance(image, bytes):
        return image
    if not isinstance(image, Image.Image):
        raise ConfigError(f"`image` is a {type(image).__name__}; give a PIL image, bytes, or a mapping with `bytes`.")
    buffer = io.BytesIO()
    try:
        image.save(buffer, "PNG", compress_level=1)
    except OSError:  # a mode that PNG does not have (CMYK, F, YCbCr)
        image.save(buffer, "TIFF")
    return buffer.getvalue()
