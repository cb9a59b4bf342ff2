"""English captions of the scenes in farmed country."""

from __future__ import annotations

from vcrgen.samples.captions.en.words import English
from vcrgen.samples.facts import (
    Balloons,
    Castle,
    Sunflowers,
    Viaduct,
    WindFarm,
)


def viaduct(f: Viaduct, v: English) -> str:
    """Tell of a train on a viaduct."""
    train = f"{f.train} {'steam train' if f.steam else 'train'}"
    valley = {
        "spring": "the green valley",
        "summer": "the green valley",
        "autumn": "the valley in its autumn colours",
        "winter": "the snowy valley",
    }[f.season]
    coaches = v.number(f.coaches)
    leads = [
        f"{v.a(train)} crosses {valley} on a high stone viaduct",
        f"the {v.time()} from {v.place()} pulls its {coaches} coaches over the old viaduct",
        f"{v.number(f.arches)} arches of pale stone carry the railway across {valley}",
        f"high above the trees, {v.a(train)} with {coaches} coaches rolls over the viaduct near {v.place()}",
        f"passengers on the {train} have the best view of {valley}",
    ]
    details = [
        f"the viaduct was designed by {v.person()} and finished in {v.between(1846, 1912)}",
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
        f"it was besieged for {v.number(v.between(3, 12))} months in {v.between(1240, 1690)} and not taken",
        f"guided tours start at {v.time(9, 16)} and cost {v.money()}",
        f"the last owner, {v.person()}, left it to the state in {v.year()}",
        f"the {f.flag} flags show that the family is at home",
        "the path up to the gate is steeper than it looks",
    ]
    details.append(
        {
            "spring": "pink blossom on the slopes announces the spring",
            "summer": "thick green trees grow on both slopes of the hill",
            "autumn": "the trees on the slopes glow in red and gold",
            "winter": "snow covers the hill and the branches of the firs",
        }[f.season]
    )
    if f.daytime in ("dusk", "night"):
        details.append("lights are burning behind the narrow windows of the towers")
    return v.tell(leads, details, season=f.season)


_CROPS = {
    "rapeseed": "flowering rapeseed",
    "wheat": "ripe wheat",
    "grass": "green grass",
    "lavender": "purple lavender",
}


def wind_farm(f: WindFarm, v: English) -> str:
    """Tell of a wind farm."""
    v.earliest = 1995
    turbines, crop, when = v.number(f.turbines), _CROPS[f.crop], v.when(f.daytime)
    leads = [
        f"{turbines} wind turbines turn slowly above a field of {crop}",
        f"{when}, {turbines} white turbines catch the wind behind a field of {crop}",
        f"the wind farm at {v.place()}, seen across a wide field of {crop}",
        f"a field of {crop} runs all the way to the foot of the turbines",
    ]
    details = [
        f"together they supply about {v.between(3, 28) * 500} homes in and around {v.place()}",
        f"the first of them was put up in {v.between(1994, 2021)}",
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
        if f.daytime == "dawn"
        else f"{many} over the hills at the {v.place()} Balloon Festival",
    ]
    details = [
        f"the flight lasts about {v.number(v.between(2, 4))} hours and costs {v.money()} a person",
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
        "the clouds have hidden the sun since the morning" if f.cloudy else "white clouds pass slowly over the hills",
    ]
    if f.scarecrow:
        details.append("a scarecrow in a blue shirt keeps the birds away")
        leads.append(f"a scarecrow with a brown hat watches over the field of {v.person()}")
    return v.tell(leads, details, season="summer")
