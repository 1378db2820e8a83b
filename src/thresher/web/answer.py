"""JSON responses, made on a database thread so that the event loop never waits for one."""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from thresher.admin.plain import jsonable
from thresher.core.controls import escape_unseen
from thresher.store.store import Store

JSON = "application/json"

P = ParamSpec("P")
T = TypeVar("T")


async def answer(store: Store, fn: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Response:
    """Call a function in its own transaction, and answer with what it
    returns.
    """
    body = await store.run(lambda: written(fn(*args, **kwargs)))
    return Response(body, media_type=JSON)


async def run_in_pool(request: Request, name: str, size: int, work: Callable[[], T]) -> T:
    """Do something that takes long on one of `size` threads of this name. Nobody else waits for it."""
    pools: Pools = request.app.state.pools
    return await asyncio.get_running_loop().run_in_executor(pools.get(name, size), work)


class Pools:
    """Threads for what takes long, by the name of what they do; made when they are first needed."""

    def __init__(self) -> None:
        self._made: dict[str, ThreadPoolExecutor] = {}

    def get(self, name: str, size: int) -> ThreadPoolExecutor:
        if name not in self._made:
            self._made[name] = ThreadPoolExecutor(size, thread_name_prefix=name)
        return self._made[name]

    def shutdown(self) -> None:
        """Not waited for: a writer ends when its pipe breaks, and it is the event loop that breaks it."""
        for each in self._made.values():
            each.shutdown(wait=False, cancel_futures=True)


def written(value: Any) -> bytes:
    """A value as JSON that may be shown on a terminal. What is not text, such as half a character, becomes a
    question mark.
    """
    text = json.dumps(jsonable(value), ensure_ascii=False, default=str).encode("utf-8", "replace").decode()
    return escape_unseen(text).encode()
