"""A search API on the fake web, with a will of its own; and a query that follows it."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

from thresher.apps.hiring.app import app as hiring
from thresher.apps.queries.app import app as queries
from thresher.apps.queries.cycle import CYCLE, KEY
from thresher.apps.queries.service.queries import QueryView, add_query, show_query
from thresher.apps.queries.store.options import save_clients
from thresher.core.clock import SECOND
from thresher.core.task import NewTask
from thresher.testing.web import Reply, Requested
from thresher.testing.world import World

HOST = "https://api.harbour.example"
DEFINITION = """
name: harbour
title: Harbour jobs
request:
  url: https://api.harbour.example/jobs
  query: {q: "{text}", from: "{since}", to: "{until}", page: "{page}", size: "{size}"}
paging: {kind: page, first: 1, size: 10}
window: {kind: range}
answer:
  rows: jobs
  total: total
  fields: {id: id, title: title, url: url, company: company, posted: posted, description: text}
"""
START = datetime(2026, 3, 10, 9, tzinfo=UTC)
TEXT = (
    "We look for somebody who likes ropes, tides and early mornings, and who can tell port from starboard. "
)


def offer(number: int, posted: date, **other: Any) -> dict[str, Any]:
    """A row of the API."""
    return {
        "id": str(number),
        "title": f"Dock worker {number}",
        "url": f"{HOST}/offers/{number}",
        "company": f"Harbour {number % 7}",
        "posted": posted.isoformat(),
        "text": f"{TEXT} Berth {number}, shift {number * 7 % 13}, crane {number * 3 % 17}.",
        **other,
    }


@dataclass
class Harbour:
    """The API. `rows` is what it has; `mood` answers in its place, if it wants to."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    mood: Callable[[Requested], Reply | int | None] = lambda _: None
    asked: list[dict[str, str]] = field(default_factory=list)

    def put(self, *rows: dict[str, Any]) -> None:
        self.rows |= {row["id"]: row for row in rows}

    def answer(self, request: Requested) -> Reply | int:
        said = {name: value[0] for name, value in parse_qs(urlsplit(request.url).query).items()}
        self.asked.append(said)
        other = self.mood(request)
        if other is not None:
            return other
        first, last = said.get("from", "0000"), said.get("to", "9999")
        there = sorted(
            (row for row in self.rows.values() if first <= row["posted"] <= last),
            key=lambda row: (row["posted"], row["id"]),
            reverse=True,
        )
        page, size = int(said.get("page", 1)), int(said["size"])
        body = {"total": len(there), "jobs": there[(page - 1) * size : page * size]}
        return Reply(json.dumps(body), headers={"content-type": "application/json"})


class Follower:
    """A world with the queries app, and one query of the harbour."""

    def __init__(self, world: World, harbour: Harbour, **query: Any) -> None:
        self.world, self.harbour = world, harbour
        with world.store.write() as session:
            save_clients(session, {"harbour": query.pop("definition", DEFINITION)}, world.clock.now())
        said = {"client": "harbour", "text": "dock", "start": "2026-03-01", **query}
        self.key = add_query(world.store, "docks", said).query_key

    def cycle(self) -> QueryView:
        """Run whatever is due, as the schedule would."""
        self.world.enqueue(NewTask(CYCLE, key=KEY))
        self.world.run_until_idle(within=30)  # less than a minute: then the schedule fires again
        return self.view

    @property
    def view(self) -> QueryView:
        return show_query(self.world.store, self.key).query

    @property
    def runs(self) -> list[Any]:
        return show_query(self.world.store, self.key).runs

    @property
    def postings(self) -> set[str]:
        return {each.key for each in self.world.records("posting")}


def world(harbour: Harbour, **settings: float) -> World:
    """A world in which the harbour is asked."""
    wanted = {"queries.pause": 3_600, "queries.jitter": 0} | {
        f"queries.{name}": value for name, value in settings.items()
    }
    return World(
        hiring,
        queries,
        pages={f"{HOST}/*": harbour.answer},
        settings=wanted,
        now=int(START.timestamp()) * SECOND,
    )


def days_ago(number: int) -> date:
    return START.date() - timedelta(days=number)
