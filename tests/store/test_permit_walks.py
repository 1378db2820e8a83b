"""Random walks over requests: reserved, started, given back, swept, among claims, pauses, crashes and changed
limits.

A model keeps its own books of who holds what and when requests started; after every step the database must
agree. `THRESHER_MODEL_SEED=7` replays one walk.
"""

import os
import random
from collections import Counter, deque
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from tests.harness.databases import memory_database, only_postgres, only_sqlite
from tests.harness.gates import gate
from tests.harness.image import look
from tests.harness.tasks import LEASE_US, claim, done, entry, put, retry, rows, settle, troubled, worker
from tests.harness.walk import tasks_gates
from thresher.core.clock import SECOND, FrozenClock
from thresher.core.errors import ClaimLost
from thresher.core.gate import Gate, GateLimits
from thresher.core.task import Task
from thresher.store import host_rules, permits, sources, workers
from thresher.store.permits import YOUNG_US, Permit, PermitWait
from thresher.store.repair import drifted, repair
from thresher.store.store import Store

SEED = os.environ.get("THRESHER_MODEL_SEED")
OUTSIDE = "host:outside.example"


@dataclass
class Trip:
    """One request: for which claim, through which gates, by which permit, since when and until when."""

    claim: tuple[int, int] | None
    gates: tuple[str, ...]
    permit: Permit
    taken_at: int
    expires: int


