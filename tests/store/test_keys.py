"""Keys of the API, attacked on every database: wrong, stale, revoked, too often, and from several machines at
once."""

import ast
import hmac
import threading
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thresher.admin.keys
from tests.harness.databases import with_processes
from tests.harness.tasks import change, rows
from thresher.admin.keys import (
    Admitted,
    Denied,
    admit,
    create_key,
    default_scopes,
    has_keys,
    list_keys,
    revoke_key,
    revoke_key_id,
    switch_key,
    switch_key_id,
)
from thresher.apps.roles.app import app as roles
from thresher.core.clock import DAY, HOUR, MINUTE, SECOND
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.store import keys

pytestmark = pytest.mark.promise(17)


def let_in(store, token: str | None) -> bool:
    return isinstance(admit(store, token), Admitted)


def test_a_key_opens_what_it_was_made_for_and_is_counted(store, clock):
    made = create_key(store, "anna", ["write", "read"])
    clock.advance(5)
    assert admit(store, made.token) == Admitted(made.key.id, "anna", ("read", "write"))
    (view,) = list_keys(store)
    assert (view.name, view.state, view.used, view.used_at) == ("anna", "live", 1, clock.now())
    assert made.token.startswith(view.prefix)


def test_what_is_stored_does_not_open_the_door(store):
    made = create_key(store, "anna", ["read"])
    (row,) = rows(store, "select name, prefix, digest, scopes from api_keys")
    secret = made.token.removeprefix(made.key.prefix)
    assert not any(secret[1:] in str(value) for value in row)
    for stolen in (*row, f"{row[1]}_{row[2]}", f"{row[1]}_{row[2][:43]}", row[1] + "_"):
        assert not let_in(store, stolen)


@pytest.mark.parametrize(
    "token",
    [
        None,
        "",
        " ",
        "thr_",
        "thr_000000000000_" + "a" * 43,
        "Bearer x",
        "\0",
        "é" * 60,
        "\ud800",
        "x" * 1_000_000,
        "' or 1=1 --",
        "thr_%_" + "a" * 43,
        "thr_٠٠٠٠٠٠٠٠٠٠٠٠_" + "a" * 43,
    ],
    ids=lambda token: ascii(token)[:20],
)
def test_whoever_has_no_key_is_refused_without_a_trace(store, token):
    create_key(store, "anna", ["read"])
    before = rows(store, "select used, tat from api_keys")
    denied = admit(store, token)
    assert isinstance(denied, Denied)
    assert denied.retry_after is None
    assert rows(store, "select used, tat from api_keys") == before


def test_every_other_secret_is_refused(store):
    token = create_key(store, "anna", ["read"]).token
    for at in range(len(token)):
        other = "A" if token[at] != "A" else "B"
        assert not let_in(store, token[:at] + other + token[at + 1 :])
    assert not let_in(store, token[:-1])
    assert not let_in(store, token + "A")
    assert not let_in(store, token.upper())
    assert let_in(store, token)


def test_a_revoked_key_opens_nothing_on_any_machine(make_store):
    here, there = make_store(), make_store()
    token = create_key(here, "anna", ["read"]).token
    assert let_in(there, token)
    revoke_key(here, "anna")
    denied = admit(there, token)
    assert isinstance(denied, Denied)
    assert "revoked" in denied.says
    with pytest.raises(UnknownName, match="keys list"):
        revoke_key(there, "anna")
    again = create_key(here, "anna", ["read"])
    assert (let_in(here, again.token), let_in(here, token)) == (True, False)
    assert [(each.name, each.state) for each in list_keys(here, every=True)] == [
        ("anna", "live"),
        ("anna", "revoked"),
    ]


def test_an_expired_key_opens_nothing(store, clock):
    token = create_key(store, "anna", ["read"], lasts=90 * 86_400).token
    clock.advance(90 * DAY - 1)
    assert let_in(store, token)
    clock.advance(1)
    denied = admit(store, token)
    assert isinstance(denied, Denied)
    assert "expired" in denied.says
    assert not has_keys(store)


@pytest.mark.promise(3)
def test_a_key_makes_so_many_requests_and_then_goes_at_an_even_pace(store, clock):
    token = create_key(store, "anna", ["read"], rate=6).token
    assert [let_in(store, token) for _ in range(8)] == [True] * 6 + [False] * 2
    denied = admit(store, token)
    assert isinstance(denied, Denied)
    assert denied.retry_after == 10
    clock.advance(10 * SECOND - 1)
    assert not let_in(store, token)
    clock.advance(1)
    assert [let_in(store, token) for _ in range(2)] == [True, False]
    clock.advance(HOUR)
    assert [let_in(store, token) for _ in range(8)] == [True] * 6 + [False] * 2


