"""The header `Idempotency-Key` on every POST of the API: sent again, a request is answered as before and not
done again. One place, so that no route can forget it.
"""

import hashlib
from collections.abc import Callable, Coroutine
from tempfile import SpooledTemporaryFile
from typing import Any

from fastapi import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive

from thresher.admin.keys import Admitted
from thresher.core.clock import DAY
from thresher.core.errors import UsageError
from thresher.store import idempotency
from thresher.store.idempotency import (
    MAX_ANSWER,
    Attempt,
    KeptAnswer,
    KeyRefusal,
    NamedRequest,
    attempting,
)
from thresher.store.store import Store
from thresher.web.auth import values
from thresher.web.body import IN_MEMORY
from thresher.web.problem import Problem

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
MAX_KEY = 255
CHUNK = 65_536
KEEP, MOST = "history.idempotency_keys", "web.idempotency_keys"

Work = Callable[[Request], Coroutine[Any, Any, Response]]

REFUSED = {
    KeyRefusal.REUSED: Problem(
        422,
        "IdempotencyKeyReused",
        f"this {HEADER} was sent before with another request; choose a new one for each request. Nothing was changed",
    ),
    KeyRefusal.UNDER_WAY: Problem(
        409,
        "IdempotencyKeyUnderWay",
        f"the request with this {HEADER} is under way; send it again a little later to receive its answer",
        {"Retry-After": "1"},
    ),
    KeyRefusal.LOST: Problem(
        409,
        "IdempotencyAnswerNotKept",
        f"the request with this {HEADER} was done, but its answer was not kept: it held a secret, was too long, or was lost "
        "with the server. Nothing was done again; look at what there is",
    ),
    KeyRefusal.FULL: Problem(
        429,
        "TooManyIdempotencyKeys",
        f"there are too many keys of this caller already ({MOST}); send the request without {HEADER}, or wait until the "
        f"oldest are forgotten ({KEEP})",
        {"Retry-After": "3600"},
    ),
}


def key_in(request: Request, who: Admitted | None) -> str | None:
    """Return the idempotency key that a request names; None if it names none. Where it would have no effect
    it is refused or, with methods that do the same however often they are sent, ignored.
    """
    said = values(request.scope["headers"], HEADER.lower().encode())
    if not said or request.method != "POST":
        return None
    if who is None:
        raise UsageError(f"{HEADER} has no effect here, because nobody is logged in yet; leave it out")
    if len(said) > 1 or not 1 <= len(said[0]) <= MAX_KEY or not all("!" <= each <= "~" for each in said[0]):
        raise UsageError(
            f"{HEADER} must be sent once, with 1 to {MAX_KEY} visible ASCII characters, such as a UUID"
        )
    return said[0]


async def once(store: Store, request: Request, who: Admitted, key: str, work: Work) -> Response:
    """Do a request under a key, or answer it as before."""
    with SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        named = NamedRequest(
            f"{'person' if who.is_person else 'key'} {who.id}",
            hashlib.sha256(key.encode()).hexdigest(),
            await _digest(request, file),
        )
        file.seek(0)
        settings = store.settings
        found = await store.run(
            lambda: idempotency.begin(
                store.backend, named, keep_us=round(settings[KEEP] * DAY), most=settings.count(MOST)
            )
        )
        if isinstance(found, KeyRefusal):
            return REFUSED[found].response()
        if isinstance(found, KeptAnswer):
            return Response(found.body, found.status, {REPLAYED: "true"}, found.media)
        return await _attempt(store, found, work, Request(request.scope, _again(file, request.receive)))


async def _attempt(store: Store, attempt: Attempt, work: Work, request: Request) -> Response:
    """Do it. What was refused without a change may be sent again under the same key.

    Where the server itself is stopped, nothing is written down: a thread may still be in the middle of it.
    """
    try:
        with attempting(attempt):
            response = await work(request)
    except Exception:
        await store.run(idempotency.give_up, store.backend, attempt)
        raise
    if response.status_code < 400 or attempt.changed:
        await store.run(idempotency.end, store.backend, attempt, _kept(response))
    else:
        await store.run(idempotency.give_up, store.backend, attempt)
    return response


def _kept(response: Response) -> KeptAnswer | None:
    """Return what to keep of an answer: nothing of one that says itself that it must not be stored, because
    it holds a secret that is shown once, and nothing of a very long one.
    """
    if isinstance(response, StreamingResponse) or "no-store" in response.headers.get("Cache-Control", ""):
        return None
    body = bytes(response.body)
    if len(body) > MAX_ANSWER:
        return None
    return KeptAnswer(response.status_code, response.headers.get("Content-Type"), body)


async def _digest(request: Request, file: "SpooledTemporaryFile[bytes]") -> str:
    """Read the body into a file; return the digest of what is asked for."""
    scope = request.scope
    digest = hashlib.sha256(repr((scope["method"], scope["path"], scope["query_string"])).encode())
    try:
        async for piece in request.stream():
            digest.update(piece)
            file.write(piece)
    except ClientDisconnect:
        raise HTTPException(400, "the client disconnected before it had sent the whole body") from None
    return digest.hexdigest()


def _again(file: "SpooledTemporaryFile[bytes]", receive: Receive) -> Receive:
    """Give the body to the route, piece by piece, and then whatever comes after it."""
    done = False

    async def next_message() -> Message:
        nonlocal done
        if done:
            return await receive()
        piece = file.read(CHUNK)
        done = len(piece) < CHUNK
        return {"type": "http.request", "body": piece, "more_body": not done}

    return next_message
