"""A scraper brings what it found: the POST that fills a role and completes its session, in one transaction.

The same body again is answered as before and changes nothing. A body whose session is over changes nothing
either; it is kept, and a person decides (`late.py`). Matching is asked for in the same transaction: it cannot
be forgotten.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import orjson

from thresher.apps.roles.report import Conclusion, Report, conclude, read_report
from thresher.control.late import keep_late
from thresher.control.matching import ask_matching, check_app
from thresher.control.portions import LISTED, Brought, bring
from thresher.control.spooled import Spooled
from thresher.core.errors import InvalidPayload, NotAllowed, UnknownName
from thresher.core.json_stream import outline
from thresher.engine.registry import Registry
from thresher.governance.demand import Demand
from thresher.governance.turns import Pace, Verdict
from thresher.store.roles.arrivals import answers_of, hold_arrivals
from thresher.store.roles.posts import answer_of, keep_answer
from thresher.store.roles.queue import Holder
from thresher.store.roles.scrape import Scrape, find_scrape
from thresher.store.roles.scrapes import count_scrape, end_scrape, extend_scrape, is_held, judge_turns
from thresher.store.roles.transaction import in_transaction
from thresher.store.roles.turns import held_turns
from thresher.store.session import Session
from thresher.store.store import Store

_HOW = {
    "in_progress": "ran out of time",
    "timeout": "ran out of time",
    "completed": "is completed",
    "failed": "has failed",
}


@dataclass(frozen=True, slots=True)
class _Late:
    """A body whose session holds its role no more, and why."""

    scrape: Scrape
    reason: str


def receive(store: Store, registry: Registry, holder: Holder, body: Spooled) -> dict[str, Any]:
    """Import the postings of a body, and end its session or extend it. The answer as it is sent, now and
    whenever it comes again.
    """
    check_app(registry)
    found = outline(body.pieces(), LISTED)
    report, number = read_report(found.members), found.length or 0
    most = store.settings.count("roles.post_limit")
    if number > most:
        says = f"a body brings at most {most:,} postings (roles.post_limit), this one has {number:,}"
        raise InvalidPayload(f'{says}; send them in parts, with "complete": false but for the last')
    answer = in_transaction(store, lambda session: _receive(store, registry, holder, body, report, session))
    if isinstance(answer, _Late):
        raise NotAllowed(keep_late(store, answer.scrape, answer.reason, body, number))
    store.backend.ping()
    return answer


def _receive(
    store: Store, registry: Registry, holder: Holder, body: Spooled, report: Report, session: Session
) -> dict[str, Any] | _Late:
    lock = store.backend.dialect.lock
    scrape = find_scrape(session, report.session_id, lock)
    if scrape is None or scrape.key_id != holder.key_id:
        raise UnknownName("this key has no session of that id; GET /api/scraper/queue/next-role begins one")
    known = answer_of(session, scrape.id, body.digest)
    if known is not None:
        return dict(orjson.loads(known))
    now = store.backend.now(session)
    if not is_held(session, scrape, now, lock):
        return _Late(scrape, _over(scrape))
    hold_arrivals(store.backend.dialect, session)
    allowed = None if holder.platforms is None else frozenset(name.lower() for name in holder.platforms)
    brought = bring(
        store,
        session,
        scrape.role_id,
        body.pieces(),
        now,
        platform=report.where(scrape.platforms),
        allowed=allowed,
    )
    concluded = _conclude(session, scrape, report, brought)
    count_scrape(session, scrape, brought.tally, now)
    answer = _answer(scrape, brought, now) | _go_on(store, session, scrape, report, concluded, now)
    keep_answer(session, scrape.id, body.digest, orjson.dumps(answer).decode(), now)
    ask_matching(store, registry, session, scrape.role_id, scrape.session_id, brought.changed)
    return answer


def _over(scrape: Scrape) -> str:
    """How a session ended, and why if somebody said so: a role may have been merged or rejected under it."""
    why = f" ({scrape.error_message[:200]})" if scrape.status == "failed" and scrape.error_message else ""
    return f"the session on {scrape.role_name!r} {_HOW.get(scrape.status, 'is over')}{why}"


def _conclude(session: Session, scrape: Scrape, report: Report, brought: Brought) -> Conclusion:
    """How the look ended, by what this body and those before it say. Platforms are compared without their
    case.
    """
    seen, spelt = Counter(seen_before(session, scrape)), {name.lower(): name for name in scrape.platforms}
    seen.update(brought.seen)
    held = [turn.platform.lower() for turn in held_turns(session, scrape.role_id)]
    found = conclude(report, spelt, held, seen)
    return Conclusion(
        found.verdict, {spelt.get(name, name): verdict for name, verdict in found.verdicts.items()}
    )


def seen_before(session: Session, scrape: Scrape) -> dict[str, int]:
    """How many postings of each platform the bodies of a session have brought so far. Only those that could
    be read count.
    """
    seen = dict[str, int]()
    for answer in answers_of(session, scrape.id) if scrape.found else ():
        for name, number in (orjson.loads(answer).get("platforms") or {}).items():
            seen[name] = seen.get(name, 0) + number
    return seen


def _answer(scrape: Scrape, brought: Brought, now: int) -> dict[str, Any]:
    return {
        "session_id": scrape.session_id,
        "jobs_found": brought.tally["found"],
        "jobs_imported": brought.tally["imported"],
        "jobs_updated": brought.tally["updated"],
        "jobs_linked": brought.tally["linked"],
        "jobs_skipped": brought.tally["skipped"],
        "duration_seconds": scrape.duration_s(now),
        "matching_triggered": bool(brought.changed),
        "platforms": brought.seen,
        "reasons": brought.reasons,
        "skips": brought.skips,
        "notes": brought.notes,
    }


def _go_on(
    store: Store, session: Session, scrape: Scrape, report: Report, concluded: Conclusion, now: int
) -> dict[str, Any]:
    """The session after this body: over, or held for longer."""
    pace = Pace.of(store.settings)
    if not report.complete:
        judge_turns(session, scrape, concluded.verdicts, now, pace)
        extend_scrape(session, scrape, store.settings.us("roles.session"), now)
        return {"session_status": "in_progress", "verdict": None, "role_status": "processing"}
    verdict = concluded.verdict or Verdict.UNKNOWN
    status = "failed" if verdict in (Verdict.BLOCKED, Verdict.FAILED) else "completed"
    role = end_scrape(
        session,
        scrape,
        status=status,
        verdict=verdict,
        verdicts=concluded.verdicts,
        now=now,
        pace=pace,
        demand=Demand.of(store.settings),
    )
    ended = {"session_status": status, "verdict": verdict.value, "role_status": role}
    return ended | (
        {"message": _UNKNOWN} if Verdict.UNKNOWN in (verdict, *concluded.verdicts.values()) else {}
    )


_UNKNOWN = (
    "nothing was found, and nothing proves that there is nothing: the role goes back to the queue, for the platforms without a posting. "
    'Where there is nothing say "verdict": "empty" with a proof; where you were kept out, "blocked"'
)
