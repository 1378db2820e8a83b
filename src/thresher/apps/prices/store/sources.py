"""`price_sources`: where listings come from, and what they are worth. Their gates are the machine's."""

from collections.abc import Sequence

import orjson

from thresher.apps.prices.model import Adapter, Origin, PriceSource, RuleKind, SourceSpec, gate_name
from thresher.apps.prices.store.collections import drop_source, plan_source
from thresher.core.clock import MINUTE
from thresher.core.gate import GateLimits
from thresher.core.stored import read, written
from thresher.store.session import Row, Session, one
from thresher.store.sources import add_source_within

MAX_SOURCES = 100_000

APP = "prices"
TRIP_AFTER = 5  # failures in a row that pause a source
COOLDOWN = 5 * MINUTE

_COLUMNS = "id, name, adapter, spec, origin, retired_at, created_at, updated_at, cache_seconds"
_SELECT = f"select {_COLUMNS} from price_sources"
_BY_ID = f"{_SELECT} where id = :id"
_BY_NAME = f"{_SELECT} where name = :name"
_ALL = f"{_SELECT} where (:retired = 1 or retired_at = 0) and name > :after order by name limit :limit"
_SAVE = """insert into price_sources (name, adapter, spec, origin, created_at, updated_at)
    values (:name, :adapter, :spec, :origin, :now, :now)
    on conflict (name) do update set adapter = excluded.adapter, spec = excluded.spec, origin = excluded.origin,
    updated_at = excluded.updated_at, retired_at = 0
    returning id"""
_STOOD = "select spec, adapter, retired_at from price_sources where name = :name"
_CACHE = "update price_sources set cache_seconds = :seconds where id = :id"
_RETIRE = "update price_sources set retired_at = :now where id = :id and retired_at = 0"


def find_price_source(session: Session, name: str) -> PriceSource | None:
    """The source of this name, retired or not."""
    row = one(session, _BY_NAME, {"name": name})
    return None if row is None else _source(row)


def price_source_of_id(session: Session, source: int) -> PriceSource | None:
    """The source of this id, retired or not."""
    row = one(session, _BY_ID, {"id": source})
    return None if row is None else _source(row)


def list_price_sources(
    session: Session, *, retired: bool = False, after: str = "", limit: int = MAX_SOURCES
) -> Sequence[PriceSource]:
    """Sources by name, after a name if one is given; with `retired` those that are no longer used too."""
    given = {"retired": int(retired), "after": after, "limit": limit}
    return [_source(row) for row in session.rows(_ALL, given)]


def save_price_source(session: Session, spec: SourceSpec, origin: Origin, now: int) -> int:
    """Write a source under its name with a gate of its own, and return its id. The gate of one that is known
    keeps the limits that it has: a person may have changed them.
    """
    values = {
        "name": spec.name,
        "adapter": spec.adapter.value,
        "spec": orjson.dumps(written(spec)).decode(),
        "origin": origin.value,
        "now": now,
    }
    stood = one(session, _STOOD, {"name": spec.name})
    source = int(session.rows(_SAVE, values)[0][0])
    if spec.adapter.collects:
        plan_source(session, source, is_changed=stood != (values["spec"], values["adapter"], 0))
    add_source_within(session, gate_name(spec.name), limits_of(spec), APP, now)
    return source


def limits_of(spec: SourceSpec) -> GateLimits:
    """The limits that the gate of a new source begins with."""
    rate = _rate_override(spec) or spec.rate_per_minute
    interval = round(MINUTE / rate) if rate else 0
    return GateLimits(interval_us=interval, trip_after=TRIP_AFTER, cooldown_us=COOLDOWN)


def _rate_override(spec: SourceSpec) -> int | None:
    """The rate that the rule with the highest priority says, in requests per minute."""
    rules = [
        each
        for each in spec.rules
        if each.kind is RuleKind.RATE_LIMIT_OVERRIDE and each.active and each.values
    ]
    return int(max(rules, key=lambda each: each.priority).values[0]) if rules else None


def set_cache_seconds(session: Session, source: int, seconds: int | None) -> None:
    """Set how long its answers are used again; None leaves it to its spec and the settings."""
    session.run(_CACHE, {"id": source, "seconds": seconds})


def retire_price_source(session: Session, source: int, now: int) -> bool:
    """Ask it no more, and keep what it has brought; False if it was retired."""
    retired = session.run(_RETIRE, {"id": source, "now": now}) > 0
    if retired:
        drop_source(session, source)
    return retired


def _source(row: Row) -> PriceSource:
    identity, name, adapter, spec, origin, retired_at, created_at, updated_at, cache_seconds = row
    said = read(SourceSpec, orjson.loads(spec), name=name, adapter=Adapter(adapter))
    return PriceSource(identity, said, Origin(origin), retired_at, created_at, updated_at, cache_seconds)
