"""How companies, boards and postings are written down: their keys, and what they are found by.

    company  by the domain of its site, or by its name where no site is known
    board    by platform and token, or by its address where a site lists its own openings
    posting  by its board and the board's own number for it, or by its address

Several tasks know a part of each, so all are merged: a task writes the fields that it knows. So each kind
has two forms, and nothing but them knows the JSON: a dataclass to read it by, in which every field has a
default (`BoardRecord`), and the fields that a task may write (`BoardFields`), of the same types. A group is
always written whole.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypedDict

from thresher.core.evidence import Evidence
from thresher.core.keys import canonical_url, url_key
from thresher.core.limits import bounded
from thresher.core.record import Found, Link, Record
from thresher.core.stored import read, written
from thresher.hiring.kinds import BOARD, COMPANY, GROUP, POSTING
from thresher.reading.platforms.boards import Board
from thresher.reading.values.addresses import read_address

SITE = "site"  # the platform of a board that stands on a company's own pages

MAX_REASON = 300  # characters of why a candidate for a board was not taken

# What each kind is found and ordered by. Of a posting, `listed` is the fingerprint of its row as the board
# lists it, by which a look knows what has changed; `checked_at` is when a look had its own page asked for,
# because the list does not say enough; `print` is that of the whole posting, and `kin` that of its title and
# company, by which the same opening is looked for on other boards.
MARKS: Mapping[str, tuple[str, ...]] = {
    COMPANY: ("status", "tier", "name_key", "analyzed_at"),
    BOARD: ("status", "company", "platform", "due_at", "scraped_at"),
    POSTING: ("state", "listed", "print", "kin", "missed", "board", "company", "seen_at", "checked_at"),
    GROUP: ("lead",),
}
_WORDS = re.compile(r"\w+")
_FORMS = frozenset(
    (
        "ab",
        "ag",
        "aps",
        "as",
        "bv",
        "co",
        "corp",
        "corporation",
        "company",
        "gmbh",
        "group",
        "holding",
        "holdings",
        "inc",
        "incorporated",
        "kg",
        "kk",
        "limited",
        "llc",
        "llp",
        "lp",
        "ltd",
        "nv",
        "oy",
        "plc",
        "pte",
        "pty",
        "sa",
        "sarl",
        "sas",
        "se",
        "spa",
        "srl",
        "the",
    )
)


def entry(
    kind: str,
    key: str,
    data: Mapping[str, Any],
    *links: Link,
    evidence: Evidence | None = None,
    initial: Mapping[str, Any] = {},
) -> Record:
    """What one task knows of a company, a board or a posting."""
    return Record(
        kind,
        key,
        written(data),
        links,
        evidence,
        merge=True,
        initial=written(initial),
        marks=MARKS[kind],
    )


def company_key(name: str | None, website: str | None) -> str:
    """The key of a company."""
    address = read_address(website) if website else None
    return (address and (address.domain or address.hostname.removeprefix("www."))) or company_name_key(
        name or ""
    )


def company_name_key(name: str) -> str:
    """The name of a company as it is compared: without case, accents, punctuation and its legal form."""
    bare = name.lower()
    if not bare.isascii():
        bare = "".join(
            char for char in unicodedata.normalize("NFKD", bare) if not unicodedata.combining(char)
        )
    words = _WORDS.findall(bare)
    return "".join([word for word in words if word not in _FORMS] or words)


def board_key(board: Board) -> str:
    """The key of a board. A platform may keep several boards under one token, so everything that its address
    needs is part of it.
    """
    if board.token is None:
        return bounded(f"site:{canonical_url(board.url)}") if board.url else board.platform
    others = [value for name, value in sorted(board.parts.items()) if name != "token" and value]
    return bounded(":".join([board.platform, board.token, *others]))


def posting_key(board: str, number: str | None, url: str | None, title: str = "") -> str:
    """The key of a posting: the board's own number for it, else its address, else its title."""
    if number:
        return bounded(f"{board}/{number}")
    return f"url/{url_key(url)}" if url else bounded(f"{board}/{company_name_key(title)}")


# Boards


@dataclass(frozen=True, slots=True)
class LastLook:
    """How the last look at a board ended. `alone`: its first page held the whole list; `hash` is that of
    the page.
    """

    verdict: str | None = None
    reason: str | None = None
    found: int = 0
    total: int | None = None
    complete: bool = False
    alone: bool = False
    pages: int = 0
    at: int = 0
    hash: str = ""
    missed: int = 0
    new: int = 0
    changed: int = 0
    closed: int = 0
    relisted: int = 0
    moved: int = 0
    unknown: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TriedAddress:
    """What came of a candidate for a board, or of a page that might have named one. `reason` is why it was
    not taken; None for the one that was.
    """

    NOT_STORED: ClassVar = (None,)

    method: str = ""
    url: str = ""
    verdict: str = ""
    status: int | None = None
    count: int | None = None
    name: str | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", self.reason and self.reason[:MAX_REASON])


