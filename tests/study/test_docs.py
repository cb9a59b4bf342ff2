"""Every command of docs/study.md runs, one after another, and so do the ends of help texts."""

import json
import re
import shlex
import shutil
import urllib.request
from pathlib import Path
from typing import Any

from tests.bloom.conftest import made_set, row
from tests.forked import serving
from tests.pages import Page, Run, succeed
from tests.study.conftest import write_consents
from vcrgen.study.records import Response
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.steps import read_steps, save_response
from vcrgen.study.visitors import LastSigns, claim_place, open_visit

COMMANDS = Page("docs/study.md").commands


def test_commands(run: Run, pairs: Path, typing: Any) -> None:
    shutil.copytree(pairs, "data/my-vcr")
    made_set(Path("data/my-bloom"), [row(number) for number in range(6)])
    seen, shared_link = {}, ""
    for line in COMMANDS:
        _, *words = shlex.split(line)
        if words[1] == "serve":
            write_consents(Path(words[2]))
            serves(words)
            if words[2] == "audit-study":
                with StudyStore(Path(words[2])) as store, store.writing() as connection:
                    said = Response(("A", "approve", ""), (False,) * 3, 5.0, True, 1)
                    for place in read_steps(connection):
                        save_response(connection, place.rater, place.number, said)
                continue
            with StudyStore(Path("study")) as store:
                typing(store, lambda rater, _id, place, answer: answer if rater > 2 or place else f"{rater}")
            outputs = [json.loads(line) for line in run("study", "export", "study")[1].splitlines()]
            same = [{name: one[name] for name in ("question_id", "output", "mode")} for one in outputs]
            once = {(one["question_id"], one["mode"]): one for one in same}.values()
            Path("preds.jsonl").write_text("".join(json.dumps(one) + "\n" for one in once), "utf-8")
            continue
        name = " ".join(words[1:3]) if words[1] == "audit" else "causes" if "--causes" in words else words[1]
        if name == "causes":
            head, *errors = Path("errors.csv").read_text("utf-8").splitlines()
            Path("errors.csv").write_text("\n".join([head, *(f"{line}slip" for line in errors)]), "utf-8")
        if name == "release":
            takes_place(Path(words[2]), shared_link, words[3])
        printed = succeed(run, line.replace("samples:64", "samples:6"))
        seen.setdefault(name, printed)
        if name == "invite":
            shared_link = printed.strip().rpartition("/")[2]
    assert "6 of 6 drawn items judged" in seen["audit report"] and "goes on as r1" in seen["release"]
    assert len(COMMANDS) == 28 and "slip of the fingers" in seen["causes"]
    assert re.search(r"items +11 with \d+ spans, and 3 for training", seen["init"]) and "vcrm_" in seen["init"]
    assert seen["invite"].count("https://study.example.org/r/vcrs_") == 7
    assert "r1 is forgotten" in seen["forget"]
    assert json.loads(Path("people.json").read_text("utf-8"))["schema"] == "vcrgen-human-baseline-1"
    assert "People and preds" in Path("report.html").read_text("utf-8")
    assert {json.loads(line)["model"] for line in Path("r2.jsonl").read_text("utf-8").splitlines()} == {"r2"}


def takes_place(folder: Path, shared_link: str, participant: str) -> None:
    """Somebody from Prolific agrees to take part."""
    with StudyStore(folder) as store, store.writing() as connection:
        visit = open_visit(connection, shared_link, participant, "browser")
        assert visit is not None and claim_place(connection, visit, LastSigns(), consent="1")


def serves(words: list[str]) -> None:
    """The service answers, and stops when it is told to."""
    free = ["0" if word == "8000" else word for word in words]
    with serving(*free, log=Path("service.log")) as url, urllib.request.urlopen(f"{url}health", timeout=120) as answer:
        assert json.load(answer) == {"status": "ok"}


def test_mistakes_are_sentences(run: Run, pairs: Path, tmp_path: Path) -> None:
    assert run("study", "init", "s", "--data", pairs, "--limit", 4)[0] == 0
    for words, message in (
        (("init", "s", "--data", pairs, "--limit", 4), "s is this study already; go on with `vcrgen study invite s"),
        (("init", "s", "--data", pairs), "s is another study already (limit 4 there, 100 here)"),
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
        (("forget", "s", "r9"), "The study has no rater 'r9'; it has nobody"),
        (("export", "s", "--to", "xml"), "Unknown form 'xml'"),
        (("export", "s", "--out", "no/such/folder.jsonl"), "no/such/folder.jsonl cannot be written"),
        (("serve", "nothing"), "nothing is not a study"),
    ):
        code, out, err = run("study", *words)
        assert code == 2 and message in err and "Traceback" not in out + err, (words, out, err)
    note = "CONSENT.en.txt still has its note to the maintainers"
    code, _, err = run("study", "serve", "s", "--port", 0)  # before anybody is invited
    assert code == 2 and note in err
    assert run("study", "invite", "s", "--count", 1)[0] == 0
    code, _, err = run("study", "serve", "s", "--port", 0)
    assert code == 2 and note in err
    Path("s/CONSENT.zh.txt").write_bytes(b"\xff")
    code, _, err = run("study", "serve", "s", "--port", 0)
    assert code == 2 and "CONSENT.zh.txt is not UTF-8 text" in err
