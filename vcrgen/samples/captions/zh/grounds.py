"""Chinese captions of the scenes at an airport and in a stadium."""

from __future__ import annotations

from vcrgen.samples.captions.zh.words import COLOURS, Chinese
from vcrgen.samples.facts import Airport, Football


def airport(f: Airport, v: Chinese) -> str:
    """Tell of an airport."""
    n, when = len(f.tails), v.when(f.daytime)
    if len(set(f.tails)) == 1:
        planes = f"{v.count(n, '架')}{v.colour(f.tails[0])}尾翼的客机"
    else:
        planes = f"尾翼分别为{'、'.join(v.colour(t) for t in f.tails)}的{v.count(n, '架')}客机"
    leads = [
        f"{planes}停在长长的候机楼前等待起飞",
        f"{when}，{planes}停在塔台下的停机坪上",
        f"{when}，从跑道的另一头远望{v.city()}机场",
        f"站在高高的塔台上，可以看清停机坪上的{planes}",
    ]
    details = [
        f"飞往{v.city()}的{v.pick('CA', 'MU', 'CZ', 'HU')}{v.between(1002, 8987)}次航班{v.time()}起飞",
        f"塔台由{v.person()}设计，{v.between(1972, 2015)}年投入使用",
        "所有飞机的机头都朝着同一个方向" if n > 1 else "乘客还没有开始登机",
        f"每年大约有{v.between(2, 30) * 100}万名旅客从这里出发",
        "地面上的黄线给飞行员指明了方向",
    ]
    if f.takeoff:
        details.append("另一架飞机刚刚离开地面，正在向高空爬升")
        leads.append("一架飞机从候机楼的上空腾空而起")
    else:
        details.append("这会儿天上没有一架飞机")
    if f.daytime in ("dusk", "night"):
        details.append("候机楼的窗户里灯火通明")
    return v.tell(leads, details)


def football(f: Football, v: Chinese) -> str:
    """Tell of a football match."""
    attack = f"{v.count(f.attacker_count, '名')}{COLOURS[f.attackers]}衣球员"
    defence = f"{v.count(f.defender_count, '名')}{COLOURS[f.defenders]}衣后卫"
    home, away = v.city(), v.place()
    leads = [
        f"{attack}冲向球门，守在门前的是{defence}",
        f"比赛的最后几分钟，{home}队向{away}队的球门发起了猛攻",
        f"在座无虚席的看台前，穿{v.colour(f.defenders)}球衣的一方正全力防守",
        f"足球就停在{attack}面前，全场观众都屏住了呼吸",
        f"{attack}对阵{defence}，球门里却没有守门员",
    ]
    details = [
        f"第{v.between(71, 90)}分钟，{v.person()}踢进了制胜一球",
        f"上半场双方都没有进球，最终比分是{v.between(1, 4)}比{v.between(0, 3)}",
        f"到场观看比赛的观众超过{v.between(12, 78) * 250}人",
        "球门后面的看台上坐满了热情的球迷",
        f"奖杯是{v.club()}在{v.year()}捐赠的",
    ]
    if f.floodlit:
        details.append("两座高大的照明灯把球场照得如同白昼")
        leads.append(f"{v.city()}体育场的夜场比赛，灯光照亮了整片草坪")
    else:
        details.append("几朵白云从球场上空悠悠飘过")
    return v.tell(leads, details)
