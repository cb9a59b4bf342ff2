"""``vcrgen predict`` on MCQ benchmarks: what is asked in which order, what comes back, and what is refused."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.servers import with_file
from vcrgen.bloom.rejects import RejectLog
from vcrgen.bloom.taxonomy import default_taxonomy
from vcrgen.bloom.write import write_set
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.data.views import View
from vcrgen.models.predict.questions import QuestionSelection, open_questions
from vcrgen.scorer.mcq.choices import PUBLISHED, read_choice

Run = Callable[..., tuple[int, str, str]]
OPTIONS = {"en": ["a cat", "a dog", "a horse", "a cow"], "ar": ["قطة", "كلب", "حصان", "بقرة"]}
QUESTIONS = {"en": "Which animal {is} it? ({number})", "ar": "ما هذا الحيوان؟ ({number})"}


def row(number: int) -> dict[str, Any]:
    file = io.BytesIO()
    Image.new("RGB", (32, 32), (number // 2 * 40, 0, 0)).save(file, "PNG")
    texts = {f"question_{lang}": text.replace("{number}", str(number)) for lang, text in QUESTIONS.items()}
    texts |= {f"options_{lang}": options for lang, options in OPTIONS.items()}  # type: ignore[misc]
    if number == 3:  # not complete in Arabic
        texts |= {"question_ar": "", "options_ar": []}  # type: ignore[dict-item]
    image = {"bytes": file.getvalue(), "path": None}
    path = default_taxonomy().paths[number]
    return {
        "question_id": f"q{number}",
        "image": image,
        "path": path,
        "source": "test",
        **texts,
        "answer": "ABCD"[number % 4],
        "trap": "ABCD"[(number + 1) % 4],
    }


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six items in English, five of them in Arabic, too."""
    out: Path = tmp_path_factory.mktemp("questions") / "bloom"
    rows = (row(number) for number in range(6))
    write_set(
        out, rows, languages=("en", "ar"), taxonomy=default_taxonomy(), source="test", config={}, rejects=RejectLog()
    )
    return out


@pytest.fixture
def predict(run: Run) -> Run:
    return lambda folder, server, *words: run(
        "predict", folder, "--endpoint", server.url, "--model", "m", "--out", "p.jsonl", *words
    )


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("p.jsonl").read_text("utf-8").splitlines()]


def prompt_of(call: Any) -> str:
    parts = call.body["messages"][0]["content"]
    return next(part["text"] for part in parts if part["type"] == "text")


def top(figures: dict[str, float]) -> dict[str, Any]:
    first = [{"token": token, "logprob": value, "bytes": None} for token, value in figures.items()]
    return {"logprobs": {"content": [{"token": "B", "logprob": -0.1, "top_logprobs": first}]}}


def knower(faults: Any, label: str = ". ") -> Callable[[Any], Any]:
    """A server that looks for the text of the right option, whose number is that of the question."""

    def plan(call: Any) -> Any:
        text = prompt_of(call)
        number = int(text.rpartition("(")[2].partition(")")[0]) if label == ". " else int(text.partition("(")[2][0])
        right = next(options[number % 4] for options in OPTIONS.values() if options[0] in text)
        line = next(line for line in text.splitlines() if line.endswith(label + right))
        figures = {letter: -0.1 if letter == line[0] else -5.0 - place for place, letter in enumerate("ABCD")}
        return faults.Answer(text=line[0], choice=top(figures) if "top_logprobs" in call.body else {})

    return plan


