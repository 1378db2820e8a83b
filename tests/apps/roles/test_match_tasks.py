"""Matching as tasks: postings that come in, candidates that change, and postings that grow old. By a real
worker, on all databases."""

from collections.abc import Callable, Iterator
from typing import Any

import orjson
import pytest

from tests.apps.roles.market import Market
from tests.apps.roles.store import queueing
from tests.harness import tasks
from tests.harness.databases import Database, only_sqlite
from thresher.admin.explain import explain
from thresher.admin.records import write_records
from thresher.apps.roles.app import app
from thresher.apps.roles.service.matches import explain_fit, list_fits
from thresher.apps.roles.store.matches import set_match_status
from thresher.config.apps import own_apps
from thresher.core.errors import UnknownName
from thresher.core.record import Link, Record
from thresher.core.task import NewTask
from thresher.store import groups
from thresher.store.records import remove_links
from thresher.store.settle import read_result

PYTHON = {"skills": ("Python", "Django"), "experience_years": 5}
WANTED = {
    "skills": ["Python", "Django"],
    "description": "You have at least 3 years of experience in software development with Python.",
}


@pytest.fixture
def make_market(database: Database) -> Iterator[Callable[..., Market]]:
    made: list[Market] = []

    def make(**settings: Any) -> Market:
        made.append(Market(database, **settings))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def market(make_market: Callable[..., Market]) -> Market:
    return make_market()


@pytest.mark.promise(19)
def test_postings_that_come_in_are_matched_with_everybody_who_wants_the_role(market: Market) -> None:
    anna, otto = (
        market.candidate("anna", 1, **PYTHON),
        market.candidate("otto", 1, skills=("Excel",), experience_years=0),
    )
    stranger = market.candidate("zoe", 2, **PYTHON)
    fits, other = (
        market.posting(1, 1, **WANTED),
        market.posting(2, 1, skills=["Welding"], experience={"low": 9, "high": None}),
    )
    task = market.came_in([fits, other])
    assert tasks.state_of(market.store, task) == "succeeded"
    found = market.pairs()
    assert (anna, fits) in found
    assert (anna, other) not in found
    assert (otto, fits) not in found
    assert not any(candidate == stranger for candidate, _ in found)


def test_the_matching_of_one_arrival_is_a_run_whose_counters_say_how_far_it_is(
    make_market: Callable[..., Market],
) -> None:
    market = make_market(roles__match__slice=2)
    for at in range(5):
        market.candidate(f"anna {at}", 1, **PYTHON)
    task = market.came_in([market.posting(1, 1, **WANTED), market.posting(2, 1, **WANTED)])
    with market.store.read() as session:
        run = groups.group_of(session, task)
    assert run is not None
    assert (run.app, run.name, run.subject, run.is_running, run.members) == (
        "roles",
        "match_postings",
        "2 postings",
        False,
        1,
    )
    assert dict(run.counts) == {
        "candidates": 5,
        "candidates_matched": 5,
        "matches_created": 10,
        "postings": 2,
        "read": 2,
        "roles": 1,
    }


@pytest.mark.promise(20)
def test_a_matching_says_how_many_candidates_it_matched_and_how_many_matches_are_new(
    make_market: Callable[..., Market],
) -> None:
    market = make_market(roles__match__slice=2)
    for at in range(3):
        market.candidate(f"anna {at}", 1, **PYTHON)
    market.candidate("otto", 1, skills=("Excel",), experience_years=0)
    postings = [market.posting(1, 1, **WANTED), market.posting(2, 1, **WANTED)]
    first, again = market.came_in(postings), market.came_in(postings)
    with market.store.read() as session:
        results = [read_result(session, task) for task in (first, again)]
    assert results == [
        {"candidates_matched": 3, "matches_created": 6},
        {"candidates_matched": 3, "matches_created": 0},
    ]
    assert "6 matches created, for 3 candidates" in tasks.fields_of(market.store, first)["reason"]
    told = explain(market.store, (app,), str(first))
    assert "Its result: candidates matched: 3, matches created: 6." in told.sentences
    events = tasks.rows(
        market.store, "select task_id, detail from events where kind = 'candidates_matched' order by id"
    )
    assert [task for task, _ in events] == [first, again]
    assert orjson.loads(events[0][1]) == {
        "candidates_matched": 3,
        "matches_created": 6,
        "postings": 2,
        "session_id": "s",
    }


