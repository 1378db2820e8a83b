"""`ingestion_runs`: each execution of a query, from its beginning to its end, and what it found.

A run belongs to the task of its cycle. What a task leaves behind when it ends in any other way than it should
is closed here: no crash leaves a query RUNNING.
"""

from collections.abc import Mapping
from datetime import date
from itertools import takewhile
from typing import Any

from thresher.apps.queries.model import IngestionRun, Status, StopReason
from thresher.apps.queries.store.offers import close_offers
from thresher.core.record import Filing
from thresher.core.task import LIVE
from thresher.hiring.kinds import POSTING
from thresher.store.bulk import insert_rows
from thresher.store.records import file_records
from thresher.store.session import Row, Session

MAX_ROWLESS = 1_000  # runs that are looked back on
COUNTERS = (
    "pages_fetched",
    "offers_fetched",
    "details_fetched",
    "requests_count",
    "http_429_count",
    "errors_count",
    "retries",
)
_FIELDS = (
    "id",
    "query_key",
    "client",
    "status",
    "started_at",
    "finished_at",
    "window_from",
    "window_to",
    "updated_since",
    *COUNTERS,
    "offers_new",
    "offers_updated",
    "offers_known",
    "offers_gone",
    "reposts",
    "companies_aggregated",
    "companies_failed",
    "stop_reason",
    "verdict",
    "note",
)
_SELECT = f"select {', '.join(_FIELDS)} from ingestion_runs"
_OF_QUERY = f"{_SELECT} where query_key = :key order by id desc limit :limit"
_LATEST = f"{_SELECT} order by id desc limit :limit"
_BEFORE = f"{_SELECT} where id < :before order by id desc limit :limit"
_ROWS = """select offers_fetched from ingestion_runs where query_key = :query and status <> 'RUNNING'
    and (status = 'SUCCESS' or offers_fetched > 0) order by id desc limit :limit"""
_EVER = "select 1 from query_finds where query_key = :query limit 1"
_BEGIN = """insert into ingestion_runs (task_id, serial, query_key, client, status, started_at, updated_since, window_from, window_to)
    values (:task, :serial, :key, :client, 'RUNNING', :now, :since, :first, :last) on conflict (task_id, serial) do nothing"""
_RUNNING = "update query_state set status = 'RUNNING', last_run_at = :now, error_message = null where query_key = :key"
_OF_TASK = "where task_id = :task and serial = :serial and status = 'RUNNING'"
_PROGRESS = f"update ingestion_runs set {', '.join(f'{name} = :{name}' for name in COUNTERS)} {_OF_TASK}"
_ADD = f"""update ingestion_runs set offers_new = offers_new + :offers_new, offers_updated = offers_updated + :offers_updated,
    offers_known = offers_known + :offers_known, reposts = reposts + :reposts {_OF_TASK}"""
_ADD_COMPANIES = f"""update ingestion_runs set companies_aggregated = companies_aggregated + :companies_aggregated,
    companies_failed = companies_failed + :companies_failed {_OF_TASK}"""
_FINISH = f"""update ingestion_runs set status = :status, finished_at = :now, window_from = :first, stop_reason = :stop,
    verdict = :verdict, note = :note {_OF_TASK}"""
_STATE = """update query_state set status = :status, last_processed_date = :processed, metadata = :metadata, due_at = :due,
    last_success_at = case when :status = 'SUCCESS' then :now else last_success_at end,
    last_error_at = case when :status = 'ERROR' then :now else last_error_at end,
    consecutive_failures = case :status when 'SUCCESS' then 0 when 'ERROR' then consecutive_failures + 1 else consecutive_failures end,
    empty_runs = :empty_runs, error_message = :error where query_key = :key and status = 'RUNNING'"""
_ABANDONED = f"""select r.id, r.query_key from ingestion_runs r where r.status = 'RUNNING' and r.task_id <> :task and not exists
    (select 1 from tasks t where t.id = r.task_id and t.state in ({", ".join(f"'{state}'" for state in sorted(LIVE))}))"""
_OWN = "select r.id, r.query_key from ingestion_runs r where r.status = 'RUNNING' and r.task_id = :task"
_CLOSE = "update ingestion_runs set status = 'ERROR', finished_at = :now, stop_reason = 'error', verdict = 'unknown', note = :note where id = :id"
_CLOSE_STATE = """update query_state set status = 'ERROR', last_error_at = :now, consecutive_failures = consecutive_failures + 1,
    error_message = :note, due_at = :due where query_key = :key and status = 'RUNNING'"""


def list_runs(session: Session, key: str | None = None, limit: int = 20) -> list[IngestionRun]:
    """The latest runs of a query, or of all, newest first."""
    if key is None:
        return [_run(row) for row in session.rows(_LATEST, {"limit": limit})]
    return [_run(row) for row in session.rows(_OF_QUERY, {"key": key, "limit": limit})]


def runs_before(session: Session, before: int | None, limit: int) -> list[IngestionRun]:
    """Runs of all queries, newest first, below an id."""
    if before is None:
        return list_runs(session, None, limit)
    return [_run(row) for row in session.rows(_BEFORE, {"before": before, "limit": limit})]


