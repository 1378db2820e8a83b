"""Tasks: find some among many, see everything about one, send it back or cancel it."""

import json
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from thresher.admin import tasks as control
from thresher.admin.browse import MAX_COUNTED, STATE_WORDS, TaskQuery, browse_tasks, count_tasks
from thresher.admin.events import UNKNOWN, about_event, event_kinds
from thresher.admin.explain import explain
from thresher.admin.tasks import Branch, last_message, show_task, show_tree
from thresher.core.task import LIVE, REVIVABLE, State
from thresher.core.trace import split_trace
from thresher.web.pages.page import DashboardPage, PageRequest
from thresher.web.pages.query import address, id_in_path, number_asked, text_asked

PATH = "/tasks"
TEXTS = ("state", "kind", "source", "error", "text", "newer", "older")
NUMBERS = ("run", "lineage")
MAX_JSON = 4_000  # characters of a payload, a checkpoint or a result
MAX_ATTEMPTS = 100  # the latest
MAX_DRAWN = 200  # tasks of a tree
MAX_BELOW = 20  # children of one task in a tree


def tasks(page_request: PageRequest) -> Response:
    """Show the tasks that match, the newest first, each with why it waits or how it ended."""
    store = page_request.runtime.store
    query = task_query(page_request)
    found = browse_tasks(store, query, before=number_asked(page_request, "before"))
    return page_request.show(
        "tasks.html",
        query=query,
        found=found,
        older=address(PATH, query.given, before=found.older) if found.older else None,
        counts=count_tasks(store),
        most=MAX_COUNTED,
        states=STATE_WORDS,
        kinds=sorted(page_request.runtime.registry.kinds),
        address=address,
    )


def task_query(page_request: PageRequest) -> TaskQuery:
    """What the address asks for."""
    texts = {name: text_asked(page_request, name) for name in TEXTS}
    return TaskQuery(**texts, **{name: number_asked(page_request, name) for name in NUMBERS})  # type: ignore[arg-type]


def task(page_request: PageRequest) -> Response:
    """Show one task: how it stands and why, its attempts, what it wrote, its gates, lineage and events."""
    runtime, task_id = page_request.runtime, _id(page_request)
    detail = show_task(runtime.store, task_id)
    tree = show_tree(runtime.store, task_id, MAX_DRAWN)
    state = State(detail.task["state"])
    pipeline = runtime.registry.pipeline(detail.task["kind"])
    sentences = event_kinds(runtime.store)
    return page_request.show(
        "task.html",
        detail=replace(detail, attempts=[_attempt(each) for each in detail.attempts[-MAX_ATTEMPTS:]]),
        task=detail.task,
        why=explain(runtime.store, runtime.registry.apps, str(task_id), detail),
        stages=[stage.name for stage in pipeline.stages] if pipeline else [],
        tree=tree,
        branch=drawn(tree.root, task_id),
        texts={
            name: pretty(value)
            for name, value in (
                ("Payload", detail.task["payload"]),
                ("Checkpoint", detail.task["checkpoint"]),
                ("Result", detail.result),
            )
            if value is not None
        },
        events=[
            (event, about_event(event | {"sentence": sentences.get(event["kind"], UNKNOWN)}))
            for event in detail.events
        ],
        may_retry=state in REVIVABLE,
        may_cancel=state in LIVE and not detail.task["cancelling"],
        address=address,
    )


def _attempt(attempt: dict[str, Any]) -> dict[str, Any]:
    """An attempt with its message and its traceback apart."""
    said, frames = split_trace(last_message(attempt))
    return {**attempt, "said": said, "frames": frames}


def drawn(root: Branch, chosen: int) -> dict[str, Any]:
    """A tree as it is drawn: of each task so many children, and always the way to the chosen one."""
    way = _way(root, chosen)

    def leaf(branch: Branch) -> dict[str, Any]:
        shown = [each for at, each in enumerate(branch.children) if at < MAX_BELOW or each.task["id"] in way]
        hidden = len(branch.children) - len(shown)
        below = [leaf(each) for each in shown]
        refusals = branch.refusals[:MAX_BELOW]
        more = len(branch.refusals) - len(refusals)
        return {"task": branch.task, "below": below, "hidden": hidden, "refusals": refusals, "more": more}

    return leaf(root)


def _way(root: Branch, chosen: int) -> set[int]:
    """The ids from the root to the chosen task."""
    parents: dict[int, int | None] = {root.task["id"]: None}
    todo = [root]
    while todo:
        branch = todo.pop()
        parents |= {child.task["id"]: branch.task["id"] for child in branch.children}
        todo += branch.children
    way, at = set[int](), chosen if chosen in parents else None
    while at is not None:
        way.add(at)
        at = parents[at]
    return way


def pretty(value: Any) -> str:
    """JSON for reading, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return text if len(text) <= MAX_JSON else f"{text[:MAX_JSON]}\n… {len(text):,} characters in all"


def retry(page_request: PageRequest) -> Response:
    """Send an ended task back to waiting."""
    task_id = _id(page_request)
    control.retry(page_request.runtime.store, [task_id])
    return page_request.go(f"{PATH}/{task_id}")


def cancel(page_request: PageRequest) -> Response:
    """Cancel a task; a running one is asked to stop."""
    task_id = _id(page_request)
    who = page_request.who.who if page_request.who else "somebody"
    control.cancel(page_request.runtime.store, [task_id], f"cancelled by {who}")
    return page_request.go(f"{PATH}/{task_id}")


def _id(page_request: PageRequest) -> int:
    return id_in_path(page_request, "task", "task", "the list of tasks")


PAGES = (
    DashboardPage("GET", PATH, tasks, "Tasks", "Overview", frozenset({*TEXTS, *NUMBERS, "before"})),
    DashboardPage("GET", f"{PATH}/{{task}}", task, section="Overview"),
    DashboardPage("POST", f"{PATH}/{{task}}/retry", retry, section="Overview"),
    DashboardPage("POST", f"{PATH}/{{task}}/cancel", cancel, section="Overview"),
)
