"""Where a redirect leads, and as what: the rules of RFC 9110 §15.4, as browsers apply them. Pure."""

from dataclasses import replace

import ada_url

from thresher.core.credentials import origin_of
from thresher.core.errors import Malformed
from thresher.fetch.request import Request, Response

STATUSES = frozenset({301, 302, 303, 307, 308})
MAX_LOCATION = 8_192

# Headers that speak of a body; they go when it goes.
_OF_THE_BODY = frozenset(
    {"content-type", "content-length", "content-encoding", "content-language", "content-location"}
)
# What another origin may see of our headers. No list of names can say what is a secret; this one says what is
# surely none.
SHARED = frozenset(
    {"accept", "accept-language", "cache-control", "content-language", "content-type", "pragma", "user-agent"}
)


def is_redirect(answer: Response) -> bool:
    """Whether the answer sends us elsewhere."""
    return answer.status in STATUSES and bool(answer.headers.get("location"))


def follow(request: Request, answer: Response) -> Request:
    """The request that a redirect asks for. Whatever was meant for one origin alone stays there, also on the
    way back.
    """
    url = _target(request.url, answer.headers["location"])
    method, body, headers, credentials = (
        request.method,
        request.body,
        dict(request.headers),
        request.credentials,
    )
    if _becomes_get(answer.status, method):
        method, body = "GET", b""
        headers = {name: value for name, value in headers.items() if name not in _OF_THE_BODY}
    if origin_of(url) != origin_of(request.url):
        headers, credentials = {name: value for name, value in headers.items() if name in SHARED}, None
    return replace(request, url=url, method=method, headers=headers, body=body, credentials=credentials)


def _becomes_get(status: int, method: str) -> bool:
    if status == 303:
        return method != "HEAD"
    return status in (301, 302) and method == "POST"


def _target(base: str, location: str) -> str:
    if len(location) > MAX_LOCATION:
        raise Malformed(
            f"{base} redirects to a URL of {len(location):,} characters; the limit is {MAX_LOCATION:,}"
        )
    try:
        target = ada_url.URL(location.strip(), base=base)
    except ValueError:
        raise Malformed(f"{base} redirects to {location[:200]!r}, which is not a URL") from None
    if target.protocol not in ("http:", "https:"):
        raise Malformed(f"{base} redirects to {location[:200]!r}, which is not an http or https URL")
    target.hash = ""
    return str(target.href)
