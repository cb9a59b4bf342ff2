"""The table of scenes: adding a kind of scene is adding a row here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, TypeVar

from vcrgen.samples import facts
from vcrgen.samples.captions.en import close_up as en_close_up
from vcrgen.samples.captions.en import countryside as en_countryside
from vcrgen.samples.captions.en import grounds as en_grounds
from vcrgen.samples.captions.en import town as en_town
from vcrgen.samples.captions.en import waterside as en_waterside
from vcrgen.samples.captions.en import wilderness as en_wilderness
from vcrgen.samples.captions.en.words import English
from vcrgen.samples.captions.zh import close_up as zh_close_up
from vcrgen.samples.captions.zh import countryside as zh_countryside
from vcrgen.samples.captions.zh import grounds as zh_grounds
from vcrgen.samples.captions.zh import town as zh_town
from vcrgen.samples.captions.zh import waterside as zh_waterside
from vcrgen.samples.captions.zh import wilderness as zh_wilderness
from vcrgen.samples.captions.zh.words import Chinese
from vcrgen.samples.draw import Canvas
from vcrgen.samples.scenes import close_up, countryside, grounds, town, waterside, wilderness

F = TypeVar("F")
Size = tuple[int, int]

_WIDE: tuple[Size, ...] = ((480, 270), (420, 236), (560, 280), (600, 250), (360, 200), (640, 300))
_PLAIN: tuple[Size, ...] = ((400, 300), (480, 320), (360, 270), (300, 225), (420, 280), (330, 248), (450, 300))
_SQUARE: tuple[Size, ...] = ((320, 320), (360, 340), (280, 300), (400, 380), (260, 240))
_TALL: tuple[Size, ...] = ((300, 400), (280, 360), (240, 330), (320, 430), (360, 480))
LANDSCAPE = _WIDE * 2 + _PLAIN * 3 + _SQUARE
ANY = _WIDE + _PLAIN * 3 + _SQUARE * 2 + _TALL
UPRIGHT = _PLAIN * 2 + _SQUARE * 2 + _TALL * 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene(Generic[F]):
    """One kind of scene.

    Attributes:
        sample: Decides what is in a picture.
        draw: Draws it.
        en: Tells of it in English.
        zh: Tells of it in Chinese.
        sizes: Widths and heights in px that suit it; one that is listed twice is twice as likely.
    """

    sample: Callable[[Random], F]
    draw: Callable[[Canvas, F], None]
    en: Callable[[F, English], str]
    zh: Callable[[F, Chinese], str]
    sizes: tuple[Size, ...] = ANY

    @property
    def kind(self) -> str:
        """The name of the scene."""
        return self.draw.__name__


SCENES: tuple[Scene[Any], ...] = (
    Scene(sample=facts.Harbour.sample, draw=waterside.harbour, en=en_waterside.harbour, zh=zh_waterside.harbour),
    Scene(
        sample=facts.MountainLake.sample,
        draw=waterside.mountain_lake,
        en=en_waterside.mountain_lake,
        zh=zh_waterside.mountain_lake,
    ),
    Scene(
        sample=facts.Regatta.sample,
        draw=waterside.regatta,
        en=en_waterside.regatta,
        zh=zh_waterside.regatta,
        sizes=LANDSCAPE,
    ),
    Scene(sample=facts.Beach.sample, draw=waterside.beach, en=en_waterside.beach, zh=zh_waterside.beach),
    Scene(sample=facts.Aquarium.sample, draw=waterside.aquarium, en=en_waterside.aquarium, zh=zh_waterside.aquarium),
    Scene(
        sample=facts.WaterTown.sample, draw=waterside.water_town, en=en_waterside.water_town, zh=zh_waterside.water_town
    ),
    Scene(
        sample=facts.Viaduct.sample,
        draw=countryside.viaduct,
        en=en_countryside.viaduct,
        zh=zh_countryside.viaduct,
        sizes=LANDSCAPE,
    ),
    Scene(
        sample=facts.SnowyVillage.sample,
        draw=wilderness.snowy_village,
        en=en_wilderness.snowy_village,
        zh=zh_wilderness.snowy_village,
    ),
    Scene(sample=facts.Castle.sample, draw=countryside.castle, en=en_countryside.castle, zh=zh_countryside.castle),
    Scene(
        sample=facts.WindFarm.sample,
        draw=countryside.wind_farm,
        en=en_countryside.wind_farm,
        zh=zh_countryside.wind_farm,
        sizes=LANDSCAPE,
    ),
    Scene(
        sample=facts.Balloons.sample, draw=countryside.balloons, en=en_countryside.balloons, zh=zh_countryside.balloons
    ),
    Scene(
        sample=facts.Desert.sample,
        draw=wilderness.desert,
        en=en_wilderness.desert,
        zh=zh_wilderness.desert,
        sizes=LANDSCAPE,
    ),
    Scene(sample=facts.Campsite.sample, draw=wilderness.campsite, en=en_wilderness.campsite, zh=zh_wilderness.campsite),
    Scene(
        sample=facts.Sunflowers.sample,
        draw=countryside.sunflowers,
        en=en_countryside.sunflowers,
        zh=zh_countryside.sunflowers,
    ),
    Scene(sample=facts.CityNight.sample, draw=town.city_night, en=en_town.city_night, zh=zh_town.city_night),
    Scene(sample=facts.Market.sample, draw=town.market, en=en_town.market, zh=zh_town.market, sizes=LANDSCAPE),
    Scene(
        sample=facts.ClockTower.sample,
        draw=town.clock_tower,
        en=en_town.clock_tower,
        zh=zh_town.clock_tower,
        sizes=UPRIGHT,
    ),
    Scene(
        sample=facts.Airport.sample, draw=grounds.airport, en=en_grounds.airport, zh=zh_grounds.airport, sizes=LANDSCAPE
    ),
    Scene(
        sample=facts.Football.sample,
        draw=grounds.football,
        en=en_grounds.football,
        zh=zh_grounds.football,
        sizes=LANDSCAPE,
    ),
    Scene(sample=facts.Bicycle.sample, draw=town.bicycle, en=en_town.bicycle, zh=zh_town.bicycle),
    Scene(
        sample=facts.StillLife.sample,
        draw=close_up.still_life,
        en=en_close_up.still_life,
        zh=zh_close_up.still_life,
        sizes=LANDSCAPE,
    ),
    Scene(sample=facts.Library.sample, draw=close_up.library, en=en_close_up.library, zh=zh_close_up.library),
    Scene(
        sample=facts.WindowCat.sample, draw=close_up.window_cat, en=en_close_up.window_cat, zh=zh_close_up.window_cat
    ),
    Scene(sample=facts.Birds.sample, draw=close_up.birds, en=en_close_up.birds, zh=zh_close_up.birds),
    Scene(sample=facts.Chart.sample, draw=close_up.chart, en=en_close_up.chart, zh=zh_close_up.chart),
)
