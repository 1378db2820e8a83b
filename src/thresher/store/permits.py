"""Permits: what a single request needs before it may be sent, across all processes; and the claim behind it.

A task's claim has taken one slot and one rate token of every gate of its lane. Its stage may send more than
one request, and to hosts that are not in the lane (redirects, robots.txt). So each request asks twice.
`reserve` takes a token, and where the gate is not one of the lane's a slot too, which is a row here until it
is released. `start` is the last check, when the connection stands: the claim still runs, no gate was closed,
and the interval since the previous start is kept.

Whoever was allowed to start sends within `PROMPT_US`, or asks again. `start` keeps that much more than the
interval between two starts, so a slow sender does not come too close to the next one; and whoever closes a
gate and then waits that long sees no request afterwards.

Lock order on PostgreSQL: permits, gates by id, and last the parked lanes, which never wait. Tasks are read,
never locked.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from thresher.core.clock import MILLISECOND, SECOND
from thresher.core.errors import ClaimLost, UnknownName, UsageError
from thresher.core.gate import CLOCK_SLACK_US, Gate
from thresher.store.backend import OPEN, LaneRemoved, unscoped
from thresher.store.gates import Gates
from thresher.store.session import Row, Session, one
from thresher.store.store import Lanes, Store

# `ClaimView`: the claim behind a request, its lane, and the permits it holds.
#
# It answers the questions on which a request depends: does the claim still run, is the slot of this gate
# already its own, and is it perhaps itself the trial that a tripped gate lets through.

T = TypeVar("T")
Claim = tuple[int, int]

# The state is looked at afterwards: as a condition it would tempt PostgreSQL to walk the index of running
# tasks.
_TASK = "select lane_id, started_at, state from tasks where id = :task and claim = :claim"
_TAKEN = "select gate_id, taken_at from permits where task_id = :task and claim = :claim"
_TAKEN_BY_NOBODY = "select gate_id, taken_at from permits where task_id is null and gate_id in (:ids*)"


def with_gates(store: Store, gates: Sequence[str], act: Callable[[Lanes], T]) -> T:
    """Do something with gates. Each is met as the lane that consists of it alone: made if it is a new host,
    and remembered.
    """
    if not gates:
        raise UsageError("a request must name the gates it passes, as in host:example.com")
    for name in gates:
        if name.startswith(OPEN) or "\n" in name:  # the keys of lanes that are more, or less, than one gate
            raise UnknownName(f"there is no gate {name!r}; name it as source:NAME or host:NAME")
    return store.with_lanes([unscoped(name) for name in gates], act)


class ClaimView:
    """As the database knows it now. `names` are the gates of the request. Raises where the claim is lost."""

    def __init__(self, store: Store, session: Session, claim: Claim | None, names: Mapping[int, str]) -> None:
        self._session, self._claim, self.names = session, claim, names
        self.lane: tuple[int, ...] = ()
        self._started_at: int | None = None
        if claim is not None:
            row = one(session, _TASK, {"task": claim[0], "claim": claim[1]})
            if row is None or row[2] != "running":
                raise ClaimLost(
                    f"task {claim[0]} is no longer held under claim {claim[1]}, so nothing more is "
                    "sent for it"
                )
            self.lane = store.backend.gates_of(session, [row[0]])[row[0]]
            self._started_at = row[1]

    @cached_property
    def permits(self) -> list[Row]:
        """The gate of each permit it holds, and when it was taken. Without a claim: those of all who come
        without one.
        """
        if self._claim is None:
            return self._session.rows(_TAKEN_BY_NOBODY, {"ids": list(self.names)})
        return self._session.rows(_TAKEN, {"task": self._claim[0], "claim": self._claim[1]})

    def is_stranger(self, gate_id: int) -> bool:
        """Whether it has no business at a gate: neither through its lane nor by a permit."""
        return gate_id not in self.lane and all(gate_id != held for held, _ in self.permits)

    def is_trial(self, gate: Gate) -> bool:
        """Whether it is itself the trial that a tripped gate lets through: then `take` left the time of its
        start there.
        """
        if not gate.on_trial:
            return False
        since = gate.tripped_until - gate.cooldown_us
        return (gate.id in self.lane and since == self._started_at) or (gate.id, since) in self.permits

    def owns_slot(self, gate: Gate) -> bool:
        """Whether its claim already holds the slot. Whoever would be a trial must come as anybody else
        does.
        """
        return gate.id in self.lane and (not gate.on_trial or self.is_trial(gate))

    def view(self, gate: Gate) -> Gate:
        """Return the gate as this claim sees it: a claim that is inside needs only a token."""
        if not self.owns_slot(gate):
            return gate
        tripped = 0 if self.is_trial(gate) else gate.tripped_until
        return replace(gate, max_in_flight=None, trip_after=None, tripped_until=tripped)


# How long the way from a granted start to the first byte may take; of a short interval, a quarter.
PROMPT_US = 10 * MILLISECOND
# Younger permits are not swept.
YOUNG_US = 5 * SECOND

_SEE = f"select name, last_start, {', '.join(Gate.__dataclass_fields__)} from gates where id in (:ids*) order by id"
_STAMP = "update gates set last_start = :last where id = :id"
_INSERT = """insert into permits (lead, gate_id, task_id, claim, holder, taken_at, expires_at)
    values (:lead, :gate, :task, :claim, :holder, :now, :expires) returning id"""
_GIVE_BACK = "delete from permits where id = :id or lead = :id returning gate_id"
_DELETE = "delete from permits where id in (:ids*) returning gate_id"
# Most requests are over before anybody has to ask whether they are still alive. A start in the future: the
# clock was set back.
_DEAD = """select p.id from permits p where (p.taken_at <= :before or p.taken_at > :ahead) and (p.expires_at <= :now
    or (p.task_id is not null and not exists
        (select 1 from tasks t where t.id = p.task_id and t.claim = p.claim and t.state || '' = 'running'))
    or (p.task_id is null and exists
        (select 1 from workers w where w.id = p.holder and (w.lost_at is not null or w.stopped_at is not null))))
    order by p.id limit :most"""


@dataclass(frozen=True, slots=True)
class Permit:
    """A request may be made ready. `id` None: nothing to give back, all slots belong to the claim of the
    lane.
    """

    id: int | None
    gates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PermitWait:
    """Not yet, because of this gate. `until` None: nobody knows when (slots are taken); ask again a little
    later.
    """

    until: int | None
    gate: str
    reason: str


@dataclass(frozen=True, slots=True)
class Go:
    """Send within `PROMPT_US`, or ask again. `paced`: an interval is kept here, so it matters when the
    request ended.
    """

    paced: bool


def reserve(
    store: Store, gates: Sequence[str], *, claim: Claim | None, holder: int | None, expires_us: int
) -> Permit | PermitWait:
    """Take what one request needs of these gates, all of them or none. Raises `ClaimLost`.

    After `expires_us` the slots are given back whatever happens, so it must be longer than the request may
    take.
    """

    def take(lanes: Lanes) -> Permit | PermitWait:
        with store.write() as session:
            names = _ids(store, session, lanes, gates)
            image = Gates(session, store.backend.dialect, 0)
            image.load(names)
            image.now = store.backend.now(session)  # after the wait for the locks, never before it
            claim_view = ClaimView(
                store, session, claim, names
            )  # and so is the look at the claim: the wait may have cost it
            wait = _closed(image, claim_view)
            foreign = (
                [] if wait else [gate_id for gate_id in sorted(names) if _take(image, claim_view, gate_id)]
            )
            _set_timers(image, () if wait else names)
            return wait or Permit(
                _write(session, foreign, claim, holder, image.now, expires_us), tuple(names.values())
            )

    return with_gates(store, gates, take)


def start(store: Store, gates: Sequence[str], *, claim: Claim | None) -> Go | PermitWait:
    """The last look before the first byte. Raises `ClaimLost`.

    Every gate of the lane must be open; the gap to the last start is kept for the gates that are named. A
    permit that was swept since it was reserved is a `PermitWait` without a date: nothing may go out on it
    any more.
    """

    def look(lanes: Lanes) -> Go | PermitWait:
        names, limited, wait = _glanced(store, lanes, gates, claim)
        if wait or not limited:
            return wait or Go(paced=False)
        with store.write() as session:
            image = Gates(session, store.backend.dialect, 0)
            image.load(limited)
            image.now = store.backend.now(session)
            seen, wait = _look(store, session, names, claim)
            return (
                wait
                or _stamp(session, image, [each for each in seen if each.gate.id in limited])
                or Go(paced=True)
            )

    return with_gates(store, gates, look)


def peek(store: Store, gates: Sequence[str], *, claim: Claim | None) -> Go | PermitWait | None:
    """What `start` says, as far as nothing is written for it; None where it has to be asked."""
    if store.lanes.missing(unscoped(name) for name in gates):
        return None
    try:
        _, limited, wait = _glanced(store, store.lanes, gates, claim)
    except LaneRemoved:
        return None
    return wait or (None if limited else Go(paced=False))


def _glanced(
    store: Store, lanes: Lanes, gates: Sequence[str], claim: Claim | None
) -> tuple[dict[int, str], list[int], PermitWait | None]:
    """The gates of a request, those of them that keep an interval, and what forbids a start."""
    with store.read(autocommit=True) as session:
        names = _ids(store, session, lanes, gates)
        seen, wait = _look(store, session, names, claim)
    return names, [each.gate.id for each in seen if each.gate.interval_us and each.gate.id in names], wait


def release(store: Store, permit: Permit, *, healthy: bool = False) -> None:
    """Give the slots back, once however often it is called, and wake who waits for them. `healthy`: the far
    side answered well.
    """
    if permit.id is None:
        return
    with store.write() as session:
        freed = session.rows(_GIVE_BACK, {"id": permit.id})
        _free(store, session, freed, healthy=healthy)
    if freed:
        store.backend.ping()


def sweep(store: Store, limit: int) -> int:
    """Release what no one else will: permits of lost claims, of dead workers, and expired ones."""
    with store.read(autocommit=True) as session:
        if not session.rows(_DEAD, _around(store.backend.now(session)) | {"most": 1}):
            return 0  # as nearly always: no reason to stand in the writers' way
    with store.write() as session:
        found = session.rows(
            _DEAD + store.backend.dialect.skip, _around(store.backend.now(session)) | {"most": limit}
        )
        freed = session.rows(_DELETE, {"ids": [row[0] for row in found]}) if found else []
        _free(store, session, freed, healthy=False)
    if freed:
        store.backend.ping()
    return len(freed)


def _around(now: int) -> dict[str, int]:
    return {"now": now, "before": now - YOUNG_US, "ahead": now + CLOCK_SLACK_US}


@dataclass(frozen=True, slots=True)
class _Seen:
    name: str
    last_start: int
    gate: Gate


def _ids(store: Store, session: Session, lanes: Lanes, gates: Sequence[str]) -> dict[int, str]:
    lane_of = {name: lanes[unscoped(name)] for name in gates}
    gates_of = store.backend.gates_of(session, list(lane_of.values()))
    if not gates_of.keys() >= set(lane_of.values()):
        raise LaneRemoved
    return {gates_of[lane_id][0]: name for name, lane_id in lane_of.items()}


def _closed(image: Gates, claim_view: ClaimView) -> PermitWait | None:
    """The gate that stays closed longest; slots count as soonest, they may come back any moment."""
    closed = []
    for gate_id, name in claim_view.names.items():
        gate = image.get(gate_id)
        if gate.clamp(image.now):
            image.mark_dirty(gate_id)
        view = claim_view.view(gate)
        if view.allowance(image.now) <= 0:
            closed.append(PermitWait(view.opens_at(image.now), name, view.why_closed(image.now) or "closed"))
    return _longest(closed)


def _longest(waits: Sequence[PermitWait]) -> PermitWait | None:
    return max(waits, key=lambda wait: wait.until or 0, default=None)


def _take(image: Gates, claim_view: ClaimView, gate_id: int) -> bool:
    """Charge one gate. True if a slot was taken that must come back."""
    gate = image.get(gate_id)
    if not claim_view.owns_slot(gate):
        image.take(gate_id, 1)
        return True
    view = claim_view.view(gate)
    view.take(1, image.now)
    if gate.tat != view.tat:
        gate.tat = view.tat
        image.mark_dirty(gate_id)
    return False


def _set_timers(image: Gates, gate_ids: Iterable[int]) -> None:
    """Who is parked on a gate that time now keeps closed, and was closed by slots before, needs a timer."""
    for gate_id in gate_ids:
        image.settle_timer(gate_id)
    image.save()


def _write(
    session: Session,
    foreign: Sequence[int],
    claim: Claim | None,
    holder: int | None,
    now: int,
    expires_us: int,
) -> int | None:
    """A row for each slot; the number of the first is the permit's."""
    task, number = claim or (None, None)
    values = {"task": task, "claim": number, "holder": holder, "now": now, "expires": now + expires_us}
    lead: int | None = None
    for gate_id in foreign:
        row = session.rows(_INSERT, values | {"lead": lead, "gate": gate_id})[0]
        lead = lead or int(row[0])
    return lead


