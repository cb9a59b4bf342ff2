"""Hidden question sets: the same items under random ids, in a secret order of items, options and pictures.

    public/metadata.jsonl   a row an item, sorted by its random id: questions and options in every language
    public/image/ID.png     its picture, as pixels and nothing else
    public/manifest.json, public/README.md
    key/answers.jsonl       a line an item: leaf, right option, trap, the id in the source, the part of the set
    key/report.json, key/key.json

Nothing of the public part is made from the keys of the source: a set of the same questions with other right options
would have the same bytes but for the commitment.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from vcrgen.builder.bands import Band
from vcrgen.builder.encode import encode_png
from vcrgen.builder.images import FORMATS, load_image
from vcrgen.config import HiddenOptions
from vcrgen.dataset.canary import LINE
from vcrgen.dataset.key import ANSWERS, FEEDBACK, FINAL, KEY_FILE, REPORT, VERSION, KeyManifest, is_key, read_key
from vcrgen.dataset.manifest import MANIFEST
from vcrgen.dataset.reader import Dataset
from vcrgen.dataset.tables import METADATA, image_bytes
from vcrgen.errors import ConfigError, DatasetError, HiddenSetError, ImageProblem, OutputError
from vcrgen.files import canonical_json, output_errors, sha256_file, write_json, write_text
from vcrgen.hidden.public import MAX_PIXELS, QUESTION_FOLDERS, README, content_digest, image_name, stamp
from vcrgen.hidden.run import HiddenResult
from vcrgen.hidden.secret import Secret, check_unused, load_secret, remember_set
from vcrgen.plurals import counted
from vcrgen.signature import Signature
from vcrgen.tasks.bloom import LETTERS, TASK, ChoiceItem, item_of, languages_of
from vcrgen.work.folder import new_folder
from vcrgen.work.watcher import Watcher

_PAIR_OPTIONS = ("forms", "same_pairs", "fonts", "not_in")  # of hidden sets of pairs only
_LIMITS = {"max_pixels": MAX_PIXELS, "min_side": 1, "max_height": 1 << 20}


def make_hidden_questions(
    dataset: Dataset, options: HiddenOptions, *, out: Path, secret_file: Path, watcher: Watcher | None = None
) -> HiddenResult:
    """Make a hidden set of a question set; the same set, options and secret give the same bytes.

    Args:
        dataset: A question set with its keys.
        options: How many items, and which share of them is in the feedback part.
        out: Folder of the set; ``public`` and ``key`` appear in it at once.
        secret_file: The maintainer's secret; made if it is not there.
        watcher: Told of the progress.

    Raises:
        VcrgenError: The user can mend it; the message says how, and never quotes secret or answer.
    """
    if odd := [name for name in _PAIR_OPTIONS if getattr(options, name) != HiddenOptions.model_fields[name].default]:
        raise ConfigError(f"--{odd[0].replace('_', '-')} is for hidden sets of pairs; {dataset} is a question set.")
    if dataset.is_hidden:
        raise DatasetError(f"{dataset} is the public part of a hidden set already.")
    if secret_file.resolve().is_relative_to(out.resolve()):
        raise HiddenSetError(f"The secret file {secret_file} lies inside {out}; keep it away from what is published.")
    secret, made = load_secret(secret_file, create=not (out.is_dir() and any(out.iterdir())))
    facts = {"set": dataset.identity, **options.model_dump(include={"items", "feedback"}), "version": VERSION}
    fingerprint = secret.seal(canonical_json(facts).encode())[:32]
    was_complete = _is_complete(out, fingerprint)
    if not was_complete:
        if not options.reuse_secret:
            check_unused(secret_file, fingerprint)
        with output_errors(out), new_folder(out) as folder:
            folder.chmod(0o700)  # it holds answers; also if the process is killed
            _write(folder, dataset, options, secret, fingerprint, watcher or Watcher())
            if not options.reuse_secret:
                remember_set(secret_file, fingerprint)
            folder.chmod(0o755)
    return HiddenResult(
        public=(out / "public",),
        keys=(out / "key",),
        report=json.loads((out / "key" / REPORT).read_text("utf-8")),
        was_complete=was_complete,
        made_secret=made,
    )


def _is_complete(out: Path, fingerprint: str) -> bool:
    """Whether the set is there already; an OutputError if another finished set is."""
    if not is_key(out / "key"):
        return False
    if read_key(out / "key").fingerprint != fingerprint:
        raise OutputError(
            f"{out} holds another hidden set (other source, options, versions or secret); choose another --out."
        )
    return True


def _write(
    folder: Path, dataset: Dataset, options: HiddenOptions, secret: Secret, fingerprint: str, watcher: Watcher
) -> None:
    public, key = folder / "public", folder / "key"
    (public / "image").mkdir(parents=True)
    key.mkdir(mode=0o700)
    languages, canary = languages_of(dataset), f"{LINE}{secret.token('canary', '0')}"
    answers = sorted(
        _hide(dataset, options.items, public, canary, secret, watcher), key=lambda line: line["question_id"]
    )
    wanted = round(options.feedback * len(answers))
    parts = draw_question_parts(secret, answers, wanted)
    answers = [line | {"part": part} for line, part in zip(answers, parts, strict=True)]
    write_text(public / METADATA, hidden_questions_text(answers, languages, canary))
    write_text(key / ANSWERS, "".join(canonical_json(line) + "\n" for line in answers))
    counts = Counter(parts)
    report = {
        "items": len(answers),
        "feedback": wanted,
        "parts": {part: {"items": counts[part]} for part in (FEEDBACK, FINAL)},
        "levels": Counter(line["path"].partition("/")[0] for line in answers),
        "positions": Counter(line["answer"] for line in answers),
        "pictures": len({line["picture"] for line in answers}),
    }
    write_json(key / REPORT, report)
    manifest = KeyManifest(
        version=VERSION, language="+".join(languages), items=len(answers), canary=canary, task=TASK,
        nonce=secret.token("nonce", "0"), fingerprint=fingerprint, signature=str(_signature(dataset)),
        public=content_digest(public, QUESTION_FOLDERS),
        files={name: sha256_file(key / name) for name in (ANSWERS, REPORT)},
    )  # fmt: skip
    write_json(key / KEY_FILE, manifest.values | {"seal": secret.seal(manifest.sealed)})
    described = question_manifest(
        languages=languages, items=len(answers), canary=canary, commitment=manifest.commitment
    )
    write_json(public / MANIFEST, described)
    write_text(public / README, question_readme(described))
    for file in key.iterdir():
        file.chmod(0o600)
    stamp(public)


def _hide(
    dataset: Dataset, wanted: int, public: Path, canary: str, secret: Secret, watcher: Watcher
) -> Iterator[dict[str, Any]]:
    """Choose items by the secret, write their pictures, and give the lines of the key, without the parts.

    Raises:
        HiddenSetError: The set has fewer items than are asked for.
        DatasetError: Two items have one id, or a row has no key or no picture.
    """
    order = [secret.token("item", row["question_id"]) for _, row in dataset.rows(["question_id"])]
    if len(order) < wanted:
        raise HiddenSetError(
            f"{dataset} has {counted(len(order), 'item')}, and {wanted:,} are asked for; give fewer by --items."
        )
    if len(set(order)) < len(order):
        raise DatasetError(f"Two items of {dataset} have the same id; build or import the question set again.")
    positions = sorted(range(len(order)), key=order.__getitem__)[:wanted]
    watcher.begin(wanted, 0)
    languages = languages_of(dataset)
    for place, row in dataset.rows(positions=positions):
        try:
            item, picture = item_of(row, languages), plain_png(image_bytes(row["image"]) or b"", canary)
        except (TypeError, ValueError, ImageProblem) as problem:
            raise DatasetError(f"{place}: {problem}; build or import the question set again.") from None
        if item.answer is None:
            raise DatasetError(f"{place} has no key; build or import the question set again.")
        line = hidden_line(item, secret)
        (public / image_name("image", line["question_id"])).write_bytes(picture)
        yield line | {"picture": hashlib.sha256(picture).hexdigest()}
        watcher.advance(1, 1, Counter())


def hidden_line(item: ChoiceItem, secret: Secret) -> dict[str, Any]:
    """The line of the key for an item: its options in a secret order, which does not hang on which of them is right."""
    order = secret.random("options", item.question_id).sample(range(len(LETTERS)), len(LETTERS))
    assert item.answer is not None
    line: dict[str, Any] = {
        "question_id": secret.token("question", item.question_id), "source_id": item.question_id, "path": item.path,
        "answer": LETTERS[order.index(item.answer)],
        "trap": "" if item.trap is None else LETTERS[order.index(item.trap)],
    }  # fmt: skip
    for lang, question in item.questions.items():
        line[f"question_{lang}"], line[f"options_{lang}"] = question.text, [question.options[at] for at in order]
    return line


def plain_png(data: bytes, canary: str) -> bytes:
    """A picture as a PNG of its pixels and a comment: what else the file held is gone.

    Raises:
        ImageProblem: It cannot be decoded.
    """
    load_image(data, width=1, **_LIMITS)  # refuses what is no picture, or too large
    with Image.open(io.BytesIO(data), formats=FORMATS) as image:
        upright = image.getexif().get(274, 1) < 5  # of the others, width and height change places
        width = image.width if upright else image.height
    return encode_png([Band(np.asarray(load_image(data, width=width, **_LIMITS)))], canary)


def hidden_question_row(line: Mapping[str, Any], languages: Sequence[str], canary: str) -> dict[str, Any]:
    """What participants are told of an item."""
    row: dict[str, Any] = {"question_id": line["question_id"], "canary": canary}
    row["image_file_name"] = image_name("image", line["question_id"])
    for lang in languages:
        row[f"question_{lang}"] = line.get(f"question_{lang}", "")
        row[f"options_{lang}"] = line.get(f"options_{lang}", [""] * len(LETTERS))
    return row


def hidden_questions_text(lines: Sequence[Mapping[str, Any]], languages: Sequence[str], canary: str) -> str:
    """The text of the questions' file, in the order of the random ids."""
    ordered = sorted(lines, key=lambda line: str(line["question_id"]))
    return "".join(canonical_json(hidden_question_row(line, languages, canary)) + "\n" for line in ordered)


