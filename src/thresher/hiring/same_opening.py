"""Which postings are one opening, on several boards or listed again, and which only look alike; and which
known opening a new posting is.

Postings are grouped, never merged: a group says why, can be undone, and what a person separated stays apart.
The rules are cautious. Two openings taken for one hide work from somebody; one opening shown twice costs a
second of reading. So a text must be the same as the other, or a part of it: one differing word in the same
position ("the payments team", "the search team") keeps them apart.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from urllib.parse import parse_qsl, urlencode

from thresher.core.context import Context
from thresher.core.errors import InvalidUrl
from thresher.core.keys import canonical_url
from thresher.core.record import Found, Is, Link, Record
from thresher.hiring.fingerprint import Print, print_of
from thresher.hiring.kinds import GROUP, POSTING
from thresher.hiring.records import GroupRecord, PostingRecord, group_entry, posting_entry

# Whether one text is part of another: truncated, or lacking a paragraph.

RUN = 4  # words that are compared together
MAX_SEAMS = 4  # places where the longer text has a paragraph more, its ends included
MIN_ADDED = 12  # words of such a paragraph


def contains(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether the shorter of two texts is a part of the longer."""
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    places = _matched(short, long) if len(short) >= 2 * RUN else None
    if places is None:
        return False
    # The ends count too: three words behind the last sentence may be "night shift only".
    ends = [-1, *places] if len(places) < len(short) else [-1, *places, len(long)]
    gaps = [after - before - 1 for before, after in pairwise(ends) if after - before > 1]
    return len(gaps) <= MAX_SEAMS and all(gap >= MIN_ADDED for gap in gaps)


def _matched(short: Sequence[str], long: Sequence[str]) -> list[int] | None:
    """Where each word of the shorter text stands in the longer one; None where one does not. A cut end may be
    missing.
    """
    index: dict[tuple[str, ...], list[int]] = {}
    for at in range(len(long) - RUN + 1):
        index.setdefault(tuple(long[at : at + RUN]), []).append(at)
    found: list[int] = []
    at, reached = 0, -1
    while at < len(short):
        if found and reached + 1 < len(long) and long[reached + 1] == short[at]:
            reached += 1
        else:
            next_at = _next(index.get(tuple(short[at : at + RUN]), ()), reached)
            if next_at is None:
                return found if found and _is_cut(short, at, long, reached) else None
            reached = next_at
        found.append(reached)
        at += 1
    return found


def _next(places: Sequence[int], after: int) -> int | None:
    return next((place for place in places[:50] if place > after), None)


def _is_cut(short: Sequence[str], at: int, long: Sequence[str], reached: int) -> bool:
    """Whether the text ends in the middle of a word."""
    return at == len(short) - 1 and reached + 1 < len(long) and long[reached + 1].startswith(short[at])


MIN_WORDS = 40  # fewer say too little to be known by
# where both texts are cut short: what follows may differ, and the first words are often the company's
MIN_CUT = 100
MIN_PART = 50  # words that a part of a text must have, and at least half of the whole
MIN_NUMBER = 5  # characters of a number that is no counter
# What boards and aggregators add to an address to know where a reader came from.
_REFERRERS = frozenset(
    (
        "_ga",
        "codes",
        "domain",
        "from",
        "gh_src",
        "hashed",
        "iis",
        "iisn",
        "in_iframe",
        "jobsource",
        "lang",
        "language",
        "lever-origin",
        "lever-source",
        "lever-via",
        "locale",
        "mobile",
        "needsredirect",
        "ref",
        "referer",
        "referrer",
        "refid",
        "rx_c",
        "source",
        "sourcetype",
        "src",
        "tm_source",
        "trackingid",
        "trk",
        "utm",
    )
)
_TAILS = ("/apply", "/application", "/apply/", "/application/", "/")


class GroupReason(StrEnum):
    """Why two postings are one group."""

    SAME_NUMBER = "the same number on the same board"
    SAME_PAGE = "the same page"
    SAME_REQUISITION = "the company's own number, on two boards"
    SAME_TEXT = "the same title, company, places and text"
    PART_OF_TEXT = "the same title, company and places; the text of one is a part of the other's"
    OTHER_PLACES = "same text, other places"
    SAID = "a person said so"


@dataclass(frozen=True, slots=True)
class Copy:
    """One posting as groups see it. `first_seen` is in microseconds; `length` counts the characters of its
    description.

    `cut`: the description ends in the middle of a sentence, as those of aggregators do.
    """

    key: str
    print: Print
    board: str = ""
    number: str = ""
    page: str = ""
    first_seen: int = 0
    length: int = 0
    open: bool = True
    cut: bool = False


