"""What the file of one platform says, checked and ready to be used."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from thresher.reading.paths import Field
from thresher.reading.template import holes


class Confidence(StrEnum):
    """How far a board of a platform is trusted before a person has seen it."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Answer:
    """One shape in which a platform answers. `rows` leads to the postings; with `single`, to the only one."""

    xml: bool
    root: str | None
    rows: str
    single: bool
    row_has: tuple[str, ...]
    root_has: tuple[str, ...]
    total: str | None
    next: str | None
    hidden: tuple[str, Any] | None
    escaped: bool
    token_from: str | None
    day_first: bool | None
    fields: Mapping[str, Field]
    remote: tuple[tuple[str, Mapping[str, str]], ...] = ()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How to ask. `own` is the path at which a company's own domain answers the same; `body` is sent as
    JSON.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    own: str | None = None

    @property
    def is_fixed(self) -> bool:
        """Whether the address needs nothing to be filled in: the platform is then one board."""
        return not holes(self.url)


@dataclass(frozen=True, slots=True)
class Owner:
    """Where a board says whose it is: at `url`, or in the list itself; by `path` in data, by `select` in a
    page.
    """

    url: str | None = None
    path: str | None = None
    select: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facet:
    """Where an answer counts its rows by facets, and where in the body the chosen ones are sent."""

    parameter: str
    path: str
    name: str
    values: str
    id: str
    count: str


@dataclass(frozen=True, slots=True)
class Paging:
    """How a list goes on; `cap` is where a platform stops telling the truth.

    With `total_once` only the first page says how many there are. `facets` are the ways to split a list that
    is longer than the cap, the best first.
    """

    kind: str = "none"
    parameter: str | None = None
    place: str = "query"
    size: int | None = None
    cap: int | None = None
    first: int = 0
    total_once: bool = False
    facets: tuple[str, ...] = ()
    facet: Facet | None = None


@dataclass(frozen=True, slots=True)
class Auth:
    """Which secret a platform wants, by the name of its environment variable, and how it is sent."""

    env: str
    how: str
    name: str


@dataclass(frozen=True, slots=True)
class Mark:
    """What a board leaves behind in a page: `has` is looked for first, because finding words is far cheaper
    than a pattern.
    """

    has: str
    pattern: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Platform:
    """Everything one file says.

    `posting` takes what `detail` needs out of the address of a posting. `guess` is the place in the order in
    which names are tried; None means never. `day_first` is how its pages mean 3/4/2026; the answers say it
    each for themselves.
    """

    name: str
    urls: tuple[re.Pattern[str], ...] = ()
    reserved: frozenset[str] = frozenset()
    home: str | None = None
    marks: tuple[Mark, ...] = ()
    endpoint: Endpoint | None = None
    detail: Endpoint | None = None
    posting: re.Pattern[str] | None = None
    owner: Owner | None = None
    paging: Paging = Paging()
    guess: int | None = None
    confidence: Confidence = Confidence.MEDIUM
    auth: Auth | None = None
    empty_is_proof: bool = True
    answers: tuple[Answer, ...] = ()
    cards: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    day_first: bool | None = None

    @property
    def is_one_board(self) -> bool:
        """Whether the platform is a single list at a fixed address."""
        return not self.urls and self.endpoint is not None and self.endpoint.is_fixed
