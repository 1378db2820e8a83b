"""What an answer means before anybody reads the page: fine, or one of our errors.

Pure: status, headers and the beginning of the text in, an error out, which is returned and not raised. A wall
is asked about first, for a wall answers with whatever status it likes: a 403 that is a CAPTCHA page says
nothing about our credentials, and a 503 that is one says nothing about their load.
"""

import re
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from thresher.core.errors import (
    Blocked,
    Forbidden,
    Gone,
    Malformed,
    Permanent,
    RateLimited,
    ServerError,
    TaskError,
    Transient,
    Unauthorized,
)

Wall = Callable[[int, Mapping[str, str], str], str | None]

DEFAULT_WAIT = 60.0  # seconds, where somebody asks us to wait and does not say how long
MIN_WAIT = 1.0  # "0", a negative number and a date in the past all mean: not at this moment
MAX_WAIT = 24 * 3600.0  # nobody closes a gate for longer than a day by a header
# "120", also as "120s" and as the first of several; "2026-..." is the beginning of a date, not of a number.
SECONDS = re.compile(r"([-+]?\d{1,15})(?:\.\d{1,9})?\s*(?:$|[,;s])", re.ASCII)


def judge(
    status: int,
    headers: Mapping[str, str],
    sample: str,
    *,
    host: str,
    now: int,
    wall: Wall | None = None,
    signed: bool = False,
) -> TaskError | None:
    """Return the error for this response, or None if it is worth reading.

    `now` is in microseconds since 1970; `signed` says that the request carried credentials.
    """
    if 300 <= status < 400:
        return None
    found = wall(status, headers, sample) if wall else None
    if found is not None:
        return Blocked(
            f"{host} answered {_named(status)}, and the page is a wall: {found}", gate=f"host:{host}"
        )
    return None if 200 <= status < 300 else _by_status(status, headers, host, now, signed=signed)


def _by_status(status: int, headers: Mapping[str, str], host: str, now: int, *, signed: bool) -> TaskError:
    says, gate = f"{host} answered {_named(status)}", f"host:{host}"
    asked = headers.get("retry-after")
    if status == 429 or (status == 503 and asked is not None):
        wait = retry_after(asked, now)
        limited = RateLimited(
            f"{says}: the next request may go out in {wait:g} s", retry_after=wait, gate=gate
        )
        limited.asked = asked is not None and bool(asked.strip())
        return limited
    if status in (401, 407) or (status == 403 and signed):
        return Unauthorized(
            f"{says}: access is denied; check the credentials, or whether the page is public", gate=gate
        )
    if status == 403:
        return Forbidden(
            f"{says}: this page is not open to us; if it needs credentials, send them as a header", gate=gate
        )
    if status in (404, 410):
        return Gone(f"{says}: the page does not exist", gate=gate)
    if status in (408, 425):
        return Transient(f"{says}: it asks us to repeat the request", gate=gate)
    if 500 <= status < 600:
        return ServerError(f"{says}: a server error", gate=gate)
    if 400 <= status < 500:
        return Permanent(f"{says}: it does not accept this request", gate=gate)
    return Malformed(f"{says}, which is not an HTTP status", gate=gate)


def signs(name: str) -> bool:
    """Whether a header of this name usually carries credentials. A guess, good enough to word an error and
    for nothing else.
    """
    return any(
        word in name
        for word in ("auth", "cookie", "key", "password", "secret", "session", "token", "credential")
    )


def retry_after(text: str | None, now: int) -> float:
    """Seconds to wait, from either form of Retry-After; never less than a second, never more than a day."""
    if text is None or not text.strip():
        return DEFAULT_WAIT
    number = SECONDS.match(text.strip())
    wait = float(number[1]) if number else _until(text.strip()[:100], now)
    return min(max(wait, MIN_WAIT), MAX_WAIT)


def _until(date: str, now: int) -> float:
    try:
        return parsedate_to_datetime(date).timestamp() - now / 1_000_000
    except (ValueError, TypeError, OverflowError, OSError, IndexError):
        return DEFAULT_WAIT


def _named(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
