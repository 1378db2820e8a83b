"""Authentication: no request of the API passes without a key or a login, whatever the path; routes check
scopes. And the login of a person, whose browser keeps it as a cookie.

It runs before routing, so that a route which forgets to ask is closed rather than open, and a stranger learns
nothing of which routes exist.
"""

import hmac
import ipaddress
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thresher.admin import admins, logins
from thresher.admin.audit import API, DASHBOARD, Actor, acting, actor_of, person_of
from thresher.admin.keys import ADMIN, READ, Admitted, Denied, admit
from thresher.admin.logins import Login, LoginAttempt, admit_login, csrf_of
from thresher.core.app import App
from thresher.core.clock import SECOND
from thresher.core.errors import ThresherError, UsageError
from thresher.store.store import Store
from thresher.web.answer import run_in_pool
from thresher.web.problem import Problem, of_error

# What a browser sends by itself: the cookie of a login. And what shows that it was our page which made it
# do so.

# A browser takes the first from us alone, by https and for this host only: no neighbour of ours can plant
# one, nor a page by http. Where the browser is on the machine itself and there is no https it would keep none
# of that name, so there it is the second.
SECURE_NAME = "__Host-thresher_session"
NAME = "thresher_session"
HARMLESS = frozenset({"GET", "HEAD"})

Headers = Sequence[tuple[bytes, bytes]]


def cookie_name(scope: Scope) -> str:
    """Return the name of the cookie for the origin of this request."""
    return SECURE_NAME if is_secure(scope) else NAME


