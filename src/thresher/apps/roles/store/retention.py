"""What the roles app may forget: sessions that ended long ago, with the answers to what they posted and the
late bodies that were decided on.

A session stays as long as it is under way, a role is held by it, or a late body of it waits for a person.
"""

from collections.abc import Mapping
from typing import Any

from thresher.store.bulk import among
from thresher.store.session import Session

# Only roles in the state `processing` are held by a session; the state has an index.
_IS_OLD = """s.started_at < :before and s.status <> 'in_progress' and coalesce(s.completed_at, s.updated_at) < :before
    and not exists (select 1 from roles r where r.status = 'processing' and r.session_id = s.id)
    and not exists (select 1 from late_posts l where l.session_id = s.id and l.decided_at is null)"""
_OLD = f"select s.id from scrape_sessions s where {_IS_OLD} order by s.started_at, s.id limit :limit"
_HOLD = "select id from scrape_sessions where id {keys} order by id"
_STILL_OLD = f"select s.id from scrape_sessions s where s.id {{keys}} and {_IS_OLD} order by s.id"
_FORGET = (
    "delete from scrape_posts where session_id {keys} returning session_id",
    "delete from late_posts where session_id {keys} and decided_at is not null returning session_id",
    "delete from scrape_sessions where id {keys} returning id",
)


def old_sessions(session: Session, data: Mapping[str, Any], now: int) -> list[int]:  # noqa: ARG001  every read gets the time
    """Read: sessions that ended `before` and that nobody needs any more, at most `limit`."""
    return [row[0] for row in session.rows(_OLD, data)]


def prune_sessions(session: Session, data: Mapping[str, Any], now: int) -> dict[str, int]:  # noqa: ARG001  every effect gets the time
    """Effect: remove those of these `sessions` that are still not needed. They are held meanwhile: who keeps
    a late body holds its session too.
    """
    dialect = session.dialect
    held = [row[0] for row in among(dialect, session, _HOLD + dialect.lock, sorted(data["sessions"]))]
    gone = [row[0] for row in among(dialect, session, _STILL_OLD, held, before=data["before"])]
    for sql in _FORGET:
        among(dialect, session, sql, gone)
    return {"sessions_pruned": len(gone)} if gone else {}
