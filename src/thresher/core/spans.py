"""Spans: how long something took, within what, for a tracing system. This is the seam: the machine tells a
`Spans` what it does where it has one, and most processes have none (`engine/otel.py` is the one there is).
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from thresher.core.task import Task

Value = str | int | float | bool


class Span(Protocol):
    """One span while it lasts."""

    @property
    def trace_id(self) -> str:
        """The trace that it belongs to, as 32 hexadecimal digits."""

    def rename(self, name: str) -> None: ...
    def set(self, attributes: Mapping[str, Value | None]) -> None:
        """Add what is known by now. None is left out."""

    def fail(self, error: str, message: str = "") -> None:
        """Mark it as failed, by the name of an error."""


class Spans(Protocol):
    """Where spans go. None of these waits for anything, and none raises."""

    def attempt(self, task: Task, app: str) -> AbstractContextManager[Span]:
        """An attempt of a task. All attempts of a task share a trace; a child links to its parent's."""

    def request(self, method: str, headers: Mapping[str, str]) -> AbstractContextManager[Span]:
        """An HTTP request that we answer, within the trace that its headers name."""

    def call(self, name: str, attributes: Mapping[str, Value | None]) -> AbstractContextManager[Span]:
        """A call to somebody else, within the span of the moment."""

    def past(self, name: str, seconds: float, attributes: Mapping[str, Value | None]) -> None:
        """Something that has just ended and was worth telling."""

    def close(self) -> None:
        """Send what is left, as far as that is quick."""
