"""`query_state`: queries and how they stand."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import orjson

from thresher.apps.queries.coverage import Coverage, PartialSpan, Span
from thresher.apps.queries.model import Origin, Query, QueryState, Status
from thresher.core.limits import brief
from thresher.store.session import Row, Session, one

_COLUMNS = (
    "query_key",
    "client",
    "source",
    "name",
    "search",
    "parameters",
    "max_pages",
    "max_offers",
    "start_date",
    "backfill_from",
    "origin",
    "status",
    "last_run_at",
    "last_success_at",
    "last_error_at",
    "last_processed_date",
    "consecutive_failures",
    "empty_runs",
    "error_message",
    "due_at",
    "paused_at",
    "paused_reason",
    "retired_at",
    "metadata",
    "created_at",
)
_SELECT = f"select {', '.join(_COLUMNS)} from query_state"
_ALL = f"{_SELECT} order by client, name, query_key"
_PAGE = f"""{_SELECT} where (:retired = 1 or retired_at = 0) and (:after = '' or (client, name, query_key) >
    (select client, name, query_key from query_state where query_key = :after_too))
    order by client, name, query_key limit :limit"""
_ONE = f"{_SELECT} where query_key = :key"
_BY_NAME = f"{_SELECT} where name = :name order by retired_at, query_key"
_INSERT = """insert into query_state (query_key, client, source, name, search, parameters, max_pages, max_offers, start_date, origin,
    due_at, created_at) values (:key, :client, :source, :name, :search, :parameters, :max_pages, :max_offers, :start, :origin, :now, :now)
    on conflict (query_key) do nothing"""
_DECLARE = """update query_state set name = :name, search = :search, parameters = :parameters, max_pages = :max_pages,
    max_offers = :max_offers, start_date = :start, origin = :origin, retired_at = 0 where query_key = :key"""
_RETIRE = "update query_state set retired_at = :now where query_key = :key and retired_at = 0"
_PAUSE = "update query_state set paused_at = :at, paused_reason = :reason where query_key = :key"
_DUE = "update query_state set due_at = 0 where query_key in (:keys*)"
_RESET = """update query_state set status = 'IDLE', consecutive_failures = 0, empty_runs = 0, error_message = null,
    last_processed_date = null, metadata = '{}', due_at = 0 where query_key = :key"""
_COVERAGE = """update query_state set metadata = :metadata, backfill_from = :start, last_processed_date = :processed, due_at = 0
    where query_key = :key"""


def list_queries(session: Session) -> list[QueryState]:
    """All queries, retired ones included, by client and name."""
    return [_state(row) for row in session.rows(_ALL)]


def queries_after(session: Session, after: str, *, retired: bool, limit: int) -> list[QueryState]:
    """Queries by client and name, from the one behind a key on; with `retired` those that run no more too."""
    given = {"after": after, "after_too": after, "retired": int(retired), "limit": limit}
    return [_state(row) for row in session.rows(_PAGE, given)]


def find_query(session: Session, name: str) -> QueryState | None:
    """The query of this key, else the one of this name; of several, one that is not retired."""
    row = one(session, _ONE, {"key": name}) or one(session, _BY_NAME, {"name": name})
    return None if row is None else _state(row)


def query_of(session: Session, key: str, lock: str = "") -> QueryState | None:
    """The query of this key."""
    row = one(session, _ONE + lock, {"key": key})
    return None if row is None else _state(row)


def save_query(session: Session, key: str, source: str, query: Query, origin: Origin, now: int) -> bool:
    """Write a query; True if it is new. One that is known takes the new name and limits, keeps its history,
    and is no longer retired.
    """
    values = {
        "key": key,
        "client": query.client,
        "source": source,
        "name": query.name,
        "search": query.text,
        "parameters": orjson.dumps(dict(query.parameters), option=orjson.OPT_SORT_KEYS).decode(),
        "max_pages": query.max_pages,
        "max_offers": query.max_offers,
        "start": query.start.isoformat() if query.start else None,
        "origin": origin.value,
        "now": now,
    }
    if session.run(_INSERT, values):
        return True
    session.run(
        _DECLARE, {name: value for name, value in values.items() if name not in ("client", "source", "now")}
    )
    return False


def retire_query(session: Session, key: str, now: int) -> bool:
    """Run it no more, and keep what it has found; False if it was retired."""
    return session.run(_RETIRE, {"key": key, "now": now}) > 0


def pause_query(session: Session, key: str, at: int, reason: str | None) -> None:
    """Pause a query, or, with 0, run it again."""
    session.run(_PAUSE, {"key": key, "at": at, "reason": reason})


def make_due(session: Session, keys: Sequence[str]) -> None:
    """Let these be run in the next cycle."""
    session.run(_DUE, {"keys": list(keys)})


def reset_query(session: Session, key: str) -> None:
    """Forget how far it came. What it has found stays."""
    session.run(_RESET, {"key": key})


def save_coverage(
    session: Session, key: str, coverage: Coverage, start: date | None, processed: date | None
) -> None:
    """Replace the days that were seen; its history begins with `start`, whatever the project file says."""
    session.run(
        _COVERAGE,
        {
            "key": key,
            "metadata": written(coverage),
            "start": start.isoformat() if start else None,
            "processed": processed.isoformat() if processed else None,
        },
    )


def _state(row: Row) -> QueryState:
    said = dict(zip(_COLUMNS, row, strict=True))
    query = Query(
        said["client"],
        said["name"],
        said["search"],
        orjson.loads(said["parameters"]),
        _day(said["start_date"]),
        said["max_pages"],
        said["max_offers"],
    )
    return QueryState(
        key=said["query_key"],
        source=said["source"],
        query=query,
        origin=Origin(said["origin"]),
        status=Status(said["status"]),
        last_processed_date=_day(said["last_processed_date"]),
        backfill_from=_day(said["backfill_from"]),
        coverage=read_coverage(said["metadata"]),
        error=said["error_message"],
        **{
            name: said[name]
            for name in (
                "last_run_at",
                "last_success_at",
                "last_error_at",
                "consecutive_failures",
                "empty_runs",
                "due_at",
                "paused_at",
                "paused_reason",
                "retired_at",
                "created_at",
            )
        },
    )


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


# The days that were seen, as JSON.


def written(coverage: Coverage) -> str:
    """Coverage as it is stored."""
    return orjson.dumps(
        {
            "seen": [[span.first, span.last] for span in coverage.seen],
            "partial": [
                [each.span.first, each.span.last, each.reason, each.tries, each.tried_at]
                for each in coverage.partial
            ],
            **({"caught_up": True} if coverage.caught_up else {}),
        }
    ).decode()


def read_coverage(text: str) -> Coverage:
    """Coverage as it was stored. What cannot be read counts as not seen."""
    said: Mapping[str, Any] = orjson.loads(text)
    try:
        seen = tuple(
            Span(date.fromisoformat(first), date.fromisoformat(last)) for first, last in said.get("seen", ())
        )
        partial = tuple(
            PartialSpan(
                Span(date.fromisoformat(first), date.fromisoformat(last)), brief(reason), int(tries), int(at)
            )
            for first, last, reason, tries, at in said.get("partial", ())
        )
    except (TypeError, ValueError):
        return Coverage()
    return Coverage(seen, partial, caught_up=said.get("caught_up") is True)
