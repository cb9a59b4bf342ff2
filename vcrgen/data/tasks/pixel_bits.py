"""The bits that the visible pixels of masked spans leave, from the outputs of ``vcrgen baseline template``."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vcrgen.core.errors import PredictionError
from vcrgen.core.reading import as_id, iter_json_lines
from vcrgen.core.signature import Signature

UNKNOWN = math.nan
MAX_BITS = 1e6


@dataclass(frozen=True, slots=True)
class PixelBits:
    """The bits of the spans of a dataset.

    Attributes:
        signature: Method, lexicon, prior, noise and font; where strips differ in one, the number of its values.
        bits: Of each span of a question (by id and mode; None where outputs name no mode), NaN where it is unknown.
    """

    signature: Signature
    bits: Mapping[tuple[str, str | None], tuple[float, ...]]

    def of_question(self, question_id: str, mode: str | None, spans: int) -> tuple[float, ...]:
        """Bits of each span of a question.

        They are NaN where the program found another number of covered texts, as it is not known which is which.
        """
        bits = self.bits.get((question_id, mode)) or self.bits.get((question_id, None), ())
        return bits if len(bits) == spans else (UNKNOWN,) * spans


def read_pixel_bits(file: Path) -> PixelBits:
    """Read the bits in a file of outputs of ``vcrgen baseline template``.

    Raises:
        PredictionError: It cannot be read, or is no such file.
    """
    bits: dict[tuple[str, str | None], tuple[float, ...]] = {}
    signatures: dict[str, None] = {}
    for number, line in iter_json_lines(file, PredictionError):
        question_id, spans, mode = as_id(line.get("question_id")), line.get("spans", []), line.get("mode")
        if question_id is None or not isinstance(spans, list) or not isinstance(mode, str | None):
            raise _not_bits(file, number)
        try:
            bits[question_id, mode] = tuple([_bits(span["bits"]) for span in spans])
            signatures |= dict.fromkeys(str(span["signature"]) for span in spans)
        except (TypeError, LookupError, ValueError):
            raise _not_bits(file, number) from None
    if not signatures:
        raise PredictionError(f"{file} has no bits of any span; give the outputs of vcrgen baseline template.")
    try:
        return PixelBits(_common(map(Signature.parse, signatures)), bits)
    except ValueError:
        raise PredictionError(f"{file}: a signature of its bits cannot be read; make the file again.") from None


def _not_bits(file: Path, line: int) -> PredictionError:
    return PredictionError(
        f"{file}, line {line}: no bits with a signature for each span; give the outputs of vcrgen baseline template."
    )


def _bits(value: Any) -> float:
    if value is None:
        return UNKNOWN
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_BITS:
        raise ValueError("no bits")
    return float(value)


def _common(signatures: Iterable[Signature]) -> Signature:
    """Merge several signatures; a fact in which they differ becomes the number of its values."""
    values: dict[str, dict[str, None]] = {}
    for signature in signatures:
        for name, value in signature.facts.items():
            values.setdefault(name, {})[value] = None
    return Signature(
        {
            n: next(iter(alternatives)) if len(alternatives) == 1 else f"{len(alternatives)} values"
            for n, alternatives in values.items()
        }
    )
