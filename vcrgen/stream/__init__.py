"""Streams of training data: VCR (Visual Caption Restoration) examples generated during training."""

from typing import TYPE_CHECKING

from vcrgen.lazy import attach

if TYPE_CHECKING:
    from vcrgen.stream.chat import answer_text, collate, messages
    from vcrgen.stream.stream import VCRStream

__all__ = ["VCRStream", "answer_text", "collate", "messages"]


__getattr__, __dir__ = attach(
    __name__,
    {
        "stream.chat": ["answer_text", "collate", "messages"],
        "stream.stream": ["VCRStream"],
    },
)
