"""The texts of the pages of a study: those that ship with vcrgen, and those that the maintainers write."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vcrgen.core.errors import StudyError
from vcrgen.study import audit_texts, mcq_texts, vcr_texts
from vcrgen.study.records import StudyDesign
from vcrgen.study.store.database import StudyStore
from vcrgen.study.store.designs import read_design
from vcrgen.study.store.raters import read_raters

DEFAULT_LANG = "en"  # of the page, for raters who answer in a language without a page
MAX_TEXT = 100_000  # characters of a text of the maintainers


class PageTexts(NamedTuple):
    """All texts of a page, by language."""

    consent: Mapping[str, str]
    instructions: Mapping[str, str]
    page: Mapping[str, Mapping[str, str]]

    def page_lang(self, lang: str) -> str:
        """The language of the page for a rater who answers in a language."""
        return lang if lang in self.page else DEFAULT_LANG


VCR = PageTexts(vcr_texts.CONSENT, vcr_texts.INSTRUCTIONS, vcr_texts.PAGE)
MCQ = PageTexts(mcq_texts.CONSENT, mcq_texts.INSTRUCTIONS, mcq_texts.PAGE)
AUDIT = PageTexts(
    audit_texts.CONSENT,
    audit_texts.INSTRUCTIONS,
    {lang: {**mcq_texts.PAGE[lang], **own} for lang, own in audit_texts.PAGE.items()},
)


def texts_for(design: StudyDesign) -> PageTexts:
    """Texts by kind of study: an audit's, those of MCQ benchmarks, or of masked spans."""
    return AUDIT if design.draw else MCQ if design.is_mcq else VCR


def text_file(folder: Path, kind: str, lang: str) -> Path:
    """The file of a text that the maintainers write: ``consent`` or ``instructions``."""
    return folder / f"{kind.upper()}.{lang}.txt"


def read_text(folder: Path, kind: str, lang: str) -> str:
    """Read a text that the maintainers have written.

    Raises:
        StudyError: Its file is missing, too long, empty, or not UTF-8.
    """
    file = text_file(folder, kind, lang)
    try:
        text = file.read_text("utf-8").strip()
    except OSError as problem:
        raise StudyError(f"{file} cannot be read: {problem.strerror or problem}.") from None
    except UnicodeDecodeError:
        raise StudyError(f"{file} is not UTF-8 text; save it as UTF-8.") from None
    if not 0 < len(text) <= MAX_TEXT:
        raise StudyError(f"{file} is empty or longer than {MAX_TEXT:,} characters; raters have to read it.")
    return text


def unwritten_consents(store: StudyStore) -> list[str]:
    """Return a sentence for each language whose consent `has_note`: those of raters, or the study's before any.

    That note asks the maintainers to say who they are.
    """
    with store.reading() as connection:
        design, raters = read_design(connection), read_raters(connection)
    texts = texts_for(design)
    langs = {texts.page_lang(rater.lang) for rater in raters} or {texts.page_lang(design.lang)}
    return [
        f"{text_file(store.folder, 'consent', lang)} still has its note to the maintainers; say there who you are, "
        "how to reach you, what is paid, and who approved the study."
        for lang in sorted(langs)
        if has_note(texts, lang, read_text(store.folder, "consent", lang))
    ]


def has_note(texts: PageTexts, lang: str, consent: str) -> bool:
    """Whether a consent still has the last line of the one that ships."""
    return texts.consent[lang].strip().splitlines()[-1] in consent
