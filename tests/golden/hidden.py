"""Hidden sets of a fixed secret."""

import json
import re
from pathlib import Path
from typing import Any

from tests.golden.bench import BYTES, INK, SECRET, Bench, bitmap, captions, golden, short, write_pairs
from tests.golden.builds import shown_boxes, shown_span
from tests.golden.files import of_files, of_image


def secret_file(bench: Bench) -> Path:
    """The maintainer's secret: the same one for ever."""

    def write(path: Path) -> None:
        path.touch(0o600)
        path.write_text(SECRET)

    return bench.once("secret.key", write)


def hidden_set(bench: Bench) -> Path:
    """Two forms of five of the twenty pairs in three fonts; pairs of another set are refused."""

    def make(out: Path) -> None:
        known = [{"id": "known", "image": bitmap(200, 50, 50), "caption": captions("en")[0]}]
        reference = bench.once("sources/known.jsonl", lambda path: write_pairs(path, known))
        words = ("--items", 5, "--same-pairs", 2, "--fonts", "open-sans,liberation-serif,caladea", "--column", "id=id")
        words += ("--cover", "rows")
        printed = bench.run(
            "hidden",
            bench.pairs("en"),
            "--out",
            out,
            "--secret-file",
            secret_file(bench),
            *words,
            "--not-in",
            reference,
        )
        (bench.folder / "hidden-printed.json").write_text(json.dumps(printed), "utf-8")

    return bench.once("hidden", make)


def hidden_answers(bench: Bench, form: int = 1) -> list[dict[str, Any]]:
    """The key of a form."""
    file = hidden_set(bench) / f"form-{form}/key/answers.jsonl"
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def hidden_outputs(bench: Bench, name: str) -> Path:
    """Outputs for the first form: of the right model everything, of half every other span, of none nothing."""
    kept = {"right": 1, "half": 2, "none": 0}[name]

    def write(path: Path) -> None:
        rows = []
        for view in ("stacked", "tei"):
            for place, answer in enumerate(hidden_answers(bench)):
                right = kept and (place + (view == "tei")) % kept == 0
                output = "\n".join(answer["crossed_text"]) if right else f"nothing of {name} at {place}"
                rows.append({"question_id": answer["question_id"], "view": view, "output": output})
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")

    return bench.once(f"outputs/hidden-{name}.jsonl", write)


@golden("hidden", *INK)
def hidden(bench: Bench) -> Any:
    """A hidden set of a fixed secret: what its key says, what is public, what the checks are."""
    out = hidden_set(bench)
    found: dict[str, Any] = {"printed": json.loads((bench.folder / "hidden-printed.json").read_text("utf-8"))}
    for form in (1, 2):
        folder = out / f"form-{form}"
        key = json.loads((folder / "key/key.json").read_text("utf-8"))
        items = {}
        for answer in hidden_answers(bench, form):
            spans = [f"{shown_span(span)} {span['cover']}, {shown_boxes(span)}" for span in answer["spans"]]
            rest = {name: value for name, value in answer.items() if name not in ("spans", "crossed_text", "caption")}
            assert answer["crossed_text"] == [span["text"] for span in answer["spans"]]
            items[answer["source_id"]] = {"spans": spans, "is": " ".join(f"{k}={v}" for k, v in sorted(rest.items()))}
        public = folder / "public"
        found[f"form {form}"] = {
            "items": items,
            "report": json.loads((folder / "key/report.json").read_text("utf-8")),
            "key": sorted(key),
            "canary and nonce": [key["canary"], key["nonce"]],
            "metadata": (public / "metadata.jsonl").read_text("utf-8").splitlines()[:2],
            "manifest": sorted(json.loads((public / "manifest.json").read_text("utf-8"))),
            "public": sorted(path.relative_to(public).as_posix() for path in public.rglob("*") if path.is_file()),
            "modes": [f"{path.name} {path.stat().st_mode & 0o777:o}" for path in sorted((folder / "key").iterdir())],
            "times": sorted({path.stat().st_mtime for path in public.rglob("*")}),
            "README.md": re.sub(r"[0-9a-f]{64}", "COMMITMENT", (public / "README.md").read_text("utf-8")).splitlines(),
        }
    words = ("--secret-file", secret_file(bench), "--strips", 0)
    found["verify"] = bench.run("hidden", "verify", out / "form-1", *words)
    return found


@golden("hidden-forms", *INK)
def hidden_forms(bench: Bench) -> Any:
    """Two forms of other pairs: which pair is in which form and part, and how alike the forms are."""

    def make(out: Path) -> None:
        words = ("--items", 6, "--forms", 2, "--fonts", "open-sans", "--column", "id=id", "--reuse-secret")
        words += ("--public-pictures",)
        bench.run("hidden", bench.pairs("en"), "--out", out, "--secret-file", secret_file(bench), *words)

    out = bench.once("hidden-forms", make)
    found: dict[str, Any] = {"alike": json.loads((out / "form-1/key/report.json").read_text("utf-8"))["alike"]}
    for form in (1, 2):
        lines = (out / f"form-{form}/key/answers.jsonl").read_text("utf-8").splitlines()
        found[f"form {form}"] = [
            f"{a['source_id']} {a['part']} {a['strip']} {a['width']} {' | '.join(a['crossed_text'])}"
            for a in map(json.loads, lines)
        ]
    return found


@golden("hidden-bytes", *BYTES)
def hidden_bytes(bench: Bench) -> Any:
    """Every file of a hidden set, its commitment, and its seal."""
    out = hidden_set(bench)
    keys = {form: json.loads((out / f"form-{form}/key/key.json").read_text("utf-8")) for form in (1, 2)}
    return {
        "files": of_files(out),
        "images": {
            path.relative_to(out).as_posix(): of_image(path.read_bytes()) for path in sorted(out.rglob("*.png"))
        },
        "keys": {f"form {form}": {k: v for k, v in key.items() if k != "signature"} for form, key in keys.items()},
    }


@golden("hidden-scores", *INK)
def hidden_scores(bench: Bench) -> Any:
    """Scores against a hidden set's key: groups by cover, font and place."""
    from vcrgen import score

    result = short(score(hidden_outputs(bench, "half"), data=hidden_set(bench) / "form-1/key").as_json())
    cell = result["scores"][0]
    groups = [f"{g['by']} {g['label']} {g['spans']}: {g['metrics']['exact']}" for g in cell["groups"]]
    return {"exact": cell["metrics"]["exact"], "mode": cell["mode"], "groups": groups, "notes": result["notes"]}
