"""Many connections, slow bodies and large ones, from real sockets against real servers: whoever sends them
keeps nobody else out."""

import http.client
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from yarl import URL

from tests.cli.conftest import folder  # noqa: F401  a fixture
from tests.harness.tables import TABLES
from tests.web.conftest import APPS, PATIENCE, Api, served, workshop
from tests.web.test_serve import address, serving
from thresher.admin.keys import create_key
from thresher.runtime import Runtime
from thresher.web.body import Shares
from thresher.web.connections import Connections

pytestmark = [pytest.mark.promise(17), pytest.mark.promise(18)]

HALF = b"GET /api/health HTTP/1.1\r\nHost: x\r\n"
SMALL = "settings:\n  web.connections: 40\n  web.address_connections: 10\n  web.rate: 100000\napps: [roles]\n"


def connected(url: str, source: str) -> socket.socket:
    place = URL(url)
    assert place.host
    return socket.create_connection(
        (place.host, place.port or 80), timeout=PATIENCE, source_address=(source, 0)
    )


def health(url: str, source: str) -> int:
    """What somebody at this address is answered."""
    place = URL(url)
    line = http.client.HTTPConnection(
        str(place.host), place.port, timeout=PATIENCE, source_address=(source, 0)
    )
    try:
        line.request("GET", "/api/health")
        return line.getresponse().status
    finally:
        line.close()


@contextmanager
def half_open(url: str, sources: list[str]) -> Iterator[list[socket.socket]]:
    """A connection from each of these addresses with half a request on it."""
    with ExitStack() as stack:
        lines = []
        for source in sources:
            lines.append(stack.enter_context(connected(url, source)))
            lines[-1].sendall(HALF)
        yield lines


@pytest.fixture
def small(tmp_path: Path) -> Iterator[tuple[Runtime, str]]:
    """A server with room for forty connections, ten from one address."""
    (tmp_path / "thresher.yaml").write_text(SMALL)
    with workshop(tmp_path) as shop, served(shop) as url:
        yield shop, url


def test_eleven_hundred_half_requests_from_one_address_deny_nobody_else(folder: Path):  # noqa: F811
    TABLES.write(folder / "thresher.db")
    with serving() as (_, said), half_open(address(said), ["127.0.0.2"] * 1_100):
        assert [health(address(said), f"127.0.0.{at}") for at in range(3, 8)] == [200] * 5
        assert health(address(said), "127.0.0.2") == 200, "nor that address itself, when it asks"


def test_half_requests_from_many_addresses_deny_nobody_who_asks(small):
    _, url = small
    with half_open(url, [f"127.0.1.{at % 20 + 1}" for at in range(120)]):
        assert [health(url, f"127.0.0.{at}") for at in range(3, 8)] == [200] * 5


def test_an_address_whose_connections_are_all_at_work_is_told_to_wait_and_others_are_not(small):
    _, url = small
    slow = b"POST /api/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(10):
            line = stack.enter_context(connected(url, "127.0.0.2"))
            line.sendall(slow)
            assert line.recv(65_536).startswith(b"HTTP/1.1 100"), "the server waits for its body"
        with connected(url, "127.0.0.2") as line:
            line.sendall(HALF + b"\r\n")
            told = line.recv(65_536)
        assert told.startswith(b"HTTP/1.1 429")
        assert b"Retry-After" in told
        assert health(url, "127.0.0.3") == 200


def test_a_connection_that_waits_longest_goes_first_and_those_at_work_stay():
    class Line:
        def __init__(self, host: str, waits: bool = True) -> None:
            self.client, self.waits, self.dropped = (host, 1), waits, False

        def drop(self) -> None:
            self.dropped = True

    many = Connections(6, 3, ["10.0.0.9"])
    busy, first, second = Line("192.0.2.1", waits=False), Line("192.0.2.1"), Line("192.0.2.1")
    assert all(map(many.admit, (busy, first, second)))
    third = Line("192.0.2.1")
    assert many.admit(third)
    assert [each.dropped for each in (busy, first, second, third)] == [False, True, False, False]
    proxied = [Line("10.0.0.9", waits=False) for _ in range(3)]
    assert all(map(many.admit, proxied))
    assert many.admit(Line("192.0.2.2")), "the server is full, and a stranger gives up a place"
    assert second.dropped
    for each in (busy, third):
        each.waits = False
    assert many.admit(Line("10.0.0.9", waits=False)), "a proxy asks for many"
    assert not any(each.dropped for each in (busy, third, *proxied))


def start_body(url: str, token: str, size: int) -> socket.socket:
    line = connected(url, "127.0.0.2")
    head = f"POST /api/scraper/queue/jobs HTTP/1.1\r\nHost: x\r\nX-API-Key: {token}\r\nContent-Length: {size}\r\n"
    line.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
    return line


def test_one_key_holds_no_more_bytes_of_bodies_than_its_share_and_others_have_theirs(small):
    shop, url = small
    greedy, honest = (
        create_key(shop.store, name, ["scrape"], apps=APPS).token for name in ("greedy", "honest")
    )
    most = shop.store.settings.count("roles.body_limit")
    with ExitStack() as stack:
        for _ in range(2):
            assert stack.enter_context(start_body(url, greedy, most)).recv(65_536).startswith(b"HTTP/1.1 100")
        with start_body(url, greedy, most) as line:
            told = b"".join(iter(lambda: line.recv(65_536), b""))
        assert told.startswith(b"HTTP/1.1 429"), told
        assert b"roles.spool_limit" in told
        answer = Api(url, honest).ask("POST", "/api/scraper/queue/jobs", json={"session_id": "x", "jobs": []})
        assert answer.status not in (429, 503)
    for _ in range(500):  # the two have hung up, and give their room back
        if Api(url, greedy).ask("POST", "/api/scraper/queue/jobs", data=b"{" * 1_000_000).status != 429:
            return
    raise AssertionError("the room was never given back")


def test_a_body_takes_only_what_it_needs_and_gives_it_back():
    shares = Shares()
    with (
        shares.share(1, 100, "roles.spool_limit") as one,
        shares.share(1, 100, "roles.spool_limit") as two,
        shares.share(2, 100, "roles.spool_limit") as other,
    ):
        one.reach(60)
        one.reach(50)
        two.reach(40)
        other.reach(100)
        with pytest.raises(Exception, match=r"roles\.spool_limit") as told:
            two.reach(41)
        assert told.value.status_code == 429
    with shares.share(1, 100, "roles.spool_limit") as again:
        again.reach(100)


def test_every_answer_of_the_api_is_not_to_be_kept_nor_guessed_at(small):
    shop, url = small
    token = create_key(shop.store, "reader", ["read"]).token
    asked = (
        ("/api/health", None),
        ("/api/status", token),
        ("/api/nothing", token),
        ("/api/status", None),
        ("/api/export/x", token),
    )
    for path, key in asked:
        told = Api(url, key).ask("GET", path)
        assert (told.headers["Cache-Control"], told.headers["X-Content-Type-Options"]) == (
            "no-store",
            "nosniff",
        ), path
