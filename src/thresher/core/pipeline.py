"""Pipelines, stages, sources and schedules: how an app declares what it does."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from thresher.core.context import Context
from thresher.core.errors import UsageError
from thresher.core.gate import Rate, per_second
from thresher.core.limits import MAX_NAME_BYTES, check_text
from thresher.core.outcome import Finds, Outcome
from thresher.core.settlement import Error
from thresher.core.task import NewTask, Task

Perform = Callable[[Context], Awaitable[Outcome]] | Callable[[Context], Outcome]
# Called with the task, the error and the settings; returns what is stored with the end of the task.
OnFailed = Callable[[Task, Error, Mapping[str, Any]], Finds]


@dataclass(frozen=True, slots=True)
class Trip:
    """What the gates of a stage may depend on."""

    kind: str
    payload: Mapping[str, Any]
    checkpoint: Mapping[str, Any]
    url: str | None


ISOLATIONS = ("thread", "process")  # where a stage that is a plain function runs
About = Callable[[Trip], str | None]
Through = tuple[str, ...] | Callable[[Trip], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Stage:
    """One step. A plain function runs on a thread, so that heavy parsing does not hold up the others.

    `through` names the gates to pass, the most specific origin first ("source:acme", "host:acme.example"); it
    may be a function of the task's `Trip`. Trouble that names no gate is blamed on the first. `timeout` is in
    seconds.

    `isolation="process"` runs a plain function in a process instead, which is killed when it takes too long:
    for what computes, or reads what strangers wrote. Its context has the task, the time, the settings and
    what is stored, neither web nor models.
    """

    perform: Perform
    through: Through = ()
    name: str = ""
    timeout: float | None = None
    isolation: str = "thread"
    is_async: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        _check_callable(self.perform)
        if not self.name:
            object.__setattr__(self, "name", getattr(self.perform, "__name__", ""))
        check_text(self.name, "the name of a stage", MAX_NAME_BYTES)
        object.__setattr__(self, "is_async", inspect.iscoroutinefunction(self.perform))
        if isinstance(self.through, str):
            raise UsageError(
                f"stage {self.name!r} has through={self.through!r}, which is text; write a tuple, with a "
                f"comma: through=({self.through!r},)"
            )
        if self.isolation not in ISOLATIONS:
            raise UsageError(
                f"stage {self.name!r} has isolation={self.isolation!r}; it must be one of "
                f"{', '.join(ISOLATIONS)}"
            )
        if self.isolation == "process" and self.is_async:
            raise UsageError(
                f"stage {self.name!r} with isolation='process' must be a plain function; an async "
                "stage computes with ctx.compute"
            )

    def gates(self, trip: Trip) -> tuple[str, ...]:
        """The gates this trip has to pass."""
        return self.through(trip) if callable(self.through) else self.through


def _check_callable(perform: object) -> None:
    """Refuse what cannot be called with a context, where it is written rather than when a task needs it."""
    if inspect.iscoroutine(perform):
        name = perform.__name__
        perform.close()  # else Python warns that it was never awaited
        raise UsageError(f"Stage was given a call of {name}; write Stage({name}), without parentheses")
    if not callable(perform):
        raise UsageError(
            f"Stage takes a function with one argument, the context; got {type(perform).__name__}"
        )
    try:
        inspect.signature(perform).bind(None)
    except TypeError as problem:
        name = getattr(perform, "__name__", repr(perform))
        raise UsageError(
            f"the function {name!r} of a stage must take one argument, the context: def {name}(ctx) ({problem})"
        ) from None
    except ValueError:  # a function of C that does not say what it takes
        pass


@dataclass(frozen=True, slots=True, init=False)
class Pipeline:
    """A kind of task and its stages, in order. `failed` returns what to write when a task fails for good or
    is quarantined; it must be a pure function. `about` names what a task is about, such as a recipe: people
    see what models have cost by it.
    """

    kind: str
    stages: tuple[Stage, ...]
    failed: OnFailed | None
    about: About | None
    _by_name: Mapping[str, Stage] = field(repr=False, compare=False)

    def __init__(
        self, kind: str, *stages: Stage, failed: OnFailed | None = None, about: About | None = None
    ) -> None:
        for stage in stages:
            if not isinstance(stage, Stage):
                name = getattr(stage, "__name__", "function")
                raise UsageError(
                    f"pipeline {kind!r} has a stage that is not a Stage but {type(stage).__name__}; write "
                    f"Pipeline({kind!r}, Stage({name}))"
                )
        names = [stage.name for stage in stages]
        if not kind:
            raise UsageError("a pipeline needs a kind of task: Pipeline('book', Stage(fetch))")
        if not stages:
            raise UsageError(f"pipeline {kind!r} has no stage; write Pipeline({kind!r}, Stage(function))")
        if len(set(names)) < len(names):
            raise UsageError(
                f"pipeline {kind!r} has two stages of one name: {', '.join(names)}; write Stage(..., name='...')"
            )
        object.__setattr__(self, "kind", check_text(kind, "the kind of a pipeline", MAX_NAME_BYTES))
        object.__setattr__(self, "stages", stages)
        object.__setattr__(self, "failed", failed)
        object.__setattr__(self, "about", about)
        object.__setattr__(self, "_by_name", dict(zip(names, stages, strict=True)))

    def stage(self, name: str) -> Stage | None:
        """Return the stage of that name."""
        return self._by_name.get(name)

    def after(self, name: str) -> Stage | None:
        """Return the next stage, or None after the last."""
        names = [stage.name for stage in self.stages]
        at = names.index(name) + 1
        return self.stages[at] if at < len(names) else None


@dataclass(frozen=True, slots=True)
class Source:
    """An origin that a person can name, limit, pause and disable. Its gate is called `source:NAME`.

    None means no such limit. `rate` is starts per second, or "30/m" or "500/h"; `burst` how many may come at
    once, `in_flight` how many may run at the same time; `trip_after` failures in a row pause it for
    `cooldown` seconds. Copies of its pages count as fresh for `max_age` seconds, whatever the server says; a
    fetch may say otherwise. `probe` is what `thresher sources test` runs: it raises when something is wrong
    and may return a sentence when all is well.
    """

    name: str
    rate: Rate | None = None
    burst: int = 1
    in_flight: int | None = None
    trip_after: int | None = 5
    cooldown: float = 300.0
    probe: Callable[[], Awaitable[str | None]] | None = None
    max_age: float | None = None

    def __post_init__(self) -> None:
        per_second(self.rate)  # refused where it is written

    @property
    def gate(self) -> str:
        return f"source:{self.name}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """A task that is asked for again and again: by `cron` (in `timezone`) or `every` so many seconds.

    `missed` says what happens to firings that nobody was awake for: `skip` them, make up for `one`, or for
    `all`. A task with a key is not asked for again while the last one is live.
    """

    name: str
    task: NewTask
    cron: str | None = None
    every: float | None = None
    timezone: str = "UTC"
    missed: str = "one"
