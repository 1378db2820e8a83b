"""Roles, candidates and scrapers as the tests of the queue speak of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.harness.tasks import rows
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.store.platforms import Platform, save_platform
from thresher.apps.roles.store.queue import Claimed, Empty, Holder, claim_role
from thresher.apps.roles.store.roles import POSTED, WANTS, add_role, link_candidates, reset_roles
from thresher.apps.roles.store.rows import Role, Scrape, find_role
from thresher.apps.roles.store.scrapes import end_scrape, expire_scrapes
from thresher.apps.roles.turns import Pace, Verdict
from thresher.core.clock import HOUR, MINUTE, SECOND
from thresher.core.record import Filing, Link
from thresher.store.records import file_record
from thresher.store.store import Store

DEMAND = Demand(168 * HOUR, 50.0)
PACE = Pace(60 * SECOND, 14_400 * SECOND, 5, 1_800 * SECOND, 14_400 * SECOND)
LEASE = 60 * MINUTE
ANNA = Holder(1, "anna")
BEN = Holder(2, "ben")


def role(
    store: Store,
    name: str,
    wanted: int = 0,
    *,
    priority: str = "normal",
    aliases: Sequence[str] = (),
    approved: bool = True,
) -> int:
    """A role that so many new candidates want."""
    people = [person(store, f"{name}/{at}") for at in range(wanted)]
    with store.write() as session:
        now = store.backend.now(session)
        names = {alias.lower(): alias for alias in aliases}
        made = add_role(
            session,
            name,
            name.lower(),
            aliases=names,
            priority=priority,
            approved=approved,
            now=now,
            demand=DEMAND,
        )
        if people:
            link_candidates(session, {made: people}, now, DEMAND)
        return made


def person(store: Store, key: str) -> int:
    return record(store, "candidate", key)


def posting(store: Store, key: str, *roles: int) -> int:
    return record(store, "posting", key, *(Link(POSTED, str(each)) for each in roles))


def record(store: Store, kind: str, key: str, *links: Link) -> int:
    with store.write() as session:
        return file_record(session, Filing(kind, key, "{}", links), 0, store.backend.now(session))


def want(store: Store, role_id: int, *people: int) -> list[int]:
    with store.write() as session:
        return link_candidates(session, {role_id: people}, store.backend.now(session), DEMAND)


def claim(
    store: Store, holder: Holder = ANNA, asked: Sequence[str] | None = None, lease: int = LEASE
) -> Claimed:
    found = claim_role(store, holder, asked, lease)
    assert isinstance(found, Claimed)
    return found


def nothing(store: Store, holder: Holder = ANNA, asked: Sequence[str] | None = None) -> Empty:
    found = claim_role(store, holder, asked, LEASE)
    assert isinstance(found, Empty), found
    return found


def end(
    store: Store, scrape: Scrape, verdict: Verdict = Verdict.FOUND, verdicts: Mapping[str, Verdict] = {}
) -> str:
    status = "failed" if verdict is Verdict.FAILED else "completed"
    with store.write() as session:
        now = store.backend.now(session)
        return end_scrape(
            session,
            scrape,
            status=status,
            verdict=verdict,
            verdicts=verdicts,
            now=now,
            pace=PACE,
            demand=DEMAND,
        )


def expire(store: Store) -> int:
    with store.write() as session:
        return expire_scrapes(
            session, store.backend.now(session), PACE, DEMAND, skip=store.backend.dialect.skip
        )


def reset(store: Store, before: int) -> int:
    with store.write() as session:
        return reset_roles(session, before, store.backend.now(session), DEMAND)


def platform(store: Store, name: str, **limits: Any) -> None:
    with store.write() as session:
        save_platform(session, Platform(name, **limits), store.backend.now(session))


def look(store: Store, role_id: int) -> Role:
    with store.read() as session:
        found = find_role(session, role_id)
    assert found is not None
    return found


def turns(store: Store, role_id: int) -> dict[str, str]:
    """The state of each turn, by platform."""
    return dict(rows(store, "select platform, state from role_turns where role_id = :id", id=role_id))  # type: ignore[arg-type]


def problems(store: Store) -> list[str]:
    """Whatever is not as it must be, whatever has happened before."""
    return [f"{what}: {found}" for what, sql in RULES.items() if (found := rows(store, sql))]


_OPEN = "select {} from scrape_sessions s where s.status = 'in_progress'"
RULES = {
    "the count of a role is not that of its links": f"""select r.id, r.candidates from roles r
        where r.candidates <> (select count(*) from links l where l.name = '{WANTS}' and l.target = cast(r.id as text))""",
    "a role is held, but not by one open session": f"""select r.id, r.status from roles r where (r.status = 'processing')
        <> (({_OPEN.format("count(*)")} and s.role_id = r.id and s.id = r.session_id and s.claim = r.claim) = 1)""",
    "a session is under way without its role": f"""{_OPEN.format("s.id")}
        and not exists (select 1 from roles r where r.id = s.role_id and r.session_id = s.id and r.claim = s.claim)""",
    "a pending role waits for nothing": """select r.id from roles r where r.status = 'pending'
        and not exists (select 1 from role_turns t where t.role_id = r.id and t.state in ('waiting', 'later'))""",
    "a pending role waits for a session that is over": """select t.role_id from role_turns t join roles r on r.id = t.role_id
        where r.status = 'pending' and t.state = 'later' and t.due_at >= 9007199254740991""",
    "a turn waits though its role cannot be had": """select t.role_id, t.platform from role_turns t
        where t.state = 'waiting' and not exists (select 1 from roles r where r.id = t.role_id and r.status = 'pending')""",
    "a turn is held though its role is not": """select t.role_id from role_turns t
        where t.state = 'held' and not exists (select 1 from roles r where r.id = t.role_id and r.status = 'processing')""",
    "a completed role has something left to do": """select r.id from roles r join role_turns t on t.role_id = r.id
        where r.status = 'completed' and t.state <> 'done'""",
    "a role that is in the queue has no turns": """select r.id from roles r where r.status in ('pending', 'processing', 'completed')
        and not exists (select 1 from role_turns t where t.role_id = r.id)""",
    "a turn has no role in the queue": """select t.role_id from role_turns t
        where not exists (select 1 from roles r where r.id = t.role_id and r.status in ('pending', 'processing', 'completed'))""",
    "a turn has another rank than its role": """select t.role_id from role_turns t join roles r on r.id = t.role_id
        where t.rank <> r.rank""",
    "a link leads to a role that is gone": f"""select l.record_id, l.target from links l where l.name in ('{WANTS}', '{POSTED}')
        and not exists (select 1 from roles r where cast(r.id as text) = l.target)""",
    "a name leads to a role that is gone": """select n.key from role_names n
        where not exists (select 1 from roles r where r.id = n.role_id)""",
    "a role does not answer to its own name": """select r.id from roles r
        where not exists (select 1 from role_names n where n.role_id = r.id and n.name = r.name)""",
}
