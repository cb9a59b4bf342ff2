"""People choose options of an MCQ benchmark: who is asked what, the page, and what the report says."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.bloom.conftest import made_set, row
from tests.study.conftest import look, table_of
from tests.study.test_browser import ENTER, SPACE, Person, person  # noqa: F401 - fixtures
from tests.study.test_service import Client
from vcrgen.builder.options import BuildConfig
from vcrgen.core.errors import DatabaseError, StudyError
from vcrgen.data.tasks.bloom import LETTERS
from vcrgen.data.tasks.opening import open_task_dataset
from vcrgen.hidden.mcq import make_hidden_mcq
from vcrgen.hidden.options import HiddenOptions
from vcrgen.scorer.run import open_session
from vcrgen.study.assignment import StepKind
from vcrgen.study.creation import check_source
from vcrgen.study.exports import export
from vcrgen.study.grading import grade
from vcrgen.study.raters import invite, withdraw
from vcrgen.study.report import StudyReport, make_report
from vcrgen.study.service.app import make_app
from vcrgen.study.store.database import FILE, StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.items import read_items, read_picture
from vcrgen.study.store.raters import read_raters
from vcrgen.study.store.steps import read_steps

DOWN, RIGHT, TAB = "\ue015", "\ue014", "\ue004"
PEOPLE = "People, right answers by regex-based answer extraction (RAE) in percent"


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten questions in English and Arabic; three pictures."""
    return made_set(tmp_path_factory.mktemp("choices") / "set", [row(number) for number in range(10)])


@pytest.fixture
def make_mcq(make: Callable[..., StudyStore], questions: Path) -> Callable[..., StudyStore]:
    """Makes a study of the questions, or of ``data``."""

    def call(data: Path = questions, name: str = "study", **options: Any) -> StudyStore:
        return make(data, name, **{"raters": 2, "training": 1, "checks": 1, "repeats": 1} | options)

    return call


def test_everybody_is_asked_in_one_language(make_mcq: Callable[..., StudyStore]) -> None:
    store = make_mcq()
    invite(store, 3, "ar"), invite(store, 2, "en")
    with pytest.raises(StudyError, match="every item in 'en' is assigned to as many people"):
        invite(store, 1, "en")
    with pytest.raises(StudyError, match="asks nothing in 'zh'; choose --lang en or ar"):
        invite(store, 1, "zh")
    design, raters, places = look(store, read_design, read_raters, read_steps)
    languages = {rater.number: rater.lang for rater in raters}
    asked = [place for place in places if place.step.kind is not StepKind.CHECK]
    assert [condition.label for condition in design.conditions] == ["en, Image", "ar, Image"]
    assert all(design.conditions[each.step.condition].mode == languages[each.rater] for each in asked)
    items = [(each.rater, each.step.item) for each in asked if each.step.kind is StepKind.ITEM]
    assert len(set(items)) == len(items) == 6 * 2 * 2
    assert {each.step.kind for each in asked} == {StepKind.ITEM, StepKind.TRAINING, StepKind.REPEAT}


def test_only_items_that_are_complete_in_all_languages(make_mcq: Callable[..., StudyStore], tmp_path: Path) -> None:
    rows = [row(number, **({"question_ar": "", "options_ar": []} if number < 3 else {})) for number in range(8)]
    data = made_set(tmp_path / "set", rows)
    for lang, count in ((None, 5), ("en", 8), ("ar", 5)):
        store = make_mcq(data, f"study-{lang}", training=0, limit=100, **({"lang": lang} if lang else {}))
        with store.reading() as connection:
            assert read_design(connection).items == count


