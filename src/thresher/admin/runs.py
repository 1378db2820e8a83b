"""Runs and groups: how many tasks belong to each, how they ended, what they counted and cost."""

from dataclasses import dataclass

from thresher.admin.rows import RunFields
from thresher.admin.tasks import count_run, run_fields
from thresher.store import groups
from thresher.store.store import Store

MAX_BELOW = 100


@dataclass(frozen=True, slots=True)
class RunDetail:
    """One run or group, and the groups that its members opened."""

    run: RunFields
    below: list[RunFields]


def list_runs(
    store: Store,
    *,
    app: str | None = None,
    name: str | None = None,
    key: str | None = None,
    running: bool = False,
    groups_too: bool = False,
    limit: int = 50,
    before: int | None = None,
) -> list[RunFields]:
    """Runs that match, the newest first; with `groups_too` also groups that are no runs."""
    wanted = {
        "app": app,
        "name": name,
        "key": key,
        "running": running or None,
        "runs": None if groups_too else True,
    }
    with store.read() as session:
        return [run_fields(each) for each in groups.find(session, limit=limit, before=before, **wanted)]


def show_run(store: Store, group_id: int) -> RunDetail:
    """One run or group, with everything below it."""
    found = count_run(store, group_id)
    with store.read() as session:
        below = groups.find(session, limit=MAX_BELOW, parent_id=group_id)
    return RunDetail(run_fields(found), [run_fields(each) for each in below])


# How members may have ended, besides those that have not.
ENDINGS = ("succeeded", "filtered", "skipped", "failed", "cancelled")


def run_ending(run: RunFields) -> str | None:
    """What a run found, and why it stopped."""
    return ": ".join(str(part) for part in (run["verdict"], run["stop_reason"]) if part) or None
