"""Hidden MCQ benchmarks: the public part, the key, and that the one leaks nothing of the other."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.conftest import made_set, row
from vcrgen.builder.options import load_build_config
from vcrgen.core.errors import AnswerError, ConfigError, DatasetError, HiddenSetError, OutputError
from vcrgen.data.key import read_answers, read_key
from vcrgen.data.tasks.bloom import read_items
from vcrgen.data.tasks.opening import is_mcq_dataset, open_task_dataset
from vcrgen.hidden.mcq import make_hidden_mcq
from vcrgen.hidden.options import HiddenOptions
from vcrgen.hidden.secret import load_secret
from vcrgen.hidden.verify import leaks, verify
from vcrgen.scorer.answers import load_answers

ITEMS = 24


def hide(source: Path, out: Path, secret: Path, **options: Any) -> None:
    config = load_build_config(None, {"source": str(source)})
    chosen = HiddenOptions(config=config, **({"items": ITEMS, "public_pictures": True} | options))
    make_hidden_mcq(open_task_dataset(source), chosen, out=out, secret_file=secret)


def source_rows(shift: int = 0) -> list[dict[str, Any]]:
    rows = [row(number, source=f"from item {number}") for number in range(40)]
    for number, each in enumerate(rows):
        each["question_en"] = f"How many boats are in harbour {number}?"
        each["answer"], each["trap"] = "ABCD"[(number + shift) % 4], "ABCD"[(number + shift + 1) % 4]
    return rows


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an MCQ benchmark, a secret, and the hidden set of both."""
    folder = tmp_path_factory.mktemp("hidden-questions")
    (folder / "secret.key").write_text(f"{'5e' * 32}\n")  # so that a failure comes again
    (folder / "secret.key").chmod(0o600)
    hide(made_set(folder / "source", source_rows()), folder / "set", folder / "secret.key")
    return folder


