"""Store what a scraper posts, and end its session, in one transaction; and handle posts that came too late.

The same body again gets the same answer and changes nothing. A body whose session is over changes nothing
either; it is kept until a person imports or drops it. Matching is requested in the same transaction, so it
cannot be forgotten.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import orjson

from thresher.apps.roles.arrival import Arrival, Reason, Skip, read_arrival
from thresher.apps.roles.demand import Demand
from thresher.apps.roles.report import Conclusion, Report, conclude, read_report
from thresher.apps.roles.store import posts
from thresher.apps.roles.store.arrivals import (
    AT_ONCE,
    Ending,
    Filed,
    answers_of,
    count_late,
    count_role,
    file_arrivals,
    hold_arrivals,
)
from thresher.apps.roles.store.posts import Late, answer_of, keep_answer
from thresher.apps.roles.store.queue import Holder
from thresher.apps.roles.store.rows import Scrape, find_role, find_scrape
from thresher.apps.roles.store.scrapes import count_scrape, end_scrape, extend_scrape, is_held, judge_turns
from thresher.apps.roles.store.turns import held_turns
from thresher.apps.roles.turns import Pace, Verdict
from thresher.core.errors import InvalidPayload, NotAllowed, UnknownName, UsageError
from thresher.core.json_stream import NotJson, elements, outline
from thresher.core.spooled import Spooled
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.store import blobs
from thresher.store.events import record_event
from thresher.store.session import Session
from thresher.store.store import Store, Transaction
from thresher.store.transaction import in_transaction

# The postings of one body, stored in batches: results are counted, and the first errors listed.

LISTED = "jobs"  # what the contract calls them
MAX_TOLD = 100  # skips and notes that are told in full; all are counted


@dataclass(slots=True)
class Brought:
    """What a body has brought. `found` is the sum of the others; `seen` counts real postings by platform,
    known ones too.
    """

    tally: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("found", "imported", "updated", "linked", "skipped"), 0)
    )
    reasons: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    skips: list[dict[str, Any]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)

    def count(self, ending: str, number: int = 1) -> None:
        self.tally["found"] += number
        self.tally[ending] += number

    def skip(self, skip: Skip) -> None:
        self.count("skipped")
        self.reasons[skip.reason.value] = self.reasons.get(skip.reason.value, 0) + 1
        if len(self.skips) < MAX_TOLD:
            told = {
                "index": skip.index,
                "external_job_id": skip.number,
                "reason": skip.reason.value,
                "detail": skip.detail or None,
            }
            self.skips.append(told)

    def note(self, arrival: Arrival) -> None:
        for note in arrival.notes[: MAX_TOLD - len(self.notes)]:
            self.notes.append({"index": arrival.at, "external_job_id": arrival.number, "note": note})


def bring(
    store: Store,
    session: Session,
    role_id: int,
    pieces: Iterable[bytes],
    now: int,
    *,
    token: str | None = None,
    platform: str | None = None,
    allowed: Collection[str] | None = None,
) -> Brought:
    """File all postings of a body for a role. `token` is the session that brings it. The caller holds the
    arrivals; a body that is no JSON raises, and then nothing counts.
    """
    brought, keys, touched = Brought(), set[str](), set[int]()
    values = enumerate(elements(pieces, LISTED))
    while portion := [
        read_arrival(index, value, platform, allowed) for index, value in islice(values, AT_ONCE)
    ]:
        different = _different(portion, keys, brought)
        filed = file_arrivals(store.backend.dialect, session, role_id, different, now, token)
        _count(different, filed, brought, touched)
    return brought


def _different(portion: Sequence[Arrival | Skip], keys: set[str], brought: Brought) -> list[Arrival]:
    """Those that are real postings, and whose keys this body has not brought before."""
    arrivals, seen = [], brought.seen
    for each in portion:
        if isinstance(each, Skip):
            brought.skip(each)
            continue
        seen[each.platform] = seen.get(each.platform, 0) + 1
        if each.notes:
            brought.note(each)
        if each.key in keys:
            brought.skip(_twice(each))
            continue
        keys.add(each.key)
        arrivals.append(each)
    return arrivals


def _count(arrivals: list[Arrival], filed: list[Filed], brought: Brought, touched: set[int]) -> None:
    endings, unchanged = [], Ending.UNCHANGED
    for each, (record_id, ending) in zip(arrivals, filed, strict=True):
        if record_id in touched:  # the same posting under another number
            brought.skip(_twice(each))
            continue
        touched.add(record_id)
        if ending is unchanged:
            brought.skip(Skip(each.at, each.number, Reason.UNCHANGED))
            continue
        endings.append(ending)
        brought.changed.append(record_id)
    for ending in (Ending.IMPORTED, Ending.LINKED, Ending.UPDATED):
        brought.count(ending.value, endings.count(ending))


def _twice(arrival: Arrival) -> Skip:
    return Skip(arrival.at, arrival.number, Reason.DUPLICATE_IN_BATCH)


# Request matching in the transaction that stored the postings.

MATCHING = "match_postings"
IMPORTED = "jobs_imported"  # the event
POSTINGS_PER_TASK = 1_000  # postings in one task


def check_app(registry: Registry) -> None:
    """Refuse postings if the roles app is not enabled, because nothing would match them."""
    if registry.pipeline(MATCHING) is None:
        raise UsageError("the roles app is not enabled in this project; add roles to apps in thresher.yaml")


def ask_matching(
    store: Store,
    registry: Registry,
    session: Session,
    *,
    role: tuple[int, str],
    token: str,
    postings: Sequence[int],
    source: str = "scraper",
) -> None:
    """Have these postings, by their records, matched for a role, and tell that they came. `token` is the
    session that brought them, `source` is scraper or late.

    Everything is written with the postings: the event, the matching, and a task for each app that follows the
    event. None of it is lost, and none happens twice.
    """
    now, asked = store.backend.now(session), list[NewTask]()
    for at in range(0, len(postings), POSTINGS_PER_TASK):
        ids = list(postings[at : at + POSTINGS_PER_TASK])
        told: dict[str, Any] = {
            "job_ids": ids,
            "global_role_id": role[0],
            "role_name": role[1],
            "session_id": token,
            "source": source,
        }
        record_event(session, IMPORTED, now, **told)
        asked.append(NewTask(MATCHING, {"role": role[0], "postings": ids, "session": token}))
        asked += [NewTask(kind, told) for kind in registry.followers(IMPORTED)]
    Transaction(store, session).enqueue([registry.admit(each) for each in asked])


# Late posts: kept as sent, until a person imports or drops them.


@dataclass(frozen=True, slots=True)
class Imported:
    """What a late body has brought after all."""

    id: int
    role_id: int
    role_name: str
    found: int
    imported: int
    updated: int
    linked: int
    skipped: int
    reasons: dict[str, int]


def keep_late(store: Store, scrape: Scrape, reason: str, body: Spooled, number: int) -> str:
    """Keep a late body, the same one only once; return what to tell the sender."""
    packed, most = blobs.pack_pieces(body.pieces()), store.settings.count("roles.late_limit")

    def keep(session: Session) -> str:
        decision = posts.decision_on(session, scrape.id, body.digest, store.backend.dialect.lock)
        if decision is not None:
            return f"and this body is not kept again: it came before, and a person has {decision} it"
        if count_late(session, scrape.id, but=body.digest) >= most:
            return f"and this body is not kept: {most} of this session are already (roles.late_limit)"
        now = store.backend.now(session)
        if find_scrape(session, scrape.session_id, store.backend.dialect.lock) is None:
            raise UnknownName(f"the session {scrape.session_id} ended long ago and was removed")
        blobs.lend(session, packed, now)
        posts.keep_late(session, scrape, body.digest, packed.hash, number, reason, now)
        what = "its posting is" if number == 1 else f"its {number:,} postings are"
        return f"{what} kept for review (thresher late list)"

    what = in_transaction(store, keep)
    return f"{reason}: nothing was imported, {what}; GET /api/scraper/queue/next-role starts another session"


def late_posts(store: Store, *, decided: bool | None = False, limit: int = 100, after: int = 0) -> list[Late]:
    """The bodies that came too late, the oldest first: those that wait for a decision, or have one, or with
    None all.
    """
    with store.read() as session:
        return posts.list_late(session, decided=decided, limit=limit, after=after)


def import_late(store: Store, registry: Registry, late_id: int) -> Imported:
    """Import the postings of a late body under its role, and have them matched."""
    check_app(registry)
    body = Spooled.of(blobs.get(store, _waiting(store, late_id).hash))
    found = in_transaction(store, lambda session: _import(store, registry, session, late_id, body))
    store.backend.ping()
    return found


def _import(store: Store, registry: Registry, session: Session, late_id: int, body: Spooled) -> Imported:
    late = _undecided(posts.find_late(session, late_id, store.backend.dialect.lock), late_id)
    now = store.backend.now(session)
    if find_role(session, late.role_id) is None:
        raise NotAllowed(
            f"the role {late.role_name!r} no longer exists; to drop its postings: thresher late drop "
            f"{late_id}"
        )
    hold_arrivals(store.backend.dialect, session)
    try:
        report = read_report(outline(body.pieces(), LISTED).members)
        where = report.where(_platforms(session, late))
        brought = bring(store, session, late.role_id, body.pieces(), now, token=late.token, platform=where)
    except NotJson as problem:
        raise UsageError(f"the late body {late_id} cannot be read: {problem}") from None
    count_role(session, late.role_id, brought.tally["imported"], now)
    _decide(store, session, late, "imported")
    role = (late.role_id, late.role_name)
    ask_matching(
        store, registry, session, role=role, token=late.token, postings=brought.changed, source="late"
    )
    return Imported(late_id, late.role_id, late.role_name, **brought.tally, reasons=brought.reasons)


def _platforms(session: Session, late: Late) -> tuple[str, ...]:
    """Where the session looked that brought it."""
    scrape = find_scrape(session, late.token)
    return scrape.platforms if scrape else ()


def drop_late(store: Store, late_id: int) -> Late:
    """Let go of a late body."""

    def drop(session: Session) -> Late:
        late = _undecided(posts.find_late(session, late_id, store.backend.dialect.lock), late_id)
        _decide(store, session, late, "dropped")
        return late

    return in_transaction(store, drop)


def _decide(store: Store, session: Session, late: Late, decision: str) -> None:
    """The blob is held before it is asked who else needs it: whoever is about to need it waits for us, or we
    for them.
    """
    posts.decide_late(session, late.id, decision, store.backend.now(session))
    if blobs.lent(session, late.hash, store.backend.dialect.lock) and not posts.awaited(session, late.hash):
        blobs.give_back(session, late.hash)


def _waiting(store: Store, late_id: int) -> Late:
    with store.read() as session:
        return _undecided(posts.find_late(session, late_id), late_id)


def _undecided(late: Late | None, late_id: int) -> Late:
    if late is None:
        raise UnknownName(f"there is no late body {late_id}; thresher late list shows them")
    if late.decision is not None:
        raise NotAllowed(f"the late body {late_id} was already {late.decision}")
    return late


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
        says = f"a body may have at most {most:,} postings (roles.post_limit), this one has {number:,}"
        raise InvalidPayload(f'{says}; send them in parts, with "complete": false in all but the last')
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
        raise UnknownName("this key has no session with that id; GET /api/scraper/queue/next-role starts one")
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
        token=scrape.session_id,
        platform=report.where(scrape.platforms),
        allowed=allowed,
    )
    seen = Counter(seen_before(session, scrape)) + Counter(brought.seen)
    concluded = _conclude(session, scrape, report, seen)
    count_scrape(session, scrape, brought.tally, now)
    answer = _answer(scrape, brought, now) | _go_on(store, session, scrape, report, concluded, seen, now)
    keep_answer(session, scrape.id, body.digest, orjson.dumps(answer).decode(), now)
    role, token = (scrape.role_id, scrape.role_name), scrape.session_id
    ask_matching(store, registry, session, role=role, token=token, postings=brought.changed)
    return answer


def _over(scrape: Scrape) -> str:
    """Say how a session ended, and why if known: its role may have been merged or rejected."""
    why = f" ({scrape.error_message[:200]})" if scrape.status == "failed" and scrape.error_message else ""
    return f"the session on {scrape.role_name!r} {_HOW.get(scrape.status, 'is over')}{why}"


def _conclude(session: Session, scrape: Scrape, report: Report, seen: Mapping[str, int]) -> Conclusion:
    """How the look ended, by what this body and those before it say. Platforms are compared without their
    case.
    """
    spelt = {name.lower(): name for name in scrape.platforms}
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
    store: Store,
    session: Session,
    scrape: Scrape,
    report: Report,
    concluded: Conclusion,
    seen: Mapping[str, int],
    now: int,
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
    unproven = [name for name, each in concluded.verdicts.items() if each is Verdict.UNKNOWN]
    return ended | ({"message": _unproven(scrape, unproven, seen, pace)} if unproven else {})


def _unproven(scrape: Scrape, platforms: Sequence[str], seen: Mapping[str, int], pace: Pace) -> str:
    """What is to be said of platforms of which nothing came, and nothing proves that there is nothing.
    `seen` has the usable postings of the whole session, by platform.
    """
    where, came = ", ".join(name for name in platforms if name), ", ".join(sorted(filter(None, seen)))
    if where and seen:
        strange = came and not {*seen} & {name.lower() for name in scrape.platforms}
        also = f" ({came} is not a platform of this session)" if strange else ""
        what = f"postings came from {came or 'no platform by name'}{also}, and none from {where}"
    else:
        what = "no posting that could be used was sent" + (f" for {where}" if where else "")
    if pace.any_post_completes:
        return f"{what}; the role is completed all the same, because roles.any_post_completes is 1"
    return (
        f"{what}, and nothing proves that there is nothing there: the role goes back to the queue"
        + (f" for {where}" if where else "")
        + '. If there is nothing, send "verdict": "empty" with a proof; if you were blocked, "blocked"'
    )
