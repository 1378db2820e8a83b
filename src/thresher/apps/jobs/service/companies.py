"""Companies: add them by name or site, list and show them. Adding a known, fresh company changes nothing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from thresher.admin.records import among, count, find, moment, one
from thresher.admin.requests import HEAD_START, PERSON, RequestResult, TaskRequest, ask, look_up
from thresher.admin.times import read_now
from thresher.apps.jobs.service.boards import BoardView, board_view
from thresher.apps.jobs.service.decisions import company_parts
from thresher.core.clock import DAY
from thresher.core.errors import InvalidUrl, UsageError
from thresher.core.evidence import as_json
from thresher.core.keys import canonical_url
from thresher.core.record import Found, Is, Link
from thresher.core.task import NewTask
from thresher.engine.registry import Registry
from thresher.hiring.kinds import BOARD, COMPANY, POSTING
from thresher.hiring.records import BoardRecord, CompanyRecord, company_key, company_name_key
from thresher.reading.platforms.boards import recognise
from thresher.reading.values.addresses import read_address
from thresher.store.records import AT_ONCE, find_records
from thresher.store.store import Store

MAX_NAME = 200
# Reserved names, for examples and practice.
_RESERVED = ("example", "invalid", "localhost", "test")


@dataclass(frozen=True, slots=True)
class Wish:
    """A company that somebody wants looked at. `website` is a whole address."""

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
        raise UsageError("a company wants a name or a website")
    if name and (len(name) > MAX_NAME or not company_name_key(name)):
        raise UsageError(
            f"a company's name has letters in it and at most {MAX_NAME} characters, got {name[:MAX_NAME]!r}"
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
            f"a company's website is an address such as https://acme.com, got {text[:MAX_NAME]!r}"
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
    if known is None or known.completeness != "good":
        return None
    age = (now - known.analyzed_at) / DAY
    if age >= store.settings["jobs.company.fresh_days"]:
        return None
    return f"{wish.what} is known ({known.key}, looked at {age:.0f} days ago); to look again now: --force"


SHOWN_BY = "thresher companies list"
STATUSES = ("analyzing", "complete", "partial", "unknown_site", "failed")
TIERS = ("S", "A", "B", "C", "D")


@dataclass(frozen=True, slots=True)
class CompanyView:
    """One company in a list. `boards` and `postings` are counts."""

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
    )
