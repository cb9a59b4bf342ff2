"""The command line: every command of the README runs, and every mistake is one sentence and exit code 2."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from vcrgen.builder.run import build

    out = tmp_path_factory.mktemp("cli") / "small"
    build("samples:12", out=out)
    return out


def test_built_in_pairs_need_no_option(run: Run) -> None:
    code, out, err = run("build")
    assert code == 0, err
    assert "data/vcr-samples-en-both is complete" in out and "Signature vcrgen:" in out
    assert (Path("data/vcr-samples-en-both") / "hard").is_dir()
    code, out, _ = run("build")
    assert code == 0 and "was complete already" in out


def test_chinese_hard(run: Run) -> None:
    code, out, err = run("build", "samples:8", "--lang", "zh", "--mode", "hard", "--out", "zh")
    assert code == 0, err
    assert not Path("zh/easy").exists() and Path("zh/hard").is_dir()
    assert "lang:zh" in out


def test_wiki_pairs(run: Run, wiki_dir: Path) -> None:
    for lang in ("en", "zh"):
        source = wiki_dir / f"pairs_{lang}.parquet"
        code, out, err = run("build", source, "--lang", lang, "--limit", 24, "--workers", 2, "--seed", 7, "--out", lang)
        assert code == 0, err
        assert "of 24 pairs" in out
        assert run("inspect", lang)[0] == 0


def test_a_recipe_with_a_local_source(run: Run, wiki_dir: Path) -> None:
    Path("recipe.yaml").write_text("lang: zh\nmode: hard\nsource_license: cc-by-sa-4.0\nlimit: 10\n")
    code, _, err = run("build", "--config", "recipe.yaml", wiki_dir / "pairs_zh.parquet", "--out", "out")
    assert code == 0, err
    assert "license: cc-by-sa-4.0" in Path("out/README.md").read_text("utf-8")


def test_inspect(run: Run, dataset: Path) -> None:
    code, out, _ = run("inspect", dataset)
    assert code == 0 and "stacked height" in out and "lang:en" in out
    code, out, _ = run("inspect", dataset, "--json")
    values = json.loads(out)
    assert values["read"] == 12 and {row["mode"] for row in values["statistics"]} == {"easy", "hard"}


def test_preview(run: Run, dataset: Path) -> None:
    code, out, err = run("preview", dataset, "--out", "page.html")
    assert code == 0, err
    assert "page.html" in out and Path("page.html").read_text("utf-8").startswith("<!")


@pytest.mark.parametrize("form", ["vlmevalkit", "lmms-eval", "webdataset", "imagefolder"])
def test_export(run: Run, dataset: Path, form: str) -> None:
    code, out, err = run("export", dataset, "--to", form, "--out", "exported")
    assert code == 0, err
    assert "exported" in out and any(Path("exported").iterdir())


def test_doctor(run: Run) -> None:
    code, out, err = run("doctor")
    assert code == 0, out + err
    for word in ("jieba", "Liberation Sans", "basic", "webp", "python"):
        assert word.lower() in out.lower()


def test_fonts(run: Run) -> None:
    assert "Liberation Sans" in run("fonts")[1]
    code, out, _ = run("fonts", "国國", "--lang", "zh")
    assert code == 0 and "Droid Sans Fallback: 國" in out
    code, out, _ = run("fonts", "\U000131a0")
    assert code == 1 and "no glyph" in out


@pytest.mark.parametrize(
    "command", ["", "build", "inspect", "preview", "export", "fonts", "doctor", "score", "validate"]
)
def test_help(run: Run, command: str) -> None:
    code, out, _ = run(*command.split(), "--help")
    assert code == 0 and "Usage: vcrgen" in out
    if command and command != "doctor":
        assert f"vcrgen {command}" in out.split("Example")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["build", "missing.parquet"], "missing.parquet"),
        (["build", "samples:0"], "at least 1"),
        (["build", "--lang", "xx"], "unknown language 'xx'; known: en, zh"),
        (["build", "--mode", "medium"], "is not easy, hard, both, or shares of ink"),
        (["build", "--config", "missing.yaml"], "missing.yaml cannot be read"),
        (["build", "--config", "typo.yaml"], "nearest known key is 'width'"),
        (["build", "pairs.csv"], "The image column 'image' is not in"),
        (["build", "--out", "full"], "full is not empty"),
        (["build", "--out", "file"], "file is a file"),
        (["build", "--font", "missing.ttf"], "missing.ttf cannot be used"),
        (["build", "--censor-list", "missing.txt"], "missing.txt cannot be read"),
        (["build", "--spacy-model", "en_core_web_sm"], "python -m spacy download en_core_web_sm"),
        (["build", "--mask", "nouns"], "--mask nouns needs parts of speech"),
        (["build", "--splits", "train=7"], "exactly one split takes the rest"),
        (["build", "--where", "lang"], "not of the form PATH=VALUE"),
        (["inspect", "full"], "full is not a dataset: it has no manifest.json"),
        (["inspect", "nowhere"], "nowhere does not exist"),
        (["preview", "full"], "full is not a dataset: it has no manifest.json"),
        (["export", "full", "--to", "imagefolder"], "full is not a dataset: it has no manifest.json"),
        (["fonts", "a", "--lang", "xx"], "known: en, zh"),
    ],
)
def test_mistakes(run: Run, words: list[str], message: str) -> None:
    Path("full").mkdir()
    Path("full/thesis.txt").write_text("mine")
    Path("file").write_text("mine")
    Path("typo.yaml").write_text("widht: 300\n")
    Path("pairs.csv").write_text("picture,caption\na.png,A caption of some words\n")
    before = sorted(path.name for path in Path().rglob("*"))
    code, out, err = run(*words)
    assert code == 2, out + err
    assert message in " ".join(err.split()), err
    assert err.startswith("Error: ") and err.count("\n") == 1 and "Traceback" not in err
    assert sorted(path.name for path in Path().rglob("*")) == before  # nothing half-written


def test_a_damaged_dataset(run: Run, dataset: Path) -> None:
    shutil.copytree(dataset, "damaged")
    next(Path("damaged/easy").glob("*.parquet")).write_bytes(b"PAR1 no longer")
    for words in (["inspect", "damaged"], ["preview", "damaged"], ["export", "damaged", "--to", "imagefolder"]):
        code, _, err = run(*words)
        assert code == 2 and "damaged" in err and "Traceback" not in err
    assert sorted(path.name for path in Path().iterdir()) == ["damaged"]


def test_an_unwritable_folder(run: Run) -> None:
    code, _, err = run("build", "samples:8", "--out", "/proc/vcr")
    assert code == 2 and "cannot be written" in err
