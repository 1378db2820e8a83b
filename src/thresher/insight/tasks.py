"""Tasks as a person sees them: listed, opened whole, drawn as a tree."""

from dataclasses import dataclass, field
from typing import Any

from thresher.core.errors import UnknownName, UsageError
from thresher.core.keys import canonical_url
from thresher.core.task import State
from thresher.insight.gates import GateView, gates_before
from thresher.insight.waiting import why_it_waits
from thresher.store import tasks
from thresher.store.results import read_result
from thresher.store.session import Session
from thresher.store.sources import gate_called
from thresher.store.store import Store

Fields = dict[str, Any]

MAX_CHILDREN = 1_000
MAX_IN_TREE = 5_000


@dataclass(frozen=True, slots=True)
class TaskDetail:
    """Everything known of one task. `waits` says, sentence by sentence, what it waits for; empty when it has
    ended.
    """

    task: Fields
    waits: list[str]
    attempts: list[Fields]
    parent: Fields | None
    children: list[Fields]
    refusals: list[Fields]
    gates: list[GateView]
    result: Any = None


@dataclass(slots=True)
class Branch:
    """One task of a tree, what it spawned, and what it was refused."""

    task: Fields
    children: list["Branch"] = field(default_factory=list)
    refusals: list[Fields] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Lineage:
    """A tree from its root. `whole` is False where it has more tasks than were read."""

    root: Branch
    shown: int
    whole: bool


def list_tasks(
    store: Store,
    *,
    state: str | None = None,
    kind: str | None = None,
    source: str | None = None,
    error: str | None = None,
    url: str | None = None,
    run: int | None = None,
    limit: int = 50,
    before: int | None = None,
) -> list[Fields]:
    """Tasks that match, the newest first."""
    if state is not None and state not in list(State):
        raise UsageError(f"there is no state {state!r}; the states are {', '.join(State)}")
    wanted = {
        "state": state,
        "kind": kind,
        "error": error,
        "url": canonical_url(url) if url else None,
        "gate": gate_called(source) if source else None,
        "run": run,
    }
    with store.read() as session:
        return tasks.find(session, limit=limit, before=before, **wanted)


def show_task(store: Store, task_id: int) -> TaskDetail:
    """One task with its result, its attempts, its family, what it was refused, its gates, and why it
    waits.
    """
    with store.read() as session:
        task = _get(session, task_id)
        now = store.backend.now(session)
        gates = gates_before(session, task["gates"], now)
        return TaskDetail(
            task,
            why_it_waits(session, task, gates, now),
            tasks.attempts(session, task_id),
            tasks.get(session, task["parent_id"]) if task["parent_id"] else None,
            tasks.find(session, limit=MAX_CHILDREN, root=task["tracking_id"], parent_id=task_id),
            [each for each in tasks.refusals(session, task["tracking_id"]) if each["parent_id"] == task_id],
            gates,
            read_result(session, task_id),
        )


def show_tree(store: Store, task_id: int, most: int = MAX_IN_TREE) -> Lineage:
    """The lineage a task belongs to, from its root, with the spawns that were refused."""
    with store.read() as session:
        root = _get(session, task_id)["tracking_id"]
        family = tasks.lineage(session, root, most)
        refused = tasks.refusals(session, root)
    branches = {task["id"]: Branch(task) for task in family}
    for task in family:
        if task["parent_id"] in branches:
            branches[task["parent_id"]].children.append(branches[task["id"]])
    for refusal in refused:
        if refusal["parent_id"] in branches:
            branches[refusal["parent_id"]].refusals.append(refusal)
    return Lineage(branches[root], len(family), whole=len(family) < most)


def _get(session: Session, task_id: int) -> Fields:
    task = tasks.get(session, task_id)
    if task is None:
        raise UnknownName(
            f"there is no task {task_id}; thresher tasks list shows them (old ones are removed after history.retention)"
        )
    return task
