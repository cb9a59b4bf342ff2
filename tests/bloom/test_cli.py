"""``vcrgen bloom`` as a user calls it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bloom.conftest import png
from tests.bloom.test_importing import published

Run = Callable[..., tuple[int, str, str]]


def test_build_and_build_again(run: Run) -> None:
    code, out, _ = run("bloom", "build", "-n", "5", "--seed", "2")
    assert code == 0 and "data/bloom-scenes is complete: 5 of 5 items" in out
    code, _, err = run("bloom", "build", "-n", "5")
    assert code == 2 and "choose a new or an empty folder" in err


@pytest.mark.parametrize(
    ("words", "job", "said"),
    [
        (
            "build -n 5 --out scenes",
            "scenes.generator.build_scene_set",
            "Nothing is half written; the command begins anew next time.",
        ),
        (
            "build --config bloom-demo --offline",
            "generation.generate_set.generate_set",
            "What was finished is kept; run the same command again to go on.",
        ),
        (
            "coverage set",
            "coverage.classification.classify_sets",
            "What was finished is kept; run the same command again to go on.",
        ),
    ],
)
def test_an_interruption_says_what_is_kept(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: str, job: str, said: str
) -> None:
    """Replies of models are; of what is made without them, nothing."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    if "set" in words.split():
        assert run("bloom", "build", "-n", "5", "--out", "set")[0] == 0
    monkeypatch.setattr(f"vcrgen.bloom.{job}", stop)
    code, _, err = run("bloom", *words.split())
    assert code == 130 and err.splitlines()[-1] == f"Interrupted. {said}"


def test_import_says_what_was_set_aside(run: Run) -> None:
    Path("red.png").write_bytes(png())
    Path("Questions.json").write_text(json.dumps([published(0), published(1, answer="E"), published(2, answer="F")]))
    code, out, _ = run("bloom", "import", "Questions.json")
    assert code == 0 and "data/bloom-questions is complete: 1 of 3 items" in out and "bad_key" in out


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["build", "-n", "0"], "items: Input should be greater than or equal to 1"),
        (["build", "--seed", "-1"], "seed: "),
        (["build", "--out", "s3://bucket/set"], "is in an object store"),
        (["import", "none.json"], "none.json cannot be read"),
        (["import", "none.json", "--out", "s3://bucket/set"], "is in an object store"),
        (["import", "none.json", "--lang", "english"], "lang: "),
        (["import", "none.json", "--keep", "bad_key"], "--keep 'bad_key' is none of"),
    ],
)
def test_rubbish_is_a_sentence(run: Run, words: list[str], problem: str) -> None:
    code, _, err = run("bloom", *words)
    assert code == 2 and problem in err and "Traceback" not in err
