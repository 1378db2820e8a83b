"""Gates and waiting: whether a gate is open, why it is closed, when it opens, and why a task waits."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thresher.core.clock import FOREVER, HOUR, SECOND, as_text
from thresher.core.errors import UnknownName
from thresher.core.gate import Gate
from thresher.core.task import LIVE, State
from thresher.store import lanes, overview, sources
from thresher.store.gates import gate_named
from thresher.store.overview import MAX_COUNTED
from thresher.store.session import Session
from thresher.store.sources import gate_called
from thresher.store.store import Store

OPEN = "open"
# Closed by a person, by the source or by trouble; "full" and "rate" are a gate at its ordinary work.
SHUT = ("disabled", "paused", "tripped")


@dataclass(frozen=True, slots=True)
class GateView:
    """One gate. `state` is open, paused, disabled, tripped, full or rate; `why` is the sentence behind it.
    `last_success_at` is when a task or a request last went well behind it, to within a minute.
    """

    name: str
    source: str | None
    app: str | None
    state: str
    tag: str | None
    why: str | None
    opens_at: int | None
    rate: float | None
    burst: int
    in_flight: int
    max_in_flight: int | None
    trip_after: int | None
    cooldown: float
    failures: int
    last_error: str | None
    last_error_at: int | None
    waiting: int
    robots_off_at: int | None = None
    robots_off_reason: str | None = None
    last_success_at: int | None = None

    @property
    def reason(self) -> str | None:
        """Why it is closed, with the word for it where that says more than the state."""
        return f"{self.tag}: {self.why}" if self.tag and self.tag != self.state else self.why

    @property
    def limits(self) -> str:
        """Its limits in a few words."""
        rate = [] if self.rate is None else [rate_words(self.rate, self.burst)]
        slots = [] if self.max_in_flight is None else [f"{self.in_flight} of {self.max_in_flight} in flight"]
        return ", ".join([*rate, *slots]) or "none"

    @property
    def shut(self) -> bool:
        return self.state in SHUT


def list_gates(
    store: Store, *, every: bool = False, after: str | None = None, limit: int = 1_000, bounded: bool = False
) -> list[GateView]:
    """The sources by name, or those behind the gate that is called `after`; with `every` all gates, hosts
    too. Bounded, what waits is counted up to `MAX_COUNTED`.
    """
    with store.read() as session:
        found = sources.find_gates(session, only_sources=not every, after=after, limit=limit)
        return _views(session, found, store.backend.now(session), bounded=bounded)


def show_gate(store: Store, name: str, *, bounded: bool = False) -> GateView:
    """One gate, by the source's name or the gate's own."""
    with store.read() as session:
        found = sources.find_gates(session, name=gate_called(name))
        if not found:
            raise UnknownName(f"there is no source or gate {name!r}; thresher sources list --all shows them")
        return _views(session, found, store.backend.now(session), bounded=bounded)[0]


MAX_CLOSED = 200


def closed_gates(session: Session, now: int, *, bounded: bool = False) -> list[GateView]:
    """Gates that are shut, and gates at their limit that tasks wait for; those with the most waiting first.
    Bounded, the first `MAX_CLOSED` by name.
    """
    found = sources.find_closed(session, now, MAX_CLOSED if bounded else sources.MAX_CLOSED)
    views = _views(session, found, now, bounded=bounded)
    closed = [view for view in views if view.shut or (view.state != OPEN and view.waiting)]
    return sorted(closed, key=lambda view: (not view.shut, -view.waiting, view.name))


def at_most(number: int) -> str:
    """Write a number that was counted up to `MAX_COUNTED`."""
    return f"{number:,}" if number < MAX_COUNTED else f"{MAX_COUNTED:,} or more"


ACTIVITY_HOURS = 24


@dataclass(slots=True)
class Activity:
    """What happened behind one gate, hour by hour, the last hour last: the looks (tasks that ended), those of
    them that failed, and the finds (records that nobody had written before).
    """

    ended: list[int] = field(default_factory=lambda: [0] * ACTIVITY_HOURS)
    failed: list[int] = field(default_factory=lambda: [0] * ACTIVITY_HOURS)
    found: list[int] = field(default_factory=lambda: [0] * ACTIVITY_HOURS)

    @property
    def yields(self) -> str:
        """What a look finds on average, in words."""
        looks, finds = sum(self.ended), sum(self.found)
        return f"{finds / looks:.2g} a look" if looks else "no look has ended"


def gate_activity(store: Store, gates: Collection[str]) -> dict[str, Activity]:
    """What happened behind each of these gates in a day. Of the newest `MAX_COUNTED` tasks that ended, and
    the newest records as many: a quick look, and no statistics.
    """
    wanted = frozenset(gates)
    with store.read() as session:
        hour = store.backend.now(session) // HOUR * HOUR
        first = hour - (ACTIVITY_HOURS - 1) * HOUR
        only = gate_named(session, *gates) if len(gates) == 1 else None
        ended = overview.ended_by_gates(session, first, only)
        found = overview.found_by_gates(session, first, only)
    by_gate: defaultdict[str, Activity] = defaultdict(Activity)
    for names, begins, state, number in ended:
        at = min((begins - first) // HOUR, ACTIVITY_HOURS - 1)
        for name in wanted.intersection(names):
            by_gate[name].ended[at] += number
            by_gate[name].failed[at] += number if state == State.FAILED else 0
    for names, begins, number in found:
        for name in wanted.intersection(names):
            by_gate[name].found[min((begins - first) // HOUR, ACTIVITY_HOURS - 1)] += number
    return dict(by_gate)


def gates_before(session: Session, names: list[str], now: int) -> list[GateView]:
    """The gates of a lane, in its order."""
    rows = [row for name in names for row in sources.find_gates(session, name=name)]
    return [_view(row, overview.waiting_at(session, row["id"]), now) for row in rows]


def _views(
    session: Session, rows: list[dict[str, Any]], now: int, *, bounded: bool = False
) -> list[GateView]:
    waiting: dict[str, int] = {}
    if bounded:
        waiting = overview.some_waiting_behind(session, [row["id"] for row in rows])
    elif rows:
        waiting = overview.waiting_behind(session)
    return [_view(row, waiting.get(row["name"], 0), now) for row in rows]


def _view(row: Mapping[str, Any], waiting: int, now: int) -> GateView:
    gate = sources.as_gate(dict(row))
    state = gate.why_closed(now) or OPEN
    return GateView(
        row["name"],
        row["source"],
        row["app"],
        state,
        row["closed_tag"] if state in ("disabled", "paused") else None,
        _why(gate, state, row),
        _opens_at(gate, state, now),
        _rate(gate),
        gate.burst,
        gate.in_flight,
        gate.max_in_flight,
        gate.trip_after,
        gate.cooldown_us / SECOND,
        gate.failures,
        row["last_error"],
        row["last_failure"],
        waiting,
        row["robots_waived_at"],
        row["robots_waived_reason"],
        row["last_success"] or None,
    )


def _rate(gate: Gate) -> float | None:
    # As it was meant: 60 a second is kept as 16,667 microseconds, which is 59.9988.
    return float(f"{SECOND / gate.interval_us:.4g}") if gate.interval_us else None


def rate_words(rate: float, burst: int) -> str:
    """A rate as a table has it."""
    said = f"{rate:g}/s" if rate >= 1 else f"1 per {1 / rate:g}s"
    return said + (f" burst {burst}" if burst > 1 else "")


def rate_sentence(interval_us: int) -> str:
    """A rate in whichever way reads better."""
    return (
        f"one start every {interval_us / SECOND:g} s"
        if interval_us > SECOND
        else f"at most {SECOND / interval_us:.4g} starts per second"
    )


def _opens_at(gate: Gate, state: str, now: int) -> int | None:
    """None where time does not keep it closed: it is open, or it waits for a slot or for a person."""
    if state in (OPEN, "full"):
        return None
    opens = gate.opens_at(now)
    return None if opens is None or opens >= FOREVER else opens


def _why(gate: Gate, state: str, row: Mapping[str, Any]) -> str | None:
    match state:
        case "disabled" | "paused":
            return str(row["closed_reason"]) if row["closed_reason"] else None
        case "tripped":
            return f"{gate.failures} failures in a row; the last: {row['last_error'] or 'unknown'}"
        case "full":
            return f"{gate.in_flight} of {gate.max_in_flight} in flight"
        case "rate":
            return rate_sentence(gate.interval_us)
        case _:
            return None


ADVICE = {
    "disabled": "it stays closed until you enable it: thresher sources enable {name}",
    "full": "it opens when one of them ends",
}


def why_it_waits(session: Session, task: dict[str, Any], gates: Sequence[GateView], now: int) -> list[str]:
    """Say what a task waits for; empty if it has ended."""
    if State(task["state"]) not in LIVE:
        return []
    if task["state"] == State.RUNNING:
        return [_running(session, task)]
    if task["run_at"] is not None and task["run_at"] > now:
        return [f"it waits for {as_text(task['run_at'])}{_because(task)}"]
    closed = [closed_sentence(gate) for gate in gates if gate.state != OPEN]
    return closed or _in_line(session, task, now)


def closed_sentence(gate: GateView, *, command: bool = True) -> str:
    """Why a gate is closed and when it opens, in one sentence. The command that opens it may be left out."""
    tag = f" ({gate.tag})" if gate.tag and gate.tag != gate.state else ""
    said = f"{gate.name} is {_word(gate.state)}{tag}" + (f": {gate.why}" if gate.why else "")
    if gate.opens_at is not None and gate.opens_at < FOREVER:
        return f"{said}; it opens at {as_text(gate.opens_at)}"
    advice = ADVICE.get(gate.state, "").format(name=gate.source or gate.name)
    if not command:
        advice = advice.partition(":")[0]
    return f"{said}; {advice}" if advice else said


def _word(state: str) -> str:
    return {"rate": "at its rate limit", "tripped": "closed by its breaker"}.get(state, state)


def _running(session: Session, task: dict[str, Any]) -> str:
    names = {worker["id"]: worker["name"] for worker in overview.workers(session)}
    asked = "; it has been asked to stop" if task["cancelling"] else ""
    return (
        f"it has been running since {as_text(task['started_at'])} on worker "
        f"{names.get(task['worker_id'], task['worker_id'])}{asked}"
    )


def _because(task: dict[str, Any]) -> str:
    if task["error"]:
        return f" after {task['error']}: {task['reason']}"
    return f": {task['reason']}" if task["reason"] else ""


def _in_line(session: Session, task: dict[str, Any], now: int) -> list[str]:
    ahead = overview.ahead_of(session, task["id"])
    number = f"{ahead:,}" if ahead < overview.MAX_AHEAD else f"{ahead:,} or more"
    place = (
        f"it is ready; {number} {'task is' if ahead == 1 else 'tasks are'} ahead of it in its lane"
        if ahead
        else "it is ready and next in its lane"
    )
    alive = [
        worker
        for worker in overview.workers(session)
        if worker["lost_at"] is None and worker["lease_until"] >= now
    ]
    if not lanes.is_served(session, (task["kind"], task["stage"]), now):
        return [
            place,
            f"no running worker knows kind {task['kind']}, stage {task['stage']}; start one that does",
        ]
    return (
        [place]
        if alive
        else [place, "no worker is running; start one with: thresher worker (or thresher run)"]
    )


def unserved_sentences(session: Session, now: int) -> list[str]:
    """Tasks that no living worker serves: of a stage that a newer version has added, or of a kind that all
    were told to leave out.
    """
    return [
        f"{number:,} {'task waits' if number == 1 else 'tasks wait'} for a worker that knows kind {kind}, stage {stage}"
        for (kind, stage), number in lanes.unserved(session, now).items()
    ]


def could_start(gate: GateView) -> str:
    """Whether a task could pass this gate now, else why not and when."""
    return (
        f"{gate.name} is open: a task could start now."
        if gate.state == OPEN
        else f"No task could start now: {closed_sentence(gate)}."
    )
