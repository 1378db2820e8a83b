"""The kinds of tasks that this process knows, and the one place where new tasks are admitted."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from thresher.config.settings import Settings, catalogue_of
from thresher.core.app import App, FindNear, by_kind, events_by_kind, find_near_by_kind
from thresher.core.backoff import Backoff
from thresher.core.decide import Step
from thresher.core.errors import InvalidPayload, UnknownName, UsageError
from thresher.core.event import CheckedEvent, NewEvent
from thresher.core.group import Group, GroupEntry, Run, checked_key
from thresher.core.keys import canonical_url, url_key
from thresher.core.limits import MAX_GATE_BYTES, MAX_KEY_BYTES, check_integer, check_text
from thresher.core.named import loaded
from thresher.core.outcome import CheckedEffect, Effect, Finds, Next, ReadTables
from thresher.core.pipeline import Pipeline, Stage, Trip
from thresher.core.record import Filing, Record, clean, pack
from thresher.core.redaction import redact_json
from thresher.core.schema import Schema
from thresher.core.settlement import Error
from thresher.core.task import MAX_KEY, MAX_PRIORITY, Entry, NewTask, Task, delay_us, dump, to_json
from thresher.engine.machine import MACHINE

# A stage that asks a model goes through `model:cheap` or `model:strong`; which provider that is, the project
# file says.
TIER = "model:"
F = TypeVar("F")


class Registry:
    """The apps of this process, and what the machine does itself. `tiers` are the gates of the models, by the
    name of their tier.
    """

    def __init__(
        self, apps: Iterable[App], settings: Settings | None = None, *, tiers: Mapping[str, str] = {}
    ) -> None:
        self.apps = tuple(apps)
        self.settings = settings or Settings(catalogue=catalogue_of(self.apps))
        self._tiers = tiers
        self._owners = (*self.apps, MACHINE)
        self._pipelines = by_kind(self._owners)
        self._effects = {(app.name, name): make for app in self.apps for name, make in app.effects.items()}
        self._reads = {(app.name, name): ask for app in self._owners for name, ask in app.reads.items()}
        self.events = events_by_kind(self.apps)
        self._near = find_near_by_kind(self.apps)
        self._retries = {each.kind: app.retry for app in self._owners for each in app.pipelines if app.retry}
        self.max_ages = {
            source.gate: source.max_age
            for app in self.apps
            for source in app.sources
            if source.max_age is not None
        }

    @property
    def settings(self) -> Settings:
        """The settings in force. Replaced whole when they change."""
        return self._settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self._settings = settings
        self._limit = settings.count("queue.payload_limit")

    @property
    def kinds(self) -> list[str]:
        """The kinds of the apps: those that people ask for. Nobody asks for the machine's own by hand."""
        return sorted(pipeline.kind for app in self.apps for pipeline in app.pipelines)

    def scopes(self, only: Collection[str] = (), without: Collection[str] = ()) -> list[tuple[str, str]]:
        """The kind and stage of all that a worker serves: of these apps and kinds, or of all, less those."""
        names = {app.name: {pipeline.kind for pipeline in app.pipelines} for app in self._owners} | {
            kind: {kind} for kind in self._pipelines
        }
        unknown = sorted({*only, *without} - names.keys())
        if unknown:
            raise UnknownName(
                f"there is no app or kind {', '.join(unknown)}; known are: "
                f"{', '.join(sorted(names)) or 'none'}"
            )
        left_out = {kind for name in without for kind in names[name]}
        kinds = {kind for name in only or names for kind in names[name]} - left_out
        if (only or without) and not kinds:
            raise UsageError("nothing is left to serve: --not excludes everything that --only names")
        return [(kind, stage.name) for kind in sorted(kinds) for stage in self._pipelines[kind].stages]

    def pipeline(self, kind: str) -> Pipeline | None:
        """The pipeline of that kind, if an app of this process has it."""
        return self._pipelines.get(kind)

    def followers(self, kind: str) -> list[str]:
        """Return the kinds of task that apps want when a record of this kind is changed manually, or such an
        event is recorded.
        """
        return [app.follows[kind] for app in self.apps if kind in app.follows]

    def backoff(self, kind: str, settings: Settings) -> Backoff:
        """How tasks of this kind are tried again: as their app says, else as the settings do."""
        retry = self._retries.get(kind)
        return settings.backoff().of(retry) if retry else settings.backoff()

    def app_of(self, kind: str) -> str:
        """On whose account tasks of this kind work; a kind that nobody here knows has its own."""
        return next(
            (app.name for app in self._owners if any(each.kind == kind for each in app.pipelines)), kind
        )

    def about(self, task: Task) -> str | None:
        """What a task is about, as its app says; None if it says nothing."""
        pipeline = self._pipelines.get(task.kind)
        if pipeline is None or pipeline.about is None:
            return None
        return pipeline.about(Trip(task.kind, task.payload, task.checkpoint, task.url))

    def schema(self, name: str) -> Schema:
        """The schema of that name, of any app here."""
        found = {schema.name: schema for app in self.apps for schema in app.schemas}
        if name not in found:
            raise UnknownName(
                f"no app here has a schema {name!r}; known are: {', '.join(sorted(found)) or 'none'}"
            )
        return found[name]

    def tier(self, name: str) -> str | None:
        """The gate of the model that serves a tier; None where the project has none."""
        return self._tiers.get(name)

    def admit(self, new: NewTask) -> Entry:
        """Check a request for work and find its first stage and gates. Everything enters the queue through
        here.
        """
        pipeline = self.pipeline(new.kind)
        if pipeline is None:
            raise UnknownName(
                f"no app here knows tasks of kind {new.kind!r}; known are: {', '.join(self.kinds) or 'none'}"
            )
        payload = dump(new.payload, f"payload of a {new.kind} task", self._limit)
        url = canonical_url(new.url) if new.url is not None else None
        stage = pipeline.stages[0]
        return Entry(
            new.kind,
            stage.name,
            self._gates(stage, Trip(new.kind, new.payload, {}, url)),
            payload,
            url,
            url_key(url) if url else None,
            _key(new),
            _priority(new),
            delay_us(new.delay),
            new.detached,
        )

    def admit_group(self, task: Task, group: Group) -> GroupEntry:
        """Check a request for a group, and the task that follows it."""
        then = None if group.then is None else self.admit(group.then)
        if then and then.key:
            raise InvalidPayload(
                f"the task that follows group {group.key!r} has a key; remove it: a group has one "
                "follow-up task"
            )
        name = checked_key("name", group.name or task.kind)
        entry = GroupEntry(name, checked_key("key", group.key), self.app_of(task.kind), then)
        if not isinstance(group, Run):
            return entry
        for name, at in (("since", group.since), ("until", group.until)):
            if at is not None:
                check_integer(at, f"{name} of run {group.key!r}")
        return replace(entry, subject=clean(group.subject), since=group.since, until=group.until)

    def step(self, task: Task, outcome: Next) -> Step:
        """Where a task goes on after this stage."""
        pipeline = self.pipeline(task.kind)
        stage = (
            None
            if pipeline is None
            else pipeline.stage(task.stage)
            if outcome.again
            else pipeline.after(task.stage)
        )
        if stage is None:
            raise UsageError(f"{task.kind}.{task.stage} returned Next, but it is the last stage; return Done")
        checkpoint = dump(outcome.checkpoint, f"checkpoint of {task.kind}.{task.stage}", self._limit)
        return Step(
            stage.name,
            self._gates(stage, Trip(task.kind, task.payload, outcome.checkpoint, task.url)),
            checkpoint,
        )

    def on_failed(self, task: Task, error: Error) -> Finds:
        """What the app of a task wants written down of its failure."""
        pipeline = self.pipeline(task.kind)
        return pipeline.failed(task, error, self.settings) if pipeline and pipeline.failed else Finds()

    def _gates(self, stage: Stage, trip: Trip) -> tuple[str, ...]:
        """Return the gates of a stage. A tier without a model has no gate: the stage then finds that no model
        can be asked.
        """
        if not stage.through:
            return ()
        names = tuple(stage.gates(trip))
        for name in names:
            _check(stage, name)
        check_text("\n".join(names), f"the list of gates of stage {stage.name!r}", MAX_KEY_BYTES)
        if not any(name.startswith(TIER) for name in names):
            return names
        meant = (
            self._tiers.get(name.removeprefix(TIER)) if name.startswith(TIER) else name for name in names
        )
        return tuple(dict.fromkeys(name for name in meant if name))

    def pack(self, record: Record) -> Filing:
        return pack(record, self._limit)

    def pack_result(self, task: Task, result: Any) -> str:
        """The result of a task as it is kept, or an error that says why it cannot be."""
        what = f"result of {task.kind}.{task.stage}"
        text, limit = to_json(result, what), self.settings.count("queue.result_limit")
        if len(text) > limit:
            raise InvalidPayload(
                f"the {what} has {len(text):,} bytes; the limit is {limit:,} (setting queue.result_limit). "
                "Return a large result as a record, or save it with ctx.save(body) and return the hash."
            )
        return text.decode()

    def check_effect(self, task: Task, effect: Effect) -> CheckedEffect:
        """Find the function of an effect. One that the task's own app does not list is refused while its
        attempt can be blamed for it.
        """
        make = self._own(self._effects, task, "effect", effect.name)
        return CheckedEffect(effect.name, effect.data, make)

    def check_read(self, task: Task, name: str) -> ReadTables:
        """Find the function that reads the tables of a task's own app."""
        return self._own(self._reads, task, "read", name)

    def _own(self, known: Mapping[tuple[str, str], F | str], task: Task, what: str, name: str) -> F:
        app = self.app_of(task.kind)
        found = known.get((app, name))
        if found is None:
            names = ", ".join(sorted(each for owner, each in known if owner == app)) or "none"
            raise UsageError(f"app {app!r} has no {what} {name!r}; it has: {names}")
        return loaded(found)

    def check_event(self, task: Task, event: NewEvent) -> CheckedEvent:
        """Write out the details of an event. One that the task's own app does not list is refused, as an
        effect would be.
        """
        app = self.app_of(task.kind)
        known = next((each.events for each in self.apps if each.name == app), {})
        if event.kind not in known:
            raise UsageError(
                f"app {app!r} has no event {event.kind!r}; it has: {', '.join(sorted(known)) or 'none'}"
            )
        detail = dump(event.detail, f"detail of event {event.kind!r}", self._limit)
        return CheckedEvent(event.kind, redact_json(detail), event.warns)

    def near(self, kind: str) -> FindNear:
        """The function by which things of a kind are found near a text."""
        if kind not in self._near:
            raise UsageError(
                f"ctx.near does not know kind {kind!r}; it knows: {', '.join(self._near) or 'nothing'}"
            )
        return loaded(self._near[kind])


def _check(stage: Stage, name: str) -> None:
    check_text(name, f"a gate of stage {stage.name!r}", MAX_GATE_BYTES)
    kind, colon, rest = name.partition(":")
    if not (kind and colon and rest) or "\n" in name or "\x00" in name:
        raise UsageError(
            f"stage {stage.name!r} goes through {name!r}; a gate must be source:NAME, host:NAME or model:TIER"
        )


def _key(new: NewTask) -> str | None:
    if new.key is None:
        return None
    if not isinstance(new.key, str):
        raise InvalidPayload(f"a key must be text, got {type(new.key).__name__}: key=str(...)")
    if not 0 < len(new.key) <= MAX_KEY:
        raise InvalidPayload(f"a key must have 1 to {MAX_KEY} characters, this one has {len(new.key)}")
    return clean(new.key)


def _priority(new: NewTask) -> int:
    if type(new.priority) is not int:  # a truth value is none either
        raise InvalidPayload(f"a priority must be a whole number, got {new.priority!r}")
    if not -MAX_PRIORITY <= new.priority <= MAX_PRIORITY:
        raise InvalidPayload(
            f"a priority must be between {-MAX_PRIORITY} and {MAX_PRIORITY}, got {new.priority}"
        )
    return new.priority
