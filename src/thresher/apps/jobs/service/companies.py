"""Companies: add them by name, by site or from a file, list and show them. Adding a known, fresh company
changes nothing.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from thresher.admin.file_rows import DELIMITERS, lines_of, read_objects, rows_under
from thresher.admin.records import among, count, find, in_order, moment, one
from thresher.admin.requests import HEAD_START, PERSON, RequestResult, TaskRequest, ask, look_up
from thresher.admin.times import read_now
from thresher.apps.jobs.service.boards import BoardView, board_view
from thresher.apps.jobs.service.decisions import company_parts
from thresher.core.clock import DAY
from thresher.core.errors import ConfigError, InvalidUrl, UsageError
from thresher.core.evidence import as_json
from thresher.core.keys import canonical_url
from thresher.core.record import Found, Is, Link
from thresher.core.stored import read
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.hiring.kinds import BOARD, COMPANY, POSTING
from thresher.hiring.records import BoardRecord, CompanyRecord, company_key, company_name_key
from thresher.reading.platforms.boards import recognise
from thresher.reading.values.addresses import read_address
from thresher.store.records import AT_ONCE, count_words, find_records
from thresher.store.store import Store

MAX_NAME = 200
REVIEW = "review"
# Addresses that are no websites.
_ADDRESS = re.compile(r"(?:about|blob|data|file|ftp|javascript|mailto|tel|vbscript):", re.IGNORECASE)
# Reserved names, for examples and practice.
_RESERVED = ("example", "invalid", "localhost", "test")


@dataclass(frozen=True, slots=True)
class Wish:
    """A company to analyse. `website` is a full URL."""

    name: str | None
    website: str | None

    @property
    def key(self) -> str:
        return company_key(self.name, self.website)

    @property
    def what(self) -> str:
        return (
            f"{self.name} ({self.website})" if self.name and self.website else str(self.name or self.website)
        )


def read_wish(text: str) -> Wish:
    """A company by whichever of the two it was called: `acme.com`, `https://acme.com`, `Acme Inc.`"""
    return wish(None, text) if is_site(text) else wish(text, None)


def wish(name: str | None, website: str | None) -> Wish:
    """A company by name, site or both, checked."""
    name, website = " ".join((name or "").split()) or None, (website or "").strip() or None
    if name is None and website is None:
        raise UsageError("a company needs a name or a website")
    if name and (len(name) > MAX_NAME or not company_name_key(name)):
        raise UsageError(
            f"a company's name must contain letters and have at most {MAX_NAME} characters, got "
            f"{name[:MAX_NAME]!r}"
        )
    if name and _ADDRESS.match(name):
        raise UsageError(
            f"{name[:MAX_NAME]!r} is no company: give its name, or its website such as https://acme.com"
        )
    return Wish(name, _site(website) if website else None)


def is_site(text: str) -> bool:
    """Whether a text is meant as an address: it has a scheme, or it is a host name under a suffix that
    exists.
    """
    bare = text.strip()
    if "://" in bare:
        return True
    if not bare or any(char.isspace() for char in bare) or "." not in bare:
        return False
    try:
        address = read_address(f"https://{bare}")
    except InvalidUrl:
        return False
    return address.domain is not None or address.hostname.rpartition(".")[2] in _RESERVED


def _site(text: str) -> str:
    url = canonical_url(text if "://" in text else f"https://{text}")
    address = read_address(url)
    if "." not in address.hostname or address.username or address.password:
        raise InvalidUrl(
            f"a company's website must be a URL such as https://acme.com, got {text[:MAX_NAME]!r}"
        )
    if board := recognise(url):
        # The host is the platform's: taken for the company's site, it would make the platform the company.
        raise UsageError(
            f"{url} is a board on {board.platform}, not a company's site; add it with: thresher add board {url}"
        )
    return url


def ask_companies(
    store: Store, registry: Registry, wishes: Sequence[Wish], *, force: bool = False
) -> list[RequestResult]:
    """Have these companies looked at. One that is known well enough and freshly is left alone, unless
    `force`.
    """
    answered: list[RequestResult] = []
    for at in range(0, len(wishes), AT_ONCE):
        some = wishes[at : at + AT_ONCE]
        known = _known(store, some)
        now = read_now(store)
        answered += ask(
            store, registry, [_request(each, known.get(each), now, store, force=force) for each in some]
        )
    return answered


def _known(store: Store, wishes: Sequence[Wish]) -> Mapping[Wish, CompanyRecord]:
    """The records of these companies. One that was asked for by its name alone may be known by its site."""
    kept = look_up(store, COMPANY, [each.key for each in wishes])
    by_key = {key: CompanyRecord.of(each) for key, each in kept.items()}
    nameless = {
        each: company_name_key(each.name or "")
        for each in wishes
        if each.website is None and each.key not in by_key
    }
    by_name = {each.name_key or "": each for each in _named(store, list(nameless.values()))}
    found = {each: by_key.get(each.key) or by_name.get(nameless.get(each, "")) for each in wishes}
    return {each: record for each, record in found.items() if record}


def _named(store: Store, names: Iterable[str]) -> list[CompanyRecord]:
    wanted = list(dict.fromkeys(names))
    if not wanted:
        return []
    with store.read() as session:
        found = find_records(session, kind=COMPANY, where=[Is("name_key", *wanted)], limit=len(wanted))
    return list(map(CompanyRecord.of, found))


def _request(wish: Wish, known: CompanyRecord | None, now: int, store: Store, *, force: bool) -> TaskRequest:
    key = known.key if known else wish.key
    website = wish.website or (known.website if known else None)
    payload = {
        "name": wish.name or (known.name if known else None),
        "website": website,
        "via": PERSON,
        "force": force or None,
    }
    new = NewTask(
        COMPANY, {name: value for name, value in payload.items() if value}, website, key, HEAD_START
    )
    return TaskRequest(wish.what, key, new, None if force else _fresh(wish, known, now, store))


def _fresh(wish: Wish, known: CompanyRecord | None, now: int, store: Store) -> str | None:
    """Why a company need not be looked at again."""
    if known and known.excluded:
        return (
            f"{wish.what} is excluded: {known.excluded}; change `excluded` in the profile, and the next run "
            "reads it"
        )
    if known is None or known.completeness != "good":
        return None
    age = (now - known.analyzed_at) / DAY
    if age >= store.settings["jobs.company.fresh_days"]:
        return None
    return (
        f"{wish.what} is already known ({known.key}, read {age:.0f} days ago); to read it again now: --force"
    )


def ask_review(store: Store, registry: Registry) -> RequestResult:
    """Have every company and board judged again by the current profile. No page is requested for it."""
    new = NewTask(REVIEW, key=REVIEW, priority=HEAD_START)
    return ask(store, registry, [TaskRequest("the review of companies and boards", REVIEW, new)])[0]


SHOWN_BY = "thresher companies list"
STATUSES = ("analyzing", "complete", "partial", "unknown_site", "failed", "excluded")
TIERS = ("S", "A", "B", "C", "D")


@dataclass(frozen=True, slots=True)
class CompanyView:
    """One company in a list. `boards` and `postings` are counts; `excluded` says by what the profile does."""

    key: str
    name: str | None
    website: str | None
    status: str | None
    tier: str | None
    score: int | None
    completeness: str | None
    size: str | None
    headquarters: str | None
    boards: int
    postings: int
    analyzed_at: int | None
    excluded: str | None = None


@dataclass(frozen=True, slots=True)
class CompanyDetail:
    """One company with everything that is known of it, where each value stands, and what its score is made of
    (`points`).
    """

    company: CompanyView
    data: dict[str, Any]
    evidence: dict[str, Any] | None
    boards: list[BoardView]
    points: list[str]
    tasks: list[int]

    @property
    def record(self) -> CompanyRecord:
        return read(CompanyRecord, self.data, key=self.company.key)


def list_companies(
    store: Store,
    *,
    status: str | None = None,
    tier: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> list[CompanyView]:
    """Companies, the newest first; those after the one of the key `before`."""
    asked = {
        "status": among(status, STATUSES, "the status of a company"),
        "tier": among(tier, TIERS, "a tier"),
    }
    where = [Is(name, value) for name, value in asked.items() if value]
    return [_view(store, each) for each in find(store, COMPANY, where=where, before=before, limit=limit)]


def list_read(store: Store, *, before: str | None = None, limit: int = 50) -> list[CompanyView]:
    """Companies that have been read, those read last first; those after the one of the key `before`."""
    found = in_order(store, COMPANY, "-analyzed_at", after=before, portion=limit)
    return [_view(store, each) for each in islice(found, limit) if moment(each.marks.get("analyzed_at"))]


@dataclass(frozen=True, slots=True)
class CompanyCounts:
    """How many companies there are by tier and by status; a company has a tier once it has been read."""

    tiers: Mapping[str, int]
    statuses: Mapping[str, int]

    @property
    def read(self) -> int:
        return sum(self.tiers.values())

    @property
    def every(self) -> int:
        return sum(self.statuses.values())


def count_companies(store: Store) -> CompanyCounts:
    """Count them for the ways to see them."""
    with store.read() as session:
        return CompanyCounts(count_words(session, COMPANY, "tier"), count_words(session, COMPANY, "status"))


def show_company(store: Store, key: str) -> CompanyDetail:
    """One company."""
    found = one(store, COMPANY, key, SHOWN_BY)
    boards = [
        board_view(BoardRecord.of(each)) for each in find(store, BOARD, link=Link("company", key), limit=50)
    ]
    evidence = as_json(found.evidence) if found.evidence else None
    points, tasks = company_parts(CompanyRecord.of(found)), sorted({found.first_task, found.last_task} - {0})
    return CompanyDetail(_view(store, found), dict(found.data), evidence, boards, points, tasks)


def _view(store: Store, found: Found) -> CompanyView:
    company, own = CompanyRecord.of(found), Link("company", found.key)
    return CompanyView(
        company.key,
        company.name,
        company.website,
        company.status,
        company.tier,
        company.score,
        company.completeness,
        company.size,
        company.headquarters,
        count(store, BOARD, link=own),
        count(store, POSTING, link=own),
        moment(company.analyzed_at),
        company.excluded,
    )


# Import a file of companies: CSV with a header, JSON lines, or plain lines with a name or a URL each.

MAX_LINE = 20_000
EXAMPLE = '{"name": "Acme", "website": "https://acme.com"}'
NAMES = ("name", "company", "company_name", "company name", "organisation", "organization")
SITES = ("website", "url", "site", "domain", "homepage", "web site")


@dataclass(frozen=True, slots=True)
class Slip:
    """A line that could not be read, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class CompanyFile:
    """What a file asks for, and what in it could not be read."""

    wishes: tuple[Wish, ...]
    slips: tuple[Slip, ...]


