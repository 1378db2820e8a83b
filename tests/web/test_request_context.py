"""The number of a request and its trace: taken from clients only where they are plain, answered, in every
log line and problem, and beside the tasks that the request has asked for.
"""

import asyncio
import json
import logging
from dataclasses import replace

import pytest

from tests.harness.collector import collecting, told
from tests.web.conftest import Api, served
from thresher.admin.keys import create_key
from thresher.cli.logs import JsonFormatter
from thresher.engine.otel import OtelSpans
from thresher.web.request_context import RequestContext, request_id_in, trace_in

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def scope(*headers: tuple[str, str]) -> dict[str, object]:
    given = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    return {"type": "http", "method": "GET", "path": "/", "headers": given}


@pytest.mark.parametrize("name", ["a", "req-1", "0af7:651916cd.43dd_x", "x" * 64])
def test_a_plain_number_of_the_client_is_taken(name):
    assert request_id_in(scope(("X-Request-Id", name))) == name


@pytest.mark.parametrize(
    "name", ["", "-", "a b", "a\x1b[2J", "x" * 65, "a;b", "\xe4", '"', "${jndi:x}", "a\r\nb"]
)
def test_anything_else_is_replaced(name):
    made = request_id_in(scope(("X-Request-Id", name)))
    assert (made != name, len(made)) == (True, 16)


def test_two_numbers_are_none():
    assert request_id_in(scope(("X-Request-Id", "a"), ("X-Request-Id", "b"))) not in "ab"


@pytest.mark.parametrize(
    ("said", "trace"),
    [
        (PARENT, TRACE),
        (f"cc-{TRACE}-00f067aa0ba902b7-09-what-the-future-will-be", TRACE),
        (PARENT.upper(), None),
        (f"00-{'0' * 32}-00f067aa0ba902b7-01", None),
        (f"00-{TRACE}-{'0' * 16}-01", None),
        (f"ff-{TRACE}-00f067aa0ba902b7-01", None),
        (f"{PARENT}\x1b", None),
        ("", None),
    ],
)
def test_a_trace_is_read_as_the_standard_says(said, trace):
    assert trace_in(scope(("traceparent", said))) == trace


class Lines(logging.Handler):
    """What a server writes as JSON."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(JsonFormatter())
        self.said: list[dict[str, object]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(json.loads(self.format(record)))


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, "thresher")
    handler = Lines()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


def test_a_request_is_known_by_its_number_in_the_answer_the_problem_and_the_log(api, shop, lines):
    sent = {"Authorization": f"Bearer {api.token}", "X-Request-Id": "req-1", "traceparent": PARENT}
    answer = api.ask("GET", "/api/tasks/999999", headers=sent)
    assert (answer.headers["X-Request-ID"], answer.json["request_id"]) == ("req-1", "req-1")
    (line,) = [each for each in lines.said if each.get("event") == "request"]
    assert (line["request_id"], line["trace_id"], line["status"], line["path"]) == (
        "req-1",
        TRACE,
        404,
        "/api/tasks/999999",
    )
    api.ask("POST", "/api/companies", headers=sent, json={"website": "acme.io"})
    (made,) = [each for each in lines.said if each.get("event") == "enqueued"]
    assert (made["request_id"], made["trace_id"]) == ("req-1", TRACE)
    assert made["tasks"] == [task["id"] for task in api.get("/api/tasks")]


def test_who_is_refused_at_the_door_has_a_number_too(stranger):
    answer = stranger.ask("GET", "/api/status")
    assert answer.problem(401)
    assert answer.headers["X-Request-ID"] != stranger.ask("GET", "/").headers["X-Request-ID"]


def test_a_collector_is_told_by_which_route_a_request_was_answered(shop, monkeypatch):
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        spans = OtelSpans("here")
        with served(replace(shop, spans=spans)) as url:
            api = Api(url, create_key(shop.store, "anna", ["read"]).token)
            api.ask(
                "GET",
                "/api/tasks/5?token=hunter2",
                headers={"Authorization": f"Bearer {api.token}", "traceparent": PARENT, "X-Request-Id": "r1"},
            )
        spans.close()
        (span,) = collector.spans
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, "00f067aa0ba902b7")
    about = told(span.attributes)
    assert span.name == f"GET {about['http.route']}"
    assert (about["http.response.status_code"], about["thresher.request_id"]) == (400, "r1")
    assert "hunter2" not in str(span)


def test_other_kinds_of_connections_pass():
    asked = []

    async def inner(scope, receive, send):
        asked.append(scope["type"])

    asyncio.run(RequestContext(inner)({"type": "lifespan"}, None, None))
    assert asked == ["lifespan"]
