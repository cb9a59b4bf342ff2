"""The search of a hidden set's pictures among known pairs."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from vcrgen.builder.options import load_build_config
from vcrgen.builder.sources import SampleSource, iter_items, open_source
from vcrgen.core.progress import ProgressListener
from vcrgen.hidden.probe import probe
from vcrgen.hidden.secret import load_secret

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def public_pairs(secret_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pairs that the sets of the tests are of, as somebody else keeps them: smaller, and as JPEG."""
    folder = tmp_path_factory.mktemp("pairs")
    config = load_build_config(None, {"source": "samples:40", "lang": "en"})
    source, lines = open_source(config), []
    assert isinstance(source, SampleSource)
    source = source.starting_at(load_secret(secret_file, create=False).number("samples"))
    for number, item in enumerate(iter_items(source, config, 0, 0, 40)):
        assert item.image is not None
        with Image.open(io.BytesIO(item.image)) as picture:
            picture.convert("RGB").resize((picture.width * 2 // 3, picture.height * 2 // 3)).save(
                folder / f"{number}.jpg", quality=70
            )
        lines.append({"file_name": f"{number}.jpg", "caption": item.caption})
    (folder / "metadata.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return folder


def found(run: Run, *words: Any) -> dict[str, tuple[int, int]]:
    code, out, err = run("hidden", "probe", *words, "--format", "json")
    assert code == 0, err
    table = json.loads(out)["tables"][0]
    return {row[1]: (row[2], row[3]) for row in table["rows"]}


def test_a_set_of_public_pairs_is_found(
    run: Run, small: Path, public_pairs: Path, answers: Callable[[Path], list[dict[str, Any]]], tmp_path: Path
) -> None:
    shares = found(run, small, "--against", public_pairs)
    texts = [text for answer in answers(small) for text in answer["crossed_text"]]
    assert shares == {"pictures": (len(answers(small)),) * 2, "answers": (len(texts),) * 2}
    page = tmp_path / "probe.html"
    code, out, err = run("hidden", "probe", small, "--against", public_pairs, "--out", page)
    assert code == 0, err
    count = f"{len(answers(small))} of {len(answers(small))} pictures and {len(texts)} of {len(texts)} answers found"
    assert count in " ".join(out.split()), "the outcome, beside the page"
    html = page.read_text("utf-8")
    assert html.count("data:image/jpeg") == 2 * len(answers(small)) and "has the captions" in html
    for text in texts:
        assert text.casefold() not in (html + out + err).casefold()


def test_any_caption_of_a_picture_gives_its_answers_away(
    run: Run, small: Path, public_pairs: Path, tmp_path: Path
) -> None:
    known = tmp_path / "known"
    shutil.copytree(public_pairs, known)
    lines = [json.loads(line) for line in (known / "metadata.jsonl").read_text("utf-8").splitlines()]
    several = [line | {"caption": ["Another caption of the picture.", line["caption"], "One more."]} for line in lines]
    (known / "metadata.jsonl").write_text("".join(json.dumps(line) + "\n" for line in several), "utf-8")
    assert found(run, small, "--against", known) == found(run, small, "--against", public_pairs)


def test_pictures_of_elsewhere_are_not_found(run: Run, small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    for number in range(20):
        noise = Image.effect_noise((90, 90), 80).convert("RGB")
        noise.save(folder / f"{number}.png")
    lines = [{"file_name": f"{number}.png", "caption": "A caption of something else."} for number in range(20)]
    (folder / "metadata.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    shares = found(run, small, "--against", folder)
    assert shares["pictures"][0] == shares["answers"][0] == 0
    (folder / "0.png").unlink()
    assert "1 picture of " in " ".join(run("hidden", "probe", small, "--against", folder)[1].split())
    result = probe(small, load_build_config(None, {"source": str(folder)}), ProgressListener())
    assert (result.pairs, result.unreadable, result.found) == (19, 1, 0)


def test_pairs_whose_pictures_are_elsewhere_are_no_all_clear(run: Run, small: Path, public_pairs: Path) -> None:
    lines = (json.loads(line) for line in (public_pairs / "metadata.jsonl").read_text("utf-8").splitlines())
    text = "".join(json.dumps({"image": line["file_name"], "caption": line["caption"]}) + "\n" for line in lines)
    Path("known.jsonl").write_text(text, "utf-8")
    code, _, err = run("hidden", "probe", small, "--against", "known.jsonl")
    assert code == 2 and "No picture of known.jsonl can be read, so nothing was compared" in err
    shares = found(run, small, "--against", "known.jsonl", "--image-root", public_pairs)
    assert shares["pictures"][0] == shares["pictures"][1] > 0
    out = run("hidden", "probe", small, "--against", "known.jsonl", "--image-root", public_pairs)[1]
    assert "known.jsonl#" in out and "bits apart" in out.lower()


def test_without_its_key_a_set_has_pictures_only(run: Run, small: Path, public_pairs: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(small / "public", tmp_path / "set" / "public")
    assert set(found(run, tmp_path / "set", "--against", public_pairs)) == {"pictures"}


def test_a_hidden_set_has_no_pairs_to_search_among(run: Run, small: Path) -> None:
    code, _, err = run("hidden", "probe", small, "--against", small)
    assert code == 2 and "is of a hidden set, whose pairs are secret" in " ".join(err.split())


@pytest.mark.parametrize("name", ["nothing", "."])
def test_what_is_no_set(run: Run, name: str, public_pairs: Path, tmp_path: Path) -> None:
    code, _, err = run("hidden", "probe", tmp_path / name, "--against", public_pairs)
    assert code == 2 and "holds no hidden set" in " ".join(err.split())


def test_what_was_not_checked_is_said(run: Run, small: Path, tmp_path: Path) -> None:
    _, out, _ = run("hidden", "verify", small, "--strips", 0)
    assert "Not checked: whether the pictures" in out
