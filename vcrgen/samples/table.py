"""The table of scenes: adding a kind of scene is adding a row here, and a section to the captions of each language."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from vcrgen.samples import facts
from vcrgen.samples.facts import Library
from vcrgen.samples.scenery import SceneCanvas
from vcrgen.samples.scenes import close_up, countryside, grounds, town, waterside, wilderness
from vcrgen.samples.scenes.close_up import library

F = TypeVar("F", bound=facts.Facts)
Size = tuple[int, int]

_WIDE: tuple[Size, ...] = ((480, 270), (420, 236), (560, 280), (600, 250), (360, 200), (640, 300))
_PLAIN: tuple[Size, ...] = ((400, 300), (480, 320), (360, 270), (300, 225), (420, 280), (330, 248), (450, 300))
_SQUARE: tuple[Size, ...] = ((320, 320), (360, 340), (280, 300), (400, 380), (260, 240))
_TALL: tuple[Size, ...] = ((300, 400), (280, 360), (240, 330), (320, 430), (360, 480))
LANDSCAPE = _WIDE * 2 + _PLAIN * 3 + _SQUARE
ANY = _WIDE + _PLAIN * 3 + _SQUARE * 2 + _TALL
UPRIGHT = _PLAIN * 2 + _SQUARE * 2 + _TALL * 2


@dataclass(frozen=True, slots=True)
class Scene(Generic[F]):
    """One kind of scene."""

    facts: type[F]
    draw: Callable[[SceneCanvas, F], None]
    sizes: tuple[Size, ...] = ANY  # widths and heights in px; one that is listed twice is twice as likely

    @property
    def kind(self) -> str:
        """The name of the scene, in the captions too."""
        return self.draw.__name__


SCENES: tuple[Scene[Any], ...] = (
    Scene(facts.Harbour, waterside.harbour),
    Scene(facts.MountainLake, waterside.mountain_lake),
    Scene(facts.Regatta, waterside.regatta, LANDSCAPE),
    Scene(facts.Beach, waterside.beach),
    Scene(facts.Aquarium, waterside.aquarium),
    Scene(facts.WaterTown, waterside.water_town),
    Scene(facts.Viaduct, countryside.viaduct, LANDSCAPE),
    Scene(facts.SnowyVillage, wilderness.snowy_village),
    Scene(facts.Castle, countryside.castle),
    Scene(facts.WindFarm, countryside.wind_farm, LANDSCAPE),
    Scene(facts.Balloons, countryside.balloons),
    Scene(facts.Desert, wilderness.desert, LANDSCAPE),
    Scene(facts.Campsite, wilderness.campsite),
    Scene(facts.Sunflowers, countryside.sunflowers),
    Scene(facts.CityNight, town.city_night),
    Scene(facts.Market, town.market, LANDSCAPE),
    Scene(facts.ClockTower, town.clock_tower, UPRIGHT),
    Scene(facts.Airport, grounds.airport, LANDSCAPE),
    Scene(facts.Football, grounds.football, LANDSCAPE),
    Scene(facts.Bicycle, town.bicycle),
    Scene(facts.StillLife, close_up.still_life, LANDSCAPE),
    Scene(Library, library),
    Scene(facts.WindowCat, close_up.window_cat),
    Scene(facts.Birds, close_up.birds),
    Scene(facts.Chart, close_up.chart),
)
