"""What follows from an answer about a title, as rows: done twice it does no harm, and nobody who waits is
lost."""

from dataclasses import asdict
from typing import Any

import pytest

from thresher.apps.roles.demand import Demand
from thresher.apps.roles.store.resolution import ASKS, join_titles, link_asking, owners_of, settle_title
from thresher.apps.roles.store.roles import (
    add_role,
    list_roles,
    merge_roles,
    reject_role,
    rename_role,
    roles_of_keys,
)
from thresher.core.record import Link, Record, pack
from thresher.hiring.title.core import title_key
from thresher.store.records import file_record, find_records
from thresher.store.store import Store

DEMAND = Demand(1_000_000, 50.0)
HOW = {"method": "model", "category": None, "approved": True, "demand": asdict(DEMAND)}


def answer(name: str, **more: Any) -> dict[str, Any]:
    return (
        HOW
        | {
            "title": "Code Wizard",
            "key": "code wizard",
            "name": name,
            "name_key": title_key(name),
            "role": None,
        }
        | more
    )


def settle(store: Store, data: dict[str, Any]) -> None:
    with store.write() as session:
        settle_title(session, data, store.backend.now(session))


def link(store: Store, *candidates: int) -> None:
    with store.write() as session:
        data = {"key": "code wizard", "candidates": list(candidates), "demand": asdict(DEMAND)}
        link_asking(session, data, store.backend.now(session))


def waits(store: Store, key: str) -> int:
    with store.write() as session:
        filing = pack(Record("candidate", key, {}, (Link(ASKS, "code wizard"),)), 1_000)
        return file_record(session, filing, 0, store.backend.now(session))


def add(store: Store, name: str) -> int:
    with store.write() as session:
        return add_role(session, name, title_key(name), now=store.backend.now(session), demand=DEMAND)


def counts(store: Store) -> dict[str, int]:
    with store.read() as session:
        return {role.name: role.candidates for role in list_roles(session)}


def test_an_answer_that_is_settled_twice_makes_one_role(store: Store):
    for _ in range(2):
        settle(store, answer("Software Engineer"))
    with store.read() as session:
        owners = owners_of(session, ["code wizard", "software engineer", "nobody"])
    assert {key: (owner.name, owner.own) for key, owner in owners.items()} == {
        "code wizard": ("Software Engineer", False),
        "software engineer": ("Software Engineer", True),
    }
    assert len({owner.id for owner in owners.values()}) == 1


def test_a_later_answer_does_not_move_a_title_that_has_its_role(store: Store):
    settle(store, answer("Software Engineer"))
    settle(store, answer("Stage Magician"))
    assert set(counts(store)) == {"Software Engineer"}


@pytest.mark.promise(9)
def test_a_role_that_was_merged_after_it_was_found_leads_to_the_one_it_became(store: Store):
    source, into = add(store, "Software Engineer"), add(store, "Programmer")
    with store.write() as session:
        merge_roles(session, source, into, store.backend.now(session), DEMAND)
    settle(store, answer("Software Engineer", role=source))
    with store.read() as session:
        assert roles_of_keys(session, ["code wizard"]) == {"code wizard": into}


@pytest.mark.promise(9)
def test_who_waits_is_linked_once_and_waits_no_more(store: Store):
    ids = [waits(store, "ann"), waits(store, "bob")]
    settle(store, answer("Software Engineer"))
    for _ in range(2):
        link(store, *ids)
    assert counts(store) == {"Software Engineer": 2}
    with store.read() as session:
        assert [found.linked(ASKS) for found in find_records(session, kind="candidate")] == [(), ()]


def test_who_waits_no_more_is_not_linked(store: Store):
    gone = waits(store, "ann")
    with store.write() as session:
        session.run("delete from links")
    settle(store, answer("Software Engineer"))
    link(store, gone)
    assert counts(store) == {"Software Engineer": 0}


def test_without_a_role_that_answers_everybody_goes_on_waiting(store: Store):
    link(store, waits(store, "ann"))
    with store.read() as session:
        assert [found.linked(ASKS) for found in find_records(session, kind="candidate")] == [("code wizard",)]


def join(store: Store, role: int, name: str, into: int, into_name: str) -> None:
    data = {
        "role": role,
        "name_key": title_key(name),
        "into": into,
        "into_key": title_key(into_name),
        "demand": asdict(DEMAND),
    }
    with store.write() as session:
        join_titles(session, data, store.backend.now(session))


@pytest.mark.promise(9)
def test_two_roles_that_were_made_at_the_same_moment_become_one_once(store: Store):
    older = add(store, "Java Developer")
    settle(store, answer("Java Engineer"))
    with store.read() as session:
        newer = roles_of_keys(session, ["java engineer"])["java engineer"]
    for _ in range(2):
        join(store, newer, "Java Engineer", older, "Java Developer")
    link(store, waits(store, "ann"))
    assert counts(store) == {"Java Developer": 1}
    with store.read() as session:
        assert roles_of_keys(session, ["java engineer", "code wizard"]) == {
            "java engineer": older,
            "code wizard": older,
        }


@pytest.mark.parametrize("by", ["rejected", "renamed"])
def test_what_a_person_has_judged_meanwhile_is_not_joined(store: Store, by: str):
    older, newer = add(store, "Java Developer"), add(store, "Java Engineer")
    with store.write() as session:
        now = store.backend.now(session)
        if by == "rejected":
            reject_role(session, older, now, DEMAND)
        else:
            merge_roles(
                session, older, add_role(session, "Coder", "coder", now=now, demand=DEMAND), now, DEMAND
            )
            rename_role(session, newer, "Java Artist", "java artist", now)
    join(store, newer, "Java Engineer", older, "Java Developer")
    assert len(counts(store)) == 2
