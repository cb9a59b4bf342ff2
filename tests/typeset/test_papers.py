"""Paper and print: every kind is drawn, documented and in the gallery; datasets say what they are printed on."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.pages import Page, Run, succeed
from vcrgen.builder.options import BuildConfig
from vcrgen.builder.run import build
from vcrgen.builder.transform import VCRTransform
from vcrgen.core.errors import ConfigError
from vcrgen.data.manifest import read_manifest
from vcrgen.samples import sample_pair
from vcrgen.typeset.paper_kinds import BLACK, PAPER_KINDS, PLAIN, PaperKind, contrast, read_colour
from vcrgen.typeset.papers import print_strip

PAIR = sample_pair("en", 3)
EXAMPLE = {"image": PAIR.image, "caption": PAIR.caption}
STEPS = np.arange(256, dtype=np.uint8)[None, :].repeat(40, axis=0)  # every brightness


@pytest.mark.parametrize("kind", PAPER_KINDS.values(), ids=list(PAPER_KINDS))
def test_a_row(kind: PaperKind) -> None:
    assert BuildConfig(paper=kind.name).paper == kind.name
    picture = f"![paper-{kind.name}](gallery/paper-{kind.name}.png)"
    assert f"**`{kind.name}`**: {kind.description}\n\n{picture}\n" in Page("docs/covers.md").text
    assert contrast(kind.colour, BLACK) > 12


@pytest.mark.parametrize("name", PAPER_KINDS)
def test_print_goes_from_paper_to_ink(name: str) -> None:
    printed = print_strip(STEPS, name, "1f3a6e", seed=5).astype(int)
    assert (printed[:, 0] == read_colour("1f3a6e")).all(), "full ink is the ink's colour on any paper"
    paper = np.array(read_colour(PAPER_KINDS[name].colour))
    assert (printed[:, 255] <= paper).all() and (printed[:, 255] > 0.7 * paper).all()
    assert (np.diff(printed.sum(axis=(0, 2))[::32]) > 0).all(), "darker print is darker"
    again, other = (print_strip(STEPS, name, "1f3a6e", seed=seed) for seed in (5, 6))
    assert (printed == again).all() and (printed == other).all() == (not PAPER_KINDS[name].draw)


def test_the_paper_is_behind_the_text_and_covers_keep_their_own_shade() -> None:
    plain, printed = (
        VCRTransform(cover="bars", mode="hard", **more)(EXAMPLE)
        for more in ({}, {"paper": "laid", "ink_colour": "#5A2A12"})
    )
    for column in ("caption", "spans", "strip_y"):
        assert printed[column] == plain[column]
    assert printed["image"].tobytes() == plain["image"].tobytes()
    mask = np.asarray(plain["cover_mask"]) > 0
    gray, colour = (np.asarray(row["stacked_image"]) for row in (plain, printed))
    assert (gray[mask] == colour[mask]).all(), "a hidden pixel shows neither text nor paper"
    top = plain["strip_y"]
    assert (gray[:top] == colour[:top]).all()
    letters = ~mask[top:] & (gray[top:] == 0).all(axis=2)
    assert letters.any() and (colour[top:][letters] == read_colour("5a2a12")).all()
    blank = ~mask[top:] & (gray[top:] == 255).all(axis=2)
    assert (colour[top:][blank] <= read_colour(PAPER_KINDS["laid"].colour)).all()


def test_black_on_white_is_what_it_was() -> None:
    plain, named = (VCRTransform(**more)(EXAMPLE) for more in ({}, {"paper": PLAIN, "ink_colour": "#000000"}))
    assert plain["stacked_image"].tobytes() == named["stacked_image"].tobytes()
    assert BuildConfig(paper=PLAIN, ink_colour=BLACK).content_hash() == BuildConfig().content_hash()


def test_white_rows_have_distractors_on_paper_that_is_not_white() -> None:
    pairs = [sample_pair("en", number) for number in range(5)]
    on_paper = dict.fromkeys((PLAIN, "cream"), 0)
    for paper in on_paper:
        transform = VCRTransform(paper=paper, distractors=4)
        for row in (transform({"image": pair.image, "caption": pair.caption}) for pair in pairs):
            on_paper[paper] += sum(box["y0"] >= row["strip_y"] for box in row["distractors"])
    assert on_paper[PLAIN] == 0 < on_paper["cream"]


def test_a_dataset_says_how_it_is_printed_and_the_template_baseline_refuses_it(run: Run, tmp_path: Path) -> None:
    for name, more in (("plain", {}), ("blue", {"ink_colour": "1f3a6e"}), ("laid", {"paper": "laid"})):
        build("samples:3", out=tmp_path / name, mode="hard", **more)
    signatures = {name: read_manifest(tmp_path / name).signature for name in ("plain", "blue", "laid")}
    assert "print" not in signatures["plain"].facts
    assert signatures["blue"].facts["print"] == "white,1f3a6e" and signatures["laid"].facts["print"] == "laid,000000"
    assert "printed on `laid` paper in the colour `000000`" in (tmp_path / "laid" / "README.md").read_text("utf-8")
    first, second = (pq.read_table(tmp_path / "laid" / "hard", columns=["stacked_image"]) for _ in range(2))
    assert first == second
    code, _, err = run("baseline", "template", tmp_path / "laid", "--out", tmp_path / "out.jsonl")
    assert code == 2 and "print of the colour 000000 on laid paper" in " ".join(err.split())
    assert not (tmp_path / "out.jsonl").exists()
    succeed(run, f"vcrgen baseline template {tmp_path / 'plain'} --limit 1 --out {tmp_path / 'out.jsonl'}")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"paper": "mud"}, "unknown paper 'mud'; known: white, cream"),
        ({"ink_colour": "blue"}, "'blue' is no colour; give red, green and blue in hex, as 1f3a6e"),
        ({"ink_colour": "#12345" + "6" * 99}, "is no colour"),
        ({"ink_colour": "ffffff"}, "a contrast of 1.0 on white paper, at least 4.5 is needed"),
        ({"ink_colour": "7a7a7a", "paper": "newsprint"}, "on newsprint paper"),
    ],
)
def test_a_wrong_print_is_a_sentence(options: dict[str, str], problem: str) -> None:
    with pytest.raises(ConfigError) as error:
        BuildConfig(**options)
    assert problem in str(error.value) and len(str(error.value)) < 200


def test_contrast_is_that_of_the_guidelines() -> None:
    assert contrast("ffffff", "000000") == pytest.approx(21)
    assert contrast("777777", "ffffff") == pytest.approx(4.48, abs=0.01)  # the best known pair that fails
    assert contrast("1f3a6e", "1f3a6e") == 1
