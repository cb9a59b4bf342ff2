"""English captions of the scenes in open country."""

from __future__ import annotations

from vcrgen.build.samples.captions.en.words import English
from vcrgen.build.samples.facts import (
    Balloons,
    Campsite,
    Castle,
    Desert,
    SnowyVillage,
    Sunflowers,
    Viaduct,
    WindFarm,
)


def viaduct(f: Viaduct, v: English) -> str:
    """Tell of a train on a viaduct."""
    train = f"{f.train} {'steam train' if f.steam else 'train'}"
    valley = {"winter": "the snowy valley", "autumn": "the valley in its autumn colours"}.get(f.season,
                                                                                              "the green valley")
    coaches = v.number(f.coaches)
    leads = [
        f"{v.a(train)} crosses {valley} on a high stone viaduct",
        f"the {v.time()} from {v.place()} pulls its {coaches} coaches over the old viaduct",
        f"{v.number(f.arches)} arches of pale stone carry the railway across {valley}",
        f"high above the trees, {v.a(train)} with {coaches} coaches rolls over the viaduct near {v.place()}",
        f"passengers on the {train} have the best view of {valley}",
    ]
    details = [
        f"the viaduct was designed by {v.person()} and finished in {v.rng.randint(1846, 1912)}",
        f"a return ticket to {v.place()} costs {v.money()}",
        f"behind the engine follow {coaches} coaches in the same {f.train}",
        "from down here the engine looks like a toy",
        "the line was nearly closed for good a generation ago",
    ]
    if f.steam:
        details.append("white steam drifts back over the roofs of the coaches")
    if f.season == "winter":
        details.append("fresh snow covers the ground between the firs")
    return v.tell(leads, details, season=f.season)


def snowy_village(f: SnowyVillage, v: English) -> str:
    """Tell of a village in the snow."""
    houses, when = v.things(f.houses, "house"), v.when(f.daytime)
    leads = [
        f"{houses} stand close together under a thick layer of snow",
        f"the village of {v.place()} lies deep in snow {v.pick('again', 'this week', 'until the end of March')}",
        f"snow covers the steep roofs of {houses} at the foot of the mountains",
        f"winter has come to the village, and {houses} wear white caps",
    ]
    if not f.snowing:
        leads.append(f"{when}, the snow around {houses} is still without a footprint")
    details = [
        f"the road to {v.place()} has been closed since {v.date('winter')}",
        f"{v.person()} clears the path to the school before {v.time()} every day",
        "behind the last gardens the white mountains begin",
        "dark firs stand between the houses and the mountain",
        "large flakes are falling without a sound" if f.snowing else "for the moment the snow has stopped",
    ]
    if f.church:
        details.append(f"the bells of the church ring at {v.time()}")
        leads.append(f"the pointed roof of the church rises behind {houses}")
    if f.snowman:
        details.append("the children have built a snowman with a red scarf")
    if f.daytime in ("dusk", "night"):
        details.append("warm light shines from every window")
    return v.tell(leads, details, season="winter")


def castle(f: Castle, v: English) -> str:
    """Tell of a castle."""
    towers, when = v.number(f.towers), v.when(f.daytime)
    name = f"{v.place()} Castle"
    leads = [
        f"{name} with its {towers} towers stands on a round hill at the end of a winding path",
        f"{f.flag} flags fly from the {towers} towers of the castle on the hill",
        f"a winding path leads up to the gate of the castle {when}",
        f"{when}, the castle with its pointed roofs seems to come straight out of a fairy tale",
        f"the home of the counts of {v.place()}, a castle with {towers} towers",
    ]
    details = [
        f"it was besieged for {v.number(v.rng.randint(3, 12))} months in {v.rng.randint(1240, 1690)}, but never taken",
        f"guided tours start at {v.time()} and cost {v.money()}",
        f"the last owner, {v.person()}, left it to the state in {v.year()}",
        f"the {f.flag} flags show that the family is at home",
        "the path up to the gate is steeper than it looks",
    ]
    details.append({
        "spring": "pink blossom on the slopes announces the spring",
        "summer": "thick green trees grow on both slopes of the hill",
        "autumn": "the trees on the slopes glow in red and gold",
        "winter": "snow covers the hill and the branches of the firs",
    }[f.season])
    if f.daytime in ("dusk", "night"):
        details.append("lights are burning behind the narrow windows of the towers")
    return v.tell(leads, details, season=f.season)


_CROPS = {"rapeseed": "flowering rape", "wheat": "ripe wheat", "grass": "green grass",
          "lavender": "purple lavender"}


