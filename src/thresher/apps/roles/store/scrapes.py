"""Sessions: extend, count, judge and end them, with their role and platform, in one transaction behind the
fence.

Lock order on PostgreSQL: sessions, then roles by id, then their turns, then platforms by name.
"""

from collections.abc import Mapping

from thresher.apps.roles.demand import Demand
from thresher.apps.roles.store.rows import SCRAPE_COLUMNS, SELECT_SCRAPE, Scrape, as_scrape
from thresher.apps.roles.store.turns import Held, end_turns, free_turns, held_turns, rank_turns
from thresher.apps.roles.turns import Health, Pace, Verdict, after_platform
from thresher.core.clock import MINUTE, SECOND
from thresher.core.record import clean
from thresher.store.events import record_event
from thresher.store.session import Session, one

# Verdicts that count for a platform: repeated failures pause it, a find opens it again.

_TELLING = (Verdict.FOUND, Verdict.BLOCKED, Verdict.FAILED)
_READ = "select failures, paused_until, paused_tag, paused_reason from platforms where name = :name"
# A success on a healthy platform changes nothing, and need not wait for a lock.
_HOLD_PLATFORM = "update platforms set failures = failures where name = :name and (:bad = 1 or failures > 0 or paused_until > 0)"
_WRITE_PLATFORM = """update platforms set failures = :failures, paused_until = :until, paused_tag = :tag, paused_reason = :reason
    where name = :name"""


def judge_platforms(session: Session, verdicts: Mapping[str, Verdict], now: int, pace: Pace) -> None:
    """Tell each platform how the look at it ended. By name, so that two sessions never wait for each other in
    a circle.
    """
    for name, verdict in sorted(verdicts.items()):
        if verdict in _TELLING and session.run(
            _HOLD_PLATFORM, {"name": name, "bad": int(verdict is not Verdict.FOUND)}
        ):
            _tell(session, name, verdict, now, pace)


def _tell(session: Session, name: str, verdict: Verdict, now: int, pace: Pace) -> None:
    before = Health(*session.rows(_READ, {"name": name})[0])
    after = after_platform(before, verdict, now, pace)
    if after != before:
        session.run(
            _WRITE_PLATFORM,
            {
                "name": name,
                "failures": after.failures,
                "until": after.paused_until,
                "tag": after.tag,
                "reason": after.reason,
            },
        )
    if after.paused_until > before.paused_until:
        until, reason = after.paused_until, after.reason
        record_event(session, "platform_paused", now, platform=name, until=until, reason=reason)
    elif after.paused_until < before.paused_until:
        record_event(session, "platform_resumed", now, platform=name)


COUNTS = ("found", "imported", "updated", "linked", "skipped")
MAX_ERROR = 2_000

_IS_OPEN = "select 1 from scrape_sessions where id = :id and status = 'in_progress' and lease_until > :now"
_HOLDS = "select 1 from roles where id = :role and claim = :claim and session_id = :id"
_EXTEND = f"""update scrape_sessions set updated_at = :now, lease_until = case when lease_until > :until then lease_until else :until end
    where id = :id and status = 'in_progress' and lease_until > :now returning {", ".join(SCRAPE_COLUMNS)}"""
_COUNT = """update scrape_sessions set found = found + :found, imported = imported + :imported, updated = updated + :updated,
    linked = linked + :linked, skipped = skipped + :skipped, updated_at = :now where id = :id"""
_IMPORTED = "update roles set imported = imported + :imported, updated_at = :now where id = :role"
_END = """update scrape_sessions set status = :status, verdict = :verdict, error_message = :error, completed_at = :now, updated_at = :now
    where id = :id and status = 'in_progress'"""
# Locks the role; a session that lost it finds no row.
_HOLD = """update roles set updated_at = :now where id = :role and claim = :claim and session_id = :id
    returning waiting_since, priority, candidates"""
_COMPLETE = "update roles set status = 'completed', session_id = null, scraped_at = :now where id = :role"
_BACK = "update roles set status = 'pending', session_id = null, rank = :rank where id = :role"
_STATUS = "select status from roles where id = :role"
_STALE = f"{SELECT_SCRAPE} where status = 'in_progress' and lease_until <= :now order by lease_until, id limit :limit"


def is_held(session: Session, scrape: Scrape, now: int, lock: str = "") -> bool:
    """The fence: whether the session is under way, its time not over, and the role still its own. `lock`
    keeps it so.
    """
    if not session.rows(_IS_OPEN + lock, {"id": scrape.id, "now": now}):
        return False
    return bool(session.rows(_HOLDS + lock, {"role": scrape.role_id, "claim": scrape.claim, "id": scrape.id}))


def extend_scrape(session: Session, scrape: Scrape, lease_us: int, now: int) -> Scrape:
    """A sign of life: from now on it lasts so long again, and never shorter than before. One whose time is
    over stays as it is.
    """
    found = one(session, _EXTEND, {"id": scrape.id, "until": now + lease_us, "now": now})
    return as_scrape(found) if found else scrape


