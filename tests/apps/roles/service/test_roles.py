"""Roles in a person's hands, on every database: a change moves everything that hangs on a role, or
nothing."""

import json

import pytest

from tests.apps.roles.service.candidates import REGISTRY, add, counted, role, roles, tasks, there, wanted
from tests.harness.databases import only_sqlite
from thresher.admin.records import write_records
from thresher.apps.roles.service import roles as control
from thresher.apps.roles.service.roles import Answer, Change, list_roles, near_names, wish
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.core.record import Link, Record


def added(store, name: str, *aliases: str, priority: str | None = None) -> int:
    return control.add_roles(store, [wish(name, aliases, priority)])[0].id


def test_a_role_is_added_once_and_gains_names_and_priority(store):
    first = control.add_roles(store, [wish("Python Developer", ["Pythonista"], "high"), wish("Welder")])
    assert [(each.name, each.answer, each.priority, each.aliases) for each in first] == [
        ("Python Developer", Answer.NEW, "high", ("Pythonista",)),
        ("Welder", Answer.NEW, "normal", ()),
    ]
    (again,) = control.add_roles(store, [wish("python  developer", ["Python Engineer"], "urgent")])
    assert (again.id, again.answer, again.priority) == (first[0].id, Answer.KNOWN, "urgent")
    assert set(again.aliases) == {"Pythonista", "Python Engineer"}
    assert len(roles(store)) == 2


def test_a_name_that_another_role_has_stays_there_and_is_told(store):
    welder = added(store, "Welder", "Fabricator")
    (found,) = control.add_roles(store, [wish("Metal Worker", ["Fabricator", "Smith"])])
    assert (found.aliases, found.taken) == (("Smith",), (f"Fabricator (role {welder})",))
    with pytest.raises(NotAllowed, match=rf"'Fabricator' is a name of Welder \({welder}\); merge the two"):
        control.add_alias(store, "Metal Worker", "Fabricator")


@pytest.mark.parametrize("name", ["", "  ", "???", "x" * 101, "a\x1b[31mb"])
def test_a_name_that_is_none_is_refused(name: str):
    with pytest.raises(UsageError, match="a role's name must be one line of text"):
        wish(name)


def test_a_trade_as_a_whole_is_no_other_name_of_one_role(store):
    added(store, "Python Developer")
    with pytest.raises(UsageError, match="'Senior Developer' is too broad to be an alias"):
        control.add_alias(store, "Python Developer", "Senior Developer")
    with pytest.raises(UsageError, match="too broad"):
        wish("Data Engineer", ["engineer"])


@pytest.mark.promise(20)
def test_a_role_is_meant_by_its_id_its_name_or_an_alias_and_a_slip_is_met_with_advice(store):
    number = added(store, "Python Developer", "Pythonista")
    added(store, "Welder")
    assert {
        control.find(store, each).id
        for each in (str(number), "PYTHON developer", "pythonista", f" {number} ")
    } == {number}
    with pytest.raises(
        UnknownName, match="there is no role 'Pyton Develper'; did you mean 'Python Developer'"
    ):
        control.find(store, "Pyton Develper")
    for text in ("Astronaut", "999", "9" * 400, "", "٣"):
        with pytest.raises(UnknownName, match="thresher roles list shows them"):
            control.find(store, text)


def test_the_names_that_look_alike_are_suggested_the_likest_first():
    names = [
        ("java developer", "Java Developer"),
        ("javascript developer", "JavaScript Developer"),
        ("nurse", "Nurse"),
    ]
    assert near_names("jav developer", names) == ["Java Developer", "JavaScript Developer"]
    assert (near_names("", names), near_names("x", [])) == ([], [])


def postings(store, role_id: int, *keys: str) -> None:
    write_records(
        store, [Record("posting", key, {"title": key}, (Link("role", str(role_id)),)) for key in keys]
    )


@pytest.mark.promise(9)
def test_a_merge_moves_everyone_and_has_what_came_together_matched(store):
    add(
        store,
        {"id": "1", "name": "A", "title": "Welder"},
        {"id": "2", "name": "B", "title": "Pipe Fitter"},
        {"id": "3", "name": "C", "title": "Welder", "roles": "Pipe Fitter"},
    )
    welder, fitter = control.find(store, "Welder"), control.find(store, "Pipe Fitter")
    postings(store, welder.id, "dice/1", "dice/2")
    postings(store, fitter.id, "dice/2", "dice/3")
    before = len(tasks(store, "match_candidates"))
    done = control.merge(store, REGISTRY, "Welder", "Pipe Fitter")
    assert (done.id, done.gone, done.candidates, done.postings) == (fitter.id, "Welder", 2, 2)
    assert {key: wanted(store, key) for key in "123"} == {key: {"Pipe Fitter"} for key in "123"}
    assert roles(store) == {"Pipe Fitter": 3}
    assert control.find(store, "welder").id == fitter.id
    assert [(each.postings, each.candidates) for each in list_roles(store)] == [(3, 3)]
    new = tasks(store, "match_candidates")[before:]
    assert [json.loads(payload)["candidates"] for _, payload in new] == [
        sorted(there(store, key).id for key in "123")
    ]


def test_a_role_is_not_merged_with_itself_nor_with_nothing(store):
    added(store, "Welder", "Fabricator")
    with pytest.raises(UsageError, match="are already one role: Welder"):
        control.merge(store, REGISTRY, "Welder", "fabricator")
    with pytest.raises(UnknownName):
        control.merge(store, REGISTRY, "Welder", "Nurse")
    assert list(roles(store)) == ["Welder"]


