"""Hidden MCQ benchmarks: the same items under random ids, in a secret order of items, options and pictures.

    public/metadata.jsonl   a row an item, sorted by its random id: questions and options in every language
    public/image/ID.png     its picture, without metadata
    public/manifest.json, public/README.md
    key/answers.jsonl       a line an item: category, right option, trap, the id in the source, the split
    key/report.json, key/key.json

The public part does not depend on the keys of the source: the same questions with other right options give the same
bytes except for the commitment.
"""

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
from vcrgen.core.errors import ConfigError, DatasetError, HiddenSetError, ImageProblem
from vcrgen.core.files import canonical_json, output_errors
from vcrgen.core.folder import new_folder
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import ProgressListener
from vcrgen.core.signature import Signature
from vcrgen.data.canary import LINE
from vcrgen.data.key import FEEDBACK, FINAL, HIDDEN_SPLITS, REPORT, VERSION, Pictures
from vcrgen.data.reader import Dataset
from vcrgen.data.tables import image_bytes
from vcrgen.data.tasks.bloom import LETTERS, SCENE_MAKER, TASK, ChoiceItem, item_of, languages_of
from vcrgen.hidden.options import HiddenOptions
from vcrgen.hidden.public import MAX_PIXELS, MCQ_FOLDERS, PublicFormat, image_name, is_complete, stamp, write_set
from vcrgen.hidden.run import HiddenResult, source_of_pictures
from vcrgen.hidden.secret import Secret, check_unused, open_secret, remember_set

_PAIR_OPTIONS = ("forms", "same_pairs", "fonts", "not_in")  # of hidden sets of pairs only
MIN_PRIVATE_SEED = 1 << 128  # of built-in scenes: a smaller one may be found by trying
_LIMITS = {"max_pixels": MAX_PIXELS, "min_side": 1, "max_height": 1 << 20}


def make_hidden_mcq(
    dataset: Dataset, options: HiddenOptions, *, out: Path, secret_file: Path, listener: ProgressListener | None = None
) -> HiddenResult:
    """Make a hidden set of an MCQ benchmark; the same set, options and secret give the same bytes.

    Raises:
        VcrgenError: The user can fix it; the message never quotes secret or answer.
    """
    if odd := [name for name in _PAIR_OPTIONS if getattr(options, name) != HiddenOptions.model_fields[name].default]:
        raise ConfigError(f"--{odd[0].replace('_', '-')} is for hidden sets of pairs; {dataset} is an MCQ benchmark.")
    if dataset.is_hidden:
        raise DatasetError(f"{dataset} is the public part of a hidden set already.")
    built = dataset.built.config
    scenes = str(built.get("maker", "")).startswith(SCENE_MAKER)
    pictures = source_of_pictures(scenes, options, what="Built-in questions", give="a set")
    if options.private_source and int(built["seed"]) < MIN_PRIVATE_SEED:
        raise ConfigError(
            f"{dataset} is of the seed {built['seed']}, which can be guessed; give `scenes` instead, which are drawn "
            "from the secret."
        )
    secret = open_secret(secret_file, out)
    facts = {
        "set": dataset.identity,
        **options.model_dump(include={"items", "feedback"}),
        "version": VERSION,
        "pictures": pictures,
    }
    fingerprint = secret.seal(canonical_json(facts).encode())[:32]
    was_complete = is_complete(out, [out], fingerprint)
    if not was_complete:
        if not options.reuse_secret:
            check_unused(secret_file, fingerprint)
        with output_errors(out), new_folder(out) as folder:
            folder.chmod(0o700)  # it holds answers, also after a kill
            _write(folder, dataset, options, pictures, secret, fingerprint, listener or ProgressListener())
            if not options.reuse_secret:
                remember_set(secret_file, fingerprint)
            folder.chmod(0o755)
    report = json.loads((out / "key" / REPORT).read_text("utf-8"))
    return HiddenResult(
        public=(out / "public",),
        keys=(out / "key",),
        report=report,
        was_complete=was_complete,
        source=str(dataset),
    )


def _write(
    folder: Path,
    dataset: Dataset,
    options: HiddenOptions,
    pictures: Pictures,
    secret: Secret,
    fingerprint: str,
    listener: ProgressListener,
) -> None:
    public, key = folder / "public", folder / "key"
    (public / "image").mkdir(parents=True)
    key.mkdir(mode=0o700)
    canary = f"{LINE}{secret.token('canary', '0')}"
    hidden = _hide(dataset, options.items, public, canary, secret, listener)
    answers = sorted(hidden, key=lambda item: str(item["question_id"]))
    feedback_items = round(options.feedback * len(answers))
    splits = draw_mcq_splits(secret, answers, feedback_items)
    answers = [item | {"part": split} for item, split in zip(answers, splits, strict=True)]
    counts = Counter(splits)
    report = {
        "items": len(answers),
        "feedback": feedback_items,
        "parts": {split: {"items": counts[split]} for split in HIDDEN_SPLITS},
        "levels": Counter(item["path"].partition("/")[0] for item in answers),
        "positions": Counter(item["answer"] for item in answers),
        "pictures": len({item["picture"] for item in answers}),
    }
    facts = {"vcrgen": version("vcrgen"), "set": VERSION, "pictures": pictures.value}
    signature = Signature({**dataset.built.signature.facts, **facts})
    write_set(
        public,
        key,
        MCQ_FORMAT,
        answers,
        report,
        secret=secret,
        number=0,
        fingerprint=fingerprint,
        signature=signature,
        canary=canary,
        pictures=pictures,
        task=TASK,
        languages=list(languages_of(dataset)),
    )
    for file in key.iterdir():
        file.chmod(0o600)
    stamp(public)


