"""Every command of docs/study.md runs, one after another, and so do the ends of help texts."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bloom.conftest import made_set, row
from vcrgen.study.store import Store

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "study.md").read_text("utf-8")
BLOCKS = re.findall(r"^```bash\n(.*?)^```", DOCS, re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]


def test_commands(run: Callable[..., tuple[int, str, str]], pairs: Path, typing: Any) -> None:
    shutil.copytree(pairs, "data/my-vcr")
    made_set(Path("data/my-bloom"), [row(number) for number in range(6)])
    seen = {}
    for line in COMMANDS:
        program, *words = shlex.split(line)
        assert program == "vcrgen"
        if words[1] == "serve":
            serves(line)
            with Store(Path("study")) as store:
                typing(store, lambda rater, _id, place, answer: answer if rater > 2 or place else f"{rater}")
            outputs = [json.loads(line) for line in run("study", "export", "study")[1].splitlines()]
            same = [{name: one[name] for name in ("question_id", "output", "mode")} for one in outputs]
            once = {(one["question_id"], one["mode"]): one for one in same}.values()
            Path("preds.jsonl").write_text("".join(json.dumps(one) + "\n" for one in once), "utf-8")
            continue
        if words[1] == "import":  # what Label Studio would give back
            tasks = json.loads(Path("tasks.json").read_text("utf-8"))
            result = {"from_name": "texts", "type": "textarea"}
            for task in tasks:
                text = {"text": ["?"] * task["data"]["fields"]}
                task["annotations"] = [{"completed_by": {"id": 7}, "result": [result | {"value": text}]}]
            Path(words[3]).write_text(json.dumps(tasks), "utf-8")
        code, out, err = run(*words)
        assert code == 0, (line, out, err)
        seen.setdefault(words[1], out)
    assert len(COMMANDS) == 17 and "Raters taken in: 1." in seen["import"]
    assert re.search(r"items +11 with \d+ spans, and 3 for training", seen["init"]) and "vcrm_" in seen["init"]
    assert seen["invite"].count("https://study.example.org/r/vcrs_") == 7
    assert "r1 is forgotten" in seen["forget"]
    assert json.loads(Path("people.json").read_text("utf-8"))["schema"] == "vcrgen-people-1"
    assert "People and preds" in Path("report.html").read_text("utf-8")
    assert {json.loads(line)["model"] for line in Path("r2.jsonl").read_text("utf-8").splitlines()} == {"r2"}


def serves(line: str) -> None:
    """The service answers, and stops when it is told to."""
    _, *words = shlex.split(line.replace("--port 8000", "--port 0"))
    with subprocess.Popen([sys.executable, "-m", "vcrgen", *words], stderr=subprocess.PIPE, text=True) as service:
        assert service.stderr is not None
        try:
            url = json.loads(service.stderr.readline())["url"]
            with urllib.request.urlopen(f"{url}health", timeout=30) as answer:
                assert json.load(answer) == {"status": "ok"}
        finally:
            service.terminate()
            service.communicate(timeout=30)
    assert service.returncode == 0


def test_mistakes_are_sentences(run: Callable[..., tuple[int, str, str]], pairs: Path, tmp_path: Path) -> None:
    assert run("study", "init", "s", "--data", pairs, "--limit", 4)[0] == 0
    for words, message in (
        (("init", "s", "--data", pairs), "s is there and holds something else"),
        (("init", "t", "--data", "nothing"), "nothing does not exist"),
        (("init", "t", "--data", pairs, "--view", "strip"), "view:"),
        (("init", "t", "--data", pairs, "--raters", 0), "raters:"),
        (("init", "t", "--data", pairs, "--split", "train"), "has no split 'train'"),
        (("invite", "nothing", "--count", 1), "nothing is not a study"),
        (("invite", "s", "--count", 1, "--lang", "de"), "There are no pages in 'de'"),
        (("report", "s"), "nobody has finished an item yet"),
        (("report", "s", "--format", "pdf"), "Unknown format 'pdf'"),
        (("report", "s", "--out", "x"), "choose a --format for --out"),
        (("report", "s", "--data", tmp_path), "is not a dataset"),
        (("adjudicate", "s", "--by", "a/b"), "'a/b' is no name"),
        (("forget", "s", "r9"), "The study has no rater 'r9'; it has nobody"),
        (("export", "s", "--to", "xml"), "Unknown form 'xml'"),
        (("export", "s", "--out", "no/such/folder.jsonl"), "no/such/folder.jsonl cannot be written"),
        (("serve", "nothing"), "nothing is not a study"),
    ):
        code, out, err = run("study", *words)
        assert code == 2 and message in err and "Traceback" not in out + err, (words, out, err)
    Path("s/CONSENT.zh.txt").write_bytes(b"\xff")
    code, _, err = run("study", "serve", "s", "--port", 0)
    assert code == 2 and "CONSENT.zh.txt is not UTF-8 text" in err
