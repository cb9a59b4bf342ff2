"""spaCy pipelines: the built-in one of each language, or a trained one on request."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from vcrgen.errors import PipelineError
from vcrgen.text.languages import LANGUAGES, LanguageRow
from vcrgen.text.morphemes import MorphemeTokenizer

if TYPE_CHECKING:
    from spacy.language import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPipeline:
    """A spaCy pipeline and what a signature says of it."""

    nlp: Language  # gives documents with sentence bounds and entities
    segmenter: str  # the tokenizer and its version
    eligibility: str  # the rules or the trained pipeline that find entities, and their version

    @property
    def finds_nouns(self) -> bool:
        """Whether some component sets parts of speech."""
        from spacy.attrs import POS
        from spacy.pipeline import AttributeRuler

        if any("token.pos" in self.nlp.get_pipe_meta(name).assigns for name in self.nlp.pipe_names):
            return True
        # In most trained pipelines rules make them of the tagger's tags, and spaCy does not say what rules set.
        rulers = [pipe for _, pipe in self.nlp.pipeline if isinstance(pipe, AttributeRuler)]
        return any(POS in attributes for ruler in rulers for attributes in ruler.attrs)


@cache
def load_pipeline(lang: str, spacy_model: str | None = None) -> TextPipeline:
    """The pipeline of a language; loaded once a process.

    Args:
        lang: A code of the language table.
        spacy_model: Name or path of a trained pipeline, or None for the built-in one.

    Raises:
        PipelineError: The trained pipeline, or a package of the language's extra, is not installed; or the pipeline is
            for another language, or finds no entities.
    """
    if not spacy_model:
        row = LANGUAGES[lang]
        module, _, function = row.pipeline.partition(":")
        with packages_of(row):
            nlp = getattr(importlib.import_module(module), function)(row)
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


@contextmanager
def packages_of(language: LanguageRow) -> Iterator[None]:
    """While what needs the packages of a language's extra is loaded.

    Raises:
        PipelineError: One is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        if not language.extra:
            raise
        raise PipelineError(
            f'{language.name} needs {missing.name}, which is not installed: pip install "vcrgen[{language.extra}]".'
        ) from None


def load_trained(name: str, lang: str, *, called: str, instead: str = "") -> tuple[Language, str]:
    """A trained spaCy pipeline of a language, and its full name with its version.

    Args:
        name: Its name or path.
        lang: Code of the language that it has to be for.
        called: What messages call it.
        instead: What else a user may do where it is not installed, as the end of a sentence.

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
    """Name and version of a pipeline's tokenizer, as signatures give it."""
    if isinstance(nlp.tokenizer, MorphemeTokenizer):
        return nlp.tokenizer.signature
    segmenter = getattr(nlp.tokenizer, "segmenter", None)
    name = f"spacy-{version('spacy')}-{nlp.lang}" + (f"-{segmenter}" if segmenter is not None else "")
    return f"{name}-{version('jieba')}" if str(segmenter) == "jieba" else name
