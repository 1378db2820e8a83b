"""Looking records up: whatever is asked, the right ones are found, and a search costs what it finds and not
what there is."""

import random
from contextlib import contextmanager

import pytest

from tests.harness.costs import keep_still
from tests.harness.databases import memory_database, only_postgres
from thresher.core.clock import FrozenClock
from thresher.core.record import Between, Is, Link, Record, pack
from thresher.store.records import count_records, file_record, find_record, find_records

MANY, FEW = 50_000, 500
_RECORDS = """insert into records (kind, key, data, first_task, last_task, created_at, updated_at)
    with recursive counted (n) as (select 0 union all select n + 1 from counted where n < {number} - 1)
    select case when n % 100 = 0 then 'board' else 'posting' end, 'k' || n, '{{}}', 0, 0, 0, 0 from counted"""
_MARKS = """insert into marks (record_id, kind, name, word, number) select id, kind, name, word, number from (
    select r.id, r.kind, m.name,
        case m.name when 'state' then case when r.id % 10 < 7 then 'open' else 'closed' end
            when 'kin' then 'kin' || (r.id / 3) when 'company' then 'company' || (r.id % {boards}) end as word,
        case m.name when 'due_at' then r.id end as number
    from records r cross join
        (select 'state' as name union all select 'kin' union all select 'company' union all select 'due_at') m) listed"""
_LINKS = """insert into links (record_id, name, target, task_id, created_at)
    select id, 'board', 'board' || (id % {boards}), 0, 0 from records"""
# Every way in which the apps, the commands and the pages ask. Each finds a handful of records.
SEARCHES = {
    "by key": {"kind": "posting", "keys": ["k7"]},
    "by keys": {"kind": "posting", "keys": [f"k{n}" for n in range(1, 20)]},
    "by a rare mark": {"kind": "posting", "where": (Is("kin", "kin77"),)},
    "by a common mark": {"kind": "posting", "where": (Is("state", "open"),)},
    "by a common mark, further back": {"kind": "posting", "where": (Is("state", "open"),), "before": 400},
    "by a number": {"kind": "posting", "where": (Between("due_at", high=30),)},
    "by key and mark": {"kind": "posting", "keys": ["k1", "k2"], "where": (Is("state", "open"),)},
    "by what it belongs to": {"kind": "posting", "link": Link("board", "board7")},
    "by order": {"kind": "posting", "order": "due_at"},
    "by falling order": {"kind": "posting", "order": "-due_at"},
    "by falling order, further back": {"kind": "posting", "order": "-due_at", "after": (400, 400)},
    "by order, further on": {"kind": "posting", "order": "due_at", "after": (400, 400)},
    "the newest": {"kind": "posting"},
    "the newest, further back": {"kind": "posting", "before": 400},
}


