"""Sign-in by a proxy: it says in a header who somebody is, and is believed only if it was named.

The header is read before anything else and taken out of every request, so that nothing behind this can take
it from anybody but a trusted proxy.
"""

import ipaddress
import logging
import re
import secrets
from collections.abc import Sequence

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thresher.admin import logins
from thresher.admin.admins import MAX_NAME, is_name
from thresher.admin.keys import Admitted, Denied
from thresher.core.errors import ThresherError, UsageError
from thresher.store.store import Store
from thresher.web.auth import HARMLESS, SIGNED_IN, cookie_in, cookie_name, is_secure, way_of
from thresher.web.connections import is_among
from thresher.web.problem import Problem, of_error

OPTION = "--trusted-user-header"
NAMED = "thresher.named"  # in a scope: what the trusted proxy said, once for each header
MAX_TOLD = 1_000
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
# Headers that a browser or a proxy sends anyway, or that show who asks in another way.
_TAKEN = frozenset(
    {
        "accept",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "cookie",
        "forwarded",
        "host",
        "origin",
        "referer",
        "transfer-encoding",
        "user-agent",
        "x-api-key",
        "x-csrf-token",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-real-ip",
    }
)

log = logging.getLogger("thresher.web")

TWO_ENDS = Problem(
    400,
    "TwoLengths",
    "this request has both Content-Length and Transfer-Encoding; send one of them",
    {"Connection": "close"},
)


def read_header(name: str, proxies: Sequence[str]) -> str:
    """Check the name of the header with which proxies say who somebody is."""
    if not _HEADER.fullmatch(name) or name.lower() in _TAKEN:
        raise UsageError(
            f"{OPTION} must be the name of a header that only the proxy sets, such as X-Remote-User, got {name[:64]!r}"
        )
    if not proxies:
        raise UsageError(
            f"{OPTION} needs --forwarded-allow-ips: without it anybody could send {name} and be whom they like. Name "
            "the addresses of the proxy"
        )
    return name


class TrustedHeader:
    """Stands before everything: reads the header of trusted proxies, and takes it out of every request."""

    def __init__(self, app: ASGIApp, header: str, proxies: Sequence[str]) -> None:
        self._app, self._header = app, header
        self._name = header.lower().encode()
        self._proxies = [ipaddress.ip_network(each) for each in proxies]
        self._told: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _ends_twice(scope):
            await TWO_ENDS.response()(scope, receive, send)
            return
        await self._app(self._read(scope) if scope["type"] == "http" else scope, receive, send)

    def _read(self, scope: Scope) -> Scope:
        said = [value for name, value in scope["headers"] if name == self._name]
        if not said:
            return scope
        rest = [(name, value) for name, value in scope["headers"] if name != self._name]
        address = scope["client"][0] if scope.get("client") else ""
        if is_among(address, self._proxies):
            return {**scope, "headers": rest, NAMED: said}
        self._tell(address)
        return {**scope, "headers": rest}

    def _tell(self, address: str) -> None:
        """Say once for each address that it tries this, for as many addresses as memory should hold."""
        if address not in self._told and len(self._told) < MAX_TOLD:
            self._told.add(address)
            log.warning(
                "ignored the header %s from %s: only addresses of --forwarded-allow-ips may say who somebody is",
                self._header,
                address or "nowhere",
            )


def _ends_twice(scope: Scope) -> bool:
    """Tell whether proxy and server may disagree where a request ends. What follows it would come from the
    proxy's address, with whatever name its sender has written there.
    """
    return {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}


def named_by_proxy(scope: Scope) -> str | Problem | None:
    """Return whom the trusted proxy names; None if it names nobody."""
    said: Sequence[bytes] = scope.get(NAMED, ())
    if len(said) > 1:
        return Problem(
            400,
            "TwoNames",
            "this request says twice who you are; the proxy must replace the header that a client sends, and not add to it",
        )
    if not said or not said[0].strip():
        return None
    try:
        name = said[0].strip().decode()
    except UnicodeDecodeError:
        name = ""
    if not is_name(name):
        return Problem(
            400, "NoName", f"the proxy must send a name of 1 to {MAX_NAME} visible characters in UTF-8"
        )
    return name


async def sign_in(store: Store, scope: Scope, send: Send) -> tuple[Scope, Send]:
    """Note in a request whom the trusted proxy names, or why they are not let in."""
    name = named_by_proxy(scope)
    if name is None:
        return scope, send
    found = name if isinstance(name, Problem) else await _admitted(store, scope, name)
    return with_form_token({**scope, SIGNED_IN: found}, send)


async def _admitted(store: Store, scope: Scope, name: str) -> Admitted | Problem:
    try:
        found = await store.run(logins.admit_proxied, store, name, way_of(scope))
    except ThresherError as error:
        return of_error(error)
    return Problem(403, "UnknownPerson", found.says) if isinstance(found, Denied) else found


def with_form_token(scope: Scope, send: Send) -> tuple[Scope, Send]:
    """Give a browser that a proxy has signed in the token that its forms are checked with. It opens nothing:
    the proxy says who somebody is. One that follows from it is in each form, and a foreign page knows
    neither.
    """
    if scope["method"] not in HARMLESS or cookie_in(scope) is not None:
        return scope, send
    token = f"thp_{secrets.token_urlsafe(32)}"
    set_by = Response()
    set_by.set_cookie(
        cookie_name(scope), token, path="/", secure=is_secure(scope), httponly=True, samesite="strict"
    )
    headers = [each for each in set_by.raw_headers if each[0] == b"set-cookie"]

    async def giving(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *headers]}
        await send(message)

    held = (b"cookie", f"{cookie_name(scope)}={token}".encode())
    return {**scope, "headers": [*scope["headers"], held]}, giving
