"""Two small models that write and judge questions about built-in scenes: real weights, taught here within minutes.

Both are of tests/tinyvlm.py, with smaller pictures. They are taught the language of tests/bloom/known_scenes.py on
pictures whose facts are known: the author to plan scenes, to ask, to offer options and to translate; the judge to see
whether a picture fits, to tell the skill that a question needs, to translate; and both to answer. Before, they look:
they write down what they see of the things that a question names, and answer by what they wrote, as large models think
first. What the judge would say itself is how it judges keys and translations. Neither learns everything, and they err
apart.

    author, judge = teach(AUTHOR, scenes, steps=800), teach(JUDGE, scenes, steps=800, seed=1)

The pipeline asks them through tests/bloom/small_server.py.
"""

import io
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from tests import tinyvlm
from tests.bloom import known_scenes as known
from vcrgen.bloom.taxonomy import default_taxonomy
from vcrgen.samples.facts import Facts
from vcrgen.samples.pairs import caption, picture, scene_and_facts

SIDE = 64  # of pictures, in pixels
BATCH = 32  # lessons a step
CUT = " | "
_SCENE, _WITH, _AND = "a picture of the kind ", " with the ", " and the "
_WORD = re.compile(r"[a-z]{3,}")
PATHS = default_taxonomy().paths


class KnownScene(NamedTuple):
    """A picture whose facts are known."""

    kind: str
    facts: Facts
    caption: str
    picture: bytes


def known_pictures(count: int) -> list[KnownScene]:
    """The pictures of `samples:COUNT`, with their facts."""
    found = (scene_and_facts(index) for index in range(count))
    return [
        KnownScene(scene.kind, facts, caption("en", index), picture(index))
        for index, (scene, facts) in enumerate(found)
    ]


class Lesson(NamedTuple):
    """A question about a picture, or about a text alone, and the right answer."""

    picture: int | None
    asked: str
    answer: str


# ---------------------------------------------------------------------------------------------------------- lessons

# What is harder comes more often.
AUTHOR = (
    *("ask", "look", "options", "answer", "arabic", "note", "look"),
    *("ask", "look", "options", "answer", "arabic", "note", "scene"),
)
JUDGE = ("look", "arabic", "answer", "look", "fit", "note", "look", "arabic", "answer", "skill", "note")
_ELSEWHERE = 0.25  # share of the questions that are put to another picture


class Lessons:
    """Draws what the models are taught, of some pictures and leaves."""

    def __init__(self, scenes: Sequence[KnownScene], paths: Sequence[str] = PATHS) -> None:
        self._scenes = scenes
        self._levels: dict[str, list[str]] = {}
        for path in paths:
            self._levels.setdefault(path.partition("/")[0], []).append(path)
        self._rng = random.Random(1)
        by_kind: dict[str, Counter[str]] = {}
        for scene in scenes:
            by_kind.setdefault(scene.kind, Counter()).update(set(_WORD.findall(scene.caption.lower())))
        everywhere = sum(by_kind.values(), Counter[str]())
        self._keywords = {
            kind: sorted(words, key=lambda word: (-(words[word] ** 2) / everywhere[word], word))[:8]
            for kind, words in by_kind.items()
        }

    def _path(self) -> str:
        """A leaf; each level as often, however many leaves it has."""
        return self._rng.choice(self._levels[self._rng.choice(list(self._levels))])

    def phrases(self) -> list[str]:
        """Of which lessons are put together, beside those of the language."""
        kinds = [kind.replace("_", " ") for kind in self._keywords]
        words = sorted({word for words in self._keywords.values() for word in words})
        leaves = [path.partition("/")[2] for paths in self._levels.values() for path in paths]
        levels = [f"{level}/" for level in self._levels]
        names = [f"{name}: " for name in dict.fromkeys((*AUTHOR, *JUDGE))]
        return [*names, *levels, *leaves, *kinds, *words, _SCENE, _WITH, _AND]

    def _known(self, path: str) -> tuple[int, known.Question]:
        while True:
            number = self._rng.randrange(len(self._scenes))
            scene = self._scenes[number]
            if question := known.ask(path, scene.kind, scene.facts, self._rng):
                return number, question

    def _any(self) -> tuple[int, str, known.Question]:
        path = self._path()
        number, question = self._known(path)
        return number, path, question

    def _planned(self, path: str) -> tuple[str, str]:
        kind = self._rng.choice([kind for kind in self._keywords if known.suits(path, kind)])
        one, two = (part.en for part in self._rng.sample(known.PARTS[kind], 2))
        return kind, f"{_SCENE}{kind.replace('_', ' ')}{_WITH}{one}{_AND}{two}"

    def scene(self) -> Lesson:
        path = self._path()
        kind, text = self._planned(path)
        words = self._rng.sample(self._keywords[kind], min(3, len(self._keywords[kind])))
        return Lesson(None, f"scene: {path}", CUT.join((text, *words)))

    def ask(self) -> Lesson:
        number, path, question = self._any()
        return Lesson(number, f"ask: {path}", question.text)

    def options(self) -> Lesson:
        _, _, question = self._any()
        return Lesson(None, f"options: {question.text}{CUT}{question.options[0]}", CUT.join(question.options))

    def arabic(self) -> Lesson:
        _, _, question = self._any()
        text = self._rng.choice((*[question.text] * 4, *question.options))
        return Lesson(None, f"arabic: {text}", known.in_arabic(text) or "")

    def fit(self) -> Lesson:
        path = self._path()
        number = self._rng.randrange(len(self._scenes))
        kind, text = self._planned(path)
        there = self._scenes[number].kind
        fitness = 5 if there == kind else 4 if known.suits(path, there) else 2
        return Lesson(number, f"fit: {path}: {text}", str(fitness))

    def _asked(self) -> tuple[int, KnownScene, str]:
        number, _, question = self._any()
        if self._rng.random() < _ELSEWHERE:
            number = self._rng.randrange(len(self._scenes))
        return number, self._scenes[number], question.text

    def look(self) -> Lesson:
        number, scene, text = self._asked()
        return Lesson(number, f"look: {text}", known.seen(scene.kind, scene.facts, text))

    def answer(self) -> Lesson:
        _, scene, text = self._asked()
        seen = known.seen(scene.kind, scene.facts, text)
        return Lesson(
            None, f"answer: {text}{CUT}{seen}", known.right_answer(scene.kind, scene.facts, text) or known.NOTHING
        )

    def note(self) -> Lesson:
        """Return a lesson on a note that is right or wrong, equally often: comparison needs many lessons."""
        path = self._rng.choice(self._levels["evaluate"])
        is_right = self._rng.random() < 0.5
        while True:
            number, question = self._known(path)
            if question.options[0].endswith(known.RIGHT) == is_right:
                seen = known.seen(self._scenes[number].kind, self._scenes[number].facts, question.text)
                return Lesson(None, f"answer: {question.text}{CUT}{seen}", question.options[0])

    def skill(self) -> Lesson:
        _, _, question = self._any()
        words = question.text.split()
        if self._rng.random() < 0.3:
            at = self._rng.randrange(1, len(words) - 1)
            del words[at : at + self._rng.randint(2, 4)]
        text = " ".join(words)
        return Lesson(None, f"skill: {text}", known.level_of(text) or "none")


