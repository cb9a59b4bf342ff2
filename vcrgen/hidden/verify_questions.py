"""Checks of a hidden question set that hidden sets of pairs do not have; none of them shows an answer."""

from __future__ import annotations

from pathlib import Path

from vcrgen.dataset.canary import is_canary
from vcrgen.dataset.key import read_answers, read_key
from vcrgen.dataset.manifest import MANIFEST, check_task
from vcrgen.dataset.tables import METADATA
from vcrgen.files import indented_json, sha256_file
from vcrgen.hidden.checking import (
    COMMITMENT,
    ITEM_ID,
    TEXT_FILES,
    check_part_sizes,
    fail_if,
    look_for,
    public_facts,
    public_rows,
    source_ids,
)
from vcrgen.hidden.public import QUESTION_FOLDERS, README, content_digest, image_name, public_files, read_file
from vcrgen.hidden.questions import (
    draw_question_parts,
    hidden_question_row,
    hidden_questions_text,
    question_manifest,
    question_readme,
)
from vcrgen.hidden.secret import Secret
from vcrgen.tasks.bloom import LETTERS, TASK


def check_description(public: Path) -> None:
    """The manifest and the README say nothing but what every set says."""
    manifest = public_facts(public)
    fields = {name: manifest[name] for name in ("languages", "items", "canary", "commitment")}
    check_task(TASK, fields["languages"])
    fail_if(not is_canary(fields["canary"]), "the canary is not of its form")
    fail_if(not COMMITMENT.fullmatch(fields["commitment"]), "the commitment is not of its form")
    fail_if(manifest != question_manifest(**fields), "the manifest says more or less than it should")
    written = read_file(public / MANIFEST).decode()
    fail_if(written != indented_json(manifest), "the manifest is not in its constant form")
    fail_if(fields["items"] != len(public_rows(public)), "the number of items is not that of the questions")
    fail_if(read_file(public / README).decode() != question_readme(manifest), f"{README} is not the constant text")


def check_questions(public: Path) -> None:
    """A row holds a random id, the texts of a question and the name of its picture, and nothing else."""
    manifest, rows = public_facts(public), public_rows(public)
    languages, canary = manifest["languages"], manifest["canary"]
    for number, row in enumerate(rows, start=1):
        fail_if(not ITEM_ID.fullmatch(row["question_id"]), f"row {number}: the id is not 32 random digits")
        fail_if(row != hidden_question_row(row, languages, canary), f"row {number}: other columns than it should have")
        for lang in languages:
            options = row[f"options_{lang}"]
            texts = isinstance(options, list) and all(
                isinstance(text, str) for text in [row[f"question_{lang}"], *options]
            )
            fail_if(not texts or len(options) != len(LETTERS), f"row {number}: not a question with four options")
    ids = [row["question_id"] for row in rows]
    fail_if(ids != sorted(set(ids)), "the rows are not sorted by id, or an id comes twice")
    text = hidden_questions_text(rows, languages, canary)
    fail_if(read_file(public / METADATA).decode() != text, "names or white space that a JSON reader passes over")
    there = {file.relative_to(public).as_posix() for file in public_files(public)} - set(TEXT_FILES)
    fail_if(there != {image_name("image", one) for one in ids}, "the images are not those that the questions name")


def check_content(public: Path, key_folder: Path) -> None:
    """Questions, options and pictures are those of the key, in its order."""
    manifest, answers = public_facts(public), list(read_answers(key_folder))
    text = hidden_questions_text(answers, manifest["languages"], manifest["canary"])
    fail_if(read_file(public / METADATA).decode() != text, "the questions are not those of the key")
    for item in answers:
        digest = sha256_file(public / image_name("image", item["question_id"]))
        fail_if(digest != item["picture"], "a picture is not the one of the key")
    fail_if(
        read_key(key_folder).public != content_digest(public, QUESTION_FOLDERS), "a question or an image was changed"
    )


def check_texts(public: Path, key_folder: Path) -> None:
    """Neither the ids of the source nor the leaves are in the public part, which tell where items are from."""
    answers = list(read_answers(key_folder))
    look_for(source_ids(answers) | {item["path"] for item in answers}, public)


def check_parts(key_folder: Path, secret: Secret | None) -> None:
    """Every item is in the part that the secret gives, and no picture is in both."""
    answers = list(read_answers(key_folder))
    report = check_part_sizes(key_folder, answers)
    pictures = {(item["picture"], item["part"]) for item in answers}
    fail_if(len(pictures) != len({picture for picture, _ in pictures}), "a picture is in both parts")
    if secret:
        drawn = draw_question_parts(secret, answers, report["feedback"])
        fail_if([item["part"] for item in answers] != drawn, "the parts were not drawn by this secret")
