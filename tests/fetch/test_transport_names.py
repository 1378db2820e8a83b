"""From names to addresses: the system's answers, and the operator's map."""

import asyncio
import socket
import threading
from collections.abc import Callable

import pytest

from thresher.core.errors import ConfigError, ConnectionFailed, TimedOut
from thresher.fetch.resolver import KEPT_NAMES, Endpoint, MappedResolver, SystemResolver


def resolved(
    resolver: SystemResolver | MappedResolver, host: str, port: int = 443, *, tls: bool = True
) -> tuple[Endpoint, ...]:
    return asyncio.run(resolver.resolve(host, port, tls))


def failing(problem: Exception) -> Callable[[str], list[str]]:
    def look(host: str) -> list[str]:
        raise problem

    return look


def test_all_addresses_of_a_name_are_given():
    found = resolved(SystemResolver(look=lambda host: ["93.184.216.34", "2606:4700::1"]), "example.com")
    assert found == (Endpoint("93.184.216.34", 443, tls=True), Endpoint("2606:4700::1", 443, tls=True))


@pytest.mark.parametrize(
    ("host", "ip"), [("127.0.0.1", "127.0.0.1"), ("[::1]", "::1"), ("[2606:4700:0::1]", "2606:4700::1")]
)
def test_an_address_is_not_looked_up(host: str, ip: str):
    assert resolved(SystemResolver(look=failing(AssertionError("asked"))), host, 80, tls=False) == (
        Endpoint(ip, 80, tls=False),
    )


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (
            socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
            "does not exist; check the spelling",
        ),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"), "could not be looked up"),
        (UnicodeError("label too long"), "could not be looked up"),
        (OSError("too many open files"), "could not be looked up"),
    ],
)
def test_a_name_that_cannot_be_found_says_which_and_why(problem: Exception, sentence: str):
    with pytest.raises(ConnectionFailed, match=f"the name nowhere.example {sentence}") as failure:
        resolved(SystemResolver(look=failing(problem)), "nowhere.example")
    assert failure.value.gate == "host:nowhere.example"


def test_a_name_without_addresses_is_a_failure():
    with pytest.raises(ConnectionFailed, match="has no address"):
        resolved(SystemResolver(look=lambda host: []), "empty.example")


def test_a_lookup_that_hangs_is_given_up_on_and_others_go_on():
    release = threading.Event()

    def look(host: str) -> list[str]:
        if host == "slow.example":
            release.wait(30)
        return ["93.184.216.34"]

    async def walk() -> tuple[Endpoint, ...]:
        resolver = SystemResolver(limit=3.0, look=look)
        try:
            with pytest.raises(TimedOut, match=r"looking up the name slow\.example took longer than 3 s"):
                await resolver.resolve("slow.example", 80, False)
            return await resolver.resolve("quick.example", 80, False)
        finally:
            release.set()
            resolver.close()

    assert asyncio.run(walk()) == (Endpoint("93.184.216.34", 80, tls=False),)


def test_an_answer_is_kept_for_a_while_and_failures_are_not():
    asked: list[str] = []

    def look(host: str) -> list[str]:
        asked.append(host)
        if len(asked) == 1:
            raise socket.gaierror(socket.EAI_AGAIN, "later")
        return ["93.184.216.34"]

    async def walk(keep: float) -> None:
        resolver = SystemResolver(keep=keep, look=look)
        for _ in range(3):
            try:
                await resolver.resolve("example.com", 80, False)
            except ConnectionFailed:
                continue

    asyncio.run(walk(keep=60.0))
    assert len(asked) == 2
    asyncio.run(walk(keep=0.0))
    assert len(asked) == 5


@pytest.mark.promise(18)
def test_the_names_kept_are_bounded():
    async def walk() -> int:
        resolver = SystemResolver(look=lambda host: ["93.184.216.34"])
        for number in range(KEPT_NAMES + 100):
            await resolver.resolve(f"h{number}.example", 80, False)
        resolver.close()
        return len(resolver._kept)

    assert asyncio.run(walk()) == KEPT_NAMES


def test_the_map_sends_hosts_where_the_operator_says_the_most_specific_rule_first():
    rules = {
        "jobs.acme.example": "http://127.0.0.1:1001",
        "*.acme.example": "http://127.0.0.1:1002",
        "*.Deep.acme.example": "https://127.0.0.1:1003",
        "*": "http://[::1]:1004",
    }
    resolver = MappedResolver(rules, SystemResolver(look=failing(AssertionError("asked"))))
    assert resolved(resolver, "jobs.acme.example") == (Endpoint("127.0.0.1", 1001, tls=False, vouched=True),)
    assert resolved(resolver, "www.acme.example") == (Endpoint("127.0.0.1", 1002, tls=False, vouched=True),)
    assert resolved(resolver, "a.b.acme.example") == (Endpoint("127.0.0.1", 1002, tls=False, vouched=True),)
    assert resolved(resolver, "a.deep.acme.example", 80, tls=False) == (
        Endpoint("127.0.0.1", 1003, tls=True, vouched=True),
    )
    assert resolved(resolver, "acme.example") == (Endpoint("::1", 1004, tls=False, vouched=True),)
    assert resolved(resolver, "notacme.example") == (Endpoint("::1", 1004, tls=False, vouched=True),)


@pytest.mark.promise(17)
def test_the_map_never_vouches_for_an_address_written_in_a_url():
    resolver = MappedResolver(
        {"*": "http://127.0.0.1:1004", "10.0.0.1": "http://127.0.0.1:1005"}, SystemResolver()
    )
    for host in ("10.0.0.1", "127.0.0.1", "[::1]"):
        (endpoint,) = resolved(resolver, host)
        assert not endpoint.vouched
        assert endpoint.port == 443


def test_what_is_not_in_the_map_is_asked_elsewhere():
    resolver = MappedResolver(
        {"acme.example": "http://127.0.0.1"}, SystemResolver(look=lambda host: ["93.184.216.34"])
    )
    assert resolved(resolver, "acme.example") == (Endpoint("127.0.0.1", 80, tls=False, vouched=True),)
    assert resolved(resolver, "example.com") == (Endpoint("93.184.216.34", 443, tls=True),)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "127.0.0.1:80",
        "ftp://127.0.0.1",
        "http://localhost:80",
        "http://127.0.0.1/path",
        "http://127.0.0.1:99999",
    ],
)
def test_a_map_that_leads_nowhere_is_named(address: str):
    with pytest.raises(ConfigError, match=r"resolve: '\*' leads to"):
        MappedResolver({"*": address}, SystemResolver())
