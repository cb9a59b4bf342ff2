"""Every fault of an item that can be told without a model."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from vcrgen.bloom import checks
from vcrgen.bloom.checks import RawItem, complete_questions, find_problems, in_script, mixes_scripts
from vcrgen.text.languages import LANGUAGES
from vcrgen.text.lexicons import read_lexicon

EN, AR = ("How many boats are there?", ["1 boat", "2 boats", "3 boats", "4 boats"]), ("كم عدد القوارب؟", list("١٢٣٤"))


def found(en: Any = EN, ar: Any = AR, answer: str = "B", trap: str = "C", path: str | None = "a/b/c") -> list[str]:
    questions: Mapping[str, tuple[str, Sequence[str]]] = {"en": en, "ar": ar}
    raw = RawItem(question_id="x", path=path, questions=questions, answer=answer, trap=trap)
    return [fault.value for fault, _ in find_problems(raw)]


def changed(stem: str = "", **options: str) -> tuple[str, list[str]]:
    return stem or EN[0], [options.get(letter, option) for letter, option in zip("ABCD", EN[1], strict=True)]


def test_a_good_item_has_none() -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"path": None}, "unknown_category"),
        ({"answer": "E"}, "bad_key"),
        ({"trap": "B"}, "bad_trap"),
        ({"en": (EN[0], EN[1][:1])}, "number_of_options"),
        ({"en": changed(A="2 BOATS ")}, "equal_options"),
        ({"en": changed(A="２ boats")}, "equal_options"),  # full-width, the same in NFKC
        ({"en": changed("x" * 4001)}, "too_long"),
        ({"en": changed(A="x" * 2001)}, "too_long"),
        ({"en": changed("How\u202e many?")}, "control_character"),
        ({"ar": (f"\u200f{AR[0]}", AR[1])}, "control_character"),
        ({"en": changed("<script>alert(1)</script> How many?")}, "markup"),
        ({"en": changed(C="3 &amp; 4 boats")}, "markup"),
        ({"ar": ("How many boats are there?", AR[1])}, "wrong_script"),
        ({"ar": (AR[0], EN[1])}, "wrong_script"),
        ({"ar": (AR[0], list("١٢٣٥"))}, "numbers_differ"),
        ({"ar": ("كم عدد القوارب الـ ٧؟", AR[1])}, "numbers_differ"),
        ({"en": changed("Which of the following is true?")}, "points_at_options"),
    ],
)
def test_each_fault_has_its_name(changes: dict[str, Any], fault: str) -> None:
    assert found(**changes)[0] == fault


@pytest.mark.parametrize(
    ("lang", "pointing", "plain"),
    [
        ("en", "Which of the following is red?", "What follows the red boat?"),
        ("es", "¿Cuál de las siguientes frases es cierta?", "¿Quién sigue al barco rojo?"),
        ("pt", "Qual das alternativas abaixo é certa?", "Quem segue o barco vermelho?"),
        ("fr", "Laquelle des propositions suivantes est vraie ?", "Qui suit le bateau rouge ?"),
        ("de", "Welche der folgenden Aussagen ist wahr?", "Wer folgt dem roten Boot?"),
        ("ru", "Что из перечисленного верно?", "Кто следует за лодкой?"),
        ("ar", "أي مما يلي صحيح؟", "ما لون القارب؟"),
        ("hi", "निम्नलिखित में से कौन सा सही है?", "नाव का रंग क्या है?"),
        ("zh", "下列哪一项是对的？", "船是什么颜色？"),
        ("ja", "次のうち正しいものはどれですか。", "船は何色ですか。"),
        ("ko", "다음 중 옳은 것은?", "배는 무슨 색입니까?"),
    ],
)
def test_a_question_points_at_its_options_in_each_language(lang: str, pointing: str, plain: str) -> None:
    def found_in(stem: str) -> list[str]:
        raw = RawItem(question_id="a", path="x/y/z", questions={lang: (stem, ["1", "2", "3", "4"])}, answer="A")
        return [fault.value for fault, _ in find_problems(raw)]

    assert found_in(pointing) == ["points_at_options"] and found_in(plain) == []


@pytest.mark.parametrize(
    ("lang", "plain", "mixed"),
    [
        ("en", "Is 5 < 6, Zoë? ¡Sí!", "a лодка"),
        ("ar", "كم عدد القوارب؟ ١٢ 34 «!»", "ما هذا؟ K"),
        ("ru", "Где лодка №5?", "Где nодка?"),
        ("zh", "船是什么颜色？", "船是 red 吗？"),
        ("ja", "小舟のロープは何色？", "小舟は red ですか。"),
        ("fa", "قایق کجاست؟", "قایق a"),
        ("en", "a\u0301 boat", "a \U0001d41boat"),
    ],
)
def test_letters_of_another_script_are_seen(lang: str, plain: str, mixed: str) -> None:
    assert mixes_scripts(lang, mixed) and not mixes_scripts(lang, plain)
    assert in_script(lang, plain) and not mixes_scripts("xx", mixed)


@pytest.mark.parametrize(
    ("lang", "stem", "options", "fault"),
    [
        ("ja", "車両の右側の建物の屋根は何色？", ["茶色", "灰色", "オレンジ", "黒"], []),
        ("ja", "3 + 4 = ?", ["5", "6", "7", "8"], []),
        ("ja", "右侧建筑物的屋顶是什么颜色？", ["棕色", "灰色", "橙色", "黑色"], ["wrong_script"]),
        ("ja", "What colour is the roof?", ["brown", "grey", "orange", "black"], ["wrong_script"]),
        ("zh", "右侧建筑物的屋顶是什么颜色？", ["棕色", "灰色", "橙色", "黑色"], []),
        ("zh", "みぎのやねはなにいろですか？", ["ちゃいろ", "はいいろ", "オレンジ", "くろ"], ["wrong_script"]),
        ("ko", "오른쪽 건물의 지붕은 무슨 색입니까?", ["갈색", "회색", "주황색", "검은색"], []),
    ],
)
def test_a_language_may_have_several_scripts(lang: str, stem: str, options: list[str], fault: list[str]) -> None:
    raw = RawItem(question_id="a", path="x/y/z", questions={lang: (stem, options)}, answer="A")
    assert [found.value for found, _ in find_problems(raw)] == fault


@pytest.mark.parametrize("lang", [lang for lang in LANGUAGES if read_lexicon(lang, "pointing")])
def test_a_list_of_words_that_point_at_options_has_some(lang: str) -> None:
    assert len(read_lexicon(lang, "pointing")) >= 4


def test_in_a_language_without_that_list_no_question_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "read_lexicon", lambda lang, name: [])
    checks._pointing.cache_clear()
    assert found() == []
    checks._pointing.cache_clear()


@pytest.mark.parametrize(
    "changes",
    [
        {"en": changed("Is 5 < 6 and a<b?"), "ar": ("هل ٥ < ٦ و a<b؟ ما رأيك؟", AR[1])},  # no markup
        {"en": changed("How many\nboats?")},
        {"en": changed(A="1 boat <b", B="2 boats> c")},  # no markup in either
        {"ar": (AR[0], ["واحد", "اثنان", "ثلاثة", "أربعة"])},  # numbers in words
        {"ar": ("كم سعر iPhone في الصورة؟", AR[1])},
        {"en": changed("The dog is following a cat. Where?")},
        {"trap": ""},
    ],
)
def test_what_is_no_fault(changes: dict[str, Any]) -> None:
    assert found(**changes) == []


def test_an_item_counts_where_it_is_complete() -> None:
    raw = RawItem(question_id="x", path="a", questions={"en": EN, "ar": ("", AR[1])}, answer="A")
    assert list(complete_questions(raw)) == ["en"] and list(find_problems(raw)) == []
    assert found(en=("", EN[1]), ar=(AR[0], ["", "", "", ""])) == ["incomplete"]
