"""Matches in the store: one row a pair, replaced by a later matching, and never behind a person's back. On
all databases."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from tests.harness import tasks
from tests.harness.databases import Database, only_postgres
from tests.harness.hand import hands
from thresher.apps.roles.store.matches import (
    Match,
    find_match,
    forget_candidate,
    list_matches,
    replace_matches,
    set_match_status,
    trim_matches,
)
from thresher.apps.roles.store.upkeep import expire_postings
from thresher.core.outcome import CheckedEffect
from thresher.core.record import Filing, Link
from thresher.core.settlement import Settlement
from thresher.store import vectors
from thresher.store.records import file_record, find_by_ids, find_records
from thresher.store.store import Store

OPEN = '{"state": "open", "seen_at": 100}'


def candidates(store: Store, count: int, role: int = 1) -> list[int]:
    return [put(store, "candidate", f"c{role}-{at}", "{}", Link("wants", str(role))) for at in range(count)]


def postings(store: Store, count: int, role: int = 1, data: str = OPEN) -> list[int]:
    return [
        put(store, "posting", f"indeed/{role}-{at}", data, Link("role", str(role))) for at in range(count)
    ]


def put(store: Store, kind: str, key: str, data: str, *links: Link) -> int:
    with store.write() as session:
        return file_record(session, Filing(kind, key, data, links, marks=("state", "seen_at")), 0, 1)


def row(candidate: int, posting: int, score: int = 8_000) -> tuple[int, ...]:
    return candidate, posting, score, 1, 2, 3, 4, 5


def replaced(
    people: Sequence[int], offers: Sequence[int], rows: Iterable[Sequence[int]], role: int = 1
) -> CheckedEffect:
    return CheckedEffect(
        "", {"role": role, "candidates": people, "postings": offers, "rows": list(rows)}, replace_matches
    )


def trimmed(candidate: int, best: int) -> CheckedEffect:
    return CheckedEffect("", {"candidates": [candidate], "best": best}, trim_matches)


def expired(postings: Sequence[int], **more: object) -> CheckedEffect:
    return CheckedEffect("", {"postings": postings, "before": 500, **more}, expire_postings)


def do(store: Store, *effects: CheckedEffect) -> None:
    """As a task does it: in its settlement."""
    tasks.settle(store, tasks.done(tasks.running(store), effects=effects))


def pairs(store: Store) -> list[tuple[int, int, int, str]]:
    return tasks.rows(store, "select candidate_id, posting_id, score, status from matches order by 1, 2")


def match_of(store: Store, candidate: int, posting: int) -> Match:
    with store.read() as session:
        found = find_match(session, candidate, posting)
    assert found is not None
    return found


@pytest.mark.promise(19)
def test_a_matching_is_written_with_the_settlement_that_found_it(store: Store) -> None:
    (anna,), (one, other) = candidates(store, 1), postings(store, 2)
    do(store, replaced([anna], [one, other], [row(anna, one), row(anna, other, 9_000)]))
    assert pairs(store) == [(anna, one, 8_000, "suggested"), (anna, other, 9_000, "suggested")]
    found = match_of(store, anna, one)
    assert (found.skills, found.experience, found.location, found.salary, found.semantic, found.role_id) == (
        1,
        2,
        3,
        4,
        5,
        1,
    )


def test_a_later_matching_replaces_what_an_earlier_one_said_of_the_same_pairs(store: Store) -> None:
    (anna,), (one, other, third) = candidates(store, 1), postings(store, 3)
    do(store, replaced([anna], [one, other, third], [row(anna, one), row(anna, other), row(anna, third)]))
    do(store, replaced([anna], [one, other], [row(anna, one, 6_000)]))
    assert pairs(store) == [(anna, one, 6_000, "suggested"), (anna, third, 8_000, "suggested")]


def test_pairs_between_the_ids_that_were_matched_are_left_alone(store: Store) -> None:
    people, offers = candidates(store, 5), postings(store, 5)
    do(store, replaced(people, offers, [row(person, offer) for person in people for offer in offers]))
    do(store, replaced([people[0], people[4]], [offers[1], offers[3]], []))
    do(store, replaced([people[1], people[2]], [offers[0], offers[4]], []))
    gone = {(people[at], offers[to]) for at in (0, 4) for to in (1, 3)} | {
        (people[at], offers[to]) for at in (1, 2) for to in (0, 4)
    }
    assert {(one, other) for one, other, _, _ in pairs(store)} == {
        (one, other) for one in people for other in offers
    } - gone


@pytest.mark.parametrize("status", ["viewed", "applied", "rejected", "shortlisted"])
def test_what_a_person_has_in_hand_survives_every_matching(store: Store, status: str) -> None:
    (anna,), (one,) = candidates(store, 1), postings(store, 1)
    do(store, replaced([anna], [one], [row(anna, one)]))
    with store.write() as session:
        assert set_match_status(session, anna, one, status, "called them")
    do(store, replaced([anna], [one], [row(anna, one, 9_500)]))
    assert pairs(store) == [(anna, one, 9_500, status)]
    do(store, replaced([anna], [one], []), trimmed(anna, 0))
    assert pairs(store) == [(anna, one, 9_500, status)]
    assert match_of(store, anna, one).note == "called them"


@pytest.mark.promise(2)
def test_the_same_deed_done_twice_changes_nothing(store: Store) -> None:
    (anna,), (one, other) = candidates(store, 1), postings(store, 2)
    effect = replaced([anna], [one, other], [row(anna, one), row(anna, other)])
    do(store, effect)
    before = pairs(store), match_of(store, anna, one).created_at
    do(store, effect, effect)
    assert (pairs(store), match_of(store, anna, one).created_at) == before


@pytest.mark.promise(2)
def test_a_worker_that_lost_its_claim_writes_no_matches(store: Store) -> None:
    (anna,), (one,) = candidates(store, 1), postings(store, 1)
    task = tasks.running(store)
    late = Settlement.done(task, effects=(replaced([anna], [one], [row(anna, one)]),))
    tasks.settle(store, tasks.retry(task))
    again = tasks.claim_one(store)
    assert again.id == task.id
    assert store.settle([late]) == [late]
    assert pairs(store) == []


@pytest.mark.promise(9)
def test_two_roles_that_bring_the_same_pair_together_make_one_match(store: Store) -> None:
    (anna,), (one,) = candidates(store, 1), postings(store, 1)
    do(
        store,
        replaced([anna], [one], [row(anna, one)], role=1),
        replaced([anna], [one], [row(anna, one)], role=2),
    )
    assert len(pairs(store)) == 1
    assert match_of(store, anna, one).role_id == 1


def test_nothing_is_written_of_who_is_gone_or_what_is_closed(store: Store) -> None:
    (anna, gone), (one,), (closed,) = (
        candidates(store, 2),
        postings(store, 1),
        postings(store, 1, 2, '{"state": "closed"}'),
    )
    for table, name in (("links", "record_id"), ("marks", "record_id"), ("records", "id")):
        tasks.change(store, f"delete from {table} where {name} = :id", id=gone)
    rows = [row(person, offer) for person in (anna, gone) for offer in (one, closed)]
    do(store, replaced([anna, gone], [one, closed], rows))
    assert [pair[:2] for pair in pairs(store)] == [(anna, one)]


def test_matches_are_listed_the_best_first_and_page_by_page(store: Store) -> None:
    people, offers = candidates(store, 3), postings(store, 5)
    scores = (7_000, 9_000, 7_000, 5_000, 9_000)
    scored = list(zip(offers, scores, strict=True))
    do(
        store,
        replaced(people, offers, [row(person, offer, score) for person in people for offer, score in scored]),
    )
    with store.read() as session:
        whole = list_matches(session, candidate=people[1])
        assert [each.posting_id for each in whole] == [offers[at] for at in (1, 4, 0, 2, 3)]
        first = list_matches(session, candidate=people[1], limit=2)
        rest = list_matches(session, candidate=people[1], after=(first[-1].score, first[-1].posting_id))
        assert [*first, *rest] == whole
        assert [each.candidate_id for each in list_matches(session, posting=offers[0], least=7_000)] == people
        assert list_matches(session, posting=offers[0], least=7_001) == []
        assert list_matches(session, candidate=people[0], status="viewed") == []


def test_at_the_end_of_a_matching_only_the_best_are_left_and_nothing_of_other_roles(store: Store) -> None:
    (anna, otto), mine, strange = candidates(store, 2), postings(store, 3), postings(store, 1, role=7)
    rows = [
        row(person, offer, 5_000 + at)
        for person in (anna, otto)
        for at, offer in enumerate((*mine, *strange))
    ]
    do(store, replaced([anna, otto], [*mine, *strange], rows))
    do(store, trimmed(anna, 2))
    assert [pair[1] for pair in pairs(store) if pair[0] == anna] == mine[1:]
    assert [pair[1] for pair in pairs(store) if pair[0] == otto] == [*mine, *strange]


def test_a_candidate_who_goes_takes_all_matches_along(store: Store) -> None:
    (anna, otto), (one,) = candidates(store, 2), postings(store, 1)
    do(store, replaced([anna, otto], [one], [row(anna, one), row(otto, one)]))
    with store.write() as session:
        assert forget_candidate(session, anna) == 1
    assert [pair[0] for pair in pairs(store)] == [otto]


def test_postings_that_nobody_saw_for_long_are_closed_and_their_suggestions_taken_back(store: Store) -> None:
    (anna,), (old, held, fresh) = candidates(store, 1), postings(store, 3)
    with store.write() as session:
        file_record(
            session,
            Filing("posting", "indeed/1-2", '{"seen_at": 900}', merge=True, marks=("state", "seen_at")),
            0,
            2,
        )
    do(store, replaced([anna], [old, held, fresh], [row(anna, each) for each in (old, held, fresh)]))
    with store.write() as session:
        set_match_status(session, anna, held, "applied")
    do(store, expired([old, held, fresh]))
    with store.read() as session:
        found = find_by_ids(session, "posting", [old, held, fresh])
    states = {each.id: (each.data["state"], each.marks["state"], "closed_at" in each.data) for each in found}
    assert states == {
        old: ("closed", "closed", True),
        held: ("closed", "closed", True),
        fresh: ("open", "open", False),
    }
    assert [(pair[1], pair[3]) for pair in pairs(store)] == [(held, "applied"), (fresh, "suggested")]


def test_the_points_of_closed_postings_go_whichever_embedder_made_them(store: Store) -> None:
    (old,) = postings(store, 1)
    for model, version, kind in (
        ("a", "1", "fitting"),
        ("a", "2", "fitting"),
        ("b", "1", "fitting"),
        ("b", "1", "roles"),
    ):
        vectors.put(store, model, version, kind, {"gone": bytes(8), "kept": bytes(8)})
    do(store, expired([old], kind="fitting", points=["gone"]))
    left = tasks.rows(store, "select kind, key from vectors order by model, version, kind, key")
    assert left == [("fitting", "kept")] * 3 + [("roles", "gone"), ("roles", "kept")]


def test_records_are_found_by_their_ids_and_by_having_a_link_of_a_name(store: Store) -> None:
    first, second = postings(store, 2)
    bare = put(store, "posting", "other/1", OPEN)
    with store.read() as session:
        assert [each.id for each in find_by_ids(session, "posting", [second, first, 10**9, first])] == [
            first,
            second,
        ]
        assert [each.id for each in find_by_ids(session, "posting", [])] == []
        assert find_by_ids(session, "candidate", [first]) == []
        assert [each.id for each in find_records(session, kind="posting", linked="role")] == [second, first]
        assert bare in [each.id for each in find_records(session, kind="posting")]


@only_postgres
@pytest.mark.promise(2)
def test_two_matchings_of_the_same_candidates_take_turns_and_leave_one_row_a_pair(
    database: Database, store: Store
) -> None:
    people, offers = candidates(store, 3), postings(store, 3)
    rows = [row(person, offer) for person in people for offer in offers]
    tasks.put(store, tasks.entry(key="a"), tasks.entry(key="b"))
    first, second = tasks.claim(store, 2)
    with hands(database, store, 2) as (left, right):
        assert left.store.settle([tasks.done(first, effects=(replaced(people, offers, rows),))]) == []
        mirrored = replaced(people[::-1], offers[::-1], rows[::-1], role=2)
        right.begin(lambda at: at.settle([tasks.done(second, effects=(mirrored,))]))
        assert right.waits()
        left.commit()
        assert right.finish() == []
    assert len(pairs(store)) == 9


def test_many_rows_go_in_at_once(store: Store) -> None:
    people, offers = candidates(store, 40), postings(store, 30)
    rows: list[Any] = [row(person, offer, 5_000 + offer % 7) for person in people for offer in offers]
    do(store, replaced(people, offers, rows))
    assert len(pairs(store)) == 1_200
