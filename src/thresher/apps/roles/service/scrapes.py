"""Sessions of scrapers: claim a role, resume, extend, release and finish a session; list sessions and
scrapers.

Only the key that claimed a role may act on its session; this is checked here, before the fence. A repeated
call, because the first answer was lost, gets the same answer and takes effect once.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from thresher.apps.roles.demand import Demand
from thresher.apps.roles.model import role_keywords
from thresher.apps.roles.report import Report, conclude, read_report
from thresher.apps.roles.service.arrivals import seen_before
from thresher.apps.roles.store import figures
from thresher.apps.roles.store.people import newest_keywords
from thresher.apps.roles.store.platforms import Platform, list_platforms
from thresher.apps.roles.store.posts import answer_of, keep_answer
from thresher.apps.roles.store.queue import Empty, Holder, claim_role
from thresher.apps.roles.store.rows import Role, Scrape, find_role, find_scrape, open_scrapes
from thresher.apps.roles.store.scrapes import end_scrape, extend_scrape, is_held, judge_turns
from thresher.apps.roles.store.turns import held_turns
from thresher.apps.roles.turns import Pace, Verdict
from thresher.core.clock import HOUR, SECOND, as_text
from thresher.core.errors import InvalidPayload, NotAllowed, UnknownName, UsageError
from thresher.store.session import Session
from thresher.store.store import Store
from thresher.store.transaction import in_transaction

HEARTBEAT = "/api/scraper/queue/heartbeat"
MAX_PLATFORMS = 100
MAX_NAME = 80
MAX_PEOPLE = 200  # candidates whose keywords are counted, the newest


@dataclass(frozen=True, slots=True)
class OfferedRole:
    """A role as a scraper needs to know it. `keywords` are what to search for besides its names."""

    id: int
    name: str
    aliases: tuple[str, ...]
    candidate_count: int
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OfferedPlatform:
    """Where to look, and how often a scraper may ask there."""

    name: str
    requests_per_minute: int | None


@dataclass(frozen=True, slots=True)
class Offer:
    """A role that a scraper holds, until when, and where it can say that it needs longer."""

    session_id: str
    role: OfferedRole
    platforms: tuple[OfferedPlatform, ...]
    expires_at: int
    heartbeat: str = HEARTBEAT


@dataclass(frozen=True, slots=True)
class Nothing:
    """No role waits for this scraper; in so many seconds one may."""

    retry_after: int | None


@dataclass(frozen=True, slots=True)
class Extended:
    """A session that is held for longer."""

    session_id: str
    expires_at: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a look came to nothing; with a platform, there alone."""

    reason: str
    verdict: str = Verdict.FAILED
    platform: str | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a session and of its role."""

    session_id: str
    session_status: str
    verdict: str | None
    role_status: str


def asked_platforms(text: str | None) -> tuple[str, ...] | None:
    """The names in a list with commas; None where nothing is asked for."""
    if text is None:
        return None
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))
    if not 0 < len(names) <= MAX_PLATFORMS or any(len(name) > MAX_NAME for name in names):
        raise UsageError(
            f"platforms must be at most {MAX_PLATFORMS} names separated by commas, such as "
            "platforms=dice,indeed"
        )
    return names


def shut_platforms(holder: Holder, asked: Sequence[str] | None) -> list[str]:
    """Those that a scraper asks for and its key may not look at."""
    return (
        []
        if asked is None or holder.platforms is None
        else [name for name in asked if name not in holder.platforms]
    )


def says_shut(holder: Holder, shut: Sequence[str]) -> str:
    """The same as a sentence."""
    return f"the key {holder.name} may search {', '.join(holder.platforms or ())}, not {', '.join(shut)}"


def named(token: str | None) -> str:
    """The id of a session, which every call about one has to give."""
    if not token:
        raise UsageError("session_id is required: the one that next-role gave")
    return token


def claim(store: Store, holder: Holder, asked: Sequence[str] | None = None) -> Offer | Nothing:
    """The next role for this scraper, held from now on."""
    found = claim_role(store, holder, asked, store.settings.us("roles.session"))
    if isinstance(found, Empty):
        return Nothing(_seconds_until(store, found.retry_at))
    with store.read(autocommit=True) as session:
        return _offer(store, session, found.scrape, found.role, found.platforms)


def _seconds_until(store: Store, at: int | None) -> int | None:
    if at is None:
        return None
    with store.read(autocommit=True) as session:
        return max(1, -(-(at - store.backend.now(session)) // SECOND))


def held_sessions(store: Store, holder: Holder) -> dict[str, list[Offer]]:
    """What this key holds, the oldest first: each as it was given."""
    with store.read() as session:
        now = store.backend.now(session)
        known = {platform.name: platform for platform in list_platforms(session)}
        found = [
            (each, find_role(session, each.role_id))
            for each in open_scrapes(session, holder.key_id)
            if each.lease_until > now
        ]
        return {
            "sessions": [
                _offer(store, session, each, role, _of(each, known))
                for each, role in found
                if role is not None
            ]
        }


def _of(scrape: Scrape, known: Mapping[str, Platform]) -> list[Platform]:
    return [known[name] for name in scrape.platforms if name in known]


def _offer(
    store: Store, session: Session, scrape: Scrape, role: Role, platforms: Sequence[Platform]
) -> Offer:
    return Offer(
        scrape.session_id,
        OfferedRole(role.id, role.name, role.aliases, role.candidates, _keywords(store, session, role)),
        tuple(OfferedPlatform(each.name, each.per_minute) for each in platforms if each.name),
        scrape.lease_until,
    )


def _keywords(store: Store, session: Session, role: Role) -> tuple[str, ...]:
    """Made anew of the candidates' records each time: what is known of a person is stored nowhere else."""
    most = store.settings.count("roles.keywords")
    people = newest_keywords(session, role.id, MAX_PEOPLE) if most and role.candidates else []
    return role_keywords(role.name, people, store.settings.count("roles.keyword_candidates"), most)


