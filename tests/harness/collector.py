"""A collector of OpenTelemetry that speaks OTLP over HTTP, as the package's own classes read it. It can
refuse, and it can hang.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

GOOD, REFUSES, HANGS = "good", "refuses", "hangs"


class Collector:
    """What has arrived."""

    def __init__(self, mood: str) -> None:
        self.mood, self.spans, self.resource = mood, list[Span](), dict[str, Any]()
        self.asked = 0
        self.released = threading.Event()
        self.url = ""

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    def take(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        for each in request.resource_spans:
            self.resource = told(each.resource.attributes)
            for scope in each.scope_spans:
                self.spans += scope.spans


def told(attributes: Any) -> dict[str, Any]:
    """Attributes as a mapping."""
    return {each.key: getattr(each.value, str(each.value.WhichOneof("value"))) for each in attributes}


@contextmanager
def collecting(mood: str = GOOD) -> Iterator[Collector]:
    found = Collector(mood)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.asked += 1
            if found.mood == HANGS:
                found.released.wait(60)
                return
            assert self.path == "/v1/traces"
            found.take(body)
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(503 if found.mood == REFUSES else 200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        found.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield found
        finally:
            found.released.set()
            server.shutdown()
