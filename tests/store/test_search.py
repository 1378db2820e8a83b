"""Looking through a million rows for a page: the right ones are found, and the cost does not grow with what
there is."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from tests.harness.costs import keep_still
from tests.harness.databases import memory_database, only_postgres
from tests.store.test_lookup import Explaining, counting
from thresher.apps.prices.store import monitoring
from thresher.core.clock import FrozenClock
from thresher.store import lanes, overview, records, search, tasks
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.tasks import get

# Tasks of all states in lanes of two sources, in lineages and groups; the last ones written are the newest.
_GATES = """insert into gates (name, max_in_flight) values ('source:big', 10), ('source:small', 10)"""
_LANES = """insert into lanes (key, gates, status, parked_on, position, scope)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000)
    select case i when 1 then 'source:small' when 2 then 'source:big' else 'host:' || i end,
        {gates}, case i when 1 then 'parked' else 'ready' end, case i when 1 then {small} end, i, i from n"""
_TASKS = """insert into tasks (kind, stage, state, lane_id, due, run_at, rank, priority, worker_id, payload, created_at,
        started_at, finished_at, error_name, reason, tracking_id, parent_id, group_id, url, dedupe_key)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < {many})
    select case when i = 77 then 'rare' else 'page' end, 'fetch',
        case when i % 1000 = 7 then 'failed' when i % 5 = 1 then 'retryable' when i % 5 < 3 then 'pending' else 'succeeded' end,
        {first} + case when i % 5000 = 0 then 0 when i % 3 = 0 then 1 else i % 1998 + 2 end,
        case when i % 1000 <> 7 and i % 5 in (0, 2) then 1 else 0 end,
        case when i % 1000 <> 7 and i % 5 = 1 then i end, i, 0, 1, '{{}}', i, i,
        case when i % 1000 = 7 or i % 5 > 2 then i end,
        case when i % 1000 = 7 then 'E' || (i % 3) when i % 5 = 1 then 'TimedOut' end, 'because',
        case when i between 50 and 60 then 49 when i > 500 then 1 end, case when i > 500 then i / 2 end,
        case when i between 100 and 120 then {group} when i > 500 then {group} + 1 end,
        'https://shop.example/' || i, 'key ' || i from n"""
_GROUPS = """insert into task_groups (name, key, app, opener_id, opened_at, subject, live)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < {many} / 100)
    select 'run', 'k' || i, 'test', 1, i, case when i % 2 = 0 then 's' end, 1 from n"""
_EVENTS = """insert into events (at, kind, task_id, gate_id, detail)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < {many} / 2)
    select i, case when i = 9 then 'worker_lost' else 'gate_paused' end, i,
        case when i % 10000 = 0 then {small} else {big} end, '{{}}' from n"""


_RECORDS = """insert into records (kind, key, data, first_task, last_task, created_at, updated_at)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < {many} / 2)
    select 'thing', 'thing ' || i, '{{}}', i * 2, i * 2, i, i from n"""


def fill(store: Store, many: int) -> None:
    with store.write() as session:
        session.run(_GATES)
        big, small = (
            row[0] for row in session.rows("select id from gates where name like 'source:%' order by name")
        )
        is_sqlite = store.backend.dialect.name == "sqlite"
        some = [small, big] if is_sqlite else [f"array[{small}]", f"array[{big}]"]
        other = "''" if is_sqlite else "array[]::bigint[]"
        gates = f"case i when 1 then {some[0]} when 2 then {some[1]} else {other} end"
        session.run(_LANES.format(gates=gates, small=small))
        ((first,),) = session.rows("select min(id) from lanes where key = 'source:small'")
        session.run(_GROUPS.format(many=many))
        ((group,),) = session.rows("select min(id) from task_groups")
        session.run(_TASKS.format(many=many, first=first, group=group))
        session.run(_EVENTS.format(many=many, small=small, big=big))
        session.run(_RECORDS.format(many=many))


# Every way in which the pages ask for tasks.
SEARCHES = (
    {},
    {"state": "pending"},
    {"state": "retryable"},
    {"state": "running"},
    {"state": "failed"},
    {"state": "failed", "error": "E1"},
    {"state": "failed", "error": "E1", "kind": "page", "gate": "source:big"},
    {"state": "succeeded"},
    {"state": "cancelled"},
    {"due": True},
    {"delayed": True},
    {"live": True},
    {"ended": True},
    {"error": "TimedOut"},
    {"kind": "rare"},
    {"text": "nothing like it"},
    {"text": "shop"},
    {"gate": "source:small"},
    {"gate": "source:small", "due": True},
    {"gate": "source:big"},
    {"gate": "source:none"},
    {"gateless": True},
    {"run": 1},
    {"run": 2},
    {"run": 2, "state": "failed"},
    {"tracking_id": 49},
    {"tracking_id": 1},
    {"kind": "page", "state": "cancelled", "before": 30_000},
)


def leaves(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes of a plan of PostgreSQL that read a table or an index."""
    below = plan.get("Plans", ())
    if not below:
        yield plan
    for each in below:
        yield from leaves(each)


def read_of(plan: dict[str, Any]) -> float:
    """The rows that such a node read, those that it threw away included."""
    own = (
        plan["Actual Rows"]
        + plan.get("Rows Removed by Filter", 0)
        + plan.get("Rows Removed by Index Recheck", 0)
    )
    return float(own * plan["Actual Loops"])


