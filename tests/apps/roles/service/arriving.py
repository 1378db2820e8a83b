"""Scrapers that bring postings, for tests: a role, a session on it, and bodies."""

import json
from typing import Any

from thresher.apps.roles.demand import Demand
from thresher.apps.roles.service.arrivals import receive
from thresher.apps.roles.store.queue import Claimed, Holder, claim_role
from thresher.apps.roles.store.roles import add_role
from thresher.apps.roles.store.rows import find_role
from thresher.core.app import App
from thresher.core.outcome import Done
from thresher.core.pipeline import Pipeline, Stage
from thresher.core.spooled import Spooled
from thresher.engine.registry import Registry
from thresher.store.records import find_records
from thresher.store.store import Store

HOUR = 3_600_000_000
REGISTRY = Registry(
    [App("roles", pipelines=(Pipeline("match_postings", Stage(lambda ctx: Done(), name="match")),))]
)
SCRAPER = Holder(1, "scraper", None)


def role(store: Store, name: str = "Python Developer") -> int:
    """A role that waits."""
    with store.write() as session:
        return add_role(
            session, name, name.lower(), now=store.backend.now(session), demand=Demand.of(store.settings)
        )


def claim(store: Store, holder: Holder = SCRAPER) -> str:
    """Begin a session; its token."""
    found = claim_role(store, holder, None, HOUR)
    assert isinstance(found, Claimed)
    return found.scrape.session_id


def held(store: Store, name: str = "Python Developer") -> tuple[int, str]:
    """A role and the session that holds it."""
    made = role(store, name)
    return made, claim(store)


def job(number: int | str = 1, **said: Any) -> dict[str, Any]:
    """A posting like no other."""
    return {
        "external_job_id": f"m-{number}",
        "platform": "monster",
        "title": f"Python Developer {number}",
        "company": "Acme",
        "location": "Leeds",
        "description": f"Number {number} of what we have to offer.",
        "job_url": f"https://monster.example/{number}",
    } | said


def body(token: str, *jobs: Any, **said: Any) -> Spooled:
    return Spooled.of(json.dumps({"session_id": token, "jobs": list(jobs)} | said).encode())


def post(store: Store, token: str, *jobs: Any, holder: Holder = SCRAPER, **said: Any) -> dict[str, Any]:
    return receive(store, REGISTRY, holder, body(token, *jobs, **said))


def counts(answer: dict[str, Any]) -> tuple[int, int, int, int, int]:
    """Found, and what it is made of: imported, linked, updated, skipped."""
    names = ("found", "imported", "linked", "updated", "skipped")
    found = tuple(answer[f"jobs_{name}"] for name in names)
    assert found[0] == sum(found[1:])
    return found  # type: ignore[return-value]


def postings(store: Store) -> dict[str, Any]:
    """All postings by their keys."""
    with store.read() as session:
        return {found.key: found for found in find_records(session, kind="posting", limit=1_000)}


def matchings(store: Store) -> list[dict[str, Any]]:
    """What was asked to be matched."""
    with store.read() as session:
        return [
            json.loads(row[0])
            for row in session.rows("select payload from tasks where kind = 'match_postings' order by id")
        ]


def status(store: Store, role_id: int) -> str:
    with store.read() as session:
        found = find_role(session, role_id)
    assert found is not None
    return found.status


def everything(store: Store) -> dict[str, list[Any]]:
    """All rows that a POST may touch, to see that nothing has changed."""
    tables = (
        "records",
        "links",
        "marks",
        "roles",
        "role_turns",
        "scrape_sessions",
        "scrape_posts",
        "late_posts",
        "tasks",
        "platforms",
        "blobs",
    )
    with store.read() as session:
        return {table: sorted(session.rows(f"select * from {table}"), key=repr) for table in tables}
