"""The words of the prices app: item, price source, listing, price point and valuation.

An item is what is to be valued. A price source offers listings; a listing knows nothing of items. A listing
that is about an item becomes a price point of that item, and all that count of them become its valuation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, ClassVar

WHOLE = 1_000  # a match strength of 1.0: strengths are stored in thousandths
RAW = "raw"  # the grade of what nobody has graded


class ItemStatus(StrEnum):
    """How far an item has come. ATTRIBUTED: it says all that its kind needs; PRICED: it has a valuation."""

    PENDING = "pending"
    ATTRIBUTED = "attributed"
    PRICED = "priced"
    ARCHIVED = "archived"


class PriceType(StrEnum):
    """What a price is: paid, asked for, or offered by a buyer."""

    SOLD = "sold"
    ASK = "ask"
    BID = "bid"


class Adapter(StrEnum):
    """How the listings of a source are had."""

    MARKETPLACE = "marketplace"  # a search API, with sold and asking results
    PAGE = "page"  # the product page of each item, by its address
    SEARCH = "search"  # a page of search results
    CSV = "csv"  # a file, by address or in the project
    MANUAL = "manual"  # a person enters them

    @property
    def collects(self) -> bool:
        """Whether there is anything to ask: a person's own entries are not fetched."""
        return self is not Adapter.MANUAL


class RuleKind(StrEnum):
    """What a rule of a source does."""

    EXCLUDE_KEYWORDS = "exclude_keywords"
    REQUIRE_KEYWORDS = "require_keywords"
    ALLOWED_PATH = "allowed_path"
    RATE_LIMIT_OVERRIDE = "rate_limit_override"


class Origin(StrEnum):
    """Who declared an item or a source. One from the project file is retired when it is no longer there."""

    FILE = "file"
    PERSON = "person"


@dataclass(frozen=True, slots=True)
class ItemSpec:
    """What somebody says of an item. `attributes` are those of its kind, `urls` its own product
    pages. `sources` names those that it is looked for at; none: all that are enabled and can look for it.
    """

    NOT_STORED: ClassVar[tuple[object, ...]] = (None, (), {})

    name: str
    kind: str = "product"
    attributes: Mapping[str, str] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    currency: str = "USD"
    urls: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """An item as it is stored. `refresh` is how often it is looked for at most, in microseconds; 0 leaves it
    to its age and to how its prices move.
    """

    id: int
    spec: ItemSpec
    status: ItemStatus
    origin: Origin = Origin.PERSON
    refresh: int = 0
    created_at: int = 0
    updated_at: int = 0
    archived_at: int = 0

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def is_live(self) -> bool:
        return self.archived_at == 0


@dataclass(frozen=True, slots=True)
class SourceRule:
    """A rule of a source. Of two rules of one kind the one with the higher priority counts first; all that
    are active hold.
    """

    NOT_STORED: ClassVar = (None,)

    kind: RuleKind = RuleKind.EXCLUDE_KEYWORDS
    values: tuple[str, ...] = ()
    priority: int = 0
    active: bool = True


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """What somebody says of a source.

    `definition` names one that comes with the app or lies in the project's `sources` folder; `options` are
    its parameters. `tier` is from 1, the best, to 10; `reputation` from 0 to 1. `rate_per_minute` None: no
    limit but that of its host. `cache_seconds` None: the setting `prices.cache_ttl`; 0 keeps nothing.
    """

    NOT_STORED: ClassVar[tuple[object, ...]] = (None, (), {})

    name: str
    adapter: Adapter
    definition: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    tier: int = 5
    reputation: float = 0.5
    rate_per_minute: int | None = 60
    cache_seconds: int | None = None
    rules: tuple[SourceRule, ...] = ()


@dataclass(frozen=True, slots=True)
class PriceSource:
    """A source as it is stored. Whether it is paused or disabled is said by its gate. `cache_seconds` is what
    a person has set while it runs: it counts before the spec's own.
    """

    id: int
    spec: SourceSpec
    origin: Origin = Origin.PERSON
    retired_at: int = 0
    created_at: int = 0
    updated_at: int = 0
    cache_seconds: int | None = None

    @property
    def name(self) -> str:
        return self.spec.name

    @property
    def gate(self) -> str:
        return f"source:{gate_name(self.name)}"


def gate_name(source: str) -> str:
    """What `thresher sources` calls a price source."""
    return f"prices.{source}"


