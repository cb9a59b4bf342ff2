"""Word lists: several in a file, and none where a language has no file."""

from vcrgen.text.lexicons import read_fields, read_lexicon
from vcrgen.text.lexicons_zh import ChineseLists
from vcrgen.text.names_capitals import CapitalsLists


def test_a_list_has_the_name_of_its_file_or_of_a_line_in_it() -> None:
    lists = CapitalsLists(**read_fields(CapitalsLists, "en"))
    assert "new york" in lists.places and "january" in lists.months
    assert lists.numbers.isdisjoint(lists.months) and not any(entry.startswith("#") for entry in lists.units)


def test_entries_of_one_line() -> None:
    titles = read_fields(ChineseLists, "zh", by_words=True)["titles"]
    assert {"主席", "教授"} <= titles and "江主席" not in titles


def test_a_list_or_folder_that_is_not_there_is_empty() -> None:
    assert CapitalsLists(**read_fields(CapitalsLists, "xx")) and not CapitalsLists().months
    assert read_lexicon("xx", "sensitive") == [] == read_lexicon("en", "nothing")
