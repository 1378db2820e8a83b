"""Roles and their names: made once, found under every name, approved, ranked, and never counted wrong."""

import pytest

from tests.apps.roles.store.queueing import (
    DEMAND,
    claim,
    end,
    look,
    nothing,
    person,
    problems,
    role,
    turns,
    want,
)
from tests.harness.tasks import rows
from thresher.apps.roles.store.queue import Empty
from thresher.apps.roles.store.roles import (
    add_alias,
    add_role,
    approve_role,
    find_role,
    link_candidates,
    list_roles,
    names_since,
    reject_role,
    remove_alias,
    rename_role,
    roles_of_keys,
    set_category,
    set_priority,
    unlink_candidate,
)
from thresher.apps.roles.store.rows import find_scrape
from thresher.apps.roles.store.scrapes import count_scrape
from thresher.apps.roles.turns import Verdict
from thresher.core.clock import HOUR
from thresher.core.errors import NotAllowed, UnknownName, UsageError


def does(store, fn, *args, **kwargs):
    with store.write() as session:
        return fn(session, *args, **kwargs)


def test_a_name_makes_one_role_however_often_it_comes(store):
    first = role(store, "Python Developer", aliases=["Python Dev"])
    assert role(store, "Python Developer", aliases=["Pythonista"]) == first
    assert role(store, "python dev") == first
    assert rows(store, "select count(*) from roles") == [(1,)]
    found = does(store, roles_of_keys, ["python dev", "python developer", "pythonista", "x"])
    assert found == {"python dev": first, "python developer": first}
    assert problems(store) == []


def test_an_alias_that_is_taken_stays_where_it_is(store):
    cook = role(store, "Cook", aliases=["Chef"])
    baker = role(store, "Baker", aliases=["Chef", "Pâtissier"])
    assert (look(store, cook).aliases, look(store, baker).aliases) == (("Chef",), ("Pâtissier",))
    assert not does(store, add_alias, baker, "Chef", "chef", 1)
    assert does(store, add_alias, baker, "Confectioner", "confectioner", 1)
    assert does(store, add_alias, baker, "Confectioner", "confectioner", 1)


@pytest.mark.parametrize(("name", "key"), [("", ""), ("x", ""), ("x" * 201, "x")])
def test_a_role_without_a_name_or_with_a_novel_for_one_is_refused(store, name, key):
    with pytest.raises(UsageError, match="1 to 200 characters"):
        does(store, add_role, name, key, now=1, demand=DEMAND)
    assert rows(store, "select count(*) from roles") == [(0,)]


def test_a_renamed_role_still_answers_to_its_old_name(store):
    cook = role(store, "Cook", aliases=["chef"])
    does(store, rename_role, cook, "Chef", "chef", 1)
    assert (look(store, cook).name, look(store, cook).aliases) == ("Chef", ("Cook",))
    assert problems(store) == []
    with pytest.raises(NotAllowed, match="merge the two"):
        does(store, rename_role, role(store, "Baker"), "Cook", "cook", 1)
    assert problems(store) == []


def test_an_alias_can_go_and_the_own_name_cannot(store):
    cook = role(store, "Cook", aliases=["Chef"])
    other = role(store, "Smith")
    assert not does(store, remove_alias, other, "chef", 1)
    assert does(store, remove_alias, cook, "chef", 1)
    assert not does(store, remove_alias, cook, "chef", 1)
    with pytest.raises(NotAllowed, match="own name"):
        does(store, remove_alias, cook, "cook", 1)


def test_a_proposed_role_is_given_to_nobody_until_it_is_approved(store, clock):
    cook = role(store, "Cook", 2, approved=False)
    assert (look(store, cook).status, look(store, cook).candidates) == ("proposed", 2)
    assert nothing(store) == Empty(None)
    clock.advance(HOUR)
    assert does(store, approve_role, cook, clock.now(), DEMAND)
    assert not does(store, approve_role, cook, clock.now(), DEMAND)
    assert look(store, cook).waiting_since == clock.now()
    assert problems(store) == []
    assert claim(store).role.id == cook


def test_a_rejected_role_keeps_its_name_and_its_candidates_and_can_come_back(store, clock):
    cook = role(store, "Cook", 2)
    scrape = claim(store).scrape
    assert does(store, reject_role, cook, clock.now(), DEMAND)
    assert not does(store, reject_role, cook, clock.now(), DEMAND)
    with store.read() as session:
        over = find_scrape(session, scrape.session_id)
    assert (over.status, over.verdict, over.error_message) == ("failed", "failed", "the role was rejected")
    assert end(store, scrape) == "rejected"
    assert role(store, "Cook") == cook
    want(store, cook, person(store, "new"))
    assert (look(store, cook).status, look(store, cook).candidates, turns(store, cook)) == ("rejected", 3, {})
    assert problems(store) == []
    assert does(store, approve_role, cook, clock.now(), DEMAND)
    assert claim(store).scrape.claim == scrape.claim + 1
    assert problems(store) == []


