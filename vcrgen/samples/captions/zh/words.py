"""Chinese words for facts, and invented names, dates and sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from vcrgen.samples.captions.teller import Teller
from vcrgen.samples.facts import Coat, Daytime, Phase, Season, Tint

_DIGITS = "零一两三四五六七八九十"
COLOURS: dict[Tint, str] = {
    "red": "红",
    "orange": "橙",
    "yellow": "黄",
    "green": "绿",
    "teal": "青",
    "blue": "蓝",
    "purple": "紫",
    "pink": "粉",
    "white": "白",
}
COATS: dict[Coat, str] = {"ginger": "橘猫", "black": "黑猫", "grey": "灰猫", "white": "白猫"}
_WHEN: dict[Daytime, tuple[str, ...]] = {
    "dawn": ("清晨", "天刚亮", "日出时分", "晨光中"),
    "day": ("晴天", "白天", "蓝天下", "天气晴好的日子里"),
    "dusk": ("傍晚", "日落时分", "夕阳下", "晚霞中"),
    "night": ("夜里", "深夜", "星空下", "入夜后"),
}
_MOON: dict[Phase, tuple[str, ...]] = {
    "full": ("一轮满月", "一轮圆月"),
    "half": ("半轮明月", "半个月亮"),
    "crescent": ("一弯新月", "一弯月牙"),
}
_SEASON_MONTHS: dict[Season, tuple[int, ...]] = {
    "spring": (3, 4, 5),
    "summer": (6, 7, 8),
    "autumn": (10, 11),
    "winter": (12, 1, 2),
}
_DAY_PARTS = ((9, "早上"), (12, "上午"), (13, "中午"), (18, "下午"), (24, "晚上"))
_SURNAMES = "李王张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董程曹袁邓许傅沈曾彭吕苏"
_GIVEN = (
    "雪梅",
    "建国",
    "明远",
    "思齐",
    "文静",
    "志强",
    "春燕",
    "海涛",
    "佳怡",
    "子轩",
    "玉兰",
    "国栋",
    "晓峰",
    "慧敏",
    "立新",
    "若溪",
    "浩然",
    "秀英",
    "云飞",
    "丽华",
    "长青",
    "梦洁",
    "振宇",
    "月华",
    "伯安",
    "静怡",
    "一鸣",
    "晨",
    "敏",
    "伟",
    "芳",
    "磊",
    "宁",
    "岚",
    "琳",
    "凯",
    "倩",
    "勇",
    "丹",
    "舟",
)
_CITIES = (
    "青岛",
    "苏州",
    "厦门",
    "大理",
    "洛阳",
    "绍兴",
    "桂林",
    "烟台",
    "泉州",
    "扬州",
    "威海",
    "昆明",
    "成都",
    "西安",
    "长沙",
    "哈尔滨",
    "兰州",
    "宁波",
    "南京",
    "天津",
)
_PLACE_HEADS = (
    "白石",
    "青溪",
    "柳河",
    "松岭",
    "云台",
    "石桥",
    "沙湾",
    "梅岭",
    "竹山",
    "龙泉",
    "凤栖",
    "月湖",
    "枫林",
    "清水",
    "望海",
    "桃源",
    "银杏",
    "长亭",
    "古渡",
    "雁荡",
)
_PLACE_TAILS = ("镇", "村", "县", "乡", "古镇")
_CLUBS = ("博物馆", "美术馆", "图书馆", "摄影家协会", "文化馆", "画院", "美术学院")


class Chinese(Teller):
    """Tells captions in Chinese."""

    joint: ClassVar[str] = ""
    room: ClassVar[int] = 72

    def close(self, sentence: str) -> str:
        """Return the sentence with its full stop."""
        return sentence + "。"

    def count(self, count: int, measure: str) -> str:
        """Return a number with its measure word, e.g. "两艘"."""
        return _DIGITS[count] + measure

    def ordinal(self, place: int) -> str:
        """Return "第二" for 2 and so on."""
        return "第" + ("二" if place == 2 else _DIGITS[place])

    def colour(self, tint: Tint) -> str:
        """Return the colour as an attribute, e.g. "红色"."""
        return COLOURS[tint] + "色"

    def things(self, tints: Sequence[Tint], measure: str, noun: str) -> str:
        """Return coloured things with their number: "三艘红色的渔船", or "红、蓝、绿三艘渔船"."""
        number = self.count(len(tints), measure)
        if len(set(tints)) == 1:
            return f"{number}{COLOURS[tints[0]]}色的{noun}"
        colours = "、".join(COLOURS[t] for t in tints)
        return self.pick(f"{colours}{number}{noun}", f"{number}颜色各异的{noun}")

    def when(self, daytime: Daytime) -> str:
        """Return an adverbial for the time of day."""
        return self.pick(*_WHEN[daytime])

    def moon(self, phase: Phase) -> str:
        """Return the moon in its phase, with its measure word."""
        return self.pick(*_MOON[phase])

    def person(self) -> str:
        """Return a full name."""
        return self.coin(self.rng.choice(_SURNAMES) + self.pick(*_GIVEN), 10.5)

    def place(self) -> str:
        """Return the name of a town or village, most of them invented."""
        if self.rng.random() < 0.4:
            return self.city()
        return self.coin(self.pick(*_PLACE_HEADS) + self.pick(*_PLACE_TAILS), 6.5)

    def city(self) -> str:
        """Return the name of a city, for what no village has."""
        return self.coin(self.pick(*_CITIES), 4)

    def club(self) -> str:
        """Return the name of an institution."""
        return self.city() + self.pick(*_CLUBS)

    def year(self) -> str:
        """Return a year up to 2024, e.g. "1998年"."""
        return self.coin(f"{self.rng.randint(self.earliest, 2024)}年", 5)

    def month(self, season: Season | None = None) -> str:
        """Return a month such as "3月", one of the season if that is given."""
        return f"{self.rng.choice(_SEASON_MONTHS[season] if season else range(1, 13))}月"

    def date(self, season: Season | None = None) -> str:
        """Return a date such as "1998年3月14日"."""
        return self.year() + self.coin(f"{self.month(season)}{self.rng.randint(1, 28)}日", 6)

    def time(self, first: int = 7, last: int = 20) -> str:
        """Return a time such as "7:40" or "上午九点半", from one hour to another."""
        hour = self.rng.randint(first, last)
        if self.rng.random() < 0.5:
            return f"{hour}:{self.rng.randrange(0, 60, 5):02d}"
        part = next(name for end, name in _DAY_PARTS if hour < end)
        spoken = (hour - 1) % 12 + 1
        words = {11: "十一", 12: "十二"}.get(spoken) or _DIGITS[spoken]
        return f"{part}{words}点{self.pick('', '半', '一刻')}"

    def money(self) -> str:
        """Return a sum, most in yuan."""
        amount = self.rng.randint(2, 96)
        return self.pick(f"{amount}元", f"{amount}块钱", f"{amount}.5元", f"¥{amount}")

    def credit(self, season: Season | None) -> str:
        """Return a line that names the artist or the place, with a date."""
        return self.pick(
            f"{self.person()}，{self.date(season)}",
            f"{self.person()}作于{self.date(season)}",
            f"{self.date(season)}，{self.person()}于{self.place()}",
        )

    def note(self, season: Season | None) -> str:
        """Return a sentence that fits any picture."""
        return self.pick(
            f"{self.person()}摄于{self.year()}{self.month(season)}",
            f"这幅画是{self.person()}凭记忆画成的",
            f"原作现藏于{self.club()}，轻易不对外展出",
            f"{self.year()}，{self.person()}把这幅画捐给了{self.club()}",
            f"这张图曾被选作{self.club()}{self.year()}的挂历封面",
            f"这幅小画在{self.place()}的旧货市场上只卖{self.money()}",
            f"有人在{self.date(season)}从{self.place()}寄出过一张同样的明信片",
            f"这是{self.person()}系列作品中的第{self.rng.randint(2, 48)}幅",
            "画家有意省去了一切多余的细节",
            "没有人记得当初是谁选了这个角度",
            f"与{self.year()}的老照片相比，这里几乎没有什么变化",
        )
