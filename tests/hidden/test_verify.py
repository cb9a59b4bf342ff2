"""Leaks are planted one at a time: each is caught by the check that is there for it, and none is quoted.

After most plants the set is sealed again with the maintainer's secret, so that a changed hash is not what is found.
"""

import io
import json
import os
import re
import shutil
import struct
import zlib
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from vcrgen.builder.bands import Band
from vcrgen.builder.encode import PNG_SIGNATURE, encode_image
from vcrgen.builder.rows import read_covers
from vcrgen.core.errors import HiddenSetError
from vcrgen.core.files import canonical_json, indented_json, sha256_file
from vcrgen.data.key import ANSWERS, KEY_FILE, REPORT, KeyManifest
from vcrgen.hidden import Check, verify
from vcrgen.hidden.public import IMAGE_FOLDERS, PAIR_FORMAT, TIME_STAMP, content_digest, image_name, stamp
from vcrgen.hidden.secret import Secret, load_secret
from vcrgen.hidden.verify import find_sets
from vcrgen.samples import sample_pair

Plant = Callable[[Path], None]
Chunks = list[tuple[bytes, bytes]]

NAMES = "only the files that belong there"
DESCRIPTION = "manifest and README in their constant form"
QUESTIONS = "questions: nothing but random ids and the question"
IMAGES = "images: pixels and canary, no other data"
CANARY = "canary in every file"
TIMES = "one time stamp"
ATTRIBUTES = "no extended attributes"
COMMITMENT = "key unchanged and committed to"
PERMISSIONS = "key readable by its owner only"
CONTENT = "questions and images are those of the key"
TEXTS = "no answer, caption or source id in the public part"
COVERS = "every answer covered in the pixels"
BITS = "bits that covers promise left by the whole strip"
PARTS = "feedback split and final split"
SEAL = "seal of the maintainer's secret"
PUBLIC_CHECKS = (NAMES, DESCRIPTION, QUESTIONS, IMAGES, CANARY, TIMES, ATTRIBUTES)
ORIGIN = "items that the package alone cannot rebuild"
ALL_CHECKS = (*PUBLIC_CHECKS, COMMITMENT, PERMISSIONS, CONTENT, ORIGIN, TEXTS, COVERS, BITS, PARTS, SEAL)


@pytest.fixture(scope="module")
def secret(secret_file: Path) -> Secret:
    return load_secret(secret_file, create=False)


