"""A small labour market for tests: candidates who want roles, postings that came in for them, and a worker
that matches the two."""

import asyncio
from collections.abc import Sequence
from typing import Any

from tests.engine.workshop import PATIENCE, Workshop
from tests.harness import tasks
from tests.harness.databases import Database
from thresher.admin.records import write_records
from thresher.apps.roles.app import app
from thresher.apps.roles.model import Candidate, CandidateRecord
from thresher.core.clock import DAY
from thresher.core.record import Found, Link, Record
from thresher.core.task import NewTask
from thresher.engine.worker import Worker
from thresher.store.records import find_record

PLAIN = {
    "roles__match__semantic": 0.0
}  # most tests are not about the nearness of texts, which takes seconds to load
# A test asks for what the schedules would ask for; one that fired between would do it before the test.
CALM = {"worker__lease": 30.0, "schedule__every": 3_600.0}


class Market:
    """One database with the roles app on it."""

    def __init__(self, database: Database, **changed: Any) -> None:
        self.shop = Workshop(database)
        self.store, self.clock = self.shop.store, self.shop.clock
        self.registry = self.shop.set_up(app, **(CALM | PLAIN | changed))

    def candidate(self, key: str, *roles: int, **said: Any) -> int:
        links = tuple(Link("wants", str(role)) for role in roles)
        candidate = CandidateRecord.made(Candidate(key, key.title(), **said))
        write_records(self.store, [Record("candidate", key, candidate.stored(), links)])
        return self.record("candidate", key).id

    def posting(self, number: int, *roles: int, **said: Any) -> int:
        data = {
            "title": "Developer",
            "state": "open",
            "seen_at": self.clock.now(),
            "number": str(number),
            "platform": "indeed",
            **said,
        }
        links = tuple(Link("role", str(role)) for role in roles)
        write_records(
            self.store, [Record("posting", f"indeed/{number}", data, links, marks=("state", "seen_at"))]
        )
        return self.record("posting", f"indeed/{number}").id

    def record(self, kind: str, key: str) -> Found:
        with self.store.read() as session:
            found = find_record(session, kind, key)
        assert found is not None
        return found

    def came_in(self, postings: Sequence[int], role: int = 1) -> int:
        """What an import asks for, done; the task."""
        return self.do(NewTask("match_postings", {"role": role, "postings": list(postings), "session": "s"}))

    def changed(self, *candidates: int) -> int:
        """What a change of candidates asks for, done; the task."""
        return self.do(NewTask("match_candidates", {"candidates": list(candidates)}))

    def do(self, new: NewTask) -> int:
        (task,) = self.shop.put(self.registry, new)
        self.work()
        return task

    def work(self) -> None:
        # A clock that stands still would not let anything be due; the frozen one of the tests is moved by
        # them.
        worker = Worker(
            self.store, self.registry, heartbeat_store=self.shop.machine(), until_idle=True, clock=self.clock
        )
        asyncio.run(asyncio.wait_for(worker.run(), PATIENCE))

    def pairs(self) -> dict[tuple[int, int], int]:
        """The score of every match."""
        found = tasks.rows(self.store, "select candidate_id, posting_id, score from matches")
        return {(candidate, posting): score for candidate, posting, score in found}

    def days_later(self, days: float) -> None:
        self.clock.advance(round(days * DAY))

    def close(self) -> None:
        self.shop.close()
