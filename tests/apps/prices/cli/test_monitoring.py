"""What an operator sees when something is wrong: a collection whose worker is silent, a point that is stored
twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.prices.listings import filed, row
from tests.cli.conftest import Thresher
from tests.harness.tasks import claim, entry, put, rows, worker
from thresher.apps.prices.app import app
from thresher.core.clock import MINUTE
from thresher.runtime import opened_store
from thresher.store.store import Store


@pytest.fixture
def store(priced: Thresher, folder: Path) -> Iterator[Store]:
    with opened_store(f"sqlite:///{folder / 'thresher.db'}", apps=(app,)) as opened:
        yield opened


@pytest.mark.promise(1)
def test_a_stuck_collection_is_named_with_its_worker_and_how_long_it_has_been_silent(
    priced: Thresher, store: Store
) -> None:
    put(store, entry("collect_prices", key="1:1", payload={"item": 1, "source": 1}))
    claim(store, 1, worker(store, "anna", MINUTE))
    with store.write() as session:  # it was alive an hour ago
        session.run("update workers set lease_until = lease_until - 3600000000 where name = 'anna'")
    told = priced("prices", "stuck", "--timeout", "5m").out
    assert all(each in told for each in ("1921-D Morgan", "club", "anna", "1h"))
    (found,) = priced("prices", "stuck", "--json").json
    assert set(found) >= {"id", "status", "locked_by", "heartbeat_at", "time_since_heartbeat"}
    assert found["time_since_heartbeat"] > 3_600_000_000
    assert "anna" in priced("prices", "workers").out
    recent = priced("prices", "recent", "--json").json[0]
    assert (recent["locked_by"], recent["completed_at"]) == ("anna", None)
    assert {"id", "status", "heartbeat_at", "created_at", "error_message"} <= set(recent)


def test_a_point_that_is_stored_twice_is_named_and_is_an_error(priced: Thresher, store: Store) -> None:
    (source,) = rows(store, "select id from price_sources where name = 'club'")
    with store.write() as session:
        filed(session, [row(100 + at, external_id=f"x{at}") for at in range(2)], 1, item=1, source=source[0])
        session.run("drop index price_points_key")
        session.run("update price_points set dedupe_key = 'ext_x0' where dedupe_key = 'ext_x1'")
    told = priced("prices", "duplicates")
    assert told.code == 1
    assert all(each in told.out for each in ("1921-D Morgan", "club", "ext_x0", "2"))