def test_what_cannot_be_a_study_of_questions(make_mcq: Callable[..., StudyStore], pairs: Path, questions: Path) -> None:
    for options, message in (
        ({"modes": "easy"}, "--modes is of VCR datasets"),
        ({"view": "tei"}, "--view tei is of VCR datasets; .* choose image or text-only or both"),
        ({"data": pairs, "view": "text-only"}, "--view text-only is of MCQ benchmarks"),
        ({"lang": "en,de"}, "has no items in 'de'; it has en, ar"),
        ({"training_data": str(pairs)}, "is data of another task"),
        ({"data": pairs, "lang": "en"}, "--lang is of MCQ benchmarks"),
    ):
        with pytest.raises(StudyError, match=message):
            make_mcq(**options)


def test_questions_without_their_pictures(make_mcq: Callable[..., StudyStore]) -> None:
    store = make_mcq(view="both", raters=1, lang="en", training=2, repeats=0, checks=0)
    with pytest.raises(StudyError, match=r"choose --lang en\.$"):
        invite(store, 1, "fr")
    clients = [Client(TestClient(make_app(store)), token) for token in invite(store, 2, "en")[0]]
    design, places = look(store, read_design, read_steps)
    assert [condition.label for condition in design.conditions] == ["en, Image", "en, Text only"]
    views: dict[int, set[int]] = {}
    for place in places:
        if place.step.kind is StepKind.ITEM:
            views.setdefault(place.step.item, set()).add(place.step.condition)
    assert all(each == {0, 1} for each in views.values()) and len(views) == design.items
    for number, client in enumerate(clients, start=1):
        client.begin()
        mine = [place for place in places if place.rater == number]
        shown = [client.step(place.number).json() for place in mine]
        assert ["picture" in step for step in shown] == [place.step.condition == 0 for place in mine]
        assert {place.step.condition for place in mine if place.step.kind is StepKind.TRAINING} == {0, 1}


def test_a_report_has_both_views(make_mcq: Callable[..., StudyStore], typing: Any) -> None:
    """With the picture all are right, without it nobody is."""
    store = make_mcq(view="both", raters=1, lang="en", repeats=0, checks=0)
    invite(store, 2, "en")
    items, places = look(store, read_items, read_steps)
    seen = {(place.rater, items[place.step.item].question_id) for place in places if place.step.condition == 0}
    typing(store, lambda rater, name, place, answer: answer if (rater, name) in seen else wrong_of(answer))
    rows = {texts[0]: texts[3] for texts in make_report(store).document.sections[0].tables[0].texts()}
    assert rows == {"en, Image": "100.00", "en, Text only": "0.00"}
    table = table_of(make_report(store), "People, Image \u2212 Text only, paired")
    assert table.heads == ("Asked in", "Questions", "Image", "Text only", "Image \u2212 Text only", "95 % interval")
    (texts,) = table.texts()
    assert texts[:5] == ["en", "6", "100.00", "0.00", "+100.00"] and texts[5].endswith(" to +100.00")
    for form in ("md", "csv", "latex", "html"):
        assert "Text only, paired" in make_report(store).render(form)
    lines = [json.loads(line) for line in export(store, "outputs").splitlines()]
    assert {line["view"] for line in lines} == {"image", "text-only"}


def pictures_of(store: StudyStore) -> list[tuple[int, int, bytes]]:
    with store.reading() as connection:
        places = connection.exec_driver_sql("SELECT item, condition FROM pictures ORDER BY item, condition")
        return [(item, condition, read_picture(connection, item, condition)) for item, condition in places]


def test_a_picture_is_kept_once(make_mcq: Callable[..., StudyStore]) -> None:
    """Seven items in two languages and two views share two pictures, none of which belongs to a blind question."""
    store = make_mcq(view="both")
    found = pictures_of(store)
    with store.reading() as connection:
        kept = connection.exec_driver_sql("SELECT count(*) FROM images").scalar()
    assert kept == 2 == len({png for _, _, png in found})
    assert [(item, condition) for item, condition, _ in found] == [(i, c) for i in range(7) for c in (0, 2)]


