"""The command line: every command of the README runs, and every mistake is one sentence and exit code 2."""

import io
import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from rich.console import Console
from typer.main import get_command

from vcrgen.__main__ import main
from vcrgen.cli import app, console
from vcrgen.cli.root import ORDER
from vcrgen.cli.score import score as score_command

Run = Callable[..., tuple[int, str, str]]


def commands_of(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command below a command, with the words that name it."""
    for name, below in getattr(command, "commands", {}).items():
        yield from commands_of(below, (*path, name))
    if path:
        yield path, command


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
    (rejects,) = (line.removeprefix("Each of them, and why: ") for line in out.splitlines() if "why: " in line)
    assert len(Path(rejects).read_text().splitlines()) == 2 and "no_maskable_ngram  2" in out


def test_the_next_command_can_be_copied_whatever_the_folder_is_called(run: Run) -> None:
    folder = "Мои данные/it's 図 [1]"
    code, out, err = run("build", "samples:2", "--mode", "hard", "--out", folder)
    assert code == 0, err
    said = next(line for line in out.splitlines() if line.startswith("Look at it: "))
    assert shlex.split(said.removeprefix("Look at it: ")) == ["vcrgen", "preview", folder]


def test_the_help_shows_commands_in_the_order_in_which_they_are_met(run: Run) -> None:
    _, out, _ = run("--help")
    listed = [line.split()[1] for line in out.splitlines() if line.startswith("│ ") and line[2].islower()]
    assert listed == list(ORDER)


def test_the_help_is_broken_where_the_terminal_ends() -> None:
    """Sentences were broken where the lines of the code end, too: "The result is written as JSON beside"."""
    (score,) = (command for command in app.registered_commands if command.callback is score_command)
    first, second = str(score.help).split("\n\n")
    assert first.endswith("with honest intervals.") and "as JSON beside the file of outputs" in second


@pytest.mark.parametrize(("terminal", "shown"), [(False, "国".encode()), (True, rb"\u56fd")])
def test_a_letter_that_the_system_cannot_write_is_no_fault(
    terminal: bool, shown: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Minus signs ended `vcrgen score --compare > file` with a traceback on Windows."""
    page = io.BytesIO()
    stream = io.TextIOWrapper(page, encoding="cp1252")
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.setattr("sys.argv", ["vcrgen", "fonts", "国", "--lang", "zh"])
    with pytest.raises(SystemExit):
        app()
    stream.flush()
    assert shown in page.getvalue()


def test_the_version(run: Run) -> None:
    assert run("--version") == (0, f"vcrgen {version('vcrgen')}\n", "")


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


def test_a_narrow_terminal_loses_no_figure(run: Run, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 60 columns the height of the images was printed as "321.…"."""
    monkeypatch.setattr(console, "out", Console(width=60))
    code, out, _ = run("inspect", dataset)
    assert code == 0 and "…" not in out


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
    assert "no character to check" in run("fonts", "")[2]
    code, out, _ = run("fonts", "国國", "--lang", "zh")
    assert code == 0 and "Droid Sans Fallback: 國" in out
    code, out, _ = run("fonts", "\U000131a0")
    assert code == 1 and "no glyph" in out
    korean = run("fonts", "--lang", "ko")[1]
    assert "nanum-gothic" in korean and "liberation-sans" not in korean
    assert "Unknown language 'xx'; known: en, zh" in run("fonts", "--lang", "xx")[2]


def test_the_list_of_fonts_breaks_no_word_on_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = run("fonts")[1].split()
    monkeypatch.setattr(console, "out", Console(width=60))
    narrow = run("fonts")[1].split()
    assert {word for word in narrow if word[0] != "─"} == {word for word in wide if word[0] != "─"}


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
        (["build", "--config", "missing.yaml"], "There is no recipe missing.yaml; give the path"),
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


@pytest.mark.parametrize("words", ["build", "plan", "finetune m --out o", "bloom build"])
def test_names_that_a_shell_puts_in_place_of_a_pattern(run: Run, words: str) -> None:
    for name in ("a.csv", "b.csv"):
        Path(name).touch()
    code, _, err = run(*words.split(), "a.csv", "b.csv")
    told = " ".join(err.replace("│", " ").split())
    assert code == 2 and "(b.csv). Put a pattern such as 'data/*.parquet' in quotes:" in told


@pytest.mark.parametrize("words", [["build", "a.csv", "no such file"], ["inspect", "data", "a.csv"]])
def test_other_words_too_many_are_of_no_pattern(run: Run, words: list[str]) -> None:
    Path("a.csv").touch()
    code, _, err = run(*words)
    assert code == 2 and "Got unexpected extra argument" in err and "quotes" not in err


def test_out_is_never_a_file_of_the_name_of_standard_output(run: Run) -> None:
    """`leaderboard export board --to md --out -` wrote a file called `-`."""
    commands = dict(commands_of(get_command(app)))
    takers = [path for path, command in commands.items() if any(one.name == "out" for one in command.params)]
    assert len(takers) > 20
    for path in takers:
        code, _, err = run(*path, "--out", "-")
        assert code == 2 and err.startswith("Error: --out takes a name, not `-`"), path
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("command", "words", "message"),
    [
        (("build", "missing.csv"), ("--source-license", "--source-licence"), "There is no file or folder"),
        (("bloom", "build", "a.csv"), ("--licence", "--license"), "without control characters"),
    ],
)
def test_a_licence_is_spelt_in_two_ways(
    run: Run, command: tuple[str, ...], words: tuple[str, str], message: str
) -> None:
    told = [run(*command, word, "a\tb") for word in words]
    assert told[0] == told[1] and message in told[0][2]
    _, shown, _ = run(*command[:-1], "--help")
    assert words[0] in shown and words[1] not in shown


def test_one_of_something_is_said_without_a_plural(run: Run) -> None:
    """It was "1 of 1 pairs", "1 rows in 1 file(s)" and so on."""
    told = {}
    for words in (
        "plan samples:1", "build samples:1 --mode hard --out one", "inspect one", "preview one --out one.html",
        "export one --to webdataset --out shards", "build samples:1 --mode hard --splits train=3,test=... --out x",
    ):  # fmt: skip
        _, out, err = run(*words.split())
        told[words.split()[0]] = " ".join((out + err).split())
    assert "1 row in 1 file, read as 1 shard of" in told["plan"] and "In 1 process like this one" in told["plan"]
    assert "asks for 3 pairs in 'train', but of 1 usable pair only" in told["build"]
    assert "1 pair read, 1 built, from" in told["inspect"]
    assert "shows 1 pair; open it" in told["preview"]
    assert "1 row in " in told["export"]
    assert not re.search(r"\b1 (?!ms)[a-z ]*?(?:pairs|rows|files|shards|spans|items)\b", " ".join(told.values()))


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


def test_an_interruption_while_the_commands_are_imported(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It was Python's own traceback."""

    class Interrupted(ModuleType):
        def __getattr__(self, name: str) -> None:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "vcrgen.cli", Interrupted("vcrgen.cli"))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130 and capfd.readouterr() == ("", "")
