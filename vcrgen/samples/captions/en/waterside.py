"""English captions of the scenes on and under water."""

from __future__ import annotations

from vcrgen.samples.captions.en.words import English
from vcrgen.samples.facts import Aquarium, Beach, Harbour, MountainLake, Regatta, WaterTown


def harbour(f: Harbour, v: English) -> str:
    """Tell of a harbour."""
    n, boats, when = len(f.boats), v.things(f.boats, "fishing boat"), v.when(f.daytime)
    lighthouse = f"lighthouse with its {f.stripe} and white stripes"
    leads = [
        f"{boats} lie{v.s(n)} at anchor in the quiet water below the old lighthouse",
        f"the {lighthouse} looks out over the harbour of {v.place()} {when}",
        f"{when}, {boats} rest{v.s(n)} on the calm water of the bay",
        f"view across the harbour to the lighthouse, with {boats} in the foreground",
        f"{boats} and a {lighthouse}, seen from the sea wall at {v.place()}",
    ]
    details = [
        f"the ferry to {v.place()} leaves from the other side at {v.time()}",
        f"the tower was painted in {f.stripe} and white so that no ship could take it for another",
        f"{v.person()} has kept the light burning here since {v.year()}",
        f"the crew will not go out again before {v.time(4, 7)} tomorrow",
        "low green hills close off the far side of the bay",
        "beyond the rocks the open sea begins",
    ]
    if f.gulls:
        details.append(f"{v.count(f.gulls, 'gull')} circle{v.s(f.gulls)} above the boats and hope for a meal")
    if f.daytime in ("dusk", "night"):
        details.append("a long beam of light already sweeps out over the sea")
    return v.tell(leads, details)


def mountain_lake(f: MountainLake, v: English) -> str:
    """Tell of a mountain lake."""
    peaks, when = v.number(f.peaks), v.when(f.daytime)
    trees = "trees in their autumn colours" if f.autumn else "a dark line of fir trees"
    leads = [
        f"{peaks} snowy peaks stand over a lake so still that it doubles them",
        f"the lake below Mount {v.person().split()[1]} {when}, with {trees} along the shore",
        f"{when}, the mountains and {trees} are mirrored in the smooth water of the lake",
        f"a still mountain lake near {v.place()} with {trees} on the far bank",
        f"snow lies on the tops of the {peaks} mountains behind the lake",
    ]
    details = [
        f"the highest of them was first climbed by {v.person()} in {v.year()}",
        f"the path around the water takes about {v.number(v.between(2, 5))} hours at an easy pace",
        f"at {v.between(11, 24) * 100} metres the water stays cold all year round",
        "not a breath of wind disturbs the reflection",
        "the air up here smells of resin and cold stone",
    ]
    if f.canoe:
        leads.append(f"alone in {v.a(f.canoe)} canoe on a mountain lake {when}")
        details.append(f"somebody in {v.a(f.canoe)} canoe has the whole lake to himself")
    else:
        details.append("there is no boat to be seen on the water")
    details.append(
        "the first leaves have already turned red and gold"
        if f.autumn
        else "the firs grow right down to the edge of the water"
    )
    return v.tell(leads, details, season="autumn" if f.autumn else None)


def regatta(f: Regatta, v: English) -> str:
    """Tell of a regatta."""
    n, yachts = v.number(len(f.sails)), v.things(f.sails, "sail")
    sky = "grey clouds" if f.cloudy else "a bright summer sky"
    leads = [
        f"{n} yachts race along the coast under {sky}",
        f"the fleet heads for the {f.buoy} buoy in the second race of the {v.place()} regatta",
        f"{yachts} lean into the wind as the boats come round the point",
        f"{n} sailing boats spread out across the bay after a slow start",
        f"{yachts} against the dark blue water off {v.place()}",
    ]
    details = [
        f"the race was won by {v.person()} in just over {v.number(v.between(2, 6))} hours",
        f"the {f.buoy} buoy in the foreground marks the place where they have to turn",
        f"the start had to be put off until {v.time(10, 15)} for lack of wind",
        f"it costs {v.money()} to enter a boat, and nothing at all to watch",
        f"the first cup was given by {v.club()} in {v.year()}",
        "the clouds bring just the steady breeze that the crews had hoped for"
        if f.cloudy
        else "there is hardly a cloud in the way of the sun",
        "white foam trails behind every one of the hulls",
    ]
    return v.tell(leads, details, season="summer")


