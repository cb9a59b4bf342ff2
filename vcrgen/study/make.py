"""``vcrgen study init``: a dataset and some options become a study, of which only the people change any more."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from vcrgen.config import StudyOptions
from vcrgen.dataset.views import QUESTION_VIEWS, VIEWS, View
from vcrgen.errors import StudyError
from vcrgen.files import write_text
from vcrgen.plurals import counted
from vcrgen.scorer.choices.key import KeyItem
from vcrgen.scorer.records import UNSTATED
from vcrgen.study import store as db
from vcrgen.study.audit import audit_item, audited, drawn_for
from vcrgen.study.choice_texts import texts_for
from vcrgen.study.records import Condition, Frozen, StudyItem
from vcrgen.study.source import AnyQuestion, ChoiceSource, StudySource, open_source
from vcrgen.study.store import Store
from vcrgen.study.texts import text_file
from vcrgen.tasks.task import QUESTIONS, RESTORATION
from vcrgen.web.tokens import hash_of, new_token
from vcrgen.work.folder import differences, new_folder

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
        StudyError: The folder is a study already.
        OutputError: The folder holds something else.
    """
    draw, options = drawn_for(data, options)
    source = teacher = open_source(data, options.split)
    items: Sequence[AnyQuestion]
    training: Sequence[AnyQuestion]
    if draw:
        conditions: tuple[Condition, ...] = (Condition(UNSTATED, View.IMAGE),)
        items, training = audited(source, draw), []
    else:
        conditions = _conditions(source, options)
        if options.training_data:
            teacher = open_source(options.training_data, None)
        items, training = _chosen(source, teacher, conditions, options)
    frozen = Frozen(
        data=source.place, lang=source.key.lang, hidden=source.key.hidden, signature=source.signature,
        conditions=conditions, items=len(items), training=len(training),
        spans=sum(len(question.answers) for question in items), options=options.model_dump(),
        task=(QUESTIONS if isinstance(source, ChoiceSource) else RESTORATION).name, draw=draw,
    )  # fmt: skip
    _check_no_study(folder, frozen)
    token, words = new_token(MAINTAINER), texts_for(frozen)
    with new_folder(folder) as made, Store(made, new=True) as store:
        with store.writing() as connection:
            db.write_frozen(connection, frozen)
            db.write_secret(connection, secrets.token_hex(32))
            db.add_maintainer(connection, hash_of(token))
            for first, asked, of, kept in (
                (0, items, source, audit_item if draw else _item),
                (len(items), training, teacher, _training_item),
            ):
                numbers = _add_items(connection, first, asked, kept)
                for question_id, condition, png in of.pictures(conditions, numbers):
                    db.add_picture(connection, numbers[question_id], condition, png)
        for kind, texts in (("consent", words.consent), ("instructions", words.instructions)):
            for lang, text in texts.items():
                write_text(text_file(made, kind, lang), text)
        (made / db.FILE).chmod(0o600)  # it will hold what people typed
        store.close()  # before the folder gets its name, so that no journal is left beside the file
    return frozen, token


def _check_no_study(folder: Path, frozen: Frozen) -> None:
    """Say of a folder that is a study already whether it is the one that would be made."""
    if not (folder / db.FILE).is_file():
        return
    with Store(folder) as store, store.reading() as connection:
        there = db.read_frozen(connection)
    if found := differences(_facts(there), _facts(frozen)):
        raise StudyError(f"{folder} is another study already ({found}); choose a new folder.")
    raise StudyError(
        f"{folder} is this study already; go on with `vcrgen study invite {folder} --count N`, or choose a new folder "
        "for a new one."
    )


def _facts(frozen: Frozen) -> dict[str, object]:
    """What makes a study the one that it is, by the names that people know: the same for a dataset that was moved."""
    return {"data": frozen.signature, "draw": frozen.draw and frozen.draw.name, **frozen.options}


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
        if options.modes is not None:
            raise StudyError(f"--modes is of covered texts; {source.place} is a question set, which has --lang.")
        wanted = source.modes if options.lang is None else tuple(map(str.strip, options.lang.split(",")))
        for lang in wanted:
            if lang not in source.modes:
                raise StudyError(f"{source.place} has no items in {lang!r}; it has {', '.join(source.modes)}.")
        view = options.view or "image"
        if view not in QUESTION_VIEWS:
            have = " or ".join(QUESTION_VIEWS)
            raise StudyError(f"--view {view} is of covered texts; {source.place} is a question set; choose {have}.")
        return tuple(Condition(lang, each) for lang in dict.fromkeys(wanted) for each in QUESTION_VIEWS[view])
    if options.lang is not None:
        raise StudyError(f"--lang is of question sets; {source.place} has covered texts.")
    asked = source.modes if options.modes is None else tuple(dict.fromkeys(map(str.strip, options.modes.split(","))))
    for mode in asked:
        if mode not in source.modes:
            have = ", ".join(source.modes)
            raise StudyError(f"{source.place} has no mode {mode!r}; it has {have}. Choose with --modes.")
    view = options.view or "stacked"
    if view not in VIEWS:
        raise StudyError(f"--view {view} is of question sets; {source.place} has covered texts.")
    return tuple(Condition(mode, each) for mode in asked for each in VIEWS[view])


def _chosen(
    source: StudySource, teacher: StudySource, conditions: Sequence[Condition], options: StudyOptions
) -> tuple[Sequence[AnyQuestion], Sequence[AnyQuestion]]:
    """The items of a study, and those of its training, which may be of another dataset."""
    if options.training_data and teacher.key.hidden:
        raise StudyError(f"{options.training_data} is a hidden set; training items show their answers.")
    if isinstance(teacher, ChoiceSource) is not isinstance(source, ChoiceSource):
        raise StudyError(
            f"{options.training_data} is data of another task than {source.place}; training items are alike."
        )
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
            f"{source.place} has {counted(len(questions), 'item')}, and {training_wanted} are for training; give a "
            "smaller --training, or other data for it (--training-data)."
        )
    return items, training


def _item(number: int, question: AnyQuestion) -> StudyItem:
    return StudyItem(number=number, question_id=question.question_id, fields=len(question.answers))


def _training_item(number: int, question: AnyQuestion) -> StudyItem:
    return replace(_item(number, question), answers=question.answers)


def _add_items(
    connection: db.Connection,
    first: int,
    questions: Sequence[AnyQuestion],
    kept: Callable[[int, AnyQuestion], StudyItem],
) -> dict[str, int]:
    """Keep items, numbered from ``first`` on; the numbers by id."""
    for number, question in enumerate(questions, start=first):
        db.add_item(connection, kept(number, question))
        if isinstance(question, KeyItem):
            for lang, asked in question.questions.items():
                db.add_question(connection, number, lang, asked)
    return {question.question_id: number for number, question in enumerate(questions, start=first)}
