"""What does not count goes after a while, with its history and its answers; what counts is kept for ever."""

from collections.abc import Callable
from copy import copy

import pytest

from tests.apps.prices.collecting import app
from tests.apps.prices.listings import filed, row
from thresher.apps.prices import retention
from thresher.apps.prices.retention import EVERY, PRUNE
from thresher.apps.prices.store.points import observations_of, points_of, prune_points
from thresher.core.clock import DAY
from thresher.core.task import NewTask
from thresher.store.session import Session
from thresher.testing.world import World

Opened = Callable[..., World]


def points(session: Session) -> list[str | None]:
    return [each.external_id for item in (1, 2) for each in points_of(session, item)]


@pytest.mark.promise(18)
def test_what_does_not_count_goes_and_what_counts_stays(
    world: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "PART", 2)  # so that it takes several looks
    with world({}) as made:
        now = made.clock.now()
        with made.store.write() as session:
            session.run(
                "insert into blobs (hash, size, body, created_at, saved) values (:hash, 1, :body, 0, 0)",
                {"hash": "a" * 64, "body": b"x"},
            )
            old, kept = now - 91 * DAY, now - 89 * DAY
            for item in (1, 2):
                weak = [row(external_id=name, counts=False, body="a" * 64) for name in "xyz"]
                filed(session, [*weak, row(external_id="good")], old, item=item)
                filed(session, [row(external_id="seen", counts=False)], kept, item=item)
        made.enqueue(NewTask(PRUNE))
        made.run_until_idle()
        (task,) = made.tasks(PRUNE)
        assert (task["state"], task["reason"]) == ("succeeded", "all points were looked at")
        with made.store.read() as session:
            assert points(session) == ["good", "seen"] * 2
            assert len(observations_of(session, 1)) == 2
            assert session.rows("select count(*) from price_observations") == [(4,)]
            assert session.rows("select count(*) from blob_owners where kind = 'app:prices'") == [(0,)]


@pytest.mark.promise(2)
def test_a_point_that_is_seen_again_before_it_is_removed_stays(world: Opened) -> None:
    with world({}) as made, made.store.write() as session:
        filed(session, [row(external_id="a", counts=False), row(external_id="b", counts=False)], 1)
        both = tuple(each.id for each in points_of(session, 1))
        filed(session, [row(external_id="b", counts=False)], 9)
        assert prune_points(session, {"points": both, "before": 5}, 10) == {"price_points_pruned": 1}
        assert points(session) == ["b"]
        assert prune_points(session, {"points": both, "before": 5}, 11) == {}
        filed(session, [row(external_id="b")], 12)  # and now it counts
        assert prune_points(session, {"points": both, "before": 99}, 100) == {}


def test_points_are_pruned_every_day() -> None:
    scheduled = copy(app)
    object.__setattr__(scheduled, "schedules", retention.SCHEDULES)
    with World(scheduled) as made:
        for _ in range(3):
            made.run_until_idle()
            made.advance(seconds=EVERY)
        assert len(made.tasks(PRUNE, "succeeded")) >= 2
