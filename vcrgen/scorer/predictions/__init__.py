"""Files of model outputs: recognised by content, read as a stream of predictions, whatever wrote them."""

from vcrgen.scorer.predictions.received import receive
from vcrgen.scorer.predictions.recognise import PredictionFile, open_predictions, utf16_of

__all__ = ["PredictionFile", "open_predictions", "receive", "utf16_of"]
