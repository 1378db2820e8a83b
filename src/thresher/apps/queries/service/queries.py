"""Queries: declare, list, show, run, pause, reset and seed them; and the clients that they search with."""

import os
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

from thresher.admin.tasks import Added, add
from thresher.apps.queries.clients.client import Client
from thresher.apps.queries.clients.search import WindowKind
from thresher.apps.queries.coverage import Coverage, DayState, Span
from thresher.apps.queries.cycle import CYCLE, KEY, SYNC_KEY
from thresher.apps.queries.declared import check_start, key_of, read_query
from thresher.apps.queries.known_clients import client_from, shipped_clients, source_of
from thresher.apps.queries.model import IngestionRun, Origin, QueryState, Status
from thresher.apps.queries.steps import plan_of
from thresher.apps.queries.store.options import own_clients
from thresher.apps.queries.store.queries import (
    find_query,
    list_queries,
    make_due,
    pause_query,
    queries_after,
    query_of,
    reset_query,
    retire_query,
    save_coverage,
    save_query,
)
from thresher.apps.queries.store.runs import list_runs, runs_before
from thresher.apps.queries.windows import Plan, earliest, processed_date, updated_since
from thresher.core.clock import FOREVER, SECOND, as_text, span
from thresher.core.errors import ConfigError, UnknownName, UsageError
from thresher.core.task import LIVE, NewTask
from thresher.engine.registry import Registry
from thresher.store.events import record_event
from thresher.store.session import Session
from thresher.store.sources import find_gates
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

STRIP = 60  # days that a query shows of its history
MAX_BACKFILL = 3_650  # days
MAX_QUERIES = 100_000
_RUNNING = f"""select 1 from ingestion_runs r join tasks t on t.id = r.task_id where r.query_key = :key and r.status = 'RUNNING'
    and t.state in ({", ".join(f"'{state}'" for state in sorted(LIVE))}) limit 1"""
_POSTINGS = "select count(*) from query_finds where query_key = :key"


@dataclass(frozen=True, slots=True)
class DayOfQuery:
    """One day of a query's history: seen, partial, missing, or recent, which is looked at again until nothing
    comes late for it any more.
    """

    day: date
    state: str
    why: str | None = None


@dataclass(frozen=True, slots=True)
class QueryView:
    """A query as people see it: the four questions of its state, and what it does next.

    `running` is whether it is being run now; `last_run_succeeded` is None where it never ran, or a rate limit
    ended its last run; `due_later` whether its next run is not due yet. `client_source` is the source that
    rests or is stopped with it.
    """

    query_key: str
    name: str
    client: str
    text: str
    parameters: Mapping[str, str]
    status: str
    running: bool
    last_run_at: int | None
    last_success_at: int | None
    last_error_at: int | None
    last_run_succeeded: bool | None
    last_processed_date: date | None
    next_updated_since: date | None
    consecutive_failures: int
    due_at: int | None
    due_later: bool
    offers: int
    start_date: date
    max_pages: int | None = None
    max_offers: int | None = None
    error: str | None = None
    paused_at: int | None = None
    paused_reason: str | None = None
    retired_at: int | None = None
    client_closed_until: int | None = None
    client_closed_reason: str | None = None
    client_source: str = ""
    created_at: int | None = None
    declared_in: str = Origin.PERSON.value


@dataclass(frozen=True, slots=True)
class QueryDetail:
    """A query with its latest runs and the strip of its days, the oldest first."""

    query: QueryView
    runs: list[IngestionRun] = field(default_factory=list)
    days: list[DayOfQuery] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class QueryProgress:
    """How far a query has come: the days that were seen to their end, of those that it wants and can prove by
    now; `days_wanted` is None where its client cannot prove any.
    """

    query: QueryView
    days_seen: int
    days_wanted: int | None

    @property
    def is_busy(self) -> bool:
        """Whether it is being run, or would be by a worker."""
        query = self.query
        return query.running or not (query.due_later or query.paused_at or query.client_closed_until)


@dataclass(frozen=True, slots=True)
class ClientView:
    """A client: what it takes, what it needs, and whether it can be used."""

    name: str
    title: str
    parameters: Mapping[str, str]
    window: str
    needs: tuple[str, ...]
    missing: tuple[str, ...]
    details: bool
    terms: str | None
    own: bool


