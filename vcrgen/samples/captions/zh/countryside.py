"""Chinese captions of the scenes in farmed country."""

from __future__ import annotations

from vcrgen.samples.captions.zh.words import Chinese
from vcrgen.samples.facts import (
    Balloons,
    Castle,
    Sunflowers,
    Viaduct,
    WindFarm,
)


def viaduct(f: Viaduct, v: Chinese) -> str:
    """Tell of a train on a viaduct."""
    train = f"{v.colour(f.train)}的{'蒸汽火车' if f.steam else '火车'}"
    valley = {"winter": "白雪覆盖的山谷", "autumn": "秋色正浓的山谷"}.get(f.season, "绿意盎然的山谷")
    coaches = v.count(f.coaches, "节")
    leads = [
        f"一列{train}正从高高的石拱桥上驶过",
        f"{v.time()}从{v.place()}开出的列车拖着{coaches}车厢驶过老桥",
        f"{v.count(f.arches, '孔')}石拱桥托起铁路，横跨{valley}",
        f"一列{train}带着{coaches}车厢，穿行在{valley}上空",
        f"坐在这列{train}上，可以把{valley}尽收眼底",
    ]
    details = [
        f"这座桥由{v.person()}设计，{v.between(1896, 1936)}年建成通车",
        f"到{v.place()}的往返车票只要{v.money()}",
        f"车头后面跟着{coaches}同样颜色的车厢",
        "从山脚下望去，火车就像一件玩具",
        "这条铁路差一点就永远停运了",
    ]
    if f.steam:
        details.append("白色的蒸汽从车顶上向后飘散")
    if f.season == "winter":
        details.append("冷杉之间的空地上积着厚厚的新雪")
    return v.tell(leads, details, season=f.season)


def castle(f: Castle, v: Chinese) -> str:
    """Tell of a castle."""
    towers, when, flag = v.count(f.towers, "座"), v.when(f.daytime), v.colour(f.flag)
    leads = [
        f"山顶上的城堡有{towers}尖尖的塔楼",
        f"{flag}的旗帜在城堡的{towers}塔楼上迎风飘扬",
        f"{when}，一条弯弯曲曲的小路通向城堡的大门",
        f"{when}，山上的城堡就像从童话里走出来的一样",
        f"{v.place()}城外的山顶上有一座带{towers}塔楼的古堡",
    ]
    details = [
        f"{v.between(1240, 1690)}年它被围困了{v.count(v.between(3, 10), '个')}月，却始终没有被攻破",
        f"导览每天{v.time(9, 16)}开始，门票{v.money()}",
        f"城堡最后的主人在{v.year()}把它捐给了国家",
        f"{flag}的旗帜表示主人正在家里",
        "上山的路比看起来要陡得多",
        {
            "spring": "山坡上粉色的花开得正好",
            "summer": "山坡两边长满了茂密的绿树",
            "autumn": "山坡上的树叶红黄相间，十分好看",
            "winter": "整座山丘和冷杉的枝头都落满了雪",
        }[f.season],
    ]
    if f.daytime in ("dusk", "night"):
        details.append("塔楼狭小的窗户里已经亮起了灯")
    return v.tell(leads, details, season=f.season)


_CROPS = {"rapeseed": "金黄的油菜花田", "wheat": "成熟的麦田", "grass": "碧绿的草地", "lavender": "紫色的薰衣草田"}


def wind_farm(f: WindFarm, v: Chinese) -> str:
    """Tell of a wind farm."""
    v.earliest = 1995
    turbines, crop, when = v.count(f.turbines, "座"), _CROPS[f.crop], v.when(f.daytime)
    leads = [
        f"{turbines}白色的风车在{crop}后面缓缓转动",
        f"{when}，{turbines}风力发电机迎风而立，脚下是一片{crop}",
        f"一大片{crop}一直延伸到风车的脚下",
        f"隔着{crop}眺望{v.place()}的风力发电场",
    ]
    details = [
        f"它们一共能为{v.place()}的{v.between(3, 28) * 500}户人家供电",
        f"第一座风车是{v.between(1994, 2021)}年建成的",
        f"风车之间的土地由{v.person()}一家耕种" if f.crop != "grass" else f"这片草地由{v.person()}一家照看",
        "每片叶片都比一辆大货车还要长",
        "从这么远的地方听不到一点声音",
    ]
    if f.sheep:
        sheep = v.count(f.sheep, "只")
        leads.append(f"{sheep}绵羊在高大的白色风车下悠闲地吃草")
        details.append(f"{sheep}绵羊早就习惯了转动的影子")
    else:
        details.append("一道道整齐的田垄把目光引向远方")
    return v.tell(leads, details, season="summer")


def balloons(f: Balloons, v: Chinese) -> str:
    """Tell of hot-air balloons."""
    number, when = v.count(len(f.balloons), "个"), v.when(f.daytime)
    many = f"{number}条纹热气球" if f.striped else v.things(f.balloons, "个", "热气球")
    leads = [
        f"{many}从连绵起伏的绿色山谷上空飘过",
        f"{when}，{many}飘浮在{v.place()}附近的山丘之上",
        f"{number}热气球一动不动地悬在山谷上方",
        f"{v.place()}热气球节上，{many}正飞过山丘",
    ]
    details = [
        f"全程大约{v.count(v.between(2, 4), '个')}小时，每人收费{v.between(3, 12) * 100}元",
        f"飞得最高的吊篮里站着{v.person()}，他从{v.year()}起就驾驶热气球",
        "风推着它们慢慢地飘过空旷的天空",
        "从天上往下看，群山大概就像绿色的海浪",
        f"最后它们都平安降落在{v.place()}外的草地上",
    ]
    if f.river:
        details.append("脚下有一条小河蜿蜒穿过田野")
        leads.append(f"{many}沿着山间弯弯的小河向前飞去")
    if len(set(f.balloons)) > 1:
        details.append("每个热气球的颜色都不一样")
    return v.tell(leads, details, season="summer")


def sunflowers(f: Sunflowers, v: Chinese) -> str:
    """Tell of sunflowers."""
    flowers, farm = v.count(f.flowers, "朵"), f"{v.colour(f.farmhouse)}的农舍"
    sky = "多云的天空" if f.cloudy else "湛蓝的天空"
    leads = [
        f"{flowers}硕大的向日葵开在花海的最前面",
        f"{sky}下，{farm}前面的向日葵开得正旺",
        f"{flowers}向日葵把{farm}遮住了一角",
        f"{sky}下，{flowers}向日葵仰着圆圆的笑脸",
        f"{v.person()}家{farm}周围种满了向日葵",
    ]
    details = [
        f"这片花是{v.person()}在{v.year()}{v.month('spring')}亲手种下的",
        f"在{v.place()}的集市上，一束花能卖{v.money()}",
        "整片田野里都是蜜蜂嗡嗡的声音",
        "农舍旁边有一棵圆圆的大树可以乘凉",
        "从早上起太阳就一直躲在云层后面" if f.cloudy else "几朵白云慢慢地从山丘上飘过",
    ]
    if f.scarecrow:
        details.append("穿着蓝衣服的稻草人守在田里赶鸟")
        leads.append(f"戴着棕色帽子的稻草人替{v.person()}看守着花田")
    return v.tell(leads, details, season="summer")
