"""Parse one posting that a scraper sent, strictly: all that is kept of it, or the reason for refusing it.

A wrong type refuses the posting and names the member; an implausible value (a date, a reversed salary range,
a number in words) is noted, and dropped or, where nothing else tells, kept as text. A number may stand in
quotes. Unknown members are ignored. The result is text that both databases can store.
"""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from thresher.apps.roles.model import ScrapedFields
from thresher.core.errors import InvalidUrl
from thresher.core.json_stream import Passed
from thresher.core.keys import canonical_url, url_key
from thresher.core.record import clean
from thresher.hiring.fingerprint import content_of
from thresher.reading.text.plain import described
from thresher.reading.values.currency import of_word
from thresher.reading.values.numbers import numerals, plain_digits
from thresher.reading.values.salaries import period_of

MAX_LINE = 500
MAX_NUMBER = 300  # characters of an id
MAX_PLATFORM = 80
MAX_DESCRIPTION = 30_000
MAX_SKILLS, MAX_SKILL = 100, 100
MAX_SUM = 1e12
MAX_YEARS = 100
_HTML = re.compile(
    r"</(?:p|div|li|ul|ol|span|h[1-6]|strong|b|em|table|td|a|section)\s?>|<br\s?/?>", re.IGNORECASE
)
_ADDRESS = re.compile(
    r"(?i:https?)://[A-Za-z0-9.-]{1,250}+(?::[0-9]{1,5})?(?:[/?#][!-~]{0,2000}+)?"
)  # as most are
_SHORT = (
    100  # characters of a line that is worth remembering: titles, companies and places come again and again
)
_REMEMBERED = 8_192
_WRITTEN = re.compile(
    r"(?P<before>[^\W\d]{3}|[^\w\s.,'-]{1,3})? ?(?P<number>\d[\d.,' ’]{0,30}?) ?(?P<thousands>[kK](?!\w))? ?"
    r"(?P<after>[^\W\d]{3}|[^\w\s.,'-]{1,3})?"
)  # a currency before or after
_EXPERIENCE = ("experience_text", "experience")
_SALARY = frozenset(("salary", "salary_min", "salary_max"))
_SALARY_WORDS = frozenset(("salary", "salary_currency", "salary_period"))
_YEARS = frozenset((*_EXPERIENCE, "experience_min", "experience_max"))


class Reason(StrEnum):
    """Why a posting was skipped."""

    INVALID = "invalid"
    DUPLICATE_IN_BATCH = "duplicate_in_batch"
    UNCHANGED = "unchanged"
    PLATFORM_NOT_ALLOWED = "platform_not_allowed"
    TOO_LARGE = "too_large"


class Arrival(NamedTuple):
    """A posting that can be kept, and its place in the list. `key` is its platform and number there, or its
    address; `content` what a twin is known by.
    """

    at: int
    key: str
    platform: str
    content: str | None
    data: ScrapedFields
    number: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skip:
    """A posting that is not kept."""

    index: int
    number: str | None
    reason: Reason
    detail: str = ""


class _Wrong(Exception):
    """The member that condemns a posting, and what it wants."""


