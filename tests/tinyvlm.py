"""A vision-language model of 3 MB, made of real classes of transformers: LLaVA with a SigLIP tower and a Llama.

    model, processor = make(captions)
    teach(model, processor, examples_of(dataset), steps=300)
    save(model, processor, folder)      # a folder as those of published models

Nothing is downloaded. The same arguments give the same weights on one machine. Its tokenizer is a BPE of the captions.
It learns pictures by heart, and cannot read: of one that it was not taught it says something wrong.
"""

import hashlib
import io
import os
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
from PIL import Image

os.environ.setdefault("HF_HUB_OFFLINE", "1")

SIDE, PATCH = 160, 16  # of pictures as the model sees them, and of what one token stands for, in pixels
PAD, BOS, EOS, USER, END_OF_USER, BOT, IMAGE = SPECIAL = (
    *("<pad>", "<s>", "</s>", "<|user|>", "<|end|>", "<|bot|>", "<image>"),
)
TEMPLATE = (
    "<s>{% for message in messages %}"
    "{% if message['role'] == 'user' %}<|user|>{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}{% endfor %}<|end|>"
    "{% else %}<|bot|>{% generation %}"
    "{% for part in message['content'] %}{{ part['text'] }}{% endfor %}</s>{% endgeneration %}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|bot|>{% endif %}"
)


class Example(NamedTuple):
    """One picture with what is asked about it, and the right answer."""

    image: Image.Image
    question: str
    answer: str

    @property
    def messages(self) -> list[dict[str, Any]]:
        """As a user's and an assistant's message."""
        asked = [{"type": "image", "image": self.image}, {"type": "text", "text": self.question}]
        return [
            {"role": "user", "content": asked},
            {"role": "assistant", "content": [{"type": "text", "text": self.answer}]},
        ]


def examples_of(dataset: Path, mode: str = "hard", split: str = "*", column: str = "stacked_image") -> list[Example]:
    """The pictures of a dataset on this disk; the right answer is the covered texts, one a line."""
    rows = [
        row for file in sorted(dataset.glob(f"{mode}/{split}-*.parquet")) for row in pq.read_table(file).to_pylist()
    ]
    return [
        Example(Image.open(io.BytesIO(row[column]["bytes"])), row["question"], "\n".join(row["crossed_text"]))
        for row in rows
    ]


def make(
    texts: Iterable[str], *, seed: int = 0, template: str = TEMPLATE, side: int = SIDE, phrases: Sequence[str] = ()
) -> tuple[Any, Any]:
    """A model with random weights, and its processor.

    Args:
        texts: What the tokenizer is made of: questions and answers as the model will see them.
        seed: Of the weights.
        template: Of the chat.
        side: Of pictures as the model sees them, in pixels.
        phrases: Each of them is one token wherever it stands.
    """
    import torch
    from transformers import (
        CLIPImageProcessorPil,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
        SiglipVisionConfig,
    )

    tokenizer = _tokenizer(texts)
    tokenizer.add_tokens(list(phrases))
    images = CLIPImageProcessorPil(
        size={"height": side, "width": side}, do_center_crop=False, image_mean=[0.5] * 3, image_std=[0.5] * 3
    )
    processor = LlavaProcessor(
        image_processor=images,
        tokenizer=tokenizer,
        patch_size=PATCH,
        vision_feature_select_strategy="full",
        chat_template=template,
        image_token=IMAGE,
        num_additional_image_tokens=0,
    )
    pad, bos, eos = (tokenizer.convert_tokens_to_ids(token) for token in (PAD, BOS, EOS))
    eyes = SiglipVisionConfig(
        hidden_size=96,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=4,
        image_size=side,
        patch_size=PATCH,
        vision_use_head=False,
    )
    words = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        pad_token_id=pad,
        bos_token_id=bos,
        eos_token_id=eos,
        tie_word_embeddings=True,
    )
    torch.manual_seed(seed)
    model = LlavaForConditionalGeneration(
        LlavaConfig(
            vision_config=eyes,
            text_config=words,
            image_token_id=tokenizer.convert_tokens_to_ids(IMAGE),
            image_seq_length=(side // PATCH) ** 2,
            vision_feature_layer=-1,
            vision_feature_select_strategy="full",
            tie_word_embeddings=True,
        )
    )
    ends = model.generation_config
    ends.pad_token_id, ends.bos_token_id, ends.eos_token_id = pad, bos, eos
    return model.eval(), processor


def _tokenizer(texts: Iterable[str]) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=1000, special_tokens=list(SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token=BOS,
        eos_token=EOS,
        pad_token=PAD,
        additional_special_tokens=[USER, END_OF_USER, BOT, IMAGE],
    )


def teach(
    model: Any, processor: Any, examples: Sequence[Example], *, steps: int, batch: int = 8, rate: float = 2e-3
) -> float:
    """Train all weights on pictures and right answers, the same way each time.

    Args:
        model: Is changed.
        processor: Its own.
        examples: Taken in an order that is new in each round.
        steps: How often the weights are changed.
        batch: Examples a step.
        rate: The largest learning rate; it falls to zero.

    Returns:
        The loss of the last step: of the answer's tokens and the end.
    """
    import torch

    encoded = processor.apply_chat_template(
        [example.messages for example in examples],
        tokenize=True,
        return_dict=True,
        return_assistant_tokens_mask=True,
        processor_kwargs={"padding": True, "padding_side": "right", "return_tensors": "pt"},
    )
    labels = encoded["input_ids"].masked_fill(~torch.as_tensor(encoded.pop("assistant_masks")).bool(), -100)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=0.1)
    draws = torch.Generator().manual_seed(0)
    order: list[int] = []
    loss = torch.tensor(0.0)
    model.train()
    for _ in range(steps):
        while len(order) < batch:
            order += torch.randperm(len(examples), generator=draws).tolist()
        chosen, order = order[:batch], order[batch:]
        loss = model(**{name: value[chosen] for name, value in encoded.items()}, labels=labels[chosen]).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
    model.eval()
    return float(loss.detach())


def save(model: Any, processor: Any, folder: Path) -> Path:
    """Write a model as published ones are."""
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def recipe(*parts: object) -> str:
    """Stands for how a model is made: this file, the libraries, and whatever else decides its weights."""
    libraries = [f"{name} {version(name)}" for name in ("torch", "transformers", "tokenizers")]
    content = [Path(__file__).read_text("utf-8"), *libraries, *map(repr, parts)]
    return hashlib.sha256("\0".join(content).encode()).hexdigest()[:16]
