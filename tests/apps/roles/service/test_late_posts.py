"""The bodies of late posts: there as long as somebody may want them, and gone once nobody does."""

import pytest

from tests.apps.roles.service.arriving import HOUR, REGISTRY, body, claim, held, job, post, role
from tests.harness.bodies import saved
from tests.harness.databases import only_postgres
from tests.harness.hand import hands
from thresher.admin.events import list_events
from thresher.apps.roles.service.arrivals import drop_late, import_late, keep_late, late_posts
from thresher.apps.roles.store.rows import find_scrape
from thresher.core.clock import FrozenClock
from thresher.core.errors import NotAllowed, UnknownName
from thresher.store.pages import Kept, forget, keep, prune_pages
from thresher.store.store import Store


def too_late(store: Store, clock: FrozenClock, *jobs: object) -> str:
    """A session that ran out of time and then posted; its token."""
    _, token = held(store)
    clock.advance(HOUR + 1)
    with pytest.raises(NotAllowed, match="kept for review"):
        post(store, token, *jobs)
    return token


def stored(store: Store) -> set[str]:
    prune_pages(store, HOUR)
    with store.read() as session:
        return {row[0] for row in session.rows("select hash from blobs")}


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "decide", [drop_late, lambda store, late: import_late(store, REGISTRY, late)], ids=["dropped", "imported"]
)
def test_the_body_of_a_late_post_goes_once_it_is_decided(store: Store, clock: FrozenClock, decide) -> None:
    too_late(store, clock, job(1))
    (late,) = late_posts(store)
    assert stored(store) == {late.hash}
    assert [each["detail"]["postings"] for each in list_events(store)] == [1]
    decide(store, late.id)
    assert stored(store) == set()
    assert [each.id for each in late_posts(store, decided=True)] == [late.id]


@pytest.mark.promise(1)
def test_a_body_that_another_late_post_names_stays_until_both_are_decided(
    store: Store, clock: FrozenClock
) -> None:
    for name in ("Cook", "Baker"):
        role(store, name)
    same = body("whatever", job(1))
    for token in (claim(store), claim(store)):
        with store.read() as session:
            scrape = find_scrape(session, token)
        keep_late(store, scrape, "too late", same, 1)
    one, two = late_posts(store)
    assert one.hash == two.hash
    drop_late(store, one.id)
    assert stored(store) == {two.hash}
    assert import_late(store, REGISTRY, two.id).imported == 1
    assert stored(store) == set()


@pytest.mark.promise(1)
def test_a_body_is_not_kept_for_a_session_that_was_removed_meanwhile(store: Store) -> None:
    role(store, "Cook")
    token = claim(store)
    with store.write() as session:
        scrape = find_scrape(session, token)
        session.run("delete from scrape_sessions")
    with pytest.raises(UnknownName, match="ended long ago"):
        keep_late(store, scrape, "too late", body("whatever", job(1)), 1)
    assert (stored(store), late_posts(store, decided=None)) == (set(), [])


@pytest.mark.promise(1)
def test_a_body_that_a_stage_has_saved_or_a_page_holds_stays(store: Store, clock: FrozenClock) -> None:
    token = too_late(store, clock, job(1))
    said = b"".join(body(token, job(1)).pieces())
    (late,) = late_posts(store)
    keep(
        store,
        Kept("page", "https://x.example/", "x.example", "GET", 200, {}, 0, "{}", expires_at=2**60),
        said,
    )
    drop_late(store, late.id)
    assert stored(store) == {late.hash}
    assert saved(store, said) == late.hash
    forget(store, "page")
    assert stored(store) == {late.hash}


@pytest.mark.promise(1)
def test_a_page_that_goes_takes_no_late_body_along(store: Store, clock: FrozenClock) -> None:
    _, token = held(store)
    said = b"".join(body(token, job(1)).pieces())
    keep(
        store,
        Kept("page", "https://x.example/", "x.example", "GET", 200, {}, 0, "{}", expires_at=2**60),
        said,
    )
    clock.advance(HOUR + 1)
    with pytest.raises(NotAllowed):
        post(store, token, job(1))
    forget(store, "page")
    (late,) = late_posts(store)
    assert stored(store) == {late.hash}
    assert import_late(store, REGISTRY, late.id).imported == 1


def test_a_body_that_was_dropped_and_is_sent_again_is_not_kept_again_and_says_so(
    store: Store, clock: FrozenClock
) -> None:
    token = too_late(store, clock, job(1))
    (late,) = late_posts(store)
    drop_late(store, late.id)
    with pytest.raises(NotAllowed, match="not kept again: it came before, and a person has dropped it"):
        post(store, token, job(1))
    assert (late_posts(store), stored(store)) == ([], set())


@pytest.mark.promise(1)
@only_postgres
def test_a_body_that_is_kept_while_the_same_one_is_dropped_stays(
    database, store: Store, clock: FrozenClock
) -> None:
    """Both want the blob: one to let it go, one to keep it. Whoever comes second sees what the first has
    done."""
    for name in ("Cook", "Baker"):
        role(store, name)
    same = body("whatever", job(1))
    first, second = (claim(store), claim(store))
    with store.read() as session:
        scrapes = [find_scrape(session, each) for each in (first, second)]
    keep_late(store, scrapes[0], "too late", same, 1)
    (one,) = late_posts(store)
    with hands(database, store, 2) as (dropper, keeper):
        drop_late(dropper.store, one.id)
        keeper.begin(lambda store: keep_late(store, scrapes[1], "too late", same, 1))
        assert keeper.waits()
        dropper.commit()
        keeper.finish()
    assert stored(store) == {one.hash}
    (two,) = late_posts(store)
    assert import_late(store, REGISTRY, two.id).imported == 1
    assert stored(store) == set()
