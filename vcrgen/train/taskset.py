"""VCR as a taskset of verifiers that has no end: a stream, the reward, and one request a rollout.

verifiers finds it by the module name ``vcrgen_env`` (``vf-eval vcrgen-env``), which the wheel has beside the package.
"""

import base64
import io
from collections.abc import Iterator
from typing import Any, Literal

import httpx2
import verifiers.v1 as vf
from PIL import Image
from verifiers.v1.dialects.chat import message_to_wire

from vcrgen.builder.stream import VCRStream, answer_text
from vcrgen.train.rewards import Restoration, loaded_reward

_TIMEOUT = 600  # seconds of a request; the environment has limits of its own


class VCRData(vf.TaskData):
    """A picture with what is asked about it, and the masked texts in reading order."""

    answers: list[str]
    lang: str


class VCRTask(vf.Task[VCRData]):
    """Scored by `restoration`; exact match and Jaccard are recorded beside it."""

    @property
    def key(self) -> str:
        """The pair and its epoch: the default would change with the task's place."""
        return str(self.data.id)

    @vf.reward(weight=1.0)
    async def restoration(self, trace: vf.Trace) -> float:
        """The reward of the last reply."""
        return self._reward.of(self.data.answers, trace.last_reply)

    @vf.metric
    async def board(self, trace: vf.Trace) -> dict[str, float]:
        """What a board would show."""
        return self._reward.metrics(self.data.answers, trace.last_reply)

    async def validate(self, runtime: vf.Runtime) -> bool:
        """Whether the right answer is worth 1, and none is worth nothing."""
        return (
            self._reward.of(self.data.answers, answer_text({"answers": self.data.answers})),
            self._reward.of(self.data.answers, ""),
        ) == (1, 0)

    @property
    def _reward(self) -> Restoration:
        return loaded_reward(self.data.lang)


class VCRTasksetConfig(vf.TasksetConfig):
    """Options of the stream, as ``--env.taskset.source pairs.parquet``."""

    source: str = "samples"
    lang: str = "en"
    mode: str | None = None
    ink: float | None = None
    cover: str = "rows"
    view: Literal["stacked", "tei", "strip"] = "stacked"
    width: int = 300
    seed: int = 0
    image: Literal["png", "jpeg"] = "png"


class VCRTaskset(vf.Taskset[VCRTask, VCRTasksetConfig]):
    """The examples of a stream, in the same order every time."""

    INFINITE = True

    def load(self) -> Iterator[VCRTask]:
        """The tasks, from the stream's beginning."""
        config = self.config
        names = ("lang", "mode", "ink", "cover", "width", "seed")
        fields = {name: getattr(config, name) for name in names}
        stream = VCRStream(config.source, **fields, views=(config.view,), rank=0, world_size=1)
        for example in stream:
            content: list[dict[str, Any]] = [
                {"type": "image_url", "image_url": {"url": data_url(example["image"], config.image)}},
                {"type": "text", "text": example["question"]},
            ]
            data = VCRData(
                id=f"{example['question_id']}-{example['epoch']}",
                prompt=[vf.UserMessage(content=content)],
                answers=example["answers"],
                lang=config.lang,
            )
            yield VCRTask(data, config.task)


class VCRHarness(vf.Harness[vf.HarnessConfig]):
    """Asks once, from the process of the environment: no shell, no tools, nothing to install."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
        **_: Any,
    ) -> vf.ProgramResult:
        """Send the task's messages to the model."""
        system, prompt = self.resolve_prompt(data)
        said = prompt if isinstance(prompt, list) else [vf.UserMessage(content=prompt or "")]
        messages = [message_to_wire(message) for message in said]
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
        async with httpx2.AsyncClient(timeout=_TIMEOUT) as client:
            reply = await client.post(
                f"{endpoint}/chat/completions",
                json={"model": ctx.model, "messages": messages},
                headers={"Authorization": f"Bearer {secret}"},
            )
        failed = reply.status_code >= 400
        return vf.ProgramResult(int(failed), "", reply.text[:1000] if failed else "")


class VCREnvConfig(vf.SingleAgentEnvConfig):
    """One turn in this process; by default a shell agent would answer in a sandbox of a cloud."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig(), max_turns=1)


class VCREnv(vf.SingleAgentEnv, vf.Env[VCREnvConfig]):
    """The environment of the taskset."""


def data_url(pixels: Any, kind: str) -> str:
    """A picture as ``png``, quickly packed, or as ``jpeg`` of quality 95, in a data URL."""
    file = io.BytesIO()
    options: dict[str, Any] = {"compress_level": 1} if kind == "png" else {"quality": 95}
    Image.fromarray(pixels).save(file, kind, **options)
    return f"data:image/{kind};base64,{base64.b64encode(file.getvalue()).decode()}"
