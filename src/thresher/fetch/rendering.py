"""What is asked of the browser, and what its complaints mean in our own words.

The browser says `net::ERR_...` to everything. Where our proxy refused or failed, the proxy knows better and
is asked first; what is left is put into the error tree here, by one table.
"""

import asyncio
import re
from dataclasses import dataclass

from thresher.core.errors import ConnectionFailed, Malformed, Refused, TaskError, TimedOut
from thresher.core.page import Page
from thresher.core.rendering import Rendering
from thresher.fetch.request import Bounds

# The gate to blame where the browser failed and not the site.
POOL = "pool:browser"
CODE = re.compile(r"net::(ERR_[A-Z0-9_]{1,80})")

# The first row whose beginning fits is taken.
MEANINGS: tuple[tuple[str, type[TaskError], str], ...] = (
    ("ERR_CERT_DATE_INVALID", ConnectionFailed, "its certificate has expired or is not valid yet"),
    ("ERR_CERT_COMMON_NAME_INVALID", ConnectionFailed, "its certificate was issued for another host"),
    (
        "ERR_CERT_AUTHORITY_INVALID",
        ConnectionFailed,
        "its certificate was signed by an authority that is not trusted here",
    ),
    ("ERR_CERT", ConnectionFailed, "its certificate was refused"),
    ("ERR_SSL", ConnectionFailed, "no encrypted connection could be made"),
    ("ERR_TOO_MANY_REDIRECTS", Malformed, "it redirects in a circle"),
    ("ERR_UNSAFE", Refused, "it leads to an address or a port that browsers do not open"),
    ("ERR_BLOCKED", Refused, "it leads to something blocked"),
    ("ERR_UNKNOWN_URL_SCHEME", Refused, "it leads to an address that is not http or https"),
    ("ERR_DISALLOWED", Refused, "it leads to an address that is not http or https"),
    ("ERR_FILE", Refused, "it leads to a file"),
    ("ERR_INVALID", Malformed, "its response is not HTTP"),
    ("ERR_RESPONSE_HEADERS", Malformed, "the headers of its response contradict each other"),
    ("ERR_CONTENT_DECODING", Malformed, "its response cannot be decompressed"),
    ("ERR_CONTENT_LENGTH", ConnectionFailed, "its response was cut off"),
    ("ERR_INCOMPLETE", ConnectionFailed, "its response was cut off"),
    ("ERR_TIMED_OUT", TimedOut, "it did not answer in time"),
    ("ERR_NAME", ConnectionFailed, "its name could not be looked up"),
    ("ERR_", ConnectionFailed, "it could not be reached, or hung up"),
)


@dataclass(frozen=True, slots=True)
class Visit:
    """One page to be rendered, within these bounds."""

    url: str
    bounds: Bounds
    rendering: Rendering

    @property
    def total(self) -> float:
        """Return the time limit of the whole, in seconds."""
        return self.bounds.total if self.rendering.seconds is None else self.rendering.seconds


class VisitAlarm:
    """Whatever ends a visit from outside: too many bytes, a crash. The first one counts; `bell` carries
    it.
    """

    def __init__(self) -> None:
        self.bell: asyncio.Future[Page] = asyncio.get_running_loop().create_future()

    def ring(self, problem: Exception) -> None:
        if not self.bell.done():
            self.bell.set_exception(problem)

    @property
    def problem(self) -> BaseException | None:
        """What rang it; asking also tells the loop that somebody knows."""
        return self.bell.exception() if self.bell.done() and not self.bell.cancelled() else None


def code_of(message: str) -> str:
    """`ERR_TIMED_OUT` out of a long complaint; empty where there is none."""
    found = CODE.search(message)
    return found[1] if found else ""


def meaning(code: str, url: str) -> TaskError:
    """The typed error for what the browser said."""
    kind, words = next(
        (kind, words) for start, kind, words in MEANINGS if code.startswith(start) or start == "ERR_"
    )
    return kind(f"{url}: {words} ({code or 'the browser did not say why'})")
