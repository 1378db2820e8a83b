"""`query_details`: offers whose own page is still to be asked for, and those of which it is looked at again.

An own page that was read is looked at again for a while, the one first that nobody has looked at for longest:
what is edited only there, no list tells.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from thresher.apps.queries.store.offers import upsert_offers
from thresher.apps.queries.store.runs import count_offers, save_progress
from thresher.core.clock import HOUR
from thresher.store.bulk import Columns, insert_rows
from thresher.store.session import Session, one

MAX_TRIES = 3  # of one offer; then it stays as the list has it
RETRY = 24 * HOUR  # after the first try; it doubles

_WANTED = ("posting", "number", "url", "title", "company", "later")
_COLUMNS: Columns = (
    *((name, "bigint" if name == "later" else "text") for name in _WANTED),
    ("source", ":source"),
    ("query_key", ":query"),
    ("added_at", ":now"),
)
_KNOWN = "on conflict (posting) do nothing"
_NEXT = f"""select {", ".join(_WANTED)}, query_key, checked_at from query_details
    where source = :source and checked_at = 0 and try_at <= :now order by later, added_at, posting limit 1"""
_AGAIN = f"""select {", ".join(_WANTED)}, query_key, checked_at from query_details
    where source = :source and checked_at > 0 and checked_at <= :before order by checked_at, posting limit 1"""
_CHECKED = "update query_details set checked_at = :now where posting = :posting and added_at + :period > :now"
_DONE = "delete from query_details where posting = :posting"
_TRIED = """update query_details set tries = tries + 1, later = 1, added_at = :now,
    try_at = :now + :retry * (case tries when 0 then 1 else 2 end) where posting = :posting"""
_GIVEN_UP = "delete from query_details where posting = :posting and tries >= :tries"


def next_detail(session: Session, data: Mapping[str, Any], now: int) -> dict[str, Any] | None:
    """Read: the offer of a source whose own page is asked for next, those of new companies first; then the
    one whose page was looked at longest ago, if that was before `before`.
    """
    asked = {"source": data["source"], "now": now}
    found = one(session, _NEXT, asked) or one(session, _AGAIN, {**asked, "before": data.get("before", 0)})
    if found is None:
        return None
    return {**dict(zip((*_WANTED, "query"), found, strict=False)), "again": found[-1] > 0}


def want_details(
    session: Session, source: str, query: str, wanted: Sequence[Mapping[str, Any]], now: int
) -> None:
    """Have the own pages of these offers asked for."""
    rows = [[each[name] for name in _WANTED] for each in wanted]
    insert_rows(
        session.dialect, session, "query_details", _COLUMNS, rows, _KNOWN, source=source, query=query, now=now
    )


def save_detail(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Effect: the own page of an offer was read. The first time it completes the offer, which is no update of
    it; `again` it brings `offers` only if it reads otherwise than before, and that is one.
    """
    run, again = data["run"], bool(data.get("again"))
    _looked_at(session, data, now)
    counts = upsert_offers(session, {"offers": data["offers"]}, now)
    updated = int(again and bool(data["offers"]))
    count_offers(session, run, {"reposts": counts.get("reposts", 0), "offers_updated": updated})
    save_progress(session, {**run, **data["progress"]}, now)


def miss_detail(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Effect: the own page of an offer could not be read. It is tried again another day, a few times; one
    that was read before is looked at in its time.
    """
    if data.get("again"):
        _looked_at(session, data, now)
    else:
        session.run(_TRIED, {"posting": data["posting"], "now": now, "retry": RETRY})
        session.run(_GIVEN_UP, {"posting": data["posting"], "tries": MAX_TRIES})
    save_progress(session, {**data["run"], **data["progress"]}, now)


def _looked_at(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Have the page looked at again, or not any more."""
    named = {"posting": data["posting"], "now": now, "period": data["period"]}
    if not session.run(_CHECKED, named):
        session.run(_DONE, {"posting": data["posting"]})
