"""Stream a file while it is written: from a writer thread, through a pipe, to a client that may be slow.

The pipe holds a few kilobytes. When it is full the writer waits, so an export of any size takes the memory of
a few rows; and a client that disconnects breaks the pipe, which ends the writer.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Executor
from contextlib import aclosing, suppress
from typing import BinaryIO

from starlette.responses import StreamingResponse
from starlette.types import Send

CHUNK = 65_536


class StreamedFile(StreamingResponse):
    """An answer that is written while it is sent; however it ends, the writer ends with it."""

    async def stream_response(self, send: Send) -> None:
        assert isinstance(self.body_iterator, AsyncGenerator)
        async with aclosing(self.body_iterator):
            await super().stream_response(send)


async def flow(executor: Executor, write: Callable[[BinaryIO], object]) -> AsyncGenerator[bytes, None]:
    """What `write` writes, as it comes. If it fails in the middle this raises, so that nobody takes a part
    for the whole.
    """
    loop = asyncio.get_running_loop()
    source, drain = os.pipe()
    out = os.fdopen(drain, "wb", CHUNK)
    work = executor.submit(_write, out, write)
    writing = asyncio.wrap_future(work)
    reader = asyncio.StreamReader()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(source, "rb", 0)
    )
    try:
        while chunk := await reader.read(CHUNK):
            yield chunk
        await writing
    finally:
        transport.close()  # a writer that still writes notices, and ends
        if work.cancel():
            out.close()  # it had not begun, and never will
        writing.add_done_callback(_heard)


def _heard(writing: "asyncio.Future[None]") -> None:
    """Nobody is left to be told how it ended."""
    if not writing.cancelled():
        writing.exception()


def _write(out: BinaryIO, write: Callable[[BinaryIO], object]) -> None:
    with suppress(BrokenPipeError), out:
        write(out)
