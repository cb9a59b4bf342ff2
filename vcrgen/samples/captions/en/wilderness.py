"""English captions of the scenes in snow, sand and forest."""

from __future__ import annotations

from vcrgen.samples.captions.en.words import English
from vcrgen.samples.facts import (
    Campsite,
    Desert,
    SnowyVillage,
)


def snowy_village(f: SnowyVillage, v: English) -> str:
    """Tell of a village in the snow."""
    houses, when = v.things(f.houses, "house"), v.when(f.daytime)
    leads = [
        f"{houses} stand close together under a thick layer of snow",
        f"the village of {v.place()} lies deep in snow {v.pick('again', 'this week', 'until March')}",
        f"snow covers the steep roofs of {houses} at the foot of the mountains",
        f"winter has come to the village, and {houses} wear white caps",
    ]
    if not f.snowing:
        leads.append(f"{when}, the snow around {houses} is still without a footprint")
    details = [
        f"the road to {v.place()} has been closed since {v.date('winter')}",
        f"{v.person()} clears the path to the school before {v.time(6, 8)} every day",
        "behind the last gardens the white mountains begin",
        "dark firs stand between the houses and the mountain",
        "large flakes are falling without a sound" if f.snowing else "for the moment the snow has stopped",
    ]
    if f.church:
        details.append(f"the bells of the church ring at {v.time(7, 20)}")
        leads.append(f"the pointed roof of the church rises behind {houses}")
    if f.snowman:
        details.append("the children have built a snowman with a red scarf")
    if f.daytime in ("dusk", "night"):
        details.append("warm light shines from every window")
    return v.tell(leads, details, season="winter")


def desert(f: Desert, v: English) -> str:
    """Tell of a desert by night."""
    light = v.moon(f.phase) if f.phase else "countless stars"
    leads = [
        f"the seven stars of the Plough stand high above the silent dunes under {light}",
        f"night in the desert, with {light} above one dune after another",
        f"the desert south of {v.place()} lies silent under {light}",
    ]
    details = [
        f"the next well is {v.between(14, 80)} kilometres away, towards {v.place()}",
        f"{v.person()} crossed these dunes on foot in {v.year()}",
        "the lines between the stars show the shape of the Plough",
        "after a hot day the sand gives back its warmth to the sky",
        f"the temperature had fallen to {v.between(2, 9)} degrees by {v.time(21, 23)}",
    ]
    if f.camels:
        camels = f"{v.number(f.camels)} camels"
        leads += [
            f"{camels} walk in a line over the crest of a dune under {light}",
            f"a small caravan of {camels} crosses the sand by the light of {light}",
        ]
        details.append("the animals cast no shadow and leave hardly a trace")
    else:
        leads += [
            f"{v.number(f.cacti)} tall cacti stand guard on the dune under {light}",
            f"nothing but sand and {v.number(f.cacti)} dark cacti as far as the eye can see",
        ]
        details.append("the cacti store enough water for many dry months")
    if f.tent:
        details.append("light falls from the open door of a tent at the end of the track")
    return v.tell(leads, details)


def campsite(f: Campsite, v: English) -> str:
    """Tell of a campsite by night."""
    n, tents, moon = len(f.tents), v.things(f.tents, "tent"), v.moon(f.phase)
    leads = [
        f"{tents} glow{v.s(n)} softly at the edge of a dark forest",
        f"{moon} shines on {tents} in a clearing of the forest",
        f"summer night at {v.place()}: {tents}, tall firs and {moon}",
        f"the lamps are still on inside {tents} below the black line of the trees",
    ]
    details = [
        f"a pitch for one night costs {v.money()}, firewood included",
        f"the group around {v.person()} had walked {v.between(9, 31)} kilometres that day",
        "somewhere in the trees an owl has begun to call",
        f"breakfast is promised for {v.time(6, 9)}",
        f"rain was forecast for {v.place()}, but the sky stayed full of stars",
    ]
    if f.fire:
        leads.append(f"a small fire burns in front of {tents} at the edge of the forest")
        details.append("the smell of wood smoke hangs over the whole clearing")
    if f.lake:
        details.append("the light of the moon glitters on the lake behind the camp")
        leads.append(f"between the forest and the lake somebody has pitched {tents}")
    return v.tell(leads, details, season="summer")