# Look


def list_views(
    store: Store, *, retired: bool = False, after: str | None = None, limit: int = MAX_QUERIES
) -> list[QueryView]:
    """Queries by client and name, from the one behind a key on; with `retired` those that run no more too."""
    with store.read() as session:
        if after is not None and query_of(session, after) is None:
            raise UnknownName(
                f"there is no query {after[:80]!r} to continue after; start again from the first page"
            )
        found = queries_after(session, after or "", retired=retired, limit=limit)
        return [_view(store, session, each) for each in found]


def show_query(store: Store, name: str, runs: int = 20) -> QueryDetail:
    """One query, by its name or key."""
    with store.read() as session:
        state = _found(session, name)
        view = _view(store, session, state)
        return QueryDetail(view, list_runs(session, state.key, runs), _strip(store, session, state))


def runs_of_all(store: Store, limit: int = 50, before: int | None = None) -> list[IngestionRun]:
    """Runs of all queries, newest first; ids below `before`."""
    with store.read() as session:
        return runs_before(session, before, limit)


def recent_runs(store: Store, name: str | None = None, limit: int = 50) -> list[IngestionRun]:
    """The latest runs, newest first."""
    with store.read() as session:
        return list_runs(session, None if name is None else _found(session, name).key, limit)


def read_progress(store: Store, name: str | None = None) -> list[QueryProgress]:
    """How far queries have come with their days, all that are not retired, or one."""
    with store.read() as session:
        found = list_queries(session) if name is None else [_found(session, name)]
        return [_progress(store, session, each) for each in found if name or not each.retired_at]


def _progress(store: Store, session: Session, state: QueryState) -> QueryProgress:
    client, plan = _client(session, state.query.client), _plan(store, session, state)
    span = _wanted(client, plan)
    inside = (each.within(span) for each in state.coverage.seen) if span else ()
    seen = sum(each.days for each in inside if each)
    return QueryProgress(_view(store, session, state), seen, span.days if span else None)


def _wanted(client: Client | None, plan: Plan) -> Span | None:
    """The days that can be proven to be seen by now; None where a client can prove none."""
    if client is None or not (client.reach.window is not WindowKind.NONE or client.reach.whole):
        return None
    first, last = (
        max(plan.start, earliest(client.reach, plan.today)),
        plan.today - timedelta(days=plan.lag + 1),
    )
    return Span(first, last) if first <= last else None


def _plan(store: Store, session: Session, state: QueryState) -> Plan:
    client, now = _client(session, state.query.client), store.backend.now(session)
    return plan_of(state, client.timezone if client else "UTC", now, store.settings.__getitem__)


def _found(session: Session, name: str) -> QueryState:
    state = find_query(session, name)
    if state is None:
        raise UnknownName(f"there is no query {name[:80]!r}; thresher queries list --retired shows them all")
    return state


def _view(store: Store, session: Session, state: QueryState) -> QueryView:
    now = store.backend.now(session)
    running = bool(session.rows(_RUNNING, {"key": state.key}))
    status = Status.ERROR if state.status is Status.RUNNING and not running else state.status
    client, plan = _client(session, state.query.client), _plan(store, session, state)
    gates = find_gates(session, name=f"source:{state.source}")
    until = max((max(each["open_after"], each["tripped_until"]) for each in gates), default=0)
    return QueryView(
        state.key,
        state.query.name,
        state.query.client,
        state.query.text,
        state.query.parameters,
        status.value,
        running,
        state.last_run_at or None,
        state.last_success_at or None,
        state.last_error_at or None,
        {Status.SUCCESS: True, Status.ERROR: False}.get(status),
        state.last_processed_date,
        updated_since(state.coverage, client.reach, plan) if client else None,
        state.consecutive_failures,
        state.due_at or None,
        state.due_at > now or bool(state.retired_at),
        session.rows(_POSTINGS, {"key": state.key})[0][0],
        plan.start,
        state.query.max_pages,
        state.query.max_offers,
        state.error,
        state.paused_at or None,
        state.paused_reason,
        state.retired_at or None,
        until if until > now else None,
        gates[0]["closed_reason"] if gates and until > now else None,
        state.source,
        state.created_at,
        state.origin.value,
    )


