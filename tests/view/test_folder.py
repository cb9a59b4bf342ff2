"""The folder of a view: its files, and what is never in it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vcrgen.core.errors import OutputError
from vcrgen.scorer.options import ScoreOptions
from vcrgen.view import folder as view_folder
from vcrgen.view.folder import write_view
from vcrgen.view.query import Query
from vcrgen.view.view_data import ViewData

Run = Callable[..., tuple[int, str, str]]


def items_of(folder: Path) -> list[dict[str, Any]]:
    """The items of all scripts, which say their numbers."""
    items = []
    for number, file in enumerate(sorted((folder / "data").iterdir())):
        text = file.read_text("ascii")
        assert text.startswith(f"vcrgenItems({number},") and text.endswith(");\n") and not re.search("[<>&]", text)
        items += json.loads(text.partition(",")[2].removesuffix(");\n"))
    return items


def test_items_in_scripts_and_pictures_in_files(
    dataset: Path, outputs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_folder, "CHUNK", 4)
    monkeypatch.setattr(view_folder, "_READ", 3)
    data = ViewData(dataset, outputs, ScoreOptions(split="all"))
    query = Query(sort="length", direction="down")
    assert write_view(data, tmp_path / "view", query) == 6
    items = items_of(tmp_path / "view")
    assert len(list((tmp_path / "view" / "data").iterdir())) == 2
    shown = data.page(query)["items"]
    assert [item["id"] for item in items] == [item["id"] for item in shown]
    assert [item["place"] for item in items] == list(range(6))
    pictures = {f"images/{file.name}" for file in (tmp_path / "view" / "images").iterdir()}
    named = set(re.findall(r'"(images/[^"]+)"', json.dumps(items)))
    assert named == pictures and len(pictures) == 18
    first = bytes.fromhex("89504e470d0a1a0a")
    assert all((tmp_path / "view" / name).read_bytes().startswith(first) for name in pictures)
    page = (tmp_path / "view" / "index.html").read_text("utf-8")
    assert "script-src &#39;sha256-" in page and "connect-src" not in page and "trusted-types files" in page
    before = {file: file.read_bytes() for file in (tmp_path / "view").rglob("*.*") if file.is_file()}
    write_view(data, tmp_path / "view", query)  # an earlier view may be replaced
    assert {file: file.read_bytes() for file in (tmp_path / "view").rglob("*.*") if file.is_file()} == before


def test_the_first_items_of_the_filter(dataset: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_folder, "MAX_ITEMS", 3)
    code, out, _ = run("view", dataset, "--filter", "#split=train&sort=id", "--out", "first")
    assert code == 0 and "shows 3 pairs" in out
    items = items_of(Path("first"))
    assert {item["split"] for item in items} == {"train"}
    assert [item["id"] for item in items] == sorted(item["id"] for item in items)
    code, out, _ = run("view", dataset, "--all", "--out", "all")
    assert code == 0 and "shows 6 pairs" in out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--all"], "--all is of the folder of --out"),
        (["--subset", "first2"], "give files of outputs, too"),
        (["--filter", "mode=soft", "--out", "x"], "names the mode 'soft'"),
        (["--filter", "right=0&wrong=1", "--out", "x"], "names the model 0; there are 0"),
        (["--filter", "lang=zh", "--out", "x"], "names the language 'zh'; there are en."),
        (["--filter", "split=val", "--out", "x"], "names the split 'val'; there are test, train."),
        (
            ["--filter", "language=zh", "--out", "x"],
            "'language' cannot be used: there are mode, view, lang, split",
        ),
        (["--out", "mine"], "mine is there and holds something else"),
        (["--view", "tei", "missing.jsonl"], "missing.jsonl"),
    ],
)
def test_what_the_user_can_mend(dataset: Path, run: Run, words: list[str], problem: str) -> None:
    Path("mine").mkdir()
    Path("mine/file").write_text("mine")
    code, _, err = run("view", dataset, *words)
    assert code == 2 and problem in err and "Traceback" not in err
    assert not Path("x").exists() and Path("mine/file").read_text() == "mine"


def test_the_answers_of_a_hidden_set_are_in_no_folder(run: Run, tmp_path: Path) -> None:
    words = ["hidden", "samples:12", "--private-source", "--items", "2", "--out", "set", "--secret-file", "s.key"]
    assert run(*words)[0] == 0
    answers = [json.loads(line) for line in Path("set/key/answers.jsonl").read_text("utf-8").splitlines()]
    answers = [answer for answer in answers if "crossed_text" in answer]
    code, out, err = run("view", "set/public", "--out", "public")
    assert code == 0 and "shows 2 pairs" in out, err
    assert '"answers":false' in Path("public/index.html").read_text("utf-8")
    text = "".join(file.read_text("utf-8") for file in Path("public").rglob("*.*") if file.suffix in (".js", ".html"))
    assert not any(span in text for answer in answers for span in answer["crossed_text"])
    assert len(list(Path("public/images").iterdir())) == 4
    lines = [
        {"question_id": answer["question_id"], "view": "tei", "output": " ".join(answer["crossed_text"])}
        for answer in answers
    ]
    Path("out.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    code, _, err = run("view", "set", "out.jsonl", "--out", "secret")
    assert code == 2 and "The answers of a hidden set go into no folder" in err and not Path("secret").exists()
    data = ViewData(Path("set"), [Path("out.jsonl")], ScoreOptions())
    data.score()
    items = data.page(Query())["items"]
    assert len(items) == 2 and all(item["card"]["views"]["mixed"]["whole"] for item in items)
    assert {code for item in items for code in item["results"][0]["codes"]} == {"e"}
    with pytest.raises(OutputError):
        write_view(data, tmp_path / "view", Query())