def cookie_in(scope: Scope) -> str | None:
    """Return the token that a browser sends. Two different tokens count as none: one of them was planted."""
    wanted = cookie_name(scope)
    said = (value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie")
    pairs = (pair.partition("=") for value in said for pair in value.split(";"))
    found = {value.strip() for name, _, value in pairs if name.strip() == wanted}
    return found.pop() if len(found) == 1 else "" if found else None


def forged(scope: Scope, token: str) -> Problem | None:
    """Say why a request with a cookie may come from a foreign page; None if it cannot."""
    if scope["method"] in HARMLESS:
        return None
    if not carries(values(scope["headers"], b"x-csrf-token"), token):
        return Problem(
            403,
            "CsrfRefused",
            "a change from a browser needs the header X-CSRF-Token; the login and GET /api/me "
            "return its value",
        )
    return foreign(scope)


def carries(said: Sequence[str], token: str) -> bool:
    """Tell whether a change carries, exactly once, what only a page of this login knows: in a header or a
    form field.
    """
    return len(said) == 1 and hmac.compare_digest(
        said[0].encode("utf-8", "surrogatepass"), csrf_of(token).encode()
    )


def foreign(scope: Scope) -> Problem | None:
    """Say why a request comes from a page of another origin; None if it does not say so."""
    origins, hosts = values(scope["headers"], b"origin"), values(scope["headers"], b"host")
    if not origins:
        return None
    scheme, _, place = origins[0].partition("://")
    if len(origins) == len(hosts) == 1 and scheme in ("http", "https") and place.lower() == hosts[0].lower():
        return None
    return Problem(
        403,
        "OriginRefused",
        "this request came from a page of another origin; if there is a proxy, it must not change "
        "the Host header",
    )


def put_cookie(response: Response, scope: Scope, login: Login) -> None:
    """Store a login in the browser, out of reach of scripts."""
    _set(response, scope, login.token, login.lasts_us // SECOND)


def drop_cookie(response: Response, scope: Scope) -> None:
    """Delete the login from the browser."""
    _set(response, scope, "", 0)


def _set(response: Response, scope: Scope, value: str, lasts: int) -> None:
    name, secure = cookie_name(scope), is_secure(scope)
    response.set_cookie(name, value, max_age=lasts, path="/", secure=secure, httponly=True, samesite="strict")


def is_secure(scope: Scope) -> bool:
    """Tell whether the cookie may only travel over https: always, except for a browser on the same
    machine.
    """
    if scope.get("scheme") == "https" or values(scope["headers"], b"x-forwarded-proto") == ["https"]:
        return True
    hosts = values(scope["headers"], b"host")
    return len(hosts) != 1 or not _is_near(hosts[0])


def _is_near(host: str) -> bool:
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    try:
        return name.lower() == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def values(headers: Headers, name: bytes) -> list[str]:
    """Return every value of a header."""
    return [value.decode("latin-1").strip() for header, value in headers if header == name]


# Health checks need no key, and neither does somebody who is about to log in.
OPEN = frozenset(
    {
        ("GET", "/api/health"),
        ("GET", "/healthz"),
        ("GET", "/readyz"),
        ("POST", "/api/setup"),
        ("POST", "/api/login"),
    }
)
METRICS = "/metrics"
OPEN_METRICS = "web.open_metrics"
# What a proxy adds: whoever comes through one may sit anywhere.
FORWARDED = (
    b"forwarded",
    b"via",
    b"x-forwarded-for",
    b"x-forwarded-host",
    b"x-forwarded-proto",
    b"x-real-ip",
)
KEY = "thresher.key"
KEY_HEADER = "X-API-Key"

# In a scope: whom a trusted proxy has signed in, or why not.
SIGNED_IN = "thresher.signed_in"

log = logging.getLogger("thresher.web")


def signed_in(scope: Scope) -> Admitted | Problem | None:
    """Return whom a trusted proxy has signed in; None if no proxy names anybody."""
    found: Admitted | Problem | None = scope.get(SIGNED_IN)
    return found


def way_of(scope: Scope) -> str:
    """Return by which way a request comes, for the audit log."""
    return API if scope["path"].startswith("/api/") else DASHBOARD


def actor_in(scope: Scope, who: Admitted) -> Actor | None:
    """Return whoever acts in a request that may change something; its route adds what was asked for."""
    if scope["method"] in HARMLESS:
        return None
    return actor_of(who, way_of(scope), f"{scope['method']} {scope['path']}")


class Authentication:
    """Lets in requests with a valid key or login, and stores in the request who it is."""

    def __init__(self, app: ASGIApp, store: Store, apps: Iterable[App] = ()) -> None:
        self._app, self._store = app, store
        self._headers = frozenset(name.lower().encode() for name in key_headers(apps))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # whatever it is, there is no door for it
        is_open = (scope["method"], scope["path"]) in OPEN
        found = foreign(scope) if is_open else await self._ask(scope)
        if isinstance(found, Problem):
            log_answer(scope, found.status)
            await found.response()(scope, receive, send)
        elif found is None:
            await self._app(
                scope,
                receive,
                send if scope["method"] == "GET" else noted(scope, "somebody without a key", send),
            )
        else:
            with acting(actor_in(scope, found)):
                await self._app({**scope, KEY: found}, receive, noted(scope, found.who, send))

    async def _ask(self, scope: Scope) -> Admitted | Problem:
        """Find out who this is. A key counts, and then nothing else does: no one sends a key by accident.
        Whom a trusted proxy names counts before a cookie.
        """
        token, cookie, named = token_in(scope["headers"], self._headers), cookie_in(scope), signed_in(scope)
        if token is None and named is not None:
            return (None if isinstance(named, Problem) else forged(scope, cookie or "")) or named
        if token is None and self._store.settings[OPEN_METRICS] and is_local_monitoring(scope):
            return Admitted(0, "this machine", (READ,))
        try:
            if token is not None or cookie is None:
                found = await self._store.run(admit, self._store, token)
            else:
                found = await self._store.run(admit_login, self._store, cookie)
        except ThresherError as error:
            return of_error(error)
        if isinstance(found, Denied):
            return denied(found)
        return (forged(scope, cookie) if found.is_person and cookie is not None else None) or found


def is_local_monitoring(scope: Scope) -> bool:
    """Tell whether a program on this machine asks for the metrics. One that a proxy may have passed on does
    not count, nor does a page whose host name leads here.
    """
    if (scope["method"], scope["path"]) != ("GET", METRICS) or any(
        values(scope["headers"], each) for each in FORWARDED
    ):
        return False
    client, hosts = scope.get("client"), values(scope["headers"], b"host")
    return client is not None and len(hosts) == 1 and _is_near(_bracketed(client[0])) and _is_near(hosts[0])


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def noted(scope: Scope, name: str, send: Send) -> Send:
    """Log who asked for what and how it ended. Never log their credentials."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            log_answer(scope, message["status"], name)
        await send(message)

    return told


def log_answer(scope: Scope, status: int, name: str | None = None) -> None:
    """Write the line of the access log: who asked for what, and how it ended."""
    by = f", by {name}" if name else ""
    shown = {
        "event": "request",
        "method": scope["method"],
        "path": scope["path"],
        "status": status,
        "by": name,
    }
    log.info("%s %s: %d%s", scope["method"], ascii(scope["path"]), status, by, extra=shown)


def denied(why: Denied) -> Problem:
    """Build a 401, or a 429 for a valid key that is over its rate."""
    if why.retry_after is not None:
        return Problem(
            429, "TooManyRequests", f"{why.says} {why.retry_after} s", {"Retry-After": str(why.retry_after)}
        )
    return Problem(401, "KeyRefused", why.says, {"WWW-Authenticate": 'Bearer realm="thresher"'})


def key_headers(apps: Iterable[App]) -> tuple[str, ...]:
    """The headers that carry a key, besides `Authorization`: ours, and those that apps name."""
    return tuple(dict.fromkeys((KEY_HEADER, *(name for app in apps for name in app.key_headers))))


def token_in(headers: Sequence[tuple[bytes, bytes]], names: Collection[bytes]) -> str | None:
    """Return the key that a request sends. Two different keys count as none: no one should have to guess
    which one is meant.
    """
    shown = set()
    for name, value in headers:
        text = value.decode("latin-1").strip()
        if name in names:
            shown.add(text)
        elif name == b"authorization":
            scheme, _, token = text.partition(" ")
            shown.add(token.strip() if scheme.lower() == "bearer" else "")
    return shown.pop() if len(shown) == 1 else "" if shown else None


def holder(request: Request) -> Admitted | None:
    """Return the owner of the key or login of this request; None on open routes."""
    found = request.scope.get(KEY)
    return found if isinstance(found, Admitted) else None


def is_admin(request: Request) -> bool:
    """Tell whether an administrator, or a key with the scope admin, sent this request."""
    found = holder(request)
    return found is not None and found.opens(ADMIN)


# Logging in by name and password: the same steps for the API and for the pages.

NO_SETUP = (
    "this setup token is wrong, used or expired. While there is no administrator, thresher serve "
    "shows a new one when it starts; or run: thresher admin create NAME"
)
_NO_LOGIN = Problem(401, "LoginRefused", logins.REFUSED)
_NOT_THE_PASSWORD = Problem(401, "PasswordWrong", "the present password is wrong; nothing was changed")
HASHERS = 2  # passwords that are checked at the same time, each with 32 MiB and a core
T = TypeVar("T")


async def set_up(store: Store, request: Request, token: str, name: str, secret: str) -> str | Problem:
    """Create the first administrator with the token that the server showed at start; return the name."""
    admins.check_admin(name, secret)
    made = None
    if await store.run(admins.setup_is_open, store, token):
        kept = await hashed_slowly(store, request, secret)
        asked = f"{request.method} {request.url.path} with the token of the server"
        with acting(person_of(name, ADMIN, way_of(request.scope), asked)):
            made = await store.run(admins.first_admin, store, token, name, kept)
    return Problem(401, "SetupRefused", NO_SETUP) if made is None else made.name


async def log_in(store: Store, request: Request, name: str, secret: str) -> Login | Problem:
    """Log someone in whose password is right. Count every attempt, for the address and for the name from that
    address, before checking it.
    """
    tried = await _checked(store, request, name, secret)
    if isinstance(tried, Problem):
        return tried
    found = await store.run(logins.log_in, store, tried, fits=True)
    return _denied(found) if isinstance(found, Denied) else found


async def change_own_password(
    store: Store, request: Request, name: str, old: str, new: str
) -> Login | Problem:
    """Change the password of whoever knows it, end all their logins, and log them in anew. A guess is counted
    as one at the login is.
    """
    admins.check_password(new, name)
    with acting(None):  # to be asked for the password changes nothing
        tried = await _checked(store, request, name, old)
    if isinstance(tried, Problem):
        return _NOT_THE_PASSWORD if tried.status == _NO_LOGIN.status else tried
    kept = await hashed_slowly(store, request, new)
    if not await store.run(admins.replace_password, store, name, tried.kept, kept):
        return _NOT_THE_PASSWORD
    with acting(None):
        return await log_in(store, request, name, new)


async def _checked(store: Store, request: Request, name: str, secret: str) -> LoginAttempt | Problem:
    """Count a try, then compare the password."""
    if len(secret) > admins.MAX_LENGTH:
        raise UsageError(f"a password may have at most {admins.MAX_LENGTH:,} characters")
    tried = await store.run(logins.count_try, store, name, request.client.host if request.client else "")
    if isinstance(tried, Denied):
        return _denied(tried)
    fits = await _slowly(request, lambda: admins.fits(secret, tried.kept))
    return tried if fits and tried.admin_id is not None else _NO_LOGIN


async def hashed_slowly(store: Store, request: Request, password: str) -> str:
    """Hash a password where nobody waits for it."""
    return await _slowly(request, lambda: admins.hashed(password, store.settings.count(admins.COST_SETTING)))


def _denied(why: Denied) -> Problem:
    if why.retry_after is not None:
        return Problem(
            429, "TooManyRequests", f"{why.says} {why.retry_after} s", {"Retry-After": str(why.retry_after)}
        )
    return Problem(401, "LoginRefused", why.says)


async def _slowly(request: Request, work: Callable[[], T]) -> T:
    """Hash on one of a few separate threads, so that neither the event loop nor the database waits."""
    return await run_in_pool(request, "password", HASHERS, work)
