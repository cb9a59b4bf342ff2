"""Built-in eligibility for Chinese: jieba's words and flags, lexicons, and rules instead of a trained model.

The component ``vcrgen_names_zh`` sets each token's tag to jieba's flag, and the document's entities to names, times and
numbers by rule. The rules prefer false positives: an eligible name requires knowledge of a reader; a common word that
becomes ineligible costs one candidate among many.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from vcrgen.text.eligibility import set_entities
from vcrgen.text.jieba_zh import UNKNOWN_TAG, load_jieba
from vcrgen.text.languages import LanguageRow
from vcrgen.text.lexicons_zh import load_lexicons
from vcrgen.text.name_rules_zh import label_words

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

COMPONENT = "vcrgen_names_zh"
# Common nouns; names have flags of their own (nr, ns, nt, nz).
NOUN_FLAGS = frozenset({"n", "ng", "vn", "an"})


def _name_marker() -> Callable[[Doc], Doc]:
    """The component: it sets ``token.tag_``, ``token.pos_`` of common nouns, and ``doc.ents``."""
    jieba, lexicons = load_jieba(), load_lexicons()

    def flag_of(word: str) -> str:
        # jieba's dictionary is mostly simplified: a traditional word is known by its simplified form.
        flag = jieba.flag(word)
        return jieba.flag(word.translate(lexicons.simplified)) if flag == UNKNOWN_TAG else flag

    def mark_names(doc: Doc) -> Doc:
        words = [token.text for token in doc]
        flags = [flag_of(word) for word in words]
        for token, flag in zip(doc, flags, strict=True):
            token.tag_ = flag
            if flag in NOUN_FLAGS:
                token.pos_ = "NOUN"
        set_entities(doc, label_words(words, flags, lexicons))
        return doc

    return mark_names


def chinese_pipeline(language: LanguageRow) -> Language:
    """Build the default Chinese pipeline: jieba's words, sentences, tags and entities. No model, no download.

    Returns:
        A spaCy pipeline whose tokens are those of ``spacy.blank("zh")`` with the segmenter jieba.
    """
    import spacy
    from spacy.language import Language

    if not Language.has_factory(COMPONENT):
        assigns = ["token.tag", "token.pos", "doc.ents"]
        Language.factory(COMPONENT, assigns=assigns, func=lambda nlp, name: _name_marker())

    nlp = spacy.blank(language.code)
    # Set after building: spaCy would start jieba's global tokenizer, with its cache in the temporary folder.
    tokenizer: Any = nlp.tokenizer
    tokenizer.segmenter = "jieba"
    tokenizer.jieba_seg = load_jieba()
    nlp.add_pipe("sentencizer", config={"punct_chars": list(language.sentence_enders)})
    nlp.add_pipe(COMPONENT)
    return nlp