@pytest.fixture(scope="module")
def low(make: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of four low pictures, which are checked sooner; not to be changed."""
    folder = tmp_path_factory.mktemp("low")
    images, captions = [], []
    for index in range(6):
        pair, buffer = sample_pair("en", index), io.BytesIO()
        picture = Image.open(io.BytesIO(pair.image)).convert("RGB")
        picture.crop((0, 0, picture.width, picture.width // 6)).save(buffer, "PNG")
        images.append(buffer.getvalue())
        captions.append(pair.caption)
    ids = [f"source-{index:02d}" for index in range(6)]
    table = pa.table({"id": ids, "image": pa.array(images, pa.binary()), "caption": captions})
    pq.write_table(table, folder / "pairs.parquet")
    make(folder / "set", source=folder / "pairs.parquet", items=4, fonts=("open-sans",))
    return folder / "set"


@pytest.fixture
def hidden_set(low: Path, tmp_path: Path) -> Path:
    """A copy to do anything to."""
    copy = tmp_path / "set"
    shutil.copytree(low, copy)
    return copy


# What the plants are made with


def read_answers(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "key" / ANSWERS).read_bytes().splitlines()]


def write_answers(folder: Path, answers: list[dict[str, Any]]) -> None:
    (folder / "key" / ANSWERS).write_text("".join(canonical_json(answer) + "\n" for answer in answers), "utf-8")


def read_rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "public" / "metadata.jsonl").read_bytes().splitlines()]


def write_rows(folder: Path, rows: list[dict[str, Any]]) -> None:
    (folder / "public" / "metadata.jsonl").write_text("".join(canonical_json(row) + "\n" for row in rows), "utf-8")


def secret_texts(folder: Path) -> list[str]:
    return [text for answer in read_answers(folder) for text in (answer["caption"], *answer["crossed_text"])]


def an_answer(folder: Path) -> str:
    return str(read_answers(folder)[0]["crossed_text"][0])


def canary(folder: Path) -> str:
    return str(json.loads((folder / "public" / "manifest.json").read_bytes())["canary"])


def an_image(folder: Path, view: str = "stacked_image", number: int = 0) -> Path:
    return folder / "public" / image_name(view, read_answers(folder)[number]["question_id"])


def chunks_of(file: Path) -> Chunks:
    data, position, chunks = file.read_bytes(), len(PNG_SIGNATURE), []
    while position < len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        chunks.append((kind, data[position + 8 : position + 8 + length]))
        position += length + 12
    return chunks


def write_chunks(file: Path, chunks: Chunks) -> None:
    parts = [struct.pack(">I", len(b)) + kind + b + struct.pack(">I", zlib.crc32(kind + b)) for kind, b in chunks]
    file.write_bytes(PNG_SIGNATURE + b"".join(parts))


def change_chunks(change: Callable[[Path, Chunks], Chunks]) -> Plant:
    """A plant that rewrites one image with other chunks."""

    def plant(folder: Path) -> None:
        file = an_image(folder)
        write_chunks(file, change(folder, chunks_of(file)))

    return plant


def change_pixels(folder: Path, change: Callable[[np.ndarray, dict[str, Any]], None], *views: str) -> None:
    """Rewrite the views of the first item as vcrgen would, with other pixels."""
    for view in views:
        file = an_image(folder, view)
        pixels = np.array(Image.open(file))
        change(pixels, read_answers(folder)[0])
        file.write_bytes(encode_image([Band(pixels)], "png", canary(folder)))


def rename_ids(folder: Path, new_id: Callable[[dict[str, Any]], str]) -> None:
    """Give every item another id in names, questions and key."""
    answers = read_answers(folder)
    for answer in answers:
        new = new_id(answer)
        for view in IMAGE_FOLDERS:
            public = folder / "public"
            (public / image_name(view, answer["question_id"])).rename(public / image_name(view, new))
        answer["question_id"] = new
    answers.sort(key=lambda answer: str(answer["question_id"]))
    line = canary(folder)
    write_answers(folder, answers)
    write_rows(folder, [PAIR_FORMAT.question_row(answer, {"language": "en", "canary": line}) for answer in answers])


def reseal(folder: Path, secret: Secret) -> None:
    """Make key, commitment and times agree with what is there now, but for what manifest and README say beside it."""
    public, key = folder / "public", folder / "key"
    old = KeyManifest(**json.loads((key / KEY_FILE).read_bytes()))
    files = {name: sha256_file(key / name) for name in (ANSWERS, REPORT)}
    new = replace(old, files=files, public=content_digest(public))
    (key / KEY_FILE).write_text(json.dumps(asdict(new) | {"seal": secret.seal(new.sealed)}))
    described = json.loads((public / "croissant.json").read_bytes())
    described["distribution"][0]["sha256"] = sha256_file(public / "metadata.jsonl")
    (public / "croissant.json").write_text(indented_json(described), "utf-8")
    for name in ("manifest.json", "croissant.json", "README.md"):
        data = (public / name).read_bytes().replace(old.commitment.encode(), new.commitment.encode())
        (public / name).write_bytes(data)


def failing(checks: list[Check]) -> set[str]:
    return {check.name for check in checks if check.ok is False}


# The plants


def caption_column(folder: Path) -> None:
    captions = {answer["question_id"]: answer["caption"] for answer in read_answers(folder)}
    write_rows(folder, [row | {"caption": captions[row["question_id"]]} for row in read_rows(folder)])


def length_column(folder: Path) -> None:
    """A number that says how long an answer is: no text of the key, and yet more than the question."""
    write_rows(folder, [row | {"spans": 2} for row in read_rows(folder)])


def name_twice(folder: Path) -> None:
    """A JSON reader keeps the last of two values of a name."""
    file = folder / "public" / "metadata.jsonl"
    file.write_text(file.read_text("utf-8").replace('"question":', '"question":"rot13","question":', 1), "utf-8")


def spaces_as_bits(folder: Path) -> None:
    file = folder / "public" / "metadata.jsonl"
    file.write_text(file.read_text("utf-8").replace('","', '", "', 1), "utf-8")


def question_of_its_own(folder: Path) -> None:
    rows = read_rows(folder)
    rows[0]["question"] += " It has two texts."
    write_rows(folder, rows)


def answer_in_readme(folder: Path) -> None:
    with (folder / "public" / "README.md").open("a", encoding="utf-8") as file:
        file.write(f"For example: {an_answer(folder).upper()}\n")


def answer_in_croissant(folder: Path) -> None:
    file = folder / "public" / "croissant.json"
    file.write_text(indented_json(json.loads(file.read_bytes()) | {"note": an_answer(folder)}), "utf-8")


def answer_length_in_readme(folder: Path) -> None:
    with (folder / "public" / "README.md").open("a", encoding="utf-8") as file:
        file.write("\n")


def manifest_with(**fields: Any) -> Plant:
    def plant(folder: Path) -> None:
        file = folder / "public" / "manifest.json"
        file.write_text(indented_json(json.loads(file.read_bytes()) | fields), "utf-8")

    return plant


def manifest_name_twice(folder: Path) -> None:
    file = folder / "public" / "manifest.json"
    file.write_text(file.read_text("utf-8").replace(' "items"', ' "items": 7,\n "items"', 1), "utf-8")


def another_commitment(folder: Path) -> None:
    """In manifest, Croissant file and README alike."""
    old = json.loads((folder / "public" / "manifest.json").read_bytes())
    del old["version"], old["views"]
    manifest = PAIR_FORMAT.manifest(**old | {"commitment": "0" * 64})
    (folder / "public" / "manifest.json").write_text(indented_json(manifest), "utf-8")
    described = PAIR_FORMAT.croissant(manifest, sha256_file(folder / "public" / "metadata.jsonl"))
    (folder / "public" / "croissant.json").write_text(described, "utf-8")
    (folder / "public" / "README.md").write_text(PAIR_FORMAT.readme(manifest), "utf-8")


def added(kind: bytes, body: Callable[[Path], bytes], at: int = -1) -> Plant:
    """One more chunk."""
    return change_chunks(lambda folder, chunks: [*chunks[:at], (kind, body(folder)), *chunks[at:]])


def answer_bytes(folder: Path) -> bytes:
    return b"Description\0" + an_answer(folder).encode()


def after_the_end(folder: Path) -> None:
    with an_image(folder).open("ab") as file:
        file.write(an_answer(folder).encode())


def with_data(change: Callable[[Path, bytes], bytes]) -> Plant:
    return change_chunks(lambda folder, c: [(kind, change(folder, b) if kind == b"IDAT" else b) for kind, b in c])


def more_rows_than_shown(folder: Path, data: bytes) -> bytes:
    return zlib.compress(zlib.decompress(data) + an_answer(folder).encode(), 1)


def as_mode(mode: str) -> Plant:
    """One image in another pixel format, with the canary and nothing else."""

    def plant(folder: Path) -> None:
        file = an_image(folder)
        comment, buffer = chunks_of(file)[1], io.BytesIO()
        image = Image.open(file).convert(mode)
        if mode == "RGBA":
            image.putalpha(254)
        image.save(buffer, "PNG")
        file.write_bytes(buffer.getvalue())
        chunks = chunks_of(file)
        data = b"".join(body for kind, body in chunks if kind == b"IDAT")
        write_chunks(file, [chunks[0], comment, (b"IDAT", data), (b"IEND", b"")])

    return plant


def wrong_checksum(folder: Path) -> None:
    file = an_image(folder)
    file.write_bytes(file.read_bytes()[:-4] + b"leak")


def views_of_two_sizes(folder: Path) -> None:
    file = an_image(folder, "only_it_image")
    pixels = np.array(Image.open(file))
    file.write_bytes(
        encode_image([Band(np.pad(pixels, ((0, 1), (0, 0), (0, 0)), constant_values=255))], "png", canary(folder))
    )


def another_canary(folder: Path) -> None:
    """One that marks this image: whoever repeats it has seen this item."""
    file = an_image(folder)
    other = canary(folder)[:-32] + "5" * 32
    write_chunks(file, [(k, b"Comment\0" + other.encode() if k == b"tEXt" else b) for k, b in chunks_of(file)])


def readme_without_canary(folder: Path) -> None:
    file = folder / "public" / "README.md"
    file.write_text(file.read_text("utf-8").replace(canary(folder), ""), "utf-8")


def copy_named(name: Callable[[Path], str]) -> Plant:
    def plant(folder: Path) -> None:
        shutil.copy(an_image(folder), folder / "public" / "stacked_image" / name(folder))

    return plant


def extra_text(folder: Path) -> None:
    (folder / "public" / "notes.txt").write_text(canary(folder))


def hidden_text(folder: Path) -> None:
    (folder / "public" / "only_it_image" / ".notes").write_text(canary(folder))


def extra_folder(folder: Path) -> None:
    (folder / "public" / "two spans each").mkdir()


def key_inside(folder: Path) -> None:
    shutil.copytree(folder / "key", folder / "public" / "key")


def link(folder: Path) -> None:
    """To a file of the same content: what is read is right, what is published is not there."""
    file = folder / "public" / "README.md"
    file.rename(folder / "README.md")
    file.symlink_to(folder / "README.md")
    os.utime(folder / "README.md", (TIME_STAMP, TIME_STAMP))


def rows_in_source_order(folder: Path) -> None:
    answers = sorted(read_answers(folder), key=lambda answer: str(answer["source_id"]))
    assert answers != read_answers(folder)
    rows = {row["question_id"]: row for row in read_rows(folder)}
    write_rows(folder, [rows[answer["question_id"]] for answer in answers])
    write_answers(folder, answers)


def source_ids(folder: Path) -> None:
    rename_ids(folder, lambda answer: str(answer["source_id"]))


def source_ids_that_look_random(folder: Path) -> None:
    write_answers(folder, [answer | {"source_id": answer["question_id"]} for answer in read_answers(folder)])


def counted_ids(folder: Path) -> None:
    order = sorted(answer["source_id"] for answer in read_answers(folder))
    rename_ids(folder, lambda answer: f"{order.index(answer['source_id']):04d}")


def captions_as_ids(folder: Path) -> None:
    rename_ids(folder, lambda answer: str(answer["caption"]).replace("/", " "))


def missing_image(folder: Path) -> None:
    an_image(folder).unlink()


def item_twice(folder: Path) -> None:
    rows, answers = read_rows(folder), read_answers(folder)
    write_rows(folder, [rows[0], *rows])
    write_answers(folder, [answers[0], *answers])


def other_part(folder: Path) -> None:
    answers = read_answers(folder)
    first = next(answer for answer in answers if answer["part"] == "feedback")
    last = next(answer for answer in answers if answer["part"] == "final")
    first["part"], last["part"] = "final", "feedback"
    write_answers(folder, answers)


def one_part(folder: Path) -> None:
    write_answers(folder, [answer | {"part": "feedback"} for answer in read_answers(folder)])


def unknown_part(folder: Path) -> None:
    write_answers(folder, [answer | {"part": "both"} for answer in read_answers(folder)])


def file_time(folder: Path) -> None:
    os.utime(an_image(folder), (TIME_STAMP, TIME_STAMP + 1))


def folder_time(folder: Path) -> None:
    os.utime(folder / "public", (TIME_STAMP, TIME_STAMP - 1))


def attribute(folder: Path) -> None:
    os.setxattr(an_image(folder), "user.caption", an_answer(folder).encode())


def shown(pixels: np.ndarray, answer: dict[str, Any], name: str) -> None:
    """One dark pixel in the middle of the last box."""
    box = answer["spans"][-1]["boxes"][-1]
    pixels[answer[name] + (box["y0"] + box["y1"]) // 2, (box["x0"] + box["x1"]) // 2] = 200


def uncovered_in_both(folder: Path) -> None:
    change_pixels(folder, lambda pixels, answer: shown(pixels, answer, "strip_y"), "stacked_image")
    change_pixels(folder, lambda pixels, answer: shown(pixels, answer, "only_it_strip_y"), "only_it_image")


def uncovered_in_stacked(folder: Path) -> None:
    change_pixels(folder, lambda pixels, answer: shown(pixels, answer, "strip_y"), "stacked_image")


def uncovered_in_tei(folder: Path) -> None:
    change_pixels(folder, lambda pixels, answer: shown(pixels, answer, "only_it_strip_y"), "only_it_image")


def more_in_tei(folder: Path) -> None:
    def draw(pixels: np.ndarray, answer: dict[str, Any]) -> None:
        pixels[-1, -1, 2] = 254

    change_pixels(folder, draw, "only_it_image")


def picture_in_tei(folder: Path) -> None:
    shutil.copy(an_image(folder), an_image(folder, "only_it_image"))


def change_spans(**changes: Any) -> Plant:
    def plant(folder: Path) -> None:
        answers = read_answers(folder)
        answers[0]["spans"][0] |= changes
        write_answers(folder, answers)

    return plant


def swapped(folder: Path) -> None:
    for view in IMAGE_FOLDERS:
        one, other = (an_image(folder, view, number) for number in (0, 1))
        data = one.read_bytes()
        one.write_bytes(other.read_bytes())
        other.write_bytes(data)


SEALED_AGAIN: dict[str, tuple[Plant, set[str]]] = {
    "caption column": (caption_column, {QUESTIONS, TEXTS}),
    "length column": (length_column, {QUESTIONS}),
    "name twice in a row": (name_twice, {QUESTIONS}),
    "spaces as bits": (spaces_as_bits, {QUESTIONS}),
    "question of its own": (question_of_its_own, {QUESTIONS}),
    "answer in the README": (answer_in_readme, {DESCRIPTION, TEXTS}),
    "answer in the Croissant file": (answer_in_croissant, {DESCRIPTION}),
    "empty line in the README": (answer_length_in_readme, {DESCRIPTION}),
    "font in the manifest": (manifest_with(font="open-sans"), {DESCRIPTION}),
    "wrong count in the manifest": (manifest_with(items=9), {DESCRIPTION}),
    "count as a fraction": (manifest_with(items=4.0), {DESCRIPTION}),
    "language of another kind": (manifest_with(language=["en"]), {DESCRIPTION, QUESTIONS}),
    "another version": (manifest_with(version="9"), {DESCRIPTION, QUESTIONS, IMAGES, CANARY, COMMITMENT}),
    "name twice in the manifest": (manifest_name_twice, {DESCRIPTION}),
    "answer as PNG text": (added(b"tEXt", answer_bytes), {IMAGES}),
    "answer as compressed PNG text": (added(b"zTXt", lambda f: b"D\0\0" + zlib.compress(answer_bytes(f))), {IMAGES}),
    "EXIF": (added(b"eXIf", lambda f: b"MM\0*\0\0\0\x08\0\0\0\0\0\0" + an_answer(f).encode(), at=1), {IMAGES}),
    "time chunk": (added(b"tIME", lambda _: struct.pack(">HBBBBB", 2026, 1, 2, 3, 4, 5)), {IMAGES}),
    "private chunk": (added(b"anSw", answer_bytes), {IMAGES}),
    "empty second data chunk": (added(b"IDAT", lambda _: b""), {IMAGES}),
    "data in the end mark": (change_chunks(lambda f, c: [*c[:-1], (b"IEND", an_answer(f).encode())]), {IMAGES}),
    "bytes after the end mark": (after_the_end, {IMAGES}),
    "wrong checksum": (wrong_checksum, {IMAGES}),
    "data after the deflate stream": (with_data(lambda f, data: data + an_answer(f).encode()), {IMAGES}),
    "more rows than are shown": (with_data(more_rows_than_shown), {IMAGES}),
    "alpha channel": (as_mode("RGBA"), {IMAGES, COVERS}),
    "gray": (as_mode("L"), {IMAGES, COVERS}),
    "views of two sizes": (views_of_two_sizes, {IMAGES}),
    "no canary in an image": (
        change_chunks(lambda _, c: [chunk for chunk in c if chunk[0] != b"tEXt"]),
        {IMAGES, CANARY},
    ),
    "a canary of its own": (another_canary, {IMAGES, CANARY}),
    "no canary in the README": (readme_without_canary, {DESCRIPTION, CANARY}),
    "file named after a caption": (
        copy_named(lambda f: re.sub(r"/", " ", read_answers(f)[0]["caption"]) + ".png"),
        {NAMES, QUESTIONS, TEXTS},
    ),
    "file named after an answer": (copy_named(lambda f: an_answer(f).upper() + ".png"), {NAMES, QUESTIONS, TEXTS}),
    "image too many": (copy_named(lambda _: "0" * 32 + ".png"), {QUESTIONS}),
    "image of another name": (copy_named(lambda _: "0" * 32 + ".PNG"), {NAMES, QUESTIONS}),
    "text file too many": (extra_text, {NAMES, QUESTIONS}),
    "hidden file": (hidden_text, {NAMES, QUESTIONS}),
    "folder too many": (extra_folder, {NAMES}),
    "key inside": (key_inside, {NAMES, QUESTIONS, CANARY}),
    "missing image": (missing_image, {QUESTIONS, IMAGES, COVERS}),
    "a part chosen by hand": (other_part, {PARTS}),
    "all in one part": (one_part, {PARTS}),
    "a part of another name": (unknown_part, {PARTS}),
    "item twice": (item_twice, {DESCRIPTION, QUESTIONS, PARTS}),
    "rows in the source's order": (rows_in_source_order, {QUESTIONS}),
    "source ids as ids": (source_ids, {NAMES, QUESTIONS, TEXTS}),
    "source ids that look random": (source_ids_that_look_random, {TEXTS}),
    "counted ids": (counted_ids, {NAMES, QUESTIONS}),
    "captions as ids": (captions_as_ids, {NAMES, QUESTIONS, TEXTS}),
    "text uncovered in both views": (uncovered_in_both, {COVERS}),
    "text uncovered in the stacked view": (uncovered_in_stacked, {COVERS}),
    "text uncovered in TEI": (uncovered_in_tei, {COVERS}),
    "one more pixel in TEI": (more_in_tei, {COVERS}),
    "picture in TEI": (picture_in_tei, {COVERS}),
    "span without boxes": (change_spans(boxes=[]), {COVERS}),
    "box beside the picture": (change_spans(boxes=[{"x0": 5000, "y0": 0, "x1": 5010, "y1": 9}]), {COVERS}),
    "box of another form": (change_spans(boxes=[[0, 0, 1, 1]]), {COVERS}),
    "images of two items swapped": (swapped, {COVERS}),
}


@pytest.fixture(scope="module")
def without_a_leak(low: Path, secret: Secret, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The set that the leaks are planted in: sealed again without one, it passes."""
    copy = tmp_path_factory.mktemp("sealed") / "set"
    shutil.copytree(low, copy)
    reseal(copy, secret)
    stamp(copy / "public")
    assert all(check.ok for check in verify(copy, secret=secret))
    return copy


@pytest.mark.parametrize("name", SEALED_AGAIN)
def test_a_leak_in_a_set_that_agrees_with_its_key(
    without_a_leak: Path, secret: Secret, tmp_path: Path, name: str
) -> None:
    hidden_set = tmp_path / "set"
    shutil.copytree(without_a_leak, hidden_set)
    texts = secret_texts(hidden_set)
    plant, caught = SEALED_AGAIN[name]
    plant(hidden_set)
    reseal(hidden_set, secret)
    stamp(hidden_set / "public")
    checks = verify(hidden_set, secret=secret)
    assert failing(checks) == caught
    assert tuple(check.name for check in checks) == ALL_CHECKS  # each is made even where others fail
    quoted(checks, texts)
    (hidden_set / "key").rename(hidden_set / "elsewhere")
    checks = verify(hidden_set)
    assert failing(checks) == caught & set(PUBLIC_CHECKS)
    quoted(checks, texts)


def quoted(checks: list[Check], texts: list[str]) -> None:
    """No detail holds an answer, a caption or the start of one, in any case."""
    details = "\n".join(check.detail for check in checks).casefold()
    for text in texts:
        assert text.casefold() not in details and text[:24].casefold() not in details
    for check in checks:
        assert check.detail if check.ok is False else True


# Without sealing again


def edited_answer(folder: Path) -> None:
    answers = read_answers(folder)
    answers[0]["crossed_text"][0] += "s"
    write_answers(folder, answers)


def edited_key(**changes: Any) -> Plant:
    def plant(folder: Path) -> None:
        file = folder / "key" / KEY_FILE
        file.write_text(json.dumps(json.loads(file.read_bytes()) | changes))

    return plant


def open_file(folder: Path) -> None:
    (folder / "key" / REPORT).chmod(0o640)


def open_folder(folder: Path) -> None:
    (folder / "key").chmod(0o755)


def other_pixels(folder: Path) -> None:
    """A change that no other check can see: one pixel of the picture."""

    def draw(pixels: np.ndarray, answer: dict[str, Any]) -> None:
        row = -1 if answer["strip"] == "above" else 0
        pixels[row, 0] ^= 1

    change_pixels(folder, draw, "stacked_image")


AS_IT_IS: dict[str, tuple[Plant, set[str]]] = {
    "answer edited": (edited_answer, {COMMITMENT, CONTENT, SEAL, ORIGIN, BITS}),
    "nonce edited": (edited_key(nonce="0" * 32), {COMMITMENT, SEAL}),
    "seal edited": (edited_key(seal="0" * 64), {SEAL}),
    "canary edited": (edited_key(canary="x"), {COMMITMENT, SEAL}),
    "key damaged": (edited_key(files=[ANSWERS, REPORT]), {COMMITMENT, CONTENT, SEAL, ORIGIN, BITS}),
    "another commitment": (another_commitment, {COMMITMENT}),
    "key file open": (open_file, {PERMISSIONS}),
    "key folder open": (open_folder, {PERMISSIONS}),
    "images swapped": (swapped, {CONTENT, COVERS}),
    "a pixel of the picture": (other_pixels, {CONTENT}),
    "time of a file": (file_time, {TIMES}),
    "time of the folder": (folder_time, {TIMES}),
    "link": (link, {NAMES, TIMES}),
    "extended attribute": (attribute, {ATTRIBUTES}),
}


@pytest.mark.parametrize("name", AS_IT_IS)
def test_a_change_after_the_set_was_made(hidden_set: Path, secret: Secret, name: str) -> None:
    texts = secret_texts(hidden_set)
    plant, caught = AS_IT_IS[name]
    if os.name == "nt" and PERMISSIONS in caught:
        pytest.skip("needs the permissions of a Unix system")
    if ATTRIBUTES in caught and not hasattr(os, "setxattr"):
        pytest.skip("needs the extended attributes of Linux")
    plant(hidden_set)
    if TIMES not in caught:
        stamp(hidden_set / "public")
    checks = verify(hidden_set, secret=secret)
    assert failing(checks) == caught
    quoted(checks, texts)


def test_an_answer_in_another_writing(finished_chinese: Path, tmp_path: Path, secret: Secret) -> None:
    """As JSON writes it where it is told to write ASCII only."""
    folder = tmp_path / "set"
    shutil.copytree(finished_chinese, folder)
    assert failing(verify(folder, secret=secret)) == set()
    with (folder / "public" / "README.md").open("a") as file:
        file.write(json.dumps({"text": an_answer(folder)}))
    stamp(folder / "public")
    assert failing(verify(folder, secret=secret)) == {DESCRIPTION, TEXTS}


# Fresh sets


@pytest.mark.parametrize(
    ("name", "with_secret"), [("finished", False), ("finished_forms", True), ("finished_chinese", True)]
)
def test_fresh_sets_pass(request: pytest.FixtureRequest, secret: Secret, name: str, with_secret: bool) -> None:
    folders = find_sets(request.getfixturevalue(name))
    assert len(folders) == (3 if name == "finished_forms" else 1)
    for folder in folders:
        checks = verify(folder, secret=secret if with_secret else None)
        assert tuple(check.name for check in checks) == ALL_CHECKS
        assert all(check.ok for check in checks[:-1])
        assert checks[-1].ok is (True if with_secret else None)


def test_the_public_part_alone(hidden_set: Path, secret: Secret) -> None:
    shutil.rmtree(hidden_set / "key")
    checks = verify(hidden_set, secret=secret)
    assert [check.ok for check in checks] == [True] * len(PUBLIC_CHECKS) + [None]
    assert "no key" in checks[-1].detail


def test_a_copy_without_times_is_told_how_to_copy(hidden_set: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(hidden_set, tmp_path / "copied", copy_function=shutil.copyfile)
    checks = {check.name: check for check in verify(copied)}
    assert not checks[TIMES].ok and "cp -a" in checks[TIMES].detail


@pytest.mark.parametrize("source_id", ["7", "000123", "ab12cd34ef", "", "en"])
def test_an_id_that_is_found_by_chance_is_no_leak(hidden_set: Path, secret: Secret, source_id: str) -> None:
    """A short number stands somewhere in a random id; nobody learns a thing from it."""
    rename_ids(hidden_set, lambda answer: answer["question_id"][:-10] + "ab12cd34ef")
    write_answers(hidden_set, [answer | {"source_id": source_id} for answer in read_answers(hidden_set)])
    reseal(hidden_set, secret)
    stamp(hidden_set / "public")
    assert failing(verify(hidden_set, secret=secret)) == set()


# Hostile folders


def bomb(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(50_000_000), 9)
    buffer = io.BytesIO(PNG_SIGNATURE)
    buffer.seek(0, io.SEEK_END)
    for kind, body in ((b"IHDR", header), (b"tEXt", b"Comment\0x"), (b"IDAT", data), (b"IEND", b"")):
        buffer.write(struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("image", b""),
        ("image", b"garbage"),
        ("image", PNG_SIGNATURE),
        ("image", PNG_SIGNATURE + b"\xff" * 40),
        ("image", (30_000, 30_000)),
        ("image", (10_000, 9_500)),
        ("image", (100, 100)),
        ("image", (0, 0)),
        ("public/metadata.jsonl", b""),
        ("public/metadata.jsonl", b"[" * 100_000),
        ("public/metadata.jsonl", b'{"question_id": 5}\n'),
        ("public/metadata.jsonl", b'{"question_id": "../../key/answers.jsonl"}\n'),
        ("public/metadata.jsonl", b"\xff\xfe\n[]\nnull\n"),
        ("public/manifest.json", b""),
        ("public/manifest.json", b"[]"),
        ("public/manifest.json", b'{"a":' * 50_000),
        ("public/manifest.json", b'{"version": "vcrgen-hidden-1"}'),
        ("public/README.md", b"\xff"),
        ("public/croissant.json", b"\xff"),
        ("public/croissant.json", b"[" * 100_000),
        ("key/key.json", b"{}"),
        ("key/key.json", b"[" * 100_000),
        ("key/answers.jsonl", b"{}\n"),
        ("key/answers.jsonl", b"[" * 100_000 + b"\n"),
    ],
    ids=lambda value: repr(value[:24]) if isinstance(value, bytes) else value,
)
def test_damaged_files_fail_and_never_crash(hidden_set: Path, secret: Secret, name: str, data: Any) -> None:
    texts = secret_texts(hidden_set)
    file = an_image(hidden_set) if name == "image" else hidden_set / name
    file.write_bytes(bomb(*data) if isinstance(data, tuple) else data)
    stamp(hidden_set / "public")
    checks = verify(hidden_set, secret=secret)
    assert failing(checks)
    quoted(checks, texts)


@pytest.mark.parametrize(
    "item",
    [
        {},
        {"question_id": 1, "caption": 2, "crossed_text": 3, "source_id": 4, "spans": 5},
        {"question_id": "x", "caption": "c", "crossed_text": [["c"]], "source_id": "s", "spans": [{"boxes": {}}]},
    ],
)
def test_items_of_another_form_fail_and_never_crash(hidden_set: Path, secret: Secret, item: dict[str, Any]) -> None:
    texts = secret_texts(hidden_set)
    write_answers(hidden_set, [item, *read_answers(hidden_set)[1:]])
    (hidden_set / "key" / KEY_FILE).write_text(
        json.dumps(
            json.loads((hidden_set / "key" / KEY_FILE).read_bytes())
            | {"files": {name: sha256_file(hidden_set / "key" / name) for name in (ANSWERS, REPORT)}}
        )
    )
    checks = verify(hidden_set, secret=secret)
    assert {CONTENT, TEXTS, COVERS} <= failing(checks)
    quoted(checks, texts)


def test_a_missing_file_fails(hidden_set: Path, secret: Secret) -> None:
    for name in ("README.md", "croissant.json", "manifest.json", "metadata.jsonl"):
        (hidden_set / "public" / name).unlink()
        checks = verify(hidden_set, secret=secret)
        assert DESCRIPTION in failing(checks)
        assert tuple(check.name for check in checks) == ALL_CHECKS


# Which folders


def test_the_folders_of_forms_are_found_in_their_order(tmp_path: Path) -> None:
    for form in (1, 2, 10, 11):
        (tmp_path / f"form-{form}" / "public").mkdir(parents=True)
    (tmp_path / "form-3").mkdir()
    assert [path.name for path in find_sets(tmp_path)] == ["form-1", "form-2", "form-10", "form-11"]


@pytest.mark.parametrize("kind", ["missing", "empty", "file"])
def test_a_folder_without_a_set(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "set"
    if kind == "empty":
        folder.mkdir()
    elif kind == "file":
        folder.write_text("mine")
    with pytest.raises(HiddenSetError, match="holds no hidden set"):
        find_sets(folder)


def test_a_set_may_have_covers_that_are_not_rows(
    make: Callable[..., Any], tmp_path: Path, answers: Callable[[Path], list[dict[str, Any]]], secret: Secret
) -> None:
    """Soft edges too: each hidden pixel has its own brightness in the key; another one is found, others are free."""
    make(tmp_path / "set", items=3, fonts=("open-sans",), cover="stain")
    folder = tmp_path / "set"
    assert all(check.ok for check in verify(folder, secret=secret))
    found = answers(folder)
    assert "cover:easy=stain-0.48,hard=stain-0.27" in json.loads((folder / "key" / "key.json").read_text())["signature"]
    assert all(len(fill) > 2 for answer in found for span in answer["spans"] for fill in span["fills"])
    cover = next(iter(read_covers(found[0]["spans"][0])))
    assert cover.mask is not None and np.unique(cover.fill[cover.mask]).size > 20
    for hides, caught in ((False, set()), (True, {COVERS})):
        y, x = (int(place[0]) for place in np.nonzero(cover.mask == hides))

        def change(pixels: np.ndarray, answer: dict[str, Any], name: str, y: int = y, x: int = x) -> None:
            if answer["question_id"] == found[0]["question_id"]:
                box = answer["spans"][0]["boxes"][0]
                pixels[answer[name] + box["y0"] + y, box["x0"] + x] ^= 1

        change_pixels(folder, lambda pixels, answer: change(pixels, answer, "strip_y"), "stacked_image")
        change_pixels(folder, lambda pixels, answer: change(pixels, answer, "only_it_strip_y"), "only_it_image")
        reseal(folder, secret)
        stamp(folder / "public")
        assert failing(verify(folder, secret=secret)) == caught