def test_what_is_sent(predict: Run, questions: Path, serve: Any, faults: Any) -> None:
    server = serve(knower(faults))
    code, out, err = predict(questions, server)
    assert code == 0, err
    assert out.splitlines()[1].startswith(f"p.jsonl: 11 outputs of m; next: vcrgen score p.jsonl --data {questions}")
    first = next(call.body for call in server.calls if "Which" in prompt_of(call) and "(0)" in prompt_of(call))
    image, text = first["messages"][0]["content"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,")
    assert text["text"] == (
        "Which animal {is} it? (0)\n\nA. a cat\nB. a dog\nC. a horse\nD. a cow\n\n"
        "Answer with the letter of the right option only."
    )
    assert {name: first[name] for name in first if name != "messages"} == {
        "model": "m",
        "temperature": 0.0,
        "max_tokens": 256,
    }
    assert lines()[0] == {
        "question_id": "q0",
        "view": "image",
        "lang": "en",
        "rotation": 0,
        "model": "m",
        "output": "A",
    }
    assert [(line["question_id"], line["lang"]) for line in lines()] == [
        (f"q{number}", lang) for number in range(6) for lang in ("en", "ar") if (number, lang) != (3, "ar")
    ]
    assert json.loads(Path("p.run.json").read_text("utf-8"))["run"]["frame"] == "letters-1"


def test_who_knows_the_answer_is_right_in_every_rotation_view_and_language(
    predict: Run, questions: Path, serve: Any, faults: Any
) -> None:
    server = serve(knower(faults))
    code, _, err = predict(questions, server, "--rotations", 4, "--view", "both", "--label-logprobs")
    assert code == 0 and len(lines()) == 11 * 2 * 4 == len(server.calls), err
    outputs = set()
    for line in lines():
        number = int(line["question_id"][1:])
        options = OPTIONS[line["lang"]]
        assert read_choice(line["output"], options, rotation=line["rotation"]).choice == number % 4
        assert max(range(4), key=line["label_logprobs"].__getitem__) == number % 4
        outputs.add((line["question_id"], line["output"]))
    assert len(outputs) == 6 * 4  # each item had its answer once beside each label
    shown = [len(call.body["messages"][0]["content"]) for call in server.calls]
    assert shown.count(1) == shown.count(2) == 44  # the blind view holds no picture
    assert {(call.body["logprobs"], call.body["top_logprobs"]) for call in server.calls} == {(True, 20)}


def test_options_turn_and_letters_come_back_in_the_datasets_order(
    predict: Run, questions: Path, serve: Any, faults: Any
) -> None:
    figures = {" A": -1.0, "B": -2.0, "x": -3.0, "D": -4.0}
    server = serve(lambda call: faults.Answer(text="A", choice=top(figures)))
    assert predict(questions, server, "--rotations", 4, "--label-logprobs", "--limit", 1, "--lang", "en")[0] == 0
    texts = [prompt_of(call) for call in sorted(server.calls, key=prompt_of)]
    assert [text.split("\n")[2] for text in texts] == ["A. a cat", "A. a cow", "A. a dog", "A. a horse"]
    assert [line["label_logprobs"] for line in lines()] == [
        [-1.0, -2.0, None, -4.0],
        [-4.0, -1.0, -2.0, None],
        [None, -4.0, -1.0, -2.0],
        [-2.0, None, -4.0, -1.0],
    ]


def test_likelihoods_of_options_that_are_not_shown(predict: Run, questions: Path, serve: Any, faults: Any) -> None:
    server = serve(faults.with_likelihoods)
    code, _, err = predict(questions, server, "--answer-logprobs", "--rotations", 4, "--limit", 2, "--concurrency", 1)
    assert code == 0, err
    found = lines()
    assert [("logprobs" in line) for line in found] == [line["rotation"] == 0 for line in found]
    for line in found:
        for tokens, option in zip(line.get("logprobs", []), OPTIONS[line["lang"]], strict=False):
            # The server shows of a letter that is not ASCII no more than that it is one.
            words = [re.sub("[^\0-~]", "\ufffd", token) for token in faults._TOKEN.findall(option)]
            assert tokens == [faults.logprob(word) for word in words]
    begun = [call.body["messages"] for call in server.calls if call.body["messages"][-1]["role"] == "assistant"]
    assert len(begun) == 4 * 4 + 1  # four options of four questions, and one absurd text
    for user, assistant in begun:
        text = next(part["text"] for part in user["content"] if part["type"] == "text")
        assert text.endswith("\n\nGive the answer only.") and not any(option in text for option in OPTIONS["en"])
        assert isinstance(assistant["content"], str) and len(user["content"]) == 2
    (short,) = {
        call.body["max_tokens"]
        for call in server.calls
        if prompt_of(call).endswith("only.") and "Give" in prompt_of(call)
    }
    assert short == 1


def test_nothing_is_asked_twice(predict: Run, questions: Path, serve: Any, faults: Any) -> None:
    server = serve(knower(faults))
    assert predict(questions, server, "--lang", "en", "--limit", 2)[0] == 0
    assert predict(questions, server, "--lang", "en", "--view", "text-only", "--limit", 2)[0] == 0
    assert [(line["question_id"], line["view"]) for line in lines()] == [
        (name, view) for name in ("q0", "q1") for view in ("image", "text-only")
    ]
    assert predict(questions, server, "--rotations", 4, "--view", "both")[0] == 0
    assert len(lines()) == len(server.calls) == 11 * 2 * 4
    whole = Path("p.jsonl").read_bytes()
    assert predict(questions, server, "--lang", "ar")[0] == 0
    assert len(server.calls) == 88 and Path("p.jsonl").read_bytes() == whole


def test_the_published_frame(predict: Run, questions: Path, serve: Any, faults: Any) -> None:
    server = serve(knower(faults, ") "))
    code, _, err = predict(questions, server, "--preset", "bloombench", "--rotations", 4, "--lang", "en")
    assert code == 0, err
    text = prompt_of(next(call for call in server.calls if "1) a dog" in prompt_of(call)))
    assert text.endswith("Reply with the number of the right option and nothing else.\nAnswer: ")
    assert "\n1) a dog\n2) a horse\n3) a cow\n4) a cat\n" in text
    assert {call.body["max_tokens"] for call in server.calls} == {128}
    for line in lines():
        found = read_choice(line["output"], OPTIONS["en"], rotation=line["rotation"], protocol=PUBLISHED)
        assert found.choice == int(line["question_id"][1:]) % 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--view", "stacked"], "has no view 'stacked'; the views of such a dataset are image, text-only, both."),
        (["--lang", "fr"], "has no questions in 'fr'; it has en, ar."),
        (
            ["--rotations", 2],
            "has items with 4 options, and --rotations is 2: a question in some of its orders says little; give 4",
        ),
        (["--rotations", 11], "rotations: Input should be less than or equal to 10"),
        (["--mode", "hard"], "is an MCQ benchmark, which has no modes; leave --mode out."),
        (["--split", "dev"], "has nothing of split 'dev'; it has test."),
        (
            ["--preset", "lmms-eval-chat"],
            "--preset lmms-eval-chat is not for a dataset of this kind; for this one there is bloombench.",
        ),
        (
            ["--answer-logprobs", {"profile": "openai"}],
            "Servers of the kind openai give no log-probabilities of given answers",
        ),
    ],
)
def test_mistakes(
    predict: Run, questions: Path, serve: Any, words: list[object], message: str, tmp_path_factory: Any
) -> None:
    code, out, err = predict(questions, server := serve(), *with_file(words, tmp_path_factory.mktemp("server")))
    assert code == 2 and message in err and err.count("\n") == 1, out + err
    assert not server.calls and list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--label-logprobs"], "--label-logprobs is for MCQ benchmarks, and"),
        (["--rotations", 4], "--rotations is for MCQ benchmarks, and"),
        (["--lang", "en"], "--lang is for MCQ benchmarks, and"),
        (["--view", "image"], "has no view 'image'; the views of such a dataset are stacked, tei, both, text-only."),
        (
            ["--preset", "bloombench"],
            "is not for a dataset of this kind; for this one there is vcr-repo-gpt, vcr-repo-claude",
        ),
    ],
)
def test_what_is_for_question_sets_only(
    predict: Run, dataset: Path, serve: Any, words: list[object], message: str
) -> None:
    code, out, err = predict(dataset, server := serve(), *words)
    assert code == 2 and message in err and err.count("\n") == 1 and not server.calls, out + err


