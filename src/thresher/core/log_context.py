"""On whose behalf code runs: a task's attempt, an HTTP request, a worker. Carried in a context variable, so
that each log line written inside says so, also those of libraries and of database threads.

What it says is asked for when a line is written: most attempts write none, and pay for one assignment.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

Fields = Mapping[str, Any]

# The order in which a line tells them. What a field means stands in the reference.
FIELDS = {
    "worker": "name of the worker",
    "task_id": "number of the task",
    "tracking_id": "number of the first task of its lineage: the link between an event, its task and their descendants",
    "kind": "kind of the task",
    "stage": "stage that the attempt performs",
    "claim": "number of the claim; only its holder may settle the task",
    "attempt": "number of the attempt: one more than the failures so far",
    "app": "app that brings the kind",
    "source": "source whose gate the task has passed",
    "host": "host whose gate the task has passed",
    "request_id": "number of the HTTP request: the client's `X-Request-Id`, or one of ours",
    "trace_id": "trace of W3C Trace Context: the client's `traceparent`, or one of ours",
    "chore": "chore of the worker that runs beside the tasks",
}


@dataclass(frozen=True, slots=True)
class LogContext:
    """What lines say from here on, and what they said before."""

    describe: Callable[[], Fields]
    outer: "LogContext | None" = None

    def fields(self) -> dict[str, Any]:
        """All fields, the outer ones first."""
        return {**(self.outer.fields() if self.outer else {}), **self.describe()}


_context: ContextVar[LogContext | None] = ContextVar("thresher_log_context", default=None)


def log_fields() -> dict[str, Any]:
    """What a line that is written now says of whom it is about."""
    found = _context.get()
    return found.fields() if found else {}


def set_log_context(describe: Callable[[], Fields]) -> None:
    """Say this until the task of the event loop, or the thread, ends that calls it."""
    _context.set(LogContext(describe, _context.get()))


@contextmanager
def log_context(**fields: Any) -> Iterator[None]:
    """Say this for the length of a block."""
    before = _context.set(LogContext(lambda: fields, _context.get()))
    try:
        yield
    finally:
        _context.reset(before)
