"""The line `network` of the doctor: names that do not exist, ports where nobody is, firewalls and name
servers that swallow everything, a proxy that is away. None of it takes long, and no site is asked for
anything."""

import socket
import threading
import time
from collections.abc import Iterator, Mapping

import pytest

from tests.harness.tasks import change
from thresher.admin.network import check_network, known_hosts, look_up
from thresher.config.outward import Outward
from thresher.core.clock import FOREVER, SECOND
from thresher.core.extension import Check
from thresher.fetch.guard import Guard
from thresher.fetch.resolver import SystemResolver
from thresher.runtime import make_resolver
from thresher.store import workers
from thresher.store.overview import last_seen
from thresher.store.store import Store


def checked(
    *hosts: str,
    resolve: Mapping[str, str] = {},
    proxy: str | None = None,
    limit: float = 3.0,
    look=look_up,
    leads_out: bool = True,
) -> Check:
    outward, guard = Outward(resolve=resolve, proxy=proxy), Guard()
    names = SystemResolver(look=look)
    try:
        resolver = make_resolver(outward, guard, names)
        return check_network(hosts, resolver, guard, limit=limit, leads_out=lambda: leads_out)
    finally:
        names.close()


@pytest.fixture
def door() -> Iterator[socket.socket]:
    """Somebody who takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def url_of(door: socket.socket) -> str:
    return f"http://127.0.0.1:{door.getsockname()[1]}"


def nobody() -> str:
    """A port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as gone:
        return url_of(gone)


def test_a_host_that_takes_connections_is_enough_and_is_asked_for_nothing(door: socket.socket):
    found = checked("a.example", "nowhere.invalid", resolve={"a.example": url_of(door)})
    assert found.verdict == "ok"
    assert found.found.startswith("a.example takes connections (127.0.0.1:")
    assert "nowhere.invalid" in found.found
    taken, _ = door.accept()
    with taken:
        taken.settimeout(5)
        assert taken.recv(100) == b""  # closed without a word
    door.settimeout(0)
    with pytest.raises(BlockingIOError):
        door.accept()


def test_names_that_do_not_exist_are_named_with_what_to_check():
    found = checked("one.invalid", "two.invalid")
    assert found.verdict == "warn"
    assert "none of the hosts of this project can be reached: one.invalid: " in found.found
    assert "two.invalid: " in found.found
    assert "name servers" in str(found.advice)
    assert "fetch: {proxy:" in str(found.advice)


def test_a_port_where_nobody_is_points_at_firewalls():
    found = checked("a.example", resolve={"*": nobody()})
    assert found.verdict == "warn"
    assert "a.example: no connection to 127.0.0.1:" in found.found
    assert "refused" in found.found.lower()
    assert "firewall" in str(found.advice)


def test_a_proxy_that_is_away_is_named_and_one_that_is_there_is_enough(door: socket.socket):
    away = nobody()
    found = checked("a.example", "b.example", proxy=away.replace("http://", "http://ann:secret@"))
    assert found.verdict == "warn"
    assert f"no connection to {away}" in found.found
    assert "secret" not in str(found)
    assert checked("a.example", proxy=url_of(door)).found == f"the proxy {url_of(door)} takes connections"


def test_a_machine_without_a_network_is_told_so_and_one_without_sites_is_well():
    for hosts in ((), ("one.invalid",)):
        found = checked(*hosts, leads_out=False)
        assert (found.verdict, found.found) == (
            "warn",
            "this machine is offline: no network leads out of it",
        )
    assert checked().found == "a network leads out of this machine; no site has been requested yet"


def test_a_name_that_leads_inside_is_refused_by_the_guard_and_not_connected_to(door: socket.socket):
    found = checked("a.example", look=lambda _: ["127.0.0.1"])
    assert found.verdict == "warn"
    assert "leads to 127.0.0.1, which is this machine (loopback)" in found.found
    door.settimeout(0)
    with pytest.raises(BlockingIOError):
        door.accept()


def test_a_name_server_or_a_firewall_that_swallows_everything_costs_its_limit_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
):
    asked = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [asked.wait(30)][1:])
    began = time.monotonic()
    with pytest.raises(socket.gaierror, match=r"within 0\.2 s"):
        look_up("a.example", 0.2)
    assert time.monotonic() - began < 5
    asked.set()
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        # A queue of connections that is full swallows what comes next, as a firewall does.
        crowd = [socket.socket() for _ in range(4)]
        for each in crowd:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        began = time.monotonic()
        found = checked("a.example", resolve={"*": url_of(full)}, limit=0.3)
        assert time.monotonic() - began < 5
        for each in crowd:
            each.close()
    assert found.verdict == "warn"
    assert "within 0.3 s" in found.found


def test_hosts_that_answered_last_come_first_and_closed_ones_never(store: Store):
    gates = {"host:new.example": (5, 0), "host:old.example": (2, 0), "host:never.example": (0, 0)}
    gates |= {"host:shut.example": (9, FOREVER), "host:10.0.0.7": (9, 0), "source:doors": (9, 0)}
    for name, (success, opens) in gates.items():
        change(
            store,
            f"insert into gates (name, last_success, open_after) values ('{name}', {success}, {opens})",
        )
    assert known_hosts(store) == ("new.example", "old.example", "never.example")


def test_the_worker_that_was_heard_of_last_is_known(store: Store):
    with store.read() as session:
        assert last_seen(session) is None
    first, second = (
        workers.register(store, name=name, host="h", pid=1, lease_us=SECOND) for name in ("ann", "ben")
    )
    workers.stop(store, second)
    with store.read() as session:
        name, at = last_seen(session) or ("", 0)
        assert at <= store.backend.now(session)
    assert name in ("ann", "ben")
    assert first != second
