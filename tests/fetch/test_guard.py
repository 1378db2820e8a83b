"""Attacks on the rule about addresses. Whatever spelling, whatever answer: nobody gets us into a private
network."""

import asyncio
import ipaddress
import re

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch.hostile import QUICK, Nowhere, hostile, polite
from thresher.core.errors import ConfigError, Refused
from thresher.fetch.guard import Guard, route, why_not
from thresher.fetch.http import HttpTransport
from thresher.fetch.request import Request
from thresher.fetch.resolver import Endpoint, MappedResolver, literal

PRIVATE = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.1.2.3",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.7",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "100::1",
    "2001::1",
    "2001:0:a00:1::",
    "2001:db8::1",
    "2001:2::1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd12:3456::1",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "ff02::1",
    "ff0e::1",
    "4000::1",
    "fe80::1%eth0",
    "2606:4700::1%1",
    "not an address",
    "",
    "127.0.0.1 ",
    "127.1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "172.32.0.1",
    "100.128.0.1",
    "11.0.0.1",
    "2606:4700::1111",
    "2a00:1450:4001::1",
    "64:ff9b::808:808",
    "::ffff:8.8.8.8",
]
SPELLINGS = [
    "http://127.0.0.1/",
    "http://127.0.0.1:80/",
    "http://127.1/",
    "http://0x7f.1/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://017700000001/",
    "http://0177.0.0.1/",
    "http://127.0.0.1./",
    "http://127。0。0。1/",
    "http://①②⑦.0.0.1/",
    "http://%31%32%37.0.0.1/",
    "http:127.0.0.1",
    "http:/127.0.0.1/",
    "http:///127.0.0.1/",
    "http:\\\\127.0.0.1\\",
    "http://127.0.0.1#@example.com/",
    "\thttp://127.0.0.1/",
    "http://12\n7.0.0.1/",
    "HTTP://127.0.0.1",
    "https://127.0.0.1:8443/",
    "http://example.com@127.0.0.1/",
    "http://example.com:80@127.0.0.1/",
    "http://example.com%40127.0.0.1/",
    "http://[::1]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[::]/",
    "http://0/",
    "http://0.0.0.0:8080/",
    "http://[64:ff9b::10.0.0.1]/",
    "http://[2002:7f00:1::]/",
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    "http://0251.0376.0251.0376/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1]/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://sub.localhost/",
    "http://a.b.localhost:8080/",
    "http://ⓛocalhost/",
    "http://localhoſt/",
    "http://10.1.2.3/",
    "http://192.168.0.1/",
    "http://172.16.5.5:8080/",
]
OTHER_REFUSALS = [
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://example.com:70/_",
    "data:text/html,hello",
    "javascript:alert(1)",
    "blob:https://example.com/x",
    "ws://example.com/",
    "view-source:http://example.com/",
    "http://example.com:22/",
    "http://example.com:6379/",
    "http://example.com:0/",
    "https://example.com:25/",
    "http://user:secret@example.com/",
    "http://user@example.com/",
    "http://example.com./",
    "http://",
    "https:///",
    "//example.com/",
    "/relative",
    "relative",
    "",
    "http://exa mple.com/",
    "http://example.com:99999/",
    "http://[::1",
    "http://a%00b/",
    "http://\ud800/",
    "http://example.com/" + "a" * 9_000,
    "http://;/",
    "http://a..b/",
    "http://.com/",
    "http://*.example.com/",
    "http://a'b/",
    "http://" + "a" * 64 + ".com/",
    "http://" + "a." * 127 + "com/",
]


class Answering:
    """A name server that gives one list of answers after the other, and counts."""

    def __init__(self, *answers: tuple[str, ...]) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def resolve(self, host: str, port: int, tls: bool) -> tuple[Endpoint, ...]:
        self.asked += 1
        ips = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return tuple(Endpoint(ip, port, tls) for ip in ips)


@pytest.mark.promise(17)
@pytest.mark.parametrize("ip", PRIVATE)
def test_an_address_that_is_not_of_the_public_web_is_refused(ip: str):
    with pytest.raises(Refused, match=r"fetch\.allow"):
        Guard().check_spot("innocent.example", Endpoint(ip, 80, tls=False))


