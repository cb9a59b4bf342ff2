"""A server of the models of tests/bloom/small_model.py for the prompts of the pipeline.

    with FaultServer(SmallServer({"author": author, "judge": judge}).answer) as server:
        ...

It adds the protocol only: it finds the stage and its values in the prompt, and puts the words that the model
writes into the JSON that is asked for.
"""

import asyncio
import base64
import json
import math
import queue
import re
import threading
from concurrent.futures import Future
from typing import Any

from tests.bloom.author import read_prompt
from tests.bloom.known_scenes import FORMS, NOTHING
from tests.bloom.small_model import CUT, Job, SmallModel
from tests.models.fault_server import Answer, Call

_TOGETHER = 32  # jobs done at a time
_LOOKS = 2  # at a picture: a judge that does not see the same each time says that it does not show what is asked about
# What the judge itself would say of an option or a translation at least, as a probability, to take it for right.
_LEAST_RIGHT, _LEAST_KEY, _LEAST_SAME = (math.log(chance) for chance in (0.1, 0.3, 0.05))


class SmallServer:
    """Answers the pipeline's prompts with what small models say; give :attr:`answer` to a FaultServer.

    Args:
        models: By the name under which they are asked.

    Attributes:
        log: Of each call the stage, the values in the prompt, the picture's bytes, and what was said.
    """

    def __init__(self, models: dict[str, SmallModel]) -> None:
        self._models = models
        self.log: list[tuple[str, dict[str, str], bytes, Any]] = []
        self._waiting: queue.Queue[tuple[str, Job, Future[Any]]] = queue.Queue()
        threading.Thread(target=self._work, daemon=True).start()

    async def answer(self, call: Call) -> Answer:
        """Answer a call."""
        asked = _Asked(self, call)
        stage, values = read_prompt(asked.text)
        said = await getattr(asked, stage)(**values)
        self.log.append((stage, values, asked.data, said))
        usage = {"prompt_tokens": asked.tokens - asked.written, "completion_tokens": asked.written}
        return Answer(text=json.dumps(said, ensure_ascii=False), more={"usage": usage | {"total_tokens": asked.tokens}})

    def send(self, name: str, job: Job) -> Future[Any]:
        """Have a model do something; jobs of the same kind that wait are done together."""
        done: Future[Any] = Future()
        self._waiting.put((name, job, done))
        return done

    def see(self, name: str, picture: bytes) -> Any:
        """A picture as a model sees it."""
        return self._models[name].see([picture])[0]

    def _work(self) -> None:
        import torch

        torch.set_num_threads(1)
        put_off: list[tuple[str, Job, Future[Any]]] = []
        while True:
            jobs = put_off or [self._waiting.get()]
            while not self._waiting.empty():
                jobs.append(self._waiting.get_nowait())
            kind = _kind(*jobs[0][:2])
            now = [job for job in jobs if _kind(*job[:2]) == kind][: 1 if jobs[0][1].options else _TOGETHER]
            put_off = [job for job in jobs if not any(job is other for other in now)]
            model = self._models[jobs[0][0]]
            try:
                if jobs[0][1].options:
                    now[0][2].set_result(model.likelihoods(now[0][1]))
                else:
                    for (_, _, done), result in zip(now, model.write([job for _, job, _ in now]), strict=True):
                        done.set_result(result)
            except Exception as error:
                for _, _, done in now:
                    done.set_exception(error)


def _kind(name: str, job: Job) -> tuple[str, bool, bool]:
    return name, job.picture is not None, bool(job.options)


