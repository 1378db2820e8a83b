"""When somebody last looked at a page, so that it can mark what is new since then.

The browser keeps it, in a cookie that says nothing else: two people, or two screens, have two answers, and
looking changes nothing in the database.
"""

import re
from dataclasses import dataclass
from typing import Self

from starlette.requests import Request
from starlette.responses import Response

from thresher.core.clock import DAY, MINUTE, SECOND
from thresher.web.auth import is_secure

PAUSE = 30 * MINUTE  # whoever comes back after it has come again
LASTS = 400 * DAY  # as long as browsers keep any cookie
_SAID = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class BrowserVisit:
    """A visit of one browser to one page. `since` is when the visit before it ended; None: there was none."""

    page: str
    since: int | None
    now: int

    @classmethod
    def of(cls, request: Request, page: str, now: int) -> Self:
        """The visit that a request belongs to. Requests with short pauses between them are one visit."""
        said = _SAID.fullmatch(request.cookies.get(_name(page), ""))
        if said is None:
            return cls(page, None, now)
        since, last = int(said[1]), int(said[2])
        if last > now:  # the clock was put back, or somebody made it up
            return cls(page, None, now)
        return cls(page, (last if now - last > PAUSE else since) or None, now)

    def keep(self, request: Request, response: Response) -> Response:
        """Have the browser remember this visit."""
        response.set_cookie(
            _name(self.page),
            f"{self.since or 0}.{self.now}",
            max_age=LASTS // SECOND,
            path=self.page,
            secure=is_secure(request.scope),
            httponly=True,
            samesite="strict",
        )
        return response


def _name(page: str) -> str:
    return f"visit{page.replace('/', '-')}"
