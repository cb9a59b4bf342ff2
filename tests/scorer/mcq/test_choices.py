"""The option that an output chooses: a table of cases, the published rule written twice, and what always holds."""

import random
import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vcrgen.core.errors import ScoreError
from vcrgen.data.tasks.bloom import shown_option
from vcrgen.scorer.mcq.choices import OPEN, PUBLISHED, Reading, ReadingKind, choice_place, read_choice
from vcrgen.scorer.reader import read_output

ANIMALS = ("a cat", "a dog", "a horse", "a cow")
ARABIC = ("قِطّة", "كلب", "حصان كبير", "بقرة")
COUNTS = ("2", "3", "4", "10")
LETTERS = ("D", "B", "E", "F")
A, B, C, D = range(4)
AMBIGUOUS, INVALID, REFUSED, EMPTY = (
    *(ReadingKind.AMBIGUOUS, ReadingKind.INVALID),
    *(ReadingKind.REFUSED, ReadingKind.EMPTY),
)

CASES: list[tuple[tuple[str, ...], str, int | ReadingKind]] = [
    # A label alone, in many dresses.
    (ANIMALS, "B", B),
    (ANIMALS, " b\n", B),
    (ANIMALS, "(C)", C),
    (ANIMALS, "D.", D),
    (ANIMALS, "**A**", A),
    (ANIMALS, "`c`", C),
    (ANIMALS, "３", C),
    (ANIMALS, "Ⓑ", B),
    (ANIMALS, "2)", B),
    (ANIMALS, "٢", B),
    (ANIMALS, "۴", D),
    (ARABIC, "ب", B),
    (ARABIC, "(ج)", C),
    (ARABIC, "أ.", A),
    (ARABIC, "\u200fد\u200f", D),
    (ANIMALS, "Option C", C),
    (ARABIC, "الخيار ب", B),
    # Declared answers: the last one wins, whatever else is said.
    (ANIMALS, "The answer is (b).", B),
    (ANIMALS, "The answer is A", A),
    (ANIMALS, "Answer: A. It has whiskers, so B and C are out.", A),
    (ANIMALS, "Answer: C\nOn second thought, the final answer is D.", D),
    (ANIMALS, "A. a cat\nB. a dog\nC. a horse\nD. a cow\nAnswer: C", C),
    (ANIMALS, "The correct option is B because A has no tail", B),
    (ANIMALS, "B is correct, because A is too dark and C has no tail", B),
    (ANIMALS, "A is wrong. D is the right answer, and not C.", D),
    (ANIMALS, "B is not correct, C may be", AMBIGUOUS),
    (ANIMALS, "Among A, B, C and D, the best is B.", AMBIGUOUS),
    (ARABIC, "الخيار الصحيح هو ب", B),
    (ARABIC, "ب هي الإجابة الصحيحة، أما (ج) فلا", B),
    (ANIMALS, r"So $\boxed{\text{D}}$", D),
    (ANIMALS, '{"answer": "D"}', D),
    (ANIMALS, "<answer>b</answer>", B),
    (ANIMALS, "The answer is a dog.", B),
    (ANIMALS, "The answer is: the dog", B),
    (ANIMALS, "<think>The answer is A.</think>The answer is B.", B),
    (ARABIC, "الإجابة الصحيحة هي: ب", B),
    (ARABIC, "والجواب هو (ج)", C),
    (ARABIC, "الإجابة: ٤", D),
    (ANIMALS, "答案是B", B),
    (ANIMALS, "Respuesta: C", C),
    (ANIMALS, "Answer: A or B", AMBIGUOUS),
    (ANIMALS, "Answer: A, C", AMBIGUOUS),
    (ANIMALS, "Answer: B (a horse)", AMBIGUOUS),
    (ANIMALS, "Answer: B. A horse is not in it.", B),
    (ANIMALS, "The answer is not B. It is C.", AMBIGUOUS),
    # A line that says nothing else.
    (ANIMALS, "B\n\nThe others do not fit.", B),
    (ANIMALS, "I compare A with C first.\nC. a horse", C),
    (ANIMALS, "A. a cat\nB. a dog\nC. a horse\nD. a cow", AMBIGUOUS),
    (ANIMALS, "B. a horse", AMBIGUOUS),
    # The text of an option, word for word.
    (ANIMALS, "A dog", B),
    (ANIMALS, "It is A COW!", D),
    (ARABIC, "قطة", A),
    (ARABIC, "أرى حصان كبير هنا", C),
    (ANIMALS, "It is a horse, not a cow.", AMBIGUOUS),
    (ANIMALS, "a cat or a dog", AMBIGUOUS),
    (ANIMALS, "a category", INVALID),
    (ANIMALS, "Cow", D),
    (COUNTS, "3", B),
    (COUNTS, "1", INVALID),
    (COUNTS, "There are 4 of them.", C),
    (LETTERS, "D", D),
    (LETTERS, "E", C),
    # Labels in running text.
    (ANIMALS, "I think B", B),
    (ANIMALS, "I think A is right", A),
    (ANIMALS, "A small animal", INVALID),
    (ANIMALS, "A glass is on the table.", INVALID),
    (ANIMALS, "A bus is in the street.", INVALID),
    (ANIMALS, "There are 3 of them", INVALID),
    (ANIMALS, "It may be 3), I guess", INVALID),
    (ANIMALS, "1) I look. 2) I see a cow.", D),
    (ANIMALS, "Both A and B", AMBIGUOUS),
    (ANIMALS, "It isn't B", INVALID),
    (ANIMALS, "Answer", INVALID),
    (ANIMALS, "Bread and D'Artagnan, a B-52", INVALID),
    (ANIMALS, "E", INVALID),
    # What real outputs asked for.
    (ANIMALS, "The animal resembles B.\nAnswer: N/A", INVALID),
    (ANIMALS, "Option B resembles it, but it is not exact. Answer: None of the above", INVALID),
    (ANIMALS, "It is option B. Answer: E", INVALID),
    (ANIMALS, "B\nAnswer: 5.2 cm", INVALID),
    (ANIMALS, "It shows a dog.\nAnswer: seven", INVALID),
    (ANIMALS, "Answer: none. Wait, the final answer is C", C),
    (ANIMALS, "Answer: $D", D),
    (ANIMALS, "Answer: $(C)$", C),
    (ANIMALS, "**Answer: (A) a cat**", A),
    (ANIMALS, "Answer: A (since it matches best)", A),
    (ANIMALS, "The correct answer is:\n\n**B. a dog**", B),
    (ANIMALS, "I\u2019d go with option c, as it has a mane", C),
    (ANIMALS, "\\boxed{x = 3}\nAnswer: B", B),
    (ANIMALS, "B<|im_end|>", B),
    (ANIMALS, "<|channel|>analysis<|message|>A or C<|end|><|start|>assistant<|channel|>final<|message|>D<|return|>", D),
    (ANIMALS, '{"explanation": "not A", "selected_option": "C"}', C),
    (("D", "C", "A", "B"), "B. C", B),
    (("D", "C", "A", "B"), "B", B),
    (("(c)", "(a)", "(d)", "(b)"), "Answer: (B)", B),
    (("x", "H", "$y=\\cos 3\\pi x$", "$y=\\sin 3\\pi x$"), "C. $y=\\cos 3\\pi x$", C),
    (("$1,000", "-$1,000", "$500", "-$500"), "Answer: (B) -$1,000", B),
    (COUNTS, "Answer: 2", A),
    (COUNTS, "option number 2", B),
    (ANIMALS, "A. a cat", A),
    (ANIMALS, "Answer: A and B", AMBIGUOUS),
    (ANIMALS, "$$$$$$$$$$$$$$$$$$$$$$$$$$$$ x. It is not a dog. Nothing else is clear here.", INVALID),
    (ANIMALS, "It is a dog. There is no other one.", B),
    # Declarations in other languages.
    (ANIMALS, "La respuesta correcta es (C)", C),
    (ANIMALS, "La réponse est D.", D),
    (ANIMALS, "Die richtige Antwort lautet: B", B),
    (ANIMALS, "正确答案是：C。", C),
    (ANIMALS, "故选B", B),
    # Nothing, or a refusal.
    (ANIMALS, "", EMPTY),
    (ANIMALS, " \n\t", EMPTY),
    (ANIMALS, "<think>B</think>", EMPTY),
    (ANIMALS, "I'm sorry, I can't see it.", REFUSED),
    (ANIMALS, "Sorry for the delay: B", B),
    (ARABIC, "لا أستطيع رؤية الصورة", REFUSED),
]