def read_company_file(text: str, name: str) -> CompanyFile:
    """The companies of a file. Its first line says what it is; a file that is called `.csv` has a header."""
    lines = lines_of(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}"), name)
    first = next((line for line in lines if line.strip()), "")
    if first.lstrip().startswith(("{", '"{')):
        found = _objects(lines)
    elif name.lower().endswith((".csv", ".tsv")) or _columns(first):
        found = _rows(lines, name)
    else:
        found = _plain(lines)
    read = list(found)
    wishes = tuple(each for each in read if isinstance(each, Wish))
    return CompanyFile(wishes, tuple(each for each in read if isinstance(each, Slip)))


def _plain(lines: Sequence[str]) -> Iterator[Wish | Slip]:
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield _read(number, partial(_of_line, line))


def _objects(lines: Sequence[str]) -> Iterator[Wish | Slip]:
    for number, found in read_objects(lines, EXAMPLE):
        yield Slip(number, found) if isinstance(found, str) else _read(number, partial(_of_object, found))


def _read(number: int, read: Callable[[], Wish]) -> Wish | Slip:
    try:
        return read()
    except ConfigError:
        raise  # nothing is wrong with the line
    except UsageError as problem:
        return Slip(number, str(problem))


def _of_line(line: str) -> Wish:
    if len(line) > MAX_LINE:
        raise UsageError(f"it has {len(line):,} characters; the limit is {MAX_LINE:,}")
    return read_wish(line)


