"""The checked content of one platform's file, and the origins it names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from thresher.core.credentials import origin_of
from thresher.reading.platforms.paths import Field
from thresher.reading.platforms.template import holes
from thresher.reading.values.addresses import registered_domain

# Pairs of a path and what stands there for remote, hybrid and onsite.
Workplaces = tuple[tuple[str, Mapping[str, str]], ...]


class Confidence(StrEnum):
    """How far a board of a platform is trusted before you have confirmed it."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class AnswerShape:
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
    remote: Workplaces = ()


@dataclass(frozen=True, slots=True)
class PlatformEndpoint:
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
    endpoint: PlatformEndpoint | None = None
    detail: PlatformEndpoint | None = None
    posting: re.Pattern[str] | None = None
    owner: Owner | None = None
    paging: Paging = Paging()
    guess: int | None = None
    confidence: Confidence = Confidence.MEDIUM
    auth: Auth | None = None
    empty_is_proof: bool = True
    answers: tuple[AnswerShape, ...] = ()
    cards: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    day_first: bool | None = None

    @property
    def is_one_board(self) -> bool:
        """Whether the platform is a single list at a fixed address."""
        return not self.urls and self.endpoint is not None and self.endpoint.is_fixed


# Only these origins may see the platform's secret.

_AUTHORITY = re.compile(r"(https?://)((?:[^/?#{]|\{\w+\})*)")
_HOLE = re.compile(r"\{\w+\}")
_DEFAULT_PORT = {"https://": ":443", "http://": ":80"}


def is_named_by(platform: Platform, url: str) -> bool:
    """Whether a URL is at one of the origins that the file names."""
    origin = origin_of(url)
    return bool(origin) and any(pattern.fullmatch(origin) for pattern in named_origins(platform))


def named_origins(platform: Platform) -> tuple[re.Pattern[str], ...]:
    """The origins of all addresses in the file whose domain is written out."""
    ways = (platform.endpoint, platform.detail, platform.owner)
    templates = [*(way.url for way in ways if way and way.url), *([platform.home] if platform.home else [])]
    return tuple(pattern for pattern in map(_pattern, templates) if pattern)


@lru_cache(256)
def _pattern(template: str) -> re.Pattern[str] | None:
    found = _AUTHORITY.match(template)
    if found is None or not _is_bound(found[2]):
        return None
    scheme, authority = found[1], found[2].removesuffix(_DEFAULT_PORT[found[1]])
    first, *rest = (re.escape(part.lower()) for part in _HOLE.split(authority))
    # What fills a hole may be left out, as a region, and then brings its own dot along.
    holes = (r"[a-z0-9_.-]+" if part.startswith(r"\.") else r"(?:[a-z0-9_.-]*\.)?" for part in rest)
    return re.compile(scheme + first + "".join(hole + part for hole, part in zip(holes, rest, strict=True)))


def _is_bound(authority: str) -> bool:
    """Tell whether what follows the last placeholder is a registered domain, not only a public suffix."""
    behind = _HOLE.split(authority)[-1].partition(":")[0]
    if behind == authority.partition(":")[0]:
        return bool(behind)
    domain = behind.removeprefix(".")
    return "." in domain and registered_domain(f"any.{domain}") != f"any.{domain}"