@dataclass(frozen=True, slots=True)
class Listing:
    """What one row of a source says, whoever it is compared with. Amounts count the currency's smallest
    unit; None where none could be read for certain, and `doubts` say why. Beside an amount they are about
    other fields: a date, the shipping.

    `amount` is what the listing asks for all that it offers, `high` the upper end of a range, `was` the
    struck price beside it, `shipping` what sending it costs. `quantity` is how many the source itself says
    it is. `quote` is the text that the amount was read from, `place` where in the answer it stands.
    `aspects` are what the source says of the thing by name: year, grade, brand.
    """

    NOT_STORED: ClassVar[tuple[object, ...]] = (None, (), {})

    title: str
    price_type: PriceType
    amount: int | None = None
    currency: str | None = None
    quote: str = ""
    place: str = ""
    external_id: str | None = None
    url: str | None = None
    high: int | None = None
    was: int | None = None
    shipping: int | None = None
    quantity: int | None = None
    per: str | None = None
    condition: str | None = None
    aspects: Mapping[str, str] = field(default_factory=dict)
    listed_on: date | None = None
    available: bool | None = None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signal:
    """What one attribute or keyword says about whether a listing is this item. `weight` is out of the
    item's whole; `verdict` is "matches", "differs" or "silent"; `quote` is the text that decided it.
    """

    NOT_STORED: ClassVar = (None,)

    name: str = ""
    wanted: str = ""
    verdict: str = "silent"
    weight: int = 0
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedListing:
    """A listing as evidence about one item. `unit` is the price of one, in the listing's own currency.
    `strength` is in thousandths. `grade` is the normalised grade it states, RAW if it says that nobody has
    graded it, None if it says nothing. `reason` says why it does not count.
    """

    listing: Listing
    unit: int | None
    quantity: int
    strength: int
    signals: tuple[Signal, ...] = ()
    grade: str | None = None
    counts: bool = True
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PricePoint:
    """A price point as it is stored: the latest state of one listing as evidence about one item."""

    id: int
    item_id: int
    source_id: int
    dedupe_key: str
    price: int
    currency: str
    price_type: PriceType
    unit: int
    quantity: int
    match_strength: int
    counts: bool
    reason: str | None
    title: str
    url: str | None
    external_id: str | None
    condition: str | None
    grade: str | None
    listing_date: date | None
    first_seen: int
    observed_at: int
    ended_at: int = 0


@dataclass(frozen=True, slots=True)
class PointEvidence:
    """Why a price point says what it says. `body` is the hash of the answer that it was read from. Amounts
    count the smallest unit of the point's currency.
    """

    NOT_STORED: ClassVar[tuple[object, ...]] = (None, "", ())

    body: str | None
    quote: str = ""
    place: str = ""
    signals: tuple[Signal, ...] = ()
    doubts: tuple[str, ...] = ()
    shipping: int | None = None
    was: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True)
class PrunablePoints:
    """Ids of points that may be removed among those that were looked at. `last` is the last of these; None
    where there are no more.
    """

    points: tuple[int, ...]
    last: int | None


class Change(StrEnum):
    """What happened to a price point when it was observed."""

    NEW = "new"
    CHANGED = "changed"
    ENDED = "ended"
    RETURNED = "returned"


@dataclass(frozen=True, slots=True)
class Observation:
    """The price of a point from a moment on. A point that is seen again as it was has no new observation."""

    point_id: int
    observed_at: int
    price: int
    currency: str
    price_type: PriceType
    unit: int
    match_strength: int
    what: Change


@dataclass(frozen=True, slots=True)
class ConfidencePart:
    """One part of the confidence of a valuation: what was measured, and the points that it brings."""

    NOT_STORED: ClassVar[tuple[object, ...]] = (None,)

    name: str = ""
    points: float = 0.0
    because: str = ""


@dataclass(frozen=True, slots=True)
class Bands:
    """The figures of a valuation, in the smallest unit of its currency: percentiles of the weighted prices.
    p20 is a quick sale, p40 to p60 a fair price, p80 a premium.
    """

    p10: int
    p20: int
    p40: int
    median: int
    p60: int
    p80: int
    p90: int
    mean: int


@dataclass(frozen=True, slots=True)
class Valuation:
    """What an item is worth, and why. Without `bands` there is no evidence to go by, and `explanation` says
    what is missing. `left_out` counts the points that do not count, by reason. `basis` is a hash of all that
    went in.
    """

    item_id: int
    currency: str
    bands: Bands | None
    confidence: int | None
    comp_count: int
    sold_count: int
    ask_count: int
    source_count: int
    explanation: str
    parts: tuple[ConfidencePart, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    basis: str = ""
    computed_at: int = 0
