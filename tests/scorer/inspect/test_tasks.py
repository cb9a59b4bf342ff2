"""The tasks for Inspect AI: its numbers are those of `vcrgen score`, and its logs are read as outputs."""

import json
import math
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.models.fault_server import Answer, Call, FaultServer
from vcrgen.bloom.options import BloomSceneOptions
from vcrgen.bloom.scenes.generator import build_scene_set
from vcrgen.builder.options import load_build_config
from vcrgen.builder.run import build
from vcrgen.core.errors import VcrgenError
from vcrgen.hidden.options import HiddenOptions
from vcrgen.hidden.run import make_hidden
from vcrgen.scorer import load_answers, score
from vcrgen.scorer.predictions import open_predictions

inspect_ai = pytest.importorskip("inspect_ai", reason="Inspect AI is not installed: pip install '.[inspect]'")

from inspect_ai.log import EvalLog  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402

from vcrgen.scorer.inspect.scorers import clustered_ratios  # noqa: E402
from vcrgen.scorer.inspect.tasks import bloom, vcr  # noqa: E402

pytestmark = pytest.mark.extras


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("inspecting") / "pairs"
    build("samples:8", out=out)
    return out


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("inspecting") / "questions"
    build_scene_set(BloomSceneOptions(items=12, allow_shortcuts=True), out)
    return out


def run(task: Any, say: Callable[[Any, int], str], folder: Path) -> EvalLog:
    """Evaluate with a model that says what a function makes of a sample and its number."""
    samples, asked = {sample.id: sample for sample in task.dataset}, 0

    def answer(messages: Any, *_: Any) -> ModelOutput:
        nonlocal asked
        number, asked = asked, asked + 1
        (sample,) = (each for each in samples.values() if each.input[-1].content == messages[-1].content)
        output = ModelOutput.from_content("mockllm/model", say(sample, number))
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else tiktoken is downloaded
        return output

    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(folder), display="none", max_connections=1)
    assert log.status == "success", log.error
    return log


def metrics(log: EvalLog) -> dict[str, float]:
    assert log.results is not None
    return {name: metric.value for each in log.results.scores for name, metric in each.metrics.items()}


def noisy(sample: Any, number: int) -> str:
    """Leave out words of some answers, all of others."""
    texts = list(sample.target)
    return "" if number % 5 == 4 else " and ".join(text if number % 2 else text.partition(" ")[2] for text in texts)


def test_restoration_has_the_numbers_of_score(pairs: Path, tmp_path: Path) -> None:
    log = run(vcr(data=str(pairs)), noisy, tmp_path)
    shown = metrics(log)
    result = score(Path(log.location), data=pairs)
    for cell in result.cells:
        for name in ("exact", "jaccard"):
            assert shown[f"{cell.variant}_{name}"] == cell.metrics[name].value
    assert 0.2 < shown["easy_exact"] < 0.9 and shown["easy_exact_stderr"] > 0
    assert {sample.scores["spans"].reason for sample in log.samples} == {None, "no_response"}


def test_a_log_gives_the_scores_of_the_same_lines(pairs: Path, tmp_path: Path) -> None:
    log = run(vcr(data=str(pairs), mode="hard"), noisy, tmp_path)
    lines = [
        {**{key: sample.metadata[key] for key in ("question_id", "mode", "view")}, "output": sample.output.completion}
        for sample in log.samples
    ]
    file = tmp_path / "lines.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    ours, theirs = score(file, data=pairs), score(Path(log.location), data=pairs)
    assert str(ours.signature) == str(theirs.signature) and ours.cells == theirs.cells


def test_questions_have_the_numbers_of_score(questions: Path, tmp_path: Path) -> None:
    letters = ["The answer is A.", "B", "(C)", "I cannot say."]
    log = run(bloom(data=str(questions), lang="en"), lambda sample, number: letters[number % 4], tmp_path)
    (cell,) = score(Path(log.location), data=questions).cells
    assert metrics(log)["en_rae"] == cell.metrics["rae"].value and "en_circular" not in metrics(log)


def test_rotations_are_samples_and_their_letters_turn(questions: Path, tmp_path: Path) -> None:
    task = bloom(data=str(questions), lang="en", rotations=4)
    assert len(task.dataset) == 4 * 12
    log = run(task, lambda sample, _: "ABCD"[(int(sample.target) - sample.metadata["rotation"]) % 4], tmp_path)
    assert metrics(log)["en_circular"] == metrics(log)["en_rae"] == 1.0
    log = run(task, lambda sample, number: "ABCD"[number % 3], tmp_path / "other")
    (cell,) = score(Path(log.location), data=questions).cells
    assert metrics(log)["en_rae"] == cell.metrics["rae"].value > 0
    assert metrics(log)["en_circular"] == cell.metrics["circular"].value == 0


