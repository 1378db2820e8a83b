"""Answers: a value of the rooms below as JSON, made on a database thread so that the event loop never waits
for one.
"""

import json
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from starlette.responses import Response

from thresher.admin.plain import jsonable
from thresher.core.controls import escape_unseen
from thresher.store.store import Store

JSON = "application/json"

P = ParamSpec("P")
T = TypeVar("T")


async def answer(store: Store, fn: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Response:
    """Call a function of the rooms below with a whole transaction of its own, and answer with what it
    returns.
    """
    body = await store.run(lambda: written(fn(*args, **kwargs)))
    return Response(body, media_type=JSON)


def written(value: Any) -> bytes:
    """A value as JSON that may be shown on a terminal. What is not text, such as half a character, becomes a
    question mark.
    """
    text = json.dumps(jsonable(value), ensure_ascii=False, default=str).encode("utf-8", "replace").decode()
    return escape_unseen(text).encode()
