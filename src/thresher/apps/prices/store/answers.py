"""`price_answers`: what sources answered, by the source and the whole query, whoever asked.

An answer is the hashes of the stored bodies of its pages. Nothing of any item is in it: whoever finds one
reads the bodies again and judges the listings for an item of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import orjson

from thresher.apps.prices.model import PriceSource
from thresher.apps.prices.store.sources import APP
from thresher.core.clock import SECOND
from thresher.core.page import Page, Via
from thresher.core.stored import read, written
from thresher.store.owners import disown_bodies, own_bodies
from thresher.store.session import Session, one

MAX_PAGES = 20  # of one answer; a longer one is not kept
MAX_ADDRESSES = 20_000  # characters of all its addresses; the same
FORGET_AT_ONCE = 200  # answers of one source

_FIND = """select answers, complete, reason, fetched_at from price_answers
    where source_id = :source and query_key = :key and fetched_at > :after"""
_KEEP = """insert into price_answers (source_id, query_key, query, answers, complete, reason, fetched_at)
    values (:source, :key, :query, :answers, :complete, :reason, :fetched_at)
    on conflict (source_id, query_key) do update set query = excluded.query, answers = excluded.answers,
        complete = excluded.complete, reason = excluded.reason, fetched_at = excluded.fetched_at
        where price_answers.fetched_at <= excluded.fetched_at
    returning id"""
_SOURCES = "select id from price_sources order by id"
_OLD = "select id from price_answers where source_id = :source and fetched_at <= :before order by fetched_at limit :limit"
_DELETE = "delete from price_answers where id in (:ids*)"
_OF_SOURCE = "select id from price_answers where source_id = :source order by id limit :limit"


@dataclass(frozen=True, slots=True)
class StoredPage:
    """One page of an answer: its address, and where its body is stored. `cursor` is what it was asked by."""

    NOT_STORED: ClassVar = (None,)

    url: str = ""
    body: str = ""
    fetched_at: int = 0
    status: int = 200
    final_url: str | None = None
    content_type: str | None = None
    cursor: str | None = None

    def page(self, body: bytes) -> Page:
        """The page as it was fetched, as far as it is read."""
        headers = {"content-type": self.content_type} if self.content_type else {}
        final = self.final_url or self.url
        return Page(self.url, final, self.status, headers, body, self.fetched_at, Via.CACHE)


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What a source answered to a query. `reason` says why it is not complete."""

    pages: tuple[StoredPage, ...]
    complete: bool
    reason: str | None
    fetched_at: int


def stored_page(page: Page, body: str, cursor: str | None) -> StoredPage:
    """How a page is remembered."""
    final = None if page.final_url == page.url else page.final_url
    content_type = page.headers.get("content-type")
    return StoredPage(page.url, body, page.fetched_at, page.status, final, content_type, cursor)


def may_keep(pages: tuple[StoredPage, ...]) -> bool:
    """Whether an answer is short enough to be kept: while its list goes on it stands in the checkpoint."""
    size = sum(len(each.url) + len(each.final_url or "") + len(each.cursor or "") for each in pages)
    return 0 < len(pages) <= MAX_PAGES and size <= MAX_ADDRESSES


def cache_us(source: PriceSource, *, enabled: bool, seconds: float) -> int:
    """How long the answers of a source are used again, in microseconds; 0: not at all. What a person has set
    counts first, then what the source says, then the setting (`seconds`).
    """
    if not enabled:
        return 0
    said = source.cache_seconds if source.cache_seconds is not None else source.spec.cache_seconds
    return round((seconds if said is None else said) * SECOND)


# Reads


def find_answer(session: Session, data: Mapping[str, Any], now: int) -> StoredAnswer | None:
    """Read: the answer to a query, if it is not older than `keep` microseconds."""
    asked = {"source": data["source"], "key": data["key"], "after": now - data["keep"]}
    row = one(session, _FIND, asked) if data["keep"] > 0 else None
    if row is None:
        return None
    pages = tuple(read(StoredPage, each) for each in orjson.loads(row[0]))
    return StoredAnswer(pages, bool(row[1]), row[2], row[3])


# Effects


def keep_answer(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Effect: keep an answer in place of an older one. Its bodies stay as long as it does."""
    pages: tuple[StoredPage, ...] = data["pages"]
    values = {
        "source": data["source"],
        "key": data["key"],
        "query": orjson.dumps(data["query"]).decode(),
        "answers": orjson.dumps(written(list(pages))).decode(),
        "complete": int(data["complete"]),
        "reason": data["reason"],
        "fetched_at": pages[0].fetched_at,
    }
    kept = session.rows(_KEEP, values)
    if kept:  # else another task has kept a newer one meanwhile
        owner = _owner(kept[0][0])
        disown_bodies(session, APP, [owner], now)
        own_bodies(session, APP, owner, [each.body for each in pages])


def forget_answers(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:
    """Effect: forget answers that are too old to be used, a bounded number of each source. `keep` says by
    source how long they are used.
    """
    forgotten = 0
    for (source,) in session.rows(_SOURCES):
        keep = data["keep"].get(source, 0)
        asked = {"source": source, "before": now - keep, "limit": FORGET_AT_ONCE}
        forgotten += _forget(session, [row[0] for row in session.rows(_OLD, asked)], now)
    return {"answers_forgotten": forgotten} if forgotten else {}


def forget_source_answers(session: Session, source: int, now: int) -> int:
    """Forget answers of a source, a bounded number at a time; how many were."""
    asked = {"source": source, "limit": FORGET_AT_ONCE}
    return _forget(session, [row[0] for row in session.rows(_OF_SOURCE, asked)], now)


def _forget(session: Session, ids: list[int], now: int) -> int:
    if not ids:
        return 0
    session.run(_DELETE, {"ids": ids})
    disown_bodies(session, APP, [_owner(each) for each in ids], now)
    return len(ids)


def _owner(answer: int) -> int:
    """The owner of the bodies of an answer. Negative: points own bodies by numbers of their own."""
    return -answer