Pair = frozenset[str]


def pair(one: str, other: str) -> Pair:
    """Two postings, whichever comes first: how "these are not the same" is kept."""
    return frozenset((one, other))


def copy_of(posting: PostingRecord) -> Copy:
    """A posting as groups see it."""
    text = posting.description or ""
    return Copy(
        key=posting.key,
        print=print_of(posting),
        board=posting.board or "",
        number=posting.number or "",
        page=page_of(posting.url or ""),
        first_seen=posting.first_seen,
        length=len(text),
        open=posting.state != "closed",
        cut=text.rstrip().endswith(("…", "...")),
    )


def same(one: Copy, other: Copy, apart: Collection[Pair] = ()) -> GroupReason | None:
    """Say why two postings are one opening; None if they are not, if it cannot be known, or if they were
    separated manually.
    """
    if one.key == other.key or pair(one.key, other.key) in apart:
        return None
    if one.board and one.board == other.board and one.number and one.number == other.number:
        return GroupReason.SAME_NUMBER
    if one.print.title != other.print.title or not one.print.title:
        return None
    if (
        one.page
        and one.page == other.page
        and _firms_agree(one.print, other.print)
        and not _numbered_apart(one, other)
    ):
        return GroupReason.SAME_PAGE if _meet(one.print, other.print) else None
    if not one.print.company or one.print.company != other.print.company:
        return None
    return _by_content(one, other)


def _by_content(one: Copy, other: Copy) -> GroupReason | None:
    elsewhere = one.board != other.board
    if elsewhere and _numbered_alike(one.number, other.number) and _meet(one.print, other.print):
        return GroupReason.SAME_REQUISITION
    if min(len(one.print.words), len(other.print.words)) < MIN_WORDS:
        return None
    meet = _meet(one.print, other.print)
    if one.print.words == other.print.words:
        if one.cut and other.cut and len(one.print.words) < MIN_CUT:
            return None
        return GroupReason.SAME_TEXT if meet else GroupReason.OTHER_PLACES
    if not meet and _unplaced(one.print, other.print) == _unplaced(other.print, one.print):
        return GroupReason.OTHER_PLACES
    # On one board a shorter text with the same title is another opening; between boards it is what was left
    # of the same.
    if (
        elsewhere
        and meet
        and _is_enough(one.print, other.print)
        and contains(one.print.words, other.print.words)
    ):
        return GroupReason.PART_OF_TEXT
    return None


def _is_enough(one: Print, other: Print) -> bool:
    """Whether the shorter text is more than what a company writes above all its postings."""
    few, many = sorted((len(one.words), len(other.words)))
    return few >= MIN_PART and 2 * few >= many


def _numbered_apart(one: Copy, other: Copy) -> bool:
    """Whether their board itself counts them as two: then the page is a list, and says nothing."""
    return one.board == other.board and bool(one.number and other.number) and one.number != other.number


def _firms_agree(one: Print, other: Print) -> bool:
    return not one.company or not other.company or one.company == other.company


def _numbered_alike(one: str, other: str) -> bool:
    bare, others = one.strip().lower(), other.strip().lower()
    return bare == others and len(bare) >= MIN_NUMBER and sum(char.isdecimal() for char in bare) >= 4


def _meet(one: Print, other: Print) -> bool:
    """Whether two postings are for the same places, as far as they say: a country meets its cities, and no
    place meets any.
    """
    if one.remote != other.remote and one.places and other.places:
        return False
    if not one.places or not other.places:
        return (
            one.remote == other.remote or not (one.places or one.remote) or not (other.places or other.remote)
        )
    few, many = sorted((one.places, other.places), key=len)
    return all(any(_within(place, each) for each in many) for place in few)


def _unplaced(one: Print, other: Print) -> list[str]:
    """The words of a text without the cities of both: "our Leeds office" and "our York office" say the same
    of two places.
    """
    cities = {word for _, _, city in one.places | other.places for word in city.split()}
    return [word for word in one.words if word not in cities]


