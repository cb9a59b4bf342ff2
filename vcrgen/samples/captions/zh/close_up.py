"""Chinese captions of the rooms and of things seen from near."""

from __future__ import annotations

from vcrgen.samples.captions.teller import BRANCH_SEASON, WEATHER_SEASON
from vcrgen.samples.captions.zh.words import COATS, Chinese
from vcrgen.samples.facts import (
    Birds,
    Chart,
    Daytime,
    Library,
    StillLife,
    WindowCat,
)

_WINDOW: dict[Daytime, str] = {"dawn": "清晨的微光", "day": "晴朗的蓝天", "dusk": "火红的晚霞", "night": "漆黑的夜空"}


def still_life(f: StillLife, v: Chinese) -> str:
    """Tell of a kitchen table."""
    kind = {"apple": "红苹果", "orange": "橙子", "lemon": "柠檬", "pear": "青梨"}.get(f.fruit, "水果")
    fruit, teapot, cups = (
        v.count(f.fruit_count, "个") + kind,
        f"{v.colour(f.teapot)}的茶壶",
        v.count(f.cups, "个") + "茶杯",
    )
    leads = [
        f"厨房的桌上摆着一碗{kind}和一把{teapot}",
        f"桌上的静物：{fruit}、一把{teapot}和{cups}",
        f"{teapot}旁边，白底蓝边的大碗里盛着{fruit}",
        f"桌上已经摆好了{teapot}和{cups}，茶还冒着热气",
        f"{v.person()}家的厨房，窗外是{_WINDOW[f.outside]}",
    ]
    details = [
        f"从桌子上方的窗户望出去，可以看到{_WINDOW[f.outside]}",
        f"{teapot}是在{v.place()}的集市上花{v.money()}买来的",
        f"{v.person()}前后把这张桌子画了{v.between(20, 90)}多遍",
        "热气正从茶杯里袅袅升起",
        f"这家人每天{v.time(15, 17)}准时喝茶，从不耽误",
        f"碗里一共有{fruit}，个个都光亮饱满",
    ]
    return v.tell(leads, details)


def library(f: Library, v: Chinese) -> str:
    """Tell of a library."""
    shelves, lamp = v.count(f.shelves, "层"), f"{v.colour(f.lamp)}的台灯"
    leads = [
        f"书桌后面是{shelves}摆满旧书的书架",
        f"一盏{lamp}照着桌上摊开的书",
        f"快到闭馆时间的{v.place()}图书馆，灯下还摊着一本书",
        f"{shelves}长长的书架上几乎找不到一处空隙",
        f"满墙的书架前，{lamp}下放着一本没有读完的书",
    ]
    details = [
        f"这批藏书最早属于{v.person()}，他于{v.between(1890, 1980)}年去世",
        f"大约有{v.between(12, 90) * 100}册书是从{v.place()}运来的",
        f"阅览室从周一到周五开放到{v.time(17, 22)}",
        "读书的人大概刚刚离开座位",
        f"架上最老的一本书印于{v.between(1520, 1790)}年",
    ]
    if f.ladder:
        details.append("要拿最上面的书就得爬那架木梯")
        leads.append(f"一架高高的木梯靠在{shelves}书架上")
    if f.globe:
        details.append("书桌的一头摆着一个铜架的旧地球仪")
    if f.cat:
        leads.append(f"一只{COATS[f.cat]}在摊开的书旁边睡着了")
        details.append(f"桌上的{COATS[f.cat]}睡得正香")
    return v.tell(leads, details)


