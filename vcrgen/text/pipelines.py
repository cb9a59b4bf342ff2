"""spaCy pipelines: the built-in one of each language, or a trained one on request."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from types import ModuleType
from typing import TYPE_CHECKING

from vcrgen.core.errors import PipelineError
from vcrgen.core.extras import needs_extra
from vcrgen.core.resources import load_object
from vcrgen.text.ambiguous import AMBIGUITY
from vcrgen.text.languages import LANGUAGES, LanguageRow
from vcrgen.text.markup import MARKUP
from vcrgen.text.morphemes import MorphemeTokenizer

if TYPE_CHECKING:
    from spacy.language import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPipeline:
    """A spaCy pipeline and its part of a signature."""

    nlp: Language  # gives documents with sentence bounds and entities
    segmenter: str  # the tokenizer and its version
    eligibility: str  # the rules or the trained pipeline that find entities, and their version

    @property
    def rules(self) -> str:
        """What decides which tokens may be masked, as in signatures."""
        return f"{self.eligibility}+{AMBIGUITY}+{MARKUP}"

    @property
    def tags_nouns(self) -> bool:
        """Return true if some component sets parts of speech."""
        from spacy.attrs import POS
        from spacy.pipeline import AttributeRuler

        if any("token.pos" in self.nlp.get_pipe_meta(name).assigns for name in self.nlp.pipe_names):
            return True
        # Most trained pipelines derive them from the tagger's tags by rules, and spaCy does not list what rules set.
        rulers = [pipe for _, pipe in self.nlp.pipeline if isinstance(pipe, AttributeRuler)]
        return any(POS in attributes for ruler in rulers for attributes in ruler.attrs)


@cache
def load_pipeline(lang: str, spacy_model: str | None = None) -> TextPipeline:
    """Load the pipeline of a language, once a process.

    Args:
        lang: A code of the language table.
        spacy_model: Name or path of a trained pipeline, or None for the built-in one.

    Raises:
        PipelineError: The trained pipeline, or a package of the language's extra, is not installed; or the pipeline is
            for another language, or finds no entities.
    """
    if not spacy_model:
        row = LANGUAGES[lang]
        import_spacy()
        with packages_of(row):
            nlp = load_object(row.pipeline)(row)
        return TextPipeline(nlp=nlp, segmenter=segmenter_version(nlp), eligibility=row.eligibility)
    instead = ", or leave out --spacy-model for the built-in rules"
    nlp, eligibility = load_trained(spacy_model, lang, called="spaCy pipeline", instead=instead)
    if not {"ner", "entity_ruler", "span_ruler"} & set(nlp.pipe_names):
        raise PipelineError(
            f"The spaCy pipeline {spacy_model!r} finds no entities (it has {', '.join(nlp.pipe_names) or 'no parts'}); "
            "choose one with `ner`."
        )
    if not {"parser", "senter", "sentencizer"} & set(nlp.pipe_names):
        nlp.add_pipe("sentencizer", first=True)
    return TextPipeline(nlp=nlp, segmenter=segmenter_version(nlp), eligibility=eligibility)


def import_spacy() -> ModuleType:
    """Import spaCy without torch and without spaCy's own command line, and return it.

    Thinc, on which spaCy stands, imports torch wherever it is installed: seconds and 200 MB in every process. spaCy
    imports its commands, a third of its modules, for one function that prints versions. If torch or spaCy is loaded
    already, nothing is kept out. A trained pipeline that needs torch has to be the first that is loaded.
    """
    if "spacy" in sys.modules:
        return sys.modules["spacy"]
    stand_ins: dict[str, ModuleType | None] = {"spacy.cli": ModuleType("spacy.cli")}
    stand_ins["spacy.cli.info"] = info = ModuleType("spacy.cli.info")
    info.info = None  # type: ignore[attr-defined]
    if "torch" not in sys.modules:
        stand_ins["torch"] = None  # an import then fails, as if it were not installed
    sys.modules |= stand_ins  # type: ignore[arg-type]
    try:
        spacy = importlib.import_module("spacy")
    finally:
        for name in stand_ins:
            del sys.modules[name]
    del spacy.info  # which is None
    return spacy


@contextmanager
def packages_of(language: LanguageRow) -> Iterator[None]:
    """Turn a missing package of a language's extra into a sentence.

    Raises:
        PipelineError: One is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if not language.extra:
            raise
        raise PipelineError(needs_extra(language.name, language.extra, missing.name)) from None


def load_trained(name: str, lang: str, *, called: str, instead: str = "") -> tuple[Language, str]:
    """Load a trained spaCy pipeline, and return it with its full name and version.

    Args:
        lang: Code of the language that it has to be for.
        called: Its name in messages.
        instead: An alternative if it is not installed, as the end of a sentence.

    Raises:
        PipelineError: It is not installed, cannot be loaded, or is for another language.
    """
    import spacy

    try:
        nlp = spacy.load(name)
    except OSError:
        raise PipelineError(
            f"The {called} {name!r} is not installed; install it with `python -m spacy download {name}`{instead}."
        ) from None
    except (ValueError, KeyError, TypeError, ImportError) as error:
        first_line = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise PipelineError(f"The {called} {name!r} cannot be loaded: {first_line}") from None
    if nlp.lang != lang:
        raise PipelineError(f"The {called} {name!r} is for {nlp.lang!r}, not for {lang!r}; name another.")
    return nlp, f"{nlp.meta['lang']}_{nlp.meta['name']}-{nlp.meta['version']}"


def segmenter_version(nlp: Language) -> str:
    """Name and version of a pipeline's tokenizer, as in signatures."""
    if isinstance(nlp.tokenizer, MorphemeTokenizer):
        return nlp.tokenizer.signature
    segmenter = getattr(nlp.tokenizer, "segmenter", None)
    name = f"spacy-{version('spacy')}-{nlp.lang}" + (f"-{segmenter}" if segmenter is not None else "")
    return f"{name}-{version('jieba')}" if str(segmenter) == "jieba" else name
