"""Certificates: checked against the name that was asked for, wherever the connection goes; what is wrong is
said in words."""

import asyncio
import datetime as dt
import ssl

import pytest
import trustme

from tests.fetch.hostile import QUICK, Nowhere, hostile, polite
from tests.fetch.test_transport_http2 import certificate
from thresher.core.errors import ConnectionFailed, TimedOut
from thresher.fetch.guard import Guard
from thresher.fetch.http import HttpTransport
from thresher.fetch.http2 import Http2Transport
from thresher.fetch.request import Bounds, Request
from thresher.fetch.resolver import MappedResolver

AUTHORITY, STRANGER = trustme.CA(), trustme.CA()
HOST = "jobs.acme.example"
LONG_AGO = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
FAR_AWAY = dt.datetime(2090, 1, 1, tzinfo=dt.UTC)
Kind = type[HttpTransport] | type[Http2Transport]
BOTH = pytest.mark.parametrize("kind", [HttpTransport, Http2Transport])


def ask(kind: Kind, served: ssl.SSLContext) -> tuple[bytes, list[str | None]]:
    """What came back, and the names the client asked the server for."""
    names: list[str | None] = []

    async def walk() -> bytes:
        trust = ssl.create_default_context()
        AUTHORITY.configure_trust(trust)
        served.sni_callback = lambda connection, name, context: names.append(name)
        async with hostile(polite, tls=served) as server:
            found = kind(
                MappedResolver({"*": f"https://127.0.0.1:{server.port}"}, Nowhere()), Guard(), trust=trust
            )
            try:
                return (await found.send(Request(f"https://{HOST}/"), QUICK)).body
            finally:
                await found.close()

    return asyncio.run(walk()), names


@BOTH
def test_the_name_that_was_asked_for_is_the_name_that_is_proven(kind: Kind):
    body, names = ask(kind, certificate(AUTHORITY, HOST))
    assert b"host: jobs.acme.example\r\n" in body.lower()
    assert names == [HOST]


@pytest.mark.promise(17)
@BOTH
@pytest.mark.parametrize(
    ("served", "sentence"),
    [
        (lambda: certificate(AUTHORITY, "other.example"), "was issued for another host"),
        (lambda: certificate(AUTHORITY, "127.0.0.1"), "was issued for another host"),
        (lambda: certificate(STRANGER, HOST), "was signed by an "),
        (
            lambda: certificate(AUTHORITY, HOST, not_before=LONG_AGO, not_after=LONG_AGO.replace(year=2021)),
            "has expired",
        ),
        (
            lambda: certificate(AUTHORITY, HOST, not_before=FAR_AWAY, not_after=FAR_AWAY.replace(year=2091)),
            "is not valid yet",
        ),
    ],
)
def test_a_certificate_that_proves_nothing_ends_the_request_with_a_sentence(
    kind: Kind, served, sentence: str
):
    with pytest.raises(ConnectionFailed, match=f"the certificate of {HOST} {sentence}") as failure:
        ask(kind, served())
    assert failure.value.gate == f"host:{HOST}"


@BOTH
def test_a_server_that_speaks_no_tls_is_told_apart(kind: Kind):
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async def walk() -> None:
        server = await asyncio.start_server(plain, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        found = kind(MappedResolver({"*": f"https://127.0.0.1:{port}"}, Nowhere()), Guard())
        with pytest.raises(
            ConnectionFailed, match=f"{HOST} does not speak TLS on this port; is it http rather than https"
        ):
            await found.send(Request(f"https://{HOST}/"), QUICK)
        await found.close()
        server.close()

    asyncio.run(walk())


@pytest.mark.promise(18)
@BOTH
def test_a_server_that_never_shakes_hands_is_given_up_on(kind: Kind):
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async def walk() -> None:
        server = await asyncio.start_server(silent, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        found = kind(MappedResolver({"*": f"https://127.0.0.1:{port}"}, Nowhere()), Guard())
        with pytest.raises(TimedOut, match=f"{HOST}: no connection within 0.2 s"):
            await found.send(Request(f"https://{HOST}/"), Bounds(connect=0.2, total=20.0))
        await found.close()
        server.close()

    asyncio.run(walk())
