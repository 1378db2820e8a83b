"""Pages that are kept: what a request answered, by the key that the caching rules made, with its body among
the blobs.

What the rules need to know of a page is opaque here. A body may belong to several pages, and somebody else
may have stored the same bytes under the same hash; so a body goes only when its last page has gone and nobody
else needs it: no owner (see `owners`), no example, nobody it was lent to. Whoever takes one of these away
notes the body as loose, and pruning looks at those alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from thresher.core.clock import DAY
from thresher.store import blobs
from thresher.store.owners import loosen
from thresher.store.session import Row, Session, one
from thresher.store.store import Store

Fields = dict[str, Any]

_COLUMNS = "key, url, host, method, status, headers, fetched_at, stored, expires_at, hash, confirmed"
_FIND = f"select {_COLUMNS} from pages where key = :key"
_OLD = "select hash from pages where key = :key"
_OLD_ONES = "select key, hash from pages where key in (:keys*) order by key"
_INSERT = f"""insert into pages ({_COLUMNS})
    values (:key, :url, :host, :method, :status, :headers, :fetched_at, :stored, :expires_at, :hash, 0) on conflict (key) do nothing"""
_REPLACE = """update pages set url = :url, host = :host, method = :method, status = :status, headers = :headers, hash = :hash,
    fetched_at = :fetched_at, stored = :stored, expires_at = :expires_at where key = :key"""
_REFRESH = """update pages set headers = :headers, stored = :stored, fetched_at = :fetched_at, expires_at = :expires_at,
    confirmed = confirmed + 1 where key = :key"""
_FORGET = "delete from pages where key = :key returning hash"
_LIST = """select p.url, p.host, p.method, p.status, p.fetched_at, p.expires_at, p.confirmed, p.hash, b.size
    from pages p left join blobs b on b.hash = p.hash"""
_OVER = """select key from pages where coalesce(expires_at, fetched_at) < :before
    order by coalesce(expires_at, fetched_at) limit :most"""
_REMOVE = "delete from pages where key in (:keys*) returning hash"
_LOOSE = "select hash from loose_blobs where since <= :before order by since, hash limit :most"
_SPARE = "select hash from blobs where hash in (:hashes*) and saved in (0, 3) order by hash"
_DROP = """delete from blobs where hash in (:hashes*) and not exists (select 1 from pages p where p.hash = blobs.hash)
    and not exists (select 1 from blob_owners o where o.hash = blobs.hash)
    and not exists (select 1 from examples e where e.page = blobs.hash)"""
_SETTLED = "delete from loose_blobs where hash in (:hashes*)"


@dataclass(frozen=True, slots=True)
class Kept:
    """One page without its body. `stored` is what the caching rules wrote; `hash` and `confirmed` (how often
    a 304 renewed it) are ours.
    """

    key: str
    url: str
    host: str
    method: str
    status: int
    headers: Mapping[str, str]
    fetched_at: int
    stored: str
    expires_at: int | None = None
    hash: str = ""
    confirmed: int = 0


class Pruned(NamedTuple):
    """How many pages and bodies were removed."""

    pages: int
    bodies: int


def keep(store: Store, kept: Kept, body: bytes) -> None:
    """Keep a page and its body, both or neither. A page of the same key gives way."""
    packed = blobs.pack(body)  # before the transaction: nobody waits for our compression
    values = _values(kept) | {"hash": packed.hash}
    with store.write() as session:
        now = store.backend.now(session)
        lock = store.backend.dialect.lock
        while True:
            old = one(
                session, _OLD + lock, {"key": kept.key}
            )  # the page first, then its body: as everybody who takes pages away
            blobs.hold(session, packed, now, lock)
            if session.run(_REPLACE if old else _INSERT, values):
                break  # else somebody else has just kept the same page: theirs gives way
        if old and old[0] != packed.hash:
            loosen(session, [old[0]])


def keep_many(store: Store, wanted: Sequence[tuple[Kept, bytes]]) -> None:
    """Keep several pages in one transaction, for those that come together. Where somebody else keeps the same
    page now, theirs stands.

    The pages that are there, then the bodies, then the new pages, each in their order: nobody waits for
    anybody in a circle.
    """
    packed = {kept.key: (kept, blobs.pack(body)) for kept, body in wanted}
    with store.write() as session:
        now, lock = store.backend.now(session), store.backend.dialect.lock
        old: dict[str, str] = dict(session.rows(_OLD_ONES + lock, {"keys": sorted(packed)}))
        for body in sorted(
            {body.hash: body for _, body in packed.values()}.values(), key=lambda body: body.hash
        ):
            blobs.hold(session, body, now, lock)
        loose = []
        for key in sorted(packed):
            kept, body = packed[key]
            stands = session.run(_REPLACE if key in old else _INSERT, _values(kept) | {"hash": body.hash})
            loose += (
                [old[key]]
                if stands and key in old and old[key] != body.hash
                else []
                if stands
                else [body.hash]
            )
        loosen(session, loose)


def find(store: Store, key: str) -> Kept | None:
    """The page of that key."""
    with store.read(autocommit=True) as session:
        row = one(session, _FIND, {"key": key})
    return _kept(row) if row else None


def body(store: Store, content_hash: str) -> bytes:
    """The body of a page, by the hash that the page names."""
    return blobs.get(store, content_hash)


def refresh(
    store: Store,
    key: str,
    headers: Mapping[str, str],
    stored: str,
    fetched_at: int,
    *,
    expires_at: int | None = None,
) -> bool:
    """Record that the site confirmed a page (304). Return False if the page has been dropped meanwhile."""
    values = {
        "key": key,
        "headers": _json(headers),
        "stored": stored,
        "fetched_at": fetched_at,
        "expires_at": expires_at,
    }
    with store.write() as session:
        return session.run(_REFRESH, values) > 0


def forget(store: Store, key: str) -> bool:
    """Drop a page; its body is removed by the next pruning, if it is not needed elsewhere."""
    with store.write() as session:
        found = session.rows(_FORGET, {"key": key})
        loosen(session, [row[0] for row in found])
    return bool(found)


def list_pages(session: Session, host: str | None = None, limit: int = 100) -> list[Fields]:
    """Kept pages, the newest first."""
    where, given = (" where p.host = :host", {"host": host}) if host else ("", {})
    rows = session.rows(
        f"{_LIST}{where} order by p.fetched_at desc, p.key limit :limit", given | {"limit": limit}
    )
    names = ("url", "host", "method", "status", "fetched_at", "expires_at", "confirmed", "hash", "size")
    return [dict(zip(names, row, strict=True)) for row in rows]


def prune_pages(store: Store, keep_us: int) -> Pruned:
    """Remove pages that expired longer ago than this, then unused bodies, one batch per transaction."""
    most, removed, dropped = store.settings.count("prune.batch"), 0, 0
    while True:
        with store.write() as session:
            before = store.backend.now(session) - keep_us
            over = session.rows(_OVER + store.backend.dialect.skip, {"before": before, "most": most})
            if over:
                gone = session.rows(_REMOVE, {"keys": [row[0] for row in over]})
                loosen(session, [row[0] for row in gone])
        removed += len(over)
        if len(over) < most:
            break
    while True:
        settled, gone_now = _drop_bodies(store, most)
        dropped += gone_now
        if settled < most:
            return Pruned(removed, dropped)


def _drop_bodies(store: Store, most: int) -> tuple[int, int]:
    """Look at some loose bodies, and remove those that nobody needs. Returns how many were done with, and how
    many of them went.
    """
    with store.write() as session:
        dialect = store.backend.dialect
        before = store.backend.now(session) - round(store.settings["history.bodies"] * DAY)
        loose = [row[0] for row in session.rows(_LOOSE + dialect.skip, {"before": before, "most": most})]
        if not loose:
            return 0, 0
        # Held, and references looked for afterwards: whoever is about to refer to this body waits for us, or
        # is left alone.
        held = [row[0] for row in session.rows(_SPARE + dialect.remove, {"hashes": loose})]
        in_use = {row[0] for row in session.rows(_SPARE, {"hashes": loose})} - set(held)
        gone = session.run(_DROP, {"hashes": held})
        return session.run(_SETTLED, {"hashes": [name for name in loose if name not in in_use]}), gone


def _values(kept: Kept) -> Fields:
    return {
        "key": kept.key,
        "url": kept.url,
        "host": kept.host,
        "method": kept.method,
        "status": kept.status,
        "headers": _json(kept.headers),
        "fetched_at": kept.fetched_at,
        "stored": kept.stored,
        "expires_at": kept.expires_at,
    }


def _kept(row: Row) -> Kept:
    key, url, host, method, status, headers, fetched_at, stored, expires_at, content_hash, confirmed = row
    return Kept(
        key,
        url,
        host,
        method,
        status,
        orjson.loads(headers),
        fetched_at,
        stored,
        expires_at,
        content_hash,
        confirmed,
    )


def _json(headers: Mapping[str, str]) -> str:
    return orjson.dumps(dict(headers)).decode()
