"""Servers that cut off, stall, lie and never stop. Each costs bounded time and memory, and says what it
was."""

import asyncio
import gzip
import resource
import subprocess
import sys
import tracemalloc
import zlib
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fetch.hostile import QUICK, Script, answer, ask, endlessly, hostile, saying, stalling, transport
from tests.house.paper import ROOT
from thresher.core.errors import ConnectionFailed, Malformed, TaskError, TimedOut, TooLarge
from thresher.core.zstd import zstd
from thresher.fetch.request import Bounds, Request

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
IMPATIENT = Bounds(connect=5.0, read=0.2, total=20.0)
BUSY = Bounds(connect=5.0, read=5.0, total=0.4)
MEGABYTE = 1024 * 1024


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (saying(answer(b"abc", content_length="10")), "cut off after 3 of 10 bytes"),
        (saying(answer(b"", content_length="10")), "cut off after 0 of 10 bytes"),
        (saying(CHUNKED + b"5\r\nabc"), "cut off after 3 of an unknown number of bytes"),
        (saying(CHUNKED + b"3\r\nabc\r\n"), "cut off after 3 of an unknown number of bytes"),
        (saying(CHUNKED), "cut off after 0 of an unknown number of bytes"),
        (
            saying(answer(gzip.compress(b"hello " * 99)[:-6], content_encoding="gzip")),
            "its gzip data ends early",
        ),
        (
            saying(OK + b"content-encoding: gzip\r\n\r\n" + gzip.compress(b"hello " * 99)[:20]),
            "its gzip data ends early",
        ),
        (
            saying(answer(zstd.compress(b"hello " * 99)[:-3], content_encoding="zstd")),
            "its zstd data ends early",
        ),
        (
            saying(answer(zlib.compress(b"hello " * 99)[:-3], content_encoding="deflate")),
            "its deflate data ends early",
        ),
        (saying(OK), "hung up before it answered"),
        (saying(b""), "hung up before it answered"),
    ],
)
def test_an_answer_that_was_cut_off_is_not_taken_for_a_whole_one(script: Script, sentence: str):
    with pytest.raises(ConnectionFailed, match=sentence) as failure:
        ask(script)
    assert failure.value.gate == "host:jobs.acme.example"


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (stalling(), "sent nothing for 0.2 s"),
        (stalling(b"HTTP/1.1 200"), "sent nothing for 0.2 s"),
        (stalling(answer(b"abc", content_length="10")), "sent nothing for 0.2 s"),
        (stalling(CHUNKED + b"5\r\nab"), "sent nothing for 0.2 s"),
    ],
)
def test_a_server_that_falls_silent_is_given_up_on(script: Script, sentence: str):
    with pytest.raises(TimedOut, match=sentence) as failure:
        ask(script, IMPATIENT)
    assert failure.value.gate == "host:jobs.acme.example"


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    ("start", "again"),
    [
        (answer(content_length="100000"), b"x"),
        (CHUNKED, b"1\r\nx\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"", b"HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n"),
        (OK + b"x-pad: ", b" " * 64),
        (CHUNKED + b"5;", b"extension=value;"),
        (CHUNKED + b"0\r\nx-trailer: ", b"y" * 64),
    ],
)
def test_a_server_that_dribbles_forever_meets_the_limit_over_all(start: bytes, again: bytes):
    """Never silent for long enough, never done: the reading limit alone would wait for ever."""

    async def dribble(request: bytes, say) -> None:
        await say(start)
        while True:
            await say(again)
            await asyncio.sleep(0.01)

    with pytest.raises(TimedOut, match=r"longer than 0\.4 s in total"):
        ask(dribble, BUSY)


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "script",
    [
        saying(b"garbage\r\n\r\n"),
        saying(b"<html>no head at all</html>"),
        saying(b"SSH-2.0-OpenSSH_9.6\r\n"),
        saying(b"\x00\x01\x02\x03" * 64),
        saying(b"HTTP/1.1 abc OK\r\n\r\n"),
        saying(OK + b"no colon here\r\n\r\n"),
        saying(OK + b"content-length: 5\r\ncontent-length: 6\r\n\r\nabcdef"),
        saying(OK + b"content-length: -5\r\n\r\nabcdef"),
        saying(OK + b"content-length: 99999999999999999999999\r\n\r\nabc"),
        saying(CHUNKED + b"zz\r\nabc\r\n"),
        saying(answer(b"3\r\nabc\r\n0\r\n\r\n", transfer_encoding="chunked")),
        saying(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
        saying(answer(b"not packed at all", content_encoding="gzip")),
        saying(answer(b"not packed at all", content_encoding="zstd")),
        saying(answer(b"abc", content_encoding="compress")),
        saying(answer(gzip.compress(b"abc"), content_encoding="gzip, gzip, gzip")),
        endlessly(b"HTTP/1.1 200 ", b"O" * 4096),
        endlessly(OK, b"x" * 4096),
        endlessly(OK + b"x: ", b"y" * 4096),
        endlessly(OK, b"x: y\r\n" * 500),
        endlessly(OK + b"x: y\r\n", b" folded\r\n" * 500),
    ],
)
def test_what_is_not_http_is_malformed(script: Script):
    with pytest.raises(Malformed) as failure:
        ask(script, QUICK)
    assert failure.value.gate == "host:jobs.acme.example"
    assert len(str(failure.value)) < 400


