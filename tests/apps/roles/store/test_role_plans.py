"""What a page of roles costs: it reads its own rows, however many there are and however far back it is."""

import pytest

from tests.apps.roles.store.test_claim_plans import LARGE, SMALL, fill
from tests.harness.costs import instructions
from tests.harness.databases import memory_database, only_postgres
from tests.store.test_lookup import Explaining, read_by
from thresher.apps.roles.store.roles import demanded_roles
from thresher.core.clock import FrozenClock

pytestmark = pytest.mark.promise(4)

PAGE = 20


def spread(store, number):
    """So many roles that came one after the other."""
    fill(store, number)
    with store.write() as session:
        session.run("update roles set rank = rank + id")


def place(session, number):
    """Where the role of this number stands in the order."""
    ((rank, role_id),) = session.rows(f"select rank, id from roles order by rank, id limit 1 offset {number}")
    return rank, role_id


def cost(number, begun):
    """What the page behind so many roles takes."""
    database = memory_database(FrozenClock())
    store = database.open()
    spread(store, number)
    with store.read() as session:
        behind, following = place(session, begun), place(session, begun + 1)

    def page():
        with store.read() as session:
            found = demanded_roles(session, "pending", limit=PAGE, after=behind)
        assert (found[0].rank, found[0].id, len(found)) == (*following, PAGE)

    found = instructions(store, page, step=20)
    database.close()
    return found


def test_a_page_of_roles_costs_the_same_with_forty_times_as_many_on_sqlite():
    assert cost(LARGE, 4_000) <= 1.3 * cost(SMALL, 100) + 20


@only_postgres
def test_a_page_of_roles_reads_its_own_rows_on_postgres(store):
    spread(store, LARGE)
    with store.read(autocommit=True) as session:
        session.run("analyze roles, role_names")
        explaining = Explaining(session)
        assert len(demanded_roles(explaining, "pending", limit=PAGE, after=place(session, 4_000))) == PAGE
        assert sum(map(read_by, explaining.plans)) < 20 * PAGE, explaining.plans