def question_manifest(*, languages: Sequence[str], items: int, canary: str, commitment: str) -> dict[str, Any]:
    """What the public part says of itself."""
    facts = {"version": VERSION, "task": TASK, "languages": list(languages), "items": items}
    return facts | {"views": list(QUESTION_FOLDERS), "canary": canary, "commitment": commitment}


def question_readme(manifest: Mapping[str, Any]) -> str:
    """What participants have to know; the same words for every set."""
    return f"""# Hidden question set ({", ".join(manifest["languages"])})

{manifest["items"]} questions about pictures, each with four options, of which one is right. Which one is kept secret;
send outputs as JSON Lines with `question_id`, `lang`, `view` (`image`, or `blind` for the question without its picture)
and `output`.

```python
from datasets import load_dataset

dataset = load_dataset("imagefolder", data_dir="PATH")
```

Commitment to the answers (SHA-256): `{manifest["commitment"]}`

Please keep these files out of training data. {manifest["canary"]}
"""


def draw_question_parts(secret: Secret, answers: Sequence[Mapping[str, Any]], count: int) -> list[str]:
    """Draw ``count`` items for the feedback part: of every leaf about the same share, and no picture in both parts.

    Pictures are taken whole, in an order by the leaf of their first item that is random otherwise, so the number of
    items may differ a little from ``count``.

    Returns:
        The part of each item, in the order of the answers.
    """
    pictures: dict[str, list[int]] = {}
    for at, line in enumerate(answers):
        pictures.setdefault(line["picture"], []).append(at)
    order = sorted(pictures, key=lambda each: (answers[pictures[each][0]]["path"], secret.token("part", each)))
    parts, share = [FINAL] * len(answers), count / max(len(answers), 1)
    due = secret.random("part", "first").random()
    for picture in order:
        due += share * len(pictures[picture])
        if due >= len(pictures[picture]):
            due -= len(pictures[picture])
            for at in pictures[picture]:
                parts[at] = FEEDBACK
    return parts


def _signature(dataset: Dataset) -> Signature:
    """What scores against the key can be compared with; the secret is no part of it."""
    return Signature({**dataset.built.signature.facts, "vcrgen": version("vcrgen"), "set": VERSION})