def wind_farm(f: WindFarm, v: English) -> str:
    """Tell of a wind farm."""
    turbines, crop, when = v.number(f.turbines), _CROPS[f.crop], v.when(f.daytime)
    leads = [
        f"{turbines} wind turbines turn slowly above a field of {crop}",
        f"{when}, {turbines} white turbines catch the wind behind a field of {crop}",
        f"the wind farm at {v.place()}, seen across a wide field of {crop}",
        f"a field of {crop} runs all the way to the foot of the turbines",
    ]
    details = [
        f"together they supply about {v.rng.randint(3, 28) * 500} homes in and around {v.place()}",
        f"the first of them was put up in {v.rng.randint(1994, 2021)}",
        f"{v.person()} farms the land between the towers",
        "each blade is longer than a lorry and its trailer",
        "from this distance they make no sound at all",
    ]
    if f.sheep:
        leads.append(f"{v.number(f.sheep)} sheep graze in the shadow of the tall white turbines")
        details.append(f"the {v.number(f.sheep)} sheep have long got used to the moving shadows")
    else:
        details.append("straight rows lead the eye towards the horizon")
    return v.tell(leads, details, season="summer")


def balloons(f: Balloons, v: English) -> str:
    """Tell of hot-air balloons."""
    n, when = len(f.balloons), v.when(f.daytime)
    many = v.things(f.balloons, "balloon") if not f.striped else v.count(n, "striped balloon")
    leads = [
        f"{many} drift{v.s(n)} over a wide valley of rolling green hills",
        f"{when}, {many} float{v.s(n)} above the hills near {v.place()}",
        f"{v.number(n)} hot-air balloons hang almost without moving above the valley",
        f"{many} over the hills on the first morning of the {v.place()} Balloon Festival"
        if f.daytime == "dawn" else
        f"{many} over the hills at the {v.place()} Balloon Festival",
    ]
    details = [
        f"the flight lasts about {v.number(v.rng.randint(2, 4))} hours and costs {v.money()} a person",
        f"in the highest basket stands {v.person()}, who has flown since {v.year()}",
        "the wind carries them slowly across the empty sky",
        "from up there the hills must look like a green sea",
        f"the baskets came down safely in a meadow outside {v.place()}",
    ]
    if f.river:
        details.append("a small river winds through the fields below")
        leads.append(f"{many} follow{v.s(n)} the river that winds between the hills")
    if len(set(f.balloons)) > 1:
        details.append("no two of them have the same colour")
    return v.tell(leads, details, season="summer")


def desert(f: Desert, v: English) -> str:
    """Tell of a desert by night."""
    light = v.moon(f.phase) if f.phase else "countless stars"
    leads = [
        f"the seven stars of the Plough stand high above the silent dunes under {light}",
        f"night in the desert, with {light} above one dune after another",
        f"the desert south of {v.place()} lies silent under {light}",
    ]
    details = [
        f"the next well is {v.rng.randint(14, 80)} kilometres away, towards {v.place()}",
        f"{v.person()} crossed these dunes on foot in {v.year()}",
        "the lines between the stars show the shape of the Plough",
        "after a hot day the sand gives back its warmth to the sky",
        f"the temperature had fallen to {v.rng.randint(2, 9)} degrees by {v.time()}",
    ]
    if f.camels:
        camels = f"{v.number(f.camels)} camels"
        leads += [f"{camels} walk in a line over the crest of a dune under {light}",
                  f"a small caravan of {camels} crosses the sand by the light of {light}"]
        details.append("the animals cast no shadow and leave hardly a trace")
    else:
        leads += [f"{v.number(f.cacti)} tall cacti stand guard on the dune under {light}",
                  f"nothing but sand and {v.number(f.cacti)} dark cacti as far as the eye can see"]
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
        f"the group around {v.person()} had walked {v.rng.randint(9, 31)} kilometres that day",
        "somewhere in the trees an owl has begun to call",
        f"breakfast is promised for {v.time()}",
        f"rain was forecast for {v.place()}, but the sky stayed full of stars",
    ]
    if f.fire:
        leads.append(f"a small fire burns in front of {tents} at the edge of the forest")
        details.append("the smell of wood smoke hangs over the whole clearing")
    if f.lake:
        details.append("the light of the moon glitters on the lake behind the camp")
        leads.append(f"between the forest and the lake somebody has pitched {tents}")
    return v.tell(leads, details, season="summer")


def sunflowers(f: Sunflowers, v: English) -> str:
    """Tell of sunflowers."""
    flowers, farm = v.number(f.flowers), f"{f.farmhouse} farmhouse"
    sky = "a sky full of clouds" if f.cloudy else "a bright blue sky"
    leads = [
        f"{flowers} large sunflowers tower over a field in full bloom",
        f"sunflowers in front of {v.a(farm)} under {sky}",
        f"{v.a(farm)} half hidden behind {flowers} tall sunflowers",
        f"under {sky}, {flowers} sunflowers show their open faces to the road",
        f"the {farm} of the {v.person().split()[1]} family, with sunflowers up to the windows",
    ]
    details = [
        f"{v.person()} sowed the field on {v.date('spring')}",
        f"a bunch of them sells for {v.money()} at the market in {v.place()}",
        "the whole field hums with the sound of bees",
        "behind the farm a single round tree gives some shade",
        "the clouds have hidden the sun since the morning" if f.cloudy else
        "white clouds pass slowly over the hills",
    ]
    if f.scarecrow:
        details.append("a scarecrow in a blue shirt keeps the birds away")
        leads.append(f"a scarecrow with a brown hat watches over the field of {v.person()}")
    return v.tell(leads, details, season="summer")
