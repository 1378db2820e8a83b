"""From titles to roles: each decision with its reason, the same on every database, and never two roles for
one title."""

import threading
from collections.abc import Callable

import pytest

from tests.harness.databases import with_processes
from tests.harness.ours import OURS
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.service.resolve import MAX_TITLES, Resolution, resolve
from thresher.apps.roles.store.roles import (
    add_alias,
    add_role,
    find_role,
    list_roles,
    merge_roles,
    reject_role,
    roles_of_keys,
)
from thresher.config.settings import Settings
from thresher.core.errors import UsageError
from thresher.hiring.title.core import title_key
from thresher.store.store import Store
from thresher.vectors.embedder import Embedder, shared_embedder
from thresher.vectors.lexical import Lexical

pytestmark = with_processes
DEMAND = Demand(1_000_000, 50.0)
LETTERS = Lexical()


def one(
    store: Store, title: str, *, create: bool = True, models: bool = False, embedder: Embedder = LETTERS
) -> Resolution:
    (found,) = resolve(store, [title], create=create, models=models, embedder=embedder)
    return found


def add(store: Store, name: str, *aliases: str) -> int:
    with store.write() as session:
        now = store.backend.now(session)
        role_id = add_role(session, name, title_key(name), now=now, demand=DEMAND)
        for alias in aliases:
            add_alias(session, role_id, alias, title_key(alias), now)
        return role_id


def roles(store: Store) -> list[str]:
    with store.read() as session:
        return sorted(role.name for role in list_roles(session, limit=1_000))


def test_a_known_name_is_exact_however_it_is_dressed(store: Store):
    role = add(store, "Python Developer")
    for title in (
        "Python Developer",
        "python  developer",
        "Senior Python Developer",
        "Python Dev III - Remote (m/f/d)",
    ):
        found = one(store, title)
        assert (found.role_id, found.role, found.similarity, found.method, found.created) == (
            role,
            "Python Developer",
            1.0,
            "exact",
            False,
        )
    assert roles(store) == ["Python Developer"]


def test_an_alias_leads_to_its_role(store: Store):
    role = add(store, "Site Reliability Engineer", "Production Plumber")
    found = one(store, "Lead Production Plumber")
    assert (found.role_id, found.method, found.key) == (role, "alias", "production plumber")


def test_a_role_with_a_rank_in_its_own_name_is_found_by_it(store: Store):
    role = add(store, "Senior Engineer")
    assert one(store, "Senior Engineer").role_id == role


def test_a_new_title_makes_a_role_and_the_next_one_finds_it(store: Store):
    made = one(store, "Sr. Enterprise Cloud Platform Java Software Developer")
    assert (made.role, made.method, made.created) == ("Java Software Developer", "rules", True)
    again = one(store, "Enterprise Cloud Platform Java Software Developer II")
    assert (again.role_id, again.method, again.created) == (made.role_id, "alias", False)
    named = one(store, "Global Java Software Developer of the Year")
    assert named.role_id != made.role_id or named.method == "rules"


def test_the_nearest_role_takes_a_title_and_answers_to_it_from_then_on(store: Store):
    model = shared_embedder()
    role = add(store, "Java Developer")
    found = one(store, "Java Programmer", embedder=model)
    assert (found.role_id, found.method) == (role, "embedding")
    assert found.similarity is not None
    assert found.similarity >= 0.85
    assert one(store, "Senior Java Programmer", embedder=model).method == "alias"


def test_what_lies_side_by_side_and_is_other_work_stays_apart(store: Store):
    model = shared_embedder()
    titles = [
        "Java Developer",
        "JavaScript Developer",
        "Front End Developer",
        "Back End Developer",
        "Sales Manager",
        "Marketing Manager",
    ]
    found = resolve(store, titles, create=True, models=False, embedder=model)
    assert len({each.role_id for each in found}) == len(titles)


def test_a_qualifier_that_nobody_knows_makes_another_role(store: Store):
    model = shared_embedder()
    role = add(store, "Import Export Manager")
    meat = add(store, "Import Export Manager in Meat")
    titles = [
        "import export manager in textiles",
        "graduate import export manager in meat",
        "assistant import export manager",
        "import export manager trainee",
    ]
    found = resolve(store, titles, create=True, models=False, embedder=model)
    assert len({each.role_id for each in found} | {role, meat}) == len(titles) + 2
    assert one(store, "Senior Import Export Manager in Berlin", embedder=model).role_id == role
    assert one(store, "Meat Import Export Manager", embedder=model).role_id == meat


def test_a_name_that_rules_shorten_does_not_swallow_what_was_cut(store: Store):
    role = add(store, "Import Export Manager")
    found = one(store, "Import Export Manager in Textiles")
    assert (found.role, found.created) == ("Textiles Import Export Manager", True)
    assert found.role_id != role


def test_a_title_that_says_less_than_a_role_is_not_taken_for_it(store: Store):
    role = add(store, "Information Security Engineer")
    found = one(store, "Security Engineer", embedder=shared_embedder())
    assert found.role_id != role


def test_titles_of_one_call_that_mean_the_same_make_one_role(store: Store):
    model = shared_embedder()
    titles = ["Java Developer", "Sr. Java Developer", "Java Engineer", "Java Programmer II", "java developer"]
    found = resolve(store, titles, create=True, models=False, embedder=model)
    assert len({each.role_id for each in found}) == 1
    assert [each.created for each in found] == [True, False, False, False, False]
    assert [each.title for each in found] == titles
    assert roles(store) == ["Java Developer"]


