"""Why something is as it is, over HTTP."""

from starlette.responses import Response

from thresher.admin.explain import explain
from thresher.admin.keys import READ
from thresher.core.errors import UnknownName
from thresher.web.answer import answer
from thresher.web.route import MAX_ID, CurrentRuntime, Route


async def explained(runtime: CurrentRuntime, what: str) -> Response:
    """Explain the state of a task, or of anything an app knows by its key: every decision with its rule, its
    points and its reason.
    """
    if what.isdecimal() and (len(what) > len(str(MAX_ID)) or int(what) > MAX_ID):
        raise UnknownName(f"there is no task {what[:40]}; the number is too large for an id")
    return await answer(runtime.store, explain, runtime.store, runtime.registry.apps, what)


ROUTES = (Route("GET", "/api/explain/{what:path}", explained, READ),)
