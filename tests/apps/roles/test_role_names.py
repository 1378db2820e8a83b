"""The names of roles as points: up to date, without ghosts, on every database."""

import pytest

from tests.harness.databases import with_processes
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.role_names import FEW, KIND, WHOLE_EVERY, RoleNames
from thresher.apps.roles.store.roles import add_role, merge_roles, reject_role, rename_role
from thresher.core.clock import FrozenClock
from thresher.hiring.title.core import title_key
from thresher.store import vectors
from thresher.store.store import Store
from thresher.vectors.embedder import Embedder, shared_embedder
from thresher.vectors.lexical import Lexical

pytestmark = with_processes
DEMAND = Demand(1_000_000, 50.0)


def add(store: Store, *names: str) -> list[int]:
    with store.write() as session:
        now = store.backend.now(session)
        return [add_role(session, name, title_key(name), now=now, demand=DEMAND) for name in names]


@pytest.fixture(params=["model", "letters"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return shared_embedder() if request.param == "model" else Lexical()


def test_the_nearest_role_is_the_one_that_a_person_would_name(store: Store, embedder: Embedder):
    names = RoleNames(store, embedder)
    add(store, "Python Developer", "Registered Nurse", "Truck Driver")
    names.refresh()
    assert [each.name for each in names.nearest("Senior Python Dev", 1)] == ["Python Developer"]
    (nurse, *_) = names.nearest("RN (m/f/d)", 3)
    assert (nurse.name, round(nurse.score, 3), nurse.meaning) == ("Registered Nurse", 1.0, embedder.meaning)


def test_nothing_is_near_where_nothing_is_known(store: Store):
    names = RoleNames(store, Lexical())
    assert names.refresh() == 0
    assert names.nearest("Python Developer", 3) == []
    assert names.nearest("!!", 3) == []


def test_roles_that_another_process_made_are_found(store: Store):
    here, there = RoleNames(store, Lexical()), RoleNames(store, Lexical())
    add(store, "Python Developer")
    here.refresh()
    add(store, "Truck Driver")
    for names in (here, there):
        names.refresh()
        assert names.nearest("Truck Driver", 1)[0].name == "Truck Driver"


def test_more_roles_than_are_searched_beside_the_index_are_all_found(store: Store):
    names = RoleNames(store, Lexical())
    add(store, *(f"Worker of Machine {number}x" for number in range(FEW + 20)))
    names.refresh()
    add(store, "Pastry Chef")
    names.refresh()
    assert names.nearest("Pastry Chef", 1)[0].name == "Pastry Chef"
    assert names.nearest(f"Worker of Machine {FEW}x", 1)[0].name == f"Worker of Machine {FEW}x"


def test_names_that_are_gone_leave_no_ghosts(store: Store, clock: FrozenClock):
    names = RoleNames(store, Lexical())
    python, snake, bad = add(store, "Python Developer", "Snake Charmer", "Spam Sender")
    names.refresh()
    with store.write() as session:
        now = store.backend.now(session)
        merge_roles(session, snake, python, now, DEMAND)
        reject_role(session, bad, now, DEMAND)
        rename_role(session, python, "Java Developer", title_key("Java Developer"), now)
    clock.advance(WHOLE_EVERY)
    names.refresh()
    assert {each.name for each in names.nearest("Snake Charmer", 10)} == {"Java Developer"}
    assert names.nearest("Java Developer", 1)[0].score == pytest.approx(1, abs=1e-5)
    lexical = Lexical()
    assert [key for key, _ in vectors.load(store, lexical.name, lexical.version, KIND)] == ["java developer"]


def test_of_two_roles_that_differ_in_rank_the_older_is_found(store: Store):
    names = RoleNames(store, Lexical())
    older, _ = add(store, "Python Developer", "Senior Python Developer")
    names.refresh()
    assert [each.id for each in names.nearest("Lead Python Developer", 5)] == [older]
