"""Built-in pairs and questions are public, so hidden sets of them are drawn from the secret."""

import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from tests.hidden.conftest import samples_of, write_pairs
from vcrgen.bloom.options import BloomSceneOptions
from vcrgen.bloom.scenes.generator import build_scene_set
from vcrgen.builder.options import load_build_config
from vcrgen.core.errors import ConfigError
from vcrgen.data.key import read_key
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.hidden import HiddenOptions, make_hidden, verify
from vcrgen.hidden.mcq import make_hidden_mcq
from vcrgen.hidden.verify import BUILT_IN_QUESTION
from vcrgen.samples.pairs import caption, picture

module = sys.modules["vcrgen.hidden.verify"]  # its name in the package is the function's
Run = Callable[..., tuple[int, str, str]]
Answers = Callable[[Path], list[dict[str, Any]]]
CHECK = "items that the package alone cannot rebuild"
SCENES = ("hidden", "scenes", "--items", 23, "--private-source", "--secret-file", "s.key")


def check(folder: Path) -> Any:
    return next(check for check in verify(folder) if check.name == CHECK)


def test_built_in_pairs_need_the_secret(make: Callable[..., Any], small: Path, tmp_path: Path) -> None:
    public = HiddenOptions(config=load_build_config(None, {"source": "samples:9"}), items=2)
    with pytest.raises(ConfigError, match=r"Built-in pairs are public: .*--private-source to draw them"):
        make_hidden(public, out=tmp_path / "set", secret_file=tmp_path / "new.key")
    assert not list(tmp_path.iterdir())  # no secret is made either
    assert (check(small).ok, check(small).detail[:33]) == (True, "built-in, but drawn from the secr")


def test_the_package_rebuilds_none_of_the_pairs(
    small: Path, make: Callable[..., Any], answers: Answers, other_secret_file: Path, tmp_path: Path
) -> None:
    """The attack: all pairs that the package has under small numbers, and under those of another secret."""
    make(tmp_path / "other", items=3, fonts=("open-sans",), secret=other_secret_file)
    mine, other = answers(small), answers(tmp_path / "other")
    numbers = {int(answer["source_id"].removeprefix("en-")) for answer in mine}
    assert min(numbers) > 1 << 128
    assert not numbers & {int(answer["source_id"].removeprefix("en-")) for answer in other}
    rebuilt = {caption("en", number) for number in range(1000)}
    assert not {answer["caption"] for answer in mine} & rebuilt
    assert {caption("en", number) for number in numbers} == {answer["caption"] for answer in mine}  # with the secret
    assert all(picture(number) for number in numbers)


@pytest.mark.parametrize("number", [12, 10**6])
def test_verify_names_public_pairs(small: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets from before, or of a file with built-in pairs."""
    for text, ok in ((caption("en", number), False), ("Something else under such an id", True)):
        found = {"source_id": f"en-{number:06d}", "caption": text}
        monkeypatch.setattr(module, "read_answers", lambda _, found=found: [found])
        with nullcontext() if ok else pytest.raises(module.CheckFailed, match="built-in items are public"):
            assert module._check_source(small / "public", small / "key") == ""


def test_built_in_questions_need_the_secret(run: Run, answers: Answers, tmp_path: Path) -> None:
    build_scene_set(BloomSceneOptions(items=23, seed=7), Path("scenes-7"))
    dataset = open_task_dataset(Path("scenes-7"))
    for private, message in ((False, "Built-in questions are public"), (True, "of the seed 7, which can be guessed")):
        options = HiddenOptions(config=load_build_config(None, {}), items=5, private_source=private)
        with pytest.raises(ConfigError, match=message):
            make_hidden_mcq(dataset, options, out=tmp_path / "h", secret_file=tmp_path / "k")
    code, _, err = run(*(word for word in SCENES if word != "--private-source"), "--out", "set")
    assert code == 2 and "Built-in questions are public" in err and not Path("s.key").exists()
    code, out, err = run(*SCENES, "--out", "set")
    assert code == 0, out + err
    found = [BUILT_IN_QUESTION.fullmatch(answer["source_id"]) for answer in answers(Path("set"))]
    assert len(found) == 23 and all(match and int(match[1]) > 1 << 128 for match in found)
    assert check(Path("set")).ok and "drawn from the secret" in check(Path("set")).detail
    note = "answers can be taken from public ones"
    assert note in " ".join(out.split()) and note in Path("set/public/README.md").read_text("utf-8")
    assert not list(Path().glob(".vcrgen-*"))
    code, out, _ = run(*SCENES, "--out", "set")
    assert code == 0 and "was complete already" in out
    secret = Path("s.key").read_text().split()[0]
    seed = str(int(next(match[1] for match in found if match)) // 10**6)
    shown = "".join(file.read_text("utf-8") for file in Path("set/public").glob("*.*"))
    assert secret not in shown and seed[:12] not in shown


def test_pictures_that_may_be_public_are_named(run: Run, tmp_path: Path) -> None:
    """Neither pairs nor questions without a word about their pictures; the card, and the key for boards, say what."""
    write_pairs(Path("pairs.parquet"), samples_of(range(8)))
    write_pairs(Path("known.parquet"), samples_of(range(90, 93)))
    pairs = ("hidden", "pairs.parquet", "--items", 2, "--fonts", "open-sans", "--cover", "rows", "--reuse-secret")
    build_scene_set(BloomSceneOptions(items=23, seed=7), Path("own"))
    manifest = Path("own/manifest.json")
    manifest.write_text(manifest.read_text("utf-8").replace("scenes-", "own-"), "utf-8")
    questions = ("hidden", "own", "--items", 5, "--reuse-secret")
    for words in (pairs, questions):
        code, _, err = run(*words, "--out", "set", "--secret-file", "s.key")
        assert (
            code == 2 and "with --not-in, or give --public-pictures, which the set's" in err and "Traceback" not in err
        )
        assert not Path("s.key").exists() and not Path("set").exists()
    for number, (words, more, pictures) in enumerate(
        (
            (pairs, ("--not-in", "known.parquet", "--public-pictures"), "public"),
            (pairs, ("--not-in", "known.parquet"), "compared"),
            (questions, ("--public-pictures",), "public"),
        )
    ):
        out = Path(f"set-{number}")
        code, printed, err = run(*words, *more, "--out", out, "--secret-file", "s.key")
        assert code == 0, err
        card = " ".join((out / "public/README.md").read_text("utf-8").split())
        said = "Pictures that may be public: they were compared with no others."
        assert (said in card) == (said in " ".join(printed.split())) == (pictures == "public")
        assert read_key(out / "key").pictures == pictures
        assert f'"pictures": "{pictures}"' in (out / "public/manifest.json").read_text("utf-8")
        failed = {check.name for check in verify(out) if check.ok is False}
        assert failed <= {CHECK}  # the pairs of this test are built-in ones


def test_own_pairs_are_not_drawn_from_the_secret(make: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text('{"image": "a.png", "caption": "b"}\n')
    options = HiddenOptions(
        config=load_build_config(None, {"source": str(tmp_path / "pairs.jsonl")}), private_source=True
    )
    with pytest.raises(ConfigError, match=r"--private-source draws the built-in pairs .* is another source"):
        make_hidden(options, out=tmp_path / "set", secret_file=tmp_path / "new.key")
