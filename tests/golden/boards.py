"""A board's tables and pages, what its ladder tells, and reported results."""

import csv
import json
import re
from pathlib import Path
from typing import Any

from tests.golden.bench import INK, INPUTS, Bench, as_text, digest, golden, plain_cell, undated, visible
from tests.golden.hidden import hidden_outputs, hidden_set
from tests.golden.questions import mcq_rows, mcq_set
from tests.golden.scores import answers_set, outputs

MODELS = (
    ("reader-en", "public", "Reader", "Team A", "--size", "7B", "--access", "open", "--link", "https://example.org/r"),
    ("guesser-en", "public", "Guesser & <Co>", "Team B", "--size", "1.3B", "--released", "2024-02-03"),
    ("third-en", "public", "Third_model", "Team A", "--access", "closed"),
    (
        "hidden-half",
        "secret",
        "Reader",
        "Team A",
        "--size",
        "7B",
        "--access",
        "open",
        "--link",
        "https://example.org/r",
    ),
    ("hidden-right", "secret", "Guesser & <Co>", "Team B", "--size", "1.3B", "--released", "2024-02-03"),
    ("hidden-none", "secret", "Nothing", "Team C"),
)


def complete(bench: Bench, name: str) -> Path:
    """A complete file of outputs for the public set: boards refuse others."""
    if name.startswith("hidden-"):
        return hidden_outputs(bench, name.removeprefix("hidden-"))
    source = "reader-en" if name == "third-en" else name
    said = [json.loads(line) for line in outputs(bench, source).read_text("utf-8").splitlines()]
    by_place = {(row["question_id"], row["mode"], row["view"]): row["output"] for row in reversed(said)}
    names = [question["id"] for question in json.loads((INPUTS / "answers-en.json").read_text("utf-8"))]
    rows = [
        {"question_id": at, "mode": mode, "view": view, "output": by_place.get((at, mode, view)) or "nothing"}
        for mode in ("easy", "hard")
        for view in (("stacked",) if name == "third-en" else ("stacked", "tei"))
        for at in names
    ]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return bench.once(f"complete/{name}.jsonl", lambda path: path.write_text(text, "utf-8"))


def board(bench: Bench) -> Path:
    """A board with a public and a hidden set, and three models on each."""

    def make(path: Path) -> None:
        sets = ("--data", f"public:{answers_set(bench, 'en')}", "--data", f"secret:{hidden_set(bench) / 'form-1/key'}")
        words = ("--no-reported", "--title", "Golden board", "--feedback", "instant", "--unsafe")
        printed = [bench.run("leaderboard", "init", path, *sets, *words)]
        for file, on, model, team, *facts in MODELS:
            words = ("--model", model, "--team", team, "--set", on, *facts)
            printed.append(bench.run("leaderboard", "add", path, complete(bench, file), *words))
        refused = ("--model", "Incomplete", "--team", "Team D", "--set", "public")
        printed.append(bench.run("leaderboard", "add", path, outputs(bench, "reader-en"), *refused))
        (bench.folder / "board-printed.json").write_text(json.dumps(printed), "utf-8")

    return bench.once("board", make)


