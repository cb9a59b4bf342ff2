"""A model in this process: requests are answered in batches, by classes of transformers.

    model = InProcessModel(load_model(Path("models/qwen3-vl-2b")), "qwen3-vl-2b", batch=8)
    for what, outcome in model.answers(requests, keep):
        ...

On a CPU, in float32, the size of the batches changes no answer.
"""

import copy
import inspect
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby, islice
from typing import Any, TypeVar

from vcrgen.core.errors import ConfigError, ModelError
from vcrgen.core.progress import SILENT, ProgressListener
from vcrgen.core.reading import encodable
from vcrgen.core.rng import rng_for
from vcrgen.models.base import Reply, Request, RequestProblem, Sampling, TokenLogprobs
from vcrgen.models.chat import split_thinking
from vcrgen.models.loading import LoadedModel, first_line, out_of_memory, silence_transformers
from vcrgen.models.logprobs import BOUNDARY, SAME_START, candidate_start, validate_tokens
from vcrgen.models.pictures import decode_image

T = TypeVar("T")
REFUSED, FAILED, TOO_LONG = "refused_by_processor", "model_failed", "too_long"
# Parameters of transformers' `generate` that a request may set beside those of `Sampling`; all are numbers.
PARAMETERS = (
    "length_penalty",
    "min_new_tokens",
    "min_p",
    "no_repeat_ngram_size",
    "num_beams",
    "repetition_penalty",
    "top_k",
)


def check_settings(sampling: Sampling, parameters: Mapping[str, Any]) -> None:
    """Check the settings of requests to a model in this process.

    Raises:
        ConfigError: A parameter is one of servers only or out of its bounds, or there is no limit to an answer.
    """
    for name, value in parameters.items():
        if name not in PARAMETERS:
            names = ", ".join((*Sampling.__dataclass_fields__, *PARAMETERS))
            raise ConfigError(f"--param {name} is nothing that a model in this process knows; it knows {names}.")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"--param {name} has to be a number.")
    if (sampling.temperature or 0) < 0:
        raise ConfigError("--param temperature has to be 0 or more.")
    if sampling.top_p is not None and not 0 < sampling.top_p <= 1:
        raise ConfigError("--param top_p has to be above 0, and 1 at most.")
    if sampling.max_tokens is None or sampling.max_tokens < 1:
        raise ConfigError("--param max_tokens has to be 1 or more for a model in this process: it may write for ever.")


