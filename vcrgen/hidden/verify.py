"""Whether a hidden set keeps its secret: every check on its own, and none of them shows an answer."""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vcrgen.builder.encode import PNG_SIGNATURE
from vcrgen.builder.rows import read_covers
from vcrgen.dataset.canary import is_canary
from vcrgen.dataset.key import FEEDBACK, is_key, read_answers, read_key
from vcrgen.dataset.manifest import MANIFEST
from vcrgen.dataset.tables import METADATA
from vcrgen.errors import HiddenSetError
from vcrgen.files import indented_json
from vcrgen.hidden import verify_questions
from vcrgen.hidden.checking import (
    COMMITMENT,
    ITEM_ID,
    TEXT_FILES,
    CheckFailed,
    check_part_sizes,
    fail_if,
    look_for,
    public_facts,
    public_rows,
    source_ids,
)
from vcrgen.hidden.parts import draw_feedback
from vcrgen.hidden.public import (
    IMAGE_FOLDERS,
    MAX_PIXELS,
    QUESTION_FOLDERS,
    README,
    TIME_STAMP,
    content_digest,
    image_name,
    metadata_row,
    public_files,
    public_manifest,
    public_readme,
    questions_text,
    read_file,
    read_pixels,
)
from vcrgen.hidden.secret import Secret
from vcrgen.tasks.bloom import TASK
from vcrgen.text.languages import LANGUAGES
from vcrgen.typeset.cover import is_covered


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check."""

    name: str  # what was looked at
    ok: bool | None  # whether it holds; None where it could not be looked at
    detail: str = ""  # what was found, without answers


def find_sets(folder: Path) -> list[Path]:
    """The folders with a public part (the folder itself, or one a form); a HiddenSetError if there is none."""
    if (folder / "public").is_dir():
        return [folder]
    forms = [path for path in folder.glob("form-*") if (path / "public").is_dir()]
    if not forms:
        raise HiddenSetError(f"{folder} holds no hidden set (no folder `public` in it, nor in form-1).")
    return sorted(forms, key=lambda path: (len(path.name), path))


def verify(folder: Path, *, secret: Secret | None = None) -> list[Check]:
    """Check one set: the public part alone, and against the key if that is there.

    The folder holds ``public`` and, at the maintainer's, ``key``, whose seal the secret checks. Each check is made even
    where others fail.
    """
    public, key_folder, seal = folder / "public", folder / "key", "seal of the maintainer's secret"
    public_checks, key_checks, parts = _QUESTION_CHECKS if _is_of_questions(public) else _PAIR_CHECKS
    checks = [_check(name, look, public) for name, look in public_checks.items()]
    if not is_key(key_folder):
        why = "no key beside it: answers cannot be looked for"
        return [*checks, Check(name="answers and commitment", ok=None, detail=why)]
    checks += [_check(name, look, public, key_folder) for name, look in key_checks.items()]
    checks.append(_check("feedback part and final part", parts, key_folder, secret))
    unknown = Check(name=seal, ok=None, detail="no secret file given")
    return [*checks, _check(seal, _check_seal, key_folder, secret) if secret else unknown]


def _check(name: str, look: Callable[..., None], *about: object) -> Check:
    try:
        look(*about)
    except (CheckFailed, HiddenSetError) as fault:
        return Check(name=name, ok=False, detail=str(fault))
    except OSError as error:
        return Check(name=name, ok=False, detail=f"cannot be read: {error.strerror or 'damaged'}")
    except Exception:  # parsers and decoders raise anything on hostile files
        return Check(name=name, ok=False, detail="damaged: not of the form that vcrgen writes")
    return Check(name=name, ok=True)


def _ids(public: Path) -> list[str]:
    return [str(row["question_id"]) for row in public_rows(public)]


def _is_of_questions(public: Path) -> bool:
    try:
        return public_facts(public).get("task") == TASK
    except (CheckFailed, HiddenSetError, OSError, ValueError, RecursionError):
        return False  # the checks of a set of pairs say what is wrong


def _views(public: Path) -> tuple[str, ...]:
    return QUESTION_FOLDERS if _is_of_questions(public) else IMAGE_FOLDERS


def _shown(question_id: str) -> str:
    """An id in a detail; one that is not random may be anything, so it is not shown."""
    return question_id if ITEM_ID.fullmatch(question_id) else "an item without a random id"


def _check_names(public: Path) -> None:
    """File names are chosen by no one: an id, or one of three constants."""
    views = _views(public)
    for path in sorted(public.rglob("*")):
        name = path.relative_to(public).as_posix()
        fail_if(path.is_symlink(), "a file is a link")
        if path.is_dir():
            fail_if(name not in views, "a folder that does not belong there")
        elif name not in TEXT_FILES:
            folder, _, stem = name.removesuffix(".png").partition("/")
            known = folder in views and name.endswith(".png") and ITEM_ID.fullmatch(stem)
            fail_if(not known, "a file whose name is not one that vcrgen gives")


def _check_description(public: Path) -> None:
    manifest = public_facts(public)
    fields = {name: manifest[name] for name in ("language", "items", "canary", "commitment")}
    fail_if(fields["language"] not in LANGUAGES, "the language is not known")
    fail_if(not is_canary(fields["canary"]), "the canary is not of its form")
    fail_if(not COMMITMENT.fullmatch(fields["commitment"]), "the commitment is not of its form")
    fail_if(manifest != public_manifest(**fields), "the manifest says more or less than it should")
    fail_if(
        read_file(public / MANIFEST).decode() != indented_json(manifest), "the manifest is not in its constant form"
    )
    fail_if(fields["items"] != len(_ids(public)), "the number of items is not that of the questions")
    fail_if(read_file(public / README).decode() != public_readme(manifest), f"{README} is not the constant text")


def _check_questions(public: Path) -> None:
    manifest = public_facts(public)
    ids = []
    for number, row in enumerate(map(json.loads, read_file(public / METADATA).splitlines()), start=1):
        question_id = row["question_id"]
        fail_if(not ITEM_ID.fullmatch(question_id), f"row {number}: the id is not 32 random digits")
        expected = metadata_row(question_id, manifest["language"], manifest["canary"])
        fail_if(row != expected, f"row {number}: columns or values beside ids and question")
        ids.append(question_id)
    fail_if(ids != sorted(ids), "the rows are not sorted by id, so their order may tell something")
    fail_if(len(set(ids)) != len(ids), "an id comes twice")
    text = questions_text(ids, language=manifest["language"], canary=manifest["canary"])
    fail_if(read_file(public / METADATA).decode() != text, "names or white space that a JSON reader passes over")
    there = {file.relative_to(public).as_posix() for file in public_files(public)} - set(TEXT_FILES)
    named = {image_name(view, question_id) for question_id in ids for view in IMAGE_FOLDERS}
    fail_if(there != named, "the images are not those that the questions name")


def _check_images(public: Path) -> None:
    comment, views = b"Comment\0" + public_facts(public)["canary"].encode("ascii"), _views(public)
    for question_id in _ids(public):
        sizes = set()
        for view in views:
            place = f"{view} of {_shown(question_id)}"
            data = read_file(public / image_name(view, question_id))
            kinds = list(_chunks(data))
            names = [kind for kind, _ in kinds]
            fail_if(names != [b"IHDR", b"tEXt", b"IDAT", b"IEND"], f"{place}: other chunks than pixels and canary")
            fail_if(kinds[1][1] != comment, f"{place}: the comment is not the canary")
            fail_if(kinds[3][1], f"{place}: data in the end mark")
            width, height, *form = struct.unpack(">IIBBBBB", kinds[0][1])
            fail_if(form != [8, 2, 0, 0, 0], f"{place}: not an RGB image of eight bits")
            fail_if(width * height > MAX_PIXELS, f"{place}: more than {MAX_PIXELS} pixels")
            size = height * (1 + 3 * width)
            stream = zlib.decompressobj()
            pixels = stream.decompress(kinds[2][1], size + 1)
            exact = len(pixels) == size and stream.eof and not stream.unused_data
            fail_if(not exact, f"{place}: data beside the pixels")
            sizes.add((width, height))
        fail_if(len(sizes) != 1, f"{_shown(question_id)}: the two views differ in size")


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a PNG, up to its last byte."""
    fail_if(not data.startswith(PNG_SIGNATURE), "an image is not a PNG")
    position = len(PNG_SIGNATURE)
    while position < len(data):
        (length,) = struct.unpack_from(">I", data, position)
        kind, body = data[position + 4 : position + 8], data[position + 8 : position + 8 + length]
        fail_if(len(body) != length, "an image is cut off")
        (checksum,) = struct.unpack_from(">I", data, position + 8 + length)
        fail_if(zlib.crc32(kind + body) != checksum, "an image has a wrong checksum")
        yield kind, body
        position += length + 12


