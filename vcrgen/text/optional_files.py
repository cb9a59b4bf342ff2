"""What a language goes without for each optional file that its folder ``vcrgen/text/CODE`` does not have.

A file that says in a comment that there is nothing to list counts: not written yet is another thing than none.
"""

from importlib.resources import files

from vcrgen.text.languages import language_row

# From a file to what follows from its absence, as the end of a sentence.
_ANY_RULES = {
    "captions.txt": "`samples` is no source of pairs",
    "questions.txt": "no questions are made of built-in scenes",
    "lexicons/sensitive.txt": "no caption is rejected as sensitive but by --censor-list",
    "lexicons/pointing.txt": "questions that point at their options are not recognised",
}
_RULES_BY_CAPITALS = {
    "lexicons/common.txt": "in text without capitals every word but spaCy's stop words counts as a name",
    "lexicons/openers.txt": "the first word of a sentence counts as a name, and so do abbreviations such as DVD",
    "lexicons/verbs.txt": "a name that opens a caption and is a noun, too, is not told by the verb after it",
    "lexicons/inflections.txt": "a common word counts as one only in its listed form",
    "lexicons/first_names.txt": "first names without a capital leak",
    "lexicons/places.txt": "places without a capital leak",
    "lexicons/demonyms.txt": "peoples and languages without a capital leak",
    "lexicons/geographic.txt": "nouns beside the name of a place leak, as in *lake Como*",
    "lexicons/bodies.txt": "the lower-case words of names of bodies leak",
    "lexicons/particles.txt": "the lower-case words inside names leak, as in *van Gogh*",
    "lexicons/numbers.txt": "only the numbers that spaCy knows count, without units, months and weekdays",
}


def absent_files(code: str) -> list[str]:
    """A sentence for each absent file: its name and what follows.

    Raises:
        ConfigError: No language has that code.
    """
    row, folder = language_row(code), files("vcrgen.text") / code
    optional = _ANY_RULES | (_RULES_BY_CAPITALS if "names_capitals" in row.pipeline else {})
    return [f"Without {name}, {cost}." for name, cost in optional.items() if not folder.joinpath(name).is_file()]
