from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from vcrgen.bloom.options import BloomGenerationOptions
from vcrgen.builder.options import BuildConfig, find_recipe, load_build_config, parse_splits
from vcrgen.core.errors import ConfigError
from vcrgen.core.options import Options, option, validate_options
from vcrgen.core.records import Mode
from vcrgen.core.resources import resource_dir
from vcrgen.hidden.options import HiddenOptions
from vcrgen.models.server_options import with_server
from vcrgen.scorer.options import ScoreOptions

BOTH_KINDS = "--forms takes other pairs for every form, --same-pairs the same ones; give one of them"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lang": "xx"}, "unknown language 'xx'; known: en, zh"),
        ({"mode": "middling"}, "mode: 'middling' is not easy, hard, both, shares of ink"),
        ({"ngram_size": 11}, "ngram-size: Input should be less than or equal to 10"),
        ({"max_share": 0}, "max-share: Input should be greater than 0"),
        ({"where": ("lang",)}, "'lang' is not of the form PATH=VALUE"),
        ({"splits": "train=5"}, "exactly one split takes the rest"),
        ({"splits": "all=..."}, "'all' has the name that `datasets` keeps"),
        ({"splits": "train=...,ALL=5"}, "'ALL' has the name that `datasets` keeps"),
        ({"widht": 300}, "Unknown key 'widht'; the nearest known key is 'width'"),
        ({"limit": "many"}, "limit: Input should be a valid integer"),
    ],
)
def test_wrong_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=r"^[^\n]*$") as error:
        load_build_config(None, options)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lang: [", "is not valid YAML at line 1"),
        ("- en\n", "must hold `key: value` lines"),
        ("lnag: en\n", "Unknown key 'lnag'; the nearest known key is 'lang'"),
        ("lang: !!python/object/apply:os.system ['true']\n", "is not valid YAML"),
        ("[" * 5000, "is not valid YAML"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "recipe.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as error:
        load_build_config(file, {})
    assert message in str(error.value) and str(file) in str(error.value)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        load_build_config(tmp_path / "missing.yaml", {})
    (tmp_path / "latin.yaml").write_bytes("lang: é".encode("latin-1"))
    with pytest.raises(ConfigError, match="is not UTF-8"):
        load_build_config(tmp_path / "latin.yaml", {})
    (tmp_path / "date.yaml").write_text("opens: 2026-13-01\n")
    with pytest.raises(ConfigError, match=r"date\.yaml has a value that is none: month must be in 1\.\.12\."):
        load_build_config(tmp_path / "date.yaml", {})
    (tmp_path / "large.yaml").write_bytes(b"#" * (2 << 20))
    with pytest.raises(ConfigError, match="is larger than"):
        load_build_config(tmp_path / "large.yaml", {})


def test_options_win_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "recipe.yaml"
    file.write_text("lang: zh\nmode: hard\nseed: 3\n")
    config = load_build_config(file, {"mode": "easy", "seed": None})
    assert (config.lang, config.modes, config.seed) == ("zh", (Mode.EASY,), 3)


@pytest.mark.parametrize("recipe", sorted(resource_dir("configs").glob("vcr-*.yaml")), ids=lambda path: path.stem)
def test_shipped_recipes(recipe: Path) -> None:
    config = load_build_config(recipe, {})
    assert config.lang in recipe.stem and config.mode in recipe.stem
    assert find_recipe(Path(recipe.stem)) == recipe


def test_a_recipe_that_is_nowhere() -> None:
    with pytest.raises(
        ConfigError, match=r"^There is no recipe nope\.yml; give .* the name of one of bloom-demo, .*vcr-wiki-en"
    ):
        find_recipe(Path("nope.yml"))


def test_a_local_file_comes_before_a_shipped_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("vcr-wiki-en-easy.yaml").write_text("lang: en\n")
    assert find_recipe(Path("vcr-wiki-en-easy.yaml")) == Path("vcr-wiki-en-easy.yaml")


@pytest.mark.parametrize(
    ("text", "splits"),
    [
        ("train=...", {"train": None}),
        ("train=...,validation=5000,test=5000", {"train": None, "validation": 5000, "test": 5000}),
        (" a=0.25 , b=... ", {"a": 0.25, "b": None}),
    ],
)
def test_splits(text: str, splits: dict[str, object]) -> None:
    assert parse_splits(text) == splits


@pytest.mark.parametrize(
    "text",
    ["", "train", "train=", "train=0", "train=-1,a=...", "a=...,a=5", "a=...,b=...", "a=0.5,b=0.5,c=...", "../x=..."],
)
def test_splits_that_make_no_sense(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_splits(text)


@given(st.text(max_size=40))
def test_any_text_is_splits_or_an_error(text: str) -> None:
    try:
        splits = parse_splits(text)
    except ValueError:
        return
    assert list(splits.values()).count(None) == 1


def test_the_hash_is_of_the_choices() -> None:
    one = BuildConfig(lang="en", source="a.parquet", font=Path("x.ttf"))
    assert one.content_hash() == BuildConfig(source="b.parquet").content_hash()  # files count by their content
    assert (
        one.content_hash() == BuildConfig(splits="train=...,test=5").content_hash()
    )  # rows do not depend on their split
    assert one.content_hash() != BuildConfig(seed=1).content_hash()
    assert "source" not in one.public_fields()


def test_a_signature_goes_by_the_legacy_value_of_a_field_and_not_by_its_default() -> None:
    class LaterBuild(BuildConfig):
        cover: str = option("stain", "", legacy="rows")

    assert "cover" not in LaterBuild(cover="rows").public_fields()
    assert LaterBuild().public_fields()["cover"] == "stain"
    assert LaterBuild(cover="rows").content_hash() == BuildConfig().content_hash()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"items": 0}, "items: Input should be greater than or equal to 1."),
        ({"items": -3}, "items: Input should be greater than or equal to 1."),
        ({"forms": 0}, "forms: Input should be greater than or equal to 1."),
        ({"same_pairs": 21}, "same-pairs: Input should be less than or equal to 20."),
        ({"same_pair": 2}, "Unknown key 'same_pair'; the nearest known key is 'same_pairs'."),
        ({"forms": 2, "same_pairs": 2}, f"{BOTH_KINDS}."),
    ],
)
def test_options_of_a_hidden_set_that_are_none(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        validate_options(HiddenOptions, values | {"config": load_build_config(None, {})})
    assert str(caught.value) == message


def test_fonts_of_a_hidden_set_are_separated_by_commas() -> None:
    options = HiddenOptions(config=load_build_config(None, {}), fonts=("lato, carlito", "roboto"))
    assert options.fonts == ("lato", "carlito", "roboto")


@pytest.mark.parametrize(
    ("model", "values", "message"),
    [
        (HiddenOptions, {"items": 0}, "items: Input should be greater than or equal to 1."),
        (BuildConfig, {"lang": "xx"}, "lang: unknown language 'xx'"),
        (ScoreOptions, {"sed": 1}, "Unknown key 'sed'; the nearest known key is 'seed'."),
    ],
)
def test_options_made_in_python_are_checked_in_the_same_words(
    model: type[Options], values: dict[str, object], message: str
) -> None:
    """Whoever calls the package catches one error, and never one of the library that checks."""
    more = {"config": BuildConfig()} if model is HiddenOptions else {}
    with pytest.raises(ConfigError, match=r"^[^\n]*$") as direct:
        model(**more, **values)
    with pytest.raises(ConfigError) as loaded:
        validate_options(model, more | values, "recipe.yaml: ")
    assert str(direct.value).startswith(message) and str(loaded.value) == f"recipe.yaml: {direct.value}"


def test_a_hidden_set_has_no_levels() -> None:
    """The command has no ``--mode``; a call from Python with levels was taken for one without."""
    for config, name in ((BuildConfig(mode="ink=0.2,0.5"), "mode"), (BuildConfig(cover="stain"), "cover")):
        with pytest.raises(ConfigError, match=f"follow from its own `cover`; leave `{name}` out of its `config`"):
            HiddenOptions(config=config)


def test_a_hidden_set_has_no_pages_of_its_recipe() -> None:
    """A set with ``paper: cream`` came out white."""
    for values in ({"paper": "cream"}, {"width": 500}, {"degrade": "jpeg=40"}):
        (name,) = values
        with pytest.raises(ConfigError, match=f"draws its pages from the secret, black on white; leave `{name}` out"):
            HiddenOptions(config=load_build_config(None, values))


@pytest.mark.parametrize(
    ("cover", "lang", "mode"),
    [("bars", "en", "bits=4,8"), ("blots", "zh", "bits=4,8"), ("bars", "ar", "both"), ("rows", "en", "both")],
)
def test_the_cover_of_a_hidden_set_decides_its_modes(cover: str, lang: str, mode: str) -> None:
    """Bits of joined letters are unknown; a chosen configuration may be given again."""
    options = HiddenOptions(config=BuildConfig(lang=lang), **({} if cover == "bars" else {"cover": cover}))
    assert (options.config.cover, options.config.mode, options.config.lang) == (cover, mode, lang)
    assert HiddenOptions(config=options.config, cover=cover).config == options.config
    with pytest.raises(ConfigError, match="unknown cover 'mud'; known: rows"):
        HiddenOptions(config=BuildConfig(), cover="mud")


@pytest.mark.parametrize(
    ("values", "typed", "expected"),
    [
        ({"model": "a", "rpm": 5}, {"model": None, "source": "s"}, {"model": "a", "rpm": 5, "source": "s"}),
        ({"model": "a"}, {"model": "b"}, {"model": "b"}),
        ({"judge": "a"}, {"judges": "b,c"}, {"judges": "b,c"}),
        ({"judges": "b,c"}, {"judge": "a"}, {"judge": "a"}),
        ({"endpoint": "http://h/v1", "price": "1,2"}, {"offline": True}, {"price": "1,2", "offline": True}),
        ({"image_endpoint": "http://h/v1"}, {}, {"image_endpoint": "http://h/v1"}),
    ],
)
def test_what_is_typed_replaces_and_excludes(
    values: dict[str, Any], typed: dict[str, Any], expected: dict[str, Any], tmp_path: Path
) -> None:
    file = tmp_path / "server.yaml"
    file.write_text(yaml.safe_dump(values), "utf-8")
    assert with_server(BloomGenerationOptions, file, typed) == expected
