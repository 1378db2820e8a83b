"""The steps of one run: a page, the own page of an offer, the figures of companies, the end; and what becomes
of a run in trouble.

Nothing that a client does ends the cycle: a transient error is tried again within the budget of the run, a
rate limit lets the client rest, bad credentials stop it, and everything else ends this run. The other queries
go on.
"""

import logging
import os
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from thresher.apps.queries.cadence import cadence_of
from thresher.apps.queries.clients.client import Client, read_detail, read_file, read_page
from thresher.apps.queries.clients.search import Offer, Search, SearchPage, WindowKind
from thresher.apps.queries.known_clients import client_from
from thresher.apps.queries.model import Caps, QueryState, Status, StopReason
from thresher.apps.queries.offers import Batch, batch_of
from thresher.apps.queries.run import (
    HOW_RUNS_END,
    Run,
    WantedDetail,
    after_window,
    begun,
    ending,
    from_the_top,
    is_full,
    wanted_details,
    with_page,
)
from thresher.apps.queries.store.queries import read_coverage
from thresher.apps.queries.windows import (
    LIMITS,
    Plan,
    Purpose,
    catching_up,
    is_cut_short,
    processed_date,
    windows,
)
from thresher.core.clock import DAY, HOUR, MINUTE, SECOND, to_us
from thresher.core.context import Context
from thresher.core.errors import (
    Blocked,
    ClaimLost,
    ConfigError,
    NotYet,
    ProcessDied,
    RateLimited,
    TaskError,
    Transient,
    Unauthorized,
)
from thresher.core.event import NewEvent
from thresher.core.outcome import Effect, Next
from thresher.core.page import Page
from thresher.core.stored import written
from thresher.hiring.kinds import POSTING
from thresher.hiring.records import PostingRecord
from thresher.hiring.row import fields
from thresher.reading.platforms.calls import Call
from thresher.reading.postings.posting import Posting

COMPANIES_AT_ONCE = 200
# A look that was interrupted for longer begins again: its first pages may have changed meanwhile.
MAX_LOOK = HOUR
MAX_WAITS = 10  # in a row, for the gate of a host
MAX_WAIT = 120.0  # seconds

_log = logging.getLogger("thresher.queries")


@dataclass(frozen=True, slots=True)
class OpenQuery:
    """The query of a run: how it stands, its client, its limits, what it wants."""

    state: QueryState
    client: Client
    caps: Caps
    plan: Plan


async def open_query(ctx: Context, key: str) -> OpenQuery:
    """The query of this key. Raises ConfigError where its client is not known."""
    state, definition = await ctx.read("queries.query", {"key": key})
    client = client_from(state.query.client, definition)
    caps = Caps(
        state.query.max_pages or int(ctx.setting("queries.max_pages")),
        state.query.max_offers or int(ctx.setting("queries.max_offers")),
        int(ctx.setting("queries.max_details")),
    )
    return OpenQuery(state, client, caps, plan_of(state, client.timezone, ctx.now(), ctx.setting))


def plan_of(state: QueryState, timezone: str, now: int, setting: Callable[[str], Any]) -> Plan:
    """What a query wants, as the settings are."""
    today, history = _day(now, timezone), timedelta(days=int(setting("queries.history")))
    start = state.query.start or _day(state.created_at, timezone) - history
    start = min(start, state.backfill_from or start)
    return Plan(min(start, today), today, int(setting("queries.lag")), int(setting("queries.step")), now)


def _day(at: int, timezone: str) -> date:
    return datetime.fromtimestamp(at / SECOND, ZoneInfo(timezone)).date()


def begin(ctx: Context, query: OpenQuery, serial: int) -> Next:
    """Begin a run of a query."""
    most = int(ctx.setting("queries.windows"))
    asked_for = query.state.coverage, query.client.reach, query.plan
    oldest_first = is_cut_short(*asked_for) and not query.state.coverage.caught_up
    planned = list(catching_up(*asked_for) if oldest_first else windows(*asked_for))[:most]
    coverage = replace(query.state.coverage, caught_up=oldest_first)
    run = begun(query.state.key, serial, planned, coverage, ctx.now())
    asked = query.client.reach.window is not WindowKind.NONE
    span = planned[0].span
    data = {
        **_run_id(ctx, run),
        "key": run.key,
        "client": query.client.name,
        "since": span.first.isoformat() if asked else None,
        "first": run.first,
        "last": span.last.isoformat(),
    }
    return _again(run, Effect("queries.begin", data))


