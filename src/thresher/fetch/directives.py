"""Cache-Control and dates, as they are found in the wild. What cannot be read counts as the careful reading
of it.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# A header is cut here before it is read; nobody has that much to say about caching.
MAX_HEADER = 4_096
MAX_LENGTH = 2**31  # seconds; RFC 9111 §1.2.2 lets larger numbers count as this

_DIRECTIVE = re.compile(r'([A-Za-z0-9_-]+)(?:\s*=\s*("[^"]*"|[^,\s"]*))?')

Directives = Mapping[str, str | None]


def directives(headers: Mapping[str, str]) -> Directives:
    """The directives of Cache-Control by their names in lower case; the first of two counts."""
    found: dict[str, str | None] = {}
    for name, value in _DIRECTIVE.findall(headers.get("cache-control", "")[:MAX_HEADER]):
        found.setdefault(name.lower(), value.strip('"') or None)
    return found


def seconds(said: Directives, name: str, unreadable: int = 0) -> int | None:
    """A directive's number; None where it is not there, and `unreadable` where it is no number."""
    if name not in said:
        return None
    value = said[name] or ""
    return (
        min(int(value), MAX_LENGTH) if value.isascii() and value.isdigit() and len(value) < 20 else unreadable
    )


def date_of(text: str | None) -> float | None:
    """An HTTP date in seconds since 1970, or None."""
    if not text or len(text) > 64:
        return None
    try:
        found: datetime = parsedate_to_datetime(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
