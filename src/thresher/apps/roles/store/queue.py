"""Claim the next role for a scraper: role, session, fence and lease in one transaction.

Its cost does not grow with the queue: every turn in the index of waiting turns can be claimed, so the first
one is the answer.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

import orjson

from thresher.apps.roles.demand import Demand
from thresher.apps.roles.store.rows import OPEN, PLATFORM_COLUMNS, SELECT_ROLE, Platform, Role, Scrape, whole
from thresher.apps.roles.store.scrapes import expire_scrapes
from thresher.apps.roles.store.turns import ANYWHERE, next_due, take_turns, waiting_turns, wake_turns
from thresher.apps.roles.turns import Pace
from thresher.core.clock import FOREVER
from thresher.store.backend import Backend
from thresher.store.session import Dialect, Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

MAX_STALE, MAX_DUE = 10, 100  # sessions that one claim ends, and turns that it wakes, on its way
MAX_TRIES = 8
MAX_RIVALS = 16  # claims at the same instant that one claim can step around

_OVERDUE = """select (select 1 from scrape_sessions where status = 'in_progress' and lease_until <= :now limit 1),
    (select 1 from role_turns where state = 'later' and due_at <= :now limit 1)"""
_FIRST = "(select t.{} from role_turns t where t.state = 'waiting' and t.platform = {} order by t.rank, t.role_id limit 1)"
# Every platform with its number of sessions and its first turn, in one query.
_PLACES = f"""select {", ".join("p." + name for name in PLATFORM_COLUMNS)},
        case when p.in_flight is null then 0
             else (select count(*) from role_turns h where h.state = 'held' and h.platform = p.name) end,
        {_FIRST.format("rank", "p.name")}, {_FIRST.format("role_id", "p.name")}
    from platforms p order by p.name"""
_HEADS = "select role_id from role_turns where state = 'waiting' and platform = :platform order by rank, role_id limit :limit"
# By their ids, whatever the planner would like better; where others are busy with the first the second is
# taken.
_PICK = f"{SELECT_ROLE} where id in (:ids*) and coalesce(status, '') = 'pending' order by rank, id limit 1"
_LIMITS = (
    "select name, in_flight from platforms where name in (:names*) and in_flight is not null order by name"
)
_HELD = "select count(*) from role_turns where state = 'held' and platform = :platform"
_START = """insert into scrape_sessions (session_id, key_id, scraper_name, role_id, role_name, claim, platforms, started_at, updated_at,
        lease_until)
    values (:token, :key, :name, :role, :role_name, :claim, :platforms, :now, :now, :until) returning id"""
_HAND_OVER = "update roles set status = 'processing', session_id = :session, claim = :claim, updated_at = :now where id = :role"


@dataclass(frozen=True, slots=True)
class Holder:
    """Who asks: a key, its name, and the platforms that it may look at; None: all."""

    key_id: int
    name: str
    platforms: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Claimed:
    """A role, the session that holds it now, and where to look; no platforms: wherever the scraper likes."""

    scrape: Scrape
    role: Role
    platforms: tuple[Platform, ...] = ()


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing to do. `retry_at`: when time alone will bring something."""

    retry_at: int | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """A platform as a claim sees it. `head` is the rank and the role of the turn that is first there."""

    platform: Platform
    held: int
    head: tuple[int, int] | None

    def is_open(self, now: int) -> bool:
        limit = self.platform.in_flight
        return self.platform.paused_until <= now and (limit is None or self.held < limit)


def claim_role(store: Store, holder: Holder, asked: Sequence[str] | None, lease_us: int) -> Claimed | Empty:
    """Give the role that is next to a scraper, for `lease_us`. Only turns on platforms that it asked for and
    may look at.
    """
    now = _catch_up(store)
    return in_transaction(store, lambda session: _claim(session, store.backend, holder, asked, now, lease_us))


def _catch_up(store: Store) -> int:
    """What time has changed: sessions that are over give their roles back, and turns that are due wait. The
    time.

    In transactions of their own, which are over before the claim begins.
    """
    dialect = store.backend.dialect
    with store.read(autocommit=True) as session:
        now = store.backend.now(session)
        late, due = session.rows(_OVERDUE, {"now": now})[0]
    if late:
        pace, demand = Pace.of(store.settings), Demand.of(store.settings)
        in_transaction(
            store, lambda session: expire_scrapes(session, now, pace, demand, MAX_STALE, dialect.skip)
        )
    if due:
        in_transaction(store, lambda session: wake_turns(session, now, MAX_DUE, dialect.lock))
    return now


