"""What a stage asks for, checked and spelled out before anything else happens to it."""

import re
from collections.abc import Mapping

from thresher.core.credentials import Credentials, origin_of
from thresher.core.errors import UsageError
from thresher.fetch.request import Request

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
        raise UsageError(f"the method {method!r} is not known; use one of {', '.join(METHODS)}")
    if not isinstance(body, bytes):
        raise UsageError(
            f"a body wants bytes, got {type(body).__name__}; write text.encode() or json.dumps(...).encode()"
        )
    url = url.strip()
    if credentials is not None:
        credentials = _credentials(credentials)
        url = credentials.left_out_of(url)
    return Request(url, method.upper(), {"accept": ACCEPT} | _headers(headers), body, credentials)


def _credentials(given: Credentials) -> Credentials:
    if origin_of(given.origin) in ("", "null"):
        raise UsageError(
            f"credentials want the origin they are for, as in https://api.example.com; got {given.origin[:200]!r}"
        )
    return Credentials(given.origin, _headers(given.headers), dict(given.query))


def _headers(given: Mapping[str, str]) -> dict[str, str]:
    return {_name(name): _value(name, value) for name, value in given.items()}


def _name(name: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not the name of a header")
    if name.lower() in _NOT_YOURS:
        raise UsageError(f"the header {name} cannot be set here: {_NOT_YOURS[name.lower()]}")
    return name.lower()


def _value(name: str, value: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_HEADER or not _VALUE.fullmatch(value):
        raise UsageError(
            f"the value of the header {name} wants one line of at most {MAX_HEADER:,} characters of Latin-1"
        )
    return value.strip()
