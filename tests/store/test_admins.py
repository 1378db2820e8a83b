"""Administrators on every database: passwords that are guessed, tokens that are used twice, logins that
outlive their reason."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.databases import with_processes
from tests.harness.tasks import rows
from thresher.admin import admins, logins
from thresher.admin.admins import has_admins, list_admins
from thresher.admin.keys import Admitted, Denied
from thresher.core.clock import DAY, HOUR, MINUTE, SECOND
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.store.admins import Allowance

pytestmark = pytest.mark.promise(17)

GOOD, OTHER = "correct horse battery", "another horse battery"
CHEAP = {"web__password_cost": 10}


@pytest.fixture
def store(make_store):
    return make_store(**CHEAP)


def attempt(store, name: str, given_password: str, address: str = "192.0.2.1") -> logins.Login | Denied:
    """All three steps, as a request takes them."""
    tried = logins.count_try(store, name, address)
    if isinstance(tried, Denied):
        return tried
    return logins.log_in(store, tried, fits=admins.fits(given_password, tried.kept))


def logged_in(store, name: str = "anna", given_password: str = GOOD) -> logins.Login:
    found = attempt(store, name, given_password)
    assert isinstance(found, logins.Login), found
    return found


def test_an_administrator_logs_in_and_may_do_what_admin_opens(store, clock):
    made = admins.create_admin(store, "anna", GOOD)
    login = logged_in(store)
    found = logins.admit_login(store, login.token)
    assert found == Admitted(made.id, "anna", ("admin",), None, "admin")
    assert [found.opens(scope) for scope in ("read", "write", "admin", "scrape")] == [True, True, True, False]
    assert login.expires_at == clock.now() + 12 * HOUR
    (view,) = list_admins(store)
    assert (view.name, view.login_at) == ("anna", clock.now())


def test_neither_the_password_nor_the_token_is_kept(store):
    admins.create_admin(store, "anna", GOOD)
    login = logged_in(store)
    kept = str(
        rows(store, "select * from admins")
        + rows(store, "select * from logins")
        + rows(store, "select * from login_tries")
    )
    for secret in (GOOD, login.token, login.token[4:], login.csrf):
        assert secret not in kept
    for stolen in rows(store, "select digest from logins")[0]:
        assert isinstance(logins.admit_login(store, stolen), Denied)
        assert isinstance(logins.admit_login(store, f"thl_{stolen[:43]}"), Denied)


@pytest.mark.parametrize(
    "wrong", ["", GOOD[:-1], GOOD + " ", GOOD.upper(), "\0", "é" * 20, "\ud800" * 12, "x" * 2_000]
)
def test_every_other_password_is_refused(store, wrong):
    admins.create_admin(store, "anna", GOOD)
    found = attempt(store, "anna", wrong)
    assert found == Denied("the name or the password is wrong")
    assert rows(store, "select count(*) from logins") == [(0,)]


def test_nobody_learns_which_names_there_are(store):
    """An unknown name gets the same answer, and costs the same: the hash that it is compared with is as
    dear."""
    admins.create_admin(store, "anna", GOOD)
    store.settings = type(store.settings)({"web.password_cost": 11})
    known, unknown = (
        logins.count_try(store, "anna", "192.0.2.1"),
        logins.count_try(store, "bert", "192.0.2.2"),
    )
    assert isinstance(known, logins.LoginAttempt)
    assert isinstance(unknown, logins.LoginAttempt)
    assert known.kept.split("$")[:4] == unknown.kept.split("$")[:4] == ["scrypt", "10", "8", "3"]
    assert [len(part) for part in known.kept.split("$")] == [len(part) for part in unknown.kept.split("$")]
    assert not admins.fits(GOOD, unknown.kept)
    assert logins.log_in(store, unknown, fits=False) == logins.log_in(store, known, fits=False)
    assert isinstance(logins.log_in(store, unknown, fits=True), Denied)


@pytest.mark.parametrize(
    "token", ["", "thl_", "thl_" + "a" * 43, "\0", "\ud800", "x" * 100_000, "' or 1=1 --", "é" * 47]
)
def test_a_token_that_a_stranger_thinks_up_opens_nothing(store, token):
    admins.create_admin(store, "anna", GOOD)
    logged_in(store)
    assert isinstance(logins.admit_login(store, token), Denied)


def test_a_login_ends_with_its_time(store, clock):
    admins.create_admin(store, "anna", GOOD)
    login = logged_in(store)
    clock.advance(12 * HOUR - 1)
    assert isinstance(logins.admit_login(store, login.token), Admitted)
    clock.advance(1)
    assert isinstance(logins.admit_login(store, login.token), Denied)
    logged_in(store)
    assert rows(store, "select count(*) from logins") == [(1,)], "the old one is pruned"


@pytest.mark.parametrize("end", ["logout", "password", "removal"])
def test_a_login_ends_with_its_reason_on_every_machine(make_store, end):
    here, there = make_store(**CHEAP), make_store(**CHEAP)
    admins.create_admin(here, "anna", GOOD)
    admins.create_admin(here, "bert", OTHER)
    token, berts = logged_in(here).token, logged_in(here, "bert", OTHER).token
    assert isinstance(logins.admit_login(there, token), Admitted)
    if end == "logout":
        logins.log_out(here, token)
    elif end == "password":
        admins.change_password(here, "anna", OTHER)
    else:
        admins.remove_admin(here, "anna")
    assert isinstance(logins.admit_login(there, token), Denied)
    assert isinstance(logins.admit_login(there, berts), Admitted)


def test_a_password_that_was_changed_during_the_look_lets_nobody_in(store):
    admins.create_admin(store, "anna", GOOD)
    tried = logins.count_try(store, "anna", "192.0.2.1")
    assert isinstance(tried, logins.LoginAttempt)
    fits = admins.fits(GOOD, tried.kept)
    admins.change_password(store, "anna", OTHER)
    assert fits
    assert isinstance(logins.log_in(store, tried, fits=True), Denied)
    assert rows(store, "select count(*) from logins") == [(0,)]
    logged_in(store, "anna", OTHER)


@pytest.mark.promise(3)
def test_a_name_is_tried_so_often_a_minute_from_one_address(store, clock):
    admins.create_admin(store, "anna", GOOD)
    said = [attempt(store, "anna", "wrong") for _ in range(8)]
    assert [isinstance(each, Denied) and each.retry_after for each in said] == [None] * 5 + [12] * 3
    assert isinstance(attempt(store, "anna", GOOD), Denied), "not even with the right one"
    clock.advance(12 * SECOND)
    logged_in(store)
    assert [attempt(store, "anna", "wrong").retry_after for _ in range(5)] == [None] * 5, (
        "who has come in starts afresh"
    )


def test_a_stranger_who_guesses_from_many_addresses_does_not_lock_the_administrator_out(store):
    admins.create_admin(store, "anna", GOOD)
    for at in range(40):
        attempt(store, "anna", "wrong", f"198.51.100.{at}")
    for _ in range(10):
        attempt(store, "anna", "wrong", "203.0.113.9")
    logged_in(store)


def test_who_comes_in_forgives_their_own_tries_and_not_those_of_a_stranger(store):
    admins.create_admin(store, "anna", GOOD)
    for _ in range(5):
        attempt(store, "anna", "wrong", "203.0.113.9")
    logged_in(store)
    assert attempt(store, "anna", "wrong", "203.0.113.9").retry_after == 12


@pytest.mark.promise(3)
def test_an_address_is_tried_from_so_often_a_minute_whatever_the_name(store, clock):
    said = [attempt(store, f"name{at}", "wrong") for at in range(25)]
    assert [isinstance(each, Denied) and each.retry_after for each in said] == [None] * 20 + [3] * 5
    assert attempt(store, "anna", "wrong", "192.0.2.2") == Denied("the name or the password is wrong")
    clock.advance(MINUTE)
    assert attempt(store, "anna", "wrong") == Denied("the name or the password is wrong")


@pytest.mark.promise(3)
def test_a_network_of_addresses_counts_as_one(store):
    said = [attempt(store, f"name{at}", "wrong", f"2001:db8::{at:x}") for at in range(22)]
    assert [each.retry_after is None for each in said] == [True] * 20 + [False] * 2
    assert attempt(store, "a", "wrong", "2001:db8:0:1::1").retry_after is None
    assert [
        attempt(store, "b", "wrong", address).retry_after
        for address in ("::ffff:192.0.2.1", "192.0.2.1", "", "x%y")
    ] == [None] * 4
    assert rows(store, "select count(*) from login_tries where what = 'from 192.0.2.1'") == [(1,)]


@pytest.mark.promise(3)
def test_tries_that_are_refused_write_nothing_and_old_ones_are_forgotten(store, clock):
    for at in range(30):
        attempt(store, f"name{at}", "wrong")
    kept = rows(store, "select what, tat from login_tries order by what")
    assert len(kept) == 21
    for at in range(30):
        attempt(store, f"name{at}", "wrong")
    assert rows(store, "select what, tat from login_tries order by what") == kept
    clock.advance(DAY)
    attempt(store, "anna", "wrong")
    assert len(rows(store, "select 1 from login_tries")) == 2


@pytest.mark.promise(3)
@with_processes
def test_machines_share_the_tries_at_every_instant(make_store, database):
    stores = [make_store(**CHEAP) for _ in range(3)]
    counted, start = [], threading.Barrier(len(stores) * 2)

    def hammer(store):
        start.wait(30)
        for _ in range(6):
            if isinstance(logins.count_try(store, "anna", "192.0.2.1"), logins.LoginAttempt):
                counted.append(1)

    threads = [threading.Thread(target=hammer, args=(store,)) for store in stores for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(counted) == 5  # time stands still, so not one more


@given(rate=st.integers(1, 1_000), gaps=st.lists(st.integers(0, 30 * SECOND), max_size=60))
@pytest.mark.promise(3)
def test_no_minute_has_more_than_twice_what_is_allowed(rate, gaps):
    """The arithmetic alone, as the statement does it: a full bucket, and an even minute."""
    allowance, now, tat, passed = Allowance("x", rate), 1_700_000_000 * SECOND, 0, []
    for gap in gaps:
        now += gap
        if allowance.wait_us(tat, now) == 0:
            tat = max(tat, now) + allowance.interval_us
            passed.append(now)
    for first in passed:
        assert sum(first <= at < first + MINUTE for at in passed) <= 2 * rate


def test_a_clock_that_was_set_back_locks_nobody_out_for_ever(store, clock):
    for _ in range(5):
        attempt(store, "anna", "wrong")
    clock.advance(-30 * DAY)
    assert [attempt(store, "anna", "wrong").retry_after for _ in range(2)] == [None, 12]


def test_a_setup_token_makes_the_first_administrator_once(store):
    token = admins.new_setup(store)
    assert token
    assert token[4:] not in str(rows(store, "select * from setup"))
    assert admins.setup_is_open(store, token)
    assert not admins.setup_is_open(store, token + "x")
    assert admins.first_admin(store, token + "x", "anna", "kept") is None
    made = admins.first_admin(store, token, "anna", admins.hashed(GOOD, 10))
    assert made
    assert admins.first_admin(store, token, "eve", "kept") is None
    assert not admins.setup_is_open(store, token)
    assert admins.new_setup(store) is None
    assert [each.name for each in list_admins(store)] == ["anna"]
    logged_in(store)


def test_a_setup_token_is_good_for_an_hour_and_until_the_next(store, clock):
    first, second = admins.new_setup(store), admins.new_setup(store)
    assert first
    assert second
    assert [admins.setup_is_open(store, each) for each in (first, second)] == [False, True]
    clock.advance(HOUR)
    assert not admins.setup_is_open(store, second)
    assert admins.first_admin(store, second, "anna", "kept") is None
    assert not has_admins(store)


def test_a_setup_token_is_worth_nothing_once_there_is_an_administrator(store):
    token = admins.new_setup(store)
    assert token
    admins.create_admin(store, "anna", GOOD)
    assert not admins.setup_is_open(store, token)
    assert admins.first_admin(store, token, "eve", "kept") is None
    assert [each.name for each in list_admins(store)] == ["anna"]


@with_processes
def test_of_many_that_bring_one_setup_token_one_gets_in(make_store, database):
    stores = [make_store() for _ in range(4)]
    token = admins.new_setup(stores[0])
    assert token
    start, made = threading.Barrier(len(stores)), []

    def take(at):
        start.wait(30)
        made.append(admins.first_admin(stores[at], token, f"name{at}", "kept"))

    threads = [threading.Thread(target=take, args=(at,)) for at in range(len(stores))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len([each for each in made if each]) == len(list_admins(stores[0])) == 1


@pytest.mark.parametrize(
    ("name", "given_password", "match"),
    [
        ("", GOOD, "name"),
        (" a", GOOD, "name"),
        ("a\n", GOOD, "name"),
        ("x" * 101, GOOD, "name"),
        ("\x1b[31m", GOOD, "name"),
        ("anna", "eleven char", "12"),
        ("anna", "x" * 1_025, "1,024"),
        ("anna", "", "12"),
        ("Anna Bolena 1", "anna bolena 1", "name"),
    ],
)
def test_an_administrator_that_makes_no_sense_is_not_made(store, name, given_password, match):
    with pytest.raises(UsageError, match=match):
        admins.create_admin(store, name, given_password)
    assert not has_admins(store)


def test_a_name_is_used_once_and_nobody_has_no_password(store):
    admins.create_admin(store, "anna", GOOD)
    with pytest.raises(NotAllowed, match="admin password anna"):
        admins.create_admin(store, "anna", OTHER)
    for change in (
        lambda: admins.change_password(store, "bert", OTHER),
        lambda: admins.remove_admin(store, "bert"),
    ):
        with pytest.raises(UnknownName, match="admin list"):
            change()
    logged_in(store)


def test_one_letter_written_in_two_ways_is_one_letter():
    kept = admins.hashed("caf\N{LATIN SMALL LETTER E WITH ACUTE} au lait", 10)
    assert admins.fits("cafe\N{COMBINING ACUTE ACCENT} au lait", kept)
    assert not admins.fits("cafe au lait", kept)


def test_the_price_of_a_password_is_the_one_that_is_written_beside_it():
    kept = admins.hashed(GOOD, 11)
    assert kept.startswith("scrypt$11$8$3$")
    assert admins.fits(GOOD, kept)
    assert not admins.fits(GOOD, kept.replace("$11$", "$10$"))
    assert admins.hashed(GOOD, 10) != admins.hashed(GOOD, 10), "salted"
    assert len(admins.generated()) >= admins.MIN_LENGTH