@dataclass
class RequestWalk:
    """What is true, and what may happen next."""

    machines: list[Store]
    clock: FrozenClock
    seed: int
    held: dict[int, tuple[Task, int]] = field(default_factory=dict)
    zombies: deque[Task] = field(default_factory=lambda: deque(maxlen=20))
    claimed_at: dict[tuple[int, int], int] = field(default_factory=dict)
    trips: list[Trip] = field(default_factory=list)
    past: list[Permit] = field(default_factory=list)
    starts: dict[str, list[int]] = field(default_factory=dict)
    diary: deque[str] = field(default_factory=lambda: deque(maxlen=30))
    seen: Counter = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.luck = random.Random(self.seed)
        store = self.machines[0]
        self.gates = [f"host:{n}.example" for n in range(self.luck.randint(2, 4))]
        for name in self.gates:
            limits = self._limits()
            gate(
                store,
                name,
                slots=limits.max_in_flight,
                interval_us=limits.interval_us,
                burst=limits.burst,
                trip_after=limits.trip_after,
                cooldown_us=limits.cooldown_us,
            )
        self.lanes = [(), *((name,) for name in self.gates), tuple(self.gates[:2])]
        self.workers = [worker(store, f"w{n}") for n in range(2)]

    @property
    def store(self) -> Store:
        return self.luck.choice(self.machines)

    def run(self, steps: int) -> None:
        acts = [
            (self.enqueue, 10),
            (self.claim, 14),
            (self.settle, 10),
            (self.reserve, 30),
            (self.start, 30),
            (self.release, 16),
            (self.release_again, 4),
            (self.pass_time, 24),
            (self.close, 4),
            (self.resume, 5),
            (self.change_limits, 3),
            (self.sweep, 4),
            (self.lose_worker, 2),
            (self.zombie, 4),
            (self.slow_down, 3),
        ]
        for step in range(steps):
            act = self.luck.choices(*zip(*acts, strict=True))[0]
            self.diary.append(f"{step}: {act.__name__}")
            act()
            self._check(step)

    def _limits(self) -> GateLimits:
        luck = self.luck
        return GateLimits(
            max_in_flight=luck.choice((None, 1, 1, 2, 3)),
            interval_us=luck.choice((0, 1_000, SECOND, SECOND)),
            burst=luck.choice((1, 1, 1, 3)),
            trip_after=luck.choice((None, 1, 2)),
            cooldown_us=luck.choice((SECOND, 20 * SECOND)),
        )

    # What can happen.

    def enqueue(self) -> None:
        put(self.store, *(entry(gates=self.luck.choice(self.lanes)) for _ in range(self.luck.randint(1, 3))))

    def claim(self) -> None:
        holder = self.luck.choice(self.workers)
        for task in claim(self.store, self.luck.randint(1, 3), holder):
            self.held[task.id] = (task, holder)
            self.claimed_at[task.id, task.claim] = self.clock.now()

    def settle(self) -> None:
        if self.held:
            task, _ = self.held.pop(self.luck.choice(sorted(self.held)))
            answer = self.luck.choice((done, done, retry, troubled if task.lane else retry))
            settle(self.store, answer(task))
            self.zombies.append(task)

    def reserve(self) -> None:
        task = self._somebody()
        names = tuple(self.luck.sample([*self.gates, OUTSIDE], self.luck.randint(1, 2)))
        expires = self.luck.choice((2 * SECOND, 60 * SECOND))
        before = look(self.machines[0]).gates
        found = permits.reserve(self.store, names, claim=self._key(task), holder=None, expires_us=expires)
        if isinstance(found, PermitWait):
            self.seen[f"reserve: {found.reason}"] += 1
            self._must(
                found.gate in names and (found.until is None or found.until > self.clock.now()), f"{found}"
            )
            return
        self.seen["reserved"] += 1
        lane = tasks_gates(self.machines[0], task.id) if task else []
        for name, image in look(self.machines[0]).gates.items():
            if name not in names:
                continue
            self._must(image.open_after <= self.clock.now(), f"reserved at {name}, which is shut")
            if name not in lane:
                self._must(
                    image.max_in_flight is None or image.in_flight <= image.max_in_flight,
                    f"{name} is overfull: {image}",
                )
                self._must(
                    name not in before or before[name].allowance(self.clock.now()) > 0,
                    f"{name} was closed: {before.get(name)}",
                )
        self._must((found.id is None) == (not self._foreign(task, names, before)), f"{found}: {lane} {names}")
        self.trips.append(Trip(self._key(task), names, found, self.clock.now(), self.clock.now() + expires))

    def _foreign(self, task, names, before) -> bool:
        """Whether a slot had to be taken: outside the lane, or as a newcomer to a gate that is on trial."""
        if task is None:
            return True
        lane = tasks_gates(self.machines[0], task.id)
        started = rows(self.machines[0], "select started_at from tasks where id = :id", id=task.id)[0][0]

        def inside(image):
            return (
                not image.on_trial
                or image.tripped_until - image.cooldown_us == started
                or self._holds_trial(task, image)
            )

        return not all(name in lane and inside(before[name]) for name in names)

    def _holds_trial(self, task, image) -> bool:
        sql = "select 1 from permits where task_id = :id and claim = :claim and gate_id = :gate and taken_at = :at"
        since = image.tripped_until - image.cooldown_us
        return bool(rows(self.machines[0], sql, id=task.id, claim=task.claim, gate=image.id, at=since))

    def start(self) -> None:
        if not self.trips:
            return
        trip = self.luck.choice(self.trips)
        running = trip.claim is None or self._runs(trip.claim)
        try:
            found = permits.start(self.store, trip.gates, claim=trip.claim)
        except ClaimLost:
            self._must(not running, f"{trip} was refused although it runs")
            self.seen["claim lost"] += 1
            return
        self._must(running, f"{trip} started without its claim")
        wait = None if isinstance(found, permits.Go) else found
        if wait is not None:
            self.seen[f"start: {wait.reason}"] += 1
            self._must(wait.until is None or wait.until > self.clock.now(), f"{wait} at {self.clock.now()}")
            if wait.reason == "tripped":
                image = look(self.machines[0]).gates[wait.gate]
                self._must(
                    not (image.on_trial and self._began(trip, wait.gate, image, alone=True)),
                    f"{trip} is refused by its own trial",
                )
            return
        self.seen["started"] += 1
        lane = tasks_gates(self.machines[0], trip.claim[0]) if trip.claim else []
        for name, image in look(self.machines[0]).gates.items():
            if name in lane or name in trip.gates:
                self._must(
                    image.open_after <= self.clock.now(),
                    f"{trip} started through {name}, which is shut: {image}",
                )
                tripped = image.tripped_until > self.clock.now()
                self._must(
                    not tripped or self._began(trip, name, image), f"{trip} started through tripped {name}"
                )
                self.seen["trial"] += tripped
            if name in trip.gates and image.interval_us:
                self._count_start(name, image)

    def _began(self, trip: Trip, name: str, image: Gate, *, alone: bool = False) -> bool:
        """Whether this asker came to the gate when its trial began."""
        lane = tasks_gates(self.machines[0], trip.claim[0]) if trip.claim else []
        times = [self.claimed_at[trip.claim]] if name in lane else []
        mine = [
            each
            for each in self.trips
            if each.claim == trip.claim and each.permit.id is not None and name in each.gates
        ]
        times += [each.taken_at for each in mine if not alone or len(each.gates) == 1]
        return image.tripped_until - image.cooldown_us in times

    def _count_start(self, name, image) -> None:
        past = self.starts.setdefault(name, [])
        past.append(self.clock.now())
        if image.burst == 1:
            gaps = [two - one for one, two in pairwise(past)]
            self._must(
                all(gap >= image.interval_us for gap in gaps),
                f"starts at {name} were {min(gaps or [0])} apart",
            )
        for first, begin in enumerate(past):
            number, length = len(past) - first, past[-1] - begin
            self._must(
                number <= image.burst + length // image.interval_us,
                f"{number} starts at {name} within {length} us",
            )

    def release(self) -> None:
        if self.trips:
            trip = self.trips.pop(self.luck.randrange(len(self.trips)))
            permits.release(self.store, trip.permit, healthy=self.luck.random() < 0.5)
            self.past.append(trip.permit)

    def release_again(self) -> None:
        if self.past:
            permits.release(self.store, self.luck.choice(self.past), healthy=True)

    def pass_time(self) -> None:
        self.clock.advance(self.luck.choice((1, 900, 250_000, SECOND, SECOND, SECOND + 10_000, 5 * SECOND)))
        for worker_id in self.workers:
            self._must(workers.renew(self.store, worker_id).alive, "a living worker was given up")

    def close(self) -> None:
        name = self.luck.choice(self.gates)
        act = self.luck.choice((sources.pause, host_rules.hold_back, sources.judge_source))
        if act is sources.judge_source:
            act(self.store, name, "no answer")
        else:
            act(self.store, name, self.luck.choice((1, SECOND, 5 * SECOND)), "by the walk")

    def resume(self) -> None:
        sources.resume(self.store, self.luck.choice(self.gates))

    def change_limits(self) -> None:
        name = self.luck.choice(self.gates)
        sources.set_limits(self.store, name, self._limits())
        self.starts.pop(name, None)

    def slow_down(self) -> None:
        name = self.luck.choice(self.gates)
        host_rules.slow_down(self.store, name, self.luck.choice((0, 2 * SECOND, 3 * SECOND)))
        self.starts.pop(name, None)

    def sweep(self) -> None:
        dead = [trip for trip in self.trips if self._is_dead(trip)]
        leads = [trip.permit.id for trip in dead if trip.permit.id is not None]
        sql = "select count(*) from permits where id in (:ids*) or lead in (:leads*)"
        ((expected,),) = rows(self.machines[0], sql, ids=leads, leads=leads)
        swept = 0
        while some := permits.sweep(self.store, self.luck.randint(1, 4)):
            swept += some
        self._must(swept == expected, f"{swept} slots were swept, {expected} were dead: {dead}")
        self.seen["swept"] += swept
        for trip in dead:
            self.trips.remove(trip)
            self.past.append(trip.permit)

    def _is_dead(self, trip: Trip) -> bool:
        over = trip.expires <= self.clock.now() or (trip.claim is not None and not self._runs(trip.claim))
        return over and trip.taken_at <= self.clock.now() - YOUNG_US

    def lose_worker(self) -> None:
        lost, other = self.luck.sample(self.workers, 2)
        self.clock.advance(LEASE_US + 1)
        workers.renew(self.store, other)
        while workers.reap(self.store, 10):
            pass
        for task_id in [task_id for task_id, (_, holder) in self.held.items() if holder == lost]:
            self.zombies.append(self.held.pop(task_id)[0])
        self.workers[self.workers.index(lost)] = worker(self.store, "new")

    def zombie(self) -> None:
        if self.zombies:
            late = self.luck.choice(self.zombies)
            before = rows(self.machines[0], "select * from gates order by id")
            with pytest.raises(ClaimLost):
                permits.start(self.store, (self.gates[0],), claim=(late.id, late.claim))
            with pytest.raises(ClaimLost):
                permits.reserve(
                    self.store, (self.gates[0],), claim=(late.id, late.claim), holder=None, expires_us=1
                )
            self._must(
                rows(self.machines[0], "select * from gates order by id") == before,
                "a zombie has taken something",
            )

    def _somebody(self) -> Task | None:
        if not self.held or self.luck.random() < 0.3:
            return None
        return self.held[self.luck.choice(sorted(self.held))][0]

    def _key(self, task):
        return None if task is None else (task.id, task.claim)

    def _runs(self, claim_) -> bool:
        return claim_[0] in self.held and self.held[claim_[0]][0].claim == claim_[1]

    # Checks.

    def _must(self, holds: object, says: str) -> None:
        if not holds:
            recent = "\n  ".join(self.diary)
            raise AssertionError(
                f"{says}\nseed {self.seed}: replay with THRESHER_MODEL_SEED={self.seed}\nthe last steps:\n  {recent}"
            )

    def _check(self, step: int) -> None:
        store = self.machines[0]
        stranded = list(look(store)._stranded())
        self._must(not stranded, "; ".join(stranded))
        self._must(drifted(store) == {}, f"drifted: {drifted(store)}")
        slots = {trip.permit.id for trip in self.trips} - {None}
        leads = {row[0] for row in rows(store, "select id from permits where lead is null")}
        self._must(leads == slots, f"permits {leads} stand in the database, {slots} are held")
        if step % 10 == 0:
            found = repair(store)
            self._must(not found, f"repair found {found}")


