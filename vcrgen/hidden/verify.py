"""Verification of hidden sets: independent checks, none of which shows an answer."""

import json
import os
import re
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vcrgen.builder.encode import PNG_SIGNATURE
from vcrgen.builder.rows import read_covers
from vcrgen.core.errors import FontError, HiddenSetError
from vcrgen.core.files import indented_json, sha256_file
from vcrgen.core.plurals import pluralize
from vcrgen.core.progress import SILENT, ProgressListener, counted
from vcrgen.core.records import Mode
from vcrgen.data.canary import is_canary
from vcrgen.data.key import FEEDBACK, HIDDEN_SPLITS, REPORT, VERSION, Pictures, is_key, read_answers, read_key
from vcrgen.data.manifest import MANIFEST, check_task
from vcrgen.data.tables import METADATA
from vcrgen.data.tasks.bloom import MAX_OPTIONS, MIN_OPTIONS, TASK
from vcrgen.data.tasks.croissant import CROISSANT
from vcrgen.hidden.mcq import MCQ_FORMAT, draw_mcq_splits
from vcrgen.hidden.measured import measured_spans
from vcrgen.hidden.public import (
    IMAGE_FOLDERS,
    MAX_PIXELS,
    PAIR_FORMAT,
    README,
    TIME_STAMP,
    PublicFormat,
    content_digest,
    image_name,
    public_files,
    read_file,
    read_pixels,
)
from vcrgen.hidden.reference import caption_start
from vcrgen.hidden.secret import Secret
from vcrgen.hidden.splits import draw_splits
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover import is_covered

TEXT_FILES = (METADATA, MANIFEST, CROISSANT, README)
ITEM_ID = re.compile(r"[0-9a-f]{32}")
# Ids of built-in pairs and questions: the number of a picture, which is drawn from the secret where it is that large.
BUILT_IN_PAIR, BUILT_IN_QUESTION = re.compile(r"[a-z]{2,3}-(\d{6,100})"), re.compile(r"scene-(\d{7,100})-\d+")
MIN_PRIVATE_NUMBER = 1 << 128
_BITS = "bits that covers promise left by the whole strip"
COMMITMENT = re.compile(r"[0-9a-f]{64}")
_BY_CHANCE = re.compile(r"[0-9a-fA-F]{0,11}|.{0,3}")  # source ids that random ids contain by chance

Answers = Sequence[Mapping[str, Any]]


class CheckFailed(Exception):
    """A failed check; its text shows no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check."""

    name: str  # of the check
    ok: bool | None  # None if it could not be made
    detail: str = ""  # the fault, without answers


def find_sets(folder: Path) -> list[Path]:
    """Find the folders with a public part: the folder itself, or its forms."""
    if (folder / "public").is_dir():
        return [folder]
    forms = [path for path in folder.glob("form-*") if (path / "public").is_dir()]
    if not forms:
        raise HiddenSetError(
            f"{folder} holds no hidden set (no folder `public` in it, nor in form-1); name the folder that "
            "`vcrgen hidden` wrote, which has `public` and `key` in it."
        )
    return sorted(forms, key=lambda path: (len(path.name), path))


def verify(folder: str | Path, *, secret: Secret | None = None, listener: ProgressListener = SILENT) -> list[Check]:
    """Check one set: the public part, and ``key`` beside it if it exists, whose seal needs the secret.

    Each check is made even if others fail. The listener counts the images whose bits are measured, which take longest.
    """
    public, key_folder, seal = Path(folder, "public"), Path(folder, "key"), "seal of the maintainer's secret"
    kind = _MCQ if is_mcq(public) else _PAIRS
    checks = [_check(name, look, public, kind.format) for name, look in _PUBLIC_CHECKS.items()]
    if not is_key(key_folder):
        why = "no key beside it: answers cannot be looked for"
        return [*checks, Check(name="answers and commitment", ok=None, detail=why)]
    checks += [_check(name, look, public, key_folder) for name, look in (_KEY_CHECKS | kind.checks).items()]
    if kind is _PAIRS:
        checks.append(_check(_BITS, _check_bits, public, key_folder, listener))
    checks.append(_check("feedback split and final split", _check_splits, key_folder, secret, kind.draw_splits))
    unknown = Check(name=seal, ok=None, detail="no secret file given")
    return [*checks, _check(seal, _check_seal, key_folder, secret) if secret else unknown]


