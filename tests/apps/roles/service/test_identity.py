"""Who a candidate is: by id, by email, by name. Nobody appears twice by accident, and nobody is taken for
somebody else."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.apps.roles.service.candidates import REGISTRY, add, there, wanted
from tests.harness.databases import memory_database, with_processes
from thresher.apps.roles.service import candidates as control
from thresher.apps.roles.service.candidates import Taken, add_candidates, list_candidates, remove_candidates
from thresher.apps.roles.service.intake import read_candidate
from thresher.core.clock import FrozenClock
from thresher.core.errors import NotAllowed, UsageError
from thresher.store.store import Store

KEPT = {"id": "42", "email": "anna@example.com", "name": "Anna Berg", "title": "Welder"}


def keys(store: Store) -> list[str]:
    return sorted(each.key for each in list_candidates(store, limit=100))


@pytest.mark.promise(2)
def test_who_comes_by_email_is_the_one_who_has_it_whatever_the_key(store):
    add(store, KEPT)
    (again,) = add(store, {"email": "Anna@Example.com", "name": "Anna Berg", "title": "Nurse"})
    assert (again.key, again.answer) == ("42", Taken.CHANGED)
    assert (keys(store), wanted(store, "42")) == (["42"], {"Nurse"})
    (same,) = add(store, KEPT | {"title": "Nurse"})
    assert same.answer is Taken.UNCHANGED


@pytest.mark.promise(2)
@pytest.mark.parametrize(
    "other", [{"id": "43", "email": "anna@example.com"}, {"id": "anna@example.com"}], ids=["email", "id"]
)
def test_another_id_with_the_same_email_is_refused_and_told_whose_it_is(store, other):
    add(store, KEPT)
    with pytest.raises(
        NotAllowed, match=r"'anna@example.com' is the email of the candidate '42'.*Nothing was added"
    ):
        add(store, {"name": "Bo", "title": "Nurse"}, other | {"name": "Anna", "title": "Nurse"})
    assert keys(store) == ["42"]


@pytest.mark.promise(2)
def test_one_who_came_by_email_and_comes_again_with_an_id_is_not_doubled(store):
    add(store, {"email": "anna@example.com", "name": "Anna", "title": "Welder"})
    with pytest.raises(NotAllowed, match=r"is the email of the candidate 'anna@example.com', not of '7'"):
        add(store, {"id": "7", "email": "anna@example.com", "name": "Anna", "title": "Welder"})
    (same,) = add(
        store, {"id": "anna@example.com", "email": "anna@example.com", "name": "Anna", "title": "Welder"}
    )
    assert same.answer is Taken.UNCHANGED


def test_an_email_that_was_given_up_is_free_again(store):
    add(store, KEPT)
    add(store, KEPT | {"email": "anna@work.example"})
    (new,) = add(store, {"email": "anna@example.com", "name": "Another Anna", "title": "Nurse"})
    assert (new.key, new.answer) == ("anna@example.com", Taken.NEW)
    assert add(store, {"email": "anna@work.example", "name": "Anna Berg", "title": "Welder"})[0].key == "42"
    remove_candidates(store, ["42"])
    assert (
        add(store, {"email": "anna@work.example", "name": "Anna Berg", "title": "Welder"})[0].answer
        is Taken.NEW
    )


def test_a_name_alone_neither_finds_nor_doubles_one_who_has_an_id(store):
    add(store, KEPT)
    with pytest.raises(
        NotAllowed, match="a candidate named 'ANNA Berg' already has the id '42'; give that id"
    ):
        add(store, {"name": "ANNA Berg", "title": "Nurse"})
    assert there(store, "42").data["title"] == "Welder"
    add(store, {"id": "43", "name": "Anna Berg", "title": "Nurse"})
    assert keys(store) == ["42", "43"]


@pytest.mark.promise(2)
def test_one_who_is_known_by_name_and_comes_again_with_an_email_is_not_doubled(store):
    add(store, {"name": "Anna Berg", "title": "Welder"})
    with pytest.raises(
        NotAllowed,
        match="a candidate named 'Anna Berg' already has the id 'anna berg'; give that id if it is the same person",
    ):
        add(store, {"email": "anna@example.com", "name": "Anna Berg", "title": "Nurse"})
    (same,) = add(
        store, {"id": "anna berg", "email": "anna@example.com", "name": "Anna Berg", "title": "Nurse"}
    )
    assert (same.answer, keys(store)) == (Taken.CHANGED, ["anna berg"])
    for again in ({"email": "anna@example.com"}, {}):
        assert add(store, again | {"name": "Anna Berg", "title": "Nurse"})[0].key == "anna berg"


def test_one_who_is_known_by_name_stays_known_by_it_beside_a_namesake(store):
    add(store, {"name": "Anna Berg", "title": "Welder"})
    add(store, {"id": "2", "email": "other@example.com", "name": "Anna Berg", "title": "Nurse"})
    (again,) = add(store, {"name": "Anna Berg", "title": "Nurse"})
    assert (again.key, again.answer) == ("anna berg", Taken.CHANGED)
    assert keys(store) == ["2", "anna berg"]


@pytest.mark.parametrize(
    "two", [{"id": "43", "email": "anna@example.com"}, {"email": "anna@example.com"}], ids=["id", "email"]
)
def test_two_with_one_email_are_refused_together(store, two):
    with pytest.raises(UsageError, match="appears twice"):
        add(store, KEPT, two | {"name": "Bo"})
    add(store, KEPT)
    with pytest.raises(UsageError, match="'42' appears twice"):
        add(store, {"id": "42", "name": "Anna Berg"}, {"email": "anna@example.com", "name": "Bo"})


def test_what_is_wrong_with_the_last_batch_is_said_before_the_first_is_written(store, monkeypatch):
    monkeypatch.setattr(control, "BATCH", 2)
    add(store, KEPT)
    people = [{"id": str(at), "name": f"P{at}"} for at in range(4)]
    with pytest.raises(NotAllowed, match="Nothing was added"):
        add(store, *people, {"id": "43", "email": "anna@example.com", "name": "Anna"})
    assert keys(store) == ["42"]


def test_two_namesakes_of_one_file_are_two_people_wherever_a_batch_ends(store, monkeypatch):
    monkeypatch.setattr(control, "BATCH", 2)
    people = [
        {"id": "1", "name": "Anna"},
        {"id": "2", "name": "Bo"},
        {"name": "Anna"},
        {"email": "bo@x.org", "name": "Bo"},
    ]
    for answer in (Taken.NEW, Taken.UNCHANGED):
        assert [(each.key, each.answer) for each in add(store, *people)] == [
            (key, answer) for key in ("1", "2", "anna", "bo@x.org")
        ]
    mixed = [{"name": "Cy"}, {"id": "3", "name": "Di"}, {"email": "cy@x.org", "name": "Cy"}]
    assert [each.key for each in add(store, *mixed)] == ["cy", "3", "cy@x.org"]


@with_processes
@pytest.mark.promise(2)
def test_by_id_and_by_email_at_the_same_moment_are_one(make_store):
    stores = [make_store() for _ in range(4)]
    ready = threading.Barrier(4)
    shapes = ({"id": "{0}"}, {})

    def work(at: int) -> int:
        ready.wait()
        refused = 0
        for number in range(8):
            mine = {name: text.format(number) for name, text in shapes[at % 2].items()}
            try:
                add(
                    stores[at],
                    mine | {"email": f"p{number}@example.com", "name": f"P {number}", "title": "Welder"},
                )
            except NotAllowed:
                refused += 1
        return refused

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    found = list_candidates(stores[0], limit=100)
    assert sorted(each.name for each in found) == [f"P {number}" for number in range(8)]


PEOPLE = st.fixed_dictionaries(
    {"name": st.sampled_from(["Anna", "Bo", "Cy"])},
    optional={
        "id": st.sampled_from(["1", "2", "a@x.org"]),
        "email": st.sampled_from(["a@x.org", "b@x.org", "A@X.org"]),
    },
)


@given(st.lists(PEOPLE, max_size=12))
def test_whatever_comes_no_email_is_ever_two_peoples(asked):
    database = memory_database(FrozenClock())
    store = database.open()
    for each in asked:
        try:
            (found,) = add_candidates(store, REGISTRY, [read_candidate(each)])
        except NotAllowed:
            continue
        assert there(store, found.key).data["name"] == each["name"]
        if "id" in each:
            assert found.key == each["id"]
    emails = [email for key in keys(store) if (email := there(store, key).data.get("email"))]
    assert len(emails) == len(set(emails))
    database.close()
