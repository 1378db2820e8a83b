"""The log is exact: the server's own account of who came when, and how many at once."""

import asyncio
import itertools
import re
import socket
import threading
import time

import aiohttp
import pytest

from tests.practice.browse import get
from thresher.practice.web import Knob, PracticeWeb, Trouble, gaps, peak
from thresher.practice.web import log as log_module
from thresher.practice.web.log import Log


def ended(count: int):
    return lambda log: len(log) >= count and all(each.ended is not None for each in log)


async def crowd(web: PracticeWeb, host: str, count: int, at_once: int) -> None:
    """So many requests, never more than `at_once` under way, over kept connections."""
    left = iter(range(count))
    connector = aiohttp.TCPConnector(limit=at_once)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def one() -> None:
            for number in left:
                async with session.get(f"{web.url}/page/{number + 1}", headers={"Host": host}) as answer:
                    assert answer.status == 200
                    await answer.read()

        await asyncio.gather(*(one() for _ in range(at_once)))


def test_an_entry_says_what_was_asked_and_what_was_answered(web: PracticeWeb):
    before = (time.monotonic(), time.time())
    got = get(
        web,
        "https://www.acme.example/about?x=1&y=%20",
        User_Agent="Tester/1.0 (+mailto:me@example.org)",
        If_None_Match='"x"',
    )
    (entry,) = web.until(ended(1))
    assert (entry.host, entry.method, entry.target, entry.path) == (
        "www.acme.example",
        "GET",
        "/about?x=1&y=%20",
        "/about",
    )
    assert entry.headers["user-agent"] == "Tester/1.0 (+mailto:me@example.org)"
    assert entry.headers["if-none-match"] == '"x"'
    assert (entry.status, entry.size, entry.whole, entry.concurrency) == (200, len(got.body), True, 1)
    assert before[0] <= entry.arrived <= entry.ended <= time.monotonic()
    assert before[1] <= entry.arrived_at <= entry.ended_at <= time.time()


def test_what_was_posted_is_kept_up_to_a_limit(web: PracticeWeb):
    get(web, "https://www.acme.example/", "POST", b"a" * 100_000)
    (entry,) = web.until(ended(1))
    assert entry.body == "a" * 4_000


def test_every_request_of_a_crowd_is_there_once_and_in_order(web: PracticeWeb):
    asyncio.run(crowd(web, "bulk.example", 600, 12))
    log = web.until(ended(600))
    assert len(log) == 600
    assert sorted(int(each.path.rpartition("/")[2]) for each in log) == list(range(1, 601))
    assert [each.number for each in log] == list(range(log[0].number, log[0].number + 600))
    assert [each.arrived for each in log] == sorted(each.arrived for each in log)


@pytest.mark.parametrize("at_once", [1, 3])
def test_concurrency_is_never_overstated(web: PracticeWeb, at_once: int):
    """A client that keeps to a limit is never accused of more."""
    asyncio.run(crowd(web, "bulk.example", 400, at_once))
    assert peak(web.until(ended(400))) <= at_once


def test_concurrency_is_seen_where_it_is(web: PracticeWeb):
    """Held open until all have come, so that they are under way at once for certain."""
    web.turn(Knob(Trouble.HANG, "www.acme.example"))
    wires = []
    for number in range(5):
        wire = socket.create_connection(("127.0.0.1", web.port))
        wire.sendall(f"GET /{number} HTTP/1.1\r\nHost: www.acme.example\r\n\r\n".encode())
        wires.append(wire)
    log = web.until(lambda log: len(log) == 5)
    assert sorted(each.concurrency for each in log) == [1, 2, 3, 4, 5]
    assert [each.ended for each in log] == [None] * 5
    get(web, "https://www.kestrel.example/")
    assert web.log("www.kestrel.example")[0].concurrency == 1
    for wire in wires:
        wire.close()
    assert peak(web.until(ended(6))) == 5


def test_a_kept_connection_and_a_slow_reader_are_told_apart(web: PracticeWeb):
    """One connection, one request after the other: never two at once."""
    asyncio.run(crowd(web, "www.acme.example".replace("www.acme", "bulk"), 30, 1))
    log = web.until(ended(30))
    assert all(later.arrived >= earlier.ended for earlier, later in itertools.pairwise(log))


def test_gaps_are_between_arrivals(web: PracticeWeb):
    for _ in range(3):
        get(web, "https://www.acme.example/")
    log = web.log("www.acme.example")
    assert gaps(log) == [log[1].arrived - log[0].arrived, log[2].arrived - log[1].arrived]
    assert gaps(log[:1]) == []


def test_the_log_can_be_asked_for_one_host_and_for_what_is_new(web: PracticeWeb):
    get(web, "https://www.acme.example/")
    get(web, "https://www.kestrel.example/")
    (first,) = web.log("www.acme.example")
    assert [each.host for each in web.log(since=first.number)] == ["www.kestrel.example"]


def test_the_name_of_a_host_is_read_as_people_mean_it(web: PracticeWeb):
    connection = socket.create_connection(("127.0.0.1", web.port))
    connection.sendall(b"GET / HTTP/1.1\r\nHost: WWW.Acme.Example.:443\r\nConnection: close\r\n\r\n")
    assert b"Acme Anvils" in connection.makefile("rb").read()
    connection.close()
    assert web.log()[-1].host == "www.acme.example"


def test_a_proxy_s_form_of_address_is_understood(web: PracticeWeb):
    connection = socket.create_connection(("127.0.0.1", web.port))
    connection.sendall(
        b"GET http://www.acme.example/about?a=b HTTP/1.1\r\nHost: www.acme.example\r\nConnection: close\r\n\r\n"
    )
    assert b"About Acme Anvils" in connection.makefile("rb").read()
    connection.close()
    assert web.log()[-1].target == "/about?a=b"


def test_reset_forgets_requests_and_not_those_under_way(web: PracticeWeb):
    web.turn(Knob(Trouble.HANG, "www.acme.example", times=1))
    wire = socket.create_connection(("127.0.0.1", web.port))
    wire.sendall(b"GET / HTTP/1.1\r\nHost: www.acme.example\r\n\r\n")
    web.until(lambda log: len(log) == 1)
    web.reset()
    get(web, "https://www.acme.example/")
    assert [each.concurrency for each in web.log()] == [2]
    wire.close()


def test_the_log_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(log_module, "MAX_ENTRIES", 10)
    log = Log()
    for number in range(25):
        entry = log.arrive("h", "GET", f"/{number}", {}, (0.0, 0.0))
        log.end(entry, (0.0, 0.0), body=b"", status=200, size=0, whole=True)
    assert [each.target for each in log.entries()] == [f"/{number}" for number in range(15, 25)]


def test_waiting_for_what_never_comes_says_so(web: PracticeWeb):
    with pytest.raises(TimeoutError, match="did not come to this"):
        web.until(lambda log: False, seconds=0.05)


def test_the_log_counts_exactly_from_many_threads(web: PracticeWeb):
    threads = [
        threading.Thread(target=lambda: [get(web, "https://www.acme.example/") for _ in range(20)])
        for _ in range(6)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    log = web.until(ended(120))
    assert len(log) == 120
    assert 1 <= peak(log) <= 6
    assert re.fullmatch(r"Python-urllib.*|", log[0].headers.get("user-agent", ""))
