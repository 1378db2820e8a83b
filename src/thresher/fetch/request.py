"""Requests: what a stage asks for, checked, and what one exchange returns. Redirects are followed in the
fetcher.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from thresher.core.credentials import Credentials, origin_of
from thresher.core.errors import UsageError


@dataclass(frozen=True, slots=True)
class Request:
    """One request. Header names in lower case. `credentials` are added when it is sent, and only
    for their origin.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    credentials: Credentials | None = None

    @property
    def allowed_credentials(self) -> Credentials | None:
        """The credentials that this very URL may see."""
        return self.credentials if self.credentials and self.credentials.belong_to(self.url) else None


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long and how large an answer may be. Seconds and bytes; `size` is of the unpacked body."""

    connect: float = 10.0
    read: float = 20.0
    total: float = 60.0
    size: int = 10 * 1024 * 1024
    ratio: float = 200.0  # how many times larger than what came over the wire an unpacked body may become


@dataclass(frozen=True, slots=True)
class Response:
    """The response of one exchange, decompressed. `location` of a redirect is left to the caller.

    Header names are in lower case; a repeated header is joined by commas, and cookies are dropped: there is
    no jar. `wire` is how many bytes of body came over the wire. `timings` are seconds: dns, connect,
    first_byte, total, without the time that `before_send` took, which was ours.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    timings: Mapping[str, float] = field(default_factory=dict)
    wire: int = 0


BeforeSend = Callable[[], Awaitable[None]]


class Transport(Protocol):
    """Whatever can carry one request. Raises the typed errors of `core.errors`; never follows a redirect.

    `before_send` is awaited when the connection stands and before the first byte of the request goes out: the
    moment that a server would call the start, which is the one that politeness is measured by. It is awaited
    at most once, for a request is never sent twice: another try is another request, and needs leave of its
    own. What it raises comes out of `send` as it is, and nothing was sent.
    """

    async def send(
        self, request: Request, bounds: Bounds, before_send: BeforeSend | None = None
    ) -> Response: ...

    async def close(self) -> None: ...


# Check and complete what a stage asks for.

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
MAX_HEADER = 8_192
ACCEPT = "text/html,application/xhtml+xml,application/json,application/xml;q=0.9,*/*;q=0.8"

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
# These belong to the transport, or to everybody: an honest user agent is not a matter of the single request.
_NOT_YOURS = {
    "connection": "the transport sets it",
    "content-length": "it follows from the body",
    "host": "it follows from the URL",
    "transfer-encoding": "the transport sets it",
    "accept-encoding": "the transport sets it",
    "user-agent": "one honest name for the whole project: fetch.user_agent in thresher.yaml",
}
# Some providers give a key to an e-mail address and want that address as the user agent beside the key. It is
# part of the credentials then, goes where they go, and is no less honest.
_OF_CREDENTIALS = frozenset({"user-agent"})


def order(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] = {},
    body: bytes = b"",
    credentials: Credentials | None = None,
) -> Request:
    """The request that a stage means, or a `UsageError` that says what is wrong with it."""
    if method.upper() not in METHODS:
        raise UsageError(f"there is no method {method!r}; use one of {', '.join(METHODS)}")
    if not isinstance(body, bytes):
        raise UsageError(
            f"a body must be bytes, got {type(body).__name__}; write text.encode() or "
            "json.dumps(...).encode()"
        )
    url = url.strip()
    if credentials is not None:
        credentials = _credentials(credentials)
        url = credentials.left_out_of(url)
    return Request(url, method.upper(), {"accept": ACCEPT} | _headers(headers), body, credentials)


def _credentials(given: Credentials) -> Credentials:
    if origin_of(given.origin) in ("", "null"):
        raise UsageError(
            "credentials need the origin they are for, such as https://api.example.com, got "
            f"{given.origin[:200]!r}"
        )
    return Credentials(given.origin, _headers(given.headers, _OF_CREDENTIALS), dict(given.query))


def _headers(given: Mapping[str, str], allowed: frozenset[str] = frozenset()) -> dict[str, str]:
    return {_name(name, allowed): _value(name, value) for name, value in given.items()}


def _name(name: str, allowed: frozenset[str]) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a header name")
    if name.lower() in _NOT_YOURS.keys() - allowed:
        raise UsageError(f"the header {name} cannot be set here: {_NOT_YOURS[name.lower()]}")
    return name.lower()


def _value(name: str, value: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_HEADER or not _VALUE.fullmatch(value):
        raise UsageError(
            f"the value of the header {name} must be one line of at most {MAX_HEADER:,} Latin-1 characters"
        )
    return value.strip()