async def take(ctx: Context, query: OpenQuery, run: Run) -> Next:
    """The next step of a run."""
    if run.windows:
        return await _look(ctx, query, run)
    if wanted := await _next_detail(ctx, query, run):
        return await _detail(ctx, query, run, wanted)
    touched: Sequence[str] = await ctx.read(
        "queries.dirty", {"limit": COMPANIES_AT_ONCE, "before": run.began}
    )
    if touched:
        data = {"run": _run_id(ctx, run), "companies": list(touched)}
        return _again(run, Effect("queries.aggregate_run", data))
    return await _finish(ctx, query, run)


def _again(run: Run, *effects: Effect, **more: Any) -> Next:
    return Next(checkpoint={"serial": run.serial, "run": run.stored()}, again=True, effects=effects, **more)


def _run_id(ctx: Context, run: Run) -> dict[str, int]:
    return {"task": ctx.task.id, "serial": run.serial}


# One page


async def _look(ctx: Context, query: OpenQuery, run: Run) -> Next:
    """One page of the window under way. Every request counts, whatever comes back."""
    if run.cursor is None or ctx.now() - run.asked_at > MAX_LOOK:
        run = from_the_top(run, ctx.now())
    search = _search(query, run)
    asked = run.counting(requests_count=1)
    try:
        page = await _fetch_page(ctx, query.client, search, run.cursor)
    except ClaimLost:
        raise
    except NotYet as problem:  # our own limits: nothing was sent
        return _wait(ctx, query, run, problem)
    except RateLimited as problem:
        return _rest(ctx, query, asked.counting(http_429_count=1), problem)
    except (Unauthorized, Blocked, ConfigError) as problem:
        return _stop_client(ctx, query, asked.counting(errors_count=1), problem)
    except (Transient, ProcessDied) as problem:
        return _try_again(ctx, query, asked.counting(errors_count=1), str(problem))
    except TaskError as problem:
        return _fail(ctx, query, asked.counting(errors_count=1), str(problem))
    if page.trouble:
        return _try_again(ctx, query, asked.counting(errors_count=1), page.trouble)
    return await _keep(ctx, query, asked, page)


def _search(query: OpenQuery, run: Run) -> Search:
    span, reach = run.window.span, query.client.reach
    return Search(
        query.state.query.text,
        {**query.client.defaults, **query.state.query.parameters},
        span.first if reach.window is not WindowKind.NONE else None,
        span.last if reach.window is WindowKind.RANGE else None,
        query.plan.today,
    )


async def _fetch_page(ctx: Context, client: Client, search: Search, cursor: str | None) -> SearchPage:
    if client.local:
        folder = Path(await ctx.read("queries.option", {"name": "folder"}) or "")
        return await ctx.compute(read_file, client, search, folder, cursor)
    call = client.call(search, cursor, os.environ)
    found = await ctx.compute(read_page, client, search, cursor, await _fetch(ctx, call))
    if found.trouble and call.credentials:  # it may quote the provider, and the provider what we sent
        found = replace(found, trouble=call.credentials.hidden_in(found.trouble))
    return found


async def _fetch(ctx: Context, call: Call) -> Page:
    """A search is asked anew every time: a stored copy knows nothing of what came since."""
    return await ctx.fetch(
        call.url,
        method=call.method,
        headers=call.headers,
        body=call.body,
        credentials=call.credentials,
        max_age=0.0,
    )


async def _keep(ctx: Context, query: OpenQuery, run: Run, page: SearchPage) -> Next:
    """A page that was read: what it brings is stored with this step."""
    for why in page.bad:
        _log.warning("query %s: a row is skipped: %s", query.state.query.name, why)
    batch = await batch_of(ctx, query.client, query.state, page.offers)
    run = with_page(run, page)
    run = replace(run, cursor=page.next, news=run.news + len(batch.changed))
    effects = [_page_effect(ctx, query, run, batch)]
    ended = ending(run, page, query.caps, query.client.reach, query.plan, all_known=batch.is_known)
    if ended is not None:
        reason, note = ended
        # A list without a row closes nothing, unless the client itself says that there are none.
        proves = bool(run.rows) or page.total == 0
        run = _after(query, run, reason, note)
        if query.client.reach.whole and reason is StopReason.WINDOW_EXHAUSTED and proves:
            effects.append(_miss_effect(ctx, run))
    return _again(run, *effects, records=batch.records, events=_skipped_rows(query, page))


