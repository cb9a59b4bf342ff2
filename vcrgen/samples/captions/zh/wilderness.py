"""Chinese captions of the scenes in snow, sand and forest."""

from __future__ import annotations

from vcrgen.samples.captions.zh.words import Chinese
from vcrgen.samples.facts import (
    Campsite,
    Desert,
    SnowyVillage,
)


def snowy_village(f: SnowyVillage, v: Chinese) -> str:
    """Tell of a village in the snow."""
    houses, when = v.things(f.houses, "座", "小房子"), v.when(f.daytime)
    leads = [
        f"{houses}紧紧挨在一起，屋顶上盖着厚厚的积雪",
        f"一夜之间，{v.place()}变成了一片银白的世界",
        f"雪山脚下，{houses}都戴上了白色的帽子",
        f"大雪之后的{v.place()}，{houses}安静地立在山脚下",
    ]
    if not f.snowing:
        leads.append(f"{when}，{houses}周围的雪地上还没有一个脚印")
    details = [
        f"通往{v.place()}的公路从{v.date('winter')}起就封闭了",
        f"每天{v.time(7, 8)}以前，{v.person()}都会把通往学校的小路扫干净",
        "房屋后面就是连绵的雪山",
        "房子和雪山之间长着一片深色的冷杉",
        "鹅毛般的雪花还在无声地飘落" if f.snowing else "雪总算停了下来",
    ]
    if f.church:
        details.append(f"教堂的钟声会在{v.time()}响起")
        leads.append(f"{houses}的后面露出了教堂尖尖的屋顶")
    if f.snowman:
        details.append("孩子们堆了一个围着红围巾的雪人")
    if f.daytime in ("dusk", "night"):
        details.append("每扇窗户里都透出温暖的灯光")
    return v.tell(leads, details, season="winter")


def desert(f: Desert, v: Chinese) -> str:
    """Tell of a desert by night."""
    light = v.moon(f.phase) if f.phase else "满天繁星"
    leads = [
        f"北斗七星高挂在寂静的沙丘之上，与{light}相伴",
        f"沙漠的夜晚，{light}照着一座又一座沙丘",
        f"{v.place()}以南的沙漠在{light}下沉沉睡去",
    ]
    details = [
        f"下一口水井还在{v.between(14, 80)}公里之外",
        f"{v.year()}，{v.person()}曾独自徒步穿越这片沙漠",
        "几条细线把北斗七星连成了勺子的形状",
        "炎热的白天过后，沙子正慢慢地冷却下来",
        f"到{v.time(21, 23)}，气温已经降到了{v.between(2, 9)}度",
    ]
    if f.camels:
        camels = v.count(f.camels, "头")
        leads += [f"{camels}骆驼排成一队，在{light}下翻过沙丘", f"一支由{camels}骆驼组成的小驼队正在夜色中赶路"]
        details.append("驼队走过的地方几乎没有留下痕迹")
    else:
        cacti = v.count(f.cacti, "棵")
        leads += [f"{cacti}高大的仙人掌立在{light}下的沙丘上", f"除了黄沙和{cacti}仙人掌，四周什么也看不见"]
        details.append("仙人掌里储存的水足够撑过好几个月的旱季")
    if f.tent:
        details.append("前面的帐篷里透出一片温暖的灯光")
    return v.tell(leads, details)


def campsite(f: Campsite, v: Chinese) -> str:
    """Tell of a campsite by night."""
    tents, moon = v.things(f.tents, "顶", "帐篷"), v.moon(f.phase)
    leads = [
        f"漆黑的森林边上，{tents}透出柔和的灯光",
        f"{moon}照着林间空地上的{tents}",
        f"{v.place()}的夏夜里，高高的冷杉围着{tents}",
        f"夜已经深了，{tents}里的灯还亮着",
    ]
    details = [
        f"在这里露营一晚收费{v.money()}，柴火免费",
        f"{v.person()}带着大家当天走了{v.between(9, 31)}公里山路",
        "林子里不知什么地方传来了猫头鹰的叫声",
        f"说好了第二天{v.time(7, 9)}吃早饭",
        "天气预报说有雨，夜空中却一直缀满了星星",
    ]
    if f.fire:
        leads.append(f"森林边上的{tents}旁燃着一堆小小的篝火")
        details.append("空地上到处飘着木柴燃烧的香味")
    if f.lake:
        details.append("营地后面的湖水映着闪闪的月光")
        leads.append(f"有人在森林和湖水之间搭起了{tents}")
    return v.tell(leads, details, season="summer")