def _hide(
    dataset: Dataset, count: int, public: Path, canary: str, secret: Secret, listener: ProgressListener
) -> Iterator[dict[str, Any]]:
    """Select items by the secret, write their pictures, and yield the items of the key without splits.

    Raises:
        HiddenSetError: The benchmark has too few items.
        DatasetError: Two items have one id, or a row has no key or no picture.
    """
    order = [secret.token("item", row["question_id"]) for _, row in dataset.rows(["question_id"])]
    if len(order) < count:
        raise HiddenSetError(
            f"{dataset} has {pluralize(len(order), 'item')}, and {count:,} are asked for; give fewer by --items."
        )
    if len(set(order)) < len(order):
        raise DatasetError(f"Two items of {dataset} have the same id; build or import the benchmark again.")
    positions = sorted(range(len(order)), key=order.__getitem__)[:count]
    listener.begin(count, 0)
    languages = languages_of(dataset)
    for place, row in dataset.rows(positions=positions):
        try:
            item, picture = item_of(row, languages), plain_png(image_bytes(row["image"]) or b"", canary)
        except (TypeError, ValueError, ImageProblem) as problem:
            raise DatasetError(f"{place}: {problem}; build or import the benchmark again.") from None
        if item.answer is None:
            raise DatasetError(f"{place} has no key; build or import the benchmark again.")
        line = hidden_item(item, secret)
        (public / image_name("image", line["question_id"])).write_bytes(picture)
        yield line | {"picture": hashlib.sha256(picture).hexdigest()}
        listener.advance(1, 1, Counter())


def hidden_item(item: ChoiceItem, secret: Secret) -> dict[str, Any]:
    """Make an item of the key, with its options in a secret order that does not depend on the right one."""
    order = secret.random("options", item.question_id).sample(range(item.options), item.options)
    assert item.answer is not None
    line: dict[str, Any] = {
        "question_id": secret.token("question", item.question_id),
        "source_id": item.question_id,
        "path": item.path,
        "answer": LETTERS[order.index(item.answer)],
        "trap": "" if item.trap is None else LETTERS[order.index(item.trap)],
    }
    for lang, question in item.questions.items():
        line[f"question_{lang}"], line[f"options_{lang}"] = question.text, [question.options[at] for at in order]
    return line


def plain_png(data: bytes, canary: str) -> bytes:
    """Encode a picture anew as a PNG with a comment and without other metadata.

    Raises:
        ImageProblem: It cannot be decoded.
    """
    load_image(data, width=1, **_LIMITS)  # raises for invalid or too large pictures
    with Image.open(io.BytesIO(data), formats=FORMATS) as image:
        upright = image.getexif().get(274, 1) < 5  # otherwise width and height are swapped
        width = image.width if upright else image.height
    return encode_png([Band(np.asarray(load_image(data, width=width, **_LIMITS)))], canary)


def mcq_question_row(item: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Row of ``metadata.jsonl``: question and options by language, without the answer and the category."""
    row: dict[str, Any] = {"question_id": item["question_id"], "canary": manifest["canary"]}
    row["image_file_name"] = image_name("image", item["question_id"])
    options = max(len(item.get(f"options_{lang}", ())) for lang in manifest["languages"])
    for lang in manifest["languages"]:
        row[f"question_{lang}"] = item.get(f"question_{lang}", "")
        row[f"options_{lang}"] = item.get(f"options_{lang}", [""] * options)
    return row


def _mcq_title(manifest: Mapping[str, Any]) -> str:
    questions = pluralize(manifest["items"], "question about a picture", "questions about pictures")
    return f"""# Hidden MCQ benchmark ({", ".join(manifest["languages"])})

{questions}, each with options of which one is right. Which one is kept secret;
send outputs as JSON Lines with `question_id`, `lang`, `view` (`image`, or `text-only` for the question without its
picture) and `output`.
"""


MCQ_FORMAT = PublicFormat(
    folders=MCQ_FOLDERS, facts=("task", "languages"), question_row=mcq_question_row, title=_mcq_title
)


def draw_mcq_splits(secret: Secret, answers: Sequence[Mapping[str, Any]], count: int) -> list[str]:
    """Draw the splits: about ``count`` items in the feedback split, stratified by category, grouped by picture.

    Returns:
        The split of each item, in the order of the answers.
    """
    pictures: dict[str, list[int]] = {}
    for at, line in enumerate(answers):
        pictures.setdefault(line["picture"], []).append(at)
    order = sorted(pictures, key=lambda picture: (answers[pictures[picture][0]]["path"], secret.token("part", picture)))
    splits, share = [FINAL] * len(answers), count / max(len(answers), 1)
    due = secret.random("part", "first").random()
    for picture in order:
        due += share * len(pictures[picture])
        if due >= len(pictures[picture]):
            due -= len(pictures[picture])
            for at in pictures[picture]:
                splits[at] = FEEDBACK
    return splits
