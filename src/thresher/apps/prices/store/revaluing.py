"""Requests for valuations, where a rate or the worth of a source has changed."""

from thresher.store.session import Session

_AGAIN = """on conflict (item_id) do update set asked = price_valuation_requests.asked + 1, task_id = 0,
    asked_at = excluded.asked_at"""
_OF_SOURCE = f"""insert into price_valuation_requests (item_id, asked, task_id, asked_at)
    select i.id, 1, 0, :now from price_items i where i.archived_at = 0
    and exists (select 1 from price_collections c where c.item_id = i.id and c.source_id = :source) {_AGAIN}"""
_FOREIGN = f"""insert into price_valuation_requests (item_id, asked, task_id, asked_at)
    select v.item_id, 1, 0, :now from price_valuations v where exists (select 1 from price_points p
    where p.item_id = v.item_id and p.currency <> v.currency) {_AGAIN}"""


def revalue_source(session: Session, source: int, now: int) -> int:
    """Have every item valued again that was looked for at a source; how many."""
    return session.run(_OF_SOURCE, {"source": source, "now": now})


def revalue_foreign(session: Session, now: int) -> int:
    """Have every item valued again that has prices in another currency than its own; how many."""
    return session.run(_FOREIGN, {"now": now})
