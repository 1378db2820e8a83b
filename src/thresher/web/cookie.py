"""What a browser sends by itself: the cookie of a login. And what shows that it was our page which made it do
so.

A foreign page can make a browser send a request with our cookie, but it cannot read our answers, nor set a
header of its own.
"""

import hmac
import ipaddress
from collections.abc import Sequence

from starlette.responses import Response
from starlette.types import Scope

from thresher.admin.logins import Login, csrf_of
from thresher.core.clock import SECOND
from thresher.web.problem import Problem

# A browser takes the first from us alone, by https and for this host only: no neighbour of ours can plant
# one, nor a page by http. Where the browser is on the machine itself and there is no https it would keep none
# of that name, so there it is the second.
SECURE_NAME = "__Host-thresher_session"
NAME = "thresher_session"
HARMLESS = frozenset({"GET", "HEAD"})

Headers = Sequence[tuple[bytes, bytes]]


def cookie_name(scope: Scope) -> str:
    """What the cookie is called where this request comes from."""
    return SECURE_NAME if is_secure(scope) else NAME


def cookie_in(scope: Scope) -> str | None:
    """The token that a browser sends. Two that differ are none: one of them was put there by somebody
    else.
    """
    wanted = cookie_name(scope)
    said = (value.decode("latin-1") for name, value in scope["headers"] if name == b"cookie")
    pairs = (pair.partition("=") for value in said for pair in value.split(";"))
    found = {value.strip() for name, _, value in pairs if name.strip() == wanted}
    return found.pop() if len(found) == 1 else "" if found else None


def forged(scope: Scope, token: str) -> Problem | None:
    """Why a request with a cookie may have been made by a foreign page; None where it cannot have been."""
    if scope["method"] in HARMLESS:
        return None
    if not carries(values(scope["headers"], b"x-csrf-token"), token):
        return Problem(
            403,
            "CsrfRefused",
            "a change by a browser needs the header X-CSRF-Token, as the login and GET /api/me answer it",
        )
    return foreign(scope)


def carries(said: Sequence[str], token: str) -> bool:
    """Whether a change brings, once, what only a page of this login can know: in a header, or in a field of a
    form.
    """
    return len(said) == 1 and hmac.compare_digest(
        said[0].encode("utf-8", "surrogatepass"), csrf_of(token).encode()
    )


def foreign(scope: Scope) -> Problem | None:
    """Why a request comes from a page of another origin; None if it does not say so."""
    origins, hosts = values(scope["headers"], b"origin"), values(scope["headers"], b"host")
    if not origins:
        return None
    scheme, _, place = origins[0].partition("://")
    if len(origins) == len(hosts) == 1 and scheme in ("http", "https") and place.lower() == hosts[0].lower():
        return None
    return Problem(
        403,
        "OriginRefused",
        "a page of another origin asked for this; a proxy in between must leave the header Host as it is",
    )


def put_cookie(response: Response, scope: Scope, login: Login) -> None:
    """Let the browser hold a login, out of reach of any page's scripts."""
    _set(response, scope, login.token, login.lasts_us // SECOND)


def drop_cookie(response: Response, scope: Scope) -> None:
    """Let the browser forget it."""
    _set(response, scope, "", 0)


def _set(response: Response, scope: Scope, value: str, lasts: int) -> None:
    name, secure = cookie_name(scope), is_secure(scope)
    response.set_cookie(name, value, max_age=lasts, path="/", secure=secure, httponly=True, samesite="strict")


def is_secure(scope: Scope) -> bool:
    """Whether the cookie may travel by https only: always, but for a browser on the machine itself."""
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
    """Every value that a header is given."""
    return [value.decode("latin-1").strip() for header, value in headers if header == name]
