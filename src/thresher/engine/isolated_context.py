"""The context of a stage that runs in a process of its own: its task, the time and the settings; the store
through its worker.
"""

from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from thresher.core.errors import UsageError
from thresher.core.task import Task
from thresher.engine.fork_server import FOR_STAGES, ask_worker

T = TypeVar("T")


class IsolatedContext:
    """What such a stage is given. `ctx.wait(ctx.load(hash))` and the like are answered by the worker; there
    is no web and no model.
    """

    def __init__(self, task: Task, now: int, settings: Mapping[str, Any]) -> None:
        self.task, self._now, self._settings = task, now, settings

    def now(self) -> int:
        """The time at which the attempt began."""
        return self._now

    def setting(self, name: str) -> Any:
        return self._settings[name]

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """The work of such a context never waits for an event loop, so its first step is its last."""
        try:
            work.send(None)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        work.close()
        raise UsageError(
            "a stage with isolation='process' can wait for what its own ctx offers, and for nothing else"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in FOR_STAGES:
            raise UsageError(
                f"a stage with isolation='process' has no ctx.{name}; it has task, now, setting, wait, {', '.join(FOR_STAGES)}. "
                "Fetch in a stage before it, or compute with ctx.compute in an async stage"
            )

        async def ask(*args: Any, **kwargs: Any) -> Any:
            return ask_worker(name, args, kwargs)

        return ask