def test_a_wide_title_is_a_role_of_its_own_and_swallows_nobody(store: Store):
    model = shared_embedder()
    narrow = {add(store, name) for name in ("Software Developer", "Software Engineer", "Sales Manager")}
    titles = ["Developer", "Senior Engineer", "Managers", "Consultant II", "Analyst", "Specialist"]
    wide = {each.role_id for each in resolve(store, titles, create=True, models=False, embedder=model)}
    assert len(wide) == len(titles)
    assert not wide & narrow
    assert one(store, "Embedded Engineer", embedder=model).role_id not in wide
    with store.read() as session:
        assert {role.aliases for role_id in wide if (role := find_role(session, role_id or 0))} == {()}


def test_without_leave_to_create_nothing_is_changed_and_it_says_what_would_be(store: Store):
    add(store, "Python Developer")
    titles = ["Snake Charmer", "Snake Charmers II", "Senior Python Developer", "!!"]
    before = roles(store)
    found = resolve(store, titles, create=False, models=False, embedder=LETTERS)
    assert [(each.role, each.role_id is None, each.method) for each in found] == [
        ("Snake Charmer", True, "new"),
        ("Snake Charmer", True, "new"),
        ("Python Developer", False, "exact"),
        (None, True, "refused"),
    ]
    assert found[0].similarity is not None
    assert all(each.reason for each in found)
    assert roles(store) == before
    with store.read() as session:
        assert roles_of_keys(session, ["snake charmer"]) == {}


def test_with_models_a_title_that_nothing_explains_waits_for_one(store: Store):
    add(store, "Python Developer")
    found = resolve(
        store,
        ["Chief Happiness Wizard", "Python Dev", "Engineer"],
        create=True,
        models=True,
        embedder=LETTERS,
    )
    assert [each.method for each in found] == ["waiting", "exact", "rules"]
    assert found[0].key == found[0].core == "chief happiness wizard"
    assert roles(store) == ["Engineer", "Python Developer"]


def test_a_rejected_role_is_not_proposed_again(store: Store):
    role = add(store, "Snake Charmer")
    with store.write() as session:
        reject_role(session, role, store.backend.now(session), DEMAND)
    found = one(store, "Senior Snake Charmer")
    assert (found.role_id, found.role, found.method) == (role, "Snake Charmer", "exact")
    assert "the role was rejected" in found.reason
    assert roles(store) == ["Snake Charmer"]


def test_where_people_approve_a_new_role_is_proposed(make_store: Callable[..., Store]):
    store = make_store()
    store.settings = Settings({"roles.approval": 1}, OURS)
    found = one(store, "Snake Charmer")
    with store.read() as session:
        role = find_role(session, found.role_id or 0)
    assert role is not None
    assert (role.status, role.method) == ("proposed", "rules")
    assert one(store, "Snake Charmer").role_id == role.id


@pytest.mark.promise(9)
def test_a_role_that_was_merged_since_its_point_was_made_is_found_as_the_one_it_became(store: Store):
    model = shared_embedder()
    source, into = add(store, "Java Developer"), add(store, "Backend Craftsman")
    assert one(store, "Truck Driver", embedder=model).created  # the names are known by now
    with store.write() as session:
        merge_roles(session, source, into, store.backend.now(session), DEMAND)
    found = one(store, "Java Engineer", embedder=model)
    assert (found.role_id, found.role, found.method) == (into, "Backend Craftsman", "embedding")


def test_titles_without_a_word_are_refused(store: Store):
    assert {one(store, title).method for title in ("", "  ", "!!!", "\x00", "--")} == {"refused"}
    assert roles(store) == []


@pytest.mark.promise(2)
def test_processes_that_meet_the_same_titles_at_once_make_each_role_once(make_store: Callable[..., Store]):
    heads = ("Gardener", "Gardeners II", "Painter", "Sr Painter")
    titles = [f"{word} {head}" for word in ("Rose", "Tulip", "Fern", "Moss") for head in heads]
    stores = [make_store() for _ in range(4)]
    found: list[list[Resolution]] = [[] for _ in stores]

    def work(at: int) -> None:
        order = titles[at:] + titles[:at]
        found[at] = resolve(stores[at], order, create=True, models=False, embedder=LETTERS)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    ids = {(each.role, each.role_id) for some in found for each in some}
    assert len(ids) == 8
    assert len(roles(stores[0])) == 8
    assert sum(each.created for some in found for each in some) == 8


def test_many_titles_are_resolved_in_one_go(store: Store):
    titles = [
        f"Level {number % 5} {chr(97 + number % 26)}{chr(97 + number // 26)}{'x' * (number % 7)} Polisher"
        for number in range(300)
    ]
    found = resolve(store, titles, create=True, models=False, embedder=LETTERS)
    assert [each.title for each in found] == titles
    assert None not in {each.role_id for each in found}
    again = resolve(store, titles, create=True, models=False, embedder=LETTERS)
    assert {each.method for each in again} <= {"exact", "alias"}
    assert [each.role_id for each in again] == [each.role_id for each in found]


def test_more_titles_than_are_resolved_at_once_are_refused(store: Store):
    with pytest.raises(UsageError, match="in parts"):
        resolve(store, ["x"] * (MAX_TITLES + 1), create=False, models=False)