def _of_object(found: Mapping[str, Any]) -> Wish:
    fields = {str(key).strip().lower(): value for key, value in found.items()}
    return wish(_field(fields, NAMES), _field(fields, SITES))


def _field(fields: Mapping[str, Any], names: Sequence[str]) -> str | None:
    value = next((fields[name] for name in names if fields.get(name) not in (None, "")), None)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{names[0]} must be text, got {json.dumps(value)[:60]}")
    return value


def _columns(line: str) -> tuple[str, list[str]] | None:
    """The delimiter of a header and its columns, with `name` or `website` among them."""
    for delimiter in DELIMITERS:
        cells = [cell.strip().strip('"').lower() for cell in line.split(delimiter)]
        if any(each in cells for each in (*NAMES, *SITES)):
            return delimiter, cells
    return None


def _rows(lines: Sequence[str], name: str) -> Iterator[Wish | Slip]:
    start = next((at for at, line in enumerate(lines) if line.strip()), 0)
    header = _columns(lines[start]) if lines else None
    if header is None:
        got = lines[start][:80] if lines else ""
        raise UsageError(
            f"{name}: the first line must name the columns, including name or website; got {got!r}"
        )
    for number, cells in rows_under(lines, start + 1, *header, refuse=_broken):
        yield Slip(number, cells) if isinstance(cells, str) else _read(number, partial(_of_object, cells))


def _broken(cells: Mapping[str, str]) -> str | None:
    """Why a row cannot be one: a quote that nobody closed swallows the lines after it."""
    if any("\n" in cells.get(column, "") for column in (*NAMES, *SITES)):
        return "a name or a website continues on the next line; is a quote missing?"
    return None
