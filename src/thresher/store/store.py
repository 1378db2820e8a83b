"""The store as the engine and everybody above it know it: a small object; what it can do stands in the
modules beside it.

Code here is synchronous. Whole transactions run on database threads: `await store.run(fn,
...)`. The one exception is a worker's turn, which a server may be asked for from the event loop itself.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import copy_context
from dataclasses import replace
from itertools import count
from typing import ParamSpec, TypeVar

from thresher.config.settings import Settings
from thresher.core.errors import PartlyEnqueued
from thresher.core.event import EventKind
from thresher.core.log_context import log_fields
from thresher.core.setting import Number
from thresher.core.settlement import Settlement
from thresher.core.task import Entry, TaskId, TaskInsert
from thresher.store import audit, idempotency
from thresher.store.app_migrations import AppSchema
from thresher.store.backend import Backend, LaneRemoved, Place, QueueRules, Scopes, Settled, Turn
from thresher.store.events import record_event
from thresher.store.lanes import OPEN_LANES, OPEN_NAMES, resolve
from thresher.store.session import Params, Row, Session
from thresher.store.settle import settle

log = logging.getLogger("thresher.store")

MIN_PATIENCE = 1.0  # seconds: a busy server is not a dead one

P = ParamSpec("P")
T = TypeVar("T")
Write = Callable[[], AbstractContextManager[Session]]

# A thousand take SQLite 35 ms. While it writes, nobody else does: not the worker, nor its heartbeat.
ENQUEUE_AT_ONCE = 5_000
# How often lanes are looked up anew. One that was just looked up is not removed for a day, so the second time
# does.
MAX_LANE_LOOKUPS = 4

LANES_REMEMBERED = 100_000
MAX_TOLD = 20  # tasks that the log line of a request names


class Lanes:
    """The lanes already met, and a fair hand for tasks without gates."""

    def __init__(self, met: Mapping[Place, int] = {}) -> None:
        self._met = dict(met)
        self._deal = count()

    def __getitem__(self, place: Place) -> int:
        kind, stage, gates = place
        return self._met[place if gates else (kind, stage, OPEN_NAMES[next(self._deal) % OPEN_LANES])]

    def missing(self, wanted: Iterable[Place]) -> set[Place]:
        """Those that have to be resolved first."""
        return {
            (kind, stage, names)
            for kind, stage, gates in wanted
            for names in ((gates,) if gates else OPEN_NAMES)
            if (kind, stage, names) not in self._met
        }

    @property
    def full(self) -> bool:
        """Whether it is time to start over with an empty memory."""
        return len(self._met) > LANES_REMEMBERED

    def meet(self, found: Mapping[Place, int]) -> None:
        self._met |= found

    def with_(self, found: Mapping[Place, int]) -> "Lanes":
        """These and a few more, for one transaction that may yet be rolled back."""
        return Lanes(self._met | dict(found))


class Store:
    """A backend, the settings in force, and the lanes already met."""

    def __init__(self, backend: Backend, *, threads: int = 1, settings: Settings | None = None) -> None:
        self.backend = backend
        self.project_settings: dict[str, Number] = {}
        # The apps that run in this process, whose schedules it fires. None: nobody has said, and all are
        # fired.
        self.apps: frozenset[str] | None = None
        self.app_schemas: Sequence[AppSchema] = ()  # of the apps that were opened with it
        self._app_events: Mapping[str, str] | None = None
        self.lanes = Lanes()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="database")
        self.settings = settings or Settings()

    @property
    def settings(self) -> Settings:
        """The settings in force. Replaced whole when they change."""
        return self._settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self._settings = settings
        self.backend.patience = max(MIN_PATIENCE, float(settings["worker.lease"]))
        self.rules = QueueRules(
            settings.count("queue.quantum"),
            settings.us("queue.head_start"),
            settings.count("lineage.max_depth"),
            settings.count("lineage.alert_depth"),
            settings.count("retry.max_crashes"),
        )

    @property
    def app_events(self) -> Mapping[str, str] | None:
        """The kinds of events that the apps list, each with its sentence. None: nobody has said."""
        return self._app_events

    @app_events.setter
    def app_events(self, events: Mapping[str, str]) -> None:
        self._app_events = self.backend.app_events = events

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Session]:
        """A transaction that writes; with `durable=False` one that waits for no disk. What it warns of is
        logged once it is committed. What somebody changes in it brings their row of the audit log along, and
        the mark of a request with an idempotency key.
        """
        actor, attempt = audit.unrecorded(), idempotency.attempt_now()
        with self.backend.write() if durable else self.backend.write(durable=False) as session:
            yield session
            is_change = session.changed > 0
            if actor is not None and is_change:
                audit.record(session, actor, self.backend.now(session))
            if attempt is not None and is_change:
                idempotency.hold(session, attempt)
        if actor is not None and is_change:
            actor.is_recorded = True
        if attempt is not None and is_change:
            attempt.changed = True
        for sentence in session.warnings:
            log.warning("%s", sentence)

    def read(self, *, autocommit: bool = False) -> AbstractContextManager[Session]:
        """A transaction that only reads; with `autocommit` single looks by key, each at the newest."""
        return self.backend.read(autocommit=True) if autocommit else self.backend.read()

    async def run(self, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a whole transaction on a database thread, for whoever acts here."""
        loop, context = asyncio.get_running_loop(), copy_context()
        return await loop.run_in_executor(self._threads, lambda: context.run(fn, *args, **kwargs))

    def enqueue(self, entries: Sequence[Entry]) -> list[TaskId | None]:
        """Accept tasks. None where a live task of that kind already has the key.

        Up to `ENQUEUE_AT_ONCE` are accepted all or none. More go in portions of that size, in the order
        given, so that nobody has to wait for all of them: each portion is accepted whole or not at all.
        Should the database fail in between, `PartlyEnqueued` says which were accepted. Unknown gates are
        refused before anything is written.
        """
        ids: list[TaskId | None] = []
        if len(entries) > ENQUEUE_AT_ONCE:
            self.meet_lanes({entry.place for entry in entries})
        for at in range(0, len(entries), ENQUEUE_AT_ONCE):
            try:
                ids += self._enqueue(entries[at : at + ENQUEUE_AT_ONCE])
            except Exception as problem:
                if not ids:
                    raise
                raise PartlyEnqueued(problem, ids, len(entries)) from problem
            self.backend.ping()
        _tell_request(ids)
        return ids

    def _enqueue(self, entries: Sequence[Entry]) -> list[TaskId | None]:
        def insert(lanes: Lanes) -> list[TaskId | None]:
            return _in_key_order(entries, lanes, self._insert)

        return self.with_lanes({entry.place for entry in entries}, insert)

    def _insert(self, inserts: Sequence[TaskInsert]) -> list[int | None]:
        """Insert by the shortest way there is; for somebody whose row has to be written with it, in a
        transaction.
        """
        if audit.unrecorded() is None and idempotency.attempt_now() is None:
            return self.backend.enqueue(inserts, self.rules)
        with self.write() as session:
            return self.backend.insert(session, inserts, self.rules)

    @contextmanager
    def transaction(self) -> Iterator["Transaction"]:
        """Enqueue together with whatever else you write: both happen, or neither does.

        On PostgreSQL it may stay open without holding up a claim or another enqueue, except one with the same
        key. SQLite has one writer: keep it short there.
        """
        with self.write() as session:
            yield Transaction(self, session)
        self.backend.ping()

    @contextmanager
    def joined(self, connection: object) -> Iterator["Transaction"]:
        """The same within a transaction of the caller's, on the caller's own connection: it happens if and
        when that one commits.
        """
        with self.backend.join(connection) as session:
            yield Transaction(self, session)

    def turn(
        self, settlements: Sequence[Settlement], limit: int, worker_id: int, scopes: Scopes = None
    ) -> Turn:
        """Settle these, then claim up to `limit` of these scopes.

        Here the two ways of settling part. A plain settlement (`Settlement.is_plain`: it ends or sends back
        one task, and brings nothing) shares the transaction of the claim, which the backend carries out in as
        few statements as there can be. Whatever brings children, records, a group, effects or blame is
        settled before, by `settle`, in a transaction of its own.
        """
        rich = [each for each in settlements if not each.is_plain]
        stale = self.settle(rich) if rich else []
        plain = [each for each in settlements if each.is_plain] if rich else settlements
        turn = self.backend.turn(plain, limit, worker_id, self.rules, scopes)
        if turn.stale:
            self._report_stale(turn.stale)
        return replace(turn, stale=[*stale, *turn.stale]) if stale else turn

    async def take_turn(
        self, settlements: Sequence[Settlement], limit: int, worker_id: int, scopes: Scopes = None
    ) -> Turn:
        """A worker's turn, by the shortest way there is to the database."""
        on_loop = self.backend.turn_on_loop
        if on_loop is None or not all(each.is_plain for each in settlements):
            return await self.run(self.turn, settlements, limit, worker_id, scopes)
        turn = await on_loop(settlements, limit, worker_id, self.rules, scopes)
        if turn.stale:
            await self.run(self._report_stale, turn.stale)
        return turn

    def settle(self, settlements: Sequence[Settlement], *, report: bool = True) -> list[Settlement]:
        """Settle in one transaction; returns those that the fence refused, and reports them as events."""
        wanted = [each.place for each in settlements if each.place is not None]
        children = [child.place for each in settlements for child in each.children]
        followers = [each.group.then.place for each in settlements if each.group and each.group.then]

        def apply(lanes: Lanes) -> list[Settled]:
            with self.write() as session:
                return settle(self.backend, session, settlements, lanes, self.rules)

        hits = self.with_lanes([*wanted, *children, *followers], apply)
        # A result is announced, too: whoever wants one may be waiting for it.
        if any(
            each.children or each.group or each.gates is not None or each.result is not None
            for each in settlements
        ):
            self.backend.ping()
        through = {(hit.settlement.task_id, hit.settlement.claim) for hit in hits}
        stale = [each for each in settlements if (each.task_id, each.claim) not in through]
        if stale and report:
            self._report_stale(stale)
        return stale

    def _report_stale(self, stale: Sequence[Settlement]) -> None:
        with self.write() as session:
            now = self.backend.now(session)
            for each in stale:
                record_event(
                    session,
                    EventKind.STALE_SETTLEMENT,
                    now,
                    task_id=each.task_id,
                    claim=each.claim,
                    ending=each.ending,
                )

    def with_lanes(self, wanted: Collection[Place], act: Callable[[Lanes], T]) -> T:
        """Do something in a transaction of its own with lanes from memory. Where pruning has removed one,
        look them up and try again.
        """
        return self.until_lanes_stand(lambda: act(self.meet_lanes(wanted)))

    def until_lanes_stand(self, act: Callable[[], T]) -> T:
        """Do something with lanes from memory, and forget them and try again where pruning has removed
        one.
        """
        for _ in range(MAX_LANE_LOOKUPS):
            try:
                return act()
            except LaneRemoved:
                self.lanes = Lanes()  # a new one, as below
        return act()

    def meet_lanes(self, wanted: Iterable[Place], write: Write | None = None) -> Lanes:
        """Resolve unknown lanes in a transaction of their own: only what is committed may be remembered. A
        lane is bookkeeping, and nobody's change.
        """
        if self.lanes.full:
            self.lanes = Lanes()  # a new one: other threads may still look into the old one
        lanes = self.lanes
        missing = lanes.missing(wanted)
        if missing:
            with (write or self.backend.write)() as session:
                found = resolve(self.backend, session, missing, self.settings)
            lanes.meet(found)
        return lanes

    def close(self) -> None:
        self._threads.shutdown(wait=True)
        self.backend.close()