def _page_effect(ctx: Context, query: OpenQuery, run: Run, batch: Batch) -> Effect:
    wanted = (
        wanted_details(batch.offers, batch.new_companies, batch.fresh) if query.client.has_details else []
    )
    data = {
        "run": _run_id(ctx, run),
        "query": run.key,
        "progress": written(run.counters),
        "found": [key for key, _ in batch.offers],
        "offers": batch.rows,
        "source": query.state.source,
        "wanted": written(wanted),
    }
    return Effect("queries.page", data)


def _miss_effect(ctx: Context, run: Run) -> Effect:
    looks = int(ctx.setting("queries.gone_after"))
    data = {"run": _run_id(ctx, run), "query": run.key, "since": run.began, "looks": looks}
    return Effect("queries.miss", data)


def _skipped_rows(query: OpenQuery, page: SearchPage) -> tuple[NewEvent, ...]:
    if not page.bad:
        return ()
    detail = {"query": query.state.key, "rows": len(page.bad), "why": page.bad[0]}
    return (NewEvent("query_rows_skipped", detail),)


def _after(query: OpenQuery, run: Run, ended: StopReason, note: str | None) -> Run:
    """The run after its window. What it has seen counts for the day on which its first page was asked for:
    whatever came later may have been missed.
    """
    plan = query.plan
    if run.asked_at:
        plan = replace(plan, today=_day(run.asked_at, query.client.timezone))
    return after_window(run, ended, note, query.client.reach, query.caps, plan)


# Trouble


def _try_again(ctx: Context, query: OpenQuery, run: Run, why: str) -> Next:
    """A transient error. There is one budget of retries for the whole run."""
    tried = run.counters.retries
    if tried >= int(ctx.setting("queries.retries")):
        return _fail(ctx, query, run, f"{why} (after {tried} retries)")
    wait = float(ctx.setting("queries.retry_base")) * 2**tried
    run = replace(run.counting(retries=1), retry_at=ctx.now() + to_us(wait), note=why)
    return _again(run, _progress(ctx, run))


def _wait(ctx: Context, query: OpenQuery, run: Run, problem: NotYet) -> Next:
    """The host's gate is not open to us now: somebody else is at work there, or it rests. A short wait spends
    nothing; after a few, or for a long one, the other queries go on.
    """
    if run.waits >= MAX_WAITS or problem.retry_after > MAX_WAIT:
        return _rest(ctx, query, run, problem)
    run = replace(
        run, waits=run.waits + 1, retry_at=ctx.now() + to_us(problem.retry_after), note=str(problem)
    )
    return _again(run)


def _fail(ctx: Context, query: OpenQuery, run: Run, why: str) -> Next:
    run = _after(query, run, StopReason.ERROR, why)
    return _again(run, _progress(ctx, run))


def _rest(ctx: Context, query: OpenQuery, run: Run, problem: RateLimited | NotYet) -> Next:
    """The client wants no more requests for now: it rests, and the queries of other clients go on."""
    why = str(problem)
    run = _after(query, run, StopReason.RATE_LIMIT, why)
    return _again(run, _progress(ctx, run), _pause_effect(ctx, query, problem))


def _pause_effect(ctx: Context, query: OpenQuery, problem: RateLimited | NotYet) -> Effect:
    told = isinstance(problem, NotYet) or problem.asked
    seconds = problem.retry_after if told else float(ctx.setting("queries.rate_limit_pause")) * 3_600
    data = {"source": query.state.source, "seconds": seconds, "reason": str(problem)}
    return Effect("queries.pause_client", data)


def _stop_client(ctx: Context, query: OpenQuery, run: Run, problem: Exception) -> Next:
    """The client cannot be used as it is set up: it is stopped until somebody has changed that."""
    match problem:
        case Blocked():
            tag = "anti_bot"
        case ConfigError():
            tag = "config"
        case _:
            tag = "auth"
    run = replace(run, blocked=tag == "anti_bot")
    run = _after(query, run, StopReason.ERROR, str(problem))
    setup = query.client.fingerprint(os.environ)
    data = {
        "source": query.state.source,
        "client": query.client.name,
        "tag": tag,
        "reason": str(problem),
        "setup": setup,
    }
    return _again(run, _progress(ctx, run), Effect("queries.stop_client", data))


