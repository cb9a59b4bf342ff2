"""The command line: every command of the README runs, and every mistake is one sentence and exit code 2."""

import io
import json
import platform
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PIL import features
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_command

from vcrgen.__main__ import main
from vcrgen.builder.shards import BYTE_PACKAGES, SIGNED_PACKAGES
from vcrgen.cli import app, console
from vcrgen.cli.root import COMMANDS
from vcrgen.core.extras import EXTRAS

Run = Callable[..., tuple[int, str, str]]


def commands_of(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command below a command, with the words that name it."""
    for name in command.list_commands(None) if isinstance(command, TyperGroup) else ():
        yield from commands_of(command.get_command(None, name), (*path, name))
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
    assert shlex.split(said.removeprefix("Look at it: ")) == ["vcrgen", "view", folder]


def test_the_help_shows_commands_in_the_order_in_which_they_are_met(run: Run) -> None:
    _, out, _ = run("--help")
    listed = [line.split()[1] for line in out.splitlines() if line.startswith("│ ") and line[2].islower()]
    assert listed == list(COMMANDS)


def test_the_table_of_commands_agrees_with_their_modules() -> None:
    group: Any = get_command(app)
    for name, row in COMMANDS.items():
        assert group.get_command(None, name).help.split("\n\n")[0] == row.help, name
    registered = {*app.registered_commands, *app.registered_groups}
    assert len(registered) == len(COMMANDS)


def test_the_help_is_broken_where_the_terminal_ends() -> None:
    """Sentences were broken where the lines of the code end, too: "The result is written as JSON beside"."""
    group: Any = get_command(app)
    first, second = group.get_command(None, "score").help.split("\n\n")
    assert first.endswith("with confidence intervals.") and "as JSON beside the file of outputs" in second


@pytest.mark.parametrize(("terminal", "shown"), [(False, "国".encode()), (True, rb"\u56fd")])
def test_a_letter_that_the_system_cannot_write_is_no_fault(
    terminal: bool, shown: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Minus signs ended `vcrgen score --compare > file` with a traceback on Windows."""
    page = io.BytesIO()
    stream = io.TextIOWrapper(page, encoding="cp1252")
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr("sys.stdout", stream)
    monkeypatch.setattr("sys.argv", ["vcrgen", "fonts", "check", "国", "--lang", "zh"])
    with pytest.raises(SystemExit):
        app()
    stream.flush()
    assert shown in page.getvalue()


def test_the_version(run: Run) -> None:
    assert run("--version") == (0, f"vcrgen {version('vcrgen')}\n", "")


@pytest.mark.parametrize("words", ["--version --verbose", "--verbose --version"])
def test_the_versions_for_a_report_of_a_fault(run: Run, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    monkeypatch.setitem(EXTRAS, "korean", ("numpy", "no-such-package"))
    code, out, _ = run(*words.split())
    lines = out.splitlines()
    assert code == 0 and lines[0] == f"vcrgen {version('vcrgen')}"
    packages = (*BYTE_PACKAGES, *SIGNED_PACKAGES)
    assert {f"{name} {version(name)}" for name in packages} <= set(lines)
    assert f"freetype {features.version('freetype2')}" in lines and f"webp {features.version('webp')}" in lines
    assert f"CPython {platform.python_version()}, {platform.platform()}" in lines
    assert f"extra korean: numpy {version('numpy')}, no-such-package not installed" in lines


@pytest.mark.parametrize("place", ["before", "behind"])
def test_verbose_logs_the_steps_and_quiet_tells_of_no_next_command(run: Run, place: str) -> None:
    def build(option: str) -> tuple[int, str, str]:
        words = ("build", "samples:2", "--mode", "easy", "--out", f"{place}{option}")
        return run(option, *words) if place == "before" else run(*words, option)

    code, out, err = build("-v")
    assert code == 0 and "\nLook at it: " in out
    assert [line[9:] for line in err.splitlines()][:2] == [
        "reading the source's layout",
        "loading fonts and text pipeline",
    ]
    code, out, err = build("-q")
    assert (code, err) == (0, "") and "Look at it" not in out and "is complete" in out
    assert run("-q", "fonts", "-v")[0] == 2


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


@pytest.mark.parametrize("form", ["vlmevalkit", "lmms-eval"])
def test_export(run: Run, dataset: Path, form: str) -> None:
    code, out, err = run("export", dataset, "--to", form, "--out", "exported")
    assert code == 0, err
    assert "exported" in out and any(Path("exported").iterdir())


def test_fonts(run: Run) -> None:
    assert "Liberation Sans" in run("fonts")[1]
    assert "no character to check" in run("fonts", "check", "")[2]
    code, out, _ = run("fonts", "check", "国國", "--lang", "zh")
    assert code == 0 and "WenQuanYi Micro Hei: 国國" in out
    code, out, _ = run("fonts", "check", "\U000131a0")
    assert code == 1 and "no glyph" in out
    korean = run("fonts", "--lang", "ko")[1]
    assert "Without questions.txt, no questions" in korean
    assert "nanum-gothic" in korean and "liberation-sans" not in korean
    assert "Unknown language 'xx'; known: en, zh" in run("fonts", "--lang", "xx")[2]


def test_the_list_of_fonts_breaks_no_word_on_a_narrow_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = run("fonts")[1].split()
    monkeypatch.setattr(console, "out", Console(width=60))
    narrow = run("fonts")[1].split()
    assert {word for word in narrow if word[0] != "─"} == {word for word in wide if word[0] != "─"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["build", "missing.parquet"], "missing.parquet"),
        (["build", "samples:0"], "at least 1"),
        (["build", "--lang", "it"], "no built-in captions in Italian; name a source of pairs"),
        (["build", "--lang", "xx"], "unknown language 'xx'; known: en, zh"),
        (["build", "--mode", "medium"], "is not easy, hard, both, shares of ink"),
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
        (["view", "full"], "full is not a dataset: it has no manifest.json"),
        (["export", "full", "--to", "lmms-eval"], "full is not a dataset: it has no manifest.json"),
        (["fonts", "check", "a", "--lang", "xx"], "known: en, zh"),
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


@pytest.mark.parametrize("words", ["build", "finetune --model m --out o", "bloom build"])
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


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "build --seed abc",
            "--seed: Input should be a valid integer, unable to parse string as an integer; `vcrgen build",
        ),
        (
            "study invite s --count 0",
            "--count: Input should be greater than or equal to 1; `vcrgen study invite --help`",
        ),
        ("build --nope", "No such option: --nope"),
        ("build --seed", "Option '--seed' requires an argument.\n"),
        ("--nope", "No such option: --nope; `vcrgen --help`"),
        ("bild", "No such command 'bild'. Did you mean 'build'? `vcrgen --help` tells what it takes."),
        ("score", "Missing argument 'predictions'; `vcrgen score --help`"),
        ("build --ngram-size 11", "--ngram-size: Input should be less than or equal to 10."),
        ("build --lang xx", "--lang: unknown language 'xx'; known: en,"),
    ],
)
def test_a_wrong_word_is_told_in_one_sentence(run: Run, words: str, told: str) -> None:
    code, out, err = run(*words.split())
    assert (code, out) == (2, "") and err.startswith(f"Error: {told}") and err.count("\n") == 1