def _check_canary(public: Path) -> None:
    canary = public_facts(public)["canary"].encode("ascii")
    for file in public_files(public):
        fail_if(canary not in read_file(file), "a file lacks the canary")


def _check_times(public: Path) -> None:
    for path in [public, *public.rglob("*")]:
        fail_if(
            path.lstat().st_mtime != TIME_STAMP,
            "a file or folder has a time of its own; copy sets with cp -a, which keeps times",
        )


def _check_attributes(public: Path) -> None:
    """Nothing is written beside a file's content, where most programs do not look; Python can tell on Linux only."""
    for path in [public, *public.rglob("*")] if hasattr(os, "listxattr") else ():
        own = [name for name in os.listxattr(path, follow_symlinks=False) if name.startswith(("user.", "trusted."))]
        fail_if(own, "a file or folder has extended attributes; remove them with setfattr -x")


def _check_commitment(public: Path, key_folder: Path) -> None:
    key = read_key(key_folder)
    fail_if(key.commitment != public_facts(public)["commitment"], "the key is not the one that was committed to")
    fail_if(key.canary != public_facts(public)["canary"], "the key has another canary")


def _check_permissions(public: Path, key_folder: Path) -> None:
    if os.name == "posix":
        for path in [key_folder, *key_folder.iterdir()]:
            fail_if(path.stat().st_mode & 0o077, f"{path.name} can be read by others; use chmod -R go= on the key")


