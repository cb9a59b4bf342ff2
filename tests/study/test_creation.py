"""A study is made of a dataset, people are invited, leave, and are forgotten."""

import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from tests.study.conftest import look
from vcrgen.builder.run import build
from vcrgen.core.errors import ConfigError, DatabaseError, OutputError, StudyError
from vcrgen.study.assignment import StepKind
from vcrgen.study.creation import check_source
from vcrgen.study.options import StudyOptions
from vcrgen.study.raters import forget, invite, rater_by_name, withdraw
from vcrgen.study.records import Invitation, RaterState, Response
from vcrgen.study.source import clean_picture
from vcrgen.study.store.database import FILE, StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.invitations import read_invitation
from vcrgen.study.store.items import read_frames, read_items, read_picture
from vcrgen.study.store.raters import find_rater, read_raters, update_rater
from vcrgen.study.store.steps import append_steps, open_slots, read_step, read_steps, save_response
from vcrgen.study.visitors import LastSigns, claim_place, completion_code, open_visit
from vcrgen.web.tokens import token_hash


def test_what_was_decided(make: Callable[..., StudyStore], pairs: Path) -> None:
    store = make(limit=6, training=2, view="both", raters=2)
    with store.reading() as connection:
        design, items = read_design(connection), read_items(connection)
        pictures = [read_picture(connection, item.number, number) for item in items for number in range(4)]
    assert [condition.label for condition in design.conditions] == [
        "easy, VI+TEI",
        "easy, TEI",
        "hard, VI+TEI",
        "hard, TEI",
    ]
    assert (design.items, design.training, design.lang, design.data) == (6, 2, "en", str(pairs))
    assert [item.answers is not None for item in items] == [False] * 6 + [True] * 3  # and an example
    assert len(set(pictures)) == 36 and all(picture.startswith(b"\x89PNG") for picture in pictures)


def test_the_file_has_no_answer_but_those_of_training(make: Callable[..., StudyStore], pairs: Path) -> None:
    """So a service cannot give one away."""
    store = make()
    design, items = look(store, read_design, read_items)
    questions = check_source(design).key.questions
    content = (store.folder / FILE).read_bytes()
    for item, question in zip(items, questions, strict=False):
        there = [answer.encode() in content for answer in question.answers]
        assert there == [item.answers is not None] * len(there)


def test_a_dataset_that_changed_is_refused(
    make: Callable[..., StudyStore], pairs: Path, tmp_path: Path, tampered: Callable[..., Path]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(pairs, copy)
    store = make(copy)
    design = look(store, read_design)
    assert check_source(design).signature == check_source(design, str(pairs)).signature == design.signature
    shutil.rmtree(copy)
    from vcrgen.builder.run import build

    build("samples", out=copy, limit=14, splits="test=...", seed=3)
    with pytest.raises(StudyError, match="is not the dataset of this study any more"):
        check_source(design)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"modes": "easy,mean"}, "has no mode 'mean'; it has easy, hard"),
        ({"training": 14}, "has 14 items, and 14 are for training"),
        ({"limit": 0}, "limit"),
        ({"min_checks": 2}, "min-checks"),
        ({"view": "all"}, "view"),
    ],
)
def test_what_cannot_be_a_study(make: Callable[..., StudyStore], options: dict[str, Any], message: str) -> None:
    with pytest.raises((StudyError, ConfigError), match=re.escape(message)):
        make(**options)


def test_a_folder_that_holds_something_is_left_alone(make: Callable[..., StudyStore], tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "mine.txt").touch()
    with pytest.raises(OutputError, match="holds files already"):
        make()
    assert [file.name for file in (tmp_path / "study").iterdir()] == ["mine.txt"]


def test_a_study_is_not_made_again(make: Callable[..., StudyStore], pairs: Path, tmp_path: Path) -> None:
    store = make(limit=4, training=1)
    before = (store.folder / FILE).read_bytes()
    with pytest.raises(StudyError, match=r"is this study already; go on with `vcrgen study invite .*study --count N`"):
        make(limit=4, training=1)
    moved = tmp_path / "moved"
    shutil.copytree(pairs, moved)
    with pytest.raises(StudyError, match="is this study already"):
        make(moved, limit=4, training=1)
    with pytest.raises(
        StudyError, match=r"is another study already \(limit 4 there, 5 here; view none there, tei here\)"
    ):
        make(limit=5, training=1, view="tei")
    (changed := tmp_path / "changed").mkdir()
    build("samples:9", out=changed, splits="test=...")
    with pytest.raises(StudyError, match=r"is another study already \(data \w{16} there, \w{16} here\)"):
        make(changed, limit=4, training=1)
    assert (store.folder / FILE).read_bytes() == before