def _check(name: str, look: Callable[..., str | None], *about: object) -> Check:
    try:
        detail = look(*about)
    except (CheckFailed, HiddenSetError) as fault:
        return Check(name=name, ok=False, detail=str(fault))
    except FontError as missing:
        return Check(name=name, ok=None, detail=str(missing))
    except OSError as error:
        return Check(name=name, ok=False, detail=f"cannot be read: {error.strerror or 'damaged'}")
    except Exception:  # parsers and decoders raise anything on hostile files
        return Check(name=name, ok=False, detail="damaged: not of the form that vcrgen writes")
    return Check(name=name, ok=True, detail=detail or "")


def fail_if(condition: object, detail: str) -> None:
    """Raise CheckFailed if a condition holds."""
    if condition:
        raise CheckFailed(detail)


def _read_manifest(public: Path) -> dict[str, Any]:
    value = json.loads(read_file(public / MANIFEST))
    fail_if(not isinstance(value, dict) or value.get("version") != VERSION, "the manifest is of another version")
    return dict(value)


def _read_questions(public: Path) -> list[dict[str, Any]]:
    return [dict(json.loads(line)) for line in read_file(public / METADATA).splitlines()]


def _ids(public: Path) -> list[str]:
    return [str(row["question_id"]) for row in _read_questions(public)]


def is_mcq(public: Path) -> bool:
    """Return True for the public part of an MCQ benchmark."""
    try:
        return _read_manifest(public).get("task") == TASK
    except (CheckFailed, HiddenSetError, OSError, ValueError, RecursionError):
        return False  # the checks of a set of pairs report the fault


def _check_absent(texts: set[str], public: Path) -> None:
    """Fail if the name or text of a public file contains one of some texts, in any case."""
    secrets = {form.casefold() for text in texts for form in (text, json.dumps(text)[1:-1])}
    files = list(public_files(public))
    names = "\n".join(file.relative_to(public).as_posix() for file in files).casefold()
    searched = [name for name in TEXT_FILES if name != CROISSANT]  # its sentences are those of every set
    text_files = "\n".join(read_file(public / name).decode() for name in searched).casefold()
    for secret in secrets:
        fail_if(secret in names, "a file's name holds a text of the key")
        fail_if(secret in text_files, f"{', '.join(searched)}: one of them holds a text of the key")


def _source_ids(answers: Answers) -> set[str]:
    return {item["source_id"] for item in answers if not _BY_CHANCE.fullmatch(item["source_id"])}


def _public_id(question_id: str) -> str:
    """Return an id for a detail; ids that are not random are not shown."""
    return question_id if ITEM_ID.fullmatch(question_id) else "an item without a random id"


def _check_names(public: Path, form: PublicFormat) -> None:
    """File names carry no information: an id, or one of three constants."""
    views = form.folders
    for path in sorted(public.rglob("*")):
        name = path.relative_to(public).as_posix()
        fail_if(path.is_symlink(), "a file is a link")
        if path.is_dir():
            fail_if(name not in views, "a folder that does not belong there")
        elif name not in TEXT_FILES:
            folder, _, stem = name.removesuffix(".png").partition("/")
            is_valid = folder in views and name.endswith(".png") and ITEM_ID.fullmatch(stem)
            fail_if(not is_valid, "a file whose name is not one that vcrgen gives")


def _check_description(public: Path, form: PublicFormat) -> None:
    manifest = _read_manifest(public)
    fields = {name: manifest[name] for name in (*form.facts, "items", "canary", "commitment", "pictures")}
    if form is PAIR_FORMAT:
        fail_if(fields["language"] not in LANGUAGES, "the language is not known")
    else:
        check_task(fields["task"], fields["languages"])
    fail_if(fields["pictures"] not in list(Pictures), "the source of the pictures is not known")
    fail_if(not is_canary(fields["canary"]), "the canary is not of its form")
    fail_if(not COMMITMENT.fullmatch(fields["commitment"]), "the commitment is not of its form")
    fail_if(manifest != form.manifest(**fields), "the manifest says more or less than it should")
    written = read_file(public / MANIFEST).decode()
    fail_if(written != indented_json(manifest), "the manifest is not in its constant form")
    fail_if(fields["items"] != len(_ids(public)), "the number of items is not that of the questions")
    described = form.croissant(manifest, sha256_file(public / METADATA))
    fail_if(read_file(public / CROISSANT).decode() != described, f"{CROISSANT} is not the constant text")
    fail_if(read_file(public / README).decode() != form.readme(manifest), f"{README} is not the constant text")