@pytest.mark.promise(3)
def test_who_is_refused_does_not_make_it_worse(store, clock):
    token = create_key(store, "anna", ["read"], rate=1).token
    assert let_in(store, token)
    for _ in range(50):
        assert not let_in(store, token)
    clock.advance(MINUTE)
    assert let_in(store, token)


@pytest.mark.promise(3)
@with_processes
def test_machines_share_the_rate_of_a_key_at_every_instant(make_store, database):
    stores = [make_store() for _ in range(3)]
    token = create_key(stores[0], "anna", ["read"], rate=20).token
    passed, start = [], threading.Barrier(len(stores) * 2)

    def hammer(store):
        start.wait(30)
        for _ in range(15):
            if let_in(store, token):
                passed.append(1)

    threads = [threading.Thread(target=hammer, args=(store,)) for store in stores for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(passed) == 20  # time stands still, so not one more
    assert rows(stores[0], "select used from api_keys") == [(20,)]


@pytest.mark.promise(3)
def test_a_clock_that_was_set_back_neither_locks_a_key_for_ever_nor_opens_it_wide(store, clock):
    token = create_key(store, "anna", ["read"], rate=6).token
    for _ in range(6):
        let_in(store, token)
    clock.advance(-30 * DAY)
    assert [let_in(store, token) for _ in range(4)] == [True, False, False, False]
    clock.advance(10 * SECOND)
    assert [let_in(store, token) for _ in range(2)] == [True, False]


@given(rate=st.integers(1, 1_000), gaps=st.lists(st.integers(0, 30 * SECOND), max_size=60))
@pytest.mark.promise(3)
def test_no_minute_has_more_than_a_full_bucket_and_an_even_minute(rate, gaps):
    """The arithmetic alone, as the statement does it."""
    now, tat, passed = 1_700_000_000 * SECOND, 0, []
    for gap in gaps:
        now += gap
        key = keys.Key(1, "a", "p", "d", ("read",), rate, tat, 0, 0, None, None, None)
        if key.wait_us(now) == 0:
            tat = max(tat, now) + key.interval_us
            passed.append(now)
    for first in passed:
        assert sum(first <= at < first + MINUTE for at in passed) <= 2 * rate


def test_a_name_is_in_use_once(store):
    create_key(store, "anna", ["read"])
    with pytest.raises(NotAllowed, match="keys revoke anna"):
        create_key(store, "anna", ["read"])
    assert len(rows(store, "select 1 from api_keys")) == 1


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ({"scopes": []}, "--scope"),
        ({"scopes": ["read", "root"]}, "root"),
        ({"name": ""}, "name"),
        ({"name": " a"}, "name"),
        ({"name": "a "}, "name"),
        ({"name": "a\n"}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "\x1b[31m"}, "name"),
        ({"lasts": 0}, "lasts"),
        ({"lasts": -1}, "lasts"),
        ({"lasts": float("inf")}, "lasts"),
        ({"lasts": float("nan")}, "lasts"),
        ({"sources": ["a b"]}, "source"),
        ({"sources": [""]}, "source"),
        ({"sources": ["a\x1b"]}, "source"),
        ({"sources": ["x" * 61]}, "source"),
        ({"sources": [str(at) for at in range(101)]}, "source"),
        ({"rate": 0}, "rate"),
        ({"rate": 10**9}, "rate"),
    ],
)
def test_a_key_that_makes_no_sense_is_not_made(store, said, match):
    wanted = {"name": "anna", "scopes": ["read"]} | said
    with pytest.raises(UsageError, match=match):
        create_key(store, wanted.pop("name"), wanted.pop("scopes"), **wanted)
    assert not has_keys(store)


def test_keys_of_other_times_do_not_open_a_fresh_database(store):
    assert not has_keys(store)
    columns, values = (
        "name, prefix, digest, scopes, rate, created_at, revoked_at",
        "'a', 'p', 'd', 'read', 1, 0, 1",
    )
    change(store, f"insert into api_keys ({columns}) values ({values})")
    assert not has_keys(store)