def test_a_study_of_another_version_is_refused(make_mcq: Callable[..., StudyStore]) -> None:
    store = make_mcq()
    with store.writing() as connection:
        connection.exec_driver_sql("UPDATE schema_version SET number = 2")
    with pytest.raises(DatabaseError, match="of another version of vcrgen"):
        StudyStore(store.folder)
    with store.writing() as connection:
        connection.exec_driver_sql("DROP TABLE schema_version")
    with pytest.raises(DatabaseError, match="is of another version of vcrgen, or no study"):
        StudyStore(store.folder)


def test_who_sees_no_picture_says_nothing_of_the_key(make_mcq: Callable[..., StudyStore], typing: Any) -> None:
    store = make_mcq(view="text-only", lang="en", repeats=0, checks=0)
    invite(store, 2, "en")
    typing(store, lambda rater, name, place, answer: wrong_of(answer))
    report = make_report(store)
    assert [texts[0] for texts in report.document.sections[0].tables[0].texts()] == ["en, Text only"]
    assert not report.suspects and "Answers that may be wrong" not in {
        table.title for table in report.document.sections[0].tables
    }


def test_a_set_that_changed_is_refused(make_mcq: Callable[..., StudyStore], tmp_path: Path) -> None:
    store = make_mcq()
    other = made_set(tmp_path / "other", [row(number, answer="D") for number in range(10)])
    design = look(store, read_design)
    check_source(design)
    with pytest.raises(StudyError, match="is not the dataset of this study any more"):
        check_source(design, str(other))


def walk(store: StudyStore, lang: str) -> tuple[bytes, Client]:
    """Everything that is sent to a rater but what training shows, without what links and moments change."""
    http = TestClient(make_app(store), raise_server_exceptions=False)
    client = Client(http, invite(store, 1, lang)[0][0])
    told = client.begin()
    sent = client.page().text.replace(client.token, "TOKEN")
    data = json.loads(sent.partition('id="data">')[2].partition("</script>")[0])
    sent = sent.replace(data["key"], "KEY")
    for number in range(len(told["done"])):
        step = client.step(number)
        training, check = step.json()["training"], step.json()["check"]
        if not check:  # whose number is that of the study's secret
            sent += step.text + str({name: value for name, value in step.headers.items() if name != "date"})
        assert "answers" not in step.json()
        finished_steps = client.answer(number, "0" if check else "B", training=training)
        assert finished_steps.status_code == 200 and ("answers" in finished_steps.json()) == training
        sent += "" if training else finished_steps.text
    return sent.encode(), client


def test_what_raters_are_sent_does_not_hang_on_the_key(make_mcq: Callable[..., StudyStore], tmp_path: Path) -> None:
    """Two sets that differ in nothing but their answers give the same bytes."""
    for lang in ("en", "ar"):
        sent = []
        for letter in "AD":
            rows = [row(number, answer=letter, trap="B", source=f"k{letter}") for number in range(8)]
            data = made_set(tmp_path / f"set-{lang}-{letter}", rows)
            store = make_mcq(data, f"study-{lang}-{letter}", raters=1)
            items = look(store, read_items)
            assert [item.answers for item in items if item.answers] == [(letter,)]
            sent.append(walk(store, lang)[0])
            assert f'"k{letter}"'.encode() not in (store.folder / FILE).read_bytes()
        assert sent[0] == sent[1]
        asked = "كم عدد القوارب" if lang == "ar" else "How many boats"
        assert json.dumps(asked)[1:-1].encode() in sent[0]


def test_pages_speak_the_language_of_the_questions(make_mcq: Callable[..., StudyStore]) -> None:
    store = make_mcq()
    page = walk(store, "ar")[0].decode()
    assert '<html lang="ar">' in page and '<main class="narrow" dir="rtl">' in page
    assert '<main class="narrow" dir="ltr">' in walk(store, "en")[0].decode()


