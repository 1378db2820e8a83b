"""Who asks, where a proxy stands between: believed of the machines that were named, and of nobody else."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.tasks import rows
from tests.web.conftest import PATIENCE, Api
from thresher.admin import admins
from thresher.admin.settings import set_setting
from thresher.core.errors import UsageError
from thresher.runtime import Runtime
from thresher.web.refresh import refresh
from thresher.web.server import address_of, bind, make_server, read_proxies

pytestmark = pytest.mark.promise(17)


@contextmanager
def served(shop: Runtime, proxies: Sequence[str]) -> Iterator[Api]:
    ready = threading.Event()
    server = make_server(shop, ready.set, proxies)
    with bind("127.0.0.1", 0) as bound:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve([bound])))
        thread.start()
        assert ready.wait(PATIENCE)
        try:
            yield Api(address_of(bound))
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


@pytest.fixture
def tried(shop: Runtime):
    """Try a password through a server that believes these proxies; the addresses that were charged for it."""
    set_setting(shop.store, "web.password_cost", "10", "test")
    refresh(shop)
    admins.create_admin(shop.store, "anna", "correct horse battery")

    def work(proxies: str, *forwarded: str) -> set[str]:
        with served(shop, read_proxies(proxies)) as api:
            for each in forwarded:
                said = {"name": "anna", "password": "a wrong horse"}
                api.ask("POST", "/api/login", json=said, headers={"X-Forwarded-For": each}).problem(401)
        return {
            what.removeprefix("from ")
            for (what,) in rows(shop.store, "select what from login_tries")
            if what.startswith("from")
        }

    return work


def test_nobody_is_believed_unless_it_was_said(tried):
    assert tried("", "203.0.113.9", "203.0.113.10") == {"127.0.0.1"}


def test_a_proxy_that_was_not_named_is_not_believed(tried):
    assert tried("10.0.0.5, 192.0.2.0/24", "203.0.113.9", "10.0.0.5") == {"127.0.0.1"}


def test_each_of_those_behind_a_named_proxy_has_an_allowance_of_their_own(tried):
    assert tried("127.0.0.1", "203.0.113.9", "203.0.113.10") == {"203.0.113.9", "203.0.113.10"}


def test_what_somebody_made_up_before_the_proxy_counts_for_nothing(tried):
    """A proxy writes behind what it was sent; whoever sends another address each time is still themselves."""
    sent = ("1.2.3.4, 203.0.113.9", "5.6.7.8, 203.0.113.9, 127.0.0.1", "127.0.0.1, rubbish, 203.0.113.9")
    assert tried("127.0.0.0/8", *sent) == {"203.0.113.9"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("*", "would let anyone forge"),
        ("proxy.local", "must be addresses or networks"),
        ("10.0.0.5/8", "has host bits set"),
        ("10.0.0.5,,10.0.0.256", "10.0.0.256"),
        (",".join(["10.0.0.1"] * 101), "the limit is 100"),
    ],
)
def test_what_is_no_address_is_refused_with_the_reason(text, says):
    with pytest.raises(UsageError, match=says):
        read_proxies(text)


def test_an_address_is_trusted_also_where_it_comes_in_as_ipv6():
    assert read_proxies(" 10.0.0.5 ,2001:db8::/32,") == [
        "10.0.0.5/32",
        "::ffff:10.0.0.5/128",
        "2001:db8::/32",
    ]
    assert read_proxies("") == []


@given(st.text(alphabet="0123456789abcdef.:/*,% ", max_size=60))
def test_whatever_is_written_is_read_or_refused(text):
    try:
        found = read_proxies(text)
    except UsageError:
        return
    assert "*" not in found
