"""The members of what is shown as the queue stores it: tasks, attempts, runs, events, changes, costs.

Queries return these as plain dictionaries (`TaskFields`). The typed ones beside them say what is in there:
the API describes its answers by them, and its tests hold every answer to them.
"""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from thresher.core.page import Verdict
from thresher.core.settlement import Ending
from thresher.core.task import State

Flag = Literal[0, 1]


class TaskView(TypedDict):
    """A task as it stands now. `due` is 1 if it may be claimed, `cancelling` 1 if it was asked to stop.
    `dedupe_key` is unique among the live tasks of its kind. `failures` counts against its retries; `crashes`
    are attempts whose worker died. `tracking_id` is the root of its lineage, and `ancestry` leads there.
    """

    id: int
    kind: str
    stage: str
    state: State
    due: Flag
    run_at: int | None
    priority: int
    claim: int
    failures: int
    crashes: int
    cancelling: Flag
    worker_id: int | None
    started_at: int | None
    tracking_id: int
    parent_id: int | None
    depth: int
    ancestry: list[str]
    url: str | None
    dedupe_key: str | None
    payload: dict[str, Any]
    checkpoint: Any
    reason: str | None
    created_at: int
    finished_at: int | None
    group_id: int | None
    gates: list[str]
    error: str | None


class AttemptView(TypedDict):
    """One claim of a task: who performed which stage of it, and how that ended."""

    claim: int
    stage: str
    worker_id: int | None
    started_at: int
    ended_at: int | None
    ending: Ending | None
    reason: str | None
    error: str | None
    worker: str | None


class RefusalView(TypedDict):
    """A child that the loop guard refused to a task, and by which rule."""

    at: int
    parent_id: int | None
    kind: str
    url: str | None
    key: str | None
    rule: str
    detail: str | None


class RunView(TypedDict):
    """A run, or a group of tasks that are waited for together: how many of its members wait or run (`live`),
    how the others ended, what they counted, and what they cost in millionths of a dollar.
    """

    state: Literal["running", "ended"]
    members: int
    id: int
    name: str
    key: str
    app: str
    opener_id: int
    parent_id: int | None
    then_id: int | None
    opened_at: int
    ended_at: int | None
    live: int
    succeeded: int
    filtered: int
    skipped: int
    failed: int
    cancelled: int
    refused: int
    cost: int
    counts: dict[str, int]
    subject: str | None
    stop_reason: str | None
    verdict: Verdict | None
    since_at: int | None
    until_at: int | None


class RecordView(TypedDict):
    """A record: its members, where on a page each value stands (`evidence`), its links as name=target, and
    the tasks that wrote it first and last. `seen` counts how often it was found.
    """

    id: int
    kind: str
    key: str
    data: dict[str, Any]
    evidence: dict[str, Any] | None
    links: list[str]
    first_task: int | None
    last_task: int | None
    seen: int
    created_at: int
    updated_at: int


class EventView(TypedDict):
    """Something that happened to a gate, a worker or the queue. `detail` depends on the kind; a list of
    events has the sentence of the kind, too.
    """

    id: int
    at: int
    kind: str
    task_id: int | None
    gate: str | None
    detail: dict[str, Any]
    sentence: NotRequired[str]


class ChangeView(TypedDict):
    """A row of the audit log: who changed something, by which way, and what was asked for."""

    id: int
    at: int
    who: str
    kind: str
    role: str | None
    via: str
    action: str


class CostTotal(TypedDict):
    """What calls of models have cost: amounts in millionths of a dollar, and how often an answer was used
    again instead.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    spent: int
    reserved: int
    assumed: int
    reused: int
    saved: int


class CostLine(CostTotal):
    """The costs of one group. It has the one member of `day`, `app`, `model`, `prompt`, `run` and `task` that
    the costs are grouped by.
    """

    day: NotRequired[str]
    app: NotRequired[str]
    model: NotRequired[str]
    prompt: NotRequired[str]
    run: NotRequired[int]
    task: NotRequired[int]


class HeldTask(TypedDict):
    """A task that a worker performs."""

    id: int
    kind: str
    stage: str
    started_at: int | None


class Waiting(TypedDict):
    """How many tasks are due, how many are delayed, and when the next of these is due."""

    due: int
    delayed: int
    next_at: int | None


class OldestWaiting(TypedDict):
    """The waiting task that was accepted first."""

    id: int
    kind: str
    created_at: int


class MadeKey(TypedDict):
    """A new key: `key` is what its owner sends, and is shown this once."""

    id: int
    name: str
    key: str
    prefix: str
    scopes: list[str]
    sources: list[str] | None
    state: str
    is_active: bool
    rate: int
    used: int
    created_at: int
    used_at: int | None
    expires_at: int | None
    revoked_at: int | None
    made_by: str | None


Fields = dict[str, Any]

TaskFields = Annotated[Fields, TaskView]
AttemptFields = Annotated[Fields, AttemptView]
RefusalFields = Annotated[Fields, RefusalView]
RunFields = Annotated[Fields, RunView]
EventFields = Annotated[Fields, EventView]
ChangeFields = Annotated[Fields, ChangeView]
CostFields = Annotated[Fields, CostLine]
RecordFields = Annotated[Fields, RecordView]