@dataclass(frozen=True, slots=True)
class BoardSample:
    """What the discovery of a board saw of it: enough to tell whose it is."""

    count: int = 0
    total: int | None = None
    titles: tuple[str, ...] = ()
    look: str | None = None


@dataclass(frozen=True, slots=True)
class BoardRecord:
    """A board as it stands. Times are microseconds since 1970, 0 for never. `excluded` is why the profile
    excludes it; `succeeded_at` is the last look that proved something.
    """

    key: str
    url: str | None = None
    platform: str | None = None
    token: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    company: str | None = None
    company_name: str | None = None
    tier: str | None = None
    status: str | None = None
    confidence: str | None = None
    method: str | None = None
    proof: str | None = None
    ownership: str | None = None
    validation_required: bool = False
    sample: BoardSample | None = None
    tried: tuple[TriedAddress, ...] = ()
    discovered_via: str | None = None
    discovered_at: int = 0
    enabled_at: int = 0
    enabled_by: str | None = None
    disabled_tag: str | None = None
    disabled_reason: str | None = None
    disabled_at: int = 0
    excluded: str | None = None
    last_look: LastLook | None = None
    open: int | None = None
    checks_due: int = 0
    coverage: Mapping[str, float] = field(default_factory=dict)
    yields: tuple[int, ...] = ()
    alarms: tuple[str, ...] = ()
    failures: int = 0
    scraped_at: int = 0
    succeeded_at: int = 0
    completed_at: int = 0
    due_at: int = 0

    @classmethod
    def of(cls, found: Found) -> Self:
        return read(cls, found.data, key=found.key)

    @property
    def address(self) -> Board:
        """Where the board is, ready to be called."""
        return Board(self.platform or SITE, self.token or None, self.url or "", self.parts)


class BoardFields(TypedDict, total=False):
    """The fields that a task may write of a board."""

    url: str | None
    platform: str | None
    token: str | None
    parts: Mapping[str, str]
    company: str | None
    company_name: str | None
    tier: str | None
    status: str | None
    confidence: str | None
    method: str | None
    proof: str | None
    ownership: str | None
    validation_required: bool
    sample: BoardSample | None
    tried: tuple[TriedAddress, ...]
    discovered_via: str | None
    discovered_at: int
    enabled_at: int
    enabled_by: str | None
    disabled_tag: str | None
    disabled_reason: str | None
    disabled_at: int
    excluded: str | None
    last_look: LastLook | None
    open: int | None
    checks_due: int
    coverage: Mapping[str, float]
    yields: tuple[int, ...]
    alarms: tuple[str, ...]
    failures: int
    scraped_at: int
    succeeded_at: int
    completed_at: int
    due_at: int


def board_entry(key: str, fields: BoardFields, *links: Link, initial: BoardFields | None = None) -> Record:
    """What one task knows of a board."""
    return entry(BOARD, key, fields, *links, initial=initial or {})


# Companies


@dataclass(frozen=True, slots=True)
class ScorePart:
    """What one rule adds to the score of a company, and the words that say so."""

    NOT_STORED: ClassVar = (None,)

    rule: str = ""
    points: int = 0
    quote: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class CompanyRecord:
    """A company as it stands. `name_key` is its name as names are compared; `excluded` is why the profile
    excludes it.
    """

    key: str
    name: str | None = None
    name_key: str | None = None
    website: str | None = None
    status: str | None = None
    problem: str | None = None
    excluded: str | None = None
    about: str | None = None
    culture: str | None = None
    mission: str | None = None
    headquarters: str | None = None
    industry: str | None = None
    founded: int | str | None = None
    size: str | None = None
    employees: int | None = None
    size_category: str | None = None
    remote_first: bool | None = None
    ai_focus: bool | None = None
    tech: tuple[str, ...] = ()
    careers_url: str | None = None
    board_url: str | None = None
    board_confidence: str | None = None
    tried: tuple[TriedAddress, ...] = ()
    tier: str | None = None
    score: int | None = None
    score_parts: tuple[ScorePart, ...] = ()
    completeness: str | None = None
    analyzed_at: int = 0

    @classmethod
    def of(cls, found: Found) -> Self:
        return read(cls, found.data, key=found.key)