def _claim(
    session: Session, backend: Backend, holder: Holder, asked: Sequence[str] | None, now: int, lease_us: int
) -> Claimed | Empty:
    wanted = _wanted(_places(session), holder, asked)
    places = {name: place for name, place in wanted.items() if place.is_open(now)}
    for _ in range(MAX_TRIES):
        heads = [(place.head, name) for name, place in places.items() if place.head is not None]
        if not heads:
            break
        platform = min(heads)[1]
        role = _pick(session, backend.dialect, platform)
        if role is None:  # others are busy with all that waits there
            places[platform] = replace(places[platform], head=None)
            continue
        waiting = waiting_turns(session, role.id)
        full = _full(session, backend.dialect, [name for name in waiting if name in places])
        places = {name: place for name, place in places.items() if name not in full}
        if mine := sorted(name for name in waiting if name in places):
            started = backend.now(
                session
            )  # now that the role is ours: no session starts before the last one ended
            return _start(
                session,
                role,
                holder,
                [places[name].platform for name in mine],
                len(mine) == len(waiting),
                started,
                lease_us,
            )
    return Empty(_retry_at(session, wanted, now))


def _places(session: Session) -> list[_Place]:
    size = len(PLATFORM_COLUMNS)
    rows = session.rows(_PLACES)
    found = [
        _Place(Platform(*row[:size]), row[size], None if row[size + 1] is None else row[size + 1 :])
        for row in rows
    ]
    return found or [_Place(Platform(ANYWHERE), 0, (0, 0))]


def _wanted(places: Sequence[_Place], holder: Holder, asked: Sequence[str] | None) -> dict[str, _Place]:
    """Where this scraper may look and wants to. Where there are no platforms nobody can name one."""
    if places[0].platform.name == ANYWHERE:
        return {ANYWHERE: places[0]}
    return {
        place.platform.name: place
        for place in places
        if (asked is None or place.platform.name in asked)
        and (holder.platforms is None or place.platform.name in holder.platforms)
    }


def _pick(session: Session, dialect: Dialect, platform: str) -> Role | None:
    """The first role that waits on a platform and that nobody else is just taking. It is held from then
    on.
    """
    ids = [row[0] for row in session.rows(_HEADS, {"platform": platform, "limit": MAX_RIVALS})]
    found = session.rows(_PICK + dialect.skip, {"ids": ids}) if ids else []
    return whole(session, found)[0] if found else None


def _full(session: Session, dialect: Dialect, names: Sequence[str]) -> set[str]:
    """Of these platforms, those with no room for one more session. Holds their rows: two claims never both
    take the last place.
    """
    if names in ([], [ANYWHERE]):
        return set()
    limits = session.rows(_LIMITS + dialect.lock, {"names": names})
    return {name for name, limit in limits if session.rows(_HELD, {"platform": name})[0][0] >= limit}


def _start(
    session: Session,
    role: Role,
    holder: Holder,
    platforms: Sequence[Platform],
    all_of_them: bool,
    now: int,
    lease_us: int,
) -> Claimed:
    names = tuple(platform.name for platform in platforms if platform.name != ANYWHERE)
    token, claim, until = str(uuid.uuid4()), role.claim + 1, now + lease_us
    row_id = session.rows(
        _START,
        {
            "token": token,
            "key": holder.key_id,
            "name": holder.name,
            "role": role.id,
            "role_name": role.name,
            "claim": claim,
            "platforms": orjson.dumps(names).decode(),
            "now": now,
            "until": until,
        },
    )[0][0]
    session.run(_HAND_OVER, {"session": row_id, "claim": claim, "role": role.id, "now": now})
    take_turns(session, role.id, [platform.name for platform in platforms], now, all_of_them=all_of_them)
    scrape = Scrape(
        row_id,
        token,
        holder.key_id,
        holder.name,
        role.id,
        role.name,
        claim,
        names,
        OPEN,
        None,
        now,
        now,
        until,
        None,
        0,
        0,
        0,
        0,
        0,
        None,
    )
    held = replace(role, status="processing", session_id=row_id, claim=claim, updated_at=now)
    return Claimed(scrape, held, tuple(platform for platform in platforms if platform.name != ANYWHERE))


def _retry_at(session: Session, wanted: dict[str, _Place], now: int) -> int | None:
    """When the next turn is due, or a pause ends behind which something waits."""
    times = [place.platform.paused_until for place in wanted.values() if place.head is not None]
    due = next_due(session)
    return min((at for at in (*times, due) if at is not None and now < at < FOREVER), default=None)
