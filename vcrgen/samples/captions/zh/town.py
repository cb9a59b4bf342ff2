"""Chinese captions of the scenes in the streets of a town."""

from __future__ import annotations

from vcrgen.samples.captions.zh.words import COLOURS, Chinese
from vcrgen.samples.facts import Bicycle, CityNight, ClockTower, Fruit, Market

_FRUITS: dict[Fruit, str] = {
    "apple": "苹果",
    "orange": "橙子",
    "lemon": "柠檬",
    "pear": "青梨",
    "watermelon": "西瓜",
    "grape": "葡萄",
    "aubergine": "茄子",
}


def city_night(f: CityNight, v: Chinese) -> str:
    """Tell of a city street at night."""
    sky = "大雨中" if f.raining else f"{v.moon(f.phase or 'full')}下"
    taxi, lamps = f"{v.colour(f.taxi)}出租车", v.count(f.lamps, "盏")
    leads = [
        f"{sky}，一辆{taxi}驶过空荡荡的街道",
        f"深夜，{lamps}路灯照着一辆孤零零的{taxi}",
        f"夜里{v.between(10, 11)}:{v.rng.randrange(0, 60, 5):02d}的{v.city()}市中心，{sky}车流已经稀少",
        "街道两旁的高楼里还亮着无数的灯火",
        f"{sky}，出租车从路灯和高楼之间驶过",
    ]
    details = [
        f"司机{v.person()}从{v.year()}起就一直开夜班车",
        f"这个钟点打车去{v.city()}机场大约要{v.between(6, 28) * 10}元",
        f"路边立着{lamps}老式的铁制路灯",
        "人行道上一个人影也没有",
        f"最高的那栋楼归{v.club()}所有",
    ]
    if f.raining:
        details.append("路灯的光在湿漉漉的路面上拖出长长的倒影")
        leads.append(f"雨夜的城市里，路上只剩下一辆{taxi}")
    else:
        details.append("楼顶之间还能看见几颗星星")
    return v.tell(leads, details)


def market(f: Market, v: Chinese) -> str:
    """Tell of a market stall."""
    fruits = "、".join(_FRUITS[kind] for kind in f.crates[:-1]) + f"和{_FRUITS[f.crates[-1]]}"
    awning = f"{COLOURS[f.awning]}白相间的遮阳棚"
    leads = [
        f"{awning}下摆着一筐筐{fruits}",
        f"集市的木箱里堆满了新鲜的{fruits}",
        f"{v.person()}在{v.place()}集市上摆的水果摊",
        f"{v.count(len(f.crates), '个')}木箱里满满地装着{fruits}",
        f"今天是{v.place()}赶集的日子，小摊上有{fruits}",
    ]
    details = [
        f"这个星期{_FRUITS[f.crates[0]]}每斤{v.between(2, 9)}.{v.between(1, 9)}元",
        f"摊主早上{v.count(v.between(4, 6), '点')}半就来出摊了",
        f"从{v.between(1790, 1960)}年起，这里每逢周六都有集市",
        "来晚了的人就只能买剩下的了",
        f"这些东西大多是前一天刚从{v.place()}的果园里摘来的",
        f"最右边的箱子里装的是{_FRUITS[f.crates[-1]]}",
    ]
    if f.scales:
        details.append("不管买什么都要放在那架旧铜秤上称一称")
    if f.bulbs:
        details.append(f"棚子下面挂着一排{v.count(f.bulbs, '个')}小灯泡")
    return v.tell(leads, details)


def _clock_words(v: Chinese, hour: int, minute: int) -> str:
    """Return how the time is said, or written in figures."""
    twelve = hour % 12 or 12
    spoken = {11: "十一", 12: "十二"}.get(twelve) or v.count(twelve, "")
    tail = {0: "整", 15: "一刻", 30: "半", 45: "三刻"}.get(minute)
    figures = f"{twelve}点{minute:02d}分" if minute else f"{twelve}点整"
    return v.pick(f"{spoken}点{tail}", figures) if tail else figures


def clock_tower(f: ClockTower, v: Chinese) -> str:
    """Tell of a clock tower."""
    time, roof = _clock_words(v, f.hour, f.minute), f"{v.colour(f.roof)}的尖顶"
    part = (
        "清晨"
        if f.hour < 8
        else "上午"
        if f.hour < 12
        else "中午"
        if f.hour == 12
        else "下午"
        if f.hour < 18
        else "晚上"
    )
    leads = [
        f"老市政厅钟楼上的大钟指向{time}",
        f"{part}{time}，{v.place()}的广场上格外安静",
        f"钟楼{roof}高高地耸立在广场四周的房屋之上",
        f"现在是{part}{time}，白色的大钟从很远的地方就能看清",
        f"{v.place()}的钟楼左右各有一棵圆圆的大树",
    ]
    details = [
        f"大钟是{v.person()}在{v.between(1880, 1936)}年制造的，至今仍靠人工上弦",
        f"{roof}是{v.between(1890, 1936)}年大火之后重修的",
        "黑色的指针比一个成年人还要长",
        f"{v.date()}，这座大钟第一次停了下来",
        "周围的房子连钟楼的一半高都不到",
    ]
    if f.pigeons:
        details.append(f"{v.count(f.pigeons, '只')}鸽子在楼前的石板地上踱来踱去")
    else:
        details.append("钟楼前的广场上空无一物")
    if f.daytime in ("dusk", "night"):
        details.append("钟面后面亮着灯，远看就像另一个月亮")
    return v.tell(leads, details)


def bicycle(f: Bicycle, v: Chinese) -> str:
    """Tell of a bicycle before a wall."""
    bike, wall, door = f"{v.colour(f.frame)}自行车", f"{v.colour(f.wall)}的墙", f"{v.colour(f.door)}的门"
    load = {"flowers": "车筐里插满了鲜花", "bread": "车筐里放着新鲜的面包", "empty": "车筐里空空的"}[f.basket]
    leads = [
        f"一辆{bike}靠在{wall}边，{load}",
        f"窗户和{door}之间停着一辆{bike}",
        f"{v.place()}的小巷里，一辆{bike}停在{door}旁",
        f"{v.person()}那辆{bike}停在家门口，{load}",
        f"{wall}、{door}，还有一辆{bike}",
    ]
    details = [
        f"这辆车是{v.year()}花{v.money()}买来的二手货",
        f"{v.person()}每天早上都骑着它去{v.place()}",
        "皮车座早已被磨得发亮",
        "住在这条街上的人从来不给自行车上锁",
        f"后面的房子刷成{v.colour(f.wall)}，邻居们都很喜欢",
        f"从{v.date()}起，那扇{door}就再也没有打开过",
        {
            "flowers": "花是在回家的路上随手采来的",
            "bread": "面包刚刚出炉，还是热乎乎的",
            "empty": "主人正准备出门去买菜",
        }[f.basket],
    ]
    return v.tell(leads, details)