@pytest.mark.parametrize("seed", range(4))
def test_more_people_are_invited_than_there_are_items_for(make: Callable[..., StudyStore], seed: int) -> None:
    """Whoever got nothing ended the invitations, also of those after them: mostly the first, and then nobody came."""
    store = make(limit=2, training=0, raters=1, modes="easy", seed=seed)
    assert len(invite(store, 9, "en")[0]) == 2
    with store.reading() as connection:
        assert [rater.name for rater in read_raters(connection)] == ["r1", "r2"]
        assert not open_slots(connection, read_design(connection))
    with pytest.raises(StudyError, match="Nobody else is needed"):
        invite(store, 1, "en")


def test_a_file_that_is_no_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="is not a study"):
        StudyStore(tmp_path)
    (tmp_path / FILE).write_bytes(b"hello" * 1000)
    with pytest.raises(DatabaseError, match="cannot be used"):
        StudyStore(tmp_path)


def test_few_items_leave_one_for_the_study(make: Callable[..., StudyStore]) -> None:
    store = make(limit=100, training=4)
    with store.reading() as connection:
        assert (read_design(connection).items, read_design(connection).training) == (10, 4)


def test_training_items_of_another_dataset(make: Callable[..., StudyStore], dataset: Path) -> None:
    store = make(limit=100, training=3, training_data=str(dataset))
    design, items = look(store, read_design, read_items)
    assert (design.items, design.training) == (14, 2)  # its split `test` has two
    assert all(items[14 + number].answers for number in range(2))


