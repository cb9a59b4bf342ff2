"""What the page is asked for: filters, order and page of items, as its address has them behind ``#``."""

from typing import Literal, Self
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vcrgen.core.errors import ConfigError

MAX_TEXT = 400  # characters of a search or an id
MAX_FIELDS = 32
PAGE_ITEMS = 24
Bound = float | None


class Query(BaseModel):
    """Filters of items, their order, and the page of them. Outcomes and bits are those of one mode and one view."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    mode: str = Field("", max_length=40)  # of covers, or the language of a question; "" for the first one
    view: str = Field("", max_length=40)  # of the outputs; "" for the first one
    lang: str = Field("", max_length=40)
    split: str = Field("", max_length=200)
    outcome: str = Field("", max_length=20)  # of some span, by a model or by any
    run: int | None = Field(None, ge=0, le=999)  # the model of the outcome
    right: int | None = Field(None, ge=0, le=999)  # a span that this model has right,
    wrong: int | None = Field(None, ge=0, le=999)  # and the same that this one has not; each may stand alone
    bits_min: Bound = None  # bits of the span of an item that its pixels leave most open
    bits_max: Bound = None
    length_min: Bound = None  # characters of captions, or of questions
    length_max: Bound = None
    search: str = Field("", max_length=MAX_TEXT)  # words that all stand in id, caption, answers or outputs
    sort: str = Field("order", pattern=r"^(order|id|lang|split|length|bits|score|score-[0-9]{1,3})$")
    direction: Literal["up", "down"] = "up"
    id: str = Field("", max_length=MAX_TEXT)  # one item, with its neighbours in the order
    page: int = Field(0, ge=0, le=10_000_000)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the part of an address behind ``#`` or ``?``.

        Raises:
            ConfigError: A name or a value is none of a filter.
        """
        try:
            return cls.model_validate(dict(parse_qsl(text.removeprefix("#"), max_num_fields=MAX_FIELDS)))
        except ValidationError as error:
            problem = error.errors()[0]
            name = ".".join(map(str, problem["loc"]))[:40]
            why = "models are numbers from 0 on" if name in ("run", "right", "wrong") else problem["msg"]
            if problem["type"] == "extra_forbidden":
                why = f"there are {', '.join(field for field in cls.model_fields if field not in ('id', 'page'))}"
            raise ConfigError(f"The filter {name!r} cannot be used: {why}; copy one from the page.") from None
        except ValueError:
            raise ConfigError("The filter has too many parts; copy one from the address of the page.") from None

    @property
    def words(self) -> list[str]:
        """The words of the search in small letters."""
        return self.search.lower().split()

    @property
    def needs_scores(self) -> bool:
        """Whether outputs decide which items it finds, or in which order."""
        runs = (self.right, self.wrong)
        return bool(self.outcome or self.words or runs != (None, None) or self.sort.startswith("score"))

    @property
    def is_first_page(self) -> bool:
        """Whether it asks for the first items in the order of the dataset."""
        return self.model_copy(update={"mode": "", "view": ""}) == self.parse("")

    @property
    def selection(self) -> Self:
        """The query without what only chooses among the items that it finds."""
        return self.model_copy(update={"id": "", "page": 0})
