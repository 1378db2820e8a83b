"""What an error looks like over HTTP: problem details (RFC 9457), with one table from our error tree to a
status.

`detail` is the sentence that the command line would say. A surprise says nothing of what is inside: that goes
to the log.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from thresher.core.errors import (
    DatabaseProblem,
    InvalidPayload,
    NotAllowed,
    ThresherError,
    UnknownName,
    UsageError,
)
from thresher.core.log_context import log_fields
from thresher.web.answer import written

PROBLEM = "application/problem+json"
MAX_DETAIL = 2_000
MAX_SLIPS = 5
UNKNOWN_FIELD = "there is no such field; is it misspelt? GET /api/openapi.json lists all fields"

STATUS: Mapping[type[ThresherError], int] = {
    DatabaseProblem: 503,
    InvalidPayload: 422,
    NotAllowed: 409,
    UnknownName: 404,
    UsageError: 400,
    ThresherError: 500,
}

# What the framework says by itself, and we besides: one name for each, whatever the Python of the day calls
# it.
TITLES: Mapping[int, str] = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    409: "Conflict",
    413: "Content Too Large",
    422: "Unprocessable Content",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}

log = logging.getLogger("thresher.web")


@dataclass(frozen=True, slots=True)
class Problem:
    """One error as a client sees it. `type` ends with its name, for programs; `title` is its status in words,
    `detail` what is wrong and what to do. `error` repeats the detail, because that is where scrapers look for
    it.
    """

    status: int
    name: str
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """Its members, but for the number of the request."""
        detail = self.detail[:MAX_DETAIL]
        return {
            "type": f"urn:thresher:{self.name}",
            "title": TITLES.get(self.status, "Problem"),
            "status": self.status,
            "detail": detail,
            "error": detail,
        }

    def response(self) -> Response:
        request_id = log_fields().get("request_id")
        told = {**self.told(), "request_id": request_id} if request_id else self.told()
        return Response(written(told), self.status, dict(self.headers), PROBLEM)


def of_error(error: ThresherError) -> Problem:
    """Return the problem for one of our errors."""
    status = next(STATUS[each] for each in type(error).__mro__ if each in STATUS)
    return Problem(status, type(error).__name__, str(error), {"Retry-After": "5"} if status == 503 else {})


async def on_error(_: Request, error: Exception) -> Response:
    """Respond to one of our errors."""
    assert isinstance(error, ThresherError)
    return of_error(error).response()


async def on_http(request: Request, error: Exception) -> Response:
    """Respond to an error of the framework: no such route, no such method, an unreadable body."""
    assert isinstance(error, HTTPException)
    return of_http(request, error, "GET /api/openapi.json lists all routes").response()


def of_http(request: Request, error: HTTPException, advice: str) -> Problem:
    """Return the problem for an error of the framework; `advice` is for a path that does not exist."""
    status, path = error.status_code, request.url.path
    usual = {
        404: f"there is no {path} here; {advice}",
        405: f"{path} does not support {request.method}; the Allow header lists the methods it supports",
    }
    return Problem(
        status,
        TITLES.get(status, "Problem").replace(" ", ""),
        usual.get(status, error.detail),
        error.headers or {},
    )


async def on_invalid(_: Request, error: Exception) -> Response:
    """Respond to an invalid parameter or body: 400 if it is not JSON at all, otherwise 422, naming each
    field.
    """
    assert isinstance(error, RequestValidationError)
    slips = error.errors()
    if any(slip["type"] == "json_invalid" for slip in slips):
        return Problem(
            400,
            "BadRequest",
            f"the body is not JSON: {slips[0].get('ctx', {}).get('error', 'it cannot be read')}",
        ).response()
    said = "; ".join(_slip(slip) for slip in slips[:MAX_SLIPS])
    more = f"; and {len(slips) - MAX_SLIPS} more" if len(slips) > MAX_SLIPS else ""
    return Problem(422, "InvalidPayload", f"{said}{more}. Nothing was changed.").response()


def _slip(slip: Mapping[str, Any]) -> str:
    place, *path = [str(part) for part in slip["loc"]]
    where = ".".join(path) or f"the {place}"
    says = UNKNOWN_FIELD if slip["type"] == "extra_forbidden" else slip["msg"]
    return f"{where[:100]}: {says}"


async def on_surprise(request: Request, error: Exception) -> Response:
    """Respond to an unexpected error: tell the client that it is our fault, and log what it was."""
    return of_surprise(request, error).response()


def of_surprise(request: Request, error: Exception) -> Problem:
    """Return the problem for an unexpected error, and log it."""
    log.error("%s %s: not expected", request.method, ascii(request.url.path), exc_info=error)
    return Problem(
        500,
        "Bug",
        "an unexpected error, perhaps a bug in Thresher or in an app; the server's log has the details",
    )
