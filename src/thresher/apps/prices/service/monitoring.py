"""How the collection of prices goes: the questions of an operator, each answered in one short transaction."""

from dataclasses import dataclass

from thresher.apps.prices.store import monitoring
from thresher.apps.prices.store.items import item_of_id
from thresher.apps.prices.store.points import duplicate_points
from thresher.apps.prices.store.sources import price_source_of_id
from thresher.core.clock import SECOND
from thresher.core.errors import UsageError
from thresher.store.session import Session
from thresher.store.store import Store

MAX_ASKED = 1_000


@dataclass(frozen=True, slots=True)
class DuplicatePoint:
    """Price points that share item, source and key. Two never do; one here means that the table has lost its
    unique index.
    """

    item: str | None
    source: str | None
    dedupe_key: str
    count: int


@dataclass(frozen=True, slots=True)
class Monitoring:
    """Everything at once, as the dashboard shows it."""

    at: int
    recent: list[monitoring.RecentTask]
    sources: list[monitoring.SourceHealth]
    stuck: list[monitoring.StuckTask]
    by_worker: list[monitoring.TaskCount]
    duplicates: list[DuplicatePoint]


def recent_tasks(
    store: Store, limit: int = monitoring.MAX_RECENT, before: int | None = None
) -> list[monitoring.RecentTask]:
    """The newest collections, at most `limit`; ids below `before`."""
    with store.read() as session:
        return monitoring.recent_tasks(session, _checked(limit), before)


def source_health(store: Store) -> list[monitoring.SourceHealth]:
    """The sources by name: whether they are enabled, how they fail, until when they are paused, and why."""
    with store.read() as session:
        return monitoring.source_health(session, store.backend.now(session))


def stuck_tasks(store: Store, timeout: float | None = None) -> list[monitoring.StuckTask]:
    """Collections that run without a heartbeat for `timeout` seconds, else for `worker.lease`, or without
    any.
    """
    with store.read() as session:
        return _stuck(store, session, store.backend.now(session), timeout)


def tasks_by_worker(store: Store) -> list[monitoring.TaskCount]:
    """How many collections have each status, by worker."""
    with store.read() as session:
        return monitoring.tasks_by_worker(session)


def duplicates(store: Store) -> list[DuplicatePoint]:
    """Price points that share item, source and key: none."""
    with store.read() as session:
        return _duplicates(session)


def read_monitoring(store: Store) -> Monitoring:
    """One look at everything, in one transaction."""
    with store.read() as session:
        now = store.backend.now(session)
        return Monitoring(
            now,
            monitoring.recent_tasks(session),
            monitoring.source_health(session, now),
            _stuck(store, session, now, None),
            monitoring.tasks_by_worker(session),
            _duplicates(session),
        )


def _stuck(store: Store, session: Session, now: int, timeout: float | None) -> list[monitoring.StuckTask]:
    if timeout is not None and not 0 < timeout < 10 * 365 * 86_400:
        raise UsageError("the timeout of a stuck task must be longer than 0 seconds, such as 300")
    limit = store.settings.us("worker.lease") if timeout is None else round(timeout * SECOND)
    return monitoring.stuck_tasks(session, now, limit)


def _duplicates(session: Session) -> list[DuplicatePoint]:
    return [_duplicate(session, *row) for row in duplicate_points(session)]


def _duplicate(session: Session, item: int, source: int, key: str, count: int) -> DuplicatePoint:
    about, at = item_of_id(session, item), price_source_of_id(session, source)
    return DuplicatePoint(about.name if about else None, at.name if at else None, key, count)


def _checked(limit: int) -> int:
    if not 1 <= limit <= MAX_ASKED:
        raise UsageError(f"ask for 1 to {MAX_ASKED:,} tasks, not {limit}")
    return limit