def test_secrets_are_compared_in_constant_time():
    """No `==` in the module touches a digest; the one comparison is the library's."""
    tree = ast.parse(Path(thresher.admin.keys.__file__).read_text("utf-8"))
    compared = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    assert not [text for text in compared if "digest" in text or "token" in text.replace("token is None", "")]
    calls = [ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert calls.count("hmac.compare_digest") == 1


@pytest.mark.parametrize("known", [True, False])
def test_the_comparison_is_made_for_a_prefix_that_nobody_has_too(store, known, monkeypatch):
    compared = []
    same = hmac.compare_digest
    monkeypatch.setattr(
        "thresher.admin.keys.hmac.compare_digest",
        lambda one, other: compared.append(len(other)) or same(one, other),
    )
    prefix = create_key(store, "anna", ["read"]).key.prefix if known else "thr_" + "0" * 12
    assert not let_in(store, f"{prefix}_{'a' * 43}")
    assert compared == [64]


def test_a_key_without_scopes_has_the_first_that_an_app_brings(store):
    assert default_scopes([]) == ("read",)
    scopes = default_scopes([roles])
    made = create_key(
        store, "Production Scraper 1", scopes, apps=[roles], sources=["Dice", "indeed ", "dice"]
    )
    assert admit(store, made.token) == Admitted(
        made.key.id, "Production Scraper 1", ("scrape",), ("dice", "indeed")
    )
    assert made.key.rate == 60
    everywhere = create_key(store, "other", scopes, apps=[roles], sources=[])
    assert everywhere.key.sources is None
    assert [(each.name, each.sources) for each in list_keys(store)] == [
        ("other", None),
        ("Production Scraper 1", ("dice", "indeed")),
    ]


@pytest.mark.parametrize(
    ("scopes", "opens"),
    [
        (("read",), {"read"}),
        (("write",), {"write"}),
        (("scrape",), {"scrape"}),
        (("admin",), {"admin", "read", "write"}),
        (("read", "scrape"), {"read", "scrape"}),
        ((), set()),
    ],
)
def test_a_scope_opens_itself_and_admin_what_is_not_for_scrapers(scopes, opens):
    assert {
        scope for scope in ("read", "write", "admin", "scrape") if Admitted(1, "anna", scopes).opens(scope)
    } == opens


def test_a_key_is_revoked_by_its_name_or_its_id_and_the_name_goes_first(store):
    first, second = create_key(store, "anna", ["read"]), create_key(store, "bert", ["read"])
    numbered = create_key(store, str(first.key.id), ["read"])
    assert revoke_key(store, str(first.key.id)).id == numbered.key.id
    assert revoke_key(store, str(first.key.id)).id == first.key.id
    assert revoke_key_id(store, second.key.id).id == second.key.id
    for gone in ("anna", str(first.key.id), "9" * 30, "\N{SUPERSCRIPT TWO}", "", "0"):
        with pytest.raises(UnknownName):
            revoke_key(store, gone)
    with pytest.raises(UnknownName):
        revoke_key_id(store, second.key.id)
    assert not has_keys(store)


def test_a_key_is_switched_off_and_on_for_every_machine_at_once(make_store):
    here, there = make_store(), make_store()
    made = create_key(here, "dice-1", ["read"])
    assert let_in(there, made.token)
    switch_key(here, "dice-1", active=False, by="key anna")
    denied = admit(there, made.token)
    assert isinstance(denied, Denied)
    assert denied.says == (
        "invalid or expired API key: dice-1 is disabled; an administrator can enable it: thresher keys enable dice-1"
    )
    (view,) = list_keys(there)
    assert (view.state, view.is_active, view.used) == ("disabled", False, 1)
    assert not has_keys(there)
    switch_key_id(there, made.key.id, active=True)
    assert let_in(here, made.token)
    assert [(view.state, view.is_active) for view in list_keys(here)] == [("live", True)]


def test_a_key_that_is_disabled_between_its_check_and_its_charge_opens_nothing(store):
    made = create_key(store, "dice-1", ["read"])
    switch_key(store, "dice-1", active=False)
    assert not keys.charge(store, made.key)


@pytest.mark.promise(20)
def test_each_switch_of_a_key_is_one_event_that_says_who_and_when(store):
    key = create_key(store, "dice-1", ["read"]).key
    for active in (False, False, True, True):
        switch_key(store, "dice-1", active=active, by="administrator anna")
    revoke_key(store, "dice-1", "the command line")
    found = rows(store, "select kind, detail from events order by id")
    assert [kind for kind, _ in found] == ["key_disabled", "key_enabled", "key_revoked"]
    assert orjson.loads(found[0][1]) == {"key": "dice-1", "key_id": key.id, "by": "administrator anna"}


def test_what_is_revoked_is_not_switched_on_again(store):
    token = create_key(store, "dice-1", ["read"]).token
    switch_key(store, "dice-1", active=False)
    revoke_key(store, "dice-1")
    with pytest.raises(UnknownName, match="no key named 'dice-1' is in use"):
        switch_key(store, "dice-1", active=True)
    assert not let_in(store, token)
    create_key(store, "dice-1", ["read"])


def test_a_disabled_key_keeps_its_name(store):
    create_key(store, "dice-1", ["read"])
    switch_key(store, "dice-1", active=False)
    with pytest.raises(NotAllowed, match="is in use"):
        create_key(store, "dice-1", ["read"])
