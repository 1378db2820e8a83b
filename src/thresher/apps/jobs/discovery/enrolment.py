"""What a discovery is asked for, and what it ends with: the record of a board that was found and tried, and
the tasks that follow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.apps.jobs.discovery.owner import Owner
from thresher.apps.jobs.discovery.trial import FEED, Candidate, Trial
from thresher.core.context import Context
from thresher.core.errors import InvalidPayload, InvalidUrl
from thresher.core.keys import canonical_url
from thresher.core.page import Verdict
from thresher.core.record import Link, Record
from thresher.core.task import NewTask
from thresher.hiring.kinds import COMPANY
from thresher.hiring.ownership import Confidence, Standing, WantedCompany, confidence, standing
from thresher.hiring.records import (
    SITE,
    BoardFields,
    BoardRecord,
    BoardSample,
    CompanyFields,
    CompanyRecord,
    LastLook,
    TriedAddress,
    board_entry,
    board_key,
    company_entry,
    company_key,
    company_name_key,
)
from thresher.reading.platforms.boards import Board, is_partial, recognise
from thresher.reading.platforms.platform import platform_named, platforms

# The request of a discovery, from its task and what is known of the company.

AUTO, RSS, HTML = "auto", "rss", "html"
MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """`page` is the company's page on which somebody saw `url`; `hint` is what somebody thinks it is."""

    url: str | None = None
    company: str | None = None
    name: str | None = None
    website: str | None = None
    careers_url: str | None = None
    page: str | None = None
    hint: str = AUTO
    auto_enable: bool = True
    validation_required: bool = False
    via: str = "user"
    tier: str | None = None

    @property
    def is_partial(self) -> bool:
        """Whether the address that was given names a board without all that its list is requested by."""
        board = recognise(self.url) if self.url else None
        return board is not None and is_partial(board)

    def wanted(self, page: str | None) -> WantedCompany:
        """Whose board it should be. Whoever gave the address of a page meant the company of that page."""
        return WantedCompany(self.name, self.website or (self.url if page else None))


async def asked_of(ctx: Context) -> Asked:
    """The request of a task. Raises `InvalidPayload` for one that names nothing to look for."""
    said = ctx.task.payload
    name, website = _text(said, "name"), _asked_address(said, "website")
    key = _text(said, "company") or ((name or website) and company_key(name, website)) or None
    known = await ctx.record(COMPANY, key) if key else None
    about = CompanyRecord.of(known) if known else CompanyRecord("")
    asked = Asked(
        url=_asked_address(said, "url") or ctx.task.url,
        company=key,
        name=name or _line(about.name),
        website=website or _site(about.website, "website"),
        careers_url=_site(about.careers_url, "careers_url"),
        page=_asked_address(said, "page"),
        hint=_hint(said),
        auto_enable=bool(said.get("auto_enable", True)),
        validation_required=bool(said.get("validation_required", False)),
        via=_text(said, "via") or "user",
        tier=_line(about.tier),
    )
    if not (asked.url or asked.name or asked.website):
        raise InvalidPayload("a discovery needs a url, company, name or website")
    return asked


def _hint(said: Mapping[str, Any]) -> str:
    hint = _text(said, "type_hint") or AUTO
    if hint not in (AUTO, RSS, HTML) and platform_named(hint) is None:
        known = ", ".join((AUTO, RSS, HTML, *sorted(platform.name for platform in platforms())))
        raise InvalidPayload(f"type_hint must be one of {known}, got {hint!r}")
    return hint


def _text(said: Mapping[str, Any], key: str) -> str | None:
    return _line(said.get(key))


def _line(value: object) -> str | None:
    return " ".join(value.split())[:MAX_NAME] or None if isinstance(value, str) else None


def _asked_address(said: Mapping[str, Any], key: str) -> str | None:
    return _site(said.get(key), key)


def _site(value: object, key: str) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        # People write acme.example for https://acme.example; what names another scheme is refused by name.
        return canonical_url(value if ":" in value.partition("/")[0] else f"https://{value.strip()}")
    except InvalidUrl as problem:
        raise InvalidPayload(f"{key}: {problem}") from None


MAX_TRIED = 60
_UNTOUCHED: BoardFields = {"failures": 0, "due_at": 0, "scraped_at": 0}
_OF_NO_PLATFORM = {FEED: Confidence.HIGH, SITE: Confidence.LOW}


@dataclass(frozen=True, slots=True)
class Find:
    """A candidate that answered, and whose it is. `known` is the record of it that is there already."""

    candidate: Candidate
    seen: Trial
    owner: Owner
    known: BoardRecord | None = None

    @property
    def key(self) -> str:
        return board_key(self.candidate.board)

    def standing(self, asked: Asked) -> Standing:
        """How sure we are of it, and what follows."""
        board, proof = self.candidate.board, self.owner.proof
        platform = platform_named(board.platform)
        good_for = platform.confidence if platform else _OF_NO_PLATFORM.get(board.platform, Confidence.LOW)
        if asked.is_partial and good_for is Confidence.HIGH:
            good_for = Confidence.MEDIUM
        found = confidence(
            self.candidate.method, good_for, proof, named=asked.wanted(self.candidate.page).is_known
        )
        return standing(
            found, proof, auto_enable=asked.auto_enable, validation_required=asked.validation_required
        )


