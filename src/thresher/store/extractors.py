"""Learned extractors, one in use per site and schema with all predecessors; and the examples they are learned
from.

The content of an extractor is opaque here. A new version replaces the one it was learned from; if somebody
else was faster it is refused, because it was never compared with theirs.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from thresher.core.errors import TooLarge, UnknownName
from thresher.core.event import EventKind
from thresher.core.record import clean
from thresher.store import blobs
from thresher.store.blobs import Packed
from thresher.store.events import record_event
from thresher.store.owners import loosen, mark_owned
from thresher.store.session import Row, Session, one
from thresher.store.store import Store

MAX_BODY = 1024 * 1024
MAX_DRIFT = 500

_COLUMNS = "id, site, schema_name, schema_digest, version, state, score, body, good, drifted, last_drift, drift_at, made_at"
_ACTIVE = (
    f"select {_COLUMNS} from extractors where site = :site and schema_name = :schema and state = 'active'"
)
_GET = f"select {_COLUMNS} from extractors where id = :id"
_LAST = f"select {_COLUMNS} from extractors where site = :site and schema_name = :schema order by version desc limit 1"
_ALL = f"""select {_COLUMNS} from extractors where (:site = '' or site = :site_too) and (:schema = '' or schema_name = :schema_too)
    order by site, schema_name, version desc limit :most"""
_REPLACE = """update extractors set state = 'retired'
    where site = :site and schema_name = :schema and version <= :base and state <> 'retired'"""
_INSERT = """insert into extractors (site, schema_name, schema_digest, version, state, score, body, made_at)
    values (:site, :schema, :digest, :version, 'active', :score, :body, :now)
    on conflict (site, schema_name, version) do nothing returning id"""
_SHELVE = "update extractors set state = :state where id = :id and state = 'active'"
_GOOD = "update extractors set good = good + 1 where id = :id"
_DRIFTED = "update extractors set drifted = drifted + 1, last_drift = coalesce(:drift, last_drift), drift_at = :now where id = :id"


@dataclass(frozen=True, slots=True)
class Learned:
    """One version. `good` and `drifted` count the pages that it read, and those that no longer looked as they
    should.
    """

    id: int
    site: str
    schema_name: str
    schema_digest: str
    version: int
    state: str
    score: float
    body: str
    good: int
    drifted: int
    last_drift: str | None
    drift_at: int | None
    made_at: int


def active(store: Store, site: str, schema_name: str) -> Learned | None:
    """The one in use."""
    return _find(store, _ACTIVE, site, schema_name)


def last(store: Store, site: str, schema_name: str) -> Learned | None:
    """The newest, in use or not: what a new one must name as its base."""
    return _find(store, _LAST, site, schema_name)


def versions(store: Store, site: str = "", schema_name: str = "", limit: int = 100) -> list[Learned]:
    """All versions, of every site or one, the newest of each first."""
    given = {"site": site, "site_too": site, "schema": schema_name, "schema_too": schema_name, "most": limit}
    with store.read() as session:
        return [Learned(*row) for row in session.rows(_ALL, given)]


def save(
    store: Store,
    *,
    site: str,
    schema_name: str,
    schema_digest: str,
    body: str,
    score: float,
    base: int | None = None,
) -> Learned | None:
    """Put a new version into use in place of `base`, the newest that its maker knew of. None: there is a
    newer one by now.
    """
    if len(body.encode()) > MAX_BODY:
        raise TooLarge(f"the extractor of {site} has {len(body.encode()):,} bytes; the limit is {MAX_BODY:,}")
    version = (base or 0) + 1
    values = {"site": clean(site), "schema": clean(schema_name), "base": version - 1}
    with store.write() as session:
        # Whoever comes second waits here for the first, and then finds nothing to replace and its version
        # taken.
        session.run(_REPLACE, values)
        now = store.backend.now(session)
        made = one(
            session,
            _INSERT,
            values
            | {
                "digest": schema_digest,
                "version": version,
                "score": score,
                "body": body,
                "now": now,
            },
        )
        if made is None:
            return None
        record_event(
            session,
            EventKind.EXTRACTOR_LEARNED,
            now,
            site=site,
            schema=schema_name,
            version=version,
            score=score,
        )
        return _learned(session, made[0])


def refuse(store: Store, site: str, schema_name: str, why: str) -> None:
    """Record that nothing could be learned from the examples, and why, so that someone may label
    better ones.
    """
    with store.write() as session:
        now = store.backend.now(session)
        record_event(
            session,
            EventKind.EXTRACTOR_REFUSED,
            now,
            site=site,
            schema=schema_name,
            reason=clean(why)[:MAX_DRIFT],
        )


def retire(store: Store, extractor_id: int) -> bool:
    """Use it no more. False if it was not in use."""
    with store.write() as session:
        return session.run(_SHELVE, {"id": extractor_id, "state": "retired"}) > 0


def doubt(store: Store, extractor_id: int, why: str) -> bool:
    """Stop using an extractor until the site is learned again, because it may be wrong now. Return False if
    it was not in use.
    """
    with store.write() as session:
        if not session.run(_SHELVE, {"id": extractor_id, "state": "doubtful"}):
            return False
        found, now = _learned(session, extractor_id), store.backend.now(session)
        record_event(
            session,
            EventKind.EXTRACTOR_DOUBTED,
            now,
            site=found.site,
            schema=found.schema_name,
            version=found.version,
            reason=clean(why)[:MAX_DRIFT],
        )
        return True


def note(store: Store, extractor_id: int, *, good: bool, drift: str | None = None) -> None:
    """Count a page that it read: well, or with what was wrong."""
    with store.write() as session:
        said = {
            "id": extractor_id,
            "drift": drift and clean(drift)[:MAX_DRIFT],
            "now": store.backend.now(session),
        }
        session.run(_GOOD, {"id": extractor_id}) if good else session.run(_DRIFTED, said)


def _find(store: Store, sql: str, site: str, schema_name: str) -> Learned | None:
    with store.read(autocommit=True) as session:
        row: Row | None = one(session, sql, {"site": clean(site), "schema": clean(schema_name)})
    return Learned(*row) if row else None


def _learned(session: Session, extractor_id: int) -> Learned:
    row = one(session, _GET, {"id": extractor_id})
    if row is None:
        raise UnknownName(f"there is no extractor {extractor_id}")
    return Learned(*row)


# Examples: one per page; a more trusted labeller replaces a less trusted one.

MAX_LABELS = 256 * 1024
Labeller = Literal["model", "data", "person"]
# What a page says about itself in its data is deterministic; a person who looked at it has the last word.
TRUST: Mapping[Labeller, int] = {"model": 1, "data": 2, "person": 3}

_ADD = """insert into examples (site, schema_name, schema_digest, page, labels, labelled_by, trust, url, at)
    values (:site, :schema, :digest, :page, :labels, :labelled_by, :trust, :url, :now)
    on conflict (site, schema_name, schema_digest, page) do update set labels = excluded.labels,
        labelled_by = excluded.labelled_by, trust = excluded.trust, url = excluded.url, at = excluded.at
        where excluded.trust >= examples.trust"""
_FIND = """select page, labels, labelled_by, url, at from examples
    where site = :site and schema_name = :schema and schema_digest = :digest order by trust desc, at desc, id desc limit :most"""
_FORGET = "delete from examples where site = :site and schema_name = :schema and page = :page returning page"


@dataclass(frozen=True, slots=True)
class Labelled:
    """`page` is the hash under which its text is stored."""

    page: str
    labels: Mapping[str, Any]
    by: Labeller
    url: str | None
    at: int


def add_example(
    store: Store,
    *,
    site: str,
    schema_name: str,
    schema_digest: str,
    page: Packed,
    labels: Mapping[str, Any],
    by: Labeller,
    url: str | None = None,
) -> bool:
    """Remember what stands on a page, and the page; safe to repeat. False: somebody who knows better has said
    what stands there.
    """
    text = json.dumps(dict(labels), allow_nan=False)  # ASCII, so that both databases keep whatever a page had
    if len(text) > MAX_LABELS:
        raise TooLarge(
            f"the labels of {url or page.hash} have {len(text):,} bytes; the limit is {MAX_LABELS:,}"
        )
    with store.write() as session:
        now = store.backend.now(session)
        values = {
            "site": clean(site),
            "schema": clean(schema_name),
            "digest": schema_digest,
            "page": page.hash,
            "labels": text,
            "labelled_by": by,
            "trust": TRUST[by],
            "url": url and clean(url),
            "now": now,
        }
        blobs.hold(session, page, now, store.backend.dialect.lock)
        mark_owned(session, [page.hash])
        return session.run(_ADD, values) > 0


def examples(
    store: Store, site: str, schema_name: str, schema_digest: str, limit: int = 20
) -> list[Labelled]:
    """The most trusted first, and of those the newest."""
    given = {"site": clean(site), "schema": clean(schema_name), "digest": schema_digest, "most": limit}
    with store.read() as session:
        rows = session.rows(_FIND, given)
    return [Labelled(page, json.loads(labels), by, url, at) for page, labels, by, url, at in rows]


def forget(store: Store, site: str, schema_name: str, page: str) -> bool:
    """Drop the labels of a page because they were wrong. The page is removed later, if it is not needed
    elsewhere.
    """
    with store.write() as session:
        found = session.rows(_FORGET, {"site": clean(site), "schema": clean(schema_name), "page": page})
        loosen(session, [row[0] for row in found], store.backend.now(session))
    return bool(found)
