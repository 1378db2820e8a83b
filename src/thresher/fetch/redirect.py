"""Where a redirect leads, and as what: the rules of RFC 9110 §15.4, as browsers apply them. Pure."""

from collections.abc import Mapping
from dataclasses import replace

import ada_url

from thresher.core.errors import Malformed
from thresher.fetch.request import Answer, Request

STATUSES = frozenset({301, 302, 303, 307, 308})
MOST_LOCATION = 8_192

# Headers that speak of a body; they go when it goes.
_OF_THE_BODY = frozenset({"content-type", "content-length", "content-encoding", "content-language", "content-location"})
# Anything that sounds like a secret stays with the origin it was meant for. Dropping one too many is the safe mistake.
_SECRET = frozenset({"authorization", "cookie", "proxy-authorization"})
_SECRET_WORDS = ("auth", "cookie", "key", "password", "secret", "session", "token", "credential")


def is_redirect(answer: Answer) -> bool:
    """Whether the answer sends us elsewhere."""
    return answer.status in STATUSES and bool(answer.headers.get("location"))


def follow(request: Request, answer: Answer) -> Request:
    """The request that a redirect asks for."""
    url = _target(request.url, answer.headers["location"])
    method, body, headers = request.method, request.body, dict(request.headers)
    if _becomes_get(answer.status, method):
        method, body = "GET", b""
        headers = {name: value for name, value in headers.items() if name not in _OF_THE_BODY}
    if _origin(url) != _origin(request.url):
        headers = without_secrets(headers)
    return replace(request, url=url, method=method, headers=headers, body=body)


def without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that another origin may see."""
    return {name: value for name, value in headers.items() if not is_secret(name)}


def is_secret(name: str) -> bool:
    """Whether a header may carry credentials."""
    return name in _SECRET or any(word in name for word in _SECRET_WORDS)


def _becomes_get(status: int, method: str) -> bool:
    if status == 303:
        return method != "HEAD"
    return status in (301, 302) and method == "POST"


def _origin(url: str) -> str:
    return str(ada_url.URL(url).origin)


def _target(base: str, location: str) -> str:
    if len(location) > MOST_LOCATION:
        raise Malformed(f"{base} redirects to an address of {len(location):,} characters; the limit is {MOST_LOCATION:,}")
    try:
        target = ada_url.URL(location.strip(), base=base)
    except ValueError:
        raise Malformed(f"{base} redirects to {location[:200]!r}, which is not an address") from None
    if target.protocol not in ("http:", "https:"):
        raise Malformed(f"{base} redirects to {location[:200]!r}, which is not a web address")
    target.hash = ""
    return str(target.href)
