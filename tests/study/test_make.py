"""A study is made of a dataset, people are invited, leave, and are forgotten."""

import io
import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from vcrgen.builder.run import build
from vcrgen.config import StudyOptions
from vcrgen.errors import ConfigError, OutputError, StudyError
from vcrgen.study import store as db
from vcrgen.study.design import Kind
from vcrgen.study.make import check_source
from vcrgen.study.people import come_in, find, forget, invite, leave
from vcrgen.study.records import RaterState, Response
from vcrgen.study.source import clean_picture
from vcrgen.study.store import FILE, Store
from vcrgen.web.tokens import hash_of


def test_what_was_decided(make: Callable[..., Store], pairs: Path) -> None:
    store = make(limit=6, training=2, view="both", raters=2)
    with store.reading() as connection:
        frozen, items = db.read_frozen(connection), db.items_of(connection)
        pictures = [db.picture_of(connection, item.number, number) for item in items for number in range(4)]
    assert [condition.label for condition in frozen.conditions] == [
        "easy, VI+TEI", "easy, TEI", "hard, VI+TEI", "hard, TEI",
    ]  # fmt: skip
    assert (frozen.items, frozen.training, frozen.lang, frozen.data) == (6, 2, "en", str(pairs))
    assert [item.answers is not None for item in items] == [False] * 6 + [True] * 2
    assert len(set(pictures)) == 32 and all(picture.startswith(b"\x89PNG") for picture in pictures)


def test_the_file_has_no_answer_but_those_of_training(make: Callable[..., Store], pairs: Path) -> None:
    """So a service cannot give one away."""
    store = make()
    with store.reading() as connection:
        frozen, items = db.read_frozen(connection), db.items_of(connection)
    questions = check_source(frozen).key.questions
    content = (store.folder / FILE).read_bytes()
    for item, question in zip(items, questions, strict=False):
        there = [answer.encode() in content for answer in question.answers]
        assert there == [item.answers is not None] * len(there)