@pytest.mark.parametrize("ip", PUBLIC)
def test_an_address_of_the_public_web_passes(ip: str):
    Guard().check_spot("example.com", Endpoint(ip, 443, tls=True))


@pytest.mark.promise(17)
@pytest.mark.parametrize("url", SPELLINGS)
def test_no_spelling_of_a_private_address_gets_past_the_guard(url: str):
    with pytest.raises(Refused):
        Guard().check_url(url)


@pytest.mark.promise(17)
@pytest.mark.parametrize("url", OTHER_REFUSALS)
def test_odd_schemes_ports_credentials_and_nonsense_are_refused(url: str):
    with pytest.raises(Refused):
        Guard().check_url(url)


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "location",
    [
        "//127.0.0.1/",
        "//0x7f.1",
        "\\\\127.0.0.1\\x",
        "/\\127.0.0.1/",
        "///127.0.0.1/",
        "https:/\\127.0.0.1",
        "//user@10.0.0.1/",
        "//localhost",
        "http://[::ffff:10.0.0.1]/",
        "\t//169.254.169.254/latest",
        "//127.0.0.1:8080?x",
        "//127.0.0.1\\@example.com/",
        "file:///etc/passwd",
        "//example.com:22/",
        "javascript:fetch('/')",
        "//[::1]#example.com",
    ],
)
def test_no_redirect_however_written_leads_home(location: str):
    with pytest.raises(Refused):
        Guard().check_url(ada_url.join_url("https://shop.example/a/b?c", location))


@pytest.mark.parametrize(
    "location",
    ["/next", "next?x=1", "?page=2", "//other.example/", "HTTPS://Other.Example", "../..", "#part", ""],
)
def test_an_ordinary_redirect_passes(location: str):
    Guard().check_url(ada_url.join_url("https://shop.example/a/b?c", location))


@pytest.mark.promise(17)
@given(st.integers(0, 2**32 - 1))
def test_the_rule_is_never_laxer_than_pythons_own(number: int):
    address = ipaddress.IPv4Address(number)
    if why_not(str(address)) is None:
        assert address.is_global


@pytest.mark.promise(17)
@given(st.integers(0, 2**128 - 1) | st.integers(0, 2**32 - 1).map(lambda low: (0x64FF9B << 96) | low))
def test_the_rule_is_never_laxer_than_pythons_own_for_the_new_addresses(number: int):
    address = ipaddress.IPv6Address(number)
    if why_not(str(address)) is None and address not in ipaddress.IPv6Network("64:ff9b::/96"):
        assert address.is_global


@pytest.mark.promise(17)
@given(st.text(max_size=60) | st.text(alphabet="htps:/@.[]%0x127#?\\\t ", max_size=40))
def test_no_text_at_all_makes_the_guard_stumble(text: str):
    for url in (text, f"http://{text}", f"http://{text}/"):
        try:
            target = Guard().check_url(url)
        except Refused:
            continue
        assert target.href.startswith(("http://", "https://"))
        assert target.href == Guard().check_url(target.href).href
        address = literal(target.host)
        assert why_not(address) is None if address else re.fullmatch(r"[a-z0-9_.-]+", target.host)
        assert target.host != "localhost"


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "ips",
    [
        ("8.8.8.8", "10.0.0.1"),
        ("10.0.0.1", "8.8.8.8"),
        ("2606:4700::1", "::1"),
        (*["8.8.8.8"] * 9, "10.0.0.1"),
    ],
)
def test_one_bad_address_among_good_ones_refuses_the_name(ips: tuple[str, ...]):
    guard = Guard()
    with pytest.raises(Refused, match=r"mixed\.example leads to"):
        asyncio.run(route(guard.check_url("http://mixed.example/"), Answering(ips), guard))


