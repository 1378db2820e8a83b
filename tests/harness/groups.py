"""Groups as tests speak of them: opened by one task, filled, looked at."""

from typing import Any

from tests.harness.tasks import done, entry, rows, running, settle
from thresher.core.group import GroupEntry
from thresher.core.task import Entry, Task
from thresher.store.store import Store

COUNTS = ("live", "succeeded", "filtered", "skipped", "failed", "cancelled", "refused")


def group(key: str = "k", *, name: str = "pages", then: Entry | None = None, **about: Any) -> GroupEntry:
    return GroupEntry(name, key, "test", then, **about)


def opened(store: Store, *children: Entry, opener: Task | None = None, **about: Any) -> int:
    """Open a group of these children, by a task that ends with it; the id of the group."""
    opener = opener or running(store, entry("opener"))
    settle(store, done(opener, children=children, group=group(**about)))
    return newest(store)


def newest(store: Store) -> int:
    return int(rows(store, "select max(id) from task_groups")[0][0])


def counts(store: Store, group_id: int) -> dict[str, int]:
    """What a group has counted, without the zeros."""
    (row,) = rows(store, f"select {', '.join(COUNTS)} from task_groups where id = :id", id=group_id)
    return {name: number for name, number in zip(COUNTS, row, strict=True) if number}


def has_ended(store: Store, group_id: int) -> bool:
    return rows(store, "select ended_at is not null from task_groups where id = :id", id=group_id) in (
        [(True,)],
        [(1,)],
    )


def followers(store: Store) -> list[tuple[Any, ...]]:
    """The tasks that follow a group, by kind: how many there are."""
    return rows(store, "select kind, count(*) from tasks where kind = 'report' group by kind")