def _free(store: Store, session: Session, freed: Sequence[Row], *, healthy: bool) -> None:
    ended = Counter(row[0] for row in freed)
    image = Gates(session, store.backend.dialect, 0)
    image.load(ended)
    image.now = store.backend.now(session)
    for gate_id in sorted(ended):
        image.release(gate_id, ended[gate_id], healthy=healthy)
    image.save()


def _look(
    store: Store, session: Session, names: Mapping[int, str], claim: Claim | None
) -> tuple[list[_Seen], PermitWait | None]:
    """All gates of the lane and of the request, and what forbids a start now, the rate aside."""
    claim_view = ClaimView(store, session, claim, names)
    rows = session.rows(_SEE, {"ids": [*{*claim_view.lane, *names}]})
    seen = [_Seen(row[0], row[1], Gate(*row[2:])) for row in rows]
    if not {each.gate.id for each in seen} >= names.keys():
        raise LaneRemoved
    # Most gates were never closed: then there is no need to ask what time it is.
    now = (
        store.backend.now(session)
        if any(each.gate.open_after or each.gate.tripped_until for each in seen)
        else 0
    )
    return seen, _longest([wait for each in seen if (wait := _shut(each, claim_view, now))])


def _shut(seen: _Seen, claim_view: ClaimView, now: int) -> PermitWait | None:
    gate = seen.gate
    until = max(gate.open_after, 0 if claim_view.is_trial(gate) else gate.tripped_until)
    if until > now:
        return PermitWait(until, seen.name, gate.why_closed(now) or "closed")
    if gate.id in claim_view.names and claim_view.is_stranger(gate.id):
        return PermitWait(None, seen.name, "the permit is gone; reserve again")
    return None