@pytest.mark.promise(17)
def test_a_name_that_leads_home_reaches_nobody():
    async def walk() -> int:
        async with hostile(polite) as server:
            transport = HttpTransport(Answering(("127.0.0.1",)), Guard(ports=(server.port,)))
            with pytest.raises(Refused, match=r"evil.example leads to 127.0.0.1, which is this machine"):
                await transport.send(Request(f"http://evil.example:{server.port}/"), QUICK)
            await transport.close()
            return server.connections

    assert asyncio.run(walk()) == 0


@pytest.mark.promise(17)
def test_a_name_server_that_lies_the_second_time_is_not_asked_a_second_time():
    """Rebinding: harmless when checked, the router when dialled. Here: allowed when checked, a closed door
    when dialled."""

    async def walk() -> tuple[int, int]:
        async with hostile(polite) as server:
            names = Answering(("127.0.0.1",), ("127.0.0.2",))
            transport = HttpTransport(names, Guard(allow=("127.0.0.1/32",), ports=(server.port,)))
            await transport.send(Request(f"http://rebind.example:{server.port}/"), QUICK)
            await transport.close()
            return names.asked, server.connections

    assert asyncio.run(walk()) == (1, 1)


@pytest.mark.promise(17)
def test_a_name_that_turned_bad_is_refused_even_while_a_good_connection_is_kept():
    async def walk() -> int:
        async with hostile(polite) as server:
            transport = HttpTransport(
                Answering(("127.0.0.1",), ("127.0.0.2",)),
                Guard(allow=("127.0.0.1/32",), ports=(server.port,)),
            )
            await transport.send(Request(f"http://rebind.example:{server.port}/"), QUICK)
            with pytest.raises(Refused, match=r"127\.0\.0\.2"):
                await transport.send(Request(f"http://rebind.example:{server.port}/"), QUICK)
            await transport.close()
            return len(server.requests)

    assert asyncio.run(walk()) == 1


@pytest.mark.promise(17)
def test_a_star_in_the_map_does_not_open_addresses_written_in_a_url():
    """Neither by mapping them nor by vouching for them; a resolver is not even asked."""

    async def walk() -> int:
        async with hostile(polite) as server:
            transport = HttpTransport(
                MappedResolver({"*": f"http://127.0.0.1:{server.port}"}, Nowhere()), Guard()
            )
            for url in (
                "http://127.0.0.1/",
                "http://[::1]/",
                "http://10.0.0.1/",
                "http://0x7f.1/",
                "http://localhost/",
            ):
                with pytest.raises(Refused):
                    await transport.send(Request(url), QUICK)
            await transport.close()
            return server.connections

    assert asyncio.run(walk()) == 0


@pytest.mark.promise(17)
def test_a_resolver_cannot_turn_an_address_in_a_url_into_another():
    guard = Guard()
    names = Answering(("127.0.0.1",))
    endpoints = asyncio.run(route(guard.check_url("http://8.8.8.8/"), names, guard))
    assert endpoints == (Endpoint("8.8.8.8", 80, tls=False),)


def test_a_url_that_passes_is_spelled_once_and_for_all():
    target = Guard().check_url("HTTPS://Jobs.Acme.Example:443/a b/../c?x=1 2#part")
    assert (target.href, target.host, target.port, target.tls) == (
        "https://jobs.acme.example/c?x=1%202",
        "jobs.acme.example",
        443,
        True,
    )
    assert (target.authority, target.path) == ("jobs.acme.example", "/c?x=1%202")
    assert Guard().check_url("http://bücher.example:8080").authority == "xn--bcher-kva.example:8080"


def test_a_network_of_ones_own_can_be_allowed():
    guard = Guard(allow=("10.20.0.0/16", "fd12::/64"))
    guard.check_url("http://10.20.3.4/")
    guard.check_spot("wiki.intra", Endpoint("10.20.3.4", 80, tls=False))
    guard.check_spot("wiki.intra", Endpoint("::ffff:10.20.3.4", 80, tls=False))
    guard.check_spot("wiki.intra", Endpoint("fd12::1", 80, tls=False))
    with pytest.raises(Refused):
        guard.check_spot("wiki.intra", Endpoint("10.21.0.1", 80, tls=False))
    with pytest.raises(Refused):
        guard.check_url("http://10.20.3.4:8000/")