class CompanyFields(TypedDict, total=False):
    """The fields that a task may write of a company."""

    name: str | None
    name_key: str | None
    website: str | None
    status: str | None
    problem: str | None
    excluded: str | None
    about: str | None
    culture: str | None
    mission: str | None
    headquarters: str | None
    industry: str | None
    founded: int | str | None
    size: str | None
    employees: int | None
    size_category: str | None
    remote_first: bool | None
    ai_focus: bool | None
    tech: tuple[str, ...]
    careers_url: str | None
    board_url: str | None
    board_confidence: str | None
    tried: tuple[TriedAddress, ...]
    tier: str | None
    score: int | None
    score_parts: tuple[ScorePart, ...]
    completeness: str | None
    analyzed_at: int


def company_entry(
    key: str, fields: CompanyFields, *, evidence: Evidence | None = None, initial: CompanyFields | None = None
) -> Record:
    """What one task knows of a company."""
    return entry(COMPANY, key, fields, evidence=evidence, initial=initial or {})


# Postings, and groups of postings of one opening


@dataclass(frozen=True, slots=True)
class PostingRecord:
    """A posting as it stands. `said` are the fields that its board's list says; `method` is where its text
    was read: list, api, page or text. `facts` is what was read from it (`opening.py`). `lacks` is what keeps
    it from good `completeness`; `first_look`: the first look at its board found it. `MARKS` says what it is
    found by.
    """

    key: str
    title: str | None = None
    company: str | None = None
    company_name: str | None = None
    company_site: str | None = None
    location: str | None = None
    url: str | None = None
    posted: str | None = None
    employment_type: str | None = None
    workplace: str | None = None
    workplace_type: str | None = None
    remote: bool | str | None = None
    salary: Mapping[str, Any] | str | None = None
    description: str | None = None
    number: str | None = None
    method: str | None = None
    said: tuple[str, ...] = ()
    board: str | None = None
    group: str | None = None
    state: str | None = None
    missed: int = 0
    relisted: int = 0
    revision: int = 0
    first_seen: int = 0
    first_look: bool = False
    seen_at: int = 0
    checked_at: int = 0
    closed_at: int | None = None
    read_at: int = 0
    completeness: str | None = None
    lacks: tuple[str, ...] = ()
    facts: Mapping[str, Any] | None = None
    listed: str | None = None
    print: str | None = None
    kin: str | None = None

    @classmethod
    def of(cls, found: Found) -> Self:
        return read(cls, found.data, key=found.key)

    def having(self, fields: "PostingFields") -> Self:
        """The posting as it is once these fields are written."""
        return replace(self, **fields)

    @property
    def pay(self) -> str | None:
        """What is paid, as the posting writes it: in a field of its own, or somewhere in its text."""
        for said in (self.salary, self.facts.get("pay") if self.facts else None):
            text = said.get("text") if isinstance(said, Mapping) else said
            if isinstance(text, str) and text:
                return text
        return None


class PostingFields(TypedDict, total=False):
    """The fields that a task may write of a posting."""

    title: str | None
    company: str | None
    company_name: str | None
    company_site: str | None
    location: str | None
    url: str | None
    posted: str | None
    employment_type: str | None
    workplace: str | None
    workplace_type: str | None
    remote: bool | str | None
    salary: Mapping[str, Any] | str | None
    description: str | None
    number: str | None
    method: str | None
    said: tuple[str, ...]
    board: str | None
    group: str | None
    state: str | None
    missed: int
    relisted: int
    revision: int
    first_seen: int
    first_look: bool
    seen_at: int
    checked_at: int
    closed_at: int | None
    read_at: int
    completeness: str | None
    lacks: tuple[str, ...]
    facts: Mapping[str, Any] | None
    listed: str | None
    print: str | None
    kin: str | None


def posting_entry(
    key: str,
    fields: PostingFields,
    *links: Link,
    evidence: Evidence | None = None,
    initial: PostingFields | None = None,
) -> Record:
    """What one task knows of a posting."""
    return entry(POSTING, key, fields, *links, evidence=evidence, initial=initial or {})


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """Postings of one opening, the one that speaks for them, and why they are one."""

    key: str
    lead: str | None = None
    reason: str | None = None
    members: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Found) -> Self:
        return read(cls, found.data, key=found.key)


def group_entry(group: GroupRecord, *links: Link) -> Record:
    """A group as it is now."""
    return entry(GROUP, group.key, written(group), *links)
