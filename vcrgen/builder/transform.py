"""A transform of examples for `datasets.map`, `set_transform` and torch data loaders."""

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from PIL import Image

from vcrgen.builder.options import BuildConfig, load_build_config
from vcrgen.builder.pipeline import Pipeline
from vcrgen.builder.records import Pair
from vcrgen.builder.sources.base import MAX_IMAGE_BYTES
from vcrgen.core.errors import ConfigError, ImageProblem, VcrgenError
from vcrgen.core.records import Item, Reject, RejectReason
from vcrgen.data.tasks.vcr import VCR

Example = Mapping[str, Any]


class RejectedPairError(VcrgenError):
    """An example that a build would reject; ``reject`` has the reason."""

    def __init__(self, reject: Reject) -> None:
        super().__init__(f"The pair {reject.source_id!r} is rejected: {reject.detail} ({reject.reason}).")
        self.reject = reject


class VCRTransform:
    """Adds the VCR (Visual Caption Restoration) columns to examples ``{"image", "caption"[, "crossed_text"]}``.

    ``crossed_text`` lists the texts to cover. Without it, spans are selected as in a build: the same image bytes,
    caption and seed give the same pair. An instance can be pickled for ``num_proc`` and data loader workers; each
    process loads its own pipeline on the first call.

    Args:
        mode: ``"easy"``, ``"hard"``, one share of ink to leave, as ``"ink=0.2"``, or with the covers ``bars`` and
            ``blots`` bits to leave at least, as ``"bits=4"``.
        on_reject: ``"raise"``, or ``"none"``: an example that a build would reject has None in all columns of a built
            dataset, so that ``filter`` can drop it.
        **options: Other fields of [BuildConfig][vcrgen.BuildConfig], such as ``seed``, ``ngram_size``, ``width``,
            ``font``.

    Raises:
        ConfigError: An option is wrong.

    Examples:
        >>> from vcrgen.samples.pairs import sample_pair
        >>> pair = sample_pair("en", 0)
        >>> example = VCRTransform(mode="hard")({"image": pair.image, "caption": pair.caption})
        >>> example["crossed_text"]
        ['Between the red curtains a']
        >>> example["stacked_image"].size
        (300, 367)
    """

    def __init__(
        self, lang: str = "en", mode: str = "easy", *, on_reject: Literal["raise", "none"] = "raise", **options: Any
    ) -> None:
        self.config: BuildConfig = load_build_config(None, options | {"lang": lang, "mode": mode})
        if len(self.config.modes) > 1:
            raise ConfigError(
                "VCRTransform makes one mode; give mode='easy', mode='hard' or one share, mode='ink=0.2'."
            )
        if on_reject not in ("raise", "none"):
            raise ConfigError(f"`on_reject` is {on_reject!r}; give 'raise' or 'none'.")
        self._on_reject = on_reject
        self._pipeline: Pipeline | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_pipeline": None}

    def __repr__(self) -> str:
        options = {"lang": self.config.lang, "mode": self.config.mode, **self.config.model_dump(exclude_defaults=True)}
        arguments = [f"{name}={value!r}" for name, value in options.items()]
        return f"VCRTransform({', '.join(arguments)}, on_reject={self._on_reject!r})"

    def __call__(self, example: Example) -> dict[str, Any]:
        """Transform one example, or a batch: a mapping of columns to lists, as ``set_transform`` gives it.

        Args:
            example: ``image`` is encoded bytes, a path, or a mapping with ``bytes`` or ``path``, as an ``Image`` column
                of `datasets` with ``decode=False``; or a decoded picture, which is another pair: a PIL image, or an
                array of bytes, shape (height, width) or (height, width, 3 or 4). ``caption`` is a string. Other keys
                are kept.

        Returns:
            The example with the columns of a built dataset; the images are PIL images.

        Raises:
            RejectedPairError: A build would reject a pair.
            ConfigError: The example has no image or no caption under these names.
        """
        if missing := [name for name in ("image", "caption") if name not in example]:
            raise ConfigError(
                f"The example has no `{missing[0]}`, only {', '.join(map(str, example))}; rename its column, as by "
                "`rename_column` of datasets."
            )
        if not all(isinstance(example[name], list) for name in ("image", "caption")):
            [row] = self._rows([example])
            return {**example, **row}
        size = len(example["caption"])
        rows = self._rows([{name: column[number] for name, column in example.items()} for number in range(size)])
        return {**example, **{name: [row[name] for row in rows] for name in self._columns}}

    @property
    def _columns(self) -> tuple[str, ...]:
        return (*VCR.features, *self.config.optional_columns)

    def _rows(self, examples: Sequence[Example]) -> list[dict[str, Any]]:
        """The columns of a built dataset for each example."""
        pipeline = self._pipeline = self._pipeline or Pipeline(self.config)
        items = [_read_example(example) for example in examples]
        built = pipeline.pairs(item for item in items if isinstance(item, Item))
        rows: list[dict[str, Any]] = []
        for item in items:
            outcome = next(built) if isinstance(item, Item) else item
            if isinstance(outcome, Pair):
                row = pipeline.row(outcome, self.config.modes[0])
                rows.append({name: row.get(name) for name in self._columns} | _decoded_images(row))
            elif self._on_reject == "raise":
                raise RejectedPairError(outcome)
            else:
                rows.append(dict.fromkeys(self._columns))
        return rows


