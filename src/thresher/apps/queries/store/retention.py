"""What the tables of the queries app may forget: old runs, and old offers with what queries found of them.

What is still needed stays, however old it is: a run under way; the latest runs of each query, from which it
is told that a query has fallen silent; an offer that made its company a signal, and one that another reposts;
the last offers that a query has found, which say that it used to find some.
"""

from collections.abc import Mapping
from typing import Any

from thresher.apps.queries.model import PrunableOffers
from thresher.apps.queries.store.offers import count_reposts, hold_companies, mark_dirty
from thresher.store.bulk import among
from thresher.store.session import Session

RUNS_KEPT = 100  # of each query: as many as `queries.zero_runs` may look back on

_OLD_RUNS = f"""select r.id from ingestion_runs r where r.started_at < :before and r.status <> 'RUNNING' and r.id <
        (select k.id from ingestion_runs k where k.query_key = r.query_key order by k.id desc limit 1 offset {RUNS_KEPT - 1})
    order by r.started_at, r.id limit :limit"""
_FORGET_RUNS = "delete from ingestion_runs where id {keys} and status <> 'RUNNING'"

_PART = """select max(posting), count(*) from
    (select posting from query_offers where posting > :after order by posting limit :limit) as part"""
_IS_OLD = """o.last_seen < :before and o.strong = 0
    and not exists (select 1 from query_offers r where r.canonical = o.posting)
    and not exists (select 1 from query_finds f where f.posting = o.posting
        and f.last_seen >= (select max(g.last_seen) from query_finds g where g.query_key = f.query_key))"""
_OLD_OFFERS = (
    f"select o.posting from query_offers o where o.posting > :after and o.posting <= :last and {_IS_OLD}"
)
_STILL_OLD = (
    f"select o.posting, o.company, o.canonical from query_offers o where o.posting {{keys}} and {_IS_OLD}"
)
_FORGET = ("query_finds", "query_details", "query_offers")


# Reads


def old_runs(session: Session, data: Mapping[str, Any], now: int) -> list[int]:  # noqa: ARG001  every read gets the time
    """Read: runs that began `before` and that are not needed, at most `limit`."""
    return [row[0] for row in session.rows(_OLD_RUNS, data)]


def old_offers(session: Session, data: Mapping[str, Any], now: int) -> PrunableOffers:  # noqa: ARG001
    """Read: the offers that may be removed among the next `limit` after a key."""
    last, number = session.rows(_PART, {"after": data["after"], "limit": data["limit"]})[0]
    if last is None:
        return PrunableOffers((), None)
    asked = {"after": data["after"], "last": last, "before": data["before"]}
    found = tuple(row[0] for row in session.rows(_OLD_OFFERS, asked))
    return PrunableOffers(found, last if number == data["limit"] else None)


# Effects


def prune_runs(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:  # noqa: ARG001  every effect gets the time
    """Effect: remove these `runs`."""
    among(session.dialect, session, f"{_FORGET_RUNS} returning id", data["runs"])
    return {"runs_pruned": len(data["runs"])}


def prune_offers(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:  # noqa: ARG001
    """Effect: remove those of these `offers` that are still old, and have the figures of their companies
    computed from what is left.
    """
    dialect = session.dialect
    rows = among(dialect, session, _STILL_OLD, sorted(data["offers"]), before=data["before"])
    if not rows:
        return {}
    companies = {company for _, company, _ in rows if company}
    hold_companies(session, companies)
    postings = sorted(posting for posting, _, _ in rows)
    for table in _FORGET:
        among(dialect, session, f"delete from {table} where posting {{keys}} returning posting", postings)
    count_reposts(session, {canonical for _, _, canonical in rows if canonical})
    mark_dirty(session, companies)
    return {"offers_pruned": len(postings)}
