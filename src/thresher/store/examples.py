"""Examples: pages of a site whose values are known, to learn from. One per page; who knows better replaces
who knows less.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from thresher.core.errors import TooLarge
from thresher.core.record import clean
from thresher.store import blobs
from thresher.store.blobs import Packed
from thresher.store.owners import loosen, mark_owned
from thresher.store.store import Store

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
    """Drop what was said about a page: it was wrong. The page goes later, if nobody else needs it."""
    with store.write() as session:
        found = session.rows(_FORGET, {"site": clean(site), "schema": clean(schema_name), "page": page})
        loosen(session, [row[0] for row in found], store.backend.now(session))
    return bool(found)
