"""Why something is as it is: an app says what it knows of a thing, the queue what it knows of a task."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from thresher.admin.tasks import Fields, TaskDetail, list_tasks, show_task
from thresher.core.app import App
from thresher.core.errors import InvalidUrl, UnknownName
from thresher.store.store import Store

MAX_RESULT = 2_000  # characters of a result that are shown


@dataclass(frozen=True, slots=True)
class Explanation:
    """What something is, what became of it, and why, sentence by sentence. `decision` is what the sentences
    were made from.
    """

    kind: str
    key: str
    title: str
    outcome: str
    sentences: list[str]
    decision: dict[str, Any] | None
    tasks: list[Fields]


def explain(store: Store, apps: Iterable[App], what: str) -> Explanation:
    """Why a thing is as it is, by its key, its URL or the id of its task. The apps are asked first."""
    task = show_task(store, int(what)) if what.isascii() and what.isdecimal() else None
    for app in apps:
        for tell in app.explain:
            found = tell(store, what)
            if isinstance(found, Explanation):
                return found
    task = task or _about_url(store, what)
    if task is None:
        raise UnknownName(
            f"{what[:80]!r} is not a task, and no app of this project knows it; see thresher tasks "
            "list and thresher records"
        )
    return _of_task(task)


def _about_url(store: Store, what: str) -> TaskDetail | None:
    """The newest task about an address."""
    try:
        found = list_tasks(store, url=what, limit=1)
    except InvalidUrl:
        return None
    return show_task(store, found[0]["id"]) if found else None


def _of_task(detail: TaskDetail) -> Explanation:
    task = detail.task
    reason = f"{task['error']}: {task['reason']}" if task["error"] else task["reason"] or ""
    said = [f"The task is {task['state']}{f': {reason}' if reason else '.'}", *detail.waits]
    if detail.result is not None:
        said.append(f"Its result: {json.dumps(detail.result, ensure_ascii=False)[:MAX_RESULT]}.")
    said += [
        f"Refused: {each['kind']} {each['url'] or each['key'] or ''} ({each['rule']}: {each['detail']})"
        for each in detail.refusals
    ]
    title = f"{task['kind']} {task['url'] or task['dedupe_key'] or ''}".strip()
    return Explanation("task", str(task["id"]), title, task["state"], said, None, [task])
