"""An MCQ benchmark made with small real models, from the first request to the audit, and what is true in it.

    python scripts/measure_generated_set.py [--per-category 28] [--pictures 60] [--steps 2000] [--work FOLDER]

Two models of 4 MB, one that writes and one that judges, are taught here on the CPU (tests/bloom/small_model.py): real
weights that err, behind the imitation of a server (small_server.py). `vcrgen bloom build` makes a set of the 106
categories with them, is killed with SIGKILL on the way, goes on, and is made again of its ledger. All that is written
is then compared with the facts of the pictures, two simulated raters audit the set, and every command that takes a set
is run on it. The figures stand in docs/validation.md. --work keeps models and sets; another run with the same
folder takes the models as they are, and makes the sets anew.

    python scripts/measure_generated_set.py --record configs/bloom-demo

records the replies of the recipe `bloom-demo` anew, with the same models. Do so after any change of
a prompt or a stage.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.bloom import known_scenes as known  # noqa: E402
from tests.bloom.small_model import AUTHOR, JUDGE, KnownScene, SmallModel, known_pictures, load, save, teach  # noqa: E402
from tests.bloom.small_server import SmallServer  # noqa: E402
from tests.models.fault_server import FaultServer  # noqa: E402
from vcrgen.bloom.audit.draw import read_draw  # noqa: E402
from vcrgen.bloom.taxonomy import default_taxonomy  # noqa: E402
from vcrgen.bloom.write import CARD  # noqa: E402
from vcrgen.core.files import atomic_path  # noqa: E402
from vcrgen.core.rng import rng_for  # noqa: E402
from vcrgen.data.tasks.bloom import LETTERS  # noqa: E402
from vcrgen.data.tasks.opening import open_task_dataset  # noqa: E402

RATERS_RIGHT = 0.9  # share of the items of which a simulated rater says what is true
OVERLAP = 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-category", type=int, default=28, help="items that are tried for each category")
    parser.add_argument("--pictures", type=int, default=60, help="built-in pictures that they may be about")
    parser.add_argument("--steps", type=int, default=2000, help="for which each model is taught")
    parser.add_argument("--work", type=Path, help="folder that is kept: models, and the sets of the last run")
    parser.add_argument("--record", type=Path, help="recipe, without its ending, whose ledger is recorded anew")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as passing:
        work = args.work or Path(passing)
        scenes = known_pictures(args.pictures)
        server = SmallServer(taught(work, scenes, args.steps))
        folder = work / ("recorded" if args.record else "measured")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        if args.record:
            record(args.record, folder, scenes, server)
        else:
            measure(folder, args.per_category, scenes, server)


def measure(folder: Path, per_category: int, scenes: Sequence[KnownScene], server: SmallServer) -> None:
    """Make a set, and print what is told of it."""
    source = ["bloom", "build", f"samples:{len(scenes)}", "--model", "author", "--judge", "judge", "--allow-shortcuts"]
    source += ["--per-category", str(per_category), "--pictures", "2", "--per-picture", "100"]
    began = time.perf_counter()
    with FaultServer(server.answer) as running:
        asked = [*source, "--endpoint", running.url, "--concurrency", "64", "--out", "made"]
        calls = made_with_a_kill(folder, asked, running, 2 * 106 * per_category)
    print(f"made in {time.perf_counter() - began:.0f} s, with {calls}")
    vcrgen(folder, *source, "--offline", "--ledger", "made.ledger", "--out", "again")
    assert digests(folder / "made") == digests(folder / "again"), "another set of the same ledger"
    print("made again of the ledger alone: the same bytes")
    print((folder / "made" / CARD).read_text("utf-8").partition("## Read without pictures")[2].partition("\n## ")[0])
    by_picture = {hashlib.sha256(scene.picture).hexdigest(): scene for scene in scenes}
    facts = facts_of_set(folder / "made", by_picture)
    tell(truth(server.log, by_picture), facts, folder / "made")
    audit(folder, facts)
    every_command(folder, facts)


def taught(folder: Path, scenes: Sequence[KnownScene], steps: int) -> dict[str, SmallModel]:
    """The author and the judge, taught here or in an earlier run with the same folder."""
    models = {}
    for role, course in {"author": AUTHOR, "judge": JUDGE}.items():
        if not (folder / role).exists():
            began = time.process_time()
            seed = zlib.crc32(role.encode())
            model = teach(course, scenes, steps=steps, seed=seed, progress=partial(tell_losses, role))
            print(f"{role}: taught in {time.process_time() - began:.0f} s of one core", flush=True)
            save(model, folder / role)
        models[role] = load(folder / role)
    return models


def tell_losses(role: str, step: int, losses: Mapping[str, float]) -> None:
    """Print how far a model is."""
    print(f"{role}, step {step}:", *(f"{name} {loss:.3f}" for name, loss in losses.items()), flush=True)


def vcrgen(folder: Path, *words: str) -> str:
    """Run a command."""
    done = subprocess.run(
        [sys.executable, "-m", "vcrgen", *words], cwd=folder, capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def made_with_a_kill(folder: Path, words: Sequence[str], server: FaultServer, kill_at: int) -> str:
    """Build, kill it at a number of calls, build again; says what was asked, and what of it twice."""
    process = subprocess.Popen(
        [sys.executable, "-m", "vcrgen", *words],
        cwd=folder,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=environment(),
    )
    while len(server.calls) < kill_at and process.poll() is None:
        time.sleep(0.01)
    assert process.poll() is None, "it was done before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (folder / "made").exists()
    print(vcrgen(folder, *words).strip())
    twice = len(server.calls) - len({call.digest for call in server.calls})
    return f"{len(server.calls):,} calls; killed at {kill_at:,}, after which {twice} were asked again"


def digests(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def truth(log: Sequence[tuple[str, Mapping[str, str], bytes, Any]], scenes: Mapping[str, KnownScene]) -> Counter[str]:
    """Count the true statements of the models by the facts: counts of all (`NAME`) and of the right (`NAME: right`)."""
    found: Counter[str] = Counter()

    def count(name: str, right: bool) -> None:
        found[name] += 1
        found[f"{name}: right"] += right

    asked = {(stage, json.dumps(values), seen): (values, said) for stage, values, seen, said in log}
    for (stage, _, seen), (values, said) in asked.items():
        scene = scenes.get(hashlib.sha256(seen).hexdigest())
        match stage:
            case "question" if scene:
                true = known.true_options(scene.kind, scene.facts, said["question"], [said["answer"]])
                count("author: the answer to its own question is true", true == [0])
            case "translation":
                texts = [values["question"], *json.loads(values["options"])]
                same = [known.in_arabic(text) for text in texts] == [said["question"], *said["options"]]
                count("author: the translation is exact", same)
            case "answer" if scene:
                true = known.true_options(
                    scene.kind, scene.facts, values["question"], [line[3:] for line in values["options"].splitlines()]
                )
                right = LETTERS[true[0]] if true and len(true) == 1 else "none"
                count("judge: answers the question rightly, or says that nothing is right", said["answer"] == right)
            case "verdict" if scene:
                good = _good(values, scene)
                for part in ("picture", "question", "category", "options", "translation"):
                    count(f"judge: right about {part} (key shown)", said[part] == good[part])
                name = "in order" if all(good.values()) else "at fault"
                count(f"judge: finds what is {name} (key shown)", all(said.values()) == all(good.values()))
    return found


def _good(values: Mapping[str, str], scene: KnownScene) -> dict[str, bool]:
    """Return the parts of an item, as a judge is shown it, that are in order."""
    (english, *options), *others = (
        [line.split(" ", 1)[1] for line in block.splitlines()] for block in values["item"].split("\n\n")
    )
    true = known.true_options(scene.kind, scene.facts, english, options)
    arabic = [known.in_arabic(text) for text in (english, *options)]
    return {
        "picture": true is not None,
        "question": known.level_of(english) is not None,
        "category": known.level_of(english) == values["level"],
        "options": true == [LETTERS.index(values["key"])],
        "translation": all(arabic == other for other in others),
    }


class Fact(NamedTuple):
    """Truth of an item by the facts of its picture."""

    path: str
    keyed: bool  # its key is its one true option
    good: bool  # and the translation is exact
    right: str  # letter of the one true option; the key where there is none


def facts_of_set(folder: Path, scenes: Mapping[str, KnownScene]) -> dict[str, Fact]:
    """Return the truth of the items of a set, by id."""
    found = {}
    texts = [f"{name}_{lang}" for lang in ("en", "ar") for name in ("question", "options")]
    for _, row in open_task_dataset(folder).rows(["question_id", "path", "image", "answer", *texts]):
        scene = scenes[hashlib.sha256(row["image"]["bytes"]).hexdigest()]
        true = known.true_options(scene.kind, scene.facts, row["question_en"], row["options_en"])
        arabic = [known.in_arabic(text) for text in (row["question_en"], *row["options_en"])]
        keyed = true == [LETTERS.index(row["answer"])]
        good = keyed and arabic == [row["question_ar"], *row["options_ar"]]
        found[row["question_id"]] = Fact(row["path"], keyed, good, LETTERS[true[0]] if true else row["answer"])
    return found


def tell(told: Counter[str], facts: Mapping[str, Fact], folder: Path) -> None:
    """Print what is in the set, what was dropped, and who was right."""
    categories = {fact.path for fact in facts.values()}
    slots = len(facts) + sum(dropped(folder).values())
    print(f"{len(facts):,} items in {len(categories)} categories, of {slots:,} slots")
    print("\n| level | categories | items | the key is the one true option, % |\n|---|---:|---:|---:|")
    for level in dict.fromkeys(path.partition("/")[0] for path in default_taxonomy().paths):
        keyed = [fact.keyed for fact in facts.values() if fact.path.startswith(f"{level}/")]
        with_items = sum(path.startswith(f"{level}/") for path in categories)
        print(f"| {level} | {with_items} | {len(keyed):,} | {100 * sum(keyed) / max(1, len(keyed)):.1f} |")
    print("\n| stage: reason | items |\n|---|---:|")
    for name, count in sorted(dropped(folder).items()):
        print(f"| {name} | {count:,} |")
    print("\n| what | of | right, % |\n|---|---:|---:|")
    rows = {name: (count, told[f"{name}: right"]) for name, count in told.items() if not name.endswith(": right")}
    rows["set: the key is the one true option"] = len(facts), sum(fact.keyed for fact in facts.values())
    rows["set: and the translation is exact"] = len(facts), sum(fact.good for fact in facts.values())
    for name, (count, right) in sorted(rows.items()):
        print(f"| {name} | {count:,} | {100 * right / count:.1f} |")


def dropped(folder: Path) -> Counter[str]:
    """Count the rejected items by stage and reason."""
    lines = map(json.loads, (folder / "rejects.jsonl").read_text("utf-8").splitlines())
    return Counter(f"{line['detail'].partition(':')[0]}: {line['reason']}" for line in lines)


def audit(folder: Path, facts: Mapping[str, Fact]) -> None:
    """Two raters who say what is true of nine items in ten; the report has to find how often they agree."""
    vcrgen(folder, "bloom", "audit", "draw", "made", "--overlap", str(OVERLAP))
    draw = read_draw(folder / "made-audit" / "draw.json")
    said = {
        (item.question_id, rater): (rng_for(0, f"rater {rater}", item.question_id).random() < RATERS_RIGHT)
        == facts[item.question_id].good
        for item in draw.items
        for rater in item.raters
    }
    lines = [
        {
            "audit": draw.name,
            "rater": rater,
            "question_id": name,
            "answer": facts[name].right,
            "verdict": "approve" if approves else "choices",
        }
        for (name, rater), approves in said.items()
    ]
    (folder / "verdicts.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    print("\n" + vcrgen(folder, "bloom", "audit", "report", "made", "verdicts.jsonl"))
    report = json.loads((folder / "made-audit" / "report.json").read_text())
    both = [[said[item.question_id, rater] for rater in item.raters] for item in draw.items if len(item.raters) > 1]
    same = sum(one == two for one, two in both) / len(both)
    yes = sum(map(sum, both)) / (2 * len(both))
    known_ac1 = (same - 2 * yes * (1 - yes)) / (1 - 2 * yes * (1 - yes))
    found = report["agreement"]
    assert (found["items"], found["same"]) == (len(both), same) and abs(found["ac1"] - known_ac1) < 1e-9
    print(
        f"agreement of the raters: {same:.3f}, AC1 {known_ac1:.3f}; the report has both (expected of raters like "
        f"these: {RATERS_RIGHT**2 + (1 - RATERS_RIGHT) ** 2:.2f})"
    )
    vcrgen(folder, "bloom", "filter", "made", "--without", "made-audit/without.txt", "--out", "audited")


def every_command(folder: Path, facts: Mapping[str, Fact]) -> None:
    """Run every command that takes a set, and score outputs that are right in three items of four."""
    print(vcrgen(folder, "inspect", "made"))
    vcrgen(folder, "view", "made", "--out", "made-view")
    for form in ("vlmevalkit", "lmms-eval"):
        vcrgen(folder, "export", "made", "--to", form, "--out", f"as-{form}")
    (folder / "key").touch(mode=0o600)
    (folder / "key").write_text(f"{'0123456789abcdef' * 4}\n")
    vcrgen(
        folder,
        "hidden",
        "made",
        "--items",
        str(min(200, len(facts) // 2)),
        "--public-pictures",
        "--out",
        "hidden",
        "--secret-file",
        "key",
    )
    vcrgen(folder, "hidden", "verify", "hidden", "--secret-file", "key")
    lines = []
    for name, fact in facts.items():
        right = rng_for(0, "outputs", name).random() < 0.75
        output = fact.right if right else LETTERS[LETTERS.index(fact.right) - 1]
        lines += [{"question_id": name, "lang": lang, "output": f"Answer: {output}"} for lang in ("en", "ar")]
    (folder / "outputs.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    vcrgen(folder, "validate", "outputs.jsonl", "--data", "made")
    print(vcrgen(folder, "score", "outputs.jsonl", "--data", "made"))
    vcrgen(folder, "profile", "outputs.scores.json", "--out", "profile.html")


def record(recipe: Path, folder: Path, scenes: Sequence[KnownScene], server: SmallServer) -> None:
    """Record the ledger of a recipe anew. Its pictures are the first built-in ones, smaller and in their order."""
    files = sorted(recipe.glob("*.webp"))
    by_picture = {
        hashlib.sha256(file.read_bytes()).hexdigest(): scene for file, scene in zip(files, scenes, strict=False)
    }
    with FaultServer(server.answer) as running:
        words = ["bloom", "build", "--config", str(recipe.with_suffix(".yaml").absolute()), "--out", "demo"]
        words += ["--ledger", "demo.ledger", "--endpoint", running.url, "--concurrency", "32"]
        print(vcrgen(folder, *words))
    tell(truth(server.log, by_picture), facts_of_set(folder / "demo", by_picture), folder / "demo")
    ledger = recipe.with_suffix(".ledger")
    with atomic_path(ledger) as temporary:
        shutil.copyfile(folder / "demo.ledger", temporary)
    print(f"{ledger}: {ledger.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
