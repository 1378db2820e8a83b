"""Tasks as tests speak of them: asked for, claimed, settled, looked at."""

from collections.abc import Sequence
from typing import Any

import orjson

from thresher.core.keys import url_key
from thresher.core.record import Filing, Link
from thresher.core.settlement import Blame, Error, Health, Settlement
from thresher.core.task import Entry, Task
from thresher.store import tasks, workers
from thresher.store.backend import Scopes
from thresher.store.store import Store

# A worker that no test is about: it has no row and is never lost.
SOMEBODY = 1_000_000
LEASE_US = 15_000_000
MAX_VISITS = 1_000


def entry(
    kind: str = "page",
    *,
    gates: Sequence[str] = (),
    key: str | None = None,
    url: str | None = None,
    priority: int = 0,
    delay_us: int = 0,
    payload: Any = None,
    stage: str = "fetch",
) -> Entry:
    text = orjson.dumps({} if payload is None else payload).decode()
    return Entry(kind, stage, tuple(gates), text, url, url and url_key(url), key, priority, delay_us)


def put(store: Store, *entries: Entry) -> list[int]:
    """Enqueue entries that must all be accepted."""
    ids = store.enqueue(entries or (entry(),))
    assert None not in ids
    return ids  # type: ignore[return-value]


def claim(store: Store, limit: int = 1, worker: int = SOMEBODY, scopes: Scopes = None) -> list[Task]:
    """Claim until there are enough, or until a visit says that there is no more."""
    found: list[Task] = []
    for _ in range(MAX_VISITS):
        turn = store.turn([], limit - len(found), worker, scopes)
        found += turn.tasks
        if len(found) >= limit or not turn.more:
            return found
    raise AssertionError(f"{MAX_VISITS} visits all promised more, and brought {len(found)} of {limit} tasks")


def claim_one(store: Store, worker: int = SOMEBODY) -> Task:
    found = claim(store, 1, worker)
    # Said here, because whoever reads about it cannot look any more.
    assert found, [
        rows(store, f"select * from {table} order by id limit 5") for table in ("tasks", "lanes", "gates")
    ]
    return found[0]


def running(store: Store, *entries: Entry, worker: int = SOMEBODY) -> Task:
    """One fresh task, already claimed."""
    put(store, *(entries or (entry(),)))
    return claim_one(store, worker)


def done(task: Task, **brings: Any) -> Settlement:
    return Settlement.done(task, **brings)


def retry(task: Task, delay_us: int = 0, **how: Any) -> Settlement:
    return Settlement.retry(task, delay_us=delay_us, error=Error("TimedOut", "no answer"), **how)


def failed(task: Task, **how: Any) -> Settlement:
    return Settlement.fail(task, error=Error("Gone", "404"), **how)


def troubled(task: Task, gate: str | None = None) -> Settlement:
    """A failure that its gate hears of."""
    return retry(task, blame=Blame(Health.FAILURE, "TimedOut: no answer", gate))


def told_to_wait(task: Task, delay_us: int, gate: str | None = None) -> Settlement:
    """What becomes of a 429."""
    blame = Blame(Health.PAUSE, "RateLimited: slow down", gate, delay_us, "rate_limited")
    return Settlement.snooze(task, delay_us=0, reason="slow down", blame=blame)


def walled(task: Task) -> Settlement:
    """What becomes of a bot wall."""
    blame = Blame(Health.DISABLE, "Blocked: captcha", tag="anti_bot")
    return Settlement.snooze(task, delay_us=0, reason="captcha", blame=blame)


def filing(key: str = "a", *links: tuple[str, str], kind: str = "posting", data: str = "{}") -> Filing:
    return Filing(kind, key, data, tuple(Link(*link) for link in links))


def settle(store: Store, *settlements: Settlement) -> None:
    """Settle, and insist that the fence let all of them through."""
    assert store.settle(settlements) == []


def state_of(store: Store, task_id: int) -> str:
    return str(fields_of(store, task_id)["state"])


def fields_of(store: Store, task_id: int) -> dict[str, Any]:
    with store.read() as session:
        found = tasks.get(session, task_id)
    assert found is not None
    return found


def attempts_of(store: Store, task_id: int) -> list[dict[str, Any]]:
    with store.read() as session:
        return tasks.attempts(session, task_id)


def endings_of(store: Store, task_id: int) -> list[str]:
    return [attempt["ending"] for attempt in attempts_of(store, task_id)]


def refusals_of(store: Store, tracking_id: int) -> list[dict[str, Any]]:
    with store.read() as session:
        return tasks.refusals(session, tracking_id)


def rows(store: Store, sql: str, **params: Any) -> list[tuple[Any, ...]]:
    with store.read() as session:
        return session.rows(sql, params)


def change(store: Store, sql: str, **params: Any) -> None:
    """Reach into the tables behind everybody's back."""
    with store.write() as session:
        session.run(sql, params)


def events(store: Store, kind: str | None = None) -> list[tuple[str, int | None, int | None]]:
    """(kind, task, gate) of each event, in order."""
    found = rows(store, "select kind, task_id, gate_id from events order by id")
    return [row for row in found if kind in (None, row[0])]


def worker(store: Store, name: str = "anna", lease_us: int = LEASE_US) -> int:
    return workers.register(store, name=name, host="here", pid=1, lease_us=lease_us)