def _check_questions(public: Path, form: PublicFormat) -> None:
    manifest, rows = _read_manifest(public), _read_questions(public)
    for number, row in enumerate(rows, start=1):
        fail_if(not ITEM_ID.fullmatch(row["question_id"]), f"row {number}: the id is not 32 random digits")
        fail_if(row != form.question_row(row, manifest), f"row {number}: columns or values beside ids and question")
        for lang in manifest.get("languages", ()):
            question, options = row[f"question_{lang}"], row[f"options_{lang}"]
            texts = isinstance(options, list) and all(isinstance(text, str) for text in (question, *options))
            is_question = texts and MIN_OPTIONS <= len(options) <= MAX_OPTIONS
            fail_if(not is_question, f"row {number}: not a question with {MIN_OPTIONS} to {MAX_OPTIONS} options")
    ids = [row["question_id"] for row in rows]
    fail_if(ids != sorted(ids), "the rows are not sorted by id, so their order may tell something")
    fail_if(len(set(ids)) != len(ids), "an id comes twice")
    text = form.questions_text(rows, manifest)
    fail_if(read_file(public / METADATA).decode() != text, "names or white space that a JSON reader ignores")
    files = {file.relative_to(public).as_posix() for file in public_files(public)} - set(TEXT_FILES)
    expected = {image_name(view, question_id) for question_id in ids for view in form.folders}
    fail_if(files != expected, "the images are not those that the questions name")


