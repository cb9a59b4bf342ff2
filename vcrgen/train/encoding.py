r"""Examples as tensors by a model's processor and chat template, with labels for the loss.

The loss covers the answer and its end token, which the template marks by ``{% generation %}`` and
``{% endgeneration %}``:

    user:  <image> What are the covered texts?      no loss
    assistant:  of a small\nnear the old<end>       loss
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vcrgen.builder.stream import answer_text, messages
from vcrgen.core.errors import TrainError
from vcrgen.models.loading import LoadedModel, first_line

IGNORED = -100  # label of tokens without loss
MAX_TEMPLATE_BYTES = 1 << 20


class Encoder:
    """Makes batches for one model.

    Args:
        loaded: The model, for its processor and end tokens.
        template: A chat template in place of the model's own.
    """

    def __init__(self, loaded: LoadedModel, template: str | None = None) -> None:
        self._processor, self._template = loaded.processor, template
        ends = loaded.model.generation_config.eos_token_id or loaded.tokenizer.eos_token_id
        self._ends = {ends} if isinstance(ends, int) else set(ends or ())
        loaded.tokenizer.padding_side = "right"

    def check(self, example: Mapping[str, Any]) -> None:
        """Check on one example that the loss covers exactly the answer and its end, after the prompt of inference.

        Raises:
            TrainError: The template does not mark or end the answer, or writes another prompt than the model's own.
        """
        _, labels = self.encode([example])
        learned = labels[0][labels[0] != IGNORED].tolist()
        if learned[-1] not in self._ends:
            raise TrainError(
                "The chat template writes no end token of the model behind the answer, so the model would not learn "
                "where to stop; give a template that does by --chat-template FILE."
            )
        text = self._processor.tokenizer.decode([token for token in learned if token not in self._ends])
        if text.strip() != answer_text(example).strip():
            raise TrainError(
                f"The chat template marks {text[:80]!r} as the answer where {answer_text(example)[:80]!r} is meant; "
                "put {% generation %} and {% endgeneration %} around the assistant's text, by --chat-template FILE."
            )
        prompt = self._rendered(messages(example)[:1], None, add_generation_prompt=True)
        if not self._rendered(messages(example), self._template).startswith(prompt):
            raise TrainError(
                "Before the answer the chat template does not write what the model is asked with later (its own "
                "template and the start of an answer), so it would learn to answer something else; mend the template."
            )

    def encode(self, examples: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], Any]:
        """Make the model's inputs and the labels (examples x tokens): token ids, or `IGNORED`.

        Raises:
            TrainError: The template does not mark an answer.
        """
        import torch

        try:
            inputs = self._processor.apply_chat_template(
                [messages(example) for example in examples],
                chat_template=self._template,
                tokenize=True,
                return_dict=True,
                return_tensors="pt",
                return_assistant_tokens_mask=True,
                processor_kwargs={"padding": True},
            )
        except Exception as error:  # whatever templates and processors raise
            raise _refusal(error) from None
        tokens = inputs["input_ids"]
        learned = torch.as_tensor(inputs.pop("assistant_masks")).bool()
        # A template may leave the end of the answer outside of its marks.
        ends = torch.isin(tokens, torch.tensor(sorted(self._ends)))
        after = torch.zeros_like(learned)
        after[:, 1:] = learned[:, :-1] & ~ends[:, :-1]
        learned |= after & ends
        if not learned.any(dim=1).all():
            raise TrainError(
                "The chat template does not mark the assistant's answer, so its tokens are unknown; "
                "copy it to a file, put {% generation %} and {% endgeneration %} around the assistant's text and its "
                "end token, and give that file by --chat-template FILE."
            )
        return dict(inputs), torch.where(learned, tokens, torch.full_like(tokens, IGNORED))

    def _rendered(self, conversation: list[dict[str, Any]], template: str | None, **options: Any) -> str:
        try:
            return str(self._processor.apply_chat_template(conversation, chat_template=template, **options))
        except Exception as error:
            raise _refusal(error) from None


def read_template(file: Path) -> str:
    """Read a chat template; a TrainError if the file cannot be read, is too large, or is not UTF-8."""
    try:
        if file.stat().st_size > MAX_TEMPLATE_BYTES:
            raise TrainError(f"{file} is larger than {MAX_TEMPLATE_BYTES >> 20} MiB, so it is not a chat template.")
        return file.read_text("utf-8")
    except OSError as error:
        raise TrainError(f"The chat template {file} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise TrainError(f"The chat template {file} is not UTF-8 text.") from None


def _refusal(error: Exception) -> TrainError:
    return TrainError(
        f"The model's processor cannot make a chat of an example ({first_line(error)}); mend its chat template, or "
        "give another one by --chat-template FILE."
    )
