"""The commands: what they print, what they never print, and one sentence for every mistake."""

import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, str, str]]
Tree = Callable[[Path], dict[str, bytes]]
Answers = Callable[[Path], list[dict[str, Any]]]
SMALL = ("samples:40", "--items", 3, "--fonts", "lato")


@pytest.fixture
def own_secret(tmp_path: Path) -> Path:
    """The secret of all tests, in a file that no other set has used."""
    file = tmp_path / "secret.key"
    file.touch(0o600)
    file.write_text("5eed" * 16)
    return file


def test_a_set_from_beginning_to_end(run: Run, tree: Tree, answers: Answers) -> None:
    """Made, made again, verified: with a secret that nobody sees, and no answer on the screen."""
    said = []
    code, out, err = run("hidden", *SMALL, "--out", "set", "--secret-file", "my.key")
    said += [out, err]
    assert code == 0, err
    assert "A new secret is in my.key" in err and "The set is complete." in out
    assert "set/public for participants, set/key to keep" in out and "3 items" in out and "lato 3" in out
    before = tree(Path("set"))
    code, out, err = run("hidden", *SMALL, "--out", "set", "--secret-file", "my.key")
    said += [out, err]
    assert code == 0 and "was complete already" in out and "new secret" not in err
    for more in ((), ("--secret-file", "my.key")):
        code, out, err = run("hidden", "verify", "set", *more)
        said += [out, err]
        assert code == 0 and "Nothing was found" in out and "FAILED" not in out
        assert ("not checked" in out) == (not more)
    assert tree(Path("set")) == before
    digits = Path("my.key").read_text().splitlines()[0]
    shown = "\n".join(said).casefold()
    assert len(digits) == 64 and digits not in shown and digits[:16] not in shown
    for answer in answers(Path("set")):
        for text in (answer["caption"], answer["source_id"], *answer["crossed_text"]):
            assert text.casefold() not in shown
    assert not [name for name, data in tree(Path("set")).items() if digits.encode() in data]


def test_make_is_the_command_that_is_meant(run: Run, tree: Tree, small: Path, own_secret: Path) -> None:
    for number, words in enumerate((["hidden"], ["hidden", "make"])):
        code, _, err = run(*words, *SMALL, "--out", number, "--secret-file", own_secret)
        assert code == 0, err
        assert tree(Path(str(number))) == tree(small)
    code, _, err = run("hidden", "--out", "options-first", "--secret-file", own_secret, *SMALL)
    assert code == 0, err
    assert tree(Path("options-first")) == tree(small)


def test_forms(run: Run, tree: Tree, finished_forms: Path, own_secret: Path) -> None:
    options = ("--items", 4, "--same-pairs", 3, "--fonts", "lato, liberation-serif ,carlito")
    code, out, err = run("hidden", "samples:40", *options, "--out", "set", "--secret-file", own_secret)
    assert code == 0, err
    assert tree(Path("set")) == tree(finished_forms)
    for one, other in itertools.combinations((1, 2, 3), 2):
        assert f"forms {one}, {other}" in out
    assert "set/form-3/public for participants" in out
    code, out, _ = run("hidden", "verify", "set")
    assert code == 0 and all(f"set/form-{form}" in out for form in (1, 2, 3))
    (Path("set") / "form-2" / "public" / "notes.txt").write_text("mine")
    code, out, err = run("hidden", "verify", "set")
    assert code == 1 and "Do not publish this set" in err and "4 checks failed" in err
    assert run("hidden", "verify", "set/form-1")[0] == 0
    assert run("hidden", "verify", "set/form-2")[0] == 1


def test_chinese_pairs(run: Run, own_secret: Path, answers: Answers) -> None:
    words = ("--lang", "zh", "--items", 2, "--fonts", "ar-pl-sungti-gb", "--out", "set", "--secret-file", own_secret)
    code, _, err = run("hidden", "samples:20", *words)
    assert code == 0, err
    assert len(answers(Path("set"))) == 2
    assert run("hidden", "verify", "set", "--secret-file", own_secret)[0] == 0


