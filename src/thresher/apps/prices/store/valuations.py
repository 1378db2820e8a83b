"""`price_valuations`: what each item is worth, every value that it has had, and which items are to be valued.

A valuation is asked for in the transaction that changes what it rests on. The request has a number, and the
valuation that is stored says which of them it has seen, so nothing is missed, however many are at work.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from datetime import date
from typing import Any, ClassVar, NamedTuple

import orjson

from thresher.apps.prices.alerting import Alert, AlertChange
from thresher.apps.prices.model import (
    Bands,
    ConfidencePart,
    Item,
    ItemStatus,
    PriceType,
    Valuation,
)
from thresher.apps.prices.rates import DEFAULT_MAX_AGE, NO_RATES, Rates
from thresher.apps.prices.store.alerts import alerts_of, change_alerts
from thresher.apps.prices.store.items import item_of_id, set_status
from thresher.apps.prices.store.points import MAX_LIVE
from thresher.apps.prices.store.rates import read_rates
from thresher.apps.prices.store.sources import list_price_sources
from thresher.apps.prices.valuation.comps import Evidence, price_day
from thresher.core.clock import MINUTE
from thresher.core.stored import read, written
from thresher.store.session import Row, Session, one

NOBODY = 0  # asked without a task of its own
GRACE = MINUTE  # a request younger than this has a task of its own that is about to be performed

_POINT = (
    "id",
    "source_id",
    "unit",
    "currency",
    "price_type",
    "match_strength",
    "counts",
    "reason",
    "grade",
    "listing_date",
    "first_seen",
    "observed_at",
    "ended_at",
)
_BANDS = ("p10", "p20", "p40", "median", "p60", "p80", "p90", "mean")
_COUNTS = ("comp_count", "sold_count", "ask_count", "source_count")
_VALUES = ("currency", *_BANDS, "confidence", *_COUNTS, "explanation", "components", "basis", "computed_at")
_PAST = ("currency", "p10", "p20", "median", "p80", "p90", "confidence", "comp_count")
_ONE = f"select item_id, {', '.join(_VALUES)} from price_valuations where item_id = :item"
_SAVE = f"""insert into price_valuations (item_id, {", ".join(_VALUES)})
    values (:item_id, {", ".join(f":{name}" for name in _VALUES)})
    on conflict (item_id) do update set {", ".join(f"{name} = excluded.{name}" for name in _VALUES)}"""
_KEEP = f"""insert into price_valuation_history (item_id, computed_at, {", ".join(_PAST)})
    values (:item_id, :computed_at, {", ".join(f":{name}" for name in _PAST)})
    on conflict (item_id, computed_at) do update set {", ".join(f"{name} = excluded.{name}" for name in _PAST)}"""
_HISTORY = f"""select item_id, computed_at, {", ".join(_PAST)} from price_valuation_history
    where item_id = :item order by computed_at desc limit :limit"""

_ASK = """insert into price_valuation_requests (item_id, asked, task_id, asked_at) values (:item, 1, :task, :now)
    on conflict (item_id) do update set asked = price_valuation_requests.asked + 1, task_id = excluded.task_id,
    asked_at = excluded.asked_at"""
_REQUEST = "select asked, task_id, served from price_valuation_requests where item_id = :item"
# Those that the reads of price points call live, in the same order.
_LIVE = f"""select {", ".join(_POINT)} from price_points where item_id = :item and ended_at = 0
    order by id desc limit :limit"""
_TYPES = {each.value: each for each in PriceType}
_BEGIN = "insert into price_valuation_requests (item_id) values (:item) on conflict (item_id) do nothing"
_SERVE = """update price_valuation_requests set served = :served, served_at = :read_at where item_id = :item
    and served <= :served"""
_GIVE_UP = "update price_valuation_requests set served = asked, served_at = :now where item_id = :item"
# Asked for and not served, changed since, collected since, or valued so long ago that its prices have aged.
_DUE = """select i.id from price_items i left join price_valuation_requests r on r.item_id = i.id
    where i.archived_at = 0 and i.id > :after and (
        (r.asked > r.served and r.asked_at < :before)
        or (r.served_at > 0 and (i.updated_at > r.served_at or r.served_at < :old))
        or exists (select 1 from price_collections c where c.item_id = i.id and c.ended_at < :before
            and c.ended_at > coalesce(r.served_at, 0))
    ) order by i.id limit :limit"""


@dataclass(frozen=True, slots=True)
class PastValuation:
    """A valuation that an item has had, by its figures. Without evidence there are none."""

    item_id: int
    computed_at: int
    currency: str
    p10: int | None
    p20: int | None
    median: int | None
    p80: int | None
    p90: int | None
    confidence: int | None
    comp_count: int


class LivePoint(NamedTuple):
    """What a valuation needs of a price point: half of its columns, and quick to make."""

    id: int
    source_id: int
    unit: int
    currency: str
    price_type: PriceType
    match_strength: int
    counts: bool
    reason: str | None
    grade: str | None
    listing_date: date | None
    first_seen: int
    observed_at: int
    ended_at: int


@dataclass(frozen=True, slots=True)
class ValuationInputs:
    """All that a valuation follows from, as it stood at `read_at`. `asked` is the number of the last request
    that it has seen.
    """

    item: Item
    points: Sequence[LivePoint]
    rates: Rates
    reputations: Mapping[int, float]
    alerts: Sequence[Alert]
    before: Valuation | None
    asked: int
    read_at: int


@dataclass(frozen=True, slots=True)
class _Components:
    """What is stored as JSON of a valuation: the parts of its confidence, and what was left out by reason."""

    NOT_STORED: ClassVar[tuple[object, ...]] = ()

    parts: tuple[ConfidencePart, ...] = ()
    left_out: Mapping[str, int] | None = None


def valuation_of(session: Session, item_id: int, lock: str = "") -> Valuation | None:
    """What an item is worth; None if it was never valued."""
    row = one(session, _ONE + lock, {"item": item_id})
    return None if row is None else _valuation(row)


def valuation_history(session: Session, item_id: int, limit: int = 200) -> list[PastValuation]:
    """The values that an item has had, newest first. One that is the same as the one before has no row."""
    return [PastValuation(*row) for row in session.rows(_HISTORY, {"item": item_id, "limit": limit})]


# Asking


def request_valuation(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Effect: what `item` is worth may have changed. `task` is the one that asks, and has a child
    that values it; what a person asks for is left to the sweep, or to the next task.
    """
    session.run(_ASK, {"item": data["item"], "task": data.get("task", NOBODY), "now": now})