def test_nothing_but_pixels_of_a_picture_is_kept() -> None:
    told = PngInfo()
    told.add_text("caption", "the answer")
    out = io.BytesIO()
    Image.new("RGB", (4, 3), (1, 2, 3)).save(out, "PNG", pnginfo=told)
    clean = clean_picture(out.getvalue() + b"the answer")
    assert b"answer" in out.getvalue() and b"answer" not in clean
    with Image.open(io.BytesIO(clean)) as image:
        assert image.size == (4, 3) and image.getpixel((0, 0)) == (1, 2, 3) and not image.info
    for data in (b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", out.getvalue()[:60]):
        with pytest.raises(ValueError, match="no whole PNG"):
            clean_picture(data)


def test_a_hidden_set_by_its_key(tmp_path: Path, make: Callable[..., StudyStore], pairs: Path) -> None:
    from vcrgen.builder.options import BuildConfig
    from vcrgen.hidden import make_hidden
    from vcrgen.hidden.options import HiddenOptions

    config = BuildConfig(source="samples:40")  # with some secrets 4 of 8 cannot be used
    options = HiddenOptions(config=config, items=5, private_source=True, cover="rows")  # which are soon found
    make_hidden(options, out=tmp_path / "hidden", secret_file=tmp_path / "secret.key")
    for number, place in enumerate((tmp_path / "hidden", tmp_path / "hidden" / "key")):
        store = make(place, f"of-{number}", limit=4, training_data=str(pairs), training=1)
        design, items = look(store, read_design, read_items)
        assert design.hidden and (design.items, design.training) == (4, 1)
        assert [condition.label for condition in design.conditions] == ["mixed, VI+TEI"]
        # Training item and worked example are of the built-in pairs, too, and may have the same words covered.
        taught = " ".join(answer for item in items[4:] for answer in item.answers or ())
        answers = [answer for question in check_source(design).key.questions for answer in question.answers]
        content = (store.folder / FILE).read_bytes()
        assert not any(answer.encode() in content for answer in answers if answer not in taught) and len(items) == 6
    shown = make(tmp_path / "hidden", "own", limit=4)
    with shown.reading() as connection:
        assert read_design(connection).training == 0  # training items show their answers
    with pytest.raises(StudyError, match="is a hidden set; training items show their answers"):
        make(pairs, "no", training_data=str(tmp_path / "hidden"))


def test_inviting_until_nobody_is_needed(make: Callable[..., StudyStore]) -> None:
    store = make(limit=6, raters=2)
    links, shared_link = invite(store, 3, None)
    assert len(set(links)) == 3 and not shared_link
    assert len(invite(store, 1, "zh")[0]) == 1  # four people see every item, twice in either mode
    with pytest.raises(StudyError, match="Nobody else is needed"):
        invite(store, 1, "en")
    with pytest.raises(StudyError, match="no pages in 'fr'; choose --lang en or zh"):
        invite(store, 1, "fr")
    with store.reading() as connection:
        raters, places = read_raters(connection), read_steps(connection)
        assert find_rater(connection, token_hash(links[1])) == raters[1]
    assert [(rater.name, rater.lang) for rater in raters] == [("r1", "en"), ("r2", "en"), ("r3", "en"), ("r4", "zh")]
    assert len({place.step[1:4] for place in places if place.step.kind is StepKind.ITEM}) == 6 * 2 * 2
    assert not any(link.encode() in (store.folder / FILE).read_bytes() for link in links)


def test_a_shared_link_gives_each_visitor_a_place_of_their_own(make: Callable[..., StudyStore]) -> None:
    store = make(limit=6, raters=1, min_checks=0.0, max_blank=1.0, max_fast=1.0)
    _, shared_link = invite(store, 2, "en", Invitation(code="C1A2B3"))

    def join(visitor: str, link: str = shared_link) -> str | None:
        with store.writing() as connection:
            visit = open_visit(connection, link, visitor, "browser")
            if visit is None or not (visit.is_own or claim_place(connection, visit, LastSigns(), consent="1")):
                return None
            return visit.token

    first, second = join("5f00aa"), join("5f00bb")
    assert first and second and first != second
    assert join("5f00aa") == first and join("5f00cc") is None
    assert join("5f00aa", shared_link + "x") is None and join("5f00aa", "x" * 500) is None
    with store.reading() as connection:
        rater = find_rater(connection, token_hash(first))
        assert rater is not None and completion_code(connection, rater) == "C1A2B3"
    assert b"5f00aa" not in (store.folder / FILE).read_bytes()
    for options, message in (
        (Invitation(code="a b"), "no completion code"),
        (Invitation(code="C1", failed_code="a/b"), "no completion code"),
        (Invitation(code="C1", failed_code="C2"), "this one excludes nobody; make it with --min-checks"),
    ):
        with pytest.raises(StudyError, match=message):
            invite(store, 1, "en", options)


def test_an_invitation_is_enlarged_under_the_same_link(make: Callable[..., StudyStore]) -> None:
    store = make(limit=6, raters=2, min_checks=0.5)
    shared_link = invite(store, 1, "en", Invitation(code="C1", failed_code="F1", speaks=("English",), keeps_ids=True))[
        1
    ]
    assert invite(store, 2, "en", Invitation(code="C1")) == (["", ""], shared_link)
    assert invite(store, 1, "zh", Invitation(code="C1"))[1] != shared_link  # its pages are others
    with store.reading() as connection:
        invitation = read_invitation(connection, token_hash(shared_link))
        raters = read_raters(connection)
    assert invitation is not None
    # What was not given anew stays.
    assert (invitation.code, invitation.failed_code, invitation.speaks) == ("C1", "F1", ("English",))
    assert invitation.keeps_ids
    assert [rater.shared_link == invitation.shared_link for rater in raters] == [True, True, True, False]


def test_what_somebody_did_counts_after_leaving_and_the_rest_goes_back(
    make: Callable[..., StudyStore], people: Callable[..., list[str]]
) -> None:
    store = make(limit=6, raters=1, training=0, checks=0, repeats=0, modes="easy")
    people(store, 1)
    with store.writing() as connection:
        rater = read_raters(connection)[0]
        for number in range(2):
            fields = read_items(connection)[read_steps(connection, 1)[number].step.item].fields
            save_response(connection, 1, number, Response(("x",) * fields, (False,) * fields, 1.0, True, 1))
    assert withdraw(store, rater) == 4
    assert len(people(store, 1)) == 1
    with store.reading() as connection:
        places = read_steps(connection)
        assert read_raters(connection)[0].state is RaterState.LEFT
    assert [place.rater for place in places] == [1, 1, 2, 2, 2, 2]
    assert len({place.step.item for place in places}) == 6


def test_what_is_forgotten_is_in_no_file(make: Callable[..., StudyStore], people: Any, typing: Any) -> None:
    store = make(limit=6, raters=1)
    people(store, 2)
    typing(store, lambda rater, *about: f"secret words of {rater}")
    with store.writing() as connection:
        update_rater(connection, 1, languages="Quenya")
        raters = read_raters(connection)
    forget(store, rater_by_name(raters, "r1"))
    content = b"".join(file.read_bytes() for file in store.folder.iterdir() if file.is_file())
    assert b"secret words of 1" not in content and b"Quenya" not in content and b"secret words of 2" in content
    with store.reading() as connection:
        assert [rater.state for rater in read_raters(connection)] == [RaterState.FORGOTTEN, RaterState.SENT]
        with pytest.raises(StudyError, match="no rater 'r1'; it has r2"):
            rater_by_name(read_raters(connection), "r1")
    assert len(people(store, 1)) == 1  # the items are wanted again


def test_a_later_change_wins_and_an_older_one_changes_nothing(make: Callable[..., StudyStore], people: Any) -> None:
    store = make()
    people(store, 1)
    with store.writing() as connection:
        assert save_response(connection, 1, 0, Response(("new",), (False,), 2.0, True, 2))
        assert not save_response(connection, 1, 0, Response(("old",), (False,), 1.0, False, 1))
        assert not save_response(connection, 1, 0, Response(("again",), (False,), 1.0, False, 2))
        place = read_step(connection, 1, 0)
    assert place is not None and place.response == Response(("new",), (False,), 2.0, True, 2)


def test_the_database_itself_lets_nobody_see_an_item_twice(make: Callable[..., StudyStore], people: Any) -> None:
    store = make()
    people(store, 1)
    with store.reading() as connection:
        first = read_steps(connection, 1)
        item = next(one.step for one in first if one.step.kind is StepKind.ITEM)
    with pytest.raises(DatabaseError, match="UNIQUE"), store.writing() as connection:
        append_steps(connection, 1, [item._replace(condition=1 - item.condition)])
    with store.reading() as connection:
        assert read_steps(connection, 1) == first


def test_a_full_disk_is_said(make: Callable[..., StudyStore], people: Any) -> None:
    store = make()
    people(store, 1)
    with pytest.raises(OSError, match="disk is full"), store.writing() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count = 1")
        save_response(connection, 1, 0, Response(("x" * 5_000_000,), (False,), 2.0, True, 1))
    with store.writing() as connection:
        place = read_step(connection, 1, 0)
    assert place is not None and place.response is None


def test_options_are_kept(make: Callable[..., StudyStore]) -> None:
    store = make(seed=7, pause=9)
    options = look(store, read_design).options
    assert StudyOptions(**options) == StudyOptions(limit=6, training=2, seed=7, pause=9)
    with pytest.raises(StudyError, match="is not a study"):
        StudyStore(store.folder / "nothing")


def test_frames_lie_around_the_covers_of_each_part(make: Callable[..., StudyStore], pairs: Path) -> None:
    """On the darkest rows of a picture beside the cover: all letters of a part are inside of its frames."""
    store = make(view="both")
    with store.reading() as connection:
        design, items = read_design(connection), read_items(connection)
        for item in items:
            for number, condition in enumerate(design.conditions):
                frames = read_frames(connection, item.number, number)
                png = Image.open(io.BytesIO(read_picture(connection, item.number, number)))
                assert len(frames) == item.fields and all(frames), (item, condition)
                for left, top, right, bottom in (box for boxes in frames for box in boxes):
                    assert 0 <= left < right <= png.width and 0 <= top + 2 < bottom - 2 <= png.height
                    inside = png.convert("L").crop((left, top, right, bottom))
                    assert inside.getextrema()[0] < 128 < 255 == inside.getextrema()[1]  # letters and a white cover
    questions = {question.question_id: question for question in check_source(design).key.questions}
    for item in items:
        assert item.lengths == tuple(len(answer.split()) for answer in questions[item.question_id].answers)


def test_a_study_without_items_to_spare_has_no_example(make: Callable[..., StudyStore]) -> None:
    store = make(limit=12, training=2)
    with store.reading() as connection:
        assert read_design(connection).example is None and len(read_items(connection)) == 14