@pytest.mark.parametrize(("options", "output", "expected"), CASES)
def test_the_table(options: tuple[str, ...], output: str, expected: int | ReadingKind) -> None:
    right = Reading(None, expected) if isinstance(expected, ReadingKind) else Reading(expected, ReadingKind.CHOSEN)
    assert read_choice(output, options) == right


@pytest.mark.parametrize("rotation", range(4))
def test_labels_stand_beside_rotated_options_and_texts_do_not_move(rotation: int) -> None:
    shown = [shown_option(label, rotation, 4) for label in range(4)]
    assert sorted(shown) == [0, 1, 2, 3] and shown[0] == rotation
    for label, letter in enumerate("ABCD"):
        for output in (letter, f"Answer: {letter}", f"{letter}.", str(label + 1)):
            assert read_choice(output, ANIMALS, rotation=rotation).choice == shown[label]
        assert read_choice(str(label + 1), ANIMALS, rotation=rotation, protocol=PUBLISHED).choice == shown[label]
        agree = f"{letter}. {ANIMALS[shown[label]]}"
        assert read_choice(agree, ANIMALS, rotation=rotation).choice == shown[label]
    assert read_choice("a dog", ANIMALS, rotation=rotation).choice == 1


def second_writing(output: str) -> int | None:
    """The published rule from its description: all characters 1 to 4; exactly one is the option, else none."""
    seen = [character for character in output if character in "1234"]
    return None if len(seen) != 1 else "1234".index(seen[0])