def enrolled(find: Find, asked: Asked, tried: Sequence[TriedAddress], now: int) -> tuple[Record, ...]:
    """The board, and what the company gains by it."""
    stands = find.standing(asked)
    company = asked.company if stands.is_theirs else None
    name = (asked.name if stands.is_theirs else None) or find.owner.name
    data: BoardFields = {
        **_address(find.candidate.board),
        "confidence": stands.confidence.value,
        "method": find.candidate.method.value,
        "proof": find.owner.proof.sentence,
        "ownership": find.owner.proof.strength.value,
        "validation_required": stands.validation_required,
        "sample": BoardSample(
            find.seen.count, find.seen.total, tuple(find.seen.sample), find.seen.look.reason
        ),
        "tried": tuple(tried[-MAX_TRIED:]),
        "discovered_via": asked.via,
        "discovered_at": now,
        **_owner(company, name),
    }
    if company and asked.tier:
        data["tier"] = asked.tier
    fresh = BoardFields(**_UNTOUCHED)
    if find.known is None:
        fresh["status"] = stands.status
    else:  # a better discovery of a board that waits: only its standing changes
        data["status"] = stands.status
    board = board_entry(find.key, data, *_links(company), initial=fresh)
    return (board, *(_company(asked, find, stands) if company else ()))


def walled(
    candidate: Candidate, asked: Asked, tag: str, reason: str, tried: Sequence[TriedAddress], now: int
) -> Record:
    """Enrol a board that denies access: it is stored as disabled, so that you can see and enable it."""
    data: BoardFields = {
        **_address(candidate.board),
        "confidence": Confidence.LOW.value,
        "method": candidate.method.value,
        "validation_required": True,
        "proof": "access was denied, so its owner is not known",
        "tried": tuple(tried[-MAX_TRIED:]),
        "discovered_via": asked.via,
        "discovered_at": now,
        **_owner(asked.company, asked.name),
    }
    look = LastLook(verdict=Verdict.BLOCKED.value, reason=reason, at=now)
    fresh: BoardFields = {
        **_UNTOUCHED,
        "status": "disabled",
        "disabled_tag": tag,
        "disabled_reason": reason,
        "disabled_at": now,
        "last_look": look,
    }
    return board_entry(board_key(candidate.board), data, *_links(asked.company), initial=fresh)


def excluded_board(asked: Asked, reason: str, now: int) -> tuple[Record, ...]:
    """A board that somebody asked for and the profile excludes: it is stored, so that you can see it, and is
    looked at when the profile no longer excludes it.
    """
    if asked.url is None:
        return ()
    board = recognise(asked.url) or Board(SITE, None, asked.url)
    data: BoardFields = {**_address(board), "excluded": reason, **_owner(asked.company, asked.name)}
    fresh: BoardFields = {
        **_UNTOUCHED,
        "status": "pending",
        "validation_required": True,
        "discovered_via": asked.via,
        "discovered_at": now,
    }
    return (board_entry(board_key(board), data, *_links(asked.company), initial=fresh),)


def joined(asked: Asked, known: BoardRecord) -> Record:
    """A board that is there already, and is this company's too."""
    alone = not known.company
    data = _owner(asked.company, asked.name) if alone else BoardFields()
    return board_entry(known.key, data, *_links(asked.company))


def unfound(asked: Asked, tried: Sequence[TriedAddress]) -> tuple[Record, ...]:
    """What a company gains by a discovery that found nothing: the list of what was tried."""
    rows = tuple(tried[-MAX_TRIED:])
    return (
        (company_entry(asked.company, {"tried": rows}, initial=_introduced(asked)),)
        if asked.company and rows
        else ()
    )


def scrape(find: Find, asked: Asked) -> tuple[NewTask, ...]:
    """Return the first scrape, if no approval is needed."""
    if find.standing(asked).status != "active":
        return ()
    return (NewTask("scrape_source", {"board": find.key, "failures": 0}, key=find.key),)


def _address(board: Board) -> BoardFields:
    return {"url": board.url, "platform": board.platform, "token": board.token, "parts": board.parts}


def _owner(company: str | None, name: str | None) -> BoardFields:
    fields = BoardFields()
    if company is not None:
        fields["company"] = company
    if name is not None:
        fields["company_name"] = name
    return fields


def _company(asked: Asked, find: Find, stands: Standing) -> tuple[Record, ...]:
    if not asked.company:
        return ()
    data: CompanyFields = {
        "board_url": find.candidate.board.url,
        "board_confidence": stands.confidence.value,
    }
    return (company_entry(asked.company, data, initial=_introduced(asked)),)


def _introduced(asked: Asked) -> CompanyFields:
    """Return a company that is not stored yet, with at least its name."""
    fields = CompanyFields()
    if asked.name is not None:
        fields["name"] = asked.name
    if asked.name:
        fields["name_key"] = company_name_key(asked.name)
    if asked.website is not None:
        fields["website"] = asked.website
    return fields


def _links(company: str | None) -> tuple[Link, ...]:
    return (Link("company", company),) if company else ()
