"""English words for facts, and invented names, dates and sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from vcrgen.samples.captions.teller import Teller
from vcrgen.samples.facts import Daytime, Phase, Season, Tint

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_WHEN: dict[Daytime, tuple[str, ...]] = {
    "dawn": ("at first light", "at sunrise", "early in the morning", "in the pale light of morning"),
    "day": ("under a blue sky", "on a bright day", "in broad daylight", "on a fine day with a little cloud"),
    "dusk": ("at sunset", "as the sun goes down", "in the evening light", "under a red evening sky"),
    "night": ("after dark", "on a clear night", "late at night", "under a sky full of stars"),
}
_MOON: dict[Phase, tuple[str, ...]] = {
    "full": ("a full moon", "the full moon"),
    "half": ("a half moon", "a moon at its first quarter"),
    "crescent": ("a crescent moon", "a thin new moon"),
}
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_SEASON_MONTHS: dict[Season, tuple[str, ...]] = {
    "spring": ("April", "May"),
    "summer": ("June", "July", "August"),
    "autumn": ("October", "November"),
    "winter": ("December", "January", "February"),
}
_FIRST = (
    "Ada",
    "Aisha",
    "Anton",
    "Beatriz",
    "Bruno",
    "Carmen",
    "Clara",
    "Daniel",
    "Edith",
    "Elif",
    "Emeka",
    "Erik",
    "Farid",
    "Freya",
    "Giulia",
    "Grace",
    "Hanna",
    "Hugo",
    "Imogen",
    "Ines",
    "Jakob",
    "Joan",
    "Kofi",
    "Leila",
    "Lena",
    "Luca",
    "Maeve",
    "Malik",
    "Marta",
    "Mei",
    "Mikko",
    "Nadia",
    "Nora",
    "Oscar",
    "Otto",
    "Paula",
    "Priya",
    "Rosa",
    "Samuel",
    "Signe",
    "Stefan",
    "Tamsin",
    "Theo",
    "Tomas",
    "Ursula",
    "Viktor",
    "Wanda",
    "Yusuf",
)
_LAST = (
    "Abebe",
    "Andersen",
    "Barlow",
    "Bianchi",
    "Brandt",
    "Castell",
    "Chandra",
    "Cole",
    "Dahl",
    "Dupont",
    "Eriksen",
    "Farrow",
    "Ferreira",
    "Galloway",
    "Haddad",
    "Hartmann",
    "Ivanova",
    "Jansen",
    "Kaya",
    "Keller",
    "Kimura",
    "Larkin",
    "Lindqvist",
    "Marsh",
    "Mbeki",
    "Moreau",
    "Nair",
    "Novak",
    "Okafor",
    "Olsen",
    "Pereira",
    "Quigley",
    "Rahman",
    "Ricci",
    "Rowe",
    "Santos",
    "Sato",
    "Silva",
    "Sorley",
    "Tanaka",
    "Thorne",
    "Ueda",
    "Vasquez",
    "Virtanen",
    "Weiss",
    "Whitlock",
    "Yilmaz",
    "Zeller",
)
_PLACE_HEADS = (
    "Alder",
    "Amber",
    "Ash",
    "Black",
    "Brack",
    "Carn",
    "Dun",
    "Elm",
    "Fair",
    "Fen",
    "Grey",
    "Hart",
    "Hazel",
    "Holm",
    "Iver",
    "Kel",
    "Lang",
    "Lin",
    "Mar",
    "Mill",
    "Nor",
    "Oak",
    "Pen",
    "Raven",
    "Roth",
    "Sand",
    "Silver",
    "Stan",
    "Thorn",
    "Wester",
    "Win",
    "Wolf",
)
_PLACE_TAILS = (
    "bridge",
    "bury",
    "by",
    "combe",
    "dale",
    "ford",
    "ham",
    "haven",
    "holt",
    "hurst",
    "leigh",
    "mere",
    "mouth",
    "ness",
    "port",
    "sea",
    "stead",
    "ton",
    "wick",
    "worth",
)
_REAL_PLACES = (
    "Skagen",
    "Porto",
    "Bergen",
    "Cork",
    "Gdansk",
    "Ghent",
    "Izmir",
    "Kyoto",
    "Lisbon",
    "Ljubljana",
    "Lucerne",
    "Marseille",
    "Oslo",
    "Riga",
    "Seville",
    "Tartu",
    "Trieste",
    "Turku",
    "Valencia",
    "York",
)
_CLUBS = (
    "Museum",
    "Art Society",
    "Camera Club",
    "Gallery",
    "Historical Society",
    "Public Library",
    "Institute",
    "School of Art",
)


class English(Teller):
    """Tells captions in English."""

    joint: ClassVar[str] = " "
    room: ClassVar[int] = 190

    def close(self, sentence: str) -> str:
        """Return the sentence with its capital and its full stop."""
        return sentence[0].upper() + sentence[1:] + "."

    def number(self, count: int) -> str:
        """Return a small number in words."""
        return _NUMBERS[count]

    def ordinal(self, place: int) -> str:
        """Return "first" for 1 and so on."""
        return _ORDINALS[place - 1]

    def count(self, count: int, noun: str, plural: str = "") -> str:
        """Return "a boat", "an apple" or "three boats"."""
        if count == 1:
            return self.a(noun)
        return f"{_NUMBERS[count]} {plural or noun + 's'}"

    def a(self, noun: str) -> str:
        """Return the noun with its indefinite article."""
        return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"

    def s(self, count: int) -> str:
        """Return the ending of a verb in the present: "s" for one, nothing for more."""
        return "s" if count == 1 else ""

    def listing(self, words: Sequence[str]) -> str:
        """Return "red, blue and green"."""
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

    def things(self, tints: Sequence[Tint], noun: str) -> str:
        """Return coloured things: "three red boats", or "three boats in red, blue and green"."""
        if len(set(tints)) == 1:
            return self.count(len(tints), f"{tints[0]} {noun}")
        return self.pick(
            f"{_NUMBERS[len(tints)]} {noun}s in {self.listing(tints)}",
            f"{self.listing(tints)} {noun}s",
            f"{_NUMBERS[len(tints)]} {noun}s of different colours",
        )

    def when(self, daytime: Daytime) -> str:
        """Return an adverbial for the time of day."""
        return self.pick(*_WHEN[daytime])

    def moon(self, phase: Phase) -> str:
        """Return the moon in its phase."""
        return self.pick(*_MOON[phase])

    def person(self) -> str:
        """Return a full name."""
        return self.coin(f"{self.pick(*_FIRST)} {self.pick(*_LAST)}", 11)

    def place(self) -> str:
        """Return the name of a town, most of them invented."""
        if self.rng.random() < 0.2:
            return self.coin(self.pick(*_REAL_PLACES), 5)
        return self.coin(self.pick(*_PLACE_HEADS) + self.pick(*_PLACE_TAILS), 9)

    def club(self) -> str:
        """Return the name of an institution, with its article."""
        return f"the {self.place()} {self.pick(*_CLUBS)}"

    def year(self) -> str:
        """Return a year up to 2024."""
        return self.coin(str(self.rng.randint(self.earliest, 2024)), 5)

    def month(self, season: Season | None = None) -> str:
        """Return a month, one of the season if that is given."""
        return self.pick(*(_SEASON_MONTHS[season] if season else _MONTHS))

    def date(self, season: Season | None = None) -> str:
        """Return a date such as "14 March 1998"."""
        return self.coin(f"{self.rng.randint(1, 28)} {self.month(season)}", 6) + f" {self.year()}"

    def time(self, first: int = 6, last: int = 22) -> str:
        """Return a time such as "7:40", from one hour to another."""
        return self.coin(f"{self.rng.randint(first, last)}:{self.rng.randrange(0, 60, 5):02d}", 4)

    def money(self) -> str:
        """Return a sum in some currency."""
        amount = self.rng.randint(2, 96)
        return self.pick(f"£{amount}.50", f"€{amount}", f"${amount}.95", f"{amount * 10} kroner", f"{amount} francs")

    def credit(self, season: Season | None) -> str:
        """Return a line that names the artist or the place, with a date."""
        return self.pick(
            f"{self.person()}, {self.date(season)}",
            f"{self.place()}, {self.date(season)}",
            f"{self.person()} for {self.club()}, {self.year()}",
        )

    def note(self, season: Season | None) -> str:
        """Return a sentence that fits any picture."""
        return self.pick(
            f"photographed by {self.person()} in {self.month(season)} {self.year()}",
            f"the picture was made by {self.person()} for the front room of a friend",
            f"{self.person()} drew the scene from memory in {self.year()}",
            f"a print of this picture hangs in the reading room of {self.club()}",
            f"on loan from {self.club()} until {self.date()}",
            f"the view was chosen for the {self.year()} calendar of {self.club()}",
            f"it was sold for {self.money()} at a small auction in {self.place()}",
            f"a postcard of this view was sent from {self.place()} on {self.date(season)}",
            f"number {self.rng.randint(2, 48)} in a series of small pictures by {self.person()}",
            f"the same spot looks much the same in a picture from {self.year()}",
            f"{self.person()} gave the picture to {self.club()} in {self.year()}",
            "nobody remembers who first thought of painting this view",
            "the artist left out everything that did not please the eye",
        )