def window_cat(f: WindowCat, v: Chinese) -> str:
    """Tell of a cat on a windowsill."""
    cat, curtains = COATS[f.coat], f"{v.colour(f.curtains)}的窗帘"
    pots = f"{v.count(f.pots, '盆')}{v.colour(f.bloom)}的花"
    weather = {"sun": "窗外阳光灿烂", "rain": "窗外正下着雨", "snow": "窗外雪花纷飞"}[f.outside]
    name = v.pick("咪咪", "团子", "豆豆", "小虎", "芝麻", "汤圆")
    leads = [
        f"一只{cat}蹲在窗台上，{weather}",
        f"{v.person()}家的{cat}{name}守着窗台上的{pots}",
        f"{curtains}之间，一只{cat}正盯着屋里的人",
        f"宽宽的窗台上坐着一只{cat}，旁边摆着{pots}",
        f"{weather}，{cat}却背对着窗户一动不动",
    ]
    details = [
        f"{curtains}是{v.person()}在{v.year()}亲手缝的",
        "它那双绿眼睛一直看着来访的客人",
        "离吃晚饭还早，它心里清楚得很",
        f"这只猫是{v.date()}在{v.place()}捡来的",
        "长长的尾巴从窗台边上垂了下来",
        {"sun": "远处的山丘上空没有一片云", "rain": "厚厚的乌云低低地压在树梢上", "snow": "园子里的树已经变成了白色"}[
            f.outside
        ],
    ]
    return v.tell(leads, details, season=WEATHER_SEASON[f.outside])


def birds(f: Birds, v: Chinese) -> str:
    """Tell of birds on a branch."""
    n = len(f.breasts)
    birds = f"{v.count(n, '只')}{v.colour(f.breasts[0])}胸脯的小鸟"
    branch = {
        "blossom": "开满粉色花朵的枝头",
        "berries": "挂着红果的枯枝",
        "snow": "落满新雪的树枝",
        "leaves": "长着嫩叶的树枝",
    }[f.branch]
    leads = [
        f"{birds}停在{branch}上",
        f"{branch}上停着{birds}，由{v.person()}所绘",
        f"{birds}站在{branch}上歇脚",
        f"在{v.place()}的花园里，{birds}飞上了{branch}",
        f"{branch}被{birds}压得微微弯了下来",
    ]
    details = [
        f"这种鸟最早由{v.person()}在{v.between(1898, 1936)}年记录下来",
        f"成年的鸟体重只有{v.between(9, 24)}克左右",
        "天还没亮就能听到清脆的鸟鸣声",
        f"选自{v.club()}出版的鸟类图谱第{v.between(3, 140)}页",
        "只要稍微动一下，就会把它们吓跑" if n > 1 else "只要稍微动一下，就会把它吓跑",
        {
            "blossom": "不过一个星期，满树的花就全开了",
            "berries": "这些果子要一直吃到来年春天",
            "snow": "细小的雪花已经飘了整整一天",
            "leaves": "今年的叶子长得比往年都早",
        }[f.branch],
    ]
    if n == 2:
        details.append("一只看着左边，另一只看着右边")
    return v.tell(leads, details, season=BRANCH_SEASON[f.branch])


def chart(f: Chart, v: Chinese) -> str:
    """Tell of a bar chart."""
    n, tint = v.count(len(f.bars), "根"), v.colour(f.tint)
    top, low = v.ordinal(f.bars.index(max(f.bars)) + 1), v.ordinal(f.bars.index(min(f.bars)) + 1)
    subject = v.pick(
        "降雨量", "茶叶销量", "博物馆参观人数", "图书借阅量", "桥上自行车流量", "日照时数", "信件投递量", "造船数量"
    )
    leads = [
        f"木架上立着一张有{n}{tint}柱子的统计图",
        f"{n}{tint}的柱子画出了{v.place()}历年的{subject}",
        f"画架上的柱状图是为一场关于{subject}的讲座准备的",
        f"{v.person()}在讲座中用这张图说明{subject}的变化",
    ]
    details = [
        f"从左边数，{top}根柱子最高",
        f"从左边数，{low}根柱子最矮",
        f"数据由{v.club()}在{v.between(1951, 1985)}年到{v.between(1986, 2023)}年间收集",
        "画图的人忘了在旁边写上单位",
        f"讲座{v.time()}在小礼堂开始",
    ]
    steps = [b - a for a, b in zip(f.bars, f.bars[1:], strict=False)]
    if min(steps) > 0:
        leads.append(f"图上的柱子一根比一根高，说明{v.place()}的{subject}一直在增长")
    elif max(steps) < 0:
        leads.append("图上的柱子从左到右一根比一根矮")
    else:
        details.append("数字时高时低，看不出明显的规律")
    if f.plant:
        details.append("墙角的白色花盆里种着一株绿色植物")
    return v.tell(leads, details)
