"""The goods of the practice marketplace: a few things of which everything is known, and the listings about
them, as they stand on one day.

Among the true listings are lots, replicas, other years, accessories and listings with variants. An asking
price may change from one week to the next; a listing may be sold, or vanish.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import lru_cache

from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.draw import Draw

LISTINGS = 30  # of each thing
FIRST, STEP = 100_000_000, 1_000  # of the ids: the first, and how far things are apart
HISTORY = 90  # days for which a sale is shown


class Role(StrEnum):
    """What a listing is to the thing that it was planted for."""

    TRUE = "true"  # one of it
    LOT = "lot"  # several of it
    REPLICA = "replica"
    OTHER = "other"  # another year, another mint, another model
    ACCESSORY = "accessory"  # something for it
    VARIANTS = "variants"  # several things at several prices


class Fate(StrEnum):
    """How a listing ends."""

    STAYS = "stays"
    SOLD = "sold"
    VANISHES = "vanishes"


@dataclass(frozen=True, slots=True)
class MarketThing:
    """A thing and what it is worth. `name` is how titles begin; `other` is what it is mistaken for."""

    key: str
    kind: str
    name: str
    other: str
    accessory: str
    worth: int  # US cents, in the poorest of its conditions
    conditions: tuple[tuple[str, int], ...]  # a condition in the words of a title, and its worth in percent
    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """A listing as it stands. `cents` are US cents for all of it; `about` names the things that it is one of.
    `sold` is when somebody bought it. `was` is the struck price, `low` the least of its variants.
    """

    id: int
    thing: str
    role: Role
    title: str
    about: tuple[str, ...]
    quantity: int
    cents: int
    shipping: int
    condition: str
    listed: datetime
    ends: datetime
    sold: datetime | None = None
    was: int | None = None
    low: int | None = None

    @property
    def path(self) -> str:
        return f"/itm/{self.id}"


GRADES = (
    ("VG", 100),
    ("VF30", 130),
    ("AU55", 180),
    ("MS63", 260),
    ("PCGS MS65", 420),
    ("Raw", 110),
    ("cleaned", 80),
)
STATES = (("new", 180), ("used", 120), ("refurbished", 140), ("for parts", 100))
THINGS: tuple[MarketThing, ...] = (
    MarketThing(
        "morgan-1881-s",
        "coin",
        "1881-S Morgan Silver Dollar",
        "1881-O Morgan Silver Dollar",
        "Display case for Morgan dollars 1878-1904, with 1881-S slot",
        4_200,
        GRADES,
        (("denomination", "dollar"), ("year", "1881"), ("mintmark", "S"), ("series", "Morgan")),
    ),
    MarketThing(
        "walking-1943-d",
        "coin",
        "1943-D Walking Liberty Half Dollar",
        "1942-D Walking Liberty Half Dollar",
        "Album page for Walking Liberty half dollars 1941-1947 with 1943-D",
        1_500,
        GRADES,
        (("denomination", "half dollar"), ("year", "1943"), ("mintmark", "D"), ("series", "Walking Liberty")),
    ),
    MarketThing(
        "mercury-1916-d",
        "coin",
        "1916-D Mercury Dime",
        "1926-D Mercury Dime",
        "Reference book: 1916-D Mercury dime and its fakes",
        68_000,
        GRADES,
        (("denomination", "dime"), ("year", "1916"), ("mintmark", "D"), ("series", "Mercury")),
    ),
    MarketThing(
        "fieldmaster-k7",
        "product",
        "Fieldmaster K7 Camera Body",
        "Fieldmaster K5 Camera Body",
        "Battery grip for Fieldmaster K7 camera body",
        21_000,
        STATES,
        (("brand", "Fieldmaster"), ("model", "K7"), ("variant", "Body"), ("gtin", "4006381333931")),
    ),
    MarketThing(
        "ondasonic-m90",
        "product",
        "Ondasonic M90 Headphones",
        "Ondasonic M70 Headphones",
        "Ear pads for Ondasonic M90 headphones",
        7_900,
        STATES,
        (("brand", "Ondasonic"), ("model", "M90"), ("gtin", "5901234123457")),
    ),
)
_BY_KEY = {thing.key: thing for thing in THINGS}


def thing(key: str) -> MarketThing:
    return _BY_KEY[key]


@lru_cache(64)
def offers(seed: int, now: datetime) -> tuple[Offer, ...]:
    """Every listing that is shown now: what is asked for, and what was sold in the last 90 days."""
    return tuple(
        offer
        for place, each in enumerate(THINGS)
        for number in range(LISTINGS)
        if (offer := _offer(seed, place, each, number, now)) is not None
    )


def asked(seed: int, now: datetime) -> tuple[Offer, ...]:
    """What is for sale now."""
    return tuple(each for each in offers(seed, now) if each.sold is None)


def sold(seed: int, now: datetime) -> tuple[Offer, ...]:
    """What was sold in the last 90 days, the latest sale first."""
    found = [(each.sold, each) for each in offers(seed, now) if each.sold is not None]
    return tuple(each for _, each in sorted(found, key=lambda pair: (pair[0], pair[1].id), reverse=True))


def planted(seed: int, number: int) -> Offer | None:
    """A listing by its id as it stood when it was new, whatever has become of it."""
    place, at = divmod(number - FIRST, STEP)
    if not (0 <= place < len(THINGS) and 0 <= at < LISTINGS):
        return None
    return _offer(seed, place, THINGS[place], at, None)


def _offer(seed: int, place: int, each: MarketThing, number: int, now: datetime | None) -> Offer | None:
    draw = Draw(seed, "marketplace", each.key, number)
    condition, percent = draw.pick(each.conditions)
    role, fate = _role(number), draw.pick((Fate.STAYS, Fate.SOLD, Fate.SOLD, Fate.VANISHES))
    listed = DAY_ZERO + timedelta(days=draw.between(-100, 20), minutes=draw.below(1_440))
    ends = listed + timedelta(days=draw.between(3, 60))
    noise, moves, shipping = draw.between(85, 118), draw.chance(40), draw.pick((0, 0, 495, 1_250))
    lot = draw.pick((2, 3, 5, 10, 20))
    now = listed if now is None else now
    if now < listed or (now >= ends and fate is Fate.VANISHES):
        return None
    is_sold = now >= ends and fate is Fate.SOLD
    if is_sold and now - ends > timedelta(days=HISTORY):
        return None
    worth = each.worth * percent * noise // 10_000
    weeks = (min(now, ends) - listed).days // 7
    price = worth * max(60, 100 - 3 * weeks) // 100 if moves else worth
    title, cents, quantity = _told(role, each, condition, price, lot)
    return Offer(
        FIRST + place * STEP + number,
        each.key,
        role,
        title,
        (each.key,) if role is Role.TRUE else (),
        quantity,
        cents,
        shipping,
        condition,
        listed,
        ends,
        ends if is_sold else None,
        worth if moves and weeks and role is Role.TRUE else None,
        cents * 6 // 10 if role is Role.VARIANTS else None,
    )


def _role(number: int) -> Role:
    """Of thirty listings twenty are true."""
    return {
        3: Role.LOT,
        9: Role.LOT,
        6: Role.REPLICA,
        13: Role.REPLICA,
        16: Role.OTHER,
        19: Role.OTHER,
        22: Role.OTHER,
        25: Role.ACCESSORY,
        28: Role.ACCESSORY,
        11: Role.VARIANTS,
    }.get(number, Role.TRUE)


def _told(role: Role, each: MarketThing, condition: str, price: int, lot: int) -> tuple[str, int, int]:
    """The title, the price of all of it, and how many it is."""
    match role:
        case Role.LOT:
            return f"Lot of {lot} {each.name} {condition}", price * lot * 9 // 10, lot
        case Role.REPLICA:
            return f"{each.name} COPY replica, not genuine", max(199, price // 20), 1
        case Role.OTHER:
            return f"{each.other} {condition}", price * 7 // 10, 1
        case Role.ACCESSORY:
            return each.accessory, 1_495, 1
        case Role.VARIANTS:
            return f"{each.name} - choose yours", price, 1
        case Role.TRUE:
            return f"{each.name} {condition}", price, 1