@dataclass(slots=True)
class _Sheet:
    """One posting while it is read."""

    said: Mapping[str, Any]
    notes: list[str]

    def text(self, name: str, most: int) -> str | None:
        """A text, cut where it is too long; None where nothing is said."""
        value = self.said.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise _Wrong(f"{name} must be text")
        return clean(value[:most]).strip() or None

    def line(self, name: str, most: int = MAX_LINE) -> str | None:
        """The same with single spaces. There are a dozen in every posting: this is where the time goes."""
        value = self.said.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise _Wrong(f"{name} must be text")
        return _known_line(value, most) if len(value) <= _SHORT else _line(value, most)

    def number(self, name: str, most: float) -> int | float | None:
        value = self.said.get(name)
        if value is None:
            return None
        if type(value) is int and 0 <= value <= most:
            return value
        if isinstance(value, str) and (value := _written(value)) is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _Wrong(f"{name} must be a number")
        if not (math.isfinite(value) and 0 <= value <= most):
            self.notes.append(f"{name} is ignored: it is not between 0 and {most:,.0f}")
            return None
        return int(value) if value == int(value) else value

    def _words(self, *names: str, is_told: bool) -> str | None:
        """What stands in the place of numbers and is none: the text of what nothing else tells, else ignored.
        It is noted, so that whoever sent it can mend it.
        """
        said = {name: value for name in names if isinstance(value := self.said.get(name), str)}
        if not said:
            return None
        found = {
            name: line
            for name, value in said.items()
            if _written(value) is None and (line := self.line(name, 300))
        }
        what = "ignored" if is_told else "kept as text"
        self.notes += (
            f"{name} is {what}: {line[:40]!r} is not a number such as 120000, 120,000 or 120k"
            for name, line in found.items()
        )
        return None if is_told else " - ".join(found.values()) or None

    def span(self, low: str, high: str, most: float) -> tuple[int | float | None, int | float | None]:
        """Two numbers of which the first is not the greater."""
        least, greatest = self.number(low, most), self.number(high, most)
        if least is not None and greatest is not None and least > greatest:
            self.notes.append(f"{low} is above {high}; both are ignored")
            return None, None
        return least, greatest

    def identity(self) -> str | None:
        value = self.said.get("external_job_id")
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise _Wrong("external_job_id must be text")
        number = clean(value if isinstance(value, str) else str(value)).strip()
        if len(number) > MAX_NUMBER:
            raise _Wrong(f"external_job_id has more than {MAX_NUMBER} characters")
        return number or None

    def url(self) -> str | None:
        text = self.said.get("job_url")
        if text is None or text == "":
            return None
        if not isinstance(text, str):
            raise _Wrong("job_url must be text")
        if text.isascii() and _ADDRESS.fullmatch(text):
            return text
        try:
            return clean(canonical_url(text))
        except (InvalidUrl, UnicodeError):
            self.notes.append("job_url is ignored: it is not an http or https URL")
            return None

    def description(self) -> str | None:
        whole, more = (
            self._plain("description"),
            self._plain("requirements") if "requirements" in self.said else "",
        )
        if more and more not in whole:
            whole = f"{whole}\n\n{more}" if whole else more
        if len(whole) > MAX_DESCRIPTION:
            self.notes.append(f"description is cut off after {MAX_DESCRIPTION:,} characters")
        return whole[:MAX_DESCRIPTION] or None

    def _plain(self, name: str) -> str:
        text = self.text(name, 4 * MAX_DESCRIPTION)
        return ((described(text) or "") if "<" in text and _HTML.search(text) else text) if text else ""

    def skills(self) -> list[str] | None:
        value = self.said.get("skills")
        if value is None:
            return None
        listed = value.split(",", MAX_SKILLS) if isinstance(value, str) else value
        if not isinstance(listed, list):
            raise _Wrong("skills must be a list of strings")
        found: dict[str, str] = {}
        for each in listed[:MAX_SKILLS]:
            if not isinstance(each, str):
                raise _Wrong("skills must be a list of strings")
            folded, bare = _skill(each[:MAX_SKILL])
            if bare:
                found.setdefault(folded, bare)
        return list(found.values()) or None

    def posted(self) -> str | None:
        text = self.line("posted_date", 40)
        if text is None:
            return None
        day = _day(text)
        if day is None:
            self.notes.append("posted_date is ignored: it is not an ISO date such as 2024-01-15")
        return day

    def salary(self) -> dict[str, Any] | None:
        if _SALARY.isdisjoint(self.said):
            return None
        low, high = self.span("salary_min", "salary_max", MAX_SUM)
        text = currency = period = None
        if not _SALARY_WORDS.isdisjoint(self.said):
            text, currency, period = (
                self.line("salary", 300),
                self.line("salary_currency", 10),
                self.line("salary_period", 40),
            )
        is_told = bool(text) or low is not None or high is not None
        text = self._words("salary_min", "salary_max", is_told=is_told) or text
        if low is None and high is None and text is None:
            return None
        every = period_of(period) if period else None
        written, coded = text or _told(low, high, currency, every), currency and currency.upper()
        return {"text": written, "low": low, "high": high, "currency": coded, "period": every}

    def experience(self) -> dict[str, Any] | None:
        if _YEARS.isdisjoint(self.said):
            return None
        low, high = self.span("experience_min", "experience_max", MAX_YEARS)
        text = next((found for name in _EXPERIENCE if (found := self.line(name, 300))), None)
        is_told = bool(text) or low is not None or high is not None
        text = self._words("experience_min", "experience_max", is_told=is_told) or text
        return (
            None
            if low is None and high is None and text is None
            else {"text": text, "low": low, "high": high}
        )

    def remote(self) -> bool | None:
        for name in ("is_remote", "remote"):
            value = self.said.get(name)
            if value is not None:
                if not isinstance(value, bool):
                    raise _Wrong(f"{name} must be true or false")
                return value
        return None


def _line(text: str, most: int) -> str | None:
    line = " ".join(text[: 2 * most].split())[:most].rstrip()
    return clean(line) or None