def fill(store, number):
    with store.write() as session:
        for statement in (_RECORDS, _MARKS, _LINKS):
            session.run(statement.format(number=number, boards=number // 5))


@contextmanager
def counting(session):
    """How many instructions SQLite's machine takes, in tens."""
    counted = [0]

    def count():
        counted[0] += 1
        return False  # do not interrupt

    session._connection.set_progress_handler(count, 10)
    yield counted
    session._connection.set_progress_handler(None, 0)


def instructions(store):
    found = {}
    with store.read() as session:
        for name, asked in SEARCHES.items():
            with counting(session) as counted:
                assert find_records(session, **asked, limit=20), name
            found[name] = counted[0]
    return found


def filled_sqlite(number):
    database = memory_database(FrozenClock())
    store = database.open()
    fill(store, number)
    return database, store


@pytest.mark.promise(4)
def test_a_search_costs_the_same_among_fifty_thousand_records_on_sqlite():
    (small, few), (large, many) = filled_sqlite(FEW), filled_sqlite(MANY)
    among_few, among_many = instructions(few), instructions(many)
    small.close()
    large.close()
    assert {
        name: (among_few[name], cost)
        for name, cost in among_many.items()
        if cost > 1.5 * among_few[name] + 100
    } == {}


def read_by(plan):
    """The rows that a plan of PostgreSQL read in all its nodes, those that it threw away included."""
    own = (
        plan["Actual Rows"]
        + plan.get("Rows Removed by Filter", 0)
        + plan.get("Rows Removed by Index Recheck", 0)
    )
    return own * plan["Actual Loops"] + sum(map(read_by, plan.get("Plans", ())))


class Explaining:
    """A session that asks how each statement is answered, too."""

    def __init__(self, session):
        self.session, self.plans, self.dialect = session, [], session.dialect

    def rows(self, sql, params=()):
        ((found,),) = self.session.rows(f"explain (analyze, format json) {sql}", params)
        self.plans.append(found[0]["Plan"])
        return self.session.rows(sql, params)


@pytest.mark.promise(4)
@only_postgres
def test_a_search_reads_what_it_finds_among_fifty_thousand_records_on_postgres(store):
    keep_still(store, "records", "marks", "links")
    fill(store, MANY)
    for analyzed in (False, True):
        with store.read(autocommit=True) as session:
            if analyzed:
                session.run("analyze records, marks, links")
            for name, asked in SEARCHES.items():
                explaining = Explaining(session)
                assert find_records(explaining, **asked, limit=20), name
                assert sum(map(read_by, explaining.plans)) < 2_000, (name, analyzed, explaining.plans)


# --- what is found, beside a plain search through everything


STATES, COMPANIES = ("open", "closed", None), ("a", "b", None)


def described(dice, number):
    data = {
        "state": dice.choice(STATES),
        "company": dice.choice(COMPANIES),
        "due_at": dice.choice((None, 1, 2, 2, 5, 9)),
    }
    links = tuple(Link("board", each) for each in ("x", "y") if dice.random() < 0.4)
    return Record(
        dice.choice(("posting", "board")), f"k{number}", data, links, marks=("state", "company", "due_at")
    )


def asked(dice, keys):
    """Any question that can be asked."""
    one_of = (
        Is("state", "open"),
        Is("state", "open", "closed"),
        Is("state"),
        Is("company", "a"),
        Is("due_at", 2),
        Is("due_at", 2, 9),
        Between("due_at", 2),
        Between("due_at", 2, 5),
        Between("due_at", high=1),
        Between("due_at"),
    )
    return {
        "kind": dice.choice(("posting", "board", "posting", None)),
        "keys": dice.sample(keys, dice.randint(0, 6)) if dice.random() < 0.4 else None,
        "link": Link("board", dice.choice(("x", "y", "z"))) if dice.random() < 0.3 else None,
        "where": tuple(dice.sample(one_of, dice.choice((0, 0, 1, 1, 2, 3)))),
        "order": dice.choice((None, None, "due_at", "-due_at", "state")),
        "before": dice.randint(1, 45) if dice.random() < 0.3 else None,
        "after": (dice.choice((1, 2, 5)), dice.randint(1, 45)) if dice.random() < 0.5 else None,
        "limit": dice.choice((1, 3, 100)),
    }


def fits(record, where):
    mark = record.marks.get(where.name)
    if isinstance(where, Is):
        return mark in where.values
    return (
        isinstance(mark, int)
        and (where.low is None or where.low <= mark)
        and (where.high is None or mark <= where.high)
    )


def searched(records, *, kind, keys, link, where, order, before, after, limit):
    found = [
        each
        for each in records
        if kind in (None, each.kind)
        and (keys is None or each.key in keys)
        and (link is None or link in each.links)
        and all(fits(each, one) for one in where)
        and (before is None or each.id < before)
    ]
    if order is None:
        return sorted(found, key=lambda each: -each.id)[:limit]
    name, sign = order.removeprefix("-"), -1 if order.startswith("-") else 1
    ordered = sorted(
        (sign * mark, each.id, each) for each in found if isinstance(mark := each.marks.get(name), int)
    )
    behind = None if after is None else (sign * after[0], after[1])
    return [each for *place, each in ordered if behind is None or tuple(place) > behind][:limit]


def test_a_single_record_is_found_as_it_is_among_others(store):
    dice = random.Random(7)
    with store.write() as session:
        for number in range(10):
            file_record(session, pack(described(dice, number), 65_536), 0, 1)
    with store.read() as session:
        for each in find_records(session):
            assert find_record(session, each.kind, each.key) == each
        assert find_record(session, "posting", "nobody") is None
        assert find_record(session, "nothing", "k1") is None


def test_whatever_is_asked_the_same_is_found_as_by_looking_at_everything(store):
    dice = random.Random(7)
    with store.write() as session:
        for number in range(40):
            file_record(session, pack(described(dice, number), 65_536), 0, 1)
    with store.read() as session:
        everything = find_records(session, limit=100)
        assert len(everything) == 40
        for _ in range(400):
            question = asked(dice, [each.key for each in everything])
            wanted = searched(everything, **question)
            assert find_records(session, **question) == wanted, question
            if (
                question["keys"] is question["order"] is question["before"] is None
                and question["limit"] == 100
            ):
                assert count_records(
                    session, kind=question["kind"], link=question["link"], where=question["where"]
                ) == len(wanted)