@pytest.mark.promise(9)
def test_a_split_takes_names_and_candidates_along_and_loses_no_posting(store):
    number = added(store, "Welder", "Diver", "Fabricator")
    add(store, {"id": "1", "name": "A", "title": "Diver"}, {"id": "2", "name": "B", "title": "Welder"})
    postings(store, number, "dice/1")
    before = len(tasks(store, "match_candidates"))
    done = control.split(store, REGISTRY, "Welder", "Underwater Welder", ["diver"], ["1"])
    assert (done.out_of, done.aliases, done.candidates) == ("Welder", ("Diver",), 1)
    assert (wanted(store, "1"), wanted(store, "2")) == ({"Underwater Welder"}, {"Welder"})
    assert control.find(store, "Diver").id == done.id
    assert role(store, number).aliases == ("Fabricator",)
    assert {each.name: each.postings for each in list_roles(store)} == {"Welder": 1, "Underwater Welder": 1}
    assert all(said == linked for said, linked in counted(store).values())
    new = tasks(store, "match_candidates")[before:]
    assert [json.loads(payload)["candidates"] for _, payload in new] == [[there(store, "1").id]]


def test_a_split_that_makes_no_sense_changes_nothing(store):
    added(store, "Welder", "Diver")
    nurse = added(store, "Nurse")
    add(store, {"id": "1", "name": "A", "title": "Nurse"})
    for name, aliases, people, error in (
        ("Nurse", [], [], NotAllowed),
        ("Welder", [], [], NotAllowed),
        ("X Welder", ["Nurse"], [], UnknownName),
        ("X Welder", ["Welder"], [], UnknownName),
        ("X Welder", [], ["1"], NotAllowed),
        ("X Welder", [], ["nobody"], UnknownName),
    ):
        with pytest.raises(error):
            control.split(store, REGISTRY, "Welder", name, aliases, people)
    assert (set(roles(store)), role(store, nurse).candidates) == ({"Welder", "Nurse"}, 1)


def test_a_role_is_renamed_ranked_and_filed_and_still_answers_to_its_old_name(store):
    number = added(store, "Welder")
    before = role(store, number)
    changed = control.change(
        store, "Welder", Change("Metal Welder", "urgent", "Trades", ("name", "priority", "category"))
    )
    assert (changed.name, changed.priority, changed.category, changed.aliases) == (
        "Metal Welder",
        "urgent",
        "Trades",
        ("Welder",),
    )
    assert changed.rank < before.rank
    assert control.find(store, "welder").id == number
    assert control.change(store, "welder", Change(priority="low", fields=("priority",))).category == "Trades"
    assert control.change(store, "welder", Change(fields=("category",))).category is None
    added(store, "Nurse")
    with pytest.raises(NotAllowed, match="'nurse' is a name of Nurse"):
        control.change(store, "Welder", Change("nurse"))
    with pytest.raises(UsageError, match="a priority must be one of urgent, high, normal, low"):
        control.change(store, "Welder", Change(priority="now"))


def test_an_alias_comes_and_goes_and_a_roles_own_name_stays(store):
    added(store, "Welder")
    assert control.add_alias(store, "Welder", "Fabricator").aliases == ("Fabricator",)
    assert control.remove_alias(store, "Welder", "FABRICATOR").aliases == ()
    with pytest.raises(UnknownName, match="Welder has no alias 'Fabricator'; it has none"):
        control.remove_alias(store, "Welder", "Fabricator")
    with pytest.raises(NotAllowed, match="the role's own name"):
        control.remove_alias(store, "Welder", "welder")


@pytest.mark.promise(12)
def test_in_approval_mode_a_role_waits_for_a_person(make_store):
    store = make_store(roles__approval=1)
    add(store, {"id": "1", "name": "A", "title": "Welder"}, {"id": "2", "name": "B", "title": "Nurse"})
    assert {each.status for each in list_roles(store)} == {"proposed"}
    with pytest.raises(UnknownName):
        control.approve(store, ["Welder", "Cook"])
    assert {each.status for each in list_roles(store)} == {"proposed"}
    (welder,) = control.approve(store, ["Welder"])
    (nurse,) = control.reject(store, ["nurse"])
    assert (welder.status, welder.candidates, nurse.status) == ("pending", 1, "rejected")
    with pytest.raises(
        NotAllowed, match="Welder is pending; only a role that is proposed or rejected can be approved"
    ):
        control.approve(store, ["Welder"])
    assert [each.name for each in list_roles(store, status="rejected")] == ["Nurse"]


@pytest.mark.promise(9)
def test_who_comes_while_a_role_is_rejected_is_not_forgotten_when_it_is_approved(store):
    add(store, {"id": "1", "name": "A", "title": "Nurse"})
    control.reject(store, ["Nurse"])
    (late,) = add(store, {"id": "2", "name": "B", "title": "Senior Nurse"})[0].roles
    assert (late.role, late.method) == ("Nurse", "exact")
    assert late.reason.endswith("the role was rejected, so it is not searched")
    assert [(each.name, each.status, each.candidates) for each in list_roles(store)] == [
        ("Nurse", "rejected", 2)
    ]
    (nurse,) = control.approve(store, ["Nurse"])
    assert (nurse.status, nurse.candidates) == ("pending", 2)
    assert {key: wanted(store, key) for key in "12"} == {"1": {"Nurse"}, "2": {"Nurse"}}


@only_sqlite
def test_roles_are_listed_by_page_status_and_name(store):
    control.add_roles(store, [wish(f"Welder of Kind {at}") for at in range(30)])
    first = list_roles(store, limit=20)
    rest = list_roles(store, limit=20, after=first[-1].id)
    assert len({each.id for each in (*first, *rest)}) == 30
    assert [each.name for each in list_roles(store, text="kind 7")] == ["Welder of Kind 7"]
    with pytest.raises(UsageError, match="the status of a role must be one of proposed"):
        list_roles(store, status="waiting")