def seeds(number):
    return [int(SEED)] if SEED else range(number)


@pytest.mark.promise(2)
@pytest.mark.promise(3)
@pytest.mark.promise(16)
@only_sqlite
@pytest.mark.parametrize("seed", seeds(16))
def test_no_walk_of_requests_breaks_a_limit_on_sqlite(make_store, clock, seed):
    walk = RequestWalk([make_store(), make_store()], clock, seed)
    walk.run(400)
    assert walk.seen["started"] > 5, walk.seen


@pytest.mark.promise(2)
@pytest.mark.promise(3)
@pytest.mark.promise(16)
@pytest.mark.promise(19)
@only_postgres
@pytest.mark.parametrize("seed", seeds(3))
def test_no_walk_of_requests_breaks_a_limit_on_postgres(make_store, clock, seed):
    RequestWalk([make_store(), make_store()], clock, seed).run(200)


_FREE = permits._free


def _free_twice(store, session, freed, *, healthy):
    _FREE(store, session, [*freed, *freed], healthy=healthy)


# Each rule of requests, removed on purpose: a walk that stays silent then has no teeth.
MUTANTS = {
    "a start keeps no gap": ("_next_start", lambda gate, last: 0),
    "a start does not look whether gates are open": ("_shut", lambda seen, asker, now: None),
    "who is parked gets no timer": ("_set_timers", lambda image, gate_ids: image.save()),
    "no slot of another gate is taken": ("_take", lambda image, asker, gate_id: True),
    "a closed gate is reserved all the same": ("_closed", lambda image, asker: None),
    "nothing is given back": ("_free", lambda store, session, freed, *, healthy: None),
    "more is given back than was taken": ("_free", _free_twice),
    "a gate of the lane costs a second slot": ("ClaimView.owns_slot", lambda asker, gate: False),
    "whoever has a claim owns every slot": ("ClaimView.owns_slot", lambda asker, gate: bool(asker.lane)),
    "a trial is refused by itself": ("ClaimView.is_trial", lambda asker, gate: False),
    "anybody is the trial": ("ClaimView.is_trial", lambda asker, gate: gate.on_trial),
}


def walks_in_a_row(number):
    for seed in range(number):
        clock = FrozenClock()
        with closing(memory_database(clock)) as database:
            RequestWalk([database.open()], clock, seed).run(300)


@pytest.mark.promise(3)
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_rule_that_is_removed_is_missed(monkeypatch, mutant):
    name, instead = MUTANTS[mutant]
    monkeypatch.setattr(f"thresher.store.permits.{name}", instead)
    with pytest.raises(AssertionError, match="replay with"):
        walks_in_a_row(20)