def extend(store: Store, holder: Holder, token: str) -> Extended:
    """Hold a session for another lease from now. A heartbeat that comes too late revives nothing."""

    def longer(session: Session) -> Extended:
        now = store.backend.now(session)
        scrape = own_scrape(store, session, holder, token)
        check_held(store, session, scrape, now)
        found = extend_scrape(session, scrape, store.settings.us("roles.session"), now)
        return Extended(found.session_id, found.lease_until)

    return in_transaction(store, longer)


def fail(store: Store, holder: Holder, token: str, failure: Failure) -> dict[str, Any]:
    """Give a session up, or one platform of it where others are still being looked at."""

    def act(session: Session, scrape: Scrape, now: int) -> Ended:
        return _failed(store, session, scrape, now, failure)

    return _once(store, holder, token, ("fail", asdict(failure)), act)


def complete(store: Store, holder: Holder, token: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """End a session whose postings came in several bodies. `said`: a verdict, or verdicts by platform, and
    the proof of an empty one.
    """
    report = read_report({"session_id": token, **said})

    def act(session: Session, scrape: Scrape, now: int) -> Ended:
        return _completed(store, session, scrape, now, report)

    return _once(store, holder, token, ("complete", dict(said)), act)


def own_scrape(store: Store, session: Session, holder: Holder, token: str) -> Scrape:
    """The session of that id, if it is this key's; of another's it is said that there is none. Locked from
    now on.
    """
    found = find_scrape(session, token, store.backend.dialect.lock)
    if found is None or found.key_id != holder.key_id:
        raise UnknownName("this key has no session with that id; GET /api/scraper/queue/next-role starts one")
    return found


def check_held(store: Store, session: Session, scrape: Scrape, now: int) -> None:
    """Refuse whatever comes for a session that holds its role no more."""
    if not is_held(session, scrape, now, store.backend.dialect.lock):
        ends = {
            "completed": "is completed",
            "failed": f"has failed ({scrape.error_message or 'no reason was given'})",
        }
        how = ends.get(scrape.status, "has run out of time")
        raise NotAllowed(
            f"the session on {scrape.role_name!r} {how}: nothing was changed; GET "
            "/api/scraper/queue/next-role starts another"
        )


def _once(
    store: Store,
    holder: Holder,
    token: str,
    said: tuple[str, Any],
    act: Callable[[Session, Scrape, int], Ended],
) -> dict[str, Any]:
    """Do what a scraper says of a session; when it says the same again, answer as before."""
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    def work(session: Session) -> dict[str, Any]:
        now = store.backend.now(session)
        scrape = own_scrape(store, session, holder, token)
        before = answer_of(session, scrape.id, digest)
        if before is not None:
            return dict(json.loads(before))
        check_held(store, session, scrape, now)
        answer = asdict(act(session, scrape, now))
        keep_answer(session, scrape.id, digest, json.dumps(answer), now)
        return answer

    return in_transaction(store, work)


def end_session(store: Store, token: str, reason: str) -> Ended:
    """End a session on a person's decision. Its role is in the queue again; what its scraper still sends is
    late.
    """

    def work(session: Session) -> Ended:
        now, scrape = store.backend.now(session), find_scrape(session, token, store.backend.dialect.lock)
        if scrape is None:
            raise UnknownName(f"there is no session {token[:80]!r}; thresher sessions list shows them")
        check_held(store, session, scrape, now)
        held = _held(session, scrape)
        verdicts = dict.fromkeys(held, Verdict.TIMEOUT)  # nothing is proved, and no platform is blamed
        return _end(store, session, scrape, now, "failed", Verdict.UNKNOWN, verdicts, reason[:MAX_REASON])

    return in_transaction(store, work)


def _failed(store: Store, session: Session, scrape: Scrape, now: int, failure: Failure) -> Ended:
    verdict, held = Verdict(failure.verdict), _held(session, scrape)
    if failure.platform is not None:
        _check_part(held, failure.platform)
        if len(held) > 1:
            judge_turns(session, scrape, {failure.platform: verdict}, now, Pace.of(store.settings))
            return Ended(scrape.session_id, scrape.status, None, "processing")
    brought = failure.platform is not None and any(
        seen_before(session, scrape).values()
    )  # the other platforms did answer
    status, verdict = ("completed", Verdict.FOUND) if brought else ("failed", verdict)
    return _end(
        store,
        session,
        scrape,
        now,
        status,
        verdict,
        dict.fromkeys(held, Verdict(failure.verdict)),
        failure.reason,
    )


def _completed(store: Store, session: Session, scrape: Scrape, now: int, report: Report) -> Ended:
    concluded = conclude(report, scrape.platforms, _held(session, scrape), seen_before(session, scrape))
    verdict = concluded.verdict or Verdict.UNKNOWN
    status = "failed" if verdict in (Verdict.BLOCKED, Verdict.FAILED) else "completed"
    return _end(store, session, scrape, now, status, verdict, concluded.verdicts, None)


def _end(
    store: Store,
    session: Session,
    scrape: Scrape,
    now: int,
    status: str,
    verdict: Verdict,
    verdicts: Mapping[str, Verdict],
    error: str | None,
) -> Ended:
    settings = store.settings
    role_status = end_scrape(
        session,
        scrape,
        status=status,
        verdict=verdict,
        verdicts=verdicts,
        error=error,
        now=now,
        pace=Pace.of(settings),
        demand=Demand.of(settings),
    )
    return Ended(scrape.session_id, status, verdict, role_status)


def _held(session: Session, scrape: Scrape) -> list[str]:
    """The platforms of a session of which nothing was said yet."""
    return [turn.platform for turn in held_turns(session, scrape.role_id)]


def _check_part(held: Sequence[str], platform: str) -> None:
    if platform not in held:
        there = (
            ", ".join(name for name in held if name)
            or "none by name, so omit platform to give up the session"
        )
        raise InvalidPayload(f"{platform!r} is not an open platform of this session; it has {there}")


STATUSES = ("in_progress", "completed", "failed", "timeout")
SHOWN = ("pending", "processing", "completed")
LATEST = 100
MAX_REASON = 500
NEXT = 50
DAY_HOURS = 24


@dataclass(frozen=True, slots=True)
class SessionView:
    """One session."""

    id: int
    session_id: str
    scraper_name: str
    scraper_key_id: int
    role_id: int
    role_name: str
    platforms: tuple[str, ...]
    status: str
    verdict: str | None
    started_at: int
    expires_at: int
    completed_at: int | None
    duration_seconds: int | None
    jobs_found: int
    jobs_imported: int
    jobs_updated: int
    jobs_linked: int
    jobs_skipped: int
    error_message: str | None


def list_sessions(
    store: Store,
    *,
    hours: float = DAY_HOURS,
    key_id: int | None = None,
    status: str | None = None,
    limit: int = LATEST,
) -> dict[str, list[SessionView]]:
    """The latest sessions, the newest first."""
    if status is not None and status not in STATUSES:
        raise UsageError(
            f"the status must be {', '.join(STATUSES[:-1])} or {STATUSES[-1]}; got {status[:40]!r}"
        )
    with store.read() as session:
        now = store.backend.now(session)
        found = figures.scrapes_since(
            session, since_hours(now, hours), key_id=key_id, status=status, limit=limit
        )
        return {"sessions": [view(scrape, now) for scrape in found]}


def view(scrape: Scrape, now: int) -> SessionView:
    """A session as it is shown. One that runs has no duration yet."""
    return SessionView(
        scrape.id,
        scrape.session_id,
        scrape.scraper_name,
        scrape.key_id,
        scrape.role_id,
        scrape.role_name,
        scrape.platforms,
        scrape.status,
        scrape.verdict,
        scrape.started_at,
        scrape.lease_until,
        scrape.completed_at,
        None if scrape.completed_at is None else scrape.duration_s(now),
        scrape.found,
        scrape.imported,
        scrape.updated,
        scrape.linked,
        scrape.skipped,
        scrape.error_message,
    )


def since_hours(now: int, hours: float) -> int:
    """The time so many hours ago."""
    return now - round(hours * HOUR)


@dataclass(frozen=True, slots=True)
class StatusCount:
    """The roles of one status, and the candidates who want them."""

    roles: int
    candidates: int


@dataclass(frozen=True, slots=True)
class LastDay:
    """What the last day brought."""

    sessions_completed: int
    jobs_imported: int
    avg_duration_seconds: float


@dataclass(frozen=True, slots=True)
class QueueStats:
    """The queue by status, and the last day."""

    queue: dict[str, StatusCount]
    last_24h: LastDay


def read_stats(store: Store) -> QueueStats:
    """How many roles wait, are being scraped and are done, and what the last day brought."""
    with store.read() as session:
        counts = figures.status_counts(session)
        totals = figures.totals_since(session, since_hours(store.backend.now(session), DAY_HOURS))
    shown = {status: counts.get(status, (0, 0)) for status in SHOWN} | counts
    return QueueStats(
        {status: StatusCount(*both) for status, both in shown.items()},
        LastDay(totals.sessions, totals.imported, round(totals.seconds, 2)),
    )


@dataclass(frozen=True, slots=True)
class SessionTotals:
    """What completed sessions brought, all together."""

    total_sessions: int
    jobs_found: int
    jobs_imported: int
    jobs_updated: int
    jobs_linked: int
    jobs_skipped: int
    avg_duration_seconds: float


@dataclass(frozen=True, slots=True)
class ScraperTotals:
    """What the sessions of one scraper brought, and what it did last."""

    scraper_name: str
    scraper_key_id: int
    session_count: int
    jobs_imported: int
    last_role: str
    last_activity: str | None


@dataclass(frozen=True, slots=True)
class ScraperFigures:
    """Who scrapes now, and what came of it."""

    active_scrapers: int
    totals: SessionTotals
    per_scraper: list[ScraperTotals]


def read_figures(store: Store, *, hours: float = DAY_HOURS) -> ScraperFigures:
    """Who scrapes now, and what came of it: of all completed sessions, and of each scraper."""
    with store.read() as session:
        now = store.backend.now(session)
        totals = figures.totals_since(session, since_hours(now, hours))
        active, scrapers = (
            figures.active_scrapers(session, now),
            figures.per_scraper(session, since_hours(now, hours)),
        )
    return ScraperFigures(active, _totals(totals), [_scraper(each) for each in scrapers])


def _totals(totals: figures.Totals) -> SessionTotals:
    return SessionTotals(
        totals.sessions,
        totals.found,
        totals.imported,
        totals.updated,
        totals.linked,
        totals.skipped,
        round(totals.seconds, 2),
    )


def _scraper(scraper: figures.Scraper) -> ScraperTotals:
    return ScraperTotals(
        scraper.name,
        scraper.key_id,
        scraper.sessions,
        scraper.imported,
        scraper.last_role,
        as_text(scraper.last_activity),
    )


@dataclass(frozen=True, slots=True)
class WaitingRole:
    """A role that is pending or being scraped."""

    id: int
    name: str
    queue_status: str
    priority: str
    candidate_count: int
    last_scraped_at: int | None


@dataclass(frozen=True, slots=True)
class RoleQueue:
    """Roles in the order in which they are served."""

    queue: list[WaitingRole]


def list_queue(store: Store, *, limit: int = NEXT) -> RoleQueue:
    """The roles that are pending or being scraped, in the order in which they are served."""
    with store.read() as session:
        return RoleQueue([_waiting(role) for role in figures.queue(session, limit)])


def _waiting(role: Role) -> WaitingRole:
    return WaitingRole(role.id, role.name, role.status, role.priority, role.candidates, role.scraped_at)
