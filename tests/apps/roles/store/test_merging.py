"""Merging and splitting roles: nothing that hangs on one is lost, doubled or counted wrong."""

import pytest

from tests.apps.roles.store.queueing import DEMAND, claim, end, look, person, posting, problems, role, want
from tests.harness.tasks import change, rows
from thresher.apps.roles.store.posts import keep_late, list_late
from thresher.apps.roles.store.roles import Moved, merge_roles, roles_of_keys, split_role
from thresher.apps.roles.store.rows import find_scrape
from thresher.apps.roles.store.scrapes import count_scrape, is_held
from thresher.core.clock import HOUR
from thresher.core.errors import NotAllowed, UnknownName, UsageError

pytestmark = pytest.mark.promise(9)


def does(store, fn, *args, **kwargs):
    with store.write() as session:
        return fn(session, *args, **kwargs)


def merge(store, source, into):
    with store.write() as session:
        return merge_roles(session, source, into, store.backend.now(session), DEMAND)


def links(store, name, role_id):
    return [
        row[0]
        for row in rows(
            store,
            "select record_id from links where name = :name and target = :to order by record_id",
            name=name,
            to=str(role_id),
        )
    ]


def match(store, candidate, post, role_id):
    change(
        store,
        """insert into matches (candidate_id, posting_id, role_id, score, skills, experience, location, salary, semantic, created_at,
            matched_at) values (:candidate, :post, :role, 1, 1, 1, 1, 1, 1, 1, 1)""",
        candidate=candidate,
        post=post,
        role=role_id,
    )


def test_a_merge_moves_every_name_candidate_posting_and_match(store):
    source, into = role(store, "Python Dev", 2, aliases=["Pythonista"]), role(store, "Python Developer", 1)
    both = person(store, "both")
    for each in (source, into):
        want(store, each, both)
    posts = [
        posting(store, "one", source),
        posting(store, "two", source, into),
        posting(store, "three", into),
    ]
    people = links(store, "wants", source)
    for post, owner in ((posts[0], source), (posts[1], source), (posts[2], into)):
        match(store, both, post, owner)
    assert merge(store, source, into) == Moved(candidates=3, postings=2, names=2, matches=2)
    assert links(store, "wants", into) == sorted({*people, *links(store, "wants", into)})
    assert (look(store, into).candidates, len(links(store, "wants", into))) == (4, 4)
    assert links(store, "role", into) == sorted(posts)
    assert rows(store, "select distinct role_id from matches") == [(into,)]
    assert set(does(store, roles_of_keys, ["python dev", "pythonista", "python developer"]).values()) == {
        into
    }
    assert look(store, into).aliases == ("Python Dev", "Pythonista")
    assert rows(store, "select count(*) from roles") == [(1,)]
    assert problems(store) == []


def test_a_merge_keeps_what_was_imported_the_better_priority_and_the_longer_wait(store, clock):
    source = role(store, "old", priority="urgent")
    scrape = claim(store).scrape
    with store.write() as session:
        count_scrape(session, scrape, {"imported": 3}, clock.now())
    since = look(store, source).waiting_since
    clock.advance(HOUR)
    into = role(store, "new", priority="low")
    merge(store, source, into)
    merged = look(store, into)
    assert (merged.imported, merged.priority, merged.waiting_since) == (3, "urgent", since)
    assert problems(store) == []


@pytest.mark.promise(2)
def test_whoever_looks_for_a_role_that_is_merged_away_is_told_so_and_what_it_brings_is_late(store, clock):
    source, into = role(store, "gone", priority="urgent"), role(store, "stays")
    scrape = claim(store).scrape
    assert scrape.role_id == source
    merge(store, source, into)
    with store.write() as session:
        over = find_scrape(session, scrape.session_id)
        assert (over.status, over.role_id, over.error_message) == ("failed", into, f"merged into role {into}")
        assert not is_held(session, scrape, clock.now(), store.backend.dialect.lock)
        late = keep_late(session, over, "digest", "hash", 4, "merged", clock.now())
        assert [(each.id, each.role_id) for each in list_late(session)] == [(late, into)]
    assert end(store, over) == "pending"
    assert problems(store) == []


