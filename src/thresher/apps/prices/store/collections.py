"""`price_collections`: what is known of each item at each source, and when it is looked for again.

A pair has a row as soon as both are known, so that what is due is read from an index. `asked_at` says that a
task for the pair was made and has not ended: a pair is not asked for twice, and no source has more waiting
tasks than a setting says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from thresher.apps.prices.cadence import PriceCadence
from thresher.apps.prices.model import ItemSpec
from thresher.core.clock import DAY, FOREVER
from thresher.core.page import Verdict
from thresher.core.stored import written
from thresher.store.bulk import pour
from thresher.store.events import record_event
from thresher.store.session import Row, Session, one

# A task of which nothing was heard for so long was cancelled: the pair is asked for again.
FORGOTTEN = DAY
AT_ONCE = 500

_COLUMNS = (
    "item_id",
    "source_id",
    "due_at",
    "asked_at",
    "began_at",
    "ended_at",
    "last_success_at",
    "verdict",
    "reason",
    "pages",
    "listings",
    "counted",
    "changes",
    "quiet",
    "complete",
    "from_cache",
    "failures",
)
_SELECT = f"select {', '.join(_COLUMNS)} from price_collections"
_ONE = f"{_SELECT} where item_id = :item and source_id = :source"
_OF_ITEM = f"{_SELECT} where item_id = :item order by source_id"
_ADD_ITEM = """insert into price_collections (item_id, source_id) select :item, s.id from price_sources s
    where s.retired_at = 0 and s.adapter <> 'manual' on conflict (item_id, source_id) do nothing"""
_ADD_SOURCE = """insert into price_collections (item_id, source_id) select i.id, :source from price_items i
    where i.archived_at = 0 on conflict (item_id, source_id) do nothing"""
_DUE_ITEM = "update price_collections set due_at = 0 where item_id = :item"
_NEVER_ITEM = "update price_collections set due_at = :never where item_id = :item"
_NEVER_UNNAMED = """update price_collections set due_at = :never where item_id = :item
    and source_id not in (select s.id from price_sources s where s.name in (:names*))"""
_DUE_SOURCE = "update price_collections set due_at = 0 where source_id = :source"
_NEVER_SOURCE = (
    "update price_collections set due_at = :never where source_id = :source and due_at < :never_too"
)
_SOURCES = "select id from price_sources where retired_at = 0 and adapter <> 'manual' order by id"
_WAITING = """select count(*) from (select 1 from price_collections
    where source_id = :source and asked_at > :since limit :limit) as waiting"""
_DUE = """select c.item_id, i.archived_at from price_collections c join price_items i on i.id = c.item_id
    where c.source_id = :source and c.due_at <= :now and c.asked_at <= :since order by c.due_at, c.item_id limit :limit"""
_ASKED = (
    "update price_collections set asked_at = n.asked_at, due_at = n.due_at from {rows} "
    "where price_collections.item_id = n.item_id and price_collections.source_id = n.source_id"
)
_ASKED_COLUMNS = (
    ("item_id", "bigint"),
    ("source_id", "bigint"),
    ("asked_at", "bigint"),
    ("due_at", "bigint"),
)
_ITEM = "select spec, refresh, created_at, archived_at from price_items where id = :item"
_CHANGES = """select count(*) from price_observations o join price_points p on p.id = o.point_id
    where p.item_id = :item and p.source_id = :source and o.observed_at >= :began"""
_SAVE = """insert into price_collections (item_id, source_id, due_at, asked_at, began_at, ended_at, last_success_at, verdict, reason,
        pages, listings, counted, changes, quiet, complete, from_cache, failures)
    values (:item, :source, :due_at, 0, :began_at, :now, :last_success_at, :verdict, :reason,
        :pages, :listings, :counted, :changes, :quiet, :complete, :from_cache, :failures)
    on conflict (item_id, source_id) do update set due_at = excluded.due_at, asked_at = 0, began_at = excluded.began_at,
        ended_at = excluded.ended_at, last_success_at = excluded.last_success_at, verdict = excluded.verdict,
        reason = excluded.reason, pages = excluded.pages, listings = excluded.listings, counted = excluded.counted,
        changes = excluded.changes, quiet = excluded.quiet, complete = excluded.complete, from_cache = excluded.from_cache,
        failures = excluded.failures"""
_SKIP = """insert into price_collections (item_id, source_id, due_at, reason) values (:item, :source, :never, :reason)
    on conflict (item_id, source_id) do update set due_at = excluded.due_at, asked_at = 0, reason = excluded.reason"""
_NAMES = "select i.name, s.name from price_items i, price_sources s where i.id = :item and s.id = :source"
_UNPROVEN = "update price_sources set unproven = unproven + 1 where id = :source returning unproven, name"
_PROVEN = "update price_sources set unproven = 0 where id = :source and unproven <> 0"
_EVER = "select 1 from price_collections where source_id = :source and last_success_at > 0 limit 1"


@dataclass(frozen=True, slots=True)
class Collection:
    """One item at one source. `due_at` and what follows are times in microseconds; `failures` and `quiet`
    count in a row. All from `verdict` on is of the last collection.
    """

    item_id: int
    source_id: int
    due_at: int = 0
    asked_at: int = 0
    began_at: int = 0
    ended_at: int = 0
    last_success_at: int = 0
    verdict: Verdict | None = None
    reason: str | None = None
    pages: int = 0
    listings: int = 0
    counted: int = 0
    changes: int = 0
    quiet: int = 0
    complete: bool = False
    from_cache: bool = False
    failures: int = 0

    @property
    def is_planned(self) -> bool:
        """Whether it will be looked for again by itself."""
        return self.due_at < FOREVER


def find_collection(session: Session, item: int, source: int) -> Collection | None:
    """What is known of an item at a source."""
    row = one(session, _ONE, {"item": item, "source": source})
    return None if row is None else _collection(row)


def collections_of(session: Session, item: int) -> list[Collection]:
    """What is known of an item, by source."""
    return [_collection(row) for row in session.rows(_OF_ITEM, {"item": item})]


def _collection(row: Row) -> Collection:
    said = dict(zip(_COLUMNS, row, strict=True))
    verdict = said["verdict"]
    flags = {name: bool(said[name]) for name in ("complete", "from_cache")}
    return Collection(**{**said, **flags, "verdict": Verdict(verdict) if verdict else None})


# Plans: called by whatever writes items and sources, in the same transaction.


def plan_item(session: Session, item: int, spec: ItemSpec, *, is_changed: bool) -> None:
    """Plan an item at every source it is looked for at; one that has changed is due at once."""
    session.run(_ADD_ITEM, {"item": item})
    if is_changed:
        session.run(_DUE_ITEM, {"item": item})
    if spec.sources:
        session.run(_NEVER_UNNAMED, {"item": item, "names": list(spec.sources), "never": FOREVER})


def plan_source(session: Session, source: int, *, is_changed: bool) -> None:
    """Plan every item at a source; if it has changed, all of them are due at once. Items that name other
    sources find out when it is their turn, and are not asked for again.
    """
    session.run(_ADD_SOURCE, {"source": source})
    if is_changed:
        session.run(_DUE_SOURCE, {"source": source})


def drop_item(session: Session, item: int) -> None:
    """Look for an item no more."""
    session.run(_NEVER_ITEM, {"item": item, "never": FOREVER})


def drop_source(session: Session, source: int) -> None:
    """Look for nothing more at a source."""
    session.run(_NEVER_SOURCE, {"source": source, "never": FOREVER, "never_too": FOREVER})


# Reads


def due_pairs(session: Session, data: Mapping[str, Any], now: int) -> list[tuple[int, int, bool]]:
    """Read: pairs that are due, of each source those that have been for longest: item, source, and whether
    the item is live. No source has more than `limit` waiting tasks, and all have the same share of a `batch`.
    """
    found: list[tuple[int, int, bool]] = []
    since, limit = now - FORGOTTEN, int(data["limit"])
    sources = session.rows(_SOURCES)
    share = -(-int(data["batch"]) // max(1, len(sources)))
    for (source,) in sources:
        of_source = {"source": source, "since": since}
        waiting = session.rows(_WAITING, {**of_source, "limit": limit})[0][0]
        room = min(limit - waiting, share)
        if room > 0:
            rows = session.rows(_DUE, {**of_source, "now": now, "limit": room})
            found += [(item, source, archived == 0) for item, archived in rows]
    return found


# Effects


def asked(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Effect: tasks were made for these pairs; `dropped` are those of archived items."""
    rows = [(item, source, now, now + FORGOTTEN) for item, source in data["pairs"]]
    rows += [(item, source, 0, FOREVER) for item, source in data["dropped"]]
    pour(session.dialect, session, _ASKED, _ASKED_COLUMNS, rows)
    return {"collections_asked": len(data["pairs"])}


