"""Where a line may end: the line breaking algorithm of Unicode (UAX #14, version 16).

The rules are named as in https://www.unicode.org/reports/tr14/. Left out are those of Hebrew hyphens (LB21a, LB21b) and
of syllables of Brahmic scripts (LB28a), which no language that breaks so is written in. The library uniseg, the oracle
of the tests, takes 40 ms for a caption.
"""

import regex

# Line breaking classes by one letter each, as the rules below name them; a small one stands for a character of East
# Asian width (F, W or H). Conditional starters are non-starters (LB1), as in strict Japanese style.
_CODES = {
    **{"SP": " ", "GL": "G", "WJ": "J", "OP": "O", "CL": "C", "CP": "P", "EX": "X", "IS": "S", "SY": "Y", "QU": "Q"},
    **{"NS": "K", "CJ": "K", "IN": "E", "BA": "B", "HY": "H", "BB": "F", "B2": "D", "PR": "T", "PO": "U", "NU": "N"},
    **{
        "ID": "I",
        "EB": "V",
        "EM": "W",
        "RI": "6",
        "JL": "1",
        "JV": "2",
        "JT": "3",
        "H2": "4",
        "H3": "5",
        "CB": "7",
        "HH": "8",
    },
    **{"CM": "M", "ZWJ": "Z"},
}
_LETTER = "A"  # all other classes
_CLASS = regex.compile("|".join(rf"(?P<{name}>\p{{lb={name}}})" for name in _CODES))
_INITIAL, _FINAL = regex.compile(r"\p{Pi}"), regex.compile(r"\p{Pf}")  # quotation marks: L and R
_MARK = regex.compile(r"\p{lb=SA}(?<=\p{Mn}|\p{Mc})")
_WIDE = regex.compile(r"[\p{ea=F}\p{ea=W}\p{ea=H}]")
_NARROW = r"[^a-z1-5]"
_NO_BREAK = regex.compile(
    rf"""
    (?!(?<=i)i)(?:                                      # the most frequent places, and no rule is of them
      (?=\x20)                                          # LB7
    | (?=J) | (?<=J)                                    # LB11
    | (?<=G) | (?<![\x20BbH8])(?=G)                     # LB12
    | (?=[CcPpXxY])                                     # LB13
    | (?<=[Oo]\x20*)                                    # LB14
    | (?<=(?:^|[OoQLRG\x20])L\x20*)                     # LB15a
    | (?=R(?:[\x20GJCcQLRPpXxSsY]|$))                   # LB15b
    | (?=[Ss])(?!(?<=\x20)S[Nn])                        # LB15c, LB15d
    | (?<=[CcPp]\x20*)(?=[Kk])                          # LB16
    | (?<=[Dd]\x20*)(?=[Dd])                            # LB17
    | (?<![\x207])(?!7)(?:                               # LB18, LB20
        (?=[QR]) | (?<=[QL])                            # LB19
      | (?<={_NARROW})(?=[QLR]) | (?=[QLR](?:{_NARROW}|$))  # LB19a
      | (?<=[QLR])(?={_NARROW}) | (?<=(?:^|{_NARROW})[QLR])
      | (?<=(?:^|[\x20G7])[H8])(?=[Aa])                # LB20a
      | (?=[BbHKk8]) | (?<=F)                           # LB21
      | (?=[Ee])                                        # LB22
      | (?<=[Aa])(?=N) | (?<=N)(?=[Aa])                 # LB23
      | (?<=[Tt])(?=[IiVvWw]) | (?<=[IiVvWw])(?=[Uu])   # LB23a
      | (?<=[TtUu])(?=[Aa]) | (?<=[Aa])(?=[TtUu])       # LB24
      | (?<=N[YSs]*[CcPp]?)(?=[TtUu])                   # LB25
      | (?<=[TtUu])(?=[Oo]?[Ss]?N) | (?<=[HSs])(?=N) | (?<=N[YSs]*)(?=N)
      | (?<=1)(?=[1245]) | (?<=[24])(?=[23]) | (?<=[35])(?=3)  # LB26
      | (?<=[1-5])(?=[Uu]) | (?<=[Tt])(?=[1-5])         # LB27
      | (?<=[Aa])(?=[Aa])                               # LB28
      | (?<=[Ss])(?=[Aa])                               # LB29
      | (?<=[AaN])(?=O) | (?<=P)(?=[AaN])               # LB30
      | (?<=(?:^|[^6])(?:66)*6)(?=6)                    # LB30a
      | (?<=[Vv])(?=[Ww])                               # LB30b
    ))
    """,
    regex.VERBOSE,
)


class _Codes(dict[str, str]):
    """The code of every character that was seen."""

    def __missing__(self, character: str) -> str:
        match = _CLASS.match(character)
        code = _CODES[str(match.lastgroup)] if match else "M" if _MARK.match(character) else _LETTER
        if code == "Q":
            code = "L" if _INITIAL.match(character) else "R" if _FINAL.match(character) else "Q"
        self[character] = code = code.lower() if _WIDE.match(character) else code
        return code


_code_of = _Codes()


def line_breaks(text: str) -> list[int]:
    """Find the offsets before which a new line may begin, ascending, without 0 and the end.

    Args:
        text: A text without mandatory breaks.
    """
    codes, starts = _without_marks(text)
    forbidden = {match.start() for match in _NO_BREAK.finditer(codes)}
    return [
        start
        for place, start in enumerate(starts)
        if place and place not in forbidden and text[start - 1] != "\u200d"  # LB8a
    ]


def _without_marks(text: str) -> tuple[str, list[int]]:
    """Codes and offsets of characters, each with the marks after it (LB9); other marks are letters (LB10)."""
    codes, starts = [], []
    for place, code in enumerate(map(_code_of.__getitem__, text)):
        if code not in "MmZ":
            codes.append(code)
            starts.append(place)
        elif not codes or codes[-1] == " ":
            codes.append(_LETTER)
            starts.append(place)
    return "".join(codes), starts
