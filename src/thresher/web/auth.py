"""Authentication of the API: no request passes without a key or a login, whatever the path. Routes check
scopes.

It runs before routing, so that a route which forgets to ask is closed rather than open, and a stranger learns
nothing of which routes exist.
"""

import logging
from collections.abc import Sequence

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thresher.admin.keys import Admitted, Denied, admit
from thresher.admin.logins import admit_login
from thresher.core.errors import ThresherError
from thresher.store.store import Store
from thresher.web.cookie import cookie_in, foreign, forged
from thresher.web.problem import Problem, of_error

# Health checks need no key, and neither does somebody who is about to log in.
OPEN = frozenset({("GET", "/api/health"), ("POST", "/api/setup"), ("POST", "/api/login")})
KEY = "thresher.key"
_HEADERS = (b"x-scraper-api-key", b"x-api-key")

log = logging.getLogger("thresher.web")


class Authentication:
    """Lets in whoever holds a key or is logged in, and writes into the request who that is."""

    def __init__(self, app: ASGIApp, store: Store) -> None:
        self._app, self._store = app, store

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # whatever it is, there is no door for it
        is_open = (scope["method"], scope["path"]) in OPEN
        found = foreign(scope) if is_open else await self._ask(scope)
        if isinstance(found, Problem):
            log.info("%s %s: %d", scope["method"], ascii(scope["path"]), found.status)
            await found.response()(scope, receive, send)
        elif found is None:
            await self._app(
                scope,
                receive,
                send if scope["method"] == "GET" else noted(scope, "somebody without a key", send),
            )
        else:
            await self._app({**scope, KEY: found}, receive, noted(scope, found.who, send))

    async def _ask(self, scope: Scope) -> Admitted | Problem:
        """Who this is. A key that is shown counts, and no cookie beside it: nobody sends a key by
        accident.
        """
        token, cookie = token_in(scope["headers"]), cookie_in(scope)
        try:
            if token is not None or cookie is None:
                found = await self._store.run(admit, self._store, token)
            else:
                found = await self._store.run(admit_login, self._store, cookie)
        except ThresherError as error:
            return of_error(error)
        if isinstance(found, Denied):
            return denied(found)
        return (forged(scope, cookie) if found.admin and cookie is not None else None) or found


def noted(scope: Scope, name: str, send: Send) -> Send:
    """Says in the log who asked for what, and how that ended. Never what they hold."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            log.info("%s %s: %d, by %s", scope["method"], ascii(scope["path"]), message["status"], name)
        await send(message)

    return told


def denied(why: Denied) -> Problem:
    """401, or 429 for a good key that is over its rate."""
    if why.retry_after is not None:
        return Problem(
            429, "TooManyRequests", f"{why.says} {why.retry_after} s", {"Retry-After": str(why.retry_after)}
        )
    return Problem(401, "KeyRefused", why.says, {"WWW-Authenticate": 'Bearer realm="thresher"'})


def token_in(headers: Sequence[tuple[bytes, bytes]]) -> str | None:
    """The key that a request shows. Two that differ are none: nobody should have to guess which one
    counts.
    """
    shown = set()
    for name, value in headers:
        text = value.decode("latin-1").strip()
        if name in _HEADERS:
            shown.add(text)
        elif name == b"authorization":
            scheme, _, token = text.partition(" ")
            shown.add(token.strip() if scheme.lower() == "bearer" else "")
    return shown.pop() if len(shown) == 1 else "" if shown else None


def holder(request: Request) -> Admitted | None:
    """Whose key or login this request was let in with; None at the routes that are open."""
    found = request.scope.get(KEY)
    return found if isinstance(found, Admitted) else None