class _Asked:
    """One call on its way through a model; a method for each stage."""

    def __init__(self, server: SmallServer, call: Call) -> None:
        self._server, self._model = server, call.body["model"]
        self._seed = int(call.digest[:12], 16)
        self.text, self.data, self._picture = "", b"", None
        self.tokens = self.written = 0
        for part in call.body["messages"][0]["content"]:
            if part["type"] == "text":
                self.text = part["text"]
            else:
                self.data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
                self._picture = server.see(self._model, self.data)

    async def _write(self, asked: str, *, picture: bool = True, draw: int | None = None, heat: float = 1.0) -> str:
        """Generate a text, sampled with a seed that follows from the call."""
        seed = None if draw is None else self._seed + draw
        job = Job(asked, self._picture if picture else None, seed=seed, heat=heat)
        text, read, written = await asyncio.wrap_future(self._server.send(self._model, job))
        self.tokens += read + written
        self.written += written
        return str(text)

    async def _likely(self, asked: str, *options: str) -> list[float]:
        """The log-probability of each option as what the model would say, who is not shown the picture again."""
        job = Job(asked, options=options)
        chances: list[float] = await asyncio.wrap_future(self._server.send(self._model, job))
        self.tokens += 1
        self.written += 1
        return chances

    async def scenario(self, level: str, subcategory: str, leaf: str, count: str, **_: str) -> Any:
        asked = f"scene: {level}/{subcategory}/{leaf}"
        plans = await asyncio.gather(*(self._write(asked, draw=at) for at in range(int(count))))
        cut = [plan.split(CUT) for plan in plans]
        return {"scenarios": [{"scenario": text, "keywords": words} for text, *words in cut]}

    async def fitness(self, level: str, subcategory: str, leaf: str, scenario: str, **_: str) -> Any:
        said = await self._write(f"fit: {level}/{subcategory}/{leaf}: {scenario}")
        return {"fitness": int(said) if said.isdigit() else said}

    async def question(self, level: str, subcategory: str, leaf: str, **_: str) -> Any:
        text = await self._write(f"ask: {level}/{subcategory}/{leaf}", draw=0, heat=0.6)
        return {"question": text, "answer": await self._write(await self._thought(text), picture=False)}

    async def _thought(self, question: str) -> str:
        """A question with what the model sees in the picture of what is asked about; so it has to be answered."""
        return f"answer: {question}{CUT}{await self._write(f'look: {question}')}"

    async def options(self, question: str, answer: str, **_: str) -> Any:
        asked = f"options: {question}{CUT}{answer}"
        drawn = [
            text.split(CUT)
            for text in await asyncio.gather(*(self._write(asked, picture=False, draw=at, heat=0.8) for at in range(4)))
        ]
        right, *others = next((options for options in drawn if len(options) == len(set(options)) == 4), drawn[0])
        return {"right": right, "trap": others[0] if others else "", "wrong": others[1:]}

    async def translation(self, question: str, options: str, **_: str) -> Any:
        texts = [question, *json.loads(options)]
        first, *rest = await asyncio.gather(*(self._write(f"arabic: {text}", picture=False) for text in texts))
        return {"question": first, "options": rest}

    async def answer(self, question: str, options: str, **_: str) -> Any:
        texts = [line[3:] for line in options.splitlines()]
        chances = await self._likely(await self._thought(question), *texts)
        best = max(range(len(texts)), key=chances.__getitem__)
        return {"answer": "ABCD"[best] if chances[best] > _LEAST_RIGHT else "none"}

    async def verdict(self, level: str, item: str, key: str, **_: str) -> Any:
        blocks = [dict(re.findall(r"^(\[\w+\]|[A-D]\)) (.*)$", block, re.MULTILINE)) for block in item.split("\n\n")]
        english, *others = (next(iter(block.values())) for block in blocks)
        skill, seen, *others_seen = await asyncio.gather(
            self._write(f"skill: {english}", picture=False),
            *(self._write(f"look: {english}", draw=at) for at in range(_LOOKS)),
        )
        (keyed,), *same = await asyncio.gather(
            self._likely(f"answer: {english}{CUT}{seen}", blocks[0][f"{key})"]),
            *(self._likely(f"arabic: {english}", text) for text in others),
        )
        return {
            "picture": {seen} == {*others_seen} and NOTHING not in seen,
            "question": skill in FORMS,
            "category": skill == level,  # all that it was taught of categories
            "options": keyed > _LEAST_KEY,
            "translation": all(chances[0] > _LEAST_SAME for chances in same),
        }