@golden("board", *INK)
def board_tables(bench: Bench) -> Any:
    """A board's output and tables: ranks, and rounded figures of the hidden set."""
    folder = board(bench)
    printed = json.loads((bench.folder / "board-printed.json").read_text("utf-8"))
    found: dict[str, Any] = {"printed": [[undated(line) for line in lines] for lines in printed]}
    found["md"] = [undated(line) for line in bench.run("leaderboard", "export", folder, "--to", "md")]
    written = bench.run("leaderboard", "export", folder, "--to", "latex")
    found["latex"] = [undated(line) for line in written[: written.index(r"\bottomrule") + 1]]
    rows = list(csv.DictReader(bench.run("leaderboard", "export", folder, "--to", "csv")))
    found["csv"] = [
        [f"{name}: {plain_cell(text)}" for name, text in row.items() if text and name != "signature"]
        for row in rows
        if row["view"] == "stacked"
    ]
    values = json.loads("\n".join(bench.run("leaderboard", "export", folder, "--to", "json")))
    shape = re.sub(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", "0", undated(json.dumps(values, sort_keys=True)))
    found["json without figures"] = digest(shape)
    settings = (folder / "board.yaml").read_text("utf-8").splitlines()
    found["settings"] = [line for line in settings if not line.startswith("  data: ")]
    return found


@golden("board-questions")
def board_of_questions(bench: Bench) -> Any:
    """The visible text of the pages of a board with an MCQ benchmark."""
    folder, out = bench.folder / "board-questions", bench.folder / "site-questions"
    words = ("--data", f"bloom:{mcq_set(bench)}", "--no-reported", "--title", "Golden questions")
    bench.run("leaderboard", "init", folder, *words)
    for number, model in enumerate(("Good", "Fair", "Poor")):
        lines = [
            {"question_id": row["question_id"], "lang": lang, "view": view, "output": mcq_output(row, at, number)}
            for at, row in enumerate(mcq_rows())
            for lang, view in (("en", "image"), ("en", "text-only"), ("ar", "image"))
            if row[f"options_{lang}"]
        ]
        file = bench.folder / f"board-{model}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        bench.run("leaderboard", "add", folder, file, "--model", model, "--team", f"Team {model}", "--size", "7B")
    bench.run("leaderboard", "export", folder, "--to", "site", "--out", out)
    names = sorted(path.name for path in out.glob("*.html"))
    shown = [name for name in names if not name.startswith(("model-", "compare-", "about", "history"))]
    shown += [next(name for name in names if name.startswith(kind)) for kind in ("model-", "compare-")]
    pages = {name: visible((out / name).read_text("utf-8")) for name in shown}
    return {"files": names, "visible": {name: [undated(line) for line in page] for name, page in pages.items()}}


def mcq_output(row: dict[str, Any], at: int, number: int) -> str:
    """The output of the model of a number for an item: right less often for each next model."""
    return str(row["answer"] if at % 8 > 3 * number else row["trap"])


@golden("ladder", "spacy")
def ladder(bench: Bench) -> Any:
    """A set on a ladder: what files are told, and what is shown before it is closed, and after."""
    key, path = bench.once("divided", divided_key), bench.folder / "ladder"
    words = ("--data", f"divided:{key}", "--no-reported", "--closes", "2090-01-01")
    printed = bench.run("leaderboard", "init", path, *words)
    for name, right in (("first", 12), ("no better", 13), ("better", 18), ("copy", 18), ("worse", 0)):
        rows = [
            {"question_id": f"{at:032x}", "view": "stacked", "output": divided_texts(at) if at < right else f"no {at}"}
            for at in range(24)
        ]
        end = "." if name == "copy" else f" {name}" * (name != "better")
        file = bench.folder / f"{name}.jsonl"
        file.write_text("".join(json.dumps(row | {"output": row["output"] + end}) + "\n" for row in rows), "utf-8")
        printed += bench.run("leaderboard", "add", path, file, "--model", f"The {name}", "--team", "Team A")
    found = {"open": bench.run("leaderboard", "export", path, "--to", "csv")}
    for words in (("close",), ("close", "--early"), ("close", "--early")):
        printed += bench.run("leaderboard", *words, path, "divided")
    settings = path / "board.yaml"
    settings.write_text(settings.read_text("utf-8").replace("  closes:", "  retired: true\n  closes:"), "utf-8")
    printed += bench.run("leaderboard", "apply", path)
    found["closed"] = bench.run("leaderboard", "export", path, "--to", "csv")
    return {name: [undated(line) for line in lines] for name, lines in (found | {"printed": printed}).items()}


def divided_texts(at: int) -> str:
    """The covered text of a question of :func:`divided_key`."""
    return f"lorem{chr(97 + at)} ipsum{chr(97 + at)} dolor"


def divided_key(path: Path) -> None:
    """The key of a hidden set of 24 questions, of which every third is in the feedback part."""
    from dataclasses import asdict

    from vcrgen.core.files import sha256_file
    from vcrgen.data.key import ANSWERS, FEEDBACK, FINAL, KEY_FILE, REPORT, VERSION, KeyManifest

    path.mkdir()
    spans = [{"tokens": None, "cover": "easy", "visible_ink": 0.5}]
    items = [
        {"question_id": f"{at:032x}", "crossed_text": [divided_texts(at)], "spans": spans}
        | {"part": FINAL if at % 3 else FEEDBACK}
        for at in range(24)
    ]
    (path / ANSWERS).write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    (path / REPORT).write_text("{}", "utf-8")
    hashes = {name: sha256_file(path / name) for name in (ANSWERS, REPORT)}
    key = KeyManifest(
        version=VERSION,
        language="en",
        items=len(items),
        canary="c",
        nonce="0",
        fingerprint="f",
        public="",
        signature="vcrgen:0|lang:en|pictures:compared",
        files=hashes,
    )
    (path / KEY_FILE).write_text(json.dumps(asdict(key)), "utf-8")


@golden("reported-results")
def reported_results(bench: Bench) -> Any:
    """Reported results as a board shows them."""
    path = bench.folder / "reported"
    data = f"public:{answers_set(bench, 'zh')}"
    bench.run("leaderboard", "init", path, "--data", data)
    text = bench.run("leaderboard", "export", path, "--to", "md")
    table = list(csv.reader(bench.run("leaderboard", "export", path, "--to", "csv")))
    shown = [undated(line) for line in text]
    return {"md": shown[:12], "md, all": digest("\n".join(shown)), "rows": len(table), "csv": digest(as_text(table))}