def count_scrape(session: Session, scrape: Scrape, tally: Mapping[str, int], now: int) -> None:
    """Add to what the session has brought. What is new counts for its role too."""
    counts = {name: tally.get(name, 0) for name in COUNTS}
    session.run(_COUNT, counts | {"id": scrape.id, "now": now})
    if counts["imported"]:
        session.run(_IMPORTED, {"imported": counts["imported"], "role": scrape.role_id, "now": now})


def judge_turns(
    session: Session, scrape: Scrape, verdicts: Mapping[str, Verdict], now: int, pace: Pace
) -> None:
    """Some platforms of a session under way are answered already. Those that it does not hold are none of its
    business.
    """
    if not session.rows(_HOLD, _fence(scrape, now)):
        return
    held = held_turns(session, scrape.role_id)
    _judge(
        session,
        scrape,
        {turn: verdicts[turn.platform] for turn in held if turn.platform in verdicts},
        now,
        pace,
    )


def end_scrape(
    session: Session,
    scrape: Scrape,
    *,
    status: str,
    verdict: Verdict,
    verdicts: Mapping[str, Verdict] = {},
    error: str | None = None,
    now: int,
    pace: Pace,
    demand: Demand,
) -> str:
    """End a session: each of its turns gets its own verdict or else the general one, and the role goes on.
    The role's new status.

    A session that is over already changes nothing any more.
    """
    if _stop(session, scrape, status, verdict, error, now):
        _go_on(session, scrape, verdict, verdicts, now, pace, demand)
    found = one(session, _STATUS, {"role": scrape.role_id})
    return str(found[0]) if found else "gone"


def _stop(
    session: Session, scrape: Scrape, status: str, verdict: Verdict, error: str | None, now: int
) -> bool:
    """Write down that a session ended, and nothing else; False if it had already."""
    said = None if error is None else clean(error)[:MAX_ERROR]
    return (
        session.run(
            _END, {"id": scrape.id, "status": status, "verdict": verdict.value, "error": said, "now": now}
        )
        > 0
    )


def expire_scrapes(
    session: Session, now: int, pace: Pace, demand: Demand, limit: int = 500, skip: str = ""
) -> int:
    """End the sessions whose time is over; how many. `skip` is the dialect's: those that somebody is busy
    with are left to them.
    """
    stale = [as_scrape(row) for row in session.rows(_STALE + skip, {"now": now, "limit": limit})]
    ended = [
        scrape
        for scrape in stale
        if _stop(session, scrape, "timeout", Verdict.TIMEOUT, timed_out(scrape), now)
    ]
    for scrape in sorted(ended, key=lambda each: each.role_id):
        token, scraper, role = scrape.session_id, scrape.scraper_name, scrape.role_name
        reason = timed_out(scrape)
        record_event(
            session, "session_expired", now, session=token, scraper=scraper, role=role, reason=reason
        )
        _go_on(session, scrape, Verdict.TIMEOUT, {}, now, pace, demand)
    return len(ended)


def timed_out(scrape: Scrape) -> str:
    """Why a session timed out. A heartbeat, or a part of its postings, is a sign of life."""
    silent = _minutes(scrape.lease_until - scrape.updated_at)
    if scrape.found:
        return f"No sign of life for {silent} after {scrape.found:,} postings"
    if scrape.updated_at == scrape.started_at:
        return f"No jobs posted within {silent}"
    return f"No jobs posted within {_minutes(scrape.lease_until - scrape.started_at)}, and no sign of life for {silent}"


def _minutes(length_us: int) -> str:
    if length_us < MINUTE:
        return f"{length_us / SECOND:g} seconds"
    minutes = length_us // MINUTE
    return "1 minute" if minutes == 1 else f"{minutes:,} minutes"


def _go_on(
    session: Session,
    scrape: Scrape,
    verdict: Verdict,
    verdicts: Mapping[str, Verdict],
    now: int,
    pace: Pace,
    demand: Demand,
) -> None:
    """The role after its session. It is completed when no turn is left, and only a find or a proof takes one
    away.
    """
    role = one(session, _HOLD, _fence(scrape, now))
    if role is None:
        return
    held = held_turns(session, scrape.role_id)
    _judge(session, scrape, {turn: verdicts.get(turn.platform, verdict) for turn in held}, now, pace)
    if not free_turns(session, scrape.role_id, now):
        session.run(_COMPLETE, {"role": scrape.role_id, "now": now})
        return
    rank = demand.rank(*role)
    session.run(_BACK, {"role": scrape.role_id, "rank": rank})
    rank_turns(session, scrape.role_id, rank)


def _judge(session: Session, scrape: Scrape, verdicts: Mapping[Held, Verdict], now: int, pace: Pace) -> None:
    if verdicts:
        end_turns(session, scrape.role_id, verdicts, now, pace)
        judge_platforms(
            session,
            {turn.platform: verdict for turn, verdict in verdicts.items() if turn.platform},
            now,
            pace,
        )


def _fence(scrape: Scrape, now: int) -> dict[str, int]:
    return {"id": scrape.id, "role": scrape.role_id, "claim": scrape.claim, "now": now}