def _strip(store: Store, session: Session, state: QueryState) -> list[DayOfQuery]:
    client, plan = _client(session, state.query.client), _plan(store, session, state)
    reach = earliest(client.reach, plan.today) if client else plan.start
    first = max(plan.start, reach, plan.today - timedelta(days=STRIP - 1))
    recent = plan.today - timedelta(days=plan.lag)
    return [_day(state, each, recent) for each in Span(first, plan.today)]


def _day(state: QueryState, day: date, recent: date) -> DayOfQuery:
    found = state.coverage.state(day)
    why = next((each.reason for each in state.coverage.partial if each.span.has(day)), None)
    looked = state.last_success_at and date.fromisoformat((as_text(state.last_success_at) or "")[:10]) >= day
    if found is DayState.MISSING and day >= recent and looked:
        return DayOfQuery(day, "recent", "it is looked at again until nothing comes late for it")
    return DayOfQuery(day, found.value, why)


def _client(session: Session, name: str) -> Client | None:
    try:
        return client_from(name, own_clients(session).get(name))
    except ConfigError:
        return None


def list_clients(store: Store, environ: Mapping[str, str] = os.environ) -> list[ClientView]:
    """The clients that queries can search with, by name."""
    with store.read() as session:
        own = own_clients(session)
    clients = {**shipped_clients(), **{name: client_from(name, text) for name, text in own.items()}}
    return client_views(clients, own, environ)


def client_views(
    clients: Mapping[str, Client], own: Container[str], environ: Mapping[str, str] = os.environ
) -> list[ClientView]:
    """Clients by name; `own` are the names of the project's."""
    return [
        ClientView(
            name,
            client.title,
            client.parameters,
            client.reach.window.value,
            tuple(client.env),
            tuple(each for each in client.env if not environ.get(each)),
            client.has_details,
            client.terms or None,
            name in own,
        )
        for name, client in sorted(clients.items())
    ]


# Change


def add_query(store: Store, name: str, said: Mapping[str, Any]) -> QueryView:
    """Add a query, or give one that searches for the same a new name or new limits."""

    def work(session: Session) -> QueryState:
        own = own_clients(session)
        clients = {**shipped_clients(), **{each: client_from(each, text) for each, text in own.items()}}
        query = read_query(name, dict(said), clients, _refused)
        check_start(query, store.backend.now(session), _refused)
        client = clients[query.client]
        key = key_of(query, client)
        known = query_of(session, key)
        if known is not None and known.origin is Origin.FILE and not known.retired_at:
            raise UsageError(
                f"the project file declares this query as {known.query.name!r}; change it there: "
                "queries.searches"
            )
        save_query(
            session,
            key,
            source_of(client, query.parameters),
            query,
            Origin.PERSON,
            store.backend.now(session),
        )
        return _found(session, key)

    return _after(store, in_transaction(store, work))


def _refused(key: str, says: str) -> ConfigError:
    return ConfigError(f"{key.removeprefix('query.')} {says}")


def run_now(store: Store, registry: Registry, names: list[str] | None = None) -> Added:
    """Make queries due, all or these, and see that a cycle is under way."""

    def work(session: Session) -> None:
        found = [_found(session, name) for name in names] if names else list_queries(session)
        make_due(session, [each.key for each in found if not each.retired_at])

    in_transaction(store, work)
    return add(store, registry, NewTask(CYCLE, key=KEY))


def sync_now(store: Store, registry: Registry) -> Added:
    """Have the outputs synced as soon as the cycle under way has ended, whatever the hour is."""
    return add(store, registry, NewTask(CYCLE, {"sync": True}, key=SYNC_KEY))


def pause(store: Store, name: str, reason: str | None) -> QueryView:
    """Run a query no more until it is resumed. A run that is under way ends as usual."""
    return _changed(store, name, lambda session, state, now: pause_query(session, state.key, now, reason))


def resume(store: Store, name: str) -> QueryView:
    """Run a paused query again."""
    return _changed(store, name, lambda session, state, _: pause_query(session, state.key, 0, None))