def _stamp(session: Session, image: Gates, limited: Sequence[_Seen]) -> PermitWait | None:
    """Keep the gap to the last start, and be the last start from now on. The caller holds the gates."""
    lasts = {each.gate.id: _last_start(each, image.now) for each in limited}
    waits = [
        PermitWait(at, each.name, "rate")
        for each in limited
        if (at := _next_start(each.gate, lasts[each.gate.id])) > image.now
    ]
    if not waits:
        for each in limited:
            lasts[each.gate.id] = max(image.now, lasts[each.gate.id] + each.gate.interval_us)
            gate = image.get(each.gate.id)
            gate.tat = max(gate.tat, lasts[gate.id] + gate.interval_us)
            image.mark_dirty(gate.id)
    changed = [
        {"id": each.gate.id, "last": lasts[each.gate.id]}
        for each in limited
        if lasts[each.gate.id] != each.last_start
    ]
    session.many(_STAMP, changed)
    _set_timers(image, () if waits else lasts)
    return _longest(waits)


def _last_start(seen: _Seen, now: int) -> int:
    """Never further ahead of time than a burst can be: the clock was set back, or the interval made
    shorter.
    """
    ahead = now + (seen.gate.burst - 1) * seen.gate.interval_us
    return ahead if seen.last_start > ahead + CLOCK_SLACK_US else seen.last_start


