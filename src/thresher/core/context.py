"""What a stage is given besides its task."""

from typing import Any, Protocol

from thresher.core.task import Task


class Context(Protocol):
    """The hands of a stage. Everything reached through it is governed; nothing reached through it changes the queue."""

    @property
    def task(self) -> Task:
        """The task this attempt is for."""
        ...

    def now(self) -> int:
        """The time, in microseconds since 1970."""
        ...

    def setting(self, name: str) -> Any:
        """The value of a setting as it stands now."""
        ...

    async def save(self, body: bytes) -> str:
        """Store a body by its content and return its hash. Safe to repeat: the same bytes are stored once."""
        ...

    async def load(self, content_hash: str) -> bytes:
        """The body stored under this hash."""
        ...