def _check_content(public: Path, key_folder: Path) -> None:
    ids = [item["question_id"] for item in read_answers(key_folder)]
    fail_if(ids != _ids(public), "the ids are not those of the key")
    fail_if(read_key(key_folder).public != content_digest(public), "a question or an image was changed")


def _check_parts(key_folder: Path, secret: Secret | None) -> None:
    """Every item is in one of the two parts, as many as the report of the key says, and those that the secret gives."""
    answers = list(read_answers(key_folder))
    parts = [answer.get("part") for answer in answers]
    report = check_part_sizes(key_folder, answers)
    if secret:
        drawn = draw_feedback(secret, report["form"] - 1, answers, parts.count(FEEDBACK))
        fail_if(parts != drawn, "the parts were not drawn by this secret")


def _check_texts(public: Path, key_folder: Path) -> None:
    """Look for what only the key may know in names and texts; images hold nothing but pixels, as another check says."""
    answers = list(read_answers(key_folder))
    look_for(
        source_ids(answers) | {text for item in answers for text in (item["caption"], *item["crossed_text"])}, public
    )


def _check_covers(public: Path, key_folder: Path) -> None:
    """The strip is the same in both views, the rest of TEI is white, and every cover of the key is on the strip."""
    for item in read_answers(key_folder):
        stacked, only_it = (read_pixels(public / image_name(view, item["question_id"])) for view in IMAGE_FOLDERS)
        height, y, alone = item["strip_height"], item["strip_y"], item["only_it_strip_y"]
        strip = stacked[y : y + height]
        same = np.array_equal(strip, only_it[alone : alone + height])
        place = f"image {_shown(item['question_id'])}"
        fail_if(not same, f"{place}: the strips of the two views differ")
        rest = np.concatenate([only_it[:alone], only_it[alone + height :]])
        fail_if((rest != 255).any(), f"{place}: TEI shows more than the strip")
        for number, span in enumerate(item["spans"], start=1):
            covers = list(read_covers(span))
            fail_if(not covers, f"{place}: span {number} has no cover")
            hidden = all(is_covered(strip, cover) for cover in covers)
            fail_if(not hidden, f"{place}: span {number} is not covered")


def _check_seal(key_folder: Path, secret: Secret) -> None:
    key = read_key(key_folder)
    fail_if(key.seal != secret.seal(key.sealed), "the seal is not of this secret")


_PUBLIC_CHECKS: dict[str, Callable[[Path], None]] = {
    "only the files that belong there": _check_names,
    "manifest and README in their constant form": _check_description,
    "questions: nothing but random ids and the question": _check_questions,
    "images: pixels and canary, no other data": _check_images,
    "canary in every file": _check_canary,
    "one time stamp": _check_times,
    "no extended attributes": _check_attributes,
}
_KEY_CHECKS: dict[str, Callable[[Path, Path], None]] = {
    "key unchanged and committed to": _check_commitment,
    "key readable by its owner only": _check_permissions,
    "questions and images are those of the key": _check_content,
    "no answer, caption or source id in the public part": _check_texts,
    "every answer covered in the pixels": _check_covers,
}
_PAIR_CHECKS = _PUBLIC_CHECKS, _KEY_CHECKS, _check_parts
_QUESTION_CHECKS = (
    _PUBLIC_CHECKS
    | {
        "manifest and README in their constant form": verify_questions.check_description,
        "questions: nothing but random ids and the question": verify_questions.check_questions,
    },
    {
        "key unchanged and committed to": _check_commitment,
        "key readable by its owner only": _check_permissions,
        "questions and images are those of the key": verify_questions.check_content,
        "no source id and no leaf in the public part": verify_questions.check_texts,
    },
    verify_questions.check_parts,
)


def leaks(checks: Sequence[Check]) -> list[Check]:
    """The checks that failed."""
    return [check for check in checks if check.ok is False]