def _public_items(hidden: Path) -> list[dict[str, Any]]:
    lines = (hidden / "set" / "public" / "metadata.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_public_part_is_read_as_a_dataset(hidden: Path) -> None:
    data = open_task_dataset(hidden / "set" / "public")
    items = list(read_items(data))
    assert len(items) == ITEMS and {(item.answer, item.trap, item.path) for item in items} == {(None, None, "")}
    rows = [values for _, values in data.rows(["question_id", "image", "question_ar", "options_ar"])]
    assert len(rows) == ITEMS and all(len(each["options_ar"]) == 4 for each in rows)
    assert all(each["image"]["bytes"][:4] == b"\x89PNG" for each in rows)


def test_the_key_tells_the_right_option_in_the_secret_order(hidden: Path) -> None:
    source = {each["question_id"]: each for each in source_rows()}
    public = {each["question_id"]: each for each in _public_items(hidden)}
    orders = set()
    for line in read_answers(hidden / "set" / "key"):
        here, there = public[line["question_id"]], source[line["source_id"]]
        assert here["question_en"] == there["question_en"]
        for lang in ("en", "ar"):
            for name in ("answer", "trap"):
                shown = here[f"options_{lang}"]["ABCD".index(line[name])]
                assert shown == there[f"options_{lang}"]["ABCD".index(there[name])]
        orders.add(tuple(there["options_en"].index(option) for option in here["options_en"]))
    assert len(orders) > 8  # of 24
    key = read_key(hidden / "set" / "key")
    assert (key.task, key.language, key.items) == ("bloom", "en+ar", ITEMS)


def test_other_keys_give_the_same_public_bytes(hidden: Path, tmp_path: Path) -> None:
    """So no byte of the public part tells an answer: only the commitment, a hash with a secret nonce, hangs on them."""
    shutil.copy(hidden / "secret.key", tmp_path / "secret.key")
    hide(
        made_set(tmp_path / "source", source_rows(shift=1)),
        tmp_path / "set",
        tmp_path / "secret.key",
        reuse_secret=True,
    )
    ours, theirs = hidden / "set" / "public", tmp_path / "set" / "public"
    assert (hidden / "set" / "key" / "answers.jsonl").read_bytes() != (tmp_path / "set/key/answers.jsonl").read_bytes()
    names = sorted(path.relative_to(ours) for path in ours.rglob("*") if path.is_file())
    assert len(names) == ITEMS + 4
    for name in names:
        commitments = [read_key(folder / "key").commitment.encode() for folder in (hidden / "set", tmp_path / "set")]
        plain = [
            (folder / name).read_bytes().replace(each, b"")
            for folder, each in zip((ours, theirs), commitments, strict=True)
        ]
        assert plain[0] == plain[1], name


def test_nothing_of_the_source_or_the_key_is_in_a_public_byte(hidden: Path) -> None:
    public = b"\0".join(path.read_bytes() for path in (hidden / "set" / "public").rglob("*") if path.is_file())
    for line in read_answers(hidden / "set" / "key"):
        for text in (line["source_id"], line["path"], "from item"):
            assert text.encode() not in public
    assert b'"answer"' not in public and b'"trap"' not in public and b'"part"' not in public


def test_no_picture_is_in_both_parts(hidden: Path) -> None:
    parts: dict[str, set[str]] = {}
    for line in read_answers(hidden / "set" / "key"):
        parts.setdefault(line["picture"], set()).add(line["part"])
    assert len(parts) == 3 and all(len(each) == 1 for each in parts.values())
    report = json.loads((hidden / "set" / "key" / "report.json").read_text("utf-8"))
    assert sum(part["items"] for part in report["parts"].values()) == ITEMS


def test_the_same_secret_gives_the_same_bytes(hidden: Path, tmp_path: Path) -> None:
    shutil.copy(hidden / "secret.key", tmp_path / "secret.key")
    hide(hidden / "source", tmp_path / "set", tmp_path / "secret.key")
    for file in sorted(path for path in (hidden / "set").rglob("*") if path.is_file()):
        assert (tmp_path / "set" / file.relative_to(hidden / "set")).read_bytes() == file.read_bytes(), file
    assert not list(tmp_path.glob(".vcrgen*"))
    hide(hidden / "source", tmp_path / "set", tmp_path / "secret.key")  # complete already
    with pytest.raises(OutputError, match="another hidden set"):
        hide(hidden / "source", tmp_path / "set", tmp_path / "secret.key", items=10)
    with pytest.raises(HiddenSetError, match="has made another hidden set already"):
        hide(hidden / "source", tmp_path / "other", tmp_path / "secret.key", items=10)


def test_a_good_set_passes_every_check(hidden: Path) -> None:
    checks = verify(hidden / "set", secret=load_secret(hidden / "secret.key", create=False))
    assert len(checks) == 14 and [check for check in checks if check.ok is not True] == []


def edited(change: Callable[[dict[str, Any]], None], number: int = 0) -> Callable[[Path], None]:
    def leak(folder: Path) -> None:
        file = folder / "public" / "metadata.jsonl"
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        change(lines[number])
        text = "".join(
            json.dumps(line, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n" for line in lines
        )
        file.write_text(text, "utf-8")

    return leak


def written(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes())) and None


def source_id_in_a_question(folder: Path) -> None:
    source_id = next(read_answers(folder / "key"))["source_id"]
    edited(lambda line: line.update(question_en=f"How many in {source_id}?"))(folder)


def picture_with_more(folder: Path) -> None:
    file = min((folder / "public" / "image").iterdir())
    file.write_bytes(file.read_bytes() + b"B")


@pytest.mark.parametrize(
    ("leak", "name"),
    [
        (edited(lambda line: line.update(answer="B")), "questions: nothing but random ids and the question"),
        (edited(lambda line: line.update(path="a/b/c")), "questions: nothing but random ids and the question"),
        (edited(lambda line: line["options_en"].reverse()), "questions and images are those of the key"),
        (edited(lambda line: line.update(question_en=line["question_en"] + " ")), "questions and images are those"),
        (source_id_in_a_question, "no source id and no category"),
        (edited(lambda line: line.update(options_en=["a"])), "questions: nothing but"),
        (edited(lambda line: line.update(question_id="item-1")), "questions: nothing but"),
        (written("public/metadata.jsonl", lambda data: b"\n".join(data.splitlines()[::-1])), "questions: nothing"),
        (written("public/README.md", lambda data: data + b"B C A D"), "manifest and README"),
        (written("public/manifest.json", lambda data: data.replace(b'"items"', b'"key": "B", "items"')), "manifest"),
        (written("key/answers.jsonl", lambda data: data.replace(b'"answer":"A"', b'"answer":"B"')), "key unchanged"),
        (picture_with_more, "images: pixels and canary"),
        (lambda folder: (folder / "public" / "image" / "key.png").write_bytes(b""), "only the files that belong there"),
    ],
)
def test_a_planted_leak_is_found(hidden: Path, tmp_path: Path, leak: Callable[[Path], None], name: str) -> None:
    shutil.copytree(hidden / "set", tmp_path / "set")
    leak(tmp_path / "set")
    failed = [check.name for check in leaks(verify(tmp_path / "set"))]
    assert any(each.startswith(name) for each in failed), failed


def test_what_cannot_be_hidden_is_a_sentence(hidden: Path, tmp_path: Path) -> None:
    with pytest.raises(HiddenSetError, match=r"has 40 items, and 41 are asked for"):
        hide(hidden / "source", tmp_path / "set", tmp_path / "new.key", items=41)
    with pytest.raises(ConfigError, match="--same-pairs is for hidden sets of pairs"):
        hide(hidden / "source", tmp_path / "set", tmp_path / "new.key", same_pairs=2)
    with pytest.raises(DatasetError, match="the public part of a hidden set already"):
        hide(hidden / "set" / "public", tmp_path / "set", tmp_path / "new.key")
    with pytest.raises(HiddenSetError, match="lies inside"):
        hide(hidden / "source", tmp_path / "set", tmp_path / "set" / "new.key")
    assert not (tmp_path / "set").exists()
    assert is_mcq_dataset(str(hidden / "source")) and not is_mcq_dataset("samples:5")


def test_by_command(hidden: Path, run: Callable[..., tuple[int, str, str]]) -> None:
    words = [
        "hidden",
        str(hidden / "source"),
        "--items",
        "8",
        "--public-pictures",
        "--out",
        "set",
        "--secret-file",
        "new.key",
    ]
    code, out, err = run(*words)
    assert code == 0 and "8 items about" in out and "A new secret is in new.key" in err
    code, out, _ = run("hidden", "verify", "set", "--secret-file", "new.key")
    assert code == 0 and "FAILED" not in out
    code, _, err = run(*words, "--lang", "en")
    assert code == 2 and "--lang is for hidden sets of pairs" in err
    assert run("inspect", "set/public")[0] == 2
    assert run("view", "set/public", "--out", "page", "--mode", "easy")[0] == 2
    assert run("view", "set/public", "--out", "page")[0] == 0
    items = json.loads(Path("page/data/0000.js").read_text("utf-8").partition(",")[2].removesuffix(");\n"))
    assert len(items) == 8 and all(item["card"]["image"] and item["card"]["questions"] for item in items)
    assert {(item["card"]["key"], item["card"]["trap"]) for item in items} == {(None, None)}


def test_interrupted_it_begins_anew(
    hidden: Path, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of an MCQ benchmark is kept, other than of pairs; and the message says so."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vcrgen.hidden.mcq.make_hidden_mcq", stop)
    code, _, err = run("hidden", str(hidden / "source"), "--public-pictures", "--out", "anew", "--secret-file", "s.key")
    assert code == 130 and err == "Interrupted. Nothing is half written; the command begins anew next time.\n"


def test_commands_of_covered_texts_refuse_its_key(hidden: Path) -> None:
    with pytest.raises(AnswerError, match="is the key of a hidden MCQ benchmark, which this command does not take"):
        load_answers(hidden / "set" / "key")