def retire(store: Store, name: str) -> QueryView:
    """Remove a query: it runs no more, and what it has found is kept."""

    def work(session: Session, state: QueryState, now: int) -> None:
        if state.origin is Origin.FILE and not state.retired_at:
            raise UsageError(
                f"the project file declares {state.query.name!r}; remove it there: queries.searches"
            )
        if retire_query(session, state.key, now):
            why = "a person removed it"
            record_event(session, "query_retired", now, query=state.key, name=state.query.name, reason=why)

    return _changed(store, name, work)


def _changed(store: Store, name: str, change: Any) -> QueryView:
    def work(session: Session) -> QueryState:
        state = _found(session, name)
        change(session, state, store.backend.now(session))
        return _found(session, state.key)

    return _after(store, in_transaction(store, work))


def _after(store: Store, state: QueryState) -> QueryView:
    with store.read() as session:
        return _view(store, session, state)


@dataclass(frozen=True, slots=True)
class Rewound:
    """What a reset or a backfill changes: days that will be looked at again."""

    query_key: str
    name: str
    days: int
    first: date
    last: date
    dry_run: bool


def reset(store: Store, name: str, *, dry_run: bool = False) -> Rewound:
    """Forget how far a query came, so that its history is looked at again. What it has found stays, and
    nothing is stored twice.
    """

    def work(session: Session) -> Rewound:
        state = _found(session, name)
        plan = plan_of(state, "UTC", store.backend.now(session), store.settings.__getitem__)
        _refuse_running(session, state)
        if not dry_run:
            reset_query(session, state.key)
        days = sum(span.days for span in state.coverage.seen)
        return Rewound(state.key, state.query.name, days, plan.start, plan.today, dry_run)

    return in_transaction(store, work)


def backfill(store: Store, name: str, first: date, last: date, *, dry_run: bool = False) -> Rewound:
    """Look at these days again, or for the first time, newest first."""

    def work(session: Session) -> Rewound:
        state = _found(session, name)
        plan = plan_of(state, "UTC", store.backend.now(session), store.settings.__getitem__)
        if not first <= last <= plan.today or (last - first).days >= MAX_BACKFILL:
            raise UsageError(
                f"{first} to {last} is no span of at most {MAX_BACKFILL} days that ends by {plan.today}"
            )
        _refuse_running(session, state)
        span = Span(first, last)
        coverage, start = _without(state.coverage, span), min(plan.start, first)
        if not dry_run:
            save_coverage(session, state.key, coverage, start, processed_date(coverage, start))
        return Rewound(state.key, state.query.name, span.days, first, last, dry_run)

    return in_transaction(store, work)


def _without(coverage: Coverage, span: Span) -> Coverage:
    seen = tuple(left for each in coverage.seen for left in each.without(span))
    return replace(coverage.without_partial(span), seen=seen)


def _refuse_running(session: Session, state: QueryState) -> None:
    if session.rows(_RUNNING, {"key": state.key}):
        raise UsageError(
            f"{state.query.name!r} is running now; wait until its run has ended: thresher queries show "
            f"{state.key}"
        )


def run_sentence(run: IngestionRun, name: str) -> str:
    """A run in one line."""
    news = [
        f"{number:,} {word}"
        for number, word in (
            (run.offers_new, "new"),
            (run.offers_updated, "updated"),
            (run.offers_gone, "gone"),
            (run.reposts, "reposts"),
        )
        if number
    ]
    told = [
        _count(run.pages_fetched, "page"),
        _count(run.offers_fetched, "offer") + (f" ({', '.join(news)})" if news else ""),
        _count(run.requests_count, "request"),
        *([_count(run.errors_count, "error")] if run.errors_count else []),
        (run.stop_reason or "running").replace("_", " "),
    ]
    took = f" in {span((run.finished_at - run.started_at) / SECOND)}" if run.finished_at else ""
    return f"{name}: {run.status.value}{took}: {', '.join(told)}" + (f"; {run.note}" if run.note else "")


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def closed_until(view: QueryView) -> str:
    """When the client of a query works again, for people."""
    until = view.client_closed_until
    return "until somebody enables it" if until is not None and until >= FOREVER else (as_text(until) or "")