# ------------------------------------------------------------------------------------------------------- the models


class Job(NamedTuple):
    """One thing that a model is to do."""

    asked: str
    picture: Any = None  # as the model sees it
    options: tuple[str, ...] = ()  # to have their log-probabilities, without a picture; otherwise the model writes
    seed: int | None = None  # of what is drawn by lot; None: always the likeliest
    heat: float = 1.0


class SmallModel:
    """A model with what is needed to ask it many things at a time."""

    def __init__(self, model: Any, processor: Any) -> None:
        self.model, self.processor = model, processor
        self._tokens = processor.tokenizer
        self.pad, self.end = (self._tokens.convert_tokens_to_ids(token) for token in (tinyvlm.PAD, tinyvlm.EOS))

    def see(self, pictures: Sequence[bytes]) -> Any:
        """Pictures as the model sees them."""
        opened = [Image.open(io.BytesIO(data)).convert("RGB") for data in pictures]
        return self.processor.image_processor(opened, return_tensors="pt")["pixel_values"]

    def ids(self, asked: str, *, picture: bool) -> list[int]:
        """A user's message, up to where the model begins."""
        image = tinyvlm.IMAGE * (SIDE // tinyvlm.PATCH) ** 2 if picture else ""
        return self.words(f"{tinyvlm.BOS}{tinyvlm.USER}{image}{asked}{tinyvlm.END_OF_USER}{tinyvlm.BOT}")

    def words(self, text: str) -> list[int]:
        """A text in tokens."""
        return list(self._tokens.encode(text, add_special_tokens=False))

    def inputs(self, rows: Sequence[Sequence[int]], pictures: Any = None, *, left: bool = False) -> dict[str, Any]:
        """Return the model's inputs for rows of tokens, padded at one side."""
        import torch

        most = max(map(len, rows))
        fill = [(([self.pad] * (most - len(row))), list(row)) for row in rows]
        ids = [[*pad, *row] if left else [*row, *pad] for pad, row in fill]
        mask = [[0] * len(pad) + [1] * len(row) if left else [1] * len(row) + [0] * len(pad) for pad, row in fill]
        return {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask), "pixel_values": pictures}

    def loss(self, asked: Sequence[list[int]], answers: Sequence[list[int]], pictures: Any = None) -> Any:
        """Return the cross-entropy of the answers, by token."""
        import torch

        inputs = self.inputs([[*one, *answer] for one, answer in zip(asked, answers, strict=True)], pictures)
        seen = self.model.model(**inputs, use_cache=False).last_hidden_state
        places = [
            (row, len(one) + at)
            for row, (one, answer) in enumerate(zip(asked, answers, strict=True))
            for at in range(len(answer))
        ]
        row, at = torch.tensor(places).T
        # Words are looked for only where there is an answer: the vocabulary is the larger part of the work.
        said = self.model.lm_head(seen[row, at - 1])
        return torch.nn.functional.cross_entropy(said, inputs["input_ids"][row, at])

    def write(self, jobs: Sequence[Job], limit: int = 120) -> list[tuple[str, int, int]]:
        """Generate texts, with the tokens read and written; all jobs with a picture, or all without."""
        import torch

        seen = torch.stack([job.picture for job in jobs]) if jobs[0].picture is not None else None
        rows = [self.ids(job.asked, picture=seen is not None) for job in jobs]
        draws = [random.Random(job.seed) for job in jobs]
        written: list[list[int]] = [[] for _ in jobs]
        open_rows = set(range(len(jobs)))
        with torch.inference_mode():
            inputs = self.inputs(rows, seen, left=True)
            mask = inputs["attention_mask"]
            out = self.model(**inputs, use_cache=True)
            for _ in range(limit):
                chances = out.logits[:, -1].float()
                chosen = []
                for at, job in enumerate(jobs):
                    if job.seed is None:
                        chosen.append(int(chances[at].argmax()))
                    else:
                        shares = torch.softmax(chances[at] / job.heat, -1).cumsum(-1)
                        place = int(torch.searchsorted(shares, draws[at].random() * float(shares[-1])))
                        chosen.append(min(place, len(shares) - 1))
                for at in sorted(open_rows):
                    if chosen[at] == self.end:
                        open_rows.remove(at)
                    else:
                        written[at].append(chosen[at])
                if not open_rows:
                    break
                mask = torch.cat([mask, torch.ones(len(jobs), 1, dtype=mask.dtype)], 1)
                out = self.model(
                    input_ids=torch.tensor(chosen)[:, None],
                    attention_mask=mask,
                    past_key_values=out.past_key_values,
                    use_cache=True,
                )
        return [
            (self._tokens.decode(row, skip_special_tokens=True), len(asked), len(row))
            for asked, row in zip(rows, written, strict=True)
        ]

    def likelihoods(self, job: Job) -> list[float]:
        """Log-probability of each option as the whole answer."""
        import torch

        asked = self.ids(job.asked, picture=False)
        answers = [[*self.words(option), self.end] for option in job.options]
        with torch.inference_mode():
            out = self.model(**self.inputs([[*asked, *answer] for answer in answers]), use_cache=False)
            logs = torch.log_softmax(out.logits.float(), -1)
        return [
            sum(float(logs[row, len(asked) + at - 1, token]) for at, token in enumerate(answer))
            for row, answer in enumerate(answers)
        ]


