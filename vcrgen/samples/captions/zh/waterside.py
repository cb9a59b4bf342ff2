"""Chinese captions of the scenes on and under water."""

from __future__ import annotations

from vcrgen.samples.captions.zh.words import Chinese
from vcrgen.samples.facts import Aquarium, Beach, Harbour, MountainLake, Regatta, WaterTown


def harbour(f: Harbour, v: Chinese) -> str:
    """Tell of a harbour."""
    boats, when, stripe = v.things(f.boats, "艘", "渔船"), v.when(f.daytime), v.colour(f.stripe)
    leads = [
        f"{boats}静静地停泊在老灯塔下的海面上",
        f"{when}，{boats}停在风平浪静的港湾里",
        f"{v.place()}的灯塔刷着{stripe}和白色相间的条纹，守望着出海的人",
        f"隔着海湾远望灯塔，近处的水面上停着{boats}",
        f"{when}的{v.place()}渔港，{boats}随着水波轻轻摇晃",
    ]
    details = [
        f"开往{v.place()}的渡轮{v.time()}从对岸出发",
        f"{v.person()}从{v.year()}起就在这里看守灯塔",
        f"塔身刷成{stripe}和白色，为的是让过往船只一眼就能认出来",
        "海湾对面是一片低矮的青山",
        "绕过那片礁石，外面就是茫茫大海",
    ]
    if f.gulls:
        details.append(f"{v.count(f.gulls, '只')}海鸥在渔船上空盘旋，等着捡点便宜")
    if f.daytime in ("dusk", "night"):
        details.append("灯塔已经点亮，长长的光束扫过海面")
    return v.tell(leads, details)


def mountain_lake(f: MountainLake, v: Chinese) -> str:
    """Tell of a mountain lake."""
    peaks, when = v.count(f.peaks, "座"), v.when(f.daytime)
    trees = "满树的秋叶" if f.autumn else "墨绿的冷杉"
    leads = [
        f"{peaks}雪峰倒映在平静得像镜子一样的湖面上",
        f"{when}，雪山和岸边{trees}一起映在清澈的湖水里",
        f"{v.place()}附近的高山湖泊，对岸是{trees}",
        f"湖的后面耸立着{peaks}终年积雪的山峰",
    ]
    details = [
        f"{v.year()}，{v.person()}第一个登上了其中的最高峰",
        f"沿着湖边的小路慢慢走一圈大约要{v.count(v.between(2, 5), '个')}小时",
        f"这里海拔{v.between(21, 44) * 100}米，湖水一年到头都是冰凉的",
        "没有一丝风来打乱水中的倒影",
        "山上的空气里带着松脂的清香",
        "林子里的树叶已经染上了红色和金色" if f.autumn else "树林一直长到了水边",
    ]
    if f.canoe:
        colour = v.colour(f.canoe)
        leads.append(f"{when}，一只{colour}的小船独自漂在山间的湖面上")
        details.append(f"划着{colour}小船的人独享整片湖水")
    else:
        details.append("湖面上看不到一只船的影子")
    return v.tell(leads, details, season="autumn" if f.autumn else None)


def regatta(f: Regatta, v: Chinese) -> str:
    """Tell of a regatta."""
    number, sails, buoy = v.count(len(f.sails), "艘"), v.things(f.sails, "面", "船帆"), v.colour(f.buoy)
    leads = [
        f"{number}帆船沿着海岸线你追我赶",
        f"{v.place()}帆船赛的第二轮比赛，船队正驶向{buoy}的浮标",
        f"{sails}在深蓝色的海面上格外显眼",
        f"{'阴云' if f.cloudy else '晴空'}之下，{number}帆船在海湾里排开了阵势",
    ]
    details = [
        f"最后{v.person()}以不到{v.count(v.between(2, 6), '个')}小时的成绩夺冠",
        f"前方那只{buoy}的浮标就是选手们必须绕过的标志",
        f"因为没有风，比赛推迟到{v.time(10, 15)}才开始",
        f"报名费每艘船{v.money()}，在岸上观看则分文不收",
        f"第一座奖杯是{v.year()}由{v.club()}捐赠的",
        "天上的云带来了水手们盼望已久的风" if f.cloudy else "阳光明媚，正是扬帆出海的好天气",
        "每一艘船的后面都拖着白色的浪花",
    ]
    return v.tell(leads, details, season="summer")


