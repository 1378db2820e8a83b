"""The front page in numbers: how much stands where, how much ended lately, what it cost, and what needs a
person.

It is looked at while a million tasks wait: nothing is counted beyond `MAX_COUNTED`, and whoever shows a
number says so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from thresher.admin.costs import Left, read_left
from thresher.admin.gates import MAX_CLOSED, GateView, at_most, closed_gates, closed_sentence
from thresher.admin.health import needs_person
from thresher.admin.status import WorkerView, list_workers, refused_sentence
from thresher.core.app import App
from thresher.core.clock import DAY, HOUR, MINUTE
from thresher.core.extension import Check, Highlight
from thresher.store import groups, lanes, overview
from thresher.store.overview import MAX_COUNTED
from thresher.store.store import Store

WINDOW = HOUR
MAX_GATES = 20
MAX_SAID = 300
MAX_NEEDS = 5  # closed sources with a line of their own


@dataclass(frozen=True, slots=True)
class Minute:
    """How many tasks ended in one minute. `begins` is a time; `counted` is False for minutes that lie too
    far back to be counted.
    """

    begins: int
    ended: int
    counted: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """`depths` is how many tasks are due, delayed, running, failed and ended, up to `MAX_COUNTED` each."""

    at: int
    depths: dict[str, int]
    minutes: list[Minute]
    failed_lately: int
    workers: list[WorkerView]
    closed: list[GateView]
    closed_count: int
    runs: int
    today: Left
    needs: list[Check]
    found: list[Highlight]

    @property
    def most_closed(self) -> int:
        """How many closed gates are looked at."""
        return MAX_CLOSED

    @property
    def ended_lately(self) -> int:
        return sum(minute.ended for minute in self.minutes)


def read_overview(store: Store, apps: Sequence[App]) -> Overview:
    """One look, for the front page."""
    with store.read() as session:
        now = store.backend.now(session)
        closed = closed_gates(session, now, bounded=True)
        workers = list_workers(session, now)
        unserved = (
            lanes.unserved(session, now, MAX_COUNTED) if any(worker.alive for worker in workers) else {}
        )
        refused = overview.refused_since(session, now - DAY)
        depths = overview.depths(session, now)
        since = (now - WINDOW) // MINUTE * MINUTE
        ended = overview.ended_by_minute(session, since)
        failed = sum(number for _, number in ended.values())
        runs = groups.running_runs(session)
    needs = [
        *_machine_needs(closed, unserved, refused, failed, depths["failed"]),
        *needs_person(store, apps),
    ]
    return Overview(
        now,
        depths,
        _minutes(ended, since, now),
        failed,
        workers,
        closed[:MAX_GATES],
        len(closed),
        runs,
        read_left(store),
        needs,
        _highlights(store, apps),
    )


def _highlights(store: Store, apps: Iterable[App]) -> list[Highlight]:
    """What the apps have found for their people. One whose code raises says so in place of it."""
    found: list[Highlight] = []
    for app in apps:
        try:
            found += [each for make in app.highlights for each in make(store)]
        except Exception as problem:  # noqa: BLE001  one app must not take the page away from the others
            says = f"{type(problem).__name__}: {problem}"[:MAX_SAID]
            found.append(Highlight(0, f"cannot be said by the app {app.name}", "/health", says))
    return found


def _minutes(ended: dict[int, tuple[int, int]], since: int, now: int) -> list[Minute]:
    """Every minute of the window. What was left uncounted lies before the first minute that was counted."""
    is_whole = sum(number for number, _ in ended.values()) < MAX_COUNTED
    first = min(ended, default=since)
    return [
        Minute(begins, ended.get(begins, (0, 0))[0], counted=is_whole or begins > first)
        for begins in range(since, now, MINUTE)
    ]


def _machine_needs(
    closed: list[GateView],
    unserved: dict[tuple[str, str], int],
    refused: dict[str, int],
    failed_lately: int,
    failed: int,
) -> list[Check]:
    """What needs a person whatever the apps are."""
    shut = [gate for gate in closed if gate.state in ("disabled", "tripped")]
    found = [
        Check.warn(
            "sources",
            closed_sentence(gate, command=False),
            f"thresher sources enable {gate.source or gate.name}" if gate.state == "disabled" else None,
            page=f"/sources/{quote(gate.source or gate.name, safe=':/')}",
        )
        for gate in shut[:MAX_NEEDS]
    ]
    if len(shut) > MAX_NEEDS:
        more = f"{len(shut) - MAX_NEEDS:,}{' or more' if len(closed) >= MAX_CLOSED else ''} further sources are closed"
        found.append(Check.warn("sources", more, page="/sources"))
    if failed:
        lately = f", {failed_lately:,} of them within the hour" if failed_lately else ""
        found.append(
            Check.warn(
                "failures",
                f"{at_most(failed)} {'task has' if failed == 1 else 'tasks have'} failed for good{lately}",
                page="/failures",
            )
        )
    if unserved:
        waits = sum(unserved.values())
        found.append(
            Check.warn(
                "workers",
                f"{waits:,} {'task waits' if waits == 1 else 'tasks wait'} for a worker that knows its kind",
                "start one of the newest version",
                page="/health",
            )
        )
    if refused:
        found.append(
            Check.warn(
                "spawns",
                f"the loop guard refused spawns: {refused_sentence(refused)}",
                page="/events?kind=spawn_refused",
            )
        )
    return found