_known_line = lru_cache(_REMEMBERED)(_line)


def _written(text: str) -> int | float | None:
    """The number that a text is; None where it is none."""
    return _number(text) if len(text) <= _SHORT else None


@lru_cache(_REMEMBERED)
def _number(text: str) -> int | float | None:
    """A number as people write it, alone: `120,000`, `120.000`, `120k`, `$120,000`, `120000 EUR`."""
    found = _WRITTEN.fullmatch(plain_digits(text))
    if found is None or not all(of_word(sign) for sign in found.group("before", "after") if sign):
        return None
    numeral = next(iter(numerals(found["number"])), None)
    value = numeral.value() if numeral and numeral.written == found["number"] else None
    if value is None:
        return None
    value *= 1_000 if found["thousands"] else 1
    return int(value) if value == int(value) else float(value)


@lru_cache(_REMEMBERED)
def _skill(text: str) -> tuple[str, str]:
    """A skill as skills are compared, and as it is written."""
    bare = " ".join(clean(text).split())
    return bare.casefold(), bare


@lru_cache(_REMEMBERED)
def _day(text: str) -> str | None:
    try:
        return (
            date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text).date()
        ).isoformat()
    except ValueError:
        return None


def platform_name(text: str) -> str:
    """A platform as platforms are compared."""
    return clean(text).strip().lower()


def read_arrival(
    index: int, value: Any, platform: str | None = None, allowed: Collection[str] | None = None
) -> Arrival | Skip:
    """One element of a POST. `platform` is that of postings which name none; `allowed` are those that the key
    may bring, None all.
    """
    if not isinstance(value, dict):
        too_large = isinstance(value, Passed)
        return Skip(
            index,
            None,
            *(
                (Reason.TOO_LARGE, f"it is {value.why}")
                if too_large
                else (Reason.INVALID, "it must be an object")
            ),
        )
    sheet, number = _Sheet(value, []), None
    try:
        number = sheet.identity()
        where = (sheet.line("platform", MAX_PLATFORM + 1) or platform or "").lower()
        if len(where) > MAX_PLATFORM:
            raise _Wrong(f"platform has more than {MAX_PLATFORM} characters")
        if allowed is not None and where not in allowed:
            return Skip(
                index,
                number,
                Reason.PLATFORM_NOT_ALLOWED,
                f"this key may not send postings of {where or 'no platform'!r}",
            )
        return _arrival(index, sheet, number, where)
    except _Wrong as wrong:
        return Skip(index, number, Reason.INVALID, str(wrong))


def _arrival(index: int, sheet: _Sheet, number: str | None, platform: str) -> Arrival:
    title = sheet.line("title")
    if title is None:
        raise _Wrong("title is missing")
    url = sheet.url()
    company, location, description = sheet.line("company"), sheet.line("location"), sheet.description()
    content = content_of(title, company, location, description)
    data: ScrapedFields = {"title": title}
    # One by one, and not through a list of them: it is done for every posting that comes in.
    if company is not None:
        data["company_name"] = company
    if location is not None:
        data["location"] = location
    if url is not None:
        data["url"] = url
    if description is not None:
        data["description"] = description
    if number is not None:
        data["number"] = number
    if platform:
        data["platform"] = platform
    if content is not None:
        data["content"] = content
    _add(sheet, data)
    return Arrival(index, _key(platform, number, url), platform, content, data, number, tuple(sheet.notes))


def _add(sheet: _Sheet, data: ScrapedFields) -> None:
    """What many postings leave out."""
    if (posted := sheet.posted()) is not None:
        data["posted"] = posted
    if (salary := sheet.salary()) is not None:
        data["salary"] = salary
    if (skills := sheet.skills()) is not None:
        data["skills"] = skills
    if (experience := sheet.experience()) is not None:
        data["experience"] = experience
    if (remote := sheet.remote()) is not None:
        data["is_remote"] = remote
        if remote:
            data["remote"] = "remote"


@lru_cache(_REMEMBERED)
def _told(low: float | None, high: float | None, currency: str | None, every: str | None) -> str:
    """A salary as a person would write it down."""
    sums = " - ".join(f"{each:,}" for each in (low, high) if each is not None)
    return sums + (f" {currency}" if currency else "") + (f" per {every}" if every else "")


def _key(platform: str, number: str | None, url: str | None) -> str:
    """Who a posting is. A number says it only together with its platform."""
    if number and platform:
        return f"{platform}/{number}"
    if url:
        return f"url/{url_key(url)}"
    without = "platform is missing, and external_job_id means nothing without it"
    raise _Wrong(without if number else "external_job_id is missing, and there is no job_url either")
