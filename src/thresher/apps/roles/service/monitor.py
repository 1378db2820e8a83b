"""An overview of the scrapers, read at one point in time, with a reason for everything that is empty."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thresher.apps.roles.demand import Demand
from thresher.apps.roles.service.platforms import PlatformView, platform_view
from thresher.apps.roles.service.scrapes import DAY_HOURS, LATEST, SHOWN, SessionView, since_hours, view
from thresher.apps.roles.store import figures
from thresher.apps.roles.store.platforms import list_platforms
from thresher.apps.roles.store.posts import Late, list_late
from thresher.apps.roles.store.rows import OPEN, Role
from thresher.core.clock import SECOND, span
from thresher.core.extension import Check
from thresher.store.session import Session
from thresher.store.store import Store

NEXT, ENDED, LATE = 20, 20, 20
LATE_COUNTED = 1_000


@dataclass(frozen=True, slots=True)
class StatusCount:
    """How many roles are in a status, and how many candidates want them."""

    status: str
    roles: int
    candidates: int


@dataclass(frozen=True, slots=True)
class NextRole:
    """A role that waits, in the order in which they are served. `why` is what its place is made of."""

    id: int
    name: str
    priority: str
    candidates: int
    scraped_at: int | None
    why: str


@dataclass(frozen=True, slots=True)
class RunningSession:
    """A running session. `left_seconds` of its lease; 0 means that the next request for a role ends it."""

    session: SessionView
    left_seconds: int


@dataclass(frozen=True, slots=True)
class Monitor:
    """Everything at one time. `says` has a sentence for every part that is empty or has found nothing, and
    none for the others.
    """

    at: int
    counts: list[StatusCount]
    next_roles: list[NextRole]
    running: list[RunningSession]
    ended: list[SessionView]
    platforms: list[PlatformView]
    late: list[Late]
    says: Mapping[str, str]


def read_monitor(store: Store) -> Monitor:
    """What scrapers do, have done in the last day, and will be given next."""
    demand = Demand.of(store.settings)
    with store.read() as session:
        now = store.backend.now(session)
        counts = _counts(session)
        running = [
            RunningSession(view(each, now), max(0, each.lease_until - now) // SECOND)
            for each in figures.running(session, LATEST)
        ]
        waiting = [_next(role, demand, now) for role in figures.waiting(session, NEXT)]
        latest = [
            view(each, now)
            for each in figures.scrapes_since(session, since_hours(now, DAY_HOURS), limit=LATEST)
        ]
        platforms = [platform_view(each, now) for each in list_platforms(session)]
        late = list_late(session, limit=LATE)
    ended = [each for each in latest if each.status != OPEN][:ENDED]
    says = _says(counts, waiting, running, ended, platforms, late)
    return Monitor(now, counts, waiting, running, ended, platforms, late, says)


def _counts(session: Session) -> list[StatusCount]:
    found = figures.status_counts(session)
    return [StatusCount(status, *found.get(status, (0, 0))) for status in dict.fromkeys((*SHOWN, *found))]


def _next(role: Role, demand: Demand, now: int) -> NextRole:
    return NextRole(
        role.id, role.name, role.priority, role.candidates, role.scraped_at, _why(role, demand, now)
    )


def _why(role: Role, demand: Demand, now: int) -> str:
    """The parts of a rank, as a person would add them up: all of them are time. What is usual is not worth a
    word.
    """
    by_priority, by_demand = demand.head_starts(role.priority, role.candidates)
    ahead = by_priority - demand.head_starts("normal", 0)[0]
    parts = [f"waits for {span(max(0, now - role.waiting_since) / SECOND)}"]
    if ahead:
        parts.append(
            f"{role.priority} priority counts as {span(abs(ahead) / SECOND)} {'more' if ahead > 0 else 'less'}"
        )
    if by_demand:
        wanted = "1 candidate counts" if role.candidates == 1 else f"{role.candidates:,} candidates count"
        parts.append(f"{wanted} as {span(by_demand / SECOND)} more")
    return "; ".join(parts)


def _says(
    counts: Sequence[StatusCount],
    waiting: Sequence[NextRole],
    running: Sequence[RunningSession],
    ended: Sequence[SessionView],
    platforms: Sequence[PlatformView],
    late: Sequence[Late],
) -> dict[str, str]:
    pending = next(each.roles for each in counts if each.status == "pending")
    return {
        "next": "" if waiting else _nothing_waits(sum(each.roles for each in counts)),
        "running": "" if running else _nobody_works(pending),
        "ended": _ended(ended),
        "platforms": ""
        if platforms
        else "No platforms: scrapers may search anywhere. Add one: thresher platforms add NAME, or well-known job "
        "boards: thresher platforms add --preset job-boards",
        "late": "" if late else "Nothing that arrived too late waits for a decision.",
    }


def _nothing_waits(roles: int) -> str:
    if not roles:
        return "No roles, because there are no candidates yet. Add candidates: thresher add candidates FILE"
    return (
        f"No role waits: all {roles:,} roles have been searched, or are not to be searched. They come "
        "back when they are due."
    )


def _nobody_works(pending: int) -> str:
    if not pending:
        return "No scraper is running, and no role waits for one."
    roles = "1 role waits" if pending == 1 else f"{pending:,} roles wait"
    return f"No scraper is running, and {roles}. A scraper starts with GET /api/scraper/queue/next-role."


def _ended(ended: Sequence[SessionView]) -> str:
    if not ended:
        return "No session has ended in the last 24 hours."
    if any(each.jobs_found for each in ended):
        return ""
    proven = sum(each.verdict == "empty" for each in ended)
    return (
        f"Nothing was found: of the latest {len(ended):,} sessions {proven:,} proved that there is "
        "nothing to find; the others are inconclusive."
    )


def check_late(store: Store) -> list[Check]:
    """Check for late bodies of scrapers that wait for a decision."""
    with store.read() as session:
        late = len(list_late(session, limit=LATE_COUNTED))
    if not late:
        return [Check.ok("late", "nothing that arrived too late waits for a decision")]
    more = " or more" if late == LATE_COUNTED else ""
    told = (
        "1 body of a scraper arrived too late and waits"
        if late == 1
        else f"{late:,}{more} bodies of scrapers arrived too late and wait"
    )
    return [
        Check.warn(
            "late",
            f"{told} for a decision",
            "thresher late list",
            "/scrapers#late",
        )
    ]


CHECKS = (check_late,)