class InProcessModel:
    """A loaded model, which answers in batches.

    Attributes:
        name: For the file of outputs.
        facts: Everything that the replies depend on.

    Args:
        batch: Requests in a batch; halved when memory runs out.
    """

    def __init__(self, loaded: LoadedModel, name: str, *, batch: int = 8) -> None:
        self.name = name
        self.facts: Mapping[str, Any] = {"model": name, **loaded.facts}
        self._model, self._processor, self._tokenizer = loaded.model, loaded.processor, loaded.tokenizer
        self._batch = batch
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        words = self._model.config.get_text_config()
        self._longest: int | None = getattr(words, "max_position_embeddings", None)

    def answers(
        self,
        requests: Iterable[tuple[T, Request]],
        keep: Callable[[T, Reply], None],
        *,
        proven: bool = False,
        listener: ProgressListener = SILENT,
    ) -> Iterator[tuple[T, Reply | RequestProblem]]:
        """As :meth:`vcrgen.models.base.Model.answers`.

        Raises:
            ModelError: There is not enough memory for one request.
        """
        waiting = iter(requests)
        while taken := list(islice(waiting, self._batch)):
            for _, alike in groupby(taken, key=lambda numbered: self._settings(numbered[1])):
                for what, outcome in self._outcomes(list(alike)):
                    if isinstance(outcome, Reply):
                        keep(what, outcome)
                    yield what, outcome

    def _settings(self, request: Request) -> tuple[Any, ...]:
        """Key of requests that share a batch; sampled answers are alone."""
        drawn = request.id if self._generation(request).do_sample else ""
        return request.sampling, sorted(request.parameters.items()), drawn

    def _outcomes(self, batch: Sequence[tuple[T, Request]]) -> Iterator[tuple[T, Reply | RequestProblem]]:
        """Answer a batch, or its parts if it fails, to find the request that fails."""
        try:
            with silence_transformers():
                replies = self._replies([request for _, request in batch])
        except RequestProblem as problem:
            if len(batch) == 1:
                yield batch[0][0], problem
                return
        except _NoMemory:
            if len(batch) == 1:
                raise ModelError(
                    f"The memory is too small for {self.name} and one picture; give a smaller model."
                ) from None
            self._batch = len(batch) // 2
        else:
            yield from zip((what for what, _ in batch), replies, strict=True)
            return
        size = len(batch) // 2
        while batch:
            size = min(size, self._batch)
            yield from self._outcomes(batch[:size])
            batch = batch[size:]

    def _replies(self, requests: Sequence[Request]) -> list[Reply]:
        began = time.perf_counter()
        images = [[decode_image(image) for image in request.images] for request in requests]
        prompts = [self._prompt(request) for request in requests]
        inputs = self._inputs(prompts, images)
        read = _unpadded(inputs)
        longest = max(map(len, read))
        generation = self._generation(requests[0])
        if self._longest and longest + generation.max_new_tokens > self._longest:
            raise RequestProblem(
                TOO_LONG,
                f"the picture and the question are {longest:,} tokens, which with {generation.max_new_tokens:,} for "
                f"the answer is more than the model's {self._longest:,}",
            )
        written = self._generated(inputs, generation, requests[0])
        candidates, labels = map(self._candidates, requests, images, read), map(self._labels, requests, images)
        replies = [
            replace(self._reply(tokens, generation, len(prompt)), candidate_logprobs=likely, label_logprobs=first)
            for tokens, prompt, likely, first in zip(written, read, candidates, labels, strict=True)
        ]
        seconds = round((time.perf_counter() - began) / len(requests), 3)
        return [replace(reply, seconds=seconds) for reply in replies]

    def _prompt(self, request: Request, answer: str | None = None) -> str:
        """Write the request by the chat template, up to the answer or with a given one."""
        pictures = [{"type": "image"} for _ in request.images]
        words = [{"type": "text", "text": request.text}] if request.text else []
        message = {"role": "user", "content": words + pictures if request.text_first else pictures + words}
        system = {"role": "system", "content": [{"type": "text", "text": request.system}]}
        turns: list[Any] = [*([system] if request.system else []), message]
        begun = answer is not None
        if begun:
            turns.append({"role": "assistant", "content": [{"type": "text", "text": answer}]})
        with _problems(REFUSED, "the chat template"):
            prompt: str = self._processor.apply_chat_template(
                turns, add_generation_prompt=not begun, continue_final_message=begun, tokenize=False
            )
        return prompt

    def _inputs(self, texts: Sequence[str], images: Sequence[Sequence[Any]]) -> Any:
        """Make the model's input of texts and their images, padded on the left."""
        # A template that begins with the token of the beginning is not given another one.
        begun = bool(self._tokenizer.bos_token) and texts[0].startswith(self._tokenizer.bos_token)
        with _problems(REFUSED, "the model's processor"):
            inputs = self._processor(
                text=list(texts),
                images=[list(of_one) for of_one in images] if any(images) else None,
                padding=True,
                padding_side="left",
                return_tensors="pt",
                **({"add_special_tokens": False} if begun else {}),
            )
            return inputs.to(device=self._model.device, dtype=self._model.dtype)

    def _generation(self, request: Request) -> Any:
        """Settings of the model for generation, with those of the request in their place."""
        sampling, generation = request.sampling, copy.deepcopy(self._model.generation_config)
        generation.max_new_tokens, generation.max_length = sampling.max_tokens, None
        generation.pad_token_id = self._tokenizer.pad_token_id
        if sampling.temperature is not None:
            generation.do_sample = sampling.temperature > 0
            generation.temperature = sampling.temperature or None
        if sampling.top_p is not None:
            generation.top_p = sampling.top_p
        for name, value in request.parameters.items():
            setattr(generation, name, value)
        return generation

    def _generated(self, inputs: Any, generation: Any, request: Request) -> list[list[int]]:
        """Generate the tokens of an answer to each prompt, up to the end or the limit."""
        import torch

        if generation.do_sample:
            torch.manual_seed(rng_for(request.sampling.seed or 0, "sample", request.id).getrandbits(63))
        with _problems(FAILED, "the model"), torch.inference_mode():
            written = self._model.generate(**inputs, generation_config=generation)
        return [_up_to_end(tokens, generation) for tokens in written[:, inputs["input_ids"].shape[1] :].tolist()]

    def _reply(self, tokens: list[int], generation: Any, asked: int) -> Reply:
        ended = bool(tokens) and tokens[-1] in _ends(generation)
        text, thinking = split_thinking(self._tokenizer.decode(tokens, skip_special_tokens=True))
        return Reply(
            text=encodable(text),
            model=self.name,
            finish_reason="stop" if ended or len(tokens) < generation.max_new_tokens else "length",
            usage={"input": asked, "output": len(tokens)},
            thinking=encodable(thinking),
        )

    def _candidates(self, request: Request, images: Sequence[Any], read: Sequence[int]) -> tuple[TokenLogprobs, ...]:
        """Measure log-probabilities of each candidate's tokens after the prompt with the tokens ``read``.

        One by one: in a batch, the last digits would depend on the rest of the batch.
        """
        if request.candidates_text:
            request = request.for_candidates
            read = self._inputs([self._prompt(request)], [images])["input_ids"][0].tolist()
        logprobs = []
        for text in request.candidates:
            whole = self._prompt(request, text) if text else self._prompt(request)
            if whole != self._prompt(request) + text:  # as where a block of thinking is opened or closed before it
                raise RequestProblem(BOUNDARY, "the chat template puts a given answer elsewhere than the model's own")
            inputs = self._inputs([whole], [images])
            tokens = inputs["input_ids"][0].tolist()
            answer = tokens[candidate_start(read, tokens) :]
            values = self._logprobs(inputs, len(answer))
            spelt = [self._tokenizer.decode([token]) for token in answer]
            logprobs.append(validate_tokens(zip(spelt, values, strict=True), text))
        return tuple(logprobs)

    def _logprobs(self, inputs: Any, count: int) -> list[float]:
        """Log-probability of each of the last tokens of a text."""
        answer = inputs["input_ids"][0, -count:, None]
        values: list[float] = self._after(inputs, count + 1)[:-1].gather(1, answer)[:, 0].tolist()
        return values

    def _labels(self, request: Request, images: Sequence[Any]) -> tuple[float | None, ...]:
        """Log-probability of each label as the first token after the prompt."""
        if not request.labels:
            return ()
        prompt = self._prompt(request)
        asked = self._tokenizer(prompt, add_special_tokens=False)["input_ids"]
        wholes = [self._tokenizer(prompt + label, add_special_tokens=False)["input_ids"] for label in request.labels]
        firsts = [whole[candidate_start(asked, whole)] for whole in wholes]
        if len(set(firsts)) < len(firsts):
            raise RequestProblem(SAME_START, "two labels begin with the same token of the model")
        likely = self._after(self._inputs([prompt], [images]), 1)[0]
        return tuple(likely[firsts].tolist())

    def _after(self, inputs: Any, count: int) -> Any:
        """Log-probabilities of all next tokens after each of the last tokens of a text."""
        import torch

        knows = "logits_to_keep" in inspect.signature(self._model.forward).parameters
        with _problems(FAILED, "the model"), torch.inference_mode():
            only = {"logits_to_keep": count} if knows else {}
            logits = self._model(**inputs, **only, use_cache=False).logits[0, -count:]
            return logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)


class _NoMemory(Exception):
    """The memory does not suffice for a batch."""


@contextmanager
def _problems(reason: str, who: str) -> Iterator[None]:
    """Turn any exception of a library into a problem of the request."""
    try:
        yield
    except Exception as error:
        if out_of_memory(error):
            raise _NoMemory from None
        raise RequestProblem(reason, f"{who} fails on it ({first_line(error)})") from None


def _ends(generation: Any) -> set[int]:
    """Tokens that end an answer: models have one or several."""
    ends = generation.eos_token_id
    return set(ends if isinstance(ends, list) else [ends])


def _up_to_end(tokens: list[int], generation: Any) -> list[int]:
    """Tokens up to the first end token, without padding."""
    ends = _ends(generation)
    length = next((number for number, token in enumerate(tokens, start=1) if token in ends), len(tokens))
    return tokens[:length]


def _unpadded(inputs: Any) -> list[list[int]]:
    """Tokens of each text of an input, without padding."""
    rows = zip(inputs["input_ids"].tolist(), inputs["attention_mask"].tolist(), strict=True)
    return [[token for token, counts in zip(row, mask, strict=True) if counts] for row, mask in rows]