def _check_images(public: Path, form: PublicFormat) -> None:
    comment, views = b"Comment\0" + _read_manifest(public)["canary"].encode("ascii"), form.folders
    for question_id in _ids(public):
        sizes = set()
        for view in views:
            place = f"{view} of {_public_id(question_id)}"
            data = read_file(public / image_name(view, question_id))
            kinds = list(_chunks(data))
            names = [kind for kind, _ in kinds]
            fail_if(names != [b"IHDR", b"tEXt", b"IDAT", b"IEND"], f"{place}: other chunks than pixels and canary")
            fail_if(kinds[1][1] != comment, f"{place}: the comment is not the canary")
            fail_if(kinds[3][1], f"{place}: data in the end mark")
            width, height, *coding = struct.unpack(">IIBBBBB", kinds[0][1])
            fail_if(coding != [8, 2, 0, 0, 0], f"{place}: not an RGB image of eight bits")
            fail_if(width * height > MAX_PIXELS, f"{place}: more than {MAX_PIXELS} pixels")
            size = height * (1 + 3 * width)
            stream = zlib.decompressobj()
            pixels = stream.decompress(kinds[2][1], size + 1)
            exact = len(pixels) == size and stream.eof and not stream.unused_data
            fail_if(not exact, f"{place}: data beside the pixels")
            sizes.add((width, height))
        fail_if(len(sizes) != 1, f"{_public_id(question_id)}: the two views differ in size")


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the chunks of a PNG, up to its last byte."""
    fail_if(not data.startswith(PNG_SIGNATURE), "an image is not a PNG")
    position = len(PNG_SIGNATURE)
    while position < len(data):
        (length,) = struct.unpack_from(">I", data, position)
        kind, body = data[position + 4 : position + 8], data[position + 8 : position + 8 + length]
        fail_if(len(body) != length, "an image is truncated")
        (checksum,) = struct.unpack_from(">I", data, position + 8 + length)
        fail_if(zlib.crc32(kind + body) != checksum, "an image has a wrong checksum")
        yield kind, body
        position += length + 12


def _check_canary(public: Path, form: PublicFormat) -> None:
    canary = _read_manifest(public)["canary"].encode("ascii")
    for file in public_files(public):
        fail_if(canary not in read_file(file), "a file lacks the canary")


def _check_times(public: Path, form: PublicFormat) -> None:
    for path in [public, *public.rglob("*")]:
        fail_if(
            path.lstat().st_mtime != TIME_STAMP,
            "a file or folder has a time of its own; copy sets with cp -a, which keeps times",
        )


def _check_attributes(public: Path, form: PublicFormat) -> None:
    """Fail for extended attributes; Python reads them on Linux only."""
    for path in [public, *public.rglob("*")] if hasattr(os, "listxattr") else ():
        attributes = [
            name for name in os.listxattr(path, follow_symlinks=False) if name.startswith(("user.", "trusted."))
        ]
        fail_if(attributes, "a file or folder has extended attributes; remove them with setfattr -x")


def _check_commitment(public: Path, key_folder: Path) -> None:
    key = read_key(key_folder)
    fail_if(key.commitment != _read_manifest(public)["commitment"], "the key is not the one that was committed to")
    fail_if(key.canary != _read_manifest(public)["canary"], "the key has another canary")
    fail_if(key.pictures != _read_manifest(public)["pictures"], "the key names another source of the pictures")


def _check_permissions(public: Path, key_folder: Path) -> None:
    if os.name == "posix":
        for path in [key_folder, *key_folder.iterdir()]:
            fail_if(path.stat().st_mode & 0o077, f"{path.name} can be read by others; use chmod -R go= on the key")


def _check_content(public: Path, key_folder: Path) -> None:
    answers, form = list(read_answers(key_folder)), MCQ_FORMAT if is_mcq(public) else PAIR_FORMAT
    fail_if([item["question_id"] for item in answers] != _ids(public), "the ids are not those of the key")
    if form is MCQ_FORMAT:
        text = form.questions_text(answers, _read_manifest(public))
        fail_if(read_file(public / METADATA).decode() != text, "the questions are not those of the key")
        for item in answers:
            digest = sha256_file(public / image_name("image", item["question_id"]))
            fail_if(digest != item["picture"], "a picture is not the one of the key")
    fail_if(read_key(key_folder).public != content_digest(public, form.folders), "a question or an image was changed")


def _check_splits(key_folder: Path, secret: Secret | None, draw: Callable[..., list[str]]) -> None:
    """Every item is in one of the two splits, with the counts of the report, and as drawn by the secret."""
    answers = list(read_answers(key_folder))
    counts = Counter(answer.get("part") for answer in answers)
    fail_if(not set(counts) <= set(HIDDEN_SPLITS), "an item of the key is in neither split")
    report = json.loads(read_file(key_folder / REPORT))
    reported = {split: counted["items"] for split, counted in report["parts"].items()}
    fail_if(Counter(reported) != counts, "the splits are not as large as the report says")
    if "levels" in report:
        pictures = {(item["picture"], item["part"]) for item in answers}
        fail_if(len(pictures) != len({picture for picture, _ in pictures}), "a picture is in both splits")
    if secret:
        drawn = draw(secret, report, answers)
        fail_if([answer["part"] for answer in answers] != drawn, "the splits were not drawn by this secret")


def _check_pair_texts(public: Path, key_folder: Path) -> None:
    """Look for secret texts in names and texts; another check proves that images hold nothing but pixels."""
    answers = list(read_answers(key_folder))
    texts = {text for item in answers for text in (item["caption"], *item["crossed_text"])}
    _check_absent(_source_ids(answers) | texts, public)


def _check_mcq_texts(public: Path, key_folder: Path) -> None:
    answers = list(read_answers(key_folder))
    _check_absent(_source_ids(answers) | {item["path"] for item in answers}, public)


def _check_covers(public: Path, key_folder: Path) -> None:
    """Check that both views have the same strip, TEI is white elsewhere, and the strip has every cover."""
    for item in read_answers(key_folder):
        stacked, only_it = (read_pixels(public / image_name(view, item["question_id"])) for view in IMAGE_FOLDERS)
        height, y, alone = item["strip_height"], item["strip_y"], item["only_it_strip_y"]
        strip = stacked[y : y + height]
        same = np.array_equal(strip, only_it[alone : alone + height])
        place = f"image {_public_id(item['question_id'])}"
        fail_if(not same, f"{place}: the strips of the two views differ")
        rest = np.concatenate([only_it[:alone], only_it[alone + height :]])
        fail_if((rest != 255).any(), f"{place}: TEI shows more than the strip")
        for number, span in enumerate(item["spans"], start=1):
            covers = list(read_covers(span))
            fail_if(not covers, f"{place}: span {number} has no cover")
            hidden = all(is_covered(strip, cover) for cover in covers)
            fail_if(not hidden, f"{place}: span {number} is not covered")


def _check_bits(public: Path, key_folder: Path, listener: ProgressListener) -> str | None:
    """Measure anew, in the public pixels of the whole strip, what covers leave that go by bits."""
    lang = str(read_key(key_folder).language)
    measured, stretches = list[float](), list[float]()
    items = sorted(read_answers(key_folder), key=lambda item: (item["font"], item["font_size"]))
    for item in counted(items, len(items), listener):
        promises = [Mode(span["cover"]).bits for span in item["spans"]]
        if not any(promises):
            continue
        y, place = item["strip_y"], f"image {_public_id(item['question_id'])}"
        stacked = read_pixels(public / image_name(IMAGE_FOLDERS[0], item["question_id"]))
        strip = stacked[y : y + item["strip_height"], :, 0]
        spans = measured_spans(item, strip, lang)
        for number, (span, promise) in enumerate(zip(spans, promises, strict=True), start=1):
            bits = span.bits
            few = f"{place}: span {number} leaves {bits:.1f} bits, and its cover promises {promise}"
            fail_if(bits < promise, few)
            measured.append(bits)
            stretches += span.stretches
    if not measured:
        return "no cover promises any"
    return (
        f"bits of {pluralize(len(measured), 'span')}: least {min(measured):.1f}, median {np.median(measured):.1f}; "
        f"least of {pluralize(len(stretches), 'covered stretch', 'covered stretches')} {min(stretches):.1f}"
    )


def _check_source(public: Path, key_folder: Path) -> str:
    """Fail for items that anybody can rebuild with this package; say so where they are built-in but private."""
    answers = list(read_answers(key_folder))
    private, language = 0, read_key(key_folder).language
    for item in answers:
        built_in = (BUILT_IN_PAIR if "caption" in item else BUILT_IN_QUESTION).fullmatch(item["source_id"])
        if built_in and int(built_in[1]) >= MIN_PRIVATE_NUMBER:
            private += 1
        elif built_in and ("caption" not in item or _is_built_in(item["caption"], str(language), int(built_in[1]))):
            raise CheckFailed("built-in items are public: whoever has vcrgen can rebuild them; see --private-source")
    return "built-in, but drawn from the secret, so nobody else can rebuild them" if private else ""


def _is_built_in(text: str, language: str, number: int) -> bool:
    from vcrgen.samples.pairs import caption

    try:
        return caption_start(caption(language, number)) == caption_start(text)
    except ValueError:
        return False


def _check_seal(key_folder: Path, secret: Secret) -> None:
    key = read_key(key_folder)
    fail_if(key.seal != secret.seal(key.sealed), "the seal is not of this secret")


_PUBLIC_CHECKS: dict[str, Callable[[Path, PublicFormat], None]] = {
    "only the files that belong there": _check_names,
    "manifest and README in their constant form": _check_description,
    "questions: nothing but random ids and the question": _check_questions,
    "images: pixels and canary, no other data": _check_images,
    "canary in every file": _check_canary,
    "one time stamp": _check_times,
    "no extended attributes": _check_attributes,
}
_KEY_CHECKS: dict[str, Callable[[Path, Path], str | None]] = {
    "key unchanged and committed to": _check_commitment,
    "key readable by its owner only": _check_permissions,
    "questions and images are those of the key": _check_content,
    "items that the package alone cannot rebuild": _check_source,
}


class _Kind(NamedTuple):
    """The checks of one kind of hidden sets."""

    format: PublicFormat
    checks: dict[str, Callable[[Path, Path], str | None]]
    draw_splits: Callable[[Secret, Mapping[str, Any], Answers], list[str]]  # of a secret, the report and the items


_PAIRS = _Kind(
    PAIR_FORMAT,
    {
        "no answer, caption or source id in the public part": _check_pair_texts,
        "every answer covered in the pixels": _check_covers,
    },
    lambda secret, report, answers: draw_splits(
        secret, report["form"] - 1, answers, sum(answer["part"] == FEEDBACK for answer in answers)
    ),
)
_MCQ = _Kind(
    MCQ_FORMAT,
    {"no source id and no category in the public part": _check_mcq_texts},
    lambda secret, report, answers: draw_mcq_splits(secret, answers, report["feedback"]),
)


def leaks(checks: Sequence[Check]) -> list[Check]:
    """Checks that failed; one that was not made is none of them."""
    return [check for check in checks if check.ok is False]
