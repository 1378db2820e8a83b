"""Whether a posting is an opening that is known already: on another board, for another place, or listed
again.

Postings are grouped, not merged. The one that was there first speaks for its group; the others are not judged
a second time, and whoever looks at it finds the boards of all.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.core.context import Context
from thresher.core.record import Found, Is, Link, Record
from thresher.hiring.fingerprint import Print
from thresher.hiring.kinds import GROUP, POSTING
from thresher.hiring.records import GroupRecord, entry
from thresher.hiring.same_opening import Copy, GroupReason, Pair, copy_of, lead, pair, same

MAX_POSTINGS = 50  # postings of one title and company that are compared
APART = "apart"  # the link to a posting that a person took out of the group


@dataclass(frozen=True, slots=True)
class Kinship:
    """`lead` is the posting that speaks for this one, if it is not this one itself."""

    print: str
    kin: str
    lead: str | None = None
    reason: str | None = None
    records: tuple[Record, ...] = ()
    links: tuple[Link, ...] = ()


async def kin_of(ctx: Context, known: Found, data: Mapping[str, Any]) -> Kinship:
    """The group of a posting, whose `data` is complete now."""
    mine = copy_of(known.key, data)
    kin = kin_mark(mine.print)
    alike = await ctx.records(POSTING, where=(Is("kin", kin),), limit=MAX_POSTINGS) if kin else []
    found = [each for each in alike if each.key != known.key]
    apart = {pair(each.key, other) for each in (known, *found) for other in each.linked(APART)}
    related = _related(mine, _without_apart(mine.key, found, apart), apart)
    bare = Kinship(mine.print.exact, kin)
    records = {each.key: each for each in found}
    group = await _group(ctx, [known, *(records[each] for each in related)])
    if group is not None and _is_by_hand(group):
        mates = await ctx.records(
            POSTING,
            keys=[each for each in _members(group) if each != known.key][:MAX_POSTINGS],
            limit=MAX_POSTINGS,
        )
        records |= {each.key: each for each in mates}
        copies = (copy_of(each.key, each.data) for each in mates if pair(mine.key, each.key) not in apart)
        related |= {copy.key: (copy, GroupReason.SAID) for copy in copies}
    return _grouped(bare, mine, records, related, group) if related else bare


async def _group(ctx: Context, postings: Sequence[Found]) -> Found | None:
    """The group that they have: the posting's own, which it may have from a person, before that of its
    likes.
    """
    key = next((group for each in postings for group in each.linked(GROUP)), None)
    return await ctx.record(GROUP, key) if key else None


def _is_by_hand(group: Found) -> bool:
    return GroupRecord.of(group).reason == GroupReason.SAID


def _members(group: Found | None) -> tuple[str, ...]:
    return GroupRecord.of(group).members if group else ()


def kin_mark(print_: Print) -> str:
    """What all postings have in common that may be one: the title and the company. Empty where one of them is
    not known.
    """
    if not print_.title or not print_.company:
        return ""
    return hashlib.sha256(f"{print_.title}\x1f{print_.company}".encode("utf-8", "replace")).hexdigest()[:24]


def _without_apart(key: str, found: list[Found], apart: set[Pair]) -> list[Found]:
    """Those who are in no group with somebody whom a person took apart from this posting: it must not come
    back through a third.
    """
    closed = {group for each in found if pair(key, each.key) in apart for group in each.linked(GROUP)}
    return [each for each in found if not closed & set(each.linked(GROUP))]


def _related(mine: Copy, found: list[Found], apart: set[Pair]) -> dict[str, tuple[Copy, GroupReason]]:
    copies = [copy_of(each.key, each.data) for each in found]
    reasons = [(copy, same(mine, copy, apart)) for copy in copies]
    return {copy.key: (copy, reason) for copy, reason in reasons if reason is not None}


def _grouped(
    bare: Kinship,
    mine: Copy,
    records: Mapping[str, Found],
    related: Mapping[str, tuple[Copy, GroupReason]],
    group: Found | None,
) -> Kinship:
    """The group, old or new, with this posting in it. Everybody in it is linked to it, and it to every
    board.
    """
    first = lead([mine, *(copy for copy, _ in related.values())])
    reason = related[first.key][1] if first.key in related else next(iter(related.values()))[1]
    key = group.key if group else f"group/{first.key}"
    link = Link(GROUP, key)
    members = sorted({mine.key, *related, *_members(group)})
    said = GroupReason.SAID if group and _is_by_hand(group) else reason
    record = entry(
        GROUP,
        key,
        {"lead": first.key, "reason": str(said), "members": members},
        *(Link("posting", each) for each in members),
    )
    others = tuple(
        entry(POSTING, each, {"group": key}, link)
        for each in sorted(related)
        if not records[each].linked(GROUP)
    )
    # Another place is another opening to whoever wants to work there: it is shown with its group, and judged
    # for itself.
    speaks = first.key != mine.key and reason is not GroupReason.OTHER_PLACES
    return Kinship(
        bare.print, bare.kin, first.key if speaks else None, str(reason), (record, *others), (link,)
    )