@pytest.mark.promise(20)
def test_the_tasks_of_the_schedules_say_how_many_roles_they_reset(market: Market) -> None:
    rested, held = (queueing.role(market.store, name, 1) for name in ("cook", "nurse"))
    queueing.end(market.store, queueing.claim(market.store).scrape)
    queueing.claim(market.store)
    market.days_later(2)
    found = {}
    for kind in ("end_sessions", "reset_roles", "end_sessions", "reset_roles"):
        task = market.do(NewTask(kind))
        with market.store.read() as session:
            found.setdefault(kind, []).append(read_result(session, task))
    assert found == {
        "end_sessions": [{"roles_reset": 1}, {"roles_reset": 0}],
        "reset_roles": [{"roles_reset_to_pending": 1}, {"roles_reset_to_pending": 0}],
    }
    kinds = "select kind, detail from events where kind in ('sessions_ended', 'roles_reset') order by id"
    assert tasks.rows(market.store, kinds) == [
        ("sessions_ended", '{"roles_reset":1}'),
        ("roles_reset", '{"roles_reset_to_pending":1}'),
    ]
    assert {queueing.look(market.store, each).status for each in (rested, held)} == {"pending"}


@pytest.mark.promise(14)
def test_the_facts_of_postings_are_read_once_and_filed_with_their_places(market: Market) -> None:
    market.candidate("anna", 1, **PYTHON)
    posting = market.posting(1, 1, **WANTED)
    market.came_in([posting])
    found = market.record("posting", "indeed/1")
    assert found.data["facts"]["experience"] == {"low": 3, "high": None}
    assert found.data["skills"] == WANTED["skills"]
    assert found.marks["state"] == "open"
    assert found.evidence is not None
    place = found.evidence.places["facts.experience"]
    assert place is not None
    assert WANTED["description"][place.start : place.end] == place.quote  # type: ignore[index]
    market.came_in([posting])
    assert market.record("posting", "indeed/1").seen == found.seen


@pytest.mark.promise(9)
def test_a_posting_of_two_roles_is_matched_with_the_candidates_of_both_once(market: Market) -> None:
    anna, otto, both = (
        market.candidate(name, *roles, **PYTHON)
        for name, roles in (("anna", [1]), ("otto", [2]), ("both", [1, 2]))
    )
    posting = market.posting(1, 1, 2, **WANTED)
    market.came_in([posting], role=2)
    assert set(market.pairs()) == {(anna, posting), (otto, posting), (both, posting)}


@pytest.mark.promise(1)
@pytest.mark.promise(9)
def test_a_role_that_was_merged_away_before_its_postings_were_matched_loses_nobody(market: Market) -> None:
    anna = market.candidate("anna", 5, **PYTHON)
    posting = market.posting(1, 5, **WANTED)
    market.came_in([posting], role=4)
    assert set(market.pairs()) == {(anna, posting)}


@pytest.mark.promise(18)
@only_sqlite
def test_many_candidates_are_settled_a_slice_at_a_time(make_market: Callable[..., Market]) -> None:
    market = make_market(roles__match__slice=4)
    people = [market.candidate(f"c{at}", 1, **PYTHON) for at in range(10)]
    posting = market.posting(1, 1, **WANTED)
    task = market.came_in([posting])
    assert set(market.pairs()) == {(each, posting) for each in people}
    endings = tasks.endings_of(market.store, task)
    assert len(endings) == 2 + 3 + 1, "facts, and no more of them; slices of 4, 4 and 2; and the end"


@pytest.mark.promise(1)
@only_sqlite
def test_a_matching_that_is_cut_off_goes_on_with_the_slice_it_was_at(
    make_market: Callable[..., Market],
) -> None:
    market = make_market(roles__match__slice=2)
    people = [market.candidate(f"c{at}", 1, **PYTHON) for at in range(6)]
    posting = market.posting(1, 1, **WANTED)
    market.came_in([posting])
    (task,) = market.shop.put(market.registry, NewTask("match_postings", {"role": 1, "postings": [posting]}))
    tasks.change(market.store, "delete from matches")
    stage = f'{{"role": 1, "before": {people[4]}}}'
    tasks.change(
        market.store, "update tasks set stage = 'match', checkpoint = :at where id = :id", at=stage, id=task
    )
    market.work()
    assert sorted(market.pairs()) == [(each, posting) for each in people[:4]]


