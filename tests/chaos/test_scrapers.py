"""Fifty scrapers race while everything is killed; and a server dies between any two statements. The long
campaign: tests.chaos.scrapers."""

import asyncio
import contextlib
import json
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.nursery import Nursery, nursery
from tests.chaos.scrape_check import check
from tests.chaos.scraper import QUEUE, ask
from tests.chaos.scrapers import PROJECT, Campaign, free_port, run
from tests.harness.databases import drop_schema
from thresher.admin.keys import create_key
from thresher.apps.roles.app import app as roles
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.store.roles import add_role
from thresher.runtime import open_store
from thresher.store.store import Store

# Of the points before, between and after the statements that write, in one claim and one POST: more than
# there are, a few apart.
POINTS = (1, 3, 5, 9, 14, 20, 26, 33, 40, 47, 54, 90)
SEED = 20_260
PATIENCE = 60.0


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'chaos.db'}?durability=process"
        return
    found = f"{request.getfixturevalue('postgres_url')}?schema=chaos_{secrets.token_hex(6)}"
    yield found
    drop_schema(found)


@pytest.mark.promise(1)
@pytest.mark.promise(2)
@pytest.mark.promise(3)
@pytest.mark.promise(7)
@pytest.mark.promise(9)
@pytest.mark.promise(17)
@pytest.mark.promise(19)
def test_no_role_is_held_twice_or_lost_and_nothing_counts_twice_whoever_is_killed_late_or_lying(
    url, tmp_path
):
    found = run(Campaign(url, seed=SEED), tmp_path)
    assert found.violations == [], f"seed {SEED}: {vars(found)}"
    assert {"completed", "timeout"} <= found.statuses.keys(), vars(found)
    harm(url, tmp_path)


def harm(url: str, folder: Path) -> None:
    """The checker is no use if it sees nothing: each of these harms must be noticed."""
    harms = (
        "update scrape_sessions set claim = claim + 1 where id = (select max(id) from scrape_sessions)",
        "update scrape_sessions set completed_at = completed_at + 999999999 where claim = 1",
        "update roles set status = 'pending' where id = (select min(id) from roles)",
        "delete from links where name = 'role' and record_id in (select id from records where key like 'board/own-%')",
        "delete from late_posts",
        "update scrape_sessions set key_id = key_id + 1 where status = 'completed'",
        "delete from tasks where kind = 'match_postings' and id = (select max(id) from tasks where kind = 'match_postings')",
    )
    store = open_store(url, apps=[roles])
    try:
        for sql in harms:
            with contextlib.suppress(_Undo), store.write() as session:
                session.run(sql)
                assert check(_Within(store, session), folder, [], 0).violations, sql
                raise _Undo
    finally:
        store.close()


class _Undo(Exception):
    """What was harmed is made good."""


@dataclass(frozen=True)
class _Within:
    """A store as it looks from inside a transaction."""

    store: Store
    session: Any

    def read(self) -> Any:
        return self

    def __enter__(self) -> Any:
        return self.session

    def __exit__(self, *_: object) -> None: ...


@dataclass
class Conversation:
    """A scraper that takes one role and brings one body. When its server dies it turns to a sound one on the
    same database."""

    servers: Nursery
    doomed: int
    port: int
    sound: int
    token: str

    @property
    def lives(self) -> bool:
        return self.port != self.sound

    def say(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Ask until there is an answer."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            status, raw = asyncio.run(ask(self.port, method, QUEUE + path, self.token, body))
            if status:
                return status, raw
            if self.lives and self.servers.has_ended(self.doomed):
                self.port = self.sound
            time.sleep(0.02)
        raise AssertionError("nobody answers")

    def offer(self) -> dict[str, Any]:
        """The next role; or, if the answer was lost and the claim was not, the one that is held."""
        status, raw = self.say("GET", "/next-role")
        if not self.lives:
            held = json.loads(self.say("GET", "/current-session")[1])["sessions"]
            if held:
                return dict(held[-1])
        assert status == 200, raw
        return dict(json.loads(raw))


@pytest.mark.promise(1)
@pytest.mark.promise(2)
def test_a_server_that_dies_between_two_statements_leaves_nothing_half_done(url, tmp_path):
    (tmp_path / "thresher.yaml").write_text(
        PROJECT.format(url=url).replace("roles.session: 1.5", "roles.session: 3600")
    )
    store = open_store(url, apps=[roles])
    try:
        token = create_key(store, "scraper", ["scrape"], apps=[roles], rate=1_000_000).token
        with nursery(tmp_path) as servers:
            servers.serve(tmp_path, sound := free_port())
            lived = []
            for point in POINTS:
                doomed = servers.serve(tmp_path, port := free_port(), point)
                lived.append(converse(store, Conversation(servers, doomed, port, sound, token), point))
    finally:
        store.close()
    assert lived == sorted(lived), (
        "a death that comes later in the conversation cannot come to pass if an earlier one did not"
    )
    assert (lived[0], lived[-1]) == (False, True), (
        "the points have to reach from the first statement to the last"
    )


def converse(store: Store, talk: Conversation, point: int) -> bool:
    """One role, one body, one death; True if the server outlived it all."""
    name = f"Role {point}"
    with store.write() as session:
        role = add_role(
            session, name, name.lower(), now=store.backend.now(session), demand=Demand.of(store.settings)
        )
    offer = talk.offer()
    assert offer["role"]["id"] == role
    posting = {"external_job_id": f"own-{point}", "platform": "board", "title": name, "company": name}
    body = json.dumps({"session_id": offer["session_id"], "jobs": [posting]}).encode()
    status, raw = talk.say("POST", "/jobs", body)
    assert status == 200, raw
    with store.read() as session:
        assert session.rows(
            "select claim, status from scrape_sessions where role_id = :role", {"role": role}
        ) == [(1, "completed")]
        assert session.rows("select status, imported from roles where id = :role", {"role": role}) == [
            ("completed", 1)
        ]
        records = session.rows("select id from records where key = :key", {"key": f"board/own-{point}"})
        assert len(records) == 1
        found = [
            json.loads(payload)
            for (payload,) in session.rows("select payload from tasks where kind = 'match_postings'")
        ]
        assert [task["postings"] for task in found if task["session"] == offer["session_id"]] == [
            [records[0][0]]
        ]
    return talk.lives