def skipped(session: Session, data: Mapping[str, Any], now: int) -> None:  # noqa: ARG001  every effect is given the time
    """Effect: an item is not looked for at a source, and why. It is not asked for again before one of the two
    has changed.
    """
    told = {name: data[name] for name in ("item", "source", "reason")}
    session.run(_SKIP, {**told, "never": FOREVER})


def collected(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Effect: a collection came to its end, with a verdict, a reason and counts."""
    before = find_collection(session, data["item"], data["source"]) or Collection(
        data["item"], data["source"]
    )
    verdict = Verdict(data["verdict"])
    changes, quiet = before.changes, before.quiet
    if verdict.is_proof and data["began_at"] != before.began_at:  # the same answer again says nothing new
        asked_for = {"item": data["item"], "source": data["source"], "began": data["began_at"]}
        changes = int(session.rows(_CHANGES, asked_for)[0][0])
        quiet = 0 if changes else before.quiet + 1
    stands = {
        **{name: data[name] for name in ("began_at", "reason", "pages", "listings", "counted")},
        "verdict": verdict.value,
        "last_success_at": now if verdict.is_proof else before.last_success_at,
        "changes": changes,
        "quiet": quiet,
        "complete": int(data["complete"]),
        "from_cache": int(data["from_cache"]),
        "failures": 0 if verdict.is_proof else before.failures + 1,
    }
    _save(session, data, stands, quiet, now)
    if verdict.is_proof:
        session.run(_PROVEN, {"source": data["source"]})
        return {"collections": 1, "from_cache": int(data["from_cache"])}
    _failed(session, data, before, now)
    _unproven(session, data, now)
    return {"collections_unproven": 1}


def failed(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Effect: a collection failed for good. Nothing is concluded from it; the pair comes back as usual."""
    before = find_collection(session, data["item"], data["source"]) or Collection(
        data["item"], data["source"]
    )
    stands = {
        "began_at": before.began_at,
        "reason": data["reason"],
        "last_success_at": before.last_success_at,
        "verdict": Verdict.UNKNOWN.value,
        "failures": before.failures + 1,
        "quiet": before.quiet,
        "changes": before.changes,
        **dict.fromkeys(("pages", "listings", "counted", "complete", "from_cache"), 0),
    }
    _save(session, data, stands, before.quiet, now)
    _failed(session, data, before, now)
    return {"collections_failed": 1}


def _save(session: Session, data: Mapping[str, Any], stands: Mapping[str, Any], quiet: int, now: int) -> None:
    pair = {"item": data["item"], "source": data["source"]}
    due_at = _due(session, data, quiet, now)
    session.run(_SAVE, {**pair, **stands, "due_at": due_at, "now": now})


def _due(session: Session, data: Mapping[str, Any], quiet: int, now: int) -> int:
    found = one(session, _ITEM, {"item": data["item"]})
    if found is None or found[3]:
        return FOREVER
    spec, refresh, created_at, _ = found
    if data.get("spec") is not None and spec != data["spec"]:
        return 0  # it was changed while it was looked for
    cadence = PriceCadence(data["shortest"], data["longest"])
    return now + cadence.wait(age=now - created_at, quiet=quiet, own=refresh)


def _failed(session: Session, data: Mapping[str, Any], before: Collection, now: int) -> None:
    """Tell of the first failure in a row: the others say nothing new."""
    if before.failures == 0:
        names = one(session, _NAMES, {"item": data["item"], "source": data["source"]}) or (None, None)
        said = {"item": data["item"], "source": data["source"], "reason": data["reason"]}
        record_event(
            session, "price_collection_failed", now, item_name=names[0], source_name=names[1], **said
        )


def _unproven(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Tell of a source that used to bring listings once so many answers in a row have proved nothing."""
    row = one(session, _UNPROVEN, {"source": data["source"]})
    if row and row[0] == data["silent_after"] and one(session, _EVER, {"source": data["source"]}):
        record_event(
            session, "price_source_silent", now, source=row[1], answers=row[0], reason=data["reason"]
        )


def spec_text(spec: ItemSpec) -> str:
    """What somebody says of an item, as it is stored."""
    return orjson.dumps(written(spec)).decode()


def pairs_of(found: Sequence[tuple[int, int, bool]], *, live: bool) -> list[tuple[int, int]]:
    """Those of these pairs whose item is live, or is not."""
    return [(item, source) for item, source, is_live in found if is_live is live]