def test_a_completed_role_comes_back_when_a_merge_brings_candidates(store):
    into = role(store, "stays", 1)
    end(store, claim(store).scrape)
    merge(store, role(store, "nobody's"), into)
    assert look(store, into).status == "completed"
    merge(store, role(store, "somebody's", 1), into)
    assert look(store, into).status == "pending"
    assert problems(store) == []


def test_the_session_of_the_role_that_stays_goes_on(store, clock):
    into, source = role(store, "stays", priority="urgent"), role(store, "gone", 1)
    scrape = claim(store).scrape
    merge(store, source, into)
    with store.write() as session:
        assert is_held(session, scrape, clock.now(), store.backend.dialect.lock)
    assert end(store, scrape) == "completed"
    assert problems(store) == []


def test_a_proposal_is_merged_into_what_it_means_and_never_the_other_way_round(store):
    proposed, known = role(store, "Pyhton Dev", 1, approved=False), role(store, "Python Dev", 1)
    with pytest.raises(NotAllowed, match="approve it first"):
        merge(store, known, proposed)
    assert problems(store) == []
    merge(store, proposed, known)
    assert look(store, known).candidates == 2
    assert problems(store) == []


def test_a_merge_that_cannot_be_changes_nothing(store):
    cook = role(store, "Cook", 1)
    with pytest.raises(UsageError, match="itself"):
        merge(store, cook, cook)
    for pair in ((cook, 99), (99, cook)):
        with pytest.raises(UnknownName, match="no role 99"):
            merge(store, *pair)
    assert (look(store, cook).candidates, look(store, cook).status) == (1, "pending")


def test_a_split_takes_names_and_candidates_along_and_leaves_the_postings_to_both(store, clock):
    old = role(store, "Developer", 1, aliases=["Java Developer", "Java Dev", "Web Dev"])
    anna, ben = person(store, "anna"), person(store, "ben")
    want(store, old, anna, ben)
    post = posting(store, "one", old)
    for each in (anna, ben):
        match(store, each, post, old)
    new = does(
        store,
        split_role,
        old,
        "Java Developer",
        "java developer",
        alias_keys=["java dev"],
        candidate_ids=[anna],
        now=clock.now(),
        demand=DEMAND,
    )
    assert (look(store, new).aliases, look(store, old).aliases) == (("Java Dev",), ("Web Dev",))
    assert (look(store, new).candidates, look(store, old).candidates, look(store, new).method) == (
        1,
        2,
        "split",
    )
    assert links(store, "role", old) == links(store, "role", new) == [post]
    assert rows(store, "select role_id from matches order by candidate_id") == [(new,), (old,)]
    assert problems(store) == []


@pytest.mark.parametrize(
    ("key", "aliases", "strangers"),
    [
        ("developer", [], 0),
        ("taken", [], 0),
        ("new", ["nobody's"], 0),
        ("new", ["developer"], 0),
        ("new", ["taken"], 0),
        ("new", [], 1),
    ],
)
def test_a_split_that_cannot_be_changes_nothing(store, clock, key, aliases, strangers):
    old = role(store, "Developer", 2, aliases=["Dev"])
    role(store, "Taken")
    before = (
        rows(store, "select * from role_names order by key"),
        rows(store, "select * from links order by record_id"),
    )
    others = [person(store, "stranger")] * strangers
    with pytest.raises(UsageError):
        does(
            store,
            split_role,
            old,
            key,
            key,
            alias_keys=aliases,
            candidate_ids=others,
            now=clock.now(),
            demand=DEMAND,
        )
    assert (
        rows(store, "select * from role_names order by key"),
        rows(store, "select * from links order by record_id"),
    ) == before
    assert rows(store, "select count(*) from roles") == [(2,)]
    assert problems(store) == []