def test_only_the_best_of_a_matching_are_kept(make_market: Callable[..., Market]) -> None:
    market = make_market(roles__match__best=2)
    anna = market.candidate("anna", 1, **PYTHON)
    offers = [
        market.posting(at, 1, skills=["Python", "Django", "Go", "Rust", "Perl"][: at + 1])
        for at in range(1, 5)
    ]
    market.came_in(offers)
    assert sorted(posting for _, posting in market.pairs()) == offers[:2]
    market.changed(anna)
    assert sorted(posting for _, posting in market.pairs()) == offers[:2]


def test_a_new_candidate_is_matched_with_the_postings_that_are_there(market: Market) -> None:
    postings = [market.posting(at, 1, **WANTED) for at in range(1, 4)]
    closed = market.posting(9, 1, **WANTED)
    market.came_in([*postings, closed])
    market.posting(9, 1, **WANTED, state="closed")
    unread = market.posting(10, 1, **WANTED)
    anna = market.candidate("anna", 1, **PYTHON)
    market.changed(anna)
    assert sorted(market.pairs()) == [(anna, each) for each in postings]
    market.came_in([unread])
    assert (anna, unread) in market.pairs()


def test_a_candidate_who_wants_another_role_loses_the_suggestions_of_the_old_one(market: Market) -> None:
    anna = market.candidate("anna", 1, **PYTHON)
    old, held, new = (
        market.posting(1, 1, **WANTED),
        market.posting(2, 1, **WANTED),
        market.posting(3, 2, **WANTED),
    )
    market.came_in([old, held, new])
    with market.store.write() as session:
        assert set_match_status(session, anna, held, "applied")
        remove_links(session, "candidate", "anna", [Link("wants", "1")])
    market.candidate("anna", 2, **PYTHON)
    market.changed(anna)
    assert set(market.pairs()) == {(anna, held), (anna, new)}


def test_a_candidate_who_learned_something_is_scored_anew(market: Market) -> None:
    anna = market.candidate("anna", 1, skills=("Python",), experience_years=5)
    posting = market.posting(1, 1, **WANTED)
    market.came_in([posting])
    before = market.pairs()[anna, posting]
    market.candidate("anna", 1, **PYTHON)
    market.changed(anna)
    assert market.pairs()[anna, posting] > before


def test_candidates_who_are_gone_are_no_failure(market: Market) -> None:
    task = market.changed(12_345)
    assert tasks.state_of(market.store, task) == "succeeded"


@pytest.mark.parametrize(
    "payload", [{}, {"postings": "1"}, {"postings": list(range(1_001))}, {"postings": [None]}]
)
@only_sqlite
def test_a_task_that_names_no_postings_fails_and_says_what_it_wants(
    market: Market, payload: dict[str, Any]
) -> None:
    task = market.do(NewTask("match_postings", payload))
    assert tasks.state_of(market.store, task) == "failed"
    assert "at most 1,000 postings" in str(tasks.fields_of(market.store, task))


def test_a_posting_that_no_scraper_saw_for_a_month_is_closed(market: Market) -> None:
    anna = market.candidate("anna", 1, **PYTHON)
    old = market.posting(1, 1, **WANTED)
    foreign = market.posting(2, **WANTED)
    market.came_in([old])
    market.days_later(29)
    fresh = market.posting(3, 1, **WANTED)
    market.came_in([fresh])
    market.do(NewTask("expire_postings"))
    assert market.record("posting", "indeed/1").data["state"] == "open"
    market.days_later(1.5)
    market.do(NewTask("expire_postings"))
    states = [market.record("posting", f"indeed/{at}").data["state"] for at in (1, 2, 3)]
    assert states == ["closed", "open", "open"], "and one that came by no role is none of ours"
    assert foreign
    assert set(market.pairs()) == {(anna, fresh)}


