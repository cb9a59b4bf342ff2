"""The taxonomy: names, aliases, files of others."""

import csv
from pathlib import Path

import pytest

from vcrgen.bloom.taxonomy import Taxonomy, default_taxonomy, load_taxonomy
from vcrgen.core.errors import ConfigError


def test_the_default_is_the_papers() -> None:
    taxonomy = default_taxonomy()
    assert len(taxonomy.paths) == len(set(taxonomy.paths)) == 106
    assert taxonomy.levels == ("remember", "understand", "apply", "analyze", "evaluate", "create")
    counts = [sum(path.startswith(f"{level}/") for path in taxonomy.paths) for level in taxonomy.levels]
    assert counts == [39, 21, 7, 19, 9, 11]
    assert len({path.rpartition("/")[2] for path in taxonomy.paths}) == 85  # category names are not unique


@pytest.mark.parametrize(
    ("names", "path"),
    [
        ((" Create ", "Creative generation", "POEM"), "create/creative generation/poem"),
        (("Create", "poem"), "create/creative generation/poem"),
        (("poem",), "create/creative generation/poem"),
        (("texture",), None),  # three categories
        (("Analyze", "texture"), "analyze/atypical attribute identification/texture"),
        (("remember", "newletter"), "remember/text attribute recognition/newsletter"),
        (("analyze", "commonsense reasooning"), "analyze/contextual inference/commonsense reasoning"),
        (("create", "visual stroytelling"), "create/creative generation/visual storytelling"),
        (("Evaluate", "harm - safety", "toxicity detection"), "evaluate/harm & safety evaluation/toxicity detection"),
        (("Remember", "symbol recognition", "logos - brands"), "remember/symbol recognition/logos & brands"),
        (
            ("Analyze", "Logical & scientific reasoning", "math reasoning"),
            "analyze/logical and scientific reasoning/math reasoning",
        ),
        (("nothing",), None),
        (("",), None),
        ((), None),
    ],
)
def test_a_category_is_found_by_its_names(names: tuple[str, ...], path: str | None) -> None:
    assert default_taxonomy().find(*names) == path


def test_a_file_of_a_users_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("\ufefflevel,subcategory,leaf,count\nSee, Colours ,Red,3\nSee,Colours,Blue,4\n", "utf-8")
    taxonomy = load_taxonomy(file)
    assert taxonomy.paths == ("see/colours/red", "see/colours/blue") and taxonomy.levels == ("see",)
    assert Taxonomy.parse(taxonomy.text, "again") == taxonomy
    assert next(csv.reader(taxonomy.text.splitlines())) == ["level", "subcategory", "leaf"]


def test_each_category_of_a_users_own_is_found_by_its_path() -> None:
    """Of two whose names fold to one, items of the first were filed under the second."""
    lines = ["a,b,cats and dogs", "a,b,cats & dogs", "a,quality,x", "a,quality evaluation,x", "a,b,one and two"]
    taxonomy = Taxonomy.parse("\n".join(["level,subcategory,leaf", *lines]), "mine")
    assert [taxonomy.find(*path.split("/")) for path in taxonomy.paths] == list(taxonomy.paths)
    assert taxonomy.find("one - two") == taxonomy.find("A", "One & Two") == "a/b/one and two"
    assert taxonomy.find("cats and dogs") is taxonomy.find("a", "x") is taxonomy.find("x") is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "names the columns level, subcategory, leaf"),
        ("level;subcategory;leaf\na;b;c\n", "it needs level, subcategory, leaf"),
        ("level,subcategory,leaf\n", "lists 0 categories"),
        ("level,subcategory,leaf\na,,b\n", "line 2: needs a level, a subcategory and a leaf"),
        ("level,subcategory,leaf\na,b/c,d\n", "without a slash"),
        ("level,subcategory,leaf\na,b,c\nA,b,C\n", "category 'a/b/c' twice"),
        (f"level,subcategory,leaf\na,b,{'x' * 81}\n", "1 to 80"),
        ('level,subcategory,leaf\na,b,"c', "not a table"),
    ],
)
def test_what_is_no_taxonomy_is_told_in_a_sentence(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "bad.csv").write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=problem):
        load_taxonomy(tmp_path / "bad.csv")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_taxonomy(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes(b"level,subcategory,leaf\na,b,\xff\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_taxonomy(tmp_path / "latin.csv")