def _run(row: Row) -> IngestionRun:
    said = dict(zip(_FIELDS, row, strict=True))
    stop = said["stop_reason"]
    return IngestionRun(
        **{
            **said,
            **{name: _day(said[name]) for name in ("window_from", "window_to", "updated_since")},
            "status": Status(said["status"]),
            "stop_reason": StopReason(stop) if stop else None,
        }
    )


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def rowless_runs(session: Session, data: Mapping[str, Any], now: int) -> int | None:  # noqa: ARG001  every read is given the time
    """Read: how many of the latest runs of a query succeeded without a single row, up to the first that had
    some; None where none ever had.
    """
    if not session.rows(_EVER, {"query": data["key"]}):
        return None
    rows = session.rows(_ROWS, {"query": data["key"], "limit": MAX_ROWLESS})
    return len(list(takewhile(lambda row: row[0] == 0, rows)))


# Effects: what the stages of a cycle ask for.


def begin_run(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Begin a run: its row, and the query's state."""
    if session.run(_BEGIN, {**data, "now": now}):
        session.run(_RUNNING, {"key": data["key"], "now": now})


def save_progress(session: Session, data: Mapping[str, Any], now: int) -> None:  # noqa: ARG001  every effect is given the time
    """Write how far a run has come."""
    session.run(_PROGRESS, data)


def count_offers(session: Session, run: Mapping[str, Any], counts: Mapping[str, int]) -> None:
    """Add what became of the offers of a page."""
    names = ("offers_new", "offers_updated", "offers_known", "reposts")
    session.run(_ADD, {**run, **{name: counts.get(name, 0) for name in names}})


def count_companies(session: Session, run: Mapping[str, Any], counts: Mapping[str, int]) -> None:
    """Add the companies whose figures were computed."""
    names = ("companies_aggregated", "companies_failed")
    session.run(_ADD_COMPANIES, {**run, **{name: counts.get(name, 0) for name in names}})


def finish_run(session: Session, data: Mapping[str, Any], now: int) -> None:
    """End a run, and say how its query stands."""
    run, state = data["run"], data["state"]
    if session.run(_FINISH, {**run, "now": now}):
        session.run(_STATE, {**state, "status": run["status"], "now": now})


def close_abandoned(session: Session, data: Mapping[str, Any], now: int) -> None:
    """End the runs of cycles that are over, or, with `own`, of this one, which ends in an error."""
    sql = _OWN if data.get("own") else _ABANDONED
    for run_id, key in session.rows(sql, {"task": data["task"]}):
        session.run(_CLOSE, {"id": run_id, "now": now, "note": data["note"]})
        session.run(_CLOSE_STATE, {"key": key, "now": now, "note": data["note"], "due": data.get("due", now)})


# What each query has found.

_FINDS = (
    ("query_key", ":query"),
    ("posting", "text"),
    ("first_seen", ":now"),
    ("last_seen", ":now"),
)
_SEEN_AGAIN = "on conflict (query_key, posting) do update set last_seen = excluded.last_seen, missed = 0"
_MISS = "update query_finds set missed = missed + 1 where query_key = :query and last_seen < :since"
_NEWLY = "select count(*) from query_finds where query_key = :query and last_seen < :since and missed = 0"
# A query that is retired looks no more, and so it cannot keep an offer open.
_GONE = """select f.posting from query_finds f join query_offers p on p.posting = f.posting and p.state = 'open'
    where f.query_key = :query and f.missed >= :looks and not exists (select 1 from query_finds o
        join query_state q on q.query_key = o.query_key and q.retired_at = 0
        where o.posting = f.posting and o.query_key <> f.query_key and o.missed < :looks)"""
_NOT_WANTED = "delete from query_details where posting in (:postings*)"
_ADD_GONE = f"update ingestion_runs set offers_gone = offers_gone + :number {_OF_TASK}"


def file_finds(session: Session, query: str, postings: list[str], now: int) -> None:
    """A query has found these postings, now."""
    insert_rows(
        session.dialect,
        session,
        "query_finds",
        _FINDS,
        [(posting,) for posting in dict.fromkeys(postings)],
        _SEEN_AGAIN,
        query=query,
        now=now,
    )


def miss_finds(session: Session, data: Mapping[str, Any], now: int) -> None:
    """A whole list was read to its end: what it no longer has is missed, and closed when it was missed often
    enough and no other query that still runs has it.
    """
    asked = {"query": data["query"], "since": data["since"]}
    newly = session.rows(_NEWLY, asked)[0][0]
    session.run(_ADD_GONE, {**data["run"], "number": newly})
    session.run(_MISS, asked)
    gone = [row[0] for row in session.rows(_GONE, {"query": data["query"], "looks": data["looks"]})]
    closing = f'{{"state":"closed","closed_at":{now}}}'
    filings = [(0, Filing(POSTING, key, closing, merge=True, marks=("state",))) for key in gone]
    file_records(session, filings, now)
    close_offers(session, {"offers": gone}, now)
    if gone:
        session.run(_NOT_WANTED, {"postings": gone})