@pytest.mark.promise(18)
def test_a_length_that_is_too_much_is_refused_before_the_body_comes():
    async def walk() -> int:
        async with (
            hostile(endlessly(answer(content_length=str(100 * MEGABYTE)), bytes(65536))) as server,
            transport(server) as found,
        ):
            with pytest.raises(TooLarge, match="declares 104,857,600 bytes"):
                await found.send(Request("http://big.example/"), Bounds(size=MEGABYTE))
            await server.gone.wait()
            return server.said

    assert asyncio.run(walk()) < 20 * MEGABYTE  # what fits into the kernel's buffers


@pytest.mark.promise(18)
@pytest.mark.parametrize("start", [OK + b"\r\n", OK + b"content-encoding: gzip\r\n\r\n", CHUNKED])
def test_a_stream_without_end_is_cut_at_the_limit_and_hung_up_on(start: bytes):
    async def walk() -> tuple[int, int]:
        again = b"10000\r\n" + bytes(65536) + b"\r\n" if start is CHUNKED else bytes(65536)
        async with hostile(endlessly(start, again)) as server, transport(server) as found:
            tracemalloc.start()
            with pytest.raises(TooLarge, match="more than 1,048,576 bytes"):
                await found.send(Request("http://big.example/"), Bounds(size=MEGABYTE))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            await server.gone.wait()
            return server.said, peak

    said, peak = asyncio.run(walk())
    assert said < 20 * MEGABYTE
    assert peak < 4 * MEGABYTE


BOMBS = {
    "gzip": "gzip.compress(bytes(100 * 2**20), 6)",
    "deflate": "zlib.compress(bytes(100 * 2**20), 6)",
    "zstd": "zstd.compress(bytes(500 * 2**20))",
    "gzip, gzip": "gzip.compress(gzip.compress(bytes(100 * 2**20)))",
    "zstd, zstd": "zstd.compress(zstd.compress(bytes(500 * 2**20)))",
    "br": "brotli.compress(bytes(200 * 2**20), quality=1)",
}
CHILD = """
import sys, zlib, resource
from tests.fetch.hostile import ask, answer, saying
from thresher.core.errors import TooLarge, Malformed
from thresher.fetch.request import Bounds
packed = sys.stdin.buffer.read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    ask(saying(answer(packed, content_encoding=sys.argv[1])), Bounds(size=10 * 2**20))
except TooLarge as refusal:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, refusal)
"""


@pytest.mark.promise(18)
@pytest.mark.parametrize("encoding", list(BOMBS))
def test_a_bomb_does_not_go_off(encoding: str):
    """The resident memory of a process of its own, which reads a bomb that another process made."""
    if encoding == "br":
        pytest.importorskip("brotli", reason="without it we do not say that we take it, and nobody sends it")
    maker = f"import sys, gzip, zlib, {'brotli' if encoding == 'br' else 'gzip'}\nfrom thresher.core.zstd import zstd\nsys.stdout.buffer.write({BOMBS[encoding]})"
    packed = subprocess.run([sys.executable, "-c", maker], stdout=subprocess.PIPE, check=True).stdout
    child = subprocess.run(
        [sys.executable, "-c", CHILD, encoding], input=packed, stdout=subprocess.PIPE, check=True, cwd=ROOT
    )
    grown, _, refusal = child.stdout.decode().partition(" ")
    assert "bomb" in refusal or "fetch.size_limit" in refusal
    assert int(grown) < 60 * 1024  # kilobytes


def test_what_was_packed_only_for_the_way_is_unpacked_too():
    packed = gzip.compress(b"hello")
    chunk = f"{len(packed):x}\r\n".encode() + packed + b"\r\n0\r\n\r\n"
    assert ask(saying(OK + b"transfer-encoding: gzip, chunked\r\n\r\n" + chunk)).body == b"hello"


def test_a_small_body_may_unpack_as_far_as_it_likes():
    assert len(ask(saying(answer(gzip.compress(bytes(MEGABYTE)), content_encoding="gzip"))).body) == MEGABYTE


@pytest.mark.promise(18)
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                OK,
                b"\r\n",
                b"content-length: ",
                b"7",
                b"content-encoding: gzip\r\n",
                b"HTTP/1.0 ",
                b"200",
                b" ",
                b":",
                b"0\r\n",
            ]
        )
        | st.just(b"transfer-encoding: chunked\r\n")
        | st.binary(max_size=12),
        max_size=12,
    )
)
def test_no_bytes_at_all_bring_out_anything_but_an_answer_or_a_typed_error(pieces: list[bytes]):
    with suppress(TaskError):
        ask(saying(b"".join(pieces)), QUICK)


@pytest.mark.promise(18)
def test_a_hundred_hostile_answers_leave_nothing_behind():
    async def walk() -> int:
        async with hostile(endlessly(OK + b"\r\n", bytes(65536))) as server, transport(server) as found:
            for number in range(100):
                with pytest.raises(TooLarge):
                    await found.send(Request(f"http://h{number}.example/"), Bounds(size=100_000))
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for number in range(100, 200):
                with pytest.raises(TooLarge):
                    await found.send(Request(f"http://h{number}.example/"), Bounds(size=100_000))
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert asyncio.run(walk()) < 20 * 1024
