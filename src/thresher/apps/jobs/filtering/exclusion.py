"""What the profile excludes, asked before anything is requested: a company by its names, and by the addresses
of its site and its board.

A task that meets an excluded company ends as skipped, and says so in an event and in the record. Nothing of
the company is requested, not even its robots.txt. When the profile no longer excludes it, the review goes on
where it was refused (`review.py`).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from thresher.apps.jobs.filtering.compiled_profile import sieve
from thresher.apps.jobs.filtering.filter import stopped, stopped_domain
from thresher.apps.jobs.person.profile_record import readable_profile
from thresher.apps.jobs.person.wants import Profile
from thresher.core.context import Context
from thresher.core.errors import Refused
from thresher.core.event import NewEvent
from thresher.core.outcome import Outcome, Skipped, Snooze
from thresher.core.page import Page
from thresher.core.record import Record
from thresher.hiring.records import (
    BoardRecord,
    CompanyFields,
    CompanyRecord,
    company_entry,
    company_name_key,
)

EVENT = "excluded"
EXCLUDED = "excluded"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StopList:
    """The stop lists of a profile. Without a profile nothing is excluded."""

    profile: Profile | None

    def excludes(self, names: Iterable[str | None], addresses: Iterable[str | None]) -> str | None:
        """Why nothing of this company may be requested, or None. Keywords are looked for in addresses."""
        if self.profile is None:
            return None
        asked = (
            *(stopped(self.profile, company=name) for name in names if name),
            *(stopped(self.profile, url=address) for address in addresses if address),
        )
        return next((found.reason for found in asked if found), None)

    def excludes_company(self, company: CompanyRecord) -> str | None:
        """The same of a company that is known."""
        return self.excludes((company.name,), (site_of(company.key), company.website))

    def excludes_board(self, board: BoardRecord, company: CompanyRecord | None) -> str | None:
        """The same of a board: by itself, or by the company that owns it."""
        own = self.excludes((board.company_name,), (board.url, site_of(board.company)))
        return own or (self.excludes_company(company) if company else None)

    def excludes_address(self, url: str) -> str | None:
        """Why this one address may not be requested, whoever links to it: its domain is excluded."""
        found = stopped_domain(sieve(self.profile), url) if self.profile else None
        return found.reason if found else None


async def stop_list(ctx: Context) -> StopList:
    """The stop lists as they are now."""
    return StopList(await readable_profile(ctx))


@dataclass(slots=True)
class GuardedFetch:
    """Fetch for a stage, but nothing on an excluded domain, whichever page leads there. `events` are the
    refusals, for the outcome of the stage.
    """

    ctx: Context
    stops: StopList
    events: list[NewEvent] = field(default_factory=list)

    async def fetch(self, url: str, **how: Any) -> Page:
        if reason := self.stops.excludes_address(url):
            self.events.append(NewEvent(EVENT, {"url": url, "reason": reason}, warns=True))
            raise Refused(f"excluded: {reason}")
        return await self.ctx.fetch(url, **how)

    def told(self, outcome: Outcome) -> Outcome:
        """The outcome with the events of what was refused on the way."""
        if isinstance(outcome, Snooze) or not self.events:
            return outcome
        return replace(outcome, events=(*outcome.events, *self.events))

    async def compute(self, function: Callable[..., T], /, *args: object, seconds: float | None = None) -> T:
        return await self.ctx.compute(function, *args, seconds=seconds)


def site_of(key: str | None) -> str | None:
    """The address of a company that is known by its domain; None for one that is known by its name."""
    return f"https://{key}/" if key and "." in key else None


def refused(reason: str, *records: Record, **subject: str | None) -> Skipped:
    """The end of a task about something that is excluded."""
    said = {name: value for name, value in subject.items() if value}
    event = NewEvent(EVENT, {**said, "reason": reason}, warns=True)
    return Skipped(f"excluded: {reason}", records=records, events=(event,))


def excluded_company(key: str, reason: str, name: str | None = None, website: str | None = None) -> Record:
    """A company that is excluded. What was known of it stays."""
    fields: CompanyFields = {"status": EXCLUDED, "excluded": reason}
    if name:
        fields |= {"name": name, "name_key": company_name_key(name)}
    if website:
        fields["website"] = website
    return company_entry(key, fields)