def test_priority_and_demand_move_a_role_that_waits(store):
    names = ["a", "b", "c"]
    ids = {name: role(store, name) for name in names}
    does(store, set_priority, ids["c"], "high", 1, DEMAND)
    want(store, ids["b"], person(store, "x"))
    assert [claim(store).role.name for _ in names] == ["c", "b", "a"]
    with pytest.raises(UsageError, match="urgent"):
        does(store, set_priority, ids["a"], "asap", 1, DEMAND)
    assert problems(store) == []


def test_a_candidate_that_goes_is_counted_no_more(store, clock):
    cook, smith = role(store, "Cook", 1), role(store, "Smith")
    anna = person(store, "anna")
    with store.write() as session:
        assert link_candidates(session, {cook: [anna, anna], smith: [anna]}, clock.now(), DEMAND) == [anna]
    assert (look(store, cook).candidates, look(store, smith).candidates) == (2, 1)
    assert does(store, unlink_candidate, anna, [smith, 999], clock.now(), DEMAND) == [smith]
    assert does(store, unlink_candidate, anna, None, clock.now(), DEMAND) == [cook]
    assert (look(store, cook).candidates, look(store, smith).candidates) == (1, 0)
    assert problems(store) == []


def test_more_candidates_than_one_statement_holds_are_all_linked(store, clock):
    cook = role(store, "Cook")
    with store.write() as session:
        session.many(
            """insert into records (kind, key, data, first_task, last_task, created_at, updated_at)
                values ('candidate', :key, '{}', 0, 0, 0, 0)""",
            [{"key": f"{n:05}"} for n in range(1_203)],
        )
        ids = [row[0] for row in session.rows("select id from records order by id")]
        assert link_candidates(session, {cook: ids[:1_100]}, clock.now(), DEMAND) == ids[:1_100]
        assert link_candidates(session, {cook: ids}, clock.now(), DEMAND) == ids[1_100:]
    assert look(store, cook).candidates == 1_203
    assert problems(store) == []


def test_a_role_that_is_not_there_is_named(store):
    assert does(store, find_role, 7) is None
    for ask in (
        lambda: want(store, 7, person(store, "x")),
        lambda: does(store, approve_role, 7, 1, DEMAND),
        lambda: does(store, reject_role, 7, 1),
        lambda: does(store, add_alias, 7, "a", "a", 1),
        lambda: does(store, set_priority, 7, "low", 1, DEMAND),
        lambda: does(store, set_category, 7, "x", 1),
    ):
        with pytest.raises(UnknownName, match="no role 7"):
            ask()


def test_roles_are_listed_by_status_and_by_any_of_their_names(store):
    cook, smith = role(store, "Cook", aliases=["Chef 100%"]), role(store, "Smith", approved=False)
    names = ["Baker", "Butcher", "Brewer"]
    others = [role(store, name) for name in names]

    def listed(**asked):
        with store.read() as session:
            return [each.id for each in list_roles(session, **asked)]

    assert listed() == [cook, smith, *others]
    assert listed(status="proposed") == [smith]
    assert listed(text="CHEF") == [cook]
    assert listed(text="100%") == [cook]
    assert listed(text="%") == [cook]
    assert listed(text="_") == listed(text="!") == []
    assert listed(text="b", after=others[0], limit=1) == [others[1]]


def test_names_come_role_by_role_and_never_half_a_role(store):
    cook = role(store, "Cook", aliases=["Chef", "Kitchen Hand"])
    smith = role(store, "Smith")
    with store.read() as session:
        first = names_since(session, 0, 1)
        assert first == [
            (cook, "chef", "Chef"),
            (cook, "cook", "Cook"),
            (cook, "kitchen hand", "Kitchen Hand"),
        ]
        assert names_since(session, cook, 100) == [(smith, "smith", "Smith")]
        assert names_since(session, smith) == []


def test_a_completed_role_says_what_it_brought(store, clock):
    cook = role(store, "Cook")
    scrape = claim(store).scrape
    with store.write() as session:
        count_scrape(
            session, scrape, {"found": 5, "imported": 2, "updated": 1, "linked": 1, "skipped": 1}, clock.now()
        )
        count_scrape(session, scrape, {"found": 1, "skipped": 1}, clock.now())
    end(store, scrape, Verdict.FOUND)
    with store.read() as session:
        done = find_scrape(session, scrape.session_id)
    assert (done.found, done.imported, done.updated, done.linked, done.skipped) == (6, 2, 1, 1, 2)
    assert look(store, cook).imported == 2