@pytest.mark.process
def test_the_command_asks_a_server_as_predict_does(pairs: Path, tmp_path: Path) -> None:
    """The same text and the same picture, byte for byte; outputs and scores are the same in every digit."""

    questions = load_answers(pairs).questions

    def answer(call: Call) -> Answer:
        """Texts of half of the captions; the half depends on the picture."""
        half = zlib.crc32("".join(said(call.body["messages"])).encode()) % 2
        return Answer(text=" ".join(text for question in questions[half::2] for text in question.answers))

    with FaultServer(answer) as server:
        environment = {**os.environ, "VCR_API_KEY": "sk-none", "VCR_BASE_URL": server.url}
        environment["INSPECT_LOG_DIR"] = str(tmp_path / "log")
        words = ["inspect_ai", "eval", "vcrgen/vcr", "-T", f"data={pairs}", "-T", "mode=hard"]
        words += ["--model", "openai-api/vcr/tiny", "--display", "none"]
        done = subprocess.run(
            [sys.executable, "-m", *words], env=environment, capture_output=True, text=True, timeout=300, cwd=tmp_path
        )
        assert done.returncode == 0, done.stdout + done.stderr
        theirs = [call.body["messages"] for call in server.calls]
        server.calls.clear()
        words = ["vcrgen", "predict", str(pairs), "--mode", "hard", "--endpoint", server.url]
        words += ["--model", "tiny", "--out", str(tmp_path / "preds.jsonl")]
        subprocess.run([sys.executable, "-m", *words], env=environment, check=True, capture_output=True, timeout=300)
        ours = [call.body["messages"] for call in server.calls]
    assert sorted(map(said, theirs)) == sorted(map(said, ours)) and len(ours) == 8
    (log,) = (tmp_path / "log").glob("*.eval")
    of_log, of_lines = score(log, data=pairs), score(tmp_path / "preds.jsonl", data=pairs)
    assert len(list(open_predictions(log))) == 8
    shown = metrics(inspect_ai.log.read_eval_log(str(log)))
    for name in ("exact", "jaccard"):
        assert shown[f"hard_{name}"] == of_log.cells[0].metrics[name].value == of_lines.cells[0].metrics[name].value
    assert 0.1 < shown["hard_exact"] < 0.9


def said(messages: list[dict[str, Any]]) -> list[str]:
    """Return texts and pictures of a request in their order."""
    parts = [part for message in messages for part in message["content"]]
    return [part["text"] if part["type"] == "text" else part["image_url"]["url"] for part in parts]


def test_another_kind_is_refused(pairs: Path, questions: Path) -> None:
    with pytest.raises(VcrgenError, match=r"its task is vcrgen/bloom"):
        vcr(data=str(questions))
    with pytest.raises(VcrgenError, match=r"its task is vcrgen/vcr"):
        bloom(data=str(pairs))
    with pytest.raises(VcrgenError, match="is none of"):
        vcr(data=str(pairs), view="picture")


@pytest.mark.process
def test_a_mistake_is_shown_as_a_sentence(questions: Path, tmp_path: Path) -> None:
    words = ["inspect_ai", "eval", "vcrgen/vcr", "-T", f"data={questions}", "--model", "mockllm/model"]
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 2 and "Traceback" not in done.stdout + done.stderr
    assert done.stderr.strip() == f"Error: {questions} is an MCQ benchmark; its task is vcrgen/bloom."


def test_a_hidden_set_is_asked_without_its_answers_and_its_key_is_refused(tmp_path: Path) -> None:
    options = HiddenOptions(config=load_build_config(None, {}), items=3, private_source=True, cover="rows")
    made = make_hidden(options, out=tmp_path / "set", secret_file=tmp_path / "secret.key")
    with pytest.raises(VcrgenError, match="the key of a hidden set"):
        vcr(data=str(made.keys[0]))
    log = run(vcr(data=str(made.public[0])), lambda *_: "no idea", tmp_path)
    assert [sample.scores for sample in log.samples] == [{}] * 3
    answers = [json.loads(line) for line in (made.keys[0] / "answers.jsonl").read_text("utf-8").splitlines()]
    text = log.model_dump_json()
    assert not any(span in text for answer in answers for span in (*answer["crossed_text"], answer["caption"]))
    assert score(Path(log.location), data=made.keys[0]).cells[0].clusters == 3


def test_the_error_is_that_of_a_ratio() -> None:
    """Clusters of one size: the usual error of a mean of cluster means."""
    values = [("a", 1.0), ("b", 0.0), ("c", 2.0), ("d", 1.0)]
    ((mean, error),) = clustered_ratios([(name, (value,), 2.0) for name, value in values])
    means = [value / 2 for _, value in values]
    spread = sum((each - mean) ** 2 for each in means) / 3
    assert mean == 0.5 and error == pytest.approx(math.sqrt(spread / 4))
    assert math.isnan(clustered_ratios([("a", (1.0,), 2.0), ("a", (0.0,), 1.0)])[0][1])


def test_a_damaged_log_gets_a_sentence(pairs: Path, tmp_path: Path) -> None:
    (tmp_path / "x.eval").write_bytes(b"PK\x03\x04rubbish")
    with pytest.raises(VcrgenError, match="cannot be read as a log of Inspect AI"):
        score(tmp_path / "x.eval", data=pairs)