def beach(f: Beach, v: English) -> str:
    """Tell of a beach."""
    n, umbrellas, when = len(f.umbrellas), v.things(f.umbrellas, "umbrella"), v.when(f.daytime)
    leads = [
        f"{umbrellas} on the warm sand of a nearly empty beach",
        f"{when}, {v.number(n)} striped umbrellas stand open on the beach at {v.place()}",
        f"the beach at {v.place()} {when}, with {umbrellas} close to the water",
        f"towels have been spread out in the shade of {v.number(n)} striped umbrellas",
        f"small waves run up the sand in front of {umbrellas}",
    ]
    details = [
        f"an umbrella can be hired for {v.money()} a day from the hut behind the dunes",
        f"the lifeguard, {v.person()}, goes home at {v.time(17, 20)}",
        f"the last bus back to {v.place()} leaves at {v.time(18, 23)}",
        "everyone seems to have gone for a swim",
        "the setting sun lays a path of gold on the sea"
        if f.daytime == "dusk"
        else "the sun stands high above the clear green water",
    ]
    if f.ball:
        details.append("somebody has left a colourful ball lying in the sand")
    if f.palm:
        details.append("a tall palm leans over the edge of the beach")
        leads.append(f"a single palm and {umbrellas} between the dunes and the sea")
    if f.sail:
        details.append("far out, a small boat with white sails passes along the horizon")
    return v.tell(leads, details, season="summer")


def aquarium(f: Aquarium, v: English) -> str:
    """Tell of an aquarium."""
    big = v.count(f.big_count, f"large {f.big} fish", f"large {f.big} fish")
    small = f"{v.number(f.small_count)} small {f.small} ones"
    s = v.s(f.big_count)
    leads = [
        f"{big} swim{s} slowly above {small} in the big tank",
        f"behind the glass, {big} share{s} the warm water with {small}",
        f"the coral tank at {v.club()}, with {big} and {small}",
        f"a shoal of small {f.small} fish keeps close to the waving plants",
        f"rays of light fall through the water on {big} and {small}",
    ]
    details = [
        f"{v.person()} feeds them every morning at {v.time(7, 11)}",
        f"the tank holds {v.between(12, 90) * 1000} litres and was opened in {v.year()}",
        f"tickets cost {v.money()}, and children under six get in for nothing",
        "the small ones never stray far from the bottom",
        "coral grows between the plants on the sandy floor",
        "bubbles rise without a sound towards the light",
    ]
    if f.turtle:
        leads.append(f"a sea turtle paddles over the heads of {big}")
        details.append(f"the old turtle near the surface is called {v.person().split()[0]}")
    if f.jellyfish:
        jellyfish = v.count(f.jellyfish, "pale jellyfish", "pale jellyfish")
        details.append(f"{jellyfish} drift{v.s(f.jellyfish)} just under the surface with trailing arms")
    return v.tell(leads, details)


def water_town(f: WaterTown, v: English) -> str:
    """Tell of a water town."""
    lanterns, moon = v.number(f.lanterns), v.moon(f.phase)
    bridge = "stone bridge with a single arch" if f.arches == 1 else "stone bridge with three arches"
    leads = [
        f"{lanterns} red lanterns hang on a rope across the canal",
        f"{moon} rises over the dark roofs and the old {bridge}",
        f"white houses line both sides of the canal, with a {bridge} between them",
        f"on festival night {lanterns} red lanterns light up the canal in {v.place()}",
        f"lanterns, lit windows and {moon} above a quiet canal",
    ]
    details = [
        f"the bridge was built in {v.between(1420, 1790)} and is still the only way across",
        f"the lanterns were hung by the family of {v.person()}",
        "the houses and the bridge stand on their heads in the still water",
        "most of the windows are still lit at this late hour",
        f"on {v.date()} the whole street was awake until morning",
        f"{moon} stands exactly above the middle of the bridge",
    ]
    details.append(
        "a small wooden boat with a lamp under its roof glides along the canal"
        if f.boat
        else "no boat is out on the water tonight"
    )
    return v.tell(leads, details)