def beach(f: Beach, v: Chinese) -> str:
    """Tell of a beach."""
    number, umbrellas, when = v.count(len(f.umbrellas), "把"), v.things(f.umbrellas, "把", "遮阳伞"), v.when(f.daytime)
    leads = [
        f"空荡荡的沙滩上支着{umbrellas}",
        f"{when}，{v.place()}的海滩上撑开了{number}条纹遮阳伞",
        f"{number}遮阳伞的阴影里铺好了浴巾，却不见人影",
        f"细浪轻轻涌上沙滩，岸边立着{umbrellas}",
    ]
    details = [
        f"租一把伞一天只要{v.money()}",
        f"救生员{v.person()}{v.time(17, 20)}下班",
        f"回{v.place()}的末班车{v.time(18, 22)}开出",
        "大家好像都下海游泳去了",
        "落日在海面上铺出一条金色的光带" if f.daytime == "dusk" else "太阳高高地照着碧绿的海水",
    ]
    if f.ball:
        details.append("不知是谁把彩色的皮球忘在了沙滩上")
    if f.palm:
        details.append("沙滩边上有一棵高高的棕榈树")
        leads.append(f"一棵斜斜的棕榈树下，{umbrellas}正对着大海")
    if f.sail:
        details.append("远处有一艘白色的帆船正从海天之间驶过")
    return v.tell(leads, details, season="summer")


def aquarium(f: Aquarium, v: Chinese) -> str:
    """Tell of an aquarium."""
    big = f"{v.count(f.big_count, '条')}{v.colour(f.big)}的大鱼"
    small = f"{v.count(f.small_count, '条')}{v.colour(f.small)}的小鱼"
    leads = [
        f"{big}在水族箱里慢悠悠地游着，下面跟着{small}",
        f"隔着玻璃看去，{big}和{small}共享一池温水",
        f"{v.club()}的珊瑚水族箱里养着{big}和{small}",
        f"{small}紧挨着摇摆的水草游来游去",
        f"几束光线穿过水面，照在{big}和{small}的身上",
    ]
    details = [
        f"每天{v.time(8, 17)}，{v.person()}都会来给它们喂食",
        f"这个水族箱建于{v.year()}，能装{v.between(12, 90)}吨水",
        f"门票{v.money()}，六岁以下的孩子免费入场",
        "小鱼从来不敢离开水底太远",
        "水底的沙地上长着几丛鲜艳的珊瑚",
        "一串串气泡悄无声息地升向水面",
    ]
    if f.turtle:
        leads.append(f"一只海龟从{big}的头顶上划过")
        details.append("靠近水面的那只老海龟是这里年纪最大的居民")
    if f.jellyfish:
        details.append(f"{v.count(f.jellyfish, '只')}半透明的水母拖着长长的触手漂在水面下")
    return v.tell(leads, details)


def water_town(f: WaterTown, v: Chinese) -> str:
    """Tell of a water town."""
    lanterns, moon = v.count(f.lanterns, "盏"), v.moon(f.phase)
    bridge = "单孔石桥" if f.arches == 1 else "三孔石桥"
    leads = [
        f"{lanterns}红灯笼高高地挂在小河的上空",
        f"{moon}升上了粉墙黛瓦的水乡，映着河上的{bridge}",
        f"小河两岸是白墙黑瓦的老房子，中间架着一座{bridge}",
        f"元宵之夜，{v.place()}的{lanterns}红灯笼照亮了整条河道",
        f"灯笼、窗火和{moon}，水乡的夜晚格外安静",
    ]
    details = [
        f"这座桥建于{v.between(1420, 1790)}年，至今仍是过河的唯一通道",
        f"灯笼是{v.person()}一家人亲手挂上去的",
        "房屋和石桥的倒影在水中清晰可见",
        "夜已经深了，许多窗户里还亮着灯",
        f"{v.date()}那天，整条街的人都没有睡觉",
        f"{moon}正好悬在石桥的上方",
        "一只点着灯的乌篷船正从河上缓缓划过" if f.boat else "今晚河面上没有一只船经过",
    ]
    return v.tell(leads, details)
