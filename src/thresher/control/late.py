"""Bodies that came too late to count: kept as they were sent, until a person imports or drops them.

An import files the postings under the role of the session that brought them. The session stays as it ended.
What was decided stays as a line; the body itself is of no more use, and is let go.
"""

from dataclasses import dataclass

from thresher.apps.roles.report import read_report
from thresher.control.matching import ask_matching, check_app
from thresher.control.portions import LISTED, bring
from thresher.control.spooled import Spooled
from thresher.core.errors import NotAllowed, UnknownName, UsageError
from thresher.core.json_stream import NotJson, outline
from thresher.engine.registry import Registry
from thresher.store import blobs
from thresher.store.roles import posts
from thresher.store.roles.arrivals import count_late, count_role, hold_arrivals
from thresher.store.roles.posts import Late
from thresher.store.roles.role import find_role
from thresher.store.roles.scrape import Scrape, find_scrape
from thresher.store.roles.transaction import in_transaction
from thresher.store.session import Session
from thresher.store.store import Store


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
    """Keep a body that came too late, the same one once; what to tell whoever sent it."""
    packed, most = blobs.pack_pieces(body.pieces()), store.settings.count("roles.late_limit")

    def keep(session: Session) -> str:
        decision = posts.decision_on(session, scrape.id, body.digest, store.backend.dialect.lock)
        if decision is not None:
            return f"and this body is not kept again: it came before, and a person has {decision} it"
        if count_late(session, scrape.id, but=body.digest) >= most:
            return f"and this body is not kept: {most} of this session are already (roles.late_limit)"
        now = store.backend.now(session)
        blobs.lend(session, packed, now)
        posts.keep_late(session, scrape, body.digest, packed.hash, number, reason, now)
        what = "its posting is" if number == 1 else f"its {number:,} postings are"
        return f"{what} kept for review (thresher late list)"

    what = in_transaction(store, keep)
    return f"{reason}: nothing was imported, {what}; GET /api/scraper/queue/next-role begins another session"


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
            f"the role {late.role_name!r} is gone; thresher late drop {late_id} lets go of what came for it"
        )
    hold_arrivals(store.backend.dialect, session)
    try:
        report = read_report(outline(body.pieces(), LISTED).members)
        brought = bring(
            store, session, late.role_id, body.pieces(), now, platform=report.where(_platforms(session, late))
        )
    except NotJson as problem:
        raise UsageError(f"the late body {late_id} cannot be read: {problem}") from None
    count_role(session, late.role_id, brought.tally["imported"], now)
    _decide(store, session, late, "imported")
    ask_matching(store, registry, session, late.role_id, late.token, brought.changed)
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
        raise UnknownName(f"no late body has the number {late_id}; thresher late list shows them")
    if late.decision is not None:
        raise NotAllowed(f"the late body {late_id} was {late.decision} already")
    return late