def test_a_host_of_ones_own_can_be_allowed_on_the_usual_ports():
    guard = Guard(allow=("Wiki.Intra", "localhost"))
    guard.check_spot(guard.check_url("http://wiki.intra/").host, Endpoint("10.0.0.5", 80, tls=False))
    guard.check_spot(guard.check_url("http://localhost:8080/").host, Endpoint("127.0.0.1", 8080, tls=False))
    with pytest.raises(Refused):
        guard.check_spot("other.intra", Endpoint("10.0.0.5", 80, tls=False))
    with pytest.raises(Refused, match=r"wiki.intra:9000 to fetch.allow"):
        guard.check_url("http://wiki.intra:9000/")


def test_one_port_of_a_host_can_be_allowed_and_opens_no_other():
    guard = Guard(allow=("wiki.intra:9000", "127.0.0.1:8123", "[::1]:8123", "plain.intra:80"))
    guard.check_spot(guard.check_url("http://wiki.intra:9000/").host, Endpoint("10.0.0.5", 9000, tls=False))
    guard.check_url("http://127.0.0.1:8123/")
    guard.check_url("http://[::1]:8123/")
    guard.check_spot("plain.intra", Endpoint("10.0.0.5", 80, tls=False))
    for url in ("http://127.0.0.1/", "http://127.0.0.1:8124/", "http://[::1]:80/"):
        with pytest.raises(Refused):
            guard.check_url(url)
    with pytest.raises(Refused):
        guard.check_spot("wiki.intra", Endpoint("10.0.0.5", 443, tls=True))
    with pytest.raises(Refused):
        guard.check_spot("sneaky.example", Endpoint("127.0.0.1", 8123, tls=False))


@pytest.mark.promise(17)
def test_an_allowed_name_does_not_open_the_way_to_a_metadata_service():
    guard = Guard(allow=("wiki.intra",))
    for ip in ("169.254.169.254", "fd00:ec2::254", "224.0.0.1", "0.0.0.0"):
        with pytest.raises(Refused) as refusal:
            guard.check_spot("wiki.intra", Endpoint(ip, 80, tls=False))
        assert "wiki.intra or" not in str(refusal.value)
    Guard(allow=("169.254.169.254",)).check_url("http://169.254.169.254/")


def test_a_second_name_for_a_host_is_told_to_use_the_first():
    """A gate is kept by name: with a dot behind it, one host would have two."""
    with pytest.raises(Refused, match="ends with a dot"):
        Guard().check_url("https://example.com./")


@pytest.mark.promise(17)
@pytest.mark.parametrize(
    "url",
    [
        "https://user:s3cret@example.com/",
        "ftp://user:s3cret@example.com/",
        "http://user:s3cret@exa mple.com/",
    ],
)
def test_a_password_in_a_url_does_not_get_into_the_message(url: str):
    with pytest.raises(Refused) as refusal:
        Guard().check_url(url)
    assert "s3cret" not in str(refusal.value)


def test_a_refusal_says_which_address_why_and_what_to_do():
    with pytest.raises(Refused) as refusal:
        Guard().check_spot("wiki.intra", Endpoint("10.0.0.5", 80, tls=False))
    said = "wiki.intra leads to 10.0.0.5, which is a private network; to allow it, add wiki.intra or 10.0.0.5 to fetch.allow"
    assert str(refusal.value) == said


@pytest.mark.parametrize(
    "entry",
    [
        "",
        "10.20.0.1/16",
        "http://wiki.intra",
        "wiki.intra/path",
        "user@wiki.intra",
        "*.intra",
        "wiki.intra:99999",
        "a b",
        "[::1",
    ],
)
def test_an_exception_that_is_none_is_named(entry: str):
    with pytest.raises(ConfigError, match=r"fetch\.allow: .* is not a network"):
        Guard(allow=(entry,))


def test_the_guard_describes_its_rule_and_every_exception():
    assert Guard(allow=("10.20.0.0/16", "wiki.intra")).describe() == (
        "public addresses on ports 80, 443, 8080, 8443",
        "allowed besides: 10.20.0.0/16",
        "allowed besides: wiki.intra",
    )
