"""Spans by OpenTelemetry: what the standard variables `OTEL_*` say goes to the collector that they name, by
OTLP over HTTP. Imported only where somebody asks for it: it is the extra `otel` (decision 096).

The numbers of a task's trace and of its attempts follow from the numbers of the task and its claim. So any
worker, on any machine, continues the trace of a task and links to that of its parent, and nothing is stored
for it.

Spans are put into a queue of bounded length, and a thread of its own sends them. A collector that is slow,
hangs or is away costs spans, never time: what does not fit is dropped, and a stopping worker waits
`CLOSING_SECONDS` at most.
"""

import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from importlib.metadata import version

from opentelemetry import trace as api
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from thresher.core.redaction import redact_start
from thresher.core.spans import Value
from thresher.core.task import Task

log = logging.getLogger("thresher.otel")

CLOSING_SECONDS = 3.0
MAX_ATTRIBUTE = 500
NANO = 1_000_000_000

# The numbers of the next root span: trace and span.
_numbers: ContextVar[tuple[int, int] | None] = ContextVar("thresher_span_numbers", default=None)


class OtelSpan:
    """A span of ours around one of theirs."""

    def __init__(self, span: api.Span) -> None:
        self._span = span

    @property
    def trace_id(self) -> str:
        return f"{self._span.get_span_context().trace_id:032x}"

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def set(self, attributes: Mapping[str, Value | None]) -> None:
        self._span.set_attributes(_told(attributes))

    def fail(self, error: str, message: str = "") -> None:
        self._span.set_attribute("error.type", error)
        self._span.set_status(Status(StatusCode.ERROR, redact_start(message, MAX_ATTRIBUTE)))


class OtelSpans:
    """The spans of one process. `seed` says which database the numbers of tasks belong to."""

    def __init__(self, seed: str, exporter: SpanExporter | None = None) -> None:
        named = {} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: "thresher"}
        resource = Resource.create({**named, SERVICE_VERSION: version("thresher")})
        self._seed = blake2b(seed.encode(), digest_size=32).digest()
        self._provider = TracerProvider(resource=resource, id_generator=_Numbers(), shutdown_on_exit=False)
        # What its parts say of every batch that could not be sent, ours says once.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        self._exporter = _Told(exporter or OTLPSpanExporter())
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer("thresher", version("thresher"))
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def attempt(self, task: Task, app: str) -> Iterator[OtelSpan]:
        """A root of the task's own trace: whoever enqueued it does not wait for it."""
        links = [] if task.parent_id is None else [Link(self._first_attempt(task.parent_id))]
        before = _numbers.set(self._numbers_of(task.id, task.claim))
        try:
            span = self._tracer.start_span(
                f"{task.kind}.{task.stage}", Context(), SpanKind.CONSUMER, _about(task, app), links
            )
        finally:
            _numbers.reset(before)
        with _current(span) as ours:
            yield ours

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Iterator[OtelSpan]:
        above = self._propagator.extract(headers, Context())
        with _current(
            self._tracer.start_span(method, above, SpanKind.SERVER, {"http.request.method": method})
        ) as ours:
            yield ours

    @contextmanager
    def call(self, name: str, attributes: Mapping[str, Value | None]) -> Iterator[OtelSpan]:
        span = self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=_told(attributes))
        with _current(span) as ours:
            yield ours

    def past(self, name: str, seconds: float, attributes: Mapping[str, Value | None]) -> None:
        ended = time.time_ns()
        span = self._tracer.start_span(
            name, Context(), attributes=_told(attributes), start_time=ended - round(seconds * NANO)
        )
        span.end(ended)

    def close(self) -> None:
        closing = threading.Thread(target=self._provider.shutdown, name="spans", daemon=True)
        closing.start()
        closing.join(CLOSING_SECONDS)
        if closing.is_alive():
            self._exporter.give_up()

    def _numbers_of(self, task_id: int, claim: int) -> tuple[int, int]:
        """Trace and span of an attempt. Neither may be 0, which no hash of ours is in this universe."""
        return self._number(16, b"%d" % task_id), self._number(8, b"%d/%d" % (task_id, claim))

    def _number(self, size: int, of: bytes) -> int:
        return int.from_bytes(blake2b(of, digest_size=size, key=self._seed).digest()) or 1

    def _first_attempt(self, task_id: int) -> SpanContext:
        """The first attempt of a task; its trace has the others, too."""
        trace_id, span_id = self._numbers_of(task_id, 1)
        return SpanContext(trace_id, span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


@contextmanager
def _current(span: api.Span) -> Iterator[OtelSpan]:
    """A span for the length of a block. An error that passes through is named and not quoted."""
    with api.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        ours = OtelSpan(span)
        try:
            yield ours
        except BaseException as problem:
            ours.fail(type(problem).__name__)
            raise


class _Numbers(RandomIdGenerator):
    """Random numbers, but for attempts."""

    def generate_trace_id(self) -> int:
        wanted = _numbers.get()
        return wanted[0] if wanted else super().generate_trace_id()

    def generate_span_id(self) -> int:
        wanted = _numbers.get()
        return wanted[1] if wanted else super().generate_span_id()


class _Told(SpanExporter):
    """An exporter whose trouble is told once, and not with every batch."""

    def __init__(self, inner: SpanExporter) -> None:
        self._inner, self._is_away = inner, False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            found = self._inner.export(spans)
        except Exception:  # noqa: BLE001  whatever it is, it concerns the spans alone
            found = SpanExportResult.FAILURE
        self._note(is_away=found is not SpanExportResult.SUCCESS)
        return found

    def give_up(self) -> None:
        """Drop what was not sent. The exporter would go on trying for seconds, and say nothing until then."""
        self._note(is_away=True)
        self._inner.shutdown()

    def _note(self, *, is_away: bool) -> None:
        if is_away and not self._is_away:
            log.warning(
                "the OpenTelemetry collector takes no spans; they are dropped, and nothing waits for it"
            )
        elif self._is_away and not is_away:
            log.info("the OpenTelemetry collector takes spans again")
        self._is_away = is_away

    def shutdown(self) -> None:
        self._inner.shutdown()


def _about(task: Task, app: str) -> dict[str, Value]:
    return _told(
        {
            "thresher.task.id": task.id,
            "thresher.task.kind": task.kind,
            "thresher.task.stage": task.stage,
            "thresher.task.claim": task.claim,
            "thresher.task.attempt": task.failures + 1,
            "thresher.task.tracking_id": task.tracking_id,
            "thresher.task.parent_id": task.parent_id,
            "thresher.app": app,
        }
    )


def _told(attributes: Mapping[str, Value | None]) -> dict[str, Value]:
    return {
        name: redact_start(value, MAX_ATTRIBUTE) if isinstance(value, str) else value
        for name, value in attributes.items()
        if value is not None
    }