def items_to_value(session: Session, data: Mapping[str, Any], now: int) -> list[int]:
    """Read: items whose valuation is due and is not about to be made, by id. `age` is the time after which
    one is made again, in microseconds.
    """
    said = {"after": data["after"], "limit": data["limit"]}
    rows = session.rows(_DUE, {**said, "before": now - GRACE, "old": now - data["age"]})
    return [row[0] for row in rows]


def valuation_inputs(session: Session, data: Mapping[str, Any], now: int) -> ValuationInputs | str | None:
    """Read: all that the valuation of `item` follows from; None if there is no such item, and a sentence if
    it need not be valued by the task that was asked for `after` another one. A rate stands in for days
    without one up to an age of `rates_max_age` days.

    The request is read before the points. What is filed in between is seen without its number, and valued
    once more; what is seen by its number is never missed.
    """
    number = data["item"]
    asked, last, _ = one(session, _REQUEST, {"item": number}) or (0, 0, 0)
    if data.get("after") and last not in (data["after"], NOBODY):
        return "something newer was found for this item, and its own task values it"
    item = item_of_id(session, number)
    if item is None or not item.is_live:
        return None
    sources = list_price_sources(session, retired=True)
    points = live_evidence(session, number)
    return ValuationInputs(
        item,
        points,
        rates_of(session, item, points, data.get("rates_max_age", DEFAULT_MAX_AGE)),
        {each.id: each.spec.reputation for each in sources},
        alerts_of(session, number),
        valuation_of(session, number),
        asked,
        now,
    )


