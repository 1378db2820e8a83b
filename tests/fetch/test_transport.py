"""One hop over HTTP: what goes out, what comes back, when leave is asked, and what is never done twice."""

import asyncio
from pathlib import Path

import pytest

from tests.fetch.hostile import QUICK, Nowhere, Say, answer, ask, hostile, polite, saying, transport
from thresher.core.errors import ConnectionFailed, Refused, TimedOut
from thresher.fetch.guard import Guard
from thresher.fetch.http import HttpTransport, Idle
from thresher.fetch.request import Bounds, Request
from thresher.fetch.resolver import Endpoint, MappedResolver

LIST = Request("https://jobs.acme.example/list?a=1")


async def settled() -> None:
    """Server and client share the loop: after some turns of it, whatever was said or closed has arrived."""
    for _ in range(30):
        await asyncio.sleep(0)


def test_an_answer_comes_back_with_plain_headers_and_timings():
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nLink: <a>\r\nlink: <b>\r\nSet-Cookie: a=b\r\n"
    found = ask(saying(head + b"X-Name: M\xc3\xbcller\r\nX-Old: M\xfcller\r\n\r\nhi"))
    assert (found.status, found.body, found.wire) == (200, b"hi", 2)
    assert dict(found.headers) == {
        "content-type": "text/html",
        "link": "<a>, <b>",
        "x-name": "Müller",
        "x-old": "Müller",
    }
    assert sorted(found.timings) == ["connect", "dns", "first_byte", "total"]
    assert all(seconds >= 0 for seconds in found.timings.values())


def test_the_server_sees_what_was_asked_and_nothing_of_our_tools():
    headers = {"user-agent": "Us/1", "Host": "evil.example"}
    said = ask(
        polite, request=Request("https://jobs.acme.example/a%20b?x=%2F&y=ü#part", "POST", headers, b"body")
    )
    head, _, body = said.body.decode().partition("\r\n\r\n")
    assert head.startswith("POST /a%20b?x=%2F&y=%C3%BC HTTP/1.1\r\n")
    assert body == "body"
    lines = [line.lower() for line in head.split("\r\n")[1:]]
    assert "host: jobs.acme.example" in lines
    assert "user-agent: us/1" in lines
    assert not any(
        "aiohttp" in line or "python" in line or "cookie" in line or "evil" in line for line in lines
    )
    plain = ask(polite, request=Request(LIST.url, "POST", body=b"body")).body.lower()
    assert b"user-agent" not in plain
    assert b"content-type" not in plain


def test_a_redirect_is_handed_back_and_not_followed():
    async def walk() -> tuple[int, int]:
        async with (
            hostile(saying(answer(status="302 Found", location="http://169.254.169.254/"))) as server,
            transport(server) as found,
        ):
            return (await found.send(LIST, QUICK)).status, len(server.requests)

    assert asyncio.run(walk()) == (302, 1)


def test_cookies_are_not_brought_back():
    async def walk() -> bytes:
        async def script(request: bytes, say: Say) -> None:
            await say(answer(request, set_cookie="a=b; Path=/"))

        async with hostile(script) as server, transport(server) as found:
            await found.send(LIST, QUICK)
            return (await found.send(LIST, QUICK)).body

    assert b"cookie" not in asyncio.run(walk()).lower()


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_an_answer_without_a_body_may_announce_one(status: str):
    found = ask(saying(answer(status=status, content_length="999999999", content_encoding="gzip")))
    assert found.body == b""


def test_the_answer_to_head_may_announce_any_length():
    assert ask(saying(answer(content_length="999999999")), request=Request(LIST.url, "HEAD")).body == b""


def test_a_connection_is_kept_and_used_again():
    async def walk() -> tuple[int, int]:
        async with hostile(polite) as server, transport(server) as found:
            for _ in range(5):
                await found.send(LIST, QUICK)
            return server.connections, len(server.requests)

    assert asyncio.run(walk()) == (1, 5)


def test_two_hosts_at_one_address_share_no_connection():
    async def walk() -> int:
        async with hostile(polite) as server, transport(server) as found:
            await found.send(LIST, QUICK)
            await found.send(Request("https://other.example/"), QUICK)
            return server.connections

    assert asyncio.run(walk()) == 2