@only_sqlite
def test_many_old_postings_are_closed_a_portion_at_a_time(
    market: Market, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thresher.apps.roles.pipelines.PORTION", 3)
    for at in range(8):
        market.posting(at, 1, **WANTED)
    market.days_later(31)
    task = market.do(NewTask("expire_postings"))
    assert "8 postings were closed" in str(tasks.fields_of(market.store, task))
    assert all(market.record("posting", f"indeed/{at}").data["state"] == "closed" for at in range(8))


def test_the_upkeep_of_the_queue_is_asked_of_the_store(market: Market) -> None:
    for kind in ("end_sessions", "reset_roles"):
        assert tasks.state_of(market.store, market.do(NewTask(kind))) == "succeeded"


@only_sqlite
def test_the_nearness_of_texts_counts_where_it_has_a_weight(make_market: Callable[..., Market]) -> None:
    market = make_market(roles__match__semantic=10.0, roles__match__store=0.0)
    anna = market.candidate("anna", 1, title="Python Developer", **PYTHON)
    near, far = (
        market.posting(1, 1, title="Python Developer", skills=["Python", "Django"]),
        market.posting(2, 1, title="Nurse"),
    )
    market.came_in([near, far])
    counts = dict(
        tasks.rows(market.store, "select posting_id, semantic from matches where candidate_id = :id", id=anna)
    )
    assert counts[near] > counts[far]
    (kept,) = tasks.rows(market.store, "select count(*) from vectors where kind = 'fitting'")
    assert kept == (2,), "a text that two have is computed once"
    detail = explain_fit(market.store, "anna", near)
    assert detail.kept is not None
    assert abs(detail.score - detail.kept.score) < 0.02


@pytest.mark.promise(13)
@pytest.mark.promise(20)
def test_a_person_sees_matches_and_why_they_are_what_they_are(market: Market) -> None:
    market.candidate("anna", 1, **PYTHON)
    posting = market.posting(1, 1, **WANTED, company_name="Acme", location="Austin, TX")
    market.came_in([posting])
    (seen,) = list_fits(market.store, candidate="anna")
    assert (seen.posting, seen.company_name, seen.grade, seen.recommended, seen.status) == (
        "indeed/1",
        "Acme",
        "A",
        True,
        "suggested",
    )
    assert list_fits(market.store, posting="indeed/1", min_score=10, recommended=True) == [seen]
    assert list_fits(market.store, candidate="anna", after="indeed/1") == []
    why = explain_fit(market.store, "anna", "indeed/1")
    assert why.score == seen.score
    assert {part.name: part.points for part in why.parts} == seen.parts
    assert [skill.own for skill in why.matched] == ["Python", "Django"]
    assert all(skill.quote and skill.quote.text for skill in why.matched)
    with pytest.raises(UnknownName):
        explain_fit(market.store, "anna", "indeed/77")


def test_a_pair_that_is_no_match_is_explained_as_well(market: Market) -> None:
    market.candidate("otto", skills=("Excel",))
    market.posting(1, 1, **WANTED)
    why = explain_fit(market.store, "otto", "indeed/1")
    assert why.kept is None
    assert [skill.skill for skill in why.missing] == ["python", "django"]


def test_a_broken_record_of_facts_is_left_out_and_the_others_are_matched(market: Market) -> None:
    anna = market.candidate("anna", 1, **PYTHON)
    good, bad = market.posting(1, 1, **WANTED), market.posting(2, 1, **WANTED)
    write_records(
        market.store, [Record("posting", "indeed/2", {"facts": {"experience": 7, "spots": 3}}, merge=True)]
    )
    market.came_in([good, bad])
    assert set(market.pairs()) == {(anna, good)}


@only_sqlite
def test_links_that_are_no_roles_of_ours_and_data_of_any_sort_do_no_harm(market: Market) -> None:
    anna = market.candidate("anna", 1, **PYTHON)
    wild = {
        "skills": 7,
        "tech_stack": "Python",
        "locations": {"a": 1},
        "currency": 9,
        "title": None,
        "experience_years": "many",
    }
    write_records(
        market.store,
        [
            Record(
                "candidate",
                "wild",
                {"name": 5, **wild},
                (Link("wants", "1"), Link("wants", "python-developer")),
            )
        ],
    )
    posting = market.posting(1, 1, **WANTED)
    write_records(
        market.store,
        [
            Record(
                "posting", "indeed/1", {}, (Link("role", "python-developer"), Link("role", "²")), merge=True
            )
        ],
    )
    market.came_in([posting])
    wild_id = market.record("candidate", "wild").id
    market.changed(anna, wild_id)
    assert set(market.pairs()) == {(anna, posting), (wild_id, posting)}


def test_the_app_is_known_by_its_short_name() -> None:
    assert "roles" in own_apps()
    kinds = {
        "match_postings",
        "match_candidates",
        "expire_postings",
        "end_sessions",
        "reset_roles",
        "prune_sessions",
        "normalize",
    }
    assert {each.kind for each in app.pipelines} == kinds
    assert {(each.task.kind, each.cron, each.every) for each in app.schedules} == {
        ("end_sessions", None, 900.0),
        ("reset_roles", "0 0 * * *", None),
        ("expire_postings", "0 3 * * *", None),
        ("prune_sessions", "30 3 * * *", None),
    }