def test_a_failed_check_quotes_nothing(run: Run, hidden_set: Path, answers: Answers) -> None:
    """Captions in names, in ids, in the questions' file, and in a key of another form."""
    items = answers(hidden_set)
    public = hidden_set / "public"
    caption = str(items[0]["caption"]).replace("/", " ")
    image = public / "stacked_image" / f"{items[0]['question_id']}.png"
    image.rename(image.with_name(f"{caption}.png"))
    (public / f"{items[1]['crossed_text'][0]}.txt").write_text(items[1]["caption"])
    (public / items[2]["crossed_text"][0]).mkdir()
    rows = [{"question_id": caption, "caption": caption}, {"question_id": items[1]["caption"], "question": [caption]}]
    (public / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (public / "manifest.json").write_text(json.dumps({"version": caption, "canary": caption}))
    (public / "README.md").write_text(caption)
    (hidden_set / "key" / "report.json").write_text(caption)
    code, out, err = run("hidden", "verify", hidden_set)
    assert code == 1 and "Traceback" not in err
    shown = " ".join((out + err).split()).casefold()
    for item in items:
        for text in (item["caption"], *item["crossed_text"]):
            assert text.casefold() not in shown and text[:16].casefold() not in shown


def test_images_named_after_captions_are_not_quoted_where_the_manifest_is_whole(
    run: Run, hidden_set: Path, answers: Answers
) -> None:
    """So that the check of the images comes as far as the image it cannot read."""
    items = answers(hidden_set)
    public = hidden_set / "public"
    rows = [{"question_id": item["crossed_text"][0]} for item in items]
    (public / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for item in items:
        for view in ("stacked_image", "only_it_image"):
            (public / view / f"{item['question_id']}.png").rename(public / view / f"{item['crossed_text'][0]}.png")
    broken = public / "stacked_image" / f"{items[0]['crossed_text'][0]}.png"
    data = broken.read_bytes()
    broken.write_bytes(data[:8] + data[-12:] + data[8:])
    code, out, err = run("hidden", "verify", hidden_set)
    assert code == 1 and "without a random id" in out
    shown = " ".join((out + err).split()).casefold()
    assert not any(item["crossed_text"][0].casefold() in shown for item in items)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["hidden", "missing.parquet", *SMALL[1:]], "missing.parquet"),
        (["hidden", *SMALL, "--lang", "xx"], "unknown language 'xx'"),
        (["hidden", "samples:2", *SMALL[1:]], "has 2 usable pairs, and 3 are asked for with --items"),
        (["hidden", "samples:9", "--fonts", "no-such-font"], "The font no-such-font cannot be used"),
        (["hidden", "samples:9", "--fonts", "lato,"], "cannot be used"),
        (["hidden", "samples:9", "--fonts", "liberation-sans", "--lang", "zh"], "choose a font of that language"),
        (["hidden", *SMALL, "--out", "file"], "file is a file; choose a folder"),
        (["hidden", *SMALL, "--out", "full"], "full is not empty"),
        (["hidden", *SMALL, "--secret-file", "out/s.key"], "The secret file out/s.key lies inside out"),
        (["hidden", *SMALL, "--secret-file", "full"], "The secret file full cannot be read"),
        (["hidden", *SMALL, "--secret-file", "open.key"], "can be read by others"),
        (["hidden", *SMALL, "--secret-file", "short.key"], "at least 128 are needed"),
        (["hidden", *SMALL, "--secret-file", "words.key"], "does not hold hexadecimal digits"),
        (["hidden", *SMALL, "--not-in", "missing.parquet"], "missing.parquet"),
        (["hidden", *SMALL, "--not-in", "full"], "holds no pairs that vcrgen knows"),
        (["hidden", *SMALL, "--caption-column", "text"], "'text'"),
        (["hidden", *SMALL, "--where", "lang"], "not of the form PATH=VALUE"),
        (["hidden", *SMALL, "--spacy-model", "en_core_web_sm"], "python -m spacy download en_core_web_sm"),
        (["hidden", *SMALL, "--censor-list", "missing.txt"], "missing.txt cannot be read"),
        (["hidden", "verify", "full"], "full holds no hidden set"),
        (["hidden", "verify", "nowhere"], "nowhere holds no hidden set"),
        (["hidden", "verify", "full", "--secret-file", "lost.key"], "lost.key cannot be read"),
        (["hidden", "verify", "full", "--secret-file", "open.key"], "can be read by others"),
    ],
)
def test_mistakes(run: Run, own_secret: Path, words: list[Any], message: str) -> None:
    Path("full").mkdir()
    Path("full/thesis.txt").write_text("mine")
    Path("file").write_text("mine")
    for name, text in (("open", "5eed" * 16), ("short", "5eed" * 7), ("words", "sesame " * 9)):
        Path(f"{name}.key").write_text(text)
        Path(f"{name}.key").chmod(0o644 if name == "open" else 0o600)
    if words[1] != "verify":
        words = [*words, *(() if "--out" in words else ("--out", "out"))]
        words = [*words, *(() if "--secret-file" in words else ("--secret-file", own_secret))]
    before = sorted(path.as_posix() for path in Path().rglob("*"))
    code, out, err = run(*words)
    assert code == 2, out + err
    assert message in " ".join(err.split()), err
    assert err.splitlines()[-1].startswith("Error: ") and "Traceback" not in err
    assert "5eed" not in out + err.replace(str(own_secret), "") and "sesame" not in out + err
    assert sorted(path.as_posix() for path in Path().rglob("*")) == before  # nothing half-made


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["samples:9", "--items", 0], "items: input should be greater than or equal to 1"),
        (["samples:9", "--items", "many"], "--items"),
        (["samples:9", "--same-pairs", 21], "same-pairs: input should be less than or equal to 20"),
        (["samples:9", "--forms", 0], "forms: input should be greater than or equal to 1"),
        (["samples:9", "--feedback", 1], "feedback: input should be less than 1"),
        (["samples:9", "--forms", 2, "--same-pairs", 2], "give one of them"),
        (["samples:9", "--colour", "red"], "--colour"),
        ([], "source"),
    ],
)
def test_words_that_the_command_does_not_know(
    run: Run, own_secret: Path, words: list[Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    code, out, err = run("hidden", *words, "--out", "out", "--secret-file", own_secret)
    assert code == 2 and message in (out + err).lower() and "Traceback" not in err
    assert not any(Path().iterdir())


@pytest.mark.parametrize("missing", ["--out", "--secret-file"])
def test_options_that_must_be_given(run: Run, own_secret: Path, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    options = {"--out": "out", "--secret-file": own_secret}
    del options[missing]
    code, out, err = run("hidden", "samples:9", *itertools.chain(*options.items()))
    assert code == 2 and missing in out + err
    assert not any(Path().iterdir())


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("hidden", ("make", "verify", "--forms 2", "hidden verify hidden-2026", "score preds.jsonl")),
        (
            "hidden make",
            (
                "--secret-file",
                "--out",
                "--items",
                "--forms",
                "--same-pairs",
                "--feedback",
                "--fonts",
                "--not-in",
                "--lang",
            ),
        ),
        ("hidden verify", ("--secret-file", "vcrgen hidden verify hidden-2026 --secret-file secret.key")),
    ],
)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help(run: Run, monkeypatch: pytest.MonkeyPatch, command: str, named: tuple[str, ...], flag: str) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    code, out, err = run(*command.split(), flag)
    assert code == 0 and not err
    text = " ".join(out.split())
    assert f"Usage: vcrgen {command}" in text
    for part in named:
        assert part in text
    assert f"vcrgen {command.removesuffix(' make')}" in text.split("Example")[1]


def test_no_word_shows_the_help(run: Run) -> None:
    _, out, err = run("hidden")
    assert "Usage: vcrgen hidden" in out + err and not any(Path().iterdir())


def test_nothing_heavy_is_loaded_for_help() -> None:
    script = (
        "import sys\nimport vcrgen.cli\n"
        "print(*{'spacy', 'jieba', 'datasets', 'pyarrow', 'PIL', 'numpy', 'filelock'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == ""


def test_verify_does_not_change_the_set(run: Run, hidden_set: Path, own_secret: Path, tree: Tree) -> None:
    before = tree(hidden_set), {path: path.stat().st_mtime_ns for path in [hidden_set, *hidden_set.rglob("*")]}
    assert run("hidden", "verify", hidden_set, "--secret-file", own_secret)[0] == 0
    assert run("hidden", "verify", hidden_set)[0] == 0
    after = tree(hidden_set), {path: path.stat().st_mtime_ns for path in [hidden_set, *hidden_set.rglob("*")]}
    assert after == before


def test_a_wrong_secret_fails_the_seal_alone(run: Run, hidden_set: Path, other_secret_file: Path) -> None:
    code, out, err = run("hidden", "verify", hidden_set, "--secret-file", other_secret_file)
    assert code == 1 and out.count("FAILED") == 1 and "not of this secret" in out and "1 check failed" in err
    shutil.rmtree(hidden_set / "key")
    assert run("hidden", "verify", hidden_set, "--secret-file", other_secret_file)[0] == 0