def scans_of(plan: dict[str, Any]) -> list[str]:
    """The large tables that were read from end to end."""
    return [
        each["Relation Name"]
        for each in leaves(plan)
        if each["Node Type"] == "Seq Scan"
        and each["Relation Name"] in ("tasks", "events")
        and each["Actual Loops"]
    ]


def _task(session: Session, task_id: int) -> dict[str, Any]:
    found = get(session, task_id)
    assert found
    return found


# All that the pages about work read.
LOOKS: dict[str, Callable[[Session], object]] = {
    **{str(asked): partial(search.find_tasks, **asked) for asked in SEARCHES},
    "children": lambda session: search.children_of(session, _task(session, 700), 100),
    "family": lambda session: search.family_of(session, _task(session, 700), 200),
    "events": search.find_events,
    "rare events": partial(search.find_events, kind="worker_lost"),
    "events of a gate": partial(search.find_events, gate="source:small"),
    "events of a busy gate": partial(search.find_events, gate="source:big"),
    "events of a task": lambda session: search.find_events(session, task=_task(session, 700)),
    "runs": partial(search.find_groups, runs=True),
    "runs of nobody": partial(search.find_groups, runs=True, app="nobody"),
    "failures": partial(overview.newest_failure_groups, state="failed", most=5_000),
    "retrying": partial(overview.newest_failure_groups, state="retryable", most=5_000),
    "who is ahead": partial(overview.ahead_of, task_id=702),
    "who waits at a gate": partial(overview.waiting_at, gate_id=1),
    "counts": partial(overview.depths, now=0, most=10_000),
    "endings": partial(overview.ended_as, most=10_000),
    "records of a task": partial(records.written_by, task_id=700, most=50),
    "looks of all gates": partial(overview.ended_by_gates, since=0),
    "looks of a gate": partial(overview.ended_by_gates, since=0, gate=1),
    "finds of all gates": partial(overview.found_by_gates, since=0),
    "finds of a gate": partial(overview.found_by_gates, since=0, gate=1),
    "live kinds": partial(lanes.live_kinds, kinds={"page"}, most=2_000),
    "collections": monitoring.recent_tasks,
    "collections by worker": monitoring.tasks_by_worker,
    "refusals of a task": partial(tasks.refused_to, task_id=700),
}
MANY = 60_000
TABLES = ("tasks", "lanes", "gates", "events", "task_groups", "records", "refusals")


def instructed(many: int) -> dict[str, int]:
    database = memory_database(FrozenClock())
    store = database.open()
    fill(store, many)
    found = {}
    with store.read() as session:
        for name, look in LOOKS.items():
            with counting(session) as counted:
                look(session)
            found[name] = counted[0] * 10
    database.close()
    return found


@pytest.mark.promise(4)
def test_a_page_costs_the_same_among_twice_as_many_tasks_on_sqlite():
    few, many = instructed(MANY // 2), instructed(MANY)
    assert {name: (few[name], cost) for name, cost in many.items() if cost > 1.2 * few[name] + 20_000} == {}


@pytest.mark.promise(4)
@only_postgres
def test_a_page_reads_few_rows_of_many_on_postgres(store):
    """Plans made while nothing is known of the tables must do as well as those made afterwards."""
    keep_still(store, *TABLES)
    fill(store, MANY)
    wrong = {}
    for analyzed in (False, True):
        if analyzed:
            with store.write() as session:
                session.run(f"analyze {', '.join(TABLES)}")
        for name, look in LOOKS.items():
            with store.read() as session:
                explaining = Explaining(session)
                look(explaining)
                read = [max(map(read_of, leaves(plan))) for plan in explaining.plans]
                scanned = [scans_of(plan) for plan in explaining.plans]
                if max(read, default=0) > 25_000 or any(scanned):
                    wrong[name, analyzed] = read, scanned
    assert not wrong, "\n".join(map(str, wrong.items()))


@pytest.mark.parametrize("database", ["sqlite-memory", "postgres"], indirect=True)
@pytest.mark.parametrize("bounds", [(50, 200), (5_000, 20_000)], ids=["narrow", "wide"])
def test_whoever_looks_further_back_finds_what_a_search_through_everything_finds(store, monkeypatch, bounds):
    monkeypatch.setattr(search, "MAX_CANDIDATES", bounds[0])
    monkeypatch.setattr(search, "WINDOW", bounds[1])
    fill(store, 1_500)
    with store.read() as session:
        for asked in SEARCHES:
            wanted = [task["id"] for task in tasks.find(session, limit=2_000, **asked)]
            assert walked(session, asked) == wanted, asked


def walked(session: Session, asked: dict[str, Any]) -> list[int]:
    """The ids of all pages, one after the other."""
    found, before = list[int](), asked.get("before")
    for _ in range(1_000):
        page = search.find_tasks(session, **{**asked, "before": before}, limit=20)
        assert len(page.rows) == 20 or not page.is_full
        found += [task["id"] for task in page.rows]
        if page.older is None:
            return found
        assert before is None or page.older < before, "every page leads further back"
        before = page.older
    raise AssertionError(f"no end to {asked}")


def test_a_search_that_has_not_looked_everywhere_says_so(store, monkeypatch):
    monkeypatch.setattr(search, "WINDOW", 200)
    fill(store, 1_500)
    with store.read() as session:
        found = search.find_tasks(session, kind="rare")
        assert (found.rows, found.is_full) == ([], False)
        assert found.older is not None
        assert search.find_tasks(session, state="failed").older is None, "an index has shown all of them"
