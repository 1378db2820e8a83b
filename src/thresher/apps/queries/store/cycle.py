"""What the cycle asks of the database, and what it changes there besides runs: pages, clients, options."""

from collections.abc import Mapping
from typing import Any

from thresher.apps.queries.model import QueryState
from thresher.apps.queries.store.aggregates import aggregate_companies
from thresher.apps.queries.store.alarms import clear_alarm, raise_alarm
from thresher.apps.queries.store.details import want_details
from thresher.apps.queries.store.offers import upsert_offers
from thresher.apps.queries.store.options import option
from thresher.apps.queries.store.queries import query_of
from thresher.apps.queries.store.runs import count_companies, count_offers, file_finds, save_progress
from thresher.core.clock import to_us
from thresher.core.errors import NotAllowed
from thresher.core.gate import GateLimits
from thresher.core.task import LIVE
from thresher.hiring.kinds import COMPANY
from thresher.store.bulk import among
from thresher.store.session import Session, one
from thresher.store.sources import add_source_within, disable_within, pause_within, resume_within

APP = "queries"
MAX_NAMESAKES = 10  # companies of one name, on average
CLIENT_LIMITS = GateLimits(None, 0, 1, None, 0)

_LIVE = ", ".join(f"'{state}'" for state in sorted(LIVE))
_OTHER = f"select min(id) from tasks where kind = 'query_cycle' and state in ({_LIVE}) and id < :task"
# A gate that is closed keeps its queries out, so that nobody waits in front of it.
_NEXT = """select q.query_key from query_state q left join gates g on g.name = 'source:' || q.source
    where q.retired_at = 0 and q.paused_at = 0 and q.due_at <= :now
        and coalesce(g.open_after, 0) <= :now and coalesce(g.tripped_until, 0) <= :now
    order by q.due_at, q.query_key limit 1"""
_DEFINITION = "select definition from query_clients where client = :client"
_STOPPED = """select s.source, s.client, c.definition, s.setup from stopped_clients s left join query_clients c on c.client = s.client
    order by s.source"""
_KNOWN = """select o.posting, o.listed, o.state from query_offers o where o.posting {keys}"""
# Of several companies of one name the first that was known comes last.
_COMPANIES = """select m.word, r.key from marks m join records r on r.id = m.record_id
    where m.kind = :kind and m.name = 'name_key' and m.word {keys} order by m.record_id desc limit :most"""
_LINKED = "select posting from query_finds where query_key = :query and posting {keys}"

_STOP = """insert into stopped_clients (source, client, setup, stopped_at) values (:source, :client, :setup, :now)
    on conflict (source) do update set setup = excluded.setup, stopped_at = excluded.stopped_at"""
_UNSTOP = "delete from stopped_clients where source = :source"


# Reads


def other_cycle(session: Session, data: Mapping[str, Any], now: int) -> int | None:  # noqa: ARG001  every read is given the time
    """An older cycle that is still live, if there is one."""
    found = one(session, _OTHER, {"task": data["task"]})
    return found[0] if found else None


def next_due(session: Session, data: Mapping[str, Any], now: int) -> str | None:  # noqa: ARG001  every read is given data
    """The query that has been due for longest, of those whose client is not closed."""
    found = one(session, _NEXT, {"now": now})
    return found[0] if found else None


def read_query(session: Session, data: Mapping[str, Any], now: int) -> tuple[QueryState, str | None]:  # noqa: ARG001
    """A query, and the description of its client, if the project brings it."""
    state = query_of(session, data["key"])
    assert state is not None, "queries are retired, never removed"
    found = one(session, _DEFINITION, {"client": state.query.client})
    return state, found[0] if found else None


def stopped_clients(session: Session, data: Mapping[str, Any], now: int) -> list[tuple[Any, ...]]:  # noqa: ARG001
    """The clients that were stopped, with what they are described by and how they were set up then."""
    return session.rows(_STOPPED)


def known_offers(session: Session, data: Mapping[str, Any], now: int) -> dict[str, tuple[str, bool]]:  # noqa: ARG001
    """Those of these postings that are known: what each is compared by, and whether this query has found it
    before. One that is closed counts as changed: it is open again.
    """
    keys = data["keys"]
    linked = {row[0] for row in among(session.dialect, session, _LINKED, keys, query=data["query"])}
    found = among(session.dialect, session, _KNOWN, keys)
    return {key: (print_ if state == "open" else "", key in linked) for key, print_, state in found}


def known_companies(session: Session, data: Mapping[str, Any], now: int) -> dict[str, str]:  # noqa: ARG001
    """The keys of the companies that are known, by their names as names are compared."""
    names = data["names"]
    most = MAX_NAMESAKES * len(names)
    return dict(among(session.dialect, session, _COMPANIES, names, kind=COMPANY, most=most))


def read_option(session: Session, data: Mapping[str, Any], now: int) -> str | None:  # noqa: ARG001
    """What the project file says of something, as text."""
    return option(session, data["name"])


# Effects


def save_page(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Write what a page brought: what the query has found, the offers and their signals, and the counters."""
    run = data["run"]
    file_finds(session, data["query"], data["found"], now)
    counts = dict(upsert_offers(session, {"offers": data["offers"]}, now))
    known = len(data["found"]) - len(data["offers"])
    counts["offers_known"] = counts.get("offers_known", 0) + known
    count_offers(session, run, counts)
    want_details(session, data["source"], data["query"], data["wanted"], now)
    save_progress(session, {**run, **data["progress"]}, now)


def aggregate_run(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Compute the figures of companies for a run, and count them there."""
    counts = aggregate_companies(session, {"companies": data["companies"]}, now)
    count_companies(session, data["run"], counts)


def pause_client(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Let a client rest. One that an administrator has closed stays as it is."""
    gate = _gate(session, data["source"], now)
    try:
        pause_within(session, gate, to_us(data["seconds"]), data["reason"], "rate_limit", now=lambda _: now)
    except NotAllowed:
        return


def stop_client(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Stop a client until it is set up otherwise, or somebody enables it."""
    gate = _gate(session, data["source"], now)
    session.run(_STOP, {name: data[name] for name in ("source", "client", "setup")} | {"now": now})
    raise_alarm(
        session,
        {"name": "client_stopped", "subject": data["source"], "message": data["reason"]},
        now,
    )
    try:
        disable_within(session, gate, data["tag"], data["reason"], now=lambda _: now)
    except NotAllowed:
        return


def resume_client(session: Session, data: Mapping[str, Any], now: int) -> None:
    """Let a stopped client work again."""
    session.run(_UNSTOP, {"source": data["source"]})
    clear_alarm(session, {"name": "client_stopped", "subject": data["source"]}, now)
    try:
        resume_within(session, _gate(session, data["source"], now), now=lambda _: now)
    except NotAllowed:
        return


def _gate(session: Session, source: str, now: int) -> str:
    add_source_within(session, source, CLIENT_LIMITS, APP, now)
    return f"source:{source}"