def test_a_question_too_long_for_any_model(predict: Run, tmp_path: Path, serve: Any) -> None:
    rows = [row(0), row(1) | {"question_en": "x" * 10_000}]
    folder = tmp_path / "long"
    write_set(
        folder, rows, languages=("en", "ar"), taxonomy=default_taxonomy(), source="test", config={}, rejects=RejectLog()
    )
    code, _, err = predict(folder, server := serve())
    assert code == 2 and "its question in 'en' has more than 10,000 characters; build or import" in err
    assert not server.calls


def test_the_order_and_number_of_questions(questions: Path) -> None:
    data = open_task_dataset(questions)
    every = QuestionSelection(views=(View.IMAGE, View.TEXT_ONLY), rotations=4)
    pictures = open_questions(data, every)
    found = list(pictures.stream())
    assert pictures.total == len(found) == 88 and [each.place for each in found] == sorted(each.place for each in found)
    assert len({each.place for each in found}) == 88
    for choice in (
        QuestionSelection(),
        QuestionSelection(lang="ar", rotations=4),
        QuestionSelection(limit=2, views=every.views),
    ):
        some = open_questions(data, choice)
        assert [each for each in found if each in list(some.stream())] == list(some.stream())
        assert some.total == sum(1 for _ in some.stream()) and every.includes(choice) and not choice.includes(every)


def test_the_public_part_of_a_hidden_set_is_asked_with_likelihoods_too(
    predict: Run, run: Run, questions: Path, serve: Any, faults: Any
) -> None:
    words = ["--items", 4, "--public-pictures", "--out", "hidden", "--secret-file", "secret.key"]
    code, _, err = run("hidden", questions, *words)
    assert code == 0, err
    server = serve(faults.with_likelihoods)
    code, _, err = predict("hidden/public", server, "--answer-logprobs", "--view", "both")
    assert code == 0 and all(len(line["logprobs"]) == 4 for line in lines()), err
    names = {json.loads(line)["question_id"] for line in Path("hidden/public/metadata.jsonl").read_text().splitlines()}
    assert {line["question_id"] for line in lines()} == names and len(names) == 4
    code, _, err = predict("hidden/public", server, "--canary", "--out", "canary.jsonl")
    assert code == 0 and Path("canary.jsonl").exists(), err
