"""Last words of quarantined tasks: what their app wants written down (`Pipeline.failed`), by a worker that
knows the kind.

A task is quarantined by whoever finds its worker lost, and that may be a machine that has never heard of its
kind. So the quarantine leaves a row here; a worker that knows the kind takes it away in the transaction that
writes the words. A task that failed because what it brought could not be stored leaves one too.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

from thresher.core.errors import DatabaseProblem
from thresher.core.settlement import Brought, Error
from thresher.core.task import Entry, Task
from thresher.store.backend import as_task
from thresher.store.events import record_events
from thresher.store.records import file_records
from thresher.store.settle import make_effects
from thresher.store.spawn import DUPLICATE, admit_children, read_parents, refuse
from thresher.store.store import Lanes, Store

log = logging.getLogger("thresher.chores")

# A look at each row left here, by the task's own index: joined, PostgreSQL may read all tasks to find that
# there are no words.
_UNSAID = """select w.task_id from last_words w where (select t.kind from tasks t where t.id = w.task_id) in (:kinds*)
    order by w.task_id limit :most"""
_TASKS = """select t.id, t.claim, t.kind, t.stage, t.payload, t.checkpoint, t.url, t.tracking_id, t.parent_id, t.depth,
        t.failures, t.crashes, l.key, t.error_name, t.reason
    from tasks t join lanes l on l.id = t.lane_id where t.id in (:tasks*) order by t.id"""
# The fence: two workers may have read it, and a person may have sent the task back meanwhile.
_TAKE = """delete from last_words where task_id = :task and claim = :claim
    and exists (select 1 from tasks t where t.id = last_words.task_id and t.claim = last_words.claim and t.state = 'failed')"""
_FORGET = "delete from last_words where task_id = :task and claim = :claim"

Words = Callable[[Task, Error], Brought]


def say_last_words(store: Store, kinds: Sequence[str], words: Words, most: int) -> int:
    """Write what `on_failed` returns for quarantined tasks of these kinds, each once. Return how many had
    something.
    """
    with store.read(autocommit=True) as session:
        unsaid = (
            [row[0] for row in session.rows(_UNSAID, {"kinds": list(kinds), "most": most})] if kinds else []
        )
        found = session.rows(_TASKS, {"tasks": unsaid}) if unsaid else []
    said = 0
    for row in found:
        task = as_task(row[:12], row[12])
        brought = words(task, Error(row[13] or "Quarantined", row[14] or ""))
        try:
            said += _say(store, task, brought)
        except DatabaseProblem:
            raise
        except Exception:  # nor must words that cannot be stored keep those of others waiting
            log.exception(
                "what on_failed of task %s (%s) returned cannot be stored; it is lost", task.id, task.kind
            )
            _say(store, task, {})
    return said


def _say(store: Store, task: Task, brought: Brought) -> bool:
    # Nobody waits for them: the group that the task belonged to may be over.
    children = [replace(child, detached=True) for child in brought.get("children", ())]
    said = store.with_lanes(
        [child.place for child in children], lambda lanes: _write(store, task, brought, children, lanes)
    )
    if said and children:
        store.backend.ping()
    return said and bool(brought)


def _write(store: Store, task: Task, brought: Brought, children: Sequence[Entry], lanes: Lanes) -> bool:
    """False where they have been said, or are not to be said any more."""
    fence = {"task": task.id, "claim": task.claim}
    with store.write() as session:
        store.backend.lock_lineages(session, [task.id] if children else [])
        now = store.backend.now(session)
        if session.run(_TAKE, fence) == 0:
            session.run(_FORGET, fence)
            return False
        parent = read_parents(session, [task.id])[task.id]
        inserts = admit_children(
            session,
            [(parent, [(child, lanes[child.place]) for child in children])],
            store.rules,
            now,
        )
        for task_insert, born in zip(
            inserts, store.backend.insert(session, inserts, store.rules) if inserts else (), strict=True
        ):
            if born is None:
                refuse(session, parent, task_insert.entry, DUPLICATE, now)
        for entry, why in brought.get("refused", ()):
            refuse(session, parent, entry, why, now)
        file_records(session, [(task.id, filing) for filing in brought.get("records", ())], now)
        make_effects(session, brought.get("effects", ()), now)
        record_events(session, brought.get("events", ()), now, task.id)
    return True
