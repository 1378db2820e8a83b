"""Candidates come in, change and go, on every database: nothing of them is lost, nothing is doubled, nothing
stays behind."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.apps.roles.service.candidates import (
    ASKING,
    REGISTRY,
    add,
    counted,
    person,
    role,
    roles,
    tasks,
    there,
    wanted,
)
from tests.harness.databases import only_sqlite, with_processes
from thresher.admin.records import write_records
from thresher.apps.roles.service import candidates as control
from thresher.apps.roles.service import roles as curating
from thresher.apps.roles.service.candidates import (
    Taken,
    add_candidates,
    list_candidates,
    remove_candidates,
    show_candidate,
)
from thresher.apps.roles.service.intake import read_candidate
from thresher.apps.roles.service.matches import set_pair_status
from thresher.apps.roles.store.roles import link_candidates
from thresher.core.errors import UnknownName, UsageError
from thresher.core.record import Record
from thresher.engine.registry import Registry

ANNA = {"id": "1", "name": "Anna", "title": "Senior Welder", "skills": "MIG; TIG", "experience_years": "7"}
BO = {"id": "2", "name": "Bo", "title": "Welder", "roles": "Pipe Fitter"}


@pytest.mark.promise(19)
def test_candidates_are_written_linked_and_matched(store):
    anna, bo = add(store, ANNA, BO)
    assert [(each.key, each.answer) for each in (anna, bo)] == [("1", Taken.NEW), ("2", Taken.NEW)]
    assert anna.roles[0].role_id == bo.roles[0].role_id
    assert roles(store)[bo.roles[0].role] == 2
    assert len(wanted(store, "2")) == 2
    ids = sorted(there(store, key).id for key in "12")
    assert [json.loads(payload) for _, payload in tasks(store, "match_candidates")] == [{"candidates": ids}]
    assert there(store, "1").data["keywords"] == ["Senior Welder", "MIG", "TIG"]
    assert tasks(store, "normalize") == []


@pytest.mark.promise(2)
def test_the_same_again_changes_nothing(store):
    add(store, ANNA, BO)
    before = (roles(store), there(store, "1"), tasks(store, "match_candidates"))
    again = add(store, ANNA, BO)
    assert [each.answer for each in again] == [Taken.UNCHANGED, Taken.UNCHANGED]
    assert [each.role_id for each in again[1].roles] == [each.role_id for each in add(store, BO)[0].roles]
    assert (roles(store), there(store, "1"), tasks(store, "match_candidates")) == before


@pytest.mark.promise(1)
@pytest.mark.promise(19)
def test_what_a_newer_release_wrote_of_a_candidate_survives_a_change_by_this_one(store):
    add(store, ANNA)
    known = there(store, "1")
    (title,) = known.data["titles"]
    newer = {**known.data, "notice_weeks": 6, "titles": [{**title, "checked_by": "model 9"}]}
    write_records(store, [Record("candidate", "1", newer, marks=("name_key", "email"))])
    assert [each.answer for each in add(store, ANNA)] == [Taken.UNCHANGED]
    add(store, ANNA | {"skills": "MIG"})
    after = there(store, "1").data
    assert (after["skills"], after["notice_weeks"]) == (["MIG"], 6)
    assert after["titles"] == newer["titles"]


@pytest.mark.promise(9)
def test_another_title_takes_the_old_role_away_and_brings_the_new_one(store):
    add(store, ANNA, BO)
    old = add(store, ANNA)[0].roles[0]
    (changed,) = add(store, ANNA | {"title": "Nurse"})
    assert changed.answer is Taken.CHANGED
    assert old.role not in wanted(store, "1")
    assert wanted(store, "1") == {changed.roles[0].role}
    assert role(store, old.role_id).candidates == 1
    assert all(said == linked for said, linked in counted(store).values())


def test_a_title_written_otherwise_keeps_its_role(store):
    add(store, BO)
    before = wanted(store, "2")
    add(store, BO | {"title": "WELDER", "roles": ["pipe fitter"]})
    assert wanted(store, "2") == before
    assert all(said == linked for said, linked in counted(store).values())


def test_a_role_that_two_titles_lead_to_goes_with_the_last_of_them(store):
    add(store, ANNA | {"roles": "Welder"})
    add(store, ANNA | {"title": "Welder"})
    assert len(wanted(store, "1")) == 1
    add(store, ANNA | {"title": "", "roles": ""})
    assert wanted(store, "1") == set()


@pytest.mark.promise(9)
def test_a_role_that_a_person_gave_stays_when_the_title_changes(store):
    add(store, ANNA, BO)
    fitter = add(store, BO)[0].roles[1]
    demand, anna = control.Demand.of(store.settings), there(store, "1").id
    with store.write() as session:
        link_candidates(session, {fitter.role_id: [anna]}, store.backend.now(session), demand)
    add(store, ANNA | {"title": "Nurse"})
    assert fitter.role in wanted(store, "1")
    assert [each.method for each in show_candidate(store, "1").wants][-1] == "by hand"


@pytest.mark.promise(9)
def test_what_a_person_split_is_not_undone_by_the_same_file(store):
    add(store, ANNA, BO)
    old = add(store, BO)[0].roles[0]
    made = curating.split(store, REGISTRY, str(old.role_id), "Underwater Welder", [], ["1"])
    assert wanted(store, "1") == {"Underwater Welder"}
    assert add(store, ANNA, BO)[0].answer is Taken.UNCHANGED
    assert wanted(store, "1") == {"Underwater Welder"}
    assert (role(store, made.id).candidates, role(store, old.role_id).candidates) == (1, 1)


@pytest.mark.promise(9)
def test_after_a_merge_a_changed_title_still_finds_what_to_leave(store):
    add(store, ANNA, BO)
    welder, fitter = add(store, BO)[0].roles
    curating.merge(store, REGISTRY, str(welder.role_id), str(fitter.role_id))
    assert wanted(store, "1") == {fitter.role}
    add(store, ANNA | {"title": "Nurse"})
    assert wanted(store, "1") == {"Nurse"}
    assert all(said == linked for said, linked in counted(store).values())


@pytest.mark.promise(1)
def test_a_role_that_is_merged_while_a_candidate_comes_in_loses_nobody(store, monkeypatch):
    """The titles are understood before the transaction; somebody merges in between."""
    add(store, BO)
    welder, fitter = add(store, BO)[0].roles
    real = control.resolve

    def then_merge(*args, **kwargs):
        found = real(*args, **kwargs)
        monkeypatch.setattr(control, "resolve", real)
        curating.merge(store, REGISTRY, str(welder.role_id), str(fitter.role_id))
        return found

    monkeypatch.setattr(control, "resolve", then_merge)
    add(store, ANNA)
    assert wanted(store, "1") == {fitter.role}
    assert all(said == linked for said, linked in counted(store).values())


def test_a_completed_role_goes_back_to_the_queue_when_somebody_new_wants_it(store):
    add(store, BO)
    welder = add(store, BO)[0].roles[0]
    with store.write() as session:
        session.run("update roles set status = 'completed' where id = :id", {"id": welder.role_id})
        session.run("update role_turns set state = 'done' where role_id = :id", {"id": welder.role_id})
    add(store, BO)
    assert role(store, welder.role_id).status == "completed"
    add(store, ANNA)
    assert role(store, welder.role_id).status == "pending"


@pytest.mark.promise(1)
def test_a_title_that_a_model_must_name_is_asked_once_and_waits_visibly(store):
    anna, bo = add(store, ANNA, BO | {"title": "Senior Welder", "roles": ""}, registry=ASKING)
    assert [each.roles[0].method for each in (anna, bo)] == ["waiting", "waiting"]
    key = anna.roles[0].key
    assert there(store, "1").linked("asks") == (key,)
    assert [(each, json.loads(payload)["title"]) for each, payload in tasks(store, "normalize")] == [
        (key, "Senior Welder")
    ]
    assert show_candidate(store, "1").waiting == (key,)
    add(store, ANNA, registry=ASKING)
    assert len(tasks(store, "normalize")) == 1
    add(store, ANNA | {"title": ""}, registry=ASKING)
    assert there(store, "1").linked("asks") == ()


@pytest.mark.promise(1)
def test_an_answer_that_comes_while_a_candidate_comes_in_is_not_waited_for(store, monkeypatch):
    """The title waits when it is looked at, and is answered before the candidate is written."""
    real = control.resolve

    def then_answer(*args, **kwargs):
        found = real(*args, **kwargs)
        monkeypatch.setattr(control, "resolve", real)
        curating.add_roles(store, [curating.wish("Metal Worker", ["Welder"])])
        return found

    monkeypatch.setattr(control, "resolve", then_answer)
    (anna,) = add(store, ANNA, registry=ASKING)
    assert (anna.roles[0].method, wanted(store, "1"), there(store, "1").linked("asks")) == (
        "alias",
        {"Metal Worker"},
        (),
    )
    assert tasks(store, "normalize") == []


@pytest.mark.promise(1)
def test_nothing_is_written_where_the_project_has_no_roles_app(store):
    with pytest.raises(UnknownName, match=r"apps: \[roles\]"):
        add(store, ANNA, registry=Registry([]))
    assert (person(store, "1"), roles(store)) == (None, {})


@pytest.mark.promise(1)
def test_a_batch_that_fails_leaves_nothing_and_can_be_done_again(store, monkeypatch):
    def fail(*args, **kwargs):
        raise RuntimeError("the machine stopped here")

    with monkeypatch.context() as broken:
        broken.setattr(control, "link_candidates", fail)
        with pytest.raises(RuntimeError):
            add(store, ANNA, BO)
    assert (person(store, "1"), tasks(store, "match_candidates")) == (None, [])
    assert [each.answer for each in add(store, ANNA, BO)] == [Taken.NEW, Taken.NEW]
    assert all(said == linked for said, linked in counted(store).values())


def test_two_of_one_key_are_refused_together(store):
    with pytest.raises(UsageError, match="'1' appears twice"):
        add(store, ANNA, BO, ANNA)
    assert person(store, "2") is None


@only_sqlite
def test_many_come_in_batches_and_are_matched_500_at_a_time(store):
    people = [
        read_candidate({"id": str(at), "name": f"Person {at}", "title": f"Welder {'I' * (at % 3)}"})
        for at in range(2_300)
    ]
    found = add_candidates(store, REGISTRY, people)
    assert [each.key for each in found] == [str(at) for at in range(2_300)]
    payloads = [json.loads(payload)["candidates"] for _, payload in tasks(store, "match_candidates")]
    assert max(map(len, payloads)) == 500
    assert sorted(each for payload in payloads for each in payload) == sorted(
        there(store, str(at)).id for at in range(2_300)
    )
    assert sum(roles(store).values()) == 2_300


@pytest.mark.promise(9)
def test_a_candidate_that_is_removed_leaves_nothing_behind(store):
    add(store, ANNA, BO)
    found = there(store, "1")
    with store.write() as session:
        session.run(
            "insert into matches (candidate_id, posting_id, role_id, score, skills, experience, location, salary, semantic, created_at,"
            " matched_at) values (:id, 99, 1, 8000, 1, 1, 1, 1, 1, 1, 1)",
            {"id": found.id},
        )
    (gone,) = remove_candidates(store, ["1"])
    assert (gone.name, gone.roles, gone.matches) == ("Anna", 1, 1)
    assert person(store, "1") is None
    with store.read() as session:
        for table, column in (
            ("links", "record_id"),
            ("marks", "record_id"),
            ("matches", "candidate_id"),
            ("records", "id"),
        ):
            assert session.rows(f"select 1 from {table} where {column} = :id", {"id": found.id}) == []
        texts = session.rows("select payload from tasks union all select data from records")
    assert not any("Anna" in text for (text,) in texts)
    assert all(said == linked for said, linked in counted(store).values())


def test_removing_one_who_is_not_there_removes_nobody(store):
    add(store, ANNA)
    with pytest.raises(UnknownName, match="no candidate 'nobody'"):
        remove_candidates(store, ["1", "nobody"])
    assert person(store, "1") is not None


@with_processes
@pytest.mark.promise(2)
def test_the_same_people_from_many_machines_at_once_are_there_once(make_store):
    stores = [make_store() for _ in range(4)]
    ready = threading.Barrier(4)
    people = [
        {"id": str(at), "name": f"P{at}", "title": ("Welder", "Nurse", "Pipe Fitter")[at % 3]}
        for at in range(30)
    ]

    def work(at: int) -> None:
        ready.wait()
        add(stores[at], *(people if at % 2 else reversed(people)))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    store = stores[0]
    assert sorted(roles(store).values()) == [10, 10, 10]
    assert all(said == linked for said, linked in counted(store).values())
    assert len(list_candidates(store, limit=100)) == 30
    payloads = [json.loads(payload)["candidates"] for _, payload in tasks(store, "match_candidates")]
    assert {each for payload in payloads for each in payload} == {
        there(store, str(at)).id for at in range(30)
    }


@with_processes
@pytest.mark.promise(9)
def test_merging_while_candidates_come_in_loses_no_link(make_store):
    stores = [make_store() for _ in range(3)]
    add(
        stores[0],
        {"id": "x", "name": "X", "title": "Welder"},
        {"id": "y", "name": "Y", "title": "Pipe Fitter"},
    )
    ready = threading.Barrier(3)

    def come_in(at: int) -> None:
        ready.wait()
        for each in range(10):
            add(stores[at], {"id": f"{at}-{each}", "name": "P", "title": "Welder"})

    def merge() -> None:
        ready.wait()
        curating.merge(stores[2], REGISTRY, "Welder", "Pipe Fitter")

    with ThreadPoolExecutor(3) as pool:
        for future in [pool.submit(come_in, 0), pool.submit(come_in, 1), pool.submit(merge)]:
            future.result()
    assert roles(stores[0]) == {"Pipe Fitter": 22}
    assert all(said == linked for said, linked in counted(stores[0]).values())


@pytest.mark.promise(20)
def test_a_candidate_is_shown_with_its_keywords_and_how_each_role_was_found(store):
    add(store, ANNA, BO)
    detail = show_candidate(store, "1")
    assert detail.keywords == ("Senior Welder", "MIG", "TIG")
    (wish,) = detail.wants
    assert (wish.title, wish.status, bool(wish.method), bool(wish.reason)) == (
        "Senior Welder",
        "pending",
        True,
        True,
    )
    assert "titles" not in detail.data
    assert [each.key for each in list_candidates(store)] == ["2", "1"]
    assert [each.key for each in list_candidates(store, before="2")] == ["1"]
    fitter = next(each for each in show_candidate(store, "2").wants if each.title == "Pipe Fitter")
    assert [each.key for each in list_candidates(store, role_id=fitter.role_id)] == ["2"]
    with pytest.raises(UnknownName, match="thresher candidates list shows them"):
        show_candidate(store, "nobody")


def test_a_person_says_what_became_of_a_match(store):
    add(store, ANNA)
    found = there(store, "1")
    with store.write() as session:
        session.run(
            "insert into matches (candidate_id, posting_id, role_id, score, skills, experience, location, salary, semantic, created_at,"
            " matched_at) values (:id, 99, 1, 8000, 1, 1, 1, 1, 1, 1, 1)",
            {"id": found.id},
        )
    done = set_pair_status(store, "1", 99, "applied", " called them ")
    assert (done.was, done.status, done.note) == ("suggested", "applied", "called them")
    assert set_pair_status(store, "1", 99, "shortlisted").note == "called them"
    with pytest.raises(UsageError, match="the status must be one of suggested, viewed"):
        set_pair_status(store, "1", 99, "hired")
    for key, posting in (("1", 98), ("9", 99), ("1", "dice/7")):
        with pytest.raises(UnknownName):
            set_pair_status(store, key, posting, "viewed")