@pytest.mark.promise(18)
def test_the_connections_kept_open_are_bounded():
    async def walk() -> tuple[int, int]:
        async with hostile(polite) as server:
            found = HttpTransport(
                MappedResolver({"*": f"http://127.0.0.1:{server.port}"}, Nowhere()), Guard(), kept=3
            )
            for number in range(40):
                await found.send(Request(f"http://h{number % 10}.example/"), QUICK)
            await settled()
            left = server.open
            await found.close()
            return left, server.connections

    left, connections = asyncio.run(walk())
    assert left == 3
    assert connections == 3 + 7 * 4  # three hosts keep theirs, the others open one for every request


def test_a_host_that_is_asked_again_in_time_keeps_its_place():
    idle = Idle(2, 4.0)
    asked = (("a", 0.0), ("b", 1.0), ("c", 2.0), ("a", 3.0), ("c", 4.0))
    assert [idle.keeps(host, now) for host, now in asked] == [True, True, False, True, False]
    assert idle.keeps("c", 5.1)  # b has not been asked for more than four seconds
    assert not idle.keeps("b", 5.2)


@pytest.mark.promise(16)
def test_leave_is_asked_when_the_connection_stands_and_before_the_first_byte():
    async def walk() -> list[tuple[int, int]]:
        seen: list[tuple[int, int]] = []
        async with hostile(polite) as server, transport(server) as found:

            async def before_send() -> None:
                # Whatever was written would have arrived by now: the server reads on the same loop.
                await settled()
                seen.append((server.connections, len(server.requests)))

            await found.send(LIST, QUICK, before_send)
            await found.send(LIST, QUICK, before_send)  # over the kept connection
        return seen

    assert asyncio.run(walk()) == [(1, 0), (1, 1)]


@pytest.mark.promise(16)
@pytest.mark.parametrize("kind", [Refused, TimeoutError, OSError, ConnectionResetError, ValueError])
def test_without_leave_nothing_is_sent_and_the_reason_comes_out_as_it_is(kind: type[Exception]):
    problem = kind("paused")

    async def walk() -> int:
        async def before_send() -> None:
            raise problem

        async with hostile(polite) as server, transport(server) as found:
            with pytest.raises(type(problem)) as raised:
                await found.send(LIST, QUICK, before_send)
            assert raised.value is problem
            await server.gone.wait()  # and the connection does not linger
            return len(server.requests)

    assert asyncio.run(walk()) == 0


@pytest.mark.promise(16)
def test_a_request_is_never_sent_twice_behind_our_back():
    """A kept connection that breaks invites the library to try again: the server would see two requests, we
    would count one."""

    async def walk() -> tuple[int, int]:
        asked = 0

        async def script(request: bytes, say: Say) -> None:
            if asked > 1:
                raise ConnectionAbortedError  # took the request, hangs up without a word
            await say(answer(b"first"))

        async def before_send() -> None:
            nonlocal asked
            asked += 1

        async with hostile(script) as server, transport(server) as found:
            await found.send(LIST, QUICK, before_send)
            with pytest.raises(ConnectionFailed, match="hung up before it answered"):
                await found.send(LIST, QUICK, before_send)
            return asked, len(server.requests)

    assert asyncio.run(walk()) == (2, 2)


@pytest.mark.promise(7)
@pytest.mark.parametrize("unasked", [answer(b"not for you"), b"garbage that follows\r\n\r\n"])
def test_what_nobody_asked_for_is_never_taken_for_the_next_answer(unasked: bytes):
    """One page filed under the address of another would be worse than none."""

    async def walk() -> tuple[bytes, int, int]:
        idle, said = asyncio.Event(), asyncio.Event()

        async def script(request: bytes, say: Say) -> None:
            await say(answer(request.split()[1]))
            if server.connections == 1:
                await idle.wait()
                await say(unasked)
                said.set()

        async with hostile(script) as server, transport(server) as found:
            await found.send(Request("https://jobs.acme.example/one"), QUICK)
            idle.set()
            await said.wait()
            await settled()
            body = (await found.send(Request("https://jobs.acme.example/two"), QUICK)).body
            return body, server.connections, len(server.requests)

    assert asyncio.run(walk()) == (b"/two", 2, 2)


def test_a_connection_that_the_server_closed_is_not_used_again():
    async def walk() -> tuple[int, int]:
        async with hostile(saying(answer(b"bye"))) as server, transport(server) as found:
            for _ in range(3):
                await found.send(LIST, QUICK)
                await settled()
            return server.connections, len(server.requests)

    assert asyncio.run(walk()) == (3, 3)


