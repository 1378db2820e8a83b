"""What identifies a request in log lines, in its answer and in a trace: its own number, and the trace that
it belongs to (W3C Trace Context).

A client may name both, as a proxy in front of us does. What it sends is taken only if it is short and
plain: it is answered, and stands in the log.
"""

import re
import secrets
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from thresher.core.log_context import log_context
from thresher.core.spans import Span, Spans
from thresher.web.auth import values

HEADER = b"x-request-id"
MAX_STATE = 512
_ROUTE = "thresher.route"
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}", re.ASCII)
_TRACEPARENT = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?P<trace>(?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.{0,200})?"
)


class RequestContext:
    """Stands before everything else, so that also what refuses a request says which one."""

    def __init__(self, app: ASGIApp, spans: Spans | None = None) -> None:
        self._app, self._spans = app, spans

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = request_id_in(scope)
        sending = _answering(request_id, send)
        if self._spans is None:
            with log_context(request_id=request_id, trace_id=trace_in(scope) or secrets.token_hex(16)):
                await self._app(scope, receive, sending)
            return
        with self._spans.request(_method(scope), _trace_headers(scope)) as span:
            span.set({"thresher.request_id": request_id})
            with log_context(request_id=request_id, trace_id=span.trace_id):
                noted: dict[str, str] = {}
                await self._app({**scope, _ROUTE: noted}, receive, _measured(span, scope, noted, sending))


def note_route(scope: Scope, path: str) -> None:
    """Note which route answers, for the span of the request: a path itself may name anything."""
    noted = scope.get(_ROUTE)
    if noted is not None:
        noted["route"] = path


def request_id_in(scope: Scope) -> str:
    """The number that the client has given its request, if it is one; else a new one."""
    said = values(scope["headers"], HEADER)
    return said[0] if len(said) == 1 and _REQUEST_ID.fullmatch(said[0]) else secrets.token_hex(8)


def trace_in(scope: Scope) -> str | None:
    """The trace that the client says its request belongs to; None where it says nothing valid."""
    said = values(scope["headers"], b"traceparent")
    found = _TRACEPARENT.fullmatch(said[0]) if len(said) == 1 else None
    return found["trace"] if found else None


def _trace_headers(scope: Scope) -> Mapping[str, str]:
    if trace_in(scope) is None:
        return {}
    state = values(scope["headers"], b"tracestate")
    given = {"tracestate": state[0]} if len(state) == 1 and len(state[0]) <= MAX_STATE else {}
    return {"traceparent": values(scope["headers"], b"traceparent")[0], **given}


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "_OTHER"


def _answering(request_id: str, send: Send) -> Send:
    """Put the number of the request into its answer."""
    header = (HEADER, request_id.encode())

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), header]}
        await send(message)

    return told


def _measured(span: Span, scope: Scope, noted: Mapping[str, str], send: Send) -> Send:
    """Tell the span how the request was answered, and by which route."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            route = noted.get("route")
            span.set({"http.response.status_code": message["status"], "http.route": route})
            if route is not None:
                span.rename(f"{_method(scope)} {route}")
            if message["status"] >= 500:
                span.fail(str(message["status"]))
        await send(message)

    return told
