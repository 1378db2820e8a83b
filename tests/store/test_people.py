"""People and their roles on every database: what each may do, and that one administrator is always left."""

import threading

import pytest

from tests.harness.databases import with_processes
from tests.store.test_admins import CHEAP, GOOD, OTHER, logged_in
from thresher.admin import admins, logins
from thresher.admin.admins import has_admins, list_admins
from thresher.admin.keys import Admitted
from thresher.core.errors import NotAllowed, UnknownName, UsageError

pytestmark = pytest.mark.promise(17)

SCOPES = ("read", "write", "admin", "scrape")


@pytest.fixture
def store(make_store):
    return make_store(**CHEAP)


def roles(store) -> dict[str, str]:
    return {each.name: each.role for each in list_admins(store)}


def opened(store, token: str) -> list[bool]:
    found = logins.admit_login(store, token)
    assert isinstance(found, Admitted)
    return [found.opens(scope) for scope in SCOPES]


@pytest.mark.parametrize(
    ("role", "opens"),
    [
        ("viewer", [True, False, False, False]),
        ("operator", [True, True, False, False]),
        ("admin", [True, True, True, False]),
    ],
)
def test_a_login_opens_what_the_role_of_the_person_does(store, role, opens):
    admins.create_admin(store, "anna", GOOD, role)
    found = logins.admit_login(store, logged_in(store).token)
    assert isinstance(found, Admitted)
    assert ([found.opens(scope) for scope in SCOPES], found.role, found.is_person) == (opens, role, True)


def test_a_person_who_gets_another_role_has_it_at_once_on_every_machine(make_store):
    here, there = make_store(**CHEAP), make_store(**CHEAP)
    admins.create_admin(here, "chief", OTHER)
    admins.create_admin(here, "anna", GOOD, "viewer")
    token = logged_in(here).token
    assert opened(there, token) == [True, False, False, False]
    assert admins.change_role(here, "anna", "operator").role == "operator"
    assert opened(there, token) == [True, True, False, False]


@pytest.mark.parametrize("role", ["", "root", "Admin", "admin ", "x" * 1_000, "\x1b[31m"])
def test_what_is_no_role_is_refused(store, role):
    admins.create_admin(store, "chief", OTHER)
    with pytest.raises(UsageError, match=r"viewer, operator, admin; got") as caught:
        admins.create_admin(store, "anna", GOOD, role)
    assert len(str(caught.value)) < 300
    with pytest.raises(UsageError, match="viewer, operator, admin"):
        admins.change_role(store, "chief", role)
    assert roles(store) == {"chief": "admin"}


def test_whoever_was_an_administrator_before_there_were_roles_still_is_one(store):
    with store.write() as session:
        session.run("insert into admins (name, password, created_at, changed_at) values ('old', 'x', 1, 1)")
    assert roles(store) == {"old": "admin"}


@pytest.mark.parametrize("others", [(), ("viewer",), ("operator", "viewer")])
def test_the_last_administrator_stays_one(store, others):
    admins.create_admin(store, "chief", GOOD)
    for number, role in enumerate(others):
        admins.create_admin(store, f"other {number}", OTHER, role)
    before = roles(store)
    for change in (
        lambda: admins.remove_admin(store, "chief"),
        lambda: admins.change_role(store, "chief", "operator"),
        lambda: admins.change_role(store, "chief", "viewer"),
    ):
        with pytest.raises(NotAllowed, match=r"'chief' is the only administrator.*admin role NAME admin"):
            change()
    assert roles(store) == before
    admins.change_role(store, "chief", "admin")
    admins.create_admin(store, "second", OTHER)
    assert admins.remove_admin(store, "chief").name == "chief"


@with_processes
@pytest.mark.parametrize("end", ["demote", "remove", "both"])
def test_of_administrators_who_go_at_the_same_time_one_is_left(make_store, end):
    names = [f"chief {n}" for n in range(6)]
    stores = {name: make_store(**CHEAP) for name in names}
    for name in names:
        admins.create_admin(stores[name], name, GOOD)
    start, refused = threading.Barrier(len(names)), list[str]()

    def go(number: int, name: str) -> None:
        start.wait()
        try:
            if end == "remove" or (end == "both" and number % 2):
                admins.remove_admin(stores[name], name)
            else:
                admins.change_role(stores[name], name, "viewer")
        except NotAllowed:
            refused.append(name)

    threads = [threading.Thread(target=go, args=each) for each in enumerate(names)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    left = [name for name, role in roles(stores[names[0]]).items() if role == "admin"]
    assert (len(left), left) == (1, refused)


def test_nobody_is_changed_who_is_not_there(store):
    admins.create_admin(store, "chief", GOOD)
    with pytest.raises(UnknownName, match="'bert'; thresher admin list"):
        admins.change_role(store, "bert", "viewer")
    with pytest.raises(UnknownName, match="id 99"):
        admins.person_name(store, 99)


def test_people_whom_a_proxy_brought_do_not_keep_the_first_administrator_out(store):
    token = admins.new_setup(store)
    admins.create_admin(store, "anna", GOOD, "viewer")
    assert not has_admins(store)
    assert admins.setup_is_open(store, token)
    made = admins.first_admin(store, token, "anna", admins.hashed(OTHER, 10))
    assert (made.name, made.role) == ("anna", "admin")
    assert opened(store, logged_in(store, "anna", OTHER).token) == [True, True, True, False]
    assert admins.new_setup(store) is None
