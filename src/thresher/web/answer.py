"""Responses: JSON, made on a database thread so that the event loop never waits for one, and files that are
streamed while they are written.
"""

import asyncio
import json
import os
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import aclosing, suppress
from contextvars import copy_context
from typing import Any, BinaryIO, Generic, ParamSpec, TypeVar

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from thresher.admin.plain import jsonable
from thresher.core.limits import escape_unseen
from thresher.store.store import Store

JSON = "application/json"

P = ParamSpec("P")
T = TypeVar("T")


class Answer(Response, Generic[T]):
    """A response whose JSON is a `T`, as `written` writes it. It describes the endpoint that returns it."""


async def answer(store: Store, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Answer[T]:
    """Call a function in its own transaction, and return its result as the response."""
    body = await store.run(lambda: written(fn(*args, **kwargs)))
    return Answer(body, media_type=JSON)


async def run_in_pool(request: Request, name: str, size: int, work: Callable[[], T]) -> T:
    """Run something slow on one of `size` threads with this name, so that no one else waits for it; for
    whoever acts here.
    """
    pools: Pools = request.app.state.pools
    return await asyncio.get_running_loop().run_in_executor(pools.get(name, size), copy_context().run, work)


class Pools:
    """Thread pools for slow work, by name; created when first needed."""

    def __init__(self) -> None:
        self._made: dict[str, ThreadPoolExecutor] = {}

    def get(self, name: str, size: int) -> ThreadPoolExecutor:
        if name not in self._made:
            self._made[name] = ThreadPoolExecutor(size, thread_name_prefix=name)
        return self._made[name]

    def shutdown(self) -> None:
        """Do not wait for the threads: a writer ends when its pipe breaks, and the event loop breaks it."""
        for each in self._made.values():
            each.shutdown(wait=False, cancel_futures=True)


def written(value: Any) -> bytes:
    """Write a value as JSON that is safe to show on a terminal. Anything that is not text, such as half a
    character, becomes a question mark.
    """
    text = json.dumps(jsonable(value), ensure_ascii=False, default=str).encode("utf-8", "replace").decode()
    return escape_unseen(text).encode()


# Stream a file while it is written: from a writer thread, through a pipe, to a client that may be slow.

CHUNK = 65_536


class StreamedFile(StreamingResponse):
    """A response that is written while it is sent. However it ends, the writer ends with it."""

    async def stream_response(self, send: Send) -> None:
        assert isinstance(self.body_iterator, AsyncGenerator)
        async with aclosing(self.body_iterator):
            await super().stream_response(send)


async def flow(executor: Executor, write: Callable[[BinaryIO], object]) -> AsyncGenerator[bytes, None]:
    """Yield what `write` writes, as it comes. Raise if it fails in the middle, so that a part is never taken
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
    """Retrieve the result when no one is left to receive it."""
    if not writing.cancelled():
        writing.exception()


def _write(out: BinaryIO, write: Callable[[BinaryIO], object]) -> None:
    with suppress(BrokenPipeError), out:
        write(out)
