"""English captions of the scenes at an airport and in a stadium."""

from __future__ import annotations

from vcrgen.samples.captions.en.words import English
from vcrgen.samples.facts import Airport, Football


def airport(f: Airport, v: English) -> str:
    """Tell of an airport."""
    n, when = len(f.tails), v.when(f.daytime)
    tails = (
        f"{v.a(f.tails[0])} tail"
        if n == 1
        else (f"{f.tails[0]} tails" if len(set(f.tails)) == 1 else f"tails in {v.listing(f.tails)}")
    )
    planes = f"{v.count(n, 'airliner')} with {tails}"
    leads = [
        f"{planes} wait{v.s(n)} in front of the long terminal building",
        f"{when}, {planes} stand{v.s(n)} on the apron below the control tower",
        f"the airport of {v.place()} {when}, seen from the far side of the runway",
        f"from the control tower the crew can watch {planes}",
    ]
    details = [
        f"flight {v.pick('KX', 'NL', 'OB')} {v.between(102, 987)} to {v.place()} will leave at {v.time()}",
        f"the tower was designed by {v.person()} and opened in {v.between(1962, 2015)}",
        "their noses all point in the same direction" if n > 1 else "no passenger has come on board so far",
        f"about {v.between(2, 30)} million passengers pass through the building every year",
        "a yellow line on the ground shows the pilots where to go",
    ]
    if f.takeoff:
        details.append("another plane has just taken off and climbs into the sky")
        leads.append(
            f"a plane takes off over the roof of the terminal while {v.count(n, 'other')} stay{v.s(n)} on the ground"
            if n > 1
            else "one plane takes off over the roof of the terminal while another stays on the ground"
        )
    else:
        details.append("for the moment nothing is moving in the air")
    if f.daytime in ("dusk", "night"):
        details.append("all the windows of the terminal are brightly lit")
    return v.tell(leads, details)


def football(f: Football, v: English) -> str:
    """Tell of a football match."""
    attack = f"{v.number(f.attacker_count)} players in {f.attackers}"
    defence = f"{v.number(f.defender_count)} in {f.defenders}"
    home, away = f"{v.place()} {v.pick('Rovers', 'United', 'Town', 'Athletic')}", v.place()
    leads = [
        f"{attack} run towards the goal, which is defended by {defence}",
        f"{home} in {f.attackers} attack the goal of {away} in the last minutes of the match",
        f"the team in {f.defenders} has to defend its goal in front of a full stand",
        f"the ball lies ready in front of {attack}, and the crowd holds its breath",
        f"{attack} against {defence}, and nobody in the goal",
    ]
    details = [
        f"{v.person()} scored the winner in minute {v.between(71, 90)}",
        f"the match ended {v.between(1, 4)}-{v.between(0, 3)} after a goalless first half",
        f"more than {v.between(12, 78) * 250} people had come to watch",
        "the stand behind the goal is filled to the last seat",
        f"the cup goes back to a gift of {v.club()} in {v.year()}",
    ]
    if f.floodlit:
        details.append("two tall floodlights turn the night into day")
        leads.append(f"an evening match at {v.place()} under the floodlights")
    else:
        details.append("a few white clouds pass over the stadium")
    return v.tell(leads, details)
