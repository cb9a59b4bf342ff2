"""What the web leaves in captions beside their text: tags, entities, placeholders, citation marks and escapes."""

import re
from functools import lru_cache

MARKUP = "markup-1"  # name and version of the rule that no such token is masked, for signatures
_ELEMENTS = (
    "a|abbr|acronym|address|area|article|aside|audio|b|base|bdi|bdo|big|blink|blockquote|body|br|button|canvas|caption"
    "|center|cite|code|col|colgroup|dd|del|details|dfn|dialog|dir|div|dl|dt|em|embed|fieldset|figcaption|figure|font"
    "|footer|form|frame|frameset|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd|label|legend|li|link|main|map"
    "|mark|meta|meter|nav|noscript|object|ol|optgroup|option|output|p|param|picture|pre|progress|q|rp|rt|ruby|s|samp"
    "|script|section|select|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea"
    "|tfoot|th|thead|time|title|tr|tt|u|ul|var|video|wbr"
)
_ATTRIBUTES = r"""(?:\s+[\w:-]+(?:\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))?){0,20}+"""
# Elements that stand within a line of text; what any other one leaves is a space.
INLINE = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|label|mark|q|s|samp|small|span|strike|strong|sub|sup"
    r"|time|tt|u|var|wbr)\b",
    re.I,
)
TAG = re.compile(rf"<(?:/?(?:{_ELEMENTS}){_ATTRIBUTES}\s*/?|!--.{{0,500}}?--|!doctype[^<>]*)>", re.I | re.S)
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# Of pictures, persons and the ends of texts, as data sets and tokenizers of models write them.
PLACEHOLDER = re.compile(
    r"<(?:image|images|img|video|audio|person|unk|pad|s|/s|eos|bos)(?:[ _-]?\d{1,3})?>|<\|\w{1,40}\|>", re.I
)
CITATION = re.compile(
    r"<ref\b[^<>]{0,200}/>|<ref\b[^<>]{0,200}>[^<>]{0,500}</ref>|(?<=\S)\[\d{1,3}\](?!\w)"
    r"|\[(?:(?:note|nb) \d{1,3}|(?:[a-z]+ ){1,3}needed|who\?|when\?|where\?|by whom\?|edit)\]"
    r"|\[(?:[来來]源[请請]求|要出典|출처 필요)\]",
    re.I,
)
# As a program's source writes a character. Paths of Windows and commands of TeX are written with the same sign.
ESCAPE = re.compile(r"""\\(?:[nr]|t|u[0-9a-fA-F]{4}|["'/])""")
NO_ESCAPES = re.compile(
    r"\b[A-Za-z]:\\|\\\\\w|\$|\\[A-Za-mo-qsv-z]|\\(?:tau|the|tilde|times|tex|nu\b|nabla|neq?\b|neg|not\b|rho|right|rm\b)"
)
# The rest of markup that was cut or nested, in no word.
_SIGNS = re.compile(r"[<>\[\]{}\\|^`=]")


@lru_cache(maxsize=64)  # all tokens of a caption ask one after the other
def _places(text: str) -> tuple[tuple[int, int], ...]:
    patterns = (TAG, ENTITY, PLACEHOLDER, CITATION, *(() if NO_ESCAPES.search(text) else (ESCAPE,)))
    return tuple(match.span() for pattern in patterns for match in pattern.finditer(text))


def is_markup(text: str, start: int, end: int) -> bool:
    """Return true if a token of a text, from start to end, holds markup or is in it."""
    token = text[start:end]
    if _SIGNS.search(token):
        return True
    return any(begin < end and start < stop for begin, stop in _places(text))
