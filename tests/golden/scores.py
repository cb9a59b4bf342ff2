"""Every figure of scored files of covered texts: protocols, reports, evidence, signatures."""

import base64
import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.golden.bench import (
    INK,
    INPUTS,
    LANGUAGES,
    TOKENS,
    Bench,
    digest,
    for_languages,
    golden,
    normal,
    number,
    short,
    visible,
)
from tests.golden.files import columns
from tests.golden.hidden import hidden_outputs, hidden_set


def answers_set(bench: Bench, lang: str) -> Path:
    """A dataset with fixed answers and fixed visible ink, as a build leaves it, its pictures one pixel large.

    So scores depend on nothing that builds choose or draw.
    """
    questions = json.loads((INPUTS / f"answers-{lang}.json").read_text("utf-8"))
    dot = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )

    def write(out: Path) -> None:
        parts = []
        for mode in ("easy", "hard"):
            rows = [
                {
                    "question_id": question["id"],
                    "stacked_image": {"bytes": dot, "path": "dot.png"},
                    "only_it_image": {"bytes": dot, "path": "dot.png"},
                    "crossed_text": [span["text"] for span in question["spans"]],
                    "language": lang,
                    "spans": [{"tokens": span["tokens"], "visible_ink": span[mode]} for span in question["spans"]],
                }
                for question in questions
            ]
            (out / mode).mkdir(parents=True)
            path = f"{mode}/test-00000-of-00001.parquet"
            pq.write_table(pa.Table.from_pylist(rows), out / path)
            size = (out / path).stat().st_size
            part = {"path": path, "mode": mode, "split": "test", "rows": len(rows), "bytes": size, "sha256": "0" * 64}
            parts.append(part)
        manifest = {
            "fingerprint": "f" * 64,
            "signature": f"vcrgen:0|lang:{lang}|mode:easy+hard|seg:fixed|seed:0",
            "source": "fixed answers",
            "config": {},
            "read": len(questions),
            "rejected": {},
            "files": parts,
        }
        (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")

    return bench.once(f"answers-{lang}", write)


def outputs(bench: Bench, name: str) -> Path:
    """A file of outputs where results may be written beside it."""
    text = (INPUTS / f"outputs-{name}.jsonl").read_text("utf-8")
    return bench.once(f"outputs/{name}.jsonl", lambda path: path.write_text(text, "utf-8"))


def protocol_options(lang: str, protocol: str) -> dict[str, Any]:
    """Chinese is scored with the built-in segmenter under both protocols: no trained pipeline is needed."""
    return {"protocol": protocol} | ({"segmenter": "builtin"} if (lang, protocol) == ("zh", "vlmevalkit") else {})


def scored(bench: Bench, lang: str, protocol: str) -> Any:
    """Every figure of two scored files."""
    from vcrgen import score

    data, options = answers_set(bench, lang), protocol_options(lang, protocol)
    found = {}
    for name in ("reader", "guesser") if protocol == "paper" else ("reader",):
        result = score(outputs(bench, f"{name}-{lang}"), data=data, **options).as_json()
        for cell in result["scores"]:
            cell["groups"] = {
                f"{group['by']} {group['label']} ({group['spans']})": list(short(group["metrics"]).values())
                for group in cell["groups"]
            }
        if protocol != "paper":  # whose groups are made by the same code
            result["scores"] = [{**cell, "groups": len(cell["groups"])} for cell in result["scores"]]
        found[name] = short(result)
        found[name]["signature"] = found[name]["signature"]["text"]
    return found


# Plain words: what another version of a tokenizer would make of these is worth a look.
for_languages("score-paper")(lambda bench, lang: scored(bench, lang, "paper"))
for_languages("score-vlmevalkit")(lambda bench, lang: scored(bench, lang, "vlmevalkit"))


@for_languages("reports")
def reports(bench: Bench, lang: str) -> Any:
    """Two files compared as text, and what the other forms have of their own: how they write a table."""
    files = [outputs(bench, f"{name}-{lang}") for name in ("reader", "guesser")]
    words = ("score", *files, "--data", answers_set(bench, lang), "--compare", "--allow-missing")
    if lang != "en":
        return {"text": bench.run(*words)}
    found: dict[str, Any] = {"text": bench.run(*words, "--details")}
    for form, at in (("md", 25), ("latex", 35)):
        printed = bench.run(*words, "--format", form)
        found[form] = [*printed[:at], f"{len(printed)} lines"]
    found["csv"] = csv_figures(bench.run(*words, "--format", "csv"))
    written = json.loads("\n".join(bench.run(*words, "--format", "json")))
    found["comparisons"] = short(written["comparisons"])
    target = bench.folder / "report.html"
    found["html, printed"] = bench.run(*words, "--format", "html", "--out", target)
    page = target.read_text("utf-8")
    found["html, visible"] = digest("\n".join(visible(page)))
    # Digits of a chart's places are left out of the digest: they are computed in floating point.
    found["html without figures"] = digest(re.sub(r"\d+(?:\.\d+)*", "0", normal(page)))
    beside = json.loads(files[0].with_name("reader-en.scores.json").read_text("utf-8"))
    found["beside the outputs"] = sorted(beside)
    return found


def csv_figures(text: Sequence[str]) -> list[str]:
    """Lines of CSV, their numbers as far as every machine agrees on them and without the signature."""

    def cell(text: str) -> str:
        return number(float(text)) if re.fullmatch(r"-?\d+\.\d+(?:e-?\d+)?", text) else text

    rows = [list(map(cell, row)) for row in csv.reader(text)]
    ends = sorted({row[-1] for row in rows})
    kept = [row for row in rows if row[6] in ("metric", "exact") and not row[4]]
    return [",".join(row[:-1]) for row in kept] + [*ends, f"{len(rows)} lines"]


@for_languages("evidence", *TOKENS)
def evidence(bench: Bench, lang: str) -> Any:
    """The outcome of every span of a file, under both protocols."""
    from vcrgen import score

    found: dict[str, list[str]] = {}
    for protocol in ("paper", "vlmevalkit"):
        target = bench.folder / f"evidence-{protocol}-{lang}.jsonl"
        options = protocol_options(lang, protocol)
        score(outputs(bench, f"reader-{lang}"), data=answers_set(bench, lang), spans=target, **options)
        rows = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
        for row in rows:
            if row["mode"] == "hard" and row["view"] == "tei" and protocol == "vlmevalkit":
                continue
            name = f"{row['question_id']} {row['mode']} {row['view']} {row['span']}: {row['answer']}"
            found.setdefault(name, []).append(shown_match(row))
        found.setdefault("columns", list(rows[0]))
    parquet = bench.folder / f"evidence-{lang}.parquet"
    score(outputs(bench, f"reader-{lang}"), data=answers_set(bench, lang), spans=parquet)
    return {"spans": found, "parquet": columns(pq.read_schema(parquet))}


SCORES = ("exact", "jaccard", "precision", "recall", "f1", "rouge1", "similarity", "character")


def shown_match(row: Mapping[str, Any]) -> str:
    """A span's match on one line; scores in the order of the table."""
    figures = " ".join(f"{row[name]:.4g}" for name in SCORES)
    verbatim = " verbatim" if row["verbatim"] else ""
    return f"{row['outcome']} {row['start']}-{row['end']} d {row['distance']}{verbatim} [{row['ngram']}] {figures}"


@golden("text-only")
def text_only(bench: Bench) -> Any:
    """Requests without an image and about a canary, and matches of the canary."""
    from vcrgen.data.canary import canary_questions, repeats_canary
    from vcrgen.data.tasks.vcr import caption_with_gaps
    from vcrgen.text.languages import LANGUAGES as ROWS

    caption, answers = "One boat, two boats and one boat more.", ["one boat", "more"]
    spans = [{"start": 24, "end": 32}, {"start": 33, "end": 37}]
    row = {"caption": caption, "crossed_text": answers}
    digits = "0123456789abcdef" * 2
    return {
        "words": {
            lang: of.text_only_prompt.format(text=caption_with_gaps({**row, "spans": spans}, lang), question="?")
            for lang, of in ROWS.items()
        },
        "words without offsets": caption_with_gaps(row, "en"),
        "canary": {question.way: [question.text, question.shown] for question in canary_questions(digits)},
        "comes back": {
            text: [repeats_canary(text, digits, 0), repeats_canary(text, digits, 22)]
            for text in (digits[:11], digits[:12], digits[20:])
        },
    }


def score_runs(bench: Bench) -> dict[str, dict[str, Any]]:
    """Ways to score the same file."""
    return {
        "one mode": {"mode": "hard"},
        "another seed": {"seed": 3},
        "thinking kept": {"strip_thinking": False},
        "thinking out, published": {"strip_thinking": True, "protocol": "vlmevalkit"},
        "twelve tokens": {"max_output_tokens": 12},
        "all tokens": {"max_output_tokens": 0},
        "first 100": {"subset": "first100"},
        "all splits": {"split": "all"},
    }


@golden("score-options")
def score_options(bench: Bench) -> Any:
    """Two figures and the signature of one file, scored with one option after another."""
    from vcrgen import VcrgenError, score

    file, data = outputs(bench, "reader-en"), answers_set(bench, "en")
    found: dict[str, Any] = {}
    for name, options in score_runs(bench).items():
        result = score(file, data=data, **options)
        figures = {
            f"{cell.variant} {cell.view}": f"{number(cell.metrics['exact'].value)}"
            f" {number(cell.metrics['jaccard'].value)}"
            f" {number(cell.metrics['exact'].low)} {cell.counts}"
            for cell in result.cells
        }
        found[name] = {"figures": figures, "signature": normal(str(result.signature)), "notes": list(result.notes)}
    try:
        score(file, data=data, strict=True)
    except VcrgenError as error:
        found["strict"] = str(error).replace(str(bench.folder), "TMP")
    found["validate"] = bench.run("validate", file, "--data", data)
    return found


@golden("score-formats")
def score_formats(bench: Bench) -> Any:
    """The same outputs as the repository's JSON, VLMEvalKit's table and lmms-eval's log."""
    from vcrgen import score

    data = answers_set(bench, "en")
    questions = json.loads((INPUTS / "answers-en.json").read_text("utf-8"))
    said = [json.loads(line) for line in outputs(bench, "guesser-en").read_text("utf-8").splitlines()]
    texts = {row["question_id"]: row["output"] for row in said if (row["mode"], row["view"]) == ("easy", "stacked")}
    answers = {question["id"]: [span["text"] for span in question["spans"]] for question in questions}
    ids = [question["id"] for question in questions]
    repository = {
        str(n): {"res_stacked_image": texts[name], "crossed_text": answers[name], "question_id": name}
        for n, name in enumerate(ids)
    }
    table = io.StringIO()
    writer = csv.writer(table)
    writer.writerow(["index", "question_id", "answer", "prediction"])
    writer.writerows([n, name, json.dumps(answers[name]), texts[name]] for n, name in enumerate(ids))
    log = [
        {"doc_id": n, "target": answers[name], "filtered_resps": [texts[name]], "resps": [[texts[name]]]}
        for n, name in enumerate(ids)
    ]
    written = {
        "repository.json": json.dumps(repository),
        "vlmevalkit.csv": table.getvalue(),
        "lmms.jsonl": "".join(json.dumps(row) + "\n" for row in log),
    }
    found = {}
    for name, text in written.items():
        file = bench.once(f"formats/{name}", lambda path, text=text: path.write_text(text, "utf-8"))  # type: ignore[misc]
        view = "stacked" if name != "repository.json" else None  # whose keys say it
        result = score(file, data=data, mode="easy", view=view)
        estimates = {cell.view.value: number(cell.metrics["exact"].value) for cell in result.cells}
        problems = {kind: count for kind, (count, _) in result.problems.items()}
        found[name] = {"format": result.format, "exact": estimates, "problems": problems, "model": result.model}
    return found


def match_cases() -> list[tuple[str, str, str | None]]:
    """Language, answer and output: edges of the rules."""
    long = "a b c d e " * 120
    return [
        ("en", "often used generically to refer", "It is often used generally to refer to a craft"),
        ("en", "the quick brown fox", "the quick brown fox"),
        ("en", "the quick brown fox", "THE QUICK BROWN FOX"),
        ("en", "the quick brown fox", "quick the fox brown"),
        ("en", "the quick brown fox", "the quick the quick brown dog fox"),
        ("en", "the the cat sat", "the cat sat sat the"),
        ("en", "a b c", "x b c a b x"),
        ("en", "a b c", "c b a a c b"),
        ("en", "one two three four", "one two"),
        ("en", "one two three four", ""),
        ("en", "one two three four", "   "),
        ("en", "one two three four", None),
        ("en", "one two three four", "Sorry, one two three four"),
        ("en", "one two three four", "I can't read one two three four"),
        ("en", "one two three four", "i cannot"),
        ("en", "one two three four", "Assistant: no Assistant: one two three four"),
        ("en", "one two three four", "Assistant: one two three four. Assistant: one two five four"),
        ("en", "one two three four", "<think>one two three four</think> one two five four"),
        ("en", "one two three four", "hm</think>one two three four<think>five six"),
        ("en", "one two three four", "one,two three   four"),
        ("en", "isn't it true that", "is n't it true that"),
        ("en", "isn't it true that", "isn’t it true that"),
        ("en", "well-known old man", "well - known old man"),
        ("en", "well-known old man", "well known old man"),
        ("en", "caf\u00e9 at the corner", "cafe\u0301 at the corner"),
        ("en", "costs 3.5 % more", "costs 3,5% more"),
        ("en", "x y z w v", long + "x y z w v"),
        ("en", "😀 smile at me", "😀smile at me"),
        # Ties, of difflib's ratio and of edit distance.
        ("en", "aab baa ab", "baa ab abb bca bc aab abc bc bc"),
        ("en", "cb bca abc", "cb abc baa ab baa"),
        ("en", "abc bca ba", "abc abb bc bca abc baa abb"),
        ("en", "aab ba baa", "abb abb bca ba baa baa abc bca ab"),
        ("zh", "灯塔矗立在海边的", "一座灯塔矗立在海边的悬崖上"),
        ("zh", "灯塔矗立在海边的", "灯塔竖立在海边的"),
        ("zh", "灯塔矗立在海边的", "在海边的灯塔矗立"),
        ("zh", "灯塔矗立在海边的", "灯塔 矗立 在 海边 的"),
        ("zh", "灯塔矗立在海边的", "抱歉，灯塔矗立在海边的"),
        ("zh", "第一位获得这一荣誉的", "第一 位获得这一荣誉"),
        ("zh", "第一位获得这一荣誉的", "无法"),
        ("zh", "中国 人民", "中 国人民"),
        ("zh", "研究 生命 很好", "研究生 命 很好"),
        ("zh", "在Python 3中使用", "在Python3中使用"),
        ("zh", "两个孩子在水边用", "兩個孩子在水邊用"),
    ]


@golden("match", *TOKENS)
def match(bench: Bench) -> Any:
    """Pairs of a span and an output, under both protocols."""
    from vcrgen import match_span

    found: dict[str, Any] = {}
    for lang, answer, output in match_cases():
        shown = "null" if output is None else repr(output if len(output) < 80 else f"{len(output)} characters")
        matches = {}
        for protocol in ("paper", "vlmevalkit"):
            made = match_span(answer, output, lang=lang, **protocol_options(lang, protocol))
            row = {name: getattr(made, name) for name in ("start", "end", "distance", "verbatim", "ngram")}
            matches[protocol] = shown_match(row | {"outcome": made.outcome.value} | made.as_dict())
        found[f"{lang} {answer!r} in {shown}"] = matches
    return found


@golden("signatures", *INK)
def signatures(bench: Bench) -> Any:
    """One signature of each kind."""
    from vcrgen import score

    def of(folder: Path) -> str:
        return normal(json.loads((folder / "manifest.json").read_text("utf-8"))["signature"])

    few = {"limit": 3, "mode": "hard"}
    found = {f"dataset, {lang}": of(bench.dataset(lang)) for lang in LANGUAGES}
    found["dataset, a trained pipeline"] = of(
        bench.build("by-trained", bench.pairs("en"), spacy_model=str(bench.trained), **few)
    )
    found["dataset, other options"] = of(
        bench.build(
            "by-options",
            bench.pairs("en"),
            mask="percentage",
            percentage=0.25,
            ngram_size=4,
            font="open-sans",
            font_size=31,
            width=512,
            max_lines=3,
            max_share=0.4,
            seed=99,
            **few,
        )
    )
    key = json.loads((hidden_set(bench) / "form-1/key/key.json").read_text("utf-8"))
    found["hidden set"] = normal(key["signature"])
    for lang in LANGUAGES:
        for protocol in ("paper", "vlmevalkit"):
            options = protocol_options(lang, protocol)
            result = score(outputs(bench, f"guesser-{lang}"), data=answers_set(bench, lang), **options)
            found[f"score, {lang}, {protocol}"] = normal(str(result.signature))
    made = score(hidden_outputs(bench, "half"), data=hidden_set(bench) / "form-1/key")
    found["score, hidden set"] = re.sub(r"data:[0-9a-f]{8}", "data:COMMITMENT", normal(str(made.signature)))
    return found
