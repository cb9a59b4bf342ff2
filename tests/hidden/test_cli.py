"""The commands: what they print, what they never print, and one sentence for every mistake."""

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., tuple[int, str, str]]
Tree = Callable[[Path], dict[str, bytes]]
Answers = Callable[[Path], list[dict[str, Any]]]
SMALL = ("samples:40", "--private-source", "--items", 3, "--fonts", "open-sans", "--cover", "rows")


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
    assert "set/public for participants, set/key to keep" in out and "3 items" in out and "open-sans 3" in out
    before = tree(Path("set"))
    code, out, err = run("hidden", *SMALL, "--out", "set", "--secret-file", "my.key")
    said += [out, err]
    assert code == 0 and "was complete already" in out and "new secret" not in err
    for more in ((), ("--secret-file", "my.key")):
        code, out, err = run("hidden", "verify", "set", "--strips", 0, *more)
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


def test_forms(run: Run, tree: Tree, finished_forms: Path, own_secret: Path) -> None:
    options = ("--items", 4, "--same-pairs", 3, "--fonts", "open-sans, liberation-serif ,caladea", "--cover", "rows")
    code, out, err = run(
        "hidden", "samples:40", "--private-source", *options, "--out", "set", "--secret-file", own_secret
    )
    assert code == 0, err
    assert tree(Path("set")) == tree(finished_forms)
    for one, other in itertools.combinations((1, 2, 3), 2):
        assert f"forms {one}, {other}" in out
    assert "set/form-3/public for participants" in out
    code, out, _ = run("hidden", "verify", "set", "--strips", 0)
    assert code == 0 and all(f"set/form-{form}" in out for form in (1, 2, 3))
    (Path("set") / "form-2" / "public" / "notes.txt").write_text("mine")
    code, out, err = run("hidden", "verify", "set", "--strips", 0)
    assert code == 1 and "Do not publish this set" in err and "4 checks failed" in err
    assert run("hidden", "verify", "set/form-1", "--strips", 0)[0] == 0
    assert run("hidden", "verify", "set/form-2")[0] == 1


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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["hidden", "missing.parquet", *SMALL[1:]], "missing.parquet"),
        (
            ["hidden", "samples:9", "--private-source", "--fonts", "no-such-font"],
            "The font no-such-font cannot be used",
        ),
        (["hidden", *SMALL, "--out", "full"], "full is not empty"),
        (["hidden", *SMALL, "--secret-file", "out/s.key"], "The secret file out/s.key lies inside out"),
        (["hidden", *SMALL, "--secret-file", "short.key"], "at least 128 are needed"),
        (["hidden", "verify", "full"], "full holds no hidden set"),
        (["hidden", "verify", "full", "--secret-file", "lost.key"], "lost.key cannot be read"),
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


def test_verify_does_not_change_the_set(run: Run, hidden_set: Path, own_secret: Path, tree: Tree) -> None:
    before = tree(hidden_set), {path: path.stat().st_mtime_ns for path in [hidden_set, *hidden_set.rglob("*")]}
    assert run("hidden", "verify", hidden_set, "--strips", 0, "--secret-file", own_secret)[0] == 0
    assert run("hidden", "verify", hidden_set)[0] == 0
    after = tree(hidden_set), {path: path.stat().st_mtime_ns for path in [hidden_set, *hidden_set.rglob("*")]}
    assert after == before


def test_a_wrong_secret_fails_the_seal_alone(run: Run, hidden_set: Path, other_secret_file: Path) -> None:
    code, out, err = run("hidden", "verify", hidden_set, "--strips", 0, "--secret-file", other_secret_file)
    assert code == 1 and out.count("FAILED") == 1 and "not of this secret" in out and "1 check failed" in err
    shutil.rmtree(hidden_set / "key")
    assert run("hidden", "verify", hidden_set, "--strips", 0, "--secret-file", other_secret_file)[0] == 0
