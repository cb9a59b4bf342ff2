"""MCQ benchmarks: the built-in maker, how answers are read, scores."""

import io
import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.golden.bench import Bench, digest, golden, lines, short
from tests.golden.hidden import secret_file

# What outputs to questions of four options are put together of.
CHOICE_PIECES = (
    *("A", "b", "C", "d", "2", "4", "٣", "ب", "(B)", "c)", "A.", "**D**", "\\boxed{C}", "a dog", "A cow", "horse"),
    *("Answer:", "the answer is", "الإجابة:", "option", "correct choice:", "not", "or", "and", ",", "/", "\n", "\n\n"),
    *("because", "I think", "is right", "sorry", "<think>B</think>", "It is", "لا أستطيع", "الخيار"),
)
# One of each rule of the grammar.
CHOICE_SENTENCES = (
    *(
        "I'd go with A.",
        "A rather than B",
        "أ بدلا من ب",
        "I would choose A rather than B.",
        "We can rule out B. So A.",
        "A is less likely than B.",
    ),
    *("Answer: A. No, wait: B", "The answer is A. Answer B is wrong.", "It could be B, but I think it is A."),
    *("A and B are wrong.", "A, B and D are wrong.", "I can't tell whether the answer is A.", "The second option."),
    *("A. a cat\nB. a dog\nC. a horse\nD. a cow\n\nI think B", "I cannot say. A and B", "Is it A? No. Is it B? Yes."),
    *("All but B are wrong.", "الخيار الثاني", "ليس أ بل ب", "أختار ب بدلا من أ.", "لا أستطيع تحديد ب"),
)


@golden("choices")
def choices(bench: Bench) -> Any:
    """Readings of outputs made of all kinds of pieces, and scores of drawn likelihoods."""
    from vcrgen.data.tasks.bloom import LETTERS
    from vcrgen.scorer.mcq.choices import PUBLISHED, RULES, read_choice
    from vcrgen.scorer.mcq.item import ItemResponse, RequestedMetrics, score_item

    options, draws = ("a cat", "a dog", "a horse", "a cow"), random.Random(15)
    outputs = [
        *CHOICE_PIECES,
        *CHOICE_SENTENCES,
        *(" ".join(draws.choices(CHOICE_PIECES, k=draws.randrange(2, 6))) for _ in range(200)),
    ]

    def read(output: str, rotation: int, protocol: str) -> str:
        choice, kind = read_choice(output, options, rotation=rotation, protocol=protocol)
        return kind.value if choice is None else LETTERS[choice]

    def drawn() -> tuple[tuple[float, ...], ...]:
        return tuple(tuple(-draws.random() for _ in range(draws.randrange(1, 6))) for _ in range(4))

    asked, scores = (
        RequestedMetrics(outputs=True, rotations=True, logprobs=True, text_only=True, label_logprobs=True),
        [],
    )
    for number in range(60):
        logprobs, answer = drawn() if number else ((-1.0,),) * 4, number // 3 % 4
        blind = tuple(tuple(value - draws.random() for value in tokens) for tokens in logprobs)
        letters = tuple(-draws.random() for _ in range(4))
        said = [ItemResponse(LETTERS[(number - r) % 4], r, None if r else logprobs, letters) for r in range(4)]
        scored = score_item(
            ("قطة", "cat", "بقرة", "cows"), answer, said, requested=asked, trap=(answer + 1) % 4, text_only=blind
        )
        scores.append(" ".join(f"{value:.4g}" for value in scored.scores))
    ways = ((0, RULES), (1, RULES), (0, PUBLISHED))
    return {
        "readings": {repr(output): " ".join(read(output, *way) for way in ways) for output in outputs},
        "scores": scores,
    }


