"""What a campaign left behind, as the checker wants it: the tables of the store, and the logs outside of
it."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from tests.chaos.grouped import STATES
from tests.chaos.history import Fields
from thresher.store.store import Store


def read_effects(paths: Iterable[Path]) -> list[Fields]:
    """All lines of all logs. A last line without its end is what a kill left of it."""
    found = []
    for path in sorted(paths):
        whole, _, _ = path.read_bytes().rpartition(b"\n")
        found += [orjson.loads(line) for line in whole.splitlines() if line]
    return found


def read_store(store: Store) -> dict[str, Any]:
    """What the tables say."""
    tasks = _table(
        store,
        "tasks",
        "id, kind, stage, state, claim, failures, crashes, parent_id, tracking_id, depth, ancestry, url, "
        "lineage_key, error_name, reason, worker_id, lane_id, group_id",
    )
    records = _table(store, "records", "kind, key, seen")
    events = _table(store, "events", "kind, detail")
    groups = _table(
        store,
        "task_groups",
        "id, key, opener_id, parent_id, then_id, follow_up, ended_at, open_groups, " + ", ".join(STATES),
    )
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for each in _table(store, "group_counts", "group_id, name, number"):
        counts[each["group_id"]][each["name"]] += each["number"]
    return {
        "tasks": {task["id"]: task for task in tasks},
        "attempts": _table(
            store, "attempts", "task_id, claim, stage, worker_id, started_at, ended_at, ending"
        ),
        "records": {(each["kind"], each["key"]): each["seen"] for each in records},
        "refusals": _table(store, "refusals", "parent_id, kind, url, rule"),
        "events": Counter(each["kind"] for each in events),
        "repairs": [orjson.loads(each["detail"]) for each in events if each["kind"] == "gate_repaired"],
        "gates": {
            each["name"]: each
            for each in _table(store, "gates", "name, in_flight, max_in_flight, interval_us, burst")
        },
        "groups": {each["id"]: each for each in groups},
        "counts": counts,
        "workers": {each["id"]: each["name"] for each in _table(store, "workers", "id, name")},
        "lanes": _table(store, "lanes", "key, status"),
    }


def _table(store: Store, name: str, columns: str) -> list[Fields]:
    names = [column.strip() for column in columns.split(",")]
    with store.read() as session:
        return [dict(zip(names, row, strict=True)) for row in session.rows(f"select {columns} from {name}")]