def _progress(ctx: Context, run: Run) -> Effect:
    return Effect("queries.progress", {**_run_id(ctx, run), **written(run.counters)})


# The own page of an offer


@dataclass(frozen=True, slots=True)
class NextDetail(WantedDetail):
    """The offer whose own page is asked for next, the query that found it, and whether it was read before."""

    query: str = ""
    again: bool = False


async def _next_detail(ctx: Context, query: OpenQuery, run: Run) -> NextDetail | None:
    """Within the budget of the run. A run in trouble asks for none; the next ones do."""
    spent = run.details_asked >= query.caps.max_details
    if spent or not query.client.has_details or run.stopped in (StopReason.RATE_LIMIT, StopReason.ERROR):
        return None
    every = round(float(ctx.setting("queries.recheck_every")) * DAY)
    before = ctx.now() - every if _recheck_period(ctx) else 0
    found = await ctx.read("queries.next_detail", {"source": query.state.source, "before": before})
    return None if found is None else NextDetail(**found)


def _recheck_period(ctx: Context) -> int:
    """How long own pages are looked at again, in microseconds."""
    return round(float(ctx.setting("queries.recheck_days")) * DAY)


async def _detail(ctx: Context, query: OpenQuery, run: Run, wanted: NextDetail) -> Next:
    """The own page of one offer whose list says too little. An offer without one stays as the list has it,
    and one whose page reads as before stays as it is.
    """
    known = await _known(ctx, wanted) if wanted.again else None
    if known is not None:  # the list may have changed since: what it says is not taken back
        name, url = known.company_name or "", known.url or ""
        wanted = replace(wanted, title=known.title or wanted.title, company=name, url=url)
    run = replace(run, details_asked=run.details_asked + 1).counting(requests_count=1)
    try:
        offer = await _fetch_detail(ctx, query.client, wanted)
    except ClaimLost:
        raise
    except (RateLimited, NotYet) as problem:
        limited = run.counting(http_429_count=int(isinstance(problem, RateLimited)))
        left = replace(limited, stop=StopReason.RATE_LIMIT.value, note=str(problem))
        return _again(left, _progress(ctx, left), _pause_effect(ctx, query, problem))
    except (TaskError, ProcessDied, ConfigError) as problem:
        _log.warning("query %s: %s has no details: %s", query.state.query.name, wanted.posting, problem)
        run = run.counting(errors_count=1)
        return _again(run, _detail_effect(ctx, "queries.miss_detail", run, wanted))
    if wanted.again and (known is None or _reads_as(known, offer)):
        run = run.counting(details_fetched=1)
        return _again(run, _detail_effect(ctx, "queries.detail", run, wanted, offers=[]))
    finder = replace(query.state, key=wanted.query)
    batch = await batch_of(ctx, query.client, finder, (offer,), completes=wanted.posting)
    run = run.counting(details_fetched=1)
    effect = _detail_effect(ctx, "queries.detail", run, wanted, offers=batch.rows)
    return _again(run, effect, records=batch.records)


def _detail_effect(ctx: Context, name: str, run: Run, wanted: NextDetail, **more: Any) -> Effect:
    data = {"run": _run_id(ctx, run), "posting": wanted.posting, "progress": written(run.counters), **more}
    return Effect(name, {**data, "again": wanted.again, "period": _recheck_period(ctx)})


async def _known(ctx: Context, wanted: WantedDetail) -> PostingRecord | None:
    found = await ctx.records(POSTING, keys=(wanted.posting,), limit=1)
    return PostingRecord.of(found[0]) if found else None


def _reads_as(known: PostingRecord, offer: Offer) -> bool:
    """Whether an offer says what is known of it."""
    said: Mapping[str, Any] = fields(offer.posting)
    return all(getattr(known, name) == value for name, value in said.items())


async def _fetch_detail(ctx: Context, client: Client, wanted: WantedDetail) -> Offer:
    listed = Posting(wanted.title, wanted.company or None, url=wanted.url or None, key=wanted.number or None)
    offer = Offer(listed)
    call = client.detail_call(offer, os.environ)
    if call is None:
        return offer
    return await ctx.compute(read_detail, client, offer, await _fetch(ctx, call))


# The end


