"""Making a role, letting it into the queue and taking it out again."""

from thresher.core.errors import NotAllowed, UsageError
from thresher.governance.demand import Demand
from thresher.governance.turns import Verdict
from thresher.store.roles.names import claim_name
from thresher.store.roles.role import Role, hold_role
from thresher.store.roles.turns import drop_turns, open_turns
from thresher.store.session import Session

MAX_NAME = 200
MAX_TRIES = 20

_INSERT = """insert into roles (name, status, priority, category, method, waiting_since, rank, created_at, updated_at)
    values (:name, :status, :priority, :category, :method, :now, :rank, :now, :now) returning id"""
_DELETE = "delete from roles where id = :id"
_ADMIT = "update roles set status = 'pending', waiting_since = :now, rank = :rank where id = :id"
_BAR = "update roles set status = 'rejected', session_id = null where id = :id"
_STOP = """update scrape_sessions set status = 'failed', verdict = :verdict, error_message = :error, completed_at = :now, updated_at = :now
    where status = 'in_progress' and id = (select session_id from roles where id = :role)"""
_STILL = """select 1 from roles r join scrape_sessions s on s.id = r.session_id where r.id = :role and s.status = 'in_progress'"""


def make_role(
    session: Session,
    name: str,
    key: str,
    *,
    method: str,
    priority: str,
    category: str | None,
    approved: bool,
    now: int,
    demand: Demand,
    once: bool = False,
) -> int:
    """Make a role and give it its name. If another answers to the name, that one's id, and nothing is made;
    or with `once` an error.
    """
    if not name or not key or max(len(name), len(key)) > MAX_NAME:
        raise UsageError(f"the name of a role has 1 to {MAX_NAME} characters, got {name[:MAX_NAME]!r}")
    rank = demand.rank(now, priority, 0)
    values = {
        "name": name,
        "status": "pending" if approved else "proposed",
        "priority": priority,
        "category": category,
        "method": method,
        "now": now,
        "rank": rank,
    }
    role_id = int(session.rows(_INSERT, values)[0][0])
    owner = claim_name(session, role_id, name, key)
    if owner != role_id and once:
        raise NotAllowed(f"role {owner} answers to {name!r} already; choose another name")
    if owner != role_id:  # somebody was faster, and we have waited for them to commit
        session.run(_DELETE, {"id": role_id})
    elif approved:
        open_turns(session, role_id, rank)
    return owner


def admit_role(session: Session, role: Role, now: int, demand: Demand) -> None:
    """Let a role that nobody is given yet into the queue."""
    rank = demand.rank(now, role.priority, role.candidates)
    session.run(_ADMIT, {"id": role.id, "now": now, "rank": rank})
    open_turns(session, role.id, rank)


def bar_role(session: Session, role_id: int, now: int) -> bool:
    """Let nobody be given a role any more; False if that was so. Its names stay its own, so that it is not
    proposed again.
    """
    role = take_back(session, role_id, "the role was rejected", now)[role_id]
    session.run(_BAR, {"id": role_id})
    drop_turns(session, role_id)
    return role.status != "rejected"


def take_back(session: Session, role_id: int, why: str, now: int, *others: int) -> dict[int, Role]:
    """Hold a role, and others with it, and end the session that has it: what that brings is late from now on.

    Sessions are locked before roles. If the role was claimed between the two, let go and begin again.
    """
    for _ in range(MAX_TRIES):
        session.run("savepoint taking")
        session.run(_STOP, {"role": role_id, "verdict": Verdict.FAILED.value, "error": why, "now": now})
        held = {each: hold_role(session, each, now) for each in sorted({role_id, *others})}
        if not session.rows(_STILL, {"role": role_id}):
            session.run("release savepoint taking")
            return held
        session.run("rollback to savepoint taking")
    raise NotAllowed(f"scrapers take role {role_id} faster than it can be taken back; try again")
