"""What must be true after any campaign of scrapers: the store beside what every scraper said and was told."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos.scraper import PLATFORM
from thresher.store.store import Store

_SESSIONS = """select session_id, key_id, role_id, claim, status, verdict, started_at, completed_at, lease_until, id from scrape_sessions
    order by role_id, claim"""
_LINKS = "select r.id, r.key, l.name, l.target from records r join links l on l.record_id = r.id where r.kind = 'posting'"
_KEYS = "select id, name from api_keys"


@dataclass(frozen=True)
class Session:
    """A row of the store's own log of claims: it is only ever added to."""

    token: str
    key: int
    role: int
    claim: int
    status: str
    verdict: str | None
    started_at: int
    completed_at: int | None
    lease_until: int
    id: int


@dataclass
class Found:
    """What a campaign saw."""

    violations: list[str] = field(default_factory=list)
    kills: int = 0
    sessions: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    answers: dict[str, int] = field(default_factory=dict)
    unanswered: int = 0
    late: int = 0
    postings: int = 0
    tasks: int = 0


@dataclass
class Body:
    """Everything that is known of one body: who sent it, and every answer to it; 0 is none."""

    said: dict[str, Any]
    statuses: list[int] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    times: int = 0

    @property
    def accepted(self) -> bool:
        return 200 in self.statuses

    @property
    def refused(self) -> bool:
        """Never accepted, and every time that it was sent there was an answer."""
        return not self.accepted and 0 not in self.statuses and len(self.statuses) == self.times

    @property
    def unique(self) -> str | None:
        ids = self.said["ids"]
        return f"{PLATFORM}/{ids[0]}" if ids and not self.said.get("strange") else None


def check(store: Store, folder: Path, tokens: list[str], kills: int) -> Found:
    logs = [
        json.loads(line)
        for path in sorted(folder.glob("scrapers-*.jsonl"))
        for line in path.read_text().splitlines()
    ]
    bodies = _bodies(logs)
    with store.read() as session:
        sessions = [Session(*row) for row in session.rows(_SESSIONS)]
        roles = session.rows("select id, status, claim, session_id from roles")
        turns = session.rows("select role_id, state from role_turns")
        links = session.rows(_LINKS)
        late = {(row[0], row[1]) for row in session.rows("select session_id, digest from late_posts")}
        tasks = [
            json.loads(row[0])
            for row in session.rows("select payload from tasks where kind = 'match_postings'")
        ]
        keys = {int(name.rpartition("-")[2]): key for key, name in session.rows(_KEYS)}
    found = Found(kills=kills, sessions=len(sessions), late=len(late), tasks=len(tasks))
    found.statuses = dict(Counter(each.status for each in sessions))
    found.answers = dict(Counter(str(status) for body in bodies.values() for status in body.statuses))
    found.unanswered = sum(
        body.statuses.count(0) + body.times - len(body.statuses) for body in bodies.values()
    )
    found.postings = len({row[0] for row in links})
    for violation in (
        *_no_role_twice(sessions),
        *_none_lost(roles, turns, sessions),
        *_claims_are_in_the_store(logs, sessions, keys),
        *_lies(bodies),
        *_only_the_owner_completes(bodies, sessions, keys),
        *_every_posting_is_linked(bodies, sessions, links),
        *_refused_leaves_nothing(bodies, sessions, links, late),
        *_one_matching(bodies, links, tasks),
        *_same_answer(bodies),
    ):
        found.violations.append(violation)
    return found


def _bodies(logs: list[dict[str, Any]]) -> dict[tuple[str, str, str, int], Body]:
    found: dict[tuple[str, str, str, int], Body] = {}
    for line in logs:
        if line["what"] not in ("said", "told") or line.get("torn"):
            continue
        body = found.setdefault((line["session"], line["path"], line["digest"], line["key"]), Body(line))
        if line["what"] == "said":
            body.times += 1
        else:
            body.statuses.append(line["status"])
            body.answers.append(line["answer"])
    return found


def _no_role_twice(sessions: list[Session]) -> Iterator[str]:
    """Of one role the sessions follow one another, by their fences and by the clock."""
    before: Session | None = None
    for each in sessions:
        if before is None or before.role != each.role:
            if each.claim != 1:
                yield f"role {each.role}: its first session has the fence {each.claim}"
        elif each.claim != before.claim + 1:
            yield f"role {each.role}: the fence {each.claim} follows {before.claim}"
        elif before.completed_at is None or before.completed_at > each.started_at:
            yield f"role {each.role}: held by session {before.id} until {before.completed_at}, and by {each.id} from {each.started_at}"
        before = each
    for each in sessions:
        if each.status == "timeout" and (each.completed_at or 0) < each.lease_until:
            yield f"session {each.id} was timed out before its time"


def _none_lost(
    roles: list[tuple[Any, ...]], turns: list[tuple[Any, ...]], sessions: list[Session]
) -> Iterator[str]:
    last = {each.role: each for each in sessions}
    states = defaultdict(list)
    for role, state in turns:
        states[role].append(state)
    for role, status, claim, holder in roles:
        if status != "completed" or holder is not None:
            yield f"role {role} never came to its end: {status}, held by {holder}"
        if states[role] != ["done"]:
            yield f"role {role} is completed, its turns are {states[role]}"
        if role in last and (last[role].claim != claim or last[role].verdict not in ("found", "empty")):
            yield f"role {role} has the fence {claim}, its last session {last[role]}"
    for each in sessions:
        if each.status == "in_progress":
            yield f"session {each.id} is still open"