def test_only_letters_are_answers(make_mcq: Callable[..., StudyStore]) -> None:
    _, client = walk(make_mcq(training=0, checks=0), "en")
    for text in ("E", "b", "AB", "one boat", "<script>", "x" * 10_000, "\u202e"):
        assert client.answer(0, text, revision=5).status_code == 400
    assert client.answer(0, "A", "B", revision=5).status_code == 400
    assert client.answer(0, "", revision=5).json()["unread"] == [True]
    assert client.answer(0, "C", revision=6).json()["texts"] == ["C"]
    assert client.answer(0, "A", revision=4).json()["texts"] == ["C"]


def test_training_names_the_right_option(make_mcq: Callable[..., StudyStore]) -> None:
    store = make_mcq()
    letter = look(store, read_items)[-1].answers
    client = Client(TestClient(make_app(store)), invite(store, 1, "en")[0][0])
    client.begin()
    ((named, right),) = client.answer(0, "A", training=True).json()["answers"]
    assert letter and named.startswith(f"{letter[0]}. ") and named.endswith("boats") and right is False
    client = Client(TestClient(make_app(store)), invite(store, 1, "ar")[0][0])
    client.begin()
    ((named, _),) = client.answer(0, "A", training=True).json()["answers"]
    assert named.startswith(f"\u200f{letter[0]}. ")


def wrong_of(answer: str) -> str:
    return LETTERS[(LETTERS.index(answer) + 1) % 4]


@pytest.fixture
def finished_steps(make_mcq: Callable[..., StudyStore], typing: Any) -> StudyStore:
    """r1 is right; r2 is wrong on the first item and cannot tell the second; all in Arabic are wrong on item 1."""
    store = make_mcq(repeats=0)
    invite(store, 2, "en"), invite(store, 2, "ar")

    def says(rater: int, question_id: str, place: int, answer: str) -> str:
        if question_id == "item-001":
            return wrong_of(answer)
        if rater == 2:
            return {"item-000": wrong_of(answer), "item-002": ""}.get(question_id, answer)
        return answer

    typing(store, says)
    return store


