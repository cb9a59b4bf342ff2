"""``vcrgen study init``: a dataset and some options become a study, of which only the people change any more."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

from vcrgen.config import StudyOptions
from vcrgen.dataset.views import VIEWS, View
from vcrgen.errors import StudyError
from vcrgen.files import write_text
from vcrgen.scorer.choices.key import KeyItem
from vcrgen.study import store as db
from vcrgen.study.choice_texts import texts_for
from vcrgen.study.records import Condition, Frozen, StudyItem
from vcrgen.study.source import AnyQuestion, ChoiceSource, StudySource, open_source
from vcrgen.study.store import Store
from vcrgen.study.texts import text_file
from vcrgen.tasks.task import QUESTIONS, RESTORATION
from vcrgen.web.tokens import hash_of, new_token
from vcrgen.work.folder import new_folder

MAINTAINER = "vcrm_"


def init_study(folder: Path, data: str, options: StudyOptions) -> tuple[Frozen, str]:
    """Make a study.

    The pictures are copied, without anything that a file may hold besides pixels. The answers are not, but those of
    training items, which raters are shown: so the service cannot give away what it does not have.

    Args:
        folder: A new or an empty folder.
        data: A dataset, or the folder of a hidden set with its key.
        options: What is decided now.

    Returns:
        What was decided, and the token of the maintainers' page, which is stored nowhere.

    Raises:
        VcrgenError: The dataset cannot be read, has too little for the study, or lacks what is asked for.
        OutputError: The folder holds something.
    """
    source = open_source(data, options.split)
    conditions = _conditions(source, options)
    teacher = open_source(options.training_data, None) if options.training_data else source
    if options.training_data and teacher.key.hidden:
        raise StudyError(f"{options.training_data} is a hidden set; training items show their answers.")
    if isinstance(teacher, ChoiceSource) is not isinstance(source, ChoiceSource):
        raise StudyError(f"{options.training_data} is data of another task than {data}; training items are alike.")
    training_wanted = 0 if teacher.key.hidden else options.training
    questions = source.questions(options.limit + training_wanted, conditions)
    if teacher is source:
        # At least one question is left for the study, however few there are.
        items = questions[: max(min(options.limit, len(questions) - training_wanted), 0)]
        training = questions[len(items) : len(items) + training_wanted]
    else:
        items, training = questions[: options.limit], teacher.questions(training_wanted, conditions)
    if not items:
        raise StudyError(
            f"{data} has {len(questions)} items, and {training_wanted} are for training; give a smaller --training, or "
            "other data for it (--training-data)."
        )
    frozen = Frozen(
        data=source.place, lang=source.key.lang, hidden=source.key.hidden, signature=source.signature,
        conditions=conditions, items=len(items), training=len(training),
        spans=sum(len(question.answers) for question in items), options=options.model_dump(),
        task=(QUESTIONS if isinstance(source, ChoiceSource) else RESTORATION).name,
    )  # fmt: skip
    token, words = new_token(MAINTAINER), texts_for(frozen)
    with new_folder(folder) as made, Store(made, new=True) as store:
        with store.writing() as connection:
            db.write_frozen(connection, frozen)
            db.write_secret(connection, secrets.token_hex(32))
            db.add_maintainer(connection, hash_of(token))
            for first, asked, of, shown in ((0, items, source, False), (len(items), training, teacher, True)):
                numbers = _add_items(connection, first, asked, with_answers=shown)
                for question_id, condition, png in of.pictures(conditions, numbers):
                    db.add_picture(connection, numbers[question_id], condition, png)
        for kind, texts in (("consent", words.consent), ("instructions", words.instructions)):
            for lang, text in texts.items():
                write_text(text_file(made, kind, lang), text)
        (made / db.FILE).chmod(0o600)  # it will hold what people typed
        store.close()  # before the folder gets its name, so that no journal is left beside the file
    return frozen, token


def check_source(frozen: Frozen, data: str | None = None) -> StudySource:
    """The dataset of a study, if it is still the same.

    Args:
        frozen: What was decided.
        data: Where the dataset is now, if it was moved.

    Raises:
        StudyError: It has changed since the study was made.
    """
    source = open_source(data or frozen.data, frozen.options["split"])
    if source.signature != frozen.signature:
        raise StudyError(
            f"{data or frozen.data} is not the dataset of this study any more (signature {source.signature}, not "
            f"{frozen.signature}); bring back the one that the study was made of, and name its place with --data."
        )
    return source


def _conditions(source: StudySource, options: StudyOptions) -> tuple[Condition, ...]:
    if isinstance(source, ChoiceSource):
        for name in ("modes", "view"):
            if name in options.model_fields_set:
                raise StudyError(f"--{name} is of covered texts; {source.place} is a question set, which has --lang.")
        wanted = source.modes if options.lang is None else tuple(map(str.strip, options.lang.split(",")))
        for lang in wanted:
            if lang not in source.modes:
                raise StudyError(f"{source.place} has no items in {lang!r}; it has {', '.join(source.modes)}.")
        return tuple(Condition(lang, View.IMAGE) for lang in dict.fromkeys(wanted))
    if options.lang is not None:
        raise StudyError(f"--lang is of question sets; {source.place} has covered texts.")
    asked = source.modes if options.modes is None else tuple(dict.fromkeys(map(str.strip, options.modes.split(","))))
    for mode in asked:
        if mode not in source.modes:
            have = ", ".join(source.modes)
            raise StudyError(f"{source.place} has no mode {mode!r}; it has {have}. Choose with --modes.")
    return tuple(Condition(mode, view) for mode in asked for view in VIEWS[options.view])


def _add_items(
    connection: db.Connection, first: int, questions: Sequence[AnyQuestion], *, with_answers: bool
) -> dict[str, int]:
    """Keep items, numbered from ``first`` on; the numbers by id."""
    for number, question in enumerate(questions, start=first):
        answers = question.answers if with_answers else None
        item = StudyItem(number=number, question_id=question.question_id, fields=len(question.answers), answers=answers)
        db.add_item(connection, item)
        if isinstance(question, KeyItem):
            for lang, asked in question.questions.items():
                db.add_question(connection, number, lang, asked)
    return {question.question_id: number for number, question in enumerate(questions, start=first)}