def _claims_are_in_the_store(
    logs: list[dict[str, Any]], sessions: list[Session], keys: dict[int, int]
) -> Iterator[str]:
    there, given = {each.token: each for each in sessions}, Counter[str]()
    for line in logs:
        if line["what"] == "forbidden" and line["status"] not in (0, 403, 503):
            yield f"a platform that the key may not look at was answered with {line['status']}"
        if line["what"] != "claim":
            continue
        held = there.get(line["session"])
        if held is None or (held.role, held.key) != (line["role"], keys[line["key"]]):
            yield f"the answer to {line} is not what the store has: {held}"
        given[line["session"]] += not line.get("again")
    yield from (f"session {token} was given out {times} times" for token, times in given.items() if times > 1)


def _lies(bodies: dict[Any, Body]) -> Iterator[str]:
    for body in bodies.values():
        if body.said.get("lie") and set(body.statuses) - {0, 404, 503}:
            yield f"somebody else's session was answered with {body.statuses}: {body.said}"
        if body.said.get("late") and set(body.statuses) - {0, 409, 503}:
            yield f"a late body was answered with {body.statuses}: {body.said}"
        if strange := set(body.statuses) - {0, 200, 404, 409, 503}:
            yield f"{strange} to {body.said}: {body.answers}"


def _only_the_owner_completes(
    bodies: dict[Any, Body], sessions: list[Session], keys: dict[int, int]
) -> Iterator[str]:
    spoke = {(body.said["session"], keys[body.said["key"]]) for body in bodies.values() if not body.refused}
    for each in sessions:
        if each.status in ("completed", "failed") and (each.token, each.key) not in spoke:
            yield f"session {each.id} is {each.status}, and its owner never said so"


def _every_posting_is_linked(
    bodies: dict[Any, Body], sessions: list[Session], links: list[tuple[Any, ...]]
) -> Iterator[str]:
    role_of = {each.token: str(each.role) for each in sessions}
    roles, named = defaultdict(set), defaultdict(set)
    for record, _, name, target in links:
        (roles if name == "role" else named)[record if name == "role" else target].add(
            target if name == "role" else record
        )
    for body in bodies.values():
        if not body.accepted or body.said.get("strange"):
            continue
        for each in body.said["ids"]:
            holders = named[f"{PLATFORM}/{each}"]
            if len(holders) != 1:
                yield f"{each} was accepted, and {len(holders)} records have it"
            elif role_of[body.said["session"]] not in roles[next(iter(holders))]:
                yield f"{each} was accepted for role {role_of[body.said['session']]}, and is not linked to it"


def _refused_leaves_nothing(
    bodies: dict[Any, Body], sessions: list[Session], links: list[tuple[Any, ...]], late: set[tuple[int, str]]
) -> Iterator[str]:
    there = {target for _, _, name, target in links if name == "id"}
    row_of = {each.token: each.id for each in sessions}
    if strange := [target for target in there if not target.startswith(f"{PLATFORM}/")]:
        yield f"postings of a platform that no key may look at: {strange[:3]}"
    for body in bodies.values():
        if body.refused and body.unique in there:
            yield f"{body.unique} was refused with {body.statuses}, and is there"
        too_late = body.said["path"] == "/jobs" and set(body.statuses) == {409}
        if too_late and (row_of[body.said["session"]], body.said["digest"]) not in late:
            yield f"a late body of session {body.said['session']} was not kept"


def _one_matching(
    bodies: dict[Any, Body], links: list[tuple[Any, ...]], tasks: list[dict[str, Any]]
) -> Iterator[str]:
    """The posting that only one body has stands in exactly one task of that body's session."""
    record_of = {target: record for record, _, name, target in links if name == "id"}
    matched = Counter((task["session"], record) for task in tasks for record in task["postings"])
    told = {
        body.said["session"] for body in bodies.values() if body.said["path"] == "/jobs" and not body.refused
    }
    yield from (
        f"a matching for {task['session']}, which brought nothing"
        for task in tasks
        if task["session"] not in told
    )
    for body in bodies.values():
        if body.unique is None or body.said["path"] != "/jobs":
            continue
        times = matched[(body.said["session"], record_of.get(body.unique, 0))]
        if body.accepted and times != 1:
            yield f"{body.unique} was accepted and is matched {times} times"
        if body.refused and times:
            yield f"{body.unique} was refused and is matched {times} times"


def _same_answer(bodies: dict[Any, Body]) -> Iterator[str]:
    for body in bodies.values():
        good = [
            json.dumps(answer, sort_keys=True)
            for status, answer in zip(body.statuses, body.answers, strict=True)
            if status == 200
        ]
        if len(set(good)) > 1 and body.said["path"] != "/heartbeat":
            yield f"the same body was answered differently: {good}"
