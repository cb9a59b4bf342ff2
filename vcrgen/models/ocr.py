"""OCR by RapidOCR, which runs offline and knows English and Chinese."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

from PIL import Image

from vcrgen.core.errors import PipelineError
from vcrgen.core.extras import needs_extra
from vcrgen.core.records import RejectReason
from vcrgen.models.base import Reply, Request, RequestProblem
from vcrgen.models.pictures import decode_image
from vcrgen.text.languages import LANGUAGES

PACKAGE = "rapidocr-onnxruntime"
# At the 20 px of VCR-WIKI the spaces between words are lost (recall of whole English words 0.2 to 0.5); at twice the
# size they are found. In pictures of a million pixels and more letters are large enough; enlarged, those of hidden sets
# (0.6 million pixels, letters of 24 to 40 px) took four times as long, and no more words were read.
ENLARGEMENT = 2.0
ENLARGED_PIXELS = 1_200_000
# Detection takes about 200 MB for every million pixels.
MAX_PIXELS = 8_000_000
MAX_SIDE = 16_000
SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        # One thread an engine: sums are made in one order on every machine.
        "intra_op_num_threads": 1,
        "inter_op_num_threads": 1,
        # Lines of one batch are padded to one width, which costs time and changes what is read.
        "rec_batch_num": 1,
        # The texts are upright.
        "use_cls": False,
        # Pictures are brought to size by `enlarged`; the engine's own ways make a thin one a thousand times as large.
        "max_side_len": MAX_SIDE,
        "min_side_len": 1,
        "width_height_ratio": -1,
        "det_limit_type": "min",
        "det_limit_side_len": 1,
        # A line that is hidden in part is a doubtful line to the engine, which would drop all its text (default 0.5).
        "det_box_thresh": 0.3,
        "text_score": 0.3,
        # Boxes that are cut close lose the spaces between words (default 1.6).
        "det_unclip_ratio": 2.0,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """A detected text with its upright bounding box in pixels and its confidence (0 to 1)."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str
    confidence: float


def reading_order(fragments: Iterable[Fragment], joiner: str, direction: str = "ltr") -> str:
    """Join fragments line by line from the top, each line from the left or the right.

    A fragment stands in a line if it and the line's tallest fragment overlap in at least half of the lower one's
    height: of a text whose middle is hidden the engine sees the two edges as two low fragments of one line.

    Args:
        fragments: In any order.
        joiner: Put between two fragments of a line and between two lines.
        direction: ``"ltr"`` where lines begin at the left, ``"rtl"`` where they begin at the right.
    """
    lines: list[list[Fragment]] = []
    for fragment in sorted(fragments, key=lambda f: (f.y0 + f.y1, f.x0)):
        line = next((line for line in reversed(lines) if _in_line(fragment, line)), None)
        if line is None:
            lines.append([fragment])
        else:
            line.append(fragment)

    def place(fragment: Fragment) -> tuple[float, float]:
        return (fragment.x0 if direction == "ltr" else -fragment.x1, fragment.y0)

    ordered = (fragment for line in lines for fragment in sorted(line, key=place))
    return joiner.join(text for fragment in ordered if (text := fragment.text.strip()))


def _in_line(fragment: Fragment, line: list[Fragment]) -> bool:
    tallest = max(line, key=lambda f: f.y1 - f.y0)
    overlap = min(fragment.y1, tallest.y1) - max(fragment.y0, tallest.y0)
    return overlap > 0 and overlap >= 0.5 * min(fragment.y1 - fragment.y0, tallest.y1 - tallest.y0)


def enlarged(image: Image.Image) -> Image.Image:
    """Enlarge an image to twice its size, less for large images, and reduce it to the engine's limits."""
    width, height = image.size
    pixels = width * height
    factor = min(ENLARGEMENT, max(1.0, math.sqrt(ENLARGED_PIXELS / pixels)))
    factor = min(factor, math.sqrt(MAX_PIXELS / pixels), MAX_SIDE / max(width, height))
    size = max(1, int(width * factor)), max(1, int(height * factor))
    return image.resize(size, Image.Resampling.LANCZOS)


class OcrModel:
    """OCR as a vision model: the reply is the text in the images, whatever the prompt.

    Attributes:
        name: Name and version, for the file of outputs.
        facts: Everything that the text depends on.

    Raises:
        PipelineError: The engine is not installed, or cannot be loaded.
    """

    def __init__(self) -> None:
        try:
            import cv2
            import onnxruntime
            from rapidocr_onnxruntime import RapidOCR
        except ModuleNotFoundError:
            raise PipelineError(
                f"{needs_extra('The OCR baseline', 'ocr')} There is none for Python 3.13 and later."
            ) from None
        except ImportError as error:  # a system's library that is not there, such as libGL
            raise PipelineError(f"{PACKAGE} is installed, but cannot be loaded: {error}.") from None
        self._engine = RapidOCR(**SETTINGS)
        self.name = f"{PACKAGE}-{version(PACKAGE)}"
        self.facts: Mapping[str, Any] = {
            "model": self.name,
            "onnxruntime": onnxruntime.__version__,
            "opencv": cv2.__version__,
            "pillow": version("pillow"),
            "settings": dict(SETTINGS),
            "enlargement": [ENLARGEMENT, ENLARGED_PIXELS],
        }

    def fragments(self, image: Image.Image) -> list[Fragment]:
        """Return all detected texts, with boxes in the enlarged image; a RequestProblem if the engine fails."""
        try:
            detections, _ = self._engine(enlarged(image))
        except Exception as error:  # of OpenCV, ONNX Runtime or the engine, on pictures of odd shapes
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise RequestProblem(RejectReason.UNDECODABLE, f"the OCR engine fails on it: {reason[:200]}") from None
        return [_fragment(box, text, confidence) for box, text, confidence in detections or ()]

    def reply(self, request: Request) -> Reply:
        """Read the text of the images in reading order; it may be empty.

        Raises:
            RequestProblem: An image is invalid, the engine fails on it, or log-probabilities are requested.
        """
        if request.candidates:
            raise RequestProblem("no_logprobs", f"{self.name} reads images, and gives no log-probabilities of texts")
        language = LANGUAGES[request.language]
        read = (self.fragments(decode_image(image)) for image in request.images)
        text = language.joiner.join(reading_order(fragments, language.joiner, language.direction) for fragments in read)
        return Reply(text=text, model=self.name, finish_reason="stop")


def _fragment(corners: list[list[float]], text: str, confidence: float) -> Fragment:
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return Fragment(x0=min(xs), y0=min(ys), x1=max(xs), y1=max(ys), text=text, confidence=float(confidence))
