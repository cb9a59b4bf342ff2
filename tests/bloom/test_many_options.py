"""Items with two to ten options, as MMMU-Pro has: imported, shown, asked, scored, hidden, exported, generated."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bloom.author import good, stage_of
from tests.bloom.conftest import done, made_set, png, row
from tests.models.fault_server import FaultServer
from vcrgen.builder.options import BuildConfig
from vcrgen.core.errors import DatasetError
from vcrgen.data.tasks.bloom import LETTERS, ChoiceItem, item_of, read_items
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.hidden import verify
from vcrgen.hidden.mcq import make_hidden_mcq
from vcrgen.hidden.options import HiddenOptions
from vcrgen.hidden.secret import load_secret
from vcrgen.scorer import score
from vcrgen.scorer.mcq.choices import read_choice
from vcrgen.scorer.saved import as_saved, load_saved

Run = Callable[..., tuple[int, str, str]]
COUNTS = (10, 10, 10, 10, 7, 4, 3, 2)  # options of the items, in turn
ENGLISH = [f"{word} boats" for word in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]]
ARABIC = ["أحمر", "أزرق", "أخضر", "أصفر", "أبيض", "أسود", "وردي", "برتقالي", "بنفسجي", "بني"]


def many(number: int) -> dict[str, Any]:
    count = COUNTS[number % len(COUNTS)]
    key = number // len(COUNTS) * 3 % count
    picture = {"bytes": png(f"#{number % 256:02x}{number // 3:02x}40"), "path": None}
    texts = {"options_en": ENGLISH[:count], "options_ar": ARABIC[:count], "question_en": f"How many boats? ({number})"}
    return row(number, image=picture, answer=LETTERS[key], trap=LETTERS[(key + 1) % count], **texts)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_set(tmp_path_factory.mktemp("many") / "set", [many(number) for number in range(80)])


def items_in(folder: Path) -> list[ChoiceItem]:
    return list(read_items(open_task_dataset(folder)))


def test_items_have_their_own_number_of_options(data: Path, run: Run) -> None:
    items = items_in(data)
    assert Counter(item.options for item in items) == {10: 40, 7: 10, 4: 10, 3: 10, 2: 10}
    code, out, err = run("inspect", data)
    assert code == 0 and "J 4" in " ".join(out.split()), out + err
    code, out, err = run("view", data, "--out", "page")
    assert code == 0 and "shows 80 items" in out, err


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"options_en": [*ENGLISH, "eleven boats"]}, "no question with 2 to 10 options"),
        ({"options_en": ENGLISH[:1]}, "no question with 2 to 10 options"),
        ({"options_en": ENGLISH[:9]}, "other numbers of options"),
        ({"answer": "K"}, "none of A, B, C, D, E, F, G, H, I, J"),
    ],
)
def test_rows_that_fit_no_item_are_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        item_of(many(0) | changes, ("en", "ar"))


def test_a_key_behind_the_last_option_is_refused() -> None:
    with pytest.raises(ValueError, match="none of A, B, C"):
        item_of(many(6) | {"answer": "D"}, ("en", "ar"))


def knower(call: Any) -> Any:
    """A model that knows each key, and looks for its text among the options that are shown."""
    from tests.models.fault_server import Answer

    text = "".join(part.get("text", "") for part in call.body["messages"][0]["content"])
    listed = [line for line in text.splitlines() if line[1:3] == ". "]
    if "(" in text:  # the English question has its number
        item = many(int(text.partition("(")[2].partition(")")[0]))
        right = item["options_en"][LETTERS.index(item["answer"])]
        return Answer(text=next(line for line in listed if line.endswith(f" {right}"))[0])
    return Answer(text=listed[0][0])


def test_asking_in_all_orders_and_scoring(data: Path, run: Run, tmp_path: Path) -> None:
    with FaultServer(knower) as server:
        words = ["predict", data, "--endpoint", server.url, "--model", "m", "--lang", "en", "--out", "p.jsonl"]
        code, _, err = run(*words, "--rotations", 4)
        assert code == 2 and "has items with 10 options, and --rotations is 4" in err
        done(run, *words, "--rotations", 10)
    lines = [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()]
    assert len(lines) == 10 * sum(COUNTS) and max(line["rotation"] for line in lines) == 9
    result = score(Path("p.jsonl"), data=data, lang="en")
    (cell,) = result.cells
    assert cell.metrics["rae"].value == cell.metrics["circular"].value == 1
    assert cell.chance == pytest.approx((40 / 10 + 10 / 7 + 10 / 4 + 10 / 3 + 10 / 2) / 80)
    assert {each.options for each in cell.key_letters} == {2, 3, 4, 7, 10}
    assert sum(each.units for each in cell.key_letters) == 80
    lines = [line for line in lines if line["rotation"] or line["question_id"] != "item-000"]
    Path("q.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (cell,) = score(Path("q.jsonl"), data=data, lang="en").cells
    assert cell.metrics["circular"].value == 79 / 80, "an order without an output is not right"
    saved = tmp_path / "scores.json"
    saved.write_text(json.dumps(as_saved(result, secret=False)))
    assert load_saved(saved).cells == result.cells


def test_the_report_has_the_chance_of_the_set(data: Path, run: Run) -> None:
    lines = [
        {"question_id": many(number)["question_id"], "lang": lang, "output": "A"}
        for number in range(80)
        for lang in ("en", "ar")
    ]
    Path("a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, out, err = run("score", "a.jsonl", "--data", data)
    assert code == 0 and "chance 20.33" in out, out + err
    code, out, _ = run("score", "a.jsonl", "--data", data, "--format", "md")
    assert code == 0 and "| 20.33" in out and "J right" in out
    code, out, _ = run("profile", "a.scores.json", "--format", "md")
    assert code == 0 and "Chance is 20.3 %" in out


@pytest.mark.parametrize(("rotation", "problem"), [(9, None), (10, "it has to be 0 to 9"), (-1, "it has to be 0 to 9")])
def test_orders_that_no_item_has(data: Path, rotation: int, problem: str | None, tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text(json.dumps({"question_id": "item-000", "lang": "en", "rotation": rotation, "output": "A"}))
    if problem is None:
        score(file, data=data, lang="en")
        file.write_text(file.read_text().replace("item-000", "item-005"))
        problem = "its `rotation` is 9, and its item has 4 options, so it goes to 3"
    with pytest.raises(Exception, match=problem):
        score(file, data=data, lang="en")


def test_likelihoods_are_one_for_each_option(data: Path, tmp_path: Path) -> None:
    lines = []
    for number in range(80):
        item = many(number)
        means = [-3.0] * len(item["options_en"])
        means[LETTERS.index(item["answer"])] = -1.0
        lines.append(
            {
                "question_id": item["question_id"],
                "lang": "en",
                "logprobs": [[mean, mean] for mean in means],
                "label_logprobs": means,
            }
        )
    lines[0]["logprobs"].pop()
    file = tmp_path / "l.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = score(file, data=data, lang="en")
    assert result.cells[0].metrics["lbs"].value == 79 / 80 and result.cells[0].metrics["letter"].value == 1
    assert result.problems["not_four"][0] == 1
    assert "An option has 2 to 2 tokens here" in result.notes[-1]


def test_a_table_of_ten_options_and_fewer(run: Run) -> None:
    """As MMMU-Pro writes them: a list in Python's form, from two to ten options."""
    Path("red.png").write_bytes(png())
    rows = [
        {
            "id": number,
            "image": "red.png",
            "question": f"How many? ({number})",
            "answer": LETTERS[count - 1],
            "options": repr(ENGLISH[:count]),
            "category": "poem",
        }
        for number, count in enumerate((10, 5, 2, 1))
    ]
    rows.append(rows[0] | {"id": 9, "options": repr([*ENGLISH, "eleven boats"])})
    Path("t.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    code, out, err = run("bloom", "import", "t.jsonl", "--out", "set")
    assert code == 0 and "number_of_options" in out + err, out + err
    assert [(item.options, item.answer) for item in items_in(Path("set"))] == [(10, 9), (5, 4), (2, 1)]
    lettered = [
        {"index": number, "image": "red.png", "question": "How many?", "answer": "B", "category": "poem"}
        | dict.fromkeys("ABCDEFGHIJK", "")
        | dict(zip(LETTERS, ENGLISH[:count], strict=False))
        for number, count in enumerate((10, 3))
    ]
    lettered.append(lettered[0] | {"index": 2, "K": "eleven boats"})
    Path("u.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lettered))
    done(run, "bloom", "import", "u.jsonl", "--out", "set2")
    assert [item.options for item in items_in(Path("set2"))] == [10, 3]


@pytest.mark.parametrize("form", ["vlmevalkit", "lmms-eval"])
def test_exports_come_back(data: Path, run: Run, form: str) -> None:
    done(run, "export", data, "--to", form, "--out", "out")
    file = next(Path("out").rglob("BLOOM_EN*.tsv" if form == "vlmevalkit" else "bloom_en*.parquet"))
    done(run, "bloom", "import", file, "--out", "back")
    before, after = (
        [(item.questions["en"], item.answer, item.trap) for item in items_in(folder)] for folder in (data, Path("back"))
    )
    assert before == after


def test_hidden_sets_turn_all_options(data: Path, tmp_path: Path) -> None:
    (tmp_path / "k").write_text("2a" * 32)  # with some secrets a letter is the key of none of 60 items
    (tmp_path / "k").chmod(0o600)
    options = HiddenOptions(config=BuildConfig(), items=60, public_pictures=True)
    found = make_hidden_mcq(open_task_dataset(data), options, out=tmp_path / "h", secret_file=tmp_path / "k")
    secret = load_secret(tmp_path / "k", create=False)
    assert [check.detail for check in verify(tmp_path / "h", secret=secret) if not check.ok] == []
    key = [json.loads(line) for line in (found.keys[0] / "answers.jsonl").read_text().splitlines()]
    known = {many(number)["question_id"]: many(number) for number in range(80)}
    letters = Counter()
    for line in key:
        item = known[line["source_id"]]
        assert line["options_en"][LETTERS.index(line["answer"])] == item["options_en"][LETTERS.index(item["answer"])]
        assert sorted(line["options_en"]) == sorted(item["options_en"])
        letters[line["answer"]] += 1
    assert len(letters) == 10


def test_generated_items_have_as_many_as_are_asked_for(run: Run) -> None:
    Path("few.csv").write_text("level,subcategory,leaf\nremember,core object recognition,animals\n")
    words = "bloom build samples:60 --model M --judge J --taxonomy few.csv --per-category 24 --options 6 --out six"
    with FaultServer(good) as server:
        done(run, *words.split(), "--endpoint", server.url)
        prompts = {stage_of(call): json.dumps(call.body) for call in server.calls}
    assert "Write five wrong answers" in prompts["options"] and "All six answers" in prompts["options"]
    assert "the six answers" in prompts["translation"] and "the five others are wrong" in prompts["verdict"]
    items = items_in(Path("six"))
    assert len(items) > 10 and all(item.options == 6 for item in items)
    assert len({item.answer for item in items}) == 6


@pytest.mark.parametrize(
    ("output", "choice"),
    [
        ("J", 9),
        ("The answer is I.", 8),
        ("I think it is E.", 4),
        ("I, because the sails are up.", 8),
        ("I am not sure, but F fits.", None),
        ("10", 9),
        ("Option 10", 9),
        ("Neither I nor J; it is A.", None),
        ("هـ", 4),
        ("الإجابة هي و", 5),
        ("أ و ب", None),
        ("الإجابة: ي", 9),
        ("١٠", 9),
        ("في الصورة قارب", None),
    ],
)
def test_labels_up_to_the_tenth(output: str, choice: int | None) -> None:
    assert read_choice(output, ARABIC).choice == choice


def test_letters_that_no_option_has_are_no_labels() -> None:
    assert read_choice("E", ARABIC[:4]).choice is read_choice("Answer: E", ARABIC[:4]).choice is None
    assert read_choice("5", ARABIC, protocol="bloom-code").choice == 4
    assert read_choice("10", ARABIC, protocol="bloom-code").choice == 9
    assert read_choice("Not A.", ARABIC[:2]).choice is None


def test_a_damaged_number_of_options_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="build or import the set again"):
        items_in(made_set(tmp_path / "bad", [many(0) | {"options_ar": ARABIC[:9]}]))