async def _finish(ctx: Context, query: OpenQuery, run: Run) -> Next:
    """End the run: how the query stands, when it is due again, and what somebody should be told of."""
    reason = run.stopped or StopReason.WINDOW_EXHAUSTED
    status, coverage = HOW_RUNS_END[reason], read_coverage(run.coverage)
    empty = 0 if run.news else query.state.empty_runs + (status is Status.SUCCESS)
    rowless = 0 if run.counters.offers_fetched else await _rowless_runs(ctx, run, status)
    processed = processed_date(coverage, query.plan.start)
    ends = {"status": status.value, "first": run.first or None, "stop": reason.value}
    stands = {
        "key": run.key,
        "processed": processed.isoformat() if processed else None,
        "metadata": run.coverage,
        "due": _due(ctx, query, run, empty),
        "empty_runs": empty,
        "error": run.note if status is Status.ERROR else None,
    }
    data = {
        "run": {**_run_id(ctx, run), **ends, "verdict": run.verdict.value, "note": run.note},
        "state": stands,
    }
    _log.info("query %s: %s, %s", query.state.query.name, status, summary(run))
    return Next(
        checkpoint={"serial": run.serial},
        again=True,
        effects=(Effect("queries.finish", data), *_alarms(ctx, query, run, status, rowless)),
        events=(_ended_event(query, run, status),),
    )


async def _rowless_runs(ctx: Context, run: Run, status: Status) -> int:
    """How many runs in a row have had no rows, this one included, of a query that used to have some."""
    before: int | None = await ctx.read("queries.rowless_runs", {"key": run.key})
    return 0 if before is None else before + (status is Status.SUCCESS)


def _due(ctx: Context, query: OpenQuery, run: Run, empty: int) -> int:
    left = windows(read_coverage(run.coverage), query.client.reach, query.plan)
    seeding = any(each.purpose is Purpose.SEED for each in left)
    luck = random.random()
    due = cadence_of(ctx.setting).due(ctx.now(), empty, seeding=seeding, luck=luck)
    return max(due, ctx.now() + query.client.pause * MINUTE)


def summary(run: Run) -> str:
    """A run in one line."""
    done = run.counters
    told = [
        f"{done.pages_fetched} pages",
        f"{done.offers_fetched} offers",
        (run.stop or "").replace("_", " "),
    ]
    return ", ".join(filter(None, (*told, run.note)))


def _ended_event(query: OpenQuery, run: Run, status: Status) -> NewEvent:
    detail = {"query": run.key, "name": query.state.query.name, "status": status.value, "said": summary(run)}
    return NewEvent("query_ended", detail, warns=status is Status.ERROR)


def _alarms(ctx: Context, query: OpenQuery, run: Run, status: Status, rowless: int) -> tuple[Effect, ...]:
    """What somebody should be told of: a query that keeps failing, gets no further, or has nothing where it
    used to have some.
    """
    name, key = query.state.query.name, run.key
    failures = query.state.consecutive_failures + 1 if status is Status.ERROR else 0
    failing = failures >= int(ctx.setting("queries.failing_runs"))
    zero = rowless >= int(ctx.setting("queries.zero_runs"))
    return (
        _alarm(failing, "query_failing", key, f"{name} has failed {failures} times in a row: {run.note}"),
        _alarm(zero, "zero_rows", key, f"{name} has found no offers in {rowless} runs in a row"),
        *_capped_alarm(query, run),
    )


def _capped_alarm(query: OpenQuery, run: Run) -> tuple[Effect, ...]:
    """Raised where a run spent its limits and finished no day, at a client that is asked for all days since a
    day: the next run begins with the same ones. It is over when a day was finished, or none is cut short.
    """
    if query.client.reach.window not in (WindowKind.SINCE, WindowKind.BUCKETS):
        return ()
    before, now = query.state.coverage, read_coverage(run.coverage)
    gets_on = now.seen != before.seen or not any(each.reason in LIMITS for each in now.partial)
    stuck = bool(query.state.last_success_at) and is_full(run, query.caps)
    why = (
        f"{query.state.query.name} reaches its limits ({query.caps.max_pages} pages, {query.caps.max_offers} "
        "offers) before it has seen another day; raise max_pages and max_offers, or narrow the search"
    )
    return (_alarm(not gets_on, "query_capped", run.key, why),) if gets_on or stuck else ()


def _alarm(raised: bool, name: str, subject: str, message: str) -> Effect:
    if not raised:
        return Effect("queries.clear_alarm", {"name": name, "subject": subject})
    return Effect("queries.alarm", {"name": name, "subject": subject, "message": message})
