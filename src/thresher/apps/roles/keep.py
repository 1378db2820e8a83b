"""Facts and offers of postings, as matching reads and stores them: read once, with their evidence."""

from collections.abc import Iterable, Sequence
from datetime import date

from thresher.apps.roles.matching.offer import Offer, as_offer
from thresher.apps.roles.model import ROLE, ScrapedPosting
from thresher.core.context import Context
from thresher.core.errors import Malformed
from thresher.core.record import Found, Is, Link, Record
from thresher.hiring.facts import read_facts
from thresher.hiring.kinds import POSTING
from thresher.hiring.lifecycle import OPEN
from thresher.hiring.opening import facts_of, places_of
from thresher.hiring.records import PostingFields, PostingRecord

PORTION = 100  # postings that are in memory whole; of the others only what is compared
MAX_ID = 19  # digits
IS_OPEN = Is("state", OPEN)


def roles_in(found: Found, name: str) -> list[int]:
    """The roles that a record belongs to by links of a name. Another app may use that name for something else
    than numbers.
    """
    return sorted(
        int(target)
        for target in found.linked(name)
        if target.isascii() and target.isdecimal() and len(target) < MAX_ID
    )


def with_facts(posting: Found, today: date) -> Record:
    """Return what is added to a posting that has not been read yet. Its other fields stay as they are."""
    opening = read_facts(PostingRecord.of(posting), today=today)
    said: PostingFields = {"facts": facts_of(opening)}
    return Record(POSTING, posting.key, said, evidence=places_of(opening), merge=True)


def is_read(posting: Found) -> bool:
    """Whether the facts of a posting were read."""
    return ScrapedPosting.of(posting).facts is not None


def offers_of(found: Iterable[Found]) -> list[Offer]:
    """Return the offers that can be compared: open ones whose facts were read. The others are matched once
    they have been read.
    """
    return [offer for each in found if (offer := _offer(each)) is not None]


def _offer(found: Found) -> Offer | None:
    posting = ScrapedPosting.of(found)
    if posting.state != OPEN:
        return None
    try:
        return as_offer(found.id, posting, found.evidence)
    except Malformed:
        return None


async def offers_with(ctx: Context, ids: Sequence[int]) -> tuple[list[Offer], dict[int, frozenset[int]]]:
    """The offers of these postings, and which postings each role has of them."""
    offers: list[Offer] = []
    roles: dict[int, set[int]] = {}
    for start in range(0, len(ids), PORTION):
        found = await ctx.records_of(POSTING, ids[start : start + PORTION])
        offers += offers_of(found)
        for each in found:
            for role in roles_in(each, ROLE):
                roles.setdefault(role, set()).add(each.id)
    return offers, {role: frozenset(postings) for role, postings in roles.items()}


async def open_offers(
    ctx: Context, role: int, before: int | None, most: int
) -> tuple[list[Offer], int | None]:
    """The offers among the next `most` open postings of a role, the newest first, and where to go on; None
    when that was all.
    """
    offers: list[Offer] = []
    for _ in range(0, most, PORTION):
        found = await ctx.records(
            POSTING, link=Link(ROLE, str(role)), where=(IS_OPEN,), before=before, limit=PORTION
        )
        offers += offers_of(found)
        if len(found) < PORTION:
            return offers, None
        before = found[-1].id
    return offers, before
