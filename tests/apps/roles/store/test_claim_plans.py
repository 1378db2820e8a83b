"""What a claim costs, counted and not timed: it reads a handful of rows, however many roles wait, are
delayed, held or done."""

from dataclasses import replace

import psycopg
import pytest

from tests.apps.roles.store.queueing import DEMAND, PACE, platform
from tests.harness.costs import instructions, plans, rows_read, scans, used
from tests.harness.databases import memory_database, only_postgres
from tests.harness.hand import hands
from thresher.apps.roles.store.queue import MAX_RIVALS, Claimed, Holder, claim_role
from thresher.apps.roles.store.scrapes import end_scrape, judge_turns
from thresher.apps.roles.turns import Verdict
from thresher.core.clock import DAY, HOUR, FrozenClock

pytestmark = pytest.mark.promise(4)

SMALL, LARGE = 200, 8_000
PLATFORMS = ("dice", "indeed", "monster", "glassdoor", "techfetch")
PATIENT = replace(PACE, platform_failures=10**6)
VERDICTS = (Verdict.FOUND, Verdict.FAILED, Verdict.BLOCKED, Verdict.EMPTY)
TABLES = ("roles", "role_turns", "role_names", "scrape_sessions", "platforms")

ADD_ROLE = """insert into roles (id, name, status, method, waiting_since, rank, created_at, updated_at)
    values (:id, :name, 'pending', 'manual', :now, :rank, 0, 0)"""
ADD_NAME = "insert into role_names (key, name, role_id) values (:name, :name, :id)"
ADD_TURNS = """insert into role_turns (role_id, platform, state, rank, due_at)
    select id, :platform, case when :last = 0 then 'waiting' when id % 2 = 0 then 'later' else 'done' end, rank, :due
    from roles where id >= :first"""


def fill(store, number):
    """So many roles that wait on every platform but the last one, where they are done or delayed."""
    with store.write() as session:
        now, first = (
            store.backend.now(session),
            session.rows("select coalesce(max(id), 0) from roles")[0][0] + 1,
        )
        made = [
            {"id": each, "name": f"role {each}", "now": now, "rank": DEMAND.rank(now, "normal", each % 7)}
            for each in range(first, first + number)
        ]
        session.many(ADD_ROLE, made)
        session.many(ADD_NAME, [{"id": each["id"], "name": each["name"]} for each in made])
        for name in PLATFORMS:
            session.run(
                ADD_TURNS,
                {"platform": name, "last": int(name == PLATFORMS[-1]), "due": now + DAY, "first": first},
            )


def works(store, number):
    """What scrapers do: some are content with one platform, some fail, some answer in pieces. Yields after
    each step."""
    for n in range(number):
        asked = None if n % 4 else [PLATFORMS[n % 3]]
        claimed = claim_role(store, Holder(1, "x", None if n % 5 else PLATFORMS[:3]), asked, HOUR)
        assert isinstance(claimed, Claimed)
        yield
        if n % 2:
            with store.write() as session:
                now = store.backend.now(session)
                judge_turns(
                    session, claimed.scrape, {claimed.scrape.platforms[0]: VERDICTS[n % 4]}, now, PATIENT
                )
                end_scrape(
                    session,
                    claimed.scrape,
                    status="completed",
                    verdict=VERDICTS[(n + 1) % 4],
                    now=now,
                    pace=PATIENT,
                    demand=DEMAND,
                )
            yield


@pytest.fixture
def on_sqlite():
    opened = []

    def make(number):
        database = memory_database(FrozenClock())
        opened.append(database)
        store = database.open()
        for name in PLATFORMS:
            platform(store, name, in_flight=1_000)
        fill(store, number)
        return store

    yield make
    for database in opened:
        database.close()


def instructed(store, number=40):
    return instructions(store, lambda: list(works(store, number)), step=20)


def test_every_statement_of_a_claim_uses_an_index_on_sqlite(on_sqlite, monkeypatch):
    store = on_sqlite(SMALL)
    found = plans(store, monkeypatch, lambda: list(works(store, 30)))
    assert len(found) >= 15
    assert scans(found, but=("CONSTANT ROW", "p")) == {}
    for index in (
        "role_turns_waiting",
        "role_turns_later",
        "role_turns_held",
        "scrape_sessions_open",
        "role_names_role",
    ):
        assert index in used(found), f"nothing uses {index}"


def test_a_claim_costs_the_same_with_a_hundred_times_as_many_roles_on_sqlite(on_sqlite):
    assert instructed(on_sqlite(LARGE)) <= 1.3 * instructed(on_sqlite(SMALL))


def costs(hand):
    return rows_read(hand, TABLES, works(hand.store, 12), but=("platforms",))


@only_postgres
def test_a_claim_reads_a_handful_of_rows_on_postgres_whatever_the_planner_knew(database, store):
    """Plans made while the tables were empty must do once they are full, and so must plans made
    afterwards."""
    for name in PLATFORMS:
        platform(store, name, in_flight=1_000)
    schema = database.url.partition("schema=")[2]
    with (
        psycopg.connect(database.url.partition("?")[0], autocommit=True) as connection,
        hands(database, store, 1) as (old,),
    ):
        connection.execute(f"set search_path = {schema}")
        for table in TABLES:
            connection.execute(f"alter table {table} set (autovacuum_enabled = false)")
        fill(store, 20)
        for _ in works(old.store, 12):
            old.commit()
        fill(store, LARGE)
        kept = costs(old)
        with hands(database, store, 1) as (blind,):  # the tables are full, and nobody has looked at them yet
            unseen = costs(blind)
        connection.execute(f"analyze {', '.join(TABLES)}")
        with hands(database, store, 1) as (new,):
            fresh = costs(new)
    assert max(*kept.values(), *unseen.values(), *fresh.values()) <= 12 * MAX_RIVALS
