"""A project with all apps in which everything has happened that routes show, on either database, and somebody
who may do everything there. What can be made over HTTP is made over HTTP."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.apps.roles.http.scraping import World, worlds
from tests.harness.tasks import entry, put
from tests.web.conftest import ALL_SCOPES, APPS, Api
from tests.web.pages import work
from tests.web.pages.test_accessibility import PROJECT
from tests.web.pages.test_accessibility import fill as fill_pages
from thresher.admin import sources
from thresher.admin.keys import create_key
from thresher.apps.queries.store.alarms import raise_alarm
from thresher.apps.roles.service import platforms
from thresher.engine.webhooks import forward_events

RECIPE = {
    "entity": "product",
    "configuration": {"pageType": "DETAIL_LINKS", "linkPattern": "/p/", "links": {"pageType": "DETAIL"}},
}


@dataclass(frozen=True)
class Everything:
    """A server, and what stands in the places of paths."""

    world: World
    api: Api
    places: dict[str, str]
    of_owner: dict[str, dict[str, str]]  # what another place of the same name stands for below a path

    def path(self, pattern: str) -> str:
        """A path with something that is there in each of its places."""
        owner = pattern.removeprefix("/api/").partition("/")[0]
        places = self.places | self.of_owner.get(owner, {})
        return re.sub(r"{(\w+)(?::path)?}", lambda found: quote(places[found[1]], safe=""), pattern)


@contextmanager
def everything(request: pytest.FixtureRequest, folder: Path) -> Iterator[Everything]:
    with worlds(request, folder, PROJECT) as world:
        fill_pages(world)
        done = work.fill(world.store)
        key = create_key(world.store, "root", ALL_SCOPES, apps=APPS, rate=1_000_000)
        api = Api(world.url, key.token)
        add(world, api)
        yield Everything(world, api, *places(api, done))


def add(world: World, api: Api) -> None:
    """A few more of each, over HTTP where there is a way."""
    for name in ("ash", "birch"):
        api.post("/api/recipes", {"name": name, "url": f"https://{name}.example/", **RECIPE})
        api.post("/api/queries", {"name": name, "client": "harbour", "text": name})
        api.post("/api/roles", {"name": f"{name.title()} gardener"}, 201)
        api.post("/api/people", {"name": name, "role": "viewer"}, 201)
        api.post("/api/keys", {"name": name, "scopes": ["read"]}, 201)
        api.post("/api/prices/sources", {"name": name, "adapter": "manual"})
        api.post(
            "/api/candidates", {"name": name.title(), "title": "Python Developer", "skills": ["Python"]}, 201
        )
    api.post("/api/prices/items/1/watch", {"below": "40.00", "change": "10%"})
    api.post("/api/prices/rates", {"text": "day,currency,rate\n2023-11-01,USD,1.0827\n", "base": "EUR"})
    platforms.save(world.store, "dice", {})
    hook = {"name": "shop", "url": "https://hooks.example/in", "events": ["gate_paused"]}
    api.post("/api/webhooks", hook, 201)
    for _ in range(3):
        sources.pause(world.store, "tea", 3_600, "a delivery")
        sources.resume(world.store, "tea")
    forward_events(world.shop.registry, world.store)
    with world.store.write() as session:
        now = world.store.backend.now(session)
        for subject in ("one", "two"):
            raise_alarm(session, {"name": "zero_rows", "subject": subject, "message": "nothing"}, now)
    payload = {"item": 1, "source": 1}
    put(world.store, *(entry("collect_prices", key=f"collect {n}", payload=payload) for n in range(3)))


def places(api: Api, done: work.Work) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """What stands in the places of paths: of all, and of those below one."""
    page = api.get("/api/extractions/1/pages")[0]["page"]["page"]
    point = str(api.get("/api/prices/items/1/points")[0]["id"])
    of_all = {"task_id": str(done.child), "run_id": str(done.run), "extraction": "1", "page": page}
    of_all |= {
        "dataset": "1",
        "item": "1",
        "point": point,
        "source": "bay",
        "role_id": "1",
        "posting_id": "1",
    }
    return of_all | {"name": "shop", "what": str(done.hostile)}, {
        "export": {"what": "postings"},
        "companies": {"key": "acme.com"},
        "postings": {"key": "greenhouse:acme/1"},
        "boards": {"key": api.get("/api/boards")[0]["key"]},
        "queries": {"key": "docks"},
        "signals": {"key": "acme.example"},
        "candidates": {"key": "person-0"},
    }