def test_a_wrong_value_of_a_recipe_is_told_with_the_file(run: Run) -> None:
    Path("own.yaml").write_text("width: 3\n")
    code, _, err = run("build", "--config", "own.yaml")
    assert code == 2 and err.startswith("Error: own.yaml: width: Input should be")


def test_out_is_never_a_file_of_the_name_of_standard_output(run: Run) -> None:
    """`leaderboard export board --to md --out -` wrote a file called `-`."""
    commands = dict(commands_of(get_command(app)))
    takers = [path for path, command in commands.items() if any(one.name == "out" for one in command.params)]
    assert len(takers) > 20
    for path in takers:
        code, _, err = run(*path, "--out", "-")
        assert code == 2 and err.startswith("Error: --out takes a name, not `-`"), path
    assert not list(Path().iterdir())


def test_a_damaged_dataset(run: Run, dataset: Path) -> None:
    shutil.copytree(dataset, "damaged")
    next(Path("damaged/easy").glob("*.parquet")).write_bytes(b"PAR1 no longer")
    for words in (["inspect", "damaged"], ["view", "damaged", "--no-open"], ["export", "damaged", "--to", "lmms-eval"]):
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


@pytest.mark.parametrize(
    ("words", "completed"),
    [("vcrgen sco", ["score"]), ("vcrgen hidden ver", ["verify"]), ("vcrgen score --protoc", ["--protocol"])],
)
def test_the_shell_completes(
    words: str, completed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_VCRGEN_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit):
        app(prog_name="vcrgen")
    assert capsys.readouterr().out.split() == completed
