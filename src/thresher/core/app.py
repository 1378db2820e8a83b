"""An app as a value: the list of all that it brings.

The annotations are not evaluated, and what they name is imported for type checkers alone: whoever lists apps,
as `thresher --help` does, must not wait for the machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from thresher.core.errors import DuplicateKind, UsageError
from thresher.core.event import SUBSCRIBABLE
from thresher.core.extension import Check, Command, Declaration, Demo, Export, Highlight
from thresher.core.limits import MAX_NAME_BYTES, check_text
from thresher.core.named import NOTHING, Named, check_name

if TYPE_CHECKING:
    from pathlib import Path

    from thresher.core.backoff import Retry
    from thresher.core.event import Event
    from thresher.core.outcome import MakeEffect, ReadTables
    from thresher.core.pipeline import Pipeline, Schedule, Source
    from thresher.core.record import Neighbour
    from thresher.core.schema import Schema
    from thresher.core.setting import Setting
    from thresher.core.task import NewTask
    from thresher.core.template import Template

_EVENT = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)
# Of our own making: a standard header, such as Cookie, means something else already.
_KEY_HEADER = re.compile(r"X(-[A-Za-z0-9]+)+", re.ASCII)

# What an app lists in tuples.
LISTS = (
    "pipelines",
    "sources",
    "schedules",
    "start",
    "schemas",
    "settings",
    "routes",
    "pages",
    "checks",
    "highlights",
    "explain",
)

MakeChecks = Callable[[Any], Iterable[Check]]  # given the store
MakeHighlights = Callable[[Any], Iterable[Highlight]]  # given the store
Subscriber = Callable[["Event"], Any]
Declare = Callable[[Any, Declaration], None]  # given the store
FindNear = Callable[[Any, str, int], "list[Neighbour]"]  # given the store, a text, and how many at most


@dataclass(frozen=True)
class App:
    """A visible list of all that an app brings.

    The work: `pipelines`, `sources`, `schedules`, the `schemas` it reads pages into, the tasks to `start`
    with, and its own `retry` in place of the settings `retry.base` and `retry.max_retries`.

    - `settings`: its own numbers, made with `tunable` and `guarded`; each name starts with the app's name
      and a dot.
    - `migrations`: a folder of files `0001_name.sql`, `0002_name.sql`, ... that make and change its own
      tables, written as `package:folder`, or as a `Path` for an app that is no package.
    - `effects`: changes of its own tables that its stages may ask for by name (`Effect`). They are made
      inside the settlement's transaction, and making one twice does no harm. A mapping of counts that one
      returns is added to the run's counters and to the result of a task that is done.
    - `reads`: questions to its own tables that its stages may ask by name (`ctx.read`). Each is given the
      open transaction, what the stage says, and the time, and changes nothing.
    - `declare`: what its own key in `thresher.yaml`, the one of the app's name, is for: a function that is
      given the store and a `Declaration` whenever a worker or a server starts, and sees to it that the
      database says what the file says.
    - `events`: kinds of events of its own, each with the sentence that says what happened:
      `{"cup_broke": "A cup was dropped."}`. Its stages return them (`NewEvent`), its services write them with
      `record_event`; `thresher events` shows them.
    - `on`: functions that are told what happens: `{"task_failed": tell, "group_ended": tell}`. Each is given
      an `Event`. They are hints, delivered at most once, after the commit, in every worker process of the
      app; what must not be missed is a row.
    - `near`: the kinds of things that `ctx.near` finds by a text, each with the function that finds them.
    - `follows`: a kind of record, and the kind of task that the app wants when a person has changed such a
      record: the task's payload is `{record kind: key}`. Likewise `jobs_imported`, an event of the roles app:
      the task is written with the event, in one transaction, and its payload is the event's data.
    - `prompts`: a folder of files `name.md`, written like `migrations`: what its stages tell a model. A
      project replaces one by a file of that name in its own folder.
    - `commands`, for the command line. `routes` (each a `Route`), `pages` (each a `DashboardPage`) with their
      `templates` (`package:folder`), for the server. `scopes` of keys, each with a sentence that says what it
      opens; `key_headers` are other headers that may carry a key: `X-Tea-Key`.
    - `tools`: routes that `thresher mcp` offers to assistants, by the name of the tool:
      `{"list_teas": "GET /api/teas"}`. One that changes something is offered only where writing is allowed.
    - `exports`: each an `Export` by its kind. `checks`: functions that are given the store and return lines
      (`Check`) for `thresher doctor`; what needs a person also stands in `thresher status`. `highlights`:
      functions that are given the store and return what the app has found (`Highlight`), for the first page
      of the dashboard; they are asked at every look and must be quick. `explain`: functions that are given
      the store and what somebody asks `thresher explain` for, and return an `Explanation`, or None for what
      is not theirs.
    - `demo`: its part of the demo, a `Demo`. `template`: the project that `thresher init` writes for whoever
      wants to use the app, a `Template`.
    - `needs`: the apps that are enabled with it.

    Everything may be given by its dotted name, `package.module:name`, and is then imported when it is needed.
    A tuple may have the names of other tuples in it. A module that only lists names is quick to import, and
    `thresher --help` imports no other.
    """

    name: str
    pipelines: Named[tuple[Pipeline, ...]] = Named(())
    sources: Named[tuple[Source, ...]] = Named(())
    schedules: Named[tuple[Schedule, ...]] = Named(())
    start: Named[tuple[NewTask, ...]] = Named(())
    schemas: Named[tuple[Schema, ...]] = Named(())
    on: Mapping[str, Subscriber] = field(default_factory=dict)
    retry: Retry | None = None
    effects: Mapping[str, MakeEffect | str] = field(default_factory=dict)
    reads: Mapping[str, ReadTables | str] = field(default_factory=dict)
    events: Mapping[str, str] = field(default_factory=dict)
    near: Mapping[str, FindNear | str] = field(default_factory=dict)
    follows: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    settings: Named[tuple[Setting, ...]] = Named(())
    declare: Named[Declare | None] = Named(None)
    migrations: str | Path | None = None
    routes: Named[tuple[Any, ...]] = Named(())
    pages: Named[tuple[Any, ...]] = Named(())
    templates: str | None = None
    prompts: str | Path | None = None
    scopes: Mapping[str, str] = field(default_factory=dict)
    key_headers: tuple[str, ...] = ()
    tools: Mapping[str, str] = field(default_factory=dict)
    exports: Named[Mapping[str, Export]] = Named(NOTHING)
    checks: Named[tuple[MakeChecks, ...]] = Named(())
    highlights: Named[tuple[MakeHighlights, ...]] = Named(())
    explain: Named[tuple[Callable[[Any, str], Any], ...]] = Named(())
    demo: Named[Demo | None] = Named(None)
    template: Named[Template | None] = Named(None)

    def __post_init__(self) -> None:
        check_text(self.name, "the name of an app", MAX_NAME_BYTES)
        for what in LISTS:
            given = vars(self)[what]
            if not isinstance(given, str | tuple | list):
                raise UsageError(
                    f"app {self.name!r} has {what}={type(given).__name__}; write a tuple. A tuple of one needs "
                    f"a comma: {what}=({type(given).__name__}(...),)"
                )
        for what, things in (("effect", self.effects), ("read", self.reads), ("near", self.near)):
            for name, thing in things.items():
                if isinstance(thing, str):
                    check_name(thing, f"{what} {name!r} of app {self.name!r}")
        for what, folder in (
            ("migrations", self.migrations),
            ("templates", self.templates),
            ("prompts", self.prompts),
        ):
            if isinstance(folder, str):
                check_name(folder, f"{what} of app {self.name!r}")
        for header in self.key_headers:
            if not _KEY_HEADER.fullmatch(header):
                raise UsageError(
                    f"app {self.name!r} has the key header {header!r}; write one that starts with X-: X-Tea-Key"
                )
        for kind, sentence in self.events.items():
            _check_event(self.name, kind, sentence)

    def with_retry(self, retry: Retry) -> Self:
        """Return the same app with other retries. Import nothing that it names."""
        found = copy(self)
        object.__setattr__(found, "retry", retry)
        return found


def _check_event(app: str, kind: str, sentence: str) -> None:
    if not _EVENT.fullmatch(kind):
        raise UsageError(
            f"app {app!r} has the event {kind!r}; write lower-case words with underscores: cup_broke"
        )
    if kind in SUBSCRIBABLE:
        raise UsageError(
            f"app {app!r} lists the event {kind!r}, but {kind!r} is one of Thresher's own; rename it"
        )
    if not sentence.strip():
        raise UsageError(f"app {app!r}: the event {kind!r} has no sentence; say in one what happened")


def by_kind(apps: Iterable[App]) -> dict[str, Pipeline]:
    """Return all pipelines by their kind. Refuse a kind that is defined twice."""
    found: dict[str, Pipeline] = {}
    owner: dict[str, str] = {}
    for app in apps:
        for pipeline in app.pipelines:
            if pipeline.kind in found:
                raise DuplicateKind(
                    f"kind {pipeline.kind!r} is defined by app {owner[pipeline.kind]!r} and by app "
                    f"{app.name!r}; rename one of them"
                )
            found[pipeline.kind], owner[pipeline.kind] = pipeline, app.name
    return found


def find_near_by_kind(apps: Iterable[App]) -> dict[str, FindNear | str]:
    """Return the functions behind `ctx.near`, by kind. Refuse a kind that is defined twice."""
    found: dict[str, FindNear | str] = {}
    for app in apps:
        if taken := sorted(found.keys() & app.near.keys()):
            raise DuplicateKind(
                f"app {app.name!r} defines ctx.near for {', '.join(map(repr, taken))}, and so does "
                "another app; rename one of them"
            )
        found |= app.near
    return found


def events_by_kind(apps: Iterable[App]) -> dict[str, str]:
    """The events of the apps, each with its sentence. A kind listed twice is refused by name, and so is a
    subscription to what none of them, nor the machine, ever tells.
    """
    apps = tuple(apps)
    found: dict[str, str] = {}
    owner: dict[str, str] = {}
    for app in apps:
        for kind, sentence in app.events.items():
            if kind in found:
                raise DuplicateKind(
                    f"event {kind!r} is listed by app {owner[kind]!r} and again by {app.name!r}; rename one of them"
                )
            found[kind], owner[kind] = sentence, app.name
    for app in apps:
        if unknown := [kind for kind in app.on if kind not in found and kind not in SUBSCRIBABLE]:
            known = ", ".join((*SUBSCRIBABLE, *found))
            raise UsageError(
                f"app {app.name!r} subscribes to unknown events: {', '.join(map(repr, unknown))}; "
                f"the events are: {known}"
            )
    return found
