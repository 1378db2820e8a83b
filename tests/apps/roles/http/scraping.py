"""A project with roles, served, on either database and with a clock that only the test moves; and scrapers
that speak HTTP to it."""

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.harness.schemas import SCHEMAS
from tests.harness.tables import TABLES
from tests.web.conftest import APPS, Answer, Api, served
from thresher.admin.keys import create_key
from thresher.admin.records import write_records
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.store.roles import add_role, link_candidates
from thresher.config.project import read_project
from thresher.core.clock import SECOND, FrozenClock
from thresher.core.record import Record
from thresher.runtime import Runtime, install, open_store, project_registry
from thresher.store.store import Store

QUEUE = "/api/scraper/queue"
PROJECT = "apps: [roles]\nsettings:\n  web.rate: 1000000\n"


@dataclass
class World:
    """Everything that a test needs to play scrapers."""

    shop: Runtime
    clock: FrozenClock
    url: str
    people: int = field(default=0)

    @property
    def store(self) -> Store:
        return self.shop.store

    def role(self, name: str, wanted: int = 0, priority: str = "normal", aliases: Sequence[str] = ()) -> int:
        """A role that so many candidates want."""
        demand = Demand.of(self.store.settings)
        names = [f"person-{self.people + at}" for at in range(wanted)]
        self.people += wanted
        write_records(self.store, [Record("candidate", each, {"name": each}) for each in names])
        with self.store.write() as session:
            now = self.store.backend.now(session)
            other = {alias.lower(): alias for alias in aliases}
            role = add_role(
                session, name, name.lower(), aliases=other, priority=priority, now=now, demand=demand
            )
            found = (
                session.rows(
                    "select id from records where kind = 'candidate' and key in (:keys*)", {"keys": names}
                )
                if names
                else []
            )
            link_candidates(session, {role: [row[0] for row in found]}, now, demand)
        return role

    def scraper(self, name: str = "dice-1", sources: Sequence[str] | None = None) -> "Scraper":
        return Scraper(self.url, create_key(self.store, name, ["scrape"], apps=APPS, sources=sources).token)

    def keeper(self) -> Api:
        return Api(self.url, create_key(self.store, "keeper", ["admin"]).token)

    def pass_time(self, seconds: float) -> None:
        self.clock.advance(round(seconds * SECOND))

    def rows(self, sql: str, **params: Any) -> list[tuple[Any, ...]]:
        with self.store.read() as session:
            return session.rows(sql, params)


@dataclass(frozen=True)
class Scraper(Api):
    """A client that has a key for scraping, and shows it as the contract says."""

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        data = (
            {} if body is None else {"data": body if isinstance(body, bytes) else json.dumps(body).encode()}
        )
        headers = {"X-Scraper-API-Key": self.token or "", "Content-Type": "application/json"}
        return self.ask(method, QUEUE + path, headers=headers, **data)

    def claim(self, asked: str = "") -> dict[str, Any]:
        found = self.call("GET", f"/next-role{asked}")
        assert found.status == 200, found
        return dict(found.json)

    def say(self, path: str, session: dict[str, Any], status: int = 200, **more: Any) -> Any:
        found = self.call("POST", path, {"session_id": session["session_id"], **more})
        assert found.status == status, found.body
        return found.json if status == 200 else found.problem(status)


def job(number: int | str = 1, **more: Any) -> dict[str, Any]:
    """A posting as the contract has it."""
    return {
        "external_job_id": f"monster-{number}",
        "platform": "monster",
        "title": "Senior Python Developer",
        "company": f"TechCorp {number}",
        "location": "San Francisco, CA",
        "description": "...",
        "skills": ["Python", "Django", "AWS"],
        "salary_min": 120_000,
        "salary_max": 180_000,
        "job_url": f"https://monster.example/{number}",
        "posted_date": "2024-01-15",
        **more,
    }


@contextmanager
def world(folder: Path, url: str | None = None, said: str = PROJECT) -> Iterator[World]:
    (folder / "thresher.yaml").write_text(said)
    project, clock = read_project(folder), FrozenClock()
    registry = project_registry(project)
    if url is None:
        TABLES.write(folder / "thresher.db", registry.apps)
    else:
        SCHEMAS.make(url, registry.apps)
    database = url or f"sqlite:///{folder / 'thresher.db'}?durability=process"
    store = open_store(database, project, registry.apps, clock=clock)
    try:
        install(store, registry)
        shop = Runtime(store, registry, project.fetch)
        with served(shop) as at:
            yield World(shop, clock, at)
    finally:
        store.close()


@contextmanager
def worlds(request: pytest.FixtureRequest, folder: Path, said: str = PROJECT) -> Iterator[World]:
    """The world on the database that the fixture's parameter names; `said` is its project file."""
    url = None
    if request.param == "postgres":
        url = f"{request.getfixturevalue('postgres_url')}?schema=scrape_{secrets.token_hex(6)}"
    with world(folder, url, said) as found:
        yield found
    if url:
        SCHEMAS.give_back(url)