def test_waiting_for_leave_is_not_held_against_the_server():
    async def walk() -> float:
        async def before_send() -> None:
            await asyncio.sleep(1.2)  # not to wait for anything: to be longer than every limit

        async with hostile(polite) as server, transport(server) as found:
            return (await found.send(LIST, Bounds(connect=1.0, read=1.0, total=1.0), before_send)).timings[
                "total"
            ]

    assert asyncio.run(walk()) < 1.0


def test_a_cancelled_request_leaves_no_connection_behind():
    async def walk() -> None:
        reached = asyncio.Event()

        async def script(request: bytes, say: Say) -> None:
            reached.set()
            await asyncio.Event().wait()

        async with hostile(script) as server, transport(server) as found:
            task = asyncio.create_task(found.send(LIST, QUICK))
            await reached.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert server.connections == 1

    asyncio.run(walk())


def test_a_closed_door_says_where_it_was_tried():
    async def walk() -> None:
        async with hostile(polite) as server:
            port = server.port
        found = HttpTransport(MappedResolver({"*": f"http://127.0.0.1:{port}"}, Nowhere()), Guard())
        with pytest.raises(
            ConnectionFailed, match=rf"jobs.acme.example: no connection to 127\.0\.0\.1 port {port}"
        ) as failure:
            await found.send(LIST, QUICK)
        assert failure.value.gate == "host:jobs.acme.example"
        said = str(failure.value)
        assert "(Connection refused); fetch.resolve in thresher.yaml leads there" in said
        assert said.endswith("(the practice web: thresher practice)")
        await found.close()

    asyncio.run(walk())


def test_a_name_server_that_hangs_is_given_up_on_in_time():
    class Hanging:
        async def resolve(self, host: str, port: int, tls: bool) -> tuple[()]:
            await asyncio.Event().wait()
            return ()

    found = HttpTransport(Hanging(), Guard())
    with pytest.raises(TimedOut, match=r"longer than 0\.05 s in total"):
        asyncio.run(found.send(LIST, Bounds(total=0.05)))


SMUGGLED = [
    Request(LIST.url, headers={"x": "a\r\nhost: evil"}),
    Request(LIST.url, "GET / HTTP/1.1\r\nx: y\r\n\r\nGET"),
]


@pytest.mark.parametrize("request_", SMUGGLED)
def test_a_request_that_would_smuggle_another_is_not_sent(request_: Request):
    async def walk() -> int:
        async with hostile(polite) as server, transport(server) as found:
            with pytest.raises(Refused):
                await found.send(request_, QUICK)
            return len(server.requests)

    assert asyncio.run(walk()) == 0


def test_many_requests_at_once_stay_within_the_bound():
    async def walk() -> tuple[int, int]:
        crowd, release = asyncio.Event(), asyncio.Event()

        async def script(request: bytes, say: Say) -> None:
            if len(server.requests) == 3:
                crowd.set()
            await release.wait()
            await say(answer(b"x"))

        async with hostile(script) as server:
            found = HttpTransport(
                MappedResolver({"*": f"http://127.0.0.1:{server.port}"}, Nowhere()), Guard(), at_once=3
            )
            sent = asyncio.gather(
                *(found.send(Request(f"http://h{number}.example/"), QUICK) for number in range(12))
            )
            await crowd.wait()
            await settled()
            at_once = len(server.requests)
            release.set()
            await sent
            await found.close()
            return at_once, len(server.requests)

    assert asyncio.run(walk()) == (3, 12)


def test_the_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A proxy would look names up by itself, past the guard."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert ask(polite).status == 200


@pytest.mark.promise(17)
def test_every_checked_address_is_tried_and_no_other():
    async def walk() -> tuple[int, int]:
        class Names:
            asked = 0

            async def resolve(self, host: str, port: int, tls: bool) -> tuple[Endpoint, ...]:
                self.asked += 1
                return tuple(Endpoint(ip, server.port, tls=False) for ip in ("127.0.0.3", "127.0.0.1"))

        async with hostile(polite) as server:
            names = Names()
            found = HttpTransport(names, Guard(allow=("127.0.0.0/8",)))
            await found.send(LIST, QUICK)
            await found.close()
            return names.asked, server.connections

    assert asyncio.run(walk()) == (1, 1)