def live_evidence(session: Session, item: int, limit: int = MAX_LIVE) -> list[LivePoint]:
    """What a valuation looks at of the points of an item: all but the asks that have ended."""
    return [
        LivePoint(
            number,
            source,
            unit,
            currency,
            _TYPES[kind],
            strength,
            bool(counts),
            reason,
            grade,
            date.fromisoformat(day) if day else None,
            first_seen,
            observed_at,
            ended_at,
        )
        for (
            number,
            source,
            unit,
            currency,
            kind,
            strength,
            counts,
            reason,
            grade,
            day,
            first_seen,
            observed_at,
            ended_at,
        ) in session.rows(_LIVE, {"item": item, "limit": limit})
    ]


def rates_of(session: Session, item: Item, points: Sequence[Evidence], max_age: int) -> Rates:
    """The rates of the points that are in other currencies, of their days; most items have none."""
    others = [each for each in points if each.currency != item.spec.currency and each.counts]
    if not others:
        return NO_RATES
    days = [price_day(each) for each in others]
    currencies = {item.spec.currency, *(each.currency for each in others)}
    return read_rates(
        session,
        dialect=session.dialect,
        currencies=currencies,
        since=min(days),
        until=max(days),
        max_age=max_age,
    )


# Storing


def store_valuation(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Effect: store a valuation with what follows from it, unless one that has seen more is stored.

    The same basis writes nothing but that it was looked at; history has a row only where a figure changed.
    """
    value: Valuation = data["valuation"]
    # The item before its request, as people's changes take them: else the two would wait for each other.
    item = item_of_id(session, value.item_id, session.dialect.lock)
    if item is None or not item.is_live:
        return {}
    session.run(_BEGIN, {"item": item.id})
    if not session.run(_SERVE, {"item": item.id, "served": data["asked"], "read_at": data["read_at"]}):
        return {"valuations_outdated": 1}
    changes: Sequence[AlertChange] = data["alerts"]
    fired = change_alerts(session, changes, item.name, value.currency, now) if changes else 0
    counts = {"price_alerts_fired": fired} if fired else {}
    before = valuation_of(session, item.id)
    if before is not None and before.basis == value.basis:
        return {**counts, "valuations_unchanged": 1}
    _save(session, value, before)
    _move_on(session, item, value, data["read_at"])
    return {**counts, "valuations_stored": 1}


def give_up_valuation(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Effect: a valuation failed for good. It is made again when something new is found."""
    session.run(_BEGIN, {"item": data["item"]})
    session.run(_GIVE_UP, {"item": data["item"], "now": now})


def _save(session: Session, value: Valuation, before: Valuation | None) -> None:
    row = _row(value)
    session.run(_SAVE, row)
    past = None if before is None else _row(before)
    if past is None or any(row[name] != past[name] for name in _PAST):
        session.run(_KEEP, row)


def _move_on(session: Session, item: Item, value: Valuation, now: int) -> None:
    """An item with a value is priced; one whose evidence is gone is not any more."""
    if item.status is ItemStatus.ATTRIBUTED and value.bands is not None:
        set_status(session, item.id, ItemStatus.PRICED, now)
    elif item.status is ItemStatus.PRICED and value.bands is None:
        set_status(session, item.id, ItemStatus.ATTRIBUTED, now)


def _row(value: Valuation) -> dict[str, Any]:
    bands = astuple(value.bands) if value.bands else (None,) * len(_BANDS)
    components = _Components(value.parts, value.left_out)
    return {
        "item_id": value.item_id,
        "currency": value.currency,
        **dict(zip(_BANDS, bands, strict=True)),
        "confidence": value.confidence,
        **{name: getattr(value, name) for name in _COUNTS},
        "explanation": value.explanation,
        "components": orjson.dumps(written(components)).decode(),
        "basis": value.basis,
        "computed_at": value.computed_at,
    }


def _valuation(row: Row) -> Valuation:
    said = dict(zip(("item_id", *_VALUES), row, strict=True))
    found = read(_Components, orjson.loads(said["components"]))
    return Valuation(
        item_id=said["item_id"],
        currency=said["currency"],
        bands=None if said["median"] is None else Bands(*(said[name] for name in _BANDS)),
        confidence=said["confidence"],
        **{name: said[name] for name in _COUNTS},
        explanation=said["explanation"],
        parts=found.parts,
        left_out=found.left_out or {},
        basis=said["basis"],
        computed_at=said["computed_at"],
    )
