"""The stream that keeps pages up to date, attacked over real sockets: floods, crowds, slow readers, ended
logins, a server that stops."""

import asyncio
import http.client
import logging
import socket
import threading
from contextlib import ExitStack
from dataclasses import replace
from typing import Self

import pytest
from yarl import URL

from tests.apps.roles.http.scraping import World
from tests.apps.roles.http.scraping import world as a_world
from tests.harness.tasks import entry
from tests.web.conftest import PATIENCE, served
from tests.web.pages.visitor import Visitor, page, with_anna
from thresher.admin.settings import set_setting
from thresher.core.errors import DatabaseProblem
from thresher.web.auth import NAME
from thresher.web.pages import live
from thresher.web.pages.live import Changes
from thresher.web.refresh import refresh

pytestmark = pytest.mark.promise(17)


class Stream:
    """One open page's stream, read from its socket."""

    def __init__(self, visitor: Visitor, method: str = "GET") -> None:
        place = URL(visitor.url)
        self.line = http.client.HTTPConnection(str(place.host), place.port, timeout=PATIENCE)
        self.line.request(method, "/live", headers={"Cookie": f"{NAME}={visitor.cookie}"})
        self.answer = self.line.getresponse()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.answer.close()
        self.line.close()

    def next(self) -> dict[str, str] | None:
        """The next thing that it says: its fields, "" for a comment. None once it has ended."""
        said: dict[str, str] = {}
        while line := self.answer.readline():
            text = line.decode().rstrip("\n")
            if not text:
                return said
            name, _, value = text.partition(":")
            said[name] = value.strip()
        return None

    def end(self) -> str | None:
        """The name of the event after the last change. On PostgreSQL others' changes are told, too."""
        while (name := self.event()) == "change":
            pass
        return name

    def event(self) -> str | None:
        """The name of the next event."""
        while (said := self.next()) is not None:
            if "event" in said:
                return said["event"]
        return None


def quick(world: World, interval: float = 0.1, pages: int = 50) -> Visitor:
    """Anna, in a world where pages are told at once."""
    anna = with_anna(world).log_in()
    set_setting(world.store, "web.live_interval", str(interval), "test")
    set_setting(world.store, "web.live_pages", str(pages), "test")
    refresh(world.shop)
    return anna


def test_a_page_hears_of_its_first_look_and_of_every_change_after_it(world):
    with Stream(quick(world)) as stream:
        assert stream.answer.status == 200
        assert stream.answer.headers["Content-Type"].startswith("text/event-stream")
        assert stream.answer.headers["Cache-Control"] == "no-store"
        assert stream.next() == {"retry": str(live.RETRY)}
        assert stream.event() == "change"
        world.store.enqueue([entry()])
        assert stream.event() == "change"


def test_a_stranger_and_a_key_open_no_stream(passer_by):
    told = passer_by.ask("GET", "/live", {"X-API-Key": "thr_000000000000_x"})
    assert (told.status, told.body) == (303, b"")


def test_whoever_wants_no_body_does_not_wait_for_the_end_of_one(anna):
    with Stream(anna, "HEAD") as stream:
        assert stream.answer.status == 200
        assert stream.answer.read() == b""


def test_looking_at_pages_is_no_change_that_they_would_be_told_of(tmp_path):
    """Else pages would make each other look for ever."""
    with a_world(tmp_path) as world:
        anna = quick(world)
        before = world.store.backend.change_mark()
        for path in ("/", "/keys", "/scrapers"):
            anna.see(path)
        assert world.store.backend.change_mark() == before


def test_a_thousand_changes_are_told_as_few_events(world, monkeypatch):
    """A page is told once in an interval, whatever happens meanwhile."""
    monkeypatch.setattr(live, "MAX_UPDATES", 1_000)
    with Stream(quick(world, interval=0.5)) as stream:
        assert stream.event() == "change"
        ended = threading.Event()

        def write() -> None:
            for number in range(20):
                world.store.enqueue([entry(key=f"{number}/{each}") for each in range(50)])
            ended.set()

        began = live.monotonic()
        writer = threading.Thread(target=write)
        writer.start()
        writer.join()
        told = 0
        world.store.enqueue([entry(key="last")])
        while told < 2:
            assert stream.event() == "change"
            told += 1
            world.store.enqueue([entry(key=f"and {told}")])
        assert live.monotonic() - began >= 0.5 * (told - 1), "two events are an interval apart at least"