def test_a_dataset_that_changed_is_refused(
    make: Callable[..., Store], pairs: Path, tmp_path: Path, tampered: Callable[..., Path]
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(pairs, copy)
    store = make(copy)
    with store.reading() as connection:
        frozen = db.read_frozen(connection)
    assert check_source(frozen).signature == check_source(frozen, str(pairs)).signature == frozen.signature
    shutil.rmtree(copy)
    from vcrgen.builder.run import build

    build("samples", out=copy, limit=14, splits="test=...", seed=3)
    with pytest.raises(StudyError, match="is not the dataset of this study any more"):
        check_source(frozen)


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
def test_what_cannot_be_a_study(make: Callable[..., Store], options: dict[str, Any], message: str) -> None:
    with pytest.raises((StudyError, ConfigError), match=re.escape(message)):
        make(**options)


def test_a_folder_that_holds_something_is_left_alone(make: Callable[..., Store], tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "mine.txt").touch()
    with pytest.raises(OutputError, match="holds something else"):
        make()
    assert [file.name for file in (tmp_path / "study").iterdir()] == ["mine.txt"]


def test_a_study_is_not_made_again(make: Callable[..., Store], pairs: Path, tmp_path: Path) -> None:
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
def test_more_people_are_invited_than_there_are_items_for(make: Callable[..., Store], seed: int) -> None:
    """Whoever got nothing ended the invitations, also of those after them: mostly the first, and then nobody came."""
    store = make(limit=2, training=0, raters=1, modes="easy", seed=seed)
    assert len(invite(store, 9, "en")[0]) == 2
    with store.reading() as connection:
        assert [rater.name for rater in db.raters_of(connection)] == ["r1", "r2"]
        assert not db.wanted_slots(connection, db.read_frozen(connection))
    with pytest.raises(StudyError, match="Nobody else is needed"):
        invite(store, 1, "en")


def test_a_file_that_is_no_study(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="is not a study"):
        Store(tmp_path)
    (tmp_path / FILE).write_bytes(b"hello" * 1000)
    with pytest.raises(StudyError, match="cannot be used"):
        Store(tmp_path)


def test_few_items_leave_one_for_the_study(make: Callable[..., Store]) -> None:
    store = make(limit=100, training=4)
    with store.reading() as connection:
        assert (db.read_frozen(connection).items, db.read_frozen(connection).training) == (10, 4)


def test_training_items_of_another_dataset(make: Callable[..., Store], dataset: Path) -> None:
    store = make(limit=100, training=3, training_data=str(dataset))
    with store.reading() as connection:
        frozen, items = db.read_frozen(connection), db.items_of(connection)
    assert (frozen.items, frozen.training) == (14, 2)  # its split `test` has two
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


def test_a_hidden_set_by_its_key(tmp_path: Path, make: Callable[..., Store], pairs: Path) -> None:
    from vcrgen.config import BuildConfig, HiddenOptions
    from vcrgen.hidden import make_hidden

    config = BuildConfig(source="samples:40")  # with some secrets 4 of 8 cannot be used
    options = HiddenOptions(config=config, items=5)
    make_hidden(options, out=tmp_path / "hidden", secret_file=tmp_path / "secret.key")
    for number, place in enumerate((tmp_path / "hidden", tmp_path / "hidden" / "key")):
        store = make(place, f"of-{number}", limit=4, training_data=str(pairs), training=1)
        with store.reading() as connection:
            frozen, items = db.read_frozen(connection), db.items_of(connection)
        assert frozen.hidden and (frozen.items, frozen.training) == (4, 1)
        assert [condition.label for condition in frozen.conditions] == ["mixed, VI+TEI"]
        # The training item is of the built-in pairs, too, and may have the same words covered.
        taught = " ".join(items[4].answers or ())
        answers = [answer for question in check_source(frozen).key.questions for answer in question.answers]
        content = (store.folder / FILE).read_bytes()
        assert not any(answer.encode() in content for answer in answers if answer not in taught) and len(items) == 5
    shown = make(tmp_path / "hidden", "own", limit=4)
    with shown.reading() as connection:
        assert db.read_frozen(connection).training == 0  # training items show their answers
    with pytest.raises(StudyError, match="is a hidden set; training items show their answers"):
        make(pairs, "no", training_data=str(tmp_path / "hidden"))


def test_inviting_until_nobody_is_needed(make: Callable[..., Store]) -> None:
    store = make(limit=6, raters=2)
    links, door = invite(store, 3, None)
    assert len(set(links)) == 3 and not door
    assert len(invite(store, 1, "zh")[0]) == 1  # four people see every item, twice in either mode
    with pytest.raises(StudyError, match="Nobody else is needed"):
        invite(store, 1, "en")
    with pytest.raises(StudyError, match="no pages in 'fr'; choose --lang en or zh"):
        invite(store, 1, "fr")
    with store.reading() as connection:
        raters, places = db.raters_of(connection), db.places_of(connection)
        assert db.rater_by_token(connection, hash_of(links[1])) == raters[1]
    assert [(rater.name, rater.lang) for rater in raters] == [("r1", "en"), ("r2", "en"), ("r3", "en"), ("r4", "zh")]
    assert len({place.step[1:4] for place in places if place.step.kind is Kind.ITEM}) == 6 * 2 * 2
    assert not any(link.encode() in (store.folder / FILE).read_bytes() for link in links)


def test_a_shared_link_gives_each_visitor_a_place_of_their_own(make: Callable[..., Store]) -> None:
    store = make(limit=6, raters=1)
    _, door = invite(store, 2, "en", prolific="C1A2B3")
    first, second = (come_in(store, door, visitor) for visitor in ("5f00aa", "5f00bb"))
    assert first and second and first != second
    assert come_in(store, door, "5f00aa") == first and come_in(store, door, "5f00cc") is None
    assert come_in(store, door + "x", "5f00aa") is None and come_in(store, "x" * 500, "5f00aa") is None
    with store.reading() as connection:
        rater = db.rater_by_token(connection, hash_of(first))
    assert rater is not None and rater.code == "C1A2B3"
    assert b"5f00aa" not in (store.folder / FILE).read_bytes()
    with pytest.raises(StudyError, match="no completion code"):
        invite(store, 1, "en", prolific="a b")


def test_what_somebody_did_counts_after_leaving_and_the_rest_goes_back(
    make: Callable[..., Store], people: Callable[..., list[str]]
) -> None:
    store = make(limit=6, raters=1, training=0, checks=0, repeats=0, modes="easy")
    people(store, 1)
    with store.writing() as connection:
        rater = db.raters_of(connection)[0]
        for number in range(2):
            fields = db.items_of(connection)[db.places_of(connection, 1)[number].step.item].fields
            db.save(connection, 1, number, Response(("x",) * fields, (False,) * fields, 1.0, True, 1))
    assert leave(store, rater) == 4
    assert len(people(store, 1)) == 1
    with store.reading() as connection:
        places = db.places_of(connection)
        assert db.raters_of(connection)[0].phase is RaterState.LEFT
    assert [place.rater for place in places] == [1, 1, 2, 2, 2, 2]
    assert len({place.step.item for place in places}) == 6


def test_what_is_forgotten_is_in_no_file(make: Callable[..., Store], people: Any, typing: Any) -> None:
    store = make(limit=6, raters=1)
    people(store, 2)
    typing(store, lambda rater, *about: f"secret words of {rater}")
    with store.writing() as connection:
        db.change_rater(connection, 1, languages="Quenya")
        db.put_causes(connection, "ada", {(0, 0, "secret words of 1"): "slip", (0, 0, "secret words of 2"): "slip"})
        raters = db.raters_of(connection)
    forget(store, find(raters, "r1"))
    content = b"".join(file.read_bytes() for file in store.folder.iterdir() if file.is_file())
    assert b"secret words of 1" not in content and b"Quenya" not in content and b"secret words of 2" in content
    with store.reading() as connection:
        assert [rater.phase for rater in db.raters_of(connection)] == [RaterState.FORGOTTEN, RaterState.SENT]
        assert list(db.causes_of(connection)["ada"]) == [(0, 0, "secret words of 2")]
        with pytest.raises(StudyError, match="no rater 'r1'; it has r2"):
            find(db.raters_of(connection), "r1")
    assert len(people(store, 1)) == 1  # the items are wanted again


def test_a_later_change_wins_and_an_older_one_changes_nothing(make: Callable[..., Store], people: Any) -> None:
    store = make()
    people(store, 1)
    with store.writing() as connection:
        assert db.save(connection, 1, 0, Response(("new",), (False,), 2.0, True, 2))
        assert not db.save(connection, 1, 0, Response(("old",), (False,), 1.0, False, 1))
        assert not db.save(connection, 1, 0, Response(("again",), (False,), 1.0, False, 2))
        place = db.place_of(connection, 1, 0)
    assert place is not None and place.response == Response(("new",), (False,), 2.0, True, 2)


def test_the_database_itself_lets_nobody_see_an_item_twice(make: Callable[..., Store], people: Any) -> None:
    store = make()
    people(store, 1)
    statement = (
        "INSERT INTO steps (rater, number, kind, item, condition, turn, word) VALUES (1, 99, 'item', ?, 0, 9, '')"
    )
    with pytest.raises(StudyError, match="UNIQUE"), store.writing() as connection:
        connection.execute(statement, (0,))
    with store.reading() as connection:
        assert db.place_of(connection, 1, 99) is None


def test_a_full_disk_is_said(make: Callable[..., Store], people: Any) -> None:
    store = make()
    people(store, 1)
    with pytest.raises(OSError, match="disk is full"), store.writing() as connection:
        connection.execute("PRAGMA max_page_count = 1")
        db.save(connection, 1, 0, Response(("x" * 5_000_000,), (False,), 2.0, True, 1))
    with store.writing() as connection:
        place = db.place_of(connection, 1, 0)
    assert place is not None and place.response is None


def test_a_connection_is_used_again_after_a_refusal(make: Callable[..., Store]) -> None:
    store = make()
    with store.reading() as connection:
        first = connection
    for _ in range(3):
        with pytest.raises(KeyError), store.writing() as connection:
            connection.execute("INSERT INTO consents VALUES ('1', 'x')")
            raise KeyError
    with store.reading() as connection:
        assert connection is first and connection.execute("SELECT count(*) FROM consents").fetchone()[0] == 0


def test_a_study_of_another_version_is_refused(make: Callable[..., Store]) -> None:
    store = make()
    with store.writing() as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StudyError, match="of another version"):
        Store(store.folder)


def test_options_are_kept(make: Callable[..., Store]) -> None:
    store = make(seed=7, pause=9)
    connection = sqlite3.connect(store.folder / FILE)
    value = json.loads(connection.execute("SELECT value FROM frozen").fetchone()[0])
    connection.close()
    assert StudyOptions(**value["options"]) == StudyOptions(limit=6, training=2, seed=7, pause=9)
    with pytest.raises(StudyError, match="is not a study"):
        Store(store.folder / "nothing")
