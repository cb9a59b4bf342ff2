"""Streams of training data: VCR (Visual Caption Restoration) examples generated during training."""

from typing import TYPE_CHECKING

from vcrgen.core.lazy import attach

if TYPE_CHECKING:
    from vcrgen.builder.stream.chat import answer_text, collate, messages
    from vcrgen.builder.stream.stream import VCRStream

__all__ = ["VCRStream", "answer_text", "collate", "messages"]


__getattr__, __dir__ = attach(
    __name__,
    {
        "builder.stream.chat": ["answer_text", "collate", "messages"],
        "builder.stream.stream": ["VCRStream"],
    },
)
