"""``vcrgen study init``: a dataset and some options become a study, of which only the raters change any more."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from sqlalchemy import Connection

from vcrgen.core.errors import StudyError
from vcrgen.core.files import write_text
from vcrgen.core.folder import differences, new_folder
from vcrgen.core.plurals import pluralize
from vcrgen.data.tasks.task import MCQ_TASK, VCR_TASK
from vcrgen.data.views import QUESTION_VIEWS, VIEWS, View
from vcrgen.scorer.mcq.key import KeyItem
from vcrgen.scorer.records import UNSTATED
from vcrgen.study.audit_study import audit_items, audit_study_item, open_draw
from vcrgen.study.options import StudyOptions
from vcrgen.study.page_texts import text_file, texts_for
from vcrgen.study.parts import part_lengths, read_frames
from vcrgen.study.records import Condition, StudyDesign, StudyItem
from vcrgen.study.source import McqSource, StudyQuestion, StudySource, open_source
from vcrgen.study.store.database import FILE, StudyStore
from vcrgen.study.store.designs import add_maintainer, read_design, write_design
from vcrgen.study.store.items import add_item, add_picture, add_question, save_frames
from vcrgen.web.tokens import new_token, token_hash

MAINTAINER = "vcrm_"
_VCR_VIEWS = ("stacked", "tei", "both")


def init_study(folder: Path, data: str, options: StudyOptions) -> tuple[StudyDesign, str]:
    """Create a study.

    Pictures are copied, without anything that a file may hold besides pixels. Answers are not, but those of training
    items and audits, which raters are shown: so the service cannot give away others.

    Args:
        folder: A new or an empty folder.
        data: A dataset, or the folder of a hidden set with its key.
        options: Those of ``vcrgen study init``.

    Returns:
        The design, and the token of the maintainers' page, which is stored nowhere.

    Raises:
        VcrgenError: The dataset cannot be read, has too few items, or lacks a mode, view or language.
        StudyError: The folder is a study already.
        OutputError: The folder holds something else.
    """
    draw, options = open_draw(data, options)
    source = teacher = open_source(data, options.split)
    items: Sequence[StudyQuestion]
    training: Sequence[StudyQuestion]
    example: Sequence[StudyQuestion]
    if draw:
        conditions: tuple[Condition, ...] = (Condition(UNSTATED, View.IMAGE),)
        items, training, example = audit_items(source, draw), [], []
    else:
        conditions = _conditions(source, options)
        if options.training_data:
            teacher = open_source(options.training_data, None)
        items, training = _choose_items(source, teacher, conditions, options)
        # One more item for training is the worked example, where there is one.
        training, example = training[: options.training], training[options.training :]
    design = StudyDesign(
        data=source.place,
        lang=source.key.lang,
        hidden=source.key.hidden,
        signature=source.signature,
        conditions=conditions,
        items=len(items),
        training=len(training),
        spans=sum(len(question.answers) for question in items),
        options=options.model_dump(),
        task=(MCQ_TASK if isinstance(source, McqSource) else VCR_TASK).name,
        draw=draw,
        example=len(items) + len(training) if example else None,
    )
    _check_no_study(folder, design)
    token, words = new_token(MAINTAINER), texts_for(design)
    with new_folder(folder) as made, StudyStore(made, new=True) as store:
        with store.writing() as connection:
            write_design(connection, design, secrets.token_hex(32))
            add_maintainer(connection, token_hash(token))
            for first, questions, questions_source, make_item in (
                (0, items, source, audit_study_item if draw else _item),
                (len(items), [*training, *example], teacher, _training_item),
            ):
                lengths = questions_source.words_to_read(questions)
                as_item = partial(make_item, lang=questions_source.key.lang)
                numbers = _add_items(connection, first, questions, as_item, lengths)
                _add_pictures(connection, questions_source, conditions, numbers)
        for kind, texts in (("consent", words.consent), ("instructions", words.instructions)):
            for lang, text in texts.items():
                write_text(text_file(made, kind, lang), text)
        (made / FILE).chmod(0o600)  # it will hold what people typed
        store.close()  # before the folder gets its name, so that no journal is left beside the file
    return design, token


def _check_no_study(folder: Path, design: StudyDesign) -> None:
    """Refuse a folder that is a study already, this one or another."""
    if not (folder / FILE).is_file():
        return
    with StudyStore(folder) as store, store.reading() as connection:
        there = read_design(connection)
    if differing := differences(_facts(there), _facts(design)):
        raise StudyError(f"{folder} is another study already ({differing}); choose a new folder.")
    raise StudyError(
        f"{folder} is this study already; go on with `vcrgen study invite {folder} --count N`, or choose a new folder "
        "for a new one."
    )


def _facts(design: StudyDesign) -> dict[str, object]:
    """The identity of a study, by the names that people know: the same for a dataset that was moved."""
    return {"data": design.signature, "draw": design.draw and design.draw.name, **design.options}


def check_source(design: StudyDesign, data: str | None = None) -> StudySource:
    """Open the dataset of a study, if it is still the same.

    Args:
        data: Where the dataset is now, if it was moved.

    Raises:
        StudyError: It has changed since the study was made.
    """
    source = open_source(data or design.data, design.options["split"])
    if source.signature != design.signature:
        raise StudyError(
            f"{data or design.data} is not the dataset of this study any more (signature {source.signature}, not "
            f"{design.signature}); bring back the one that the study was made of, and name its place with --data."
        )
    return source


def _conditions(source: StudySource, options: StudyOptions) -> tuple[Condition, ...]:
    if isinstance(source, McqSource):
        if options.modes is not None:
            raise StudyError(f"--modes is of VCR datasets; {source.place} is an MCQ benchmark, which has --lang.")
        langs = source.modes if options.lang is None else tuple(map(str.strip, options.lang.split(",")))
        for lang in langs:
            if lang not in source.modes:
                raise StudyError(f"{source.place} has no items in {lang!r}; it has {', '.join(source.modes)}.")
        view = options.view or "image"
        if view not in QUESTION_VIEWS:
            have = " or ".join(QUESTION_VIEWS)
            raise StudyError(f"--view {view} is of VCR datasets; {source.place} is an MCQ benchmark; choose {have}.")
        return tuple(
            Condition(lang, condition_view) for lang in dict.fromkeys(langs) for condition_view in QUESTION_VIEWS[view]
        )
    if options.lang is not None:
        raise StudyError(f"--lang is of MCQ benchmarks; {source.place} is a VCR dataset.")
    modes = source.modes if options.modes is None else tuple(dict.fromkeys(map(str.strip, options.modes.split(","))))
    for mode in modes:
        if mode not in source.modes:
            have = ", ".join(source.modes)
            raise StudyError(f"{source.place} has no mode {mode!r}; it has {have}. Choose with --modes.")
    view = options.view or "stacked"
    if view not in _VCR_VIEWS:
        raise StudyError(f"--view {view} is of MCQ benchmarks; {source.place} is a VCR dataset.")
    return tuple(Condition(mode, condition_view) for mode in modes for condition_view in VIEWS[view])


def _choose_items(
    source: StudySource, teacher: StudySource, conditions: Sequence[Condition], options: StudyOptions
) -> tuple[Sequence[StudyQuestion], Sequence[StudyQuestion]]:
    """Choose the items of a study, and those of its training, which may be of another dataset."""
    if options.training_data and teacher.key.hidden:
        raise StudyError(f"{options.training_data} is a hidden set; training items show their answers.")
    if isinstance(teacher, McqSource) is not isinstance(source, McqSource):
        raise StudyError(
            f"{options.training_data} is data of another task than {source.place}; training items are alike."
        )
    training_wanted = 0 if teacher.key.hidden else options.training
    # And one for the worked example of masked spans.
    more = training_wanted + (training_wanted > 0 and not isinstance(source, McqSource))
    questions = source.questions(options.limit + more, conditions)
    if teacher is source:
        # At least one question is left for the study, however few there are.
        items = questions[: max(min(options.limit, len(questions) - training_wanted), 0)]
        training = questions[len(items) : len(items) + more]
    else:
        items, training = questions[: options.limit], teacher.questions(more, conditions)
    if not items:
        raise StudyError(
            f"{source.place} has {pluralize(len(questions), 'item')}, and {training_wanted} are for training; give a "
            "smaller --training, or other data for it (--training-data)."
        )
    return items, training


def _item(number: int, question: StudyQuestion, *, lang: str) -> StudyItem:
    answers = question.answers
    lengths = () if isinstance(question, KeyItem) else part_lengths(answers, lang)
    return StudyItem(number=number, question_id=question.question_id, fields=len(answers), lengths=lengths)


def _training_item(number: int, question: StudyQuestion, *, lang: str) -> StudyItem:
    return replace(_item(number, question, lang=lang), answers=question.answers)


def _add_items(
    connection: Connection,
    first: int,
    questions: Sequence[StudyQuestion],
    as_item: Callable[[int, StudyQuestion], StudyItem],
    words: Mapping[str, int],
) -> dict[str, int]:
    """Store items, numbered from ``first`` on, and return the numbers by id."""
    for number, question in enumerate(questions, start=first):
        add_item(connection, replace(as_item(number, question), words=words[question.question_id]))
        if isinstance(question, KeyItem):
            for lang, asked in question.questions.items():
                add_question(connection, number, lang, asked)
    return {question.question_id: number for number, question in enumerate(questions, start=first)}


def _add_pictures(
    connection: Connection, source: StudySource, conditions: Sequence[Condition], numbers: Mapping[str, int]
) -> None:
    """Store the pictures of items in all conditions, with the frames of their covered parts."""
    for question_id, condition, png in source.pictures(conditions, numbers):
        add_picture(connection, numbers[question_id], condition, png)
    for question_id, condition, frames in read_frames(source.images, conditions, numbers):
        save_frames(connection, numbers[question_id], condition, frames)
