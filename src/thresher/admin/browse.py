"""Tasks, events and runs as pages list them: the newest first, each task with why it waits or how it ended.

However many there are, a page reads few of them; where a search has not looked at everything, it says so.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from thresher.admin.events import UNKNOWN, check_kind, event_kinds
from thresher.admin.gates import closed_sentence, gates_before
from thresher.admin.rows import Fields
from thresher.admin.tasks import last_message, run_fields
from thresher.admin.times import seconds
from thresher.core.clock import to_us
from thresher.core.errors import UsageError
from thresher.core.event import SPAWN_REFUSED
from thresher.core.task import WAITING, State
from thresher.core.trace import split_trace
from thresher.store import overview, search
from thresher.store.search import WINDOW
from thresher.store.session import Session
from thresher.store.sources import gate_called, through_gate
from thresher.store.store import Store

PAGE = 50
# Tiles of a page that many look at: fewer than on the front page, where only one counts them.
MAX_COUNTED = 10_000
# Words for several states, or for part of one.
WORDS = ("due", "delayed", "live", "ended")
STATE_WORDS = (*State, *WORDS)


@dataclass(frozen=True, slots=True)
class TaskQuery:
    """What tasks are looked for: by state (or one of `WORDS`), kind, source or gate, error, a part of the URL
    or key, run, lineage, and by how long ago they ended (or were last begun): `newer` and `older` are ages.
    """

    state: str | None = None
    kind: str | None = None
    source: str | None = None
    error: str | None = None
    text: str | None = None
    run: int | None = None
    lineage: int | None = None
    newer: str | None = None
    older: str | None = None

    @property
    def given(self) -> Fields:
        """What is asked for, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def filters(self, now: int) -> Fields:
        """The same as the store expects it."""
        if self.state is not None and self.state not in STATE_WORDS:
            raise UsageError(
                f"there is no state {self.state[:40]!r}; the states are {', '.join(State)}; also {', '.join(WORDS)}"
            )
        word = {self.state: True} if self.state in WORDS else {"state": self.state}
        return {
            **word,
            "kind": self.kind,
            **through_gate(self.source),
            "error": self.error,
            "text": self.text,
            "run": self.run,
            "tracking_id": self.lineage,
            "finished_after": now - to_us(seconds(self.newer)) if self.newer else None,
            "finished_before": now - to_us(seconds(self.older)) if self.older else None,
        }


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of a list. `older` leads to the next one; None: this is the end. `looked` is how many rows
    were looked at where the page is not full and there are others; None: all of them were.
    """

    rows: list[Any]
    older: int | None
    looked: int | None = None


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """How many tasks are due, delayed, running, failed and ended, up to `MAX_COUNTED` each; and how those
    have ended that ended last.
    """

    depths: dict[str, int]
    ended_as: dict[str, int]


def count_tasks(store: Store) -> TaskCounts:
    """Count tasks by state, each up to `MAX_COUNTED`."""
    with store.read() as session:
        now = store.backend.now(session)
        return TaskCounts(overview.depths(session, now, MAX_COUNTED), overview.ended_as(session, MAX_COUNTED))


def browse_tasks(store: Store, query: TaskQuery, *, before: int | None = None, limit: int = PAGE) -> ListPage:
    """Tasks that match, each with `why` in one sentence."""
    with store.read() as session:
        now = store.backend.now(session)
        found = search.find_tasks(session, before=before, limit=limit, **query.filters(now))
        return _page(found, _told(session, found.rows, now))


def tasks_with_ids(store: Store, ids: Sequence[int]) -> list[Fields]:
    """These tasks, the newest first, each with `why` in one sentence."""
    with store.read() as session:
        return _told(session, search.tasks_with_ids(session, ids), store.backend.now(session))


def _told(session: Session, found: Sequence[Fields], now: int) -> list[Fields]:
    why = _why(session, found, now)
    return [{**task, "why": why[task["id"]]} for task in found]


def _why(session: Session, found: Sequence[Fields], now: int) -> dict[int, str]:
    """Why each task waits, or how it ended; empty where there is nothing to say."""
    waiting = [task["id"] for task in found if State(task["state"]) in WAITING]
    behind = search.parked_on(session, waiting) if waiting else {}
    gates = gates_before(session, sorted(set(behind.values())), now)
    closed = {gate.name: closed_sentence(gate) for gate in gates}
    return {task["id"]: _sentence(task, closed.get(behind.get(task["id"], "")), now) for task in found}


def _sentence(task: Fields, closed: str | None, now: int) -> str:
    said, _ = split_trace(last_message(task))
    if task["state"] == State.RUNNING:
        return "asked to stop" if task["cancelling"] else ""
    if State(task["state"]) not in WAITING:
        return said
    if closed is not None:
        return f"{closed}; before that: {said}" if said else closed
    return said or (
        "it waits for its time" if task["run_at"] is not None and task["run_at"] > now else "it is ready"
    )


def browse_events(
    store: Store,
    *,
    kind: str | None = None,
    source: str | None = None,
    task: Fields | None = None,
    before: int | None = None,
    limit: int = PAGE,
) -> ListPage:
    """Events that match, each with the sentence of its kind."""
    sentences = event_kinds(store)
    check_kind(sentences, kind)
    with store.read() as session:
        if kind == SPAWN_REFUSED and source is None and task is None:
            rows = overview.refusal_events(session, before=before, limit=limit)
            found = search.SearchPage(
                rows, rows[-1]["id"] if len(rows) == limit else None, len(rows) == limit
            )
        else:
            gate = gate_called(source) if source else None
            found = search.find_events(session, kind=kind, gate=gate, task=task, before=before, limit=limit)
    return _page(found, [event | {"sentence": sentences.get(event["kind"], UNKNOWN)} for event in found.rows])


def browse_runs(
    store: Store,
    *,
    app: str | None = None,
    name: str | None = None,
    running: bool = False,
    groups_too: bool = False,
    before: int | None = None,
    limit: int = PAGE,
) -> ListPage:
    """Runs that match; with `groups_too` also groups that are no runs."""
    wanted = {"app": app, "name": name, "running": running or None, "runs": None if groups_too else True}
    with store.read() as session:
        found = search.find_groups(session, before=before, limit=limit, **wanted)
    return _page(found, [run_fields(each) for each in found.rows])


def _page(found: search.SearchPage, rows: list[Any]) -> ListPage:
    is_cut = not found.is_full and found.older is not None
    return ListPage(rows, found.older, WINDOW if is_cut else None)