def _next_start(gate: Gate, last: int) -> int:
    """When the next request may start. With a burst there is no gap to keep, and `last` runs ahead of time as
    `tat` does.
    """
    hesitation = min(PROMPT_US, gate.interval_us // 4) if gate.burst == 1 else 0
    return last + hesitation + (2 - gate.burst) * gate.interval_us


# What is noted when a request of a claim has been answered, and where its start had to be prompt.

_HURRIED = "select 1 from gates where name = :name and interval_us > 0 and (max_in_flight is null or max_in_flight > 1)"


def is_hurried(store: Store, gate: str) -> bool:
    """Several at once, and an interval between them: there nothing but the sender's promptness keeps the
    gap.
    """
    with store.read(autocommit=True) as session:
        return one(session, _HURRIED, {"name": gate}) is not None


# A host that takes one request at a time has seen this one by now; when exactly, only it knows. So its
# interval counts from the answer, and holds on its clock however long the request was on its way. Where
# several are under way at once, the next may have started before: there the start is what counts.
_HEARD = """update gates set last_start = :at, tat = case when tat < :at_too + interval_us then :at_more + interval_us else tat end
    where name = :gate and max_in_flight = 1 and interval_us > 0 and last_start < :at_last"""


def note_answer(store: Store, gate: str) -> None:
    """A request through this gate has ended just now. Call it before the slot goes back."""
    with store.write() as session:
        at = store.backend.now(session) - PROMPT_US  # which `start` adds again
        session.run(_HEARD, {"gate": gate, "at": at, "at_too": at, "at_more": at, "at_last": at})
