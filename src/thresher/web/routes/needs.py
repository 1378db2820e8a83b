"""What needs a person, over HTTP: the lines that the front page of the dashboard begins with."""

from thresher.admin.keys import READ
from thresher.admin.overview import read_overview
from thresher.core.app import App
from thresher.core.extension import Check
from thresher.store.store import Store
from thresher.web.answer import Answer, answer
from thresher.web.route import CurrentRuntime, Route


async def needs(runtime: CurrentRuntime) -> Answer[list[Check]]:
    """List what needs a person, each with what to do: closed sources, absent workers, questions of apps."""
    return await answer(runtime.store, _needs, runtime.store, runtime.registry.apps)


def _needs(store: Store, apps: tuple[App, ...]) -> list[Check]:
    return read_overview(store, apps).needs


_NEED = {
    "name": "sources",
    "verdict": "warn",
    "found": "source:acme is disabled (anti_bot)",
    "advice": "open it with: thresher sources enable acme",
    "page": "/sources/acme",
}

ROUTES = (Route("GET", "/api/needs", needs, READ, probe=True, name="list_needs", example=[_NEED]),)
