"""One way through every list: `limit` and `cursor`. An answer that has as many rows as were asked for names
the cursor of the next page, in a link and in a header of its own.

A cursor stands for the place after the last row, as `before` or `after` of the route does. It says for which
list it was made, so that it cannot lead through another one unnoticed.
"""

import binascii
import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import orjson
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from thresher.core.errors import InvalidPayload

CURSOR, LIMIT = "cursor", "limit"
NEXT = "Next-Cursor"
PLACES = ("before", "after")
MAX_CURSOR = 2_000
PARAMETER: Mapping[str, Any] = {
    "name": CURSOR,
    "in": "query",
    "description": "Go on from here: `Next-Cursor` of the page before.",
    "schema": {"type": "string", "maxLength": MAX_CURSOR},
}


@dataclass(frozen=True, slots=True)
class CursorPaging:
    """How a route is paged: the parameter that says where to go on, the member of a row that it names, the
    usual limit.
    """

    place: str
    member: str
    limit: int

    def begin(self, request: Request) -> Request:
        """Put what a cursor stands for in its place."""
        pairs = _pairs(request)
        given = dict(pairs)
        if CURSOR not in given:
            return request
        if self.place in given:
            raise InvalidPayload(f"send {CURSOR} or {self.place}, not both: each says where to go on")
        pairs = [(name, value) for name, value in pairs if name != CURSOR]
        pairs.append((self.place, _place_in(given[CURSOR], _list_of(request))))
        return Request({**request.scope, "query_string": urlencode(pairs).encode()}, request.receive)

    def end(self, request: Request, response: Response) -> Response:
        """Name the next page, if this one is full."""
        if response.status_code != 200 or isinstance(response, StreamingResponse):
            return response
        given = dict(_pairs(request))
        rows = orjson.loads(response.body)
        if not isinstance(rows, list) or not rows or len(rows) < int(given.get(LIMIT, self.limit)):
            return response
        found: Any = rows[-1]
        for name in self.member.split("."):
            found = found[name]
        said = [str(found), _list_of(request)]
        cursor = urlsafe_b64encode(json.dumps(said).encode()).decode().rstrip("=")
        kept = [(name, value) for name, value in _pairs(request) if name not in (CURSOR, self.place)]
        path = quote(request.scope["path"], safe="/:@!$&'()*+,;=~")
        response.headers[NEXT] = cursor
        response.headers["Link"] = f'<{path}?{urlencode([*kept, (CURSOR, cursor)])}>; rel="next"'
        return response


def _pairs(request: Request) -> list[tuple[str, str]]:
    return parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _list_of(request: Request) -> str:
    """Name a list: its path and its filters, whatever their order."""
    filters = sorted(pair for pair in _pairs(request) if pair[0] not in (CURSOR, LIMIT, *PLACES))
    return hashlib.sha256(repr((request.scope["path"], filters)).encode()).hexdigest()[:16]


def _place_in(cursor: str, wanted: str) -> str:
    try:
        place, of = json.loads(urlsafe_b64decode((cursor + "=" * (-len(cursor) % 4)).encode("ascii")))
    except (ValueError, TypeError, binascii.Error, RecursionError):
        place, of = None, None
    if not isinstance(place, str) or len(cursor) > MAX_CURSOR:
        raise InvalidPayload(
            f"this {CURSOR} was not made here; send {NEXT} of the page before, or none for the first page"
        )
    if of != wanted:
        raise InvalidPayload(
            f"this {CURSOR} belongs to another list; send it with the path and the filters that it came with"
        )
    return place