def test_a_crowd_of_pages_is_told_one_after_the_other(world, monkeypatch):
    """However many are open, the server asks only so many a second to come back."""
    monkeypatch.setattr(live, "MAX_UPDATES", 20)
    anna = quick(world)
    began = live.monotonic()
    with ExitStack() as stack:
        streams = [stack.enter_context(Stream(anna)) for _ in range(10)]
        assert [each.event() for each in streams] == ["change"] * 10
        assert live.monotonic() - began >= 9 / 20


def test_one_page_too_many_is_told_why_and_the_others_go_on(world):
    anna = quick(world, pages=3)
    with ExitStack() as stack:
        streams = [stack.enter_context(Stream(anna)) for _ in range(3)]
        assert [each.event() for each in streams] == ["change"] * 3
        with Stream(anna) as late:
            assert late.answer.status == 200, "after any other status a browser never tries again"
            assert late.next() == {"retry": str(live.RETRY_FULL), "event": "full", "data": "-"}
            assert late.next() is None
        world.store.enqueue([entry()])
        assert [each.event() for each in streams] == ["change"] * 3
        page(anna.ask("GET", "/keys"))
        changes = streams.pop()
        changes.__exit__()
        wait_for_room(anna)


def wait_for_room(anna: Visitor) -> None:
    """Open streams until one is let in: the server hears of a closed one when it next looks."""
    for _ in range(200):
        with Stream(anna) as stream:
            if stream.event() == "change":
                return
    pytest.fail("there never was room again")


def test_whoever_logs_out_elsewhere_is_told_so_and_nothing_else(world):
    anna = quick(world)
    with Stream(anna) as stream:
        assert stream.event() == "change"
        assert anna.post("/logout").status == 303
        assert stream.end() == "logged-out"
        assert stream.next() is None


def test_a_login_that_expires_ends_its_stream(world, monkeypatch):
    monkeypatch.setattr(live, "STILL_HERE", 0.1)
    with Stream(quick(world)) as stream:
        assert stream.event() == "change"
        world.pass_time(13 * 3_600)
        assert stream.end() == "logged-out"
        assert stream.next() is None


def test_a_reader_who_takes_nothing_keeps_nobody_waiting(world):
    anna = quick(world)
    place = URL(anna.url)
    assert place.host
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        deaf.connect((place.host, place.port or 80))
        deaf.sendall(f"GET /live HTTP/1.1\r\nHost: x\r\nCookie: {NAME}={anna.cookie}\r\n\r\n".encode())
        with Stream(anna) as stream:
            for number in range(3):
                assert stream.event() == "change"
                world.store.enqueue([entry(key=str(number))])


def test_a_database_that_is_away_is_news_once_and_once_more_when_it_is_back(world, monkeypatch):
    anna = quick(world)
    backend, looks = world.store.backend, threading.Semaphore(0)
    monkeypatch.setattr(backend, "change_mark", lambda: 7)

    def away() -> int:
        looks.release()
        raise DatabaseProblem("the database is away")

    with Stream(anna) as stream:
        assert stream.event() == "change"
        monkeypatch.setattr(backend, "change_mark", away)
        assert stream.event() == "change"
        for _ in range(5):
            assert looks.acquire(timeout=PATIENCE)
        monkeypatch.setattr(backend, "change_mark", lambda: 7)
        said = stream.next()
        assert said
        assert said["event"] == "change"
        assert int(said["data"]) == 3, "the first look, away, back: nothing in between"


def test_a_server_that_stops_ends_its_streams_at_once(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    with a_world(tmp_path) as world:
        anna = quick(world)
        with served(world.shop) as url, Stream(replace(anna, url=url)) as stream:
            assert stream.event() == "change"
            began = live.monotonic()
        assert stream.answer.isclosed() or stream.next() is None
        assert live.monotonic() - began < world.store.settings.count("web.grace"), "nobody was waited for"
    assert "Cancel" not in caplog.text, "nobody had to be cut off"


def test_nobody_looks_while_no_page_is_open():
    looked = []

    class Store:
        """Counts the looks of the watch."""

        class backend:  # noqa: N801
            change_mark = None

        async def run(self, _: object) -> int:
            looked.append(1)
            return len(looked)

    async def walk() -> None:
        changes = Changes(Store(), lambda: 0.001)  # type: ignore[arg-type]
        assert looked == []
        with changes.listening() as mark:
            mark = await changes.after(mark, PATIENCE)
            await changes.after(mark, PATIENCE)
        seen = len(looked)
        assert seen >= 2
        await asyncio.sleep(0.02)
        assert len(looked) == seen

    asyncio.run(walk())