@golden("questions")
def questions(bench: Bench) -> Any:
    """Built-in questions: one of every category, the digest of a thousand; and one hidden by a fixed secret."""
    from vcrgen.bloom.options import BloomSceneOptions
    from vcrgen.bloom.rejects import RejectLog
    from vcrgen.bloom.scenes.generator import generate_scene_items
    from vcrgen.core.files import canonical_json
    from vcrgen.data.tasks.bloom import item_of
    from vcrgen.hidden.mcq import hidden_item
    from vcrgen.hidden.secret import load_secret

    rows = [row for _, few in generate_scene_items(BloomSceneOptions(items=1000), RejectLog()) for row in few]
    first = {row["path"]: row for row in reversed(rows)}
    texts = {
        category: {
            name: [row[f"question_{name}"], *row[f"options_{name}"]] if name in ("en", "ar") else row[name]
            for name in ("question_id", "en", "ar", "answer", "trap")
        }
        for category, row in sorted(first.items())
    }
    secret = load_secret(secret_file(bench), create=False)
    line = hidden_item(item_of(rows[0], ("en", "ar")), secret)
    return {
        "items": texts,
        "digest": digest(canonical_json(rows).encode()),
        "hidden": line,
        "reader": reader(rows[:320]),
    }


def reader(rows: list[Any]) -> dict[str, str]:
    """Findings of the reader without pictures where in two of five items the right option has one word more."""
    from dataclasses import replace

    from vcrgen.data.tasks.bloom import ChoiceQuestion, item_of
    from vcrgen.data.tasks.text_reader import read_without_pictures

    items = [replace(item_of(row, ("en",)), picture=str(number // 2)) for number, row in enumerate(rows)]
    for number, item in enumerate(items):
        stem, options = item.questions["en"]
        told = tuple(
            f"{text} indeed" if at == item.answer and number % 5 < 2 else text for at, text in enumerate(options)
        )
        items[number] = replace(item, questions={"en": ChoiceQuestion(stem, told)})
    return {
        figure.category or "all": f"{figure.right:.3f} of {figure.items}, shortcut from {figure.limit:.3f}: "
        f"{figure.is_shortcut}"
        for figure in read_without_pictures(items)
    }


SPANISH = ("una casa de piedra", "un árbol alto", "un muro bajo", "un banco de madera")
# Items of which one thing is wrong: what it is, and the texts that are other ones than those of a good item.
ITEM_EN = ("What stands left of the red boat?", "a stone house", "a tall tree", "a small wall", "a wooden bench")
ITEM_AR = ("ماذا يوجد على يسار القارب الأحمر؟", "بيت حجري", "شجرة طويلة", "جدار صغير", "مقعد خشبي")
FLAWS: dict[str, tuple[dict[int, str], dict[int, str]]] = {
    "nothing": ({}, {}),
    "wrong script": ({}, {0: ITEM_EN[0]}),
    "an option in the wrong script": ({}, {4: ITEM_EN[4]}),
    "a number added": ({}, {0: f"{ITEM_AR[0]} ٧"}),
    "a number changed": ({1: "3 stone houses"}, {1: "أربعة بيوت حجرية"}),
    "another word of a number": ({1: "three houses"}, {1: "أربعة بيوت"}),
    "equal options": ({2: "A Stone  House"}, {}),
    "equal options but for case": ({2: "A Stone House"}, {}),
    "markup": ({1: "<b>a house</b>"}, {}),
    "a control character": ({1: "a stone\u202e house"}, {}),
    "pointing at options": ({0: "Which of the following is there?"}, {}),
    "a number beside words": ({1: "7"}, {1: "٧"}),
    "a sentence beside words": ({1: "a stone house."}, {1: "بيت حجري."}),
    "a long option": ({1: "a house of stone that stands at the end of the road"}, {}),
    "words of a prompt": ({0: "Write one JSON object and nothing before it: what?"}, {}),
}
# Replies to one request, one after another.
REPLIES = {
    "good": ('{"fitness": 4}',),
    "fenced": ('```json\n{"fitness": 5}\n```',),
    "good at last": ("I cannot.", '{"fitness": "4"}', '{"fitness": 2}'),
    "never good": ('{"fitness": 6}', '{"fitness": 4', '{"fitness": true}', '{"fitness": 4}'),
    "truncated": ("length", "length", "length"),
    "filtered": ("content_filter",),
}
# What a judge says of an item whose key is B.
_PASSES = '{"picture": true, "question": true'
VERDICTS = {
    "right and good": ('{"answer": "B"}', _PASSES + ', "category": true, "options": true, "translation": true}'),
    "right and bad": ('{"answer": "B"}', _PASSES + ', "category": true, "options": true, "translation": false}'),
    "right, elsewhere": ('{"answer": "B"}', _PASSES + ', "category": false, "options": true, "translation": true}'),
    "another one": ('{"answer": "C"}',),
    "none": ('{"answer": "none"}',),
    "no verdict": ('{"answer": "B"}', *(_PASSES + "}",) * 3),
}


def flawed_item(en: dict[int, str], ar: dict[int, str]) -> dict[str, Any]:
    """A good item, but for the texts that are given by their place."""
    from vcrgen.data.tasks.bloom import ChoiceQuestion

    texts = {
        lang: [own.get(at, text) for at, text in enumerate(good)]
        for lang, good, own in (("en", ITEM_EN, en), ("ar", ITEM_AR, ar))
    }
    return {lang: ChoiceQuestion(stem, tuple(options)) for lang, (stem, *options) in texts.items()}


def checked(call: Any, *args: Any) -> str:
    """Return the result of a call, or the reason of a rejected item."""
    from vcrgen.bloom.rejects import ItemRejected

    try:
        return str(call(*args))
    except ItemRejected as dropped:
        return f"{dropped.stage}, {dropped.reason.value}: {dropped.detail}"


def replied(steps: Any, replies: Any) -> str:
    """Return the requests of a stage, and its result for these replies."""
    from vcrgen.bloom.rejects import ItemRejected
    from vcrgen.models.base import Reply

    asked, left = [], list(replies)
    try:
        request = next(steps)
        while True:
            asked.append(f"{request.stage} {request.role}")
            said = left.pop(0)
            cut = said in ("length", "content_filter")
            request = steps.send(Reply(text="" if cut else said, model="M", finish_reason=said if cut else "stop"))
    except StopIteration as stop:
        return f"{', '.join(asked)}: {stop.value}"
    except ItemRejected as dropped:
        return f"{', '.join(asked)}: {dropped.reason.value} {dropped.detail}"


@golden("making")
def making(bench: Bench) -> Any:
    """Generated items: each validator, replies of the wrong form, the judge, requests for images."""
    from vcrgen.bloom.generation import stages
    from vcrgen.bloom.generation.deduplication import longest_keys, near_duplicates
    from vcrgen.bloom.generation.generated_pictures import GeneratedPictures, PictureFolder
    from vcrgen.bloom.generation.item_checks import check_item
    from vcrgen.bloom.generation.item_records import GeneratedItem, ItemSlot, Scenario
    from vcrgen.bloom.generation.item_slots import assign_slots
    from vcrgen.bloom.generation.source_pictures import PictureSource
    from vcrgen.bloom.options import BloomGenerationOptions
    from vcrgen.bloom.taxonomy import Taxonomy
    from vcrgen.data.tasks.bloom import ChoiceQuestion
    from vcrgen.models.address import parse_address
    from vcrgen.models.image_generation import encode_request

    path, scene = "apply/a/b", Scenario(text="a boat", keywords=("boat",))
    lengths: Any = [
        GeneratedItem(
            slot=SimpleNamespace(name=f"item-{at}"),
            picture=None,
            answer=0,
            trap=1,
            votes=(True,),  # type: ignore[arg-type]
            questions={
                "en": ChoiceQuestion("?", ("long" if at < 6 else "a", "tall" if at % 3 == 0 else "b", "c", "d"))
            },
        )
        for at in range(12)
    ]
    words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    options = BloomGenerationOptions(model="M", image_model="I", offline=True, image_param=('size="9x9"',))
    place = ItemSlot(name="leaf-001-0001", path=path, number=0, theme="anywhere")
    offers = GeneratedPictures(options, PictureFolder(Path("ledger"))).offer(0, [(place, scene)])[0]
    asked: list[Any] = [next(offer) for offer in offers]
    local = BloomGenerationOptions(model="M", source="samples:40", pictures=2, offline=True)
    source = PictureSource(local, io.BytesIO(), categories=3, slots=12)
    scenes = [Scenario(text="", keywords=(word, "street")) for word in ("boat", "cat", "street")] * 3
    categories = Taxonomy(paths=tuple(f"apply/a/{number}" for number in range(11)))
    address = parse_address("http://h/v1", "I")
    flawless = flawed_item({}, {})
    mixed = {"en": flawless["en"], "es": flawless["en"]._replace(options=SPANISH)}
    return {
        "pictures": [
            [one.stage, one.role, one.request.id, encode_request(one.request, address, "I").decode()] for one in asked
        ],
        "validators": {name: checked(check_item, flawed_item(*own), "here") for name, own in FLAWS.items()}
        | {"left in English": checked(check_item, mixed, "here")},
        "replies": {name: replied(stages.rate_fitness(path, scene, b"", 1), said) for name, said in REPLIES.items()},
        "judge": {
            name: replied(stages.judge_item(path, flawed_item({}, {}), 1, b"", 1), said)
            for name, said in VERDICTS.items()
        },
        "long keys": sorted(longest_keys(lengths, 0)),
        "themes": [
            " ".join(slot.theme for slot in slots) for slots in assign_slots(categories, {"A": 5, "B": 3, "C": 2}, 6)
        ],
        "chosen": {
            f"{count} items": [" ".join(map(str, numbers)) for numbers in source.choose(1, scenes[:count])]
            for count in (4, 9)
        },
        "near": near_duplicates([" ".join(words), " ".join(words[1:]), " ".join(words[3:])]),
    }


def mcq_rows() -> list[dict[str, Any]]:
    """Return the rows of a small MCQ benchmark; one item lacks its Arabic."""
    from vcrgen.bloom.taxonomy import default_taxonomy

    taxonomy, rows = default_taxonomy(), []
    for number_ in range(24):
        row: dict[str, Any] = {"question_id": f"item-{number_}", "source": "golden", "answer": "ABCD"[number_ * 7 % 4]}
        row["image"] = {"bytes": b"picture %d" % (number_ // 3), "path": None}
        row |= {"path": taxonomy.paths[number_ % 4 * 30], "trap": "ABCD"[(number_ * 7 + 1) % 4]}
        for lang, one in (("en", "boat"), ("ar", "قارب")):
            lacking = lang == "ar" and number_ == 5
            row[f"question_{lang}"] = "" if lacking else f"{one}?"
            row[f"options_{lang}"] = None if lacking else [f"{one} {place}" for place in range(4)]
        rows.append(row)
    return rows


def mcq_set(bench: Bench) -> Path:
    """Write the set of :func:`mcq_rows`."""
    from vcrgen.bloom.rejects import RejectLog
    from vcrgen.bloom.taxonomy import default_taxonomy
    from vcrgen.bloom.write import write_set

    facts = {"languages": ("en", "ar"), "taxonomy": default_taxonomy(), "source": "golden", "config": {}}
    return bench.once("score-questions", lambda path: write_set(path, mcq_rows(), **facts, rejects=RejectLog()))  # type: ignore[arg-type]


@golden("score-questions")
def score_questions(bench: Bench) -> Any:
    """Every figure of two scored files of a small MCQ benchmark, compared; and one of them by the published reading."""
    from vcrgen.data.tasks.task import MCQ_TASK, VCR_TASK
    from vcrgen.scorer import compare, render, score
    from vcrgen.scorer.results import as_named

    data, rows = mcq_set(bench), mcq_rows()
    draws, results = random.Random("questions"), []
    for model, skill in (("good", 0.8), ("poor", 0.4)):
        written = []
        for row in rows:
            for lang, view in (("en", "image"), ("en", "text-only"), ("ar", "image")):
                if row[f"options_{lang}"] is None:
                    continue
                key = "ABCD".index(row["answer"])
                choice = key if draws.random() < skill else draws.randrange(4)
                logprobs = [[round(-draws.random() - (place != choice), 3)] * (place + 1) for place in range(4)]
                said = draws.choice((f"{choice + 1}", "ABCD"[choice], f"Answer: {'ABCD'[choice]}", "A or B"))
                line = {"question_id": row["question_id"], "lang": lang, "view": view, "output": said}
                written.append(json.dumps(line | {"logprobs": logprobs, "model": model}))
        file = bench.folder / f"{model}-questions.jsonl"
        file.write_text("\n".join(written[:-1]), "utf-8")
        results.append(score(file, data=data))
    names = {theirs: VCR_TASK.field_names[name] for name, theirs in MCQ_TASK.field_names.items()}
    published = score(bench.folder / "good-questions.jsonl", data=data, protocol="bloom-code")
    return {
        "good": short(as_named(results[0].as_json(), names)),
        "published": {cell.view.value: cell.outcomes for cell in published.cells if cell.variant == "en"},
        "report": lines(render(results, "md", compare(results))),
    }


@golden("coverage")
def coverage(bench: Bench) -> Any:
    """The report of a drawn set, and of one that a list files; what a model is asked about an item."""
    from vcrgen.analysis.profile.coverage_report import coverage_document
    from vcrgen.bloom.coverage.classification import Classification, ClassifiedItem, ClassifiedSet, read_categories
    from vcrgen.bloom.generation.prompts import prompt_hashes
    from vcrgen.bloom.generation.scheduler import MissingReplies
    from vcrgen.bloom.generation.stages import classify_item
    from vcrgen.bloom.taxonomy import default_taxonomy
    from vcrgen.report.document import render

    taxonomy = default_taxonomy()
    texture = [path for path in taxonomy.paths if path.endswith("/texture")]
    drawn = [
        ClassifiedItem(
            name=str(at),
            own=texture[at % 3],
            category=category,
            reason="" if category else "fits_none",
            second=texture[0],
        )
        for at, category in enumerate([*texture, texture[0], texture[0], None])
    ]
    whole = [
        ClassifiedItem(name="1", own=None, category=texture[1]),
        ClassifiedItem(name="2", own=None, reason="not_listed"),
    ]
    sets = [
        ClassifiedSet(name="drawn", by="M", count=60, items=drawn, pictures=5),
        ClassifiedSet(name="whole", by="list.csv", count=2, items=whole),
    ]
    document = coverage_document(
        Classification(taxonomy=taxonomy, sets=sets, missing=MissingReplies.of([])), settings="", published=True
    )
    file = bench.folder / "categories-of-items.csv"
    file.write_text(
        "set,question_id,leaf\n,1,poem\na,1,0\n,2,texture\n,3,remember/attribute recognition/texture\n,4,\n"
    )
    listed = read_categories(file, taxonomy)
    request = next(classify_item("Which?", ["one", "two"], (b"picture",), "1. a\n2. b", 1))
    return {
        "report": render(document, "md").splitlines(),
        "list": {f"{one} {item}": str(listed.find(one, item)) for one in "ab" for item in "12345"},
        "asked": [
            request.stage,
            request.role,
            request.request.text.splitlines(),
            prompt_hashes(["category"])["category"],
        ],
    }
