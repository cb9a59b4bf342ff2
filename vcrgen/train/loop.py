"""Steps of the optimiser: schedule-free AdamW over the tokens of the answers.

A step takes ``batch`` examples, ``micro_batch`` at a time. Its loss is the mean over all labelled tokens.
"""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from vcrgen.core.errors import OutputError, TrainError
from vcrgen.core.files import write_text
from vcrgen.core.progress import ProgressListener
from vcrgen.core.reading import iter_json_lines
from vcrgen.models.loading import first_line, out_of_memory
from vcrgen.train.checkpoint import Counts, load_checkpoint, save_checkpoint
from vcrgen.train.data import TrainingData
from vcrgen.train.encoding import IGNORED, Encoder
from vcrgen.train.options import TrainOptions


class Loop:
    """The loop of a training.

    A checkpoint is written every ``save_every`` steps, after the last one, and on an interruption. A resumed training
    repeats what an uninterrupted one does.

    Args:
        model: A model with an adapter.
        encoder: Makes the batches.
        data: The examples.
        options: Steps, batch, learning rate.
        checkpoint: File of the checkpoint, from which the training resumes.
        log: JSON lines, one a step.

    Attributes:
        counts: The progress.

    Raises:
        OutputError: The checkpoint is damaged.
    """

    def __init__(
        self, model: Any, encoder: Encoder, data: TrainingData, options: TrainOptions, *, checkpoint: Path, log: Path
    ) -> None:
        import torch
        from schedulefree import AdamWScheduleFree

        self._model, self._encoder, self._data, self._options = model, encoder, data, options
        self._checkpoint, self._log = checkpoint, log
        self._weights = [value for value in model.parameters() if value.requires_grad]
        self._device = self._weights[0].device
        self._optimizer = AdamWScheduleFree(self._weights, lr=options.learning_rate)
        self._optimizer.train()
        model.train()
        self.counts = Counts()
        if checkpoint.exists():
            place, random, self.counts = load_checkpoint(checkpoint, model=model, optimizer=self._optimizer)
            data.load_state_dict(place)
            torch.set_rng_state(random["cpu"])
            if "cuda" in random and self._device.type == "cuda":
                torch.cuda.set_rng_state(random["cuda"], self._device)
        self._mark()
        self._between_steps = True

    def run(self, listener: ProgressListener) -> None:
        """Run the remaining steps, and set the model to the weights of the finished adapter.

        Raises:
            TrainError: The loss is NaN or infinite, or memory runs out.
            OutputError: The disk is full.
            KeyboardInterrupt: The user interrupts; a checkpoint is written first.
        """
        self._begin_log()
        listener.begin(self._options.steps, self.counts.step)
        examples = iter(self._data)
        try:
            with self._log.open("a", encoding="utf-8") as log:
                while self.counts.step < self._options.steps:
                    line = self._step(examples)
                    log.write(json.dumps(line) + "\n")
                    log.flush()
                    self._between_steps = True
                    listener.note(f"loss {line['loss']:.3f}")
                    listener.advance(1, 1, Counter())
                    if self.counts.step % self._options.save_every == 0 or self.counts.step == self._options.steps:
                        self._save()
        except KeyboardInterrupt:
            if self.counts.step and self._between_steps:  # not amid a step
                self._save()
            raise
        self._optimizer.eval()  # sets the weights to their averages, the result
        self._model.eval()

    def _step(self, examples: Iterator[dict[str, Any]]) -> dict[str, Any]:
        """Run a step of the optimiser; return its line of the log."""
        import torch

        started = time.monotonic()
        loss, tokens = self._gradients(examples)
        gradients = [weight.grad for weight in self._weights if weight.grad is not None]
        torch._foreach_div_(gradients, tokens)
        norm = float(torch.nn.utils.get_total_norm(gradients))
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise TrainError(
                f"In step {self.counts.step + 1} the loss is no number any more, so the training ends; the checkpoint "
                "before it is kept. Begin anew in another --out with a lower --learning-rate, or with --dtype float32."
            )
        self._between_steps = False
        self._optimizer.step()
        self._optimizer.zero_grad()
        self.counts = Counts(
            step=self.counts.step + 1,
            examples=self.counts.examples + self._options.batch,
            tokens=self.counts.tokens + tokens,
            seconds=self.counts.seconds + time.monotonic() - started,
            first_loss=loss if self.counts.first_loss is None else self.counts.first_loss,
            last_loss=loss,
        )
        self._mark()
        rate = self._optimizer.param_groups[0]["scheduled_lr"]
        return {"step": self.counts.step, "loss": loss, "tokens": tokens, "gradient_norm": norm, "learning_rate": rate}

    def _gradients(self, examples: Iterator[dict[str, Any]]) -> tuple[float, int]:
        """Accumulate the gradients of a step; return the mean loss of a token, and the number of tokens."""
        total, tokens, left = 0.0, 0, self._options.batch
        while left:
            part = list(islice(examples, min(left, self._options.micro_batch)))
            inputs, labels = self._encoder.encode(part)
            with _model_errors():
                loss = self._loss(inputs, labels)
                loss.backward()
            total += float(loss.detach())
            tokens += int((labels[:, 1:] != IGNORED).sum())
            left -= len(part)
        return total / tokens, tokens

    def _loss(self, inputs: dict[str, Any], labels: Any) -> Any:
        """Cross-entropy summed over the labelled tokens."""
        from torch.nn.functional import cross_entropy

        floats = {"device": self._device, "dtype": self._model.dtype}
        moved = {
            name: value.to(**floats) if value.is_floating_point() else value.to(self._device)
            for name, value in inputs.items()
        }
        logits = self._model(**moved, use_cache=False).logits[:, :-1]
        after = labels[:, 1:].to(self._device)
        learned = after != IGNORED
        return cross_entropy(logits[learned].float(), after[learned], reduction="sum")

    def _mark(self) -> None:
        """Record the position in the data and the random states after a whole step."""
        import torch

        self._place = self._data.state_dict()
        self._random = {"cpu": torch.get_rng_state()}
        if self._device.type == "cuda":
            self._random["cuda"] = torch.cuda.get_rng_state(self._device)

    def _save(self) -> None:
        save_checkpoint(
            self._checkpoint,
            model=self._model,
            optimizer=self._optimizer,
            data=self._place,
            random=self._random,
            counts=self.counts,
        )

    def _begin_log(self) -> None:
        """Truncate an earlier run's log to the steps of the checkpoint."""
        lines: list[str] = []
        if self._log.exists():
            with contextlib.suppress(OutputError):  # torn by a crash
                for _, line in iter_json_lines(self._log, OutputError):
                    if len(lines) == self.counts.step or line.get("step") != len(lines) + 1:
                        break
                    lines.append(json.dumps(line) + "\n")
        write_text(self._log, "".join(lines))


@contextlib.contextmanager
def _model_errors() -> Iterator[None]:
    """Turn any exception of a model into one sentence."""
    try:
        yield
    except Exception as error:
        if out_of_memory(error):
            message = (
                "The memory does not suffice for the model and its examples; lower --micro-batch or add "
                "--gradient-checkpointing, and resume from the last checkpoint."
            )
        else:
            message = f"The model fails on these examples ({first_line(error)}); see whether it takes such images."
    else:
        return
    raise TrainError(message)  # out here the error, and with it the memory that it holds, is gone