class Transaction:
    """One open transaction of the caller's."""

    def __init__(self, store: Store, session: Session) -> None:
        self._store, self.session = store, session

    def execute(self, sql: str, params: Params = {}) -> list[Row]:
        """A statement of your own, with `:name` for values."""
        return self.session.rows(sql, params)

    def enqueue(self, entries: Sequence[Entry]) -> list[TaskId | None]:
        """Accept tasks if and when this transaction commits."""
        if not entries:
            return []
        store, session = self._store, self.session
        places = {entry.place for entry in entries}

        def insert() -> list[TaskId | None]:
            lanes = self._lanes(places)
            return _in_key_order(
                entries,
                lanes,
                lambda inserts: store.backend.insert(session, inserts, store.rules, take_lanes=False),
            )

        ids = store.until_lanes_stand(insert)
        _tell_request(ids)
        return ids

    def _lanes(self, wanted: Iterable[Place]) -> Lanes:
        """New lanes are made aside where that is possible: whoever else needs one must not wait for this
        transaction to end.
        """
        store, aside = self._store, self._store.backend.aside
        missing = store.lanes.missing(wanted)
        if missing and aside is None:
            return store.lanes.with_(resolve(store.backend, self.session, missing, store.settings))
        return store.meet_lanes(missing, aside)


def _tell_request(ids: Sequence[TaskId | None]) -> None:
    """Log which tasks an HTTP request has asked for. This line has the request and its trace beside the
    tasks, whose lineages bear their numbers: nothing of it has to be stored with each task.
    """
    made = [task_id for task_id in ids if task_id is not None]
    if made and "request_id" in log_fields():
        shown = {"event": "enqueued", "tasks": made[:MAX_TOLD]}
        more = f" and {len(made) - 1} more" if len(made) > 1 else ""
        log.info("task %d%s enqueued", made[0], more, extra=shown)


def _in_key_order(
    entries: Sequence[Entry], lanes: Lanes, insert: Callable[[list[TaskInsert]], list[int | None]]
) -> list[TaskId | None]:
    """Insert by key, so that two callers with the same keys never wait for each other in a circle; answer as
    asked.
    """
    order = sorted(range(len(entries)), key=lambda at: (entries[at].kind, entries[at].key or ""))
    inserts = [TaskInsert(entries[at], lanes[entries[at].place]) for at in order]
    ids: list[TaskId | None] = [None] * len(entries)
    for at, task_id in zip(order, insert(inserts), strict=True):
        ids[at] = None if task_id is None else TaskId(task_id)
    return ids