def teach(
    course: Sequence[str],
    scenes: Sequence[KnownScene],
    *,
    steps: int,
    seed: int = 0,
    paths: Sequence[str] = PATHS,
    progress: Callable[[int, dict[str, float]], None] | None = None,
    every: int = 100,
) -> SmallModel:
    """Make a model and teach it what an author or a judge has to know; the same arguments give the same weights.

    Args:
        course: Names of lessons, taken in turns, such as ``AUTHOR`` or ``JUDGE``.
        scenes: Pictures that it is to know.
        steps: How often the weights are changed.
        seed: Of its first weights.
        paths: Leaves that it is to know.
        progress: Told of the last losses, by lesson.
        every: After so many steps.
    """
    import torch

    torch.set_num_threads(1)  # with more of them, sums come out otherwise
    lessons = Lessons(scenes, paths)
    kinds = [getattr(lessons, name) for name in course]
    texts = [kind().asked for kind in kinds for _ in range(50)]
    phrases = dict.fromkeys((*known.phrases(), *lessons.phrases()))
    model, processor = tinyvlm.make(texts, seed=seed, side=SIDE, phrases=list(phrases))
    small = SmallModel(model, processor)
    with torch.no_grad():  # so small a model learns several times as fast from larger weights
        for name, weights in model.named_parameters():
            if weights.dim() == 2 and "language_model" in name:
                weights.mul_(4)
    seen = torch.cat([small.see([scene.picture]) for scene in scenes])
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=steps, pct_start=0.1)
    model.train()
    losses: dict[str, float] = {}
    for step in range(steps):
        kind = kinds[step % len(kinds)]
        batch = [kind() for _ in range(BATCH)]
        pictures = seen[[lesson.picture for lesson in batch]] if batch[0].picture is not None else None
        asked = [small.ids(lesson.asked, picture=pictures is not None) for lesson in batch]
        loss = small.loss(asked, [[*small.words(lesson.answer), small.end] for lesson in batch], pictures)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
        losses[kind.__name__] = float(loss.detach())
        if progress and (step + 1) % every == 0:
            progress(step + 1, losses)
    model.eval()
    return small


def save(small: SmallModel, folder: Path) -> None:
    """Write a model as published ones are."""
    tinyvlm.save(small.model, small.processor, folder)


def load(folder: Path) -> SmallModel:
    """Read what :func:`save` wrote."""
    from transformers import AutoModelForImageTextToText, AutoProcessor

    return SmallModel(AutoModelForImageTextToText.from_pretrained(folder), AutoProcessor.from_pretrained(folder))