def test_the_published_rule_is_that_of_a_second_writing() -> None:
    draws = random.Random(7)
    pieces = ["1", "2", "3", "4", "5", "A", "b)", " ", "\n", "٣", "۲", "³", "Answer: ", "option 2", "12", "", "ب", "④"]
    found = []
    for _ in range(10_000):
        output = "".join(draws.choices(pieces, k=draws.randrange(6)))
        reading = read_choice(output, ANIMALS, protocol=PUBLISHED)
        assert reading.choice == second_writing(output), output
        assert (reading.kind == ReadingKind.CHOSEN) == (reading.choice is not None)
        found.append(reading.kind)
    assert min(map(found.count, set(found))) > 100 and len(set(found)) == 4


def test_the_published_rule_knows_no_letters_no_text_and_no_thinking() -> None:
    for output in ("B", "a dog", "٢", "<think>1</think>2", "Answer: 2 (of 4)"):
        assert read_choice(output, ANIMALS, protocol=PUBLISHED).choice is None
    assert read_choice("In 5 words: option 2", ANIMALS, protocol=PUBLISHED).choice == B


def test_another_protocol_is_refused() -> None:
    with pytest.raises(ScoreError, match="Unknown protocol 'paper' of MCQ benchmarks; known: bloom-v5, bloom-code"):
        read_choice("B", ANIMALS, protocol="paper")


@pytest.mark.sweep
@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60), st.lists(st.text(max_size=12), min_size=4, max_size=4), st.integers(0, 3))
def test_whatever_is_said_something_is_read(output: str, options: list[str], rotation: int) -> None:
    reading = read_choice(output, options, rotation=rotation)
    assert (reading.kind == ReadingKind.CHOSEN) == (reading.choice in range(4))
    assert (reading.kind == ReadingKind.EMPTY) <= (not read_output(output).text.strip())


WORDS = st.sampled_from(
    ["Answer:", "the answer is", "A", "B", "c", "2", "or", "not", "a dog", ",", "\n", "is", "x", "("]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, max_size=8), st.sampled_from("ABCD"))
def test_a_last_declared_answer_wins_over_anything(before: list[str], letter: str) -> None:
    output = f"{' '.join(before)}\nxyz\nFinal answer: {letter}"
    assert read_choice(output, ANIMALS).choice == "ABCD".index(letter)
    assert choice_place(output, ANIMALS, "ABCD".index(letter)) == (len(output) - 1, len(output))


@settings(max_examples=100, deadline=None)
@given(st.permutations(ANIMALS), st.sampled_from("ABCD"), st.sampled_from(["{}", "{}.", "({})", "Answer: {}", "{})"]))
def test_a_label_means_its_place_whatever_the_options_are(options: list[str], letter: str, form: str) -> None:
    assert read_choice(form.format(letter), options).choice == "ABCD".index(letter)


@pytest.mark.parametrize("piece", ["A", "answer ", "A, ", "(", "not ", "a dog ", "answer: A or ", "\\boxed{", "<", "ﷺ"])
def test_an_endless_output_takes_no_endless_time(piece: str) -> None:
    assert read_choice(piece * (50_000 // len(piece)), ANIMALS).kind in set(ReadingKind)
    choice_place(piece * (50_000 // len(piece)), ANIMALS, 0)


@pytest.mark.parametrize(
    "output",
    [
        " (<b>). ",
        "A is a cat.\nB seems right.\nAnswer: <B>) a dog\nThanks",
        "I see <a dog> here",
        "<think>A or C</think>\n**Answer:** \\boxed{<B>}",
        "the  option \t <B>   because",
        '{"answer": "<B>"}',
        "<Ｂ>",
        "Caf\u00e9\u2028答案是<Ｂ>。",
        "الإجابة: <ب>",
        "The final answer is <A  DOG>.",
    ],
)
def test_what_was_read_has_its_place(output: str) -> None:
    before, marked, after = re.split("<(?!/?think)|(?<!think)>", output)
    plain = before + marked + after
    choice = read_choice(plain, ANIMALS).choice
    assert choice == 1 and choice_place(plain, ANIMALS, choice) == (len(before), len(before + marked))


def test_places_under_other_rules() -> None:
    assert choice_place("option 3, I think", ANIMALS, 2, protocol=PUBLISHED) == (7, 8)
    assert choice_place("It is  A Dog.", ANIMALS, 1, protocol=OPEN) == (7, 12)
    assert choice_place("D", ANIMALS, 0, rotation=1) == (0, 1)
    assert choice_place("e\u0301 Answer: B", ANIMALS, 1) is None  # two characters that are read as one


def test_two_declared_options_are_ambiguous_however_they_are_joined() -> None:
    for (first, second), joint in product([("A", "B"), ("b", "D"), ("1", "3")], [" or ", " and ", ", ", "/", " & "]):
        assert read_choice(f"Answer: {first}{joint}{second}", ANIMALS).kind == ReadingKind.AMBIGUOUS


def test_nobody_gains_by_declaring_none_of_the_options() -> None:
    """300 outputs that ended so were read as "B" for the word before it: a quarter was right."""
    output = "Option B resembles it, but it is not exact. Answer: None of the above"
    assert {read_choice(output, options).choice for options in (ANIMALS, ARABIC, COUNTS, LETTERS)} == {None}
