"""The words of the extractions app: recipe, configuration, extraction, step, page, data set and data item.

A recipe says which site is read into which entity. Its configuration is a chain of levels: the pages of a
level hold links to the pages of the next, and the last level is the detail pages. An extraction walks that
chain once and fills one data set.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from thresher.core.keys import canonical_url
from thresher.core.schema import Schema

PAGE_DIGITS = 16  # of the hash of an address
MAX_LEVELS = 5
DETECT = "detectConfiguration"  # the kind of the task that finds out how a site is walked


class PageType(StrEnum):
    """What a page is there for. An EXPLORATORY page is read for data, and its links lead on to more such
    pages.
    """

    DETAIL = "DETAIL"
    DETAIL_LINKS = "DETAIL_LINKS"
    CATEGORY_LINKS = "CATEGORY_LINKS"
    API = "API"
    EXPLORATORY = "EXPLORATORY"

    @property
    def holds_data(self) -> bool:
        return self in (PageType.DETAIL, PageType.EXPLORATORY)


class PagingKind(StrEnum):
    """How a list of pages goes on."""

    PAGE_NUM = "page_num"
    OFFSET = "offset"
    CURSOR = "cursor"
    NEXT_LINK = "next_link"
    LOAD_MORE = "load_more"

    @property
    def is_counted(self) -> bool:
        """Whether the addresses of all pages follow from their number."""
        return self in (PagingKind.PAGE_NUM, PagingKind.OFFSET)

    @property
    def is_followed(self) -> bool:
        """Whether each page says where the next one is."""
        return self in (PagingKind.CURSOR, PagingKind.NEXT_LINK)


class RecipeStatus(StrEnum):
    """How the configuration of a recipe stands."""

    WAITING = "WAITING"
    IN_PROGRESS = "IN_PROGRESS"
    SUCCESS = "SUCCESS"
    ERROR = "ERROR"


class PageStatus(StrEnum):
    """How a page stands. SKIPPED pages were not requested: the list ends before them, or a limit does."""

    WAITING = "WAITING"
    IN_PROGRESS = "IN_PROGRESS"
    SUCCESS = "SUCCESS"
    ERROR = "ERROR"
    SKIPPED = "SKIPPED"


class ExtractionStatus(StrEnum):
    """How an extraction stands. ERROR: its root or all that should lead to data could not be read, so an
    empty data set would prove nothing.
    """

    WAITING = "WAITING"
    IN_PROGRESS = "IN_PROGRESS"
    COMPLETE = "COMPLETE"
    STALE = "STALE"
    CANCELLED = "CANCELLED"
    ERROR = "ERROR"

    @property
    def is_over(self) -> bool:
        return self in (ExtractionStatus.COMPLETE, ExtractionStatus.CANCELLED, ExtractionStatus.ERROR)


class StepKind(StrEnum):
    """How the pages of a step were found."""

    ROOT = "root"
    PAGINATION = "pagination"
    LINKS = "links"
    EXPLORATION = "exploration"
    API = "api"


class Origin(StrEnum):
    """Who declared a recipe. One from the project file is retired when it is no longer there."""

    FILE = "file"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class Pagination:
    """How a list goes on.

    `url_pattern` is an address with `{page_num}` or `{offset}` in it; `{url}` at its beginning is the
    address of the list, as in `{url}?page={page_num}`. `total_pages` is what the list says of itself; None:
    it is read when the list is. `page_size` is the number of rows that an offset skips. `selector` is what is
    clicked for more, at most `clicks` times.
    """

    NOT_STORED: ClassVar = (None,)

    kind: PagingKind = PagingKind.PAGE_NUM
    url_pattern: str | None = None
    start_page: int = 1
    page_size: int | None = None
    total_pages: int | None = None
    selector: str | None = None
    clicks: int = 50


@dataclass(frozen=True, slots=True)
class PageSetup:
    """What is done in a browser before a page is read: wait, or click, in the order given."""

    NOT_STORED: ClassVar = (None,)

    click: str | None = None
    wait_for: str | None = None
    wait: float | None = None
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """The pages of one level, and what is done with them.

    `link_pattern` is a regular expression that addresses of the next level match; with `exact_link_match`
    the matched part alone is the address, with `follow_rows` the other rows of the list that most of these
    links stand in are followed too, as far as they lead to the same site. Without a pattern the rows of the
    page's main list are followed. `click_selector` names elements whose addresses exist only after a click.
    `content_selector` is the part of the page that counts. `several` says that a page shows more than one
    entity, `explore` that links of the same origin lead on from pages where entities were found. `render` is
    whether a browser is needed; None: where a page turns out to be an empty shell.
    """

    NOT_STORED: ClassVar = (None, (), False)

    page_type: PageType = PageType.DETAIL
    link_pattern: str | None = None
    exact_link_match: bool = False
    pagination: Pagination | None = None
    content_selector: str | None = None
    click_selector: str | None = None
    click_limit: int | None = None
    setup: tuple[PageSetup, ...] = ()
    render: bool | None = False
    screenshot: bool = False
    several: bool = False
    explore: bool = False
    follow_rows: bool = False

    @property
    def needs_browser(self) -> bool:
        """Whether something is to be clicked, waited for or photographed."""
        loads_more = self.pagination is not None and self.pagination.kind is PagingKind.LOAD_MORE
        return bool(self.setup or self.click_selector or self.screenshot or loads_more)


@dataclass(frozen=True, slots=True)
class ApiSource:
    """A JSON or XML API in place of pages: its definition, or the name of a vendor that comes with the app,
    with its parameters.
    """

    NOT_STORED: ClassVar = (None,)

    vendor: str | None = None
    parameters: Mapping[str, str] = field(default_factory=dict)
    definition: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """How a site is walked: the levels from the root down, or an API."""

    NOT_STORED: ClassVar = (None, ())

    levels: tuple[Level, ...] = ()
    api: ApiSource | None = None

    @property
    def is_api(self) -> bool:
        return self.api is not None


@dataclass(frozen=True, slots=True)
class Limits:
    """Where an extraction stops, and how fast it goes. `pages` are requests, `depth` is that of exploration,
    `budget` is in dollars of model calls, `hours` is the time it may take. None: as the settings say. `rate`
    is how many requests may start in a time, such as 30/m; None: as its source and its host say.
    """

    NOT_STORED: ClassVar = (None,)

    pages: int | None = None
    depth: int | None = None
    budget: float | None = None
    hours: float | None = None
    rate: str | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """What is read: a name and a flat schema. `key` are the fields by which two entities are the same;
    without it each page is one entity.
    """

    name: str
    schema: Schema

    @property
    def digest(self) -> str:
        return self.schema.digest


@dataclass(frozen=True, slots=True)
class Recipe:
    """A recipe as it is stored. `configuration` is None until it was detected or given; `report` is what the
    detection found and proved. Times are microseconds since 1970.
    """

    id: int
    name: str
    url: str
    entity: Entity
    configuration: Configuration | None = None
    limits: Limits = Limits()
    status: RecipeStatus = RecipeStatus.WAITING
    reason: str | None = None
    version: int = 0
    detection: int = 0
    origin: Origin = Origin.PERSON
    report: Mapping[str, Any] | None = None
    retired_at: int = 0
    created_at: int = 0
    updated_at: int = 0

    @property
    def source(self) -> str:
        """The source that a person pauses, limits and disables."""
        return source_of(self.name)


@dataclass(frozen=True, slots=True)
class Extraction:
    """One walk over a site: a row of `extractions`. Times are microseconds since 1970, 0 for never.
    `resumed_at` is when it was last resumed, retried or read again.
    """

    id: int
    recipe_id: int
    recipe_name: str
    recipe_version: int
    url: str
    entity: Entity
    configuration: Configuration
    limits: Limits
    status: ExtractionStatus = ExtractionStatus.WAITING
    reason: str | None = None
    created_at: int = 0
    started_at: int = 0
    resumed_at: int = 0
    ended_at: int = 0
    cost: int = 0
    dropped: int = 0
    previous_id: int | None = None


@dataclass(frozen=True, slots=True)
class ExtractionPage:
    """One page of an extraction: a row of `extraction_pages`. `level` counts from the root; `number` is its
    place in a list, and `list_page` the page that the list begins with. `counting` says that nobody knows how
    long that list is. `empty` are the words with which a list says that it has nothing.
    """

    extraction_id: int
    page: str
    url: str
    step: int
    level: int
    page_type: PageType
    status: PageStatus = PageStatus.WAITING
    number: int | None = None
    list_page: str | None = None
    explored: int = 0
    failure: Mapping[str, Any] | None = None
    note: str | None = None
    final_url: str | None = None
    content: str | None = None
    markdown: str | None = None
    screenshot: str | None = None
    content_type: str | None = None
    links: int = 0
    fetched_at: int = 0
    extraction_status: PageStatus | None = None
    extraction_started_at: int = 0
    extracted_at: int = 0
    extractor: str | None = None
    items: int = 0
    counting: bool = False
    empty: str | None = None

    @property
    def id(self) -> str:
        """As the keys of its tasks name it."""
        return page_id(self.extraction_id, self.page)


def page_name(url: str) -> str:
    """The name of a page within its extraction: short, and the same for every spelling of the address."""
    return hashlib.sha256(canonical_url(url).encode()).hexdigest()[:PAGE_DIGITS]


def page_id(extraction: int, page: str) -> str:
    return f"{extraction}-{page}"


def detect_key(recipe: int, detection: int) -> str:
    """The key of the task that detects the configuration of a recipe."""
    return f"{DETECT}.{recipe}.{detection}"


def fetch_key(extraction: int, page: str) -> str:
    """The key of the task that fetches a page."""
    return f"fetchPage.{page_id(extraction, page)}"


def api_key(extraction: int, page: str) -> str:
    """The key of the task that reads an API."""
    return f"extractDataWithApi.{page_id(extraction, page)}"


def extract_key(extraction: int, page: str, version: int) -> str:
    """The key of the task that reads a page into a version of the data set."""
    again = f".{version}" if version > 1 else ""
    return f"extractData.{page_id(extraction, page)}{again}"


def source_of(recipe: str) -> str:
    return f"recipe.{recipe}"
