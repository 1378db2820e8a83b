"""Why something is as it is, over HTTP."""

from typing import Annotated

from fastapi import Path

from thresher.admin.explain import Explanation, explain
from thresher.admin.keys import READ
from thresher.core.errors import UnknownName
from thresher.web.answer import Answer, answer
from thresher.web.route import MAX_ID, CurrentRuntime, Route
from thresher.web.routes.examples import TASK

What = Annotated[str, Path(description="Id of a task, or a key or URL that an app knows.")]


async def explained(runtime: CurrentRuntime, what: What) -> Answer[Explanation]:
    """Explain the state of a task, or of anything an app knows by its key: every decision with its rule, its
    points and its reason.
    """
    if what.isdecimal() and (len(what) > len(str(MAX_ID)) or int(what) > MAX_ID):
        raise UnknownName(f"there is no task {what[:40]}; the number is too large for an id")
    return await answer(runtime.store, explain, runtime.store, runtime.registry.apps, what)


_EXPLANATION = {
    "kind": "task",
    "key": "41",
    "title": "page https://shop.example/1",
    "outcome": "failed",
    "sentences": ["The task failed: ServerError: 503 Service Unavailable."],
    "decision": None,
    "tasks": [TASK],
}

ROUTES = (Route("GET", "/api/explain/{what:path}", explained, READ, example=_EXPLANATION, name="explain"),)
