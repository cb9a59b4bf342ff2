"""Every command with the languages that are not set or cut into words as English is, as a user would give it."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.pages import Page, Run, succeed
from vcrgen.builder.stream import VCRStream
from vcrgen.core.extras import install_command
from vcrgen.data.pictures import PictureSelection, open_pictures
from vcrgen.data.reader import open_dataset
from vcrgen.data.tasks.vcr import VCR
from vcrgen.data.views import View
from vcrgen.models.base import Reply, Request
from vcrgen.models.predict.run import run_baseline
from vcrgen.text.languages import LANGUAGES

UNLIKE_ENGLISH = [code for code, row in LANGUAGES.items() if row.extra or row.shaper != "basic"]


@pytest.fixture(scope="module", params=UNLIKE_ENGLISH)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A language, and a dataset in it."""
    from vcrgen.builder.run import build

    folder = tmp_path_factory.mktemp(request.param) / "data"
    build("samples:6", out=folder, lang=request.param, mode="hard")
    return request.param, folder


PAGE = Page("docs/languages.md")
COMMANDS = [line for line in PAGE.commands if "fonts fetch" not in line]  # tests/typeset/test_fetch.py runs that


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_of_the_docs(run: Run, line: str) -> None:
    out = succeed(run, line)
    if line.startswith("vcrgen fonts check"):
        assert ("text", out) in PAGE.blocks


def rows(folder: Path) -> list[dict[str, Any]]:
    return [row for file in sorted(folder.glob("hard/*.parquet")) for row in pq.read_table(file).to_pylist()]


def write(file: Path, lines: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return file


class Reader:
    """A model that answers in the language."""

    name, facts = "reader-1", {"model": "reader-1"}

    def reply(self, request: Request) -> Reply:
        return Reply(text=LANGUAGES[request.language].question, model=self.name)


def test_a_dataset_is_shown_and_exported(run: Run, built: tuple[str, Path]) -> None:
    lang, folder = built
    made = rows(folder)
    assert len(made) >= 5 and {row["language"] for row in made} == {lang}
    code, out, err = run("inspect", folder)
    assert code == 0 and f"lang:{lang}" in out, err
    assert run("view", folder, "--out", "page")[0] == 0
    page = Path("page/data/0000.js").read_text("utf-8")
    assert all(text in page or json.dumps(text)[1:-1] in page for row in made for text in row["crossed_text"])
    code, _, err = run("export", folder, "--to", "lmms-eval", "--out", "exported")
    assert code == 0, err
    card = (folder / "README.md").read_text("utf-8")
    assert f"language:\n- {lang}" in card and "English" in card  # whose covers these are


def test_answers_are_scored(run: Run, built: tuple[str, Path]) -> None:
    lang, folder = built
    said = [
        {"question_id": row["question_id"], "output": LANGUAGES[lang].joiner.join(["(", *row["crossed_text"], ")"])}
        for row in rows(folder)
    ]
    code, out, err = run("score", write(Path("right.jsonl"), said), "--data", folder)
    assert code == 0 and re.search(r"^hard +VI\+TEI +\d+ +100\.00", out, re.MULTILINE), err


def test_a_model_is_asked_and_its_file_is_scored(run: Run, built: tuple[str, Path], tmp_path: Path) -> None:
    lang, folder = built
    choice = PictureSelection(views=(View.STACKED,))
    out = tmp_path / "preds.jsonl"
    run_baseline(open_pictures(open_dataset(folder, VCR), choice), choice, out=out, make_model=Reader)
    assert json.loads(out.read_text("utf-8").splitlines()[0])["output"] == LANGUAGES[lang].question
    code, shown, err = run("score", out, "--data", folder)
    assert code == 0 and re.search(r"^hard +VI\+TEI +\d+ +0\.00", shown, re.MULTILINE), err


def test_a_stream_and_a_hidden_set(run: Run, built: tuple[str, Path], tmp_path: Path) -> None:
    lang, _ = built
    example = next(iter(VCRStream("samples", lang=lang, mode="easy", seed=1)))
    assert example["answers"] and example["question"] == LANGUAGES[lang].question
    secret = tmp_path / "secret.key"
    secret.touch(0o600)
    secret.write_text("0ddba11" * 8)
    words = ("--lang", lang, "--items", 1, "--out", "set", "--secret-file", secret, "--fonts", LANGUAGES[lang].fonts[0])
    code, _, err = run("hidden", "samples:20", "--private-source", *words)
    assert code == 0, err
    strips = 0 if lang in ("ja", "ko") else 1  # with their lexicons, many seconds of processor
    assert run("hidden", "verify", "set", "--secret-file", secret, "--strips", strips)[0] == 0


def test_a_caption_in_another_script_has_its_reason(run: Run, built: tuple[str, Path]) -> None:
    lang, folder = built
    pairs = [{"image": row["image"], "caption": "Ein altes Boot liegt im Sand."} for row in rows(folder)[:2]]
    pq.write_table(pa.Table.from_pylist(pairs), "pairs.parquet")
    code, _, err = run("build", "pairs.parquet", "--lang", lang, "--out", "none")
    assert code == 2 and "other_script 2" in err


@pytest.mark.parametrize(("lang", "package", "extra"), [("ja", "sudachipy", "japanese"), ("ko", "mecab_ko", "korean")])
def test_without_the_extra_one_sentence_names_it(
    run: Run, lang: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib import import_module

    from vcrgen.text.pipelines import load_pipeline
    from vcrgen.text.segmenters import load_segmenter

    module = import_module(LANGUAGES[lang].segmenter.partition(":")[0])
    for cached in (load_pipeline, load_segmenter, module.analyser):
        cached.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    code, _, err = run("build", "samples:2", "--lang", lang, "--out", "none")
    assert code == 2 and "Traceback" not in err
    assert f"needs {package}, which is not installed: {install_command(extra)}." in " ".join(err.split())
    assert not Path("none").exists()
    assert run("build", "samples:2", "--out", "en")[0] == 0  # no other language needs it