def test_report(finished_steps: StudyStore, questions: Path, tmp_path: Path) -> None:
    items = look(finished_steps, read_items)
    lines = [
        {"question_id": f"item-{number:03d}", "lang": lang, "output": "A"}
        for number in range(10)
        for lang in ("en", "ar")
    ]
    (tmp_path / "preds.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = make_report(finished_steps, compare=[tmp_path / "preds.jsonl"])
    tables = {table.title: table for table in report.document.sections[0].tables}
    assert sum(item.answers is None for item in items) == 6
    people = tables[PEOPLE]
    assert list(people.heads) == [
        "Language and view",
        "Questions",
        "Raters",
        "RAE",
        "sd",
        "95 % interval",
        "Filtered",
        "sd",
    ]
    rows = {texts[0]: texts[1:5] for texts in people.texts()}
    # en: 5 of 6 and 3 of 6 over two raters; ar: 5 of 6 twice.
    assert rows == {"en, Image": ["6", "2", "66.67", "23.57"], "ar, Image": ["6", "2", "83.33", "0.00"]}
    agreement = {texts[0]: texts[1:] for texts in tables["Agreement"].texts()}
    assert tables["Agreement"].heads[2:] == ("Same, %", "alpha options", "alpha right", "AC1 right")
    assert agreement["ar, Image"][:2] == ["6", "100.00"] and agreement["en, Image"][:2] == ["6", "66.67"]
    (is_outlier,) = tables["Answers that may be wrong"].texts()
    assert is_outlier[:3] == ["item-001", "B", "all agree on another"] and is_outlier[3:] == ["C", "4"]
    human_minus_model = {texts[0]: texts for texts in tables["People and preds"].texts()}
    assert human_minus_model["ar, Image"][1:4] == ["6", "83.33", "33.33"]
    for form in ("md", "csv", "latex", "html"):
        document = report.render(form)
        assert "typed" not in document and "span 1" not in document and "restores" not in document
    assert "item-" not in report.render("json")
    assert "guessing gives 25 %" in report.render("html")


def test_pictures_are_resampled(finished_steps: StudyStore) -> None:
    design, items, places = look(finished_steps, read_design, read_items, read_steps)
    graded = grade(check_source(design), items, places)
    assert {one.item for one in graded} == set(range(6)) and {one.cluster for one in graded} == {0, 1}


def test_outputs_are_scored_as_those_of_models(finished_steps: StudyStore, questions: Path, tmp_path: Path) -> None:
    from vcrgen.scorer.options import ScoreOptions

    for rater, lang, rae in (("r1", "en", 5), ("r2", "en", 3), ("r3", "ar", 5)):
        out = tmp_path / f"{rater}.jsonl"
        out.write_text(export(finished_steps, "outputs", rater), "utf-8")
        subset = tmp_path / "ids.txt"
        ids = [json.loads(line)["question_id"] for line in out.read_text("utf-8").splitlines()]
        subset.write_text("".join(f"{each}\n" for each in ids))
        (cell,) = open_session(questions, ScoreOptions(subset=str(subset))).score(out).cells
        assert cell.variant == lang and cell.metrics["rae"].value == pytest.approx(rae / 6)
    design = [json.loads(line) for line in export(finished_steps, "design").splitlines()]
    assert {line["lang"] for line in design if line["kind"] == "item"} == {"en", "ar"}


def test_the_page_of_doubts_shows_what_was_asked(
    make_mcq: Callable[..., StudyStore], typing: Any, tmp_path: Path
) -> None:
    """They had letters only: nobody could tell whether the item is at fault. Options are hostile here."""
    texts = {f"options_{lang}": [f"<b>{lang} {letter}</b>" for letter in LETTERS[:4]] for lang in ("en", "ar")}
    store = make_mcq(made_set(tmp_path / "set", [row(number, **texts) for number in range(6)]), repeats=0)
    invite(store, 2, "en"), invite(store, 2, "ar")
    typing(store, lambda rater, name, _, answer: {"item-000": "CBBB"[rater - 1], "item-001": "D"}.get(name, answer))
    stems = {"en": "How many boats?", "ar": "كم عدد القوارب؟"}
    page = make_report(store).render("html")
    article, other = page.split("<article>")[1:]
    assert "item-000" in article and "item-001" in other
    graded = {letter: re.findall(rf">{letter}</b>.*?</li>", article) for letter in LETTERS[:4]}
    assert "<b>en" not in page and article.count("data:image/png;base64,") == 1
    for number, (lang, dir) in enumerate((("en", "ltr"), ("ar", "rtl"))):
        assert f'lang="{lang}" dir="{dir}"' in article and stems[lang] in article
        said = {letter: line[number].partition("</i>")[0].rpartition(">")[2] for letter, line in graded.items()}
        assert all(f"&lt;b&gt;{lang} {letter}&lt;/b&gt;" in line[number] for letter, line in graded.items())
        assert said == {"A": "right", "B": "chosen", "C": "chosen", "D": ""}


def with_causes(store: StudyStore, tmp_path: Path, item: str) -> tuple[int, StudyReport]:
    """Return the number of errors, and the report where all of an item are names."""
    head, *errors = export(store, "errors").splitlines()
    file = tmp_path / "errors.csv"
    file.write_text("\n".join([head, *(line + "name" if item in line else line for line in errors)]), "utf-8")
    return len(errors), make_report(store, causes=file)


def test_causes(finished_steps: StudyStore, tmp_path: Path) -> None:
    errors, report = with_causes(finished_steps, tmp_path, "item-001")
    rows = {texts[0]: texts for texts in table_of(report, PEOPLE).texts()}
    assert errors == 2 and rows["ar, Image"][6] == "100.00"


def test_causes_are_of_what_was_seen(make_mcq: Callable[..., StudyStore], typing: Any, tmp_path: Path) -> None:
    """Everybody is wrong on two items in both ways, with the same letters: on each, one of two had no picture."""
    store = make_mcq(view="both", raters=1, lang="en", repeats=0, checks=0)
    invite(store, 2, "en")
    wrong = ("item-000", "item-001")
    typing(store, lambda rater, name, place, answer: wrong_of(answer) if name in wrong else answer)
    assert [line.split(",")[5] for line in export(store, "errors").splitlines()[1:]] == ["1", "1"]
    _, report = with_causes(store, tmp_path, "item-00")
    rows = {texts[0]: (texts[3], texts[6]) for texts in table_of(report, PEOPLE).texts()}
    assert rows == {"en, Image": ("66.67", "100.00"), "en, Text only": ("66.67", "66.67")}
    assert table_of(report, "Causes of errors").texts() == [["name or date", "2"], ["not typed", "0"]]


def test_without_pictures_there_are_no_causes(make_mcq: Callable[..., StudyStore], typing: Any, tmp_path: Path) -> None:
    store = make_mcq(view="text-only", lang="en", repeats=0, checks=0)
    invite(store, 2, "en")
    typing(store, lambda rater, name, place, answer: wrong_of(answer))
    with pytest.raises(StudyError, match="shows no pictures, so its errors have no causes"):
        export(store, "errors")
    with pytest.raises(StudyError, match="shows no pictures, so its errors have no causes"):
        make_report(store, causes=tmp_path / "errors.csv")
    assert not any("--causes" in note for note in make_report(store).document.limitations)


def test_a_hidden_question_set_by_its_key(
    make_mcq: Callable[..., StudyStore], questions: Path, tmp_path: Path, typing: Any
) -> None:
    options = HiddenOptions(config=BuildConfig(source=str(questions)), items=6, public_pictures=True)
    make_hidden_mcq(open_task_dataset(questions), options, out=tmp_path / "hidden", secret_file=tmp_path / "secret.key")
    store = make_mcq(tmp_path / "hidden")
    design, items = look(store, read_design, read_items)
    assert design.hidden and (design.items, design.training) == (6, 0) and not any(item.answers for item in items)
    invite(store, 2, "ar")
    typing(store)
    assert make_report(store).document.sections[0].tables[0].texts()[0][3] == "100.00"


def choose_all(visitor: Person, store: StudyStore) -> list[str]:
    """Answer every step by keys alone: 1 to 4 from the head, arrows within the group, and what cannot be told."""
    with store.reading() as connection:
        words = [place.step.word for place in read_steps(connection, 1)]
    for number, word in enumerate(words, start=1):
        visitor.at_step(number)
        if word:
            visitor.fill(word)
            continue
        visitor.wait("document.querySelectorAll('#fields [type=radio]').length === 5")
        if number == 1:
            visitor.tab_to("#next")
            visitor.keys(ENTER)  # nothing is chosen: it does not go on
            visitor.wait("!document.getElementById('fill').hidden && document.activeElement.type === 'radio'")
            visitor.keys(DOWN)
        elif number == 3:
            visitor.tab_to("#fields [type=radio]")
            visitor.keys(SPACE, DOWN, DOWN, DOWN, DOWN)  # the last one: cannot tell
        else:
            visitor.keys("3")
        visitor.keys(ENTER)
        if number == 1:
            visitor.told()
            visitor.wait("document.querySelector('fieldset:disabled')")
            visitor.keys(ENTER)
    visitor.at("end")
    with store.reading() as connection:
        places = read_steps(connection, 1)
    return [place.response.texts[0] if place.response else "-" for place in places]


@pytest.mark.browser
def test_a_hint_stands_where_the_picture_would(make_mcq: Callable[..., StudyStore], person: Any) -> None:  # noqa: F811
    store = make_mcq(view="both", lang="ar", training=2, checks=0, repeats=0)
    visitor = person(store)
    visitor.open(invite(store, 1, "ar")[0][0])
    visitor.begin()
    shown = []
    for number in (1, 2):
        visitor.at_step(number)
        visitor.wait("document.querySelectorAll('#fields [type=radio]').length === 5")
        shown.append([visitor.one(f"#{name}").is_displayed() for name in ("shown", "text-only")])
        visitor.keys("2", ENTER)
        visitor.told()
        visitor.keys(ENTER)
    assert sorted(shown) == [[False, True], [True, False]]


@pytest.mark.browser
def test_what_others_left_is_offered_at_the_end(make_mcq: Callable[..., StudyStore], person: Any, axe: str) -> None:  # noqa: F811
    store = make_mcq(limit=3, view="both", lang="ar", raters=1, training=0, checks=0, repeats=0)
    token = invite(store, 3, "ar")[0][0]
    second = look(store, read_raters)[1]
    withdraw(store, second)
    visitor = person(store)
    visitor.resize(360, 740, 2)
    visitor.open(token)
    visitor.begin()
    for number in (1, 2):
        visitor.at_step(number)
        visitor.wait("document.querySelectorAll('#fields [type=radio]').length === 5")
        visitor.keys("2", ENTER)
    visitor.at("end")
    visitor.wait("!document.getElementById('offer').hidden")
    assert visitor.wait("document.documentElement.scrollWidth") <= 360
    visitor.accessible(axe)
    visitor.press("#more")
    visitor.at_step(3)
    visitor.wait("document.querySelectorAll('#fields [type=radio]').length === 5")
    visitor.keys("3", ENTER)
    visitor.send()
    with store.reading() as connection:
        texts = [place.response.texts for place in read_steps(connection, 1) if place.response]
    assert texts == [("B",), ("B",), ("C",)]


@pytest.mark.parametrize("lang", ["en", "ar"])
@pytest.mark.browser
def test_choosing_by_keyboard(make_mcq: Callable[..., StudyStore], person: Any, lang: str) -> None:  # noqa: F811
    store = make_mcq(limit=4, raters=1, repeats=0)
    token = invite(store, 1, lang)[0][0]
    visitor = person(store)
    visitor.resize(360, 740, 2)
    visitor.open(token)
    visitor.begin("English")
    visitor.at_step(1)
    group = "document.querySelector('#fields fieldset')"
    visitor.wait(group)
    style = f"[getComputedStyle({group}).direction, getComputedStyle(document.querySelector('main')).direction]"
    assert visitor.wait(style) == ["rtl" if lang == "ar" else "ltr"] * 2
    assert visitor.wait("document.documentElement.scrollWidth") <= 360
    choose_all(visitor, store)
    visitor.press("#send")
    visitor.at("thanks")
    with store.reading() as connection:
        places = read_steps(connection, 1)
    assert all(place.response and place.response.done for place in places)
    given = [place.response.texts[0] for place in places if place.response and place.step.kind is not StepKind.CHECK]
    unread = [place.response.unread[0] for place in places if place.response]
    assert set(given[1:]) == {"C", ""} and given[0] in LETTERS[:4] and sum(unread) == 1


@pytest.mark.browser
def test_axe_finds_nothing(make_mcq: Callable[..., StudyStore], person: Any, axe: str) -> None:  # noqa: F811
    store = make_mcq(limit=4, raters=1, repeats=0, checks=0)
    visitor = person(store)
    for lang, width in (("en", 1200), ("ar", 360)):
        visitor.resize(width, 900)
        visitor.open(invite(store, 1, lang)[0][0])
        visitor.at("consent")
        visitor.accessible(axe)
        visitor.begin()
        visitor.at_step(1)
        visitor.wait("document.querySelector('#fields fieldset')")
        visitor.accessible(axe)
        visitor.keys("2", ENTER)
        visitor.told()
        visitor.wait("document.querySelector('fieldset:disabled')")
        visitor.accessible(axe)
        visitor.keys(ENTER)
        visitor.at_step(2)
        visitor.keys(ENTER)
        visitor.accessible(axe)
