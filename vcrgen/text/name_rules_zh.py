"""Rules that find names, times and numbers in Chinese words: small passes, each with its reason.

A pass reads the words, jieba's flags and the labels so far, and adds labels. All are linear in the tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass

from vcrgen.text.jieba_zh import LATIN_TAG, UNKNOWN_TAG
from vcrgen.text.lexicons_zh import Lexicons

# jieba's flags that speak for themselves. nz (other proper nouns) and j (abbreviations) say no class.
_FLAGS = {"PERSON": "nr nrt nrfg", "GPE": "ns", "ORG": "nt", "NAME": f"nz j {LATIN_TAG}", "DATE": "t tg"}
_FLAGS |= {"CARDINAL": "m mq mg"}
LABEL_OF_FLAG = {flag: label for label, flags in _FLAGS.items() for flag in flags.split()}
# Flags that make a word a name wherever it stands, not only by its neighbours.
NAME_FLAGS = frozenset({"nr", "nrt", "nz", UNKNOWN_TAG})
NAME_LABELS = frozenset({"PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "NAME"})
# Flags of words that qualify the head of a name: 国际 射击 中心, 中央 机构 编制 委员会. A word flagged nr that no rule
# took for a name is a common noun: 柏树 街.
MODIFIER_FLAGS = ("n", "nr", "ns", "nz", "vn", "b", "f", "s", "j", "an", "x", "h", "k", "zg", "ag", "g")
DOTS = frozenset("·•‧・．")
QUOTES = {"《": "》", "〈": "〉", "「": "」", "『": "』", "“": "”", "‘": "’", "【": "】"}
TITLE_QUOTES = frozenset("《〈『")
# Maximal words of a quoted name or title; a longer quotation is text, and the other rules find the names in it.
MAX_QUOTED_NAME = 4
MAX_MODIFIERS = 8
FAMILIAR = frozenset("老小阿")
# The word is a government, unless a word that has a middle stands before it.
CENTRE = "中央"
MIDDLE_OF = frozenset({"的", "正", "最"})
MAX_ALIAS = 8
# Kinds of one character that jieba cuts from a common word only where both are a name: 竹子 山, 文汇 路.
SPLIT_HEADS = frozenset("山河江湖岛路街巷桥寺庙镇乡村县省区州郡座峰湾城港道园宫堂塔党队")
JOINERS = frozenset("、和与及跟同-－—–")
PLACE_ENDINGS = frozenset("省市县镇乡村岛山河湖寺路街座")
ARTICLES = frozenset("一该該此每各本")
NOT_AFTER_ARTICLE = frozenset("二三四五六七八九十百千万亿半年月日号世")
VAGUE_NUMERALS = frozenset("几幾数數多两兩首")
NUMERALS = "0123456789.,０１２３４５６７８９〇零一二三四五六七八九十百千万亿两几数多半余萬億兩幾數餘"
# What opens a description, not a name: 一座 商业 银行, 这家 公司, 著名 的 大学.
INDEFINITE = ("一", "两", "这", "這", "该", "該", "此", "某", "其", "每", "各", "本", "的", "是", "个")


def _is_han(text: str) -> bool:
    return all("\u3400" <= char <= "\u9fff" or char in "〇々" for char in text)


@dataclass
class LabelledWords:
    """The tokens of one document, and the labels that the rules give them."""

    words: list[str]  # the tokens' texts
    flags: list[str]  # jieba's flag of each
    labels: list[str]  # an OntoNotes label or NAME for each, "" for none
    lex: Lexicons  # the lexicons

    def mark(self, start: int, end: int, label: str) -> None:
        """Label the tokens start..end-1, whatever they are; a name already seen keeps its label."""
        for index in range(start, end):
            if self.labels[index] not in NAME_LABELS:
                self.labels[index] = label

    def is_name(self, index: int) -> bool:
        """Return true if there is a token at the index and a rule took it for a name."""
        return 0 <= index < len(self.words) and self.labels[index] in NAME_LABELS

    def is_function(self, index: int) -> bool:
        """Return true if the token is made of characters of grammar."""
        return all(char in self.lex.function for char in self.words[index])

    def is_fragment(self, index: int) -> bool:
        """Return true if a token of one character may be a piece of a name that was cut apart."""
        word = self.words[index]
        return len(word) == 1 and _is_han(word) and word not in self.lex.function

    def is_modifier(self, index: int) -> bool:
        """Return true if the token can stand between a name and its head."""
        if self.is_name(index):
            return True
        return _is_han(self.words[index]) and not self.is_function(index) and self.flags[index] in MODIFIER_FLAGS


def mark_flags(marks: LabelledWords) -> None:
    """Label words that the dictionary flags as names, times or numbers, and words of no dictionary."""
    marks.labels[:] = [_label_of_word(*word, marks.lex) for word in zip(marks.words, marks.flags, strict=True)]


def _label_of_word(word: str, flag: str, lex: Lexicons) -> str:
    if listed := lex.label_of.get(word):
        return listed
    if _is_people(word, lex):
        return "NORP"
    # A region's character is too often another word (很 美); mark_regions decides by its neighbours.
    if word in lex.common or word in lex.function or word in lex.regions or _is_article(word):
        return ""
    if flag == "m" and word[0] == "第":
        return "ORDINAL"
    quantity = _label_of_quantity(word, lex)
    if _is_vague(word) and (quantity or LABEL_OF_FLAG.get(flag)) == "CARDINAL":
        return ""
    if quantity:
        return quantity
    if flag == "n" and len(word) > 2 and word[-1] in PLACE_ENDINGS:
        return "GPE"  # 保定市, 猎户座: common nouns to the dictionary
    titled = word[1:] in lex.titles and (word[0] in lex.surnames or word[0] in lex.surnames_common)
    familiar = len(word) == 2 and word[0] in FAMILIAR and word[1] in lex.surnames and flag != "i"
    if titled or familiar:  # 江主席; 老许
        return "PERSON"
    if flag in LABEL_OF_FLAG:
        return LABEL_OF_FLAG[flag]
    if flag != "i" and _begins_with_place(word, lex):
        return "GPE"  # 中国围棋, 亚洲纪录
    if flag == UNKNOWN_TAG and _is_han(word) and any(char in lex.name_chars for char in word):
        # A word of no dictionary is far more often a name than anything a reader could recover.
        return "NAME"
    return ""


def _is_people(word: str, lex: Lexicons) -> bool:
    """Return true if a word is a place with 人, 语, 军 ... after it: common nouns to the dictionary."""
    place, kind = word[:-1], word[-1]
    return word not in lex.common and kind in lex.peoples and (place in lex.places or place in lex.regions)


def _begins_with_place(word: str, lex: Lexicons) -> bool:
    """Return true if a long word of the dictionary begins with a place: by its name, or by one or two characters."""
    if word[0] in lex.regions and (word[1:] in lex.region_heads or (len(word) > 3 and word[1] in lex.regions)):
        return True  # 俄总统, 中英关系
    return any(word[:end] in lex.places for end in range(2, len(word)))


def _label_of_quantity(word: str, lex: Lexicons) -> str:
    """The label of a number and its unit in one word: 三万美元, 九点, 十九世纪, 百分之二十."""
    if word.startswith("百分之"):
        return "PERCENT"
    unit = word.lstrip(NUMERALS)
    return lex.label_of_unit.get(unit, "") if unit != word else ""


def _is_article(word: str) -> bool:
    """Return true if a word is an article, as English "a", "this" or "each": 一个, 一座, 该舰, 每集."""
    return len(word) == 2 and word[0] in ARTICLES and word[1] not in NOT_AFTER_ARTICLE


def _is_vague(word: str) -> bool:
    """Return true if a word counts without a number that anybody had to know: 几种, 数次, 两个, 首批."""
    return len(word) > 1 and word[0] in VAGUE_NUMERALS and word[1] not in NUMERALS


def mark_quantities(marks: LabelledWords) -> None:
    """Label the unit after a number as the quantity of both: 年, 公里, 岁, 世纪."""
    for index in range(1, len(marks.words)):
        unit = marks.lex.label_of_unit.get(marks.words[index])
        before = marks.words[index - 1]
        if unit and (marks.labels[index - 1] == "CARDINAL" or before[-1].isdigit()):
            marks.labels[index] = unit


def mark_quotes(marks: LabelledWords) -> None:
    """Label short texts in quotation marks: more often a name or a title than speech."""
    words = marks.words
    for start, word in enumerate(words):
        closing = QUOTES.get(word)
        if closing is None:
            continue
        limit = min(len(words), start + MAX_QUOTED_NAME + 2)
        end = next((at for at in range(start + 1, limit) if words[at] == closing), None)
        if end is None and word in TITLE_QUOTES and limit == len(words):
            end = limit  # the caption was cut inside the title
        if end is not None:
            marks.mark(start + 1, end, "NAME")


def mark_dotted(marks: LabelledWords) -> None:
    """Label the words on both sides of the dot that parts the names of a foreigner: 科林 德 · 科林."""
    words = marks.words
    for dot, word in enumerate(words):
        if word not in DOTS or not 0 < dot < len(words) - 1:
            continue
        for step in (-1, 1):
            at = dot + step
            if not _is_han(words[at]):
                continue
            marks.mark(at, at + 1, "PERSON")
            at += step
            while 0 <= at < len(words) and _sounds_foreign(marks, at):
                marks.mark(at, at + 1, "PERSON")
                at += step
        marks.labels[dot] = "PERSON"


def _sounds_foreign(marks: LabelledWords, index: int) -> bool:
    word = marks.words[index]
    if marks.labels[index] in ("PERSON", "NAME"):
        return _is_han(word)
    return len(word) <= 3 and all(char in marks.lex.transliteration for char in word)


def mark_persons(marks: LabelledWords) -> None:
    """Label a surname with the given name after it: one or two single characters, or a word of two."""
    words, lex = marks.words, marks.lex
    for index, word in enumerate(words):
        short, long = word in lex.surnames, word in lex.surnames_long
        if not (short or long) or marks.labels[index] in ("CARDINAL", "DATE"):
            continue
        end = index + 1
        while end < len(words) and end <= index + 2 and marks.is_fragment(end):
            end += 1
        if end == index + 1 and marks.flags[index].startswith("nr") and _can_be_given_name(marks, end):
            end += 1
        if long or end > index + 1:
            marks.labels[index:end] = ["PERSON"] * (end - index)


def mark_titles(marks: LabelledWords) -> None:
    """Label a surname before a title: 江 主席, 高 校长. Who is meant has to be known."""
    for index in range(len(marks.words) - 1):
        word = marks.words[index]
        surname = word in marks.lex.surnames or word in marks.lex.surnames_common or word in marks.lex.surnames_long
        if surname and marks.words[index + 1] in marks.lex.titles and marks.labels[index] != "CARDINAL":
            marks.labels[index] = "PERSON"


def mark_centre(marks: LabelledWords) -> None:
    """Label 中央 where it is a government and not the middle of something: 中央 决定, but 广场 中央."""
    for index, word in enumerate(marks.words):
        if word == CENTRE and not (index and _has_middle(marks, index)):
            marks.mark(index, index + 1, "ORG")


def _has_middle(marks: LabelledWords, index: int) -> bool:
    """Return true if the word before 中央 has a middle: 湖 中央, 公园 的 中央 有, but not 新 的 中央 领导."""
    before = index - 1
    if marks.words[before] in MIDDLE_OF:
        return not (index + 1 < len(marks.words) and marks.flags[index + 1].startswith("n"))
    return marks.labels[before] in ("FAC", "GPE") or (marks.flags[before][0] in "nsf" and not marks.is_name(before))


def _can_be_given_name(marks: LabelledWords, index: int) -> bool:
    if index >= len(marks.words):
        return False
    word, flag = marks.words[index], marks.flags[index]
    return len(word) == 2 and flag[0] in "nax" and word not in marks.lex.common and _is_han(word)


def mark_fragments(marks: LabelledWords) -> None:
    """Label the single characters that segmentation broke off a name: 塔姆沃 思, 梅瑞狄 斯."""
    last = len(marks.words) - 1
    for step, indices in ((1, range(1, last + 1)), (-1, range(last - 1, -1, -1))):
        for index in indices:
            beside = index - step
            if (
                not marks.labels[index]
                and marks.labels[beside] in ("PERSON", "NAME", "ORG", "GPE")
                and marks.is_fragment(index)
                and _is_han(marks.words[beside])
            ):
                marks.labels[index] = "NAME"


def mark_regions(marks: LabelledWords) -> None:
    """Label one-character countries and provinces, where they stand together or before 国, 军, 语 ..."""
    words, regions = marks.words, marks.lex.regions
    for index, word in enumerate(words):
        if word not in regions:
            continue
        for step in (-1, 1):
            at = index + step
            if 0 <= at + step < len(words) and words[at] in JOINERS:
                at += step
            if 0 <= at < len(words) and (words[at] in regions or marks.labels[at] == "GPE"):
                marks.mark(index, index + 1, "GPE")
        after = words[index + 1] if index + 1 < len(words) else ""
        if after in marks.lex.region_heads and not marks.is_function(index):
            marks.mark(index, index + 1, "GPE")
        if after in marks.lex.peoples or (len(after) > 1 and after in marks.lex.org_suffixes):
            marks.mark(index, index + 2, "NORP")


def mark_peoples(marks: LabelledWords) -> None:
    """Label 人, 族, 语, 军 ... after the name of a place or a people."""
    for index in range(1, len(marks.words)):
        if marks.is_name(index - 1) and marks.words[index] in marks.lex.peoples:
            marks.labels[index] = "NORP"


def mark_suffixed(marks: LabelledWords) -> None:
    """Label a name that ends in a word for an organisation or a place, with all that stands between."""
    words = marks.words
    for index in range(1, len(words)):
        word = words[index]
        label = _head_label(marks, index)
        if not label:
            continue
        start = index
        while start > 0 and index - start < MAX_MODIFIERS and marks.is_modifier(start - 1):
            start -= 1
        name = next((at for at in range(start, index) if marks.is_name(at)), None)
        if name is not None:
            marks.mark(name, index + 1, label)
            marks.labels[index] = label
        elif start < index and _stands_without_name(marks, word) and not _is_indefinite(marks, start):
            if len(word) == 1:
                start = index - 2 if start < index - 1 and marks.is_fragment(index - 2) else index - 1
            marks.mark(start, index + 1, label)


def _head_label(marks: LabelledWords, index: int) -> str:
    """ORG or FAC for a word that is or ends in a kind of organisation or place, "" for any other."""
    word, lex = marks.words[index], marks.lex
    if len(word) == 1 and marks.flags[index] in ("d", "f"):
        return ""  # 都 and 里 are kinds of places, and far more often "all" and "in"
    compound = len(word) > 2 and marks.flags[index][0] == "n" and word not in lex.common
    kinds = (word, word[-2:], word[-1]) if compound else (word,)
    for kind in kinds:
        if kind in lex.org_suffixes:
            return "ORG"
        if kind in lex.place_suffixes:
            return "FAC"
    return "ORG" if word in lex.clubs else ""


def _stands_without_name(marks: LabelledWords, word: str) -> bool:
    """Return true if a kind makes a name of the common words before it: 国际 射击 中心, 竹子 山."""
    if len(word) == 1 or word in marks.lex.common:
        return word in SPLIT_HEADS
    return any(kind in marks.lex.org_suffixes or kind in marks.lex.place_suffixes for kind in (word, word[-2:]))


def _is_indefinite(marks: LabelledWords, start: int) -> bool:
    """Return true if a description starts at the index, or is a link in a list: 一座 自然史 和 文化 博物馆."""
    first = max(1, start - 2 * MAX_MODIFIERS)
    while start > first and marks.words[start - 1] in JOINERS and marks.is_modifier(start - 2):
        start -= 2
        if marks.is_name(start):
            return False
    return start > 0 and marks.words[start - 1].startswith(INDEFINITE)


def mark_aliases(marks: LabelledWords) -> None:
    """Label words after 又称, 简称, 原名 ... up to the next mark or word of grammar."""
    for index, word in enumerate(marks.words):
        if word not in marks.lex.aliases:
            continue
        end = index + 1
        while (
            end < len(marks.words)
            and end <= index + MAX_ALIAS
            and _is_han(marks.words[end])
            and not (marks.is_function(end) and end > index + 1)
        ):
            end += 1
        marks.mark(index + 1, end, "NAME")


def mark_repeats(marks: LabelledWords) -> None:
    """Label a word wherever it stands, once it was taken for a part of somebody's name."""
    seen = set()
    for word, flag, label in zip(marks.words, marks.flags, marks.labels, strict=True):
        person = label == "PERSON" or (label == "NAME" and flag in NAME_FLAGS)
        if person and len(word) > 1 and _is_han(word):
            seen.add(word)
    for index, word in enumerate(marks.words):
        if not marks.labels[index] and word in seen and word not in marks.lex.common:
            marks.labels[index] = "NAME"


RULES: tuple[Callable[[LabelledWords], None], ...] = (
    mark_flags,
    mark_quantities,
    mark_regions,
    mark_dotted,
    mark_persons,
    mark_titles,
    mark_centre,
    mark_aliases,
    mark_quotes,
    mark_repeats,
    mark_fragments,
    mark_suffixed,
    mark_peoples,
)


def label_words(words: list[str], flags: list[str], lexicons: Lexicons) -> list[str]:
    """Run all rules.

    Args:
        words: the tokens' texts.
        flags: jieba's flag of each.

    Returns:
        An OntoNotes label (or NAME: some name) for each token, "" for none.
    """
    marks = LabelledWords(words, flags, [""] * len(words), lexicons)
    for rule in RULES:
        rule(marks)
    return marks.labels