def _decoded_images(row: Mapping[str, Any]) -> dict[str, Image.Image]:
    images: dict[str, Image.Image] = {}
    for name in (*VCR.images, *({"cover_mask"} & row.keys())):
        images[name] = Image.open(io.BytesIO(row[name]["bytes"]))
        images[name].load()
    return images


def _read_example(example: Example) -> Item | Reject:
    """The pair of an example, or the reject that says why it is none."""
    source_id = str(example.get("id", example.get("question_id", "example")))
    caption, answers = example["caption"], example.get("crossed_text")
    if not isinstance(caption, str | None):
        detail = f"the caption is a value of type {type(caption).__name__}, not a text"
        return Reject(source_id=source_id, reason=RejectReason.NO_CAPTION, detail=detail)
    if answers is not None and not (isinstance(answers, list | tuple) and all(isinstance(a, str) for a in answers)):
        detail = "`crossed_text` is not a list of texts"
        return Reject(source_id=source_id, reason=RejectReason.ANSWER_NOT_SHOWN, detail=detail)
    try:
        image = _read_image(example["image"])
    except ImageProblem as problem:
        return Reject(source_id=source_id, reason=problem.reason, detail=problem.detail)
    return Item(
        source_id=source_id,
        image=image if isinstance(image, bytes) else None,
        picture=image if isinstance(image, Image.Image) else None,
        caption=caption,
        answers=None if answers is None else tuple(answers),
    )


def _read_image(image: Any) -> bytes | Image.Image | None:
    """An encoded image's bytes, or a decoded picture.

    Raises:
        ImageProblem: It is neither, or its file cannot be read.
    """
    if isinstance(image, Mapping):
        image = image.get("bytes") or image.get("path")
    if isinstance(image, str | os.PathLike):
        return _read_file(Path(image))
    if image is None or isinstance(image, bytes | Image.Image):
        return image
    if isinstance(image, np.ndarray):
        if image.dtype == np.uint8 and (image.ndim == 2 or (image.ndim == 3 and image.shape[2] in (3, 4))):
            return Image.fromarray(image)
        detail = f"the image is an array of type {image.dtype} and shape {image.shape}, not bytes of 1, 3 or 4 channels"
        raise ImageProblem(RejectReason.UNDECODABLE, detail)
    detail = f"the image is a value of type {type(image).__name__}, not bytes, a path, a PIL image or an array"
    raise ImageProblem(RejectReason.UNDECODABLE, detail)


def _read_file(file: Path) -> bytes:
    try:
        if not file.is_file():
            raise ImageProblem(RejectReason.NO_IMAGE, "the image file is missing")
        if file.stat().st_size > MAX_IMAGE_BYTES:
            raise ImageProblem(RejectReason.NO_IMAGE, f"the image is larger than {MAX_IMAGE_BYTES >> 20} MiB")
        return file.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is not usable"
        raise ImageProblem(RejectReason.NO_IMAGE, f"the image file cannot be read: {reason}") from None