def _within(one: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    return all(not mine or not yours or mine == yours for mine, yours in zip(one, other, strict=True))


def page_of(url: str) -> str:
    """The page behind an address, without what says where the reader came from. Empty where it is no address.

    Some sites keep all their postings on one page and tell them apart behind a "#": such a page says nothing.
    """
    if "#" in url and any(char.isdecimal() or char in "/=" for char in url.partition("#")[2]):
        return ""
    try:
        return page_at(canonical_url(url))
    except InvalidUrl:
        return ""


def page_at(url: str) -> str:
    """The same of an address that is in its one spelling already."""
    base, _, asked = url.partition("://")[2].partition("?")
    host, slash, path = base.partition("/")
    path = slash + path
    for tail in _TAILS:
        path = path.removesuffix(tail)
    kept = (
        [pair for pair in parse_qsl(asked, keep_blank_values=True) if pair[0].lower() not in _REFERRERS]
        if asked
        else []
    )
    query = f"?{urlencode(kept)}" if kept else ""
    # A front page is no posting.
    return f"//{host.removeprefix('www.')}{path}{query}" if path or query else ""


def home(
    new: Copy, groups: Mapping[str, Sequence[Copy]], apart: Collection[Pair] = ()
) -> tuple[str, GroupReason] | None:
    """Return the group that a posting belongs to, and why. Never a group with a member that was separated
    from it manually.
    """
    for key, members in groups.items():
        if any(pair(new.key, member.key) in apart for member in members):
            continue
        reason = next((found for member in members if (found := same(new, member, apart)) is not None), None)
        if reason is not None:
            return key, reason
    return None


def lead(members: Iterable[Copy]) -> Copy:
    """The posting that speaks for its group: an open one, the one that was seen first, the one that says
    most.
    """
    return min(members, key=lambda each: (not each.open, each.first_seen, -each.length, each.key))


# Whether a posting is an opening that is known already: on another board, for another place, or listed
# again.

MAX_POSTINGS = 50  # postings of one title and company that are compared
APART = "apart"  # the link to a posting that a person took out of the group


@dataclass(frozen=True, slots=True)
class PostingGroup:
    """`lead` is the posting that speaks for this one, if it is not this one itself."""

    print: str
    kin: str
    lead: str | None = None
    reason: str | None = None
    records: tuple[Record, ...] = ()
    links: tuple[Link, ...] = ()


async def find_group(ctx: Context, known: Found, posting: PostingRecord) -> PostingGroup:
    """The group of a posting, which is complete now. `known` is its record as it was."""
    mine = copy_of(posting)
    kin = kin_mark(mine.print)
    alike = await ctx.records(POSTING, where=(Is("kin", kin),), limit=MAX_POSTINGS) if kin else []
    found = [each for each in alike if each.key != known.key]
    apart = {pair(each.key, other) for each in (known, *found) for other in each.linked(APART)}
    related = _related(mine, _without_apart(mine.key, found, apart), apart)
    bare = PostingGroup(mine.print.exact, kin)
    records = {each.key: each for each in found}
    group = await _group(ctx, [known, *(records[each] for each in related)])
    if group is not None and _is_by_hand(group):
        mates = await ctx.records(
            POSTING,
            keys=[each for each in _members(group) if each != known.key][:MAX_POSTINGS],
            limit=MAX_POSTINGS,
        )
        records |= {each.key: each for each in mates}
        copies = (copy_of(PostingRecord.of(each)) for each in mates if pair(mine.key, each.key) not in apart)
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
    copies = [copy_of(PostingRecord.of(each)) for each in found]
    reasons = [(copy, same(mine, copy, apart)) for copy in copies]
    return {copy.key: (copy, reason) for copy, reason in reasons if reason is not None}


def _grouped(
    bare: PostingGroup,
    mine: Copy,
    records: Mapping[str, Found],
    related: Mapping[str, tuple[Copy, GroupReason]],
    group: Found | None,
) -> PostingGroup:
    """The group, old or new, with this posting in it. Everybody in it is linked to it, and it to every
    board.
    """
    first = lead([mine, *(copy for copy, _ in related.values())])
    reason = related[first.key][1] if first.key in related else next(iter(related.values()))[1]
    key = group.key if group else f"group/{first.key}"
    link = Link(GROUP, key)
    members = tuple(sorted({mine.key, *related, *_members(group)}))
    said = GroupReason.SAID if group and _is_by_hand(group) else reason
    record = group_entry(
        GroupRecord(key, first.key, str(said), members), *(Link("posting", each) for each in members)
    )
    others = tuple(
        posting_entry(each, {"group": key}, link)
        for each in sorted(related)
        if not records[each].linked(GROUP)
    )
    # Another place is another opening to whoever wants to work there: it is shown with its group, and judged
    # for itself.
    speaks = first.key != mine.key and reason is not GroupReason.OTHER_PLACES
    return PostingGroup(
        bare.print, bare.kin, first.key if speaks else None, str(reason), (record, *others), (link,)
    )
